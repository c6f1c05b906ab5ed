//! `contraction-raising` preserves the results of random contractions, both of the forms that it recognizes
//! and of others.

use hlo_ir::contraction::{Affine, Aggregation, Combination, Constraint, Contraction, Repetition};
use hlo_ir::{ArrayShape, ElementType, Literal, Module, Op, Shape};
use hlo_testing::Numbers;
use hlo_testing::generate::random_contraction;

/// A contraction with the sizes of its arrays, and whether it has a default.
#[derive(Debug)]
struct Drawn {
    contraction: Contraction,
    result: Vec<i64>,
    operands: Vec<Vec<i64>>,
    has_default: bool,
}

/// Returns an index expression with these coefficients.
fn affine(indices: usize, terms: &[(usize, i64)], constant: i64) -> Affine {
    let mut affine = Affine::constant(constant, indices);
    terms.iter().for_each(|&(i, c)| affine.coefficients[i] += c);
    affine
}

/// Draws output and reduced indices, and operands whose dimensions are these indices, windows, or digits.
fn draw(n: &mut Numbers) -> Drawn {
    let (outer, inner) = (n.between(0, 3) as usize, n.between(0, 2) as usize);
    let indices = outer + inner;
    let counts: Vec<i64> = (0..indices).map(|_| n.between(1, 4)).collect();
    let combination = n.pick(&[
        Combination::Single,
        Combination::Single,
        Combination::Multiply,
        Combination::Multiply,
        Combination::Add,
        Combination::Equal,
        Combination::Select,
    ]);
    let aggregation = n.pick(Aggregation::ALL);
    let single = |n: &mut Numbers, index: usize| -> (Affine, i64) {
        let scale = n.pick(&[1, 1, 1, 1, -1, 2, -2, 3]);
        let offset = n.between(0, 2) * i64::from(n.one_in(3));
        let low = if scale < 0 { -scale * (counts[index] - 1) } else { 0 };
        let slack = n.between(-1, 2) * i64::from(n.one_in(3));
        let size = (scale.abs() * (counts[index] - 1) + 1 + offset + slack).max(1);
        (affine(indices, &[(index, scale)], low + offset), size)
    };
    let mut output: Vec<(Affine, i64)> = Vec::new();
    let mut at = 0;
    while at < outer {
        // Two indices that are digits of one dimension, or spread over it.
        if at + 1 < outer && n.one_in(6) {
            let scale = n.pick(&[counts[at + 1], counts[at + 1], 1, 2]);
            let size = scale * (counts[at] - 1) + counts[at + 1] + n.between(-1, 1);
            output.push((affine(indices, &[(at, scale), (at + 1, 1)], 0), size.max(1)));
            at += 2;
        } else {
            output.push(single(n, at));
            at += 1;
        }
    }
    if n.one_in(8) {
        let size = n.between(1, 3);
        output.push((Affine::constant(n.between(0, size - 1), indices), size));
    }
    let mut constraints = Vec::new();
    let mut operands: Vec<Vec<(Affine, i64)>> = Vec::new();
    for number in 0..combination.operands() {
        let mut dims = Vec::new();
        for index in n.permutation(indices) {
            let index = index as usize;
            // The first operand uses most indices, so that all are bounded.
            let has = if number == 0 { !n.one_in(8) } else { n.one_in(2) };
            if !has {
                continue;
            }
            let partner = (0..indices).find(|&o| (o < outer) != (index < outer));
            match partner {
                Some(other) if n.one_in(3) => {
                    let (s, d) = (n.pick(&[1, 1, 2, -1]), n.pick(&[1, 1, 2, -1]));
                    let least = [(index, s), (other, d)]
                        .iter()
                        .map(|&(i, c)| (c * (counts[i] - 1)).min(0))
                        .sum::<i64>();
                    let span = s.abs() * (counts[index] - 1) + d.abs() * (counts[other] - 1) + 1;
                    let size = (span + n.between(-2, 1)).max(1);
                    dims.push((affine(indices, &[(index, s), (other, d)], -least - n.between(0, 1)), size));
                }
                _ => dims.push(single(n, index)),
            }
        }
        operands.push(dims);
    }
    for (index, &bound) in counts.iter().enumerate() {
        if n.one_in(2) {
            constraints.push(Constraint { index: affine(indices, &[(index, 1)], 0), bound });
        }
    }
    if indices >= 2 && n.one_in(3) {
        let all = n.permutation(indices);
        let (a, b) = (all[0] as usize, all[1] as usize);
        let bound = n.between(1, 5);
        constraints.push(Constraint { index: affine(indices, &[(a, 1), (b, -1)], n.between(-1, 1)), bound });
    }
    let split = |dims: Vec<(Affine, i64)>| -> (Vec<Affine>, Vec<i64>) { dims.into_iter().unzip() };
    let (output, result) = split(output);
    let (accesses, sizes) = operands.into_iter().map(split).unzip();
    Drawn {
        contraction: Contraction {
            indices,
            output,
            operands: accesses,
            aggregation,
            combination,
            constraints,
        },
        result,
        operands: sizes,
        has_default: n.one_in(4),
    }
}

/// Builds the module of a contraction, or returns `None` if it is not valid.
fn module(drawn: &Drawn, ty: ElementType) -> Option<Module> {
    let b = hlo_builder::Builder::new("contraction");
    let array = |ty, dims: &[i64]| Shape::array(ty, dims.iter().copied());
    let of_result = if drawn.contraction.combination == Combination::Equal { ElementType::Pred } else { ty };
    let mut operands = Vec::new();
    for (number, dims) in drawn.operands.iter().enumerate() {
        operands.push(b.parameter(number as i64, array(ty, dims), "x"));
    }
    let result = array(of_result, &drawn.result);
    let default = drawn.has_default.then(|| b.parameter(operands.len() as i64, result.clone(), "default"));
    let shapes: Vec<Shape> = drawn.operands.iter().map(|dims| array(ty, dims)).collect();
    let nest = drawn.contraction.nest(&result, &shapes.iter().collect::<Vec<_>>()).ok()?;
    if drawn.contraction.aggregation == Aggregation::Assign
        && nest.is_some_and(|nest| nest.repetition(10_000) != Repetition::Never)
    {
        return None;
    }
    b.contraction(result, drawn.contraction.clone(), &operands, default);
    b.build().ok()
}

fn inputs(module: &Module, n: &mut Numbers) -> Vec<Literal> {
    let parameters = module.parameters(module.entry());
    let value = |shape: &ArrayShape, n: &mut Numbers| {
        let count = shape.dims.iter().product::<i64>();
        let numbers: Vec<i32> = (0..count).map(|_| n.between(-3, 3) as i32).collect();
        let wide =
            Literal::from_elements(Shape::array(ElementType::S32, shape.dims.iter().copied()), &numbers);
        hlo_eval::convert(&wide, shape.element_type).expect("an array")
    };
    parameters.iter().map(|&p| value(module[p].shape.as_array().expect("an array"), n)).collect()
}

fn text_of(module: &Module) -> String {
    hlo_ir::print::print_module(module, &hlo_ir::print::PrintOptions::short())
}

/// Checks that the results stay the same, and returns whether no contraction remains.
fn check(module: &Module, n: &mut Numbers, what: &dyn std::fmt::Debug) -> bool {
    let inputs = inputs(module, n);
    let options = hlo_eval::Options::default();
    let before = hlo_eval::evaluate(module, &inputs, &options).expect("a result");
    let mut raised = module.clone();
    let run = crate::pipeline("contraction-raising").run(&mut raised, &mut ());
    run.unwrap_or_else(|e| panic!("{e:?}\n{what:?}\n{}", text_of(module)));
    let errors = hlo_ir::verify::verify(&raised);
    let text = || text_of(&raised);
    assert!(errors.is_empty(), "{errors:?}\n{what:?}\n{}", text());
    let after = hlo_eval::evaluate(&raised, &inputs, &options).unwrap_or_else(|e| panic!("{e}\n{}", text()));
    // The numbers are small integers, so sums are exact in any order. Only the sign of zeros may differ.
    let numbers =
        |l: &Literal| hlo_eval::convert(l, ElementType::F64).expect("numbers").elements::<f64>().to_vec();
    assert_eq!(numbers(&before), numbers(&after), "{what:?}\n{}", text());
    let entry = &raised[raised.entry()];
    !entry.instructions().iter().any(|&i| matches!(raised[i].op, Op::Contraction(_)))
}

#[test]
fn random_forms() {
    let n = &mut Numbers::new(17);
    let (mut valid, mut raised) = (0, 0);
    while valid < 6000 {
        let drawn = draw(n);
        let ty = n.pick(&[
            ElementType::F32,
            ElementType::F32,
            ElementType::S32,
            ElementType::Pred,
            ElementType::Bf16,
        ]);
        let Some(module) = module(&drawn, ty) else { continue };
        valid += 1;
        raised += usize::from(check(&module, n, &drawn));
    }
    assert!(raised > 2500, "only {raised} of {valid} were raised");
}

#[test]
fn any_contraction() {
    let n = &mut Numbers::new(23);
    for _ in 0..2000 {
        let drawn = random_contraction(n, 4);
        let has_default = n.one_in(4);
        let drawn = Drawn {
            contraction: drawn.contraction,
            result: drawn.result,
            operands: drawn.operands,
            has_default,
        };
        if let Some(module) = module(&drawn, ElementType::S32) {
            check(&module, n, &drawn);
        }
    }
}
