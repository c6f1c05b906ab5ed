//! `hlo_client::Client::connect`: programs, buffers and runs on a server behave like those in the same
//! process.

use crate::{AXPY, ENDLESS, TestServer, vector};
use hlo_client::{Argument, AsyncRunOptions, Buffer, Client, CompileOptions, Error, Passes, RunOptions};
use hlo_ir::watch::Watch;
use hlo_ir::{ElementType, HostLayout, Literal, PaddingValue, Shape};
use std::sync::Arc;
use std::time::Duration;

fn clients(server: &TestServer) -> [Client; 2] {
    [Client::local(), Client::connect(&server.address.to_string()).unwrap_or_else(|e| panic!("{e}"))]
}

fn values() -> [Literal; 3] {
    [Literal::r0(2f32), vector(&[1., 2., 3.]), vector(&[0.5, 0.5, 0.5])]
}

#[test]
fn a_program_needs_not_know_where_it_runs() {
    let server = TestServer::start();
    for client in clients(&server) {
        assert_eq!((client.devices()[0].id(), client.devices()[0].platform()), (0, "cpu"));
        let axpy = client.compile_text(AXPY, &CompileOptions::default()).unwrap();
        assert_eq!(axpy.parameters()[1].to_string(), "f32[3]");
        let of_values = client.execute_and_transfer(&axpy, &values()).unwrap();
        assert_eq!(of_values.elements::<f32>(), [2.5, 4.5, 6.5]);
        let [alpha, x, y] = values().map(|value| client.transfer_to(&value).unwrap());
        let first = axpy.execute(&[&alpha, &x, &y], RunOptions::default()).unwrap();
        // The next run takes a result on the server.
        let second = axpy.execute(&[&alpha, &x, &first[0]], RunOptions::default()).unwrap();
        assert_eq!(second[0].elements::<f32>().unwrap(), [4.5, 8.5, 12.5]);
        assert_eq!(second[0].elements::<f32>().unwrap(), [4.5, 8.5, 12.5]);
        assert_eq!(axpy.value(second).unwrap().elements::<f32>(), [4.5, 8.5, 12.5]);
        let given = vec![Argument::Kept(&alpha), Argument::Kept(&x), Argument::Donated(y)];
        let third = axpy.execute_donating(given, RunOptions::default()).unwrap();
        assert_eq!(client.transfer_from(&third[0]).unwrap().elements::<f32>(), [2.5, 4.5, 6.5]);
        assert!(axpy.lowered().unwrap().entry_if_set().is_some());
        let module = hlo_parser::parse_module(AXPY).unwrap();
        let again = client.compile(&module, &CompileOptions::default()).unwrap();
        assert_eq!(again.run(&values()).unwrap(), of_values);
    }
}

#[test]
fn layouts_are_the_programs() {
    let server = TestServer::start();
    let padded = HostLayout::new([0, 1]).padded([3, 5], PaddingValue::Zero);
    for client in clients(&server) {
        let shape = Shape::array(ElementType::U8, [2, 3]);
        let array = client.transfer_to_laid_out(b"ad\0be\0cf\0\0\0\0\0\0\0", &padded, &shape).unwrap();
        assert_eq!(array.bytes().unwrap(), b"abcdef");
        let back = client.transfer_from_laid_out(&array, &padded).unwrap();
        assert_eq!(&*back, b"ad\0be\0cf\0\0\0\0\0\0\0");
    }
}

#[test]
fn runs_go_on_there_and_can_be_stopped() {
    let server = TestServer::start();
    let client = &clients(&server)[1];
    let options = CompileOptions { passes: Passes::Lowering, ..CompileOptions::default() };
    let endless = client.compile_text(ENDLESS, &options).unwrap();
    let watch = Arc::new(Watch::default());
    let run = AsyncRunOptions { watch: Some(watch.clone()), ..AsyncRunOptions::default() };
    let execution = endless.execute_async(&[], run).unwrap();
    std::thread::sleep(Duration::from_millis(50));
    assert!(!execution.is_over() && !execution.results()[0].is_ready());
    watch.stop();
    assert!(matches!(execution.wait(), Err(Error::Stopped { .. })));
    let axpy = client.compile_text(AXPY, &CompileOptions::default()).unwrap();
    let mut buffers = axpy.buffers(&values()).unwrap();
    for _ in 0..3 {
        let arguments: Vec<&Buffer> = buffers.iter().collect();
        let run = axpy.execute_async(&arguments, AsyncRunOptions::default()).unwrap();
        buffers[2] = run.results()[0].clone();
    }
    assert_eq!(buffers[2].elements::<f32>().unwrap(), [6.5, 12.5, 18.5]);
}

#[test]
fn a_run_whose_time_is_over_is_stopped_wherever_it_is() {
    let server = TestServer::start();
    let limit = Duration::from_millis(50);
    for client in clients(&server) {
        let options = CompileOptions { passes: Passes::Lowering, ..CompileOptions::default() };
        let endless = client.compile_text(ENDLESS, &options).unwrap();
        let run = RunOptions { time_limit: Some(limit), ..RunOptions::default() };
        let error = endless.execute(&[], run).unwrap_err();
        assert!(error.to_string().starts_with("the run was stopped after 50ms, its limit, at `"), "{error}");
        let run = AsyncRunOptions { time_limit: Some(limit), ..AsyncRunOptions::default() };
        let error = endless.execute_async(&[], run).unwrap().wait().unwrap_err();
        assert!(matches!(error, Error::TimedOut { after, .. } if after == limit), "{error:?}");
    }
}

#[test]
fn errors_say_what_is_wrong_and_where() {
    let server = TestServer::start();
    let [here, there] = clients(&server);
    let wrong = "HloModule m\nENTRY e { ROOT x = f32[2] add(x, x) }";
    let diagnostics = |client: &Client| match client.compile_text(wrong, &CompileOptions::default()) {
        Err(Error::Diags(diags)) => diags,
        other => panic!("{other:?}"),
    };
    assert_eq!(diagnostics(&here), diagnostics(&there));
    let axpy = there.compile_text(AXPY, &CompileOptions::default()).unwrap();
    let own = here.transfer_to(&vector(&[1., 2., 3.])).unwrap();
    let theirs = axpy.buffers(&values()).unwrap();
    let error = axpy.execute(&[&theirs[0], &own, &theirs[2]], RunOptions::default()).unwrap_err();
    assert!(error.to_string().contains("argument 1: expected an array on the program's server"), "{error}");
    assert!(Client::connect("nowhere").is_err());
    assert!(matches!(Client::connect("unix:/nowhere/hlo.sock"), Err(Error::Disconnected { .. })));
    drop(server);
    assert!(matches!(axpy.run(&values()), Err(Error::Disconnected { .. })));
    assert!(matches!(theirs[1].bytes(), Err(Error::Disconnected { .. })));
}
