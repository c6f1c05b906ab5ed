//! Asynchronous operations and transfers. A device is one thread of execution, so an asynchronous operation
//! completes at its start. A transfer from a device to itself uses a queue for each channel.

use super::structural::relabel;
use super::support::{Result, take};
use crate::context::Context;
use crate::error::EvalError;
use hlo_communicator::MAX_IN_FLIGHT_BYTES_TO_SELF;
use hlo_ir::attr::{AsyncStartAttrs, ChannelAttrs, OutfeedAttrs};
use hlo_ir::devices::{ends, transfer_pairs};
use hlo_ir::effects::{unreceived, unsent};
use hlo_ir::{AlignedBytes, ElementType, InstrId, Instruction, Literal, Shape, human_bytes};

/// Returns the state of an asynchronous operation: the given parts, then zeros for the contexts of its shape.
pub(super) fn state(cx: &mut Context<'_>, instr: &Instruction, parts: Vec<Literal>) -> Result<Literal> {
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
        elements.push(cx.zeros(context)?);
    }
    Ok(Literal::tuple(elements))
}

/// Returns part `index` of an operation's state, which the end of the operation reads.
pub(super) fn part(
    cx: &mut Context<'_>,
    instr: &Instruction,
    operands: Vec<Literal>,
    index: i64,
) -> Result<Literal> {
    let value = super::structural::get_tuple_element(cx, operands, index)?;
    relabel(value, &instr.shape)
}

/// `copy-start`: the copy, the source and a context.
pub(super) fn copy_start(
    cx: &mut Context<'_>,
    instr: &Instruction,
    operands: Vec<Literal>,
) -> Result<Literal> {
    let [value] = take(operands)?;
    state(cx, instr, vec![value.clone(), value])
}

/// `async-start`: the operands, the wrapped computation's result and contexts.
pub(super) fn async_start(
    cx: &mut Context<'_>,
    instr: &Instruction,
    operands: Vec<Literal>,
    attrs: &AsyncStartAttrs,
) -> Result<Literal> {
    let calls = attrs.calls.ok_or_else(|| EvalError::new("there is no computation to start"))?;
    let result = cx.call(calls, operands.clone())?;
    state(cx, instr, vec![Literal::tuple(operands), result])
}

/// `infeed` (semantics, "Infeed"): the next item and a token. An empty tuple reads no item.
pub(super) fn infeed(cx: &mut Context<'_>, instr: &Instruction) -> Result<Literal> {
    let shape = instr.shape.as_tuple().and_then(<[Shape]>::first);
    let shape = shape.ok_or_else(|| EvalError::new("an infeed gives a value and a token"))?;
    let value = match shape.leaf_count() {
        0 => Literal::tuple(Vec::new()),
        _ => cx.infeed(shape).map_err(|e| named(instr, &e))?,
    };
    Ok(Literal::tuple(vec![relabel(value, shape)?, Literal::token()]))
}

/// `outfeed(value, token)` (semantics, "Outfeed"): a token. An empty tuple sends nothing.
pub(super) fn outfeed(
    cx: &mut Context<'_>,
    instr: &Instruction,
    operands: Vec<Literal>,
    attrs: &OutfeedAttrs,
) -> Result<Literal> {
    let [value, _] = take(operands)?;
    if value.shape().leaf_count() > 0 {
        cx.outfeed(&attrs.outfeed_config, value).map_err(|e| named(instr, &e))?;
    }
    Ok(Literal::token())
}

fn named(instr: &Instruction, reason: &str) -> EvalError {
    EvalError::new(format!("{} `{}`: {reason}", instr.op.name(), instr.name))
}

/// Returns the devices that this one sends to and receives from in a transfer. Returns `None` if the device
/// transfers to itself. This is also the case for an instruction that is evaluated alone.
fn others(cx: &Context<'_>, id: InstrId) -> Result<Option<(Option<usize>, Option<usize>)>> {
    let Some(devices) = cx.devices else { return Ok(None) };
    let pairs = transfer_pairs(cx.module, id, devices.sites.counts)?;
    let own = devices.own();
    Ok((!pairs.contains(&(own, own))).then(|| ends(&pairs, own)))
}

/// `send(value, token)` (semantics, "Send"): the value, a context and a token. If this device has a receiver,
/// the value is sent immediately.
pub(super) fn send(
    cx: &mut Context<'_>,
    id: InstrId,
    operands: Vec<Literal>,
    attrs: &ChannelAttrs,
) -> Result<Literal> {
    let [value, token] = take(operands)?;
    match others(cx, id)? {
        None => {
            if !cx.channels.entry(attrs.channel_id).or_default().push(id, value.clone()) {
                let (reason, limit) =
                    (unreceived(cx.module, id), human_bytes(MAX_IN_FLIGHT_BYTES_TO_SELF as u64));
                return Err(EvalError::new(format!("{reason} (more than {limit} under way)")));
            }
        }
        Some((target, _)) => {
            let arrays = || value.leaves().into_iter().map(|l| l.bytes().to_vec()).collect();
            let sent =
                cx.devices.zip(target).map(|(d, to)| d.communicator.send(attrs.channel_id, to, arrays()));
            cx.communicated(sent.unwrap_or(Ok(())))?;
        }
    }
    let context = Literal::scalar(ElementType::U32, 0u32);
    Ok(Literal::tuple(vec![value, context, token]))
}

/// `recv` (semantics, "Recv"): a buffer for the value, a context and a token.
pub(super) fn recv(cx: &mut Context<'_>, instr: &Instruction) -> Result<Literal> {
    cx.zeros(&instr.shape)
}

/// `recv-done` (semantics, "Recv"): the first value of the channel that was not received yet, and a token. If
/// the device itself is the sender and there is no value, it would wait forever, because everything that can
/// run before it has run. A device without a sender receives zeros.
pub(super) fn recv_done(
    cx: &mut Context<'_>,
    id: InstrId,
    operands: Vec<Literal>,
    attrs: &ChannelAttrs,
) -> Result<Literal> {
    let module = cx.module;
    let shape = module[id].shape.as_tuple().and_then(<[Shape]>::first);
    let shape = shape.ok_or_else(|| EvalError::new("a recv-done gives a value and a token"))?;
    operands.into_iter().for_each(|o| cx.release(o));
    if let Some((_, source)) = others(cx, id)? {
        let value = cx.zeros(shape)?;
        let value = match cx.devices.zip(source) {
            None => value,
            Some((devices, source)) => {
                let name = format!("`recv-done` `{}`", module[id].name);
                let received = devices.communicator.receive(attrs.channel_id, source, &name);
                filled(value, cx.communicated(received)?, &name)?
            }
        };
        return Ok(Literal::tuple(vec![relabel(value, shape)?, Literal::token()]));
    }
    let channel = cx.channels.entry(attrs.channel_id).or_default();
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

/// Returns a value with the elements that another device has sent.
fn filled(value: Literal, arrays: Vec<Vec<u8>>, name: &str) -> Result<Literal> {
    let shape = value.shape().clone();
    let fits = |(leaf, bytes): (&Literal, &Vec<u8>)| leaf.bytes().len() == bytes.len();
    let leaves = value.leaves();
    if leaves.len() != arrays.len() || !leaves.iter().copied().zip(&arrays).all(fits) {
        return Err(EvalError::new(format!("{name} takes {shape}, but another value was sent")));
    }
    let leaf = |(leaf, bytes): (&Literal, &Vec<u8>)| match leaf.shape().as_array() {
        Some(_) => Literal::try_from_bytes(leaf.shape().clone(), AlignedBytes::from_slice(bytes)),
        None => Some(Literal::token()),
    };
    let mut leaves = leaves.into_iter().zip(&arrays).map_while(leaf);
    let value = Literal::from_leaves(&shape, &mut leaves);
    value.ok_or_else(|| EvalError::internal(format!("{name} received a part of {shape}")))
}
