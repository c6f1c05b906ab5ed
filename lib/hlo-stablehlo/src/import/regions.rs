//! Translation of regions to computations.

use super::failure::Result;
use super::importer::{ImportedValue, Importer, Site};
use super::locations::name_of;
use crate::tree::{Block, MAX_DEPTH, Operation, Region, ValueId};
use hlo_ir::build::Build;
use hlo_ir::{ComputationId, InstrId, Op, Shape};
use std::collections::HashSet;

/// The operations that end a block and list its results.
const TERMINATORS: &[&str] = &["stablehlo.return", "func.return", "sdy.return"];

/// Maximum number of characters of a program's name that the name of an instruction keeps.
const MAX_STEM: usize = 100;

/// Returns the block of a region, which must have exactly one.
pub fn only_block<'r>(op: &Operation, region: &'r Region) -> Result<&'r Block> {
    match &region.blocks[..] {
        [block] => Ok(block),
        blocks => op.fail(format!("a region of one block is needed, but it has {}", blocks.len())),
    }
}

/// Returns the block of one of an operation's regions, which must have exactly one.
pub fn block_of(op: &Operation, index: usize) -> Result<&Block> {
    match op.regions.get(index) {
        Some(region) => only_block(op, region),
        None => op.fail(format!("its region {index} is missing")),
    }
}

impl<'t> Importer<'t> {
    /// Translates the operations of a block and returns its results.
    pub fn block(&mut self, block: &'t Block) -> Result<Vec<InstrId>> {
        let Some((last, operations)) = block.operations.split_last() else {
            return self.tree.module.fail("a block does not end with a `return`");
        };
        for op in operations {
            self.operation(op);
        }
        if TERMINATORS.contains(&&*last.name) {
            self.operands(last)
        } else {
            self.operation(last);
            last.fail("a block ends with it and not with a `return`")
        }
    }

    /// Adds a parameter to the current computation for an argument of a block.
    pub fn parameter(&mut self, op: &Operation, value: ValueId, number: usize) -> Result<InstrId> {
        let shape = self.type_shape(value);
        let shape = shape.map_err(|why| op.failure(format!("the type of argument {number}: {why}")))?;
        let name = name_of(self.tree.location_of(value));
        let stem = match name.as_str().map(stem_of) {
            Some(stem) if !stem.is_empty() => stem,
            _ => format!("Arg_{number}"),
        };
        Ok(self.add_named(&stem, shape, Op::parameter(number as i64), &[]))
    }

    /// Calls `make` for another computation, one region deeper.
    fn within<T>(
        &mut self,
        op: &Operation,
        computation: ComputationId,
        make: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        if self.depth >= MAX_DEPTH {
            return op.fail(format!("regions nest more than {MAX_DEPTH} deep"));
        }
        self.depth += 1;
        let around = std::mem::replace(&mut self.site, Site::new(computation));
        let made = make(self);
        self.site = around;
        self.depth -= 1;
        made
    }

    /// Translates the only region of an operation in place and returns its results.
    pub fn inlined_block(&mut self, op: &'t Operation) -> Result<Vec<InstrId>> {
        let block = block_of(op, 0)?;
        let computation = self.site.computation;
        self.within(op, computation, |this| this.block(block))
    }

    /// Adds a computation for a region.
    fn region_computation(&mut self) -> ComputationId {
        let name = self.names.fresh("region");
        self.module.add_computation(&name)
    }

    /// Translates a region that is applied to elements. Its arguments become parameters.
    pub fn applied(&mut self, op: &'t Operation, index: usize) -> Result<ComputationId> {
        let block = block_of(op, index)?;
        let computation = self.region_computation();
        self.within(op, computation, |this| {
            for (number, &value) in block.arguments.iter().enumerate() {
                let parameter = this.parameter(op, value, number)?;
                this.set_representation(value, ImportedValue::Instruction(parameter));
            }
            let results = this.block(block)?;
            let root = this.one_or_tuple(&results);
            this.module.set_root(computation, root);
            Ok(computation)
        })
    }

    /// Translates a region of a loop or a branch. The computation's single parameter contains the arguments
    /// and the values from outside, as a tuple unless there is exactly one. It returns the region's results
    /// and, if `hands_on` is set, the values from outside.
    pub fn branch(
        &mut self,
        op: &'t Operation,
        region: &'t Region,
        captured: &[ValueId],
        hands_on: bool,
    ) -> Result<ComputationId> {
        let block = only_block(op, region)?;
        let computation = self.region_computation();
        let values: Vec<ValueId> = block.arguments.iter().chain(captured).copied().collect();
        let outside: Vec<ImportedValue<'t>> = captured.iter().map(|&v| self.representation(v)).collect();
        let shapes = values.iter().map(|&v| self.shape_in_branch(op, v)).collect::<Result<Vec<Shape>>>();
        let made = shapes.and_then(|shapes| {
            self.within(op, computation, |this| {
                this.branch_parameter(&values, shapes);
                let mut results = this.block(block)?;
                if hands_on {
                    results.extend(this.values(op, captured)?);
                }
                let root = this.one_or_tuple(&results);
                this.module.set_root(computation, root);
                Ok(computation)
            })
        });
        for (&value, held) in captured.iter().zip(outside) {
            self.set_representation(value, held);
        }
        made
    }

    /// Returns the shape of a value that a branch uses. If an instruction represents it, the shape is that of
    /// the instruction.
    fn shape_in_branch(&self, op: &Operation, value: ValueId) -> Result<Shape> {
        match self.representation(value) {
            ImportedValue::Instruction(id) => Ok(self.module[id].shape.clone()),
            _ => self.type_shape(value).map_err(|why| op.failure(format!("an argument's type: {why}"))),
        }
    }

    /// Adds the parameter of a branch, and the instructions that extract the values from it.
    fn branch_parameter(&mut self, values: &[ValueId], mut shapes: Vec<Shape>) {
        match values {
            [one] => {
                let shape = shapes.pop().unwrap_or(Shape::Token);
                let parameter = self.add_named("Arg_", shape, Op::parameter(0), &[]);
                self.set_representation(*one, ImportedValue::Instruction(parameter));
            }
            several => {
                let stem = if several.is_empty() { "arg_empty_tuple" } else { "arg_tuple" };
                let tuple = self.add_named(stem, Shape::tuple(shapes.clone()), Op::parameter(0), &[]);
                for ((index, &value), shape) in several.iter().enumerate().zip(shapes) {
                    let element = self.add(shape, Op::get_tuple_element(index as i64), &[tuple]);
                    self.set_representation(value, ImportedValue::Instruction(element));
                }
            }
        }
    }

    /// Returns the only value, or a tuple of several.
    pub fn one_or_tuple(&mut self, values: &[InstrId]) -> InstrId {
        match values {
            [one] => *one,
            several => self.tuple(several),
        }
    }

    /// Returns the values from outside that regions use, in the order of their first use. As in XLA, uses in
    /// an operation's regions come before its operands. Constants are excluded because they are created
    /// again.
    pub fn captured(&self, regions: &'t [Region]) -> Vec<ValueId> {
        let mut inside: HashSet<ValueId> = HashSet::new();
        let mut taken: HashSet<ValueId> = HashSet::new();
        let mut captured = Vec::new();
        let mut pending: Vec<Step> = Vec::new();
        enter(regions, &mut pending, &mut inside);
        while let Some(step) = pending.pop() {
            let op = match step {
                Step::Enter(op) if !op.regions.is_empty() => {
                    pending.push(Step::Use(op));
                    enter(&op.regions, &mut pending, &mut inside);
                    continue;
                }
                Step::Enter(op) | Step::Use(op) => op,
            };
            for &value in &op.operands {
                let is_constant = matches!(self.representation(value), ImportedValue::Constant(_));
                if !inside.contains(&value) && !is_constant && taken.insert(value) {
                    captured.push(value);
                }
            }
            inside.extend(&op.results);
        }
        captured
    }
}

/// The remaining work for an operation of a region.
enum Step<'t> {
    /// Regions and operands.
    Enter(&'t Operation),
    /// Only the operands.
    Use(&'t Operation),
}

/// Pushes the operations of regions on a stack, the first one on top. Adds the arguments to the inside
/// values.
fn enter<'t>(regions: &'t [Region], pending: &mut Vec<Step<'t>>, inside: &mut HashSet<ValueId>) {
    for block in regions.iter().rev().flat_map(|r| r.blocks.iter().rev()) {
        inside.extend(&block.arguments);
        pending.extend(block.operations.iter().rev().map(Step::Enter));
    }
}

/// Returns the stem of instruction names: the last part of a program's name, truncated to a readable length.
fn stem_of(name: &str) -> String {
    name.rsplit('/').next().unwrap_or(name).chars().take(MAX_STEM).collect()
}
