//! Donations: parameters whose memory a result may use (`input_output_alias`).

use crate::first_leaf_at;
use hlo_ir::{Module, Packing, Shape};
use std::collections::HashSet;

/// A leaf of the entry's parameters whose memory a leaf of the result uses, if the caller donates it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Donation {
    /// The number of the leaf among the leaves of all parameters.
    pub parameter: usize,
    /// The number of the leaf of the result.
    pub output: usize,
}

/// Returns the donations that the module's `input_output_alias` allows: pairs of arrays with the same layout
/// in memory. Each parameter leaf and each result leaf occurs at most once.
pub fn donations(module: &Module) -> Vec<Donation> {
    let (parameters, result) = module.entry_shapes();
    let starts: Vec<usize> = (parameters.iter())
        .scan(0, |next, shape| Some(std::mem::replace(next, *next + shape.leaf_count())))
        .collect();
    let (mut taken, mut filled) = (HashSet::new(), HashSet::new());
    let found = module.header.input_output_alias.iter().filter_map(|alias| {
        let number = usize::try_from(alias.parameter).ok()?;
        let from = part(parameters.get(number)?, &alias.parameter_index)?;
        let to = part(result, &alias.output)?;
        have_same_memory_layout(from, to).then_some(Donation {
            parameter: starts.get(number)? + first_leaf_at(parameters[number], &alias.parameter_index)?,
            output: first_leaf_at(result, &alias.output)?,
        })
    });
    found.filter(|d| taken.insert(d.parameter) && filled.insert(d.output)).collect()
}

/// Checks whether both shapes are arrays of the same size and element type with the same layout in memory,
/// even if their layouts are written differently.
pub fn have_same_memory_layout(a: &Shape, b: &Shape) -> bool {
    let (Some(a), Some(b)) = (a.as_array(), b.as_array()) else { return false };
    a.is_static()
        && a.compatible(b)
        && (a.element_count() == 0 || a.strides() == b.strides())
        && Packing::of(a) == Packing::of(b)
}

/// Returns the subshape at an index.
fn part<'s>(shape: &'s Shape, index: &[i64]) -> Option<&'s Shape> {
    index.iter().try_fold(shape, |shape, &i| shape.as_tuple()?.get(usize::try_from(i).ok()?))
}
