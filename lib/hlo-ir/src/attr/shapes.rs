//! Shapes as attributes: `outfeed_shape`, `operand_layout_constraints`.

use super::{AttrError, AttrReader, AttrValue, ComputationNames};
use crate::Shape;
use std::fmt;

/// `outfeed_shape=(f32[4]{0}, s32[])`, if present.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct OptionalShape(pub Option<Shape>);

impl AttrValue for OptionalShape {
    const RULE: &'static str = "shape";

    fn read(r: &mut AttrReader<'_>) -> Result<Self, AttrError> {
        r.shape().map(|s| OptionalShape(Some(s)))
    }

    fn write(&self, f: &mut dyn fmt::Write, _: &dyn ComputationNames) -> fmt::Result {
        match &self.0 {
            Some(shape) => f.write_str(&crate::print::print_shape(shape)),
            None => Ok(()),
        }
    }
}

/// `operand_layout_constraints={f32[4]{0}, s32[]}`, if present: the operands' shapes with the required
/// layouts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct LayoutConstraints(pub Option<Vec<Shape>>);

impl AttrValue for LayoutConstraints {
    const RULE: &'static str = "shapes";

    fn read(r: &mut AttrReader<'_>) -> Result<Self, AttrError> {
        r.list("{", "}", AttrReader::shape).map(|shapes| LayoutConstraints(Some(shapes)))
    }

    fn write(&self, f: &mut dyn fmt::Write, _: &dyn ComputationNames) -> fmt::Result {
        f.write_str("{")?;
        for (i, shape) in self.0.iter().flatten().enumerate() {
            f.write_str(if i > 0 { ", " } else { "" })?;
            f.write_str(&crate::print::print_shape(shape))?;
        }
        f.write_str("}")
    }
}
