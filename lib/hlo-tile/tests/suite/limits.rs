//! Checks that deep nesting, names that HLO text reserves, and mismatched types produce errors and no panic.

use hlo_ir::diag::Diag;
use hlo_ir::print::{PrintOptions, print_module};
use hlo_ir::{ElementType, Module, Shape};
use hlo_tile::{Argument, Tile};

fn specialized(text: &str) -> Result<Module, Diag> {
    let tile = Tile::new("limits.tile", text)?;
    let x = Argument::tensor(ElementType::F32, &[2, 3]);
    tile.specialize(tile.only_function()?, &[x]).map(|made| made.module)
}

#[test]
fn operators_in_one_another_have_a_limit() {
    for deep in ["-", "~", "not ", "A ** ", "A + -"] {
        let text = format!("def f(A):\n  return {}A\n", deep.repeat(100_000));
        assert_eq!(specialized(&text).unwrap_err().code, Some(hlo_ir::diag::Code::new("E3001")), "{deep}");
    }
    // Nested brackets with operators at each level.
    let (open, close) = (format!("{}(", "-".repeat(200)).repeat(60), ")".repeat(60));
    let text = format!("def f(A):\n  return {open}A{close}\n");
    assert_eq!(specialized(&text).unwrap_err().code, Some(hlo_ir::diag::Code::new("E3001")));
    let calls = format!("def f(A):\n  return {}A{}\n", "exp(-".repeat(60), ")".repeat(60));
    specialized(&calls).unwrap();
    let sum = format!("def f(A):\n  return A{}\n", " + A * A".repeat(200));
    specialized(&sum).unwrap();
}

#[test]
fn names_that_hlo_text_has_taken_are_changed() {
    let names = [
        "token",
        "pred",
        "f32",
        "true",
        "ENTRY",
        "ROOT",
        "HloModule",
        "maximal",
        "__a",
        "\u{65e5}\u{672c}",
        "nan",
    ];
    for name in names {
        let text = format!("def {name}({name}):\n  return {name} * 2\n");
        let tile = Tile::new("names.tile", &text).unwrap();
        let module = tile.specialize(name, &[Argument::tensor(ElementType::F32, &[3])]).unwrap().module;
        let printed = print_module(&module, &PrintOptions::short());
        let read = hlo_parser::parse_module(&printed);
        let read = read.unwrap_or_else(|e| panic!("{name}: {}\n{printed}", e[0].message));
        assert_eq!(read.parameters(read.entry()).len(), 1);
    }
}

#[test]
fn parameters_keep_their_names() {
    let text = "def f(X):\n  a, b = X, X\n  O = TensorOutput(2, 3)\n  i, j = TensorIndexes(2)\n  O[i, j] += X[i + 9, j]\n  \
                O.use_default(X)\n  return O + a\n";
    let module = specialized(text).unwrap();
    let parameter = module.parameters(module.entry())[0];
    assert_eq!(module[parameter].name.to_string(), "X");
}

#[test]
fn the_stronger_type_wins_whatever_is_the_default() {
    let text = "def f(X):\n  i, j = TensorIndexes(2)\n  O = TensorOutput(2, 3)\n  C = cast(X, DType.INT32)\n  \
                O[i, j] = C[i + 1, j]\n  O.use_default(X)\n  return O\n";
    let module = specialized(text).unwrap();
    let root = module[module.entry()].root();
    assert_eq!(module[root].shape.to_string(), Shape::array(ElementType::F32, [2, 3]).to_string());
}

#[test]
fn truth_values_have_no_sum() {
    let text = "def f(X):\n  i, j = TensorIndexes(2)\n  B = X > 0\n  O = TensorOutput()\n  O[()] += B[i, j]\n  return O\n";
    assert_eq!(specialized(text).unwrap_err().code, Some(hlo_ir::diag::Code::new("E3006")));
    specialized(&text.replace("X > 0", "cast(X > 0, DType.INT32)")).unwrap();
    specialized(&text.replace("+=", ">=")).unwrap();
}

#[test]
fn arguments_without_names_are_in_order() {
    let tile = Tile::new("order.tile", "def f(A, s):\n  return A * s\n").unwrap();
    let x = Argument::tensor(ElementType::F32, &[3]);
    tile.specialize("f", &[Argument::integer(2).named("s"), x]).unwrap();
}
