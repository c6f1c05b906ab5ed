//! The state of an export: the tree that is made, the block that operations are added to, and what instructions have
//! become.

use super::attributes::{Channel, channel};
use super::failure::{Failure, Outcome, refusal, refusal_with};
use super::function::Functions;
use super::location::Locations;
use super::operation::Draft;
use super::sharding::Meshes;
use super::types::type_of;
use super::value::{NoLeaves, Value, leaf_shapes};
use crate::Tree;
use crate::tree::{Attribute, Block, Location, Operation, Region, Type, ValueId};
use hlo_ir::diag::Diag;
use hlo_ir::verify::MAX_REPORTS;
use hlo_ir::{ArrayShape, ComputationId, InstrId, Instruction, Module, Shape};
use std::cell::OnceCell;
use std::collections::HashSet;

/// How deep regions may nest, and computations that stand where they are called; deeper ones are functions. Readers take
/// somewhat more, as what is around them counts too.
const MAX_NESTING: usize = crate::tree::MAX_DEPTH / 2;

/// See the module's documentation.
pub(super) struct Exporter<'m> {
    pub(super) module: &'m Module,
    pub(super) tree: Tree,
    pub(super) functions: Functions,
    pub(super) meshes: Meshes,
    locations: Locations<'m>,
    /// The block that operations are added to.
    block: Vec<Operation>,
    /// What instructions have become, by id. A computation that stands in several places is translated for each, and
    /// its instructions have become what they are in the last one.
    values: Vec<Option<Value>>,
    /// Where the instruction that is translated comes from.
    location: Location,
    /// How many regions and computations that stand where they are called the block is in.
    nesting: usize,
    errors: Vec<Diag>,
    reported: HashSet<InstrId>,
    /// The largest number of a channel; found when it is needed.
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

    /// The program, or what is wrong.
    pub(super) fn run(mut self) -> Result<Tree, Vec<Diag>> {
        self.module_attributes();
        self.functions();
        let meshes = self.meshes.operations();
        self.tree.operations_mut().splice(..0, meshes);
        if self.errors.is_empty() { Ok(self.tree) } else { Err(self.errors) }
    }

    /// Notes what an instruction has not been translated for; once for each, whereever its computation stands.
    pub(super) fn report(&mut self, id: InstrId, failure: Failure) {
        if let Failure::Cause(diag) = failure
            && self.errors.len() < MAX_REPORTS
            && self.reported.insert(id)
        {
            self.errors.push(*diag);
        }
    }

    /// Returns the channel of a collective. StableHLO has no channels but positive ones: others get a number that none has.
    pub(super) fn channel_of_devices(&self, id: Option<i64>) -> Option<Attribute> {
        let last = || {
            let all = self.module.computations().flat_map(|c| self.module[c].instructions());
            all.filter_map(|&i| self.module[i].op.effect().channel()).max().unwrap_or(0).max(0)
        };
        let number = |id: i64| match id {
            1.. => id,
            _ => self.last_channel.get_or_init(last).saturating_add(1).saturating_sub(id),
        };
        channel(id.map(number), Channel::Devices)
    }

    /// Why an instruction can't be translated.
    pub(super) fn refuse<T>(&self, id: InstrId, message: impl AsRef<str>) -> Outcome<T> {
        Err(refusal(self.module, id, message))
    }

    /// The same, for an operation that StableHLO lacks, with what makes it something that StableHLO has.
    pub(super) fn lacks<T>(&self, id: InstrId, help: &str) -> Outcome<T> {
        Err(refusal_with(self.module, id, "has no StableHLO form", help))
    }

    /// Gives words as the failure of an instruction.
    pub(super) fn or_refuse<T>(&self, id: InstrId, result: Result<T, String>) -> Outcome<T> {
        result.or_else(|message| self.refuse(id, message))
    }
}

/// Types and values of instructions.
impl<'m> Exporter<'m> {
    /// An instruction, for as long as the module lives.
    pub(super) fn instruction(&self, id: InstrId) -> &'m Instruction {
        &self.module[id]
    }

    /// The type of an instruction's result; of a tuple, a tuple.
    pub(super) fn type_of(&self, id: InstrId) -> Outcome<Type> {
        self.or_refuse(id, type_of(&self.instruction(id).shape))
    }

    /// The types of the leaves of an instruction's result.
    pub(super) fn leaf_types(&self, id: InstrId) -> Outcome<Vec<Type>> {
        self.leaf_types_of(id, &self.instruction(id).shape)
    }

    /// The types of the leaves of a shape that has to do with an instruction.
    pub(super) fn leaf_types_of(&self, id: InstrId, shape: &Shape) -> Outcome<Vec<Type>> {
        let Some(leaves) = leaf_shapes(shape) else { return self.too_many_leaves(id) };
        self.or_refuse(id, leaves.into_iter().map(type_of).collect())
    }

    fn too_many_leaves<T>(&self, id: InstrId) -> Outcome<T> {
        self.refuse(id, format!("has a tuple of more than {} arrays", super::value::MAX_LEAVES))
    }

    /// What an instruction has become.
    pub(super) fn value(&self, id: InstrId) -> Outcome<Value> {
        self.values[id.index()].clone().ok_or(Failure::Consequence)
    }

    /// Notes what an instruction has become.
    pub(super) fn set_value(&mut self, id: InstrId, value: Option<Value>) {
        self.values[id.index()] = value;
    }

    /// What an operand has become.
    pub(super) fn operand(&self, id: InstrId, index: usize) -> Outcome<Value> {
        match self.instruction(id).operands.get(index) {
            Some(&operand) => self.value(operand),
            None => self.refuse(id, format!("lacks operand {index}")),
        }
    }

    /// The one value that an operand has become.
    pub(super) fn leaf(&self, id: InstrId, index: usize) -> Outcome<ValueId> {
        match self.operand(id, index)? {
            Value::Leaf(leaf) => Ok(leaf),
            value => match self.leaves_of(id, &value)?[..] {
                [leaf] => Ok(leaf),
                _ => self.refuse(id, format!("takes an array as operand {index}, found a tuple")),
            },
        }
    }

    /// The leaves of all operands.
    pub(super) fn leaves(&self, id: InstrId) -> Outcome<Vec<ValueId>> {
        let mut out = Vec::new();
        for index in 0..self.instruction(id).operands.len() {
            out.extend(self.leaves_of(id, &self.operand(id, index)?)?);
        }
        Ok(out)
    }

    /// The leaves of a value that has to do with an instruction.
    pub(super) fn leaves_of(&self, id: InstrId, value: &Value) -> Outcome<Vec<ValueId>> {
        let mut out = Vec::new();
        match value.push_leaves(&mut out) {
            Ok(()) => Ok(out),
            Err(NoLeaves::TooMany) => self.too_many_leaves(id),
            Err(NoLeaves::State) => self.refuse(
                id,
                "takes the state of an asynchronous operation, which StableHLO has no value for; \
                 `convert-async-collectives-to-sync` makes such operations synchronous",
            ),
        }
    }

    /// The value of an instruction's shape whose leaves are these.
    pub(super) fn whole(&self, id: InstrId, leaves: Vec<ValueId>) -> Outcome<Value> {
        self.whole_of(&self.instruction(id).shape, leaves)
    }

    /// The value of a shape whose leaves are these.
    pub(super) fn whole_of(&self, shape: &Shape, leaves: Vec<ValueId>) -> Outcome<Value> {
        Value::of_leaves(shape, &mut leaves.into_iter()).ok_or(Failure::Consequence)
    }

    /// The array that an operand is.
    pub(super) fn operand_array(&self, id: InstrId, index: usize) -> Outcome<&'m ArrayShape> {
        let operand = self.instruction(id).operands.get(index);
        match operand.and_then(|&o| self.module[o].shape.as_array()) {
            Some(array) => Ok(array),
            None => self.refuse(id, format!("takes an array as operand {index}")),
        }
    }

    /// The array that an instruction gives.
    pub(super) fn array(&self, id: InstrId) -> Outcome<&'m ArrayShape> {
        match self.instruction(id).shape.as_array() {
            Some(array) => Ok(array),
            None => self.refuse(id, "gives an array"),
        }
    }
}

/// Operations and blocks.
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

    /// Adds an operation that gives an instruction's value: as many results as it has leaves.
    pub(super) fn add_for(&mut self, id: InstrId, new: Draft) -> Outcome<Value> {
        let types = self.leaf_types(id)?;
        let results = self.add(new, types);
        self.whole(id, results)
    }

    /// How many operations the block has.
    pub(super) fn block_len(&self) -> usize {
        self.block.len()
    }

    /// The last operation since the block had so many, but for those that take a tuple apart.
    pub(super) fn main_operation(&mut self, since: usize) -> Option<&mut Operation> {
        let added = self.block.get_mut(since..)?;
        added.iter_mut().rev().find(|operation| operation.name != "stablehlo.get_tuple_element")
    }

    /// Goes on at an instruction: what is added comes from where it does.
    pub(super) fn go_to(&mut self, id: InstrId) {
        self.location = self.locations.get(id);
    }

    /// The operations that `fill` adds, as a block of their own.
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

    /// The region that is a computation, for an instruction that applies it: its block takes the leaves of the
    /// computation's parameters, or nothing if the parameters are `bound` to values from outside.
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

    /// What a computation gives, for an instruction: its operations are added to the block, or a call where copies of it
    /// would be long or nest deep.
    pub(super) fn applied(
        &mut self,
        id: InstrId,
        computation: ComputationId,
        bound: Vec<Value>,
    ) -> Outcome<Value> {
        if self.nesting >= MAX_NESTING || self.functions.stands_apart(self.module, computation) {
            return self.call_function(id, computation, &bound);
        }
        self.nesting += 1;
        let value = self.computation(computation, bound);
        self.nesting -= 1;
        value
    }

    /// An argument of a block that stands for a parameter or a part of one.
    pub(super) fn argument(&mut self, parameter: InstrId, ty: Type) -> ValueId {
        let argument = self.tree.add_value(ty);
        let location = self.locations.of_parameter(parameter);
        self.tree.set_location(argument, location);
        argument
    }

    /// Values for the parameters of a computation, made of new arguments of a block.
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
            out.push(self.whole_of(shape, leaves)?);
        }
        Ok(out)
    }

    /// Adds the operations of a computation to the block and says what its root becomes.
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
