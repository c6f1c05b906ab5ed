//! `TopK`: the largest elements of each line along the last dimension, and their positions.

use std::sync::Arc;

use crate::target::Target;
use crate::{ArrayType, Call, CallSite, ValueType};
use hlo_runtime_core::Error;
use hlo_runtime_core::{ElementCode, Number};

/// The name of the target.
pub(crate) const NAME: &str = "TopK";

/// Returns the target if this is its name.
pub(crate) fn target(name: &str) -> Option<Target> {
    (name == NAME).then(|| {
        Target::new(|site, _| {
            let planned = plan(site)?;
            Ok(Arc::new(move |call| run(planned, call)))
        })
    })
}

/// Checks a call. Returns the element type, the length of a line, and the number of selected elements.
fn plan(site: &CallSite) -> Result<(ElementCode, usize, usize), Error> {
    let results = match &site.result {
        ValueType::Tuple(parts) => &parts[..],
        _ => &[],
    };
    let ([ValueType::Array(x)], [ValueType::Array(values), ValueType::Array(positions)]) =
        (&site.operands[..], results)
    else {
        return Err(Error("takes one array and gives two: values and positions".into()));
    };
    let code = match x.element.as_str() {
        "f16" => ElementCode::F16,
        "bf16" => ElementCode::Bf16,
        "f32" => ElementCode::F32,
        "f64" => ElementCode::F64,
        "s8" => ElementCode::S8,
        "s16" => ElementCode::S16,
        "s32" => ElementCode::S32,
        "s64" => ElementCode::S64,
        "u8" => ElementCode::U8,
        "u16" => ElementCode::U16,
        "u32" => ElementCode::U32,
        "u64" => ElementCode::U64,
        other => return Err(Error(format!("has no order for elements of type {other}"))),
    };
    let (Some((&n, batch)), Some((&k, _))) = (x.dims.split_last(), values.dims.split_last()) else {
        return Err(Error("takes an array of at least one dimension".into()));
    };
    let wanted: Vec<usize> = batch.iter().copied().chain([k]).collect();
    if values.element != x.element || values.dims != wanted || positions.dims != wanted || k > n {
        return Err(Error(format!("of {x} can't give {values} and {positions}")));
    }
    if positions.element != "s32" || i32::try_from(n).is_err() {
        return Err(Error(format!("gives positions of type s32, which {positions} must be")));
    }
    let row_major = |a: &ArrayType| a.minor_to_major.iter().rev().copied().eq(0..a.dims.len());
    if ![x, values, positions].into_iter().all(row_major) {
        return Err(Error("works on row-major arrays".into()));
    }
    Ok((code, n, k))
}

fn run((code, n, k): (ElementCode, usize, usize), call: &mut Call<'_>) -> Result<(), Error> {
    if k == 0 || n == 0 {
        return Ok(());
    }
    let (size, keys) = (code.byte_size(), call.operand_bytes(0)?);
    let lines = keys.len() / (n * size);
    for line in 0..lines {
        let keys = &keys[line * n * size..][..n * size];
        let mut order: Vec<(u64, u32)> =
            (0..n).map(|i| (key(code, &keys[i * size..][..size]), i as u32)).collect();
        // Largest first; equal elements in the order of their positions.
        let before = |a: &(u64, u32), b: &(u64, u32)| b.0.cmp(&a.0).then(a.1.cmp(&b.1));
        if k < n {
            order.select_nth_unstable_by(k - 1, before);
            order.truncate(k);
        }
        order.sort_unstable_by(before);
        let values = &mut call.result_bytes(0)?[line * k * size..][..k * size];
        for (to, &(_, i)) in values.chunks_exact_mut(size).zip(&order) {
            to.copy_from_slice(&keys[i as usize * size..][..size]);
        }
        let positions = &mut call.result_bytes(1)?[line * k * 4..][..k * 4];
        for (to, &(_, i)) in positions.chunks_exact_mut(4).zip(&order) {
            to.copy_from_slice(&i.to_ne_bytes());
        }
    }
    Ok(())
}

/// Returns an unsigned number with the same order as the element. Floats are in total order.
fn key(code: ElementCode, bytes: &[u8]) -> u64 {
    const SIGN: u64 = 1 << 63;
    let signed = |x: i64| x as u64 ^ SIGN;
    let float = |bits: u64, width: u32| {
        let top = bits << (64 - width);
        if top & SIGN == 0 { top | SIGN } else { !top }
    };
    // SAFETY: the bytes are one element of this type.
    unsafe {
        let integer = || i64::load(code, bytes.as_ptr());
        match code {
            ElementCode::F16 | ElementCode::Bf16 => {
                float(i64::load(ElementCode::U16, bytes.as_ptr()) as u64, 16)
            }
            ElementCode::F32 => float(i64::load(ElementCode::U32, bytes.as_ptr()) as u64, 32),
            ElementCode::F64 => float(i64::load(ElementCode::U64, bytes.as_ptr()) as u64, 64),
            ElementCode::U64 => integer() as u64,
            _ => signed(integer()),
        }
    }
}
