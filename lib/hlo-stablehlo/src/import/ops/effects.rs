//! Transfers between host and devices.

use crate::import::failure::Result;
use crate::import::importer::{ImportedValue, Importer};
use crate::import::shardings::tuple_of;
use crate::tree::{Attribute, Operation};
use hlo_ir::attr::{ChannelAttrs, InfeedAttrs, OptionalShape, OutfeedAttrs, Sharding};
use hlo_ir::build::Build;
use hlo_ir::{ElementType, InstrId, Layout, Op, Shape};

/// The frontend attribute that lists the source and target devices.
const PAIRS: &str = "_xla_send_recv_source_target_pairs";

impl Importer<'_> {
    /// Translates `infeed`. All results but the last one, a token, are elements of one tuple.
    pub(super) fn infeed(&mut self, op: &Operation) -> Result<()> {
        let token = self.operand(op, 0)?;
        let Some((&last, results)) = op.results.split_last() else {
            return op.fail("its last result is a token");
        };
        let mut shapes = (0..results.len()).map(|i| self.declared(op, i)).collect::<Result<Vec<_>>>()?;
        if let Some(layouts) = op.attribute("layout").and_then(Attribute::as_array) {
            lay_out(op, &mut shapes, layouts)?;
        }
        let data = Shape::tuple(shapes);
        let infeed_config = op.bytes_or_empty("infeed_config")?;
        let hlo = Op::Infeed(InfeedAttrs { infeed_config });
        let id = self.add(Shape::tuple(vec![data, Shape::Token]), hlo, &[token]);
        self.annotate(id);
        if !results.is_empty() {
            let data = self.tuple_element(op, id, 0)?;
            for (index, &result) in results.iter().enumerate() {
                let element = self.tuple_element(op, data, index)?;
                self.set_representation(result, ImportedValue::Instruction(element));
            }
        }
        let token = self.tuple_element(op, id, 1)?;
        self.set_representation(last, ImportedValue::Instruction(token));
        Ok(())
    }

    pub(super) fn outfeed(&mut self, op: &Operation) -> Result<()> {
        let operands = self.operands(op)?;
        let Some((&token, inputs)) = operands.split_last() else {
            return op.fail("its last operand is a token");
        };
        let shardings: Vec<Option<Sharding>> =
            inputs.iter().map(|&i| self.module[i].sharding().cloned()).collect();
        let data = self.tuple(inputs);
        if shardings.iter().any(Option::is_some) {
            self.module.common_mut(data).sharding = Some(tuple_of(&shardings));
        }
        let values = op.operands.iter().take(inputs.len());
        let shapes: std::result::Result<Vec<Shape>, String> = values.map(|&v| self.type_shape(v)).collect();
        let shapes = shapes.map_err(|why| op.failure(format!("the type of an operand: {why}")))?;
        let attrs = OutfeedAttrs {
            outfeed_shape: OptionalShape(Some(Shape::tuple(shapes))),
            outfeed_config: op.bytes_or_empty("outfeed_config")?,
        };
        self.set_result_op(op, Op::Outfeed(Box::new(attrs)), &[data, token])
    }

    /// Translates `send` to the start and the end of a transfer.
    pub(super) fn send(&mut self, op: &Operation) -> Result<()> {
        let operands = self.operands(op)?;
        let Some((&token, inputs)) = operands.split_last() else {
            return op.fail("its last operand is a token");
        };
        let data = self.one_or_tuple(inputs);
        let channel = channel(op)?;
        let shape = Shape::tuple(vec![self.shape_of(data), Shape::scalar(ElementType::U32), Shape::Token]);
        let start = self.add(shape, Op::Send(channel.clone()), &[data, token]);
        self.annotate_transfer(op, start)?;
        let done = self.add(Shape::Token, Op::SendDone(channel), &[start]);
        self.note_pairs(op, done)?;
        self.set_result(op, done)
    }

    /// Translates `recv` to the start and the end of a transfer, and the received data.
    pub(super) fn recv(&mut self, op: &Operation) -> Result<()> {
        let token = self.operand(op, 0)?;
        let Some((&last, results)) = op.results.split_last() else {
            return op.fail("its last result is a token");
        };
        let mut shapes = (0..results.len()).map(|i| self.declared(op, i)).collect::<Result<Vec<_>>>()?;
        let data = if shapes.len() == 1 { shapes.remove(0) } else { Shape::tuple(shapes) };
        let channel = channel(op)?;
        let shape = Shape::tuple(vec![data.clone(), Shape::scalar(ElementType::U32), Shape::Token]);
        let start = self.add(shape, Op::Recv(channel.clone()), &[token]);
        self.annotate_transfer(op, start)?;
        let done = self.add(Shape::tuple(vec![data, Shape::Token]), Op::RecvDone(channel), &[start]);
        self.annotate(done);
        self.note_pairs(op, done)?;
        let data = self.tuple_element(op, done, 0)?;
        match results {
            [one] => {
                self.set_representation(*one, ImportedValue::Instruction(data));
            }
            several => {
                for (index, &result) in several.iter().enumerate() {
                    let element = self.tuple_element(op, data, index)?;
                    self.set_representation(result, ImportedValue::Instruction(element));
                }
            }
        }
        let token = self.tuple_element(op, done, 1)?;
        self.set_representation(last, ImportedValue::Instruction(token));
        Ok(())
    }

    /// Sets the attributes of a transfer on its start. The sharding applies to all three parts of the start's
    /// shape.
    fn annotate_transfer(&mut self, op: &Operation, start: InstrId) -> Result<()> {
        let whole = self.site.sharding.take();
        self.annotate(start);
        if let Some(one) = whole.as_ref().and_then(|s| s.leaves().first()) {
            let one = Sharding::Single(one.clone()).for_shape(&self.module[start].shape);
            self.module.common_mut(start).sharding = Some(one);
        }
        self.site.sharding = whole;
        self.note_pairs(op, start)
    }

    /// Sets the frontend attribute that lists the source and target devices.
    fn note_pairs(&mut self, op: &Operation, id: InstrId) -> Result<()> {
        if op.attribute("source_target_pairs").is_none() {
            return Ok(());
        }
        let pair = |p: &Vec<i64>| match p[..] {
            [from, to] => Ok(format!("{{{from},{to}}}")),
            _ => op.fail("the attribute `source_target_pairs` is no list of pairs"),
        };
        let pairs = op.rows("source_target_pairs")?.iter().map(pair).collect::<Result<Vec<_>>>()?;
        if !pairs.is_empty() {
            let text = format!("{{{}}}", pairs.join(","));
            self.module.common_mut(id).frontend_attributes.set(PAIRS, text.as_str().into());
        }
        Ok(())
    }
}

/// Reads the channel of a transfer.
fn channel(op: &Operation) -> Result<ChannelAttrs> {
    let channel_id = match op.structure_if_any("channel_handle", "stablehlo.channel_handle")? {
        Some(handle) => Some(handle.int("handle")?),
        None => None,
    };
    Ok(ChannelAttrs { channel_id, is_host_transfer: op.flag("is_host_transfer")? })
}

/// Sets the layouts of shapes. Each layout lists the dimensions, the fastest varying one first.
fn lay_out(op: &Operation, shapes: &mut [Shape], layouts: &[Attribute]) -> Result<()> {
    if shapes.len() != layouts.len() {
        return op.fail(format!("{} layouts are given for {} arrays", layouts.len(), shapes.len()));
    }
    for (shape, layout) in shapes.iter_mut().zip(layouts) {
        let Shape::Array(array) = shape else { continue };
        let order =
            layout.ints().and_then(|l| l.iter().map(|&d| u32::try_from(d).ok()).collect::<Option<Vec<_>>>());
        match order.filter(|order| order.len() == array.rank()) {
            Some(order) => *array = array.clone().with_layout(Layout::new(order)),
            None => return op.fail(format!("the attribute `layout` has no layout for {array}")),
        }
    }
    Ok(())
}
