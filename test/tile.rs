//! Tests of Tile programs with their inputs and the expected results or errors: test/tile/cases, the library
//! functions in test/tile/library, and the gradients in test/tile/gradients. They run in both engines, with
//! contractions as they are and raised to other operations. The bits must be the same on 1 and 3 threads.

use hlo_client::{Client, CompileOptions, Engine, Passes};
use hlo_ir::{ArrayShape, ElementType, Literal, Shape};
use hlo_tile::{Argument, Tile, rules};
use serde_json::Value;
use std::path::PathBuf;

/// The names of errors in the cases, where they differ from the name of the rule without `tile-`.
const KINDS: &[(&str, &str)] = &[
    ("bad-constraint", "tile-constraint"),
    ("bad-dim", "tile-size"),
    ("broadcast-mismatch", "tile-broadcast"),
    ("not-subscriptable", "tile-not-subscriptable"),
    ("reshape-mismatch", "tile-reshape"),
    ("undefined-name", "tile-name"),
    ("unsupported-combination", "tile-combination"),
];

fn element_type(name: &str) -> ElementType {
    match name {
        "bool" => ElementType::Pred,
        name => ElementType::from_name(&name.replace('i', "s")).expect("an element type"),
    }
}

/// Reads an array of the file: `dtype`, `shape`, `data`.
fn literal(array: &Value) -> Literal {
    let element_type = element_type(array["dtype"].as_str().expect("dtype"));
    let dims: Vec<i64> = array["shape"].as_array().expect("shape").iter().filter_map(Value::as_i64).collect();
    let shape = Shape::Array(ArrayShape::new(element_type, dims));
    let data: Vec<f64> = array["data"].as_array().expect("data").iter().map(number).collect();
    let wide = Literal::from_elements(Shape::array(ElementType::F64, [data.len() as i64]), &data);
    hlo_eval::convert(&wide, element_type).expect("a value of the type").with_shape(shape)
}

fn number(value: &Value) -> f64 {
    value.as_f64().or(value.as_bool().map(|b| u8::from(b).into())).expect("a number")
}

fn numbers(literal: &Literal) -> Vec<f64> {
    let wide = hlo_eval::convert(literal, ElementType::F64).expect("numbers");
    wide.elements::<f64>().to_vec()
}

/// Checks a case. Returns the reason if it fails.
fn check(case: &Value) -> Result<(), String> {
    let source = case["source"].as_str().expect("source");
    let entry = case["entry"].as_str().expect("entry");
    let (mut arguments, mut inputs) = (Vec::new(), Vec::new());
    for input in case["inputs"].as_array().expect("inputs") {
        let name = input["name"].as_str().expect("name");
        arguments.push(match &input["scalar"] {
            Value::Null => {
                let value = literal(input);
                let shape = value.shape().as_array().expect("an array").clone();
                inputs.push(value);
                Argument::tensor(shape.element_type, &shape.dims)
            }
            scalar => match scalar.as_i64() {
                Some(n) => Argument::integer(n),
                None => Argument::float(number(scalar)),
            },
        });
        let last = arguments.pop().expect("an argument").named(name);
        arguments.push(last);
    }
    let by: Vec<&str> =
        case["gradients"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let made = Tile::new("case.tile", source).and_then(|tile| tile.differentiate(entry, &arguments, &by));
    let expected = &case["error"];
    let made = match (made, expected.as_str()) {
        (Err(found), Some(kind)) => {
            let alternatives = case["error_alternatives"].as_array().into_iter().flatten();
            let kinds: Vec<&str> = alternatives.filter_map(Value::as_str).chain([kind]).collect();
            let name = found.code.and_then(|code| rules::FAMILY.find(code.as_str())).map_or("", |r| r.name);
            let rule = |kind: &str| {
                let other = KINDS.iter().find(|(k, _)| *k == kind);
                other.map_or(format!("tile-{kind}"), |(_, rule)| (*rule).to_owned())
            };
            return if kinds.iter().any(|k| rule(k) == name) {
                Ok(())
            } else {
                Err(format!("expected {kind}, found {found:?}"))
            };
        }
        (Ok(_), Some(kind)) => return Err(format!("expected {kind}, found none")),
        (Err(found), None) => return Err(format!("{found:?}")),
        (Ok(made), None) => made,
    };
    let run = |engine, passes, threads| -> Result<Literal, String> {
        let options = CompileOptions { engine: Some(engine), passes, threads, ..CompileOptions::default() };
        let program = Client::local().compile(&made.module, &options).map_err(|e| e.to_string())?;
        program.run(&inputs).map_err(|e| e.to_string())
    };
    let raise = Passes::Pipeline("contraction-raising".into());
    agree(case, &run(Engine::Interpreted, Passes::Default, 1)?)?;
    agree(case, &run(Engine::Interpreted, raise.clone(), 1)?).map_err(|e| format!("raised: {e}"))?;
    if !cfg!(feature = "codegen") {
        return Ok(());
    }
    for (passes, how) in [(Passes::Default, "raised"), (Passes::Lowering, "as a loop nest")] {
        let once = run(Engine::Compiled, passes.clone(), 1)?;
        agree(case, &once).map_err(|e| format!("compiled, {how}: {e}"))?;
        let again = run(Engine::Compiled, passes, 3)?;
        let same = once.leaves().iter().zip(again.leaves()).all(|(a, b)| a.bytes() == b.bytes());
        if !same {
            return Err(format!("compiled, {how}: other bits on 3 threads"));
        }
    }
    Ok(())
}

/// Compares the results with those of the case.
fn agree(case: &Value, result: &Literal) -> Result<(), String> {
    let expected: Vec<Literal> = case["outputs"].as_array().expect("outputs").iter().map(literal).collect();
    let found = result.leaves();
    if found.len() != expected.len() {
        return Err(format!("{} results, expected {}", found.len(), expected.len()));
    }
    let (rtol, atol) = (number(&case["rtol"]), number(&case["atol"]));
    for (found, expected) in found.iter().zip(&expected) {
        if !found.shape().compatible(expected.shape()) {
            return Err(format!("{}, expected {}", found.shape(), expected.shape()));
        }
        let (a, b) = (numbers(found), numbers(expected));
        let close = |(a, b): (&f64, &f64)| (a - b).abs() <= atol + rtol * b.abs() || a == b;
        if !a.iter().zip(&b).all(close) {
            return Err(format!("{a:?}, expected {b:?}"));
        }
    }
    Ok(())
}

/// Returns the cases of a folder of test/tile. Each file contains one case or a list of cases.
fn cases_of(folder: &str) -> Vec<Value> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("test/tile").join(folder);
    let mut cases = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder of cases") {
        let path = entry.expect("a file").path();
        let text = std::fs::read_to_string(&path).expect("a case");
        match serde_json::from_str(&text).expect("JSON") {
            Value::Array(several) => cases.extend(several),
            case => cases.push(case),
        }
    }
    cases
}

/// Checks all cases of a folder.
fn hold(folder: &str, at_least: usize) {
    let cases = cases_of(folder);
    let wrong = cases.iter().filter_map(|case| Some(format!("{}: {}", case["name"], check(case).err()?)));
    let mut failed: Vec<String> = wrong.collect();
    failed.sort();
    assert!(failed.is_empty(), "{} of {}:\n{}", failed.len(), cases.len(), failed.join("\n"));
    assert!(cases.len() >= at_least, "{} cases", cases.len());
}

#[test]
fn cases() {
    hold("cases", 119);
}

/// Library functions, with values from jax.
#[test]
fn library() {
    hold("library", 150);
}

/// Results and their gradients. The values are from jax, except for equal maxima.
#[test]
fn gradients() {
    hold("gradients", 250);
}

#[test]
fn each_function_of_the_library_has_cases() {
    let cases = cases_of("library");
    for function in hlo_tile::library::functions() {
        let name = &function.function.name.text;
        let import = format!("from nn import {name}\n");
        let own = cases.iter().filter(|c| c["source"].as_str().is_some_and(|s| s.starts_with(&import)));
        assert!(own.count() >= 2, "`{name}` has less than two cases in test/tile/library");
    }
}
