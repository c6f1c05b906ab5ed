//! What is known of an operation.

use super::Version;

/// What a dialect says of an operation.
#[derive(Debug, PartialEq, Eq)]
pub struct OperationInfo {
    /// Its name with its dialect, `stablehlo.all_gather`.
    pub name: &'static str,
    /// Its inherent attributes, those that its dialect defines, in alphabetical order. All others are discardable.
    pub attributes: &'static [Inherent],
    /// The operations of VHLO that stand for it, the oldest first; none if VHLO has none.
    pub vhlo: &'static [Versioned],
}

/// An inherent attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inherent {
    /// Its name.
    pub name: &'static str,
    /// True if it may lack.
    pub is_optional: bool,
    /// True if the operation was there before it: older bytecode of the dialect itself does not know it.
    pub is_later: bool,
    /// If it is an `array<…>`, of what; VHLO has a tensor of one dimension instead.
    pub list: Option<ListOf>,
}

/// Elements of an `array<…>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListOf {
    /// `array<i64: …>`.
    I64,
    /// `array<i1: …>`.
    Bool,
}

/// An operation of VHLO: StableHLO's in the versions of a range.
#[derive(Debug, PartialEq, Eq)]
pub struct Versioned {
    /// Its name without the dialect, `all_gather_v2`.
    pub name: &'static str,
    /// The version that it came with.
    pub since: Version,
    /// The last version that has it; `None` if the newest one does.
    pub until: Option<Version>,
    /// Its attributes, in alphabetical order, all of them required.
    pub attributes: &'static [&'static str],
}

impl OperationInfo {
    /// The inherent attribute of a name.
    pub fn attribute(&self, name: &str) -> Option<&'static Inherent> {
        self.attributes.iter().find(|a| a.name == name)
    }

    /// The operation of VHLO that stands for it in a version.
    pub fn in_version(&self, version: Version) -> Option<&'static Versioned> {
        self.vhlo.iter().find(|v| v.contains(version))
    }
}

impl Versioned {
    /// True if a version has it.
    pub fn contains(&self, version: Version) -> bool {
        self.since <= version && self.until.is_none_or(|until| version <= until)
    }
}

impl Inherent {
    /// Reads an entry of the table: a name, `?` if the attribute is optional, `+` if it came later, and `:i64s` or `:bools` if it is an array.
    ///
    /// # Panics
    /// If it is no entry.
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
