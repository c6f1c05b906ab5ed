//! Dynamic dimensions at the boundary of compiled code. Compiled code works only on arrays whose dimensions
//! have their bounds as sizes. Inputs are therefore padded to the bounds. The actual sizes of all dynamic
//! dimensions are additional inputs, after all others. In the same way, compiled code returns padded results
//! and, after them, the actual sizes. The client cuts the results to these sizes.

use crate::{Buffer, Error};
use hlo_ir::{ElementType, Literal, Shape};

/// Pads the inputs of a program to the bounds of their dimensions, and appends the sizes of all dynamic
/// dimensions. `parameters` are the shapes of the leaves of the parameters, and `inputs` their values.
///
/// # Errors
/// There is no memory for a padded array, or a size is too large for an `s32`.
pub fn padded_inputs(parameters: &[Shape], inputs: &[Literal]) -> Result<Vec<Literal>, Error> {
    let mut padded = Vec::with_capacity(inputs.len());
    let mut sizes = Vec::new();
    for (shape, input) in parameters.iter().zip(inputs) {
        let (Some(bounds), Some(real)) = (shape.as_array(), input.shape().as_array()) else {
            padded.push(input.clone());
            continue;
        };
        if bounds.is_static() {
            padded.push(input.clone());
            continue;
        }
        let no_memory = || Error::memory(format!("there is no memory for an input of shape {shape}"));
        padded.push(input.resized(&bounds.dims).ok_or_else(no_memory)?);
        for (_, d) in shape.dynamic_dimensions() {
            let size = i32::try_from(real.dims[d]);
            let size = size.map_err(|_| Error::new(format!("a size of {real} does not fit an s32")))?;
            sizes.push(Literal::scalar(ElementType::S32, size));
        }
    }
    padded.extend(sizes);
    Ok(padded)
}

/// Pads buffers as [`padded_inputs`] does, and converts them to the layouts of `placed`, which are the shapes
/// of the inputs of the compiled program. `declared` are the shapes of the leaves of the parameters.
///
/// # Errors
/// As [`padded_inputs`].
pub(crate) fn padded(
    declared: &[Shape],
    placed: &[Shape],
    buffers: Vec<Buffer>,
) -> Result<Vec<Buffer>, Error> {
    let as_they_are = buffers.len() == placed.len()
        && buffers.iter().zip(placed).all(|(b, shape)| b.shape() == shape || shape.as_array().is_none());
    if as_they_are {
        return Ok(buffers);
    }
    let literals = buffers.into_iter().map(Buffer::into_literal).collect::<Result<Vec<Literal>, _>>()?;
    let literals = padded_inputs(declared, &literals)?;
    literals.iter().zip(placed).map(|(literal, shape)| Buffer::from_literal(literal, shape)).collect()
}

/// Checks whether all dynamic sizes of a run matched each other. `buffers` are those that compiled code wrote
/// for a result of shape `declared`. The last of them can contain the result of the check.
///
/// # Errors
/// The run that computes a buffer failed.
pub(crate) fn sizes_fit(declared: &Shape, buffers: &[Buffer]) -> Result<bool, Error> {
    match buffers.get(declared.leaf_count() + declared.dynamic_dimensions().len()) {
        Some(last) => Ok(number(last)? != Some(0)),
        None => Ok(true),
    }
}

/// Checks that the buffers match the leaves of a result in number and shape. The shapes of buffers that are
/// not ready are not checked.
///
/// # Errors
/// The number of buffers differs, or a buffer has another shape.
pub(crate) fn check_leaves(shapes: &[&Shape], buffers: &[Buffer]) -> Result<(), Error> {
    let (expected, found) = (shapes.len(), buffers.len());
    if expected != found {
        return Err(Error::new(format!(
            "expected {expected} arrays, one for each leaf of the result, found {found}"
        )));
    }
    for (n, (shape, buffer)) in shapes.iter().zip(buffers).enumerate() {
        if buffer.is_ready() && !shape.accepts(buffer.shape()) {
            let found = buffer.shape();
            return Err(Error::new(format!(
                "leaf {n} of the result: expected an array of shape {shape}, found {found}"
            )));
        }
    }
    Ok(())
}

/// Returns the value of a scalar `s32` or `pred`, or `None` for a buffer of another size.
fn number(buffer: &Buffer) -> Result<Option<i64>, Error> {
    Ok(match *buffer.bytes()? {
        [byte] => Some(byte.into()),
        [a, b, c, d] => Some(i32::from_le_bytes([a, b, c, d]).into()),
        _ => None,
    })
}

/// Returns the leaves of a result of shape `declared`: cuts each padded array that compiled code wrote to its
/// actual sizes, and removes the buffers that contain the sizes.
///
/// # Errors
/// A size exceeds its bound, or there is no memory for a result.
pub(crate) fn cut(declared: &Shape, mut buffers: Vec<Buffer>) -> Result<Vec<Buffer>, Error> {
    let dynamic = declared.dynamic_dimensions();
    let count = declared.leaf_count();
    if buffers.len() < count + dynamic.len() {
        return Err(Error::new("internal error: too few results"));
    }
    let sizes = buffers.split_off(count);
    let mut leaves: Vec<Option<Vec<i64>>> = vec![None; count];
    for ((leaf, d), size) in dynamic.into_iter().zip(&sizes) {
        let Some(array) = buffers[leaf].shape().as_array() else { continue };
        let dims = leaves[leaf].get_or_insert_with(|| array.dims.to_vec());
        dims[d] = number(size)?.filter(|n| (0..=dims[d]).contains(n)).ok_or_else(|| {
            Error::new(format!("a result of {declared} has a size that is not from 0 to its bound"))
        })?;
    }
    for (buffer, dims) in buffers.iter_mut().zip(leaves) {
        let (Some(dims), Some(array)) = (dims, buffer.shape().as_array()) else { continue };
        let shape = Shape::Array(array.with_sizes(&dims));
        let no_memory = || Error::memory(format!("there is no memory for a result of shape {shape}"));
        let literal = buffer.to_literal()?.resized(&dims).ok_or_else(no_memory)?;
        let whole = Buffer::from_literal(&literal, &shape)?;
        *buffer = match buffer.device() {
            Some(device) => whole.on(device),
            None => whole,
        };
    }
    Ok(buffers)
}
