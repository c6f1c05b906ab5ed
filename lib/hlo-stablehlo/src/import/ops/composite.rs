//! Composites.

use super::chlo;
use crate::import::attribute_text::dictionary_text;
use crate::import::failure::Result;
use crate::import::importer::Importer;
use crate::tree::{Attribute, Attributes, Operation};
use hlo_ir::Op;
use hlo_ir::attr::FrontendAttributes;

impl<'t> Importer<'t> {
    /// Translates `composite`. If HLO has an opcode for the composite, it becomes that opcode. Otherwise it
    /// becomes a call of the decomposition, with frontend attributes that describe the composite.
    pub(super) fn composite(&mut self, op: &'t Operation) -> Result<()> {
        let nothing = Attributes::default();
        let attributes = match op.attribute("composite_attributes") {
            Some(Attribute::Dictionary(attributes)) => attributes,
            Some(_) => return op.fail("the attribute `composite_attributes` is no dictionary"),
            None => &nothing,
        };
        if let Some(name) = chlo::known_composite(op) {
            return self.chlo(op, name, attributes);
        }
        let to_apply = self.called(op, op.text("decomposition")?)?;
        let operands = self.operands(op)?;
        let id = self.call_of(to_apply, &operands);
        if let Op::Call(attrs) = self.module.op_mut(id) {
            attrs.is_composite = true;
        }
        let written = dictionary_text(attributes);
        let written =
            written.map_err(|why| op.failure(format!("the attribute `composite_attributes`: {why}")))?;
        let version = op.int_or("version", 0)?.to_string();
        let frontend = &mut self.site.frontend;
        for (key, value) in [("attributes", &*written), ("name", op.text("name")?), ("version", &version)] {
            frontend.set(&format!("composite.{key}"), value.into());
        }
        self.annotate(id);
        // The frontend attributes belong to the call, not to its results.
        self.site.frontend = FrontendAttributes::default();
        self.set_result_or_elements(op, id)
    }
}
