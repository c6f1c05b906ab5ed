//! Tests of arithmetic on integer lattices.

use hlo_ir::contraction::lattice::{Basis, Lattice, Overflow};

#[test]
fn a_form_is_eliminated() {
    let mut basis = Basis::standard(3);
    assert_eq!(basis.eliminate(&[6, -10, 15], 0), Ok(1));
    assert_eq!(basis.values(&[6, -10, 15]), Ok(vec![1, 0, 0]));
    assert_eq!(determinant(&basis).abs(), 1);
    // The second and third vector span the kernel of the form.
    assert_eq!(basis.eliminate(&[6, -10, 15], 1), Ok(0));
    let gcd = basis.eliminate(&[4, 2, 2], 1).unwrap();
    let values = basis.values(&[4, 2, 2]).unwrap();
    assert_eq!(values[1..], [gcd, 0]);
    basis.reduce(&[4, 2, 2], 1).unwrap();
    assert!((0..gcd).contains(&basis.values(&[4, 2, 2]).unwrap()[0]));
    assert_eq!(determinant(&basis).abs(), 1);
}

#[test]
fn what_is_simple_stays() {
    let mut basis = Basis::standard(2);
    assert_eq!(basis.eliminate(&[1, 1], 0), Ok(1));
    assert_eq!(basis.vectors(), [[1, 0], [-1, 1]]);
    let mut basis = Basis::standard(2);
    assert_eq!(basis.eliminate(&[0, -2], 0), Ok(2));
    assert_eq!(basis.vectors(), [[0, -1], [1, 0]]);
}

#[test]
fn overflow_is_noticed() {
    let mut basis = Basis::standard(2);
    assert_eq!(basis.values(&[i128::MAX, 1]).map(|v| v.len()), Ok(2));
    assert_eq!(basis.eliminate(&[i128::MIN, 0], 0), Err(Overflow));
    let mut basis = Basis::standard(2);
    basis.eliminate(&[1, 1], 0).unwrap();
    assert_eq!(basis.vectors(), [[1, 0], [-1, 1]]);
    assert_eq!(basis.values(&[-i128::MAX, 1]), Err(Overflow));
}

/// Compares the lattice of solutions of a few congruences with an enumeration of all points in a box.
#[test]
fn congruences() {
    for (form, constant, modulus) in
        [([1, 0], 0, 2), ([2, 4], 2, 6), ([3, 5], 1, 7), ([2, 4], 1, 6), ([6, 9], -3, 12), ([0, 0], 4, 2)]
    {
        let mut lattice = Lattice::all(2);
        let some = lattice.keep_divisible(&form, constant, modulus).unwrap();
        let and_more = some && lattice.keep_divisible(&[1, 1], 1, 3).unwrap();
        let points: Vec<[i128; 2]> = (-20..20)
            .flat_map(|a| (-20..20).map(move |b| [a, b]))
            .map(|y| [0, 1].map(|k| point(&lattice, y, k)))
            .collect();
        for x in (-4..4).flat_map(|a| (-4..4).map(move |b| [a, b])) {
            let holds = (form[0] * x[0] + form[1] * x[1] + constant) % modulus == 0;
            let holds = holds && (!some || (x[0] + x[1] + 1) % 3 == 0);
            assert_eq!(and_more && points.contains(&x), holds, "{form:?} {x:?}");
        }
    }
}

fn point(lattice: &Lattice, y: [i128; 2], k: usize) -> i128 {
    let vectors = lattice.basis.vectors();
    lattice.origin[k] + y[0] * vectors[0][k] + y[1] * vectors[1][k]
}

fn determinant(basis: &Basis) -> i128 {
    let v = basis.vectors();
    let minor = |a: usize, b: usize| v[1][a] * v[2][b] - v[1][b] * v[2][a];
    v[0][0] * minor(1, 2) - v[0][1] * minor(0, 2) + v[0][2] * minor(0, 1)
}
