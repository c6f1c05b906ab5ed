//! Tests of directives: comments with the arguments of a function.

use hlo_tile::{Argument, Tile};

#[test]
fn a_directive_is_of_the_function_below() {
    let text = "# tile: A: f32[2,3]{1,0},\n#tile: s = 2\ndef f(A, s):\n  return A\n\ndef g(B):\n  return B\n";
    let tile = Tile::new("arguments.tile", text).unwrap();
    assert!(tile.directive("g").is_none());
    let directive = tile.directive("f").expect("a directive");
    assert_eq!(directive.function, "f");
    assert_eq!(directive.arguments.len(), 2);
    assert_eq!(directive.arguments[1], Argument::integer(2).named("s"));
    let wrong = "# tile: A: f32[2,x]\ndef f(A):\n  return A\n";
    let d = Tile::new("wrong.tile", wrong).map(drop).unwrap_err();
    assert_eq!(&wrong[d.labels[0].span.range()], "x");
}
