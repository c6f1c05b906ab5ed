//! Asynchronous operations and transfers. There is one thread of execution: what is started is done at once, and a
//! transfer within the program is a queue for each channel.

use super::structural::relabel;
use super::{Result, take};
use crate::EvalError;
use crate::evaluator::Evaluator;
use hlo_ir::attr::{AsyncStartAttrs, ChannelAttrs, OutfeedAttrs};
use hlo_ir::effects::unsent;
use hlo_ir::{ElementType, InstrId, Instruction, Literal, Shape};

/// The state of something started: the given parts, then zeros for the contexts that its shape has besides.
pub(super) fn state(ev: &mut Evaluator<'_>, instr: &Instruction, parts: Vec<Literal>) -> Result<Literal> {
    let Some(shapes) = instr.shape.as_tuple() else {
        return Err(EvalError::new(format!("{} gives a tuple, not {}", instr.op.name(), instr.shape)));
    };
    let Some((of_parts, contexts)) = shapes.split_at_checked(parts.len()) else {
        return Err(EvalError::internal(format!("{} parts of {}", parts.len(), instr.shape)));
    };
    let mut elements = Vec::with_capacity(shapes.len());
    for (part, shape) in parts.into_iter().zip(of_parts) {
        elements.push(relabel(part, shape)?);
    }
    for context in contexts {
        elements.push(ev.zeros(context)?);
    }
    Ok(Literal::tuple(elements))
}

/// What an operation's end takes out of its state: part `index`.
pub(super) fn part(
    ev: &mut Evaluator<'_>,
    instr: &Instruction,
    operands: Vec<Literal>,
    index: i64,
) -> Result<Literal> {
    let value = super::structural::get_tuple_element(ev, operands, index)?;
    relabel(value, &instr.shape)
}

/// `copy-start`: the copy, the source and a context.
pub(super) fn copy_start(
    ev: &mut Evaluator<'_>,
    instr: &Instruction,
    operands: Vec<Literal>,
) -> Result<Literal> {
    let [value] = take(operands)?;
    state(ev, instr, vec![value.clone(), value])
}

/// `async-start`: the operands, the wrapped computation's result and contexts.
pub(super) fn async_start(
    ev: &mut Evaluator<'_>,
    instr: &Instruction,
    operands: Vec<Literal>,
    attrs: &AsyncStartAttrs,
) -> Result<Literal> {
    let calls = attrs.calls.ok_or_else(|| EvalError::new("there is no computation to start"))?;
    let result = ev.run_computation(calls, operands.clone())?;
    state(ev, instr, vec![Literal::tuple(operands), result])
}

/// `infeed` (semantics, "Infeed"): the next item and a token. An empty tuple takes none.
pub(super) fn infeed(ev: &mut Evaluator<'_>, instr: &Instruction) -> Result<Literal> {
    let shape = instr.shape.as_tuple().and_then(<[Shape]>::first);
    let shape = shape.ok_or_else(|| EvalError::new("an infeed gives a value and a token"))?;
    let value = match shape.leaf_count() {
        0 => Literal::tuple(Vec::new()),
        _ => ev.infeed(shape).map_err(|e| named(instr, &e))?,
    };
    Ok(Literal::tuple(vec![relabel(value, shape)?, Literal::token()]))
}

/// `outfeed(value, token)` (semantics, "Outfeed"): a token. An empty tuple sends nothing.
pub(super) fn outfeed(
    ev: &mut Evaluator<'_>,
    instr: &Instruction,
    operands: Vec<Literal>,
    attrs: &OutfeedAttrs,
) -> Result<Literal> {
    let [value, _] = take(operands)?;
    if value.shape().leaf_count() > 0 {
        ev.outfeed(&attrs.outfeed_config, value).map_err(|e| named(instr, &e))?;
    }
    Ok(Literal::token())
}

fn named(instr: &Instruction, reason: &str) -> EvalError {
    EvalError::new(format!("{} `{}`: {reason}", instr.op.name(), instr.name))
}

/// `send(value, token)` (semantics, "Send"): the value, a context and a token. The value is on its way at once.
pub(super) fn send(
    ev: &mut Evaluator<'_>,
    id: InstrId,
    operands: Vec<Literal>,
    attrs: &ChannelAttrs,
) -> Result<Literal> {
    let [value, token] = take(operands)?;
    ev.channels.entry(attrs.channel_id).or_default().push(id, value.clone());
    let context = Literal::scalar(ElementType::U32, 0u32);
    Ok(Literal::tuple(vec![value, context, token]))
}

/// `recv` (semantics, "Recv"): room for the value, a context and a token.
pub(super) fn recv(ev: &mut Evaluator<'_>, instr: &Instruction) -> Result<Literal> {
    ev.zeros(&instr.shape)
}

/// `recv-done` (semantics, "Recv"): the first value of the channel that was not received yet, and a token. If there
/// is none it waits for ever, since everything that can run before it has run.
pub(super) fn recv_done(
    ev: &mut Evaluator<'_>,
    id: InstrId,
    operands: Vec<Literal>,
    attrs: &ChannelAttrs,
) -> Result<Literal> {
    let module = ev.module;
    let shape = module[id].shape.as_tuple().and_then(<[Shape]>::first);
    let shape = shape.ok_or_else(|| EvalError::new("a recv-done gives a value and a token"))?;
    operands.into_iter().for_each(|o| ev.release(o));
    let channel = ev.channels.entry(attrs.channel_id).or_default();
    let Some((sender, value)) = channel.take() else {
        let received = channel.received;
        return Err(EvalError::new(format!("{} ({received} received before)", unsent(module, id))));
    };
    if !value.shape().compatible(shape) {
        return Err(EvalError::new(format!(
            "recv-done `{}` takes {shape}, but `{}` sent {}",
            module[id].name,
            module[sender].name,
            value.shape()
        )));
    }
    Ok(Literal::tuple(vec![relabel(value, shape)?, Literal::token()]))
}
