//! Reductions, maps, scans, sorting, random numbers.

use super::attributes::{bools, i64s, of_window, only, padding, word};
use super::exporter::Exporter;
use super::failure::Outcome;
use super::operation::Draft;
use super::types::array_type;
use super::value::Value;
use crate::tree::{Attribute, Type};
use hlo_ir::InstrId;
use hlo_ir::attr::{
    MapAttrs, OrTrue, ReduceAttrs, ReduceWindowAttrs, RngAlgorithm, RngDistribution, ScanAttrs,
    SelectAndScatterAttrs, SortAttrs, TopkAttrs, Window,
};

impl Exporter<'_> {
    pub(super) fn map(&mut self, id: InstrId, attrs: &MapAttrs) -> Outcome<Value> {
        let MapAttrs { dimensions, to_apply } = attrs;
        if self.instruction(id).operands.is_empty() {
            return self
                .reject(id, "has no operands, and StableHLO's has at least one; `map-inline` removes it");
        }
        let new = Draft::new("stablehlo.map", self.leaves(id)?)
            .with("dimensions", i64s(dimensions))
            .region(self.region(id, *to_apply, None)?);
        self.add_for(id, new)
    }

    pub(super) fn reduce(&mut self, id: InstrId, attrs: &ReduceAttrs) -> Outcome<Value> {
        let ReduceAttrs { dimensions, to_apply } = attrs;
        let new = Draft::new("stablehlo.reduce", self.leaves(id)?)
            .with("dimensions", i64s(dimensions))
            .region(self.region(id, *to_apply, None)?);
        self.add_for(id, new)
    }

    pub(super) fn reduce_window(&mut self, id: InstrId, attrs: &ReduceWindowAttrs) -> Outcome<Value> {
        let ReduceWindowAttrs { window: Window { dims: window }, to_apply } = attrs;
        let new = Draft::new("stablehlo.reduce_window", self.leaves(id)?)
            .with("window_dimensions", of_window(window, |d| d.size))
            .with("window_strides", of_window(window, |d| d.stride))
            .with("base_dilations", of_window(window, |d| d.lhs_dilate))
            .with("window_dilations", of_window(window, |d| d.rhs_dilate))
            .with_optional("padding", padding(window))
            .region(self.region(id, *to_apply, None)?);
        self.add_for(id, new)
    }

    pub(super) fn select_and_scatter(
        &mut self,
        id: InstrId,
        attrs: &SelectAndScatterAttrs,
    ) -> Outcome<Value> {
        let SelectAndScatterAttrs { window: Window { dims: window }, select, scatter } = attrs;
        if window.iter().any(|d| d.lhs_dilate != 1 || d.rhs_dilate != 1) {
            return self.reject(
                id,
                "has a dilated window, which StableHLO's has not; `select_and_scatter_expander` makes it simpler ones",
            );
        }
        let new = Draft::new("stablehlo.select_and_scatter", self.leaves(id)?)
            .with("window_dimensions", of_window(window, |d| d.size))
            .with("window_strides", of_window(window, |d| d.stride))
            .with_optional("padding", padding(window))
            .region(self.region(id, *select, None)?)
            .region(self.region(id, *scatter, None)?);
        self.add_for(id, new)
    }

    pub(super) fn sort(&mut self, id: InstrId, attrs: &SortAttrs) -> Outcome<Value> {
        let SortAttrs { dimensions, is_stable, to_apply } = attrs;
        let new = Draft::new("stablehlo.sort", self.leaves(id)?)
            .with("dimension", only(dimensions))
            .with("is_stable", Attribute::Bool(*is_stable))
            .region(self.region(id, *to_apply, None)?);
        self.add_for(id, new)
    }

    pub(super) fn scan(&mut self, id: InstrId, attrs: &ScanAttrs) -> Outcome<Value> {
        let ScanAttrs { dimensions, num_carries, is_reverse, is_associative, to_apply } = attrs;
        let operands = self.leaves(id)?;
        let results = self.leaf_types(id)?.len();
        let carries = usize::try_from(*num_carries).unwrap_or(0);
        let sizes = |all: usize| {
            let parts = [all.saturating_sub(carries), carries].map(|n| n as i64);
            Attribute::DenseArray(Type::integer(32), parts.into())
        };
        let new = Draft::new("chlo.scan", operands.clone())
            .with("dimension", only(dimensions))
            .with("is_reverse", Attribute::Bool(*is_reverse))
            .with("is_associative", Attribute::Bool(*is_associative))
            .with("operandSegmentSizes", sizes(operands.len()))
            .with("resultSegmentSizes", sizes(results))
            .region(self.region(id, *to_apply, None)?);
        self.add_for(id, new)
    }

    pub(super) fn top_k(&mut self, id: InstrId, attrs: &TopkAttrs) -> Outcome<Value> {
        let TopkAttrs { k, largest: OrTrue(largest), is_stable } = attrs;
        if !largest {
            return self.reject_without_form(
                id,
                "it has one for the largest elements; `topk-decomposer` makes it a sort",
            );
        }
        let new = Draft::new("chlo.top_k", self.leaves(id)?)
            .with("k", Attribute::i64(*k))
            .with_optional("is_stable", is_stable.map(Attribute::Bool));
        self.add_for(id, new)
    }

    pub(super) fn rng(&mut self, id: InstrId, distribution: RngDistribution) -> Outcome<Value> {
        let array = self.array(id)?;
        let distribution = match distribution {
            RngDistribution::Uniform => "UNIFORM",
            RngDistribution::Normal => "NORMAL",
            RngDistribution::Invalid => return self.reject(id, "has no valid distribution"),
        };
        let [a, b] = [self.leaf(id, 0)?, self.leaf(id, 1)?];
        let shape = self.numbers(&array.dims);
        let new = Draft::new("stablehlo.rng", [a, b, shape])
            .with("rng_distribution", word("stablehlo.rng_distribution", distribution));
        self.add_for(id, new)
    }

    /// Exports `rng-bit-generator`. HLO's operation returns the state and the numbers, or only the numbers;
    /// StableHLO's operation always returns both.
    pub(super) fn rng_bit_generator(&mut self, id: InstrId, algorithm: RngAlgorithm) -> Outcome<Value> {
        let algorithm = match algorithm {
            RngAlgorithm::Default => "DEFAULT",
            RngAlgorithm::ThreeFry => "THREE_FRY",
            RngAlgorithm::Philox => "PHILOX",
        };
        let new = Draft::new("stablehlo.rng_bit_generator", [self.leaf(id, 0)?])
            .with("rng_algorithm", word("stablehlo.rng_algorithm", algorithm));
        if self.instruction(id).shape.is_tuple() {
            return self.add_for(id, new);
        }
        let state = self.or_unsupported(id, array_type(self.operand_array(id, 0)?))?;
        let numbers = self.type_of(id)?;
        let results = self.add(new, vec![state, numbers]);
        self.whole(id, results[1..].to_vec())
    }

    /// Returns for each dimension of a window whether it is reversed.
    pub(super) fn reversal(window: &[hlo_ir::attr::WindowDim]) -> Attribute {
        bools(window.iter().map(|d| d.reversed))
    }
}
