//! `qr_expander`: converts the custom calls of a QR factorization to loops of Householder reflections.
//!
//! ```text
//! (r, taus) = custom-call(a), custom_call_target="Qr"
//!   →  for j: (v, tau, beta) = reflection of a[j:,j]
//!             a[:,j+1:] = a[:,j+1:] - conj(tau) · v · (vᴴ · a[:,j+1:])
//!             a[j,j] = beta, a[j+1:,j] = v[j+1:], taus[j] = tau
//! q = custom-call(r, taus), custom_call_target="ProductOfElementaryHouseholderReflectors"
//!   →  q = 1; for j in descending order: q = q - tau[j] · v[j] · (v[j]ᴴ · q)
//! ```
//!
//! The signs, and the storage of the vectors below the diagonal, follow LAPACK (`geqrf`, `orgqr`). Types
//! narrower than `f32` are computed in `f32`.

use crate::pass_info::{PassInfo, Preservation};
use crate::support::expander::{Emitter, expansion_pass};
use crate::support::loops::INDEX_TYPE;
use crate::support::matrices::{computed_in, matrix_sizes};
use hlo_ir::attr::{ComparisonDirection, ReduceAttrs};
use hlo_ir::build::Build;
use hlo_ir::{ArrayShape, InstrId, Op, Shape};

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "qr_expander",
    summary: "replace the custom calls Qr and ProductOfElementaryHouseholderReflectors by loops",
    keeps: Preservation::Values,
    example: "\
HloModule qr_expander

ENTRY e {
  a = f32[4,3] parameter(0)
  ROOT r = (f32[4,3], f32[3]) custom-call(a), custom_call_target=\"Qr\"
}
",
    build: |_, _| expansion_pass("qr", is_qr, expand),
    ..PassInfo::PLAIN
};

const FACTOR: &str = "Qr";
const PRODUCT: &str = "ProductOfElementaryHouseholderReflectors";

fn is_qr(op: &Op) -> bool {
    matches!(op, Op::CustomCall(a) if a.custom_call_target == FACTOR || a.custom_call_target == PRODUCT)
}

fn expand(e: &mut Emitter<'_>, id: InstrId) -> Option<InstrId> {
    let Op::CustomCall(attrs) = e.module[id].op.clone() else { return None };
    let operands = e.module[id].operands.to_vec();
    let shape = e.array(*operands.first()?)?;
    let sizes = matrix_sizes(&shape)?;
    let is_number = shape.element_type.is_float() || shape.element_type.is_complex();
    if !e.is_static(id) || !is_number || attrs.custom_call_has_side_effect {
        return None;
    }
    let is_factor = attrs.custom_call_target == FACTOR;
    let count = if is_factor { sizes[1].min(sizes[2]) } else { *e.array(*operands.get(1)?)?.dims.last()? };
    let [of_taus @ .., _, _] = shape.dims.as_slice() else { return None };
    let of_taus: Vec<i64> = of_taus.iter().copied().chain([count]).collect();
    let taus = ArrayShape::new(shape.element_type, of_taus);
    let whole = ArrayShape::new(shape.element_type, shape.dims.iter().copied());
    let call = Call { sizes, count };
    let results = match operands[..] {
        [a] if is_factor => {
            let expected = Shape::tuple(vec![whole.clone().into(), taus.clone().into()]);
            if !e.shape().compatible(&expected) {
                return None;
            }
            call.factor(e, a, &whole, &taus)?
        }
        [a, t] if !is_factor && count <= sizes[1].min(sizes[2]) => {
            let fits = e.array(t)?.compatible(&taus) && e.shape().compatible(&whole.clone().into());
            if !fits {
                return None;
            }
            vec![call.product(e, a, t, &whole)?]
        }
        _ => return None,
    };
    e.results(&results)
}

/// A custom call that is being expanded.
struct Call {
    /// The number of matrices, rows and columns.
    sizes: [i64; 3],
    /// The number of reflections.
    count: i64,
}

/// A reflection `1 - tau · v · vᴴ`.
struct Reflection {
    v: InstrId,
    tau: InstrId,
    /// The diagonal element after the reflection.
    beta: InstrId,
}

impl Call {
    fn is_empty(&self) -> bool {
        self.count == 0 || self.sizes.contains(&0)
    }

    /// Returns the triangular factor with the vectors below the diagonal, and the factors `tau` of the
    /// reflections.
    fn factor(
        &self,
        e: &mut Emitter<'_>,
        a: InstrId,
        whole: &ArrayShape,
        taus: &ArrayShape,
    ) -> Option<Vec<InstrId>> {
        if self.is_empty() {
            return Some(vec![a, e.zeros(taus)?]);
        }
        let ty = computed_in(whole.element_type);
        let a = e.convert(a, ty)?;
        let a = e.matrices(a)?;
        let zeros = e.zeros(&ArrayShape::new(ty, [self.sizes[0], 1, self.count]))?;
        let last = e.counted_loop("qr", self.count, &[a, zeros], |e, j, state| {
            let &[a, taus] = state else { return None };
            let r = self.reflection(e, a, j)?;
            let tau = e.conjugate(r.tau)?;
            let reflected = self.reflected(e, a, r.v, tau)?;
            let is_behind = e.places(&self.sizes, 2, ComparisonDirection::Gt, j)?;
            let a = e.choose(is_behind, reflected, a)?;
            let zero = e.index(0)?;
            let column_sizes = self.column_sizes();
            let column = e.part(a, &[zero, zero, j], &column_sizes)?;
            let is_below = e.places(&column_sizes, 1, ComparisonDirection::Gt, j)?;
            let is_diagonal = e.places(&column_sizes, 1, ComparisonDirection::Eq, j)?;
            let column = e.choose(is_below, r.v, column)?;
            let beta = e.broadcast_to_sizes(r.beta, &column_sizes)?;
            let column = e.choose(is_diagonal, beta, column)?;
            let a = e.updated(a, &[zero, zero, j], column);
            Some(vec![a, e.updated(taus, &[zero, zero, j], r.tau)])
        })?;
        let &[a, t] = last.as_slice() else { return None };
        Some(vec![e.reshaped(a, &whole.dims)?, e.reshaped(t, &taus.dims)?])
    }

    /// Returns the first columns of the product of the reflections.
    fn product(&self, e: &mut Emitter<'_>, a: InstrId, taus: InstrId, whole: &ArrayShape) -> Option<InstrId> {
        let ty = computed_in(whole.element_type);
        let (rows, columns) = (e.iota(INDEX_TYPE, &self.sizes, 1), e.iota(INDEX_TYPE, &self.sizes, 2));
        let is_diagonal = e.relation(rows, ComparisonDirection::Eq, columns);
        let mut q = e.convert(is_diagonal, ty)?;
        if !self.is_empty() {
            let (a, taus) = (e.convert(a, ty)?, e.convert(taus, ty)?);
            let a = e.matrices(a)?;
            let taus = e.reshaped(taus, &[self.sizes[0], 1, self.count])?;
            let last = e.counted_loop("householder", self.count, &[a, taus, q], |e, i, state| {
                let &[a, taus, q] = state else { return None };
                let last = e.index(self.count - 1)?;
                let j = e.same(Op::Subtract, &[last, i]);
                let zero = e.index(0)?;
                let tau = e.part(taus, &[zero, zero, j], &[self.sizes[0], 1, 1])?;
                let below = self.below(e, a, j)?;
                let v = self.with_one(e, below, j)?;
                Some(vec![a, taus, self.reflected(e, q, v, tau)?])
            })?;
            q = *last.last()?;
        }
        e.reshaped(q, &whole.dims)
    }

    fn column_sizes(&self) -> [i64; 3] {
        [self.sizes[0], self.sizes[1], 1]
    }

    /// Returns column `j` below the diagonal, with zeros above.
    fn below(&self, e: &mut Emitter<'_>, a: InstrId, j: InstrId) -> Option<InstrId> {
        let (zero, sizes) = (e.index(0)?, self.column_sizes());
        let column = e.part(a, &[zero, zero, j], &sizes)?;
        let is_below = e.places(&sizes, 1, ComparisonDirection::Gt, j)?;
        let zeros = e.zeros(&e.array(column)?)?;
        e.choose(is_below, column, zeros)
    }

    /// Returns the column with a one at position `j`.
    fn with_one(&self, e: &mut Emitter<'_>, column: InstrId, j: InstrId) -> Option<InstrId> {
        let is_diagonal = e.places(&self.column_sizes(), 1, ComparisonDirection::Eq, j)?;
        let one = e.splat(column, e.array(column)?.element_type, 1.0)?;
        e.choose(is_diagonal, one, column)
    }

    /// Returns `a - tau · v · (vᴴ · a)`.
    fn reflected(&self, e: &mut Emitter<'_>, a: InstrId, v: InstrId, tau: InstrId) -> Option<InstrId> {
        let conjugate = e.conjugate(v)?;
        let spread = e.broadcast_to_sizes(conjugate, &self.sizes)?;
        let products = e.same(Op::Multiply, &[spread, a]);
        let row = e.sum(products, &[1])?;
        let row_sizes = [self.sizes[0], 1, self.sizes[2]];
        let row = e.reshaped(row, &row_sizes)?;
        let tau = e.broadcast_to_sizes(tau, &row_sizes)?;
        let row = e.same(Op::Multiply, &[row, tau]);
        let change = e.outer(v, row, &self.sizes)?;
        Some(e.same(Op::Subtract, &[a, change]))
    }

    /// Returns the reflection that makes column `j` zero below the diagonal.
    fn reflection(&self, e: &mut Emitter<'_>, a: InstrId, j: InstrId) -> Option<Reflection> {
        let one = [self.sizes[0], 1, 1];
        let zero = e.index(0)?;
        let alpha = e.part(a, &[zero, j, j], &one)?;
        let below = self.below(e, a, j)?;
        let ty = e.array(alpha)?.element_type;
        // Scale by the largest magnitude, so that squares neither overflow nor underflow.
        let sizes = e.magnitude(below)?;
        let largest = largest(e, sizes)?;
        let is_zero = {
            let zeros = e.zeros(&e.array(largest)?)?;
            let is_zero = e.relation(largest, ComparisonDirection::Eq, zeros);
            if ty.is_complex() {
                let imag = e.elementwise(ty.real_type(), Op::Imag, &[alpha]);
                let is_real = e.relation(imag, ComparisonDirection::Eq, zeros);
                e.same(Op::And, &[is_zero, is_real])
            } else {
                is_zero
            }
        };
        let size = e.magnitude(alpha)?;
        let scale = e.same(Op::Maximum, &[largest, size]);
        let ones = e.splat(scale, ty.real_type(), 1.0)?;
        let nothing = e.zeros(&e.array(scale)?)?;
        let is_nothing = e.relation(scale, ComparisonDirection::Eq, nothing);
        let scale = e.choose(is_nothing, ones, scale)?;
        let scales = e.broadcast_to_sizes(scale, &self.column_sizes())?;
        let scaled = e.same(Op::Divide, &[sizes, scales]);
        let squares = e.same(Op::Multiply, &[scaled, scaled]);
        let sum = e.sum(squares, &[1])?;
        let sum = e.reshaped(sum, &one)?;
        let first = e.same(Op::Divide, &[size, scale]);
        let first = e.same(Op::Multiply, &[first, first]);
        let sum = e.same(Op::Add, &[sum, first]);
        let root = e.same(Op::Sqrt, &[sum]);
        let norm = e.same(Op::Multiply, &[root, scale]);

        let real = e.real_part(alpha)?;
        let is_negative = e.relation(real, ComparisonDirection::Lt, nothing);
        let opposite = e.same(Op::Negate, &[norm]);
        let beta = e.choose(is_negative, norm, opposite)?;
        let beta = e.choose(is_zero, real, beta)?;
        let wide_beta = e.convert(beta, ty)?;
        let difference = e.same(Op::Subtract, &[wide_beta, alpha]);
        let tau = e.over_real(difference, beta)?;
        let none = e.zeros(&e.array(tau)?)?;
        let tau = e.choose(is_zero, none, tau)?;
        let divisor = e.same(Op::Subtract, &[alpha, wide_beta]);
        let unit = e.splat(divisor, ty, 1.0)?;
        let divisor = e.choose(is_zero, unit, divisor)?;
        let divisors = e.broadcast_to_sizes(divisor, &self.column_sizes())?;
        let v = e.same(Op::Divide, &[below, divisors]);
        let v = self.with_one(e, v, j)?;
        Some(Reflection { v, tau, beta: wide_beta })
    }
}

/// Returns the largest number in each column. No number may be negative.
fn largest(e: &mut Emitter<'_>, columns: InstrId) -> Option<InstrId> {
    let shape = e.array(columns)?;
    let ty = shape.element_type;
    let to_apply = e.computation("max", |e| {
        let parameters = [0, 1].map(|n| e.parameter(n, Shape::scalar(ty)));
        Some(e.same(Op::Maximum, &parameters))
    })?;
    let zero = e.zero(ty)?;
    let attrs = ReduceAttrs { dimensions: [1].into_iter().collect(), to_apply };
    let [count, _, width] = matrix_sizes(&shape)?;
    let most = e.add(ArrayShape::new(ty, [count, width]), Op::Reduce(attrs), &[columns, zero]);
    e.reshaped(most, &[count, 1, width])
}
