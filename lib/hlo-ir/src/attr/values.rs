//! Common types of attribute values: integers, booleans, floats, lists of them, computations.

use super::{AttrError, AttrReader, AttrValue, BraceContents, ComputationNames};
use crate::{ComputationId, Dims};
use std::fmt;

impl AttrValue for i64 {
    const RULE: &'static str = "integer";

    fn read(r: &mut AttrReader<'_>) -> Result<Self, AttrError> {
        r.integer()
    }
    fn write(&self, f: &mut dyn fmt::Write, _: &dyn ComputationNames) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// `None` if omitted.
impl<T: AttrValue> AttrValue for Option<T> {
    const RULE: &'static str = T::RULE;
    const WORDS: &'static [&'static str] = T::WORDS;
    const BRACE_CONTENTS: BraceContents = T::BRACE_CONTENTS;

    fn read(r: &mut AttrReader<'_>) -> Result<Self, AttrError> {
        T::read(r).map(Some)
    }
    fn write(&self, f: &mut dyn fmt::Write, names: &dyn ComputationNames) -> fmt::Result {
        self.as_ref().map_or(Ok(()), |v| v.write(f, names))
    }
    fn for_each_computation(&self, f: &mut dyn FnMut(ComputationId)) {
        if let Some(v) = self {
            v.for_each_computation(f);
        }
    }
    fn for_each_computation_mut(&mut self, f: &mut dyn FnMut(&mut ComputationId)) {
        if let Some(v) = self {
            v.for_each_computation_mut(f);
        }
    }
}

impl AttrValue for bool {
    const RULE: &'static str = "boolean";
    const WORDS: &'static [&'static str] = &["true", "false"];

    fn read(r: &mut AttrReader<'_>) -> Result<Self, AttrError> {
        r.one_of(Self::WORDS).map(|index| index == 0)
    }
    fn write(&self, f: &mut dyn fmt::Write, _: &dyn ComputationNames) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// `{true,false}`.
impl AttrValue for Vec<bool> {
    const RULE: &'static str = "booleans";

    fn read(r: &mut AttrReader<'_>) -> Result<Self, AttrError> {
        r.list("{", "}", bool::read)
    }
    fn write(&self, f: &mut dyn fmt::Write, _: &dyn ComputationNames) -> fmt::Result {
        write_braced(f, self, ",", |f, b| write!(f, "{b}"))
    }
}

impl AttrValue for f32 {
    const RULE: &'static str = "decimal";

    fn read(r: &mut AttrReader<'_>) -> Result<Self, AttrError> {
        r.decimal()
    }
    fn write(&self, f: &mut dyn fmt::Write, _: &dyn ComputationNames) -> fmt::Result {
        f.write_str(&crate::print::format_f32(*self))
    }
}

pub(super) fn write_braced<T>(
    f: &mut dyn fmt::Write,
    items: &[T],
    separator: &str,
    mut item: impl FnMut(&mut dyn fmt::Write, &T) -> fmt::Result,
) -> fmt::Result {
    f.write_str("{")?;
    for (i, x) in items.iter().enumerate() {
        if i > 0 {
            f.write_str(separator)?;
        }
        item(f, x)?;
    }
    f.write_str("}")
}

/// Prints numbers with a separator between them.
pub(super) fn write_joined(f: &mut dyn fmt::Write, numbers: &[i64], separator: &str) -> fmt::Result {
    for (i, n) in numbers.iter().enumerate() {
        if i > 0 {
            f.write_str(separator)?;
        }
        write!(f, "{n}")?;
    }
    Ok(())
}

/// `{0,1}`: dimension numbers or sizes.
impl AttrValue for Dims {
    const RULE: &'static str = "integers";

    fn read(r: &mut AttrReader<'_>) -> Result<Self, AttrError> {
        Ok(r.list("{", "}", AttrReader::integer)?.into())
    }
    fn write(&self, f: &mut dyn fmt::Write, _: &dyn ComputationNames) -> fmt::Result {
        write_braced(f, self, ",", |f, d| write!(f, "{d}"))
    }
}

impl AttrValue for ComputationId {
    const RULE: &'static str = "callee";

    fn read(r: &mut AttrReader<'_>) -> Result<Self, AttrError> {
        r.computation()
    }
    fn write(&self, f: &mut dyn fmt::Write, names: &dyn ComputationNames) -> fmt::Result {
        names.write_computation(f, *self)
    }
    fn for_each_computation(&self, f: &mut dyn FnMut(ComputationId)) {
        f(*self);
    }
    fn for_each_computation_mut(&mut self, f: &mut dyn FnMut(&mut ComputationId)) {
        f(self);
    }
}

impl AttrValue for Vec<ComputationId> {
    const RULE: &'static str = "callees";

    fn read(r: &mut AttrReader<'_>) -> Result<Self, AttrError> {
        r.list("{", "}", AttrReader::computation)
    }
    fn write(&self, f: &mut dyn fmt::Write, names: &dyn ComputationNames) -> fmt::Result {
        write_braced(f, self, ", ", |f, &c| names.write_computation(f, c))
    }
    fn for_each_computation(&self, f: &mut dyn FnMut(ComputationId)) {
        self.iter().for_each(|&c| f(c));
    }
    fn for_each_computation_mut(&mut self, f: &mut dyn FnMut(&mut ComputationId)) {
        self.iter_mut().for_each(f);
    }
}
