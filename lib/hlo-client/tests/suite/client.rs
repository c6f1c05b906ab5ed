//! Programs compiled and run from Rust, on both engines.

use hlo_client::{Buffer, Client, ClientOptions, CompileOptions, ENGINES, Engine, Error, Passes, RunOptions};
use hlo_custom_call::Registry;
use hlo_ir::host::Queues;
use hlo_ir::watch::Watch;
use hlo_ir::{ElementType, Literal, Shape};
use std::sync::Arc;
use std::time::Duration;

/// Returns options for each engine of this build.
fn engines() -> Vec<CompileOptions> {
    let options = |&engine| CompileOptions { engine: Some(engine), threads: 2, ..CompileOptions::default() };
    ENGINES.iter().map(options).collect()
}

fn vector(values: &[f32]) -> Literal {
    Literal::from_elements(Shape::array(ElementType::F32, [values.len() as i64]), values)
}

fn compile(text: &str, options: &CompileOptions) -> hlo_client::Executable {
    Client::local().compile_text(text, options).unwrap_or_else(|e| panic!("{e:?}"))
}

const ROTATE: &str =
    "HloModule m, entry_computation_layout={(f32[2,3]{0,1}, f32[])->(f32[3,2]{1,0}, f32[2,3]{0,1})}
ENTRY e {
  x = f32[2,3]{0,1} parameter(0)
  a = f32[] parameter(1)
  b = f32[2,3]{0,1} broadcast(a), dimensions={}
  p = f32[2,3]{0,1} multiply(x, b)
  t = f32[3,2]{1,0} transpose(p), dimensions={1,0}
  ROOT r = (f32[3,2]{1,0}, f32[2,3]{0,1}) tuple(t, p)
}";

#[test]
fn arrays_lie_as_the_module_says() {
    for options in engines() {
        let program = compile(ROTATE, &options);
        let x = Literal::from_elements(Shape::array(ElementType::F32, [2, 3]), &[1f32, 2., 3., 4., 5., 6.]);
        let x = Buffer::from_literal(&x, &program.parameters()[0]).unwrap();
        let floats = |b: &Buffer| -> Vec<f32> { b.elements::<f32>().unwrap().to_vec() };
        assert_eq!(floats(&x), [1., 4., 2., 5., 3., 6.]);
        let two =
            Buffer::from_literal(&Literal::scalar(ElementType::F32, 2f32), &program.parameters()[1]).unwrap();
        let results = program.execute(&[&x, &two], RunOptions::default()).unwrap();
        // The results are transposes of each other, with the same elements in memory.
        assert_eq!(floats(&results[0]), [2., 8., 4., 10., 6., 12.]);
        assert_eq!(floats(&results[1]), floats(&results[0]));
        // A result can be the argument of another run.
        let again = program.execute(&[&results[1], &two], RunOptions::default()).unwrap();
        let value = program.value(again).unwrap();
        assert_eq!(value.tuple_elements()[1].elements::<f32>(), [4., 8., 12., 16., 20., 24.]);
    }
}

#[test]
fn values_that_lie_row_major_are_not_copied() {
    let value = vector(&[1.0, 2.0]);
    let buffer = Buffer::from_literal(&value, value.shape()).unwrap();
    assert_eq!(buffer.bytes().unwrap().as_ptr(), value.bytes().as_ptr());
    assert!(buffer.into_literal().unwrap().shares_storage(&value));
}

#[test]
fn results_are_written_where_they_were_unless_somebody_has_them() {
    let options = CompileOptions::default();
    if ENGINES[0] == Engine::Interpreted {
        return;
    }
    let program =
        compile("HloModule m ENTRY e { x = f32[4] parameter(0) ROOT y = f32[4] negate(x) }", &options);
    let x = Buffer::from_literal(&vector(&[1., 2., 3., 4.]), &program.parameters()[0]).unwrap();
    let mut room = program.allocate_results().unwrap();
    let mut run = |x: &Buffer| {
        let arguments = program.arguments(&[x]).unwrap();
        program.execute_into(&arguments, &mut room, RunOptions::default()).unwrap();
        room.buffers()[0].clone()
    };
    let first = run(&x).bytes().unwrap().as_ptr();
    let kept = run(&x);
    assert_eq!(kept.bytes().unwrap().as_ptr(), first);
    let other = run(&kept);
    assert_ne!(other.bytes().unwrap().as_ptr(), first);
    assert_eq!(kept.into_literal().unwrap().elements::<f32>(), [-1., -2., -3., -4.]);
    assert_eq!(other.into_literal().unwrap().elements::<f32>(), [1., 2., 3., 4.]);
}

const SIZES: &str = "HloModule m
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
ENTRY e {
  x = f32[<=5] parameter(0)
  y = f32[<=5] parameter(1)
  z = f32[] constant(0)
  p = f32[<=5] add(x, y)
  s = f32[] reduce(p, z), dimensions={0}, to_apply=add
  ROOT r = (f32[], f32[<=5]) tuple(s, p)
}";

#[test]
fn sizes_that_are_known_at_run_time_only_are_those_of_the_arguments() {
    for options in engines() {
        let program = compile(SIZES, &options);
        assert_eq!(program.parameters().len(), 2);
        let result = program.run(&[vector(&[1., 2., 3.]), vector(&[10., 20., 30.])]).unwrap();
        let [sum, values] = result.tuple_elements() else { panic!("{result:?}") };
        assert_eq!((sum.elements::<f32>(), values.elements::<f32>()), (&[66.][..], &[11., 22., 33.][..]));
        let apart = program.run(&[vector(&[1., 2., 3.]), vector(&[1., 2.])]);
        let error = apart.unwrap_err();
        assert!(error == Error::Sizes || options.engine == Some(Engine::Interpreted), "{error:?}");
        let large = program.run(&[vector(&[0.; 6]), vector(&[0.; 6])]).unwrap_err().to_string();
        assert_eq!(large, "expected a value of shape f32[<=5], found one of f32[6]");
    }
}

#[test]
fn arrays_of_another_program_are_refused() {
    for options in engines() {
        let program = |shape: &str| {
            let text =
                format!("HloModule m ENTRY e {{ x = {shape} parameter(0) ROOT y = {shape} negate(x) }}");
            compile(&text, &options)
        };
        let (two, three, whole) = (program("f32[2]"), program("f32[3]"), program("s32[3]"));
        let run = |program: &hlo_client::Executable, value: &Literal| {
            let client = Client::local();
            let x = client.transfer_to_layout(value, &program.parameters()[0]).unwrap();
            let arguments = program.arguments(&[&x]).unwrap();
            let mut results = program.allocate_results().unwrap();
            program.execute_into(&arguments, &mut results, RunOptions::default()).map(|()| results)
        };
        let (small, large) = (vector(&[1., 2.]), vector(&[1., 2., 3.]));
        let refused = |result: Result<Vec<Buffer>, Error>| result.unwrap_err().to_string();
        assert_eq!(
            refused(three.leaves(run(&two, &small).unwrap())),
            "leaf 0 of the result: expected an array of shape f32[3], found f32[2]"
        );
        assert!(
            refused(whole.leaves(run(&three, &large).unwrap())).contains("expected an array of shape s32[3]")
        );
        // A run does not write to the results of another program either.
        let x = Client::local().transfer_to(&large).unwrap();
        let mut foreign = run(&two, &small).unwrap();
        let arguments = three.arguments(&[&x]).unwrap();
        let outcome = three.execute_into(&arguments, &mut foreign, RunOptions::default());
        assert!(outcome.is_err() || three.leaves(foreign).is_ok());
        let leaves = || two.leaves(run(&two, &small).unwrap()).unwrap();
        assert_eq!(
            three.value(leaves()).unwrap_err().to_string(),
            "leaf 0 of the result: expected an array of shape f32[3], found f32[2]"
        );
        assert_eq!(
            two.value(Vec::new()).unwrap_err().to_string(),
            "expected 1 arrays, one for each leaf of the result, found 0"
        );
        assert_eq!(two.value(leaves()).unwrap().elements::<f32>(), [-1., -2.]);
    }
}

/// A budget that allows a fixed number of checks.
#[derive(Debug)]
struct Countdown(std::sync::atomic::AtomicI64);

impl hlo_client::Budget for Countdown {
    fn check(&self, _: u64) -> Result<(), String> {
        match self.0.fetch_sub(1, std::sync::atomic::Ordering::Relaxed) {
            left if left > 0 => Ok(()),
            _ => Err("the budget is used up".into()),
        }
    }
}

#[test]
fn a_compilation_ends_with_its_budget() {
    let text = "HloModule m
ENTRY e {
  x = f32[64] parameter(0)
  a = f32[64] negate(x)
  b = f32[64] exponential(a)
  ROOT c = f32[64] add(b, a)
}";
    let module = hlo_parser::parse_module(text).unwrap();
    for options in engines() {
        let endless = "fix{limit=1024}(".repeat(20) + "fusion,defuser" + &")".repeat(20);
        for (passes, is_endless) in [(Passes::Default, false), (Passes::Pipeline(endless), true)] {
            let options = CompileOptions { passes, ..options.clone() };
            let compile = |budget: i64| {
                let budget: Arc<dyn hlo_client::Budget> = Arc::new(Countdown(budget.into()));
                Client::local().compile_within(&module, &options, &budget)
            };
            assert_eq!(compile(1 << 10).is_ok(), !is_endless);
            // A compilation ends wherever the budget runs out. Interpreting needs no budget.
            let ends = [0, 1, 2, 5, 10, 50].map(|budget| match compile(budget) {
                Ok(_) => String::new(),
                Err(e) => e.to_string(),
            });
            let compiles = options.engine == Some(Engine::Compiled) || is_endless;
            assert_eq!(&*ends[0], if compiles { "the budget is used up" } else { "" });
            assert!(ends.iter().all(|e| e.is_empty() || e == "the budget is used up"), "{ends:?}");
        }
    }
}

#[test]
fn passes_are_as_the_options_say() {
    let text = "HloModule m
ENTRY e { x = f32[] parameter(0) y = f32[] negate(x) ROOT z = f32[] negate(y) }";
    for options in engines() {
        let count = |passes: Passes| {
            let program = compile(text, &CompileOptions { passes, ..options.clone() });
            assert_eq!(
                program.run(&[Literal::scalar(ElementType::F32, 3f32)]).unwrap().elements::<f32>(),
                [3.]
            );
            let module = program.module().unwrap();
            module[module.entry()].instructions().len()
        };
        assert_eq!(count(Passes::Lowering), 3);
        assert_eq!(count(Passes::Pipeline("algsimp,dce".into())), 1);
        assert_eq!(count(Passes::Default), if options.engine == Some(Engine::Interpreted) { 3 } else { 1 });
    }
}

#[test]
fn programs_run_in_several_threads_at_once() {
    for options in engines() {
        let text = "HloModule m ENTRY e { x = f32[1000] parameter(0) ROOT y = f32[1000] multiply(x, x) }";
        let program = compile(text, &options);
        std::thread::scope(|scope| {
            for t in 0..4 {
                let program = program.clone();
                scope.spawn(move || {
                    for i in 0..20 {
                        let number = (t * 100 + i) as f32;
                        let result = program.run(&[vector(&[number; 1000])]).unwrap();
                        assert_eq!(result.elements::<f32>(), [number * number; 1000]);
                    }
                });
            }
        });
    }
}

#[test]
fn transfers_take_a_host_and_errors_have_places() {
    let text = "HloModule m
ENTRY e {
  t = token[] after-all()
  f = (s32[2], token[]) infeed(t)
  ROOT x = s32[2] get-tuple-element(f), index=0
}";
    for options in engines() {
        let program = compile(text, &options);
        let item = Literal::from_elements(Shape::array(ElementType::S32, [2]), &[5i32, 6]);
        let mut host = Queues::with_infeed([item]);
        let run = RunOptions { host: Some(&mut host), ..RunOptions::default() };
        assert_eq!(program.value(program.execute(&[], run).unwrap()).unwrap().elements::<i32>(), [5, 6]);
        let Err(Error::Diags(diags)) = program.execute(&[], RunOptions::default()) else {
            panic!("no error")
        };
        let place = diags[0].primary().map(|label| label.span.range()).unwrap_or_default();
        assert!(text[place].starts_with("f = (s32[2], token[]) infeed"), "{diags:?}");
    }
    let wrong = "HloModule m\nENTRY e { ROOT x = f32[2] add(x, x) }";
    assert!(matches!(Client::local().compile_text(wrong, &CompileOptions::default()), Err(Error::Diags(_))));
}

#[test]
fn a_run_that_is_watched_can_be_stopped() {
    let text = "HloModule m
same { s = s32[] parameter(0) }
always { s = s32[] parameter(0) ROOT p = pred[] constant(true) }
ENTRY e { z = s32[] constant(0) ROOT w = s32[] while(z), condition=always, body=same }";
    for options in engines() {
        let options = CompileOptions { passes: Passes::Lowering, ..options };
        let program = compile(text, &options);
        let watch = Arc::new(Watch::default());
        watch.stop();
        let run = RunOptions { watch: Some(watch), ..RunOptions::default() };
        let error = program.execute(&[], run).unwrap_err();
        assert!(matches!(error, Error::Stopped { .. }));
        assert!(error.to_string().starts_with("the run was stopped, at `"), "{error}");
        let limit = Duration::from_millis(30);
        let run = RunOptions { time_limit: Some(limit), ..RunOptions::default() };
        let error = program.execute(&[], run).unwrap_err();
        assert!(matches!(error, Error::TimedOut { after, .. } if after == limit));
        assert!(error.to_string().starts_with("the run was stopped after 30ms, its limit, at `"), "{error}");
    }
}

#[test]
fn a_run_that_is_over_in_time_is_none_that_was_stopped() {
    for options in engines() {
        let program =
            compile("HloModule m ENTRY e { x = f32[2] parameter(0) ROOT y = f32[2] negate(x) }", &options);
        let x = program.buffers(&[vector(&[1., 2.])]).unwrap().remove(0);
        let watch = Arc::new(Watch::default());
        let run =
            RunOptions { watch: Some(watch.clone()), time_limit: Some(Duration::MAX), ..Default::default() };
        let results = program.execute(&[&x], run).unwrap();
        assert_eq!(results[0].elements::<f32>().unwrap(), [-1., -2.]);
        assert!(!watch.is_stopped());
    }
}

#[test]
fn wrong_passes_are_told() {
    let text = "HloModule m ENTRY e { ROOT x = f32[] parameter(0) }";
    let options = CompileOptions { passes: Passes::Pipeline("algsimq".into()), ..CompileOptions::default() };
    let Err(Error::Diags(diags)) = Client::local().compile_text(text, &options) else { panic!("no error") };
    assert!(diags[0].message.starts_with("passes: ") && diags[0].message.contains("algsimq"), "{diags:?}");
    // The error does not refer to a position in the module.
    assert!(diags[0].labels.is_empty());
}

#[test]
fn a_client_has_the_targets_of_custom_calls_that_it_is_given() {
    let text = r#"HloModule m ENTRY e { x = s32[2] parameter(0) ROOT t = s32[2] custom-call(x), custom_call_target="twice" }"#;
    let mut targets = Registry::new();
    targets.register("twice", |call| {
        let doubled: Vec<i32> = call.operand::<i32>(0)?.iter().map(|x| 2 * x).collect();
        call.result::<i32>(0)?.copy_from_slice(&doubled);
        Ok(())
    });
    let client = Client::new(&ClientOptions { custom_calls: targets, ..ClientOptions::default() }).unwrap();
    for options in engines() {
        let program = client.compile_text(text, &options).unwrap();
        assert_eq!(program.run(&[Literal::r1(&[1i32, 5])]).unwrap().elements::<i32>(), [2, 10]);
    }
}

#[test]
fn custom_calls_have_lapack_in_both_engines() {
    let text = r#"HloModule m
ENTRY e {
  a = f32[2,2]{0,1} parameter(0)
  c = (f32[2,2]{0,1}, s32[]) custom-call(a), custom_call_target="lapack_spotrf_ffi", operand_layout_constraints={f32[2,2]{0,1}}, api_version=API_VERSION_TYPED_FFI, backend_config={uplo = 76 : ui8}
  ROOT i = s32[] get-tuple-element(c), index=1
}"#;
    for options in engines() {
        let program = compile(text, &options);
        let a = Literal::from_elements(Shape::array(ElementType::F32, [2, 2]), &[4f32, 0., 0., -1.]);
        assert_eq!(program.run(&[a]).unwrap().elements::<i32>(), [2]);
    }
}

/// All public types may be sent to other threads.
#[test]
fn all_may_be_shared() {
    fn shared<T: Send + Sync>() {}
    shared::<Client>();
    shared::<CompileOptions>();
    shared::<hlo_client::Executable>();
    shared::<Buffer>();
    shared::<hlo_client::Arguments>();
    shared::<Error>();
}

#[test]
fn a_call_of_nobody_is_refused_before_it_runs() {
    let client = Client::local();
    for &engine in ENGINES {
        // A branch that is not taken is checked, but a computation that is never called is not.
        let text = "HloModule m
left_over { x = f32[] parameter(0) ROOT y = f32[] custom-call(x), custom_call_target=\"nobody\" }
a { x = f32[] parameter(0) ROOT y = f32[] custom-call(x), custom_call_target=\"somebody\" }
b { x = f32[] parameter(0) ROOT y = f32[] negate(x) }
ENTRY e { p = pred[] parameter(1) x = f32[] parameter(0)
  ROOT c = f32[] conditional(p, x, x), true_computation=a, false_computation=b }";
        let options =
            CompileOptions { engine: Some(engine), passes: Passes::Lowering, ..CompileOptions::default() };
        let refused = client.compile_text(text, &options).expect_err("an error").to_string();
        assert!(refused.contains("unknown custom call target `somebody`"), "{engine:?}: {refused}");
    }
}

/// Calls `body` on a thread that flushes subnormal numbers to zero, as threads of other libraries may.
#[cfg(target_arch = "x86_64")]
fn flushing<T: Send>(body: impl FnOnce() -> T + Send) -> T {
    use std::arch::asm;
    let flush = || {
        let mut mode = 0u32;
        // SAFETY: the instruction writes four bytes to `mode`.
        unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut mode, options(nostack)) };
        mode |= 0x8040;
        // SAFETY: the instruction reads four bytes from `mode`. The thread ends in this mode.
        unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const mode, options(nostack)) };
    };
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            flush();
            let value = body();
            let product = std::hint::black_box(1e-40f32) * std::hint::black_box(1.5);
            assert_eq!(std::hint::black_box(product).to_bits(), 0, "the thread has its own mode back");
            value
        });
        thread.join().expect("no panic")
    })
}

#[cfg(target_arch = "x86_64")]
#[test]
fn results_do_not_depend_on_the_mode_for_floats_of_the_callers_thread() {
    let text = "HloModule m
ENTRY e {
  x = f32[300000] parameter(0)
  a = f32[] constant(1e-40)
  b = f32[] constant(1.5)
  c = f32[] multiply(a, b)
  each = f32[300000] broadcast(b), dimensions={}
  y = f32[300000] multiply(x, each)
  ROOT t = (f32[300000], f32[]) tuple(y, c)
}";
    let expected = (1e-40f32 * std::hint::black_box(1.5)).to_bits();
    let x = vector(&vec![1e-40; 300_000]);
    for options in engines() {
        let result = flushing(|| compile(text, &options).run(std::slice::from_ref(&x)).expect("results"));
        for leaf in result.leaves() {
            let others = leaf.elements::<f32>().iter().filter(|y| y.to_bits() != expected).count();
            assert_eq!(others, 0, "{:?}: {}", options.engine, leaf.shape());
        }
    }
}
