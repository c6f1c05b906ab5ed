//! The state of an import: the new module, and the instructions that represent values.

use super::failure::{Failure, Result};
use super::locations::Frames;
use super::types::{Quantized, shape_of};
use crate::Tree;
use crate::entry::entry_function;
use crate::tree::{Name, Operation, ValueId};
use hlo_ir::attr::{FrontendAttributes, OpMetadata, Origin, Sharding};
use hlo_ir::build::{Build, ComputationNamer};
use hlo_ir::diag::Diag;
use hlo_ir::verify::MAX_REPORTS;
use hlo_ir::{ArrayShape, ComputationId, InstrId, Module, Op, Shape, Span};
use std::collections::HashMap;
use std::fmt::Write;

/// The representation of a value.
#[derive(Clone, Copy)]
pub enum ImportedValue<'t> {
    /// The value is not defined so far.
    Undefined,
    /// An instruction.
    Instruction(InstrId),
    /// A constant. It is created in each computation that uses it.
    Constant(&'t Operation),
    /// The operation of the value failed.
    Broken,
}

/// The place where instructions are added, and the properties of all instructions that one operation becomes.
#[derive(Clone)]
pub struct Site {
    /// The computation.
    pub computation: ComputationId,
    /// The source location of the operation.
    pub metadata: OpMetadata,
    /// The span of the operation in the text.
    pub span: Span,
    /// The sharding of the results.
    pub sharding: Option<Sharding>,
    /// The frontend attributes.
    pub frontend: FrontendAttributes,
    /// The origin of the results in the original program.
    pub origin: Option<Box<Origin>>,
}

impl Site {
    /// Creates a site in a computation for instructions that come from no operation.
    pub fn new(computation: ComputationId) -> Self {
        Self {
            computation,
            metadata: OpMetadata::default(),
            span: Span::default(),
            sharding: None,
            frontend: FrontendAttributes::default(),
            origin: None,
        }
    }
}

/// The state of an import.
pub struct Importer<'t> {
    /// The program to translate.
    pub tree: &'t Tree,
    /// The name of the entry function. If absent, it is the only function, or `main` if there are several.
    function: Option<&'t str>,
    /// The new module.
    pub module: Module,
    /// The operations of the module by their symbols.
    pub symbols: HashMap<&'t str, &'t Operation>,
    /// The computations of functions. `None` for functions that failed.
    pub computations: HashMap<&'t str, Option<ComputationId>>,
    /// The tables of stack frames.
    pub frames: Frames,
    /// The place where instructions are added.
    pub site: Site,
    /// The current nesting depth of regions.
    pub depth: usize,
    /// The current representation of quantized values.
    pub quantized: Quantized,
    /// The mesh axes that enclosing regions make manual.
    pub manual_axes: Vec<Name>,
    /// The generator of names for computations.
    pub names: ComputationNamer,
    diags: Vec<Diag>,
    values: Vec<ImportedValue<'t>>,
    constants: HashMap<(ComputationId, ValueId), InstrId>,
    next_number: u64,
    name: String,
}

impl<'t> Importer<'t> {
    /// Creates an import in its initial state.
    pub fn new(tree: &'t Tree, function: Option<&'t str>) -> Self {
        let symbols = tree.operations().iter().rev();
        Self {
            tree,
            function,
            module: Module::new(tree.module.symbol_name().filter(|name| !name.is_empty()).unwrap_or("main")),
            symbols: symbols.filter_map(|op| Some((op.symbol_name()?, op))).collect(),
            computations: HashMap::new(),
            frames: Frames::default(),
            site: Site::new(ComputationId::default()),
            depth: 0,
            quantized: Quantized::Stored,
            manual_axes: Vec::new(),
            names: ComputationNamer::new(&Module::default()),
            diags: Vec::new(),
            values: vec![ImportedValue::Undefined; tree.value_count()],
            constants: HashMap::new(),
            next_number: 1,
            name: String::new(),
        }
    }

    /// Translates the program.
    pub fn run(mut self) -> std::result::Result<Module, Vec<Diag>> {
        let entry = self.functions();
        if let Some(entry) = entry {
            self.header(entry);
        }
        if self.diags.is_empty() {
            self.module.stack_frames = self.frames.into_tables();
            self.module.spread_async_attributes();
            return Ok(self.module);
        }
        if self.diags.len() > MAX_REPORTS {
            self.diags.truncate(MAX_REPORTS);
            self.diags.push(Diag::error(format!("more than {MAX_REPORTS} errors: the others are not shown")));
        }
        Err(self.diags)
    }

    /// Returns the entry function.
    pub fn entry_function(&self) -> std::result::Result<&'t Operation, Diag> {
        entry_function(self.tree, self.function)
    }

    /// Reports a failure unless it was already reported.
    pub fn report(&mut self, failure: Failure) {
        if let Failure::Because(diag) = failure {
            self.diags.push(*diag);
        }
    }

    /// Checks whether the error limit is reached.
    pub fn full(&self) -> bool {
        self.diags.len() > MAX_REPORTS
    }
}

/// Access to values.
impl<'t> Importer<'t> {
    /// Returns the instruction that represents a value in the current computation. `user` is the operation
    /// that uses it.
    pub fn value(&mut self, user: &Operation, value: ValueId) -> Result<InstrId> {
        match self.values.get(value.index()).copied().unwrap_or(ImportedValue::Undefined) {
            ImportedValue::Instruction(id) if self.module[id].parent == self.site.computation => Ok(id),
            ImportedValue::Constant(constant) => self.constant_here(value, constant),
            ImportedValue::Broken => Err(Failure::Reported),
            ImportedValue::Instruction(_) => {
                user.fail("it uses a value that is not of its own computation, and no constant")
            }
            ImportedValue::Undefined => user.fail("it uses a value that is not defined before it"),
        }
    }

    /// Returns the instruction of a constant in the current computation.
    fn constant_here(&mut self, value: ValueId, constant: &'t Operation) -> Result<InstrId> {
        let key = (self.site.computation, value);
        if let Some(&id) = self.constants.get(&key) {
            return Ok(id);
        }
        let site = self.site_of(constant);
        let around = std::mem::replace(&mut self.site, site?);
        let made = self.constant(constant);
        self.site = around;
        let id = made?;
        self.constants.insert(key, id);
        Ok(id)
    }

    /// Returns an operand of an operation.
    pub fn operand(&mut self, op: &Operation, index: usize) -> Result<InstrId> {
        self.value(op, op.operand(index)?)
    }

    /// Returns all operands of an operation.
    pub fn operands(&mut self, op: &Operation) -> Result<Vec<InstrId>> {
        self.values(op, &op.operands)
    }

    /// Returns the instructions that represent values.
    pub fn values(&mut self, user: &Operation, values: &[ValueId]) -> Result<Vec<InstrId>> {
        values.iter().map(|&v| self.value(user, v)).collect()
    }

    /// Returns the representation of a value in any computation.
    pub fn representation(&self, value: ValueId) -> ImportedValue<'t> {
        self.values.get(value.index()).copied().unwrap_or(ImportedValue::Undefined)
    }

    /// Sets the representation of a value and returns the previous one.
    pub fn set_representation(&mut self, value: ValueId, held: ImportedValue<'t>) -> ImportedValue<'t> {
        match self.values.get_mut(value.index()) {
            Some(slot) => std::mem::replace(slot, held),
            None => ImportedValue::Undefined,
        }
    }

    /// Marks the results of an operation as broken.
    pub fn mark_results_broken(&mut self, op: &Operation) {
        for &result in &op.results {
            self.set_representation(result, ImportedValue::Broken);
        }
    }

    /// Sets the only result of an operation.
    pub fn set_result(&mut self, op: &Operation, id: InstrId) -> Result<()> {
        let [result] = op.results[..] else {
            return op.fail(format!("it has one result, but {} are named", op.results.len()));
        };
        self.annotate(id);
        self.set_representation(result, ImportedValue::Instruction(id));
        Ok(())
    }

    /// Sets the results of an operation to the elements of a tuple. Further elements are ignored.
    pub fn set_results_to_elements(&mut self, op: &Operation, tuple: InstrId) -> Result<()> {
        self.annotate(tuple);
        let count = self.module[tuple].shape.as_tuple().map_or(0, <[Shape]>::len);
        if op.results.len() > count {
            return op.fail(format!("{} results are named, but it has {count}", op.results.len()));
        }
        for (index, &result) in op.results.iter().enumerate() {
            let element = self.tuple_element(op, tuple, index)?;
            self.set_representation(result, ImportedValue::Instruction(element));
        }
        Ok(())
    }

    /// Sets the only result of an operation to an instruction, or several results to its elements.
    pub fn set_result_or_elements(&mut self, op: &Operation, id: InstrId) -> Result<()> {
        match op.results.len() {
            1 => self.set_result(op, id),
            _ => self.set_results_to_elements(op, id),
        }
    }

    /// Adds an element of a tuple, with the corresponding part of the tuple's sharding.
    pub fn tuple_element(&mut self, op: &Operation, tuple: InstrId, index: usize) -> Result<InstrId> {
        let sharding =
            self.module[tuple].sharding().and_then(|s| part_of(s, &self.module[tuple].shape, index));
        let id = self.element(tuple, index).ok_or_else(|| op.failure(format!("it has no result {index}")))?;
        if sharding.is_some() {
            self.module.common_mut(id).sharding = sharding;
        }
        self.note_frontend(id);
        Ok(id)
    }

    /// Sets the sharding, origin and frontend attributes of the current operation on an instruction.
    pub fn annotate(&mut self, id: InstrId) {
        self.note_frontend(id);
        if let Some(sharding) = self.site.sharding.clone() {
            let sharding = sharding.for_shape(&self.module[id].shape);
            self.module.common_mut(id).sharding = Some(sharding);
        }
        if let Some(origin) = self.site.origin.clone() {
            self.module.common_mut(id).origin = Some(origin);
        }
    }

    fn note_frontend(&mut self, id: InstrId) {
        if !self.site.frontend.is_empty() {
            let frontend = self.site.frontend.clone();
            self.module.common_mut(id).frontend_attributes = frontend;
        }
    }
}

/// Returns the sharding of a tuple element.
fn part_of(sharding: &Sharding, shape: &Shape, index: usize) -> Option<Sharding> {
    let Sharding::Tuple(leaves) = sharding else { return Some(sharding.clone()) };
    let elements = shape.as_tuple()?;
    let before: usize = elements.iter().take(index).map(Shape::leaf_count).sum();
    let element = elements.get(index)?;
    let own = leaves.get(before..before + element.leaf_count())?;
    match (element, own) {
        (Shape::Tuple(_), own) => Some(Sharding::Tuple(own.to_vec())),
        (_, [one]) => Some(Sharding::Single(one.clone())),
        _ => None,
    }
}

/// Creation of instructions.
impl Importer<'_> {
    /// Returns an unused instruction name.
    pub fn fresh_name(&mut self, stem: &str) -> &str {
        self.name.clear();
        // Writing to a string does not fail.
        let _ = write!(self.name, "{stem}.{}", self.next_number);
        self.next_number += 1;
        &self.name
    }

    /// Adds an instruction whose name starts with `stem`.
    pub fn add_named(&mut self, stem: &str, shape: Shape, op: Op, operands: &[InstrId]) -> InstrId {
        self.fresh_name(stem);
        let id = self.module.add(self.site.computation, &self.name, shape, op, operands.iter().copied());
        if !self.site.metadata.is_empty() {
            self.module.common_mut(id).metadata = self.site.metadata.clone();
        }
        self.module.set_span(id, self.site.span);
        id
    }

    /// Adds the instruction for the only result of an operation. Its shape is that of the result's type.
    pub fn set_result_op(&mut self, op: &Operation, hlo: Op, operands: &[InstrId]) -> Result<()> {
        let shape = self.result_shape(op, &hlo, operands)?;
        let id = self.add(shape, hlo, operands);
        self.set_result(op, id)
    }

    /// Returns the shape for the type of a value.
    pub fn type_shape(&self, value: ValueId) -> std::result::Result<Shape, String> {
        shape_of(self.tree.type_of(value), self.quantized)
    }

    /// Returns the shape for the type of a result.
    pub fn declared(&self, op: &Operation, index: usize) -> Result<Shape> {
        let result = op.result(index)?;
        self.type_shape(result).map_err(|why| op.failure(format!("the type of result {index}: {why}")))
    }

    /// Returns the shape for the types of all results. Several results become a tuple.
    pub fn declared_results(&self, op: &Operation) -> Result<Shape> {
        match op.results.len() {
            1 => self.declared(op, 0),
            count => Ok(Shape::tuple((0..count).map(|i| self.declared(op, i)).collect::<Result<Vec<_>>>()?)),
        }
    }

    /// Returns the shape of the only result of an operation: that of its type. If the type has unknown sizes,
    /// the shape is inferred from the operands.
    pub fn result_shape(&self, op: &Operation, hlo: &Op, operands: &[InstrId]) -> Result<Shape> {
        let shape = self.declared(op, 0)?;
        let Some(array) = shape.as_array().filter(|a| a.dims.contains(&ArrayShape::UNBOUNDED)) else {
            return Ok(shape);
        };
        let shapes: Vec<&Shape> = operands.iter().map(|&o| &self.module[o].shape).collect();
        match (hlo_ir::ops::infer_shape(&self.module, hlo, &shapes), &shapes[..]) {
            (Ok(Some(shape)), _) => Ok(shape),
            // A conversion has the sizes of its operand.
            (Ok(None), [Shape::Array(operand)]) if operand.rank() == array.rank() => {
                Ok(operand.with_element_type(array.element_type).into())
            }
            (Ok(None), _) => op.fail(format!("the sizes of its result, {array}, are not known")),
            (Err(e), _) => op.fail(e.message),
        }
    }

    /// Infers the shape from the operands.
    pub fn inferred(&self, op: &Operation, hlo: &Op, operands: &[InstrId]) -> Result<Shape> {
        let shapes: Vec<&Shape> = operands.iter().map(|&o| &self.module[o].shape).collect();
        match hlo_ir::ops::infer_shape(&self.module, hlo, &shapes) {
            Ok(Some(shape)) => Ok(shape),
            Ok(None) => op.fail("the sizes of its result are not known"),
            Err(e) => op.fail(e.message),
        }
    }
}

impl Build for Importer<'_> {
    fn add(&mut self, shape: impl Into<Shape>, op: Op, operands: &[InstrId]) -> InstrId {
        let stem = op.name();
        self.add_named(stem, shape.into(), op, operands)
    }

    fn shape_of(&self, id: InstrId) -> Shape {
        self.module[id].shape.clone()
    }
}
