//! Follows values through tuples, calls and loops, and handles their memory spaces and the custom calls that
//! move them between host and device memory.

use hlo_ir::{ArrayShape, ComputationId, InstrId, Layout, LayoutItems, Module, Op, Shape};
use std::collections::HashMap;

/// The memory space of the host.
pub(crate) const HOST: i32 = LayoutItems::HOST_MEMORY;

/// The memory space of the device.
pub(crate) const DEVICE: i32 = 0;

/// The target of a custom call that moves a value to the host.
pub(crate) const MOVE_TO_HOST: &str = "MoveToHost";

/// The target of a custom call that moves a value back to the device.
pub(crate) const MOVE_TO_DEVICE: &str = "MoveToDevice";

/// A part of an instruction's value. The list contains the indices of the tuple elements, the outermost
/// first.
pub(crate) type Part = (InstrId, Vec<usize>);

/// Returns whether the instruction is a custom call with this target.
pub(crate) fn calls_target(module: &Module, id: InstrId, target: &str) -> bool {
    matches!(&module[id].op, Op::CustomCall(a) if a.custom_call_target == target)
}

/// Returns the value that a custom call moves to the host or back: its only operand, if it has the shape of
/// the call.
pub(crate) fn moved(module: &Module, id: InstrId, target: &str) -> Option<InstrId> {
    let [operand] = module[id].operands[..] else { return None };
    let moves = calls_target(module, id, target) && module[operand].shape.compatible(&module[id].shape);
    moves.then_some(operand)
}

/// Returns the shape of a part of a value.
pub(crate) fn part_shape<'m>(module: &'m Module, (id, index): &Part) -> Option<&'m Shape> {
    shape_part(&module[*id].shape, index)
}

/// Returns a part of a shape.
pub(crate) fn shape_part<'s>(shape: &'s Shape, index: &[usize]) -> Option<&'s Shape> {
    index.iter().try_fold(shape, |shape, &i| shape.as_tuple()?.get(i))
}

/// Returns a mutable reference to a part of a shape.
pub(crate) fn part_mut<'s>(shape: &'s mut Shape, index: &[usize]) -> Option<&'s mut Shape> {
    index.iter().try_fold(shape, |s, &i| match s {
        Shape::Tuple(parts) => parts.get_mut(i),
        _ => None,
    })
}

/// Returns the memory space of an instruction's array.
pub(crate) fn space(module: &Module, id: InstrId) -> Option<i32> {
    module[id].shape.as_array().map(ArrayShape::memory_space)
}

/// Sets the memory space of all arrays of a shape. Returns whether any array was in another space.
pub(crate) fn set_space(shape: &mut Shape, space: i32) -> bool {
    match shape {
        Shape::Array(a) if a.memory_space() != space => {
            let layout = a.layout.clone().unwrap_or_else(|| Layout::row_major(a.rank()));
            let mut items = layout.items().cloned().unwrap_or_default();
            items.memory_space = space;
            *a = a.clone().with_layout(layout.with_items(items));
            true
        }
        // `any` would stop at the first change.
        Shape::Tuple(parts) => parts.iter_mut().fold(false, |changed, part| set_space(part, space) | changed),
        _ => false,
    }
}

/// Sets the memory space of a part of a value. Returns whether the part was in another space.
pub(crate) fn move_part(module: &mut Module, (id, index): &Part, space: i32) -> bool {
    let mut shape = module[*id].shape.clone();
    let changed = part_mut(&mut shape, index).is_some_and(|part| set_space(part, space));
    if changed {
        module.set_shape(*id, shape);
    }
    changed
}

/// Follows parts of values forward and backward, also through computations.
pub(crate) struct Flow {
    callers: HashMap<ComputationId, Vec<InstrId>>,
}

impl Flow {
    /// Returns the flow of a module. It stays valid while the calls do not change.
    pub(crate) fn of(module: &Module) -> Self {
        Self { callers: module.callers() }
    }

    /// Returns the instructions that call a computation.
    pub(crate) fn callers(&self, computation: ComputationId) -> &[InstrId] {
        self.callers.get(&computation).map_or(&[], Vec::as_slice)
    }

    /// Returns the parts to which a part of a value flows:
    ///
    /// - its users; for a user that calls a computation, the parameters of that computation instead;
    /// - the callers of the computation, if the instruction is its root.
    pub(crate) fn successors(&self, module: &Module, (id, index): &Part) -> Vec<Part> {
        let mut out = Vec::new();
        let parent = module[*id].parent;
        if module.is_root(*id) {
            out.extend(self.callers(parent).iter().map(|&caller| (caller, index.clone())));
        }
        for &user in module.users(*id) {
            let places = || places(module, user, *id);
            let parameters = |callee: ComputationId| {
                let all = module.parameters(callee);
                places().filter_map(move |n| all.get(n).copied()).map(|p| (p, index.clone()))
            };
            match &module[user].op {
                Op::Tuple => out.extend(places().map(|n| {
                    let index = [&[n], &index[..]].concat();
                    (user, index)
                })),
                Op::GetTupleElement(a) => match index.split_first() {
                    None => out.push((user, Vec::new())),
                    Some((&first, rest)) if usize::try_from(a.index) == Ok(first) => {
                        out.push((user, rest.to_vec()));
                    }
                    Some(_) => {}
                },
                Op::Call(a) => out.extend(parameters(a.to_apply)),
                Op::AsyncStart(a) => out.extend(a.calls.into_iter().flat_map(parameters)),
                Op::While(a) => out.extend([a.body, a.condition].into_iter().flat_map(parameters)),
                op @ Op::Conditional(_) => {
                    let branches = op.called_computations();
                    let branch = |n: usize| branches.get(n.checked_sub(1)?).copied();
                    let first = |c: ComputationId| module.parameters(c).first().copied();
                    out.extend(places().filter_map(|n| Some((first(branch(n)?)?, index.clone()))));
                }
                Op::CustomCall(a) => {
                    let moves = [MOVE_TO_HOST, MOVE_TO_DEVICE].iter().any(|t| a.custom_call_target == *t);
                    let shared = |n: usize| {
                        let operand = |n: usize| i64::try_from(n).unwrap_or(-1);
                        a.output_to_operand_aliasing.iter().any(|alias| alias.operand == operand(n))
                    };
                    if moves || places().any(shared) {
                        out.push((user, index.clone()));
                    }
                }
                _ => out.push((user, index.clone())),
            }
        }
        out
    }

    /// Returns the parts from which a part of a value flows: operands, arguments of callers, or the result of
    /// a called computation. `operand` selects the operand of an instruction that may take the value from
    /// several; the default is the first.
    pub(crate) fn predecessors(
        &self,
        module: &Module,
        (id, index): &Part,
        operand: Option<usize>,
    ) -> Vec<Part> {
        let operands = &module[*id].operands;
        let of_operand = |n: usize| operands.get(n).map(|&o| (o, index.clone()));
        let root = |c: ComputationId| module.has_root(c).then(|| (module[c].root(), index.clone()));
        match &module[*id].op {
            Op::GetTupleElement(a) => {
                let element = usize::try_from(a.index).ok();
                let index = element.map(|e| [&[e], &index[..]].concat());
                operands.first().copied().zip(index).into_iter().collect()
            }
            Op::Tuple => match index.split_first() {
                Some((&n, rest)) => operands.get(n).map(|&o| (o, rest.to_vec())).into_iter().collect(),
                None => operands.iter().map(|&o| (o, Vec::new())).collect(),
            },
            Op::Call(a) => root(a.to_apply).into_iter().collect(),
            Op::While(a) => root(a.body).into_iter().collect(),
            op @ Op::Conditional(_) => op.called_computations().into_iter().filter_map(root).collect(),
            Op::Parameter(p) => {
                let number = usize::try_from(p.number).unwrap_or(usize::MAX);
                let mut out = Vec::new();
                for &caller in self.callers(module[*id].parent) {
                    let operands = &module[caller].operands;
                    let given: Vec<InstrId> = match &module[caller].op {
                        op @ Op::Conditional(_) => {
                            let branches = op.called_computations().into_iter().zip(operands.iter().skip(1));
                            branches.filter(|(c, _)| *c == module[*id].parent).map(|(_, &o)| o).collect()
                        }
                        _ => operands.get(number).copied().into_iter().collect(),
                    };
                    out.extend(given.into_iter().map(|o| (o, index.clone())));
                }
                out
            }
            Op::DynamicUpdateSlice | Op::Pad(_) | Op::Send(_) => of_operand(0).into_iter().collect(),
            _ => of_operand(operand.unwrap_or(0)).into_iter().collect(),
        }
    }
}

/// Returns the operand numbers of `user` at which it uses `id`.
pub(crate) fn places(module: &Module, user: InstrId, id: InstrId) -> impl Iterator<Item = usize> {
    let operands = module[user].operands.iter().enumerate();
    operands.filter(move |(_, o)| **o == id).map(|(n, _)| n)
}

/// Returns whether the operation passes values on without computing with them.
pub(crate) fn forwards_operands(op: &Op) -> bool {
    matches!(
        op,
        Op::GetTupleElement(_)
            | Op::Bitcast
            | Op::Tuple
            | Op::Call(_)
            | Op::While(_)
            | Op::Conditional(_)
            | Op::Parameter(_)
            | Op::OptBarrier
            | Op::AsyncStart(_)
            | Op::AsyncDone(_)
            | Op::CustomCall(_)
            | Op::Send(_)
            | Op::Recv(_)
            | Op::SendDone(_)
            | Op::RecvDone(_)
    )
}

/// Returns whether a `reshape` leaves every element at its place in memory. It compares strides: a step along
/// a dimension of either side must lead to the same memory offset on the other side.
pub(crate) fn is_bitcast(module: &Module, id: InstrId) -> bool {
    let [operand] = module[id].operands[..] else { return false };
    let (Some(to), Some(from)) = (module[id].shape.as_array(), module[operand].shape.as_array()) else {
        return false;
    };
    let same_places = |a: &ArrayShape, b: &ArrayShape| {
        let (steps, places) = (a.row_major_strides(), a.strides());
        let place = |mut step: i64| {
            let dims = b.row_major_strides().into_iter().zip(b.strides());
            dims.fold(0i64, |place, (whole, stride)| {
                let index = step / whole.max(1);
                step -= index.saturating_mul(whole.max(1));
                index.saturating_mul(stride).saturating_add(place)
            })
        };
        let dims = a.dims.iter().zip(steps.iter().zip(&places));
        dims.filter(|(size, _)| **size > 1).all(|(_, (&step, &stride))| place(step) == stride)
    };
    let empty = to.dims.contains(&0);
    matches!(module[id].op, Op::Reshape(_)) && (empty || same_places(from, to) && same_places(to, from))
}
