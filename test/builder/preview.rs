//! The programs and control flow of the XLA preview, in Rust.

use super::{Example, both, f32s};
use hlo_builder::{Builder, Computation, Padding, Value};
use hlo_client::{Client, ClientOptions, CompileOptions, ENGINES};
use hlo_custom_call::Registry;
use hlo_ir::{ElementType, Literal, Op, Shape};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// "Getting started - basic example": `ComputeAxpyParameters`.
#[test]
fn axpy_of_parameters() {
    let [alpha, x, y] = [Literal::r0(2.0f32), Literal::r1(&[1.0f32; 10]), Literal::r1(&[3.0f32; 10])];

    let builder = Builder::new("axpy");
    let param_alpha = builder.parameter(0, alpha.shape().clone(), "alpha");
    let param_x = builder.parameter(1, x.shape().clone(), "x");
    let param_y = builder.parameter(2, y.shape().clone(), "y");
    let axpy = param_alpha * param_x + param_y;
    // "Only the shapes of input nodes have to be provided explicitly - the rest is automatically inferred."
    assert_eq!(axpy.shape().unwrap(), f32s(&[10]));
    let computation = builder.build().unwrap();

    let client = Client::local();
    let program = client.compile(&computation, &CompileOptions::default()).unwrap();
    let [alpha_data, x_data, y_data] = [&alpha, &x, &y].map(|value| client.transfer_to(value).unwrap());
    let result = program.execute(&[&alpha_data, &x_data, &y_data], Default::default()).unwrap();
    assert_eq!(client.transfer_from(&result[0]).unwrap().elements::<f32>(), [5.0; 10]);

    for (engine, result) in both(&computation, &[alpha, x, y]) {
        assert_eq!(result.elements::<f32>(), [5.0; 10], "{engine}");
    }
}

/// "Constants vs. parameters": `ComputeAxpyConstants`.
#[test]
fn axpy_of_constants() {
    let (alpha, x, y) = (2.0f32, [1.0f32, 2.0, 3.0], [10.0f32, 20.0, 30.0]);

    let builder = Builder::new("axpy");
    let constant_alpha = builder.constant_r0(alpha);
    let constant_x = builder.constant_r1(&x);
    let constant_y = builder.constant_r1(&y);
    let axpy = constant_alpha * constant_x + constant_y;
    assert!(builder.is_constant(axpy));
    let computation = builder.build().unwrap();

    let client = Client::local();
    let program = client.compile(&computation, &CompileOptions::default()).unwrap();
    let result = client.execute_and_transfer(&program, &[]).unwrap();
    assert_eq!(result.elements::<f32>(), [12.0, 24.0, 36.0]);

    for (engine, result) in both(&computation, &[]) {
        assert_eq!(result.elements::<f32>(), [12.0, 24.0, 36.0], "{engine}");
    }
}

/// "ReduceWindow": the snippet `reduce_window_2x3`, on a matrix with the numbers from 1 to 24.
#[test]
fn reduce_window_2x3() {
    let max = {
        let builder = Builder::new("max");
        let y = builder.parameter(0, f32s(&[]), "y");
        let x = builder.parameter(1, f32s(&[]), "x");
        let _ = y.max(x);
        builder.computation()
    };

    let builder = Builder::new("reduce_window_2x3");
    let input = builder.parameter(0, f32s(&[4, 6]), "input");
    let _ = input.reduce_window(f32::MIN_POSITIVE, &max, &[2, 3], &[2, 3], Padding::Valid);
    let computation = builder.build().unwrap();

    let numbers: Vec<f32> = (1..=24u8).map(f32::from).collect();
    let input = Literal::from_values(&[4, 6], &numbers).unwrap();
    for (engine, result) in both(&computation, &[input]) {
        assert_eq!(result, Literal::r2(&[[9.0f32, 12.0], [21.0, 24.0]]), "{engine}");
    }
}

/// "While": the pseudocode, with an `int32`, a vector of 10 elements, and 1000 iterations.
#[test]
fn a_loop_adds_a_constant_vector_a_thousand_times() {
    let state = Shape::tuple(vec![Shape::scalar(ElementType::S32), f32s(&[10])]);
    let condition = Computation::of("condition", std::slice::from_ref(&state), |_, result| {
        result[0].get_tuple_element(0).lt(1000)
    });
    let body = Computation::of("body", &[state], |b, result| {
        let iteration = result[0].get_tuple_element(0) + 1;
        let new_vector = result[0].get_tuple_element(1) + b.constant_r1_filled(10, 0.5f32);
        b.tuple(&[iteration, new_vector])
    });

    let e = Example::new("loop");
    let init = e.tuple(&[e.constant_r0(0i32), e.constant_r1_filled(10, 0.0f32)]);
    let result = e.while_loop(&condition, &body, init);
    e.gives(&[
        (result.get_tuple_element(0), Literal::r0(1000i32)),
        (result.get_tuple_element(1), Literal::r1(&[500.0f32; 10])),
    ]);
}

/// "Infeed": two loops that read. The second starts with the result of the first, so that their reads are in
/// order. An infeed of an empty tuple reads nothing.
#[test]
fn infeeds_of_two_loops_are_in_a_total_order() {
    let data = Shape::array(ElementType::S32, [3]);
    let state = Shape::tuple(vec![Shape::scalar(ElementType::S32), data.clone(), Shape::Token]);
    let fewer_than = |count: i32| {
        Computation::of("condition", std::slice::from_ref(&state), |_, s| s[0].get_tuple_element(0).lt(count))
    };
    let reading = |op: Op, reads_nothing: bool| {
        Computation::of("body", std::slice::from_ref(&state), |b, s| {
            let [count, all, token] = [0, 1, 2].map(|n| s[0].get_tuple_element(n));
            let read = b.infeed_with_token(token, data.clone(), "");
            let mut after = read.get_tuple_element(1);
            if reads_nothing {
                after = b.infeed_with_token(after, Shape::tuple(vec![]), "").get_tuple_element(1);
            }
            b.tuple(&[count + 1, all.binary(op.clone(), read.get_tuple_element(0)), after])
        })
    };

    let b = Builder::new("infeeds");
    let init = b.tuple(&[b.constant_r0(0i32), b.constant_r1(&[0i32; 3]), b.create_token()]);
    let result1 = b.while_loop(&fewer_than(1), &reading(Op::Add, false), init);
    let result2 = b.while_loop(&fewer_than(3), &reading(Op::Multiply, true), result1);
    b.set_return_value(result2.get_tuple_element(1));
    assert_reads(&b, &["s32[3] {1,2,3}", "s32[3] {2,4,6}", "s32[3] {1,2,3}"], "s32[3] {2, 16, 54}");
}

/// "Infeed(shape)" without tokens: the program reads the items that the host writes, in program order.
#[test]
fn infeeds_without_tokens_happen_in_the_order_of_the_program() {
    let b = Builder::new("infeeds");
    let shape = Shape::array(ElementType::S32, [2]);
    let (first, second) = (b.infeed(shape.clone()), b.infeed(shape));
    let _ = first - second;
    assert_reads(&b, &["s32[2] {10,20}", "s32[2] {1,2}"], "s32[2] {9, 18}");
}

/// Runs a program with `hlo-run` and compares what it reads. Another program writes the items of the infeed
/// with its outfeed.
#[track_caller]
fn assert_reads(b: &Builder, items: &[&str], expected: &str) {
    let module = b.build().unwrap_or_else(|e| panic!("{e}"));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("builder-infeed-{}", items.len()));
    std::fs::create_dir_all(&folder).unwrap();
    let writer = Builder::new("writer");
    for n in 0..items.len() as i64 {
        let shape = Shape::array(ElementType::S32, [if items.len() == 2 { 2 } else { 3 }]);
        writer.outfeed(writer.parameter(n, shape, "item"));
    }
    let mut write = hlo_run(&folder.join("writer.hlo"), &writer.build().unwrap());
    for item in items {
        write.args(["--input", item]);
    }
    let output = write.args(["--quiet", "--outfeed"]).arg(&folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));

    let mut read = hlo_run(&folder.join("reader.hlo"), &module);
    read.arg("--infeed");
    for n in 0..items.len() {
        read.arg(folder.join(format!("outfeed_{n}.npy")));
    }
    let output = read.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stdout).contains(expected), "{output:?}");
}

/// Returns the `hlo-run` command for a module, with both engines if available.
fn hlo_run(file: &Path, module: &hlo_ir::Module) -> std::process::Command {
    let text = hlo_ir::print::print_module(module, &hlo_ir::print::PrintOptions::default()).to_string();
    std::fs::write(file, text).unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_hlo-run"));
    command.arg(file).arg(if cfg!(feature = "codegen") { "--engine=both" } else { "--engine=eval" });
    command
}

/// "C++ interface": the behavior that the comments of `ComputationBuilder` promise.
#[test]
fn the_interface_does_what_its_comments_say() {
    let e = Example::new("interface");
    assert_eq!(e.name(), "interface");
    let x = e.given(Literal::r2(&[[1.0f32, 4.0], [9.0, 16.0]]));
    assert_eq!(x.check_shape(&f32s(&[2, 2])).shape().unwrap(), f32s(&[2, 2]));
    x.check_same_shape(x + 1);
    // The table of native types.
    let native: [(Value<'_>, ElementType); 7] = [
        (e.constant_r0(true), ElementType::Pred),
        (e.constant_r0(1i32), ElementType::S32),
        (e.constant_r0(1i64), ElementType::S64),
        (e.constant_r0(1u32), ElementType::U32),
        (e.constant_r0(1u64), ElementType::U64),
        (e.constant_r0(1f32), ElementType::F32),
        (e.constant_r0(1f64), ElementType::F64),
    ];
    for (value, element_type) in native {
        assert_eq!(value.shape().unwrap(), Shape::scalar(element_type));
    }
    // "x=256, y=2, z=2, p=32 can be collapsed to x=1024, y=32 by collapsing dims {0, 1, 2}."
    let large = e.constant_r0(0i32).broadcast(&[256, 2, 2, 32]);
    assert_eq!(large.collapse(&[0, 1, 2]).shape().unwrap(), Shape::array(ElementType::S32, [1024, 32]));
    // "slice(start={1, 1}, limit={2, 3}) => [ 5 6 ]"
    let hexadecimal = e.given(Literal::r2(&[[0i32, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]));

    let square_root = e.sub_builder("square_root");
    let _ = square_root.parameter(0, f32s(&[]), "x").sqrt();
    let square_root = square_root.computation();
    e.gives(&[
        (e.constant_r1_filled(3, 7i32), Literal::r1(&[7i32; 3])),
        (e.constant_r2(&[[1i32, 2], [3, 4]]), Literal::r2(&[[1i32, 2], [3, 4]])),
        (e.constant_array(&[1, 1, 1, 2], &[1i32, 2]), Literal::r4(&[[[[1i32, 2]]]])),
        (hexadecimal.slice(&[1, 1], &[2, 3], &[1, 1]), Literal::r2(&[[5i32, 6]])),
        (x.sqrt(), Literal::r2(&[[1.0f32, 2.0], [3.0, 4.0]])),
        (x.square(), Literal::r2(&[[1.0f32, 16.0], [81.0, 256.0]])),
        (x.reciprocal(), Literal::r2(&[[1.0f32, 0.25], [1.0 / 9.0, 0.0625]])),
        (x.clamp(2, 10), Literal::r2(&[[2.0f32, 4.0], [9.0, 10.0]])),
        (e.map(&[x], &square_root, &[]), Literal::r2(&[[1.0f32, 2.0], [3.0, 4.0]])),
    ]);
}

/// "SetReturnValue": the last value that was set is returned. Instructions that are added later do not
/// matter.
#[test]
fn the_return_value_need_not_be_the_last_one() {
    let b = Builder::new("returned");
    let x = b.constant_r0(3i32);
    b.set_return_value(x * 2);
    b.set_return_value(x * 3);
    let _ = x * 4;
    for (engine, result) in both(&b.build().unwrap(), &[]) {
        assert_eq!(result, Literal::r0(9i32), "{engine}");
    }
}

/// "Trace": "the computation will emit a logging message with the operand". Here the target is a function
/// that the program registers.
#[test]
fn a_traced_value_is_shown_when_the_program_gets_there() {
    let b = Builder::new("traced");
    let x = b.parameter(0, f32s(&[3]), "x");
    let doubled = x * 2;
    b.trace("doubled", doubled);
    let _ = doubled + 1;
    let module = b.build().unwrap();

    let seen = Arc::new(Mutex::new(Vec::new()));
    for &engine in ENGINES {
        let mut registry = Registry::new();
        let log = seen.clone();
        registry.set_tracer(move |tag, value| log.lock().unwrap().push((tag.to_owned(), value.clone())));
        let client =
            Client::new(&ClientOptions { custom_calls: registry, ..ClientOptions::default() }).unwrap();
        let options = CompileOptions { engine: Some(engine), ..CompileOptions::default() };
        let program = client.compile(&module, &options).unwrap();
        let result = program.run(&[Literal::r1(&[1.0f32, 2.0, 3.0])]).unwrap();
        assert_eq!(result.elements::<f32>(), [3.0, 5.0, 7.0]);
        let shown = ("doubled".to_owned(), Literal::r1(&[2.0f32, 4.0, 6.0]));
        assert_eq!(seen.lock().unwrap().drain(..).collect::<Vec<_>>(), [shown]);
    }
}
