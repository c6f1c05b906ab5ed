//! The builder: a computation under construction.

use crate::computation::import;
use crate::{BuildErrors, Computation, Value};
use hlo_ir::attr::{HloString, OpMetadata, Sharding};
use hlo_ir::build::ComputationNamer;
use hlo_ir::diag::Diag;
use hlo_ir::names::{is_reserved, sanitized};
use hlo_ir::{ArrayShape, ComputationId, ElementType, InstrId, Module, Op, Shape, ops, verify};
use std::cell::{Ref, RefCell};
use std::collections::{HashMap, HashSet};
use std::panic::Location;
use std::sync::Arc;

/// The default limit on the work of a constant, in element operations. The interpreter needs a few seconds
/// for it.
const MAX_OPERATIONS: u64 = 100_000_000;

/// Builds a computation, instruction by instruction: XLA's `ComputationBuilder`, now called `XlaBuilder`.
///
/// Methods of the builder and of [`Value`] add instructions. The builder infers their shapes from the
/// operands. It collects errors until [`Builder::build`]; each error names the source line that caused it. If
/// an operation fails, the builder reports that error once. Operations that depend on its result fail without
/// a further report.
///
/// The result of the computation is the value that was added last, or the value passed to
/// [`Builder::set_return_value`].
///
/// # Example
/// ```
/// use hlo_builder::Builder;
/// use hlo_ir::print::{PrintOptions, print_module};
/// use hlo_ir::{ElementType, Shape};
///
/// let b = Builder::new("axpy");
/// let alpha = b.parameter(0, Shape::scalar(ElementType::F32), "alpha");
/// let x = b.parameter(1, Shape::array(ElementType::F32, [10]), "x");
/// let y = b.parameter(2, Shape::array(ElementType::F32, [10]), "y");
/// let axpy = alpha * x + y;
/// assert_eq!(axpy.shape()?, Shape::array(ElementType::F32, [10]));
/// let text = print_module(&b.build()?, &PrintOptions::short());
/// assert!(text.contains("ROOT add.3 = f32[10]{0} add(multiply.2, y)"), "{text}");
/// # Ok::<(), hlo_builder::BuildErrors>(())
/// ```
pub struct Builder {
    pub(crate) state: RefCell<State>,
}

/// The mutable state of a builder.
pub(crate) struct State {
    pub(crate) module: Module,
    pub(crate) entry: ComputationId,
    /// The parameter numbers in use.
    parameters: HashSet<i64>,
    /// The instruction that was added last.
    pub(crate) last: Option<InstrId>,
    /// The value passed to [`Builder::set_return_value`].
    root: Option<InstrId>,
    errors: Vec<Diag>,
    /// The computations that were called before, each with its copy in this module. The map owns them, so
    /// that no other module can reuse an address.
    imported: HashMap<*const Module, (Arc<Module>, ComputationId)>,
    namer: ComputationNamer,
    /// The names that instructions of this computation have or had.
    names: HashSet<Box<str>>,
    /// The open scopes of each kind, with their numbers.
    pub(crate) metadata: Vec<(u64, OpMetadata)>,
    pub(crate) shardings: Vec<(u64, Option<Sharding>)>,
    pub(crate) lines: Vec<(u64, &'static Location<'static>)>,
    /// The number of scopes created so far.
    pub(crate) scopes: u64,
    /// The token of the last infeed, outfeed or trace.
    pub(crate) feeds: Option<InstrId>,
    /// The random seed of the next evaluation of a constant.
    pub(crate) seed: u64,
    /// The limit on the work of one evaluation of a constant.
    pub(crate) max_operations: Option<u64>,
    raises: bool,
    is_finished: bool,
}

impl std::fmt::Debug for Builder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Builder").field("name", &self.name()).finish_non_exhaustive()
    }
}

impl Builder {
    /// Creates a builder for a computation called `name`.
    pub fn new(name: &str) -> Self {
        let name = identifier(name);
        let mut module = Module::new(&name);
        let entry = module.add_computation(&name);
        let namer = ComputationNamer::new(&module);
        Self {
            state: RefCell::new(State {
                module,
                entry,
                parameters: HashSet::new(),
                last: None,
                root: None,
                errors: Vec::new(),
                imported: HashMap::new(),
                namer,
                names: HashSet::new(),
                metadata: Vec::new(),
                shardings: Vec::new(),
                lines: Vec::new(),
                scopes: 0,
                feeds: None,
                seed: 0,
                max_operations: Some(MAX_OPERATIONS),
                raises: false,
                is_finished: false,
            }),
        }
    }

    /// Returns the name of the computation.
    pub fn name(&self) -> String {
        self.state.borrow().module.name.to_string()
    }

    /// Selects how errors are reported. If `enabled`, an error panics immediately, with its message.
    /// Otherwise [`Builder::build`] returns all errors.
    pub fn raise_at_once(&self, enabled: bool) {
        self.state.borrow_mut().raises = enabled;
    }

    /// Sets the number of devices that the program runs on. Replicas are copies of the program that work on
    /// different data; partitions work together on each replica. Both default to 1. Call this before you add
    /// the first collective, because the number of devices in a group may depend on it.
    ///
    /// # Example
    /// ```
    /// use hlo_builder::{Builder, Participants};
    /// use hlo_ir::{ElementType, Shape};
    ///
    /// let b = Builder::new("gather");
    /// b.set_devices(1, 4);
    /// let x = b.parameter(0, Shape::array(ElementType::F32, [2]), "x");
    /// // All four partitions of the one replica that the group names.
    /// let all = Participants { channel: Some(1), ..Participants::groups(&[&[0]]) };
    /// assert_eq!(x.all_gather(0, 4, &all).shape()?, Shape::array(ElementType::F32, [8]));
    /// assert_eq!(b.build()?.header.num_partitions.0, 4);
    /// # Ok::<(), hlo_builder::BuildErrors>(())
    /// ```
    pub fn set_devices(&self, replicas: i64, partitions: i64) {
        let header = &mut self.state.borrow_mut().module.header;
        header.replica_count.0 = replicas;
        header.num_partitions.0 = partitions;
    }

    /// Creates a builder for a computation that this one calls. It inherits the error reporting, the limit on
    /// the work for constants, and the number of devices.
    pub fn sub_builder(&self, name: &str) -> Builder {
        let sub = Builder::new(name);
        let state = self.state.borrow();
        sub.raise_at_once(state.raises);
        sub.limit_constants(state.max_operations);
        let header = &state.module.header;
        sub.set_devices(header.replica_count.0, header.num_partitions.0);
        sub
    }

    /// Makes `value` the result of the computation. Instructions that are added later do not change it.
    #[track_caller]
    pub fn set_return_value(&self, value: Value<'_>) {
        if !self.owns(&[value]) {
            return;
        }
        self.state.borrow_mut().root = value.id;
    }

    /// Returns the errors so far.
    pub fn errors(&self) -> Vec<Diag> {
        self.state.borrow().errors.clone()
    }

    /// Returns the errors that explain why a value does not exist: the errors so far, or an error that the
    /// computation was already built.
    pub(crate) fn errors_so_far(&self, at: &Location<'_>) -> BuildErrors {
        match self.errors() {
            errors if errors.is_empty() => {
                let message = format!("`{}` was built before", self.name());
                BuildErrors::new(vec![placed(Diag::error(message), at)])
            }
            errors => BuildErrors::new(errors),
        }
    }

    /// Returns the finished computation as the entry of a module of its own. The builder accepts no more
    /// instructions.
    ///
    /// # Errors
    /// Returns all errors collected so far. If there are none, returns the errors that the verifier finds in
    /// the module.
    #[track_caller]
    pub fn build(&self) -> Result<Module, BuildErrors> {
        let at = Location::caller();
        let state = &mut *self.state.borrow_mut();
        if state.is_finished {
            let name = &state.module.name;
            return Err(BuildErrors::new(vec![placed(
                Diag::error(format!("`{name}` was built before")),
                at,
            )]));
        }
        state.is_finished = true;
        let mut errors = std::mem::take(&mut state.errors);
        if !errors.is_empty() {
            return Err(BuildErrors::new(errors));
        }
        let Some(root) = state.root.or(state.last) else {
            let message = format!("`{}` has no instruction, and so no result", state.module.name);
            return Err(BuildErrors::new(vec![placed(Diag::error(message), at)]));
        };
        state.module.set_root(state.entry, root);
        state.module.set_entry(state.entry);
        // Computations that run asynchronously get the attributes of their start, as when a module is
        // parsed from text.
        state.module.spread_async_attributes();
        errors = verify::verify(&state.module);
        if !errors.is_empty() {
            return Err(BuildErrors::new(errors));
        }
        // The empty module keeps the name for the messages of later errors.
        let nothing = Module::new(&state.module.name);
        Ok(std::mem::replace(&mut state.module, nothing))
    }

    /// Returns the finished computation for other computations to call. If it has errors, the builder of the
    /// caller reports them.
    #[track_caller]
    pub fn computation(&self) -> Computation {
        Computation(self.build().map(Arc::new).map_err(Vec::from))
    }
}

/// Adding instructions.
impl Builder {
    /// Adds an instruction and infers its shape from its operands.
    #[track_caller]
    pub(crate) fn add(&self, op: Op, operands: &[Value<'_>]) -> Value<'_> {
        self.add_at(Location::caller(), op, operands, None)
    }

    /// Adds an instruction of the given shape.
    #[track_caller]
    pub(crate) fn add_shaped(&self, op: Op, operands: &[Value<'_>], shape: impl Into<Shape>) -> Value<'_> {
        self.add_at(Location::caller(), op, operands, Some(shape.into()))
    }

    /// Adds an instruction and infers its shape from its operands, except for the element type if one is
    /// given.
    #[track_caller]
    pub(crate) fn add_of_type(
        &self,
        op: Op,
        operands: &[Value<'_>],
        element_type: Option<ElementType>,
    ) -> Value<'_> {
        let shape = element_type.and_then(|element_type| {
            let shapes: Vec<Shape> = operands.iter().map(|o| o.shape_if_made()).collect::<Option<_>>()?;
            let shapes: Vec<&Shape> = shapes.iter().collect();
            match ops::checked_shape(&self.module(), &op, &shapes, None).ok()?? {
                Shape::Array(a) => Some(Shape::Array(ArrayShape { element_type, ..a })),
                other => Some(other),
            }
        });
        self.add_at(Location::caller(), op, operands, shape)
    }

    /// Adds an instruction, of the given shape or of the shape inferred from its operands.
    pub(crate) fn add_at(
        &self,
        at: &'static Location<'static>,
        op: Op,
        operands: &[Value<'_>],
        shape: Option<Shape>,
    ) -> Value<'_> {
        if !self.owns_at(at, operands) {
            return self.nothing();
        }
        let Some(operands) = operands.iter().map(|o| o.id).collect::<Option<Vec<_>>>() else {
            return self.nothing();
        };
        self.added(at, |state| state.add(at, None, op, &operands, shape))
    }

    /// Checks that all of these are values of this computation, and reports an error if not.
    #[track_caller]
    pub(crate) fn owns(&self, values: &[Value<'_>]) -> bool {
        self.owns_at(Location::caller(), values)
    }

    fn owns_at(&self, at: &'static Location<'static>, values: &[Value<'_>]) -> bool {
        match values.iter().find(|value| !std::ptr::eq(value.builder, self)) {
            Some(other) => {
                self.fail(at, foreign(other.builder, self));
                false
            }
            None => true,
        }
    }

    /// Returns the value that `add` adds, or reports its errors.
    fn added(
        &self,
        at: &'static Location<'static>,
        add: impl FnOnce(&mut State) -> Result<InstrId, Vec<Diag>>,
    ) -> Value<'_> {
        let added = add(&mut self.state.borrow_mut());
        match added {
            Ok(id) => Value { builder: self, id: Some(id) },
            Err(errors) => {
                for error in errors {
                    self.fail(at, error);
                }
                self.nothing()
            }
        }
    }

    /// Adds a parameter and attributes it to a source line.
    pub(crate) fn parameter_at(
        &self,
        number: i64,
        shape: Shape,
        name: &str,
        at: &'static Location<'static>,
    ) -> Value<'_> {
        self.added(at, |state| {
            if number < 0 {
                let message = format!("parameters have numbers from 0 on, found {number} for `{name}`");
                return Err(vec![Diag::error(message)]);
            }
            if state.parameters.contains(&number) {
                let message = format!("parameter {number} is there already, found another one, `{name}`");
                return Err(vec![Diag::error(message)]);
            }
            let id = state.add(at, Some(name), Op::parameter(number), &[], Some(shape))?;
            state.parameters.insert(number);
            Ok(id)
        })
    }

    /// Copies a called computation into this module, unless it was copied before, and returns the copy.
    /// Reports the errors of the computation as errors of this builder.
    pub(crate) fn import(
        &self,
        at: &'static Location<'static>,
        computation: &Computation,
    ) -> Option<ComputationId> {
        let module = self.finished(at, computation)?;
        let state = &mut *self.state.borrow_mut();
        let known = state.imported.get(&Arc::as_ptr(module)).map(|(_, id)| *id);
        Some(known.unwrap_or_else(|| {
            let id = import(&mut state.module, &mut state.namer, module, module.entry());
            state.imported.insert(Arc::as_ptr(module), (module.clone(), id));
            id
        }))
    }

    /// Like [`Builder::import`], but always makes a new copy, which no other instruction calls.
    pub(crate) fn import_own(
        &self,
        at: &'static Location<'static>,
        computation: &Computation,
    ) -> Option<ComputationId> {
        let module = self.finished(at, computation)?;
        let state = &mut *self.state.borrow_mut();
        Some(import(&mut state.module, &mut state.namer, module, module.entry()))
    }

    /// Returns the module of a computation, or reports its errors as errors of this builder.
    fn finished<'c>(
        &self,
        at: &'static Location<'static>,
        computation: &'c Computation,
    ) -> Option<&'c Arc<Module>> {
        match &computation.0 {
            Ok(module) => Some(module),
            Err(errors) => {
                errors.iter().for_each(|e| self.raise(e.clone(), at));
                None
            }
        }
    }

    /// Records an error for a source line and returns the placeholder for a failed value.
    pub(crate) fn fail(&self, at: &'static Location<'static>, error: Diag) -> Value<'_> {
        let at = self.state.borrow().line(at);
        self.raise(placed(error, at), at);
        self.nothing()
    }

    /// Records an error for the caller's line and returns the placeholder for a failed value. Operations on
    /// the placeholder report no further error. Use this when you translate other programs to instructions.
    ///
    /// # Example
    /// ```
    /// use hlo_builder::Builder;
    /// use hlo_ir::diag::Diag;
    ///
    /// let b = Builder::new("errors");
    /// let _none = b.reject(Diag::error("there is no layer 3")).exp();
    /// let errors = b.build().unwrap_err();
    /// assert_eq!(errors.diags().len(), 1);
    /// ```
    #[track_caller]
    pub fn reject(&self, error: Diag) -> Value<'_> {
        self.fail(Location::caller(), error)
    }

    /// Records an error that already contains its source line, or panics if errors are reported immediately.
    fn raise(&self, error: Diag, at: &'static Location<'static>) {
        let mut state = self.state.borrow_mut();
        if state.raises {
            drop(state);
            panic!("{} ({at})", error.message);
        }
        // A computation with errors may be called more than once.
        if !state.errors.contains(&error) {
            state.errors.push(error);
        }
    }

    /// Returns the placeholder for a failed value whose error was already reported. Operations on it report
    /// no further error.
    pub fn nothing(&self) -> Value<'_> {
        Value { builder: self, id: None }
    }

    /// Returns the instruction of a value of this computation, or `None` if the value failed or the
    /// computation was already built.
    pub(crate) fn made(&self, value: Value<'_>) -> Option<InstrId> {
        value.id.filter(|&id| std::ptr::eq(value.builder, self) && self.state.borrow().has(id))
    }

    /// Borrows the module so far.
    pub(crate) fn module(&self) -> Ref<'_, Module> {
        Ref::map(self.state.borrow(), |s| &s.module)
    }
}

impl State {
    fn add(
        &mut self,
        at: &'static Location<'static>,
        name: Option<&str>,
        op: Op,
        operands: &[InstrId],
        shape: Option<Shape>,
    ) -> Result<InstrId, Vec<Diag>> {
        let opcode = op.opcode();
        if self.is_finished {
            let message = format!("`{}` was built before: it takes no `{opcode}`", self.module.name);
            return Err(vec![Diag::error(message)]);
        }
        let shapes: Vec<&Shape> = operands.iter().map(|&o| &self.module[o].shape).collect();
        let found = ops::checked_shape(&self.module, &op, &shapes, shape.as_ref());
        let shape = match found.map(|inferred| shape.or(inferred)) {
            Ok(Some(shape)) => shape,
            Ok(None) => return Err(vec![Diag::error(format!("the shape of `{opcode}` must be given"))]),
            Err(errors) => {
                let diag = |e: ops::ShapeError| Diag::error(e.message).with_code(e.code);
                return Err(errors.into_iter().map(diag).collect());
            }
        };
        let name = match name {
            Some(name) => self.free_name(name),
            None => {
                let name = self.module.unique_name(opcode.name());
                self.free_name(&name)
            }
        };
        let id = self.module.add(self.entry, &name, shape, op, operands.iter().copied());
        self.annotate(id, at);
        self.last = Some(id);
        Ok(id)
    }

    /// Whether the instruction still exists. It does not after the computation was built.
    pub(crate) fn has(&self, id: InstrId) -> bool {
        id.index() < self.module.instruction_capacity()
    }

    /// Renames an instruction. Changes the name to a unique one if another instruction has it.
    pub(crate) fn rename(&mut self, id: InstrId, name: &str) {
        if !self.has(id) {
            return;
        }
        if *self.module[id].name != *identifier(name) {
            let name = self.free_name(name);
            self.module.set_name(id, &name);
        }
    }

    /// Returns the name, or a variant of it if another instruction has the name.
    fn free_name(&mut self, name: &str) -> String {
        let mut name = identifier(name);
        if !self.names.insert(name.as_str().into()) {
            name = self.module.unique_name(&name);
            self.names.insert(name.as_str().into());
        }
        name
    }

    /// Returns the source line to record: the line of the innermost line scope, or `at` if there is none.
    fn line(&self, at: &'static Location<'static>) -> &'static Location<'static> {
        self.lines.last().map_or(at, |(_, line)| line)
    }

    /// Sets the metadata, sharding and source line of an instruction from the open scopes.
    fn annotate(&mut self, id: InstrId, at: &'static Location<'static>) {
        let at = self.line(at);
        let mut metadata = self.metadata.last().map_or_else(OpMetadata::default, |(_, m)| m.clone());
        if metadata.source_file.is_empty() && metadata.source_line == 0 {
            metadata.source_file = HloString::from(at.file());
            metadata.source_line = i32::try_from(at.line()).unwrap_or_default();
        }
        let sharding = self.shardings.last().and_then(|(_, s)| s.clone());
        let sharding = sharding.map(|s| s.for_shape(&self.module[id].shape));
        let common = self.module.common_mut(id);
        common.metadata = metadata;
        common.sharding = sharding;
    }
}

/// Adds the source line that caused an error to it.
pub(crate) fn placed(error: Diag, at: &Location<'_>) -> Diag {
    error.note(format!("at {at}"))
}

pub(crate) fn foreign(of: &Builder, to: &Builder) -> Diag {
    Diag::error(format!("a value of the computation `{}` is no value of `{}`", of.name(), to.name()))
}

/// Returns the identifier for an instruction or computation called `name`: a name that HLO text can print
/// without `%`.
fn identifier(name: &str) -> String {
    let mut out = sanitized(name).into_owned();
    if out.is_empty() || is_reserved(&out) {
        out.push('_');
    }
    out
}
