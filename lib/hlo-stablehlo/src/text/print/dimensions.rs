//! Printing of the dimensions and windows of convolutions, products and slices.

use super::attribute::{self, list};
use crate::tree::{Attribute, Attributes, Operation};
use std::fmt::Write;

/// Writes `[b, 0, f]x[0, i, o]->[b, 0, f]`.
pub fn convolution(out: &mut String, fields: &Attributes) {
    let number = |name: &str| fields.get(name).and_then(Attribute::as_int);
    let spatial = |name: &str| fields.get(name).and_then(Attribute::ints).unwrap_or_default();
    let arrays = [
        ("input", ["batch", "feature"], ["b", "f"]),
        ("kernel", ["input_feature", "output_feature"], ["i", "o"]),
        ("output", ["batch", "feature"], ["b", "f"]),
    ];
    for (array, names, letters) in arrays {
        let spatial = spatial(&format!("{array}_spatial_dimensions"));
        let mut dims = vec![String::new(); spatial.len() + 2];
        let mut place = |at: Option<i64>, text: String| {
            let at = at.and_then(|at| usize::try_from(at).ok());
            if let Some(slot) = at.and_then(|at| dims.get_mut(at)) {
                *slot = text;
            }
        };
        for (name, letter) in names.into_iter().zip(letters) {
            place(number(&format!("{array}_{name}_dimension")), letter.to_owned());
        }
        for (i, at) in spatial.into_iter().enumerate() {
            place(Some(at), i.to_string());
        }
        let mark = match array {
            "input" => "",
            "kernel" => "x",
            _ => "->",
        };
        let open = format!("{mark}[");
        list(out, &open, dims.iter(), "]", |out, dim| out.push_str(dim));
    }
}

/// Writes `batching_dims = [0] x [0], contracting_dims = [2] x [1]`.
pub fn dot(out: &mut String, op: &Operation) {
    let fields = op.attribute("dot_dimension_numbers").and_then(|a| a.fields("stablehlo.dot"));
    let ints = |name: &str| fields.and_then(|f| f.get(name)).and_then(Attribute::ints).unwrap_or_default();
    let pair = |out: &mut String, left: Vec<i64>, right: Vec<i64>| {
        attribute::integers(out, &Attribute::i64s(left));
        out.push_str(" x ");
        attribute::integers(out, &Attribute::i64s(right));
    };
    let batching = (ints("lhs_batching_dimensions"), ints("rhs_batching_dimensions"));
    if !batching.0.is_empty() || !batching.1.is_empty() {
        out.push_str("batching_dims = ");
        pair(out, batching.0, batching.1);
        out.push_str(", ");
    }
    out.push_str("contracting_dims = ");
    pair(out, ints("lhs_contracting_dimensions"), ints("rhs_contracting_dimensions"));
}

/// Writes `[0:4, 1:5:2]`.
pub fn slice(out: &mut String, op: &Operation) {
    let ints = |name: &str| op.attribute(name).and_then(Attribute::ints).unwrap_or_default();
    let (starts, limits, strides) = (ints("start_indices"), ints("limit_indices"), ints("strides"));
    let ranges = starts.into_iter().zip(limits).zip(strides);
    list(out, "[", ranges, "]", |out, ((start, limit), stride)| {
        let _ = write!(out, "{start}:{limit}");
        if stride != 1 {
            let _ = write!(out, ":{stride}");
        }
    });
}

/// The attributes of a window with their short names.
pub const WINDOW: [(&str, &str); 5] = [
    ("window_strides", "stride"),
    ("padding", "pad"),
    ("lhs_dilation", "lhs_dilate"),
    ("rhs_dilation", "rhs_dilate"),
    ("window_reversal", "reverse"),
];

/// Writes `stride = [1, 1], pad = [[0, 0], [0, 0]]`.
pub fn window(out: &mut String, op: &Operation) {
    let said = WINDOW.iter().filter_map(|&(name, short)| Some((short, op.attribute(name)?.ints()?)));
    list(out, "", said, "", |out, (short, values)| {
        out.push_str(short);
        out.push_str(" = ");
        match short {
            "pad" => list(out, "[", values.chunks(2), "]", |out, row| {
                list(out, "[", row.iter(), "]", |out, n| {
                    let _ = write!(out, "{n}");
                });
            }),
            "reverse" => list(out, "[", values.iter(), "]", |out, &flag| {
                out.push_str(if flag != 0 { "true" } else { "false" });
            }),
            _ => attribute::integers(out, &Attribute::i64s(values)),
        }
    });
}
