//! The verifier: reports every violation of the rules in a module.
//!
//! Every rule has a code and an entry in the table [`rules`](mod@crate::rules). If the verifier finds no violation,
//! later stages succeed or return an error of their own. This module contains the rules about instructions
//! and computations in relation to each other and to the header. The rules of each opcode for operands,
//! attributes and the declared shape are in [`crate::ops`].
//! - this file: names, roots, parameter numbers, operands of the same computation, order;
//! - `buffers`: instructions that take or write buffers;
//! - `calls`: cycles, the entry, fusions, execution threads;
//! - `pairs`: the starts and ends of asynchronous operations;
//! - `devices`: replica groups, source and target pairs, channels;
//! - `shardings`: shardings and the shapes that they apply to;
//! - `header`: the entry's layout, aliasing and donation, counts;
//! - `strict`: additional requirements of some compiler stages;
//! - `execution`: requirements for running a module.
//!
//! An instruction whose operands are invalid is not checked further, so that one error causes one report.

mod buffers;
mod calls;
mod devices;
mod execution;
mod graph;
mod header;
mod pairs;
mod shardings;
mod strict;
mod transfers;
mod verified;
mod warnings;

use crate::diag::{Code, Diag, Label, Part, Suggestion};
use crate::ops::{self, Place, Signatures, Violation, shape_error};
use crate::rules::code;
use crate::{ComputationId, InstrId, Instruction, Module, Op, Shape, SourceFrames, Span};
use graph::{cycles, path};
use std::collections::HashMap;

pub use execution::verify_execution;
pub use strict::{Strictness, verify_strictly};
pub use verified::{HoldsModule, Verified};
pub use warnings::{verify_bitcasts, warnings};

/// Maximum number of violations that are reported for a module. If there are more, one further report says
/// so.
pub const MAX_REPORTS: usize = 100;

/// Returns the violations in the module, up to [`MAX_REPORTS`]; empty if it is valid. They are in the order
/// of the computations and their instructions. Time and memory are almost linear in the module.
pub fn verify(module: &Module) -> Vec<Diag> {
    let mut verifier = Verifier::new(module);
    for step in Verifier::STEPS {
        if !verifier.full() {
            step(&mut verifier);
        }
    }
    verifier.finish()
}

struct Verifier<'a> {
    module: &'a Module,
    signatures: Signatures,
    diags: Vec<Diag>,
    /// The number of users that may still be visited in the search for writers of buffers.
    users_left: usize,
}

impl Verifier<'_> {
    /// The checks, in order.
    const STEPS: [fn(&mut Self); 12] = [
        Self::check_computation_names,
        Self::check_computations,
        Self::check_call_graph,
        Self::check_composites,
        Self::check_fusions,
        Self::check_threads,
        Self::check_pairs,
        Self::check_devices,
        Self::check_channels,
        Self::check_shardings,
        Self::check_buffers,
        Self::check_header,
    ];
}

/// Reporting.
impl<'a> Verifier<'a> {
    fn new(module: &'a Module) -> Self {
        Self { module, signatures: Signatures::default(), diags: Vec::new(), users_left: buffers::MAX_USERS }
    }

    /// Returns the reports.
    fn finish(self) -> Vec<Diag> {
        let mut diags = self.diags;
        if diags.len() > MAX_REPORTS {
            diags.truncate(MAX_REPORTS);
            diags.push(Diag::error(format!("more than {MAX_REPORTS} errors: the others are not shown")));
        }
        diags
    }

    /// Reports a violation at an instruction.
    fn report(&mut self, code: Code, at: InstrId, message: String) -> &mut Diag {
        self.report_part(code, at, Part::Head, message)
    }

    /// Reports a violation by the attribute `name` of an instruction.
    fn report_attribute(
        &mut self,
        code: Code,
        at: InstrId,
        name: &'static str,
        message: String,
    ) -> &mut Diag {
        self.report_part(code, at, Part::Attribute(name), message)
    }

    /// Reports a violation by a part of an instruction.
    fn report_part(&mut self, code: Code, at: InstrId, part: Part, message: String) -> &mut Diag {
        let instruction = &self.module[at];
        let place = format!("`{}` in `{}`", instruction.name, self.module[instruction.parent].name);
        let span = self.module.span(at);
        let diag = Diag::error(message).with_code(code);
        let diag = match SourceFrames::of(self.module).line(at) {
            Some(trace) => diag.note(format!("from {trace}")),
            None => diag,
        };
        self.push(if span.is_empty() {
            diag.note(format!("at {place}"))
        } else {
            diag.at_instruction(span, part, place)
        })
    }

    /// Reports a violation by the header's attribute `name`.
    fn report_header(&mut self, code: Code, name: &str, message: String) -> &mut Diag {
        let span = self.module.header_span(name);
        let diag = Diag::error(message).with_code(code);
        self.push(if span.is_empty() { diag } else { diag.at(span, "in the header") })
    }

    /// Reports a violation at an instruction by the header's attribute `name`.
    fn report_by_header(&mut self, code: Code, at: InstrId, name: &str, message: String) -> &mut Diag {
        let span = self.module.header_span(name);
        let diag = self.report(code, at, message);
        if !span.is_empty() {
            diag.labels.push(Label::secondary(span, "in the header", None));
        }
        diag
    }

    /// Reports a violation that does not belong to an instruction.
    fn report_module(&mut self, code: Code, message: String) -> &mut Diag {
        self.push(Diag::error(message).with_code(code))
    }

    /// Returns whether the maximum number of reports is exceeded, so that the checks can stop.
    fn full(&self) -> bool {
        self.diags.len() > MAX_REPORTS
    }

    fn push(&mut self, diag: Diag) -> &mut Diag {
        if self.full() {
            // The last report is beyond the maximum and is not shown.
            self.diags.pop();
        }
        self.diags.push(diag);
        let last = self.diags.len() - 1;
        &mut self.diags[last]
    }

    /// Reports a violation of an opcode's rule by an instruction.
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
        let diag = self.report_part(violation.code, at, violation.part, violation.message);
        for (id, message) in others {
            if !shown.contains(&id) {
                shown.push(id);
                label(diag, module.span(id), message);
            }
        }
        let span = module.span(at);
        if let Some(shape) = violation.shape.filter(|_| !span.is_empty()) {
            diag.suggestions.push(Suggestion { span, text: shape.to_string(), part: Some(Part::Shape) });
        }
    }
}

/// Adds the label of a related instruction to a diagnostic.
fn label(diag: &mut Diag, span: Span, message: String) {
    if !span.is_empty() {
        diag.labels.push(Label::secondary(span, message, Some(Part::Head)));
    }
}

/// Returns whether the instruction has the attribute that allows aliases of different shapes.
fn skips_alias_shapes(instruction: &Instruction) -> bool {
    let attributes = instruction.common.as_ref().map(|c| &c.frontend_attributes);
    attributes
        .and_then(|a| a.get("xla_skip_custom_call_alias_shape_check"))
        .is_some_and(|value| value.as_bytes() == b"true")
}

/// Returns each repeated name's item, paired with the first item of that name.
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

/// Checks within one computation.
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

    fn check_computations(&mut self) {
        for c in self.module.computations() {
            self.check_computation(c);
        }
    }

    fn check_computation(&mut self, c: ComputationId) {
        if self.full() {
            return;
        }
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

    /// Checks that no instruction depends on itself, and that a schedule is in dependency order.
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
            if self.full() {
                return;
            }
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
                // The invalid shape is reported at the operand itself.
                let skipped = v.code == code::INVALID_SHAPE
                    || (v.code == code::ALIASED_SHAPES && skips_alias_shapes(instruction));
                if !skipped {
                    self.report_violation(i, v);
                }
            }
        }
    }
}

/// Returns whether the id belongs to a live instruction.
fn is_live(module: &Module, id: InstrId) -> bool {
    id.index() < module.instruction_capacity() && module.is_live(id)
}

/// Returns the instructions that must run before `i`.
fn predecessors(module: &Module, i: InstrId) -> impl Iterator<Item = InstrId> + '_ {
    let control = module[i].control_predecessors();
    module[i].operands.iter().chain(control).copied()
}
