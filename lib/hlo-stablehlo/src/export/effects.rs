//! Tokens and transfers.

use super::attributes::{Channel, channel};
use super::exporter::Exporter;
use super::failure::Outcome;
use super::operation::Draft;
use super::value::Value;
use crate::tree::{Attribute, TypeKind, ValueId};
use hlo_ir::attr::{ChannelAttrs, DomainAttrs, HloString, InfeedAttrs, OutfeedAttrs};
use hlo_ir::{InstrId, Shape};

fn bytes(text: &HloString) -> Attribute {
    Attribute::String(text.as_bytes().into())
}

impl Exporter<'_> {
    /// Exports `add-dependency` as a barrier of the value and the token, which delays both until both are
    /// available.
    pub(super) fn add_dependency(&mut self, id: InstrId) -> Outcome<Value> {
        let operands = self.leaves(id)?;
        let mut types = self.leaf_types(id)?;
        let count = types.len();
        types.push(TypeKind::Token.into());
        let mut results = self.add(Draft::new("stablehlo.optimization_barrier", operands), types);
        results.truncate(count);
        self.whole(id, results)
    }

    pub(super) fn after_all(&mut self, id: InstrId) -> Outcome<Value> {
        let operands = &self.instruction(id).operands;
        if operands.is_empty() {
            return Ok(Value::Leaf(self.token()));
        }
        if operands.iter().any(|&o| self.instruction(o).shape != Shape::Token) {
            return self.reject_without_form(id, "`stablehlo.after_all` takes tokens only");
        }
        self.plain(id, "stablehlo.after_all")
    }

    /// Exports `domain` as its operand.
    pub(super) fn domain(&mut self, id: InstrId, attrs: &DomainAttrs) -> Outcome<Value> {
        // The shardings on both sides affect only the placement of data.
        let DomainAttrs { domain: _ } = attrs;
        self.operand(id, 0)
    }

    pub(super) fn infeed(&mut self, id: InstrId, attrs: &InfeedAttrs) -> Outcome<Value> {
        let InfeedAttrs { infeed_config } = attrs;
        let new =
            Draft::new("stablehlo.infeed", self.leaves(id)?).with("infeed_config", bytes(infeed_config));
        self.add_for(id, new)
    }

    pub(super) fn outfeed(&mut self, id: InstrId, attrs: &OutfeedAttrs) -> Outcome<Value> {
        // The operand has the same shape, apart from the layouts, which StableHLO does not have.
        let OutfeedAttrs { outfeed_shape: _, outfeed_config } = attrs;
        let new =
            Draft::new("stablehlo.outfeed", self.leaves(id)?).with("outfeed_config", bytes(outfeed_config));
        self.add_for(id, new)
    }

    pub(super) fn send(&mut self, id: InstrId, attrs: &ChannelAttrs) -> Outcome<Value> {
        let sent = self.operand(id, 0)?;
        let new = transfer(Draft::new("stablehlo.send", self.leaves(id)?), attrs, Channel::ToHost);
        let token = self.add_one(new, TypeKind::Token.into());
        Ok(Value::tuple([sent, Value::State, Value::Leaf(token)]))
    }

    /// Receives the data and the token at once. `recv-done` takes them from the state.
    pub(super) fn recv(&mut self, id: InstrId, attrs: &ChannelAttrs) -> Outcome<Value> {
        let Some([data, _, Shape::Token]) = self.instruction(id).shape.as_tuple() else {
            return self.reject(id, "gives data, a context and a token");
        };
        let token = self.leaf(id, 0)?;
        let mut types = self.leaf_types_of(id, data)?;
        types.push(TypeKind::Token.into());
        let new = transfer(Draft::new("stablehlo.recv", [token]), attrs, Channel::FromHost);
        let mut results: Vec<ValueId> = self.add(new, types);
        let token = results.pop().map_or(Value::State, Value::Leaf);
        Ok(Value::tuple([self.value_from_leaves(data, results)?, Value::State, token]))
    }

    pub(super) fn send_done(&mut self, id: InstrId, attrs: &ChannelAttrs) -> Outcome<Value> {
        // `send` exports the channel of both instructions.
        let ChannelAttrs { channel_id: _, is_host_transfer: _ } = attrs;
        self.part_of_state(id, 2)
    }

    pub(super) fn recv_done(&mut self, id: InstrId, attrs: &ChannelAttrs) -> Outcome<Value> {
        // `recv` exports the channel of both instructions.
        let ChannelAttrs { channel_id: _, is_host_transfer: _ } = attrs;
        let state = self.operand(id, 0)?;
        match state.elements() {
            [data, _, token] => Ok(Value::tuple([data.clone(), token.clone()])),
            _ => self.leaves_of(id, &state).and_then(|_| self.reject(id, "ends what did not start")),
        }
    }
}

/// Sets the attributes that both directions share.
fn transfer(new: Draft, attrs: &ChannelAttrs, host: Channel) -> Draft {
    let &ChannelAttrs { channel_id, is_host_transfer } = attrs;
    let kind = if is_host_transfer { host } else { Channel::Devices };
    // The handle is required in StableHLO.
    let id = Some(channel_id.unwrap_or(0));
    new.with_optional("channel_handle", channel(id, kind))
        .with("is_host_transfer", Attribute::Bool(is_host_transfer))
}
