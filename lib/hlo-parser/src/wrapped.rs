//! The short form of asynchronous operations: `custom-call-start(x), attributes` stands for an `async-start`
//! that calls a computation whose root is the `custom-call`.

use crate::attributes::split;
use crate::body::Body;
use crate::instruction::AttributeTokens;
use crate::module::ModuleParser;
use hlo_ir::attr::ParameterAttrs;
use hlo_ir::diag::Diag;
use hlo_ir::rules::code;
use hlo_ir::{InstrId, Op, Opcode, Shape, Span};

/// The operation that an asynchronous one wraps.
#[derive(Clone, Copy)]
pub struct Wrapped {
    /// Its opcode.
    pub opcode: Opcode,
    /// Where the text names it.
    pub span: Span,
}

/// The asynchronous opcode and the wrapped one that a name such as `custom-call-start` stands for.
pub fn asynchronous(name: &str) -> Option<(Opcode, Opcode)> {
    let suffixes =
        [("-start", Opcode::AsyncStart), ("-update", Opcode::AsyncUpdate), ("-done", Opcode::AsyncDone)];
    suffixes.iter().find_map(|&(suffix, opcode)| {
        let wrapped = Opcode::from_name(name.strip_suffix(suffix)?)?;
        (!has_own_form(wrapped)).then_some((opcode, wrapped))
    })
}

/// True for opcodes with asynchronous opcodes of their own, and those that are no operation to wait for.
fn has_own_form(opcode: Opcode) -> bool {
    matches!(
        opcode,
        Opcode::AllGather
            | Opcode::AllReduce
            | Opcode::CollectivePermute
            | Opcode::Copy
            | Opcode::Send
            | Opcode::Recv
            | Opcode::AsyncStart
            | Opcode::AsyncUpdate
            | Opcode::AsyncDone
            | Opcode::Parameter
            | Opcode::Constant
    )
}

impl<'t> ModuleParser<'t> {
    /// Builds the computation that an `async-start` in its short form calls. Takes the wrapped operation's
    /// attributes out of `attributes`. `None` after an error.
    pub fn wrap(
        &mut self,
        op: &mut Op,
        wrapped: Wrapped,
        operands: &[InstrId],
        shape: &Shape,
        attributes: &mut AttributeTokens<'t>,
        body: &mut Body<'t>,
    ) -> Option<()> {
        // Updates and ends call what their start calls: nothing to build.
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
        // It runs where the start says.
        let thread = attributes.iter().map(|a| split(self, a)).find(|a| a.name == "async_execution_thread");
        if let Some(quoted) = thread.map(|a| self.source_at(a.value_span).trim()) {
            let inside = quoted.strip_prefix(['"', '\'']).map_or("", |t| t.trim_end_matches(['"', '\'']));
            self.module[computation].execution_thread = inside.into();
        }
        self.unnamed.push((computation, "async_wrapped".into()));
        let before = self.diags.len();
        let place = wrapped.span;
        self.read_attributes(&mut inner, own, place, body);
        if self.diags.len() > before {
            return None;
        }
        let parameters: Vec<InstrId> = operands
            .iter()
            .enumerate()
            .map(|(n, &o)| {
                let shape = self.module[o].shape.clone();
                let parameter = Op::Parameter(ParameterAttrs { number: n as i64 });
                self.module.add(computation, &format!("param_{n}"), shape, parameter, [])
            })
            .collect();
        let root = self.module.add(computation, wrapped.opcode.name(), result.clone(), inner, parameters);
        self.module.set_span(root, wrapped.span);
        self.module.set_root(computation, root);
        if let Op::AsyncStart(a) = op {
            a.calls = Some(computation);
        }
        Some(())
    }

    /// What an asynchronous instruction wraps, which must be what its start wraps; `wrapped` is what its name
    /// says. `None` for other instructions.
    pub fn check_wrapped(
        &mut self,
        op: &Op,
        wrapped: Option<Opcode>,
        operands: &[InstrId],
        span: Span,
    ) -> Result<Option<Opcode>, ()> {
        let start = match op {
            Op::AsyncStart(a) => {
                let called = a.calls.filter(|&c| self.module.has_root(c));
                return Ok(wrapped.or(called.map(|c| self.module[self.module[c].root()].opcode())));
            }
            Op::AsyncUpdate(_) | Op::AsyncDone(_) => operands.first(),
            _ => return Ok(None),
        };
        let started = start.and_then(|s| Some((*s, *self.wrapped.get(s)?)));
        match (wrapped, started) {
            (Some(wrapped), Some((start, opcode))) if wrapped != opcode => {
                let message = format!("the asynchronous operation is `{opcode}`, not `{wrapped}`");
                let diag = Diag::error(message).at(span, "").and(self.module.span(start), "started here");
                self.report(diag.with_code(code::ASYNC_OPCODE));
                Err(())
            }
            (wrapped, started) => Ok(wrapped.or(started.map(|(_, opcode)| opcode))),
        }
    }
}
