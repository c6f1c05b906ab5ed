//! Code shared by the passes that move a reduction between devices past the conversions and transposes that a
//! loop applies to its result before it accumulates it.

use hlo_ir::build::ComputationNamer;
use hlo_ir::{ComputationId, ElementType, InstrId, Module, Op, Opcode, Shape};
use hlo_passes::support::clone::{clone_instruction, set_callee};
use hlo_passes::support::combiner::Combiners;
use hlo_passes::support::device_groups::reduction;
use hlo_passes::support::effects::{control_dependent, is_marked};
use std::collections::HashSet;

/// Returns the loop bodies that nothing else calls.
pub(super) fn loop_bodies(module: &Module) -> Vec<ComputationId> {
    let callers = module.callers();
    let is_body = |c: &ComputationId| match callers.get(c).map(Vec::as_slice) {
        Some(&[caller]) => matches!(&module[caller].op, Op::While(a) if a.body == *c && a.condition != *c),
        _ => false,
    };
    module.computations().filter(is_body).collect()
}

/// Returns whether the instruction reads an element of a computation's parameter.
pub(super) fn is_element_of_state(module: &Module, id: InstrId) -> bool {
    let of = |&tuple: &InstrId| matches!(module[tuple].op, Op::Parameter(_));
    matches!(module[id].op, Op::GetTupleElement(_)) && module[id].operands.first().is_some_and(of)
}

/// A reduction of one array between devices, and the conversion of its result, if any.
#[derive(Clone, Copy)]
pub(super) struct Reduced {
    pub(super) reduction: InstrId,
    pub(super) convert: Option<InstrId>,
}

/// Replaces operations on the result of a reduction by the same operations on its operand.
pub(super) struct Reorder {
    pinned: HashSet<InstrId>,
    namer: ComputationNamer,
    combiners: Combiners,
    gone: Vec<InstrId>,
}

impl Reorder {
    pub(super) fn new(module: &Module) -> Self {
        Self {
            pinned: control_dependent(module),
            namer: ComputationNamer::new(module),
            combiners: Combiners::default(),
            gone: Vec::new(),
        }
    }

    /// Returns whether the instruction is a static array without control dependencies, sharding or
    /// `backend_config`.
    pub(super) fn is_plain(&self, module: &Module, id: InstrId) -> bool {
        let is_static = module[id].shape.as_array().is_some_and(|a| a.is_static());
        is_static && !self.pinned.contains(&id) && !is_marked(module, id)
    }

    /// Returns the reduction that computes `value`, with an optional conversion after it, if `wanted` selects
    /// it. The intermediate results must have no other users. If `user` is given, it must be the only user of
    /// `value`.
    pub(super) fn reduced(
        &self,
        module: &Module,
        value: InstrId,
        user: Option<InstrId>,
        wanted: fn(&Op) -> bool,
    ) -> Option<Reduced> {
        let only = |id: InstrId, user: InstrId| {
            module.users(id) == [user] && !module.is_root(id) && self.is_plain(module, id)
        };
        let convert = matches!(module[value].op, Op::Convert).then_some(value);
        let reduction = match convert {
            Some(convert) => *module[convert].operands.first()?,
            None => value,
        };
        let &[operand] = module[reduction].operands.as_slice() else { return None };
        let free = user.is_none_or(|user| only(value, user))
            && convert.is_none_or(|convert| self.is_plain(module, convert) && only(reduction, convert))
            && self.is_plain(module, reduction)
            && module[operand].shape.as_array().is_some_and(|a| a.is_static());
        let found = Reduced { reduction, convert };
        let may = convert.is_none()
            || found.conversion(module).is_some_and(|(op, from, to)| converts_before(op.opcode(), from, to));
        (wanted(&module[reduction].op) && free && may).then_some(found)
    }

    /// Returns the operand of the reduction, converted like its result.
    pub(super) fn operand(&self, module: &mut Module, of: Reduced) -> Option<InstrId> {
        let operand = *module[of.reduction].operands.first()?;
        let Some(convert) = of.convert else { return Some(operand) };
        let ty = module[convert].shape.as_array()?.element_type;
        let shape = module[operand].shape.as_array()?.with_element_type(ty);
        Some(add_like(module, convert, shape.into(), Op::Convert, operand))
    }

    /// Adds the same reduction of another operand, with a result of this shape.
    pub(super) fn reduce(
        &mut self,
        module: &mut Module,
        of: Reduced,
        operand: InstrId,
        shape: Shape,
    ) -> InstrId {
        let (parent, base) = (module[of.reduction].parent, module[of.reduction].name.clone());
        let name = module.unique_name(&base);
        let id = clone_instruction(module, of.reduction, parent, &name, [operand]);
        module.set_shape(id, shape);
        if let Some((op, _, to)) = of.conversion(module).filter(|&(_, from, to)| from != to) {
            let to_apply = self.combiners.get(module, &mut self.namer, &op, to, parent);
            set_callee(module.op_mut(id), 0, to_apply);
        }
        id
    }

    /// Replaces `old` by `new`, and records `old`, the reduction and its conversion for removal.
    pub(super) fn replace(&mut self, module: &mut Module, old: InstrId, new: InstrId, reduced: Reduced) {
        module.replace_all_uses_with(old, new);
        let mut gone = vec![old];
        gone.extend(reduced.convert.filter(|&c| c != old));
        gone.push(reduced.reduction);
        for &id in &gone {
            module.set_operands(id, []);
        }
        self.gone.extend(gone);
    }

    /// Removes the replaced instructions. Returns whether there are any.
    pub(super) fn finish(self, module: &mut Module) -> bool {
        module.remove_all(&self.gone);
        !self.gone.is_empty()
    }
}

impl Reduced {
    /// Returns the combining operation, its type, and the type after the conversion.
    fn conversion(self, module: &Module) -> Option<(Op, ElementType, ElementType)> {
        let &[to_apply] = module[self.reduction].op.called_computations().as_slice() else { return None };
        reduction(module, to_apply)?;
        let op = module[module[to_apply].root()].op.clone();
        let ty = |id: InstrId| module[id].shape.as_array().map(|a| a.element_type);
        Some((op, ty(self.reduction)?, ty(self.convert?)?))
    }
}

/// Adds an instruction with one operand next to `like`.
pub(super) fn add_like(
    module: &mut Module,
    like: InstrId,
    shape: Shape,
    op: Op,
    operand: InstrId,
) -> InstrId {
    module.add_like(like, shape, op, [operand])
}

/// Returns whether values may be converted before they are combined instead of after. The result must be
/// equal or have fewer roundings.
pub fn converts_before(op: Opcode, from: ElementType, to: ElementType) -> bool {
    let floats = from.is_float() && to.is_float();
    let integers = from.is_integer() && to.is_integer();
    // The low bits of a sum are the sum of the low bits.
    let modular = integers && to.bit_width() <= from.bit_width();
    // The wider type represents every number of the narrower one.
    let signs = from.is_signed_integer() == to.is_signed_integer() || to.is_signed_integer();
    let widens = from.bit_width() < to.bit_width()
        && (integers && signs || floats && matches!(to, ElementType::F32 | ElementType::F64));
    match op {
        _ if from == to => true,
        Opcode::Add | Opcode::Multiply => modular || widens && floats,
        Opcode::And | Opcode::Or | Opcode::Xor => modular,
        Opcode::Maximum | Opcode::Minimum => widens,
        _ => false,
    }
}
