//! Implicit broadcasting (XLA preview, "Broadcasting semantics"): of scalars, of operands of lower rank along
//! given dimensions, of degenerate dimensions, and of combinations of these.

use crate::operand::Operand;
use crate::{Builder, Value};
use hlo_ir::diag::Diag;
use hlo_ir::{ArrayShape, Op};
use std::panic::Location;

impl<'b> Value<'b> {
    /// Broadcasts this value and the other operand of an elementwise operation to one shape.
    #[track_caller]
    pub(crate) fn broadcast_operands(self, other: Operand<'b>, what: &str) -> Option<[Value<'b>; 2]> {
        let (other, dimensions) = other.beside(self);
        broadcast_to_common_shape([self, other], dimensions, what, self.builder)
    }
}

/// Broadcasts two operands to one shape. `dimensions` lists the dimensions of the operand of higher rank that
/// the dimensions of the other operand map to.
#[track_caller]
pub(crate) fn broadcast_to_common_shape<'b>(
    operands: [Value<'b>; 2],
    dimensions: Option<Vec<i64>>,
    what: &str,
    builder: &'b Builder,
) -> Option<[Value<'b>; 2]> {
    // The check comes before anything is added to the computation of either operand.
    if !builder.owns(&operands) {
        return None;
    }
    let at = Location::caller();
    let [a, b] = [operands[0].array(what)?, operands[1].array(what)?];
    let error = |message: String| {
        builder.fail(at, Diag::error(format!("`{what}` of {a} and {b}: {message}")));
    };
    let dimensions = match dimensions {
        Some(dimensions) => dimensions,
        None if a.rank() == b.rank() => (0..a.rank() as i64).collect(),
        None if a.rank() == 0 || b.rank() == 0 => Vec::new(),
        None => {
            error("arrays of different ranks go together along given dimensions only (`along`)".into());
            return None;
        }
    };
    let lower = usize::from(a.rank() >= b.rank());
    let (low, high) = if lower == 0 { (&a, &b) } else { (&b, &a) };
    if let Err(message) = check_dimensions(low, high, &dimensions) {
        error(message);
        return None;
    }
    let Some(result) = joined(low, high, &dimensions) else {
        let message = if a.rank() == b.rank() {
            "sizes must be the same, or 1".to_owned()
        } else {
            format!("along {dimensions:?} sizes must be the same, or 1")
        };
        error(message);
        return None;
    };
    let identity: Vec<i64> = (0..high.rank() as i64).collect();
    let place = |n: usize, shape: &ArrayShape| {
        let along = if n == lower { &dimensions } else { &identity };
        operands[n].broadcast_along(at, shape, along, &result)
    };
    Some([place(0, &a), place(1, &b)])
}

/// Checks that `dimensions` maps each dimension of `low` to a dimension of `high`, in increasing order.
fn check_dimensions(low: &ArrayShape, high: &ArrayShape, dimensions: &[i64]) -> Result<(), String> {
    if dimensions.len() != low.rank() {
        return Err(format!(
            "{low} lies along {} dimensions, found {}: {dimensions:?}",
            low.rank(),
            dimensions.len()
        ));
    }
    if !dimensions.iter().all(|d| (0..high.rank() as i64).contains(d)) {
        return Err(format!("{dimensions:?} are no dimensions of {high}"));
    }
    if dimensions.windows(2).all(|w| w[0] < w[1]) {
        Ok(())
    } else {
        Err(format!("dimensions must be in increasing order, found {dimensions:?}"))
    }
}

/// Returns the shape of the result when `low` is mapped along `dimensions` of `high`, or `None` if the sizes
/// do not match.
fn joined(low: &ArrayShape, high: &ArrayShape, dimensions: &[i64]) -> Option<ArrayShape> {
    let mut result = ArrayShape::new(high.element_type, high.dims.iter().copied());
    let mut dynamic: Vec<bool> = (0..high.rank()).map(|d| high.is_dynamic_dim(d)).collect();
    for (from, &to) in dimensions.iter().enumerate() {
        let to = usize::try_from(to).ok()?;
        let (size, other) = (low.dims[from], high.dims[to]);
        match (size, other) {
            (a, b) if a == b => dynamic[to] |= low.is_dynamic_dim(from),
            (1, _) if !low.is_dynamic_dim(from) => {}
            (_, 1) if !dynamic[to] => {
                result.dims[to] = size;
                dynamic[to] = low.is_dynamic_dim(from);
            }
            _ => return None,
        }
    }
    if dynamic.contains(&true) {
        result.dynamic = dynamic.into();
    }
    Some(result)
}

impl<'b> Value<'b> {
    /// Broadcasts an array to the sizes of `result`: dimension `i` of the array maps to dimension `along[i]`.
    /// Dimensions of size 1 and missing dimensions are repeated. Returns the value itself if it already has
    /// these sizes.
    pub(crate) fn broadcast_along(
        self,
        at: &'static Location<'static>,
        shape: &ArrayShape,
        along: &[i64],
        result: &ArrayShape,
    ) -> Value<'b> {
        if shape.dims == result.dims {
            return self;
        }
        // Dimensions of size 1 that are repeated are removed first, because `broadcast` cannot repeat them.
        let to = |d: usize| along[d] as usize;
        let kept: Vec<usize> = (0..shape.rank()).filter(|&d| shape.dims[d] == result.dims[to(d)]).collect();
        let part = if kept.len() == shape.rank() {
            self
        } else {
            let dims = kept.iter().map(|&d| shape.dims[d]);
            let mut narrow = ArrayShape::new(shape.element_type, dims);
            if !shape.is_static() {
                narrow.dynamic = kept.iter().map(|&d| shape.is_dynamic_dim(d)).collect();
            }
            self.builder.add_at(at, Op::reshape(), &[self], Some(narrow.into()))
        };
        let mut whole = ArrayShape::new(shape.element_type, result.dims.iter().copied());
        if !shape.is_static() {
            let from = |d: usize| kept.iter().copied().find(|&k| to(k) == d);
            whole.dynamic =
                (0..whole.rank()).map(|d| from(d).is_some_and(|k| shape.is_dynamic_dim(k))).collect();
        }
        let dimensions = kept.iter().map(|&d| along[d]);
        self.builder.add_at(at, Op::broadcast(dimensions), &[part], Some(whole.into()))
    }
}
