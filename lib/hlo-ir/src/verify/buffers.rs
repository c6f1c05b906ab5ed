//! Checks of buffers, `b(f32[4])`: which instructions may take them, and that each is written at most once.
//!
//! An instruction that takes a buffer as operand and returns one in its place writes the buffer. The previous
//! value is lost, so no other instruction may write it.

use super::{Verifier, label};
use crate::attr::{CustomCallAttrs, OperandAlias, ShapeIndex, index_text};
use crate::rules::code;
use crate::{ComputationId, InstrId, Op, Shape};
use std::collections::HashSet;

/// The attribute of calls that consist of asynchronous operations.
const STREAM_ATTRIBUTE: &str = "_xla_stream_annotation";

/// Maximum number of users visited in the search for writers of buffers. Writers of further buffers are not
/// checked, which bounds the time.
pub(super) const MAX_USERS: usize = 1 << 22;

/// Returns the shape indices of the buffers in a shape.
fn buffers(shape: &Shape) -> Vec<ShapeIndex> {
    let mut found = Vec::new();
    let mut todo: Vec<(ShapeIndex, &Shape)> = vec![(Vec::new(), shape)];
    while let Some((index, shape)) = todo.pop() {
        match shape {
            Shape::Buffer(_) => found.push(index),
            Shape::Tuple(parts) => todo.extend(parts.iter().enumerate().rev().map(|(n, part)| {
                let index = index.iter().copied().chain([n as i64]).collect();
                (index, part)
            })),
            _ => {}
        }
    }
    found
}

/// Returns whether a shape contains a buffer.
fn has_buffer(shape: &Shape) -> bool {
    shape.leaves().into_iter().any(|s| matches!(s, Shape::Buffer(_)))
}

impl Verifier<'_> {
    /// Checks the instructions that take or return buffers.
    pub(super) fn check_buffers(&mut self) {
        let module = self.module;
        let with_buffers = |c: &ComputationId| {
            module[*c]
                .instructions()
                .iter()
                .any(|&i| super::is_live(module, i) && has_buffer(&module[i].shape))
        };
        let computations: Vec<ComputationId> = module.computations().filter(with_buffers).collect();
        if computations.is_empty() {
            return;
        }
        let bodies: HashSet<ComputationId> = module
            .computations()
            .flat_map(|c| module[c].instructions())
            .filter_map(|&i| match &module[i].op {
                Op::While(a) => Some(a.body),
                _ => None,
            })
            .collect();
        let started: HashSet<ComputationId> = module
            .computations()
            .flat_map(|c| module[c].instructions())
            .filter_map(|&i| match &module[i].op {
                Op::AsyncStart(a) => a.calls,
                _ => None,
            })
            .collect();
        for c in computations {
            let is_body = bodies.contains(&c);
            let is_started = started.contains(&c);
            for &i in module[c].instructions() {
                if self.full() {
                    return;
                }
                // An asynchronous operation runs one custom call, which takes the buffers in the state.
                if !is_started || matches!(module[i].op, Op::CustomCall(_)) {
                    self.check_buffers_of(i, is_body);
                }
            }
        }
    }

    fn check_buffers_of(&mut self, i: InstrId, in_body: bool) {
        let module = self.module;
        let instruction = &module[i];
        match &instruction.op {
            Op::GetTupleElement(_)
            | Op::Tuple
            | Op::AsyncStart(_)
            | Op::AsyncUpdate(_)
            | Op::AsyncDone(_) => {}
            Op::Call(_)
                if instruction
                    .common
                    .as_ref()
                    .is_some_and(|c| c.frontend_attributes.get(STREAM_ATTRIBUTE).is_some()) => {}
            Op::CustomCall(a) => self.check_custom_call_buffers(i, a, in_body),
            Op::While(_) => self.check_written_once(i, in_body),
            Op::Parameter(_) if module.entry_if_set() != Some(instruction.parent) => {
                self.check_written_once(i, in_body);
            }
            Op::DynamicUpdateSlice
                if matches!(instruction.shape, Shape::Buffer(_))
                    && !instruction.operands[1..].iter().any(|&o| has_buffer(&module[o].shape)) =>
            {
                self.check_written_once(i, in_body);
            }
            _ => self.check_no_buffers(i),
        }
    }

    fn check_no_buffers(&mut self, i: InstrId) {
        let module = self.module;
        let shapes =
            module[i].operands.iter().filter(|&&o| super::is_live(module, o)).map(|&o| &module[o].shape);
        if let Some(shape) = shapes.chain([&module[i].shape]).find(|s| has_buffer(s)) {
            let message =
                format!("`{}` takes and gives values, not buffers, found {shape}", module[i].op.name());
            self.report(code::BUFFER_CONTEXT, i, message);
        }
    }

    fn check_custom_call_buffers(&mut self, i: InstrId, a: &CustomCallAttrs, in_body: bool) {
        let module = self.module;
        let aliases = &a.output_to_operand_aliasing;
        let operand = |n: usize| module[i].operands.get(n).map(|&o| &module[o].shape);
        let result = &module[i].shape;
        let target = a.custom_call_target.to_text();
        let expected = match &*target {
            "CreateBuffer" => match (operand(0), result) {
                (None, Shape::Buffer(_)) => None,
                _ => Some("takes nothing and gives a buffer"),
            },
            "Pin" => match (operand(0), operand(1), result) {
                (Some(from @ Shape::Array(_)), None, Shape::Buffer(to)) if from.compatible(to) => None,
                _ => Some("takes an array and gives a buffer of its shape"),
            },
            "Unpin" => match (operand(0), operand(1), result) {
                (Some(Shape::Buffer(from)), None, to @ Shape::Array(_)) if from.compatible(to) => None,
                _ => Some("takes a buffer and gives an array of its shape"),
            },
            _ => return self.check_aliased_buffers(i, aliases, in_body),
        };
        if let Some(expected) = expected {
            let message = format!("the custom call `{target}` {expected}, found {result}");
            self.report(code::PIN_FORM, i, message);
        } else if *target != *"CreateBuffer" && aliases.len() != 1 {
            let message = format!(
                "the custom call `{target}` has one entry in `output_to_operand_aliasing`, found {}",
                aliases.len()
            );
            self.report(code::PIN_FORM, i, message);
        }
        self.check_written_once(i, in_body);
    }

    /// Checks that each buffer among the operands of a custom call is one of its results, and that each
    /// buffer among the results is an operand.
    fn check_aliased_buffers(&mut self, i: InstrId, aliases: &[OperandAlias], in_body: bool) {
        let module = self.module;
        let mut wrong = |what: String, count: usize| {
            if count != 1 {
                let message = format!(
                    "{what} is a buffer, which `output_to_operand_aliasing` names once, found {count} entries with it"
                );
                self.report(code::BUFFER_ALIASED, i, message);
            }
        };
        for (n, &o) in module[i].operands.iter().enumerate() {
            for index in buffers(&module[o].shape) {
                let names = |a: &&OperandAlias| a.operand == n as i64 && a.operand_index == index;
                wrong(
                    format!("part {} of operand {n}", index_text(&index)),
                    aliases.iter().filter(names).count(),
                );
            }
        }
        for index in buffers(&module[i].shape) {
            let names = |a: &&OperandAlias| a.output == index;
            wrong(format!("part {} of the result", index_text(&index)), aliases.iter().filter(names).count());
        }
        self.check_written_once(i, in_body);
    }

    /// Checks that at most one instruction writes each buffer in the result of `i`.
    fn check_written_once(&mut self, i: InstrId, in_body: bool) {
        let module = self.module;
        for index in buffers(&module[i].shape) {
            let writers = self.writers(i, index, in_body);
            if let [first, second, ..] = writers[..] {
                let message = format!(
                    "a buffer is written once, but `{}` and `{}` write one that `{}` gives",
                    module[first].name, module[second].name, module[i].name
                );
                let diag = self.report(code::BUFFER_WRITTEN_ONCE, i, message);
                label(diag, module.span(first), "written here".to_string());
                label(diag, module.span(second), "and here".to_string());
            }
        }
    }

    /// Returns the instructions that write the buffer at `index` in the result of `i`. Instructions that call
    /// computations count as writers, and so does the root of a loop body (`in_body`).
    fn writers(&mut self, i: InstrId, index: ShapeIndex, in_body: bool) -> Vec<InstrId> {
        let module = self.module;
        let mut writers = Vec::new();
        let mut seen = HashSet::from([(i, index.clone())]);
        let mut todo = vec![(i, index)];
        while let Some((i, index)) = todo.pop() {
            for &user in module.users(i) {
                match self.users_left.checked_sub(1) {
                    Some(left) => self.users_left = left,
                    None => return Vec::new(),
                }
                let next = match &module[user].op {
                    Op::GetTupleElement(a) if index.first() == Some(&a.index) => index[1..].to_vec(),
                    Op::Tuple => {
                        let is_root = module.has_root(module[user].parent)
                            && module[module[user].parent].root() == user;
                        if is_root && in_body {
                            writers.push(user);
                        }
                        let place = module[user].operands.iter().position(|&o| o == i);
                        let Some(place) = place.filter(|_| !is_root) else { continue };
                        std::iter::once(place as i64).chain(index.iter().copied()).collect()
                    }
                    Op::While(_)
                    | Op::Conditional(_)
                    | Op::DynamicUpdateSlice
                    | Op::Fusion(_)
                    | Op::Call(_)
                    | Op::CustomCall(_)
                    | Op::AsyncStart(_)
                    | Op::AsyncUpdate(_)
                    | Op::AsyncDone(_) => {
                        writers.push(user);
                        continue;
                    }
                    _ => continue,
                };
                if seen.insert((user, next.clone())) {
                    todo.push((user, next));
                }
            }
        }
        writers
    }
}
