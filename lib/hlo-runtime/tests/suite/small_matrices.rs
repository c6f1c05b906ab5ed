//! Tests factors and triangular systems of small matrices.

use hlo_runtime::linalg::small::{RightSides, View, cholesky, solve};
use num_complex::Complex;

type C = Complex<f64>;

#[test]
fn factors_give_the_matrix() {
    let l = [C::new(2.0, 0.0), C::new(1.0, -1.0), C::new(0.0, 3.0), C::new(3.0, 0.0), C::new(-1.0, 2.0)];
    let full = |i: usize, j: usize| match (i, j) {
        (0..3, 0) => l[i],
        (1, 1) => l[3],
        (2, 1) => l[4],
        (2, 2) => C::new(1.0, 0.0),
        _ => C::ZERO,
    };
    let a: Vec<C> = (0..9)
        .map(|at| (0..3).map(|k| full(at % 3, k) * full(at / 3, k).conj()).fold(C::ZERO, |a, b| a + b))
        .collect();
    for lower in [true, false] {
        let mut factor = a.clone();
        assert_eq!(cholesky(&mut factor, 3, lower), None);
        for j in 0..3 {
            for i in j..3 {
                let got = if lower { factor[i + 3 * j] } else { factor[j + 3 * i].conj() };
                assert!((got - full(i, j)).norm() < 1e-12, "{lower} {i} {j} {got}");
            }
        }
        factor.clone_from(&a);
        factor[4] = C::ZERO;
        assert_eq!(cholesky(&mut factor, 3, lower), Some(1));
    }
}

#[test]
fn systems_are_solved_in_any_layout() {
    let a = [2.0f64, 1.0, 4.0, 0.0, 5.0, 3.0, 0.0, 0.0, 8.0];
    for (lower, unit, transposed) in (0..8).map(|bits| (bits & 1 != 0, bits & 2 != 0, bits & 4 != 0)) {
        // The lower triangle, or the upper triangle of the transpose.
        let lower = lower != transposed;
        let (row, column) = if lower { (1, 3) } else { (3, 1) };
        let view = View { values: &a, size: 3, row, column, conjugated: false, lower, unit };
        let element = |i: usize, j: usize| if i == j && unit { 1.0 } else { a[i * row + j * column] };
        let inside = |i: usize, j: usize| if lower { i >= j } else { i <= j };
        let x = [1.0f64, -2.0, 3.0, 0.5, 4.0, -1.0];
        let mut b = [0.0; 6];
        for c in 0..2 {
            for i in 0..3 {
                b[i + 3 * c] = (0..3).filter(|&j| inside(i, j)).map(|j| element(i, j) * x[j + 3 * c]).sum();
            }
        }
        solve(view, RightSides { values: &mut b, count: 2, row: 1, column: 3 });
        assert!(b.iter().zip(x).all(|(b, x)| (b - x).abs() < 1e-12), "{b:?}");
    }
}
