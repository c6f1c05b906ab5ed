//! Each call of the protocol. The results must be those of the same program in this process.

use crate::{AXPY, ENDLESS, TestServer, compile, endless_options, engines, eventually, vector};
use hlo_client::Client;
use hlo_ir::{ElementType, Literal, Shape};
use hlo_remote::{Address, CompileOptions, Error, Passes, RunOptions};
use std::time::Duration;

#[test]
fn axpy_as_the_preview_has_it() {
    let server = TestServer::start();
    let client = server.client();
    for options in engines() {
        let axpy = compile(&client, AXPY, &options);
        let transfer =
            |value: &Literal, i: usize| client.buffer_from_literal(value, &axpy.parameters()[i]).unwrap();
        let alpha = transfer(&Literal::scalar(ElementType::F32, 2f32), 0);
        let (x, y) = (transfer(&vector(&[1., 2., 3.]), 1), transfer(&vector(&[0.5, 0.5, 0.5]), 2));
        let result = axpy.execute_and_transfer(&[&alpha, &x, &y], RunOptions::default()).unwrap();
        assert_eq!(result.elements::<f32>(), [2.5, 4.5, 6.5]);
        // A result on the server is the argument of another run.
        let first = axpy.execute(&[&alpha, &x, &y], RunOptions::default()).unwrap();
        let second = axpy.execute(&[&alpha, &x, &first[0]], RunOptions::default()).unwrap();
        assert_eq!(second[0].to_literal().unwrap().elements::<f32>(), [4.5, 8.5, 12.5]);
        assert_eq!(axpy.value(second).unwrap().elements::<f32>(), [4.5, 8.5, 12.5]);
    }
}

#[test]
fn everything_goes_over_the_loopback_too() {
    let server = TestServer::at(Address::Tcp { host: "127.0.0.1".into(), port: 0 }, |_| {});
    assert!(!server.address.to_string().ends_with(":0"));
    let client = server.client();
    let axpy = compile(&client, AXPY, &CompileOptions::default());
    let values = [Literal::scalar(ElementType::F32, 1f32), vector(&[1., 2., 3.]), vector(&[1., 1., 1.])];
    assert_eq!(axpy.run(&values).unwrap().elements::<f32>(), [2., 3., 4.]);
}

const ROTATE: &str = "HloModule m, entry_computation_layout={(f32[2,3]{0,1}, pred[])->(f32[3,2]{1,0}, f32[2,3]{0,1}, pred[], token[])}
ENTRY e {
  x = f32[2,3]{0,1} parameter(0)
  p = pred[] parameter(1)
  t = f32[3,2]{1,0} transpose(x), dimensions={1,0}
  a = token[] after-all()
  ROOT r = (f32[3,2]{1,0}, f32[2,3]{0,1}, pred[], token[]) tuple(t, x, p, a)
}";

#[test]
fn arrays_lie_as_the_module_says_and_results_may_be_tuples() {
    let server = TestServer::start();
    let client = server.client();
    let x = Literal::from_elements(Shape::array(ElementType::F32, [2, 3]), &[1f32, 2., 3., 4., 5., 6.]);
    let values = [x, Literal::scalar(ElementType::Pred, 1u8)];
    for options in engines() {
        let program = compile(&client, ROTATE, &options);
        let shapes = program.result().with_layouts().to_string();
        assert!(shapes.starts_with("(f32[3,2]{1,0}, f32[2,3]{0,1}, pred[]"), "{shapes}");
        let result = program.run(&values).unwrap();
        let local = Client::local().compile_text(ROTATE, &Default::default()).unwrap().run(&values).unwrap();
        assert_eq!(result.tuple_elements()[0].elements::<f32>(), [1., 4., 2., 5., 3., 6.]);
        assert_eq!(result, local);
        let buffers = program.buffers(&values).unwrap();
        assert_eq!(buffers[0].to_literal().unwrap().elements::<f32>(), [1., 2., 3., 4., 5., 6.]);
        let leaves = program.execute(&buffers.iter().collect::<Vec<_>>(), RunOptions::default()).unwrap();
        assert_eq!(leaves.len(), 4);
        assert_eq!(program.value(leaves).unwrap(), local);
    }
}

#[test]
fn large_arrays_travel_in_parts() {
    let server = TestServer::start();
    let client = server.client();
    // Neither a multiple of the part size nor a power of two.
    let count = 1_500_007;
    let values: Vec<f32> = (0..count).map(|i| i as f32).collect();
    let text =
        format!("HloModule m ENTRY e {{ x = f32[{count}] parameter(0) ROOT y = f32[{count}] negate(x) }}");
    let program = compile(&client, &text, &CompileOptions::default());
    let result = program.run(&[vector(&values)]).unwrap();
    assert!(result.elements::<f32>().iter().zip(&values).all(|(a, b)| *a == -*b));
    let empty = Literal::from_elements::<f32>(Shape::array(ElementType::F32, [0, 7]), &[]);
    let buffer = client.buffer_from_literal(&empty, empty.shape()).unwrap();
    assert_eq!(buffer.to_literal().unwrap(), empty);
}

#[test]
fn sizes_that_are_known_at_run_time_only() {
    let text = "HloModule m
ENTRY e { x = f32[<=5] parameter(0) y = f32[<=5] parameter(1) ROOT p = f32[<=5] add(x, y) }";
    let server = TestServer::start();
    let client = server.client();
    for options in engines() {
        let program = compile(&client, text, &options);
        let result = program.run(&[vector(&[1., 2.]), vector(&[10., 20.])]).unwrap();
        assert_eq!(result.elements::<f32>(), [11., 22.]);
        let apart = program.run(&[vector(&[1., 2.]), vector(&[1.])]).unwrap_err();
        assert!(matches!(apart, Error::Sizes | Error::Diags(_)), "{apart:?}");
        let large = program.run(&[vector(&[0.; 6]), vector(&[0.; 6])]).unwrap_err().to_string();
        assert_eq!(large, "expected a value of shape f32[<=5], found one of f32[6]");
    }
}

#[test]
fn passes_are_as_the_options_say() {
    let text = "HloModule m ENTRY e { x = f32[] parameter(0) y = f32[] negate(x) ROOT z = f32[] negate(y) }";
    let server = TestServer::start();
    let client = server.client();
    for options in engines() {
        let count = |passes: Passes| {
            let program = compile(&client, text, &CompileOptions { passes, ..options.clone() });
            let module = program.lowered().unwrap();
            module[module.entry()].instructions().len()
        };
        assert_eq!(count(Passes::Lowering), 3);
        assert_eq!(count(Passes::Pipeline("algsimp,dce".into())), 1);
    }
}

#[test]
fn a_module_is_compiled_as_its_text_is() {
    let server = TestServer::start();
    let client = server.client();
    let module = hlo_parser::parse_module(AXPY).unwrap();
    let program = client.compile(&module, &CompileOptions::default()).unwrap();
    let values = [Literal::scalar(ElementType::F32, 1f32), vector(&[1., 2., 3.]), vector(&[1., 1., 1.])];
    assert_eq!(program.run(&values).unwrap().elements::<f32>(), [2., 3., 4.]);
}

#[test]
fn what_nobody_has_any_more_is_freed() {
    let server = TestServer::start();
    let client = server.client();
    let idle = client.statistics().unwrap();
    assert_eq!((idle.clients, idle.buffers, idle.programs, idle.bytes), (1, 0, 0, 0));
    let axpy = compile(&client, AXPY, &CompileOptions::default());
    let x = client.buffer_from_literal(&vector(&[1.; 1000]), vector(&[1.; 1000]).shape()).unwrap();
    let kept = x.clone();
    let busy = client.statistics().unwrap();
    assert_eq!((busy.buffers, busy.programs), (1, 1));
    assert!(busy.bytes >= 4000 + AXPY.len() as u64, "{busy:?}");
    assert_eq!(busy.each.len(), 1);
    drop((axpy, x));
    eventually("the program is freed", || client.statistics().unwrap().programs == 0);
    assert_eq!(client.statistics().unwrap().buffers, 1);
    drop(kept);
    eventually("all is freed", || client.statistics().unwrap().bytes == 0);
    // The end of the session frees all remaining objects.
    let kept = client.buffer_from_literal(&vector(&[1.]), vector(&[1.]).shape()).unwrap();
    let other = server.client();
    drop((client, kept));
    eventually("the session is closed", || other.statistics().unwrap().clients == 1);
    assert_eq!(other.statistics().unwrap().bytes, 0);
}

#[test]
fn devices_limits_and_statistics_are_told() {
    let server = TestServer::with(|config| config.limits.requests = 7);
    let client = server.client();
    let devices = client.devices();
    assert_eq!((devices.len(), devices[0].id, devices[0].platform.as_str()), (1, 0, "cpu"));
    assert_eq!((client.limits().requests, client.limits().memory), (7, 256 << 20));
    let program = compile(&client, AXPY, &CompileOptions::default());
    assert!(!program.was_cached());
    let values = [Literal::scalar(ElementType::F32, 1f32), vector(&[1., 2., 3.]), vector(&[1., 1., 1.])];
    program.run(&values).unwrap();
    let s = hlo_remote::statistics(&server.address, Default::default()).unwrap();
    assert_eq!((s.clients, s.clients_ever, s.runs, s.compilations, s.defects), (1, 1, 1, 1, 0));
    assert!(s.resident_bytes > 1 << 20 && s.run_micros > 0 && s.compile_micros > 0, "{s:?}");
    let table = hlo_serve::table(&s);
    assert!(table.lines().any(|l| l.starts_with("runs  ") && l.ends_with("  1")), "{table}");
    assert!(hlo_serve::json(&s).contains("\"runs\":1,"));
}

#[test]
fn runs_are_stopped_from_here() {
    let server = TestServer::start();
    let client = server.client();
    for options in engines() {
        let program = compile(&client, ENDLESS, &endless_options(&options));
        let run = program.start(&[], RunOptions::default()).unwrap();
        eventually("the run has begun", || client.statistics().unwrap().running == 1);
        run.stop();
        let Err(Error::Stopped { name, .. }) = run.wait() else { panic!("it was not stopped") };
        assert!(!name.is_empty());
        // A run that transfers its result in the reply.
        let watch = std::sync::Arc::new(hlo_ir::watch::Watch::default());
        watch.stop();
        let stopped =
            program.execute_and_transfer(&[], RunOptions { watch: Some(watch), ..RunOptions::default() });
        assert!(matches!(stopped, Err(Error::Stopped { .. })));
        let short = RunOptions { time_limit: Some(Duration::from_millis(50)), ..RunOptions::default() };
        let error = program.execute(&[], short).unwrap_err();
        assert!(matches!(&error, Error::TimedOut { after, .. } if after.as_millis() == 50), "{error:?}");
        assert!(error.to_string().starts_with("the run was stopped after 50ms, its limit, at `"), "{error}");
    }
    eventually("nothing runs", || client.statistics().unwrap().running == 0);
    assert_eq!(client.statistics().unwrap().buffers, 0);
}

/// A session ends with the last object that belongs to it. Calls come from several threads, also from threads
/// of a runtime.
#[test]
fn sessions_are_shared_by_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<hlo_remote::RemoteClient>();
    shared::<hlo_remote::RemoteExecutable>();
    shared::<hlo_remote::RemoteBuffer>();
    let server = TestServer::with(|config| config.limits.requests = 3);
    let program = compile(&server.client(), AXPY, &CompileOptions::default());
    // More threads than the number of concurrent calls that the server accepts.
    std::thread::scope(|scope| {
        for t in 0..8 {
            let program = program.clone();
            scope.spawn(move || {
                for i in 0..20 {
                    let number = (t * 100 + i) as f32;
                    let values =
                        [Literal::scalar(ElementType::F32, number), vector(&[1., 2., 3.]), vector(&[0.; 3])];
                    let result = program.run(&values).unwrap();
                    assert_eq!(result.elements::<f32>(), [number, 2. * number, 3. * number]);
                }
            });
        }
    });
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let values = [Literal::scalar(ElementType::F32, 1f32), vector(&[1.; 3]), vector(&[0.; 3])];
        assert_eq!(program.run(&values).unwrap().elements::<f32>(), [1.; 3]);
        drop(program);
    });
}
