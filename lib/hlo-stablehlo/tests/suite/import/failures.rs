//! Programs that cannot be translated, and their diagnostics.

use super::{failures, function, module};
use hlo_ir::Op;

/// Checks the diagnostics for the operations of a function.
fn fails(body: &str, expected: &[&str]) {
    assert_eq!(failures(&function(body)), expected, "{body}");
}

#[test]
fn unknown_operations_are_named() {
    fails(
        "\"stablehlo.nothing\"() : () -> ()",
        &["`stablehlo.nothing`: it is not known, or has no translation to HLO"],
    );
    fails("\"other.op\"() : () -> ()", &["`other.op`: it has no translation to HLO"]);
    fails(
        "\"chlo.nothing\"(%x) : (tensor<4xf32>) -> tensor<4xf32>",
        &["`chlo.nothing`: it is not known, or has no translation to HLO"],
    );
    fails("\"sdy.nothing\"() : () -> ()", &["`sdy.nothing`: it has no translation to HLO"]);
}

#[test]
fn all_failures_are_reported_but_what_follows_from_them() {
    fails(
        "%0 = \"a.b\"(%x) : (tensor<4xf32>) -> tensor<4xf32>
         %1 = stablehlo.add %0, %x : tensor<4xf32>
         %2 = \"c.d\"(%1) : (tensor<4xf32>) -> tensor<4xf32>
         %3 = \"e.f\"(%x) : (tensor<4xf32>) -> tensor<4xf32>",
        &[
            "`a.b`: it has no translation to HLO",
            "`c.d`: it has no translation to HLO",
            "`e.f`: it has no translation to HLO",
        ],
    );
}

#[test]
fn attributes_have_to_be_there_and_of_their_kind() {
    fails(
        "%0 = \"stablehlo.iota\"() : () -> tensor<4xf32>",
        &["`stablehlo.iota`: the attribute `iota_dimension` is missing"],
    );
    fails(
        "%0 = \"stablehlo.iota\"() {iota_dimension = \"a\"} : () -> tensor<4xf32>",
        &["`stablehlo.iota`: the attribute `iota_dimension` is not a number"],
    );
    fails(
        "%0 = \"stablehlo.reverse\"(%x) {dimensions = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>",
        &["`stablehlo.reverse`: the attribute `dimensions` is not a list of numbers"],
    );
    fails(
        "%0 = \"stablehlo.compare\"(%x, %x) {comparison_direction = 1 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>",
        &[
            "`stablehlo.compare`: the attribute `comparison_direction` is not a `stablehlo.comparison_direction`",
        ],
    );
    fails(
        "%0 = \"stablehlo.custom_call\"(%x) {call_target_name = \"f\", api_version = 7 : i32} : (tensor<4xf32>) -> tensor<4xf32>",
        &["`stablehlo.custom_call`: `api_version` 7 is not known"],
    );
}

#[test]
fn shardings_have_to_be_shardings() {
    let found =
        failures(&function("%0 = stablehlo.negate %x {mhlo.sharding = \"{devices=oops}\"} : tensor<4xf32>"));
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("`stablehlo.negate`: `{devices=oops}` is no sharding: "), "{found:?}");
    let text =
        "func.func @main(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@nowhere, [{\"x\"}]>}) { return }";
    assert_eq!(failures(text), ["`func.func`: the sharding of argument 0: there is no mesh `nowhere`"]);
    let text = "sdy.mesh @m = <[\"x\"=2]>
        func.func @main(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{\"y\"}]>}) { return }";
    assert_eq!(failures(text), ["`func.func`: the sharding of argument 0: the mesh has no axis `y`"]);
}

#[test]
fn sizes_have_to_be_known_or_bounded() {
    let text = "func.func @main(%x: tensor<?xf32>, %n: tensor<1xi32>) -> tensor<?xf32> {
        %0 = stablehlo.dynamic_reshape %x, %n : (tensor<?xf32>, tensor<1xi32>) -> tensor<?xf32>
        return %0 : tensor<?xf32>
    }";
    assert_eq!(failures(text), ["`func.func`: the sizes of argument 0, tensor<?xf32>, are not known"]);
    fails(
        "%p = stablehlo.constant dense<0.0> : tensor<f32>
         %n = stablehlo.reshape %i : (tensor<i32>) -> tensor<1xi32>
         %0 = stablehlo.dynamic_pad %x, %p, %n, %n, %n : (tensor<4xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xf32>",
        &["`stablehlo.dynamic_pad`: the padding before (operand 2) is no constant"],
    );
}

#[test]
fn functions_do_not_call_themselves() {
    let text = "func.func @main(%x: tensor<f32>) -> tensor<f32> {
        %0 = func.call @f(%x) : (tensor<f32>) -> tensor<f32>
        return %0 : tensor<f32>
    }
    func.func @f(%x: tensor<f32>) -> tensor<f32> {
        %0 = func.call @g(%x) : (tensor<f32>) -> tensor<f32>
        return %0 : tensor<f32>
    }
    func.func @g(%x: tensor<f32>) -> tensor<f32> {
        %0 = func.call @f(%x) : (tensor<f32>) -> tensor<f32>
        return %0 : tensor<f32>
    }";
    assert_eq!(failures(text), ["`func.call`: `f` calls itself, by way of this: HLO has no recursion"]);
}

#[test]
fn a_call_needs_its_function() {
    fails(
        "%0 = func.call @nowhere(%x) : (tensor<4xf32>) -> tensor<4xf32>",
        &["`func.call`: there is no function `nowhere`"],
    );
    let text = "func.func @main(%x: tensor<f32>) -> tensor<f32> {
        %0 = func.call @f(%x) : (tensor<f32>) -> tensor<f32>
        return %0 : tensor<f32>
    }
    func.func private @f(tensor<f32>) -> tensor<f32>";
    assert_eq!(failures(text), ["`func.func`: a function of one block is needed: it has 0"]);
}

#[test]
fn a_program_needs_an_entry() {
    let two = "func.func @f() { return } func.func @g() { return }";
    assert_eq!(failures(two), ["`builtin.module`: it has no function `main`, nor only one function"]);
    assert_eq!(failures(""), ["`builtin.module`: it has no function `main`, nor only one function"]);
    // The only function is the entry.
    assert_eq!(module("func.func @f() { return }").name.as_ref(), "main");
}

#[test]
fn what_is_applied_to_elements_takes_nothing_but_constants_from_outside() {
    let body = |outside: &str, inside: &str| {
        format!(
            "%zero = stablehlo.constant dense<0.0> : tensor<f32>
             {outside}
             %0 = stablehlo.reduce(%x init: %zero) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
              reducer(%a: tensor<f32>, %b: tensor<f32>) {{
                %c = stablehlo.add %a, {inside} : tensor<f32>
                stablehlo.return %c : tensor<f32>
              }}"
        )
    };
    assert_eq!(failures(&function(&body("", "%zero"))), Vec::<String>::new());
    let computed = "%y = stablehlo.negate %zero : tensor<f32>";
    assert_eq!(
        failures(&function(&body(computed, "%y"))),
        ["`stablehlo.add`: it uses a value that is not of its own computation, and no constant"]
    );
}

#[test]
fn types_have_to_be_of_hlo() {
    fails(
        "%0 = stablehlo.custom_call @f(%x) : (tensor<4xf32>) -> tensor<*xf32>",
        &["`stablehlo.custom_call`: the type of result 0: an array of unknown rank has no shape in HLO"],
    );
    fails(
        "%0 = stablehlo.custom_call @f(%x) : (tensor<4xf32>) -> tensor<4xi7>",
        &["`stablehlo.custom_call`: the type of result 0: HLO has no integers of 7 bits"],
    );
    fails(
        "%0 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xtf32>",
        &["`stablehlo.convert`: the type of result 0: HLO has no type `tf32`"],
    );
}

#[test]
fn what_breaks_the_rules_is_no_module() {
    let add = "%0 = \"stablehlo.add\"(%x, %i) : (tensor<4xf32>, tensor<i32>) -> tensor<4xf32>";
    assert_eq!(
        failures(&function(add)),
        [
            "`stablehlo.add`: operand 1 and the result have one shape, found [] and [4]",
            "`stablehlo.add`: its operands have elements of one type, found f32 and i32",
        ]
    );
    let text = "func.func @main(%x: tensor<4xf32> {tf.aliasing_output = 3 : i32}) -> tensor<4xf32> { return %x : tensor<4xf32> }";
    assert_eq!(
        failures(text),
        ["`func.func`: `tf.aliasing_output` of argument 0 is the number of no result"]
    );
}

#[test]
fn diagnostics_have_places() {
    let text = function("%0 = \"a.b\"(%x) : (tensor<4xf32>) -> tensor<4xf32> loc(\"f.py\":3:5)");
    let tree = hlo_stablehlo::text::parse(&text).expect("a tree");
    let diags = hlo_stablehlo::import::import(&tree).expect_err("an unknown operation");
    assert_eq!(diags[0].notes, ["from f.py:3:5"]);
    let span = diags[0].primary().expect("a place").span;
    assert!(text[span.range()].contains("a.b"), "{}", &text[span.range()]);
}

#[test]
fn long_chains_and_deep_calls_need_no_stack() {
    let mut text = String::from(
        "func.func @main(%x: tensor<f32>) -> tensor<f32> {\n%0 = func.call @f0(%x) : (tensor<f32>) -> tensor<f32>\nreturn %0 : tensor<f32>\n}\n",
    );
    for n in 0..3000 {
        let inner = match n {
            2999 => "%0 = stablehlo.negate %x : tensor<f32>".to_owned(),
            _ => format!("%0 = func.call @f{}(%x) : (tensor<f32>) -> tensor<f32>", n + 1),
        };
        text += &format!(
            "func.func private @f{n}(%x: tensor<f32>) -> tensor<f32> {{\n{inner}\nreturn %0 : tensor<f32>\n}}\n"
        );
    }
    let module = module(&text);
    let calls = module.computations().filter(|&c| matches!(module[module[c].root()].op, Op::Call(_))).count();
    assert_eq!(calls, 3000);
}
