//! The examples of the operations in the XLA preview, in the order of its chapters. For a chapter without
//! examples, its definition.

use super::{Example, both, f32s};
use hlo_builder::{Builder, Computation, Padding};
use hlo_ir::attr::{ComparisonDirection, PaddingDim};
use hlo_ir::{ArrayShape, ElementType, Literal, Op, Shape};

fn array(element_type: ElementType, dims: &[i64]) -> ArrayShape {
    ArrayShape::new(element_type, dims.iter().copied())
}

#[test]
fn broadcast() {
    let e = Example::new("broadcast");
    let scalar = e.given(Literal::r0(2.0f32));
    e.gives(&[(scalar.broadcast(&[2, 3]), Literal::r2(&[[2.0f32; 3]; 2]))]);
}

/// The array of 24 elements in "Collapse" and "Reshape".
const V: [[[f32; 3]; 2]; 4] = [
    [[10., 11., 12.], [15., 16., 17.]],
    [[20., 21., 22.], [25., 26., 27.]],
    [[30., 31., 32.], [35., 36., 37.]],
    [[40., 41., 42.], [45., 46., 47.]],
];

#[test]
fn collapse() {
    let e = Example::new("collapse");
    let v = e.given(Literal::r3(&V));
    let numbers = V.as_flattened().as_flattened();
    let of = |sizes: &[i64]| Literal::from_values(sizes, numbers).unwrap();
    e.gives(&[
        (v.collapse(&[0, 1, 2]), of(&[24])),
        (v.collapse(&[0, 1]), of(&[8, 3])),
        (v.collapse(&[1, 2]), of(&[4, 6])),
    ]);
    // "{1, 0} or {0, 2} are not."
    for dimensions in [[1, 0], [0, 2]] {
        let b = Builder::new("not_consecutive");
        let _ = b.constant_r3(&V).collapse(&dimensions);
        let message =
            format!("`collapse` needs dimensions of f32[4,2,3] that follow each other, found {dimensions:?}");
        assert_eq!(b.errors()[0].message, message);
    }
}

#[test]
fn concatenate() {
    let e = Example::new("concatenate");
    let [x, y, z] = [[2i32, 3], [4, 5], [6, 7]].map(|part| e.given(Literal::r1(&part)));
    let a = e.given(Literal::r2(&[[1i32, 2], [3, 4], [5, 6]]));
    let b = e.given(Literal::r2(&[[7i32, 8]]));
    e.gives(&[
        (e.concat_in_dim(&[x, y, z], 0), Literal::r1(&[2i32, 3, 4, 5, 6, 7])),
        (e.concat_in_dim(&[a, b], 0), Literal::r2(&[[1i32, 2], [3, 4], [5, 6], [7, 8]])),
    ]);
    // "Rank-0 values cannot be concatenated."
    let refused = Builder::new("refused");
    let scalar = refused.constant_r0(1i32);
    let _ = refused.concat_in_dim(&[scalar, scalar], 0);
    assert_eq!(refused.errors().len(), 1);
}

#[test]
fn convert_element_type() {
    let e = Example::new("convert");
    let a = e.given(Literal::r1(&[0i32, 1, 2]));
    e.gives(&[(a.convert(ElementType::F32), Literal::r1(&[0.0f32, 1.0, 2.0]))]);
    // "An invalid conversion (e.g. to/from a tuple)".
    let b = Builder::new("refused");
    let _ = b.tuple(&[b.constant_r0(1i32)]).convert(ElementType::F32);
    assert_eq!(b.errors()[0].message, "`convert` needs an array, found (s32[])");
}

/// The loops of "ConvWithGeneralPadding" for an input `[2,3,5,4]` and a kernel `[2,3,3,2]`.
fn by_the_pseudocode(input: &Literal, kernel: &Literal, stride: [i64; 2], pad: [(i64, i64); 2]) -> Literal {
    let out = [(5 + pad[0].0 + pad[0].1 - 3) / stride[0] + 1, (4 + pad[1].0 + pad[1].1 - 2) / stride[1] + 1];
    let mut values = Vec::new();
    for (b, oz) in (0..2).flat_map(|b| (0..2).map(move |oz| (b, oz))) {
        for (oy, ox) in (0..out[0]).flat_map(|oy| (0..out[1]).map(move |ox| (oy, ox))) {
            let mut value = 0;
            for (iz, ky, kx) in
                (0..3).flat_map(|iz| (0..3).flat_map(move |ky| (0..2).map(move |kx| (iz, ky, kx))))
            {
                let iy = oy * stride[0] + ky - pad[0].0;
                let ix = ox * stride[1] + kx - pad[1].0;
                // There are no elements outside of the base area.
                if let Some(x) = input.get::<i32>(&[b, iz, iy, ix]) {
                    value += x * kernel.get::<i32>(&[oz, iz, ky, kx]).unwrap();
                }
            }
            values.push(value);
        }
    }
    Literal::from_values(&[2, 2, out[0], out[1]], &values).unwrap()
}

#[test]
fn convolution() {
    let e = Example::new("convolution");
    let numbers = |sizes: &[i64]| {
        let count: i64 = sizes.iter().product();
        let values: Vec<i32> = (0..count).map(|n| (n * 7 % 11) as i32 - 5).collect();
        Literal::from_values(sizes, &values).unwrap()
    };
    let (input, kernel) = (numbers(&[2, 3, 5, 4]), numbers(&[2, 3, 3, 2]));
    let (x, k) = (e.given(input.clone()), e.given(kernel.clone()));
    let of = |stride, pad| by_the_pseudocode(&input, &kernel, stride, pad);
    // "If padding[1] is (2,3) there will be a padding by 2 zeroes on the left and by 3 zeroes on the right."
    let general = [(1, 0), (2, 3)];
    e.gives(&[
        (x.conv(k, &[1, 1], Padding::Valid), of([1, 1], [(0, 0); 2])),
        // "SAME: the output has the same shape as the input when not taking striding into account."
        (x.conv(k, &[1, 1], Padding::Same), of([1, 1], [(1, 1), (0, 1)])),
        (x.conv(k, &[1, 1], general), of([1, 1], general)),
        // "If the stride in dimension y is 3, the window can only be placed where the y index is divisible by 3."
        (x.conv(k, &[3, 1], general), of([3, 1], general)),
    ]);
}

/// The rows of the table in "Dot". The array product sums over the dimension of size r.
#[test]
fn dot() {
    let e = Example::new("dot");
    let (s, t) = (e.given(Literal::r0(3i32)), e.given(Literal::r0(5i32)));
    let (v, w) = (e.given(Literal::r1(&[1i32, 2, 3])), e.given(Literal::r1(&[4i32, 5, 6])));
    let m = e.given(Literal::r2(&[[1i32, 0, 2], [0, 3, 1]]));
    let n = e.given(Literal::r2(&[[1i32, 2], [3, 4], [5, 6]]));
    let pqr = e.given(Literal::full(&[2, 3, 4], 1i32).unwrap());
    let srt = e.given(Literal::full(&[5, 4, 6], 2i32).unwrap());
    e.gives(&[
        (s.dot(t), Literal::r0(15i32)),
        (v.dot(w), Literal::r0(32i32)),
        (m.dot(v), Literal::r1(&[7i32, 9])),
        (m.dot(n), Literal::r2(&[[11i32, 14], [14, 18]])),
        (pqr.dot(srt), Literal::full(&[2, 3, 5, 6], 8i32).unwrap()),
    ]);
}

#[test]
fn elementwise_functions() {
    let e = Example::new("elementwise");
    let (a, b) = (e.given(Literal::r1(&[7i32, -7, 3])), e.given(Literal::r1(&[2i32, 2, -2])));
    let x = e.given(Literal::r1(&[-1.5f32, 0.0, 2.5]));
    let zeros = e.given(Literal::r1(&[0.0f32; 3]));
    let integers = |values: &[i32; 3]| Literal::r1(values);
    let truths = |values: &[bool; 3]| Literal::r1(values);
    e.gives(&[
        (a + b, integers(&[9, -5, 1])),
        (a - b, integers(&[5, -9, 5])),
        (a * b, integers(&[14, -14, -6])),
        (a / b, integers(&[3, -3, -1])),
        // "The sign of the result is taken from the dividend."
        (a % b, integers(&[1, -1, 1])),
        (a.max(b), integers(&[7, 2, 3])),
        (a.min(b), integers(&[2, -7, -2])),
        (a.eq(b), truths(&[false; 3])),
        (a.ne(b), truths(&[true; 3])),
        (a.ge(b), truths(&[true, false, true])),
        (a.gt(b), truths(&[true, false, true])),
        (a.le(b), truths(&[false, true, false])),
        (a.lt(b), truths(&[false, true, false])),
        (x.floor(), Literal::r1(&[-2.0f32, 0.0, 2.0])),
        (x.ceil(), Literal::r1(&[-1.0f32, 0.0, 3.0])),
        (-a, integers(&[-7, 7, -3])),
        (zeros.exp(), Literal::r1(&[1.0f32; 3])),
        ((zeros + 1).log(), Literal::r1(&[0.0f32; 3])),
        (zeros.tanh(), Literal::r1(&[0.0f32; 3])),
    ]);
}

/// "Tuple" and "GetTupleElement".
#[test]
fn tuples() {
    let e = Example::new("tuples");
    let v = e.given(Literal::r1(&[0f32, 1., 2., 3., 4., 5., 6., 7., 8., 9.]));
    let s = e.given(Literal::r0(5i32));
    let t = e.tuple(&[v, s]);
    assert_eq!(t.shape().unwrap().to_string(), "(f32[10], s32[])");
    let element_1 = t.get_tuple_element(1);
    assert_eq!(element_1.shape().unwrap(), s.shape().unwrap());
    e.gives(&[(element_1, Literal::r0(5i32))]);
}

/// "Map(op1, op2, op3, computation, par1)".
#[test]
fn map_with_a_static_operand() {
    let e = Example::new("map");
    let scalar = Shape::scalar(ElementType::S32);
    let computation =
        Computation::of("computation", &[scalar.clone(), scalar.clone(), scalar.clone(), scalar], |_, p| {
            p[0] * p[1] + p[2] - p[3]
        });
    let [op1, op2, op3] = [[1i32, 2], [10, 20], [100, 200]].map(|op| e.given(Literal::r1(&op)));
    let par1 = e.given(Literal::r0(7i32));
    e.gives(&[(e.map(&[op1, op2, op3], &computation, &[par1]), Literal::r1(&[103i32, 233]))]);
}

/// "This operation is a no-op if" the padding is zero. Also edges and interior of each dimension.
#[test]
fn pad() {
    let e = Example::new("pad");
    let x = e.given(Literal::r2(&[[1i32, 2], [3, 4]]));
    let value = e.given(Literal::r0(9i32));
    let config = |low, high, interior| PaddingDim { low, high, interior };
    e.gives(&[
        (x.pad(value, &[PaddingDim::default(); 2]), Literal::r2(&[[1i32, 2], [3, 4]])),
        (
            x.pad(value, &[config(1, 0, 0), config(0, 1, 2)]),
            Literal::r2(&[[9i32, 9, 9, 9, 9], [1, 9, 9, 2, 9], [3, 9, 9, 4, 9]]),
        ),
    ]);
}

#[test]
fn reduce() {
    let e = Example::new("reduce");
    let add = Computation::scalar(Op::Add, ElementType::S32);
    let row = [[1i32, 2, 3], [4, 5, 6]];
    let matrix = e.given(Literal::r2(&row));
    // "The values 1 to 6 are replicated across dimension 0."
    let cuboid = e.given(Literal::r3(&[row; 4]));
    let vector = e.given(Literal::r1(&[10i32, 11, 12, 13]));
    e.gives(&[
        (vector.reduce(0, &add, &[0]), Literal::r0(46i32)),
        (matrix.reduce(0, &add, &[0]), Literal::r1(&[5i32, 7, 9])),
        (matrix.reduce(0, &add, &[1]), Literal::r1(&[6i32, 15])),
        (cuboid.reduce(0, &add, &[0]), Literal::r2(&[[4i32, 8, 12], [16, 20, 24]])),
        (cuboid.reduce(0, &add, &[2]), Literal::r2(&[[6i32, 15]; 4])),
        (cuboid.reduce(0, &add, &[0, 1]), Literal::r1(&[20i32, 28, 36])),
        (cuboid.reduce(0, &add, &[0, 1, 2]), Literal::r0(84i32)),
        (cuboid.reduce_all(0, &add), Literal::r0(84i32)),
    ]);
}

/// The preview says that the order {1,2,0}, slowest dimension first, results in 10, 11, 12, 20, …. These are
/// the numbers of the order {1,0,2}. By its definition, and by the current document, {1,2,0} results in 10,
/// 20, 30, 40, 11, ….
#[test]
fn reshape() {
    let e = Example::new("reshape");
    let v = e.given(Literal::r3(&V));
    let in_order = V.as_flattened().as_flattened();
    #[rustfmt::skip]
    let [order_120, order_102] = [
        [
            10f32, 20., 30., 40., 11., 21., 31., 41., 12., 22., 32., 42.,
            15., 25., 35., 45., 16., 26., 36., 46., 17., 27., 37., 47.,
        ],
        [
            10., 11., 12., 20., 21., 22., 30., 31., 32., 40., 41., 42.,
            15., 16., 17., 25., 26., 27., 35., 36., 37., 45., 46., 47.,
        ],
    ];
    let of = |sizes: &[i64], numbers: &[f32]| Literal::from_values(sizes, numbers).unwrap();
    let mut expected = vec![
        (v.reshape_in_order(&[0, 1, 2], &[24]), of(&[24], in_order)),
        (v.reshape_in_order(&[0, 1, 2], &[8, 3]), of(&[8, 3], in_order)),
    ];
    for (order, numbers) in [([1, 2, 0], order_120), ([1, 0, 2], order_102)] {
        for sizes in [&[24][..], &[8, 3], &[2, 6, 2]] {
            expected.push((v.reshape_in_order(&order, sizes), of(sizes, &numbers)));
        }
    }
    // "As a special case, reshape can transform a single-element array to a scalar and vice versa."
    let (one, five) = (e.given(Literal::r2(&[[5i32]])), e.given(Literal::r0(5i32)));
    expected.push((one.reshape_in_order(&[0, 1], &[]), Literal::r0(5i32)));
    expected.push((five.reshape_in_order(&[], &[1, 1]), Literal::r2(&[[5i32]])));
    e.gives(&expected);
}

/// "Its index i is transformed into N - 1 - i."
#[test]
fn rev() {
    let e = Example::new("rev");
    let x = e.given(Literal::r2(&[[1i32, 2, 3], [4, 5, 6]]));
    e.gives(&[
        (x.rev(&[1]), Literal::r2(&[[3i32, 2, 1], [6, 5, 4]])),
        (x.rev(&[0, 1]), Literal::r2(&[[6i32, 5, 4], [3, 2, 1]])),
    ]);
}

/// "RngBernoulli", "RngNormal", "RngUniform": types, limits and means.
#[test]
fn random_numbers() {
    const COUNT: i64 = 10_000;
    let b = Builder::new("random");
    let normal =
        b.rng_normal(b.constant_r0(3.0f32), b.constant_r0(2.0f32), array(ElementType::F32, &[COUNT]));
    let uniform = b.rng_uniform(-4, 4, array(ElementType::S32, &[COUNT]));
    let bernoulli = b.rng_bernoulli(b.constant_r0(0.25f32), array(ElementType::U32, &[COUNT]));
    let _ = b.tuple(&[normal, uniform, bernoulli]);
    for (engine, result) in both(&b.build().unwrap(), &[]) {
        let [normal, uniform, bernoulli] = result.tuple_elements() else { panic!("three arrays") };
        let mean = normal.elements::<f32>().iter().sum::<f32>() / COUNT as f32;
        let variance =
            normal.elements::<f32>().iter().map(|x| (x - mean).powi(2)).sum::<f32>() / COUNT as f32;
        // Ten standard errors: 2/√10000 and 4·√(2/10000).
        assert!((mean - 3.0).abs() < 0.2 && (variance - 4.0).abs() < 0.57, "{engine}: {mean}, {variance}");
        let counts = (-4..4).map(|n| uniform.elements::<i32>().iter().filter(|&&x| x == n).count());
        // 1250 of each value, with a standard deviation of 33, and no other values.
        let counts: Vec<usize> = counts.collect();
        assert!(counts.iter().all(|c| (920..=1580).contains(c)), "{engine}: {counts:?}");
        assert_eq!(counts.iter().sum::<usize>(), COUNT as usize, "{engine}");
        let ones = bernoulli.elements::<u32>().iter().sum::<u32>();
        assert!(bernoulli.elements::<u32>().iter().all(|&x| x <= 1), "{engine}");
        assert!((2070..=2930).contains(&ones), "{engine}: {ones}");
    }
}

/// The figure: windows that do not overlap, and windows of which two select the 9. There "the output element
/// of value 8 (2 + 6)" is the sum of both.
#[test]
fn select_and_scatter() {
    let e = Example::new("select_and_scatter");
    let (scalar, add) = (f32s(&[]), Computation::scalar(Op::Add, ElementType::F32));
    let ge = Computation::of("ge", &[scalar.clone(), scalar], |_, p| p[0].ge(p[1]));
    let apart = e.given(Literal::r2(&[
        [7.0f32, 2., 5., 3., 10., 2.],
        [3., 8., 9., 3., 4., 2.],
        [1., 5., 7., 5., 6., 1.],
        [0., 6., 2., 7., 2., 8.],
    ]));
    let overlapping = e.given(Literal::r2(&[
        [7.0f32, 2., 5., 3., 8.],
        [3., 8., 9., 3., 4.],
        [1., 5., 7., 5., 6.],
        [0., 6., 2., 10., 2.],
    ]));
    let source = e.given(Literal::r2(&[[2.0f32, 6.], [3., 1.]]));
    e.gives(&[
        (
            apart.select_and_scatter(&ge, &[2, 3], &[2, 3], Padding::Valid, source, 0, &add),
            Literal::r2(&[
                [0.0f32, 0., 0., 0., 6., 0.],
                [0., 0., 2., 0., 0., 0.],
                [0., 0., 3., 0., 0., 0.],
                [0., 0., 0., 0., 0., 1.],
            ]),
        ),
        (
            overlapping.select_and_scatter(&ge, &[2, 3], &[2, 2], Padding::Valid, source, 0, &add),
            Literal::r2(&[
                [0.0f32, 0., 0., 0., 0.],
                [0., 0., 8., 0., 0.],
                [0., 0., 3., 0., 0.],
                [0., 0., 0., 1., 0.],
            ]),
        ),
    ]);
}

#[test]
fn select() {
    let e = Example::new("select");
    let mask = e.given(Literal::r1(&[true, false, false, true]));
    let yes = e.given(Literal::r0(true));
    let v1 = e.given(Literal::r1(&[1i32, 2, 3, 4]));
    let v2 = e.given(Literal::r1(&[100i32, 200, 300, 400]));
    // "Selections between tuples are supported."
    let tuple = yes.select(e.tuple(&[v1, yes]), e.tuple(&[v2, !yes]));
    e.gives(&[
        (mask.select(v1, v2), Literal::r1(&[1i32, 200, 300, 4])),
        (yes.select(v1, v2), Literal::r1(&[1i32, 2, 3, 4])),
        (tuple.get_tuple_element(0), Literal::r1(&[1i32, 2, 3, 4])),
        (tuple.get_tuple_element(1), Literal::r0(true)),
        // Numbers, scalars, and arrays of lower rank.
        (mask.select(v1, 0), Literal::r1(&[1i32, 0, 0, 4])),
        (mask.select(e.constant_r0(7i32), e.constant_r0(8i32)), Literal::r1(&[7i32, 8, 8, 7])),
        (
            e.given(Literal::r2(&[[true; 4], [false; 4]])).select(v1.along(&[1]), -1),
            Literal::r2(&[[1i32, 2, 3, 4], [-1; 4]]),
        ),
    ]);
}

#[test]
fn slice() {
    let e = Example::new("slice");
    let a = e.given(Literal::r1(&[0.0f32, 1.0, 2.0, 3.0, 4.0]));
    let b = e.given(Literal::r2(&[[0.0f32, 1., 2.], [3., 4., 5.], [6., 7., 8.], [9., 10., 11.]]));
    e.gives(&[
        (a.slice(&[2], &[4], &[1]), Literal::r1(&[2.0f32, 3.0])),
        (b.slice(&[2, 1], &[4, 3], &[1, 1]), Literal::r2(&[[7.0f32, 8.0], [10.0, 11.0]])),
        (b.slice_in_dim(0, 4, 2, 0), Literal::r2(&[[0.0f32, 1., 2.], [6., 7., 8.]])),
    ]);
}

#[test]
fn sort() {
    let e = Example::new("sort");
    let x = e.given(Literal::r2(&[[3i32, 1, 2], [-1, 5, 0]]));
    let descending = Computation::comparator(&[ElementType::S32], ComparisonDirection::Gt);
    e.gives(&[
        (x.sort(), Literal::r2(&[[1i32, 2, 3], [-1, 0, 5]])),
        (x.sort_by(&descending, 0, false), Literal::r2(&[[3i32, 5, 2], [-1, 1, 0]])),
    ]);
}

/// "This is the same as Reshape(operand, {1, 0}, {operand.shape.dimensions[1], operand.shape.dimensions[0]})."
#[test]
fn trans() {
    let e = Example::new("trans");
    let x = e.given(Literal::r2(&[[1i32, 2, 3], [4, 5, 6]]));
    let expected = Literal::r2(&[[1i32, 4], [2, 5], [3, 6]]);
    e.gives(&[(x.trans(), expected.clone()), (x.reshape_in_order(&[1, 0], &[3, 2]), expected)]);
}
