//! The machine that runs a program. Each register has a number of *lanes*, so that one pass through the
//! program processes many elements.

use super::Program;
use crate::element::{Scalar, load};
use crate::error::EvalError;
use hlo_ir::{ElementType, Literal};
use std::sync::Arc;

/// A program with its registers.
pub(crate) struct Machine {
    program: Arc<Program>,
    registers: Vec<Vec<u128>>,
    capacity: usize,
    /// The results of the last call.
    returned: Vec<Scalar>,
}

impl Machine {
    /// Creates registers with `capacity` lanes.
    pub(crate) fn new(program: Arc<Program>, capacity: usize) -> Self {
        let mut registers: Vec<Vec<u128>> =
            program.types.iter().map(|t| vec![0; (t.byte_size() * capacity).div_ceil(16)]).collect();
        for &(register, bits) in &program.constants {
            let size = program.types[register].byte_size();
            let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut registers[register]);
            for lane in bytes.chunks_exact_mut(size) {
                lane.copy_from_slice(&bits.to_le_bytes()[..size]);
            }
        }
        Self { program, registers, capacity, returned: Vec::new() }
    }

    /// Returns the cost of one run, in operations per lane.
    pub(crate) fn cost(&self) -> usize {
        self.program.cost()
    }

    fn leaf_types_are(&self, registers: &[usize], value: &Literal) -> bool {
        let leaves = value.leaves();
        leaves.len() == registers.len()
            && leaves
                .iter()
                .zip(self.program.register_types(registers))
                .all(|(l, t)| l.shape().as_array().is_some_and(|a| a.element_type == t))
    }

    /// Checks whether the leaves of the parameters have the same types as those of the value.
    pub(crate) fn accepts(&self, value: &Literal) -> bool {
        self.leaf_types_are(&self.program.parameters, value)
    }

    /// Checks whether the leaves of the results have the same types as those of the value.
    pub(crate) fn returns(&self, value: &Literal) -> bool {
        self.leaf_types_are(&self.program.results, value)
    }

    /// Returns the types of the results' leaves.
    pub(crate) fn result_types(&self) -> Vec<ElementType> {
        self.program.register_types(&self.program.results).collect()
    }

    /// Returns the lanes of a parameter leaf, for writing.
    pub(crate) fn parameter_mut(&mut self, index: usize) -> Result<&mut [u8], EvalError> {
        let &register = self.program.parameters.get(index).ok_or_else(|| no_register("parameter", index))?;
        Ok(bytemuck::cast_slice_mut(&mut self.registers[register]))
    }

    /// Returns the lanes of a result leaf. The contents of lanes that did not run are unspecified.
    pub(crate) fn result(&self, index: usize) -> Result<&[u8], EvalError> {
        let &register = self.program.results.get(index).ok_or_else(|| no_register("result", index))?;
        Ok(bytemuck::cast_slice(&self.registers[register]))
    }

    /// Runs the program on the first `lanes` lanes.
    pub(crate) fn run(&mut self, lanes: usize) -> Result<(), EvalError> {
        if lanes > self.capacity {
            return Err(EvalError::internal(format!(
                "{lanes} lanes of a program that has {}",
                self.capacity
            )));
        }
        for step in &self.program.steps {
            let size = |r: usize| self.program.types[r].byte_size() * lanes;
            let mut out = std::mem::take(&mut self.registers[step.result]);
            let mut operands: [&[u8]; 3] = [&[]; 3];
            for (slot, &r) in operands.iter_mut().zip(&step.operands) {
                *slot = &bytemuck::cast_slice(&self.registers[r])[..size(r)];
            }
            let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut out);
            // No kernel has more than three operands. A step with more operands passes three, and the kernel
            // rejects them.
            let operands = &operands[..step.operands.len().min(3)];
            (step.kernel)(operands, &mut bytes[..size(step.result)])?;
            self.registers[step.result] = out;
        }
        Ok(())
    }

    /// Runs one lane on the bits of the parameters' leaves. Returns the bits of the results' leaves.
    pub(crate) fn call(&mut self, arguments: &[Scalar]) -> Result<&[Scalar], EvalError> {
        if arguments.len() != self.program.parameters.len() {
            return Err(EvalError::internal(format!(
                "a program of {} parameters is given {} arguments",
                self.program.parameters.len(),
                arguments.len()
            )));
        }
        for (&register, &bits) in self.program.parameters.iter().zip(arguments) {
            self.registers[register][0] = bits;
        }
        self.run(1)?;
        self.returned.clear();
        for &register in &self.program.results {
            // Reads as many bytes as were written. To read more, the processor would have to wait for the
            // store.
            let bytes: &[u8] = bytemuck::cast_slice(&self.registers[register]);
            self.returned.push(load(bytes, self.program.types[register].byte_size(), 0)?);
        }
        Ok(&self.returned)
    }

    /// In the lanes where `keep` is true, restores the first parameters by copying them to the results.
    pub(crate) fn keep_parameters(&mut self, keep: &[bool]) -> Result<(), EvalError> {
        for index in 0..self.program.results.len() {
            let size = self.program.types[self.program.results[index]].byte_size();
            let old: Vec<u8> = self.parameter_mut(index)?[..keep.len() * size].to_vec();
            let results: &mut [u8] =
                bytemuck::cast_slice_mut(&mut self.registers[self.program.results[index]]);
            for (lane, _) in keep.iter().enumerate().filter(|(_, k)| **k) {
                let range = lane * size..(lane + 1) * size;
                results[range.clone()].copy_from_slice(&old[range]);
            }
        }
        Ok(())
    }

    /// Makes the results the first parameters of the next run.
    pub(crate) fn move_results_to_parameters(&mut self) {
        for (&parameter, &result) in self.program.parameters.iter().zip(&self.program.results) {
            self.registers.swap(parameter, result);
        }
    }
}

fn no_register(what: &str, index: usize) -> EvalError {
    EvalError::internal(format!("a program has no {what} {index}"))
}
