//! Access to an operation for its rules.

use crate::Tree;
use crate::text::type_text;
use crate::tree::{DYNAMIC, Elements, Operation, TensorType, Type, ValueId};
use hlo_ir::diag::Diag;
use std::collections::HashMap;
use std::sync::Arc;

/// An operation to check, the known constants, and the list of reports.
pub(super) struct Check<'t, 'r> {
    pub(super) tree: &'t Tree,
    pub(super) operation: &'t Operation,
    constants: &'r HashMap<ValueId, &'t Arc<Elements>>,
    reports: &'r mut Vec<Diag>,
}

impl<'t, 'r> Check<'t, 'r> {
    pub(super) fn new(
        tree: &'t Tree,
        operation: &'t Operation,
        constants: &'r HashMap<ValueId, &'t Arc<Elements>>,
        reports: &'r mut Vec<Diag>,
    ) -> Self {
        Self { tree, operation, constants, reports }
    }

    /// Reports that the operation violates a constraint. `rule` is its number, or empty if it has none.
    pub(super) fn report(&mut self, rule: &str, message: impl AsRef<str>) {
        let number = if rule.is_empty() { String::new() } else { format!(" ({rule})") };
        self.reports.push(self.operation.diag(format!("{}{number}", message.as_ref())));
    }

    /// Reports a violation unless the condition holds.
    pub(super) fn require(&mut self, holds: bool, rule: &str, message: impl FnOnce() -> String) {
        if !holds {
            self.report(rule, message());
        }
    }

    /// Returns the type of an operand.
    pub(super) fn operand(&self, index: usize) -> Option<&'t Type> {
        self.operation.operands.get(index).map(|&v| self.tree.type_of(v))
    }

    /// Returns the type of a result.
    pub(super) fn result(&self, index: usize) -> Option<&'t Type> {
        self.operation.results.get(index).map(|&v| self.tree.type_of(v))
    }

    /// Returns the array type of an operand.
    pub(super) fn operand_array(&self, index: usize) -> Option<&'t TensorType> {
        self.operand(index)?.as_tensor()
    }

    /// Returns the array type of a result.
    pub(super) fn result_array(&self, index: usize) -> Option<&'t TensorType> {
        self.result(index)?.as_tensor()
    }

    /// Returns the types of all operands, and then of all results.
    pub(super) fn types(&self) -> impl Iterator<Item = &'t Type> + use<'t> {
        let tree = self.tree;
        self.operation.operands.iter().chain(&self.operation.results).map(move |&v| tree.type_of(v))
    }

    /// Returns the numbers of an operand that is a constant.
    pub(super) fn constant(&self, index: usize) -> Option<Vec<i64>> {
        self.constants.get(self.operation.operands.get(index)?)?.ints()
    }

    /// Reports a result whose sizes differ from the expected ones. Unknown sizes match any size.
    pub(super) fn result_sizes(&mut self, index: usize, rule: &str, follows: &[i64]) {
        let Some(result) = self.result(index) else { return };
        let fits = result.as_tensor().is_none_or(|a| agree(&a.dims, follows));
        self.require(fits, rule, || {
            format!("its result is of sizes {}, found {}", sizes_text(follows), type_text(result))
        });
    }
}

/// Checks whether sizes are equal as far as they are known.
pub(super) fn agree(a: &[i64], b: &[i64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(&a, &b)| a == b || a == DYNAMIC || b == DYNAMIC)
}

/// Returns the text of sizes, such as `[2, ?]`.
pub(super) fn sizes_text(sizes: &[i64]) -> String {
    let one = |&size: &i64| if size == DYNAMIC { "?".into() } else { size.to_string() };
    format!("[{}]", sizes.iter().map(one).collect::<Vec<String>>().join(", "))
}
