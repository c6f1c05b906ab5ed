//! Properties that any instruction may have (shardings, frontend attributes), and properties of the module
//! header.

use super::attributes::as_text;
use super::attributes::{dictionary, i32};
use super::control::is_of_composite;
use super::exporter::Exporter;
use super::operation::Draft;
use super::value::Value;
use crate::tree::Attribute;
use hlo_ir::attr::{FrontendAttributes, InputOutputAlias};
use hlo_ir::{InstrId, Op};

/// Returns `mhlo.frontend_attributes` without the attributes that belong to a composite, or `None` if there
/// are none.
pub(super) fn frontend_attributes(attributes: &FrontendAttributes) -> Option<Attribute> {
    let entries: Vec<_> = attributes
        .iter()
        .filter(|(key, _)| !is_of_composite(key))
        .map(|(key, value)| (key.into(), Attribute::String(value.as_bytes().into())))
        .collect();
    (!entries.is_empty()).then(|| dictionary(entries))
}

impl Exporter<'_> {
    /// Sets the common attributes of an instruction on the operation that it became. That is the last
    /// operation added since the block had `before` operations, not counting those that take a tuple apart.
    pub(super) fn annotate(&mut self, id: InstrId, value: Value, before: usize) -> Value {
        let Some(common) = self.instruction(id).common.as_deref() else { return value };
        let value = match (&self.instruction(id).op, value) {
            // These may become many operations, which have attributes of their own.
            (Op::Fusion(_) | Op::AsyncStart(_), value) => return value,
            // JAX writes a copy with a sharding in this way.
            (Op::Copy, Value::Leaf(copied)) if common.sharding.is_some() => {
                let ty = self.tree.type_of(copied).clone();
                let new = Draft::new("stablehlo.custom_call", [copied])
                    .with("call_target_name", Attribute::string("Sharding"));
                Value::Leaf(self.add_one(new, ty))
            }
            (_, value) => value,
        };
        let sharding =
            common.sharding.as_ref().map(|s| self.sharding_of_operation(s, &self.instruction(id).shape));
        let mut noted = common.frontend_attributes.clone();
        if matches!(self.instruction(id).op, Op::Call(_)) && !common.backend_config.is_empty() {
            noted.set("backend_config", common.backend_config.clone());
        }
        let noted = frontend_attributes(&noted).map(|attribute| ("mhlo.frontend_attributes", attribute));
        let origin = common.origin.as_deref().map(|origin| ("mhlo.original_value", as_text(origin)));
        if let Some(operation) = self.main_operation(before) {
            for (name, attribute) in sharding.into_iter().chain(noted).chain(origin) {
                operation.attributes.set(name, attribute);
            }
        }
        value
    }

    /// Sets the module's attributes from the module header.
    pub(super) fn module_attributes(&mut self) {
        let header = &self.module.header;
        let attributes = &mut self.tree.module.attributes;
        if !self.module.name.is_empty() {
            attributes.set("sym_name", Attribute::string(&self.module.name));
        }
        attributes.set("mhlo.num_partitions", i32(header.num_partitions.0));
        attributes.set("mhlo.num_replicas", i32(header.replica_count.0));
        if let Some(frontend) = frontend_attributes(&header.frontend_attributes) {
            attributes.set("mhlo.frontend_attributes", frontend);
        }
        let plain = |a: &&InputOutputAlias| self.result_of_alias(a).is_none();
        let other: Vec<Attribute> = header.input_output_alias.iter().filter(plain).map(alias).collect();
        if !other.is_empty() {
            self.tree.module.attributes.set("mhlo.input_output_alias", Attribute::Array(other.into()));
        }
    }

    /// Returns the index of the function's result that aliases a whole parameter, or `None` if an argument
    /// attribute cannot express the alias.
    pub(super) fn result_of_alias(&self, alias: &InputOutputAlias) -> Option<i64> {
        let root = &self.module[self.module[self.module.entry()].root()].shape;
        let several = root.as_tuple().filter(|elements| elements.len() != 1);
        let parameter = usize::try_from(alias.parameter).ok()?;
        let parameters = self.module.parameters(self.module.entry());
        let is_array = self.module[*parameters.get(parameter)?].shape.as_array().is_some();
        match (several, &alias.output[..]) {
            _ if alias.must || !is_array => None,
            (None, []) => Some(0),
            (Some(_), &[result]) => Some(result),
            _ => None,
        }
    }
}

/// Returns an alias in the form that XLA uses for aliases that argument attributes cannot express.
fn alias(alias: &InputOutputAlias) -> Attribute {
    let InputOutputAlias { output, parameter, parameter_index, must } = alias;
    let kind = if *must { "must_alias" } else { "may_alias" };
    let of = dictionary([
        ("kind".into(), Attribute::string(kind)),
        ("parameter_index".into(), super::attributes::i64s(parameter_index)),
        ("parameter_number".into(), Attribute::i64(*parameter)),
    ]);
    dictionary([("alias".into(), of), ("output_index".into(), super::attributes::i64s(output))])
}
