//! `origin=` and `origin_recovery_table=`: which arrays of the original program the arrays of this program
//! correspond to.

use super::aliasing::{ShapeIndex, read_index, write_index};
use super::string::write_quoted;
use super::{AttrError, AttrReader, AttrValue, ComputationNames, HloString};
use std::fmt;

/// Maximum nesting depth of tuples of origins.
const MAX_DEPTH: usize = 1024;

/// An array of the original program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OriginalArray {
    /// The instruction that computed it.
    pub instruction: HloString,
    /// The part of the instruction's result.
    pub index: ShapeIndex,
}

/// The original arrays that a value corresponds to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum OriginTree {
    /// An array. `None` if unknown.
    Array(Option<OriginalArray>),
    /// A tuple.
    Tuple(Vec<OriginTree>),
}

/// The origin of a value of the program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// A call that did not exist in the original program.
    SyntheticCall,
    /// Arrays of the original program.
    Arrays(OriginTree),
}

impl Default for Origin {
    fn default() -> Self {
        Origin::Arrays(OriginTree::Tuple(Vec::new()))
    }
}

/// Reads the text between the braces: `"a" {0}` or nothing.
pub(super) fn read_array(r: &mut AttrReader<'_>) -> Result<Option<OriginalArray>, AttrError> {
    if !matches!(r.peek(), b'"' | b'\'') {
        return if r.peek() == b'}' { Ok(None) } else { Err(r.expected("an instruction's name in quotes")) };
    }
    let instruction = r.string()?;
    let index = if r.peek() == b'{' { read_index(r)? } else { ShapeIndex::new() };
    Ok(Some(OriginalArray { instruction, index }))
}

pub(super) fn write_array(f: &mut dyn fmt::Write, array: &OriginalArray) -> fmt::Result {
    write_quoted(f, array.instruction.as_bytes())?;
    if !array.index.is_empty() {
        f.write_str(" ")?;
        write_index(f, &array.index)?;
    }
    Ok(())
}

fn read_tree(r: &mut AttrReader<'_>, depth: usize) -> Result<OriginTree, AttrError> {
    if depth > MAX_DEPTH {
        return Err(r.expected("tuples that nest less deeply"));
    }
    if r.eat("{") {
        let array = read_array(r)?;
        r.expect("}")?;
        return Ok(OriginTree::Array(array));
    }
    if r.peek() != b'(' {
        return Err(r.expected(
            "`[synthetic_call]`, an array such as `{\"a\" {0}}` or a tuple of them in parentheses",
        ));
    }
    r.list("(", ")", |r| read_tree(r, depth + 1)).map(OriginTree::Tuple)
}

fn write_tree(f: &mut dyn fmt::Write, tree: &OriginTree) -> fmt::Result {
    match tree {
        OriginTree::Array(array) => {
            f.write_str("{")?;
            if let Some(array) = array {
                write_array(f, array)?;
            }
            f.write_str("}")
        }
        OriginTree::Tuple(elements) => {
            f.write_str("(")?;
            for (i, e) in elements.iter().enumerate() {
                f.write_str(if i > 0 { ", " } else { "" })?;
                write_tree(f, e)?;
            }
            f.write_str(")")
        }
    }
}

/// `{{"a" {0}}}`, `{({"a"}, {})}`, `{[synthetic_call]}`.
impl AttrValue for Origin {
    const RULE: &'static str = "origin";

    fn read(r: &mut AttrReader<'_>) -> Result<Self, AttrError> {
        r.expect("{")?;
        if r.eat("}") {
            return Ok(Origin::default());
        }
        let origin = if r.eat("[") {
            r.expect("synthetic_call")?;
            r.expect("]")?;
            Origin::SyntheticCall
        } else {
            Origin::Arrays(read_tree(r, 0)?)
        };
        r.expect("}")?;
        Ok(origin)
    }

    fn write(&self, f: &mut dyn fmt::Write, _: &dyn ComputationNames) -> fmt::Result {
        f.write_str("{")?;
        match self {
            Origin::SyntheticCall => f.write_str("[synthetic_call]")?,
            Origin::Arrays(tree) => write_tree(f, tree)?,
        }
        f.write_str("}")
    }
}

/// How to recover an array that is no longer computed from one that is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OriginRecovery {
    /// The array of the original program.
    pub array: OriginalArray,
    /// The array that is computed instead.
    pub replacement: OriginalArray,
    /// The text of the module that computes the original array from the replacement; `None` if they are
    /// equal.
    pub module: Option<HloString>,
}

/// The table, sorted by the original array, without duplicates.
impl AttrValue for Vec<OriginRecovery> {
    const RULE: &'static str = "origin_recoveries";

    fn read(r: &mut AttrReader<'_>) -> Result<Self, AttrError> {
        let array = |r: &mut AttrReader<'_>| -> Result<OriginalArray, AttrError> {
            r.expect("{")?;
            let array = read_array(r)?.unwrap_or_default();
            r.expect("}")?;
            Ok(array)
        };
        r.expect("{")?;
        let mut list = Vec::new();
        while !r.eat("}") {
            let original = array(r)?;
            r.expect(":")?;
            let replacement = array(r)?;
            let module = if r.eat(",") {
                let start = r.offset_of_next();
                let text = r.string()?;
                if let Err(e) = r.check_module(&text.to_text()) {
                    return Err(r.error_since(start, format!("the module that recovers the array: {e}")));
                }
                Some(text)
            } else {
                None
            };
            list.push(OriginRecovery { array: original, replacement, module });
        }
        // If several entries have the same array, the first one counts. The sort is stable.
        list.sort_by(|a, b| a.array.cmp(&b.array));
        list.dedup_by(|later, first| later.array == first.array);
        Ok(list)
    }

    fn write(&self, f: &mut dyn fmt::Write, _: &dyn ComputationNames) -> fmt::Result {
        f.write_str("{\n")?;
        for entry in self {
            f.write_str("  {")?;
            write_array(f, &entry.array)?;
            f.write_str("} : {")?;
            write_array(f, &entry.replacement)?;
            f.write_str("}")?;
            if let Some(module) = &entry.module {
                f.write_str(",\n  ")?;
                write_text(f, module)?;
            }
            f.write_str("\n")?;
        }
        // XLA also ends the line.
        f.write_str("}\n")
    }
}

/// Prints a string without escaping its line breaks. Other characters are escaped as usual.
fn write_text(f: &mut dyn fmt::Write, text: &HloString) -> fmt::Result {
    let Some(lines) = text.as_str() else { return write_quoted(f, text.as_bytes()) };
    f.write_str("\"")?;
    for (i, line) in lines.split('\n').enumerate() {
        f.write_str(if i > 0 { "\n" } else { "" })?;
        super::string::write_escaped(f, line.as_bytes())?;
    }
    f.write_str("\"")
}
