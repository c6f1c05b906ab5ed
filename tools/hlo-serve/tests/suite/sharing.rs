//! Clients share programs and threads, and do not wait for each other unnecessarily.

use crate::{AXPY, ENDLESS, TestServer, compile, endless_options, engines, eventually, vector};
use hlo_ir::{ElementType, Literal};
use hlo_remote::{CompileOptions, Error, RunOptions};
use std::sync::Barrier;
use std::time::{Duration, Instant};

/// Returns a module that takes a while to compile.
fn long_module() -> String {
    let mut text = "HloModule long\nENTRY e {\n  x0 = f32[64] parameter(0)\n".to_string();
    for i in 1..400 {
        text += &format!("  x{i} = f32[64] {}(x{})\n", ["sine", "cosine", "tanh"][i % 3], i - 1);
    }
    text + "  ROOT r = f32[64] negate(x399)\n}"
}

#[test]
fn what_many_want_at_once_is_compiled_once() {
    let server = TestServer::start();
    let text = long_module();
    let barrier = Barrier::new(8);
    let cached = std::thread::scope(|scope| {
        let work = || {
            let client = server.client();
            barrier.wait();
            let program = compile(&client, &text, &CompileOptions::default());
            (program.was_cached(), program.run(&[vector(&[0.5; 64])]).unwrap())
        };
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(work)).collect();
        let results: Vec<_> = threads.into_iter().map(|t| t.join().unwrap()).collect();
        assert!(results.iter().all(|(_, value)| *value == results[0].1));
        results.iter().filter(|(cached, _)| *cached).count()
    });
    let client = server.client();
    let statistics = client.statistics().unwrap();
    assert_eq!((statistics.compilations, statistics.cache_hits, cached), (1, 7, 7));
    // The program is kept, although no client uses it. Other options give another program.
    assert!(compile(&client, &text, &CompileOptions::default()).was_cached());
    let other = CompileOptions { seed: 1, ..CompileOptions::default() };
    assert!(!compile(&client, &text, &other).was_cached());
    // Errors are not cached.
    for _ in 0..2 {
        assert!(matches!(client.compile_text("HloModule", &CompileOptions::default()), Err(Error::Diags(_))));
    }
    assert_eq!(client.statistics().unwrap().compilation_failures, 2);
}

#[test]
fn programs_that_nobody_holds_are_kept_within_the_budget() {
    let server = TestServer::with(|config| config.cache_memory = 20_000);
    let client = server.client();
    for seed in 0..10 {
        compile(&client, AXPY, &CompileOptions { seed, ..CompileOptions::default() });
    }
    // Each program is charged with at least eight times the size of its text.
    let most = 20_000 / (8 * AXPY.len() as u64);
    eventually("the oldest have gone", || client.statistics().unwrap().programs_kept <= most);
    assert!(client.statistics().unwrap().programs_kept > 0);
    let held: Vec<_> = (0..20)
        .map(|seed| compile(&client, AXPY, &CompileOptions { seed, ..CompileOptions::default() }))
        .collect();
    assert!(client.statistics().unwrap().programs_kept >= 20);
    drop(held);
}

#[test]
fn a_client_with_endless_runs_does_not_stop_others() {
    let server = TestServer::with(|config| config.workers = 2);
    let (heavy, light) = (server.client(), server.client());
    for options in engines() {
        let endless = compile(&heavy, ENDLESS, &endless_options(&options));
        let runs: Vec<_> = (0..10).map(|_| endless.start(&[], RunOptions::default()).unwrap()).collect();
        eventually("they wait", || heavy.statistics().unwrap().waiting == 9);
        let axpy = compile(&light, AXPY, &options);
        let values = [Literal::scalar(ElementType::F32, 1f32), vector(&[1., 2., 3.]), vector(&[0.; 3])];
        let began = Instant::now();
        for _ in 0..10 {
            assert_eq!(axpy.run(&values).unwrap().elements::<f32>(), [1., 2., 3.]);
        }
        assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
        for run in &runs {
            run.stop();
        }
        for run in runs {
            assert!(matches!(run.wait(), Err(Error::Stopped { .. })));
        }
        eventually("nothing is left", || heavy.statistics().unwrap().running == 0);
    }
}

#[test]
fn runs_of_a_client_that_goes_are_stopped() {
    let server = TestServer::start();
    let other = server.client();
    for options in engines() {
        let client = server.client();
        let endless = compile(&client, ENDLESS, &endless_options(&options));
        let runs: Vec<_> = (0..6).map(|_| endless.start(&[], RunOptions::default()).unwrap()).collect();
        eventually("some run", || other.statistics().unwrap().running == 3);
        let stopped_before = other.statistics().unwrap().runs_stopped;
        // The runs hold the session, so they are stopped by their handles.
        runs.iter().for_each(hlo_remote::Run::stop);
        drop((client, endless, runs));
        eventually("the session is gone", || other.statistics().unwrap().clients == 1);
        eventually("nothing runs", || other.statistics().unwrap().running == 0);
        assert!(other.statistics().unwrap().runs_stopped > stopped_before);
        assert_eq!(other.statistics().unwrap().bytes, 0);
    }
}
