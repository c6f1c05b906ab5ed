//! Rearranges a random module: the instructions of its entry with other operands or results.

use super::program::{Computation, Line, Program};
use super::types::Type;
use hlo_ir::Opcode;

/// A module that consists of lines of another module's entry.
pub struct Part {
    /// The module.
    pub program: Program,
    /// The lines of the original entry whose values are the parameters.
    pub parameters: Vec<usize>,
    /// The lines of the original entry whose values are the elements of the result.
    pub results: Vec<usize>,
}

/// Whether the value consists of arrays only, and any instruction can use it as an operand.
fn is_data(line: &Line) -> bool {
    use Opcode::*;
    let started = matches!(
        line.opcode,
        CopyStart | AsyncStart | AsyncUpdate | AllGatherStart | AllReduceStart | CollectivePermuteStart
    );
    !started && line.ty.leaves().iter().all(|t| t.as_array().is_some())
}

impl Program {
    /// Merges several programs with different names: the lines of their entries follow each other.
    pub fn merged(programs: &[Program]) -> Program {
        let mut out = Program { name: "merged".into(), ..Program::default() };
        let mut entry = Computation { name: "merged".into(), ..Computation::default() };
        let mut parameters = 0;
        for program in programs {
            let Some((last, called)) = program.computations.split_last() else { continue };
            out.computations.extend_from_slice(called);
            let first = entry.lines.len();
            entry.root = first + last.root;
            for line in &last.lines {
                let mut line = line.clone();
                line.operands.iter_mut().chain(&mut line.control).for_each(|i| *i += first);
                if line.opcode == Opcode::Parameter {
                    line.payload = parameters.to_string();
                    parameters += 1;
                }
                entry.lines.push(line);
            }
        }
        out.computations.push(entry);
        out
    }

    /// Returns the entry.
    pub fn entry(&self) -> &Computation {
        &self.computations[self.computations.len() - 1]
    }

    /// Returns the lines of the entry that compute data.
    pub fn computing(&self) -> impl Iterator<Item = usize> + '_ {
        let lines = self.entry().lines.iter().enumerate();
        lines
            .filter(|(_, l)| is_data(l) && !matches!(l.opcode, Opcode::Parameter | Opcode::Constant))
            .map(|(i, _)| i)
    }

    /// Returns a program that computes each instruction of the entry separately. Its operands are parameters,
    /// or copies of parameters in the operands' layouts, so that errors do not propagate between
    /// instructions.
    pub fn isolated(&self) -> Part {
        let lines = &self.entry().lines;
        let mut part =
            Builder { program: self, out: Computation::default(), places: vec![None; lines.len()] };
        part.out.name.clone_from(&self.entry().name);
        let mut parameters = Vec::new();
        let results: Vec<usize> = self.computing().collect();
        let mut wanted: Vec<usize> =
            results.iter().rev().flat_map(|&r| lines[r].operands.iter().rev().copied()).collect();
        while let Some(o) = wanted.pop() {
            if !is_data(&lines[o]) {
                // This operand is computed here as well, from the same data.
                wanted.extend(&lines[o].operands);
            } else if part.places[o].is_none() {
                part.parameter(o, parameters.len());
                parameters.push(o);
            }
        }
        let results_at: Vec<usize> = results.iter().map(|&r| part.line(r)).collect();
        Part { program: part.finish(&results_at), parameters, results }
    }

    /// Returns the program with the values of `results` as its result.
    pub fn with_results(&self, results: &[usize]) -> Part {
        let mut program = self.clone();
        let parameters =
            (0..self.entry().lines.len()).filter(|&i| self.entry().lines[i].opcode == Opcode::Parameter);
        let parameters = parameters.collect();
        if let Some(entry) = program.computations.last_mut() {
            entry.root = tuple(entry, results);
        }
        Part { program, parameters, results: results.to_vec() }
    }
}

/// Adds a tuple of lines at the end.
fn tuple(computation: &mut Computation, parts: &[usize]) -> usize {
    let ty = Type::Tuple(parts.iter().map(|&p| computation.lines[p].ty.clone()).collect());
    let line = Line { operands: parts.to_vec(), ..line("results".into(), ty, Opcode::Tuple) };
    computation.lines.push(line);
    computation.lines.len() - 1
}

fn line(name: String, ty: Type, opcode: Opcode) -> Line {
    Line {
        name,
        ty,
        opcode,
        spelling: None,
        payload: String::new(),
        operands: Vec::new(),
        attributes: Vec::new(),
        control: Vec::new(),
        layout: 0,
    }
}

struct Builder<'a> {
    program: &'a Program,
    out: Computation,
    /// The new line for the value of each original line.
    places: Vec<Option<usize>>,
}

impl Builder<'_> {
    fn push(&mut self, line: Line) -> usize {
        self.out.lines.push(line);
        self.out.lines.len() - 1
    }

    fn parameter(&mut self, original: usize, number: usize) {
        let ty = self.program.entry().lines[original].ty.clone();
        let payload = number.to_string();
        let parameter = Line { payload, ..line(format!("operand.{number}"), ty.clone(), Opcode::Parameter) };
        let mut place = self.push(parameter);
        // The result of a bitcast depends on its operand's layout.
        let layout = self.program.entry().lines[original].layout;
        if layout != 0 && self.program.entry().lines[original].opcode != Opcode::Parameter {
            let copy = line(format!("laid_out.{number}"), ty, Opcode::Copy);
            place = self.push(Line { operands: vec![place], layout, ..copy });
        }
        self.places[original] = Some(place);
    }

    /// Adds a line with its new operands. Operands that are not data, such as tokens, are computed again.
    fn line(&mut self, original: usize) -> usize {
        let mut line = self.program.entry().lines[original].clone();
        line.operands = line
            .operands
            .iter()
            .map(|&o| match self.places[o] {
                Some(place) => place,
                None => {
                    let place = self.line(o);
                    self.places[o] = Some(place);
                    place
                }
            })
            .collect();
        line.control.clear();
        self.push(line)
    }

    fn finish(mut self, results: &[usize]) -> Program {
        self.out.root = tuple(&mut self.out, results);
        let mut program = self.program.clone();
        program.computations.pop();
        program.computations.push(self.out);
        program.header.clear();
        program
    }
}
