//! Tests of the properties that LAPACK's routines must have, for matrices of many sizes in all layouts. Tests
//! this crate's routines and the interpreter's.

use crate::support::{self, Array, C, LAYOUTS, Layout, Matrix, Numbers};
use hlo_custom_call::Registry;

/// The numbers, the layout and the implementation of a call.
#[derive(Clone, Copy)]
struct CallVariant<'a> {
    complex: bool,
    layout: Layout,
    registry: &'a Registry,
}

/// Calls a routine. A result without columns is a vector, of integers if its type says so.
fn call(
    name: &str,
    attributes: &str,
    operands: &[&Matrix],
    results: &[(&'static str, &[usize])],
    way: CallVariant<'_>,
) -> Vec<Matrix> {
    let element = if way.complex { "c128" } else { "f64" };
    let array = |m: &&Matrix| {
        let inner = if m.columns == 1 && name.contains("qr") { 1 } else { 2 };
        Array { element, inner, batch: vec![(*m).clone()] }
    };
    let operands: Vec<Array> = operands.iter().map(array).collect();
    let shape = |&(kind, dims): &(&'static str, &[usize])| {
        (if kind.is_empty() { element } else { kind }, dims.to_vec())
    };
    let shapes: Vec<support::Shape> = results.iter().map(shape).collect();
    let got = support::call(way.registry, (name, attributes), &operands, &shapes, (&[], way.layout));
    got.into_iter().map(|mut array| array.batch.remove(0)).collect()
}

fn every_way(mut test: impl FnMut(CallVariant<'_>)) {
    for (_, registry) in &support::registries() {
        for complex in [false, true] {
            for layout in [LAYOUTS[0], LAYOUTS[1]] {
                test(CallVariant { complex, layout, registry });
            }
        }
    }
}

/// Returns the name of a routine for real or complex numbers.
fn name(routine: &str, complex: bool) -> String {
    format!("lapack_{}{routine}_ffi", if complex { 'z' } else { 'd' })
}

#[test]
fn schur_forms() {
    let mut numbers = Numbers(1);
    every_way(|way| {
        let complex = way.complex;
        for n in [0, 1, 2, 3, 4, 5, 8, 17, 40] {
            let mut matrices = vec![numbers.matrix(n, n, complex)];
            // A nilpotent matrix, a rotation of the axes, equal rows, and a matrix in which every eigenvalue
            // occurs twice.
            matrices.push(Matrix::new(n, n, |i, j| C::from(f64::from(u8::from(j == i + 1)))));
            matrices.push(Matrix::new(n, n, |i, j| C::from(f64::from(u8::from(j == (i + 1) % n)))));
            matrices.push(Matrix::new(n, n, |_, j| C::from(j as f64)));
            matrices.push(Matrix::new(n, n, |i, j| {
                C::from(if i / 2 == j / 2 { [3.0, -4.0][(i + j) % 2] } else { 0.0 })
            }));
            for (kind, a) in matrices.into_iter().enumerate() {
                let (square, line, one): (&[usize], &[usize], &[usize]) = (&[n, n], &[n], &[]);
                let mut results = vec![("", square), ("", square), ("", line)];
                results.extend((!complex).then_some(("", line)));
                results.extend([("s32", one), ("s32", one)]);
                let got =
                    call(&name("gees", complex), "{mode = 86 : ui8, sort = 78 : ui8}", &[&a], &results, way);
                let (t, q) = (&got[0], &got[1]);
                assert_eq!(got.last().unwrap().values[0], C::from(0.0), "{n} {kind} {complex}");
                q.times(t).times(&q.adjoint()).close_to(&a, "q·t·qᴴ");
                q.adjoint().times(q).close_to(&Matrix::identity(n), "qᴴ·q");
                for j in 0..n {
                    for i in j + 1..n {
                        let pair = !complex && i == j + 1;
                        assert!(pair || t.get(i, j) == C::from(0.0), "{n} {i} {j}");
                    }
                    let value = if complex {
                        got[2].values[j]
                    } else {
                        C::new(got[2].values[j].re, got[3].values[j].re)
                    };
                    if value.im == 0.0 || complex {
                        assert_eq!(value, t.get(j, j));
                    } else if value.im > 0.0 {
                        // A block in standard form.
                        let (b, c) = (t.get(j, j + 1).re, t.get(j + 1, j).re);
                        assert_eq!(t.get(j, j), t.get(j + 1, j + 1));
                        assert!(b * c < 0.0 && (value.im - (b.abs() * c.abs()).sqrt()).abs() < 1e-12);
                    }
                }
            }
        }
    });
}

/// Matrices and the real parts of their eigenvalues, to two decimal places, in the order in which SciPy's
/// LAPACK returns them: from `geev`, and on the diagonal of the Schur form.
#[test]
fn eigenvalues_come_in_lapacks_order() {
    let full = |i: usize, j: usize| ((i * 7 + j * 5 + i * j * 3) % 11) as f64 - 5.0;
    let lower = |i: usize, j: usize| {
        let diagonal = if i == j { 1.5 * i as f64 } else { 0.0 };
        diagonal + if j <= i { ((i * 2 + j * 3) % 5) as f64 + 1.0 } else { 0.0 }
    };
    let sparse = |i: usize, j: usize| match (i * 5 + j * 3 + i * j) % 3 {
        0 => ((i * 7 + j * 5) % 11) as f64 - 5.0,
        _ => 0.0,
    };
    let real = |n, f: &dyn Fn(usize, usize) -> f64| (false, Matrix::new(n, n, |i, j| C::from(f(i, j))));
    let complex = |n, re: &dyn Fn(usize, usize) -> f64, im: &dyn Fn(usize, usize) -> f64| {
        (true, Matrix::new(n, n, |i, j| C::new(re(i, j), im(i, j))))
    };
    let full_im = |i: usize, j: usize| ((i * 3 + j * j * 2) % 7) as f64 - 3.0;
    let scaled = |i: usize, j: usize| full(i, j) * 8f64.powi(i as i32 - j as i32);
    let same: [(_, &[f64]); 9] = [
        (real(2, &full), &[-1.0, -5.0]),
        (real(5, &full), &[6.23, 1.03, 1.03, -5.15, -5.15]),
        (real(8, &full), &[-10.44, -0.06, -0.06, 5.18, 5.18, -4.90, -4.90, 0.0]),
        (complex(2, &full, &full_im), &[-4.74, -1.26]),
        (complex(5, &full, &full_im), &[-8.95, 2.24, 6.26, -1.60, 0.05]),
        (complex(8, &full, &full_im), &[0.34, -9.45, -8.49, 5.53, 5.31, 0.29, -3.71, 0.19]),
        // Isolated eigenvalues come first or last.
        (real(4, &lower), &[5.5, 4.0, 2.5, 1.0]),
        (real(4, &sparse), &[-3.5, -3.5, 0.0, -4.0]),
        (complex(6, &sparse, &lower), &[-8.01, -3.44, 1.36, 3.19, -2.88, -2.22]),
    ];
    let same = same.map(|(matrix, values)| (matrix, values, values));
    // Only `geev` scales.
    let ways: [&[f64]; 2] =
        [&[-6.22, -6.22, -0.40, -0.40, 5.92, 3.32], &[5.92, 3.32, -0.40, -0.40, -6.22, -6.22]];
    let [(_, registry), ..] = &support::registries();
    for ((complex, a), eigen, schur) in same.into_iter().chain([(real(6, &scaled), ways[0], ways[1])]) {
        let (n, way) = (eigen.len(), CallVariant { complex, layout: LAYOUTS[0], registry });
        let (square, line, one): (&[usize], &[usize], &[usize]) = (&[n, n], &[n], &[]);
        let values = [vec![("", line)], if complex { vec![] } else { vec![("", line)] }].concat();
        let results = [vec![("", square); 2], values.clone(), vec![("s32", one); 2]].concat();
        let config = "{mode = 86 : ui8, sort = 78 : ui8}";
        let of_schur = call(&name("gees", complex), config, &[&a], &results, way).swap_remove(2);
        let results = [values, vec![("c128", square); 2], vec![("s32", one)]].concat();
        for (left, right) in [(78, 78), (86, 86)] {
            let config = format!("{{compute_left = {left} : ui8, compute_right = {right} : ui8}}");
            let of_eigen = call(&name("geev", complex), &config, &[&a], &results, way).swap_remove(0);
            for (found, expected) in [(&of_schur, schur), (&of_eigen, eigen)] {
                let near = |(z, &e): (&C, &f64)| (z.re - e).abs() < 0.01;
                assert!(found.values.iter().zip(expected).all(near), "{expected:?}, {:?}", found.values);
            }
        }
    }
}

/// The only errors of eigenvectors and singular vectors in single precision are those of rounding the
/// results.
#[test]
fn vectors_in_single_precision_are_right_to_the_last_place() {
    let [(_, registry), ..] = &support::registries();
    let mut numbers = Numbers(5);
    let n = 300;
    let norm = |m: &Matrix| m.values.iter().map(|z| z.norm_sqr()).sum::<f64>().sqrt();
    for _ in 0..6 {
        let any = numbers.matrix(n, n, false);
        let a = Matrix::new(n, n, |i, j| C::from((any.get(i, j) + any.get(j, i)).re as f32 as f64));
        let operand = [Array { element: "f32", inner: 2, batch: vec![a.clone()] }];
        let call = |name, config, results: &[support::Shape]| {
            let got = support::call(registry, (name, config), &operand, results, (&[], LAYOUTS[1]));
            got.into_iter().map(|mut array| array.batch.remove(0)).collect::<Vec<_>>()
        };
        let scaled = |m: &Matrix, by: &Matrix| Matrix::new(n, n, |i, j| m.get(i, j) * by.values[j]);
        let near = |x: &Matrix, y: &Matrix| {
            let apart = norm(&Matrix::new(n, n, |i, j| x.get(i, j) - y.get(i, j)));
            let bound = 2.0 * f64::from(f32::EPSILON) * norm(&a);
            assert!(apart < bound, "{apart:e} {bound:e}");
        };
        let (square, line) = (("f32", vec![n, n]), ("f32", vec![n]));
        let info = ("s32", vec![]);
        let eigen = call(
            "lapack_ssyevd_ffi",
            "{mode = 86 : ui8, uplo = 76 : ui8}",
            &[square.clone(), line.clone(), info.clone()],
        );
        near(&a.times(&eigen[0]), &scaled(&eigen[0], &eigen[1]));
        let shapes = [square.clone(), line, square.clone(), square, info];
        let svd = call("lapack_sgesdd_ffi", "{mode = 83 : ui8}", &shapes);
        near(&scaled(&svd[2], &svd[1]).times(&svd[3]), &a);
    }
}

#[test]
fn factors_and_systems() {
    let mut numbers = Numbers(2);
    every_way(|way| {
        let complex = way.complex;
        let name = |routine| name(routine, complex);
        for n in [1, 2, 3, 7, 16, 17, 33, 70] {
            let a = numbers.matrix(n, n, complex);
            let got = call(&name("getrf"), "{}", &[&a], &[("", &[n, n]), ("s32", &[n]), ("s32", &[])], way);
            let lu = &got[0];
            let (zero, one) = (C::from(0.0), C::from(1.0));
            let l = Matrix::new(n, n, |i, j| {
                if i == j {
                    one
                } else if i > j {
                    lu.get(i, j)
                } else {
                    zero
                }
            });
            let u = Matrix::new(n, n, |i, j| if i <= j { lu.get(i, j) } else { zero });
            let mut swapped = a.clone();
            for i in 0..n {
                let pivot = got[1].values[i].re as usize - 1;
                (0..n).for_each(|j| swapped.values.swap(i + j * n, pivot + j * n));
            }
            l.times(&u).close_to(&swapped, "l·u");
            let mut definite = a.times(&a.adjoint());
            (0..n).for_each(|i| definite.values[i * (n + 1)] += 1.0);
            for uplo in ['L', 'U'] {
                let attributes = format!("{{uplo = {} : ui8}}", uplo as u8);
                let got =
                    call(&name("potrf"), &attributes, &[&definite], &[("", &[n, n]), ("s32", &[])], way);
                let inside = |i: usize, j: usize| if uplo == 'L' { i >= j } else { i <= j };
                let f = Matrix::new(n, n, |i, j| if inside(i, j) { got[0].get(i, j) } else { zero });
                let product = if uplo == 'L' { f.times(&f.adjoint()) } else { f.adjoint().times(&f) };
                product.close_to(&definite, "the Cholesky factor's square");
                for (i, j) in (0..n * n).map(|at| (at % n, at / n)).filter(|&(i, j)| !inside(i, j)) {
                    assert_eq!(got[0].get(i, j), definite.get(i, j), "the other triangle");
                }
            }
            systems(&mut numbers, n, &name("trsm"), way);
        }
    });
}

/// Tests every kind of triangular system.
fn systems(numbers: &mut Numbers, n: usize, name: &str, way: CallVariant<'_>) {
    let mut a = numbers.matrix(n, n, way.complex);
    for (at, z) in a.values.iter_mut().enumerate() {
        *z = if at % (n + 1) == 0 { *z + 3.0 } else { *z / n as f64 };
    }
    for kind in 0..24 {
        let (left, lower, unit) = (kind & 1 != 0, kind & 2 != 0, kind & 4 != 0);
        let op = ['N', 'T', 'C'][kind / 8];
        let b = if left { numbers.matrix(n, 3, way.complex) } else { numbers.matrix(3, n, way.complex) };
        let code = |yes: bool, [a, b]: [char; 2]| if yes { a as u8 } else { b as u8 };
        let attributes = format!(
            "{{side = {} : ui8, uplo = {} : ui8, diag = {} : ui8, trans_x = {} : ui8}}",
            code(left, ['L', 'R']),
            code(lower, ['L', 'U']),
            code(unit, ['U', 'N']),
            op as u8
        );
        let x = &call(name, &attributes, &[&a, &b], &[("", &[b.rows, b.columns])], way)[0];
        let triangle = Matrix::new(n, n, |i, j| match i.cmp(&j) {
            std::cmp::Ordering::Equal if unit => C::from(1.0),
            std::cmp::Ordering::Equal => a.get(i, j),
            order if (order == std::cmp::Ordering::Greater) == lower => a.get(i, j),
            _ => C::from(0.0),
        });
        let triangle = match op {
            'N' => triangle,
            'T' => Matrix::new(n, n, |i, j| triangle.get(j, i)),
            _ => triangle.adjoint(),
        };
        let product = if left { triangle.times(x) } else { x.times(&triangle) };
        product.close_to(&b, &format!("{n} {kind} {}", way.complex));
    }
}

#[test]
fn reflectors_are_applied_from_both_sides() {
    let mut numbers = Numbers(3);
    // Less than one panel of reflectors, and several panels with a remainder.
    for (m, n) in [(5, 3), (40, 40), (65, 33), (100, 70)] {
        every_way(|way| reflectors(&mut numbers, (m, n), way));
    }
}

fn reflectors(numbers: &mut Numbers, (m, n): (usize, usize), way: CallVariant<'_>) {
    let complex = way.complex;
    let a = numbers.matrix(m, n, complex);
    let got = call(&name("geqrf", complex), "{}", &[&a], &[("", &[m, n]), ("", &[n])], way);
    let (h, tau) = (&got[0], &got[1]);
    let multiply = name(if complex { "unmqr" } else { "ormqr" }, complex);
    let apply = |c: &Matrix, left: bool, transpose: bool| {
        let attributes = format!("{{left = {left}, transpose = {transpose}}}");
        call(&multiply, &attributes, &[h, tau, c], &[("", &[c.rows, c.columns])], way).remove(0)
    };
    let q = apply(&Matrix::identity(m), true, false);
    q.adjoint().times(&q).close_to(&Matrix::identity(m), "qᴴ·q");
    let r = Matrix::new(m, n, |i, j| if i <= j { h.get(i, j) } else { C::from(0.0) });
    q.times(&r).close_to(&a, "q·r");
    let generate = name(if complex { "ungqr" } else { "orgqr" }, complex);
    let thin = call(&generate, "{}", &[h, tau], &[("", &[m, n])], way).remove(0);
    thin.close_to(&Matrix::new(m, n, |i, j| q.get(i, j)), "the first columns of q");
    let (c, d) = (numbers.matrix(m, 2, complex), numbers.matrix(2, m, complex));
    apply(&c, true, false).close_to(&q.times(&c), "q·c");
    apply(&c, true, true).close_to(&q.adjoint().times(&c), "qᴴ·c");
    apply(&d, false, false).close_to(&d.times(&q), "c·q");
    apply(&d, false, true).close_to(&d.times(&q.adjoint()), "c·qᴴ");
}
