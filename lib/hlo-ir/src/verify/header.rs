//! Checks of the module header: the entry's layout, aliasing of results and parameters, device counts.

use super::{Verifier, label};
use crate::attr::{EntryLayout, ShapeIndex, index_text};
use crate::ops::{counted, shape_error, shapes_agree};
use crate::rules::code;
use crate::{ComputationId, InstrId, Shape};
use std::collections::HashSet;

const LAYOUT: &str = "entry_computation_layout";
const ALIAS: &str = "input_output_alias";
const DONOR: &str = "buffer_donor";

/// Maximum number of parameters that a report shows.
const MAX_LABELS: usize = 4;

impl<'m> Verifier<'m> {
    /// Checks the header against the entry.
    pub(super) fn check_header(&mut self) {
        let module = self.module;
        for (name, count) in [
            ("replica_count", module.header.replica_count.0),
            ("num_partitions", module.header.num_partitions.0),
        ] {
            if count < 1 {
                self.report_header(code::DEVICE_COUNT, name, format!("`{name}` is 1 or more, found {count}"));
            }
        }
        self.check_entry();
        if let Some(entry) =
            module.entry_if_set().filter(|&e| module.is_live_computation(e) && module.has_root(e))
        {
            self.check_aliases(entry);
        }
    }

    /// Checks that there is an entry and that the header's layout matches it.
    fn check_entry(&mut self) {
        let module = self.module;
        let Some(entry) = module.entry_if_set().filter(|&e| module.is_live_computation(e)) else {
            self.report_module(code::NO_ENTRY, "the module has no entry computation".to_string());
            return;
        };
        let Some(EntryLayout { parameters, result }) = &module.header.entry_computation_layout else {
            return;
        };
        let found = module.parameters(entry);
        if found.len() != parameters.len() {
            let message = format!(
                "`{LAYOUT}` has {}, but the entry, `{}`, has {}",
                counted(parameters.len(), "parameter"),
                module[entry].name,
                found.len()
            );
            let diag = self.report_header(code::ENTRY_LAYOUT, LAYOUT, message);
            for &i in found.iter().take(MAX_LABELS) {
                label(diag, module.span(i), "a parameter of the entry".to_string());
            }
        }
        for (n, (&i, expected)) in found.iter().zip(parameters).enumerate() {
            self.check_entry_shape(i, &format!("parameter {n}"), expected);
        }
        if module.has_root(entry) {
            self.check_entry_shape(module[entry].root(), "the result", result);
        }
    }

    /// Checks the shape in the header for `what`, which is instruction `i`.
    fn check_entry_shape(&mut self, i: InstrId, what: &str, expected: &Shape) {
        if let Some(message) = shape_error(expected) {
            let message = format!("in `{LAYOUT}`, {what}: {message}");
            self.report_by_header(code::INVALID_SHAPE, i, LAYOUT, message);
        } else if !shapes_agree(&self.module[i].shape, expected) {
            let found = &self.module[i];
            let message =
                format!("`{LAYOUT}` says {expected} for {what}, but `{}` is {}", found.name, found.shape);
            self.report_by_header(code::ENTRY_LAYOUT, i, LAYOUT, message);
        }
    }

    /// Checks that each parameter part shares memory with at most one result, which has the same size, and
    /// that donated buffers are not shared.
    fn check_aliases(&mut self, entry: ComputationId) {
        let module = self.module;
        let parameters = module.parameters(entry);
        let root = module[entry].root();
        let mut aliased: HashSet<(i64, &ShapeIndex)> = HashSet::new();
        for alias in &module.header.input_output_alias {
            let output = part(&module[root].shape, &alias.output);
            if let Err(e) = &output {
                let message = format!("in `{ALIAS}`: the result {e}");
                self.report_by_header(code::ALIAS_OUTPUT, root, ALIAS, message);
            }
            let Some((parameter, shape)) =
                self.donated(&parameters, alias.parameter, &alias.parameter_index, ALIAS)
            else {
                continue;
            };
            if !aliased.insert((alias.parameter, &alias.parameter_index)) {
                let message = format!(
                    "in `{ALIAS}`: {} of parameter {} is shared with two results",
                    index_text(&alias.parameter_index),
                    alias.parameter
                );
                self.report_by_header(code::ALIASED_ONCE, parameter, ALIAS, message);
            }
            if let Ok(output) = output
                && let (Some(from), Some(to)) = (bytes(shape), bytes(output))
                && from != to
            {
                let message = format!(
                    "in `{ALIAS}`: {output}, {} of the result, can't share the memory of {shape}, {} of parameter {}",
                    index_text(&alias.output),
                    index_text(&alias.parameter_index),
                    alias.parameter
                );
                let diag = self.report_by_header(code::ALIAS_SIZE, parameter, ALIAS, message);
                label(diag, module.span(root), "the result".to_string());
            }
        }
        for donor in &module.header.buffer_donor {
            let Some((parameter, _)) = self.donated(&parameters, donor.parameter, &donor.index, DONOR) else {
                continue;
            };
            if aliased.contains(&(donor.parameter, &donor.index)) {
                let message = format!(
                    "{} of parameter {} stands both in `{DONOR}` and in `{ALIAS}`",
                    index_text(&donor.index),
                    donor.parameter
                );
                self.report_by_header(code::DONOR_ALIASED, parameter, DONOR, message);
            }
        }
    }

    /// Returns the parameter that `attribute` names, and the array in it. Reports a violation if there is
    /// none.
    fn donated(
        &mut self,
        parameters: &[InstrId],
        number: i64,
        at: &ShapeIndex,
        attribute: &str,
    ) -> Option<(InstrId, &'m Shape)> {
        let module = self.module;
        let found = usize::try_from(number).ok().and_then(|n| parameters.get(n).copied());
        let Some(parameter) = found else {
            let message = format!(
                "`{attribute}` names parameter {number}, but the entry has {}",
                counted(parameters.len(), "parameter")
            );
            let diag = self.report_header(code::ALIAS_PARAMETER, attribute, message);
            for &i in parameters.iter().take(MAX_LABELS) {
                label(diag, module.span(i), "a parameter of the entry".to_string());
            }
            return None;
        };
        match part(&module[parameter].shape, at) {
            Ok(shape) => Some((parameter, shape)),
            Err(e) => {
                let message = format!("in `{attribute}`: parameter {number} {e}");
                self.report_by_header(code::ALIAS_PARAMETER, parameter, attribute, message);
                None
            }
        }
    }
}

/// Returns the array at a shape index, or an error message.
fn part<'s>(shape: &'s Shape, at: &[i64]) -> Result<&'s Shape, String> {
    match element(shape, at)? {
        found @ Shape::Array(_) => Ok(found),
        other => Err(format!("has {other} at {}; only arrays share memory", index_text(at))),
    }
}

/// Returns the part of a shape at a shape index, or an error message.
fn element<'s>(shape: &'s Shape, at: &[i64]) -> Result<&'s Shape, String> {
    shape.part(at).ok_or_else(|| {
        let depth = (1..at.len()).find(|&n| shape.part(&at[..n]).is_none()).unwrap_or(at.len());
        format!("is {shape}, which has nothing at {}", index_text(&at[..depth]))
    })
}

/// Returns the size of an array in bytes, if it is known.
fn bytes(shape: &Shape) -> Option<i64> {
    let a = shape.as_array()?;
    let bits = a.checked_element_count()?.checked_mul(a.element_size_bits())?;
    Some(bits / 8 + i64::from(bits % 8 != 0))
}
