//! `slice=` and `padding=`: one entry per dimension.

use super::values::write_braced;
use super::{AttrError, AttrReader, AttrValue, ComputationNames};
use std::fmt;

/// One dimension of `slice`: the elements `start, start+stride, …` below `limit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SliceDim {
    /// The first index.
    pub start: i64,
    /// The exclusive upper bound of the indices.
    pub limit: i64,
    /// The step, at least 1.
    pub stride: i64,
}

/// `{[0:4], [1:9:2]}`.
impl AttrValue for Vec<SliceDim> {
    const RULE: &'static str = "slices";

    fn read(r: &mut AttrReader<'_>) -> Result<Self, AttrError> {
        r.list("{", "}", |r| {
            r.expect("[")?;
            let start = r.integer()?;
            r.expect(":")?;
            let limit = r.integer()?;
            let stride = if r.eat(":") { r.integer()? } else { 1 };
            r.expect("]")?;
            Ok(SliceDim { start, limit, stride })
        })
    }
    fn write(&self, f: &mut dyn fmt::Write, _: &dyn ComputationNames) -> fmt::Result {
        // If one dimension has a stride, all strides are printed.
        let strides = self.iter().any(|d| d.stride != 1);
        write_braced(f, self, ", ", |f, d| {
            write!(f, "[{}:{}", d.start, d.limit)?;
            if strides {
                write!(f, ":{}", d.stride)?;
            }
            f.write_str("]")
        })
    }
}

/// One dimension of `pad`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PaddingDim {
    /// Number of elements added before the first (removed if negative).
    pub low: i64,
    /// Number of elements added after the last (removed if negative).
    pub high: i64,
    /// Number of elements added between neighbors; never negative.
    pub interior: i64,
}

/// Reads an integer that is not preceded by a blank.
fn next_integer(r: &mut AttrReader<'_>) -> Result<i64, AttrError> {
    if r.at_blank() { Err(r.expected("a number right after the `_`")) } else { r.integer() }
}

/// `0_1x2_3_1`: low, high and (if not 0) interior padding per dimension.
impl AttrValue for Vec<PaddingDim> {
    const RULE: &'static str = "padding";

    fn read(r: &mut AttrReader<'_>) -> Result<Self, AttrError> {
        let mut out = Vec::new();
        if r.at_end() {
            return Ok(out); // rank 0: XLA prints `padding=`
        }
        loop {
            let low = r.integer()?;
            if !r.eat_next("_") {
                return Err(r.expected("`_`"));
            }
            let high = next_integer(r)?;
            let interior = if r.eat_next("_") { next_integer(r)? } else { 0 };
            out.push(PaddingDim { low, high, interior });
            if !r.eat_next("x") {
                return Ok(out);
            }
            if r.at_blank() {
                return Err(r.expected("a number right after the `x`"));
            }
        }
    }
    fn write(&self, f: &mut dyn fmt::Write, _: &dyn ComputationNames) -> fmt::Result {
        let interior = self.iter().any(|d| d.interior != 0);
        for (i, d) in self.iter().enumerate() {
            if i > 0 {
                f.write_str("x")?;
            }
            write!(f, "{}_{}", d.low, d.high)?;
            if interior {
                write!(f, "_{}", d.interior)?;
            }
        }
        Ok(())
    }
}
