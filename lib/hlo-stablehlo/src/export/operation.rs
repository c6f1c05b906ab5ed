//! Operations under construction.

use crate::tree::{Attribute, Operation, Region, ValueId};

/// An operation without results and location, which are set when it is added to a block.
#[derive(Debug)]
pub(super) struct Draft(pub(super) Operation);

impl Draft {
    /// Creates an operation with the given name and operands.
    pub(super) fn new(name: &str, operands: impl Into<Vec<ValueId>>) -> Self {
        Self(Operation { operands: operands.into(), ..Operation::new(name) })
    }

    /// Sets an attribute.
    pub(super) fn with(mut self, name: &str, value: Attribute) -> Self {
        self.0.attributes.set(name, value);
        self
    }

    /// Sets an attribute, if there is one.
    pub(super) fn with_optional(self, name: &str, value: Option<Attribute>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// Adds a region.
    pub(super) fn region(mut self, region: Region) -> Self {
        self.0.regions.push(region);
        self
    }
}
