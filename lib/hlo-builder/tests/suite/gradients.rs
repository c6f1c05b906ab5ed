//! Compares gradients to finite differences in `f64` and to values computed by JAX.

use hlo_builder::{Builder, Computation, Convolution, DotDimensions, Padding, Value};
use hlo_ir::attr::{GatherAttrs, PaddingDim};
use hlo_ir::contraction::{Affine, Aggregation, Combination, Constraint, Contraction};
use hlo_ir::{ElementType, Literal, Op, Shape};
use hlo_testing::Numbers;

/// Returns arrays of the given sizes that contain random numbers from `low` to `high`.
fn inputs(sizes: &[&[i64]], low: f64, high: f64) -> Vec<Literal> {
    let mut numbers = Numbers::new(5);
    let array = |sizes: &&[i64]| {
        let count = sizes.iter().product::<i64>();
        let values: Vec<f64> =
            (0..count).map(|_| low + (high - low) * (numbers.unit() + 1.0) / 2.0).collect();
        Literal::from_elements(Shape::array(ElementType::F64, sizes.iter().copied()), &values)
    };
    sizes.iter().map(array).collect()
}

/// Evaluates a function of parameters with the given values.
fn value(inputs: &[Literal], make: &dyn for<'b> Fn(&'b Builder, &[Value<'b>]) -> Value<'b>) -> Literal {
    let b = Builder::new("value");
    let mut parameters = Vec::new();
    for (n, input) in inputs.iter().enumerate() {
        parameters.push(b.parameter(n as i64, input.shape().clone(), "x"));
    }
    b.set_return_value(make(&b, &parameters));
    let module = b.build().unwrap_or_else(|e| panic!("{e}"));
    hlo_eval::evaluate(&module, inputs, &hlo_eval::Options::default()).unwrap_or_else(|e| panic!("{e}"))
}

/// Compares the gradients of a function to its finite differences. Different weights for the elements of the
/// result ensure that each element contributes.
fn check(name: &str, inputs: &[Literal], function: impl for<'b> Fn(&'b Builder, &[Value<'b>]) -> Value<'b>) {
    let loss = |inputs: &[Literal]| {
        let result = value(inputs, &|b, x| function(b, x));
        let weight = |n: usize| 1.0 + (n % 7) as f64 * 0.25;
        result.elements::<f64>().iter().enumerate().map(|(n, y)| y * weight(n)).sum::<f64>()
    };
    let gradients = value(inputs, &|b, x| {
        let result = function(b, x);
        let shape = result.shape().unwrap_or_else(|e| panic!("{name}: {e}"));
        let count = shape.as_array().expect("an array").element_count();
        let weights: Vec<f64> = (0..count).map(|n| 1.0 + (n % 7) as f64 * 0.25).collect();
        let weights = b.constant(Literal::from_elements(shape, &weights));
        b.tuple(&b.gradients(result * weights, x))
    });
    const STEP: f64 = 1e-6;
    for (number, gradient) in gradients.tuple_elements().iter().enumerate() {
        for (at, &found) in gradient.elements::<f64>().iter().enumerate() {
            let moved = |by: f64| {
                let mut moved = inputs.to_vec();
                moved[number].elements_mut::<f64>()[at] += by;
                loss(&moved)
            };
            let expected = (moved(STEP) - moved(-STEP)) / (2.0 * STEP);
            let close = (found - expected).abs() <= 1e-5 * (1.0 + expected.abs());
            assert!(close, "{name}: operand {number}, element {at}: {found}, by differences {expected}");
        }
    }
}

#[test]
fn unary_operations() {
    type Unary = for<'b> fn(Value<'b>) -> Value<'b>;
    let everywhere: [(&str, Unary); 16] = [
        ("abs", |x| x.abs()),
        ("asinh", |x| x.asinh()),
        ("cbrt", |x| x.cbrt()),
        ("cos", |x| x.cos()),
        ("cosh", |x| x.cosh()),
        ("erf", |x| x.erf()),
        ("exp", |x| x.exp()),
        ("expm1", |x| x.expm1()),
        ("logistic", |x| x.logistic()),
        ("negate", |x| -x),
        ("sin", |x| x.sin()),
        ("sinh", |x| x.sinh()),
        ("tan", |x| x.tan()),
        ("tanh", |x| x.tanh()),
        ("floor", |x| x.floor()),
        ("convert", |x| x.convert(ElementType::F64)),
    ];
    for (name, function) in everywhere {
        check(name, &inputs(&[&[5]], -1.2, 1.3), |_, x| function(x[0]));
    }
    let positive: [(&str, Unary); 5] = [
        ("log", |x| x.log()),
        ("log1p", |x| x.log1p()),
        ("rsqrt", |x| x.rsqrt()),
        ("sqrt", |x| x.sqrt()),
        ("acosh", |x| (x + 1).acosh()),
    ];
    for (name, function) in positive {
        check(name, &inputs(&[&[5]], 0.3, 3.0), |_, x| function(x[0]));
    }
    let inside: [(&str, Unary); 3] =
        [("acos", |x| x.acos()), ("asin", |x| x.asin()), ("atanh", |x| x.atanh())];
    for (name, function) in inside {
        check(name, &inputs(&[&[5]], -0.9, 0.9), |_, x| function(x[0]));
    }
}

#[test]
fn operations_of_several_operands() {
    type Binary = for<'b> fn(Value<'b>, Value<'b>) -> Value<'b>;
    let all: [(&str, Binary); 9] = [
        ("add", |x, y| x + y),
        ("subtract", |x, y| x - y),
        ("multiply", |x, y| x * y),
        ("divide", |x, y| x / y),
        ("maximum", |x, y| x.max(y)),
        ("minimum", |x, y| x.min(y)),
        ("power", |x, y| x.pow(y)),
        ("remainder", |x, y| (x * 5) % y),
        ("atan2", |x, y| x.atan2(y)),
    ];
    for (name, function) in all {
        check(name, &inputs(&[&[6], &[6]], 0.5, 2.0), |_, x| function(x[0], x[1]));
    }
    check("select", &inputs(&[&[6], &[6]], -1.0, 1.0), |_, x| x[0].gt(0).select(x[0] * x[1], x[1]));
    check("clamp", &inputs(&[&[6], &[6], &[6]], -1.0, 1.0), |_, x| x[0].clamp(x[1] - 0.5, x[2] + 0.5));
    check("clamp by scalars", &inputs(&[&[6], &[], &[]], -1.0, 1.0), |_, x| {
        x[0].clamp(x[1] * 0.3 - 0.4, x[2] * 0.3 + 0.4)
    });
}

#[test]
fn moves_and_reductions() {
    let x = &inputs(&[&[3, 4]], -1.0, 1.0);
    check("broadcast", &inputs(&[&[3], &[4]], -1.0, 1.0), |_, x| {
        x[0].broadcast_in_dim(&[3, 4], &[0]) * x[1].broadcast_in_dim(&[3, 4], &[1])
    });
    check("reshape", x, |_, x| x[0].reshape(&[2, 6]).exp());
    check("transpose", x, |_, x| x[0].transpose(&[1, 0]).exp());
    check("reverse", x, |_, x| x[0].rev(&[1]).exp());
    check("slice", x, |_, x| x[0].slice(&[1, 0], &[3, 4], &[1, 3]).exp());
    check("concatenate", x, |b, x| b.concat_in_dim(&[x[0], x[0].exp()], 1));
    check("pad", &inputs(&[&[3, 4], &[]], -1.0, 1.0), |_, x| {
        let pad = |low, high, interior| PaddingDim { low, high, interior };
        x[0].pad(x[1], &[pad(-1, 2, 1), pad(1, -2, 0)]).exp()
    });
    check("gather", x, |b, x| {
        let indices = b.constant_r1(&[2i32, 0, 9, 2]);
        let attributes = GatherAttrs {
            offset_dims: [1].into_iter().collect(),
            collapsed_slice_dims: [0].into_iter().collect(),
            start_index_map: [0].into_iter().collect(),
            index_vector_dim: 1,
            slice_sizes: [1, 4].into_iter().collect(),
            ..GatherAttrs::default()
        };
        x[0].gather(indices, &attributes).exp()
    });
    let combiner = |op: Op| Computation::scalar(op, ElementType::F64);
    check("sum", x, |_, x| x[0].exp().reduce(0.0, &combiner(Op::Add), &[1]).exp());
    check("maximum", x, |_, x| x[0].reduce(-9.0, &combiner(Op::Maximum), &[0]).exp());
    check("windows", &inputs(&[&[9]], -1.0, 1.0), |_, x| {
        x[0].reduce_window(0.0, &combiner(Op::Add), &[3], &[2], Padding::Same).exp()
    });
    check("pool", &inputs(&[&[9]], -1.0, 1.0), |_, x| {
        x[0].reduce_window(-9.0, &combiner(Op::Maximum), &[3], &[2], Padding::Same).exp()
    });
}

#[test]
fn products_and_convolutions() {
    check("dot", &inputs(&[&[2, 3], &[3, 4]], -1.0, 1.0), |_, x| x[0].dot(x[1]).exp());
    check("dot_general", &inputs(&[&[2, 3, 4], &[3, 2, 5]], -1.0, 1.0), |_, x| {
        let dimensions = DotDimensions {
            lhs_batch: vec![0],
            rhs_batch: vec![1],
            lhs_contracting: vec![1],
            rhs_contracting: vec![0],
        };
        x[0].dot_general(x[1], &dimensions).exp()
    });
    check("convolution", &inputs(&[&[2, 3, 7], &[4, 3, 3]], -1.0, 1.0), |_, x| {
        x[0].convolve(x[1], &Convolution::new(Padding::Same).strides(&[2])).exp()
    });
    check("dilated convolution", &inputs(&[&[1, 2, 7], &[3, 2, 2]], -1.0, 1.0), |_, x| {
        x[0].convolve(x[1], &Convolution::new(Padding::Same).rhs_dilation(&[2])).exp()
    });
    check("grouped convolution", &inputs(&[&[1, 4, 5], &[6, 2, 3]], -1.0, 1.0), |_, x| {
        x[0].convolve(x[1], &Convolution::new(Padding::Valid).feature_groups(2)).exp()
    });
}

/// Builds a contraction. Each index expression of the output and the operands consists of coefficients and a
/// constant.
fn contraction(
    indices: usize,
    output: &[(&[i64], i64)],
    operands: &[&[(&[i64], i64)]],
    (aggregation, combination): (Aggregation, Combination),
    constraints: &[(&[i64], i64, i64)],
) -> Contraction {
    let affine = |(coefficients, constant): &(&[i64], i64)| Affine {
        coefficients: coefficients.to_vec(),
        constant: *constant,
    };
    Contraction {
        indices,
        output: output.iter().map(affine).collect(),
        operands: operands.iter().map(|o| o.iter().map(affine).collect()).collect(),
        aggregation,
        combination,
        constraints: constraints
            .iter()
            .map(|&(c, constant, bound)| Constraint { index: affine(&(c, constant)), bound })
            .collect(),
    }
}

#[test]
fn contractions() {
    use Aggregation::{Assign, Max, Min, Sum};
    use Combination::{Add, Multiply, Select, Single};
    let f64s = |sizes: &[i64]| Shape::array(ElementType::F64, sizes.iter().copied());
    // A convolution that reads beyond its input and has a larger output.
    let conv = contraction(2, &[(&[1, 0], 0)], &[&[(&[2, 1], -1)], &[(&[0, 1], 0)]], (Sum, Multiply), &[]);
    check("windows of a product", &inputs(&[&[7], &[3]], -1.0, 1.0), |b, x| {
        b.contraction(f64s(&[6]), conv.clone(), &[x[0], x[1]], None).exp()
    });
    // The sum over j adds each element of A once for each element of B.
    let plus = contraction(2, &[(&[1, 0], 0)], &[&[(&[1, 0], 0)], &[(&[0, 1], 0)]], (Sum, Add), &[]);
    check("a sum of sums", &inputs(&[&[4], &[3]], -1.0, 1.0), |b, x| {
        b.contraction(f64s(&[3]), plus.clone(), &[x[0], x[1]], None).exp()
    });
    let cumulative = contraction(2, &[(&[1, 0], 0)], &[&[(&[0, 1], 0)]], (Sum, Single), &[(&[1, -1], 0, 5)]);
    check("a cumulative sum", &inputs(&[&[5]], -1.0, 1.0), |b, x| {
        b.contraction(f64s(&[5]), cumulative.clone(), &[x[0]], None).exp()
    });
    let pool = contraction(2, &[(&[1, 0], 0)], &[&[(&[2, 1], 0)]], (Max, Single), &[(&[0, 1], 0, 3)]);
    check("pooling", &inputs(&[&[8]], -1.0, 1.0), |b, x| {
        b.contraction(f64s(&[4]), pool.clone(), &[x[0]], None).exp()
    });
    let tropical = |how| {
        contraction(
            3,
            &[(&[1, 0, 0], 0), (&[0, 1, 0], 0)],
            &[&[(&[1, 0, 0], 0), (&[0, 0, 1], 0)], &[(&[0, 0, 1], 0), (&[0, 1, 0], 0)]],
            how,
            &[],
        )
    };
    for how in [(Max, Add), (Min, Add), (Max, Multiply)] {
        check(&format!("{how:?}"), &inputs(&[&[2, 3], &[3, 2]], -1.0, 1.0), |b, x| {
            b.contraction(f64s(&[2, 2]), tropical(how), &[x[0], x[1]], None).exp()
        });
    }
    let spaced = contraction(1, &[(&[2], 1)], &[&[(&[1], 0)]], (Assign, Single), &[]);
    check("elements with a default", &inputs(&[&[3], &[8]], -1.0, 1.0), |b, x| {
        b.contraction(f64s(&[8]), spaced.clone(), &[x[0]], Some(x[1])).exp()
    });
    let rows = contraction(2, &[(&[2, 0], 0)], &[&[(&[1, 0], 0), (&[0, 1], 0)]], (Sum, Single), &[]);
    check("sums with a default", &inputs(&[&[2, 3], &[5]], -1.0, 1.0), |b, x| {
        b.contraction(f64s(&[5]), rows.clone(), &[x[0]], Some(x[1])).exp()
    });
    let chosen = contraction(
        2,
        &[(&[1, 0], 0)],
        &[&[(&[1, 0], 0)], &[(&[0, 1], 0)], &[(&[0, 1], 0)]],
        (Sum, Select),
        &[],
    );
    check("what is equal", &inputs(&[&[3]], -1.0, 1.0), |b, x| {
        let (labels, classes) = (b.constant_r1(&[2i32, 0, 2, 1]), b.constant_r1(&[0i32, 1, 2]));
        b.contraction(f64s(&[4]), chosen.clone(), &[labels, classes, x[0]], None).exp()
    });
}

#[test]
fn gradients_of_gradients() {
    check("twice", &inputs(&[&[4]], 0.5, 1.5), |b, x| {
        let once = b.gradients(x[0].pow(3.0).log() * x[0].sin(), &[x[0]])[0];
        b.gradients(once, &[x[0]])[0]
    });
}

#[test]
fn what_has_none() {
    let b = Builder::new("b");
    let x = b.parameter(0, Shape::array(ElementType::F32, [3]), "x");
    let unused = b.parameter(1, Shape::array(ElementType::F32, [2]), "unused");
    let zeros = b.gradients(x.exp(), &[unused])[0];
    assert_eq!(b.compute_constant(zeros).unwrap().elements::<f32>(), [0.0, 0.0]);
    // Conversion to integers has a zero gradient.
    let zeros = b.gradients(x.convert(ElementType::S32).convert(ElementType::F32), &[x])[0];
    assert_eq!(b.compute_constant(zeros).unwrap().elements::<f32>(), [0.0; 3]);
    b.gradients(x.sort(), &[x]);
    assert_eq!(b.errors()[0].message, "`sort` has no gradient here");
    let b = Builder::new("b");
    let n = b.parameter(0, Shape::array(ElementType::S32, [3]), "n");
    b.gradients(n, &[n]);
    assert!(b.errors()[0].message.contains("only floating-point numbers have gradients"));
}
