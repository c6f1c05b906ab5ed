//! `eigh_expander`: converts the custom call `Eigh`, which computes the eigenvectors and eigenvalues of
//! self-adjoint matrices, to loops of Jacobi rotations.
//!
//! ```text
//! (v, w) = custom-call(a), custom_call_target="Eigh", backend_config="1,1,100,1e-6"
//!   →  v = 1
//!      until a is diagonal to a relative tolerance of 1e-6, at most 100 times:
//!        for p, for q > p: a = jᴴ · a · j, v = v · j, where j makes a[p,q] zero
//! ```
//!
//! The configuration contains four values:
//! - whether the lower triangle of `a` is read (1) or the upper one (0);
//! - whether the eigenvalues are sorted in ascending order;
//! - the maximum number of sweeps over all pairs;
//! - the relative tolerance for elements outside the diagonal.
//!
//! Types narrower than `f32` are computed in `f32`.

use crate::pass_info::{PassInfo, Preservation};
use crate::support::expander::{Emitter, expansion_pass};
use crate::support::loops::{INDEX_TYPE, Steps};
use crate::support::matrices::{computed_in, matrix_sizes};
use hlo_ir::attr::{CompareAttrs, ComparisonDirection, ComparisonType, SortAttrs};
use hlo_ir::build::Build;
use hlo_ir::{ArrayShape, ElementType, InstrId, Op, Shape};

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "eigh_expander",
    summary: "replace the custom call Eigh by loops of Jacobi rotations",
    keeps: Preservation::Values,
    example: "\
HloModule eigh_expander

ENTRY e {
  a = f32[3,3] parameter(0)
  ROOT r = (f32[3,3], f32[3]) custom-call(a), custom_call_target=\"Eigh\", backend_config=\"1,1,100,1e-6\"
}
",
    build: |_, _| {
        let wanted = |op: &Op| matches!(op, Op::CustomCall(a) if a.custom_call_target == "Eigh");
        expansion_pass("eigh", wanted, expand)
    },
    ..PassInfo::PLAIN
};

/// A custom call that is being expanded.
struct Eigh {
    /// The number of matrices, rows and columns.
    sizes: [i64; 3],
    lower: bool,
    sorted: bool,
    sweeps: i64,
    tolerance: f64,
}

impl Eigh {
    /// Parses a configuration such as `1,1,100,1e-6`.
    fn new(config: &str, sizes: [i64; 3]) -> Option<Self> {
        let parts: Vec<&str> = config.split(',').map(str::trim).collect();
        let [lower, sorted, sweeps, tolerance] = parts[..] else { return None };
        let flag = |text: &str| text.parse::<i64>().ok().map(|n| n != 0);
        Some(Self {
            sizes,
            lower: flag(lower)?,
            sorted: flag(sorted)?,
            sweeps: sweeps.parse().ok().filter(|&n| n >= 0)?,
            tolerance: tolerance.parse().ok()?,
        })
    }
}

fn expand(e: &mut Emitter<'_>, id: InstrId) -> Option<InstrId> {
    let &[operand] = e.module[id].operands.as_slice() else { return None };
    let shape = e.array(operand)?;
    let sizes = matrix_sizes(&shape)?;
    let config = config(e, id)?;
    let eigh = Eigh::new(&config, sizes)?;
    let given = shape.element_type;
    let vectors = ArrayShape::new(given, shape.dims.iter().copied());
    let dims = shape.dims.split_last()?.1.iter().copied();
    let values = ArrayShape::new(given.real_type(), dims);
    let expected = Shape::tuple(vec![vectors.clone().into(), values.clone().into()]);
    let is_number = given.is_float() || given.is_complex();
    if !e.is_static(id) || !is_number || sizes[1] != sizes[2] || !e.shape().compatible(&expected) {
        return None;
    }
    let results = if shape.dims.contains(&0) {
        vec![e.zeros(&vectors)?, e.zeros(&values)?]
    } else {
        let a = e.convert(operand, computed_in(given))?;
        let a = e.matrices(a)?;
        let (v, w) = eigh.solve(e, a)?;
        vec![e.reshaped(v, &vectors.dims)?, e.reshaped(w, &values.dims)?]
    };
    e.results(&results)
}

/// Returns the configuration of a custom call, if it has no side effects.
fn config(e: &Emitter<'_>, id: InstrId) -> Option<String> {
    match &e.module[id].op {
        Op::CustomCall(a) if !a.custom_call_has_side_effect => {}
        _ => return None,
    }
    e.module[id].common.as_deref()?.backend_config.as_str().map(str::to_owned)
}

impl Eigh {
    fn solve(&self, e: &mut Emitter<'_>, a: InstrId) -> Option<(InstrId, InstrId)> {
        let a = self.self_adjoint(e, a)?;
        let ty = e.array(a)?.element_type;
        let is_diagonal = self.diagonal(e, ComparisonDirection::Eq);
        let v = e.convert(is_diagonal, ty)?;
        let sweeps = e.index(self.sweeps)?;
        let last = e.counted_loop("eigh", Steps::InState(0), &[sweeps, a, v], |e, _, state| {
            let &[sweeps, a, v] = state else { return None };
            let sweep = e.counted_loop("eigh_rows", self.sizes[1], &[a, v], |e, p, state| {
                let &[a, v] = state else { return None };
                let row = e.counted_loop("eigh_pairs", self.sizes[1], &[p, a, v], |e, q, state| {
                    let &[p, a, v] = state else { return None };
                    self.rotate(e, p, q, a, v)
                })?;
                Some(row.get(1..)?.to_vec())
            })?;
            let &[a, v] = sweep.as_slice() else { return None };
            let goes_on = self.more_rounds(e, a)?;
            let none = e.index(0)?;
            Some(vec![e.select(goes_on, sweeps, none), a, v])
        })?;
        let &[_, a, v] = last.as_slice() else { return None };
        let zeros = e.zeros(&e.array(a)?)?;
        let diagonal = self.diagonal(e, ComparisonDirection::Eq);
        let diagonal = e.choose(diagonal, a, zeros)?;
        let diagonal = e.real_part(diagonal)?;
        let w = e.sum(diagonal, &[1])?;
        if self.sorted { self.ascending(e, v, w) } else { Some((v, w)) }
    }

    /// Returns a mask of the elements whose row and column numbers satisfy a comparison.
    fn diagonal(&self, e: &mut Emitter<'_>, direction: ComparisonDirection) -> InstrId {
        let (rows, columns) = (e.iota(INDEX_TYPE, &self.sizes, 1), e.iota(INDEX_TYPE, &self.sizes, 2));
        e.relation(rows, direction, columns)
    }

    /// Returns a self-adjoint matrix: copies the adjoint of one triangle to the other, and makes the diagonal
    /// real.
    fn self_adjoint(&self, e: &mut Emitter<'_>, a: InstrId) -> Option<InstrId> {
        let ty = e.array(a)?.element_type;
        let transposed = e.transposed(a, &[0, 2, 1])?;
        let adjoint = e.conjugate(transposed)?;
        let direction = if self.lower { ComparisonDirection::Gt } else { ComparisonDirection::Lt };
        let counts = self.diagonal(e, direction);
        let both = e.choose(counts, a, adjoint)?;
        let real = e.real_part(a)?;
        let real = e.convert(real, ty)?;
        let is_diagonal = self.diagonal(e, ComparisonDirection::Eq);
        e.choose(is_diagonal, real, both)
    }

    /// Returns whether the elements outside the diagonal of any matrix are still too large.
    fn more_rounds(&self, e: &mut Emitter<'_>, a: InstrId) -> Option<InstrId> {
        let sizes = e.magnitude(a)?;
        let real = e.array(sizes)?.element_type;
        let squares = e.same(Op::Multiply, &[sizes, sizes]);
        let zeros = e.zeros(&e.array(squares)?)?;
        let is_diagonal = self.diagonal(e, ComparisonDirection::Eq);
        let beside = e.choose(is_diagonal, zeros, squares)?;
        let (beside, all) = (e.sum(beside, &[1, 2])?, e.sum(squares, &[1, 2])?);
        let tolerance = e.splat(all, real, self.tolerance * self.tolerance)?;
        let limit = e.same(Op::Multiply, &[all, tolerance]);
        let is_large = e.relation(beside, ComparisonDirection::Gt, limit);
        e.sum(is_large, &[0])
    }

    /// Returns the matrix and the vectors after the rotation that makes element `(p, q)` zero. They do not
    /// change unless `p < q`.
    fn rotate(
        &self,
        e: &mut Emitter<'_>,
        p: InstrId,
        q: InstrId,
        a: InstrId,
        v: InstrId,
    ) -> Option<Vec<InstrId>> {
        let [count, n, _] = self.sizes;
        let (one, zero) = ([count, 1, 1], e.index(0)?);
        let (app, aqq) = (e.part(a, &[zero, p, p], &one)?, e.part(a, &[zero, q, q], &one)?);
        let apq = e.part(a, &[zero, p, q], &one)?;
        let (app, aqq, size) = (e.real_part(app)?, e.real_part(aqq)?, e.magnitude(apq)?);
        let real = e.array(size)?.element_type;
        let (nothing, unit) = (e.splat(size, real, 0.0)?, e.splat(size, real, 1.0)?);
        let is_below = e.compare(p, ComparisonDirection::Ge, q);
        let is_below = e.spread(size, is_below)?;
        let is_nothing = e.relation(size, ComparisonDirection::Eq, nothing);
        let stays = e.same(Op::Or, &[is_below, is_nothing]);
        let size = e.choose(stays, unit, size)?;

        // The tangent of the smaller rotation angle.
        let difference = e.same(Op::Subtract, &[aqq, app]);
        let twice = e.same(Op::Add, &[size, size]);
        let theta = e.same(Op::Divide, &[difference, twice]);
        let square = e.same(Op::Multiply, &[theta, theta]);
        let square = e.same(Op::Add, &[square, unit]);
        let root = e.same(Op::Sqrt, &[square]);
        let magnitude = e.same(Op::Abs, &[theta]);
        let sum = e.same(Op::Add, &[magnitude, root]);
        let tangent = e.same(Op::Divide, &[unit, sum]);
        let is_negative = e.relation(theta, ComparisonDirection::Lt, nothing);
        let opposite = e.same(Op::Negate, &[tangent]);
        let tangent = e.choose(is_negative, opposite, tangent)?;
        let square = e.same(Op::Multiply, &[tangent, tangent]);
        let square = e.same(Op::Add, &[square, unit]);
        let root = e.same(Op::Sqrt, &[square]);
        let cosine = e.same(Op::Divide, &[unit, root]);
        let sine = e.same(Op::Multiply, &[tangent, cosine]);
        let (cosine, sine) = (e.choose(stays, unit, cosine)?, e.choose(stays, nothing, sine)?);
        let ty = e.array(a)?.element_type;
        let (cosine, sine) = (e.convert(cosine, ty)?, e.convert(sine, ty)?);
        let phase = e.over_real(apq, size)?;
        let sine = e.same(Op::Multiply, &[sine, phase]);
        let conjugate = e.conjugate(sine)?;

        let column = |i: InstrId| ([zero, zero, i], [count, n, 1]);
        let row = |i: InstrId| ([zero, i, zero], [count, 1, n]);
        let a = mix(e, a, [column(p), column(q)], cosine, [conjugate, sine])?;
        let a = mix(e, a, [row(p), row(q)], cosine, [sine, conjugate])?;
        let v = mix(e, v, [column(p), column(q)], cosine, [conjugate, sine])?;
        Some(vec![p, a, v])
    }

    /// Sorts eigenvectors and eigenvalues in ascending order of the eigenvalues.
    fn ascending(&self, e: &mut Emitter<'_>, v: InstrId, w: InstrId) -> Option<(InstrId, InstrId)> {
        let [count, n, _] = self.sizes;
        let real = e.array(w)?.element_type;
        let row = e.reshaped(w, &[count, 1, n])?;
        let keys = e.broadcast_to_sizes(row, &self.sizes)?;
        let ty = e.array(v)?.element_type;
        let to_apply = e.computation("eigenvalue_less", |e| {
            let types = [real, real, ty, ty];
            let mut parameters = Vec::new();
            for (n, ty) in types.into_iter().enumerate() {
                parameters.push(e.parameter(n, Shape::scalar(ty)));
            }
            let (direction, comparison_type) = (ComparisonDirection::Lt, ComparisonType::TotalOrder);
            let less = Op::Compare(CompareAttrs { direction, comparison_type });
            Some(e.add(Shape::scalar(ElementType::Pred), less, parameters.get(..2)?))
        })?;
        let shape = Shape::tuple(vec![e.module[keys].shape.clone(), e.module[v].shape.clone()]);
        let attrs = SortAttrs { dimensions: [2].into_iter().collect(), is_stable: true, to_apply };
        let sorted = e.add(shape, Op::Sort(attrs), &[keys, v]);
        let (keys, v) = (e.element(sorted, 0)?, e.element(sorted, 1)?);
        let first = e.sliced(keys, 1, 0, 1)?;
        Some((v, e.reshaped(first, &[count, n])?))
    }
}

/// A part of matrices, given by its start and its sizes.
type Place = ([InstrId; 3], [i64; 3]);

/// Replaces two rows or columns `x` and `y` by `cosine · x - by[0] · y` and `by[1] · x + cosine · y`.
fn mix(
    e: &mut Emitter<'_>,
    a: InstrId,
    places: [Place; 2],
    cosine: InstrId,
    by: [InstrId; 2],
) -> Option<InstrId> {
    let [(at_x, sizes), (at_y, _)] = places;
    let (x, y) = (e.part(a, &at_x, &sizes)?, e.part(a, &at_y, &sizes)?);
    let cosine = e.broadcast_to_sizes(cosine, &sizes)?;
    let by = [e.broadcast_to_sizes(by[0], &sizes)?, e.broadcast_to_sizes(by[1], &sizes)?];
    let (less, more) = (e.same(Op::Multiply, &[by[0], y]), e.same(Op::Multiply, &[by[1], x]));
    let (kept_x, kept_y) = (e.same(Op::Multiply, &[cosine, x]), e.same(Op::Multiply, &[cosine, y]));
    let (x, y) = (e.same(Op::Subtract, &[kept_x, less]), e.same(Op::Add, &[more, kept_y]));
    let a = e.updated(a, &at_x, x);
    Some(e.updated(a, &at_y, y))
}
