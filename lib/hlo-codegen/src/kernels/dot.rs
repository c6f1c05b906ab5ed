//! Small matrix products. The code for each result element is a loop over the contracting dimensions.
//!
//! Source: operation semantics, "DotGeneral".

use super::carried_loops::{Span, carried_loops};
use super::element::ElementCx;
use super::index::Idx;
use super::sums;
use crate::builder::FastMath;
use crate::elem::{self, Elem};
use crate::ops::elementwise;
use crate::ops::reducer::emit_reducer_op;
use hlo_ir::{ElementwiseOp as E, InstrId, Op};
use hlo_kernel::accumulator_type;
use hlo_plan::{Refusal, array};

/// Emits the element of the result of a `dot` at an index. Sums of `f16` and `bf16` elements accumulate in
/// `f32`, and the code rounds each sum once. It converts integer operands that are narrower than the result
/// to the type of the result before the multiplication.
pub fn element<'c>(cx: &ElementCx<'_, 'c>, id: InstrId, index: &[Idx<'c>]) -> Result<Elem<'c>, Refusal> {
    let module = cx.body.module;
    let instr = &module[id];
    let Op::Dot(a) = &instr.op else { return Err("not a dot".into()) };
    let (l, r) = (instr.operands[0], instr.operands[1]);
    let (lhs, rhs, out) = (array(module, l)?, array(module, r)?, array(module, id)?);
    let ty = accumulator_type(out.element_type);
    let free = |rank: usize, batch: &[i64], contracting: &[i64]| -> Vec<usize> {
        (0..rank).filter(|d| !batch.contains(&(*d as i64)) && !contracting.contains(&(*d as i64))).collect()
    };
    let lhs_free = free(lhs.rank(), &a.lhs_batch_dims, &a.lhs_contracting_dims);
    let rhs_free = free(rhs.rank(), &a.rhs_batch_dims, &a.rhs_contracting_dims);
    let batch = a.lhs_batch_dims.len();
    let sizes = a.lhs_contracting_dims.iter().map(|&d| lhs.dims[d as usize]);
    let b = cx.b;
    let zero = elem::constant(b, ty, &vec![0u8; ty.byte_size()]);
    let mut step = |at: &[Idx<'c>], acc: &[Elem<'c>]| {
        let mut li = vec![Idx::constant(0); lhs.rank()];
        let mut ri = vec![Idx::constant(0); rhs.rank()];
        for (k, (&ld, &rd)) in a.lhs_batch_dims.iter().zip(&a.rhs_batch_dims).enumerate() {
            (li[ld as usize], ri[rd as usize]) = (index[k], index[k]);
        }
        for (k, &d) in lhs_free.iter().enumerate() {
            li[d] = index[batch + k];
        }
        for (k, &d) in rhs_free.iter().enumerate() {
            ri[d] = index[batch + lhs_free.len() + k];
        }
        for (k, (&ld, &rd)) in a.lhs_contracting_dims.iter().zip(&a.rhs_contracting_dims).enumerate() {
            (li[ld as usize], ri[rd as usize]) = (at[k], at[k]);
        }
        let convert = |e: Elem<'c>, from| {
            if from == ty {
                Ok(e)
            } else {
                elementwise::emit(b, E::Convert, ty, &[(e, from)]).map_err(Refusal::from)
            }
        };
        let x = convert(cx.value(l, &li)?, lhs.element_type)?;
        let y = convert(cx.value(r, &ri)?, rhs.element_type)?;
        let product = elementwise::emit(b, E::Multiply, ty, &[(x, ty), (y, ty)])?;
        let sum = emit_reducer_op(b, E::Add, ty, acc[0], product, FastMath::Reassoc);
        Ok(vec![sum?])
    };
    let sum = if ty.is_float() || ty.is_complex() {
        let spans: Vec<Span<'c>> = sizes.map(Span::whole).collect();
        sums::summed_spans(cx, &sums::blocks_of(&spans), &spans, ty, zero, &mut Vec::new(), &mut step)?
    } else {
        let sizes: Vec<i64> = sizes.collect();
        carried_loops(cx, &sizes, &[ty], vec![zero], &mut Vec::new(), &mut step)?[0]
    };
    if out.element_type == ty {
        Ok(sum)
    } else {
        elementwise::emit(b, E::Convert, out.element_type, &[(sum, ty)]).map_err(Refusal::from)
    }
}
