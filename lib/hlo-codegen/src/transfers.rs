//! The runtime side of a compiled program's transfers. Infeeds and outfeeds use the host. Sends and receives
//! use another device, or a queue per channel if a device sends to itself.

use crate::collectives::OtherDevices;
use hlo_communicator::{Failure, MAX_IN_FLIGHT_BYTES_TO_SELF};
use hlo_ir::attr::HloString;
use hlo_ir::devices::{self, DeviceCounts};
use hlo_ir::effects::{unreceived, unsent};
use hlo_ir::host::Host;
use hlo_ir::{AlignedBytes, InstrId, Literal, Module, Op, Shape, human_bytes};
use hlo_runtime::{Error, Transfers};
use std::collections::{HashMap, VecDeque};

/// One transfer of a program.
#[derive(Clone, Debug)]
pub(crate) struct Transfer {
    instruction: InstrId,
    name: String,
    kind: Kind,
    channel: Option<i64>,
    /// The shape of the transferred value.
    shape: Shape,
    /// The number of arrays in the value.
    arrays: usize,
    /// The error message if the transfer would wait forever.
    stuck: String,
    /// The configuration that an outfeed passes to the host with the value.
    config: HloString,
    /// Pairs of source and target device of a transfer between devices.
    pairs: Vec<(usize, usize)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Infeed,
    Outfeed,
    Send,
    Receive,
}

/// Returns the transfers that a plan numbers.
pub(crate) fn transfers(module: &Module, ids: &[InstrId]) -> Vec<Transfer> {
    ids.iter().map(|&id| transfer(module, id)).collect()
}

fn transfer(module: &Module, id: InstrId) -> Transfer {
    let instr = &module[id];
    let part = || instr.shape.as_tuple().and_then(|t| t.first()).cloned();
    let operand = || instr.operands.first().map(|&o| module[o].shape.clone());
    let (kind, channel, shape, stuck) = match &instr.op {
        Op::Send(a) => (Kind::Send, a.channel_id, operand(), unreceived(module, id)),
        Op::RecvDone(a) => (Kind::Receive, a.channel_id, part(), unsent(module, id)),
        Op::Outfeed(_) => (Kind::Outfeed, None, operand(), String::new()),
        _ => (Kind::Infeed, None, part(), String::new()),
    };
    let shape = shape.unwrap_or(Shape::Token).without_layout();
    let arrays = shape.leaves().iter().filter(|l| l.as_array().is_some()).count();
    let config = match &instr.op {
        Op::Outfeed(a) => a.outfeed_config.clone(),
        _ => HloString::default(),
    };
    let counts = DeviceCounts::of(module).filter(|_| matches!(kind, Kind::Send | Kind::Receive));
    let pairs = counts.and_then(|counts| devices::transfer_pairs(module, id, counts).ok());
    let (name, pairs) = (instr.name.to_string(), pairs.unwrap_or_default());
    Transfer { instruction: id, name, kind, channel, shape, arrays, stuck, config, pairs }
}

/// The arrays of one value, row-major.
type Item = VecDeque<AlignedBytes>;

/// The values that were sent on a channel and not received yet.
#[derive(Default)]
struct Channel {
    /// Each value with the number of the transfer that sent it.
    under_way: VecDeque<(usize, Item)>,
    /// Total number of bytes of the values.
    bytes: usize,
    received: usize,
}

/// The transfers of one run.
pub(crate) struct Run<'a> {
    transfers: &'a [Transfer],
    host: &'a mut dyn Host,
    channels: HashMap<Option<i64>, Channel>,
    /// The arrays of the value that is being read or written.
    item: Item,
    /// The instruction that failed.
    failed: Option<InstrId>,
    others: OtherDevices<'a>,
    /// The failure that ended the communication with other devices, if any.
    ended: Option<Failure>,
}

impl<'a> Run<'a> {
    pub(crate) fn new(transfers: &'a [Transfer], host: &'a mut dyn Host, others: OtherDevices<'a>) -> Self {
        let (channels, item) = (HashMap::new(), Item::new());
        Self { transfers, host, channels, item, failed: None, others, ended: None }
    }

    /// Returns whether a transfer ended because another device failed.
    pub(crate) fn failed_elsewhere(&self) -> bool {
        self.ended == Some(Failure::Remote)
    }

    /// Returns whether a transfer ended because the run was stopped.
    pub(crate) fn is_stopped(&self) -> bool {
        self.ended == Some(Failure::Stopped)
    }

    /// Returns the devices that this device sends to and receives from in a transfer, or `None` if it
    /// transfers to itself.
    fn ends(&self, transfer: &Transfer) -> Option<(Option<usize>, Option<usize>)> {
        let own = self.others?.device();
        (!transfer.pairs.contains(&(own, own))).then(|| devices::ends(&transfer.pairs, own))
    }

    /// Returns the value that another device sent, or zeros if no device sends one.
    fn read_from(&mut self, transfer: &Transfer, source: Option<usize>) -> Result<Item, String> {
        let sizes = transfer.shape.leaves().into_iter().filter_map(|l| Some(l.as_array()?.byte_size()));
        let Some((others, source)) = self.others.zip(source) else {
            return sizes.map(zeros).collect();
        };
        let name = format!("`recv-done` `{}`", transfer.name);
        let arrays = self.record_failure(others.receive(transfer.channel, source, &name))?;
        if arrays.iter().map(Vec::len).eq(sizes) {
            arrays.iter().map(|bytes| copied(bytes)).collect()
        } else {
            Err(format!("{name} takes {}, but another value was sent", transfer.shape))
        }
    }

    fn record_failure<T>(&mut self, outcome: Result<T, Failure>) -> Result<T, String> {
        outcome.map_err(|failure| {
            let message = failure.to_string();
            self.ended.get_or_insert(failure);
            message
        })
    }

    /// Returns the transfer that failed, if the failure was one of a transfer.
    pub(crate) fn failed(&self) -> Option<InstrId> {
        self.failed
    }

    /// Returns, after the run, the send that nothing received, and why its sender would wait forever.
    pub(crate) fn unfinished(&self) -> Option<(InstrId, String)> {
        let left = self.channels.values().filter_map(|c| Some((c.under_way.front()?.0, c.under_way.len())));
        let left = left.filter_map(|(n, count)| Some((self.transfers.get(n)?, count)));
        let (first, count) = left.min_by_key(|(t, _)| t.instruction)?;
        Some((first.instruction, format!("{} ({count} left)", first.stuck)))
    }

    fn transfer(&mut self, number: usize) -> Result<&'a Transfer, Error> {
        self.transfers
            .get(number)
            .ok_or_else(|| Error(format!("internal error: there is no transfer {number}")))
    }

    /// Returns the next value for an infeed or a receive.
    fn read(&mut self, transfer: &Transfer) -> Result<Item, String> {
        let Transfer { name, shape, .. } = transfer;
        if transfer.kind == Kind::Infeed {
            let value = self.host.infeed(shape).map_err(|e| format!("infeed `{name}`: {e}"))?;
            if !value.shape().compatible(shape) {
                let found = value.shape();
                return Err(format!("infeed `{name}`: {shape} is expected, but the host gave {found}"));
            }
            let arrays = value.leaves().into_iter().filter(|l| l.shape().as_array().is_some());
            return arrays.map(|l| copied(l.bytes())).collect();
        }
        if let Some((_, source)) = self.ends(transfer) {
            return self.read_from(transfer, source);
        }
        let channel = self.channels.entry(transfer.channel).or_default();
        let Some((sender, item)) = channel.under_way.pop_front() else {
            return Err(format!("{} ({} received before)", transfer.stuck, channel.received));
        };
        channel.received += 1;
        channel.bytes -= item.iter().map(|bytes| bytes.len()).sum::<usize>();
        match self.transfers.get(sender) {
            Some(sender) if !sender.shape.compatible(shape) => {
                Err(format!("recv-done `{name}` takes {shape}, but `{}` sent {}", sender.name, sender.shape))
            }
            _ => Ok(item),
        }
    }

    /// Passes on a value that all arrays have been added to.
    fn write(&mut self, number: usize, transfer: &Transfer) -> Result<(), String> {
        let item = std::mem::take(&mut self.item);
        if transfer.kind == Kind::Send {
            if let Some((target, _)) = self.ends(transfer) {
                let arrays = || item.iter().map(|bytes| bytes.to_vec()).collect();
                let sent = self.others.zip(target).map(|(o, to)| o.send(transfer.channel, to, arrays()));
                return self.record_failure(sent.unwrap_or(Ok(())));
            }
            let channel = self.channels.entry(transfer.channel).or_default();
            let bytes = item.iter().fold(channel.bytes, |sum, bytes| sum.saturating_add(bytes.len()));
            if !channel.under_way.is_empty() && bytes > MAX_IN_FLIGHT_BYTES_TO_SELF {
                let limit = human_bytes(MAX_IN_FLIGHT_BYTES_TO_SELF as u64);
                return Err(format!("{} (more than {limit} under way)", transfer.stuck));
            }
            channel.bytes = bytes;
            channel.under_way.push_back((number, item));
            return Ok(());
        }
        let mut arrays = item.into_iter();
        let mut leaves = transfer.shape.leaves().into_iter().filter_map(|shape| match shape {
            Shape::Array(_) => arrays.next().and_then(|bytes| Literal::try_from_bytes(shape.clone(), bytes)),
            _ => Some(Literal::token()),
        });
        let value = Literal::from_leaves(&transfer.shape, &mut leaves);
        let value = value.ok_or_else(|| "internal error: an array is missing".to_string());
        let sent = value.and_then(|v| self.host.outfeed_configured(&transfer.config, v));
        sent.map_err(|e| format!("outfeed `{}`: {e}", transfer.name))
    }

    fn note(&mut self, transfer: &Transfer, result: Result<(), String>) -> Result<(), Error> {
        result.map_err(|message| {
            self.failed.get_or_insert(transfer.instruction);
            Error(message)
        })
    }
}

fn zeros(count: usize) -> Result<AlignedBytes, String> {
    AlignedBytes::try_zeroed(count)
        .ok_or_else(|| format!("there is no memory for {} that are transferred", human_bytes(count as u64)))
}

fn copied(bytes: &[u8]) -> Result<AlignedBytes, String> {
    let mut copy = zeros(bytes.len())?;
    copy.copy_from_slice(bytes);
    Ok(copy)
}

impl Transfers for Run<'_> {
    fn receive(&mut self, transfer: usize, part: usize, to: &mut [u8]) -> Result<(), Error> {
        let transfer = self.transfer(transfer)?;
        let result = match part {
            0 => self.read(transfer).map(|item| self.item = item),
            _ => Ok(()),
        };
        let result = result.and_then(|()| match self.item.pop_front() {
            Some(bytes) if bytes.len() == to.len() => {
                to.copy_from_slice(&bytes);
                Ok(())
            }
            found => Err(format!(
                "internal error: `{}` reads {} bytes of {}",
                transfer.name,
                to.len(),
                found.map_or(0, |b| b.len())
            )),
        });
        self.note(transfer, result)
    }

    fn transmit(&mut self, number: usize, _part: usize, from: &[u8]) -> Result<(), Error> {
        let transfer = self.transfer(number)?;
        let result = copied(from).and_then(|bytes| {
            self.item.push_back(bytes);
            if self.item.len() == transfer.arrays { self.write(number, transfer) } else { Ok(()) }
        });
        self.note(transfer, result)
    }
}
