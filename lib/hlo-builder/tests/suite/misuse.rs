//! Calls all methods with invalid arguments: extreme numbers, lists of the wrong length, values of other
//! types and of other computations. A call must return a value or report an error with the source line, and
//! must never panic.

use crate::sources::public_methods;
use hlo_builder::{
    Builder, Computation, Convolution, DotDimensions, Operand, Padding, Participants, PermutedSlices,
    ScatterDimensions, Value,
};
use hlo_ir::attr::*;
use hlo_ir::print::{PrintOptions, print_module};
use hlo_ir::{ArrayShape, Dims, ElementType, Literal, Op, Shape};
use hlo_testing::Numbers;
use hlo_testing::generate::random_contraction;
use std::collections::{BTreeMap, BTreeSet};

/// A generator of random arguments.
struct Arguments<'b> {
    b: &'b Builder,
    values: Vec<Value<'b>>,
    computations: &'b [Computation],
    numbers: Numbers,
}

/// Boundary values.
const NUMBERS: &[i64] =
    &[i64::MIN, i64::MIN + 1, -2, -1, 0, 0, 1, 1, 2, 2, 3, 4, 64, 1 << 40, i64::MAX - 1, i64::MAX];

const TYPES: &[ElementType] = &[
    ElementType::Pred,
    ElementType::S4,
    ElementType::S32,
    ElementType::U8,
    ElementType::U64,
    ElementType::F32,
    ElementType::Bf16,
    ElementType::F8E5M2,
    ElementType::C64,
];

impl<'b> Arguments<'b> {
    /// Returns a random value.
    fn v(&mut self) -> Value<'b> {
        self.numbers.pick(&self.values)
    }

    fn vs(&mut self) -> Vec<Value<'b>> {
        (0..self.numbers.below(4)).map(|_| self.v()).collect()
    }

    /// Returns a random number.
    fn n(&mut self) -> i64 {
        self.numbers.pick(NUMBERS)
    }

    fn ns(&mut self) -> Vec<i64> {
        // Some of the lists are valid.
        match self.numbers.below(4) {
            0 => (0..self.numbers.below(4) as i64).collect(),
            1 => vec![self.numbers.between(0, 3); self.numbers.below(4)],
            _ => (0..self.numbers.below(5)).map(|_| self.n()).collect(),
        }
    }

    fn dims(&mut self) -> Dims {
        self.ns().into_iter().collect()
    }

    fn flag(&mut self) -> bool {
        self.numbers.one_in(2)
    }

    /// Returns a random element type.
    fn ty(&mut self) -> ElementType {
        self.numbers.pick(TYPES)
    }

    /// Returns a random operand.
    fn o(&mut self) -> Operand<'b> {
        match self.numbers.below(6) {
            0 => self.n().into(),
            1 => self.numbers.pick(&[f64::NAN, f64::INFINITY, 0.5, 1e300]).into(),
            2 => self.flag().into(),
            3 => {
                let dimensions = self.ns();
                self.v().along(&dimensions)
            }
            _ => self.v().into(),
        }
    }

    /// Returns a random computation.
    fn c(&mut self) -> Computation {
        self.numbers.pick(self.computations)
    }

    fn array(&mut self) -> ArrayShape {
        ArrayShape::new(self.ty(), self.ns())
    }

    fn shape(&mut self) -> Shape {
        match self.numbers.below(8) {
            0 => Shape::Token,
            1 => Shape::tuple(vec![]),
            2 => Shape::tuple(vec![self.array().into(), Shape::tuple(vec![self.array().into()])]),
            3 => {
                let a = self.array();
                a.with_dynamic([true, false]).into()
            }
            _ => self.array().into(),
        }
    }

    fn pairs(&mut self) -> Vec<(i64, i64)> {
        (0..self.numbers.below(4)).map(|_| (self.n(), self.n())).collect()
    }

    fn padding(&mut self) -> Padding {
        match self.numbers.below(3) {
            0 => Padding::Valid,
            1 => Padding::Same,
            _ => self.pairs().into(),
        }
    }

    fn window(&mut self) -> Window {
        let dim = |a: &mut Self| WindowDim {
            size: a.n(),
            stride: a.n(),
            pad_low: a.n(),
            pad_high: a.n(),
            lhs_dilate: a.n(),
            rhs_dilate: a.n(),
            reversed: a.flag(),
        };
        Window { dims: (0..self.numbers.below(4)).map(|_| dim(self)).collect() }
    }

    fn participants(&mut self) -> Participants {
        let groups = (0..self.numbers.below(3)).map(|_| self.ns()).collect();
        Participants {
            groups: ReplicaGroups::Lists(groups),
            channel: self.flag().then(|| self.n()),
            use_global_device_ids: self.flag(),
            ..Participants::all()
        }
    }

    fn op(&mut self) -> Op {
        let axis = self.n();
        self.numbers.pick(
            &[Op::Add, Op::Negate, Op::And, Op::Tuple, Op::Cholesky(CholeskyAttrs { lower: true })]
                .into_iter()
                .chain([
                    Op::concatenate(axis),
                    Op::broadcast([axis]),
                    Op::parameter(axis),
                    Op::AfterAll,
                    Op::Convert,
                ])
                .collect::<Vec<_>>(),
        )
    }

    fn labels(&mut self) -> ConvDimLabels {
        ConvDimLabels {
            input_batch: self.n(),
            input_feature: self.n(),
            input_spatial: self.dims(),
            kernel_input_feature: self.n(),
            kernel_output_feature: self.n(),
            kernel_spatial: self.dims(),
            output_batch: self.n(),
            output_feature: self.n(),
            output_spatial: self.dims(),
        }
    }

    fn dot(&mut self) -> DotAttrs {
        DotAttrs {
            lhs_batch_dims: self.dims(),
            lhs_contracting_dims: self.dims(),
            rhs_batch_dims: self.dims(),
            rhs_contracting_dims: self.dims(),
            ..DotAttrs::default()
        }
    }

    fn slices(&mut self) -> PermutedSlices<'b> {
        PermutedSlices {
            output: self.v(),
            starts: self.v(),
            output_starts: self.v(),
            sizes: vec![self.ns(); self.numbers.below(3)],
        }
    }

    fn epsilon(&mut self) -> f32 {
        self.numbers.pick(&[f32::NAN, f32::INFINITY, -1.0, 0.0, 0.001])
    }

    fn preferred(&mut self) -> Option<ElementType> {
        self.flag().then(|| self.ty())
    }

    fn aliasing(&mut self) -> Vec<OperandAlias> {
        let alias = |a: &mut Self| OperandAlias { output: a.ns(), operand: a.n(), operand_index: a.ns() };
        (0..self.numbers.below(2)).map(|_| alias(self)).collect()
    }
}

type Method = for<'b> fn(&mut Arguments<'b>) -> Value<'b>;

macro_rules! methods {
    ($($name:ident($a:ident) $call:expr;)*) => {
        &[$((stringify!($name), |$a| $call)),*]
    };
}

/// Each method that returns a value, with random arguments.
const METHODS: &[(&str, Method)] = methods! {
    all_gather(a) a.v().all_gather(a.n(), a.n(), &a.participants());
    all_gather_start(a) a.v().all_gather_start(a.n(), a.n(), &a.participants());
    all_gather_done(a) a.v().all_gather_done();
    all_reduce(a) a.v().all_reduce(&a.c(), &a.participants());
    all_reduce_start(a) a.v().all_reduce_start(&a.c(), &a.participants());
    all_reduce_done(a) a.v().all_reduce_done();
    cross_replica_sum(a) a.v().cross_replica_sum(&[&a.ns(), &a.ns()]);
    reduce_scatter(a) a.v().reduce_scatter(&a.c(), a.n(), a.n(), &a.participants());
    all_to_all(a) a.v().all_to_all(a.n(), a.n(), a.n(), &a.participants());
    all_to_all_tuple(a) a.v().all_to_all_tuple(&a.participants());
    collective_permute(a) a.v().collective_permute(&a.pairs(), Some(a.n()));
    collective_permute_start(a) a.v().collective_permute_start(&a.pairs(), None);
    collective_permute_slices(a) a.v().collective_permute_slices(&a.slices(), &a.pairs(), None);
    collective_permute_slices_start(a) a.v().collective_permute_slices_start(&a.slices(), &a.pairs(), None);
    collective_permute_done(a) a.v().collective_permute_done();
    collective_broadcast(a) a.v().collective_broadcast(&a.participants());
    ragged_all_to_all(a) a.v().ragged_all_to_all(a.v(), [a.v(), a.v(), a.v(), a.v()], &a.participants());
    call(a) a.b.call(&a.c(), &a.vs());
    composite_call(a) a.b.composite_call(&a.c(), &a.vs(), "", "}{", a.n());
    fusion(a) a.b.fusion(FusionKind::Loop, &a.c(), &a.vs(), &a.aliasing());
    while_loop(a) a.b.while_loop(&a.c(), &a.c(), a.v());
    conditional(a) a.v().conditional(a.v(), &a.c(), a.v(), &a.c());
    switch(a) {
        let branches = [(a.c(), a.v()), (a.c(), a.v())];
        let count = a.numbers.below(3);
        a.v().switch(&branches.iter().take(count).map(|(c, v)| (c, *v)).collect::<Vec<_>>())
    };
    opt_barrier(a) a.v().opt_barrier();
    broadcast(a) a.v().broadcast(&a.ns());
    broadcast_in_dim(a) a.v().broadcast_in_dim(&a.ns(), &a.ns());
    reshape(a) a.v().reshape(&a.ns());
    reshape_with_inferred_dimension(a) a.v().reshape_with_inferred_dimension(&a.ns(), a.n());
    reshape_in_order(a) a.v().reshape_in_order(&a.ns(), &a.ns());
    collapse(a) a.v().collapse(&a.ns());
    transpose(a) a.v().transpose(&a.ns());
    trans(a) a.v().trans();
    rev(a) a.v().rev(&a.ns());
    bitcast_convert(a) a.v().bitcast_convert(a.ty());
    bitcast(a) a.v().bitcast(a.shape());
    copy(a) a.v().copy();
    slice(a) a.v().slice(&a.ns(), &a.ns(), &a.ns());
    slice_in_dim(a) a.v().slice_in_dim(a.n(), a.n(), a.n(), a.n());
    pad(a) {
        let dim = |a: &mut Arguments<'_>| PaddingDim { low: a.n(), high: a.n(), interior: a.n() };
        let padding: Vec<PaddingDim> = (0..a.numbers.below(4)).map(|_| dim(a)).collect();
        a.v().pad(a.o(), &padding)
    };
    pad_in_dim(a) a.v().pad_in_dim(a.o(), a.n(), a.n(), a.n());
    concat_in_dim(a) a.b.concat_in_dim(&a.vs(), a.n());
    iota(a) a.b.iota(a.shape(), a.n());
    iota_r1(a) a.b.iota_r1(a.ty(), a.n());
    after_all(a) a.b.after_all(&a.vs());
    create_token(a) a.b.create_token();
    add_dependency(a) a.v().add_dependency(a.v());
    infeed(a) a.b.infeed(a.shape());
    infeed_with_token(a) a.b.infeed_with_token(a.v(), a.shape(), "\"");
    outfeed_with_token(a) a.b.outfeed_with_token(a.v(), a.v(), "");
    send(a) a.b.send(a.v(), a.n());
    recv(a) a.b.recv(a.shape(), a.n());
    send_start(a) a.b.send_start(a.v(), a.v(), a.n(), a.flag());
    send_done(a) a.b.send_done(a.v(), a.n(), a.flag());
    recv_start(a) a.b.recv_start(a.shape(), a.v(), a.n(), a.flag());
    recv_done(a) a.b.recv_done(a.v(), a.n(), a.flag());
    custom_call(a) a.b.custom_call("", &a.vs(), a.shape());
    custom_call_with(a) a.b.custom_call_with(CustomCallAttrs::default(), &a.vs(), a.shape());
    custom_call_of(a) a.b.custom_call_of(CustomCallAttrs::default(), &[&a.c(), &a.c()], &a.vs(), a.shape());
    async_start(a) a.b.async_start(&a.c(), &a.vs(), Some(""), &a.aliasing());
    async_update(a) a.b.async_update(a.v());
    async_done(a) a.b.async_done(a.v());
    copy_start(a) a.v().copy_start(Some(a.n()));
    copy_done(a) a.v().copy_done();
    domain(a) {
        let sharding = Sharding::single(ShardingKind::Replicated);
        a.v().domain(Domain { entry: sharding.clone(), exit: sharding })
    };
    unary(a) a.v().unary(a.op());
    binary(a) a.v().binary(a.op(), a.o());
    combined(a) a.b.combined(a.op(), &a.vs());
    compare(a) a.v().compare(a.o(), ComparisonDirection::Lt, ComparisonType::TotalOrder);
    stochastic_convert(a) a.v().stochastic_convert(a.v(), a.ty());
    convert(a) a.v().convert(a.ty());
    reduce_precision(a) a.v().reduce_precision(a.n(), a.n());
    clamp(a) a.v().clamp(a.o(), a.o());
    select(a) a.v().select(a.o(), a.o());
    square(a) a.v().square();
    reciprocal(a) a.v().reciprocal();
    conj(a) a.v().conj();
    add(a) a.v() + a.o();
    add_number(a) 2.5 + a.v();
    subtract_operand(a) a.o() - a.v();
    shift_right(a) a.v() >> a.o();
    negate(a) -a.v();
    not(a) !a.v();
    dynamic_slice(a) a.v().dynamic_slice(&a.vs(), &a.ns());
    dynamic_update_slice(a) a.v().dynamic_update_slice(a.v(), &a.vs());
    gather(a) {
        let attributes = GatherAttrs {
            offset_dims: a.dims(),
            collapsed_slice_dims: a.dims(),
            start_index_map: a.dims(),
            operand_batching_dims: a.dims(),
            start_indices_batching_dims: a.dims(),
            index_vector_dim: a.n(),
            slice_sizes: a.dims(),
            indices_are_sorted: a.flag(),
        };
        a.v().gather(a.v(), &attributes)
    };
    scatter(a) {
        let dimensions = ScatterDimensions {
            update_window_dims: a.dims(),
            inserted_window_dims: a.dims(),
            scatter_dims_to_operand_dims: a.dims(),
            index_vector_dim: a.n(),
            ..ScatterDimensions::default()
        };
        if a.flag() { a.v().scatter(a.v(), a.v(), &a.c(), &dimensions) } else { a.b.scatter(&a.vs(), a.v(), &a.vs(), &a.c(), &dimensions) }
    };
    get_dimension_size(a) a.v().get_dimension_size(a.n());
    set_dimension_size(a) a.v().set_dimension_size(a.o(), a.n());
    dynamic_reshape(a) {
        let is_dynamic: Vec<bool> = (0..a.numbers.below(4)).map(|_| a.flag()).collect();
        a.v().dynamic_reshape(&a.vs(), &a.ns(), &is_dynamic)
    };
    dot(a) a.v().dot(a.v());
    dot_general(a) {
        let dimensions = DotDimensions {
            lhs_contracting: a.ns(),
            rhs_contracting: a.ns(),
            lhs_batch: a.ns(),
            rhs_batch: a.ns(),
        };
        a.v().dot_general(a.v(), &dimensions)
    };
    dot_with(a) a.v().dot_with(a.v(), a.dot(), a.preferred());
    ragged_dot(a) {
        let attributes = RaggedDotAttrs { lhs_ragged_dims: a.dims(), ..RaggedDotAttrs::default() };
        a.v().ragged_dot(a.v(), a.v(), attributes, a.preferred())
    };
    scaled_dot(a) a.v().scaled_dot(a.v(), a.v(), a.v(), a.dot(), a.preferred());
    contraction(a) {
        let mut contraction = random_contraction(&mut a.numbers, 4).contraction;
        if a.flag() {
            contraction.indices += 1;
            contraction.output.pop();
        }
        let default = a.flag().then(|| a.v());
        a.b.contraction(a.shape(), contraction, &a.vs(), default)
    };
    conv(a) a.v().conv(a.v(), &a.ns(), a.padding());
    convolve(a) {
        let mut convolution = Convolution::new(a.padding())
            .strides(&a.ns())
            .lhs_dilation(&a.ns())
            .rhs_dilation(&a.ns())
            .feature_groups(a.n())
            .batch_groups(a.n());
        if a.flag() {
            convolution = convolution.dimensions(a.labels());
        }
        if a.flag() {
            convolution = convolution.preferred_element_type(a.ty());
        }
        a.v().convolve(a.v(), &convolution)
    };
    convolve_with(a) {
        let attributes =
            ConvolutionAttrs { window: a.window(), dim_labels: a.labels(), ..ConvolutionAttrs::default() };
        a.v().convolve_with(a.v(), attributes, a.preferred())
    };
    fft(a) a.v().fft(FftType::Irfft, &a.ns());
    cholesky(a) a.v().cholesky(a.flag());
    triangular_solve(a) a.v().triangular_solve(a.v(), a.flag(), a.flag(), a.flag(), TransposeKind::Adjoint);
    batch_norm_training(a) a.v().batch_norm_training(a.v(), a.v(), a.epsilon(), a.n());
    batch_norm_inference(a) a.v().batch_norm_inference(a.v(), a.v(), a.v(), a.v(), a.epsilon(), a.n());
    batch_norm_grad(a) a.v().batch_norm_grad(a.v(), a.v(), a.v(), a.v(), a.epsilon(), a.n());
    rng_normal(a) a.b.rng_normal(a.o(), a.o(), a.array());
    rng_uniform(a) a.b.rng_uniform(a.o(), a.o(), a.array());
    rng_bernoulli(a) a.b.rng_bernoulli(a.v(), a.array());
    rng_bit_generator(a) a.b.rng_bit_generator(RngAlgorithm::Philox, a.v(), a.array());
    rng_get_and_update_state(a) a.b.rng_get_and_update_state(a.n(), a.array());
    reduce(a) if a.flag() { a.v().reduce(a.o(), &a.c(), &a.ns()) } else { a.b.reduce(&a.vs(), &a.vs(), &a.c(), &a.ns()) };
    reduce_all(a) a.v().reduce_all(a.o(), &a.c());
    reduce_window(a) if a.flag() { a.v().reduce_window(a.o(), &a.c(), &a.ns(), &a.ns(), a.padding()) } else { a.b.reduce_window(&a.vs(), &a.vs(), &a.c(), &a.window()) };
    select_and_scatter(a) {
        let (select, scatter) = (a.c(), a.c());
        a.v().select_and_scatter(&select, &a.ns(), &a.ns(), a.padding(), a.v(), a.o(), &scatter)
    };
    sort(a) if a.flag() { a.v().sort() } else { a.b.sort(&a.vs(), &a.c(), a.n(), a.flag()) };
    sort_by(a) a.v().sort_by(&a.c(), a.n(), a.flag());
    top_k(a) a.v().top_k(a.n(), a.flag());
    scan(a) a.b.scan(&a.vs(), &a.vs(), &a.c(), a.n(), a.flag(), a.flag());
    map(a) a.b.map(&a.vs(), &a.c(), &a.vs());
    parameter(a) a.b.parameter(a.n(), a.shape(), "\n");
    constant(a) {
        let part = if a.flag() { Literal::token() } else { Literal::r0(1u8) };
        a.b.constant(Literal::tuple(vec![Literal::r1::<f32>(&[]), part]))
    };
    constant_r0(a) a.b.constant_r0(f64::NAN);
    constant_number(a) { let (number, ty) = (a.o(), a.ty()); a.b.constant_number(number, ty) };
    gradients(a) { let (loss, values) = (a.v(), a.vs()); a.b.gradients(loss, &values).first().copied().unwrap_or(loss) };
    constant_r1(a) a.b.constant_r1::<f64>(&[]);
    constant_r1_filled(a) a.b.constant_r1_filled(a.n(), 1u8);
    constant_r2(a) a.b.constant_r2::<f32, 0>(&[[], []]);
    constant_r3(a) a.b.constant_r3::<f32, 0, 7>(&[]);
    constant_r4(a) a.b.constant_r4::<bool, 1, 1, 1>(&[[[[true]]]]);
    constant_array(a) a.b.constant_array(&a.ns(), &[1u8, 2]);
    zero(a) a.b.zero(a.ty());
    tuple(a) a.b.tuple(&a.vs());
    get_tuple_element(a) a.v().get_tuple_element(a.n());
    elements(a) {
        let x = a.v();
        x.elements().last().copied().unwrap_or(x)
    };
    check_shape(a) a.v().check_shape(&a.shape());
    named(a) a.v().named("\u{0}");
    with_metadata(a) a.v().with_metadata(OpMetadata::default());
    with_sharding(a) {
        let sharding = Sharding::single(a.numbers.pick(&[ShardingKind::Replicated, ShardingKind::Manual]));
        a.v().with_sharding(sharding)
    };
    with_frontend_attributes(a) a.v().with_frontend_attributes(FrontendAttributes::default());
    with_backend_config(a) a.v().with_backend_config("{");
    with_accuracy(a) a.v().with_accuracy(ResultAccuracy::default());
    after(a) a.v().after(a.v());
};

/// Returns computations, most of which are invalid for a given method.
fn computations() -> Vec<Computation> {
    let f32s = Shape::scalar(ElementType::F32);
    let broken = Computation::of("broken", std::slice::from_ref(&f32s), |b, p| b.tuple(p) + p[0]);
    let state = Shape::tuple(vec![f32s.clone(), Shape::array(ElementType::S32, [2])]);
    vec![
        Computation::scalar(Op::Add, ElementType::F32),
        Computation::scalar(Op::And, ElementType::Pred),
        Computation::comparator(&[ElementType::S32], ComparisonDirection::Lt),
        Computation::comparator(&[], ComparisonDirection::Lt),
        Computation::of("nothing", &[], |b, _| b.tuple(&[])),
        Computation::of("vector", &[Shape::array(ElementType::F32, [3])], |_, p| p[0] * 2),
        Computation::of("state", &[state], |_, p| p[0]),
        Computation::of("swap", &[f32s.clone(), f32s], |b, p| b.tuple(&[p[1], p[0]])),
        broken,
    ]
}

/// Returns values of all types. Two of them belong to another computation.
fn values<'b>(b: &'b Builder, other: &'b Builder) -> Vec<Value<'b>> {
    let f32s = |dims: &[i64]| Shape::array(ElementType::F32, dims.iter().copied());
    let dynamic = ArrayShape::new(ElementType::F32, [3, 2]).with_dynamic([true, false]);
    let shapes = [
        f32s(&[]),
        f32s(&[3]),
        f32s(&[2, 3]),
        f32s(&[3, 3]),
        f32s(&[0, 3]),
        f32s(&[1, 1, 4, 4]),
        f32s(&[2, 1, 2, 1, 2]),
        f32s(&[1 << 20, 1 << 20]),
        Shape::scalar(ElementType::S32),
        Shape::array(ElementType::S32, [2]),
        Shape::scalar(ElementType::Pred),
        Shape::array(ElementType::Pred, [2, 3]),
        Shape::array(ElementType::C64, [4]),
        Shape::array(ElementType::U4, [4]),
        dynamic.into(),
        Shape::tuple(vec![]),
        Shape::tuple(vec![f32s(&[2]), f32s(&[2])]),
        Shape::tuple(vec![Shape::tuple(vec![f32s(&[])]), Shape::Token]),
        Shape::Token,
    ];
    let own = shapes.into_iter().enumerate().map(|(n, shape)| b.parameter(n as i64, shape, "p"));
    let mut values: Vec<Value<'b>> = own.collect();
    values.push(b.create_token());
    let foreign = other.constant_r0(1.0f32);
    values.extend([foreign, other.tuple(&[foreign])]);
    values
}

/// Calls a method with arguments from the given random seed and checks the result.
fn call(
    name: &str,
    method: Method,
    seed: u64,
    computations: &[Computation],
    messages: &mut BTreeSet<String>,
) -> bool {
    let (b, other) = (Builder::new("misused"), Builder::new("other"));
    let mut arguments =
        Arguments { b: &b, values: values(&b, &other), computations, numbers: Numbers::new(seed) };
    let value = method(&mut arguments);
    let is_made = value.shape().is_ok();
    assert!(is_made || !value.builder().errors().is_empty(), "{name}, seed {seed}: no value, and no error");
    if std::ptr::eq(value.builder(), &b) {
        let count = other.build().map(|m| m[m.entry()].instructions().len());
        assert_eq!(count, Ok(2), "{name}, seed {seed}: the other computation was changed");
    }
    for error in b.errors().iter().chain(&other.errors()) {
        assert!(!error.message.is_empty(), "{name}, seed {seed}");
        let is_placed = error.notes.iter().any(|note| note.contains("tests/suite/misuse.rs:"));
        assert!(is_placed, "{name}, seed {seed}: where? {error:?}");
        messages.insert(format!("{name}: {}", error.message));
    }
    let Ok(module) = b.build() else { return false };
    for &i in module[module.entry()].instructions() {
        let metadata = &module[i].common.as_ref().expect("metadata").metadata;
        let file = metadata.source_file.as_str().unwrap_or_default();
        let is_here = file.ends_with("misuse.rs") || (name == "with_metadata" && file.is_empty());
        assert!(is_here, "{name}, seed {seed}: {} is of {file}", module[i].name);
    }
    let text = print_module(&module, &PrintOptions::default()).to_string();
    let read =
        hlo_parser::parse_module(&text).unwrap_or_else(|e| panic!("{name}, seed {seed}: {e:?}\n{text}"));
    assert_eq!(read.difference(&module), None, "{name}, seed {seed}:\n{text}");
    // The computation is already built, so this call must not add anything.
    let _ = method(&mut arguments);
    true
}

#[test]
fn no_argument_makes_a_method_panic_and_each_error_says_where_it_was_made() {
    let rounds = std::env::var("HLO_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(60);
    let computations = computations();
    let mut messages = BTreeSet::new();
    let mut made: BTreeMap<&str, [u64; 2]> = BTreeMap::new();
    for (n, &(name, method)) in METHODS.iter().enumerate() {
        for round in 0..rounds {
            let is_valid = call(name, method, round * 1000 + n as u64, &computations, &mut messages);
            made.entry(name).or_default()[usize::from(is_valid)] += 1;
        }
    }
    // Some calls must be valid, so that the test does not repeat one error only. Most are invalid.
    let valid: u64 = made.values().map(|[_, valid]| valid).sum();
    let refused: u64 = made.values().map(|[refused, _]| refused).sum();
    assert!(valid * 20 > refused && refused > valid, "{valid} valid, {refused} refused");
    if std::env::var_os("HLO_SHOW").is_some() {
        messages.iter().for_each(|message| println!("{message}"));
        made.iter().for_each(|(name, [refused, valid])| println!("{name}: {refused} refused, {valid} valid"));
    }
}

#[test]
fn every_method_that_makes_a_value_is_misused() {
    let tried: BTreeSet<&str> = METHODS.iter().map(|(name, _)| *name).collect();
    // Methods that return no value, and methods that other tests cover.
    let others = [
        "Builder::new name raise_at_once sub_builder set_return_value errors build computation compute_constant",
        "compute_constant_in_layout is_constant replica_id partition_id outfeed trace metadata_scope sharding_scope",
        "line_scope reject nothing set_devices",
        "builder shape check_same_shape along limit_constants",
    ];
    let others: BTreeSet<&str> =
        others.iter().flat_map(|line| line.split(' ')).map(|n| n.trim_start_matches("Builder::")).collect();
    let elementwise = elementwise();
    let untried: Vec<String> = public_methods()
        .into_iter()
        .filter(|method| method.starts_with("Value::") || method.starts_with("Builder::"))
        .filter(|method| {
            let name = method.split("::").nth(1).unwrap_or_default();
            !tried.contains(name) && !others.contains(name) && !elementwise.contains(name)
        })
        .collect();
    assert!(untried.is_empty(), "{untried:?}");
}

/// Returns the elementwise methods that macros define. They all call `unary`, `binary` or `compare`.
fn elementwise() -> BTreeSet<&'static str> {
    "abs acos acosh asin asinh atanh cbrt ceil clz cos cosh erf exp expm1 floor imag is_finite log log1p logistic \
     population_count real round round_nearest_even rsqrt sign sin sinh sqrt tan tanh atan2 complex max min mulhi pow \
     shift_right_arithmetic shift_right_logical eq ne ge gt le lt eq_total_order ne_total_order ge_total_order \
     gt_total_order le_total_order lt_total_order"
        .split_whitespace()
        .collect()
}
