//! Custom calls.

use super::attributes::{aliases, i32, order};
use super::control::dictionary_of;
use super::exporter::Exporter;
use super::failure::Outcome;
use super::operation::Draft;
use super::structural::elements_of;
use super::types::type_of;
use super::value::Value;
use crate::tree::{Attribute, Type, ValueId};
use hlo_ir::attr::{
    Count, CustomCallApiVersion, CustomCallAttrs, CustomCallSchedule, HloString, LayoutConstraints,
    LiteralValue, OperandPrecision, PaddingType,
};
use hlo_ir::{ComputationId, InstrId, Shape};

/// Returns the order of an array's dimensions in memory. For other shapes, the list is empty.
fn layout_of(shape: &Shape) -> Attribute {
    let minor_to_major = shape.as_array().map(|a| a.minor_to_major());
    let numbers: Vec<i64> = minor_to_major.into_iter().flatten().map(|d| d as i64).collect();
    order(&numbers)
}

/// Returns the name of an attribute that only convolutions by a library have, if one is present.
fn of_library(attrs: &CustomCallAttrs) -> Option<&'static str> {
    let found = [
        (attrs.window.is_some(), "window"),
        (attrs.dim_labels.is_some(), "dim_labels"),
        (attrs.feature_group_count != Count::default(), "feature_group_count"),
        (attrs.batch_group_count != Count::default(), "batch_group_count"),
        (attrs.operand_precision != OperandPrecision::default(), "operand_precision"),
        (attrs.padding_type != PaddingType::Invalid, "padding_type"),
        (attrs.schedule != CustomCallSchedule::None, "schedule"),
    ];
    found.into_iter().find(|(is_there, _)| *is_there).map(|(_, name)| name)
}

impl Exporter<'_> {
    pub(super) fn custom_call(&mut self, id: InstrId, attrs: &CustomCallAttrs) -> Outcome<Value> {
        if let Some(name) = of_library(attrs) {
            return self.reject(id, format!("has `{name}`, which StableHLO's has not"));
        }
        let CustomCallAttrs {
            // A call with one of these is refused above.
            window: _,
            dim_labels: _,
            feature_group_count: _,
            batch_group_count: _,
            operand_precision: _,
            padding_type: _,
            schedule: _,
            custom_call_target,
            operand_layout_constraints: LayoutConstraints(layouts),
            custom_call_has_side_effect,
            literal,
            output_to_operand_aliasing,
            api_version,
            to_apply,
            called_computations,
        } = attrs;
        let mut new = Draft::new("stablehlo.custom_call", self.packed_operands(id)?)
            .with("call_target_name", Attribute::String(custom_call_target.as_bytes().into()))
            .with("has_side_effect", Attribute::Bool(*custom_call_has_side_effect))
            .with("api_version", i32(version(*api_version)))
            .with("backend_config", self.backend_config(id, *api_version)?)
            .with_optional("called_computations", self.called(to_apply.iter().chain(called_computations)))
            .with_optional("output_operand_aliases", aliases(output_to_operand_aliasing));
        if let Some(shapes) = layouts {
            let result = &self.instruction(id).shape;
            let results = result.as_tuple().unwrap_or(std::slice::from_ref(result));
            new = new
                .with("operand_layouts", Attribute::Array(shapes.iter().map(layout_of).collect()))
                .with("result_layouts", Attribute::Array(results.iter().map(layout_of).collect()));
        }
        if let Some(LiteralValue(literal)) = literal {
            let Some(elements) = elements_of(literal) else {
                return self.reject(id, "has a literal that is no array of StableHLO's");
            };
            new = new.with("mhlo.literal", Attribute::Elements(elements.into()));
        }
        self.results_of_call(id, new)
    }

    /// Returns one value for each operand.
    fn packed_operands(&mut self, id: InstrId) -> Outcome<Vec<ValueId>> {
        let mut out = Vec::new();
        for (index, &operand) in self.instruction(id).operands.iter().enumerate() {
            let value = self.operand(id, index)?;
            out.push(self.packed(id, &value, &self.module[operand].shape)?);
        }
        Ok(out)
    }

    /// Adds a custom call. The elements of a tuple result become several results. A tuple of one element
    /// stays a tuple, because a single result means an array.
    fn results_of_call(&mut self, id: InstrId, new: Draft) -> Outcome<Value> {
        let shape = &self.instruction(id).shape;
        let shapes = match shape {
            Shape::Tuple(elements) if elements.len() != 1 => &elements[..],
            _ => std::slice::from_ref(shape),
        };
        let types: Result<Vec<Type>, String> = shapes.iter().map(type_of).collect();
        let results = self.add(new, self.or_unsupported(id, types)?);
        let mut elements = Vec::new();
        for (result, shape) in results.into_iter().zip(shapes) {
            elements.push(self.unpacked(id, result, shape)?);
        }
        match (shape, elements.len()) {
            (Shape::Tuple(of), _) if of.len() != 1 => Ok(Value::tuple(elements)),
            (_, 1) => Ok(elements.remove(0)),
            _ => self.reject(id, "gives no value"),
        }
    }

    /// Returns the functions that the custom call may call.
    fn called<'a>(&mut self, computations: impl Iterator<Item = &'a ComputationId>) -> Option<Attribute> {
        let symbols: Vec<Attribute> = computations.map(|&c| Attribute::Symbol(self.function_of(c))).collect();
        (!symbols.is_empty()).then(|| Attribute::Array(symbols.into()))
    }

    /// Returns the configuration: a dictionary for the typed convention, otherwise the unchanged text.
    fn backend_config(&self, id: InstrId, api_version: CustomCallApiVersion) -> Outcome<Attribute> {
        let none = HloString::default();
        let config = self.instruction(id).common.as_deref().map_or(&none, |c| &c.backend_config);
        if api_version != CustomCallApiVersion::TypedFfi {
            return Ok(Attribute::String(config.as_bytes().into()));
        }
        let entries = self.or_unsupported(id, dictionary_of(&config.to_text()))?;
        Ok(Attribute::Dictionary(entries.into()))
    }
}

/// Returns StableHLO's number of a calling convention.
fn version(version: CustomCallApiVersion) -> i64 {
    match version {
        CustomCallApiVersion::Original => 1,
        CustomCallApiVersion::StatusReturning => 2,
        CustomCallApiVersion::StatusReturningUnified => 3,
        CustomCallApiVersion::TypedFfi => 4,
    }
}
