//! Tests with texts from jaxlib 0.10.2.

mod floats;

use hlo_ir::diag::Diag;
use hlo_stablehlo::text::{PrintOptions, parse, print, print_with};
use hlo_stablehlo::tree::{Attribute, Location, Tree};

/// A JAX function, as printed by `compiler_ir("stablehlo")`.
const JAX: &str = include_str!("testdata/jax.mlir");
/// The same function in the generic form.
const JAX_GENERIC: &str = include_str!("testdata/jax.generic.mlir");

const GENERIC: PrintOptions = PrintOptions { is_generic: true, with_locations: false };
const LOCATIONS: PrintOptions = PrintOptions { is_generic: false, with_locations: true };

fn read(text: &str) -> Tree {
    parse(text).unwrap_or_else(|diags| panic!("{text}\n{diags:#?}"))
}

/// Returns the message of the first error and the text that it marks.
fn error(text: &str) -> (String, &str) {
    let diags: Vec<Diag> = parse(text).expect_err("an error");
    let span = diags[0].primary().map(|label| label.span).unwrap_or_default();
    (diags[0].message.clone(), &text[span.range()])
}

/// Returns a program with one function that contains the given operations.
fn in_function(operations: &str) -> String {
    format!("func.func @f(%x: tensor<4xf32>, %i: tensor<i32>) {{\n{operations}\nreturn\n}}")
}

/// Compares two texts line by line, because a failure message with whole texts would be too long.
#[track_caller]
fn assert_same(found: &str, expected: &str) {
    for (line, (a, b)) in found.lines().zip(expected.lines()).enumerate() {
        assert_eq!(a, b, "line {}", line + 1);
    }
    assert_eq!(found.len(), expected.len());
}

#[test]
fn what_jax_prints_is_printed_again() {
    assert_same(&print(&read(JAX)), JAX);
    assert_same(&print_with(&read(JAX), &GENERIC), JAX_GENERIC);
    assert_same(&print(&read(JAX_GENERIC)), JAX);
}

#[test]
fn both_forms_are_the_same_tree() {
    let pretty = read(
        "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> { %0 = stablehlo.reverse %x, dims = [0] : tensor<4xf32> return %0 : tensor<4xf32> }",
    );
    let generic = read(&print_with(&pretty, &GENERIC));
    let reverse = |tree: &Tree| tree.operations()[0].regions[0].blocks[0].operations[0].clone();
    assert_eq!(reverse(&pretty).attributes, reverse(&generic).attributes);
    assert_eq!(reverse(&pretty).attribute("dimensions"), Some(&Attribute::i64s([0])));
}

#[test]
fn locations_are_read_and_named() {
    let text = r##"#loc = loc(unknown)
#loc1 = loc("x")
module @m {
  func.func @f(%arg0: tensor<f32> loc("x")) -> tensor<f32> {
    %0 = stablehlo.negate %arg0 : tensor<f32> loc(#loc4)
    return %0 : tensor<f32> loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc2 = loc("f.py":2:3 to :7)
#loc3 = loc("f"(#loc2))
#loc4 = loc(callsite(#loc3 at #loc2))
"##;
    let tree = read(text);
    let function = &tree.operations()[0].regions[0].blocks[0];
    let Location::CallSite { callee, .. } = &function.operations[0].location else { panic!("{text}") };
    assert!(matches!(&**callee, Location::Named(name, _) if *name == "f"));
    let printed = print_with(&tree, &LOCATIONS);
    assert_eq!(print_with(&read(&printed), &LOCATIONS), printed);
    assert_eq!(
        read(&printed).operations()[0].regions[0].blocks[0].operations[0].location,
        function.operations[0].location
    );
}

#[test]
fn errors_name_what_is_wrong_and_where() {
    let in_f = |operations| in_function(operations);
    let cases = [
        ("%0 = stablehlo.abs %y : tensor<4xf32>", "`%y` is defined nowhere before", "%y"),
        (
            "%0 = stablehlo.abs %x : tensor<3xf32>",
            "`%x` is of type tensor<4xf32>, not tensor<3xf32> as this operation says",
            "%x",
        ),
        ("%0 = stablehlo.abs %x tensor<4xf32>", "expected `:`, found `tensor`", "tensor"),
        (
            "%0 = stablehlo.bas %x : tensor<4xf32>",
            "`stablehlo.bas` is no operation with a form of its own",
            "stablehlo.bas",
        ),
        ("%0 = stablehlo.abs %x : tensor<4xf33>", "`f33` is no type", "f33"),
        ("%0:2 = stablehlo.abs %x : tensor<4xf32>", "`stablehlo.abs` gives 1 results, but 2 are named", "%0"),
        (
            "%c = stablehlo.constant dense<[1, 2]> : tensor<3xi32>",
            "3 items are expected in this list, for the type says so; it has 2",
            "[1, 2",
        ),
        ("%c = stablehlo.constant dense<300> : tensor<i8>", "300 does not fit 8 bits", "300"),
        (
            "%c = stablehlo.constant dense<1> : tensor<f32>",
            "1 is an integer: a number of type f32 has a point, `1.0`",
            "1",
        ),
        ("%0 = \"stablehlo.abs\"(%x) : (tensor<4xf32>)", "expected `->`, found the end", ""),
        ("%x = stablehlo.abs %x : tensor<4xf32>", "`%x` is defined already", "%x"),
        (
            "%0 = stablehlo.abs %x {a = affine_map<(d0) -> (d0)>} : tensor<4xf32>",
            "attributes `affine_map` are not supported",
            "affine_map",
        ),
        ("%0 = stablehlo.abs %x {a = #b} : tensor<4xf32>", "`#b` is defined nowhere", "#b"),
    ];
    for (operations, message, marked) in cases {
        let text = in_f(operations);
        let (found, at) = error(&text);
        assert_eq!((&*found, at), (message, marked), "{operations}");
    }
}

#[test]
fn what_may_be_meant_is_said() {
    let notes = |operation: &str| parse(&in_function(operation)).expect_err("no such form")[0].notes.clone();
    assert_eq!(notes("%0 = stablehlo.bas %x : tensor<4xf32>"), ["did you mean `stablehlo.abs`?"]);
    // This operation exists, but has only the generic form.
    assert_eq!(
        notes("%0 = stablehlo.gather %x : tensor<4xf32>"),
        ["the generic form is `\"stablehlo.gather\"(…) : (…) -> …`"]
    );
}

#[test]
fn an_error_ends_one_operation() {
    let text = in_function(
        "%0 = stablehlo.abs %y : tensor<4xf32>\n%1 = stablehlo.abs %0 : tensor<4xf32>\n%2 = stablehlo.abs %z : tensor<4xf32>",
    );
    let diags = parse(&text).expect_err("two errors");
    let messages: Vec<&str> = diags.iter().map(|d| &*d.message).collect();
    assert_eq!(messages, ["`%y` is defined nowhere before", "`%z` is defined nowhere before"]);
}

#[test]
fn brackets_and_strings_are_checked_first() {
    assert_eq!(error("module {"), ("`{` is not closed".into(), "{"));
    assert_eq!(error("module { ) }"), ("`{` is not closed".into(), "{"));
    assert_eq!(error("module {} }"), ("`}` closes nothing".into(), "}"));
    assert_eq!(error("module @\"a {}").0, "the string does not end in its line");
    let deep = format!("{}{}", "(".repeat(100_000), ")".repeat(100_000));
    assert_eq!(error(&deep).0, "brackets nest more than 256 deep");
}

#[test]
fn aliases_may_neither_hold_themselves_nor_grow() {
    let on = |alias: &str| format!("{alias}\nfunc.func private @f(%x: !a)");
    assert_eq!(error(&on("!a = tuple<!a>")).0, "`!a` is part of itself");
    let mut text = String::from("!a0 = tuple<>\n");
    for i in 0..60 {
        text += &format!("!a{} = tuple<!a{i}, !a{i}>\n", i + 1);
    }
    text += "func.func private @f(!a60)";
    assert!(error(&text).0.contains("stands for more than"));
}

/// Checks that a text is rejected with errors that point into it, or is printed and read back in each form.
fn hold(text: &str) {
    let tree = match parse(text) {
        Ok(tree) => tree,
        Err(diags) => {
            assert!(!diags.is_empty(), "refused without an error:\n{text}");
            for label in diags.iter().flat_map(|d| &d.labels) {
                assert!(text.get(label.span.range()).is_some(), "{label:?} is no part of\n{text}");
            }
            return;
        }
    };
    for options in [PrintOptions::default(), GENERIC, LOCATIONS] {
        let printed = print_with(&tree, &options);
        let again = parse(&printed).unwrap_or_else(|diags| panic!("{:?}\n{printed}", diags[0]));
        assert_eq!(print_with(&again, &options), printed);
    }
}

/// Returns the words and symbols of a text.
fn tokens(text: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
    let mut rest = text;
    let mut out = Vec::new();
    while let Some(first) = rest.chars().next() {
        let len =
            if is_word(first) { rest.find(|c| !is_word(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
        let (token, after) = rest.split_at(len);
        out.push(token);
        rest = after;
    }
    out
}

#[test]
fn damaged_texts_are_refused_or_read() {
    let mut state = 1u64;
    let mut below = |n: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % n as u64) as usize
    };
    for round in 0..120 {
        let mut tokens = tokens(if round % 2 == 0 { JAX } else { JAX_GENERIC });
        for _ in 0..1 + below(3) {
            let (at, other) = (below(tokens.len()), below(tokens.len()));
            let odd = [
                "-1",
                "9223372036854775808",
                "\"",
                "é",
                "\0",
                "//",
                "({",
                "dense<",
                "%0",
                "loc(",
                "tensor<?xf32>",
            ];
            match below(4) {
                0 => _ = tokens.remove(at),
                1 => tokens.insert(at, tokens[other]),
                2 => tokens.swap(at, other),
                _ => tokens[at] = odd[below(odd.len())],
            }
        }
        hold(&tokens.concat());
    }
}

#[test]
fn texts_may_end_anywhere() {
    for at in (0..JAX.len()).step_by(97) {
        hold(&JAX[..at]);
    }
}
