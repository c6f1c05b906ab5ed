//! Transpositions and layout changes that are large enough for the runtime, which copies in blocks.

use crate::Role;
use hlo_ir::{ArrayShape, ElementType, InstrId, Module, Op};

/// `hlo_rt_copy_strided(context, descriptor, from, to)`.
pub(crate) const SYMBOL: &str = "hlo_rt_copy_strided";

/// Minimum size in bytes for a runtime call. Smaller arrays fit in the cache, where a plain loop is as fast.
const MIN_BYTES: usize = 32 << 10;

/// Returns the descriptor for a `transpose` or for a `copy` to another layout, or `None` if a kernel does it.
pub(super) fn lower(module: &Module, id: InstrId) -> Option<Vec<i64>> {
    let instr = &module[id];
    debug_assert_eq!(crate::role(module, id), Role::Kernel);
    let from = module[*instr.operands.first()?].shape.as_array()?;
    let to = instr.shape.as_array()?;
    if to.byte_size() < MIN_BYTES {
        return None;
    }
    // The operand's strides in the order of the result's dimensions.
    let strides = from.strides();
    let from_strides: Vec<i64> = match &instr.op {
        Op::Copy => strides.to_vec(),
        Op::Transpose(t) => t
            .dimensions
            .iter()
            .map(|&d| strides.get(usize::try_from(d).ok()?).copied())
            .collect::<Option<_>>()?,
        _ => return None,
    };
    descriptor(to, &from_strides, &to.strides())
}

/// Minimum size in bytes of a copy that is divided among the threads.
const MIN_PARALLEL_BYTES: u64 = 1 << 20;

/// Returns the descriptor for a plain copy of this many bytes, or `None` if it is too small for a runtime
/// call.
pub(crate) fn plain(bytes: u64) -> Option<Vec<i64>> {
    let size = i64::try_from(bytes).ok().filter(|_| bytes >= MIN_PARALLEL_BYTES)?;
    descriptor(&ArrayShape::new(ElementType::U8, [size]), &[1], &[1])
}

/// Returns the words of a `CopyDesc` for an array with the dimensions of `shape`, or `None` if it has too
/// many dimensions.
pub(super) fn descriptor(shape: &ArrayShape, from_strides: &[i64], to_strides: &[i64]) -> Option<Vec<i64>> {
    const RANK: usize = hlo_runtime_core::MAX_COPY_RANK;
    let rank = shape.rank();
    if rank > RANK || from_strides.len() != rank || to_strides.len() != rank {
        return None;
    }
    let padded = |list: &[i64]| -> Vec<i64> { list.iter().copied().chain([0; RANK]).take(RANK).collect() };
    let mut words = vec![shape.element_type.byte_size() as i64, rank as i64];
    words.extend(padded(&shape.dims));
    words.extend(padded(from_strides));
    words.extend(padded(to_strides));
    Some(words)
}
