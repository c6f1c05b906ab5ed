//! Reading of Shardy's attributes.

use super::Reader;
use crate::text::lex::{self, Cursor, Result, error_since};
use crate::tree::{Attribute, Attributes};
use std::sync::Arc;

/// Checks whether this module reads attributes of the kind.
pub fn is_supported_kind(kind: &str) -> bool {
    matches!(
        kind,
        "sdy.mesh"
            | "sdy.sharding"
            | "sdy.sharding_per_value"
            | "sdy.dimension_sharding"
            | "sdy.manual_axes"
            | "sdy.axis_ref"
            | "sdy.axis_ref_list"
            | "sdy.list_of_axis_ref_lists"
            | "sdy.all_to_all_param_list"
    )
}

impl<'a> Reader<'a> {
    /// Reads an attribute of the given kind, without its name.
    pub fn sdy_attribute(&mut self, c: &mut Cursor<'a>, kind: &str) -> Result<Attribute> {
        match kind {
            "sdy.mesh" => self.mesh(c),
            "sdy.sharding" => self.sharding(c),
            "sdy.sharding_per_value" => {
                c.expect("<")?;
                let shardings = self.shardings(c)?;
                c.expect(">")?;
                Ok(shardings)
            }
            "sdy.dimension_sharding" => self.dimension_sharding(c),
            "sdy.manual_axes" => {
                let names = c.list("{", "}", |c| Ok(Attribute::String(lex::string(c)?.into())))?;
                Ok(value_of(kind, names))
            }
            "sdy.axis_ref" => self.axis(c),
            "sdy.axis_ref_list" => Ok(value_of(kind, self.axes(c)?)),
            "sdy.list_of_axis_ref_lists" => {
                let lists = c.list("[", "]", |c| Ok(value_of("sdy.axis_ref_list", self.axes(c)?)))?;
                Ok(value_of(kind, lists))
            }
            _ => {
                let parameters = c.list("[", "]", |c| self.all_to_all_parameter(c))?;
                Ok(value_of("sdy.all_to_all_param_list", parameters))
            }
        }
    }

    /// Reads `<["x"=2, "y"=4], device_ids=[1, 0]>`.
    fn mesh(&mut self, c: &mut Cursor<'a>) -> Result<Attribute> {
        c.expect("<")?;
        let axes = c.list("[", "]", |c| {
            let name = Attribute::String(lex::string(c)?.into());
            c.expect("=")?;
            let size = Attribute::i64(lex::integer(c)?);
            Ok(Attribute::of_fields("sdy.mesh_axis", [("name", name), ("size", size)]))
        })?;
        let mut fields = Attributes::default();
        fields.set("axes", Attribute::Array(axes.clone().into()));
        if c.eat(",") {
            if !lex::eat_word(c, "device_ids") {
                return Err(c.expected("`device_ids=[…]`"));
            }
            c.expect("=")?;
            let ids = c.list("[", "]", lex::integer::<i64>)?;
            // Devices in ascending order are omitted.
            let in_order = !axes.is_empty() && (0..).zip(&ids).all(|(i, &id)| i == id);
            if !in_order || total(&axes) != Some(ids.len()) {
                fields.set("device_ids", Attribute::i64s(ids));
            }
        }
        c.expect(">")?;
        Ok(Attribute::Struct("sdy.mesh".into(), Arc::new(fields)))
    }

    /// Reads `<@mesh, [{"x"}, {?}], replicated={"y"}, unreduced={"z"}>`.
    fn sharding(&mut self, c: &mut Cursor<'a>) -> Result<Attribute> {
        c.expect("<")?;
        let mesh = if lex::eat_word(c, "mesh") { self.mesh(c)? } else { self.symbol(c)? };
        c.expect(",")?;
        let dims = c.list("[", "]", |c| self.dimension_sharding(c))?;
        let mut fields = Attributes::default();
        fields.set("mesh_or_ref", mesh);
        fields.set("dim_shardings", Attribute::Array(dims.into()));
        while c.eat(",") {
            let start = c.offset_of_next();
            let field = match lex::word(c) {
                "replicated" => "replicated_axes",
                "unreduced" => "unreduced_axes",
                _ => {
                    c.rewind(start);
                    return Err(c.expected("`replicated={…}` or `unreduced={…}`"));
                }
            };
            if fields.get(field).is_some() {
                return Err(error_since(c, start, "these axes are given twice"));
            }
            // Unreduced axes may omit `=`: `unreduced{"x"}`.
            if !c.eat("=") && field == "replicated_axes" {
                return Err(c.expected("`=`"));
            }
            if field == "unreduced_axes" && c.peek() != b'{' {
                let at = c.offset_of_next();
                match lex::word(c) {
                    "sum" => {}
                    op @ ("max" | "min") => {
                        fields.set("reduction_op", Attribute::Enum("sdy.reduction_op".into(), self.name(op)));
                    }
                    _ => {
                        c.rewind(at);
                        return Err(c.expected("`{`, `sum`, `max` or `min`"));
                    }
                }
            }
            fields.set(field, Attribute::Array(self.axes(c)?.into()));
        }
        c.expect(">")?;
        Ok(Attribute::Struct("sdy.sharding".into(), Arc::new(fields)))
    }

    /// Reads `[<@mesh, [{"x"}]>, <@mesh, []>]`.
    pub fn shardings(&mut self, c: &mut Cursor<'a>) -> Result<Attribute> {
        let shardings = c.list("[", "]", |c| match c.peek() {
            b'#' => self.attribute(c),
            _ => self.sharding(c),
        })?;
        let list = Attribute::Array(shardings.into());
        Ok(Attribute::of_fields("sdy.sharding_per_value", [("shardings", list)]))
    }

    /// Reads `{"x", "y":(2)2, ?}p1`.
    fn dimension_sharding(&mut self, c: &mut Cursor<'a>) -> Result<Attribute> {
        c.expect("{")?;
        let mut axes = Vec::new();
        let mut is_closed = true;
        while !c.eat("}") {
            if !axes.is_empty() {
                c.expect(",")?;
            }
            if c.eat("?") {
                is_closed = false;
                c.expect("}")?;
                break;
            }
            axes.push(self.axis(c)?);
        }
        let mut fields = Attributes::default();
        fields.set("axes", Attribute::Array(axes.into()));
        fields.set("is_closed", Attribute::Bool(is_closed));
        let start = c.offset_of_next();
        if c.byte() == b'p' {
            let digits = &lex::word(c)[1..];
            let priority = digits.parse::<i64>().ok().filter(|p| p.to_string() == digits);
            let Some(priority) = priority else {
                return Err(error_since(c, start, "a priority is written `p0`, `p1`, …"));
            };
            fields.set("priority", Attribute::i64(priority));
        }
        Ok(Attribute::Struct("sdy.dimension_sharding".into(), Arc::new(fields)))
    }

    /// Reads `{"x", "y":(1)2}`.
    fn axes(&mut self, c: &mut Cursor<'a>) -> Result<Vec<Attribute>> {
        c.list("{", "}", |c| self.axis(c))
    }

    /// Reads `"x"` or `"x":(2)2`.
    fn axis(&mut self, c: &mut Cursor<'a>) -> Result<Attribute> {
        let mut fields = Attributes::default();
        fields.set("name", Attribute::String(lex::string(c)?.into()));
        if c.eat(":") {
            fields.set("sub_axis_info", self.sub_axis(c, "sdy.sub_axis_info")?);
        }
        Ok(Attribute::Struct("sdy.axis_ref".into(), Arc::new(fields)))
    }

    /// Reads `{"x"}: 0->1`.
    fn all_to_all_parameter(&mut self, c: &mut Cursor<'a>) -> Result<Attribute> {
        let axes = Attribute::Array(self.axes(c)?.into());
        c.expect(":")?;
        let from = Attribute::i64(lex::integer(c)?);
        c.expect("->")?;
        let to = Attribute::i64(lex::integer(c)?);
        let fields = [("axes", axes), ("src_dim", from), ("tgt_dim", to)];
        Ok(Attribute::of_fields("sdy.all_to_all_param", fields))
    }
}

/// Returns the number of devices of a mesh with the given axes, or `None` if it overflows.
fn total(axes: &[Attribute]) -> Option<usize> {
    axes.iter().try_fold(1usize, |total, axis| {
        let size = axis.fields("sdy.mesh_axis")?.get("size")?.as_int()?;
        total.checked_mul(size.try_into().ok()?)
    })
}

/// Returns an attribute that contains a list.
fn value_of(kind: &str, items: Vec<Attribute>) -> Attribute {
    Attribute::of_fields(kind, [("value", Attribute::Array(items.into()))])
}
