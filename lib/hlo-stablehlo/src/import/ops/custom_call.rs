//! Calls of functions outside HLO.

use crate::import::attribute_text::dictionary_text;
use crate::import::attributes::{Fields, bytes};
use crate::import::failure::Result;
use crate::import::importer::Importer;
use crate::import::types::literal_of;
use crate::tree::{Attribute, Attributes, Operation};
use hlo_ir::attr::{
    CustomCallApiVersion, CustomCallAttrs, HloString, LayoutConstraints, LiteralValue, OperandAlias,
    RaggedAllToAllAttrs, ReplicaGroups, SliceDim, SortAttrs,
};
use hlo_ir::build::Build;
use hlo_ir::{Dims, InstrId, Layout, Op, Shape};
use std::sync::Arc;

/// The calling conventions by number minus one.
const VERSIONS: [CustomCallApiVersion; 4] = [
    CustomCallApiVersion::Original,
    CustomCallApiVersion::StatusReturning,
    CustomCallApiVersion::StatusReturningUnified,
    CustomCallApiVersion::TypedFfi,
];

impl<'t> Importer<'t> {
    pub(super) fn custom_call(&mut self, op: &'t Operation) -> Result<()> {
        let target = op.bytes_or_empty("call_target_name")?;
        match target.as_str() {
            Some("ApproxTopK") => return self.approximate_top_k(op),
            Some("ragged_all_to_all") => return self.ragged_all_to_all(op),
            // Operations that a version of StableHLO lacked.
            Some(name) if name.starts_with("mhlo.") => {
                if let Some(Attribute::Dictionary(attributes)) = op.attribute("mhlo.attributes") {
                    let name = name.trim_start_matches("mhlo.");
                    return self.chlo(op, if name == "topk" { "top_k" } else { name }, attributes);
                }
            }
            _ => {}
        }
        let operands = self.operands(op)?;
        let mut shape = self.declared_results(op)?;
        let attrs = CustomCallAttrs {
            custom_call_target: target,
            custom_call_has_side_effect: op.flag("has_side_effect")?,
            operand_layout_constraints: self.layouts(op, &operands, &mut shape)?,
            output_to_operand_aliasing: aliases(op)?,
            literal: literal(op)?,
            api_version: version(op)?,
            called_computations: self.called_by(op)?,
            ..CustomCallAttrs::default()
        };
        let config = config(op, attrs.api_version)?;
        let id = self.add(shape, Op::CustomCall(Box::new(attrs)), &operands);
        if !config.is_empty() {
            self.module.common_mut(id).backend_config = config;
        }
        self.set_result_or_elements(op, id)
    }

    /// Returns the computations that the custom call may call.
    fn called_by(&self, op: &Operation) -> Result<Vec<hlo_ir::ComputationId>> {
        let Some(attribute) = op.attribute("called_computations") else { return Ok(Vec::new()) };
        let wrong = || op.failure("the attribute `called_computations` is no list of functions");
        let list = attribute.as_array().ok_or_else(wrong)?;
        list.iter().map(|a| self.called(op, a.as_str().ok_or_else(wrong)?)).collect()
    }

    /// Returns the layouts of the operands and sets that of the result, if the operation contains them.
    fn layouts(&self, op: &Operation, operands: &[InstrId], result: &mut Shape) -> Result<LayoutConstraints> {
        let lists = (op.attribute("operand_layouts"), op.attribute("result_layouts"));
        let (Some(of_operands), Some(of_results)) = lists else { return Ok(LayoutConstraints(None)) };
        let mut shapes: Vec<Shape> = operands.iter().map(|&o| self.module[o].shape.clone()).collect();
        lay_out(op, "operand_layouts", of_operands, shapes.iter_mut().collect())?;
        let results = match result {
            Shape::Tuple(elements) if op.results.len() != 1 => elements.to_mut().iter_mut().collect(),
            // If the result is a tuple, the layouts are those of its elements.
            Shape::Tuple(elements) => elements.to_mut().iter_mut().collect(),
            one => vec![one],
        };
        lay_out(op, "result_layouts", of_results, results)?;
        Ok(LayoutConstraints(Some(shapes)))
    }

    /// Translates `ApproxTopK`: the largest elements along a dimension by a comparator. The translation is
    /// exact: it sorts and keeps the first elements.
    fn approximate_top_k(&mut self, op: &'t Operation) -> Result<()> {
        let config = config_dictionary(op)?;
        let dimension = config.get("reduction_dim").and_then(Attribute::as_int).unwrap_or(-1);
        let operands = self.operands(op)?;
        let count = operands.len() / 2;
        let comparators = self.called_by(op)?;
        let [to_apply] = comparators[..] else { return op.fail("it has one computation that compares") };
        if count != op.results.len() || count == 0 {
            return op.fail(format!("it has {} operands, but {} results", operands.len(), op.results.len()));
        }
        let inputs = operands.get(..count).unwrap_or_default();
        let shapes: Vec<Shape> = inputs.iter().map(|&i| self.shape_of(i)).collect();
        let shape = if count == 1 { shapes[0].clone() } else { Shape::tuple(shapes) };
        let sort = SortAttrs { dimensions: Dims::from_slice(&[dimension]), is_stable: true, to_apply };
        let sorted = self.add(shape, Op::Sort(sort), inputs);
        for index in 0..count {
            let all = if count == 1 { Some(sorted) } else { self.element(sorted, index) };
            let all = all.ok_or_else(|| op.failure("an operand is no array"))?;
            let shape = self.declared(op, index)?;
            let ranges = shape.as_array().map_or(Vec::new(), |a| {
                a.dims.iter().map(|&limit| SliceDim { start: 0, limit, stride: 1 }).collect()
            });
            let first = self.add(shape, Op::slice(ranges), &[all]);
            self.set_representation(
                op.result(index)?,
                crate::import::importer::ImportedValue::Instruction(first),
            );
        }
        Ok(())
    }

    fn ragged_all_to_all(&mut self, op: &Operation) -> Result<()> {
        let config = config_dictionary(op)?;
        let operands = self.operands(op)?;
        let groups = match config.get("replica_groups") {
            Some(groups) => super::collective::groups_of(op, groups)?,
            None => ReplicaGroups::default(),
        };
        let channel_id = config.get("channel_id").and_then(Attribute::as_int).filter(|&id| id > 0);
        let attrs = RaggedAllToAllAttrs { channel_id, replica_groups: groups, dimensions: Dims::new() };
        self.set_result_op(op, Op::RaggedAllToAll(Box::new(attrs)), &operands)
    }
}

/// Returns the configuration of a call if it is a dictionary. Versions of StableHLO without such dictionaries
/// store it in `mhlo.backend_config`.
fn dictionary(op: &Operation) -> Option<&Arc<Attributes>> {
    ["mhlo.backend_config", "backend_config"].into_iter().find_map(|name| match op.attribute(name) {
        Some(Attribute::Dictionary(config)) => Some(config),
        _ => None,
    })
}

/// Returns the configuration of a call that requires a dictionary.
fn config_dictionary(op: &Operation) -> Result<&Arc<Attributes>> {
    dictionary(op).ok_or_else(|| op.failure("its `backend_config` is no dictionary"))
}

/// Returns the configuration as text.
fn config(op: &Operation, version: CustomCallApiVersion) -> Result<HloString> {
    let Some(dictionary) = dictionary(op) else {
        let text = op.attribute("backend_config").and_then(bytes).unwrap_or_default();
        // VHLO does not distinguish an empty dictionary from an absent one. JAX writes the dictionary.
        let is_empty = version == CustomCallApiVersion::TypedFfi && text.is_empty();
        return Ok(if is_empty { "{}".into() } else { text });
    };
    if version != CustomCallApiVersion::TypedFfi {
        return op.fail("a `backend_config` that is a dictionary is for calls by the typed interface");
    }
    let text = dictionary_text(dictionary).map_err(|why| op.failure(format!("`backend_config`: {why}")))?;
    Ok(HloString::from(text.as_str()))
}

/// Returns the calling convention. In versions of StableHLO without the typed convention,
/// `mhlo.backend_config` implies it.
fn version(op: &Operation) -> Result<CustomCallApiVersion> {
    if let Some(Attribute::Dictionary(_)) = op.attribute("mhlo.backend_config") {
        return Ok(CustomCallApiVersion::TypedFfi);
    }
    let number = match op.attribute("api_version") {
        None => 1,
        Some(attribute) => match attribute.word("stablehlo.custom_call_api_version") {
            Some("API_VERSION_UNSPECIFIED") => 0,
            Some(word) => {
                CustomCallApiVersion::WORDS.iter().position(|w| *w == word).map_or(-1, |at| at as i64 + 1)
            }
            None => op.int("api_version")?,
        },
    };
    // The number 0 means unspecified, which is the original convention.
    let known = usize::try_from(number.max(1) - 1).ok().and_then(|at| VERSIONS.get(at).copied());
    known.filter(|_| number >= 0).ok_or_else(|| op.failure(format!("`api_version` {number} is not known")))
}

fn literal(op: &Operation) -> Result<Option<LiteralValue>> {
    let Some(Attribute::Elements(elements)) = op.attribute("mhlo.literal") else { return Ok(None) };
    if elements.is_splat {
        return op.fail("its `mhlo.literal` has to list all elements");
    }
    literal_of(elements)
        .map(LiteralValue)
        .map(Some)
        .map_err(|why| op.failure(format!("`mhlo.literal`: {why}")))
}

/// Reads which parts of results share memory with parts of operands.
fn aliases(op: &Operation) -> Result<Vec<OperandAlias>> {
    let Some(attribute) = op.attribute("output_operand_aliases") else { return Ok(Vec::new()) };
    let list = attribute
        .as_array()
        .ok_or_else(|| op.failure("the attribute `output_operand_aliases` is no list"))?;
    let one = |a: &Attribute| {
        let fields = Fields::of(op, a, "stablehlo.output_operand_alias")?;
        Ok(OperandAlias {
            output: fields.dims("output_tuple_indices")?.to_vec(),
            operand: fields.int("operand_index")?,
            operand_index: fields.dims("operand_tuple_indices")?.to_vec(),
        })
    };
    list.iter().map(one).collect()
}

/// Sets the layouts of shapes. Each layout lists the dimensions, the fastest varying one first. Layouts of
/// tokens are empty.
fn lay_out(op: &Operation, name: &str, layouts: &Attribute, shapes: Vec<&mut Shape>) -> Result<()> {
    let list = layouts.as_array().unwrap_or_default();
    if list.len() != shapes.len() {
        return op.fail(format!("`{name}` has {} layouts for {} values", list.len(), shapes.len()));
    }
    for (layout, shape) in list.iter().zip(shapes) {
        let Shape::Array(array) = shape else { continue };
        let order =
            layout.ints().and_then(|l| l.iter().map(|&d| u32::try_from(d).ok()).collect::<Option<Vec<_>>>());
        match order.filter(|order| order.len() == array.rank()) {
            Some(order) => *array = array.clone().with_layout(Layout::new(order)),
            None => return op.fail(format!("`{name}` has no layout for {array}")),
        }
    }
    Ok(())
}
