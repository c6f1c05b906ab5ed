//! The attributes of operations as lists of numbers.
//!
//! Rules contain them in braces, with a number for each dimension: `slice{start, limit, stride}(x)`. A set of
//! dimensions, as `reverse` and `reduce` have it, is a list with 1 for its members and 0 for the others.

use hlo_ir::attr::{
    DimensionAttrs, DynamicSliceAttrs, IotaAttrs, PadAttrs, PaddingDim, ReduceAttrs, SliceAttrs, SliceDim,
};
use hlo_ir::{ComputationId, Dims, Instruction, Module, Op, Opcode};
use smallvec::SmallVec;

/// The numbers of an attribute.
pub(crate) type Numbers = SmallVec<[i64; 6]>;

/// The lists of an instruction.
pub(crate) type AllNumbers = SmallVec<[Numbers; 3]>;

/// The form of an operation in rules.
pub struct Form {
    /// The opcode.
    pub opcode: Opcode,
    /// The names of the lists in braces.
    pub lists: &'static [&'static str],
    /// The minimum number of operands. There are more only if the pattern has a list of operands.
    pub operands: usize,
    /// Whether a list of further operands is possible.
    pub has_rest: bool,
}

/// The operations that rules support besides the elementwise ones.
pub const FORMS: &[Form] = &[
    Form { opcode: Opcode::Broadcast, lists: &["dimensions"], operands: 1, has_rest: false },
    Form { opcode: Opcode::Concatenate, lists: &["dimension"], operands: 1, has_rest: true },
    Form { opcode: Opcode::DynamicSlice, lists: &["sizes"], operands: 1, has_rest: true },
    Form { opcode: Opcode::DynamicUpdateSlice, lists: &[], operands: 2, has_rest: true },
    Form { opcode: Opcode::Iota, lists: &["dimension"], operands: 0, has_rest: false },
    Form { opcode: Opcode::Pad, lists: &["low", "high", "interior"], operands: 2, has_rest: false },
    Form { opcode: Opcode::Reduce, lists: &["reduced", "computation"], operands: 2, has_rest: false },
    Form { opcode: Opcode::Reshape, lists: &[], operands: 1, has_rest: false },
    Form { opcode: Opcode::Reverse, lists: &["reversed"], operands: 1, has_rest: false },
    Form { opcode: Opcode::Slice, lists: &["start", "limit", "stride"], operands: 1, has_rest: false },
    Form { opcode: Opcode::Transpose, lists: &["dimensions"], operands: 1, has_rest: false },
];

/// Returns the form of an opcode that is not elementwise, if rules support it.
pub fn form(opcode: Opcode) -> Option<&'static Form> {
    FORMS.iter().find(|form| form.opcode == opcode)
}

/// Returns the number of entries of each list of an operation on an operand of this rank.
pub fn list_length(opcode: Opcode, list: usize, rank: usize) -> usize {
    match (opcode, list) {
        (Opcode::Iota | Opcode::Concatenate, _) | (Opcode::Reduce, 1) => 1,
        _ => rank,
    }
}

/// Returns the lists of an instruction, or `None` if rules do not support its attributes.
pub(crate) fn numbers_of(module: &Module, instr: &Instruction) -> Option<AllNumbers> {
    let rank = || Some(module[*instr.operands.first()?].shape.as_array()?.rank());
    Some(match &instr.op {
        Op::Broadcast(a) => smallvec::smallvec![Numbers::from_slice(&a.dimensions)],
        Op::Transpose(a) => smallvec::smallvec![Numbers::from_slice(&a.dimensions)],
        Op::Concatenate(a) => smallvec::smallvec![Numbers::from_slice(&[a.dimension()])],
        Op::DynamicSlice(a) => smallvec::smallvec![Numbers::from_slice(&a.dynamic_slice_sizes)],
        Op::Iota(a) => smallvec::smallvec![Numbers::from_slice(&[a.iota_dimension])],
        Op::Pad(a) => {
            let list = |of: fn(&PaddingDim) -> i64| a.padding.iter().map(of).collect();
            smallvec::smallvec![list(|p| p.low), list(|p| p.high), list(|p| p.interior)]
        }
        Op::Slice(a) => {
            let list = |of: fn(&SliceDim) -> i64| a.slice.iter().map(of).collect();
            smallvec::smallvec![list(|s| s.start), list(|s| s.limit), list(|s| s.stride)]
        }
        Op::Reverse(a) => smallvec::smallvec![flags(&a.dimensions, rank()?)],
        Op::Reduce(a) => {
            let computation = smallvec::smallvec![a.to_apply.index() as i64];
            smallvec::smallvec![flags(&a.dimensions, rank()?), computation]
        }
        _ => return None,
    })
}

/// Returns a list with 1 for the members of a set of dimensions.
fn flags(set: &[i64], rank: usize) -> Numbers {
    (0..rank).map(|d| set.contains(&(d as i64)).into()).collect()
}

/// Returns the operation with these lists, or `None` if a list is missing.
pub(super) fn operation_of(opcode: Opcode, lists: &[Numbers]) -> Option<Op> {
    let dims = |n: usize| -> Option<Dims> { lists.get(n).map(|list| Dims::from_slice(list)) };
    let set = |n: usize| -> Option<Dims> {
        let members = lists.get(n)?.iter().enumerate().filter(|(_, flag)| **flag != 0);
        Some(members.map(|(d, _)| d as i64).collect())
    };
    Some(match opcode {
        Opcode::Broadcast => Op::broadcast(dims(0)?),
        Opcode::Transpose => Op::transpose(dims(0)?),
        Opcode::Concatenate => Op::Concatenate(DimensionAttrs { dimensions: dims(0)? }),
        Opcode::DynamicSlice => Op::DynamicSlice(DynamicSliceAttrs { dynamic_slice_sizes: dims(0)? }),
        Opcode::Iota => Op::Iota(IotaAttrs { iota_dimension: *dims(0)?.first()? }),
        Opcode::Pad => {
            let (low, high, interior) = (dims(0)?, dims(1)?, dims(2)?);
            let all = low.iter().zip(&high).zip(&interior);
            let padding = all.map(|((&low, &high), &interior)| PaddingDim { low, high, interior }).collect();
            Op::Pad(PadAttrs { padding })
        }
        Opcode::Slice => {
            let (start, limit, stride) = (dims(0)?, dims(1)?, dims(2)?);
            let all = start.iter().zip(&limit).zip(&stride);
            let slice = all.map(|((&start, &limit), &stride)| SliceDim { start, limit, stride }).collect();
            Op::Slice(SliceAttrs { slice })
        }
        Opcode::Reverse => Op::reverse(set(0)?),
        Opcode::Reduce => {
            let computation = usize::try_from(*lists.get(1)?.first()?).ok()?;
            Op::Reduce(ReduceAttrs { dimensions: set(0)?, to_apply: ComputationId::new(computation) })
        }
        Opcode::Reshape => Op::reshape(),
        Opcode::DynamicUpdateSlice => Op::DynamicUpdateSlice,
        _ => return None,
    })
}
