//! Errors of computations: collected until the computation is built, each with its source line, or reported
//! immediately by a panic.

use hlo_builder::{BuildErrors, Builder, Computation, Padding, Value};
use hlo_ir::{ElementType, Layout, Literal, Op, Shape};
use std::panic::catch_unwind;

fn f32s(dims: &[i64]) -> Shape {
    Shape::array(ElementType::F32, dims.iter().copied())
}

/// Returns the messages of errors, each with its line number in this file.
fn lines(errors: &BuildErrors) -> Vec<(String, u32)> {
    let place = |note: &String| note.rsplit_once("errors.rs:")?.1.split(':').next()?.parse().ok();
    let line = |d: &hlo_ir::diag::Diag| d.notes.iter().find_map(place).unwrap_or_default();
    errors.diags().iter().map(|d| (d.message.clone(), line(d))).collect()
}

#[test]
fn errors_are_kept_until_the_end_each_with_its_line() {
    let b = Builder::new("wrong");
    let x = b.parameter(0, f32s(&[2, 3]), "x");
    let y = b.parameter(1, f32s(&[4]), "y");
    let first = line!() + 1;
    let sum = x + y;
    // Operations on a failed value report no further error.
    let product = sum * 2 - x;
    assert!(product.exp().shape().is_err());
    let second = line!() + 1;
    let _ = x.transpose(&[0, 0]);
    let _ = x.exp();
    let third = line!() + 1;
    let _ = y.reduce(0, &Computation::scalar(Op::Add, ElementType::F32), &[1]);
    let errors = b.build().expect_err("three errors");
    let found: Vec<u32> = lines(&errors).into_iter().map(|(_, line)| line).collect();
    assert_eq!(found, [first, second, third]);
}

#[test]
fn a_value_that_could_not_be_made_shows_why() {
    let b = Builder::new("wrong");
    let x = b.parameter(0, f32s(&[2]), "x");
    assert_eq!(x.shape().unwrap(), f32s(&[2]));
    let errors = x.dot(b.parameter(1, f32s(&[3]), "y")).shape().expect_err("no shape");
    assert_eq!(errors.diags().len(), 1);
    assert_eq!(errors.diags(), b.errors());
    let text = errors.to_string();
    assert!(text.contains("found 2 in dimension 0 of operand 0 and 3 in dimension 0 of operand 1"), "{text}");
    assert!(text.contains("\n  at ") && text.contains("errors.rs:"), "{text}");
}

#[test]
fn an_error_is_raised_at_once_if_asked() {
    let raised = |make: fn(&Builder)| {
        let panic = catch_unwind(|| {
            let b = Builder::new("strict");
            b.raise_at_once(true);
            make(&b);
        })
        .expect_err("it panics");
        panic.downcast_ref::<String>().cloned().expect("a message")
    };
    let line = line!() + 1;
    let message = raised(|b| drop(b.constant_r1(&[1.0f32]).reshape(&[2]).shape()));
    assert!(message.contains("reshape") && message.contains(&format!("errors.rs:{line}:")), "{message}");
    // Sub-builders inherit the setting of their parent.
    let message = raised(|b| drop(b.sub_builder("sub").constant_r0(1.0f32).get_tuple_element(0).shape()));
    assert!(message.contains("get-tuple-element"), "{message}");
    // The setting can be switched off again.
    let b = Builder::new("lenient");
    b.raise_at_once(true);
    b.raise_at_once(false);
    let _ = b.constant_r0(1.0f32).rev(&[3]);
    assert_eq!(b.errors().len(), 1);
}

#[test]
fn values_of_another_computation_are_refused() {
    let (a, b) = (Builder::new("a"), Builder::new("b"));
    let (x, y) = (a.constant_r0(1.0f32), b.constant_r0(1.0f32));
    let message = "a value of the computation `b` is no value of `a`";
    let _ = x + y;
    let _ = a.tuple(&[y]);
    a.set_return_value(y);
    let _ = a.call(&Computation::scalar(Op::Add, ElementType::F32), &[x, y]);
    let errors = a.build().expect_err("foreign values");
    assert_eq!(errors.diags().len(), 4, "{errors}");
    assert!(errors.diags().iter().all(|d| d.message == message), "{errors}");
    // The other builder is unchanged.
    assert!(b.build().is_ok());

    let (a, b) = (Builder::new("a"), Builder::new("b"));
    let x = a.constant_r0(1.0f32);
    assert!(!b.is_constant(x));
    let refused = b.compute_constant(x).expect_err("foreign");
    assert_eq!(refused.diags()[0].message, "a value of the computation `a` is no value of `b`");
}

#[test]
fn a_sub_builder_runs_on_as_many_devices() {
    let b = Builder::new("whole");
    b.set_devices(2, 3);
    let sub = b.sub_builder("part");
    let x = sub.parameter(0, Shape::array(ElementType::F32, [6]), "x");
    sub.set_return_value(x);
    let module = sub.build().expect("a module");
    assert_eq!((module.header.replica_count.0, module.header.num_partitions.0), (2, 3));
    b.set_devices(0, 1);
    b.parameter(0, Shape::array(ElementType::F32, [6]), "x");
    assert!(b.build().is_err(), "there is at least one replica");
}

#[test]
fn a_sub_builder_makes_a_computation_of_its_parent_only() {
    let b = Builder::new("outer");
    let x = b.parameter(0, f32s(&[4]), "x");
    let sub = b.sub_builder("halved");
    assert_eq!(sub.name(), "halved");
    let _ = sub.parameter(0, f32s(&[]), "e") * 0.5;
    let _ = b.map(&[x], &sub.computation(), &[]);
    let module = b.build().unwrap();
    assert_eq!(module.computations().count(), 2);
}

/// `BuildAndNoteError`: a caller of a computation that could not be built reports its errors once, even if it
/// calls it several times.
#[test]
fn errors_of_a_computation_are_those_of_its_caller() {
    let b = Builder::new("caller");
    let x = b.parameter(0, f32s(&[4]), "x");
    let sub = b.sub_builder("broken");
    let p = sub.parameter(0, f32s(&[]), "p");
    let line = line!() + 1;
    let _ = p.reshape(&[2]);
    let broken = sub.computation();
    for _ in 0..2 {
        let _ = b.map(&[x], &broken, &[]);
        assert!(b.call(&broken, &[x]).shape().is_err());
    }
    let found = lines(&b.build().expect_err("the computation's error"));
    assert_eq!(found.iter().map(|(_, line)| *line).collect::<Vec<_>>(), [line], "{found:?}");
    // Another caller reports them, too.
    let c = Builder::new("another");
    let _ = c.call(&broken, &[]);
    assert_eq!(lines(&c.build().expect_err("the same")), found);
}

#[test]
fn a_computation_is_built_once_and_has_a_result() {
    let b = Builder::new("empty");
    assert_eq!(
        b.build().expect_err("empty").diags()[0].message,
        "`empty` has no instruction, and so no result"
    );
    let b = Builder::new("twice");
    let x = b.constant_r0(1i32);
    assert!(b.build().is_ok());
    assert_eq!(b.build().expect_err("again").diags()[0].message, "`twice` was built before");
    // Values of a builder that was already built are invalid.
    let late = x + 1;
    for value in [x, late] {
        assert_eq!(value.shape().expect_err("late").diags()[0].message, "`twice` was built before");
    }
    assert!(b.compute_constant(x).is_err() && !b.is_constant(x));
    // Setting a name, metadata or a control dependency has no effect and does not panic.
    let _ = x.named("late").with_backend_config("late").after(x);
}

#[test]
fn parameters_have_the_numbers_from_zero_on_once() {
    let b = Builder::new("parameters");
    let _ = b.parameter(0, f32s(&[]), "x");
    let _ = b.parameter(0, f32s(&[]), "y");
    let _ = b.parameter(-1, f32s(&[]), "z");
    let errors = b.build().expect_err("numbers");
    let messages: Vec<&str> = errors.diags().iter().map(|d| d.message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "parameter 0 is there already, found another one, `y`",
            "parameters have numbers from 0 on, found -1 for `z`"
        ]
    );
    let b = Builder::new("gap");
    let _ = b.parameter(1, f32s(&[]), "x");
    let errors = b.build().expect_err("a gap");
    assert!(errors.to_string().contains("parameter") && errors.to_string().contains('0'), "{errors}");
}

/// A call that must fail, and its error message, which contains the expected and the actual value.
type Refusal = (for<'b> fn(&'b Builder, Value<'b>) -> Value<'b>, &'static str);

/// Calls on an array `f32[2,3]` that must fail.
const REFUSALS: &[Refusal] = &[
    (|_, x| x.get_tuple_element(0), "`get-tuple-element` needs a tuple as operand 0, found f32[2,3]"),
    (|b, x| b.tuple(&[x]).exp(), "`exponential` needs an array as operand 0, found (f32[2,3])"),
    (|b, x| b.tuple(&[x]) + 1, "`add` needs an array, found (f32[2,3])"),
    (|_, x| x.broadcast(&[-1]), "a size must be 0 or more, found -1 in dimension 0 of f32[-1,2,3]"),
    (
        |_, x| x.broadcast_in_dim(&[4, 3], &[0, 1]),
        "`broadcast` of f32[2,3] into sizes [4, 3] along [0, 1]: each dimension lies along one of the same size, or has size 1; they are in increasing order",
    ),
    (
        |_, x| x.reshape(&[7]),
        "`reshape` keeps the number of elements; the operand, f32[2,3], has 6, the written shape, f32[7], 7",
    ),
    (|_, x| x.reshape(&[i64::MAX, i64::MAX]), "`reshape` computes a size that does not fit 64 bits"),
    (|_, x| x.transpose(&[1]), "`transpose` needs 2 entries in `dimensions`, found 1"),
    (|_, x| x.slice(&[0], &[1], &[1]), "`slice` needs 2 entries in `slice`, found 1"),
    (
        |_, x| x.slice(&[0], &[1, 1], &[1]),
        "`slice` needs as many starts as limits and strides, found 1, 2 and 1",
    ),
    (|_, x| x.slice_in_dim(0, 1, 1, 2), "`slice` along dimension 2: f32[2,3] has 2 dimensions"),
    (|b, _| b.concat_in_dim(&[], 0), "`concatenate` takes at least 1 operand, found 0"),
    (|_, x| x & -x, "`and` works on pred, signed integers, unsigned integers; operand 0 is f32[2,3]"),
    (|_, x| x.complex(1).clamp(true, 1), "true is no value of type c64"),
    (|_, x| x.convert(ElementType::S32) + 0.5, "0.5 is no value of type s32"),
    (|_, x| x.convert(ElementType::U8) + 256, "256 is no value of type u8"),
    (|_, x| x.select(x, x), "`select` works on pred; operand 0 is f32[2,3]"),
    (
        |b, x| b.constant_r0(true).select(b.tuple(&[x]), 1),
        "`select` of a tuple needs another tuple, found a number",
    ),
    (|_, x| x.unary(Op::Add), "`add` is no unary elementwise operation"),
    (|_, x| x.binary(Op::concatenate(0), x), "`concatenate` is no binary elementwise operation"),
    (
        |b, x| b.constant_r1(&[true]).conditional(x, &negated(), x, &negated()),
        "`conditional` chooses by a pred[] or an s32[], found pred[1]",
    ),
    (
        |b, x| b.while_loop(&negated(), &negated(), x),
        "`while` passes f32[2,3] as argument 0 to `negated` in `condition`, whose parameter 0 is f32[]; `while` passes f32[2,3] as argument 0 to `negated.1` in `body`, whose parameter 0 is f32[]",
    ),
    (
        |b, x| b.call(&negated(), &[x, x]),
        "`call` needs a computation of 2 parameters in `to_apply`, but `negated` has 1",
    ),
    (
        |_, x| x.dot(x),
        "`dot` needs one size for the contracting dimensions, found 3 in dimension 1 of operand 0 and 2 in dimension 0 of operand 1",
    ),
    (
        |_, x| x.sort_by(&negated(), 0, true),
        "`sort` needs a computation of 2 parameters in `to_apply`, but `negated` has 1",
    ),
    (|_, x| x.top_k(4, true), "`topk` asks for 4 of 3 elements in `k`"),
    (|b, x| b.map(&[x], &negated(), &[x]), "static operand 0 of `map` must be a scalar, found f32[2,3]"),
    (|b, _| b.constant_array(&[2, 2], &[1i32]), "a constant of sizes [2, 2] can't have 1 elements"),
    (
        |b, x| b.rng_bernoulli(x, hlo_ir::ArrayShape::new(ElementType::U32, [2])),
        "the mean of a Bernoulli distribution is a floating-point scalar, found f32[2,3]",
    ),
    (
        |b, x| x.after(x).add_dependency(b.constant_r0(1i32)),
        "a value can only come after one that was added to the same computation before",
    ),
];

fn negated() -> Computation {
    Computation::of("negated", &[f32s(&[])], |_, p| -p[0])
}

#[test]
fn messages_name_what_was_expected_and_found() {
    let mut found = Vec::new();
    for (make, _) in REFUSALS {
        let b = Builder::new("refused");
        let x = b.parameter(0, f32s(&[2, 3]), "x");
        assert!(make(&b, x).shape().is_err());
        let messages: Vec<String> = b.errors().into_iter().map(|d| d.message).collect();
        found.push(messages.join("; "));
    }
    let expected: Vec<&str> = REFUSALS.iter().map(|(_, message)| *message).collect();
    assert_eq!(found, expected);
}

#[test]
fn what_depends_on_a_parameter_is_no_constant() {
    let b = Builder::new("constants");
    let x = b.parameter(0, f32s(&[3]), "x");
    let sizes = b.constant_r1(&[2i32, 3, 4]);
    let product = sizes.reduce(1, &Computation::scalar(Op::Multiply, ElementType::S32), &[0]);
    assert!(b.is_constant(product));
    assert_eq!(b.compute_constant(product).unwrap(), Literal::r0(24i32));

    let sum = (x * 2 + 1).reduce_all(0, &Computation::scalar(Op::Add, ElementType::F32)).named("sum");
    assert!(!b.is_constant(sum));
    let line = line!() + 1;
    let refused = b.compute_constant(sum).expect_err("it depends on x");
    let message = "`sum` is not constant: it depends on parameter 0 (`x`)".to_owned();
    assert_eq!(lines(&refused), [(message, line)]);
    // A failed query adds no error to the computation. The sizes of a parameter are constant; its elements
    // are not.
    assert!(b.errors().is_empty());
    b.build().unwrap();
}

#[test]
fn what_comes_from_outside_is_no_constant_but_random_numbers_are() {
    let b = Builder::new("outside");
    let outside = [
        b.infeed(Shape::scalar(ElementType::S32)),
        b.replica_id(),
        b.custom_call("f", &[], Shape::scalar(ElementType::S32)),
        b.constant_r0(1.0f32)
            .all_reduce(&Computation::scalar(Op::Add, ElementType::F32), &hlo_builder::Participants::all()),
    ];
    for value in outside {
        assert!(!b.is_constant(value));
        let refused = b.compute_constant(value).expect_err("not known").to_string();
        assert!(refused.contains("is not constant: it depends on `"), "{refused}");
    }
    // The same applies inside a called computation.
    let asks = Computation::of("asks", &[], |b, _| b.replica_id());
    assert!(!b.is_constant(b.call(&asks, &[])));
    // "In that case you may receive different values if you call this method several times."
    let random = b.rng_uniform(0, 1, hlo_ir::ArrayShape::new(ElementType::F32, [4]));
    assert!(b.is_constant(random));
    let [first, second] = [0, 1].map(|_| b.compute_constant(random).unwrap());
    assert_ne!(first, second);
}

#[test]
fn a_constant_that_takes_too_long_is_an_error() {
    let b = Builder::new("endless");
    let number = [Shape::scalar(ElementType::S32)];
    let always = Computation::of("always", &number, |b, _| b.constant_r0(true));
    let next = Computation::of("next", &number, |_, p| p[0] + 1);
    let endless = b.while_loop(&always, &next, b.constant_r0(0i32)).named("endless");
    // A value that depends on nothing outside need not be computable.
    assert!(b.is_constant(endless));
    let line = line!() + 1;
    let refused = b.compute_constant(endless).expect_err("it has no end");
    let message = |limit: u64| {
        format!(
            "`endless` can't be computed: the evaluation takes more than the {limit} operations that it may use"
        )
    };
    assert_eq!(lines(&refused), [(message(100_000_000), line)]);
    b.limit_constants(Some(1000));
    let refused = b.compute_constant_in_layout(endless, &Layout::new([])).expect_err("it has no end");
    assert_eq!(refused.diags()[0].message, message(1000));
    // Sub-builders inherit the limit.
    let sub = b.sub_builder("large");
    let sum =
        |b: &Builder| b.compute_constant(b.constant_r1_filled(2000, 1i32) + 1).map(|sum| sum.elements()[0]);
    assert!(sum(&sub).is_err());
    sub.limit_constants(None);
    assert_eq!(sum(&sub), Ok(2));
}

#[test]
fn a_constant_is_computed_in_a_layout() {
    let b = Builder::new("layout");
    let x = b.constant_r2(&[[1i32, 2, 3], [4, 5, 6]]);
    let columns = Layout::new([0, 1]);
    let found = b.compute_constant_in_layout(x + 1, &columns).unwrap();
    assert_eq!(found.shape().with_layouts().to_string(), "s32[2,3]{0,1}");
    assert_eq!(found.elements::<i32>(), [2, 3, 4, 5, 6, 7]);
    let refused = b.compute_constant_in_layout(b.constant_r0(1i32), &columns).expect_err("a scalar");
    assert_eq!(
        refused.diags()[0].message,
        "s32[] has no layout {0,1}: one has each of the 0 dimensions once"
    );
    let refused = b.compute_constant_in_layout(x, &Layout::new([1, 1])).expect_err("no order");
    assert_eq!(
        refused.diags()[0].message,
        "s32[2,3] has no layout {1,1}: one has each of the 2 dimensions once"
    );
}

#[test]
fn windows_of_other_ranks_are_refused() {
    let b = Builder::new("windows");
    let x = b.parameter(0, f32s(&[4, 4]), "x");
    let add = Computation::scalar(Op::Add, ElementType::F32);
    let _ = x.reduce_window(0, &add, &[2], &[2, 2], Padding::Same);
    let _ = x.reduce_window(0, &add, &[2, 2], &[2], Padding::Same);
    let _ = x.reduce_window(0, &add, &[2, 2], &[2, 2], [(0, 0)]);
    let messages: Vec<String> = b.errors().into_iter().map(|d| d.message).collect();
    assert_eq!(
        messages,
        [
            "the window needs a size for each of the 2 dimensions of f32[4,4], found 1",
            "the window has 2 dimensions, but there are 1 strides",
            "the window has 2 dimensions, but there are 1 padding amounts",
        ]
    );
}
