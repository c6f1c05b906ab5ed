//! Dynamic dimensions at the boundary of compiled code, which knows arrays of the bounds only: inputs are padded, with
//! their sizes after them; results are cut to the sizes that come after them.

use hlo_ir::{ElementType, Literal, Shape};
use hlo_tools_common::Failure;

/// What compiled code takes for `inputs`, the leaves of parameters of these shapes.
pub fn padded_inputs(parameters: &[Shape], inputs: &[Literal]) -> Result<Vec<Literal>, Failure> {
    let mut padded = Vec::with_capacity(inputs.len());
    let mut sizes = Vec::new();
    for (shape, input) in parameters.iter().zip(inputs) {
        let (Shape::Array(bounds), Some(real)) = (shape, input.shape().as_array()) else {
            padded.push(input.clone());
            continue;
        };
        if bounds.is_static() {
            padded.push(input.clone());
            continue;
        }
        let no_memory = || Failure::Message(format!("there is no memory for an input of shape {shape}"));
        padded.push(input.resized(&bounds.dims).ok_or_else(no_memory)?);
        for (_, d) in shape.dynamic_dimensions() {
            let size = i32::try_from(real.dims[d])
                .map_err(|_| Failure::Message(format!("a size of {real} does not fit an s32")))?;
            sizes.push(Literal::scalar(ElementType::S32, size));
        }
    }
    padded.extend(sizes);
    Ok(padded)
}

/// True if what compiled code gave for a result of shape `declared` is its result: all sizes fitted each other.
pub fn sizes_fit(declared: &Shape, leaves: &[Literal]) -> bool {
    let last = leaves.get(declared.leaf_count() + declared.dynamic_dimensions().len());
    last.and_then(|fits| fits.integer_at(0)) != Some(0)
}

/// The result of shape `declared` from the leaves that compiled code gave.
pub fn real_result(declared: &Shape, mut leaves: Vec<Literal>) -> Result<Literal, Failure> {
    let count = declared.leaf_count();
    let too_few = || Failure::Message("too few results".to_string());
    if leaves.len() < count {
        return Err(too_few());
    }
    let sizes = leaves.split_off(count);
    let mut dims: Vec<Vec<i64>> =
        declared.leaves().iter().map(|s| s.as_array().map_or(Vec::new(), |a| a.dims.to_vec())).collect();
    let dynamic = declared.dynamic_dimensions();
    if sizes.len() < dynamic.len() {
        return Err(too_few());
    }
    for ((leaf, d), size) in dynamic.into_iter().zip(&sizes) {
        let size = size.integer_at(0).and_then(|n| i64::try_from(n).ok());
        let bound = dims[leaf][d];
        dims[leaf][d] = size.filter(|n| (0..=bound).contains(n)).ok_or_else(|| {
            Failure::Message(format!("a result of {declared} has a size that is not from 0 to its bound"))
        })?;
    }
    let shapes = declared.leaves();
    for ((leaf, dims), shape) in leaves.iter_mut().zip(&dims).zip(shapes) {
        if shape.as_array().is_some_and(|a| !a.is_static()) {
            let no_memory = || Failure::Message(format!("there is no memory for a result of shape {shape}"));
            *leaf = leaf.resized(dims).ok_or_else(no_memory)?;
        }
    }
    Literal::from_leaves(declared, &mut leaves.into_iter()).ok_or_else(too_few)
}
