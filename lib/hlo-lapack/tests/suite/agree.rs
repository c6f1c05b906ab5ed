//! Comparison of the interpreter's LAPACK routines with this crate's. Unique results must agree element by
//! element. Other results must satisfy their definition, and their unique parts must agree.

use crate::support::{self, Array, C, LAYOUTS, Layout, Matrix, Numbers, Shape};
use hlo_custom_call::Registry;
use std::slice::from_ref;

/// The number type and the layout of a call.
#[derive(Clone, Copy, Debug)]
struct CallVariant {
    letter: char,
    layout: Layout,
    batch: &'static [usize],
}

const SIZES: [usize; 11] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 20];

impl CallVariant {
    fn is_complex(self) -> bool {
        matches!(self.letter, 'c' | 'z')
    }

    fn is_double(self) -> bool {
        matches!(self.letter, 'd' | 'z')
    }

    /// Returns the types of the numbers, of their parts, and of complex numbers of the same precision.
    fn types(self) -> [&'static str; 3] {
        match self.letter {
            's' => ["f32", "f32", "c64"],
            'd' => ["f64", "f64", "c128"],
            'c' => ["c64", "f32", "c64"],
            _ => ["c128", "f64", "c128"],
        }
    }

    fn epsilon(self) -> f64 {
        if self.is_double() { f64::EPSILON } else { f32::EPSILON.into() }
    }

    /// Returns the tolerance for rounding errors of numbers of the order of 1.
    fn tolerance(self) -> f64 {
        1e4 * self.epsilon()
    }

    fn name(self, real: &str, complex: &str) -> String {
        format!("lapack_{}{}_ffi", self.letter, if self.is_complex() { complex } else { real })
    }

    /// Returns a batch of matrices, rounded to the type.
    fn array(self, inner: usize, make: impl FnMut() -> Matrix) -> Array {
        let round = |x: f64| if self.is_double() { x } else { f64::from(x as f32) };
        let count = self.batch.iter().product();
        let mut batch: Vec<Matrix> = std::iter::repeat_with(make).take(count).collect();
        batch.iter_mut().flat_map(|m| &mut m.values).for_each(|z| *z = C::new(round(z.re), round(z.im)));
        Array { element: self.types()[0], inner, batch }
    }

    fn random(self, numbers: &mut Numbers, rows: usize, columns: usize) -> Array {
        self.array(2, || numbers.matrix(rows, columns, self.is_complex()))
    }

    /// Returns random matrices with a large diagonal, so that systems with them are well conditioned.
    fn dominant(self, numbers: &mut Numbers, n: usize) -> Array {
        self.array(2, || {
            let a = numbers.matrix(n, n, self.is_complex());
            Matrix::new(n, n, |i, j| if i == j { a.get(i, j) + 2.0 } else { a.get(i, j) / n as f64 })
        })
    }

    /// Returns the results of both implementations.
    fn both(self, call: (&str, &str), operands: &[Array], results: &[Shape]) -> [Vec<Array>; 2] {
        support::registries().map(|(_, r): (_, Registry)| {
            support::call(&r, call, operands, results, (self.batch, self.layout))
        })
    }

    /// Calls a routine whose results are unique, compares them, and returns them.
    #[track_caller]
    fn unique(self, call: (&str, &str), operands: &[Array], results: &[Shape]) -> Vec<Array> {
        let [fast, plain] = self.both(call, operands, results);
        for (i, (fast, plain)) in fast.iter().zip(&plain).enumerate() {
            let what = format!("{call:?} {self:?} result {i}");
            same(fast, plain, self.tolerance(), &what);
        }
        fast
    }

    fn matrix(self, rows: usize, columns: usize) -> Shape {
        (self.types()[0], vec![rows, columns])
    }

    fn vector(self, n: usize) -> Shape {
        (self.types()[0], vec![n])
    }

    fn reals(self, n: usize) -> Shape {
        (self.types()[1], vec![n])
    }
}

const INFO: fn() -> Shape = || ("s32", vec![]);

#[track_caller]
fn same(a: &Array, b: &Array, tolerance: f64, what: &str) {
    for (a, b) in a.batch.iter().zip(&b.batch) {
        b.is_within(tolerance, a, what);
    }
}

fn every_way(mut test: impl FnMut(CallVariant)) {
    for letter in ['s', 'd', 'c', 'z'] {
        for layout in LAYOUTS {
            for batch in [&[][..], &[2, 2]] {
                test(CallVariant { letter, layout, batch });
            }
        }
    }
}

/// Returns the sizes of square, tall and wide matrices.
fn rectangles() -> impl Iterator<Item = (usize, usize)> {
    SIZES.into_iter().flat_map(|n| [(n, n), (n, n / 2), (n / 3, n)])
}

#[test]
fn factors() {
    let mut numbers = Numbers(1);
    every_way(|way| {
        for (m, n) in rectangles() {
            let a = way.random(&mut numbers, m, n);
            let results = [way.matrix(m, n), ("s32", vec![m.min(n)]), INFO()];
            way.unique((&way.name("getrf", "getrf"), "{}"), from_ref(&a), &results);
            let results = [way.matrix(m, n), ("s32", vec![m.min(n)]), ("s32", vec![m])];
            way.unique(("LuDecomposition", ""), &[a], &results);
        }
        for n in SIZES {
            let definite = way.array(2, || {
                let a = numbers.matrix(n, n, way.is_complex());
                let product = a.times(&a.adjoint());
                Matrix::new(n, n, |i, j| product.get(i, j) + f64::from(u8::from(i == j)))
            });
            let any = way.random(&mut numbers, n, n);
            for attributes in ["{uplo = 76 : ui8}", "{uplo = 85 : ui8}"] {
                let call = (&*way.name("potrf", "potrf"), attributes);
                way.unique(call, from_ref(&definite), &[way.matrix(n, n), INFO()]);
                // Matrices that are not positive definite.
                way.unique(call, from_ref(&any), &[way.matrix(n, n), INFO()]);
            }
        }
    });
}

#[test]
fn systems() {
    let mut numbers = Numbers(2);
    every_way(|way| {
        for n in SIZES {
            let a = way.dominant(&mut numbers, n);
            for kind in 0..24 {
                let code = |bit: usize, letters: &[u8; 2]| letters[usize::from(kind & bit != 0)];
                let (side, op) = (code(1, b"LR"), b"NTC"[kind / 8]);
                let (rows, columns) = if side == b'L' { (n, 3) } else { (2, n) };
                let attributes = format!(
                    "{{side = {side} : ui8, uplo = {} : ui8, diag = {} : ui8, trans_x = {op} : ui8}}",
                    code(2, b"LU"),
                    code(4, b"NU")
                );
                let b = way.random(&mut numbers, rows, columns);
                let call = (&*way.name("trsm", "trsm"), &*attributes);
                way.unique(call, &[a.clone(), b], &[way.matrix(rows, columns)]);
            }
            for dominance in [0.0, 3.0] {
                let mut line = |more: f64| {
                    let line = way.array(1, || {
                        let a = numbers.matrix(n, 1, way.is_complex());
                        Matrix::new(n, 1, |i, _| a.get(i, 0) + more)
                    });
                    Array { inner: 1, ..line }
                };
                let (below, diagonal, above) = (line(0.0), line(dominance), line(0.5));
                let operands = [below, diagonal, above, way.random(&mut numbers, n, 2)];
                // If the pivots do not dominate, a solution may be large and have fewer accurate digits. The
                // largest size is skipped.
                if n < 20 || dominance > 0.0 {
                    let line = || way.vector(n);
                    let results = [line(), line(), line(), way.matrix(n, 2), INFO()];
                    way.unique((&way.name("gtsv", "gtsv"), "{}"), &operands, &results);
                    way.unique(("tridiagonal_solve_perturbed_ffi", "{}"), &operands, &[way.matrix(n, 2)]);
                }
            }
        }
    });
}

#[test]
fn reflectors() {
    let mut numbers = Numbers(3);
    every_way(|way| {
        for (m, n) in rectangles() {
            let k = m.min(n);
            let a = way.random(&mut numbers, m, n);
            let factors = [way.matrix(m, n), way.vector(k)];
            way.unique(("Qr", ""), from_ref(&a), &factors);
            let qr = way.unique((&way.name("geqrf", "geqrf"), "{}"), from_ref(&a), &factors);
            if m >= n {
                let generate = way.name("orgqr", "ungqr");
                for call in [(&*generate, "{}"), ("ProductOfElementaryHouseholderReflectors", "")] {
                    way.unique(call, &qr, &[way.matrix(m, n)]);
                }
            }
            for (left, transpose) in [(true, true), (true, false), (false, true), (false, false)] {
                let (rows, columns) = if left { (m, 3) } else { (2, m) };
                let c = way.random(&mut numbers, rows, columns);
                let attributes = format!("{{left = {left}, transpose = {transpose}}}");
                let call = (&*way.name("ormqr", "unmqr"), &*attributes);
                way.unique(call, &[qr[0].clone(), qr[1].clone(), c], &[way.matrix(rows, columns)]);
            }
            for fixed in [0, 2] {
                let column = Matrix::new(n, 1, |i, _| C::from(f64::from(u8::from(i % 3 == 1 && fixed > 0))));
                let columns = Array { element: "s32", inner: 1, batch: vec![column; a.batch.len()] };
                let results = [way.matrix(m, n), ("s32", vec![n]), way.vector(k)];
                way.unique((&way.name("geqp3", "geqp3"), "{}"), &[a.clone(), columns], &results);
            }
        }
    });
}

#[test]
fn reduced_forms() {
    let mut numbers = Numbers(4);
    every_way(|way| {
        for n in SIZES {
            let a = way.random(&mut numbers, n, n);
            let off = n.saturating_sub(1);
            for (low, high) in [(1, n), (2.min(n), n), (1, n.saturating_sub(1))] {
                if high < low && n > 0 {
                    continue;
                }
                let low = if n == 0 { 1 } else { low };
                let attributes = format!("{{low = {low} : i32, high = {high} : i32}}");
                let results = [way.matrix(n, n), way.vector(off), INFO()];
                way.unique((&way.name("gehrd", "gehrd"), &attributes), from_ref(&a), &results);
            }
            for uplo in [76, 85] {
                let attributes = format!("{{uplo = {uplo} : ui8}}");
                let results = [way.matrix(n, n), way.reals(n), way.reals(off), way.vector(off), INFO()];
                way.unique((&way.name("sytrd", "hetrd"), &attributes), from_ref(&a), &results);
            }
        }
    });
}

/// Returns square matrices: a random one, and matrices with equal or zero eigenvalues or singular values.
fn matrices(numbers: &mut Numbers, n: usize, complex: bool) -> Vec<Matrix> {
    let number = |yes: bool| C::from(f64::from(u8::from(yes)));
    let random = numbers.matrix(n, n, complex);
    let thin = numbers.matrix(n, 2.min(n), complex);
    vec![
        random.clone(),
        Matrix::identity(n),
        Matrix::new(n, n, |_, _| C::from(0.0)),
        Matrix::new(n, n, |_, _| C::from(1.0)),
        thin.times(&thin.adjoint()),
        // A nilpotent matrix, a rotation of the axes, and matrices in which each eigenvalue occurs twice.
        Matrix::new(n, n, |i, j| number(j == i + 1)),
        Matrix::new(n, n, |i, j| number(j == (i + 1) % n)),
        Matrix::new(n, n, |i, j| C::from(if i / 2 == j / 2 { [3.0, -4.0][(i + j) % 2] } else { 0.0 })),
        Matrix::new(n, n, |i, j| C::from(if i / 2 == j / 2 { [2.0, 1.0][(i + j) % 2] } else { 0.0 })),
        // Small and large elements.
        Matrix::new(n, n, |i, j| random.get(i, j) * 1e-30),
        Matrix::new(n, n, |i, j| random.get(i, j) * 1e15),
    ]
}

/// Checks that a product of three matrices equals its expected value, relative to its magnitude.
#[track_caller]
fn equal(way: CallVariant, a: &Matrix, b: &Matrix, what: &str) {
    let scale = b.values.iter().map(|z| z.norm()).fold(0.0, f64::max);
    assert_eq!((a.rows, a.columns), (b.rows, b.columns), "{what}");
    for (x, y) in a.values.iter().zip(&b.values) {
        let allowed = 100.0 * way.epsilon() * (a.rows + 1) as f64 * scale.max(1e-35);
        assert!((x - y).norm() <= allowed, "{what}: {x} and {y} of\n{a:?}\n{b:?}");
    }
}

/// Checks that two lists contain the same numbers, in any order.
#[track_caller]
fn same_numbers(a: &[C], b: &[C], tolerance: f64, what: &str) {
    let scale = a.iter().map(|z| z.norm()).fold(0.0, f64::max);
    let mut left = b.to_vec();
    for z in a {
        let nearest = (0..left.len()).min_by(|&i, &j| (left[i] - z).norm().total_cmp(&(left[j] - z).norm()));
        let found = left.swap_remove(nearest.unwrap());
        assert!((found - z).norm() <= tolerance * scale, "{what}: {z} and {found} of\n{a:?}\n{b:?}");
    }
}

/// Checks that the largest element of each column is positive.
#[track_caller]
fn positive(way: CallVariant, v: &Matrix, what: &str) {
    for j in 0..v.columns {
        let column = v.first_columns(j + 1).values.split_off(j * v.rows);
        let most = column.iter().map(|z| z.norm()).fold(0.0, f64::max);
        let near = |z: &&C| z.re > 0.99 * most && z.im.abs() <= way.tolerance();
        assert!(column.iter().any(|z| near(&z)), "{what}: {column:?}");
    }
}

#[test]
fn hermitian_eigenvalues() {
    let mut numbers = Numbers(5);
    every_way(|way| {
        for n in SIZES {
            for (kind, a) in matrices(&mut numbers, n, way.is_complex()).into_iter().enumerate() {
                for (uplo, mode) in [(76, 86), (85, 86), (76, 78)] {
                    let a = way.array(2, || a.clone());
                    let attributes = format!("{{mode = {mode} : ui8, uplo = {uplo} : ui8}}");
                    let results = [way.matrix(n, n), way.reals(n), INFO()];
                    let call = (&*way.name("syevd", "heevd"), &*attributes);
                    let [fast, plain] = way.both(call, from_ref(&a), &results);
                    let what = format!("{call:?} {way:?} {n} {kind}");
                    same_arrays_of_numbers(way, &fast[1], &plain[1], &what);
                    if mode == 78 {
                        same(&fast[0], &a, 0.0, &what);
                        same(&plain[0], &a, 0.0, &what);
                        continue;
                    }
                    for (who, got) in [("hlo-lapack", &fast), ("hlo-eval", &plain)] {
                        let what = format!("{who} {what}");
                        for (b, a) in a.batch.iter().enumerate() {
                            spectral(way, a, uplo == 76, [&got[0].batch[b], &got[1].batch[b]], &what);
                        }
                    }
                    if kind == 0 && way.is_double() {
                        same(&fast[0], &plain[0], 1e-9, &what);
                    }
                }
            }
        }
    });
}

#[track_caller]
fn same_arrays_of_numbers(way: CallVariant, a: &Array, b: &Array, what: &str) {
    for (a, b) in a.batch.iter().zip(&b.batch) {
        let scale = a.values.iter().map(|z| z.norm()).fold(0.0, f64::max);
        for (x, y) in a.values.iter().zip(&b.values) {
            assert!((x - y).norm() <= way.tolerance() * scale, "{what}: {x} and {y}\n{a:?}\n{b:?}");
        }
    }
}

/// Checks `h·v = v·diag(w)` for the Hermitian matrix that a triangle represents, with orthonormal `v` and
/// ascending `w`.
#[track_caller]
fn spectral(way: CallVariant, a: &Matrix, lower: bool, [v, w]: [&Matrix; 2], what: &str) {
    let n = a.rows;
    let h = Matrix::new(n, n, |i, j| {
        if i == j {
            C::from(a.get(i, i).re)
        } else if (i >= j) == lower {
            a.get(i, j)
        } else {
            a.get(j, i).conj()
        }
    });
    equal(way, &v.times(&Matrix::diagonal(n, n, &w.values)).times(&v.adjoint()), &h, what);
    equal(way, &v.adjoint().times(v), &Matrix::identity(n), what);
    assert!(w.values.is_sorted_by(|a, b| a.re <= b.re), "{what}");
    positive(way, v, what);
}

#[test]
fn singular_values() {
    let mut numbers = Numbers(6);
    every_way(|way| {
        for (m, n) in rectangles() {
            for (kind, a) in matrices(&mut numbers, m.max(n), way.is_complex()).into_iter().enumerate() {
                let a = way.array(2, || Matrix::new(m, n, |i, j| a.get(i, j)));
                for (routine, mode) in [("gesdd", 'A'), ("gesdd", 'S'), ("gesvd", 'N')] {
                    let k = m.min(n);
                    let widths = if mode == 'S' { (k, k) } else { (m, n) };
                    let (u, v) = (way.matrix(m, widths.0), way.matrix(widths.1, n));
                    let results = [way.matrix(m, n), way.reals(k), u, v, INFO()];
                    let attributes = format!("{{mode = {} : ui8}}", mode as u8);
                    let call = (&*way.name(routine, routine), &*attributes);
                    let [fast, plain] = way.both(call, from_ref(&a), &results);
                    let what = format!("{call:?} {way:?} {m} {n} {kind}");
                    same(&fast[4], &plain[4], 0.0, &what);
                    same_arrays_of_numbers(way, &fast[1], &plain[1], &what);
                    for (who, got) in [("hlo-lapack", &fast), ("hlo-eval", &plain)] {
                        let what = format!("{who} {what}");
                        for (b, a) in a.batch.iter().enumerate() {
                            let parts = [1, 2, 3].map(|i| &got[i].batch[b]);
                            if mode == 'N' {
                                assert!(parts[1].values.iter().all(|z| *z == C::from(0.0)), "{what}");
                            } else {
                                singular(way, a, parts, &what);
                            }
                        }
                    }
                    if kind == 0 && way.is_double() && mode == 'S' {
                        same(&fast[2], &plain[2], 1e-9, &what);
                        same(&fast[3], &plain[3], 1e-9, &what);
                    }
                }
            }
        }
    });
}

/// Checks `u·diag(s)·vᴴ = a` with orthonormal `u` and `v` and descending `s`.
#[track_caller]
fn singular(way: CallVariant, a: &Matrix, [s, u, vt]: [&Matrix; 3], what: &str) {
    let middle = Matrix::diagonal(u.columns, vt.rows, &s.values);
    equal(way, &u.times(&middle).times(vt), a, what);
    equal(way, &u.adjoint().times(u), &Matrix::identity(u.columns), what);
    equal(way, &vt.times(&vt.adjoint()), &Matrix::identity(vt.rows), what);
    assert!(s.values.is_sorted_by(|a, b| a.re >= b.re && b.re >= 0.0), "{what}");
    positive(way, u, what);
}

/// Returns the eigenvalues in arrays: one array of complex numbers, or two of their parts.
fn eigenvalues(arrays: &[Array], b: usize) -> Vec<C> {
    let parts: Vec<&Matrix> = arrays.iter().map(|a| &a.batch[b]).collect();
    match parts[..] {
        [re, im] => re.values.iter().zip(&im.values).map(|(re, im)| C::new(re.re, im.re)).collect(),
        _ => parts[0].values.clone(),
    }
}

#[test]
fn eigenvalues_of_any_matrix() {
    let mut numbers = Numbers(7);
    every_way(|way| {
        for n in SIZES {
            for (kind, a) in matrices(&mut numbers, n, way.is_complex()).into_iter().enumerate() {
                let a = way.array(2, || a.clone());
                let [_, part, wide] = way.types();
                let count = if way.is_complex() { 1 } else { 2 };
                let values = (if way.is_complex() { wide } else { part }, vec![n]);
                let mut results = vec![values; count];
                results.extend([(wide, vec![n, n]), (wide, vec![n, n]), INFO()]);
                for (left, right) in [(86, 86), (78, 86), (78, 78)] {
                    let attributes =
                        format!("{{compute_left = {left} : ui8, compute_right = {right} : ui8}}");
                    let call = (&*way.name("geev", "geev"), &*attributes);
                    let got = way.both(call, from_ref(&a), &results);
                    let what = format!("{call:?} {way:?} {n} {kind}");
                    for (b, a) in a.batch.iter().enumerate() {
                        let values = [0, 1].map(|i| eigenvalues(&got[i][..count], b));
                        // The eigenvalues of a nearly defective matrix have few accurate digits.
                        if !matches!(kind, 5) {
                            same_numbers(&values[0], &values[1], 10.0 * way.tolerance(), &what);
                        }
                        for ((got, values), who) in got.iter().zip(&values).zip(["hlo-lapack", "hlo-eval"]) {
                            let what = format!("{who} {what}");
                            let vectors = [count, count + 1].map(|i| &got[i].batch[b]);
                            eigenvectors(way, a, values, vectors, [left, right].map(|w| w == 86), &what);
                        }
                    }
                }
            }
        }
    });
}

/// Tests integer matrices that are similar to block matrices with equal eigenvalues. They have fewer
/// eigenvectors than rows. Divisions by differences of eigenvalues, and iterations on pure rounding noise,
/// produce errors for them.
#[test]
fn eigenvectors_of_defective_matrices() {
    let mut numbers = Numbers(9);
    every_way(|way| {
        for n in 2..10 {
            for round in 0..6 {
                let a = defective(&mut numbers, n);
                let a = way.array(2, || a.clone());
                let [_, part, wide] = way.types();
                let count = if way.is_complex() { 1 } else { 2 };
                let mut results = vec![(if way.is_complex() { wide } else { part }, vec![n]); count];
                results.extend([(wide, vec![n, n]), (wide, vec![n, n]), INFO()]);
                let call =
                    (&*way.name("geev", "geev"), "{compute_left = 86 : ui8, compute_right = 86 : ui8}");
                for (got, who) in
                    way.both(call, from_ref(&a), &results).iter().zip(["hlo-lapack", "hlo-eval"])
                {
                    let what = format!("{who} {call:?} {way:?} {n} {round}");
                    for (b, a) in a.batch.iter().enumerate() {
                        let vectors = [count, count + 1].map(|i| &got[i].batch[b]);
                        eigenvectors(way, a, &eigenvalues(&got[..count], b), vectors, [true, true], &what);
                    }
                }
            }
        }
    });
}

/// Returns `p·j·p⁻¹` for a matrix `j` of blocks with eigenvalues -1, 0 and 1, and a `p` of determinant 1.
fn defective(numbers: &mut Numbers, n: usize) -> Matrix {
    let mut below = |limit: usize| ((numbers.next() + 1.0) / 2.0 * limit as f64) as usize % limit;
    let values: Vec<f64> = (0..n).map(|_| below(3) as f64 - 1.0).collect();
    let beside: Vec<f64> = (0..n).map(|_| below(2) as f64).collect();
    let mut a = Matrix::new(n, n, |i, j| match j {
        _ if i == j => values[i].into(),
        _ if i + 1 == j => beside[i].into(),
        _ => 0.0.into(),
    });
    for _ in 0..2 * n {
        // An elementary matrix and its inverse.
        let (i, j) = (below(n), below(n));
        let factor = if i == j { 0.0 } else { below(3) as f64 - 1.0 };
        let change = |factor: f64| {
            let identity = Matrix::identity(n);
            Matrix::new(n, n, |k, l| identity.get(k, l) + if (k, l) == (i, j) { factor } else { 0.0 })
        };
        a = change(factor).times(&a).times(&change(-factor));
    }
    a
}

/// Checks `a·x = λ·x` and `uᴴ·a = λ·uᴴ` for vectors of length 1. Vectors that were not requested must be 0.
#[track_caller]
fn eigenvectors(
    way: CallVariant,
    a: &Matrix,
    values: &[C],
    [u, x]: [&Matrix; 2],
    [left, right]: [bool; 2],
    what: &str,
) {
    let lambda = Matrix::diagonal(a.rows, a.rows, values);
    let scale = a.values.iter().map(|z| z.norm()).fold(1e-35, f64::max);
    let is_zero = |m: &Matrix| m.values.iter().all(|z| *z == C::from(0.0));
    for (wanted, product, with, vectors) in [
        (right, a.times(x), x.times(&lambda), x),
        (left, u.adjoint().times(a), lambda.times(&u.adjoint()), u),
    ] {
        assert!(wanted || is_zero(vectors), "{what}");
        if wanted {
            let by_scale = |m: Matrix| Matrix::new(m.rows, m.columns, |i, j| m.get(i, j) / scale);
            let tolerance = way.tolerance() * (a.rows + 1) as f64;
            by_scale(product).is_within(tolerance, &by_scale(with), what);
            for j in 0..a.rows {
                let length: f64 = (0..a.rows).map(|i| vectors.get(i, j).norm_sqr()).sum();
                assert!((length - 1.0).abs() <= way.tolerance(), "{what}");
            }
            positive(way, vectors, what);
        }
    }
}

#[test]
fn schur_forms() {
    let mut numbers = Numbers(8);
    every_way(|way| {
        for n in SIZES {
            for (kind, a) in matrices(&mut numbers, n, way.is_complex()).into_iter().enumerate() {
                let a = way.array(2, || a.clone());
                let count = if way.is_complex() { 1 } else { 2 };
                let mut results = vec![way.matrix(n, n), way.matrix(n, n)];
                results.extend(vec![way.vector(n); count]);
                results.extend([INFO(), INFO()]);
                let call = (&*way.name("gees", "gees"), "{mode = 86 : ui8, sort = 78 : ui8}");
                let got = way.both(call, from_ref(&a), &results);
                let what = format!("{call:?} {way:?} {n} {kind}");
                for (b, a) in a.batch.iter().enumerate() {
                    let values = [0, 1].map(|i| eigenvalues(&got[i][2..2 + count], b));
                    if !matches!(kind, 5) {
                        same_numbers(&values[0], &values[1], 10.0 * way.tolerance(), &what);
                    }
                    for (who, got) in ["hlo-lapack", "hlo-eval"].into_iter().zip(&got) {
                        let what = format!("{who} {what}");
                        let (t, q) = (&got[0].batch[b], &got[1].batch[b]);
                        equal(way, &q.times(t).times(&q.adjoint()), a, &what);
                        equal(way, &q.adjoint().times(q), &Matrix::identity(n), &what);
                        let below = |i: usize, j: usize| way.is_complex() || i > j + 1;
                        for (i, j) in (0..n).flat_map(|j| (j + 1..n).map(move |i| (i, j))) {
                            assert!(!below(i, j) || t.get(i, j) == C::from(0.0), "{what}");
                        }
                    }
                }
            }
        }
    });
}
