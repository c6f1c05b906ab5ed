//! What LAPACK's routines must fulfil, for matrices of many sizes in both layouts.

use hlo_custom_call::{ApiVersion, ArrayType, CallSite, Registry, ValueType};
use num_complex::Complex;

type C = Complex<f64>;

/// A matrix of complex numbers, column by column.
#[derive(Clone, Debug)]
struct Matrix {
    rows: usize,
    columns: usize,
    values: Vec<C>,
}

impl Matrix {
    fn new(rows: usize, columns: usize, f: impl Fn(usize, usize) -> C) -> Matrix {
        let values = (0..rows * columns).map(|at| f(at % rows.max(1), at / rows.max(1))).collect();
        Matrix { rows, columns, values }
    }

    fn get(&self, i: usize, j: usize) -> C {
        self.values[i + j * self.rows]
    }

    fn times(&self, other: &Matrix) -> Matrix {
        assert_eq!(self.columns, other.rows);
        let sum = |i, j| (0..self.columns).map(|k| self.get(i, k) * other.get(k, j)).sum();
        Matrix::new(self.rows, other.columns, sum)
    }

    fn adjoint(&self) -> Matrix {
        Matrix::new(self.columns, self.rows, |i, j| self.get(j, i).conj())
    }

    fn identity(n: usize) -> Matrix {
        Matrix::new(n, n, |i, j| C::from(f64::from(u8::from(i == j))))
    }

    #[track_caller]
    fn close_to(&self, other: &Matrix, what: &str) {
        assert_eq!((self.rows, self.columns), (other.rows, other.columns), "{what}");
        let scale = other.values.iter().map(|z| z.norm()).fold(1.0, f64::max);
        for (a, b) in self.values.iter().zip(&other.values) {
            assert!((a - b).norm() <= 1e-10 * scale, "{what}: {a} and {b}");
        }
    }
}

/// Numbers that look random.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    fn matrix(&mut self, rows: usize, columns: usize, complex: bool) -> Matrix {
        let values: Vec<C> = (0..rows * columns)
            .map(|_| C::new(self.next(), if complex { self.next() } else { 0.0 }))
            .collect();
        Matrix::new(rows, columns, |i, j| values[i + j * rows])
    }
}

/// How a call's matrices lie.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Layout {
    Rows,
    Columns,
}

fn ty(element: &str, dims: &[usize], layout: Layout) -> ValueType {
    let element_bytes = match element {
        "s32" => 4,
        "c128" => 16,
        _ => 8,
    };
    let minor_to_major = match layout {
        Layout::Rows => (0..dims.len()).rev().collect(),
        Layout::Columns => (0..dims.len()).collect(),
    };
    ValueType::Array(ArrayType { element: element.into(), element_bytes, dims: dims.into(), minor_to_major })
}

/// Calls a routine; a result of no columns is a vector, of integers if so said.
fn call(
    name: &str,
    attributes: &str,
    operands: &[&Matrix],
    results: &[(&str, &[usize])],
    (complex, layout): (bool, Layout),
) -> Vec<Matrix> {
    let element = if complex { "c128" } else { "f64" };
    let shape = |m: &Matrix| {
        if m.columns == 1 && name.contains("qr") { vec![m.rows] } else { vec![m.rows, m.columns] }
    };
    let mut types: Vec<ValueType> = results
        .iter()
        .map(|(kind, dims)| ty(if *kind == "s32" { "s32" } else { element }, dims, layout))
        .collect();
    let site = CallSite {
        target: name.into(),
        api: ApiVersion::TypedFfi,
        config: attributes.into(),
        operands: operands.iter().map(|m| ty(element, &shape(m), layout)).collect(),
        result: if types.len() == 1 { types.remove(0) } else { ValueType::Tuple(types) },
        aliases: Vec::new(),
    };
    let bytes = |m: &Matrix| -> Vec<u64> {
        let (outer, inner) = if layout == Layout::Rows { (m.rows, m.columns) } else { (m.columns, m.rows) };
        let at = |o, i| if layout == Layout::Rows { m.get(o, i) } else { m.get(i, o) };
        let numbers = (0..outer).flat_map(|o| (0..inner).map(move |i| at(o, i)));
        numbers
            .flat_map(|z| [z.re, z.im].into_iter().take(if complex { 2 } else { 1 }))
            .map(f64::to_bits)
            .collect()
    };
    let inputs: Vec<Vec<u64>> = operands.iter().map(|m| bytes(m)).collect();
    let mut registry = Registry::new();
    registry.add(hlo_lapack::Lapack);
    let planned = registry.plan(site.clone()).unwrap();
    let sizes: Vec<usize> = site.result_arrays().iter().map(|a| a.byte_size()).collect();
    let mut outputs: Vec<Vec<u64>> = sizes.iter().map(|s| vec![u64::MAX; s.div_ceil(8)]).collect();
    // SAFETY: words as bytes.
    let view =
        |words: &[u64]| unsafe { std::slice::from_raw_parts(words.as_ptr().cast::<u8>(), words.len() * 8) };
    let inputs: Vec<&[u8]> = inputs.iter().map(|w| view(w)).collect();
    let mut places: Vec<&mut [u8]> = outputs
        .iter_mut()
        .zip(&sizes)
        // SAFETY: words as bytes.
        .map(|(w, &s)| unsafe { std::slice::from_raw_parts_mut(w.as_mut_ptr().cast::<u8>(), s) })
        .collect();
    planned.call_here(&inputs, &mut places).unwrap();
    let matrix = |(kind, dims): &(&str, &[usize]), words: &[u64]| {
        let (rows, columns) = (dims.first().copied().unwrap_or(1), dims.get(1).copied().unwrap_or(1));
        Matrix::new(rows, columns, |i, j| {
            let at = if layout == Layout::Rows { i * columns + j } else { i + j * rows };
            match (*kind, complex) {
                ("s32", _) => C::from(f64::from((words[at / 2] >> (32 * (at % 2))) as i32)),
                (_, true) => C::new(f64::from_bits(words[2 * at]), f64::from_bits(words[2 * at + 1])),
                (_, false) => C::from(f64::from_bits(words[at])),
            }
        })
    };
    results.iter().zip(&outputs).map(|(r, w)| matrix(r, w)).collect()
}

fn every_way(mut test: impl FnMut(bool, Layout)) {
    for complex in [false, true] {
        for layout in [Layout::Rows, Layout::Columns] {
            test(complex, layout);
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
    every_way(|complex, layout| {
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
                let got = call(
                    &name("gees", complex),
                    "{mode = 86 : ui8, sort = 78 : ui8}",
                    &[&a],
                    &results,
                    (complex, layout),
                );
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

#[test]
fn factors_and_systems() {
    let mut numbers = Numbers(2);
    every_way(|complex, layout| {
        let name = |routine| name(routine, complex);
        let way = (complex, layout);
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
fn systems(numbers: &mut Numbers, n: usize, name: &str, way: (bool, Layout)) {
    let mut a = numbers.matrix(n, n, way.0);
    for (at, z) in a.values.iter_mut().enumerate() {
        *z = if at % (n + 1) == 0 { *z + 3.0 } else { *z / n as f64 };
    }
    for kind in 0..24 {
        let (left, lower, unit) = (kind & 1 != 0, kind & 2 != 0, kind & 4 != 0);
        let op = ['N', 'T', 'C'][kind / 8];
        let b = if left { numbers.matrix(n, 3, way.0) } else { numbers.matrix(3, n, way.0) };
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
        product.close_to(&b, &format!("{n} {kind} {way:?}"));
    }
}

#[test]
fn reflectors_are_applied_from_both_sides() {
    let mut numbers = Numbers(3);
    // Fewer than one panel of reflectors, and several with a rest.
    for (m, n) in [(5, 3), (40, 40), (65, 33), (100, 70)] {
        every_way(|complex, layout| reflectors(&mut numbers, (m, n), (complex, layout)));
    }
}

fn reflectors(numbers: &mut Numbers, (m, n): (usize, usize), way: (bool, Layout)) {
    let complex = way.0;
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
