//! `window=` of convolutions and windowed reductions.

use super::{AttrError, AttrReader, AttrValue, BraceContents, ComputationNames};
use std::fmt;

/// One dimension of a [`Window`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WindowDim {
    /// The number of elements in the window.
    pub size: i64,
    /// The step between windows.
    pub stride: i64,
    /// Padding before the base area; negative values remove elements.
    pub pad_low: i64,
    /// Padding after the base area.
    pub pad_high: i64,
    /// Base dilation: the distance between neighbors of the base area, 1 for none.
    pub lhs_dilate: i64,
    /// Window dilation: the distance between neighbors of the window.
    pub rhs_dilate: i64,
    /// Whether the window is reversed.
    pub reversed: bool,
}

impl Default for WindowDim {
    fn default() -> Self {
        Self { size: 1, stride: 1, pad_low: 0, pad_high: 0, lhs_dilate: 1, rhs_dilate: 1, reversed: false }
    }
}

/// The window of a convolution or a windowed reduction, one entry per (spatial) dimension.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Window {
    /// The dimensions.
    pub dims: Vec<WindowDim>,
}

impl Window {
    /// Returns the dimensions of the window over an array of this rank. They are trivial if the attribute is empty.
    pub fn of_rank(&self, rank: usize) -> Vec<WindowDim> {
        if self.dims.is_empty() { vec![WindowDim::default(); rank] } else { self.dims.clone() }
    }
}

/// Reads `AxBxC` with `item` for each element. It is one token, without blanks inside.
fn read_x_separated<'a, T>(
    r: &mut AttrReader<'a>,
    mut item: impl FnMut(&mut AttrReader<'a>) -> Result<T, AttrError>,
) -> Result<Vec<T>, AttrError> {
    let mut out = vec![item(r)?];
    while r.eat_next("x") {
        if r.at_blank() {
            return Err(r.expected("a number right after the `x`"));
        }
        out.push(item(r)?);
    }
    Ok(out)
}

/// Reads whether a dimension is reversed: 1 or 0.
fn reversal(r: &mut AttrReader<'_>) -> Result<(i64, i64), AttrError> {
    let start = r.offset();
    match r.integer()? {
        value @ (0 | 1) => Ok((value, 0)),
        other => Err(r.error_since(start, format!("`rhs_reversal` is 0 or 1, found {other}"))),
    }
}

/// `{size=3x3 stride=2x2 pad=0_1x0_1 lhs_dilate=… rhs_dilate=… rhs_reversal=…}`.
impl AttrValue for Window {
    const RULE: &'static str = "window";
    const BRACE_CONTENTS: BraceContents =
        BraceContents::fields(&["size", "stride", "pad", "lhs_dilate", "rhs_dilate", "rhs_reversal"]);

    fn read(r: &mut AttrReader<'_>) -> Result<Self, AttrError> {
        let start = r.offset();
        let mut dims: Option<Vec<WindowDim>> = None;
        let mut fields: Vec<(&str, Vec<(i64, i64)>)> = Vec::new();
        r.expect("{")?;
        while !r.eat("}") {
            let name = Self::BRACE_CONTENTS.fields[r.sub_attribute(Self::BRACE_CONTENTS.fields)?];
            if fields.iter().any(|(n, _)| *n == name) || (name == "size" && dims.is_some()) {
                return Err(r.error_since(start, format!("the window has `{name}=` twice")));
            }
            match name {
                "size" => {
                    dims = Some(
                        read_x_separated(r, AttrReader::integer)?
                            .into_iter()
                            .map(|size| WindowDim { size, ..WindowDim::default() })
                            .collect(),
                    )
                }
                "pad" => fields.push((
                    name,
                    read_x_separated(r, |r| {
                        let low = r.integer()?;
                        if !r.eat_next("_") || r.at_blank() {
                            return Err(r.expected("padding such as `0_1`"));
                        }
                        Ok((low, r.integer()?))
                    })?,
                )),
                "rhs_reversal" => fields.push((name, read_x_separated(r, reversal)?)),
                _ => fields.push((name, read_x_separated(r, |r| Ok((r.integer()?, 0)))?)),
            }
        }
        let Some(mut dims) = dims else {
            return if fields.is_empty() {
                Ok(Window::default())
            } else {
                Err(r.error_since(start, "a window needs `size=`".into()))
            };
        };
        for (name, values) in fields {
            if values.len() != dims.len() {
                return Err(r.error_since(
                    start,
                    format!("`{name}=` has {} dimensions, `size=` has {}", values.len(), dims.len()),
                ));
            }
            for (d, (a, b)) in dims.iter_mut().zip(values) {
                match name {
                    "stride" => d.stride = a,
                    "pad" => (d.pad_low, d.pad_high) = (a, b),
                    "lhs_dilate" => d.lhs_dilate = a,
                    "rhs_dilate" => d.rhs_dilate = a,
                    _ => d.reversed = a == 1,
                }
            }
        }
        Ok(Window { dims })
    }

    fn write(&self, f: &mut dyn fmt::Write, _: &dyn ComputationNames) -> fmt::Result {
        let join = |item: &dyn Fn(&WindowDim) -> String| -> String {
            self.dims.iter().map(item).collect::<Vec<_>>().join("x")
        };
        let some = |differs: &dyn Fn(&WindowDim) -> bool| self.dims.iter().any(differs);
        f.write_str("{")?;
        if !self.dims.is_empty() {
            write!(f, "size={}", join(&|d| d.size.to_string()))?;
        }
        if some(&|d| d.stride != 1) {
            write!(f, " stride={}", join(&|d| d.stride.to_string()))?;
        }
        if some(&|d| d.pad_low != 0 || d.pad_high != 0) {
            write!(f, " pad={}", join(&|d| format!("{}_{}", d.pad_low, d.pad_high)))?;
        }
        if some(&|d| d.lhs_dilate != 1) {
            write!(f, " lhs_dilate={}", join(&|d| d.lhs_dilate.to_string()))?;
        }
        if some(&|d| d.rhs_dilate != 1) {
            write!(f, " rhs_dilate={}", join(&|d| d.rhs_dilate.to_string()))?;
        }
        if some(&|d| d.reversed) {
            write!(f, " rhs_reversal={}", join(&|d| u8::from(d.reversed).to_string()))?;
        }
        f.write_str("}")
    }
}
