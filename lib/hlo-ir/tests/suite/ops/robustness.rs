//! Tests that no rule panics or overflows, whatever the operands and attributes are.

use super::{Row, check, checked_shape, code, infer_shape, module, shape};
use hlo_ir::attr::SliceDim;
use hlo_ir::{ArrayShape, ElementType, Module, Op, Opcode, Shape};

const SHAPES: &[&str] = &[
    "f32[]",
    "pred[]",
    "s32[0]",
    "f32[9223372036854775807]",
    "f32[9223372036854775807,9223372036854775807]",
    "f32[?,?]",
    "c64[2,3,4,5,6,7,8]",
    "u4[1,1,1]",
    "()",
    "(f32[], (s32[2], token[]))",
    "token[]",
];

/// Tests every opcode with its default attributes on every list of up to three shapes.
#[test]
fn default_attributes_on_all_shapes() {
    let m = module();
    let shapes: Vec<Shape> = SHAPES.iter().map(|s| shape(s)).collect();
    for &opcode in Opcode::ALL {
        let op = opcode.default_op();
        try_all(&m, &op, &[]);
        for a in &shapes {
            try_all(&m, &op, &[a]);
            for b in &shapes {
                try_all(&m, &op, &[a, b]);
                try_all(&m, &op, &[a, b, a]);
                try_all(&m, &op, &[a, b, b]);
            }
        }
    }
}

/// Infers the shape, and verifies the instruction with several declared shapes.
fn try_all(m: &Module, op: &Op, operands: &[&Shape]) {
    let inferred = infer_shape(m, op, operands);
    if let Ok(Some(s)) = &inferred {
        // Even if there are other violations, a rule must accept the shape that it infers.
        let found = checked_shape(m, op, operands, Some(s)).err().unwrap_or_default();
        let is_of_shape = |code| [code::DECLARED_SHAPE, code::INVALID_SHAPE].contains(&code);
        assert!(!found.iter().any(|v| is_of_shape(v.code)), "{op:?} of {operands:?}: {found:?}");
    }
    if let Ok(Some(s)) = check(m, op, operands, None) {
        assert_eq!(check(m, op, operands, Some(&s)).map(drop), Ok(()), "{op:?} of {operands:?}");
    }
    for written in SHAPES {
        // The check must return, whatever the result.
        let _ = check(m, op, operands, Some(&shape(written)));
    }
}

/// Tests attributes at the ends of their ranges, and lists of wrong lengths.
#[test]
fn extreme_attributes() {
    const N: &[&str] = &["-9223372036854775808", "-1", "0", "1", "9223372036854775807"];
    /// An opcode, one of its attributes, and the attribute's text for a number.
    type Extreme = (&'static str, &'static str, fn(&str) -> String);
    let attributes: &[Extreme] = &[
        ("get-tuple-element", "index", |n| n.into()),
        ("broadcast", "dimensions", |n| format!("{{{n}}}")),
        ("transpose", "dimensions", |n| format!("{{{n},{n}}}")),
        ("concatenate", "dimensions", |n| format!("{{{n}}}")),
        ("iota", "iota_dimension", |n| n.into()),
        ("pad", "padding", |n| format!("{n}_{n}_{n}")),
        ("pad", "padding", |n| format!("{n}_{n}_{n}x{n}_0")),
        ("slice", "slice", |n| format!("{{[{n}:{n}:{n}]}}")),
        ("slice", "slice", |n| format!("{{[0:{n}:1]}}")),
        ("dynamic-slice", "dynamic_slice_sizes", |n| format!("{{{n}}}")),
        ("reduce", "dimensions", |n| format!("{{{n}}}")),
        ("reduce-window", "window", |n| {
            format!("{{size={n} stride={n} pad={n}_{n} lhs_dilate={n} rhs_dilate={n}}}")
        }),
        ("reduce-window", "window", |n| format!("{{size=1x1 pad={n}_{n}x0_0}}")),
        ("topk", "k", |n| n.into()),
        ("scan", "num_carries", |n| n.into()),
        ("dot", "lhs_contracting_dims", |n| format!("{{{n}}}")),
        ("fft", "fft_length", |n| format!("{{{n}}}")),
        ("gather", "index_vector_dim", |n| n.into()),
        ("gather", "slice_sizes", |n| format!("{{{n}}}")),
        ("scatter", "index_vector_dim", |n| n.into()),
        ("convolution", "batch_group_count", |n| n.into()),
        ("convolution", "feature_group_count", |n| n.into()),
        ("batch-norm-training", "feature_index", |n| n.into()),
        ("get-dimension-size", "dimensions", |n| format!("{{{n}}}")),
        ("set-dimension-size", "dimensions", |n| format!("{{{n}}}")),
        ("sort", "dimensions", |n| format!("{{{n}}}")),
    ];
    let shapes: Vec<Shape> = SHAPES.iter().map(|s| shape(s)).collect();
    for (opcode, name, value) in attributes {
        for n in N {
            let row = Row::read(&format!("{opcode}(), {name}={}", value(n)));
            for a in &shapes {
                for b in &shapes {
                    try_all(&row.module, &row.op, &[]);
                    try_all(&row.module, &row.op, &[a]);
                    try_all(&row.module, &row.op, &[a, b]);
                    try_all(&row.module, &row.op, &[a, b, a]);
                }
            }
        }
    }
}

/// Tests shapes that text cannot express: negative sizes, flags and layouts of the wrong length.
#[test]
fn broken_shapes_are_refused() {
    let m = module();
    let mut negative = ArrayShape::new(ElementType::F32, [-3]);
    let refused = |a: &ArrayShape, message: &str| {
        let s = Shape::Array(a.clone());
        let e = infer_shape(&m, &Op::Negate, &[&s]).unwrap_err();
        assert!(e.message.contains(message), "{e:?}");
        assert_eq!(check(&m, &Op::Tuple, &[], Some(&s)).unwrap_err().code, code::INVALID_SHAPE);
    };
    refused(&negative, "a size must be 0 or more, found -3 in dimension 0");
    negative.dims = [ArrayShape::UNBOUNDED].into_iter().collect();
    refused(&negative, "a size must be 0 or more");
    let mut flags = ArrayShape::new(ElementType::F32, [2]);
    flags.dynamic = [true, false].into_iter().collect();
    refused(&flags, "rank 1 has 2 dynamic flags");
    for (layout, message) in [
        ("f32[2,3]{0}", "must list 2 dimensions"),
        ("f32[2,3]{0,0}", "each of its dimensions once"),
        ("f32[2,3]{2,0}", "once"),
    ] {
        refused(shape(layout).as_array().unwrap(), message);
    }
}

/// Tests a slice whose length would overflow if it were computed before the bounds are checked.
#[test]
fn slice_bounds_before_length() {
    let m = module();
    let mut op = Opcode::Slice.default_op();
    if let Op::Slice(a) = &mut op {
        a.slice = vec![SliceDim { start: i64::MIN, limit: i64::MAX, stride: 1 }];
    }
    assert!(infer_shape(&m, &op, &[&shape("f32[4]")]).unwrap_err().message.contains("takes ["));
}

/// Nested tuples can double in size with each line. Without a declared shape, their size is limited.
#[test]
fn inferred_tuples_are_bounded() {
    let m = module();
    let mut s = shape("f32[]");
    let error = (0..64).find_map(|_| match infer_shape(&m, &Op::Tuple, &[&s, &s]) {
        Ok(Some(next)) => {
            s = next;
            None
        }
        other => Some(other),
    });
    assert!(matches!(error, Some(Err(e)) if e.message.contains("needs its shape written")));
}
