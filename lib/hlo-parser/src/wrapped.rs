//! Parsing of the short form of asynchronous operations: `custom-call-start(x), attributes` represents an
//! `async-start` that calls a computation whose root is the `custom-call`.

use crate::attributes::{AttributeTokens, split};
use crate::parser::{Body, Chain, ModuleParser};
use hlo_ir::attr::{AsyncStartAttrs, HloString};
use hlo_ir::diag::{Diag, Part};
use hlo_ir::rules::code;
use hlo_ir::{ComputationId, InstrId, Op, Opcode, Shape, Span};
use std::borrow::Cow;
use std::collections::HashSet;

/// The operation that an asynchronous operation wraps.
#[derive(Clone, Copy)]
pub struct Wrapped {
    /// Its opcode.
    pub opcode: Opcode,
    /// The span of its name in the text.
    pub span: Span,
}

impl<'t> ModuleParser<'t> {
    /// Builds the computation that an `async-start` in its short form calls. Removes the attributes of the
    /// wrapped operation from `attributes`. Returns `None` after an error.
    pub fn wrap(
        &mut self,
        op: &mut Op,
        wrapped: Wrapped,
        operands: &[InstrId],
        shape: &Shape,
        attributes: &mut AttributeTokens<'t>,
        body: &mut Body<'t>,
    ) -> Option<()> {
        // An update or done calls the computation of its start, so there is nothing to build.
        let Op::AsyncStart(_) = op else { return Some(()) };
        let Some([_, result, ..]) = shape.as_tuple() else {
            let message = "the shape of an asynchronous start is `((operands), result, …)`";
            let diag = Diag::error(message).with_code(code::ASYNC_SHAPE);
            self.report(diag.at(wrapped.span, format!("its shape is `{shape}`")));
            return None;
        };
        let mut inner = wrapped.opcode.default_op();
        let names: Vec<&str> =
            inner.attrs().map_or(Vec::new(), |a| a.fields().iter().map(|f| f.name).collect());
        let (own, outer) = attributes.drain(..).partition(|a| names.contains(&split(self, a).name));
        *attributes = outer;

        let computation = self.module.add_computation("");
        self.unnamed.push((computation, "async_wrapped".into()));
        let before = self.diags.len();
        let place = wrapped.span;
        self.read_attributes(&mut inner, &own, place, body);
        if self.diags.len() > before {
            return None;
        }
        // The parameters and result of a call or a fusion are known, even if the start binds fewer operands.
        let callee = match &inner {
            Op::Call(a) => Some(a.to_apply),
            Op::Fusion(a) => Some(a.calls),
            _ => None,
        };
        let callee = callee.filter(|&c| self.module.has_root(c));
        let result = callee.map_or(result, |c| &self.module[self.module[c].root()].shape).clone();
        let takes = callee.map_or(Vec::new(), |c| self.module.parameters(c));
        let mut parameters: Vec<InstrId> = Vec::with_capacity(operands.len());
        for n in 0..operands.len().max(takes.len()) {
            let Some(&like) = operands.get(n).or(takes.get(n)) else { break };
            let shape = self.unwritten_shape(like, wrapped.span)?;
            parameters.push(self.add_parameter(computation, n, shape));
        }
        let root = self.module.add(computation, wrapped.opcode.name(), result, inner, parameters);
        self.module.set_span(root, wrapped.span);
        self.module.set_root(computation, root);
        if let Op::AsyncStart(a) = op {
            a.calls = Some(computation);
        }
        Some(())
    }

    fn add_parameter(&mut self, computation: ComputationId, number: usize, shape: Shape) -> InstrId {
        let op = Op::parameter(number as i64);
        // The same names as in XLA, which then makes them unique.
        let name = if number == 0 { "async_param".to_string() } else { format!("async_param.{number}") };
        self.module.add(computation, &name, shape, op, [])
    }

    /// Adds operands and results to the wrapped operation of a start in its short form. An update or done of
    /// this `shape`, also in the short form, determines them.
    pub fn complete_wrapped(&mut self, chain: &Chain, op: &Op, shape: &Shape) {
        let started = chain.start.map(|s| &self.module[s].op);
        let Some(Op::AsyncStart(AsyncStartAttrs { calls: Some(calls), .. })) = started else { return };
        let calls = *calls;
        // Computations from the text have names and are complete. An inline computation may have no root.
        if !self.module[calls].name.is_empty() || !self.module.has_root(calls) {
            return;
        }
        let root = self.module[calls].root();
        let (bound, result) = match (op, shape.as_tuple()) {
            (Op::AsyncUpdate(_), Some([Shape::Tuple(bound), result, ..])) => (&bound[..], result),
            (Op::AsyncUpdate(_), _) => return,
            _ => (&[][..], shape),
        };
        let known = self.module[root].operands.len();
        if bound.len() > known {
            let mut operands = self.module[root].operands.to_vec();
            for (n, shape) in bound.iter().enumerate().skip(known) {
                operands.push(self.add_parameter(calls, n, shape.clone()));
            }
            self.module.set_operands(root, operands);
        }
        if !result.compatible_but_dynamic(&self.module[root].shape) {
            self.module.set_shape(root, result.clone());
        }
    }

    /// Returns the chain of an asynchronous instruction, if its start is known; `None` for other
    /// instructions. `wrapped` is the opcode that the instruction's name implies. Attributes of an update or
    /// done that repeat those of the start are dropped.
    pub fn chain(
        &mut self,
        op: &mut Op,
        wrapped: Option<Opcode>,
        operands: &[InstrId],
        span: Span,
    ) -> Result<Option<Chain>, ()> {
        let (given_thread, given_calls) = match op {
            Op::AsyncStart(a) => {
                let called = a.calls.filter(|&c| self.module.has_root(c));
                let wrapped = wrapped.or(called.map(|c| self.module[self.module[c].root()].opcode()));
                return Ok(Some(Chain { start: None, wrapped }));
            }
            Op::AsyncUpdate(a) => (&mut a.async_execution_thread, &mut a.calls),
            Op::AsyncDone(a) => (&mut a.async_execution_thread, &mut a.calls),
            _ => return Ok(None),
        };
        let Some(&Chain { start: Some(start), wrapped: started }) =
            operands.first().and_then(|before| self.chains.get(before))
        else {
            return Ok(None);
        };
        let Op::AsyncStart(first) = &self.module[start].op else { return Ok(None) };
        let mismatch = match (wrapped, started) {
            (Some(wrapped), Some(started)) if wrapped != started => {
                let message = format!("the asynchronous operation is `{started}`, not `{wrapped}`");
                Some((code::ASYNC_OPCODE, message))
            }
            _ if given_thread.is_some()
                && thread(given_thread.as_ref()) != thread(first.async_execution_thread.as_ref()) =>
            {
                let own = thread(first.async_execution_thread.as_ref());
                let given = thread(given_thread.as_ref());
                let (own, given) = (shown(&own), shown(&given));
                let message = format!("the asynchronous operation runs on the thread `{own}`, not `{given}`");
                Some((code::CALLEE_THREAD, message))
            }
            _ => None,
        };
        if let Some((code, message)) = mismatch {
            let diag = Diag::error(message).at(span, "").and(self.module.span(start), "started here");
            self.report(diag.with_code(code));
            return Err(());
        }
        *given_thread = None;
        // The verifier reports a different computation.
        *given_calls = given_calls.filter(|&c| Some(c) != first.calls);
        Ok(Some(Chain { start: Some(start), wrapped: wrapped.or(started) }))
    }

    /// Assigns the threads of asynchronous starts to all computations that they call. If two starts reach the
    /// same computation, the later one in the text determines its thread. The attribute of each start is then
    /// set to the thread of its computation.
    pub fn spread_threads(&mut self) {
        let mut starts: Vec<InstrId> = self.chains.values().filter_map(|c| c.start).collect();
        starts.sort_unstable();
        starts.dedup();
        let mut seen = HashSet::new();
        for &start in starts.iter().rev() {
            let Op::AsyncStart(a) = &self.module[start].op else { continue };
            let given = thread(a.async_execution_thread.as_ref());
            let mut todo: Vec<ComputationId> = a.calls.into_iter().collect();
            while let Some(c) = todo.pop() {
                if !seen.insert(c) {
                    continue;
                }
                let named = std::mem::replace(&mut self.module[c].execution_thread, given.clone());
                if named.is_some() && named != given {
                    self.warn_of_thread(start, c, &named);
                }
                let instructions = self.module[c].instructions();
                todo.extend(instructions.iter().flat_map(|&i| self.module[i].op.called_computations()));
            }
        }
        for start in starts {
            let Op::AsyncStart(a) = &self.module[start].op else { continue };
            let Some(calls) = a.calls else { continue };
            let given = self.module[calls].execution_thread.clone();
            let named = thread(a.async_execution_thread.as_ref());
            if named != given {
                self.warn_of_thread(start, calls, &named);
            }
            if let Op::AsyncStart(a) = self.module.op_mut(start) {
                a.async_execution_thread = given;
            }
        }
    }
}

impl ModuleParser<'_> {
    /// Warns that a computation does not run on the thread named by itself or by the start that calls it.
    fn warn_of_thread(&mut self, start: InstrId, called: ComputationId, named: &Option<HloString>) {
        let callee = &self.module[called];
        let message = format!(
            "`{}` runs on the thread `{}`, not on `{}`: of several threads that are named the last start's counts",
            callee.name,
            shown(&callee.execution_thread),
            shown(named)
        );
        let diag = Diag::warning(message).with_code(code::THREAD_REPLACED);
        self.warn(diag.at_instruction(self.module.span(start), Part::Head, "the start that calls it"));
    }
}

/// Returns the thread that a computation or an asynchronous instruction names; `None` for the main thread.
pub fn thread(given: Option<&HloString>) -> Option<HloString> {
    given.filter(|t| **t != "main").cloned()
}

/// Returns the name of a thread for a message.
fn shown(thread: &Option<HloString>) -> Cow<'_, str> {
    thread.as_ref().map_or("main".into(), HloString::to_text)
}
