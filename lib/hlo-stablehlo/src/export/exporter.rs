//! The state of an export: the new tree, the block that receives operations, and the exported values of
//! instructions.

use super::attributes::{Channel, channel};
use super::failure::{Failure, Outcome, refusal, refusal_with};
use super::location::Locations;
use super::operation::Draft;
use super::symbols::{Functions, Meshes};
use super::types::type_of;
use super::value::{NoLeaves, Value, leaf_shapes};
use crate::Tree;
use crate::tree::{Attribute, Block, Location, Operation, Region, Type, ValueId};
use hlo_ir::diag::Diag;
use hlo_ir::verify::MAX_REPORTS;
use hlo_ir::{ArrayShape, ComputationId, InstrId, Instruction, Module, Shape};
use std::cell::OnceCell;
use std::collections::HashSet;

/// Maximum nesting depth of regions and inlined computations. Deeper computations become functions. Readers
/// accept deeper nesting, because the surrounding operations count as well.
const MAX_NESTING: usize = crate::tree::MAX_DEPTH / 2;

/// The state of an export.
pub(super) struct Exporter<'m> {
    pub(super) module: &'m Module,
    pub(super) tree: Tree,
    pub(super) functions: Functions,
    pub(super) meshes: Meshes,
    locations: Locations<'m>,
    /// The block that receives operations.
    block: Vec<Operation>,
    /// The exported values of instructions, by id. A computation may be exported several times. Its
    /// instructions then have the values of the last time.
    values: Vec<Option<Value>>,
    /// The location of the current instruction.
    location: Location,
    /// The number of regions and inlined computations around the block.
    nesting: usize,
    errors: Vec<Diag>,
    reported: HashSet<InstrId>,
    /// The largest channel number, computed on first use.
    last_channel: OnceCell<i64>,
}

impl<'m> Exporter<'m> {
    pub(super) fn new(module: &'m Module) -> Self {
        Self {
            module,
            tree: Tree::new(),
            functions: Functions::default(),
            meshes: Meshes::default(),
            locations: Locations::of(module),
            block: Vec::new(),
            values: vec![None; module.instruction_capacity()],
            location: Location::Unknown,
            nesting: 0,
            errors: Vec::new(),
            reported: HashSet::new(),
            last_channel: OnceCell::new(),
        }
    }

    /// Returns the program, or the errors.
    pub(super) fn run(mut self) -> Result<Tree, Vec<Diag>> {
        self.module_attributes();
        self.functions();
        let meshes = self.meshes.operations();
        self.tree.operations_mut().splice(..0, meshes);
        if self.errors.is_empty() { Ok(self.tree) } else { Err(self.errors) }
    }

    /// Reports that an instruction has no translation. Each instruction is reported once, even if its
    /// computation is exported several times.
    pub(super) fn report(&mut self, id: InstrId, failure: Failure) {
        if let Failure::Cause(diag) = failure
            && self.errors.len() < MAX_REPORTS
            && self.reported.insert(id)
        {
            self.errors.push(*diag);
        }
    }

    /// Returns the channel of a collective.
    pub(super) fn channel_of_devices(&self, id: Option<i64>) -> Option<Attribute> {
        channel(self.channel_number(id), Channel::Devices)
    }

    /// Returns the number of a collective's channel. StableHLO only has positive channels, so other ids get an
    /// unused number.
    pub(super) fn channel_number(&self, id: Option<i64>) -> Option<i64> {
        let last = || {
            let all = self.module.computations().flat_map(|c| self.module[c].instructions());
            all.filter_map(|&i| self.module[i].op.effect().channel()).max().unwrap_or(0).max(0)
        };
        id.map(|id| match id {
            1.. => id,
            _ => self.last_channel.get_or_init(last).saturating_add(1).saturating_sub(id),
        })
    }

    /// Returns the failure of an instruction that cannot be exported.
    pub(super) fn reject<T>(&self, id: InstrId, message: impl AsRef<str>) -> Outcome<T> {
        Err(refusal(self.module, id, message))
    }

    /// Returns the failure of an instruction without a StableHLO form. `help` tells how to rewrite it.
    pub(super) fn reject_without_form<T>(&self, id: InstrId, help: &str) -> Outcome<T> {
        Err(refusal_with(self.module, id, "has no StableHLO form", help))
    }

    /// Converts an error message to the failure of an instruction.
    pub(super) fn or_unsupported<T>(&self, id: InstrId, result: Result<T, String>) -> Outcome<T> {
        result.or_else(|message| self.reject(id, message))
    }
}

/// Access to the types and values of instructions.
impl<'m> Exporter<'m> {
    /// Returns an instruction, with the lifetime of the module.
    pub(super) fn instruction(&self, id: InstrId) -> &'m Instruction {
        &self.module[id]
    }

    /// Returns the type of an instruction's result. For a tuple, it is a tuple type.
    pub(super) fn type_of(&self, id: InstrId) -> Outcome<Type> {
        self.or_unsupported(id, type_of(&self.instruction(id).shape))
    }

    /// Returns the types of the leaves of an instruction's result.
    pub(super) fn leaf_types(&self, id: InstrId) -> Outcome<Vec<Type>> {
        self.leaf_types_of(id, &self.instruction(id).shape)
    }

    /// Returns the types of the leaves of a shape. `id` is the instruction to report in errors.
    pub(super) fn leaf_types_of(&self, id: InstrId, shape: &Shape) -> Outcome<Vec<Type>> {
        let Some(leaves) = leaf_shapes(shape) else { return self.too_many_leaves(id) };
        self.or_unsupported(id, leaves.into_iter().map(type_of).collect())
    }

    fn too_many_leaves<T>(&self, id: InstrId) -> Outcome<T> {
        self.reject(id, format!("has a tuple of more than {} arrays", super::value::MAX_LEAVES))
    }

    /// Returns the exported value of an instruction.
    pub(super) fn value(&self, id: InstrId) -> Outcome<Value> {
        self.values[id.index()].clone().ok_or(Failure::Consequence)
    }

    /// Sets the exported value of an instruction.
    pub(super) fn set_value(&mut self, id: InstrId, value: Option<Value>) {
        self.values[id.index()] = value;
    }

    /// Returns the exported value of an operand.
    pub(super) fn operand(&self, id: InstrId, index: usize) -> Outcome<Value> {
        match self.instruction(id).operands.get(index) {
            Some(&operand) => self.value(operand),
            None => self.reject(id, format!("lacks operand {index}")),
        }
    }

    /// Returns the value of an operand that must be a single leaf.
    pub(super) fn leaf(&self, id: InstrId, index: usize) -> Outcome<ValueId> {
        match self.operand(id, index)? {
            Value::Leaf(leaf) => Ok(leaf),
            value => match self.leaves_of(id, &value)?[..] {
                [leaf] => Ok(leaf),
                _ => self.reject(id, format!("takes an array as operand {index}, found a tuple")),
            },
        }
    }

    /// Returns the leaves of all operands.
    pub(super) fn leaves(&self, id: InstrId) -> Outcome<Vec<ValueId>> {
        let mut out = Vec::new();
        for index in 0..self.instruction(id).operands.len() {
            out.extend(self.leaves_of(id, &self.operand(id, index)?)?);
        }
        Ok(out)
    }

    /// Returns the leaves of a value. `id` is the instruction to report in errors.
    pub(super) fn leaves_of(&self, id: InstrId, value: &Value) -> Outcome<Vec<ValueId>> {
        let mut out = Vec::new();
        match value.push_leaves(&mut out) {
            Ok(()) => Ok(out),
            Err(NoLeaves::TooMany) => self.too_many_leaves(id),
            Err(NoLeaves::State) => self.reject(
                id,
                "takes the state of an asynchronous operation, which StableHLO has no value for; \
                 `convert-async-collectives-to-sync` makes such operations synchronous",
            ),
        }
    }

    /// Returns the value with the given leaves and the shape of an instruction.
    pub(super) fn whole(&self, id: InstrId, leaves: Vec<ValueId>) -> Outcome<Value> {
        self.value_from_leaves(&self.instruction(id).shape, leaves)
    }

    /// Returns the value with the given leaves and shape.
    pub(super) fn value_from_leaves(&self, shape: &Shape, leaves: Vec<ValueId>) -> Outcome<Value> {
        Value::of_leaves(shape, &mut leaves.into_iter()).ok_or(Failure::Consequence)
    }

    /// Returns the shape of an operand that must be an array.
    pub(super) fn operand_array(&self, id: InstrId, index: usize) -> Outcome<&'m ArrayShape> {
        let operand = self.instruction(id).operands.get(index);
        match operand.and_then(|&o| self.module[o].shape.as_array()) {
            Some(array) => Ok(array),
            None => self.reject(id, format!("takes an array as operand {index}")),
        }
    }

    /// Returns the shape of an instruction whose result must be an array.
    pub(super) fn array(&self, id: InstrId) -> Outcome<&'m ArrayShape> {
        match self.instruction(id).shape.as_array() {
            Some(array) => Ok(array),
            None => self.reject(id, "gives an array"),
        }
    }
}

/// Creation of operations and blocks.
impl Exporter<'_> {
    /// Adds an operation to the block.
    pub(super) fn add(&mut self, new: Draft, types: Vec<Type>) -> Vec<ValueId> {
        let mut operation = new.0;
        operation.results = types.into_iter().map(|ty| self.tree.add_value(ty)).collect();
        operation.location = self.location.clone();
        let results = operation.results.clone();
        self.block.push(operation);
        results
    }

    /// Adds an operation with one result.
    pub(super) fn add_one(&mut self, new: Draft, ty: Type) -> ValueId {
        let result = self.tree.add_value(ty);
        let mut operation = new.0;
        operation.results = vec![result];
        operation.location = self.location.clone();
        self.block.push(operation);
        result
    }

    /// Adds an operation that computes an instruction's value. It has a result for each leaf.
    pub(super) fn add_for(&mut self, id: InstrId, new: Draft) -> Outcome<Value> {
        let types = self.leaf_types(id)?;
        let results = self.add(new, types);
        self.whole(id, results)
    }

    /// Returns the number of operations in the block.
    pub(super) fn block_len(&self) -> usize {
        self.block.len()
    }

    /// Returns the last operation added since the block had `since` operations, not counting those that take
    /// a tuple apart.
    pub(super) fn main_operation(&mut self, since: usize) -> Option<&mut Operation> {
        let added = self.block.get_mut(since..)?;
        added.iter_mut().rev().find(|operation| operation.name != "stablehlo.get_tuple_element")
    }

    /// Starts the export of an instruction: new operations get its location.
    pub(super) fn start_instruction(&mut self, id: InstrId) {
        self.location = self.locations.get(id);
    }

    /// Returns the operations that `fill` adds, as a separate block.
    pub(super) fn block_of<T>(
        &mut self,
        fill: impl FnOnce(&mut Self) -> Outcome<T>,
    ) -> (Vec<Operation>, Outcome<T>) {
        let around = std::mem::take(&mut self.block);
        let location = self.location.clone();
        let result = fill(self);
        self.location = location;
        (std::mem::replace(&mut self.block, around), result)
    }

    /// Returns a computation as a region, for an instruction that applies it. The block's arguments are the
    /// leaves of the parameters. If the parameters are `bound` to values from outside, the block has no
    /// arguments.
    pub(super) fn region(
        &mut self,
        id: InstrId,
        computation: ComputationId,
        bound: Option<Vec<Value>>,
    ) -> Outcome<Region> {
        let mut arguments = Vec::new();
        let bound = match bound {
            Some(bound) => bound,
            None => self.parameters(id, computation, &mut arguments)?,
        };
        let (operations, result) = self.block_of(|e| {
            let value = e.applied(id, computation, bound)?;
            let leaves = e.leaves_of(id, &value)?;
            e.add(Draft::new("stablehlo.return", leaves), Vec::new());
            Ok(())
        });
        result?;
        Ok(Region { blocks: vec![Block { arguments, operations }] })
    }

    /// Returns the result of applying a computation, for an instruction. Adds its operations to the block. If
    /// copies would be large or nest too deeply, adds a call instead.
    pub(super) fn applied(
        &mut self,
        id: InstrId,
        computation: ComputationId,
        bound: Vec<Value>,
    ) -> Outcome<Value> {
        if self.nesting >= MAX_NESTING || self.functions.becomes_function(self.module, computation) {
            return self.call_function(id, computation, &bound);
        }
        self.nesting += 1;
        let value = self.computation(computation, bound);
        self.nesting -= 1;
        value
    }

    /// Creates a block argument for a parameter or a leaf of one.
    pub(super) fn argument(&mut self, parameter: InstrId, ty: Type) -> ValueId {
        let argument = self.tree.add_value(ty);
        let location = self.locations.of_parameter(parameter);
        self.tree.set_location(argument, location);
        argument
    }

    /// Creates block arguments for the parameters of a computation, appends them to `arguments`, and returns
    /// the parameters' values.
    pub(super) fn parameters(
        &mut self,
        id: InstrId,
        computation: ComputationId,
        arguments: &mut Vec<ValueId>,
    ) -> Outcome<Vec<Value>> {
        let mut out = Vec::new();
        for parameter in self.module.parameters(computation) {
            let shape = &self.instruction(parameter).shape;
            let types = self.leaf_types_of(id, shape)?;
            let leaves: Vec<ValueId> = types.into_iter().map(|ty| self.argument(parameter, ty)).collect();
            arguments.extend(&leaves);
            out.push(self.value_from_leaves(shape, leaves)?);
        }
        Ok(out)
    }

    /// Adds the operations of a computation to the block and returns the value of its root.
    pub(super) fn computation(&mut self, computation: ComputationId, bound: Vec<Value>) -> Outcome<Value> {
        for (parameter, value) in self.module.parameters(computation).into_iter().zip(bound) {
            self.set_value(parameter, Some(value));
        }
        for id in self.module.post_order(computation) {
            self.translate(id);
        }
        self.value(self.module[computation].root())
    }
}
