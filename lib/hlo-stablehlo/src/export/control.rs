//! Calls, loops and conditionals.

use super::exporter::Exporter;
use super::failure::Outcome;
use super::operation::Draft;
use super::value::Value;
use crate::tree::{Attribute, Attributes};
use hlo_ir::attr::{CallAttrs, ConditionalAttrs, FrontendAttributes, FusionAttrs, WhileAttrs};
use hlo_ir::{ComputationId, InstrId};

/// The frontend attributes of a call that represents a composite.
const COMPOSITE: [&str; 3] = ["composite.name", "composite.attributes", "composite.version"];

impl Exporter<'_> {
    /// Returns the exported values of the operands.
    pub(super) fn operand_values(&self, id: InstrId) -> Outcome<Vec<Value>> {
        (0..self.instruction(id).operands.len()).map(|i| self.operand(id, i)).collect()
    }

    pub(super) fn call(&mut self, id: InstrId, attrs: &CallAttrs) -> Outcome<Value> {
        let &CallAttrs { to_apply, is_composite } = attrs;
        if is_composite {
            return self.composite(id, to_apply);
        }
        let operands = self.operand_values(id)?;
        self.call_function(id, to_apply, &operands)
    }

    /// Exports a `stablehlo.composite`. Frontend attributes of HLO's call contain its name, attributes and
    /// version.
    fn composite(&mut self, id: InstrId, decomposition: ComputationId) -> Outcome<Value> {
        let none = FrontendAttributes::default();
        let said = self.instruction(id).common.as_deref().map_or(&none, |c| &c.frontend_attributes);
        let text = |key: &str| said.get(key).map(|v| v.to_text());
        let Some(name) = text(COMPOSITE[0]) else {
            return self.reject(id, "is a composite, but has no frontend attribute `composite.name`");
        };
        let attributes = match text(COMPOSITE[1]) {
            Some(text) => self.or_unsupported(id, dictionary_of(&text))?,
            None => Attributes::default(),
        };
        let version = text(COMPOSITE[2]).and_then(|v| v.parse::<i32>().ok()).unwrap_or(0);
        let decomposition = self.function_of(decomposition);
        let new = Draft::new("stablehlo.composite", self.leaves(id)?)
            .with("name", Attribute::string(&name))
            .with("composite_attributes", Attribute::Dictionary(attributes.into()))
            .with("decomposition", Attribute::Symbol(decomposition))
            .with("version", super::attributes::i32(version.into()));
        self.add_for(id, new)
    }

    /// Adds the operations of the fused computation in place of the fusion.
    pub(super) fn fusion(&mut self, id: InstrId, attrs: &FusionAttrs) -> Outcome<Value> {
        // The kind and the shared memory affect only the performance.
        let &FusionAttrs { kind: _, output_to_operand_aliasing: _, calls } = attrs;
        let bound = self.operand_values(id)?;
        self.applied(id, calls, bound)
    }

    pub(super) fn conditional(&mut self, id: InstrId, attrs: &ConditionalAttrs) -> Outcome<Value> {
        // `branches` returns the false computation and the branch computations.
        let ConditionalAttrs { true_computation, false_computation: _, branch_computations: _ } = attrs;
        let index = self.leaf(id, 0)?;
        let name = if true_computation.is_some() { "stablehlo.if" } else { "stablehlo.case" };
        let mut new = Draft::new(name, [index]);
        // Branches use their operands as values from outside.
        for (at, branch) in attrs.branches().into_iter().enumerate() {
            let argument = self.operand(id, at + 1)?;
            new = new.region(self.region(id, branch, Some(vec![argument]))?);
        }
        self.add_for(id, new)
    }

    pub(super) fn while_loop(&mut self, id: InstrId, attrs: &WhileAttrs) -> Outcome<Value> {
        let &WhileAttrs { condition, body } = attrs;
        let new = Draft::new("stablehlo.while", self.leaves(id)?)
            .region(self.region(id, condition, None)?)
            .region(self.region(id, body, None)?);
        self.add_for(id, new)
    }

    pub(super) fn barrier(&mut self, id: InstrId) -> Outcome<Value> {
        self.plain(id, "stablehlo.optimization_barrier")
    }
}

/// Checks whether a frontend attribute belongs to a composite.
pub(super) fn is_of_composite(key: &str) -> bool {
    COMPOSITE.contains(&key)
}

/// The attribute name under which [`dictionary_of`] parses a dictionary.
const KEY: &str = "hlo.dictionary";

/// Parses a dictionary in MLIR's syntax, such as `{k = 3 : i64}`.
///
/// # Errors
/// A message if the text is not a dictionary.
pub(super) fn dictionary_of(text: &str) -> Result<Attributes, String> {
    if text.trim().is_empty() {
        return Ok(Attributes::default());
    }
    let tree = crate::text::parse(&format!("module attributes {{{KEY} = {text}}} {{}}"));
    match tree.ok().as_ref().and_then(|tree| tree.module.attribute(KEY)) {
        Some(Attribute::Dictionary(entries)) => Ok((**entries).clone()),
        _ => Err(format!("has what is no dictionary of attributes: {text}")),
    }
}
