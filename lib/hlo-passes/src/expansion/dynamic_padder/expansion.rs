//! Padding of operations that are expanded to other operations first.

use super::{Padded, Padder, Result};
use crate::expansion::scan_expander;
use crate::support::expander::{Expand, added_since, expand_one};
use hlo_ir::attr::ScanAttrs;
use hlo_ir::{InstrId, Op, Shape};

impl Padder<'_> {
    /// Expands the current instruction with `expand` and pads the result.
    pub(super) fn expanded(&mut self, expand: Expand) -> Result<Padded> {
        let id = self.at;
        let operands = self.operand_ids();
        let shown = operands.iter().map(|&o| self.shown(o)).collect::<Result<Vec<_>>>()?;
        self.module.set_operands(id, shown);
        let first_new = self.module.instruction_capacity();
        let value = expand_one(self.module, self.functions, id, expand)
            .ok_or_else(|| self.unsupported_diag("has no expression by other operations"))?;
        for new in added_since(self.module, self.computation, first_new) {
            // The checks in a loop that an expansion adds are those of its computations.
            if matches!(self.module[new].op, Op::While(_)) {
                self.checked.extend(self.module[new].op.called_computations());
            }
            self.pad_added(new)?;
        }
        let leaves = self.sizes.get(&value).cloned().unwrap_or_default();
        Ok((self.value(value), leaves))
    }

    /// Pads a `scan`, whose inputs must all have the same length.
    pub(super) fn scan(&mut self, attrs: &ScanAttrs) -> Result<Padded> {
        let carries = usize::try_from(attrs.num_carries).unwrap_or(usize::MAX);
        let inputs = self.operand_ids().len().saturating_sub(carries);
        let along = attrs.dimensions.first().and_then(|&d| usize::try_from(d).ok());
        let along = along.ok_or_else(|| self.unsupported_diag("names no dimension"))?;
        self.paired((0..inputs).map(|n| (n, along)))?;
        self.expanded(scan_expander::expand)
    }

    /// Returns an array whose shape marks all dimensions with a run-time size as dynamic. If the module
    /// declares such a dimension static, an expander would assume its full size.
    fn shown(&mut self, id: InstrId) -> Result<InstrId> {
        let (Some(leaves), Shape::Array(a)) = (self.sizes.get(&id), self.declared(id)) else { return Ok(id) };
        let Some(sizes) = leaves.first() else { return Ok(id) };
        let is_sized: Vec<bool> = (0..a.rank()).map(|d| sizes.get(d).is_some_and(Option::is_some)).collect();
        if (0..a.rank()).all(|d| !is_sized[d] || a.is_dynamic_dim(d)) {
            return Ok(id);
        }
        let flags: Vec<bool> = (0..a.rank()).map(|d| is_sized[d] || a.is_dynamic_dim(d)).collect();
        let shown = self.add(a.with_dynamic(flags), Op::Copy, &[id]);
        self.pad_added(shown)?;
        Ok(shown)
    }
}
