//! Asynchronous runs, on both engines.

use hlo_client::{AsyncRunOptions, Buffer, Client, CompileOptions, ENGINES, Error, Executable, Passes};
use hlo_ir::Literal;
use hlo_ir::host::Queues;
use hlo_ir::watch::Watch;
use std::sync::{Arc, Mutex};

/// Compiles a program with each engine of this build and checks it.
fn each(text: &str, check: impl Fn(&Executable)) {
    for engine in ENGINES.iter().copied().map(Some) {
        let options = CompileOptions { engine, passes: Passes::Lowering, ..CompileOptions::default() };
        let program = Client::local().compile_text(text, &options);
        check(&program.unwrap_or_else(|e| panic!("{e:?}")));
    }
}

const FOREVER: &str = "HloModule m
same { s = s32[] parameter(0) }
always { s = s32[] parameter(0) ROOT p = pred[] constant(true) }
ENTRY e { z = s32[] parameter(0) ROOT w = s32[] while(z), condition=always, body=same }";

fn number(program: &Executable, value: i32) -> Vec<Buffer> {
    program.buffers(&[Literal::r0(value)]).unwrap()
}

#[test]
fn a_run_goes_on_while_others_wait_for_its_results() {
    each(FOREVER, |forever| {
        let watch = Arc::new(Watch::default());
        let options = AsyncRunOptions { watch: Some(watch.clone()), ..AsyncRunOptions::default() };
        let argument = number(forever, 7);
        let first = forever.execute_async(&[&argument[0]], options).unwrap();
        assert!(!first.is_over() && !first.results()[0].is_ready());
        assert_eq!(first.results()[0].shape().to_string(), "s32[]");
        // The second run takes a result that the first run never produces.
        let second = forever.execute_async(&[&first.results()[0]], AsyncRunOptions::default()).unwrap();
        watch.stop();
        assert!(matches!(first.wait(), Err(Error::Stopped { .. })));
        assert!(matches!(first.results()[0].wait(), Err(Error::Stopped { .. })));
        assert!(matches!(second.wait(), Err(Error::Stopped { .. })));
        assert!(matches!(second.results()[0].bytes(), Err(Error::Stopped { .. })));
        assert!(first.is_over() && second.is_over());
    });
}

#[test]
fn runs_of_a_device_come_in_order_and_take_results_that_are_not_there() {
    let text =
        "HloModule m ENTRY e { x = s32[] parameter(0) o = s32[] constant(1) ROOT y = s32[] add(x, o) }";
    each(text, |add| {
        let mut value = number(add, 0).remove(0);
        let runs: Vec<_> = (0..100)
            .map(|_| {
                let run = add.execute_async(&[&value], AsyncRunOptions::default()).unwrap();
                value = run.results()[0].clone();
                run
            })
            .collect();
        assert_eq!(value.elements::<i32>().unwrap(), [100]);
        runs[99].wait().unwrap();
        assert!(runs.iter().all(hlo_client::Execution::is_over));
        let all: Vec<i32> = runs.iter().map(|r| r.wait().unwrap()[0].elements::<i32>().unwrap()[0]).collect();
        assert!(all.into_iter().eq(1..=100));
    });
}

#[test]
fn results_outlive_programs_clients_and_runs() {
    let text = "HloModule m ENTRY e { x = s32[] parameter(0) ROOT y = s32[] negate(x) }";
    let value = {
        let program = Client::local().compile_text(text, &CompileOptions::default()).unwrap();
        let argument = number(&program, 3);
        program.execute_async(&[&argument[0]], AsyncRunOptions::default()).unwrap().results()[0].clone()
    };
    assert_eq!(value.to_literal().unwrap().get::<i32>(&[]), Some(-3));
}

#[test]
fn a_host_is_there_during_the_run_and_has_what_was_sent_after_it() {
    let text = "HloModule m
ENTRY e {
  t = token[] after-all()
  f = (s32[2], token[]) infeed(t)
  x = s32[2] get-tuple-element(f), index=0
  n = s32[2] negate(x)
  o = token[] outfeed(n, t), outfeed_shape=s32[2]
  ROOT r = s32[2] add(n, n)
}";
    each(text, |program| {
        let host = Arc::new(Mutex::new(Queues::with_infeed([Literal::r1(&[1i32, 2])])));
        let options = AsyncRunOptions { host: Some(host.clone()), ..AsyncRunOptions::default() };
        let results = program.execute_async(&[], options.clone()).unwrap().wait().unwrap();
        assert_eq!(results[0].elements::<i32>().unwrap(), [-2, -4]);
        // The feed has no more items.
        assert!(matches!(program.execute_async(&[], options).unwrap().wait(), Err(Error::Diags(_))));
        assert!(host.lock().is_ok());
    });
}

#[test]
fn what_does_not_fit_is_refused_at_once_or_when_it_is_there() {
    let text = "HloModule m ENTRY e { x = s32[] parameter(0) ROOT y = s32[2] broadcast(x), dimensions={} }";
    each(text, |program| {
        let refused = |arguments: &[&Buffer]| {
            program.execute_async(arguments, AsyncRunOptions::default()).unwrap_err().to_string()
        };
        assert!(refused(&[]).starts_with("expected 1 arguments"));
        let other = Buffer::from_slice(&[1.5f32], &hlo_ir::Shape::array(hlo_ir::ElementType::F32, [1]));
        assert!(refused(&[&other.unwrap()]).contains("expected an array of shape s32[], found f32[1]"));
        // An array of two elements does not fit a scalar parameter.
        let argument = number(program, 1);
        let two = program.execute_async(&[&argument[0]], AsyncRunOptions::default()).unwrap();
        match program.execute_async(&[&two.results()[0]], AsyncRunOptions::default()) {
            Ok(run) => assert!(run.wait().unwrap_err().to_string().contains("found s32[2]")),
            Err(error) => assert!(error.to_string().contains("found s32[2]")),
        }
    });
}

#[test]
fn sizes_are_known_once_a_result_is_there() {
    let text = "HloModule m
ENTRY e {
  x = f32[<=5] parameter(0)
  ROOT y = f32[<=5] negate(x)
}";
    each(text, |program| {
        let argument = program.buffers(&[Literal::r1(&[1f32, 2., 3.])]).unwrap();
        let run = program.execute_async(&[&argument[0]], AsyncRunOptions::default()).unwrap();
        let value = &run.results()[0];
        assert_eq!(value.elements::<f32>().unwrap(), [-1., -2., -3.]);
        assert_eq!(value.shape().to_string(), "f32[3]");
    });
}
