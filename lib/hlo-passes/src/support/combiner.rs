//! Combiners: the computations that a `reduce` or `scatter` applies to two elements. This module recognizes
//! the operation of a combiner, and creates combiners.

use super::constants::{
    ElementBytes, all_ones, float_bytes, integer_bytes, is_splat_float, is_splat_integer, splat,
};
use hlo_ir::attr::HloString;
use hlo_ir::build::ComputationNamer;
use hlo_ir::{ComputationId, ElementType, Module, Op, Opcode, Shape};
use std::collections::HashMap;

/// Returns the opcode of a computation that only applies one elementwise operation to its two scalar
/// parameters, in their order. Returns `None` for other computations.
pub fn binary_combiner(module: &Module, id: ComputationId) -> Option<Opcode> {
    if !module.has_root(id) {
        return None;
    }
    let root = &module[module[id].root()];
    let numbers: Vec<i64> =
        root.operands.iter().map(|&o| parameter_number(module, o)).collect::<Option<_>>()?;
    match (root.opcode(), numbers.as_slice()) {
        (Opcode::Compare | Opcode::Complex | Opcode::StochasticConvert, _) => None,
        // The opcode of other instructions does not determine the operation. An example is a `call`.
        (op, _) if !op.is_elementwise() => None,
        (op, [0, 1]) => Some(op),
        (op, [1, 0]) if root.shape.as_array().is_some_and(|a| op.is_commutative_on(a.element_type)) => {
            Some(op)
        }
        _ => None,
    }
}

/// Checks whether the root of the computation is the parameter with this number.
pub(crate) fn returns_parameter(module: &Module, id: ComputationId, number: i64) -> bool {
    module.has_root(id) && parameter_number(module, module[id].root()) == Some(number)
}

/// Returns the number of the parameter, or `None` if the instruction is not a parameter.
pub fn parameter_number(module: &Module, id: hlo_ir::InstrId) -> Option<i64> {
    match &module[id].op {
        Op::Parameter(p) => Some(p.number),
        _ => None,
    }
}

/// Checks whether the value is the identity element of an operation that is associative without rounding
/// errors.
pub(crate) fn is_neutral(module: &Module, op: Opcode, value: hlo_ir::InstrId) -> Option<bool> {
    let ty = module[value].shape.as_array()?.element_type;
    let exact = ty.is_integer() || ty.is_pred();
    Some(match op {
        Opcode::Add | Opcode::Or | Opcode::Xor if exact => is_splat_integer(module, value, 0),
        Opcode::Multiply if exact => is_splat_integer(module, value, 1),
        Opcode::And if exact => {
            splat(module, value).is_some_and(|(ty, b)| all_ones(ty).is_some_and(|o| o == b))
        }
        Opcode::Maximum if ty.is_float() => is_splat_float(module, value, f64::NEG_INFINITY),
        Opcode::Minimum if ty.is_float() => is_splat_float(module, value, f64::INFINITY),
        _ => false,
    })
}

/// Checks whether the result of a reduction with this initial value stays the same, bit for bit, if the
/// reduction also combines an additional element of this value.
pub(crate) fn is_padding(module: &Module, op: Opcode, value: hlo_ir::InstrId) -> Option<bool> {
    // A sum that begins with +0 is never -0, so adding another +0 does not change it.
    let zeros = op == Opcode::Add && is_splat_float(module, value, 0.0);
    Some(zeros || is_neutral(module, op, value)?)
}

/// Returns the identity element `e` of an operation: `e ∘ x = x`, bit for bit. Returns `None` if there is
/// none.
pub fn identity(op: Opcode, ty: ElementType) -> Option<ElementBytes> {
    let extreme = |largest: bool| -> Option<ElementBytes> {
        if ty.is_float() {
            return float_bytes(ty, if largest { f64::INFINITY } else { f64::NEG_INFINITY });
        }
        let mut bytes = all_ones(ty)?;
        if ty.is_pred() || !ty.is_signed_integer() {
            return if largest { Some(bytes) } else { integer_bytes(ty, 0) };
        }
        let bits = ty.bit_width();
        let smallest = -(1i128 << (bits - 1));
        let value = if largest { -(smallest + 1) } else { smallest };
        let size = bytes.len();
        bytes.copy_from_slice(value.to_le_bytes().get(..size)?);
        Some(bytes)
    };
    match op {
        Opcode::Add if ty.is_float() => float_bytes(ty, -0.0),
        Opcode::Add | Opcode::Or | Opcode::Xor => integer_bytes(ty, 0).filter(|_| !ty.is_float()),
        Opcode::Multiply => integer_bytes(ty, 1),
        Opcode::And => all_ones(ty),
        Opcode::Maximum => extreme(false),
        Opcode::Minimum => extreme(true),
        _ => None,
    }
}

/// The combiners that a pass has created: one for each operation, element type and execution thread.
#[derive(Default)]
pub struct Combiners(HashMap<(Opcode, ElementType, Option<HloString>), ComputationId>);

impl Combiners {
    /// Returns a computation that applies a binary operation to two scalars of the type, and creates it if it
    /// does not exist. It has the execution thread of `caller`, so instructions of `caller` can call it.
    pub fn get(
        &mut self,
        module: &mut Module,
        namer: &mut ComputationNamer,
        op: &Op,
        ty: ElementType,
        caller: ComputationId,
    ) -> ComputationId {
        let key = (op.opcode(), ty, module[caller].execution_thread.clone());
        *self.0.entry(key).or_insert_with(|| binary_computation(module, namer, op, ty, caller))
    }

    /// Returns the number of combiners that were created.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Removes a combiner that is about to be removed from the module.
    pub fn forget(&mut self, computation: ComputationId) {
        self.0.retain(|_, made| *made != computation);
    }
}

/// Creates a computation that applies a binary operation to two scalars. It has the execution thread of
/// `caller`.
fn binary_computation(
    module: &mut Module,
    namer: &mut ComputationNamer,
    op: &Op,
    ty: ElementType,
    caller: ComputationId,
) -> ComputationId {
    let name = namer.fresh(op.name());
    let computation = module.add_computation(&name);
    module[computation].execution_thread = module[caller].execution_thread.clone();
    let shape = Shape::scalar(ty);
    let parameter = |number| Op::parameter(number);
    let names = ["x", "y", "r"].map(|name| module.unique_name(name));
    let x = module.add(computation, &names[0], shape.clone(), parameter(0), []);
    let y = module.add(computation, &names[1], shape.clone(), parameter(1), []);
    let root = module.add(computation, &names[2], shape, op.clone(), [x, y]);
    module.set_root(computation, root);
    computation
}

/// Checks whether the result of a reduction would change if it rounded intermediate values to `ty`. The
/// engines do not round them: they combine values of floating-point types narrower than 32 bits in `f32`.
pub fn rounds_in_between(op: Opcode, ty: ElementType) -> bool {
    ty.is_float() && ty.bit_width() < 32 && matches!(op, Opcode::Add | Opcode::Multiply)
}
