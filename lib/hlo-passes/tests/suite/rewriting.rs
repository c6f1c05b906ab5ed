//! The language of rewrite rules.

use hlo_passes::rewriting::{ALGSIMP, parse};

#[test]
fn the_files_have_no_errors() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("rules");
    let mut names = std::collections::HashSet::new();
    for file in std::fs::read_dir(folder).unwrap().flatten() {
        let path = file.path();
        if path.extension().is_none_or(|extension| extension != "rules") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        // The build script does not know the numbers of operands.
        let rules = parse(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        for rule in rules {
            assert!(names.insert(rule.name.to_string()), "{} is in two files", rule.name);
        }
    }
    assert_eq!(names.len(), ALGSIMP.iter().count(), "the build script reads every file");
}

#[test]
fn choices_become_clauses() {
    let rules =
        parse("r: op(x, x) => x for op in maximum | minimum\n s: add(x, 0) => x // sum\n where integer(x)");
    let rules = rules.unwrap();
    let clauses: Vec<&str> = rules[0].clauses.iter().map(|clause| &*clause.text).collect();
    assert_eq!(clauses, ["maximum(x, x) → x", "minimum(x, x) → x"]);
    assert_eq!(rules[0].summary, "op(x, x) → x for op in maximum | minimum");
    assert_eq!(rules[1].summary, "add(x, 0) → x where integer(x)");
    let rules = parse("c: divide(x, c) => multiply(x, [c * 2 - log2(c + 1)]) where always 0 <= x, c % 2 < 1")
        .unwrap();
    assert_eq!(&*rules[0].clauses[0].text, "divide(x, c) → multiply(x, [c * 2 - log2(c + 1)])");
    let rules = parse("n: not(compare(x, y, d)) => compare(x, y, inverted(d)) for d in EQ | LT").unwrap();
    let clauses: Vec<&str> = rules[0].clauses.iter().map(|clause| &*clause.text).collect();
    assert_eq!(
        clauses,
        ["not(compare(x, y, EQ)) → compare(x, y, NE)", "not(compare(x, y, LT)) → compare(x, y, GE)"]
    );
}

#[test]
fn errors_name_the_line_and_what_was_found() {
    let cases = [
        ("r: add(x, 0) => y", "line 1: expected a variable of the pattern, found `y`"),
        ("r:\n  frob(x) => x", "line 2: expected an opcode, found `frob`"),
        ("r: add(x) => x", "line 1: `add` needs 2 operands, found 1"),
        ("r: add(x, y) => x where fast(x)", "line 1: expected a condition, found `fast(x)`"),
        ("r: compare(x, y, UP) => x", "line 1: expected the direction of a comparison, found `UP`"),
        ("r: x => x", "line 1: expected an operation as the pattern"),
        (
            "r: add(x, 99999999999999999999) => x",
            "line 1: expected a number of 64 bits, found `99999999999999999999`",
        ),
        (
            "r: abs(x) => convert(x)",
            "line 1: a replacement cannot contain `convert`, whose type would not be known",
        ),
        ("r: add(x, c) => add(x, [sin(c)])", "line 1: expected a function of constants, found `sin(c)`"),
        ("r: add(x, [1]) => x", "line 1: a pattern contains constants and variables, and no expression"),
        ("r: add(x, c) => x where c < 0.5", "line 1: expected an integer"),
        ("r: abs(x) => negate(x) where !always 0 <= x", "line 1: `always` cannot be negated"),
        ("r: and(true, true) => false", "line 1: expected a pattern with a variable"),
        ("r: once abs(x) => x", "line 1: `once` belongs in front of an operand of the pattern"),
        (
            "r: add(x, c) => add(x, [log2(log2(c))])",
            "line 1: `log2` of an expression with `log2` is not supported",
        ),
        ("r: abs(x) => x\nr: abs(x) => x", "line 2: there is another rule with the name `r`"),
        ("r: slice{a, b}(x) => x", "line 1: `slice` has 3 lists of numbers, found 2"),
        ("r: slice{a, b, s}(x) => slice(x)", "line 1: `slice` of a replacement needs 3 lists of numbers"),
        (
            "r: transpose{}(x) => x",
            "line 1: a pattern contains all lists of numbers of an operation, or no braces",
        ),
        ("r: transpose{x}(x) => x", "line 1: `x` is used for values of two kinds"),
        ("r: dynamic-slice(i..., x) => x", "line 1: other operands are the last ones"),
        (
            "r: dynamic-slice(x, i...) => dynamic-slice{size(result)}(x, j...)",
            "line 1: expected operands of the pattern, found `j...`",
        ),
        ("r: pad{l, h, 0}(x, v) => pad{l, h, 0}(x, 0)", "line 1: an operand of `pad` cannot be a constant"),
        ("r: reshape(x, i...) => x", "line 1: rules do not support `reshape` in this form"),
        ("r: abs(x) => x where some 0 < x", "line 1: `some` needs a comparison of lists"),
        ("r: abs(x) => x where always 0 == x", "line 1: `always` needs `<` or `<=`"),
        (
            "r: slice{a, b, s}(x) => x where b[0] <= max(a)",
            "line 1: expected a function of constants, found `max(a)`",
        ),
        ("r: add(x, c) => x where c[0] < 1", "line 1: expected a list in front of `[`"),
        ("r: reduce{r, f}(x, i) => reduce{r, f * f}(x, i)", "line 1: the computation of `reduce` is a name"),
        (
            "r: reduce{r, f}(x, i) => x where 2 <= f",
            "line 1: nothing can be computed from the computation of `reduce`",
        ),
        (
            "r: subtract(x, y) => x where always 0 <= result",
            "line 1: only rules with operations that move elements can contain `result`",
        ),
        ("r: reverse{r}(x) => result", "line 1: the replacement cannot contain `result`"),
        ("r: dot(x, y) => x", "line 1: rules do not support `dot` in this form"),
    ];
    for (text, message) in cases {
        assert_eq!(parse(text).unwrap_err().to_string(), message, "{text}");
    }
    assert!(parse("r: add(x, 0) -> x").unwrap_err().to_string().starts_with("line 1: expected "));
    let long = format!("r: add(x, c) => x where {} < 0", ["c"; 100_000].join(" + "));
    assert_eq!(parse(&long).unwrap_err().message, "expected at most 16 operands of an expression");
    let deep = format!("r: {}x{} => x", "abs(".repeat(100_000), ")".repeat(100_000));
    assert_eq!(parse(&deep).unwrap_err().message, "expected at most 16 operations inside each other");
    let choices = format!("r: slice{{a, b, s}}(x) => x where {}a{} <= 3", "if(".repeat(15), ")".repeat(15));
    assert!(parse(&choices).is_err());
    let small = format!("r: slice{{a, b, s}}(x) => x where {}a{} <= 3", "min(".repeat(15), ", 1)".repeat(15));
    assert!(parse(&small).is_ok());
    let many = format!("r: f(x, x) => x for {}", ["a in b | c | d | e | f | g | h | i | j"; 3].join(", "));
    assert_eq!(parse(&many).unwrap_err().message, "expected at most 64 combinations of choices");
}

/// Runs `algsimp` on a module and returns its text.
fn simplified(text: &str) -> String {
    let mut module = hlo_parser::parse_module(text).expect("a module");
    crate::pipeline("algsimp").run(&mut module, &mut ()).expect("no pass fails");
    assert_eq!(hlo_ir::verify::verify(&module), [], "{text}");
    hlo_ir::print::print_module(&module, &hlo_ir::print::PrintOptions::default())
}

#[test]
fn replacements_have_the_shape_of_the_pattern() {
    for shape in ["1", "1,1", "0", "4", "2,3"] {
        let shape = format!("pred[{shape}]");
        let text = simplified(&format!(
            "HloModule m\nENTRY e {{\n  p = pred[] parameter(0)\n  t = pred[] constant(true)\n  f = pred[] constant(false)\n  a = {shape} broadcast(t), dimensions={{}}\n  b = {shape} broadcast(f), dimensions={{}}\n  ROOT r = {shape} select(p, b, a)\n}}"
        ));
        assert!(!text.contains("select"), "{text}");
    }
    // Static and dynamic operands.
    for (x, y) in [("<=4", "4"), ("4", "<=4")] {
        for root in ["subtract(x, s)", "subtract(s, y)", "maximum(x, t)"] {
            let text = format!(
                "HloModule m\nENTRY e {{\n  x = s32[{x}] parameter(0)\n  y = s32[{y}] parameter(1)\n  s = s32[<=4] add(x, y)\n  t = s32[<=4] minimum(x, y)\n  ROOT r = s32[<=4] {root}\n}}"
            );
            simplified(&text);
        }
    }
}
