//! Contractions: checks them and adds their instructions.

use crate::error::error;
use crate::poly::{IndexId, IndexNames, Poly, Rational};
use crate::rules;
use crate::types::{Kind, promoted};
use hlo_builder::{Builder, Value as Hlo};
use hlo_ir::contraction::lattice::{Lattice, Overflow};
use hlo_ir::contraction::{
    Affine, Aggregation, Combination, Constraint, Contraction as Access_, MAX_INDICES, NestError, Repetition,
};
use hlo_ir::diag::Diag;
use hlo_ir::{ArrayShape, ElementType, Shape, Span};
use std::collections::BTreeSet;

/// Maximum number of loop iterations for checking `=`.
const MAX_STEPS: usize = 1_000_000;

/// An access to elements of a tensor: `A[i, k]`.
#[derive(Clone, Debug)]
pub(crate) struct Access<'b> {
    /// The tensor.
    pub(crate) value: Hlo<'b>,
    /// The name of the tensor.
    pub(crate) name: String,
    /// The index of each dimension.
    pub(crate) indices: Vec<(Poly, Span)>,
    /// The span of the whole access.
    pub(crate) span: Span,
}

/// A complete contraction.
#[derive(Debug)]
pub(crate) struct Contraction<'b> {
    /// The name of the output.
    pub(crate) name: String,
    /// The span that declares the sizes of the output.
    pub(crate) declared: Span,
    /// The sizes of the output.
    pub(crate) sizes: Vec<i64>,
    /// The index that is written in each dimension of the output.
    pub(crate) output: Vec<(Poly, Span)>,
    /// The span of the output indices.
    pub(crate) target: Span,
    /// How several values for one element are combined.
    pub(crate) aggregation: Aggregation,
    /// How the operands are combined to one value.
    pub(crate) combination: Combination,
    /// The accesses to the operands.
    pub(crate) operands: Vec<Access<'b>>,
    /// `0 <= index < bound`.
    pub(crate) constraints: Vec<(Poly, i64, Span)>,
    /// The value of elements that are not written.
    pub(crate) default: Option<(Hlo<'b>, Span)>,
    /// The span of the statement.
    pub(crate) span: Span,
}

/// Adds the instruction of a contraction. Also returns warnings about likely mistakes. If the contraction
/// violates the rules of the operation itself, the builder reports the error.
///
/// # Errors
/// Returns the first error in the contraction.
pub(crate) fn contract<'b>(
    b: &'b Builder,
    mut contraction: Contraction<'b>,
    indices: &dyn IndexNames,
) -> Result<(Hlo<'b>, Vec<Diag>), Diag> {
    contraction.check_ranks()?;
    let used = contraction.used_indices();
    contraction.check_constraints(&used, indices)?;
    let element_type = contraction.convert_operands()?;
    let shape = ArrayShape::new(element_type, contraction.sizes.iter().copied());
    let mut warnings = Vec::new();
    contraction.look_for_output_only(&used, indices, &mut warnings);

    let too_large = |_: Overflow| contraction.too_large();
    let Some(lattice) = contraction.integral(&used).map_err(too_large)? else {
        return Ok((contraction.nothing(b, &shape, &mut warnings), warnings));
    };
    let access = contraction.access(&used, &lattice).ok_or_else(|| contraction.too_large())?;
    let operands: Vec<Hlo<'b>> = contraction.operands.iter().map(|a| a.value).collect();
    let shapes: Vec<Shape> = operands.iter().filter_map(|v| v.shape().ok()).collect();
    let result = Shape::Array(shape.clone());
    let nest = access.nest(&result, &shapes.iter().collect::<Vec<_>>());
    let nest = nest.map_err(|e| contraction.no_nest(e, &used, &lattice, indices))?;
    let Some(nest) = nest else {
        return Ok((contraction.nothing(b, &shape, &mut warnings), warnings));
    };
    if contraction.aggregation == Aggregation::Assign {
        contraction.check_single(&nest.repetition(MAX_STEPS), &used, &lattice, indices)?;
    }
    let default = contraction.default.map(|(value, _)| value);
    let made = b.contraction(result, access, &operands, default);
    Ok((made, warnings))
}

fn shape_of(value: Hlo<'_>) -> ArrayShape {
    match value.shape() {
        Ok(Shape::Array(shape)) => shape,
        _ => ArrayShape::new(ElementType::F32, []),
    }
}

impl<'b> Contraction<'b> {
    fn check_ranks(&self) -> Result<(), Diag> {
        if self.output.len() != self.sizes.len() {
            let message = format!(
                "`{}` has {} dimensions, and is written at {} indices",
                self.name,
                self.sizes.len(),
                self.output.len()
            );
            let d = error(
                rules::TILE_OUTPUT_RANK,
                self.target,
                message,
                format!("{} indices", self.output.len()),
            )
            .and(self.declared, format!("{} dimensions", self.sizes.len()));
            return Err(d.note("a TensorOutput has a size for each index that it is written at: `O = TensorOutput(N)`, `O[n] += …`"));
        }
        for access in &self.operands {
            let rank = shape_of(access.value).rank();
            if access.indices.len() != rank {
                let message = format!(
                    "`{}` has {rank} dimensions, and is read at {} indices",
                    access.name,
                    access.indices.len()
                );
                return Err(error(
                    rules::TILE_ACCESS_RANK,
                    access.span,
                    message,
                    format!("expected {rank} indices"),
                ));
            }
        }
        if let Some((default, span)) = &self.default {
            let shape = shape_of(*default);
            if shape.dims.as_slice() != self.sizes.as_slice() {
                let message = format!(
                    "the default of `{}` has its shape, {:?}, found {:?}",
                    self.name, self.sizes, shape.dims
                );
                return Err(error(
                    rules::TILE_BROADCAST,
                    *span,
                    message,
                    format!("this has the shape {:?}", shape.dims),
                )
                .and(self.declared, format!("this has the shape {:?}", self.sizes)));
            }
        }
        Ok(())
    }

    /// Returns the indices of all accesses, in the order in which they first occur.
    fn used_indices(&self) -> Vec<IndexId> {
        let mut used = Vec::new();
        let polys = self.output.iter().chain(self.operands.iter().flat_map(|a| &a.indices));
        for id in polys.flat_map(|(poly, _)| poly.indices()) {
            if !used.contains(&id) {
                used.push(id);
            }
        }
        used
    }

    fn check_constraints(&self, used: &[IndexId], indices: &dyn IndexNames) -> Result<(), Diag> {
        for (poly, _, span) in &self.constraints {
            if let Some(id) = poly.indices().find(|id| !used.contains(id)) {
                let message = format!("index `{}` occurs in constraints only", indices.name_of(id));
                let label = "it is in no index of a tensor";
                return Err(error(rules::TILE_CONSTRAINT_ONLY, *span, message, label)
                    .and(self.span, "of this contraction"));
            }
        }
        Ok(())
    }

    /// Converts the operands that are combined to one element type. Returns the type of the result.
    fn convert_operands(&mut self) -> Result<ElementType, Diag> {
        let types: Vec<ElementType> = self.operands.iter().map(|a| shape_of(a.value).element_type).collect();
        let together = if self.combination == Combination::Select { 2 } else { types.len() };
        let mut kinds: Vec<Kind> = types.iter().take(together).map(|&t| Kind::Tensor(t)).collect();
        if let Some((default, _)) = &self.default
            && matches!(self.combination, Combination::Single | Combination::Multiply | Combination::Add)
        {
            kinds.push(Kind::Tensor(shape_of(*default).element_type));
        }
        let common = promoted(&kinds);
        for (access, _) in self.operands.iter_mut().zip(&types).take(together).filter(|(_, t)| **t != common)
        {
            access.value = access.value.convert(common);
        }
        let result = match self.combination {
            Combination::Equal => ElementType::Pred,
            Combination::Select => types.last().copied().unwrap_or(common),
            Combination::Single | Combination::Multiply | Combination::Add => common,
        };
        if result.is_pred() && matches!(self.aggregation, Aggregation::Sum | Aggregation::Product) {
            let message = "truth values are added or multiplied";
            return Err(error(rules::TILE_TYPE, self.span, message, "of truth values there is no sum")
                .note("`cast(X, DType.INT32)` makes numbers of them, to count those that are true")
                .note("`>=` is true where any is, `<=` where all are"));
        }
        if let Some((default, _)) = &mut self.default
            && shape_of(*default).element_type != result
        {
            *default = default.convert(result);
        }
        Ok(result)
    }

    /// Returns all index expressions.
    fn polys(&self) -> impl Iterator<Item = &Poly> {
        let output = self.output.iter().map(|(p, _)| p);
        let operands = self.operands.iter().flat_map(|a| &a.indices).map(|(p, _)| p);
        output.chain(operands).chain(self.constraints.iter().map(|(p, _, _)| p))
    }

    /// Returns the lattice of index values at which all index expressions are integers, or `None` if there
    /// are none.
    fn integral(&self, used: &[IndexId]) -> Result<Option<Lattice>, Overflow> {
        let mut lattice = Lattice::all(used.len());
        for poly in self.polys() {
            let denominators = used.iter().map(|&id| *poly.coefficient(id).denom());
            let modulus = denominators
                .chain([*poly.offset().denom()])
                .try_fold(1_i128, |a, b| lcm(a, &b))
                .ok_or(Overflow)?;
            if modulus == 1 {
                continue;
            }
            let scaled = |r: Rational| r.numer().checked_mul(modulus / r.denom()).ok_or(Overflow);
            let form = used.iter().map(|&id| scaled(poly.coefficient(id))).collect::<Result<Vec<_>, _>>()?;
            if !lattice.keep_divisible(&form, scaled(poly.offset())?, modulus)? {
                return Ok(None);
            }
        }
        Ok(Some(lattice))
    }

    /// Rewrites the index expressions in the coordinates of the lattice, with integer coefficients. Returns
    /// `None` if a number is too large.
    fn access(&self, used: &[IndexId], lattice: &Lattice) -> Option<Access_> {
        let affine = |poly: &Poly| -> Option<Affine> {
            let at = |vector: &[i128], constant: Rational| -> Option<i64> {
                let mut sum = constant;
                for (&id, &x) in used.iter().zip(vector) {
                    let coefficient = poly.coefficient(id);
                    let product = Rational::new(coefficient.numer().checked_mul(x)?, *coefficient.denom());
                    let numerator = sum.numer().checked_mul(*product.denom())?;
                    let other = product.numer().checked_mul(*sum.denom())?;
                    sum = Rational::new(
                        numerator.checked_add(other)?,
                        sum.denom().checked_mul(*product.denom())?,
                    );
                }
                sum.is_integer().then(|| i64::try_from(*sum.numer()).ok()).flatten()
            };
            let constant = at(&lattice.origin, poly.offset())?;
            let vectors = lattice.basis.vectors().iter();
            let coefficients = vectors.map(|v| at(v, Rational::default())).collect::<Option<_>>()?;
            Some(Affine { coefficients, constant })
        };
        let all =
            |indices: &[(Poly, Span)]| indices.iter().map(|(p, _)| affine(p)).collect::<Option<Vec<_>>>();
        let constraint =
            |(poly, bound, _): &(Poly, i64, Span)| Some(Constraint { index: affine(poly)?, bound: *bound });
        Some(Access_ {
            indices: used.len(),
            output: all(&self.output)?,
            operands: self.operands.iter().map(|a| all(&a.indices)).collect::<Option<_>>()?,
            aggregation: self.aggregation,
            combination: self.combination,
            constraints: self.constraints.iter().map(constraint).collect::<Option<_>>()?,
        })
    }

    /// Returns the result if no index is valid: the default, or zeros.
    fn nothing(&self, b: &'b Builder, shape: &ArrayShape, warnings: &mut Vec<Diag>) -> Hlo<'b> {
        let message = format!(
            "no index is valid, so that `{}` is all {}",
            self.name,
            if self.default.is_some() { "default" } else { "zeros" }
        );
        let d = Diag::warning(message)
            .with_code(rules::TILE_EMPTY)
            .at(self.span, "this contraction does nothing");
        warnings.push(d.and(self.declared, "its output"));
        match &self.default {
            Some((default, _)) => *default,
            None => b.zero(shape.element_type).broadcast(&shape.dims),
        }
    }

    fn too_large(&self) -> Diag {
        let message = "the numbers of this contraction's indices are too large";
        error(rules::TILE_SIZE, self.span, message, "its loops can't be computed")
    }

    /// Returns the error for indices that do not form a loop nest.
    fn no_nest(&self, e: NestError, used: &[IndexId], lattice: &Lattice, indices: &dyn IndexNames) -> Diag {
        match e {
            NestError::TooLarge if used.len() > MAX_INDICES => {
                let message =
                    format!("a contraction has at most {MAX_INDICES} indices, found {}", used.len());
                error(rules::TILE_SIZE, self.span, message, "too many")
            }
            NestError::TooLarge => self.too_large(),
            NestError::Unbounded(coordinates) => {
                // A coordinate of the lattice changes the indices for which its basis vector is not 0.
                let moved = |n: usize| coordinates.iter().any(|&c| lattice.basis.vectors()[c][n] != 0);
                let names: BTreeSet<String> = (0..used.len())
                    .filter(|&n| moved(n))
                    .map(|n| format!("`{}`", indices.name_of(used[n])))
                    .collect();
                let names = names.into_iter().collect::<Vec<_>>().join(", ");
                let message = format!("no access and no constraint bounds {names}");
                error(rules::TILE_UNBOUNDED, self.span, message, "they could be arbitrarily large")
                    .note("a constraint such as `j < 2` bounds an index to 0 and 1")
            }
        }
    }

    /// Returns an error if `=` writes an element more than once.
    fn check_single(
        &self,
        repetition: &Repetition,
        used: &[IndexId],
        lattice: &Lattice,
        indices: &dyn IndexNames,
    ) -> Result<(), Diag> {
        let note = "`+=`, `*=`, `>=` and `<=` aggregate several values, constraints leave some out";
        match repetition {
            Repetition::Never => Ok(()),
            Repetition::Unknown => {
                let message = format!("`=` may write an element of `{}` more than once", self.name);
                let label = "it takes too long to tell";
                Err(error(rules::TILE_MULTIPLE_ASSIGN, self.span, message, label)
                    .note("if it writes each once, any other aggregation has the same result"))
            }
            Repetition::At([first, second]) => {
                let point = |y: &[i64]| -> Vec<i128> {
                    let vectors = lattice.basis.vectors();
                    let along =
                        |n: usize| y.iter().zip(vectors).map(|(&y, v)| i128::from(y) * v[n]).sum::<i128>();
                    lattice.origin.iter().enumerate().map(|(n, o)| o + along(n)).collect()
                };
                let (a, b) = (point(first), point(second));
                let at = |poly: &Poly| -> Rational {
                    used.iter().zip(&a).fold(poly.offset(), |sum, (&id, &x)| sum + poly.coefficient(id) * x)
                };
                let element: Vec<String> = self.output.iter().map(|(p, _)| at(p).to_string()).collect();
                let differing: Vec<String> = (0..used.len())
                    .filter(|&n| a[n] != b[n])
                    .map(|n| format!("`{}` is {} or {}", indices.name_of(used[n]), a[n], b[n]))
                    .collect();
                let message = format!("`=` writes {}[{}] more than once", self.name, element.join(", "));
                let label = format!("where {}", differing.join(", "));
                Err(error(rules::TILE_MULTIPLE_ASSIGN, self.span, message, label).note(note))
            }
        }
    }

    /// Warns about an index that occurs only in the output although the operands have windows. Most likely
    /// another index was meant.
    fn look_for_output_only(&self, used: &[IndexId], indices: &dyn IndexNames, warnings: &mut Vec<Diag>) {
        let has_window = self.operands.iter().flat_map(|a| &a.indices).any(|(p, _)| p.indices().count() > 1);
        let in_operands = |id: IndexId| {
            self.operands.iter().flat_map(|a| &a.indices).any(|(p, _)| p.indices().any(|i| i == id))
        };
        for &id in used.iter().filter(|&&id| has_window && !in_operands(id)) {
            let at = self.output.iter().find(|(p, _)| p.indices().any(|i| i == id));
            let name = indices.name_of(id);
            let message =
                format!("index `{name}` is in the output only: `{}` is the same along it", self.name);
            let d = Diag::warning(message).with_code(rules::TILE_OUTPUT_ONLY);
            warnings.push(d.at(at.map_or(self.span, |(_, s)| *s), "in no operand"));
        }
    }
}

/// Returns the least common multiple of positive numbers.
fn lcm(a: i128, b: &i128) -> Option<i128> {
    let (mut x, mut y) = (a, *b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    (a / x).checked_mul(*b)
}
