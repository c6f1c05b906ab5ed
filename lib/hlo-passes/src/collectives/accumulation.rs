//! What the passes share that change the order of a reduction between devices and of what a loop does to its result
//! before it accumulates it.

use super::groups::reduction;
use crate::support::clone::{clone_instruction, set_callee};
use crate::support::combiner::Combiners;
use crate::support::effects::{control_dependent, is_marked};
use hlo_ir::build::ComputationNamer;
use hlo_ir::{ComputationId, ElementType, InstrId, Module, Op, Opcode, Shape};
use std::collections::HashSet;

/// The bodies of loops that nothing else calls.
pub(super) fn loop_bodies(module: &Module) -> Vec<ComputationId> {
    let callers = module.callers();
    let is_body = |c: &ComputationId| match callers.get(c).map(Vec::as_slice) {
        Some(&[caller]) => matches!(&module[caller].op, Op::While(a) if a.body == *c && a.condition != *c),
        _ => false,
    };
    module.computations().filter(is_body).collect()
}

/// True for an element of a computation's parameter.
pub(super) fn is_element_of_state(module: &Module, id: InstrId) -> bool {
    let of = |&tuple: &InstrId| matches!(module[tuple].op, Op::Parameter(_));
    matches!(module[id].op, Op::GetTupleElement(_)) && module[id].operands.first().is_some_and(of)
}

/// A reduction of one array between devices, and the conversion of its result, if there is one.
#[derive(Clone, Copy)]
pub(super) struct Reduced {
    pub(super) reduction: InstrId,
    pub(super) convert: Option<InstrId>,
}

/// Puts reductions of what is made of the operand in place of what is made of the result.
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

    /// True for a static array without control dependencies, sharding and `backend_config`.
    pub(super) fn is_plain(&self, module: &Module, id: InstrId) -> bool {
        let is_static = module[id].shape.as_array().is_some_and(|a| a.is_static());
        is_static && !self.pinned.contains(&id) && !is_marked(module, id)
    }

    /// The reduction whose result `value` is, perhaps converted, if `wanted` has it and nothing but `value` and `user`,
    /// if there is one, needs what comes in between.
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

    /// The operand of the reduction, converted as its result was.
    pub(super) fn operand(&self, module: &mut Module, of: Reduced) -> Option<InstrId> {
        let operand = *module[of.reduction].operands.first()?;
        let Some(convert) = of.convert else { return Some(operand) };
        let ty = module[convert].shape.as_array()?.element_type;
        let shape = module[operand].shape.as_array()?.with_element_type(ty);
        Some(add_like(module, convert, shape.into(), Op::Convert, operand))
    }

    /// The reduction of another operand, to a value of that shape, by the same operation.
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

    /// Puts `new` in place of `old`, which goes with all that only it needs of `reduced`.
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

    /// Takes out what was replaced. Returns whether there was anything.
    pub(super) fn finish(self, module: &mut Module) -> bool {
        module.remove_all(&self.gone);
        !self.gone.is_empty()
    }
}

impl Reduced {
    /// What combines the values, the type that it does that in, and the type of the conversion.
    fn conversion(self, module: &Module) -> Option<(Op, ElementType, ElementType)> {
        let &[to_apply] = module[self.reduction].op.called_computations().as_slice() else { return None };
        reduction(module, to_apply)?;
        let op = module[module[to_apply].root()].op.clone();
        let ty = |id: InstrId| module[id].shape.as_array().map(|a| a.element_type);
        Some((op, ty(self.reduction)?, ty(self.convert?)?))
    }
}

/// Adds an instruction of one operand beside `like`.
pub(super) fn add_like(
    module: &mut Module,
    like: InstrId,
    shape: Shape,
    op: Op,
    operand: InstrId,
) -> InstrId {
    module.add_like(like, shape, op, [operand])
}

/// True if values may be converted before they are combined, not after: the result is the same, or has fewer roundings.
fn converts_before(op: Opcode, from: ElementType, to: ElementType) -> bool {
    let floats = from.is_float() && to.is_float();
    let integers = from.is_integer() && to.is_integer();
    // The low bits of a sum are those of the sum of the low bits.
    let modular = integers && to.bit_width() <= from.bit_width();
    // Every number of the one type is one of the other.
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

#[cfg(test)]
mod tests {
    use super::converts_before;
    use hlo_ir::{ElementType::*, Opcode};

    #[test]
    fn conversions_that_may_come_first() {
        for (op, from, to, may) in [
            (Opcode::Add, Bf16, F32, true),
            (Opcode::Add, F32, F64, true),
            // Sums would be rounded more often.
            (Opcode::Add, F32, Bf16, false),
            // 200 + 100 is 44 in eight bits.
            (Opcode::Add, U8, S32, false),
            (Opcode::Add, S32, U8, true),
            (Opcode::Multiply, S32, U32, true),
            (Opcode::Add, S32, F32, false),
            (Opcode::Maximum, F16, F32, true),
            // -1 would be the largest number.
            (Opcode::Maximum, S8, U32, false),
            (Opcode::Maximum, U8, S32, true),
            (Opcode::Minimum, F32, S32, false),
            (Opcode::Or, S16, S8, true),
            (Opcode::Or, Pred, S32, false),
            (Opcode::Add, F16, Bf16, false),
            (Opcode::Divide, Bf16, F32, false),
        ] {
            assert_eq!(converts_before(op, from, to), may, "{op:?} of {from} converted to {to}");
        }
    }
}
