//! The attributes of a function's arguments and results.

use super::attributes::{bytes, from_text};
use super::failure::Result;
use super::importer::{Importer, Site};
use super::locations::name_of;
use crate::tree::{Attribute, Attributes, Operation, ValueId};
use hlo_ir::InstrId;
use hlo_ir::attr::{FrontendAttributes, Sharding};
use std::sync::Arc;

/// Returns the attributes of an argument (`arg_attrs`) or a result (`res_attrs`) of a function.
pub fn attributes_of<'a>(function: &'a Operation, list: &str, index: usize) -> Option<&'a Arc<Attributes>> {
    match function.attribute(list)?.as_array()?.get(index)? {
        Attribute::Dictionary(attributes) => Some(attributes),
        _ => None,
    }
}

/// Returns the frontend attributes in a dictionary of strings. Other values are ignored.
pub fn frontend_of(attribute: &Attribute) -> FrontendAttributes {
    let mut notes = FrontendAttributes::default();
    if let Attribute::Dictionary(entries) = attribute {
        for (key, value) in entries.iter() {
            if let Some(text) = bytes(value) {
                notes.set(key, text);
            }
        }
    }
    notes
}

impl Importer<'_> {
    /// Returns the location and attributes of an argument.
    pub fn argument_site(
        &mut self,
        function: &Operation,
        number: usize,
        value: ValueId,
        entry: bool,
    ) -> Result<Site> {
        let mut site = Site::new(self.site.computation);
        site.metadata.op_name = name_of(self.tree.location_of(value));
        let Some(attributes) = attributes_of(function, "arg_attrs", number) else { return Ok(site) };
        let what = || format!("argument {number}");
        site.sharding = self.sharding_of(function, attributes, &what)?;
        if let Some(notes) = attributes.get("mhlo.frontend_attributes") {
            site.frontend = frontend_of(notes);
        }
        if let Some(text) =
            attributes.get("mhlo.original_value").and_then(Attribute::as_str).filter(|_| entry)
        {
            let origin = from_text(text);
            let wrong = |why| function.failure(format!("`mhlo.original_value` of argument {number}: {why}"));
            site.origin = Some(Box::new(origin.map_err(wrong)?));
        }
        Ok(site)
    }

    /// Returns the sharding in the attributes of an argument or a result.
    fn sharding_of(
        &self,
        function: &Operation,
        attributes: &Attributes,
        what: &dyn Fn() -> String,
    ) -> Result<Option<Sharding>> {
        let wrong = |why: String| function.failure(format!("the sharding of {}: {why}", what()));
        if let Some(text) = attributes.get("mhlo.sharding") {
            return super::shardings::of_attribute(text).map_err(wrong);
        }
        match attributes.get("sdy.sharding") {
            Some(sharding) => self.shardy(sharding).map(Some).map_err(wrong),
            None => Ok(None),
        }
    }

    /// Returns the shardings of a function's results, or `None` if no result has one. Results without a
    /// sharding are replicated.
    pub fn result_shardings(
        &self,
        function: &Operation,
        results: &[InstrId],
    ) -> Result<Option<Vec<Option<Sharding>>>> {
        let mut shardings = Vec::with_capacity(results.len());
        for (index, &id) in results.iter().enumerate() {
            let attributes = attributes_of(function, "res_attrs", index);
            let what = || format!("result {index}");
            let sharding = match attributes {
                Some(attributes) => self.sharding_of(function, attributes, &what)?,
                None => None,
            };
            shardings.push(sharding.map(|s| s.for_shape(&self.module[id].shape)));
        }
        Ok(shardings.iter().any(Option::is_some).then_some(shardings))
    }

    /// Returns for each array of a parameter whether all replicas pass the same value.
    pub fn replication(&self, function: &Operation, number: usize) -> Result<Option<Vec<bool>>> {
        let attributes = attributes_of(function, "arg_attrs", number);
        let Some(list) = attributes.and_then(|a| a.get("mhlo.parameter_replication")) else {
            return Ok(None);
        };
        let list: Option<Vec<bool>> =
            list.as_array().and_then(|l| l.iter().map(Attribute::as_bool).collect());
        let wrong =
            || format!("`mhlo.parameter_replication` of argument {number} is no list of truth values");
        list.map(Some).ok_or_else(|| function.failure(wrong()))
    }
}
