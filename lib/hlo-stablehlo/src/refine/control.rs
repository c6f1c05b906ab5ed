//! Loops and conditionals.

use super::failure::{Result, fail};
use super::refiner::Refiner;
use crate::import::failure::Failure;
use crate::import::regions::{block_of, only_block};
use crate::tree::{Operation, Region, Type, ValueId};

impl<'t> Refiner<'t> {
    /// Refines `stablehlo.while`. The arguments of its regions and its results have the types of its
    /// operands. Integers that are loop-carried without a change are known inside.
    pub fn while_loop(&mut self, op: &'t Operation, into: &mut Vec<Operation>) -> Result<()> {
        let operands = self.operands(op)?;
        let body = block_of(op, 1).map_err(Failure::into_diags)?;
        let given = body.terminator().map_or(&[][..], |last| &last.operands);
        let is_unchanged: Vec<bool> = body.arguments.iter().zip(given).map(|(a, b)| a == b).collect();
        let mut regions = Vec::with_capacity(op.regions.len());
        for region in &op.regions {
            let block = only_block(op, region).map_err(Failure::into_diags)?;
            if block.arguments.len() != operands.len() {
                let (expected, found) = (operands.len(), block.arguments.len());
                return fail(op, format!("its regions take {expected} arguments, but {found} are named"));
            }
            let mut arguments = Vec::with_capacity(operands.len());
            for (number, (&old, operand)) in block.arguments.iter().zip(&operands).enumerate() {
                let value = self.add_value(old, self.type_of(*operand).clone());
                if is_unchanged.get(number) == Some(&true)
                    && let Some(integers) = self.known.get(operand).cloned()
                {
                    self.known.insert(value, integers);
                }
                arguments.push(value);
            }
            let block = self.deeper(op, |this| this.block(block, arguments))?;
            regions.push(Region { blocks: vec![block] });
        }
        let types: Vec<Type> = operands.iter().map(|&operand| self.type_of(operand).clone()).collect();
        let copy = self.with_results(op, operands, regions);
        self.set_types(&copy, types)?;
        into.push(copy);
        Ok(())
    }

    /// Refines `stablehlo.if` and `stablehlo.case`. If the index is known, the selected branch replaces the
    /// operation. Otherwise the results have the types that the first branch returns.
    pub fn branches(&mut self, op: &'t Operation, into: &mut Vec<Operation>) -> Result<()> {
        let operands = self.operands(op)?;
        if let Some(&[index]) = operands.first().and_then(|o| self.known.get(o)).map(|k| &k[..]) {
            return self.taken_branch(op, index, into);
        }
        let copy = self.copied(op)?;
        let first = copy.regions.first().and_then(|r| r.blocks.first()?.terminator());
        let given = first.map_or(&[][..], |last| &last.operands);
        let types = given.iter().map(|&value| self.type_of(value).clone()).collect();
        self.set_types(&copy, types)?;
        into.push(copy);
        Ok(())
    }

    /// Copies the operations of the selected branch.
    fn taken_branch(&mut self, op: &'t Operation, index: i64, into: &mut Vec<Operation>) -> Result<()> {
        let last = op.regions.len().saturating_sub(1);
        let taken = match &*op.name {
            "stablehlo.if" => usize::from(index == 0),
            // An index out of range selects the last branch.
            _ => usize::try_from(index).unwrap_or(last).min(last),
        };
        let block = block_of(op, taken).map_err(Failure::into_diags)?;
        let last = self.deeper(op, |this| this.operations(block, into))?;
        let given: Vec<ValueId> = self.operands(last)?;
        if given.len() != op.results.len() {
            let (expected, found) = (op.results.len(), given.len());
            return fail(op, format!("it has {expected} results, but a branch gives {found}"));
        }
        for (&result, value) in op.results.iter().zip(given) {
            self.replace(result, value);
        }
        Ok(())
    }

    /// Sets the types of the results of a new operation.
    fn set_types(&mut self, op: &Operation, types: Vec<Type>) -> Result<()> {
        if op.results.len() > types.len() {
            return fail(op, format!("{} results are named, but it has {}", op.results.len(), types.len()));
        }
        types.into_iter().enumerate().try_for_each(|(index, ty)| self.set_type(op, index, ty))
    }
}
