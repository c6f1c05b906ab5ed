//! The leaves of parameters and results. Each requires an array.

use hlo_ir::{ArrayShape, Literal, Module, Shape, human_bytes};
use hlo_tools_common::Failure;
use hlo_tools_common::memory::available_bytes;

/// Maximum number of items shown in a list.
const MAX_SHOWN_ITEMS: usize = 20;

/// A leaf of a parameter or of the result, which requires an array.
#[derive(Clone, Debug, PartialEq)]
pub struct Leaf {
    /// Its name in messages, such as ``parameter 1 `x` ``.
    pub name: String,
    /// The name of a tensor for it: that of the parameter, with a suffix such as `.0` for elements of tuples,
    /// or a name such as `out_0`.
    pub tensor: String,
    /// The shape.
    pub shape: Shape,
}

/// The arrays for all leaves.
pub struct Loaded {
    /// An array for each leaf.
    pub arrays: Vec<Literal>,
    /// A message about tensors in files whose names match no leaf, if there are any.
    pub unused: Option<String>,
}

/// Returns the leaves of the entry's parameters.
pub fn parameter_leaves(module: &Module) -> Vec<Leaf> {
    let parameters = module.parameters(module.entry());
    let leaves = parameters.iter().enumerate().flat_map(|(number, &p)| {
        let name = &module[p].name;
        leaves_of(&module[p].shape, &format!("parameter {number} `{name}`"), name)
    });
    leaves.collect()
}

/// Returns the leaves of the entry's result.
pub fn result_leaves(module: &Module) -> Vec<Leaf> {
    name_leaves(&module[module[module.entry()].root()].shape, "result")
}

/// Returns the leaves of a value. Their names consist of the name of the value and their positions in it.
pub fn name_leaves(shape: &Shape, name: &str) -> Vec<Leaf> {
    let mut leaves = leaves_of(shape, name, "");
    for (number, leaf) in leaves.iter_mut().enumerate() {
        leaf.tensor = format!("{RESULT_NAME}_{number}");
    }
    leaves
}

/// The name of results in files.
pub const RESULT_NAME: &str = "out";

fn leaves_of(shape: &Shape, name: &str, tensor: &str) -> Vec<Leaf> {
    match shape {
        Shape::Tuple(elements) => elements
            .iter()
            .enumerate()
            .flat_map(|(i, element)| {
                leaves_of(element, &format!("{name}, element {i}"), &format!("{tensor}.{i}"))
            })
            .collect(),
        _ => vec![Leaf { name: name.to_string(), tensor: tensor.to_string(), shape: shape.clone() }],
    }
}

/// Reports an error if memory cannot hold the arrays, before any of them is created.
pub fn check_memory(leaves: &[Leaf], what: &str) -> Result<(), Failure> {
    let needed = leaves.iter().fold(0usize, |n, leaf| n.saturating_add(leaf.shape.byte_size()));
    let available = available_bytes();
    if needed <= available {
        return Ok(());
    }
    let Some(largest) = leaves.iter().max_by_key(|l| l.shape.byte_size()) else { return Ok(()) };
    Err(Failure::Message(format!(
        "the {what} take {}, {} of memory are available; the largest is {}, {} ({})",
        human_bytes(needed as u64),
        human_bytes(available as u64),
        largest.name,
        largest.shape,
        human_bytes(largest.shape.byte_size() as u64),
    )))
}

/// Returns the shape of a leaf, which must be an array.
pub fn array_shape(leaf: &Leaf) -> Result<&ArrayShape, Failure> {
    let not_array =
        || Failure::Message(format!("{} has shape {}, which no array can hold", leaf.name, leaf.shape));
    leaf.shape.as_array().ok_or_else(not_array)
}

/// Reports an error if the number of arrays is wrong.
pub fn check_count(found: usize, wanted: &[&Leaf], what: &str) -> Result<(), Failure> {
    if found == wanted.len() {
        return Ok(());
    }
    let what = if wanted.len() == 1 { what.strip_suffix('s').unwrap_or(what) } else { what };
    let shown = listed(wanted.iter().map(|leaf| format!("{}: {}", leaf.name, leaf.shape)));
    Err(Failure::Message(format!("the module has {} {what}, {found} given{shown}", wanted.len())))
}

/// Formats items on separate lines, up to a maximum number.
pub fn listed(items: impl ExactSizeIterator<Item = String>) -> String {
    let left = items.len().saturating_sub(MAX_SHOWN_ITEMS);
    let mut lines: String = items.take(MAX_SHOWN_ITEMS).map(|item| format!("\n  {item}")).collect();
    if left > 0 {
        lines.push_str(&format!("\n  and {left} more"));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_are_cut() {
        assert_eq!(listed(["a".to_string()].into_iter()), "\n  a");
        let lines = listed((0..22).map(|n| n.to_string()).collect::<Vec<_>>().into_iter());
        assert!(lines.ends_with("\n  19\n  and 2 more"), "{lines}");
    }
}
