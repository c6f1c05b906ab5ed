//! The evaluator: runs plans, stores values, and checks the budgets.

use crate::devices::Devices;
use crate::module_cache::Plans;
use crate::ops;
use crate::plan::{Plan, Step};
use crate::program::Program;
use crate::transfers::Channel;
use crate::{EvalError, Options};
use hlo_custom_call::PlannedCall;
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

/// The state of one evaluation.
pub(crate) struct Evaluator<'m> {
    pub(crate) module: &'m Module,
    options: &'m Options,
    /// The data that depends only on the module.
    pub(crate) plans: Plans,
    depth: usize,
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

impl<'m> Evaluator<'m> {
    pub(crate) fn new(module: &'m Module, options: &'m Options, host: &'m mut dyn Host) -> Self {
        Self {
            module,
            options,
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

    fn plan(&mut self, id: ComputationId) -> Result<Arc<Plan>, EvalError> {
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

    /// Runs a computation on its arguments.
    pub(crate) fn run_computation(
        &mut self,
        id: ComputationId,
        arguments: Vec<Literal>,
    ) -> Result<Literal, EvalError> {
        if self.depth >= self.options.max_call_depth {
            return Err(EvalError::new(format!("calls nest more than {} deep", self.options.max_call_depth)));
        }
        let plan = self.plan(id)?;
        if arguments.len() != plan.parameters {
            return Err(EvalError::new(format!(
                "computation `{}` has {} parameters, but is called with {} arguments",
                self.module[id].name,
                plan.parameters,
                arguments.len()
            )));
        }
        self.dynamic |= plan.dynamic;
        self.depth += 1;
        let result = self.run_plan(&plan, arguments);
        self.depth -= 1;
        result
    }

    fn run_plan(&mut self, plan: &Plan, arguments: Vec<Literal>) -> Result<Literal, EvalError> {
        let mut arguments: Vec<Option<Literal>> = arguments.into_iter().map(Some).collect();
        let mut values: Vec<Option<Literal>> = Vec::new();
        values.resize_with(plan.steps.len(), || None);
        for (at, step) in plan.steps.iter().enumerate() {
            if let Some(watch) = &self.options.watch {
                watch.enter(step.id);
            }
            let value = match &self.module[step.id].op {
                hlo_ir::Op::Parameter(p) => usize::try_from(p.number)
                    .ok()
                    .and_then(|n| arguments.get_mut(n)?.take())
                    .ok_or_else(|| EvalError::new(format!("there is no argument {}", p.number))),
                _ => self.run_step(step, &mut values),
            };
            values[at] = Some(value.map_err(|e| e.at(step.id))?);
        }
        for unused in arguments.into_iter().flatten() {
            self.release(unused);
        }
        values[plan.root].take().ok_or_else(|| EvalError::new("a computation without a value"))
    }

    fn run_step(&mut self, step: &Step, values: &mut [Option<Literal>]) -> Result<Literal, EvalError> {
        let missing = || EvalError::new("an operand has no value");
        let module = self.module;
        let by_kernel = step.kernel.as_ref().filter(|_| {
            let operands = step.operands.iter().filter_map(|u| values[u.step].as_ref());
            !(self.dynamic && ops::dynamic::has_dynamic_sizes(module, &module[step.id], operands))
        });
        if let Some(kernel) = by_kernel {
            let mut operands: smallvec::SmallVec<[&Literal; 3]> = smallvec::SmallVec::new();
            for u in &step.operands {
                operands.push(values[u.step].as_ref().ok_or_else(missing)?);
            }
            self.charge(1)?;
            let result = ops::pointwise::apply(self, kernel, &module[step.id], &operands)?;
            drop(operands);
            for u in step.operands.iter().filter(|u| u.last) {
                if let Some(dead) = values[u.step].take() {
                    self.release(dead);
                }
            }
            return Ok(result);
        }
        if let (hlo_ir::Op::GetTupleElement(g), [u]) = (&module[step.id].op, step.operands.as_slice())
            && !u.last
        {
            // Cloning the whole tuple for each of its elements would take quadratic time.
            self.charge(1)?;
            return ops::structural::element(values[u.step].as_ref().ok_or_else(missing)?, g.index);
        }
        let mut operands = Vec::with_capacity(step.operands.len());
        for u in &step.operands {
            let value = if u.last { values[u.step].take() } else { values[u.step].clone() };
            operands.push(value.ok_or_else(missing)?);
        }
        self.evaluate(step.id, operands)
    }

    /// Computes one instruction from the values of its operands.
    pub(crate) fn evaluate(&mut self, id: InstrId, operands: Vec<Literal>) -> Result<Literal, EvalError> {
        self.charge(1).and_then(|()| self.evaluate_sized(id, operands)).map_err(|e| e.at(id))
    }

    /// Computes an instruction whose operands may have other sizes than the module declares.
    fn evaluate_sized(&mut self, id: InstrId, mut operands: Vec<Literal>) -> Result<Literal, EvalError> {
        let instr = &self.module[id];
        if self.dynamic && ops::dynamic::has_dynamic_sizes(self.module, instr, operands.iter()) {
            let real = ops::dynamic::realize(self, instr, &mut operands)?;
            return ops::evaluate(self, id, real.as_ref().unwrap_or(instr), operands);
        }
        ops::evaluate(self, id, instr, operands)
    }
}
