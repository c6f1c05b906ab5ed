//! The XLA preview's chapter "Broadcasting semantics": each of its examples, with elementwise operations.

use super::Example;
use hlo_builder::{Builder, Operand, Value};
use hlo_ir::{ElementType, Literal, Shape};

fn shape(dims: &[i64]) -> Shape {
    Shape::array(ElementType::S32, dims.iter().copied())
}

/// The matrix of "What is broadcasting", which later examples also use.
fn matrix() -> Literal {
    Literal::r2(&[[1i32, 2, 3], [4, 5, 6]])
}

#[test]
fn a_vector_is_replicated_over_rows() {
    let e = Example::new("vector");
    let sum = e.given(matrix()) + e.given(Literal::r1(&[7i32, 8, 9])).along(&[1]);
    e.gives(&[(sum, Literal::r2(&[[8i32, 10, 12], [11, 13, 15]]))]);
}

#[test]
fn a_scalar_goes_to_each_element() {
    let e = Example::new("scalar");
    let (x, seven) = (e.given(matrix()), e.given(Literal::r0(7i32)));
    let expected = Literal::r2(&[[8i32, 9, 10], [11, 12, 13]]);
    let sums = [x + seven, seven + x, x + 7, 7 + x];
    e.gives(&sums.map(|sum| (sum, expected.clone())));
}

#[test]
fn a_vector_of_three_meets_a_matrix_of_three_by_three_in_two_ways() {
    let e = Example::new("two_ways");
    let (zeros, v) = (e.given(Literal::r2(&[[0i32; 3]; 3])), e.given(Literal::r1(&[7i32, 8, 9])));
    e.gives(&[
        (zeros + v.along(&[1]), Literal::r2(&[[7i32, 8, 9], [7, 8, 9], [7, 8, 9]])),
        (zeros + v.along(&[0]), Literal::r2(&[[7i32, 7, 7], [8, 8, 8], [9, 9, 9]])),
        // Either operand may have the lower rank.
        (v.along(&[0]) - zeros, Literal::r2(&[[7i32, 7, 7], [8, 8, 8], [9, 9, 9]])),
    ]);
}

#[test]
fn a_matrix_meets_dimensions_one_and_two_of_a_cuboid() {
    let e = Example::new("cuboid");
    let numbers: Vec<i32> = (0..12).collect();
    let cuboid = e.given(Literal::full(&[2, 3, 4], 100i32).unwrap());
    let m = e.given(Literal::from_values(&[3, 4], &numbers).unwrap());
    let twice: Vec<i32> = (100..112).chain(100..112).collect();
    e.gives(&[(cuboid + m.along(&[1, 2]), Literal::from_values(&[2, 3, 4], &twice).unwrap())]);
}

/// "Formal definition": a vector T matched to a dimension of an MxNxPxQ array repeats its elements along the
/// other dimensions. For a matrix TxV, T varies along the first of the two given dimensions and V along the
/// second.
#[test]
fn a_vector_or_a_matrix_meets_any_dimensions_of_an_array_of_rank_4() {
    let (e, sizes) = (Example::new("formal_definition"), [2, 3, 4, 5]);
    let zeros = e.given(Literal::full(&sizes, 0i32).unwrap());
    // The elements of T are 0, 1, …, and those of TxV are 10·t + v.
    let element = |dimensions: &[usize], index: &[i64]| {
        dimensions.iter().fold(0i32, |n, &d| 10 * n + i32::try_from(index[d]).unwrap())
    };
    let array = |sizes: &[i64], of: &dyn Fn(&[i64]) -> i32| {
        let count: i64 = sizes.iter().product();
        let values: Vec<i32> = (0..count as usize).map(|n| of(&hlo_ir::unravel(n, sizes))).collect();
        Literal::from_values(sizes, &values).unwrap()
    };
    let along = |dimensions: &[usize]| {
        let own: Vec<i64> = dimensions.iter().map(|&d| sizes[d]).collect();
        let all: Vec<usize> = (0..own.len()).collect();
        let low = e.given(array(&own, &|index| element(&all, index)));
        let dims: Vec<i64> = dimensions.iter().map(|&d| d as i64).collect();
        (zeros + low.along(&dims), array(&sizes, &|index| element(dimensions, index)))
    };
    e.gives(&[&[0][..], &[1], &[2], &[3], &[2, 3], &[1, 2], &[0, 3]].map(along));
}

/// Checks an example that the chapter calls invalid or illegal: the message gives the reason.
#[track_caller]
fn refused(make: impl for<'b> Fn(&'b Builder) -> Value<'b>, message: &str) {
    let b = Builder::new("refused");
    let _ = make(&b);
    let errors = b.build().expect_err("it is refused");
    assert_eq!(errors.diags().len(), 1, "{errors}");
    assert_eq!(errors.diags()[0].message, message);
}

/// Returns the sum of a parameter of sizes `high` and `operand` applied to a parameter of sizes `low`.
fn sum<'b>(
    b: &'b Builder,
    high: &[i64],
    low: &[i64],
    operand: impl Fn(Value<'b>) -> Operand<'b>,
) -> Value<'b> {
    b.parameter(0, shape(high), "high") + operand(b.parameter(1, shape(low), "low"))
}

#[test]
fn what_the_chapter_calls_invalid_is_refused() {
    // "Without specifying broadcasting, this operation is invalid."
    refused(
        |b| sum(b, &[2, 3], &[3], Operand::from),
        "`add` of s32[2,3] and s32[3]: arrays of different ranks go together along given dimensions only (`along`)",
    );
    // "When adding a 2x3 matrix to a 3-element vector, a broadcasting dimension of 0 is invalid."
    refused(
        |b| sum(b, &[2, 3], &[3], |v| v.along(&[0])),
        "`add` of s32[2,3] and s32[3]: along [0] sizes must be the same, or 1",
    );
    // "It's illegal to match V to N and T to P": the order is not increasing, though the sizes fit.
    refused(
        |b| sum(b, &[2, 3, 4, 5], &[4, 3], |tv| tv.along(&[2, 1])),
        "`add` of s32[2,3,4,5] and s32[4,3]: dimensions must be in increasing order, found [2, 1]",
    );
    // "It's illegal to match V to both P and N."
    refused(
        |b| sum(b, &[2, 3, 3, 5], &[2, 3], |tv| tv.along(&[0, 1, 2])),
        "`add` of s32[2,3,3,5] and s32[2,3]: s32[2,3] lies along 2 dimensions, found 3: [0, 1, 2]",
    );
    // "(7,2,5) and (7,2,6) are incompatible and cannot be broadcast."
    refused(
        |b| sum(b, &[7, 2, 5], &[7, 2, 6], Operand::from),
        "`add` of s32[7,2,5] and s32[7,2,6]: sizes must be the same, or 1",
    );
}

#[test]
fn degenerate_dimensions_are_repeated() {
    let e = Example::new("degenerate");
    let iota = |sizes: &[i64]| {
        let numbers: Vec<i32> = (0..sizes.iter().product::<i64>()).map(|n| n as i32).collect();
        e.given(Literal::from_values(sizes, &numbers).unwrap())
    };
    // (2,1) and (2,3); (1,2,5) and (7,2,5); (7,2,5) and (7,1,5).
    let first = iota(&[2, 1]) + iota(&[2, 3]);
    let second = iota(&[1, 2, 5]) + iota(&[7, 2, 5]);
    let third = iota(&[7, 2, 5]) + iota(&[7, 1, 5]);
    let all: Vec<(i32, i32, i32)> =
        (0..7).flat_map(|i| (0..2).flat_map(move |j| (0..5).map(move |k| (i, j, k)))).collect();
    let of = |f: &dyn Fn(i32, i32, i32) -> i32| {
        let values: Vec<i32> = all.iter().map(|&(i, j, k)| f(i, j, k)).collect();
        Literal::from_values(&[7, 2, 5], &values).unwrap()
    };
    e.gives(&[
        (first, Literal::r2(&[[0i32, 1, 2], [4, 5, 6]])),
        (second, of(&|i, j, k| (5 * j + k) + (10 * i + 5 * j + k))),
        (third, of(&|i, j, k| (10 * i + 5 * j + k) + (5 * i + k))),
    ]);
}

#[test]
fn each_operand_may_have_a_degenerate_dimension_of_its_own() {
    let e = Example::new("outer");
    let (column, row) = (e.given(Literal::r2(&[[10i32], [20]])), e.given(Literal::r2(&[[1i32, 2, 3]])));
    e.gives(&[
        (column + row, Literal::r2(&[[11i32, 12, 13], [21, 22, 23]])),
        (column * row, Literal::r2(&[[10i32, 20, 30], [20, 40, 60]])),
        (column.gt(row * 10), Literal::r2(&[[false, false, false], [true, false, false]])),
    ]);
}

/// "Broadcast composition": both examples, with the operands in either order.
#[test]
fn given_dimensions_and_degenerate_ones_compose() {
    let e = Example::new("composition");
    let (v, m) = (e.given(Literal::r1(&[1i32, 2, 3, 4])), e.given(Literal::r2(&[[5i32, 6]])));
    let expected = Literal::r2(&[[6i32, 7], [7, 8], [8, 9], [9, 10]]);

    let cuboid: Vec<i32> = (1..=12).map(|n| 10 * n).collect();
    let cuboid = e.given(Literal::from_values(&[4, 3, 1], &cuboid).unwrap());
    let pairs: Vec<i32> = (1..=12).flat_map(|n| [10 * n + 5, 10 * n + 6]).collect();
    let pairs = Literal::from_values(&[4, 3, 2], &pairs).unwrap();
    e.gives(&[
        (v.along(&[0]) + m, expected.clone()),
        (m + v.along(&[0]), expected),
        (m.along(&[1, 2]) + cuboid, pairs.clone()),
        (cuboid + m.along(&[1, 2]), pairs),
    ]);
}
