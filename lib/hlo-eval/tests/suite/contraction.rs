//! Tests of contractions: examples computed by hand, and random contractions against an enumeration that does
//! not use loop nests.

use crate::common::{apply, assert_same, literal, module};
use hlo_eval::{Options, evaluate};
use hlo_ir::contraction::{Affine, Aggregation, Combination};
use hlo_ir::{ArrayShape, ElementType, Literal, Shape};
use hlo_testing::Numbers;
use hlo_testing::generate::{RandomContraction, random_contraction};

fn contract(shape: &str, access: &str, inputs: &[&str], want: &str) {
    let operands: Vec<String> = (0..inputs.len()).map(|i| format!("${i}")).collect();
    let instruction = format!("{shape} contraction({}), access={{{access}}}", operands.join(", "));
    assert_same(apply(&instruction, inputs), &format!("{shape} {want}"));
}

/// Checks a contraction whose operand is read twice.
fn contract_same(access: &str, input: &str, want: &str) {
    let shape = literal(want).shape().clone();
    let instruction = format!("{shape} contraction($0, $0), access={{{access}}}");
    assert_same(apply(&instruction, &[input]), want);
}

#[test]
fn products_and_sums() {
    let (x, y) = ("f32[2,3] {{1, 2, 3}, {4, 5, 6}}", "f32[3,2] {{1, 0}, {0, 1}, {1, 1}}");
    contract("f32[2,2]", "(d0,d1) += (d0,d2) * (d2,d1)", &[x, y], "{{4, 5}, {10, 11}}");
    contract("f32[2,2]", "(d0,d1) >= (d0,d2) + (d2,d1)", &[x, y], "{{4, 4}, {7, 7}}");
    contract("f32[2,2]", "(d0,d1) <= (d0,d2) + (d2,d1)", &[x, y], "{{2, 1}, {5, 4}}");
    contract("f32[3]", "(d1) *= (d0,d1)", &[x], "{4, 10, 18}");
    contract("f32[]", "() += (d0,d1)", &[x], "21");
    // An index of the output alone is a broadcast, and a constant index is a slice.
    contract("f32[2,3]", "(d0,d1) = (1,d1)", &[x], "{{4, 5, 6}, {4, 5, 6}}");
}

/// Examples from pages of the tutorial: "Max Pool 1D", "Skipping", "Cumulative Sum".
#[test]
fn of_the_tutorial() {
    contract("f32[3]", "(d0) >= (2*d0+d1), d1 < 2", &["f32[5] {1, 5, 2, 3, 9}"], "{5, 3, 9}");
    let rows = "s32[4,2] {{1, 2}, {3, 4}, {5, 6}, {7, 8}}";
    contract("s32[5]", "(2*d0) += (2*d0,d1)", &[rows], "{3, 0, 11, 0, 0}");
    contract("s32[4]", "(d0) += (d1), d0-d1 < 4", &["s32[4] {1, 2, 3, 4}"], "{1, 3, 6, 10}");
}

#[test]
fn what_is_not_written() {
    for aggregation in ["+=", "*=", ">=", "<=", "="] {
        let access = format!("(2*d0) {aggregation} (d0)");
        contract("f32[5]", &access, &["f32[2] {-3, 4}"], "{-3, 0, 4, 0, 0}");
        let default = "f32[5] {1, 2, 3, 4, nan}";
        contract("f32[5]", &access, &["f32[2] {-3, 4}", default], "{-3, 2, 4, 4, nan}");
        contract("f32[2]", &format!("(d0) {aggregation} (d0)"), &["f32[0] {}"], "{0, 0}");
    }
}

#[test]
fn comparisons() {
    let (x, y) = ("s32[3] {1, 2, 1}", "s32[2] {1, 3}");
    contract("pred[3,2]", "(d0,d1) = (d0) == (d1)", &[x, y], "{{1, 0}, {0, 0}, {1, 0}}");
    contract("pred[3]", "(d0) >= (d0) == (d1)", &[x, y], "{1, 0, 1}");
    contract("pred[3]", "(d0) <= (d0) == (d1)", &[x, y], "{0, 0, 0}");
    // A value whose operands are not equal is 0 and takes part in the aggregation.
    let z = "f32[2] {-5, -7}";
    contract("f32[3]", "(d0) += (d0) == (d1) ? (d1)", &[x, y, z], "{-5, 0, -5}");
    contract("f32[3]", "(d0) >= (d0) == (d1) ? (d1)", &[x, y, z], "{0, 0, 0}");
    contract("pred[2]", "(d0) = (d0) == (d0)", &["f32[2] {nan, -0}", "f32[2] {nan, 0}"], "{0, 1}");
}

#[test]
fn types() {
    // 1 plus 256 times half the distance to the next bf16 number. The sum is rounded once.
    let ones = format!("bf16[257] {{1{}}}", ", 0.00390625".repeat(256));
    contract("bf16[]", "() += (d0)", &[&ones], "2");
    contract_same("() += (d0) * (d0)", "f16[2] {300, -300}", "f16[] inf");
    contract_same("() += (d0) * (1-d0)", "f16[2] {300, -300}", "f16[] -inf");
    contract("f16[]", "() += (d0) * (d1)", &["f16[2] {300, -300}", "f16[1] {300}"], "0");
    contract_same("() += (d0) + (d0)", "s8[2] {100, 100}", "s8[] -112");
    contract_same("() >= (d0) + (d0)", "s8[2] {100, 1}", "s8[] 2");
    contract("u4[]", "() *= (d0)", &["u4[3] {3, 5, 7}"], "9");
    contract("pred[2]", "(d0) += (d0,d1)", &["pred[2,2] {{0, 1}, {0, 0}}"], "{1, 0}");
    contract("pred[2]", "(d0) *= (d0,d1)", &["pred[2,2] {{1, 1}, {0, 1}}"], "{1, 0}");
    contract("c64[]", "() *= (d0)", &["c64[3] {(1, 1), (0, 1), (2, 0)}"], "(-2, 2)");
    contract_same("() += (d0) * (1-d0)", "c64[2] {(1, 1), (0, 1)}", "c64[] (-2, 2)");
    contract("f32[]", "() >= (d0)", &["f32[2] {nan, 1}"], "nan");
    contract("f32[2]", "(d0) >= (d0)", &["f32[2] {-inf, -0}"], "{-inf, -0}");
    contract("f32[]", "() += (d0)", &["f32[1] {-0}"], "0");
}

#[test]
fn one_operand_twice() {
    contract_same("(d0) += (d0) * (d0)", "s32[3] {1, 2, 3}", "s32[3] {1, 4, 9}");
    contract_same("() >= (d0) + (d1), d0-d1-1 < 9", "s32[3] {5, 4, 9}", "s32[] 14");
}

#[test]
fn work_is_counted() {
    let m = module(
        "HloModule m\nENTRY e { x = f32[1000] parameter(0)\n ROOT y = f32[] contraction(x, x), access={() += (d0) * (d1)} }\n",
    );
    let options = Options { max_operations: Some(100_000), ..Options::default() };
    let x = Literal::try_zeros(&Shape::array(ElementType::F32, [1000])).unwrap();
    let error = evaluate(&m, &[x], &options).unwrap_err();
    assert!(error.message.contains("more than the 100000 operations"), "{}", error.message);
}

/// Returns the least and greatest value of each index for which the expressions are within their sizes.
/// Solves for the indices from as many independent expressions. Returns `None` if there are too few.
fn box_of_indices(indices: usize, within: &[(Affine, i64)]) -> Option<Vec<(i64, i64)>> {
    // Rows of [coefficients | identity], which are reduced to [identity | inverse].
    let mut sorted: Vec<&(Affine, i64)> = within.iter().collect();
    sorted.sort_by_key(|(_, size)| *size);
    let mut chosen: Vec<&(Affine, i64)> = Vec::new();
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for row in sorted {
        let mut values: Vec<f64> = row.0.coefficients.iter().map(|&c| c as f64).collect();
        values.extend((0..indices).map(|k| f64::from(k == chosen.len())));
        for done in &rows {
            let pivot = done[..indices].iter().position(|&v| v.abs() > 1e-9)?;
            let factor = values[pivot] / done[pivot];
            values.iter_mut().zip(done).for_each(|(v, d)| *v -= factor * d);
        }
        if chosen.len() < indices && values[..indices].iter().any(|v| v.abs() > 1e-9) {
            chosen.push(row);
            rows.push(values);
        }
    }
    if chosen.len() < indices {
        return None;
    }
    let mut bounds = vec![(0, 0); indices];
    for at in (0..indices).rev() {
        // Eliminates each index from the other rows.
        let pivot = rows[at][..indices].iter().position(|&v| v.abs() > 1e-9)?;
        let row: Vec<f64> = rows[at].iter().map(|v| v / rows[at][pivot]).collect();
        for other in (0..indices).filter(|&o| o != at) {
            let factor = rows[other][pivot];
            rows[other].iter_mut().zip(&row).for_each(|(v, r)| *v -= factor * r);
        }
        rows[at] = row;
    }
    for row in &rows {
        let pivot = row[..indices].iter().position(|&v| v.abs() > 1e-9)?;
        let (mut low, mut high) = (0.0, 0.0);
        for ((index, size), factor) in chosen.iter().zip(&row[indices..]) {
            let ends = [0, size - 1].map(|v| (v - index.constant) as f64 * factor);
            low += ends[0].min(ends[1]);
            high += ends[0].max(ends[1]);
        }
        bounds[pivot] = ((low - 0.01).ceil() as i64, (high + 0.01).floor() as i64);
    }
    Some(bounds)
}

/// Returns the valid indices by testing every index in a box that contains them all, or `None` if the box is
/// too large.
fn valid_indices(case: &RandomContraction) -> Option<Vec<Vec<i64>>> {
    let c = &case.contraction;
    let mut within: Vec<(Affine, i64)> = Vec::new();
    for (access, sizes) in
        std::iter::once((&c.output, &case.result)).chain(c.operands.iter().zip(&case.operands))
    {
        within.extend(access.iter().cloned().zip(sizes.iter().copied()));
    }
    within.extend(c.constraints.iter().map(|c| (c.index.clone(), c.bound)));
    let bounds = box_of_indices(c.indices, &within)?;
    let count = |&(low, high): &(i64, i64)| (high - low + 1).max(0);
    if bounds.iter().map(count).try_fold(1i64, i64::checked_mul)? > 60_000 {
        return None;
    }
    let mut all = vec![Vec::new()];
    for &(low, high) in &bounds {
        let longer = |x: &Vec<i64>| (low..=high).map(|i| [&x[..], &[i]].concat()).collect::<Vec<_>>();
        all = all.iter().flat_map(longer).collect();
    }
    let is_within = |(index, size): &(Affine, i64), x: &[i64]| {
        let terms = index.coefficients.iter().zip(x).map(|(c, x)| c * x);
        (0..*size).contains(&(index.constant + terms.sum::<i64>()))
    };
    Some(all.into_iter().filter(|x| within.iter().all(|w| is_within(w, x))).collect())
}

/// Returns the position of the element that an access selects at the given indices.
fn place(access: &[Affine], sizes: &[i64], x: &[i64]) -> usize {
    let at = |e: &Affine| e.constant + e.coefficients.iter().zip(x).map(|(c, x)| c * x).sum::<i64>();
    access.iter().zip(sizes).fold(0, |position, (e, size)| position * size + at(e)) as usize
}

/// Returns the expected result of a contraction of integers. Elements that are not written are `None`.
fn expected(case: &RandomContraction, valid: &[Vec<i64>], operands: &[Vec<i64>]) -> Vec<Option<i64>> {
    let c = &case.contraction;
    let mut result = vec![None; case.result.iter().product::<i64>() as usize];
    for x in valid {
        let read = |n: usize| operands[n][place(&c.operands[n], &case.operands[n], x)];
        let value = match c.combination {
            Combination::Single => read(0),
            Combination::Multiply => read(0).wrapping_mul(read(1)),
            Combination::Add => read(0) + read(1),
            Combination::Equal => i64::from(read(0) == read(1)),
            Combination::Select => {
                if read(0) == read(1) {
                    read(2)
                } else {
                    0
                }
            }
        };
        let element: &mut Option<i64> = &mut result[place(&c.output, &case.result, x)];
        *element = Some(match (c.aggregation, *element) {
            (_, None) => value,
            (Aggregation::Sum, Some(before)) => before.wrapping_add(value),
            (Aggregation::Product, Some(before)) => before.wrapping_mul(value),
            (Aggregation::Max, Some(before)) => before.max(value),
            (Aggregation::Min, Some(before)) => before.min(value),
            (Aggregation::Assign, Some(_)) => panic!("two values: {c}"),
        });
    }
    result
}

/// Returns an array of the type with the given numbers.
fn array(ty: ElementType, sizes: &[i64], numbers: &[i64]) -> Literal {
    let shape = ArrayShape::new(ty, sizes.iter().copied());
    let mut literal = Literal::try_zeros(&shape.into()).unwrap();
    match ty {
        ElementType::S64 => literal.elements_mut::<i64>().copy_from_slice(numbers),
        ElementType::F32 => {
            literal.elements_mut::<f32>().iter_mut().zip(numbers).for_each(|(x, &n)| *x = n as f32)
        }
        _ => literal.bytes_mut().iter_mut().zip(numbers).for_each(|(x, &n)| *x = n as u8),
    }
    literal
}

#[test]
fn random_contractions() {
    let mut numbers = Numbers::new(7);
    let (mut tried, mut values) = (0, 0);
    for round in 0..4000 {
        let case = random_contraction(&mut numbers, if round % 16 == 0 { 9 } else { 4 });
        let Some(valid) = valid_indices(&case) else { continue };
        let operands: Vec<Vec<i64>> = case
            .operands
            .iter()
            .map(|dims| (0..dims.iter().product()).map(|_: i64| numbers.between(-2, 3)).collect())
            .collect();
        // Products of many numbers are too large for floats. As integers modulo 2⁶⁴ they are always correct.
        let is_small = case.contraction.aggregation != Aggregation::Product || valid.len() < 24;
        let ty = if is_small && numbers.one_in(2) { ElementType::F32 } else { ElementType::S64 };
        let is_pred = case.contraction.combination == Combination::Equal;
        let result_type = if is_pred { ElementType::Pred } else { ty };
        let fill = numbers.one_in(2).then(|| numbers.between(0, 1));
        let body = case.text(ty, ty, fill.is_some(), 0).replace("  r0 =", "  ROOT r0 =");
        let text = format!("HloModule m\nENTRY e {{\n{body}}}\n");
        let m = module(&text);
        assert_eq!(hlo_ir::verify::verify(&m), [], "{text}");
        let mut inputs: Vec<Literal> =
            operands.iter().zip(&case.operands).map(|(n, dims)| array(ty, dims, n)).collect();
        let count = case.result.iter().product::<i64>() as usize;
        inputs.extend(fill.map(|fill| array(result_type, &case.result, &vec![fill; count])));
        let got =
            evaluate(&m, &inputs, &Options::default()).unwrap_or_else(|e| panic!("{}\n{text}", e.message));
        let want = expected(&case, &valid, &operands).into_iter().map(|value| {
            let value = value.unwrap_or(fill.unwrap_or(0));
            // A sum of predicates is true if any of them is true.
            if is_pred { value.min(1) } else { value }
        });
        let want = array(result_type, &case.result, &want.collect::<Vec<_>>());
        // Zeros of floats have signs, so floats are compared by value.
        let same = match result_type {
            ElementType::F32 => got.elements::<f32>() == want.elements::<f32>(),
            _ => got.bytes() == want.bytes(),
        };
        assert!(same, "{text}\n{:?}\ngot {:?}\nwant {:?}", operands, got, want);
        (tried, values) = (tried + 1, values + valid.len());
    }
    assert!(tried > 3500 && values > 50_000, "{tried} {values}");
}
