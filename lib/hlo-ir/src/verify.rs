//! The verifier: reports every violation of the rules that a module obeys.
//!
//! After a clean verify, later stages may only succeed or return an error of their own. It enforces:
//! - the module has an entry, which nothing calls, and computation names are unique;
//! - the written `entry_computation_layout` fits the entry's parameters and root;
//! - a computation has a root of its own, its parameters are numbered 0, 1, …, its instructions' names are
//!   unique;
//! - operands and control predecessors are live instructions of the same computation, and no instruction
//!   depends on itself;
//! - in a scheduled module operands and control predecessors come before their users;
//! - called computations are in the module, and no computation calls itself, directly or through others;
//! - no shape has a negative size or a layout that is not a permutation of its dimensions;
//! - the rules of each opcode, in [`crate::ops`]: number, kinds, element types and shapes of the operands,
//!   attributes in range, called computations' parameters and roots, and the written shape.
//!
//! Not enforced yet, and so neither promised: aliasing and donation tables, shardings, replica groups and
//! channel ids, what custom calls and generic asynchronous operations give.
//!
//! An instruction whose operands are broken in themselves is not checked further, so that one mistake gives
//! one report.

use crate::attr::EntryLayout;
use crate::diag::Diag;
use crate::ops::{self, Place, Signatures, Violation, shape_error, shapes_agree};
use crate::rules::code;
use crate::{ComputationId, InstrId, Module, Op, Shape, Span};
use std::collections::HashMap;

/// Every violation in the module; empty if it is valid. In the order of the computations and their
/// instructions. Time and memory are near linear in the module.
pub fn verify(module: &Module) -> Vec<Diag> {
    let mut verifier = Verifier { module, signatures: Signatures::default(), diags: Vec::new() };
    verifier.check_computation_names();
    for c in module.computations() {
        verifier.check_computation(c);
    }
    verifier.check_call_graph();
    verifier.check_entry();
    verifier.diags
}

struct Verifier<'a> {
    module: &'a Module,
    signatures: Signatures,
    diags: Vec<Diag>,
}

/// Reporting.
impl Verifier<'_> {
    /// Reports a violation at an instruction.
    fn report(&mut self, code: &'static str, at: InstrId, message: String) -> &mut Diag {
        let instruction = &self.module[at];
        let place = format!("`{}` in `{}`", instruction.name, self.module[instruction.parent].name);
        let span = self.module.span(at);
        let diag = Diag::error(message).with_code(code);
        self.push(if span.is_empty() { diag.note(format!("at {place}")) } else { diag.at(span, place) })
    }

    /// Reports a violation that no one instruction is to blame for.
    fn report_module(&mut self, code: &'static str, message: String) -> &mut Diag {
        self.push(Diag::error(message).with_code(code))
    }

    fn push(&mut self, diag: Diag) -> &mut Diag {
        self.diags.push(diag);
        let last = self.diags.len() - 1;
        &mut self.diags[last]
    }

    /// Reports that a rule of its opcode does not hold for an instruction.
    fn report_violation(&mut self, at: InstrId, violation: Violation) {
        let module = self.module;
        let others = violation.others.into_iter().filter_map(|(place, message)| {
            let id = match place {
                Place::Operand(i) => *module[at].operands.get(i)?,
                Place::Instruction(id) => id,
            };
            Some((id, message))
        });
        // An operand that is passed twice is shown once.
        let mut shown: Vec<InstrId> = Vec::new();
        let diag = self.report(violation.code, at, violation.message);
        for (id, message) in others {
            if !shown.contains(&id) {
                shown.push(id);
                label(diag, module.span(id), message);
            }
        }
    }
}

/// Adds a place that has to do with a diagnostic.
fn label(diag: &mut Diag, span: Span, message: String) {
    *diag = diag.clone().and(span, message);
}

/// The first of each name, and each further one with the first.
fn duplicates<'n, T: Copy>(names: impl Iterator<Item = (&'n str, T)>) -> Vec<(T, T)> {
    let mut first: HashMap<&str, T> = HashMap::new();
    let mut out = Vec::new();
    for (name, id) in names {
        match first.get(name) {
            Some(&f) => out.push((f, id)),
            None => {
                first.insert(name, id);
            }
        }
    }
    out
}

/// A computation by itself.
impl Verifier<'_> {
    fn check_computation_names(&mut self) {
        let module = self.module;
        for (_, again) in duplicates(module.computations().map(|c| (&*module[c].name, c))) {
            let message = format!("computation names must be unique, found `{}` twice", module[again].name);
            match module[again].instructions().first() {
                Some(&i) => self.report(code::COMPUTATION_NAME, i, message),
                None => self.report_module(code::COMPUTATION_NAME, message),
            };
        }
    }

    fn check_computation(&mut self, c: ComputationId) {
        let module = self.module;
        let instructions = module[c].instructions();
        let own = |id: InstrId| is_live(module, id) && module[id].parent == c;
        if !module.has_root(c) || !own(module[c].root()) {
            self.report_module(code::NO_ROOT, format!("computation `{}` has no root", module[c].name));
        }
        for (first, again) in duplicates(instructions.iter().map(|&i| (&*module[i].name, i))) {
            let message = format!(
                "instruction names must be unique in a computation, found `{}` twice",
                module[again].name
            );
            let span = module.span(first);
            label(self.report(code::INSTRUCTION_NAME, again, message), span, "the first one".into());
        }
        self.check_parameter_numbers(c);
        let mut foreign = false;
        for &i in instructions {
            for p in predecessors(module, i).filter(|&p| !own(p)) {
                foreign = true;
                let message = if is_live(module, p) {
                    format!(
                        "`{}` is of another computation, `{}`",
                        module[p].name, module[module[p].parent].name
                    )
                } else {
                    "an operand or control predecessor is no instruction of the module".to_string()
                };
                self.report(code::FOREIGN_OPERAND, i, message);
            }
        }
        if !foreign {
            self.check_order(c);
        }
        self.check_instructions(c);
    }

    fn check_parameter_numbers(&mut self, c: ComputationId) {
        let module = self.module;
        let numbered = module.parameters(c).into_iter().filter_map(|i| match &module[i].op {
            Op::Parameter(p) => Some((p.number, i)),
            _ => None,
        });
        let mut previous: Option<(i64, InstrId)> = None;
        for (number, i) in numbered {
            let expected = previous.map_or(0, |(n, _)| n.saturating_add(1));
            if number != expected {
                let diag = self.report(
                    code::PARAMETER_NUMBERS,
                    i,
                    format!("parameters must be numbered 0, 1, … without gaps: expected parameter({expected}), found parameter({number})"),
                );
                if let Some((_, p)) = previous {
                    label(diag, module.span(p), "the one before".into());
                }
            }
            previous = Some((number, i));
        }
    }

    /// Checks that no instruction depends on itself and that a schedule is one.
    fn check_order(&mut self, c: ComputationId) {
        let module = self.module;
        let position: HashMap<InstrId, usize> =
            module[c].instructions().iter().enumerate().map(|(n, &i)| (i, n)).collect();
        let edges: Vec<Vec<usize>> = module[c]
            .instructions()
            .iter()
            .map(|&i| predecessors(module, i).filter_map(|p| position.get(&p).copied()).collect())
            .collect();
        let list = module[c].instructions();
        for cycle in cycles(&edges) {
            let names = path(cycle.iter().map(|&n| &*module[list[n]].name));
            self.report(
                code::OPERAND_CYCLE,
                list[cycle[0]],
                format!("an instruction depends on itself: {names}"),
            );
        }
        if !module.header.is_scheduled {
            return;
        }
        for (n, predecessors) in edges.iter().enumerate() {
            for &p in predecessors.iter().filter(|&&p| p > n) {
                let message = format!(
                    "in a scheduled module operands come before their users, but `{}` comes after `{}`",
                    module[list[p]].name, module[list[n]].name
                );
                label(
                    self.report(code::SCHEDULE, list[n], message),
                    module.span(list[p]),
                    "scheduled after its user".into(),
                );
            }
        }
    }

    fn check_instructions(&mut self, c: ComputationId) {
        let module = self.module;
        for &i in module[c].instructions() {
            let instruction = &module[i];
            if let Some(message) = shape_error(&instruction.shape) {
                self.report(code::INVALID_SHAPE, i, message);
                continue;
            }
            if instruction.operands.iter().any(|&o| !is_live(module, o)) {
                continue; // reported
            }
            let operands: Vec<&Shape> = instruction.operands.iter().map(|&o| &module[o].shape).collect();
            for v in ops::check(module, &self.signatures, &instruction.op, &operands, &instruction.shape) {
                // The operand with the invalid shape has its own report.
                if v.code != code::INVALID_SHAPE {
                    self.report_violation(i, v);
                }
            }
        }
    }
}

/// True if the id is one of a live instruction.
fn is_live(module: &Module, id: InstrId) -> bool {
    id.index() < module.instruction_capacity() && module.is_live(id)
}

/// The instructions that must run before `i`.
fn predecessors(module: &Module, i: InstrId) -> impl Iterator<Item = InstrId> + '_ {
    let control = module[i].common.as_ref().map_or(&[][..], |c| &c.control_predecessors);
    module[i].operands.iter().chain(control).copied()
}

/// What relates computations.
impl Verifier<'_> {
    /// Checks that no computation calls itself and that nothing calls the entry.
    fn check_call_graph(&mut self) {
        let module = self.module;
        let all: Vec<ComputationId> = module.computations().collect();
        let position: HashMap<ComputationId, usize> = all.iter().enumerate().map(|(n, &c)| (c, n)).collect();
        let mut edges: Vec<Vec<usize>> = vec![Vec::new(); all.len()];
        // The first call along each edge, to blame.
        let mut calls: HashMap<(usize, usize), InstrId> = HashMap::new();
        for (n, &c) in all.iter().enumerate() {
            for &i in module[c].instructions() {
                for callee in module[i].op.called_computations() {
                    let Some(&to) = position.get(&callee) else {
                        continue; // the rule of the opcode reports it
                    };
                    calls.entry((n, to)).or_insert_with(|| {
                        edges[n].push(to);
                        i
                    });
                    if module.entry_if_set() == Some(callee) && to != n {
                        let message = format!("nothing may call the entry, `{}`", module[callee].name);
                        self.report(code::ENTRY_CALLED, i, message);
                    }
                }
            }
        }
        for cycle in cycles(&edges) {
            let names = path(cycle.iter().map(|&n| &*module[all[n]].name));
            let message = format!("a computation calls itself: {names}");
            let next = cycle.get(1).copied().unwrap_or(cycle[0]);
            match calls.get(&(cycle[0], next)) {
                Some(&i) => self.report(code::CALL_CYCLE, i, message),
                None => self.report_module(code::CALL_CYCLE, message),
            };
        }
    }

    /// Checks that there is an entry and that the header's layout fits it.
    fn check_entry(&mut self) {
        let module = self.module;
        let Some(entry) = module.entry_if_set().filter(|&e| module.is_live_computation(e)) else {
            self.report_module(code::NO_ENTRY, "the module has no entry computation".to_string());
            return;
        };
        let Some(EntryLayout { parameters, result }) = &module.header.entry_computation_layout else {
            return;
        };
        let found = module.parameters(entry);
        if found.len() != parameters.len() {
            self.report_module(
                code::ENTRY_LAYOUT,
                format!(
                    "entry_computation_layout has {} parameters, but the entry, `{}`, has {}",
                    parameters.len(),
                    module[entry].name,
                    found.len()
                ),
            );
        }
        for (&i, expected) in found.iter().zip(parameters) {
            self.check_entry_shape(i, expected);
        }
        if module.has_root(entry) {
            self.check_entry_shape(module[entry].root(), result);
        }
    }

    fn check_entry_shape(&mut self, i: InstrId, expected: &Shape) {
        if let Some(message) = shape_error(expected) {
            self.report(code::INVALID_SHAPE, i, format!("in entry_computation_layout: {message}"));
        } else if !shapes_agree(&self.module[i].shape, expected) {
            let found = &self.module[i].shape;
            self.report(
                code::ENTRY_LAYOUT,
                i,
                format!("entry_computation_layout says {expected}, but this is {found}"),
            );
        }
    }
}

/// `a → b → a`, long ones shortened.
fn path<'n>(names: impl ExactSizeIterator<Item = &'n str> + Clone) -> String {
    const SHOWN: usize = 8;
    let first = names.clone().take(1);
    let mut parts: Vec<&str> = names.clone().take(SHOWN).collect();
    if names.len() > SHOWN {
        parts.push("…");
    }
    parts.extend(first);
    parts.join(" → ")
}

/// The cycles of a graph that a depth-first walk closes: one for each edge back to a node on the walk's path,
/// so that there is one if and only if the graph has a cycle. Each is its nodes in the edges' direction.
fn cycles(edges: &[Vec<usize>]) -> Vec<Vec<usize>> {
    const NEW: u8 = 0;
    const ON_PATH: u8 = 1;
    const DONE: u8 = 2;
    let mut state = vec![NEW; edges.len()];
    let mut out = Vec::new();
    for start in 0..edges.len() {
        if state[start] != NEW {
            continue;
        }
        state[start] = ON_PATH;
        let mut path: Vec<(usize, usize)> = vec![(start, 0)];
        while let Some(top) = path.last_mut() {
            let (node, next) = *top;
            top.1 += 1;
            match edges[node].get(next) {
                None => {
                    state[node] = DONE;
                    path.pop();
                }
                Some(&to) if state[to] == NEW => {
                    state[to] = ON_PATH;
                    path.push((to, 0));
                }
                Some(&to) if state[to] == ON_PATH => {
                    let from = path.iter().rposition(|&(n, _)| n == to).unwrap_or(0);
                    out.push(path[from..].iter().map(|&(n, _)| n).collect());
                    // A few reports are enough where everything is tangled, and keep the walk linear.
                    if out.len() >= 16 {
                        return out;
                    }
                }
                Some(_) => {}
            }
        }
    }
    out
}

#[cfg(test)]
mod tests;
