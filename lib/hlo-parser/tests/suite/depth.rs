//! Tests of the nesting depth of brackets. A module at the limit can be read, verified, printed, compared and
//! dropped. One level more is an error. The tests run on small stacks.

use hlo_ir::print::{PrintOptions, print_module};
use hlo_ir::verify::verify;
use hlo_parser::{parse_literal, parse_module, parse_shape};

/// The limit stated in docs/hlo-text.md.
const LIMIT: usize = 1024;

/// Returns a module with brackets of one kind that nest `depth` deep, including those of the computation.
fn nested(kind: &str, depth: usize) -> String {
    let n = depth - 1;
    let (open, close) = ("(".repeat(n), ")".repeat(n));
    let line = match kind {
        "tuple" => format!("ROOT x = {}f32[]{} parameter(0)", "(".repeat(n - 1), ")".repeat(n - 1)),
        "operand" => {
            let (open, close) = ("negate(f32[] ".repeat(n - 1), ")".repeat(n - 1));
            format!("p = f32[] parameter(0) ROOT x = f32[] {open}p{close}")
        }
        "origin" => {
            let (open, close) = ("(".repeat(n - 2), ")".repeat(n - 2));
            format!("p = f32[] parameter(0) ROOT x = f32[] negate(p), origin={{{open}{{\"a\"}}{close}}}")
        }
        "literal" => {
            let (o, c) = ("(".repeat(n - 1), ")".repeat(n - 1));
            format!("ROOT x = {o}f32[]{c} constant({o}1{c})")
        }
        "body" => {
            let calls = "call(), to_apply={ ROOT r = f32[] ".repeat(n - 1);
            format!("ROOT x = f32[] {calls}constant(1){}", " }".repeat(n - 1))
        }
        "dictionary" => {
            let dict = format!("{}1{}", "{\"a\":".repeat(n), "}".repeat(n));
            format!("ROOT x = f32[] custom-call(), custom_call_target=\"f\", backend_config={dict}")
        }
        "broken" => format!("ROOT x = f32[] foo({open}{close}"),
        _ => unreachable!("{kind}"),
    };
    format!("HloModule m\nENTRY e {{ {line} }}\n")
}

#[test]
fn the_limit_is_reached() {
    for kind in ["tuple", "operand", "origin", "literal", "body", "dictionary"] {
        let text = nested(kind, LIMIT);
        let module = parse_module(&text).unwrap_or_else(|d| panic!("{kind}: {}", d[0].message));
        let diags = verify(&module);
        assert!(diags.is_empty(), "{kind}: {}", diags[0].message);
        let printed = print_module(&module, &PrintOptions::default());
        // With its signature, a module written on one line may nest deeper. It must not overflow the stack.
        if let Ok(again) = parse_module(&printed) {
            assert!(module.same_as(&again), "{kind}");
        }
        let copy = module.clone();
        assert!(module.same_as(&copy), "{kind}");
        drop(module);
        drop(copy);
    }
}

#[test]
fn one_more_is_refused() {
    for kind in ["tuple", "operand", "origin", "literal", "body"] {
        for depth in [LIMIT + 1, LIMIT + 2, 3 * LIMIT, 100_000] {
            let Err(diags) = parse_module(&nested(kind, depth)) else { panic!("{kind} {depth}") };
            assert!(diags[0].message.contains("nest more than 1024 deep"), "{kind}: {}", diags[0].message);
        }
    }
}

/// A dictionary is one token.
#[test]
fn dictionaries_nest_as_deep_as_they_like() {
    assert!(parse_module(&nested("dictionary", 100_000)).is_ok());
}

#[test]
fn errors_in_deep_texts() {
    assert!(parse_module(&nested("broken", LIMIT)).is_err());
}

#[test]
fn shapes_and_literals_by_themselves() {
    let shape = format!("{}f32[]{}", "(".repeat(LIMIT - 1), ")".repeat(LIMIT - 1));
    assert_eq!(parse_shape(&shape).map(|s| s.to_string()), Ok(shape.clone()));
    assert!(parse_shape(&format!("(({shape}))")).is_err());
    let literal = format!("{shape} {}1{}", "(".repeat(LIMIT - 1), ")".repeat(LIMIT - 1));
    assert!(parse_literal(&literal).is_ok());
}
