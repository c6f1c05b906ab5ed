//! The output of a contraction.

use super::elements::{Elements, array};
use super::index::{Constraint, IndexExpression, IndexList};
use crate::contraction::{Contraction, contract};
use crate::rules;
use crate::types::is_known;
use hlo_builder::{Builder, Value};
use hlo_ir::Span;
use hlo_ir::contraction::Aggregation;
use hlo_ir::diag::Diag;
use std::ops::{AddAssign, Index, IndexMut, MulAssign};
use std::panic::Location;

/// The output of a contraction. It has given sizes, and stores the indices and elements that are written, the
/// constraints, and the default for unwritten elements. [`TensorOutput::value`] returns the result.
///
/// # Example
/// ```
/// use hlo_builder::Builder;
/// use hlo_tile::edsl::{Tensor, TensorOutput, indices};
///
/// // The greatest of each two.
/// let b = Builder::new("max_pool");
/// let x = b.constant_r1(&[1.0f32, 5.0, 2.0, 3.0, 9.0]);
/// let [i, j] = indices(["i", "j"]);
/// let mut pooled = TensorOutput::new(&b, [3]);
/// pooled[i].max(x.at(2 * i + j));
/// pooled.add_constraint(j.lt(2));
/// assert_eq!(b.compute_constant(pooled.value())?.elements::<f32>(), [5.0, 3.0, 9.0]);
/// # Ok::<(), hlo_builder::BuildErrors>(())
/// ```
#[derive(Debug)]
pub struct TensorOutput<'b> {
    builder: &'b Builder,
    sizes: Vec<i64>,
    declared: &'static Location<'static>,
    target: Target<'b>,
    constraints: Vec<Constraint>,
    default: Option<Value<'b>>,
}

/// A [`TensorOutput`] at some indices, which a contraction writes.
#[derive(Debug, Default)]
pub struct Target<'b> {
    indices: Vec<IndexExpression>,
    written: Option<WrittenElements<'b>>,
    /// The location of a second write, which is an error.
    again: Option<&'static Location<'static>>,
}

#[derive(Debug)]
struct WrittenElements<'b> {
    indices: Vec<IndexExpression>,
    aggregation: Aggregation,
    elements: Elements<'b>,
    at: &'static Location<'static>,
}

impl<'b> Target<'b> {
    fn write(&mut self, aggregation: Aggregation, elements: Elements<'b>, at: &'static Location<'static>) {
        if self.written.is_some() {
            self.again = self.again.or(Some(at));
            return;
        }
        let indices = std::mem::take(&mut self.indices);
        self.written = Some(WrittenElements { indices, aggregation, elements, at });
    }

    /// Writes the maximum of the values for each element: `O[i] >= …` in Tile.
    #[track_caller]
    pub fn max(&mut self, elements: impl Into<Elements<'b>>) {
        self.write(Aggregation::Max, elements.into(), Location::caller());
    }

    /// Writes the minimum of the values for each element: `O[i] <= …` in Tile.
    #[track_caller]
    pub fn min(&mut self, elements: impl Into<Elements<'b>>) {
        self.write(Aggregation::Min, elements.into(), Location::caller());
    }

    /// Writes one value for each element. Several values are an error: `O[i] = …` in Tile.
    #[track_caller]
    pub fn assign(&mut self, elements: impl Into<Elements<'b>>) {
        self.write(Aggregation::Assign, elements.into(), Location::caller());
    }
}

/// Adds the values for each element.
impl<'b, E: Into<Elements<'b>>> AddAssign<E> for Target<'b> {
    #[track_caller]
    fn add_assign(&mut self, elements: E) {
        self.write(Aggregation::Sum, elements.into(), Location::caller());
    }
}

/// Multiplies the values for each element.
impl<'b, E: Into<Elements<'b>>> MulAssign<E> for Target<'b> {
    #[track_caller]
    fn mul_assign(&mut self, elements: E) {
        self.write(Aggregation::Product, elements.into(), Location::caller());
    }
}

/// Indexing is only for writing. A read returns the target as written so far.
impl<'b, I: IndexList> Index<I> for TensorOutput<'b> {
    type Output = Target<'b>;

    fn index(&self, _: I) -> &Target<'b> {
        &self.target
    }
}

impl<I: IndexList> IndexMut<I> for TensorOutput<'_> {
    fn index_mut(&mut self, indices: I) -> &mut Self::Output {
        self.target.indices = indices.expressions();
        &mut self.target
    }
}

impl<'b> TensorOutput<'b> {
    /// Creates an output of the given sizes.
    #[track_caller]
    pub fn new(builder: &'b Builder, sizes: impl Into<Vec<i64>>) -> Self {
        Self {
            builder,
            sizes: sizes.into(),
            declared: Location::caller(),
            target: Target::default(),
            constraints: Vec::new(),
            default: None,
        }
    }

    /// Excludes the indices that do not satisfy the constraint.
    pub fn add_constraint(&mut self, constraint: Constraint) {
        self.constraints.push(constraint);
    }

    /// Uses the elements of a tensor of the same shape, instead of 0, for elements that are not written.
    pub fn use_default(&mut self, default: Value<'b>) {
        self.default = Some(default);
    }

    /// Returns the tensor. If the contraction is invalid, the builder reports an error with the line of the
    /// write.
    pub fn value(self) -> Value<'b> {
        self.value_and_warnings().0
    }

    /// Returns the tensor and warnings about likely mistakes: no index is valid, or an index occurs only in
    /// the output.
    pub fn value_and_warnings(mut self) -> (Value<'b>, Vec<Diag>) {
        let builder = self.builder;
        let written = self.target.written.take();
        let at = written.as_ref().map_or(self.declared, |w| w.at);
        let _line = builder.line_scope(at);
        let made = self.check(written.as_ref()).and_then(|()| self.contract(written));
        let (value, warnings) = made.unwrap_or_else(|error| (builder.reject(error), Vec::new()));
        (value, warnings.into_iter().map(|d| without_labels(d).note(format!("at {at}"))).collect())
    }

    fn check(&self, written: Option<&WrittenElements<'b>>) -> Result<(), Diag> {
        if written.is_none() {
            return Err(
                Diag::error("the TensorOutput is never written").with_code(rules::TILE_NO_CONTRACTION)
            );
        }
        if let Some(again) = self.target.again {
            let message = format!("the TensorOutput is written twice, at {again} once more");
            return Err(Diag::error(message).with_code(rules::TILE_REASSIGNMENT));
        }
        if let Some(size) = self.sizes.iter().find(|size| **size <= 0) {
            let message = format!("a dimension of the TensorOutput is {size}, sizes must be positive");
            return Err(Diag::error(message).with_code(rules::TILE_SIZE));
        }
        Ok(())
    }

    fn contract(self, written: Option<WrittenElements<'b>>) -> Result<(Value<'b>, Vec<Diag>), Diag> {
        let too_large = || {
            let message = "a number of an index is too large, or an index is divided by 0";
            Diag::error(message).with_code(rules::TILE_SIZE)
        };
        let Some(written) = written else { return Err(too_large()) };
        let span = Span::default();
        let mut names = written.elements.names;
        written.indices.iter().for_each(|e| names.extend(&e.names));
        let output: Option<Vec<_>> = written.indices.into_iter().map(|e| Some((e.poly?, span))).collect();
        let constraints: Option<Vec<_>> =
            self.constraints.into_iter().map(|c| Some((c.index.poly?, c.bound, span))).collect();
        let operands = written.elements.accesses.ok_or_else(too_large)?;
        // If an operand failed, its error was already reported. An operand that is not an array is an error.
        let tensors = operands.iter().map(|o| o.value).chain(self.default);
        if let Some(value) = tensors.into_iter().find(|v| array(*v).is_none()) {
            return match value.shape() {
                Ok(shape) => Err(Diag::error(format!("a contraction reads arrays, found {shape}"))
                    .with_code(rules::TILE_OPERAND)),
                Err(_) => Ok((value, Vec::new())),
            };
        }
        let types = operands.iter().map(|o| o.value).chain(self.default).filter_map(array);
        if let Some(shape) = types.into_iter().find(|shape| !is_known(shape.element_type)) {
            let message = format!("Tile has no tensors such as {shape}");
            return Err(Diag::error(message).with_code(rules::TILE_TYPE));
        }
        let contraction = Contraction {
            name: "the TensorOutput".into(),
            declared: span,
            sizes: self.sizes,
            output: output.ok_or_else(too_large)?,
            target: span,
            aggregation: written.aggregation,
            combination: written.elements.combination,
            operands,
            constraints: constraints.ok_or_else(too_large)?,
            default: self.default.map(|value| (value, span)),
            span,
        };
        contract(self.builder, contraction, &names).map_err(without_labels)
    }
}

/// Removes the labels of a diagnostic, which refer to spans in a text. The message of the first label becomes
/// a note.
fn without_labels(mut diag: Diag) -> Diag {
    let labels = std::mem::take(&mut diag.labels);
    if let Some(label) = labels.into_iter().find(|l| !l.message.is_empty()) {
        diag.notes.insert(0, label.message);
    }
    diag
}
