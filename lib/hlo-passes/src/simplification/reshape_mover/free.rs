//! Values that can be recomputed in other sizes, or with reordered dimensions, at no cost.

use super::mover::{Mover, plain};
use crate::support::constants::literal;
use crate::support::effects::is_replaceable;
use crate::support::rewrite::index;
use hlo_ir::{AlignedBytes, Dims, InstrId, Literal, Module, Op, Shape};
use std::collections::{HashMap, HashSet};

/// Maximum size in bytes of a constant that is transposed here. If it has other users, both versions exist.
const MAX_TRANSPOSED_BYTES: usize = 1 << 16;

/// Maximum number of operations between a free value and its use.
const MAX_DEPTH: usize = 4;

/// How to recompute a value in the sizes before the move.
pub(super) enum Free {
    /// A scalar operand next to arrays, unchanged.
    Scalar,
    /// A constant with reordered elements.
    Constant,
    /// A broadcast of its operand to these sizes, with this dimension map.
    Broadcast { dims: Dims, map: Dims },
    /// An iota along this dimension.
    Iota(i64),
    /// An elementwise operation on such values, without other users.
    Computed(Vec<Free>),
}

impl Free {
    /// Returns how to recompute an operand of `user`, or `None` if it is not free. Instructions in `pinned`
    /// stay.
    pub(super) fn of(
        module: &Module,
        pinned: &HashSet<InstrId>,
        id: InstrId,
        user: InstrId,
        mover: &Mover,
    ) -> Option<Self> {
        Self::below(module, pinned, id, user, mover, MAX_DEPTH)
    }

    fn below(
        module: &Module,
        pinned: &HashSet<InstrId>,
        id: InstrId,
        user: InstrId,
        mover: &Mover,
        depth: usize,
    ) -> Option<Self> {
        let to = &plain(module, user)?.dims;
        let shape = module[id].shape.as_array().filter(|a| a.is_static())?;
        if shape.rank() == 0 && !to.is_empty() {
            return Some(Self::Scalar);
        }
        if shape.dims != *to {
            return None;
        }
        match &module[id].op {
            Op::Constant(_) => {
                let moves = matches!(mover.op, Op::Transpose(_));
                let fits = !moves || shape.byte_size() <= MAX_TRANSPOSED_BYTES;
                literal(module, id).filter(|_| fits).map(|_| Self::Constant)
            }
            Op::Iota(a) => mover.dimension_before(to, a.iota_dimension).map(Self::Iota),
            Op::Broadcast(a) => {
                let x = &plain(module, *module[id].operands.first()?)?.dims;
                let (dims, map) = mover.broadcast_before(x, &a.dimensions, to)?;
                Some(Self::Broadcast { dims, map })
            }
            op if op.opcode().is_elementwise()
                && is_replaceable(module, pinned, id)
                && module.users(id) == [user]
                && !module.is_root(id) =>
            {
                let depth = depth.checked_sub(1)?;
                let operands = module[id].operands.iter();
                let parts = operands.map(|&o| Self::below(module, pinned, o, id, mover, depth));
                Some(Self::Computed(parts.collect::<Option<_>>()?))
            }
            _ => None,
        }
    }

    /// Recomputes `id`. `made` maps values to their version in the sizes before the move, and is extended.
    pub(super) fn make(
        self,
        module: &mut Module,
        id: InstrId,
        mover: &Mover,
        made: &mut HashMap<InstrId, InstrId>,
    ) -> Option<InstrId> {
        let shape = module[id].shape.as_array()?.clone();
        let before = || Shape::array(shape.element_type, mover.from.iter().copied());
        let new = match self {
            Self::Scalar => id,
            Self::Constant => {
                let value = literal(module, id)?;
                let moved = match &mover.op {
                    Op::Transpose(a) => permuted_back(value, &mover.from, &a.dimensions)?,
                    _ if value.shape().byte_size() == before().byte_size() => {
                        value.clone().with_shape(before())
                    }
                    _ => return None,
                };
                module.add_like(id, before(), Op::constant(moved), [])
            }
            Self::Iota(iota_dimension) => module.add_like(id, before(), Op::iota(iota_dimension), []),
            Self::Broadcast { dims, map } => {
                let mut x = *module[id].operands.first()?;
                if module[x].shape.as_array()?.dims != dims {
                    let shape = Shape::array(shape.element_type, dims.iter().copied());
                    x = module.add_like(id, shape, Op::reshape(), [x]);
                }
                module.add_like(id, before(), Op::broadcast(map), [x])
            }
            Self::Computed(parts) => {
                let mut operands = Vec::with_capacity(parts.len());
                for (n, part) in parts.into_iter().enumerate() {
                    let o = *module[id].operands.get(n)?;
                    operands.push(match made.get(&o) {
                        Some(&known) => known,
                        None => part.make(module, o, mover, made)?,
                    });
                }
                mover.add_before_move(module, id, &operands)?
            }
        };
        made.insert(id, new);
        Some(new)
    }
}

/// Returns the constant with these sizes whose transpose by `order` is `value`.
fn permuted_back(value: &Literal, sizes: &Dims, order: &[i64]) -> Option<Literal> {
    let shape = value.shape().as_array()?;
    let size = shape.element_type.byte_size();
    let mut strides = vec![0usize; sizes.len()];
    let mut stride = size;
    for (d, &n) in sizes.iter().enumerate().rev() {
        strides[d] = stride;
        stride = stride.checked_mul(index(n)?)?;
    }
    let after: Vec<(i64, usize)> = shape
        .dims
        .iter()
        .zip(order)
        .map(|(&n, &d)| Some((n, *strides.get(index(d)?)?)))
        .collect::<Option<_>>()?;
    let (mut at, mut to) = (vec![0i64; after.len()], 0usize);
    let mut bytes = vec![0u8; stride];
    for element in value.bytes().chunks_exact(size) {
        bytes.get_mut(to..to.checked_add(size)?)?.copy_from_slice(element);
        for (at, &(n, stride)) in at.iter_mut().zip(&after).rev() {
            (*at, to) = (*at + 1, to + stride);
            if *at < n {
                break;
            }
            (*at, to) = (0, to - stride * n as usize);
        }
    }
    let before = Shape::array(shape.element_type, sizes.iter().copied());
    Literal::try_from_bytes(before, AlignedBytes::from_slice(&bytes))
}
