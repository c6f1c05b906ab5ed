//! The HLO interpreter: the operation semantics as readable, executable code.
//!
//! The interpreter is the reference for compiled code and the engine of constant folding. It also runs
//! modules where LLVM is not available. "Semantics" in this crate's comments is the XLA document *Operation
//! semantics*. Each operation names its section of that document.
//!
//! The interpreter uses three representations:
//!
//! - [`evaluate`] creates a *plan* for each computation that it reaches. A plan lists the instructions that
//!   the root needs, operands first, and marks the last use of each operand. A value is thus freed as early
//!   as possible, and an update of a value without other users happens in place.
//! - Element-wise operations are *kernels*: functions over whole slices, selected once by opcode and element
//!   types.
//! - A computation on scalars that is applied to many elements (by `reduce`, `sort`, `scatter`, …) is a
//!   *function*. Where possible, it is compiled to a *program*: a list of the same kernels over registers.
//!
//! Every other operation is one function in `ops`, its *definition*. It loops over indices, handles one
//! element at a time, and uses the terms of its section. Where that is slow, `ops/fast` contains a *fast
//! path* that computes the same bits. [`Options::definitions_only`] disables the fast paths. A condition that
//! no verified module can cause is an internal error.
//!
//! Arithmetic is IEEE 754 with subnormals, with one rounding per instruction. Types narrower than `f32`
//! compute in `f32`. Transcendental functions of `f32` are computed in `f64` and rounded once. Transcendental
//! functions of `f64` come from the `libm` crate (error below 1 ULP, the same on every machine). `dot` and
//! `convolution` accumulate in `f64`.
//!
//! Custom calls of LAPACK's routines use this crate's own implementation ([`lapack`]), which is independent
//! of the one that compiled code uses. The two can be compared.
//!
//! The interpreter does not recurse over operand chains. Calls nest at most [`Options::max_call_depth`] deep.
//!
//! # Example
//! ```
//! use hlo_eval::{Options, evaluate};
//! use hlo_ir::{ElementType, Literal, Shape};
//!
//! let module = hlo_parser::parse_module("HloModule m
//! ENTRY main {
//!   a = f32[2,2] parameter(0)
//!   x = f32[2] parameter(1)
//!   ROOT y = f32[2] dot(a, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
//! }").expect("a module");
//! let a = Literal::from_elements(Shape::array(ElementType::F32, [2, 2]), &[1.0f32, 2.0, 3.0, 4.0]);
//! let x = Literal::from_elements(Shape::array(ElementType::F32, [2]), &[5.0f32, 6.0]);
//!
//! let y = evaluate(&module, &[a.clone(), x], &Options::default()).expect("a value");
//! assert_eq!(y.elements::<f32>(), [1.0 * 5.0 + 2.0 * 6.0, 3.0 * 5.0 + 4.0 * 6.0]);
//! let error = evaluate(&module, &[a], &Options::default()).expect_err("an input is missing");
//! assert_eq!(error.message, "the entry computation has 2 parameters, but 1 inputs were given");
//! ```

mod context;
mod devices;
mod element;
mod error;
mod evaluator;
mod function;
mod index;
mod kernel;
pub mod lapack;
mod memory;
mod module_cache;
mod ops;
mod options;
mod plan;
mod program;
mod sites;
mod transfers;

pub use devices::{DeviceOptions, DeviceRun, Supervisor, WaitCallback};
pub use error::EvalError;
pub use memory::check_memory;
pub use module_cache::ModuleCache;
pub use ops::convert::convert;
pub use options::Options;

use context::Context;
use evaluator::run_computation;
use hlo_communicator::{InProcess, World};
use hlo_ir::devices::DeviceCounts;
use hlo_ir::host::{Host, NoHost};
use hlo_ir::verify::Verified;
use hlo_ir::{InstrId, Literal, Module};

/// Internals that the tests of this crate call.
#[doc(hidden)]
pub mod internals {
    pub use crate::index::{indices, position};
    pub use crate::ops::fast::walk::{Walk, copy_walk};
}

/// Runs the entry computation of a module without transfers from or to the host. See [`evaluate_with_host`].
///
/// # Errors
/// The errors of [`evaluate_with_host`].
pub fn evaluate(module: &Module, inputs: &[Literal], options: &Options) -> Result<Literal, EvalError> {
    evaluate_with_host(module, inputs, options, &mut NoHost)
}

/// Verifies a module and runs its entry computation. Infeeds read from `host`, and outfeeds write to it.
///
/// `inputs` contains one literal for each parameter of the entry, in order. Their shapes must be compatible
/// with those of the parameters. Layouts may differ, and a bounded dynamic dimension may have any size up to
/// its bound.
///
/// The result is the value of the root. It has the shape of the root, except that dynamic dimensions have
/// their actual sizes. A static dimension that was computed from a dynamic one is filled with zeros.
///
/// # Errors
/// Fails if the module breaks a rule, if inputs do not fit the parameters, if an operation is not supported,
/// or if a budget of `options` is used up. Also fails if the module runs on several devices or can't run on
/// one, if the infeed has no matching item, or if a receive would wait forever. The `EvalError` names the
/// instruction, if there is one.
///
/// # Example
/// ```
/// use hlo_ir::host::Queues;
/// use hlo_ir::{ElementType, Literal};
///
/// let module = hlo_parser::parse_module("HloModule m
/// ENTRY main {
///   t = token[] after-all()
///   f = (s32[], token[]) infeed(t)
///   x = s32[] get-tuple-element(f), index=0
///   ROOT y = s32[] add(x, x)
/// }").expect("a module");
/// let mut host = Queues::with_infeed([Literal::scalar(ElementType::S32, 21)]);
/// let y = hlo_eval::evaluate_with_host(&module, &[], &Default::default(), &mut host).expect("a value");
/// assert_eq!((y.integer_at(0), host.consumed), (Some(42), 1));
/// ```
pub fn evaluate_with_host(
    module: &Module,
    inputs: &[Literal],
    options: &Options,
    host: &mut dyn Host,
) -> Result<Literal, EvalError> {
    let run = DeviceRun { inputs: inputs.to_vec(), host, watch: None };
    let mut results = evaluate_runs(verified(module)?, vec![run], options, &DeviceOptions::default())?;
    results.pop().ok_or_else(|| EvalError::internal("a run without a result"))
}

/// Verifies a module and runs its entry computation on all devices of its header: `replica_count` times
/// `num_partitions`. Device `replica × num_partitions + partition` runs on a thread of its own. `inputs`
/// contains the parameter values of each device. The result contains the value of each device.
///
/// # Errors
/// The errors of [`evaluate_runs`].
///
/// # Example
/// ```
/// use hlo_ir::{ElementType, Literal};
///
/// let module = hlo_parser::parse_module("HloModule m, replica_count=2
/// add { a = s32[] parameter(0) b = s32[] parameter(1) ROOT c = s32[] add(a, b) }
/// ENTRY main {
///   x = s32[] parameter(0)
///   ROOT y = s32[] all-reduce(x), to_apply=add
/// }").expect("a module");
/// let inputs = [20, 22].map(|x| vec![Literal::scalar(ElementType::S32, x)]);
/// let sums = hlo_eval::evaluate_on_devices(&module, &inputs, &Default::default()).expect("sums");
/// assert!(sums.iter().all(|sum| sum.integer_at(0) == Some(42)));
/// ```
pub fn evaluate_on_devices(
    module: &Module,
    inputs: &[Vec<Literal>],
    options: &Options,
) -> Result<Vec<Literal>, EvalError> {
    let mut hosts = vec![NoHost; inputs.len()];
    let runs = inputs.iter().zip(&mut hosts);
    let runs = runs.map(|(inputs, host)| DeviceRun { inputs: inputs.clone(), host, watch: None });
    evaluate_runs(verified(module)?, runs.collect(), options, &DeviceOptions::default())
}

/// Like [`evaluate_on_devices`], with a host and a watch for each device, and with options for waiting. The
/// caller verifies the module, once for all evaluations.
///
/// # Errors
/// The errors of [`evaluate_with_host`], with the device number if there are several devices. Also fails if
/// the number of runs differs from the number of devices, or if devices diverge, so that one would wait
/// forever for another.
pub fn evaluate_runs(
    module: Verified<&Module>,
    runs: Vec<DeviceRun<'_>>,
    options: &Options,
    devices: &DeviceOptions<'_>,
) -> Result<Vec<Literal>, EvalError> {
    let is_known = devices.known.is_some_and(|known| known.sites().is_some());
    let mut explicit = std::borrow::Cow::Borrowed(module.get());
    if !is_known && module.has_implicit_information() {
        explicit.to_mut().make_explicit();
    }
    let module = &*explicit;
    if !is_known && let Some(first) = hlo_ir::verify::verify_execution(module).into_iter().next() {
        return Err(EvalError::new(first.message));
    }
    let count = DeviceCounts::of(module).map_or(1, DeviceCounts::devices);
    let world: &dyn World = devices.world.unwrap_or(&InProcess);
    let expected = world.local_devices(count).len();
    if runs.len() != expected {
        let given = runs.len();
        let here = if expected == count { "" } else { " here" };
        return Err(EvalError::new(format!(
            "the module runs on {expected} devices{here}, but inputs of {given} were given"
        )));
    }
    if !is_known {
        check_memory(module, options)?;
    }
    for run in &runs {
        check_inputs(module, &run.inputs)?;
    }
    devices::run(module, runs, options, devices, |cx, inputs| {
        let entry = module.entry();
        cx.check(entry)?;
        let result = run_computation(cx, entry, inputs.into_iter().map(ops::dynamic::sized).collect())?;
        cx.finish()?;
        ops::dynamic::declared(result, &module[module[entry].root()].shape)
    })
}

fn verified(module: &Module) -> Result<Verified<&Module>, EvalError> {
    Verified::new(module).map_err(|violations| {
        EvalError::new(violations.into_iter().next().map_or_else(String::new, |first| first.message))
    })
}

/// Checks that the inputs fit the entry's parameters.
fn check_inputs(module: &Module, inputs: &[Literal]) -> Result<(), EvalError> {
    let parameters = module.parameters(module.entry());
    if inputs.len() != parameters.len() {
        return Err(EvalError::new(format!(
            "the entry computation has {} parameters, but {} inputs were given",
            parameters.len(),
            inputs.len()
        )));
    }
    for (&id, input) in parameters.iter().zip(inputs) {
        if !module[id].shape.accepts(input.shape()) {
            return Err(EvalError::new(format!(
                "parameter `{}` has shape {}, but the input has shape {}",
                module[id].name,
                module[id].shape,
                input.shape()
            ))
            .at(id));
        }
    }
    Ok(())
}

/// Computes one instruction from the values of its operands. Runs the computations that it calls.
///
/// # Errors
/// The errors of [`evaluate`]. Also fails if `operands` do not have the operands' shapes, and for a
/// `parameter`, which has no value here.
pub fn evaluate_instruction(
    module: &Module,
    id: InstrId,
    operands: &[Literal],
    options: &Options,
) -> Result<Literal, EvalError> {
    let instr = &module[id];
    if module.mixed_precision(id).is_some() {
        let message = format!("`{}` mixes floating-point types, and has no conversions", instr.name);
        return Err(EvalError::new(message).at(id));
    }
    if operands.len() != instr.operands.len() {
        return Err(EvalError::new(format!(
            "`{}` has {} operands, but {} values were given",
            instr.name,
            instr.operands.len(),
            operands.len()
        ))
        .at(id));
    }
    for (n, (&o, value)) in instr.operands.iter().zip(operands).enumerate() {
        if !module[o].shape.compatible(value.shape()) {
            return Err(EvalError::new(format!(
                "operand {n} of `{}` has shape {}, but the value has shape {}",
                instr.name,
                module[o].shape,
                value.shape()
            ))
            .at(id));
        }
    }
    if devices::reaches(module, id) {
        return devices::run_on_one_device(module, options, |cx| {
            cx.dynamic = true;
            evaluator::evaluate(cx, id, operands.to_vec())
        });
    }
    let mut host = NoHost;
    let mut cx = Context::new(module, options, &mut host, run_computation);
    cx.dynamic = true;
    evaluator::evaluate(&mut cx, id, operands.to_vec())
}
