//! Printing of Shardy's attributes.

use super::attribute::{self, list, string, sub_axis};
use crate::tree::{Attribute, Attributes};
use std::fmt::Write;

/// Writes a Shardy structure without its kind.
pub fn body(out: &mut String, kind: &str, fields: &Attributes) {
    match kind {
        "sdy.mesh" => mesh(out, fields),
        "sdy.sharding" => sharding(out, fields),
        "sdy.sharding_per_value" => {
            out.push('<');
            shardings(out, fields);
            out.push('>');
        }
        "sdy.dimension_sharding" => dimension(out, fields),
        "sdy.axis_ref" => axis(out, fields),
        "sdy.manual_axes" => list(out, "{", items(fields, "value"), "}", attribute::write),
        "sdy.axis_ref_list" => axes(out, fields, "value"),
        "sdy.list_of_axis_ref_lists" | "sdy.all_to_all_param_list" => {
            list(out, "[", items(fields, "value"), "]", nested);
        }
        "sdy.all_to_all_param" => {
            axes(out, fields, "axes");
            let number = |name| fields.get(name).and_then(Attribute::as_int).unwrap_or_default();
            let _ = write!(out, ": {}->{}", number("src_dim"), number("tgt_dim"));
        }
        "sdy.mesh_axis" => {
            name(out, fields);
            let _ = write!(out, "={}", fields.get("size").and_then(Attribute::as_int).unwrap_or_default());
        }
        "sdy.sub_axis_info" => sub_axis(out, fields),
        // An unknown structure. Its fields are printed for people to read.
        _ => attribute::dictionary(out, fields),
    }
}

/// Returns the items of a field that is a list.
fn items<'f>(fields: &'f Attributes, name: &str) -> std::slice::Iter<'f, Attribute> {
    fields.get(name).and_then(Attribute::as_array).unwrap_or_default().iter()
}

/// Writes a nested structure, which omits its kind.
fn nested(out: &mut String, value: &Attribute) {
    match value {
        Attribute::Struct(kind, fields) => body(out, kind, fields),
        _ => attribute::write(out, value),
    }
}

fn mesh(out: &mut String, fields: &Attributes) {
    list(out, "<[", items(fields, "axes"), "]", nested);
    let ids = fields.get("device_ids").filter(|ids| ids.ints().is_some_and(|ids| !ids.is_empty()));
    if let Some(ids) = ids {
        out.push_str(", device_ids=");
        attribute::integers(out, ids);
    }
    out.push('>');
}

fn sharding(out: &mut String, fields: &Attributes) {
    out.push('<');
    match fields.get("mesh_or_ref") {
        Some(Attribute::Struct(_, mesh_fields)) => {
            out.push_str("mesh");
            mesh(out, mesh_fields);
        }
        Some(Attribute::Symbol(name)) => attribute::symbol(out, name),
        _ => {}
    }
    list(out, ", [", items(fields, "dim_shardings"), "]", nested);
    if items(fields, "replicated_axes").len() > 0 {
        out.push_str(", replicated=");
        axes(out, fields, "replicated_axes");
    }
    if items(fields, "unreduced_axes").len() > 0 {
        out.push_str(", unreduced=");
        if let Some(Attribute::Enum(_, word)) = fields.get("reduction_op")
            && *word != "sum"
        {
            out.push_str(word);
        }
        axes(out, fields, "unreduced_axes");
    }
    out.push('>');
}

/// Writes `[<@mesh, [{"x"}]>]`.
pub fn shardings(out: &mut String, fields: &Attributes) {
    list(out, "[", items(fields, "shardings"), "]", nested);
}

fn dimension(out: &mut String, fields: &Attributes) {
    list(out, "{", items(fields, "axes"), "", nested);
    if fields.get("is_closed").and_then(Attribute::as_bool) == Some(false) {
        out.push_str(if items(fields, "axes").len() > 0 { ", ?" } else { "?" });
    }
    out.push('}');
    if let Some(priority) = fields.get("priority").and_then(Attribute::as_int) {
        let _ = write!(out, "p{priority}");
    }
}

fn axes(out: &mut String, fields: &Attributes, name: &str) {
    list(out, "{", items(fields, name), "}", nested);
}

fn axis(out: &mut String, fields: &Attributes) {
    name(out, fields);
    if let Some(part) = fields.get("sub_axis_info") {
        out.push(':');
        nested(out, part);
    }
}

fn name(out: &mut String, fields: &Attributes) {
    if let Some(Attribute::String(bytes)) = fields.get("name") {
        string(out, bytes);
    }
}
