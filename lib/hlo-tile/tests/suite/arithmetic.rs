//! Tests of arithmetic on numbers.

use hlo_ir::ElementType;
use hlo_ir::diag::Diag;
use hlo_tile::{Argument, Tile, rules};

/// Returns the description of the number that an operator gives for two integers.
fn computed(operator: &str, a: i64, b: i64) -> Result<String, Diag> {
    let text = format!("def f(A, a, b):\n  result = a {operator} b\n  return A\n");
    let tile = Tile::new("arithmetic.tile", &text).unwrap();
    let tensor = Argument::tensor(ElementType::F32, &[2]);
    let (made, names) = tile.inspect("f", &[tensor, Argument::integer(a), Argument::integer(b)], &[]);
    made?;
    let result = names.iter().find(|known| &text[known.span.range()] == "result");
    Ok(result.expect("a value").to_string())
}

#[test]
fn division_is_pythons() {
    // Computed with CPython.
    for (a, b, quotient, remainder) in
        [(7, 2, 3, 1), (-7, 2, -4, 1), (7, -2, -4, -1), (-7, -2, 3, -1), (6, -3, -2, 0)]
    {
        assert_eq!(computed("//", a, b).unwrap(), format!("the number {quotient}"), "{a} // {b}");
        assert_eq!(computed("%", a, b).unwrap(), format!("the number {remainder}"), "{a} % {b}");
    }
    for (operator, a, b) in [("//", i64::MIN, -1), ("<<", 1, 63)] {
        let error = computed(operator, a, b).unwrap_err();
        assert_eq!(error.code, Some(rules::TILE_OPERAND));
        assert_eq!(error.message, format!("`{operator}` of these numbers has no value that fits"));
    }
}
