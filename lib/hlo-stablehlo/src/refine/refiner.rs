//! The traversal of a program that copies its operations with known types.

use super::copies::Functions;
use super::failure::{Result, fail};
use super::fold::Integers;
use super::{Argument, fold, types};
use crate::Tree;
use crate::import::chlo::is_known_composite;
use crate::text::type_text;
use crate::tree::{Attribute, Block, MAX_DEPTH, Operation, Region, Type, ValueId};
use std::collections::HashMap;
use std::sync::Arc;

/// Maximum number of operations of the refined program.
const MAX_OPERATIONS: usize = 1 << 22;

/// The state of a refinement. "Old" values and operations are those of the program; "new" ones are those of
/// its copy.
pub(super) struct Refiner<'t> {
    /// The program.
    pub tree: &'t Tree,
    /// The refined program.
    pub new: Tree,
    /// The new value of each old value of the current function.
    values: HashMap<ValueId, ValueId>,
    /// The known integers of new values.
    pub known: HashMap<ValueId, Integers>,
    /// The attribute `value` of new values that are constants.
    pub constants: HashMap<ValueId, Attribute>,
    /// The operands of the `stablehlo.add` that computes a new value.
    pub sums: HashMap<ValueId, [ValueId; 2]>,
    /// The functions of the program and their copies.
    pub functions: Functions<'t>,
    /// The depth of nested regions and calls.
    depth: usize,
    operations: usize,
}

impl<'t> Refiner<'t> {
    /// Creates a refinement in its initial state.
    pub fn new(tree: &'t Tree) -> Self {
        Self {
            tree,
            new: Tree::new(),
            values: HashMap::new(),
            known: HashMap::new(),
            constants: HashMap::new(),
            sums: HashMap::new(),
            functions: Functions::new(tree),
            depth: 0,
            operations: 0,
        }
    }

    /// Copies the entry function for its arguments, and all functions that it reaches.
    pub fn run(mut self, entry: &'t Operation, arguments: &[Argument]) -> Result<Tree> {
        self.new.module = Operation { regions: Vec::new(), ..self.tree.module.clone() };
        let others =
            self.tree.operations().iter().filter(|op| op.name != "func.func" && op.regions.is_empty());
        *self.new.operations_mut() = others.cloned().collect();
        self.entry(entry, arguments)?;
        Ok(self.new)
    }

    /// Returns the new value of an old value.
    pub fn value(&self, user: &Operation, old: ValueId) -> Result<ValueId> {
        match self.values.get(&old) {
            Some(&value) => Ok(value),
            None => fail(user, "it uses a value that is not defined before it"),
        }
    }

    /// Returns the new values of the operands of an operation.
    pub fn operands(&self, op: &Operation) -> Result<Vec<ValueId>> {
        op.operands.iter().map(|&old| self.value(op, old)).collect()
    }

    /// Sets the new value of an old value.
    pub fn replace(&mut self, old: ValueId, new: ValueId) {
        self.values.insert(old, new);
    }

    /// Adds a new value with the given type for an old value.
    pub fn add_value(&mut self, old: ValueId, ty: Type) -> ValueId {
        let new = self.new.add_value(ty);
        if let Some(name) = self.tree.name_of(old) {
            self.new.set_name(new, name.clone());
        }
        self.new.set_location(new, self.tree.location_of(old).clone());
        self.replace(old, new);
        new
    }

    /// Returns the type of a new value.
    pub fn type_of(&self, new: ValueId) -> &Type {
        self.new.type_of(new)
    }

    /// Calls `run` one level of regions or calls deeper.
    pub fn deeper<T>(&mut self, op: &Operation, run: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth >= MAX_DEPTH {
            return fail(op, format!("regions and calls nest more than {MAX_DEPTH} deep"));
        }
        self.depth += 1;
        let result = run(self);
        self.depth -= 1;
        result
    }

    /// Copies the operations of a block except the terminator, which is returned.
    pub fn operations(&mut self, block: &'t Block, into: &mut Vec<Operation>) -> Result<&'t Operation> {
        let Some((last, operations)) = block.operations.split_last() else {
            return fail(&self.tree.module, "a block does not end with a `return`");
        };
        operations.iter().try_for_each(|op| self.operation(op, into))?;
        Ok(last)
    }

    /// Copies a block whose arguments already have new values.
    pub fn block(&mut self, block: &'t Block, arguments: Vec<ValueId>) -> Result<Block> {
        let mut operations = Vec::with_capacity(block.operations.len());
        let last = self.operations(block, &mut operations)?;
        operations.push(self.copied(last)?);
        Ok(Block { arguments, operations })
    }

    /// Copies an operation, or adds its replacement.
    pub fn operation(&mut self, op: &'t Operation, into: &mut Vec<Operation>) -> Result<()> {
        self.operations += 1;
        if self.operations > MAX_OPERATIONS {
            return fail(op, format!("the refined program has more than {MAX_OPERATIONS} operations"));
        }
        match &*op.name {
            "func.call" => self.call(op, "callee", into),
            "stablehlo.composite" if !is_known_composite(op) => self.call(op, "decomposition", into),
            "stablehlo.while" => self.while_loop(op, into),
            "stablehlo.if" | "stablehlo.case" => self.branches(op, into),
            "stablehlo.custom_call" => self.custom_call(op, into),
            _ => {
                let copy = self.copied(op)?;
                self.add(copy, into)
            }
        }
    }

    /// Returns the copy of an operation. Its results have the types that the program declares.
    pub fn copied(&mut self, op: &'t Operation) -> Result<Operation> {
        let operands = self.operands(op)?;
        let regions = op.regions.iter().map(|region| {
            let blocks = region.blocks.iter().map(|block| {
                let ty = |refiner: &mut Self, old| {
                    let ty = refiner.tree.type_of(old).clone();
                    refiner.add_value(old, ty)
                };
                let arguments = block.arguments.iter().map(|&old| ty(self, old)).collect();
                self.deeper(op, |this| this.block(block, arguments))
            });
            Ok(Region { blocks: blocks.collect::<Result<_>>()? })
        });
        let regions = regions.collect::<Result<_>>()?;
        Ok(self.with_results(op, operands, regions))
    }

    /// Returns the copy of an operation with new operands and regions. Its results have the types that the
    /// program declares.
    pub fn with_results(
        &mut self,
        op: &Operation,
        operands: Vec<ValueId>,
        regions: Vec<Region>,
    ) -> Operation {
        let results = op.results.iter().map(|&old| self.add_value(old, self.tree.type_of(old).clone()));
        Operation {
            name: op.name.clone(),
            operands,
            results: results.collect(),
            attributes: op.attributes.clone(),
            regions,
            location: op.location.clone(),
            span: op.span,
        }
    }

    /// Adds a new operation and infers the types of its results. If the result is known, adds a constant
    /// instead.
    pub fn add(&mut self, op: Operation, into: &mut Vec<Operation>) -> Result<()> {
        if op.results.iter().any(|&result| types::is_unknown(self.type_of(result))) {
            self.infer(&op)?;
        }
        let [result] = op.results[..] else {
            into.push(op);
            return Ok(());
        };
        if let Some(integers) = fold::fold(&op, result, &self.new, &self.known) {
            self.add_constant(&op, result, integers, into);
            return Ok(());
        }
        if let ("stablehlo.add", [a, b]) = (&*op.name, &op.operands[..]) {
            self.sums.insert(result, [*a, *b]);
        }
        if let ("stablehlo.constant", Some(value)) = (&*op.name, op.attribute("value")) {
            self.constants.insert(result, value.clone());
        }
        into.push(op);
        Ok(())
    }

    /// Adds the constant for a new value.
    pub fn add_constant(
        &mut self,
        op: &Operation,
        value: ValueId,
        integers: Integers,
        into: &mut Vec<Operation>,
    ) {
        if let Some(elements) = fold::elements(self.type_of(value), &integers) {
            let mut constant = Operation::new("stablehlo.constant");
            constant.results.push(value);
            let elements = Attribute::Elements(Arc::new(elements));
            self.constants.insert(value, elements.clone());
            constant.attributes.set("value", elements);
            (constant.location, constant.span) = (op.location.clone(), op.span);
            into.push(constant);
        }
        self.known.insert(value, integers);
    }

    /// Sets the type of a result of a new operation, or reports that its sizes are unknown.
    pub fn set_type(&mut self, op: &Operation, index: usize, ty: Type) -> Result<()> {
        if types::is_unknown(&ty) {
            let message = format!(
                "the sizes of result {index}, {}, do not follow from the shapes of the arguments",
                type_text(&ty)
            );
            let note = "sizes that are computed from elements of arrays have to be bounded: \
                        `tensor<?xf32, #stablehlo.bounds<8>>`";
            return Err(vec![op.diag(message).note(note)]);
        }
        if let Some(&result) = op.results.get(index) {
            self.new.set_type(result, ty);
        }
        Ok(())
    }
}
