//! Tests of collectives on several devices: every operation with every form of groups, on every family of
//! element types, in both engines. The expected results follow the semantics and are computed with integers.

use hlo_client::{Client, ClientOptions, CompileOptions, ENGINES, Engine};
use hlo_ir::{ElementType, Literal, Shape};
use hlo_testing::collectives::{self, Array, COUNTS, Program};

fn literal(array: &Array, ty: ElementType) -> Literal {
    let dims = array.dims.map(|n| n as i64);
    let whole = Literal::from_elements(Shape::array(ElementType::S64, dims), &array.values);
    hlo_eval::convert(&whole, ty).expect("a conversion")
}

/// Runs a program in both engines and compares every bit.
fn check(program: &Program) {
    let (text, ty) = (program.text(), program.element_type);
    let options = ClientOptions { devices: program.given.len(), ..ClientOptions::default() };
    let client = Client::new(&options).expect("a client");
    let values: Vec<Vec<Literal>> =
        program.given.iter().map(|arrays| arrays.iter().map(|a| literal(a, ty)).collect()).collect();
    for &engine in ENGINES {
        let options = CompileOptions { engine: Some(engine), threads: 2, ..CompileOptions::default() };
        let executable = client.compile_text(&text, &options);
        let executable = executable.unwrap_or_else(|e| panic!("{engine:?}: {e}\n{text}"));
        let results = match values.len() {
            1 => executable.run(&values[0]).map(|result| vec![result]),
            _ => executable.run_on_devices(&values),
        };
        let results = results.unwrap_or_else(|e| panic!("{engine:?}: {e}\n{text}"));
        for (device, (result, expected)) in results.iter().zip(&program.expected).enumerate() {
            let leaves = result.leaves();
            assert_eq!(leaves.len(), expected.len());
            for (n, (leaf, expected)) in leaves.into_iter().zip(expected).enumerate() {
                let (name, expected) = (program.result_name(n), literal(expected, ty));
                let is_same = leaf.bytes() == expected.bytes();
                assert!(is_same, "{engine:?}, device {device}, {name}: {leaf:?}, not {expected:?}\n{text}");
            }
        }
    }
}

#[test]
fn reductions_and_gathers() {
    for counts in COUNTS {
        for ty in collectives::types(counts) {
            check(&collectives::reductions_and_gathers(counts, ty));
        }
    }
}

#[test]
fn exchanges() {
    for counts in COUNTS {
        for ty in collectives::types(counts) {
            check(&collectives::exchanges(counts, ty));
        }
    }
}

#[test]
fn a_program_that_diverges_ends_by_both_engines() {
    let text = "HloModule m, replica_count=2
sum { a = s32[] parameter(0) b = s32[] parameter(1) ROOT c = s32[] add(a, b) }
more { s = (s32[], s32[]) parameter(0) i = s32[] get-tuple-element(s), index=0 z = s32[] constant(0) ROOT c = pred[] compare(i, z), direction=GT }
body {
  s = (s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = s32[] get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] subtract(i, one)
  y = s32[] all-reduce(x), to_apply=sum
  ROOT t = (s32[], s32[]) tuple(j, y)
}
ENTRY e {
  n = s32[] parameter(0)
  s = (s32[], s32[]) tuple(n, n)
  w = (s32[], s32[]) while(s), condition=more, body=body
  ROOT r = s32[] get-tuple-element(w), index=1
}";
    let client = Client::new(&ClientOptions { devices: 2, ..ClientOptions::default() }).expect("a client");
    for &engine in ENGINES {
        let options = CompileOptions { engine: Some(engine), ..CompileOptions::default() };
        let program = client.compile_text(text, &options).expect("a program");
        let values = |a: i32, b: i32| [vec![Literal::r0(a)], vec![Literal::r0(b)]];
        let sums = program.run_on_devices(&values(3, 3)).expect("equal turns");
        assert_eq!(sums[1].integer_at(0), Some(24));
        let error = program.run_on_devices(&values(2, 3)).expect_err("one goes on").to_string();
        let waits = "device 1: the devices diverge: device 1 at `all-reduce` `";
        assert!(
            error.contains(waits) && error.contains("` waits for device 0, at its end already"),
            "{error}"
        );
        // The program can run again.
        assert!(program.run_on_devices(&values(1, 1)).is_ok());
        let alone = program.run(&[Literal::r0(1)]).expect_err("two devices");
        assert!(alone.to_string().contains("runs on 2 devices"), "{alone}");
    }
    let alone = Client::local().compile_text(text, &CompileOptions::default());
    assert!(alone.expect_err("one device").to_string().contains("the client has 1"));
    assert_eq!(ENGINES.contains(&Engine::Compiled), cfg!(feature = "codegen"));
}
