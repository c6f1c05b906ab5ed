//! Tests of the roles of names in Tile texts.

use hlo_lsp::internals::tile::{Role, outline};

/// Returns the names of a text with abbreviated roles.
fn roles(text: &str) -> Vec<String> {
    let short = |role| match role {
        Role::Keyword => "keyword".into(),
        Role::Function => "function".into(),
        Role::Import => "import".into(),
        Role::Parameter => "parameter".into(),
        Role::Target(origin) => format!("{origin:?}="),
        Role::Callee => "callee".into(),
        Role::Use => "use".into(),
        Role::Member(true) => "method".into(),
        Role::Member(false) => "attribute".into(),
        Role::Argument(of) => format!("argument of {}", &text[of.range()]),
        Role::Directive => "directive".into(),
        Role::Other => "other".into(),
    };
    let words = outline(text).words;
    words.iter().map(|w| format!("{} {}", &text[w.span.range()], short(w.role))).collect()
}

/// Returns the names of a statement inside a function.
fn statement(text: &str) -> String {
    roles(&format!("def f():\n  {text}\n")).split_off(2).join(", ")
}

#[test]
fn names_have_roles_in_statements() {
    assert_eq!(statement("a, (b, [c]) = TensorDims(3)"), "a Dim=, b Dim=, c Dim=, TensorDims callee");
    assert_eq!(statement("a, *b = x"), "a Other=, b Other=, x use");
    assert_eq!(
        statement("O[i, j] += g(s=t)[k]"),
        "O use, i use, j use, g callee, s argument of g, t use, k use"
    );
    assert_eq!(
        statement("a.b(x, y=z).c = d == e"),
        "a use, b method, x use, y argument of b, z use, c attribute, d use, e use"
    );
    assert_eq!(statement("a += 1; b = not a"), "a Other=, b Other=, not keyword, a use");
    assert_eq!(
        statement("c = Contraction().sum(a)"),
        "c Contraction=, Contraction callee, sum method, a use"
    );
    assert_eq!(
        statement("c = Contraction().sum(a).build()"),
        "c Output=, Contraction callee, sum method, a use, build method"
    );
    assert_eq!(statement("a = f(\n  b, # c\n  d=e)"), "a Other=, f callee, b use, d argument of f, e use");
    // Incomplete statements.
    assert_eq!(statement("a = f(b, c="), "a Other=, f callee, b use, c argument of f");
    assert_eq!(statement("= a"), "a use");
    assert_eq!(statement(")]. a ="), "a attribute");
}

#[test]
fn names_have_roles_in_signatures_and_imports() {
    assert_eq!(
        roles("def f(a: Tensor, b=g(1), *, c) -> Tensor: return a"),
        [
            "def keyword",
            "f function",
            "a parameter",
            "Tensor other",
            "b parameter",
            "g callee",
            "c parameter",
            "return keyword",
            "a use"
        ]
    );
    assert_eq!(roles("def f(a, b"), ["def keyword", "f function", "a parameter", "b parameter"]);
    assert_eq!(roles("def"), ["def keyword"]);
    assert_eq!(
        roles("from m.n import (a, b as c)\nimport d\n"),
        [
            "from keyword",
            "m other",
            "n other",
            "import keyword",
            "a import",
            "b other",
            "as keyword",
            "c import",
            "import keyword",
            "d other"
        ]
    );
}

#[test]
fn comments_with_arguments_are_of_the_function_below() {
    let text = "# tile: A: f32[2, N=3], s = 2, f32[4]\n# tile: B: f32[]\ndef f(A, s, t, B):\n  A # tile: C: f32[]\n  # tile: D: f32[]\n";
    let roles = roles(&format!("{text}def g(D):\n  pass\n"));
    let directives: Vec<_> = roles.iter().filter(|r| r.ends_with("directive")).collect();
    assert_eq!(directives, ["A directive", "s directive", "B directive", "D directive"]);
    let outline = outline(text);
    assert_eq!(outline.words[0].function, Some(0));
    assert_eq!(outline.functions.len(), 1);
}

#[test]
fn contractions_are_found_by_their_operators() {
    let text =
        "def f(A):\n  O[i] >= A[i]\n  P[()] = A[i] == B[i]\n  Q = A[i] >= B\n  R <= A\n  S[i].x += A\n";
    let outline = outline(text);
    let all: Vec<_> =
        outline.contractions.iter().map(|c| (&text[c.target.range()], &text[c.operator.range()])).collect();
    assert_eq!(all, [("O", ">="), ("P", "=")]);
}
