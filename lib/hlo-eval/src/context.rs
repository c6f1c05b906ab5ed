//! The state of an evaluation: budgets, plans, draws of random numbers, transfers and other devices.

use crate::error::EvalError;
use crate::module_cache::Plans;
use crate::options::Options;
use crate::plan::Plan;
use crate::program::Program;
use crate::sites::Devices;
use crate::transfers::Channel;
use hlo_communicator::Failure;
use hlo_custom_call::PlannedCall;
use hlo_ir::attr::HloString;
use hlo_ir::host::Host;
use hlo_ir::{ArrayShape, ComputationId, InstrId, Literal, LiteralData, Module, Shape, human_bytes};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// One draw of random numbers (see [`hlo_ir::streams`]).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Draw {
    pub(crate) seed: u64,
    pub(crate) stream: u64,
    /// Number of earlier draws from the stream.
    pub(crate) number: u64,
}

/// A function that runs a computation on its arguments.
pub(crate) type Run = fn(&mut Context<'_>, ComputationId, Vec<Literal>) -> Result<Literal, EvalError>;

/// The state of one evaluation. Operations use it to call computations, allocate values and count operations.
pub(crate) struct Context<'m> {
    pub(crate) module: &'m Module,
    pub(crate) options: &'m Options,
    run: Run,
    /// The data that depends only on the module.
    pub(crate) plans: Plans,
    /// Number of nested calls.
    pub(crate) depth: usize,
    live_bytes: usize,
    operations: u64,
    /// The stream of each instruction that draws random numbers. Computed at the first draw.
    streams: Option<BTreeMap<InstrId, u64>>,
    /// Number of draws from each stream.
    draws: HashMap<u64, u64>,
    pub(crate) host: &'m mut dyn Host,
    pub(crate) channels: HashMap<Option<i64>, Channel>,
    /// Whether values may have other sizes than the module declares.
    pub(crate) dynamic: bool,
    /// The other devices. `None` when an instruction is evaluated alone.
    pub(crate) devices: Option<Devices<'m>>,
    /// Whether a communication ended because another device failed.
    pub(crate) failed_elsewhere: bool,
}

impl<'m> Context<'m> {
    /// Creates the state at the start of an evaluation. `run` runs the computations that operations call.
    pub(crate) fn new(module: &'m Module, options: &'m Options, host: &'m mut dyn Host, run: Run) -> Self {
        Self {
            module,
            options,
            run,
            plans: Plans::default(),
            depth: 0,
            live_bytes: 0,
            operations: 0,
            streams: None,
            draws: HashMap::new(),
            host,
            channels: HashMap::new(),
            dynamic: false,
            devices: None,
            failed_elsewhere: false,
        }
    }

    /// Returns the plan of a custom call. The plan is created at the first call.
    pub(crate) fn custom_call(&mut self, id: InstrId) -> Result<Arc<PlannedCall>, EvalError> {
        if let Some(planned) = self.plans.custom_calls.get(&id) {
            return Ok(planned.clone());
        }
        let site = hlo_custom_call::site(self.module, id).map_err(EvalError::new)?;
        let planned = self.options.custom_calls.plan(site).map_err(|e| EvalError::new(e.0))?;
        let planned = Arc::new(planned);
        self.plans.custom_calls.insert(id, planned.clone());
        Ok(planned)
    }

    /// Whether fast paths are disabled.
    pub(crate) fn definitions_only(&self) -> bool {
        self.options.definitions_only
    }

    /// Counts operations. Fails if the limit is exceeded or the evaluation was stopped.
    pub(crate) fn charge(&mut self, operations: usize) -> Result<(), EvalError> {
        if self.options.watch.as_ref().is_some_and(|w| w.is_stopped()) {
            return Err(EvalError::stopped());
        }
        self.operations = self.operations.saturating_add(operations as u64);
        match self.options.max_operations {
            Some(limit) if self.operations > limit => Err(EvalError::new(format!(
                "the evaluation takes more than the {limit} operations that it may use"
            ))),
            _ => Ok(()),
        }
    }

    /// Returns the parameters of the next random numbers of an instruction.
    pub(crate) fn next_draw(&mut self, id: InstrId) -> Result<Draw, EvalError> {
        let module = self.module;
        let streams = self.streams.get_or_insert_with(|| hlo_ir::streams::of(module));
        let stream = streams.get(&id).copied();
        let stream =
            stream.ok_or_else(|| EvalError::new("an instruction without random numbers draws some"))?;
        let count = self.draws.entry(stream).or_default();
        *count += 1;
        Ok(Draw { seed: self.options.seed, stream, number: *count - 1 })
    }

    /// Counts memory before it is allocated. Fails if the limit is exceeded.
    pub(crate) fn reserve(&mut self, bytes: usize) -> Result<(), EvalError> {
        let total = self.live_bytes.saturating_add(bytes);
        if total > self.options.max_bytes {
            return Err(EvalError::memory(format!(
                "there is no memory for a value of {}: {} of the {} that the evaluation may use are taken",
                human_bytes(bytes as u64),
                human_bytes(self.live_bytes as u64),
                human_bytes(self.options.max_bytes as u64)
            )));
        }
        self.live_bytes = total;
        Ok(())
    }

    /// Allocates an array of zeros for a result. Counts its memory, and one operation per element.
    pub(crate) fn allocate(&mut self, shape: &ArrayShape) -> Result<Literal, EvalError> {
        let fits =
            shape.checked_element_count().and_then(|n| n.checked_mul(shape.element_type.byte_size() as i64));
        let no_memory = || EvalError::memory(format!("there is no memory for a value of shape {shape}"));
        let bytes = fits.and_then(|bytes| usize::try_from(bytes).ok()).ok_or_else(no_memory)?;
        self.charge(shape.element_count())?;
        self.reserve(bytes)?;
        Literal::try_zeros(&Shape::Array(shape.clone())).ok_or_else(no_memory)
    }

    /// Allocates a value of zeros of any shape. Counts its memory.
    pub(crate) fn zeros(&mut self, shape: &Shape) -> Result<Literal, EvalError> {
        let mut leaves = Vec::with_capacity(shape.leaf_count());
        for leaf in shape.leaves() {
            leaves.push(match leaf {
                Shape::Array(array) => self.allocate(array)?,
                Shape::Token => Literal::token(),
                Shape::Tuple(_) | Shape::Opaque | Shape::Buffer(_) => {
                    return Err(EvalError::new(format!("a value of shape {leaf} can't be made")));
                }
            });
        }
        Literal::from_leaves(shape, &mut leaves.into_iter())
            .ok_or_else(|| EvalError::new(format!("a value of shape {shape} can't be made")))
    }

    /// Frees a value. Memory without other users no longer counts.
    pub(crate) fn release(&mut self, value: Literal) {
        fn freed(value: &Literal) -> usize {
            match value.data() {
                LiteralData::Array(bytes) if Arc::strong_count(bytes) == 1 => bytes.len(),
                LiteralData::Array(_) | LiteralData::Token => 0,
                LiteralData::Tuple(elements) => elements.iter().map(freed).sum(),
            }
        }
        self.live_bytes = self.live_bytes.saturating_sub(freed(&value));
    }

    /// Makes a value's memory writable without affecting other users: copies it if it is shared, and counts
    /// the copy.
    pub(crate) fn make_unique(&mut self, value: Literal) -> Result<Literal, EvalError> {
        match value.data() {
            LiteralData::Array(bytes) if Arc::strong_count(bytes) > 1 => {
                let no_array =
                    || EvalError::internal(format!("elements of a value of shape {}", value.shape()));
                let shape = value.shape().as_array().ok_or_else(no_array)?;
                let mut copy = self.allocate(shape)?;
                copy.bytes_mut().copy_from_slice(value.bytes());
                Ok(copy)
            }
            _ => Ok(value),
        }
    }

    /// Returns the scalar program of a computation, or `None` if it can't be compiled to one.
    pub(crate) fn program(&mut self, id: ComputationId) -> Option<Arc<Program>> {
        if let Some(known) = self.plans.programs.get(&id) {
            return known.clone();
        }
        self.plans.effects.reach(self.module, id);
        let program = Program::compile(self.module, id, &self.plans.effects).map(Arc::new);
        self.plans.programs.insert(id, program.clone());
        program
    }

    /// Runs a computation on its arguments.
    pub(crate) fn call(&mut self, id: ComputationId, arguments: Vec<Literal>) -> Result<Literal, EvalError> {
        (self.run)(self, id, arguments)
    }

    /// Returns the plan of a computation.
    pub(crate) fn plan(&mut self, id: ComputationId) -> Result<Arc<Plan>, EvalError> {
        if let Some(plan) = self.plans.plans.get(&id) {
            return Ok(plan.clone());
        }
        self.plans.effects.reach(self.module, id);
        let plan = Arc::new(Plan::new(self.module, id, &self.plans.effects)?);
        self.plans.plans.insert(id, plan.clone());
        Ok(plan)
    }

    /// Fails if a computation can't run, whatever its arguments.
    pub(crate) fn check(&mut self, id: ComputationId) -> Result<(), EvalError> {
        self.plan(id).map(drop)
    }

    /// Returns the next item of the infeed, or an error that says why there is none.
    pub(crate) fn infeed(&mut self, shape: &Shape) -> Result<Literal, String> {
        let item = self.host.infeed(shape)?;
        if !item.shape().compatible(shape) {
            return Err(format!("{shape} is expected, but the host gave {}", item.shape()));
        }
        self.reserve(item.leaves().iter().map(|l| l.bytes().len()).sum()).map_err(|e| e.message)?;
        Ok(item)
    }

    /// Passes an item of the outfeed to the host.
    pub(crate) fn outfeed(&mut self, config: &HloString, value: Literal) -> Result<(), String> {
        self.host.outfeed_configured(config, value)
    }

    /// Fails if a value was sent that nothing received: its sender would wait forever.
    pub(crate) fn finish(&self) -> Result<(), EvalError> {
        match self.channels.values().filter_map(Channel::unreceived).min_by_key(|&(sender, _)| sender) {
            Some((sender, count)) => {
                let reason = hlo_ir::effects::unreceived(self.module, sender);
                Err(EvalError::new(format!("{reason} ({count} left)")).at(sender))
            }
            None => Ok(()),
        }
    }

    /// Converts the outcome of a communication to a result of this device.
    pub(crate) fn communicated<T>(&mut self, outcome: Result<T, Failure>) -> Result<T, EvalError> {
        outcome.map_err(|failure| {
            self.failed_elsewhere |= failure == Failure::Remote;
            match failure {
                Failure::Stopped => EvalError::stopped(),
                failure => EvalError::new(failure.to_string()),
            }
        })
    }
}
