//! Partial results: each device combines a part of the elements, and the devices' results must then be
//! combined.

use super::collectives::groups_by;
use super::partitioner::Partitioner;
use super::value::Part;
use crate::partitioning::channels::{Groups, scattered};
use crate::support::combiner::{binary_combiner, identity, is_padding};
use hlo_ir::attr::{Place, TileAssignment};
use hlo_ir::build::Build;
use hlo_ir::{ComputationId, ElementType, InstrId, Op, Opcode};

/// How partial results are combined.
#[derive(Clone, Debug)]
pub(super) enum Combine {
    /// By addition, as for products.
    Sum,
    /// By the operation of a reduction that starts with a scalar.
    Reduction {
        op: Opcode,
        to_apply: ComputationId,
        /// Whether the initial value may be combined several times without changing the result.
        neutral: bool,
    },
    /// For a reduction of several arrays, or by a computation that is not a single operation: partial results
    /// are gathered and reduced again.
    Again { to_apply: ComputationId },
}

impl Partitioner<'_> {
    /// Returns how partial results of an instruction are combined, if they can be.
    pub(super) fn combine(&self, id: InstrId, op: &Op) -> Option<Combine> {
        let instruction = &self.module[id];
        match op {
            // For a read at an index, only one device has nonzero results.
            Op::Dot(_) | Op::Convolution(_) | Op::DynamicSlice(_) | Op::Gather(_) => Some(Combine::Sum),
            Op::Scatter(a) => {
                let to_apply = a.to_apply;
                let ty = instruction.shape.as_array()?.element_type;
                let op = binary_combiner(self.module, to_apply).filter(|op| is_collective(*op, ty))?;
                let known = instruction.operands.len() == 3 && identity(op, ty).is_some();
                known.then_some(Combine::Reduction { op, to_apply, neutral: false })
            }
            Op::Reduce(a) => {
                let to_apply = a.to_apply;
                let ty = instruction.shape.leaves().first()?.as_array()?.element_type;
                let op = binary_combiner(self.module, to_apply).filter(|op| is_collective(*op, ty));
                let (Some(op), &[_, init]) = (op, &instruction.operands[..]) else {
                    return Some(Combine::Again { to_apply });
                };
                let neutral = is_padding(self.module, op, init)?;
                let known = neutral || identity(op, ty).is_some();
                known.then_some(Combine::Reduction { op, to_apply, neutral })
            }
            _ => None,
        }
    }

    /// Returns the scalar that replaces the padding of an operand.
    pub(super) fn neutral(&mut self, combine: &Combine, operand: usize, part: &Part) -> Option<InstrId> {
        let ty = part.shape.element_type;
        match combine {
            Combine::Sum => self.zero(ty),
            Combine::Reduction { neutral: true, .. } => self.initial(1),
            Combine::Reduction { op, .. } => self.scalar(ty, &identity(*op, ty)?),
            Combine::Again { .. } => self.initial(self.module[self.scope.at].operands.len() / 2 + operand),
        }
    }

    /// Returns the initial value of a reduction.
    fn initial(&mut self, operand: usize) -> Option<InstrId> {
        let part = self.part(operand)?;
        let whole = part.tiling.whole(0);
        Some(self.reshard(&part, &whole).id)
    }

    /// Replaces the initial value of a reduction by the identity, unless it may be combined several times.
    /// Returns the original initial value, which is then combined with the result.
    pub(super) fn start(&mut self, combine: &Combine, operands: &mut [InstrId]) -> Option<InstrId> {
        let (Combine::Reduction { op, neutral: false, .. }, [_, init]) = (combine, operands) else {
            return None;
        };
        let ty = self.array_of(*init)?.element_type;
        let nothing = self.scalar(ty, &identity(*op, ty)?)?;
        Some(std::mem::replace(init, nothing))
    }

    /// Combines partial results over the split factors `loops`. Uses a reduce-scatter if it produces the
    /// required sharding, and an all-reduce otherwise.
    pub(super) fn combined(
        &mut self,
        combine: &Combine,
        parts: Vec<Part>,
        cut: &TileAssignment,
        loops: &[usize],
        wanted: &TileAssignment,
        start: Option<InstrId>,
    ) -> Vec<Part> {
        let groups = sharing(cut, loops);
        let (op, to_apply) = match *combine {
            Combine::Again { to_apply } => return self.combined_again(to_apply, parts, &groups),
            Combine::Sum => (Op::Add, None),
            Combine::Reduction { to_apply, .. } => (Op::Add, Some(to_apply)),
        };
        let mut out = Vec::with_capacity(parts.len());
        for part in parts {
            let ty = part.shape.element_type;
            let op = if ty.is_pred() { Op::Or } else { op.clone() };
            let to_apply = to_apply.unwrap_or_else(|| self.combiner(&op, ty));
            let part = match scattered(&part.tiling, &groups, wanted, &part.shape.dims) {
                Some((dim, groups)) => {
                    let part = self.ready_to_scatter(part, dim, groups.first().map_or(1, Vec::len));
                    let id = self.reduce_scatter(part.id, dim, to_apply, &groups);
                    Part { id, tiling: wanted.clone(), ..part }
                }
                None => Part { id: self.all_reduce(part.id, to_apply, &groups), ..part },
            };
            out.push(match (start, combine) {
                (Some(start), Combine::Reduction { op, .. }) => self.combine_initial_value(start, *op, part),
                _ => part,
            });
        }
        out
    }

    /// Combines the result with the initial value.
    fn combine_initial_value(&mut self, start: InstrId, op: Opcode, part: Part) -> Part {
        let start = self.spread(start, &part.local_dims());
        let op = match op {
            Opcode::Multiply => Op::Multiply,
            Opcode::And => Op::And,
            Opcode::Or => Op::Or,
            Opcode::Xor => Op::Xor,
            Opcode::Maximum => Op::Maximum,
            Opcode::Minimum => Op::Minimum,
            _ => Op::Add,
        };
        Part { id: self.same(op, &[part.id, start]), ..part }
    }

    /// Gathers the partial results and reduces them again.
    fn combined_again(&mut self, to_apply: ComputationId, parts: Vec<Part>, groups: &Groups) -> Vec<Part> {
        let mut gathered = Vec::with_capacity(parts.len());
        for part in &parts {
            let mut dims: Vec<i64> = vec![1];
            dims.extend(part.local_dims());
            let one = self.reshaped(part.id, &dims).unwrap_or(part.id);
            gathered.push(self.all_gather(one, 0, groups));
        }
        let count = parts.len();
        gathered.extend((0..count).filter_map(|n| self.initial(count + n)));
        let op = Op::reduce([0], to_apply);
        let shapes: Vec<_> = parts.iter().map(|p| self.shape_of(p.id)).collect();
        let results: Vec<InstrId> = match (count, shapes.into_iter()) {
            (1, mut shapes) => {
                let shape = shapes.next().unwrap_or(hlo_ir::Shape::Token);
                vec![self.add(shape, op, &gathered)]
            }
            (_, shapes) => {
                let made = self.add(hlo_ir::Shape::tuple(shapes.collect::<Vec<_>>()), op, &gathered);
                (0..count).filter_map(|n| self.element(made, n)).collect()
            }
        };
        parts.into_iter().zip(results).map(|(part, id)| Part { id, ..part }).collect()
    }

    /// Pads the part so that it can be scattered among `count` devices.
    fn ready_to_scatter(&mut self, part: Part, dim: usize, count: usize) -> Part {
        let mut dims = part.local_dims();
        let count = count as i64;
        dims[dim] = (dims[dim] + count - 1) / count * count;
        Part { id: self.pad_end(part.id, &dims), ..part }
    }

    /// Returns a computation that applies an operation to two scalars.
    pub(super) fn combiner(&mut self, op: &Op, ty: ElementType) -> ComputationId {
        let caller = self.scope.to;
        self.combiners.get(self.module, &mut self.namer, op, ty, caller)
    }
}

/// Returns whether collectives can combine values of this type by the operation, wherever the program runs.
fn is_collective(op: Opcode, ty: ElementType) -> bool {
    match op {
        Opcode::Add | Opcode::Multiply | Opcode::Maximum | Opcode::Minimum => true,
        Opcode::And | Opcode::Or => ty.is_pred(),
        _ => false,
    }
}

/// Returns the groups of devices that only differ in their parts of the factors `loops`.
pub(super) fn sharing(cut: &TileAssignment, loops: &[usize]) -> Groups {
    let kept = |p: &Place| -> Vec<i64> {
        p.tile.iter().enumerate().filter(|(f, _)| !loops.contains(f)).map(|(_, &t)| t).collect()
    };
    let number = |p: &Place| loops.iter().fold(0, |n, &f| n * cut.tiles()[f] + p.tile[f]);
    groups_by(cut, kept, number)
}
