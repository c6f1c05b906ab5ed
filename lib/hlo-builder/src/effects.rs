//! Operations with side effects: tokens, feeds, transfers, custom calls and asynchronous computations
//! (operation semantics, "AfterAll", "Infeed", "Send", "Recv", "CustomCall").

use crate::{Builder, Computation, Value};
use hlo_custom_call::TRACE;
use hlo_ir::attr::{
    AsyncDoneAttrs, AsyncStartAttrs, AsyncUpdateAttrs, ChannelAttrs, CopyStartAttrs, CustomCallAttrs, Domain,
    DomainAttrs, HloString, InfeedAttrs, OperandAlias, OptionalShape, OutfeedAttrs,
};
use hlo_ir::{ElementType, InstrId, Op, Shape};
use std::panic::Location;

/// Tokens.
impl Builder {
    /// Returns a token that is available once all given tokens are available; immediately if there are none.
    #[track_caller]
    pub fn after_all<'b>(&'b self, tokens: &[Value<'b>]) -> Value<'b> {
        self.add(Op::AfterAll, tokens)
    }

    /// Creates a token that is available immediately.
    #[track_caller]
    pub fn create_token(&self) -> Value<'_> {
        self.after_all(&[])
    }

    /// Returns the token of the last feed, or a new token if there was none.
    #[track_caller]
    fn feeds(&self) -> Value<'_> {
        let last = self.state.borrow().feeds;
        match last {
            Some(id) => Value { builder: self, id: Some(id) },
            None => self.create_token(),
        }
    }

    fn set_feeds(&self, token: Value<'_>) {
        if token.id.is_some() {
            self.state.borrow_mut().feeds = token.id;
        }
    }

    /// Returns the last instruction, before an instruction is added that is not the result of the
    /// computation. Pass it to [`Builder::restore_last`]. This does not take a closure, because instructions
    /// added in a closure record a line of this file.
    fn last(&self) -> Option<InstrId> {
        self.state.borrow().last
    }

    /// Makes a previous last instruction the result of the computation again.
    fn restore_last(&self, last: Option<InstrId>) {
        self.state.borrow_mut().last = last;
    }
}

impl<'b> Value<'b> {
    /// Returns the value once a token is available.
    #[track_caller]
    pub fn add_dependency(self, token: Value<'b>) -> Value<'b> {
        self.builder.add(Op::AddDependency, &[self, token])
    }
}

/// Feeds. Feeds without a token argument run in the order in which they were added.
impl Builder {
    /// Reads data of the given shape from the host's infeed queue.
    #[track_caller]
    pub fn infeed(&self, shape: impl Into<Shape>) -> Value<'_> {
        let both = self.infeed_with_token(self.feeds(), shape, "");
        self.set_feeds(both.get_tuple_element(1));
        both.get_tuple_element(0)
    }

    /// Reads data of the given shape from the host's infeed queue once a token is available. Returns a tuple
    /// of the data and a token. `config` is passed to the backend.
    #[track_caller]
    pub fn infeed_with_token<'b>(
        &'b self,
        token: Value<'b>,
        shape: impl Into<Shape>,
        config: &str,
    ) -> Value<'b> {
        let result = Shape::tuple(vec![shape.into(), Shape::Token]);
        let op = Op::Infeed(InfeedAttrs { infeed_config: HloString::from(config) });
        self.add_shaped(op, &[token], result)
    }

    /// Writes a value to the host's outfeed queue.
    #[track_caller]
    pub fn outfeed(&self, value: Value<'_>) {
        let last = self.last();
        let token = self.outfeed_with_token(value, self.feeds(), "");
        self.set_feeds(token);
        self.restore_last(last);
    }

    /// Writes a value to the host's outfeed queue once a token is available. Returns a token. `config` is
    /// passed to the backend.
    #[track_caller]
    pub fn outfeed_with_token<'b>(&'b self, value: Value<'b>, token: Value<'b>, config: &str) -> Value<'b> {
        let outfeed_shape = OptionalShape(value.shape_if_made());
        let attributes = OutfeedAttrs { outfeed_shape, outfeed_config: HloString::from(config) };
        self.add(Op::Outfeed(Box::new(attributes)), &[value, token])
    }

    /// Prints a value, with a tag, when the program reaches this point. The output is written to standard
    /// error, or passed to the tracer of the program's registry of custom calls
    /// (`hlo_custom_call::Registry::set_tracer`).
    #[track_caller]
    pub fn trace(&self, tag: &str, value: Value<'_>) {
        let last = self.last();
        let attributes = CustomCallAttrs {
            custom_call_target: HloString::from(TRACE),
            custom_call_has_side_effect: true,
            ..CustomCallAttrs::default()
        };
        let operands = [value, self.feeds()];
        let token = self.custom_call_with(attributes, &operands, Shape::Token).with_backend_config(tag);
        self.set_feeds(token);
        self.restore_last(last);
    }
}

/// Transfers between computations.
impl Builder {
    /// Sends a value over a channel and waits until it is received. Returns a token.
    #[track_caller]
    pub fn send<'b>(&'b self, value: Value<'b>, channel: i64) -> Value<'b> {
        let last = self.last();
        let sent = self.send_start(value, self.create_token(), channel, false);
        let token = self.send_done(sent, channel, false);
        self.restore_last(last);
        token
    }

    /// Receives a value of the given shape over a channel.
    #[track_caller]
    pub fn recv(&self, shape: impl Into<Shape>, channel: i64) -> Value<'_> {
        let received = self.recv_start(shape, self.create_token(), channel, false);
        self.recv_done(received, channel, false).get_tuple_element(0)
    }

    /// Starts to send a value over a channel once a token is available. `is_host_transfer` selects the host
    /// as the receiver instead of a device.
    #[track_caller]
    pub fn send_start<'b>(
        &'b self,
        value: Value<'b>,
        token: Value<'b>,
        channel: i64,
        is_host_transfer: bool,
    ) -> Value<'b> {
        self.add(Op::Send(over(channel, is_host_transfer)), &[value, token])
    }

    /// Waits until the value that [`Builder::send_start`] sends is received. Returns a token.
    #[track_caller]
    pub fn send_done<'b>(&'b self, send: Value<'b>, channel: i64, is_host_transfer: bool) -> Value<'b> {
        self.add(Op::SendDone(over(channel, is_host_transfer)), &[send])
    }

    /// Starts to receive a value of the given shape over a channel once a token is available.
    #[track_caller]
    pub fn recv_start<'b>(
        &'b self,
        shape: impl Into<Shape>,
        token: Value<'b>,
        channel: i64,
        is_host_transfer: bool,
    ) -> Value<'b> {
        let result = Shape::tuple(vec![shape.into(), Shape::scalar(ElementType::U32), Shape::Token]);
        self.add_shaped(Op::Recv(over(channel, is_host_transfer)), &[token], result)
    }

    /// Waits for the value that [`Builder::recv_start`] receives. Returns a tuple of the value and a token.
    #[track_caller]
    pub fn recv_done<'b>(&'b self, recv: Value<'b>, channel: i64, is_host_transfer: bool) -> Value<'b> {
        self.add(Op::RecvDone(over(channel, is_host_transfer)), &[recv])
    }
}

fn over(channel: i64, is_host_transfer: bool) -> ChannelAttrs {
    ChannelAttrs { channel_id: Some(channel), is_host_transfer }
}

/// Custom calls.
impl Builder {
    /// Calls an external function by name. Its result has the given shape.
    #[track_caller]
    pub fn custom_call<'b>(
        &'b self,
        target: &str,
        operands: &[Value<'b>],
        shape: impl Into<Shape>,
    ) -> Value<'b> {
        let attributes =
            CustomCallAttrs { custom_call_target: HloString::from(target), ..CustomCallAttrs::default() };
        self.custom_call_with(attributes, operands, shape)
    }

    /// Like [`Builder::custom_call`], with all attributes of the operation except computations. To pass
    /// computations, use [`Builder::custom_call_of`].
    #[track_caller]
    pub fn custom_call_with<'b>(
        &'b self,
        attributes: CustomCallAttrs,
        operands: &[Value<'b>],
        shape: impl Into<Shape>,
    ) -> Value<'b> {
        self.custom_call_of(attributes, &[], operands, shape)
    }

    /// Like [`Builder::custom_call_with`], with computations that the function may call.
    #[track_caller]
    pub fn custom_call_of<'b>(
        &'b self,
        attributes: CustomCallAttrs,
        computations: &[&Computation],
        operands: &[Value<'b>],
        shape: impl Into<Shape>,
    ) -> Value<'b> {
        let at = Location::caller();
        let imported: Option<Vec<_>> = computations.iter().map(|c| self.import(at, c)).collect();
        let Some(called_computations) = imported else { return self.nothing() };
        let attributes = CustomCallAttrs { to_apply: None, called_computations, ..attributes };
        self.add_shaped(Op::CustomCall(Box::new(attributes)), operands, shape)
    }
}

/// Asynchronous computations.
impl Builder {
    /// Starts a computation on an execution thread. Returns a state that contains the operands, the result
    /// and a context. `aliasing` lists the parts of the state that share memory with operands.
    #[track_caller]
    pub fn async_start<'b>(
        &'b self,
        computation: &Computation,
        operands: &[Value<'b>],
        thread: Option<&str>,
        aliasing: &[OperandAlias],
    ) -> Value<'b> {
        let at = Location::caller();
        let Some(calls) = self.import_own(at, computation) else { return self.nothing() };
        let shapes: Option<Vec<Shape>> = operands.iter().map(|o| o.shape_if_made()).collect();
        let Some(shapes) = shapes else { return self.nothing() };
        if let Some(thread) = thread {
            self.state.borrow_mut().module[calls].execution_thread = Some(thread.into());
        }
        let result = {
            let module = self.module();
            module[module[calls].root()].shape.clone()
        };
        let state = Shape::tuple(vec![Shape::tuple(shapes), result, Shape::scalar(ElementType::U32)]);
        let attributes = AsyncStartAttrs {
            async_execution_thread: thread.map(HloString::from),
            output_to_operand_aliasing: aliasing.to_vec(),
            calls: Some(calls),
        };
        self.add_shaped(Op::AsyncStart(attributes), operands, state)
    }

    /// Continues the computation that [`Builder::async_start`] started. Returns its state.
    #[track_caller]
    pub fn async_update<'b>(&'b self, state: Value<'b>) -> Value<'b> {
        self.add(Op::AsyncUpdate(AsyncUpdateAttrs::default()), &[state])
    }

    /// Waits for the computation that [`Builder::async_start`] started. Returns its result.
    #[track_caller]
    pub fn async_done<'b>(&'b self, state: Value<'b>) -> Value<'b> {
        self.add(Op::AsyncDone(AsyncDoneAttrs::default()), &[state])
    }
}

impl<'b> Value<'b> {
    /// Starts to copy the value. Returns a state for [`Value::copy_done`]. `cross_program_prefetch` is the
    /// index of the copy among those that start before the program does.
    #[track_caller]
    pub fn copy_start(self, cross_program_prefetch: Option<i64>) -> Value<'b> {
        let attributes = CopyStartAttrs { cross_program_prefetch_index: cross_program_prefetch };
        self.builder.add(Op::CopyStart(attributes), &[self])
    }

    /// Waits for the copy that [`Value::copy_start`] started, and returns it.
    #[track_caller]
    pub fn copy_done(self) -> Value<'b> {
        self.builder.add(Op::CopyDone, &[self])
    }

    /// Returns the value unchanged and marks a point where its sharding changes.
    #[track_caller]
    pub fn domain(self, domain: Domain) -> Value<'b> {
        self.builder.add(Op::Domain(Box::new(DomainAttrs { domain })), &[self])
    }
}
