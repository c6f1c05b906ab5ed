//! `sort` and `topk` as runtime calls. If the comparator is one of the usual ones, the runtime sorts by keys.
//! Otherwise it calls a function generated from the comparator.

use crate::Refusal;
use crate::applied;
use crate::{Argument, BufId, RuntimeCall, comparator};
use hlo_ir::{ArrayShape, InstrId, Module, Op};
use hlo_runtime_core::{KeyOrder, SORT_DESC_WORDS, SORT_KEY_WORDS, SortDesc, SortKey};

/// Returns the words of a key in a descriptor.
fn key_words(key: &SortKey) -> [i64; SORT_KEY_WORDS] {
    let SortKey { operand, kind, bits, largest, order } = *key;
    [operand, kind, bits, largest, order]
}

/// Returns the runtime call for a `sort` of row-major arrays.
pub(super) fn sort(
    module: &Module,
    id: InstrId,
    operands: Vec<BufId>,
    results: Vec<BufId>,
) -> Result<RuntimeCall<BufId>, Refusal> {
    let instr = &module[id];
    let Op::Sort(attrs) = &instr.op else { return Err("this is not a sort".into()) };
    let mut element_bytes = Vec::with_capacity(operands.len());
    for &o in &instr.operands {
        element_bytes.push(array(module, o)?.element_type.byte_size() as i64);
    }
    let shape = array(module, *instr.operands.first().ok_or("a sort of nothing")?)?;
    // Without `dimensions` the sort is along the last dimension.
    let along = attrs.dimensions.first().copied().unwrap_or(shape.rank() as i64 - 1);
    let along = usize::try_from(along).ok().filter(|&d| d < shape.rank()).ok_or("no dimension to sort")?;
    let keys = comparator::keys(module, attrs.to_apply).unwrap_or_default();
    let desc = SortDesc {
        outer: shape.dims[..along].iter().product(),
        size: shape.dims[along],
        inner: shape.dims[along + 1..].iter().product(),
        operands: operands.len() as i64,
        keys: keys.len() as i64,
    };
    let mut descriptor: Vec<i64> = vec![desc.outer, desc.size, desc.inner, desc.operands, desc.keys];
    debug_assert_eq!(descriptor.len(), SORT_DESC_WORDS);
    descriptor.extend(keys.iter().flat_map(key_words));
    let bytes_at = descriptor.len();
    descriptor.extend(element_bytes);
    let partial = [KeyOrder::Less as i64, KeyOrder::Greater as i64];
    let is_partial = keys.iter().any(|key| partial.contains(&key.order));
    let mut arguments =
        vec![Argument::Descriptor, Argument::DescriptorFrom(bytes_at), Argument::Operands, Argument::Results];
    if !keys.is_empty() {
        arguments.push(Argument::DescriptorFrom(SORT_DESC_WORDS));
    }
    if keys.is_empty() || is_partial {
        applied::check_size(module, &[id])?;
        arguments.push(Argument::Comparator(attrs.to_apply));
    }
    let symbol = match (keys.is_empty(), is_partial) {
        (true, _) => "hlo_rt_sort",
        (false, false) => "hlo_rt_sort_keys",
        (false, true) => "hlo_rt_sort_partial_keys",
    };
    Ok(RuntimeCall { instruction: id, symbol, arguments, descriptor, operands, results, loops: Vec::new() })
}

/// Returns the runtime call for a `topk` of a row-major array. Elements are ordered as by `sort` with a
/// total-order comparison.
pub(super) fn top_k(
    module: &Module,
    id: InstrId,
    operands: Vec<BufId>,
    results: Vec<BufId>,
) -> Result<RuntimeCall<BufId>, Refusal> {
    let instr = &module[id];
    let Op::TopK(attrs) = &instr.op else { return Err("this is not a topk".into()) };
    let shape = array(module, *instr.operands.first().ok_or("a topk of nothing")?)?;
    let (size, rows) = shape.dims.split_last().ok_or("a topk of a scalar")?;
    let order = if attrs.largest.0 { KeyOrder::Descending } else { KeyOrder::Ascending };
    let key = comparator::key(0, shape.element_type, order)
        .ok_or_else(|| format!("elements of type {} have no order", shape.element_type))?;
    let mut descriptor = vec![rows.iter().product(), *size, attrs.k];
    descriptor.extend(key_words(&key));
    Ok(RuntimeCall::with_descriptor(id, "hlo_rt_top_k", descriptor, operands, results))
}

fn array(module: &Module, id: InstrId) -> Result<&ArrayShape, Refusal> {
    crate::array(module, id)
}
