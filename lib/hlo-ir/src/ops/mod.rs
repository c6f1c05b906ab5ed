//! Shape inference and the rules for instructions, one file per opcode family.
//!
//! A rule is one function. It checks the operands and attributes, and returns the shape of the result if the
//! operands determine it. The declared shape is the one that the text or the program gives the instruction.
//! If there is one, the rule compares the operands with it. [`infer_shape`] returns the shape of the result.
//! The verifier also compares that shape with the declared one.

mod asynchronous;
mod collective;
mod context;
mod contract;
mod contraction;
mod control;
mod convolution;
mod data_movement;
mod dim;
mod effects;
mod elementwise;
mod groups;
mod indexing;
mod linear_algebra;
mod normalization;
mod products;
mod random;
mod reduction;
mod scan;
mod structural;
mod violation;
mod window;

use crate::diag::Code;
use crate::rules::code;
use crate::{Module, Op, Shape};
pub(crate) use asynchronous::{is_part, whole_state};
use context::Context;
pub(crate) use context::{Signatures, float_width};
pub(crate) use contract::counted;
pub(crate) use data_movement::bitcast_sizes;
pub(crate) use dim::{shape_error, shapes_agree};
pub(crate) use effects::unwrapped;
pub(crate) use groups::listed_devices;
pub(crate) use violation::{Place, Rule, Violation};

/// The error of an instruction whose shape cannot be inferred.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShapeError {
    /// The code of the violated rule, from the table [`rules`](mod@crate::rules).
    pub code: Code,
    /// The expected and the found value, in words.
    pub message: String,
}

/// Infers the shape of an instruction's result from its operation and the shapes of its operands.
///
/// Returns `None` if they do not determine the shape, so that the text must declare it (`convert`, `reshape`,
/// `parameter`, …). The layout of the result depends on the opcode:
///
/// - Elementwise results have the layout of the first operand.
/// - Values that pass through unchanged (tuples, loops, calls) keep their layout.
/// - The result of `transpose` has the layout for which no element moves.
/// - All other results have the default layout.
///
/// The function may return a shape for an instruction that violates a rule. Use the verifier to find
/// violations.
///
/// # Errors
/// If an invalid operand, attribute or called computation makes it impossible to infer a shape.
pub fn infer_shape(module: &Module, op: &Op, operands: &[&Shape]) -> Result<Option<Shape>, ShapeError> {
    let signatures = Signatures::default();
    let cx = Context::new(module, &signatures, op.opcode(), operands, None);
    match cx.check_operands().and_then(|()| rule(&cx, op)) {
        // An inferred shape is returned even if there are violations. The verifier reports those.
        Ok(Some(shape)) => Ok(Some(shape)),
        end => match cx.violations(end.map(drop)).into_iter().next() {
            Some(first) => Err(ShapeError { code: first.code, message: first.message }),
            None => Ok(None),
        },
    }
}

/// Returns all violations of an instruction: those of its operands, its attributes, the computations that it
/// calls, and its declared shape. `signatures` is shared by the checks of one module, which must not change
/// between them.
pub(crate) fn check(
    module: &Module,
    signatures: &Signatures,
    op: &Op,
    operands: &[&Shape],
    written: &Shape,
) -> Vec<Violation> {
    let cx = Context::new(module, signatures, op.opcode(), operands, Some(written));
    checked(cx, op, Some(written)).1
}

/// Infers the shape of an instruction's result like [`infer_shape`], and checks the instruction. If `written`
/// is given, it is checked as the declared shape.
///
/// # Errors
/// All violations of the operands, the attributes, the called computations and the declared shape.
pub fn checked_shape(
    module: &Module,
    op: &Op,
    operands: &[&Shape],
    written: Option<&Shape>,
) -> Result<Option<Shape>, Vec<ShapeError>> {
    if let Some(message) = written.and_then(shape_error) {
        return Err(vec![ShapeError { code: code::INVALID_SHAPE, message }]);
    }
    let signatures = Signatures::default();
    let (inferred, violations) =
        checked(Context::new(module, &signatures, op.opcode(), operands, written), op, written);
    let mut errors: Vec<ShapeError> =
        violations.into_iter().map(|v| ShapeError { code: v.code, message: v.message }).collect();
    if errors.is_empty()
        && let Some(message) = inferred.as_ref().and_then(shape_error)
    {
        errors.push(ShapeError { code: code::INVALID_SHAPE, message });
    }
    if errors.is_empty() { Ok(inferred) } else { Err(errors) }
}

/// Returns the inferred shape, if any, and all violations.
fn checked(cx: Context<'_>, op: &Op, written: Option<&Shape>) -> (Option<Shape>, Vec<Violation>) {
    let mut found = None;
    let end = cx.check_operands().and_then(|()| rule(&cx, op)).and_then(|inferred| {
        found = inferred;
        match (&found, written) {
            // After a violation, a mismatch with the inferred shape would only repeat the same error.
            (Some(inferred), Some(written)) if !cx.has_violations() => {
                cx.check_written(&in_written_precision(op, inferred.clone(), written))
            }
            _ => Ok(()),
        }
    });
    (found, cx.violations(end))
}

/// Returns the inferred shape with the declared floating-point type, if the opcode may change the precision.
fn in_written_precision(op: &Op, inferred: Shape, written: &Shape) -> Shape {
    match (&inferred, written) {
        (Shape::Array(i), Shape::Array(w))
            if op.opcode().mixes_precision() && i.element_type.is_float() && w.element_type.is_float() =>
        {
            i.with_element_type(w.element_type).into()
        }
        _ => inferred,
    }
}

/// Applies the rule of the opcode. The number of operands has already been checked.
fn rule(cx: &Context<'_>, op: &Op) -> Rule {
    match op {
        Op::Parameter(_) => Ok(None),
        Op::Constant(a) => structural::constant(cx, a),
        Op::Tuple => structural::tuple(cx),
        Op::GetTupleElement(a) => structural::get_tuple_element(cx, a),

        elementwise_op!() => elementwise::rule(cx, op),

        Op::Bitcast => data_movement::bitcast(cx),
        Op::BitcastConvert => data_movement::bitcast_convert(cx),
        Op::Broadcast(a) => data_movement::broadcast(cx, a),
        Op::Concatenate(a) => data_movement::concatenate(cx, a),
        Op::Copy => data_movement::copy(cx),
        Op::Iota(a) => data_movement::iota(cx, a),
        Op::Pad(a) => data_movement::pad(cx, a),
        Op::Reshape(a) => data_movement::reshape(cx, a),
        Op::Reverse(a) => data_movement::reverse(cx, a),
        Op::Slice(a) => data_movement::slice(cx, a),
        Op::Transpose(a) => data_movement::transpose(cx, a),

        Op::DynamicReshape => indexing::dynamic_reshape(cx),
        Op::DynamicSlice(a) => indexing::dynamic_slice(cx, a),
        Op::DynamicUpdateSlice => indexing::dynamic_update_slice(cx),
        Op::Gather(a) => indexing::gather(cx, a),
        Op::GetDimensionSize(a) => indexing::get_dimension_size(cx, a),
        Op::Scatter(a) => indexing::scatter(cx, a),
        Op::SetDimensionSize(a) => indexing::set_dimension_size(cx, a),

        Op::Map(a) => reduction::map(cx, a),
        Op::Reduce(a) => reduction::reduce(cx, a),
        Op::ReduceWindow(a) => reduction::reduce_window(cx, a),
        Op::Scan(a) => scan::scan(cx, a),
        Op::SelectAndScatter(a) => reduction::select_and_scatter(cx, a),
        Op::Sort(a) => reduction::sort(cx, a),
        Op::TopK(a) => reduction::topk(cx, a),

        Op::Cholesky(a) => linear_algebra::cholesky(cx, a),
        Op::Contraction(a) => contraction::contraction(cx, &a.access),
        Op::Convolution(a) => convolution::convolution(cx, a),
        Op::Dot(a) => products::dot(cx, a),
        Op::Fft(a) => linear_algebra::fft(cx, a),
        Op::RaggedDot(a) => products::ragged_dot(cx, a),
        Op::ScaledDot(a) => products::scaled_dot(cx, a),
        Op::TriangularSolve(a) => linear_algebra::triangular_solve(cx, a),

        Op::BatchNormGrad(a) => normalization::grad(cx, a),
        Op::BatchNormInference(a) => normalization::inference(cx, a),
        Op::BatchNormTraining(a) => normalization::training(cx, a),

        Op::Rng(a) => random::rng(cx, a),
        Op::RngBitGenerator(a) => random::bit_generator(cx, a),
        Op::RngGetAndUpdateState(_) => random::get_and_update_state(cx),

        Op::Call(a) => control::call(cx, a),
        Op::Conditional(a) => control::conditional(cx, a),
        Op::Fusion(a) => control::fusion(cx, a),
        // The barrier accepts any value and returns it unchanged.
        Op::OptBarrier => data_movement::copy(cx),
        Op::While(a) => control::while_loop(cx, a),

        Op::AddDependency => effects::add_dependency(cx),
        Op::AfterAll => Ok(Some(Shape::Token)),
        Op::CopyDone => effects::copy_done(cx),
        Op::CopyStart(_) => effects::copy_start(cx),
        Op::Domain(_) => data_movement::copy(cx),
        Op::Infeed(_) => effects::infeed(cx),
        Op::Outfeed(a) => effects::outfeed(cx, a),
        Op::PartitionId | Op::ReplicaId => effects::device_id(),
        Op::Recv(_) => effects::recv(cx),
        Op::RecvDone(_) => effects::recv_done(cx),
        Op::Send(_) => effects::send(cx),
        Op::SendDone(_) => effects::send_done(cx),
        Op::AsyncDone(_) => asynchronous::done(cx),
        Op::AsyncStart(a) => asynchronous::start(cx, a),
        Op::AsyncUpdate(a) => asynchronous::update(cx, a),
        Op::CustomCall(a) => effects::custom_call(cx, a),

        Op::AllGather(a) => collective::all_gather(cx, a),
        Op::AllReduce(a) | Op::AllReduceStart(a) => collective::all_reduce(cx, a),
        Op::AllReduceDone => data_movement::copy(cx),
        Op::AllToAll(a) => collective::all_to_all(cx, a),
        Op::CollectivePermute(a) => collective::permute(cx, a),
        Op::AllGatherDone | Op::CollectivePermuteDone => collective::second_part(cx),
        Op::ReduceScatter(a) => collective::reduce_scatter(cx, a),
        Op::AllGatherStart(a) => collective::all_gather_start(cx, a),
        Op::CollectivePermuteStart(a) => collective::permute_start(cx, a),
        Op::CollectiveBroadcast(a) => collective::broadcast(cx, a),
        Op::RaggedAllToAll(a) => collective::ragged_all_to_all(cx, a),
    }
}
