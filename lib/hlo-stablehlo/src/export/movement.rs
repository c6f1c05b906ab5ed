//! Data movement.

use super::attributes::{i64s, only};
use super::exporter::Exporter;
use super::failure::Outcome;
use super::operation::Draft;
use super::value::Value;
use crate::tree::{Attribute, Type, ValueId};
use hlo_ir::InstrId;
use hlo_ir::attr::{BroadcastAttrs, PadAttrs, ReshapeAttrs, SliceAttrs, SliceDim};

impl Exporter<'_> {
    pub(super) fn broadcast(&mut self, id: InstrId, attrs: &BroadcastAttrs) -> Outcome<Value> {
        let BroadcastAttrs { dimensions } = attrs;
        let new = Draft::new("stablehlo.broadcast_in_dim", self.leaves(id)?)
            .with("broadcast_dimensions", i64s(dimensions));
        self.add_for(id, new)
    }

    pub(super) fn concatenate(&mut self, id: InstrId, dimensions: &[i64]) -> Outcome<Value> {
        let new = Draft::new("stablehlo.concatenate", self.leaves(id)?).with("dimension", only(dimensions));
        self.add_for(id, new)
    }

    pub(super) fn iota(&mut self, id: InstrId, dimension: i64) -> Outcome<Value> {
        let new = Draft::new("stablehlo.iota", []).with("iota_dimension", Attribute::i64(dimension));
        self.add_for(id, new)
    }

    pub(super) fn pad(&mut self, id: InstrId, attrs: &PadAttrs) -> Outcome<Value> {
        let PadAttrs { padding } = attrs;
        let of = |f: fn(&hlo_ir::attr::PaddingDim) -> i64| {
            Attribute::i64s(padding.iter().map(f).collect::<Vec<_>>())
        };
        let new = Draft::new("stablehlo.pad", self.leaves(id)?)
            .with("edge_padding_low", of(|d| d.low))
            .with("edge_padding_high", of(|d| d.high))
            .with("interior_padding", of(|d| d.interior));
        self.add_for(id, new)
    }

    pub(super) fn reshape(&mut self, id: InstrId, attrs: &ReshapeAttrs) -> Outcome<Value> {
        // StableHLO has no place for this. The type of the result says which dimensions have unknown sizes.
        let ReshapeAttrs { inferred_dimension: _ } = attrs;
        self.plain(id, "stablehlo.reshape")
    }

    pub(super) fn reverse(&mut self, id: InstrId, dimensions: &[i64]) -> Outcome<Value> {
        let new = Draft::new("stablehlo.reverse", self.leaves(id)?).with("dimensions", i64s(dimensions));
        self.add_for(id, new)
    }

    pub(super) fn slice(&mut self, id: InstrId, attrs: &SliceAttrs) -> Outcome<Value> {
        let SliceAttrs { slice } = attrs;
        let ranges: Vec<[i64; 3]> =
            slice.iter().map(|&SliceDim { start, limit, stride }| [start, limit, stride]).collect();
        let operand = self.leaf(id, 0)?;
        let ty = self.type_of(id)?;
        Ok(Value::Leaf(self.sliced(operand, &ranges, ty)))
    }

    /// Adds a slice with the given starts, limits and strides.
    pub(super) fn sliced(&mut self, operand: ValueId, ranges: &[[i64; 3]], ty: Type) -> ValueId {
        let of = |i: usize| Attribute::i64s(ranges.iter().map(|r| r[i]).collect::<Vec<_>>());
        let new = Draft::new("stablehlo.slice", [operand])
            .with("start_indices", of(0))
            .with("limit_indices", of(1))
            .with("strides", of(2));
        self.add_one(new, ty)
    }

    pub(super) fn transpose(&mut self, id: InstrId, permutation: &[i64]) -> Outcome<Value> {
        let operand = self.leaf(id, 0)?;
        let ty = self.type_of(id)?;
        Ok(Value::Leaf(self.transposed(operand, permutation, ty)))
    }

    /// Adds a transpose.
    pub(super) fn transposed(&mut self, operand: ValueId, permutation: &[i64], ty: Type) -> ValueId {
        let new = Draft::new("stablehlo.transpose", [operand]).with("permutation", i64s(permutation));
        self.add_one(new, ty)
    }
}
