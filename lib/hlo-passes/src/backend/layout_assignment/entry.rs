//! The layouts of results that the program leaves to the compiler.

use super::orders::order_of;
use super::run;
use crate::rewrites::Rewrites;
use hlo_ir::attr::{EntryLayout, LayoutModes};
use hlo_ir::diag::Diag;
use hlo_ir::{InstrId, Layout, Module, Op, Shape};

/// Chooses the layouts of the results that the frontend attribute `out_layout_modes` marks as `auto`. The
/// chosen layouts are those in which the results are computed without a copy. They are written to
/// `entry_computation_layout`. Returns whether there were any such results.
///
/// # Errors
/// Returns the errors of `layout-assignment`.
pub fn choose_result_layouts(module: &mut Module) -> Result<bool, Diag> {
    let said = module.header.frontend_attributes.get(LayoutModes::OF_RESULTS);
    let Some(modes) = said.and_then(|text| LayoutModes::parse(text.as_str()?)) else { return Ok(false) };
    if !modes.0.iter().any(|mode| mode == LayoutModes::AUTO) {
        return Ok(false);
    }
    let natural = natural_layouts(module)?;
    let (parameters, result) = module.entry_shapes();
    let chosen = |(n, shape): (usize, &Shape)| match (shape, natural.get(n)) {
        (Shape::Array(array), Some(Some(layout)))
            if layout.minor_to_major.len() == array.rank()
                && modes.0.get(n).is_some_and(|m| m == LayoutModes::AUTO) =>
        {
            array.clone().with_layout(layout.clone()).into()
        }
        _ => shape.clone(),
    };
    let result = match result {
        Shape::Tuple(parts) => Shape::Tuple(parts.iter().enumerate().map(chosen).collect()),
        one => chosen((0, one)),
    };
    let parameters = parameters.into_iter().cloned().collect();
    module.header.entry_computation_layout = Some(EntryLayout { parameters, result });
    Ok(true)
}

/// Returns the layouts that the results get if nothing constrains them, or `None` for results that are not
/// arrays.
fn natural_layouts(module: &Module) -> Result<Vec<Option<Layout>>, Diag> {
    let mut free = module.clone();
    let entry = free.entry();
    let root = free[entry].root();
    let values: Vec<InstrId> = match free[root].op {
        Op::Tuple => free[root].operands.to_vec(),
        _ => vec![root],
    };
    // Without a result, the entry imposes no constraints on these values.
    let name = free.unique_name("nothing");
    let nothing = free.add(entry, &name, Shape::tuple(Vec::new()), Op::Tuple, []);
    free.set_root(entry, nothing);
    let (parameters, _) = module.entry_shapes();
    let parameters = parameters.into_iter().cloned().collect();
    free.header.entry_computation_layout = Some(EntryLayout { parameters, result: Shape::tuple(Vec::new()) });
    run(&mut free, &mut Rewrites::default())?;
    let layout = |shape: &Shape| shape.as_array().map(|a| Layout::new(order_of(a)));
    Ok(match (&values[..], &free[root].shape) {
        (&[only], Shape::Tuple(parts)) if only == root => parts.iter().map(layout).collect(),
        _ => values.into_iter().map(|v| layout(&free[v].shape)).collect(),
    })
}
