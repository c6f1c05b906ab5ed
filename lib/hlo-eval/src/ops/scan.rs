//! `scan`: a function applied along a dimension of the inputs, from one carry to the next.

use super::{Result, array, dimension};
use crate::EvalError;
use crate::evaluator::Evaluator;
use crate::index::{count, extent};
use hlo_ir::attr::ScanAttrs;
use hlo_ir::{ArrayShape, Instruction, Literal, Shape};

/// The operands are the inputs, then the carries. Each step passes the inputs' elements at one position of the
/// dimension and the carries; it gives the outputs' elements there and the next carries. The result is the outputs and
/// the last carries. `is_reverse` goes from the last position to the first.
pub(super) fn scan(
    ev: &mut Evaluator<'_>,
    instr: &Instruction,
    operands: Vec<Literal>,
    attrs: &ScanAttrs,
) -> Result<Literal> {
    let wrong = || EvalError::new("the operands and results of the scan do not fit its function");
    let carries = usize::try_from(attrs.num_carries).map_err(|_| wrong())?;
    let mut inputs = operands;
    let mut carried = inputs.split_off(inputs.len().checked_sub(carries).ok_or_else(wrong)?);
    let dims = array(inputs.first().ok_or_else(wrong)?)?.dims.clone();
    let along = dimension(*attrs.dimensions.first().ok_or_else(wrong)?, dims.len())?;
    let length = extent(dims[along])?;
    if inputs.iter().any(|i| i.shape().as_array().is_none_or(|a| a.dims.get(along) != Some(&dims[along]))) {
        return Err(wrong());
    }
    let mut results = outputs(ev, instr, carries)?;
    for n in 0..length {
        let position = if attrs.is_reverse { length - 1 - n } else { n };
        let mut arguments = Vec::with_capacity(inputs.len() + carries);
        for input in &inputs {
            let mut slice = ev.allocate(&slice_shape(array(input)?, along)?)?;
            let runs = Runs::new(array(input)?, along)?;
            runs.each(position, |from, to| slice.bytes_mut()[to].copy_from_slice(&input.bytes()[from]));
            arguments.push(slice);
        }
        arguments.append(&mut carried);
        let returned = ev.run_computation(attrs.to_apply, arguments)?;
        let mut values = match returned.shape().is_tuple() {
            true => returned.tuple_elements().to_vec(),
            false => vec![returned],
        };
        if values.len() != results.len() + carries {
            return Err(wrong());
        }
        carried = values.split_off(results.len());
        for (result, value) in results.iter_mut().zip(values) {
            if n == 0 {
                // Sizes that are known at run time only are those of the first step.
                *result = sized(ev, std::mem::replace(result, Literal::token()), array(&value)?, along)?;
            }
            if !array(&value)?.compatible(&slice_shape(array(result)?, along)?) {
                return Err(wrong());
            }
            let runs = Runs::new(array(result)?, along)?;
            runs.each(position, |to, from| result.bytes_mut()[to].copy_from_slice(&value.bytes()[from]));
            ev.release(value);
        }
    }
    inputs.into_iter().for_each(|i| ev.release(i));
    results.append(&mut carried);
    match instr.shape.is_tuple() {
        true => Ok(Literal::tuple(results)),
        false => results.pop().ok_or_else(wrong),
    }
}

/// An output's array with the sizes of a step's output, but along the dimension of steps.
fn sized(ev: &mut Evaluator<'_>, result: Literal, step: &ArrayShape, along: usize) -> Result<Literal> {
    let mut shape = array(&result)?.clone();
    let others: Vec<usize> = (0..shape.rank()).filter(|&d| d != along).collect();
    if others.len() != step.rank() {
        return Err(EvalError::internal(format!("a step of {step} for {shape}")));
    }
    for (d, &size) in others.into_iter().zip(&step.dims) {
        shape.dims[d] = size.min(shape.dims[d]);
    }
    if shape.dims == array(&result)?.dims {
        return Ok(result);
    }
    ev.release(result);
    ev.allocate(&shape)
}

/// Arrays for the outputs: the result's parts but the carries.
fn outputs(ev: &mut Evaluator<'_>, instr: &Instruction, carries: usize) -> Result<Vec<Literal>> {
    let parts = match &instr.shape {
        Shape::Tuple(parts) => &parts[..],
        one => std::slice::from_ref(one),
    };
    let count = parts.len().checked_sub(carries);
    let count = count.ok_or_else(|| EvalError::new("a scan with fewer results than carries"))?;
    let array = |s: &Shape| s.as_array().cloned().ok_or_else(|| EvalError::new(format!("{s} is no array")));
    parts[..count].iter().map(|s| ev.allocate(&array(s)?)).collect()
}

/// What a step sees of an array: all but the dimension `along`.
fn slice_shape(shape: &ArrayShape, along: usize) -> Result<ArrayShape> {
    dimension(along as i64, shape.rank())?;
    let kept = (0..shape.rank()).filter(|&d| d != along).map(|d| shape.dims[d]);
    Ok(ArrayShape::new(shape.element_type, kept))
}

/// Where the elements at one position of a dimension lie: runs of neighbours, in bytes.
struct Runs {
    length: usize,
    count: usize,
    bytes: usize,
}

impl Runs {
    fn new(shape: &ArrayShape, along: usize) -> Result<Self> {
        dimension(along as i64, shape.rank())?;
        Ok(Self {
            length: extent(shape.dims[along])?,
            count: count(&shape.dims[..along]),
            bytes: count(&shape.dims[along + 1..]) * shape.element_type.byte_size(),
        })
    }

    /// Calls `f` with the place of each run in the array and in the slice.
    fn each(&self, position: usize, mut f: impl FnMut(std::ops::Range<usize>, std::ops::Range<usize>)) {
        for n in 0..self.count {
            let at = (n * self.length + position) * self.bytes;
            f(at..at + self.bytes, n * self.bytes..(n + 1) * self.bytes);
        }
    }
}
