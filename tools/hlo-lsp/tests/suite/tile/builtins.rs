//! Tests of the descriptions of built-in functions, methods and element types.

use hlo_lsp::internals::tile::{
    ELEMENT_TYPES, FUNCTIONS, OF_CONTRACTIONS, OF_OUTPUTS, OF_SHAPES, OF_TENSORS, parameters,
};
use hlo_tile::Tile;

#[test]
fn all_functions_that_there_are_have_a_description() {
    let mut expected: Vec<&str> = hlo_tile::builtin_names().collect();
    let mut described: Vec<&str> = FUNCTIONS.iter().map(|b| b.name).collect();
    expected.sort_unstable();
    described.sort_unstable();
    assert_eq!(described, expected);
}

/// Returns a function that contains the statement of an example.
fn program(example: &str) -> String {
    // The example writes the output whose methods it calls, or this function does.
    let write = if example.starts_with("R[") { "" } else { "  R[n] += X[m, n]\n" };
    let (before, after) = if example.starts_with("R.") { (write, "") } else { ("", write) };
    let result = if example.starts_with("O = ") && !example.contains("TensorOutput") { "O" } else { "X" };
    format!(
        "# tile: X: f32[2,3], Y: f32[2,3], Z: f32[3], I: s32[2], S: u32[3]\ndef f(X, Y, Z, I, S):\n  \
         M, N = TensorDims(2)\n  m, n = TensorIndexes(2)\n  X.bind_dims(M, N)\n  R = TensorOutput(N)\n\
         {before}  {example}\n{after}  T = R + 1\n  return {result}, T\n"
    )
}

#[test]
fn examples_are_tile_and_have_what_they_are_of() {
    let all = [FUNCTIONS, OF_TENSORS, OF_OUTPUTS, OF_CONTRACTIONS, OF_SHAPES].concat();
    for b in all {
        assert!(b.example.contains(b.name), "{}", b.name);
        let text = program(b.example);
        let made = Tile::new("example.tile", &text)
            .and_then(|tile| tile.specialize("f", &tile.directive("f").expect("arguments").arguments));
        assert!(made.is_ok(), "{}: {made:?}", b.name);
    }
}

#[test]
fn parameters_are_those_that_there_are() {
    for b in FUNCTIONS {
        for name in parameters(b) {
            // Passing an argument twice reports an error that shows that the parameter exists.
            let text = format!("def f(X):\n  return {}({name}=X, {name}=X)\n", b.name);
            let tile = Tile::new("call.tile", &text).unwrap();
            let x = hlo_tile::Argument::tensor(hlo_ir::ElementType::F32, &[2]);
            let message = tile.specialize("f", &[x]).unwrap_err().message;
            let fits = message.contains("is given twice");
            assert!(fits, "{}: {message}", b.name);
        }
    }
}

#[test]
fn element_types_are_those_that_there_are() {
    for (name, in_hlo) in ELEMENT_TYPES {
        let text = format!("def f(X):\n  return cast(X, DType.{name})\n");
        let x = hlo_tile::Argument::tensor(hlo_ir::ElementType::S32, &[2]);
        let made = Tile::new("cast.tile", &text).unwrap().specialize("f", &[x]).unwrap();
        let root = made.module[made.module.entry()].root();
        assert_eq!(made.module[root].shape.to_string(), format!("{in_hlo}[2]"), "{name}");
    }
}
