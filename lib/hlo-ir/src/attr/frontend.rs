//! `frontend_attributes=`: data of the program's front end, passed through unchanged.

use super::string::write_key;
use super::{AttrError, AttrReader, AttrValue, ComputationNames, HloString};
use std::fmt;

/// Keys and values, sorted by key, without duplicate keys.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct FrontendAttributes(Vec<(Box<str>, HloString)>);

impl FrontendAttributes {
    /// Returns the value of a key, if it is present.
    pub fn get(&self, key: &str) -> Option<&HloString> {
        self.0.binary_search_by(|(k, _)| (**k).cmp(key)).ok().map(|i| &self.0[i].1)
    }

    /// Sets the value of a key.
    pub fn set(&mut self, key: &str, value: HloString) {
        match self.0.binary_search_by(|(k, _)| (**k).cmp(key)) {
            Ok(i) => self.0[i].1 = value,
            Err(i) => self.0.insert(i, (key.into(), value)),
        }
    }

    /// Removes a key.
    pub fn remove(&mut self, key: &str) {
        self.0.retain(|(k, _)| **k != *key);
    }

    /// Iterates over keys and values in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &HloString)> {
        self.0.iter().map(|(k, v)| (&**k, v))
    }

    /// Returns whether there are no attributes.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// `{k="v",k2={"a": [1]}}`. If a key occurs more than once, the last value counts.
impl AttrValue for FrontendAttributes {
    const RULE: &'static str = "frontend_attributes";

    fn read(r: &mut AttrReader<'_>) -> Result<Self, AttrError> {
        let mut list: Vec<(Box<str>, HloString)> = r.list("{", "}", |r| {
            let key = r.key()?;
            Ok((key, r.string_or_dict()?))
        })?;
        // The sort is stable, so the last of equal keys in the text is kept.
        list.sort_by(|a, b| a.0.cmp(&b.0));
        list.dedup_by(|later, earlier| {
            let same = later.0 == earlier.0;
            if same {
                std::mem::swap(later, earlier);
            }
            same
        });
        Ok(Self(list))
    }

    fn write(&self, f: &mut dyn fmt::Write, _: &dyn ComputationNames) -> fmt::Result {
        f.write_str("{")?;
        for (i, (key, value)) in self.0.iter().enumerate() {
            f.write_str(if i > 0 { "," } else { "" })?;
            write_key(f, key)?;
            f.write_str("=")?;
            value.write_bare_or_quoted(f)?;
        }
        f.write_str("}")
    }
}
