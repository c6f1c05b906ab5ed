//! Tests of the outline of StableHLO texts.

use hlo_lsp::internals::stablehlo::{Kind, Outline, Token};

const TEXT: &str = "module @m {
  func.func public @main(%arg0: tensor<2xf32> {jax.name = \"x\"}, %arg1: tensor<i32>) -> (tensor<2xf32>) {
    %0:2 = stablehlo.while(%iterArg = %arg0, %iterArg_1 = %arg1) : tensor<2xf32>, tensor<i32>
     cond {
      %c = stablehlo.constant dense<3> : tensor<i32>
      %1 = stablehlo.compare LT, %iterArg_1, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = stablehlo.add %iterArg, %iterArg : tensor<2xf32>
      stablehlo.return %1, %iterArg_1 : tensor<2xf32>, tensor<i32>
    }
    %2 = call @f(%0#0) : (tensor<2xf32>) -> tensor<2xf32>
    return %2 : tensor<2xf32>
  }
  func.func private @f(%arg0: tensor<2xf32>) -> tensor<2xf32> {
    return %arg0 : tensor<2xf32>
  }
}";

/// Returns the line that defines the value named by the nth occurrence of a name.
fn line(name: &str, nth: usize) -> Option<usize> {
    let outline = Outline::new(TEXT);
    let is_name = |t: &&Token| &TEXT[t.range.clone()] == name;
    let word = outline.tokens.iter().filter(is_name).nth(nth)?;
    let found = outline.value(TEXT, word)?;
    Some(TEXT[..found.name.start].matches('\n').count() + 1)
}

#[test]
fn values_are_found_by_their_regions() {
    assert_eq!(line("%arg0", 1), Some(2));
    assert_eq!(line("%arg0", 3), Some(15));
    assert_eq!(line("%iterArg", 1), Some(3));
    assert_eq!(line("%1", 1), Some(6));
    assert_eq!(line("%1", 3), Some(9));
    assert_eq!(line("%0", 1), Some(3));
    assert_eq!(line("%2", 1), Some(12));
}

#[test]
fn functions_go_to_the_ends_of_their_bodies() {
    let outline = Outline::new(TEXT);
    let lines: Vec<_> = outline
        .functions
        .iter()
        .map(|f| (&TEXT[f.name.clone()], TEXT[f.range.clone()].matches('\n').count() + 1))
        .collect();
    assert_eq!(lines, [("@main", 13), ("@f", 3)]);
    assert_eq!(outline.symbol(TEXT, "@f").map(|r| TEXT[..r.start].matches('\n').count() + 1), Some(15));
}

#[test]
fn broken_texts_have_an_outline() {
    for end in 0..TEXT.len() {
        if let Some(text) = TEXT.get(..end) {
            Outline::new(text);
        }
    }
    for text in ["%", "}}}{{{", "\"\\", "@\"", "func.func", "%é = \u{feff}", "%a:", "%a,%b:2,="] {
        Outline::new(text);
    }
}

#[test]
fn the_time_is_linear() {
    // Each of these once took quadratic time.
    for unit in ["%a, ", "{", "%a = ", "func.func ", "func.func @f(%a: i32) { ", "%a:", "return %a\n"] {
        let text = unit.repeat(200_000);
        let outline = Outline::new(&text);
        for token in outline.tokens.iter().filter(|t| t.kind == Kind::Value) {
            outline.value(&text, token);
        }
    }
}
