//! Which results share memory with which parameters or operands: `input_output_alias`, `buffer_donor`,
//! `output_to_operand_aliasing`.

use super::values::write_joined;
use super::{AttrError, AttrReader, AttrValue, ComputationNames};
use std::fmt;

/// A path into a tuple: the index at each level. It is empty for the whole value.
pub type ShapeIndex = Vec<i64>;

/// Reads `{1,0}`.
pub(super) fn read_index(r: &mut AttrReader<'_>) -> Result<ShapeIndex, AttrError> {
    r.list("{", "}", AttrReader::integer)
}

/// Prints `{1,0}`.
pub(super) fn write_index(f: &mut dyn fmt::Write, index: &[i64]) -> fmt::Result {
    f.write_str("{")?;
    write_joined(f, index, ",")?;
    f.write_str("}")
}

/// Formats `{1,0}`, for messages.
pub(crate) fn index_text(index: &[i64]) -> String {
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = write_index(&mut out, index);
    out
}

/// Reads `{ item, item }`; a comma may follow the last one.
fn spaced_list<'a, T>(
    r: &mut AttrReader<'a>,
    mut item: impl FnMut(&mut AttrReader<'a>) -> Result<T, AttrError>,
) -> Result<Vec<T>, AttrError> {
    r.expect("{")?;
    let mut out = Vec::new();
    while !r.eat("}") {
        out.push(item(r)?);
        if !r.eat(",") && r.peek() != b'}' {
            return Err(r.expected("`,` or `}`"));
        }
    }
    Ok(out)
}

/// An output that shares the memory of a parameter. Either one may be a part of a tuple.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct InputOutputAlias {
    /// The part of the result.
    pub output: ShapeIndex,
    /// The number of the parameter.
    pub parameter: i64,
    /// The part of the parameter.
    pub parameter_index: ShapeIndex,
    /// Whether the memory must be shared (true) or may be shared (false).
    pub must: bool,
}

/// `input_output_alias={ {0}: (1, {}, may-alias) }`: at most one entry for each part of the result, in the
/// result's order.
impl AttrValue for Vec<InputOutputAlias> {
    const RULE: &'static str = "input_output_aliases";

    fn read(r: &mut AttrReader<'_>) -> Result<Self, AttrError> {
        let mut list = spaced_list(r, |r| {
            let output = read_index(r)?;
            r.expect(":")?;
            r.expect("(")?;
            let parameter = r.integer()?;
            r.expect(",")?;
            let parameter_index = read_index(r)?;
            let must = r.eat(",") && r.one_of(&["may-alias", "must-alias"])? == 1;
            r.expect(")")?;
            Ok(InputOutputAlias { output, parameter, parameter_index, must })
        })?;
        // If several entries have the same output, the first one counts. The sort is stable.
        list.sort_by(|a, b| a.output.cmp(&b.output));
        list.dedup_by(|later, first| later.output == first.output);
        Ok(list)
    }

    fn write(&self, f: &mut dyn fmt::Write, _: &dyn ComputationNames) -> fmt::Result {
        f.write_str("{ ")?;
        for (i, alias) in self.iter().enumerate() {
            f.write_str(if i > 0 { ", " } else { "" })?;
            write_index(f, &alias.output)?;
            write!(f, ": ({}, ", alias.parameter)?;
            write_index(f, &alias.parameter_index)?;
            f.write_str(if alias.must { ", must-alias)" } else { ", may-alias)" })?;
        }
        f.write_str(" }")
    }
}

/// A parameter, or a part of one, whose memory may be reused for results.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BufferDonor {
    /// The number of the parameter.
    pub parameter: i64,
    /// The part of the parameter.
    pub index: ShapeIndex,
}

/// `buffer_donor={ (0, {}), (1, {0}) }`: sorted, without duplicates.
impl AttrValue for Vec<BufferDonor> {
    const RULE: &'static str = "buffer_donors";

    fn read(r: &mut AttrReader<'_>) -> Result<Self, AttrError> {
        let mut list = spaced_list(r, |r| {
            r.expect("(")?;
            let parameter = r.integer()?;
            r.expect(",")?;
            let index = read_index(r)?;
            r.expect(")")?;
            Ok(BufferDonor { parameter, index })
        })?;
        list.sort();
        list.dedup();
        Ok(list)
    }

    fn write(&self, f: &mut dyn fmt::Write, _: &dyn ComputationNames) -> fmt::Result {
        f.write_str("{ ")?;
        for (i, donor) in self.iter().enumerate() {
            write!(f, "{}({}, ", if i > 0 { ", " } else { "" }, donor.parameter)?;
            write_index(f, &donor.index)?;
            f.write_str(")")?;
        }
        f.write_str(" }")
    }
}

/// A part of an instruction's result that shares memory with a part of an operand.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OperandAlias {
    /// The part of the result.
    pub output: ShapeIndex,
    /// The number of the operand.
    pub operand: i64,
    /// The part of the operand.
    pub operand_index: ShapeIndex,
}

/// `output_to_operand_aliasing={{0}: (1, {})}`, in the order of the text.
impl AttrValue for Vec<OperandAlias> {
    const RULE: &'static str = "operand_aliases";

    fn read(r: &mut AttrReader<'_>) -> Result<Self, AttrError> {
        spaced_list(r, |r| {
            let output = read_index(r)?;
            r.expect(":")?;
            r.expect("(")?;
            let operand = r.integer()?;
            r.expect(",")?;
            let operand_index = read_index(r)?;
            r.expect(")")?;
            Ok(OperandAlias { output, operand, operand_index })
        })
    }

    fn write(&self, f: &mut dyn fmt::Write, _: &dyn ComputationNames) -> fmt::Result {
        f.write_str("{")?;
        for (i, alias) in self.iter().enumerate() {
            f.write_str(if i > 0 { ", " } else { "" })?;
            write_index(f, &alias.output)?;
            write!(f, ": ({}, ", alias.operand)?;
            write_index(f, &alias.operand_index)?;
            f.write_str(")")?;
        }
        f.write_str("}")
    }
}
