//! Descriptions of operations.

use super::Version;

/// The description of an operation in its dialect.
#[derive(Debug, PartialEq, Eq)]
pub struct OperationInfo {
    /// The name with its dialect, such as `stablehlo.all_gather`.
    pub name: &'static str,
    /// The inherent attributes, which its dialect defines, in alphabetical order. All other attributes are
    /// discardable.
    pub attributes: &'static [Inherent],
    /// The corresponding VHLO operations, the oldest first. Empty if VHLO has none.
    pub vhlo: &'static [Versioned],
}

/// An inherent attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inherent {
    /// The name of the attribute.
    pub name: &'static str,
    /// Whether the attribute is optional.
    pub is_optional: bool,
    /// Whether the attribute was added after the operation. Older bytecode of the dialect itself lacks it.
    pub is_later: bool,
    /// The element type, if the attribute is an `array<…>`. VHLO has a one-dimensional tensor instead.
    pub list: Option<ListOf>,
}

/// The elements of an `array<…>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListOf {
    /// `array<i64: …>`.
    I64,
    /// `array<i1: …>`.
    Bool,
}

/// A VHLO operation: a StableHLO operation in a range of versions.
#[derive(Debug, PartialEq, Eq)]
pub struct Versioned {
    /// The name without the dialect, such as `all_gather_v2`.
    pub name: &'static str,
    /// The version that introduced the operation.
    pub since: Version,
    /// The last version with the operation, or `None` if the newest version has it.
    pub until: Option<Version>,
    /// The attributes, in alphabetical order. All of them are required.
    pub attributes: &'static [&'static str],
}

impl OperationInfo {
    /// Returns the inherent attribute of a name.
    pub fn attribute(&self, name: &str) -> Option<&'static Inherent> {
        self.attributes.iter().find(|a| a.name == name)
    }

    /// Returns the corresponding VHLO operation in a version.
    pub fn in_version(&self, version: Version) -> Option<&'static Versioned> {
        self.vhlo.iter().find(|v| v.contains(version))
    }
}

impl Versioned {
    /// Checks whether a version has the operation.
    pub fn contains(&self, version: Version) -> bool {
        self.since <= version && self.until.is_none_or(|until| version <= until)
    }
}

impl Inherent {
    /// Parses an entry of the table: a name, `?` if the attribute is optional, `+` if it was added later, and
    /// `:i64s` or `:bools` if it is an array.
    ///
    /// # Panics
    /// If the entry is invalid.
    pub(super) const fn parse(entry: &'static str) -> Self {
        let bytes = entry.as_bytes();
        let mut end = 0;
        while end < bytes.len() && bytes[end] != b'?' && bytes[end] != b':' {
            end += 1;
        }
        let (name, rest) = entry.split_at(end);
        let (is_optional, is_later, list) = match rest.as_bytes() {
            b"" => (false, false, None),
            b"?" => (true, false, None),
            b"?+" => (true, true, None),
            b":i64s" => (false, false, Some(ListOf::I64)),
            b"?:i64s" => (true, false, Some(ListOf::I64)),
            b"?:bools" => (true, false, Some(ListOf::Bool)),
            _ => panic!("no entry of the table"),
        };
        Self { name, is_optional, is_later, list }
    }
}
