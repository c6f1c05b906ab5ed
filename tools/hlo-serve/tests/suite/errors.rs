//! Errors equal those of a program in this process, including their positions.

use crate::{AXPY, TestServer, compile, engines, vector};
use hlo_client::Client;
use hlo_ir::diag::{Diag, Source, render};
use hlo_ir::{ElementType, Literal, Op, Shape};
use hlo_remote::{CompileOptions, Error, Passes, RunOptions};

fn shown(diags: &[Diag], text: &str) -> String {
    let source = Source { name: "m.hlo".into(), text: text.into() };
    diags.iter().map(|d| render(d, &source, false)).collect()
}

#[test]
fn diagnostics_are_rendered_as_here() {
    let texts = [
        "",
        "HloModule m",
        "HloModule m\nENTRY e { ROOT x = f32[2] add(x, x) }",
        "HloModule m\nENTRY e {\n  x = f32[2] parameter(0)\n  y = f32[3] ad(x, x)\n  ROOT z = f32[2] neg(q)\n}",
        "HloModule m /* é */\nENTRY e {\n  x = f32[2]{0} parameter(0)\n  ROOT y = f32[3] add(x, x), metadata={op_name=\"é\"}\n}",
        "HloModule m\nENTRY e {\n  x = f32[2,2] parameter(0)\n  ROOT y = f32[2] slice(x), slice={[0:3]}\n}",
    ];
    let server = TestServer::start();
    let client = server.client();
    for text in texts {
        let remote = client.compile_text(text, &CompileOptions::default());
        let local = Client::local().compile_text(text, &CompileOptions::default());
        let (Err(Error::Diags(remote)), Err(Error::Diags(local))) = (remote, local) else {
            panic!("no diagnostics: {text}")
        };
        assert_eq!(shown(&remote, text), shown(&local, text));
        assert!(remote.iter().zip(&local).all(|(a, b)| a.code == b.code), "{text}");
    }
}

#[test]
fn runs_fail_as_here() {
    let text = "HloModule m
ENTRY e {
  t = token[] after-all()
  f = (s32[2], token[]) infeed(t)
  ROOT x = s32[2] get-tuple-element(f), index=0
}";
    let server = TestServer::start();
    let client = server.client();
    for options in engines() {
        let program = compile(&client, text, &options);
        let Err(Error::Diags(diags)) = program.execute(&[], RunOptions::default()) else {
            panic!("no error")
        };
        let place = diags[0].primary().map(|label| label.span.range()).unwrap_or_default();
        assert!(text[place].starts_with("f = (s32[2], token[]) infeed"), "{diags:?}");
        assert!(diags[0].message.contains("the program was given no infeed"), "{diags:?}");
        let Err(Error::Diags(diags)) = program.run(&[]) else { panic!("no error") };
        assert!(diags[0].message.contains("the program was given no infeed"), "{diags:?}");
    }
}

#[test]
fn arguments_that_do_not_fit_are_told() {
    let server = TestServer::start();
    let (client, other) = (server.client(), server.client());
    let axpy = compile(&client, AXPY, &CompileOptions::default());
    let message = |error: Error| error.to_string();
    let two = [Literal::scalar(ElementType::F32, 1f32), vector(&[1.; 3])];
    assert_eq!(
        message(axpy.run(&two).unwrap_err()),
        "expected 3 arguments, one for each leaf of the parameters, found 2"
    );
    let scalar = client.buffer_from_literal(&two[0], two[0].shape()).unwrap();
    let x = client.buffer_from_literal(&two[1], two[1].shape()).unwrap();
    assert_eq!(
        message(axpy.execute(&[&x, &x, &x], RunOptions::default()).unwrap_err()),
        "argument 0: expected an array of shape f32[], found f32[3]"
    );
    let foreign = other.buffer_from_literal(&two[1], two[1].shape()).unwrap();
    assert_eq!(
        message(axpy.execute(&[&scalar, &x, &foreign], RunOptions::default()).unwrap_err()),
        "argument 2: expected a buffer of the program's session, found one of another"
    );
    let wrong = client.buffer_from_literal(&vector(&[1.; 4]), &axpy.parameters()[1]).unwrap_err();
    assert_eq!(message(wrong), "expected a value of shape f32[3], found one of f32[4]");
}

#[test]
fn wrong_passes_are_told() {
    let server = TestServer::start();
    let options = CompileOptions { passes: Passes::Pipeline("algsimq".into()), ..CompileOptions::default() };
    let Err(Error::Diags(diags)) = server.client().compile_text(AXPY, &options) else { panic!("no error") };
    assert!(diags[0].message.starts_with("passes: ") && diags[0].message.contains("algsimq"), "{diags:?}");
}

/// The client has not seen the text of a module that was built by functions, so errors quote it.
#[test]
fn errors_in_modules_quote_the_instruction() {
    let mut module = hlo_ir::Module::new("m");
    let main = module.add_computation("main");
    let shape = Shape::array(ElementType::F32, [2]);
    let x = module.add(main, "x", shape, Op::parameter(0), []);
    let y = module.add(main, "y", Shape::array(ElementType::F32, [3]), Op::Negate, [x]);
    module.set_root(main, y);
    module.set_entry(main);
    let server = TestServer::start();
    let Err(Error::Diags(diags)) = server.client().compile(&module, &CompileOptions::default()) else {
        panic!("no error")
    };
    assert!(diags[0].labels.is_empty());
    assert!(diags[0].notes.iter().any(|n| n == "at `f32[3]{0}`: `y` in `main`"), "{diags:?}");
}
