//! What LAPACK's routines must fulfil, for matrices of many sizes in both layouts: this crate's, and the interpreter's.

mod support;

use hlo_custom_call::Registry;
use support::{Array, C, LAYOUTS, Layout, Matrix, Numbers};

/// For which numbers, in which layout and by which implementation a routine is called.
#[derive(Clone, Copy)]
struct Way<'a> {
    complex: bool,
    layout: Layout,
    registry: &'a Registry,
}

/// Calls a routine; a result of no columns is a vector, of integers if so said.
fn call(
    name: &str,
    attributes: &str,
    operands: &[&Matrix],
    results: &[(&'static str, &[usize])],
    way: Way<'_>,
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

fn every_way(mut test: impl FnMut(Way<'_>)) {
    for (_, registry) in &support::registries() {
        for complex in [false, true] {
            for layout in [LAYOUTS[0], LAYOUTS[1]] {
                test(Way { complex, layout, registry });
            }
        }
    }
}

/// The name of a routine for real or complex numbers.
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
            // Nilpotent, a rotation of the axes, equal rows, and what has every eigenvalue twice.
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

/// A matrix of small whole numbers, and the real parts of its eigenvalues to two places in the order in which SciPy's LAPACK gives
/// them, by `geev` and on the diagonal of its Schur form.
#[test]
fn eigenvalues_come_in_lapacks_order() {
    let a = |n: usize, complex: bool| {
        Matrix::new(n, n, |i, j| {
            let re = ((i * 7 + j * 5 + i * j * 3) % 11) as f64 - 5.0;
            C::new(re, if complex { ((i * 3 + j * j * 2) % 7) as f64 - 3.0 } else { 0.0 })
        })
    };
    let expected: [(bool, &[f64]); 6] = [
        (false, &[-1.0, -5.0]),
        (false, &[6.23, 1.03, 1.03, -5.15, -5.15]),
        (false, &[-10.44, -0.06, -0.06, 5.18, 5.18, -4.90, -4.90, 0.0]),
        (true, &[-4.74, -1.26]),
        (true, &[-8.95, 2.24, 6.26, -1.60, 0.05]),
        (true, &[0.34, -9.45, -8.49, 5.53, 5.31, 0.29, -3.71, 0.19]),
    ];
    let [(_, registry), ..] = &support::registries();
    for (complex, expected) in expected {
        let (n, way) = (expected.len(), Way { complex, layout: LAYOUTS[0], registry });
        let (square, line, one): (&[usize], &[usize], &[usize]) = (&[n, n], &[n], &[]);
        let values = [vec![("", line)], if complex { vec![] } else { vec![("", line)] }].concat();
        let schur = [vec![("", square), ("", square)], values.clone(), vec![("s32", one); 2]].concat();
        let config = "{mode = 86 : ui8, sort = 78 : ui8}";
        let of_schur = call(&name("gees", complex), config, &[&a(n, complex)], &schur, way).swap_remove(2);
        let vectors = if complex { vec![("", square); 2] } else { vec![("c128", square); 2] };
        let eigen = [values, vectors, vec![("s32", one)]].concat();
        let config = "{compute_left = 78 : ui8, compute_right = 78 : ui8}";
        let of_eigen = call(&name("geev", complex), config, &[&a(n, complex)], &eigen, way).swap_remove(0);
        for found in [of_schur, of_eigen] {
            let near = |(z, &e): (&C, &f64)| (z.re - e).abs() < 0.01;
            assert!(found.values.iter().zip(expected).all(near), "{expected:?}, {:?}", found.values);
        }
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

/// Every kind of triangular system.
fn systems(numbers: &mut Numbers, n: usize, name: &str, way: Way<'_>) {
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
    // Fewer than one panel of reflectors, and several with a rest.
    for (m, n) in [(5, 3), (40, 40), (65, 33), (100, 70)] {
        every_way(|way| reflectors(&mut numbers, (m, n), way));
    }
}

fn reflectors(numbers: &mut Numbers, (m, n): (usize, usize), way: Way<'_>) {
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
