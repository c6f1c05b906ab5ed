//! `metadata=`: the source of an instruction. Nearly every instruction of a real module has metadata. It is
//! therefore read in one pass, allocates only its strings, and stores rare fields separately.

use super::string::write_quoted;
use super::values::write_joined;
use super::{AttrError, AttrReader, AttrValue, BraceContents, ComputationNames, HloString};
use std::fmt;

/// The source of an instruction (HLO text, "Common values"). Unknown strings are empty, and unknown numbers
/// are 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct OpMetadata {
    /// The operation of the program's framework.
    pub op_type: HloString,
    /// The name of the operation, with its enclosing scopes.
    pub op_name: HloString,
    /// The source file.
    pub source_file: HloString,
    /// The line where the operation starts.
    pub source_line: i32,
    /// The line where the operation ends.
    pub source_end_line: i32,
    /// The column where the operation starts.
    pub source_column: i32,
    /// The column where the operation ends.
    pub source_end_column: i32,
    /// The entry of the stack-frame table for its call site.
    pub stack_frame_id: i32,
    /// The rare fields, if there are any.
    pub rare: Option<Box<RareMetadata>>,
}

/// The fields of [`OpMetadata`] that few instructions have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct RareMetadata {
    /// The kinds of profiles that influenced how it is computed, by number: 0 to 3.
    pub profile_type: Vec<i64>,
    /// The name shared by equal instructions.
    pub deduplicated_name: HloString,
    /// The name at the time of scheduling.
    pub scheduling_name: HloString,
    /// An opaque payload.
    pub metadata_payload: HloString,
}

/// The fields, in printing order.
const FIELDS: &[&str] = &[
    "op_type",
    "op_name",
    "source_file",
    "source_line",
    "source_end_line",
    "source_column",
    "source_end_column",
    "profile_type",
    "deduplicated_name",
    "scheduling_name",
    "stack_frame_id",
    "metadata_payload",
];

/// Maximum number of a profile type.
const MAX_PROFILE_TYPE: i64 = 3;

impl OpMetadata {
    /// Returns whether nothing is known.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn read_field(&mut self, index: usize, r: &mut AttrReader<'_>) -> Result<(), AttrError> {
        match index {
            0 => self.op_type = r.string()?,
            1 => self.op_name = r.string()?,
            2 => self.source_file = r.string()?,
            3 => self.source_line = r.integer32()?,
            4 => self.source_end_line = r.integer32()?,
            5 => self.source_column = r.integer32()?,
            6 => self.source_end_column = r.integer32()?,
            10 => self.stack_frame_id = r.integer32()?,
            _ => return self.rare.get_or_insert_default().read_field(index, r),
        }
        Ok(())
    }
}

impl RareMetadata {
    fn read_field(&mut self, index: usize, r: &mut AttrReader<'_>) -> Result<(), AttrError> {
        match index {
            7 => self.profile_type = r.list("{", "}", read_profile_type)?,
            8 => self.deduplicated_name = r.string()?,
            9 => self.scheduling_name = r.string()?,
            _ => self.metadata_payload = r.string()?,
        }
        Ok(())
    }
}

fn read_profile_type(r: &mut AttrReader<'_>) -> Result<i64, AttrError> {
    let start = r.offset_of_next();
    match r.integer()? {
        n @ 0..=MAX_PROFILE_TYPE => Ok(n),
        _ => Err(r.error_since(start, format!("a profile type is from 0 to {MAX_PROFILE_TYPE}"))),
    }
}

/// `{op_name="jit(f)/add" source_file="f.py" source_line=3}`: fields in any order, with or without commas.
impl AttrValue for OpMetadata {
    const RULE: &'static str = "metadata";
    const BRACE_CONTENTS: BraceContents = BraceContents::fields(FIELDS);

    fn read(r: &mut AttrReader<'_>) -> Result<Self, AttrError> {
        let mut out = Self::default();
        let mut seen = 0u16;
        r.expect("{")?;
        while !r.eat("}") {
            r.eat(",");
            let start = r.offset_of_next();
            let index = r.sub_attribute(FIELDS)?;
            if seen & (1 << index) != 0 {
                return Err(r.error_since(start, format!("metadata has `{}` twice", FIELDS[index])));
            }
            seen |= 1 << index;
            out.read_field(index, r)?;
        }
        // Rare fields in the text may all be empty.
        out.rare = out.rare.filter(|rare| **rare != RareMetadata::default());
        Ok(out)
    }

    fn write(&self, f: &mut dyn fmt::Write, _: &dyn ComputationNames) -> fmt::Result {
        let mut separator = "{";
        let mut name = |f: &mut dyn fmt::Write, index: usize| {
            f.write_str(std::mem::replace(&mut separator, " "))?;
            f.write_str(FIELDS[index])?;
            f.write_str("=")
        };
        for (index, text) in [&self.op_type, &self.op_name, &self.source_file].into_iter().enumerate() {
            if !text.is_empty() {
                name(f, index)?;
                write_quoted(f, text.as_bytes())?;
            }
        }
        let places = [self.source_line, self.source_end_line, self.source_column, self.source_end_column];
        for (index, n) in (3..).zip(places) {
            if n != 0 {
                name(f, index)?;
                write!(f, "{n}")?;
            }
        }
        if let Some(rare) = &self.rare {
            if !rare.profile_type.is_empty() {
                name(f, 7)?;
                f.write_str("{")?;
                write_joined(f, &rare.profile_type, ",")?;
                f.write_str("}")?;
            }
            for (index, text) in (8..).zip([&rare.deduplicated_name, &rare.scheduling_name]) {
                if !text.is_empty() {
                    name(f, index)?;
                    write_quoted(f, text.as_bytes())?;
                }
            }
        }
        if self.stack_frame_id != 0 {
            name(f, 10)?;
            write!(f, "{}", self.stack_frame_id)?;
        }
        if let Some(rare) = self.rare.as_ref().filter(|rare| !rare.metadata_payload.is_empty()) {
            name(f, 11)?;
            write_quoted(f, rare.metadata_payload.as_bytes())?;
        }
        f.write_str(if separator == "{" { "{}" } else { "}" })
    }
}

/// Reads one metadata value or a list of them: `{op_name="a"}`, `{{op_name="a"}, {op_name="b"}}`.
pub(super) fn read_one_or_list(r: &mut AttrReader<'_>) -> Result<Vec<OpMetadata>, AttrError> {
    let mark = r.offset();
    r.expect("{")?;
    let list = r.peek() == b'{';
    r.rewind(mark);
    if list { r.list("{", "}", OpMetadata::read) } else { OpMetadata::read(r).map(|m| vec![m]) }
}
