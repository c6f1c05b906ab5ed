//! Partial results: each device has what it has combined of its part, and all are to be combined.

use super::collectives::groups_by;
use super::cutting::Cutting;
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
    /// They are added: products.
    Sum,
    /// By the operation of a reduction, which begins with a scalar.
    Reduction {
        op: Opcode,
        to_apply: ComputationId,
        /// True if beginning with the scalar several times changes nothing.
        neutral: bool,
    },
    /// By a reduction of several arrays, or by a computation that is no single operation: all partial results are put
    /// together and reduced again.
    Again { to_apply: ComputationId },
}

impl Partitioner<'_> {
    /// How partial results of an instruction are combined, if they can be.
    pub(super) fn combine(&self, id: InstrId, op: &Op) -> Option<Combine> {
        let instruction = &self.module[id];
        match op {
            // Of what is read at an index all but one device have nothing.
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

    /// The scalar in place of what the tiles of an operand were filled up with.
    pub(super) fn neutral(&mut self, combine: &Combine, operand: usize, part: &Part) -> Option<InstrId> {
        let ty = part.shape.element_type;
        match combine {
            Combine::Sum => self.zero(ty),
            Combine::Reduction { neutral: true, .. } => self.initial(1),
            Combine::Reduction { op, .. } => self.scalar(ty, &identity(*op, ty)?),
            Combine::Again { .. } => self.initial(self.module[self.scope.at].operands.len() / 2 + operand),
        }
    }

    /// The scalar that a reduction begins with.
    fn initial(&mut self, operand: usize) -> Option<InstrId> {
        let part = self.part(operand)?;
        let whole = part.tiling.whole(0);
        Some(self.reshard(&part, &whole).id)
    }

    /// Lets a reduction begin with what changes nothing, if what it begins with does: that is combined with the result
    /// then.
    pub(super) fn start(&mut self, combine: &Combine, operands: &mut [InstrId]) -> Option<InstrId> {
        let (Combine::Reduction { op, neutral: false, .. }, [_, init]) = (combine, operands) else {
            return None;
        };
        let ty = self.array_of(*init)?.element_type;
        let nothing = self.scalar(ty, &identity(*op, ty)?)?;
        Some(std::mem::replace(init, nothing))
    }

    /// The results of which each device has a part of what is combined, in the sharding that is wanted if that is no more
    /// work.
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
                (Some(start), Combine::Reduction { op, .. }) => self.begun_with(start, *op, part),
                _ => part,
            });
        }
        out
    }

    /// The result with what it begins with.
    fn begun_with(&mut self, start: InstrId, op: Opcode, part: Part) -> Part {
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

    /// Puts the partial results together, and reduces them again.
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

    /// The part filled up so that it can be scattered among so many devices.
    fn ready_to_scatter(&mut self, part: Part, dim: usize, count: usize) -> Part {
        let mut dims = part.local_dims();
        let count = count as i64;
        dims[dim] = (dims[dim] + count - 1) / count * count;
        Part { id: self.filled_up(part.id, &dims), ..part }
    }

    /// The computation that applies an operation to two scalars.
    pub(super) fn combiner(&mut self, op: &Op, ty: ElementType) -> ComputationId {
        let caller = self.scope.to;
        self.combiners.get(self.module, &mut self.namer, op, ty, caller)
    }

    /// How many bytes a device receives for partial results to be combined and be in the sharding that is wanted.
    pub(super) fn combination_cost(&self, part: &Part, cutting: &Cutting, cut: &TileAssignment) -> f64 {
        let (loops, wanted) = (cutting.combined(cut), &cutting.wanted);
        let dims = &part.shape.dims;
        let elements = super::plan::shard_elements(&part.tiling, dims);
        let bytes = part.shape.element_type.byte_size() as f64;
        let moved = match loops.is_empty() {
            true => self.way(&part.tiling, wanted, dims).cost,
            false => {
                let groups = sharing(cut, &loops);
                let count = groups.first().map_or(1, Vec::len) as f64;
                let once = elements * (count - 1.0) / count;
                match scattered(&part.tiling, &groups, wanted, dims) {
                    Some(_) => once,
                    None => 2.0 * once + self.way(&part.tiling, wanted, dims).cost,
                }
            }
        };
        moved * bytes
    }
}

/// True for the operations by which collectives combine values of a type, wherever the program runs.
fn is_collective(op: Opcode, ty: ElementType) -> bool {
    match op {
        Opcode::Add | Opcode::Multiply | Opcode::Maximum | Opcode::Minimum => true,
        Opcode::And | Opcode::Or => ty.is_pred(),
        _ => false,
    }
}

/// The groups of devices that differ in their parts of some loops only.
fn sharing(cut: &TileAssignment, loops: &[usize]) -> Groups {
    let kept = |p: &Place| -> Vec<i64> {
        p.tile.iter().enumerate().filter(|(f, _)| !loops.contains(f)).map(|(_, &t)| t).collect()
    };
    let number = |p: &Place| loops.iter().fold(0, |n, &f| n * cut.tiles()[f] + p.tile[f]);
    groups_by(cut, kept, number)
}
