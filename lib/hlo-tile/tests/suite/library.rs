//! Tests the library: its files, its documentation page, and imports.

use hlo_ir::diag::{Diag, Source, render};
use hlo_ir::{ElementType, Literal};
use hlo_tile::{Argument, Specialized, Tile, builtin_names, internals, library, rules};
use std::fmt::Write as _;
use std::path::Path;

fn page() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut out = String::from(
        "# The library of Tile\n\nThis library contains functions for neural networks, written in Tile (`lib/hlo-tile/library`). Import them with \
         `from nn import softmax,\nconv_2d as conv` or `from nn import *`. You can also write `import nn` and call `nn.softmax(X)` \
         (`docs/tile.md`).\n\nThis page is generated from the library. `BLESS=1 cargo test -p hlo-tile library::` updates it.\n",
    );
    let mut file = "";
    for f in library::functions() {
        if f.file != file {
            file = f.file;
            let name = file.trim_start_matches("nn/");
            let text = std::fs::read_to_string(root.join("library").join(name)).unwrap_or_default();
            let comment = text.lines().take_while(|l| l.starts_with('#'));
            let comment: Vec<&str> = comment.map(|l| l.trim_start_matches('#').trim()).collect();
            let title = name.trim_end_matches(".tile");
            let _ = write!(
                out,
                "\n## {title}\n\n{}\n\n| function | description |\n|---|---|\n",
                comment.join("\n")
            );
        }
        let words: Vec<&str> = f.documentation().split_whitespace().collect();
        let _ = writeln!(out, "| `{}` | {} |", f.signature(), words.join(" "));
    }
    out
}

#[test]
fn the_page_of_the_library_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tile-library.md");
    let expected = page();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &expected).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    let how = "BLESS=1 cargo test -p hlo-tile library::";
    assert!(found == expected, "docs/tile-library.md is out of date: {how}");
}

fn f32(dims: &[i64]) -> Argument {
    Argument::tensor(ElementType::F32, dims)
}

/// Specializes `f` of a file for a tensor.
fn made(text: &str, argument: Argument) -> Result<Specialized, Diag> {
    Tile::new("user.tile", text)?.specialize("f", &[argument])
}

/// Evaluates `f` of a file on a vector.
#[track_caller]
fn computed(text: &str, x: &[f32]) -> Vec<f32> {
    let made = made(text, f32(&[x.len() as i64])).unwrap_or_else(|d| panic!("{d:?}\n{text}"));
    let options = hlo_eval::Options::default();
    hlo_eval::evaluate(&made.module, &[Literal::r1(x)], &options).unwrap().elements::<f32>().to_vec()
}

/// Returns the error of a file whose `f` is called with a vector of four elements.
#[track_caller]
fn wrong(text: &str) -> Diag {
    match made(text, f32(&[4])) {
        Ok(_) => panic!("nothing is wrong with\n{text}"),
        Err(d) => d,
    }
}

#[test]
fn imports_are_pythons() {
    let x = [1.0, 2.0, 3.0, 4.0];
    for text in [
        "from nn import cumsum\ndef f(X):\n  return cumsum(X)\n",
        "from nn import (flip as reversed, cumsum,)\ndef f(X):\n  return cumsum(X)\n",
        "from nn import cumsum as running\ndef f(X):\n  return running(X, axis=0)\n",
        "from plaidml.edsl import *; \nfrom nn import *  # all\ndef f(X):\n  return cumsum(X)\n",
        "import numpy as np, nn\ndef f(X):\n  return nn.cumsum(X)\n",
        "import nn as neural\ndef f(X):\n  return neural.cumsum(X)\n",
    ] {
        assert_eq!(computed(text, &x), [1.0, 3.0, 6.0, 10.0], "{text}");
    }
    // A function of the file hides an imported one, even if it is defined further down. The library does not
    // see it.
    let own = "from nn import *\ndef f(X):\n  return flip(X) + cumsum(X)\ndef flip(X):\n  return 0 * X\ndef _axis(X, a):\n  return X\n";
    assert_eq!(computed(own, &x), [1.0, 3.0, 6.0, 10.0]);
    // Imports from other modules have no effect.
    let other = "from . import a\nfrom ..b.c import (d as e, g)\nimport nn.parts\ndef f(X):\n  return X\n";
    assert_eq!(computed(other, &x), x);
    // A variable hides a module.
    assert_eq!(wrong("import nn\ndef f(nn):\n  return nn.cumsum(nn)\n").code, Some(rules::TILE_NAME));
}

#[test]
fn wrong_imports_are_found() {
    for (text, message, note) in [
        ("from nn import sofmax\n", "the module `nn` has no function `sofmax`", "did you mean `softmax`?"),
        (
            "from nn import relu\n",
            "the module `nn` has no function `relu`",
            "Tile itself has `relu`: it needs no import",
        ),
        (
            "from nn import _axis\n",
            "the module `nn` has no function `_axis`",
            "`docs/tile-library.md` has the functions",
        ),
    ] {
        let d = Tile::new("user.tile", text).unwrap_err();
        assert_eq!((d.message.as_str(), d.code), (message, Some(rules::TILE_NAME)));
        assert!(d.notes[0].contains(note), "{d:?}");
    }
    for (text, message) in [
        ("import nn\ndef f(X):\n  return nn.sofmax(X)\n", "the module `nn` has no function `sofmax`"),
        ("import nn\ndef f(X):\n  return nn.softmax\n", "`nn.softmax` is a function"),
        ("import nn\ndef f(X):\n  return nn + X\n", "`nn` is a module"),
    ] {
        assert_eq!(wrong(text).message, message);
    }
    let d = wrong("def f(X):\n  return softmax(X)\n");
    assert_eq!(d.notes, ["the library has it: `from nn import softmax`"]);
    for text in
        ["from nn import\n", "import\n", "from nn import a b\n", "from nn import (a\n", "import nn as\n"]
    {
        assert_eq!(Tile::new("user.tile", text).unwrap_err().code, Some(rules::TILE_SYNTAX), "{text}");
    }
}

#[test]
fn what_is_wrong_in_the_library_is_told_at_the_call() {
    let text = "import nn\n\ndef f(X):\n  Y = X + 1\n  return nn.reduce_mean(Y, axis=1)\n";
    let d = wrong(text);
    assert_eq!(d.message, "the tensor has no dimension of that number");
    assert_eq!(d.code, Some(rules::TILE_ASSERTION));
    let [label] = d.labels.as_slice() else { panic!("{d:?}") };
    assert_eq!(&text[label.span.range()], "nn.reduce_mean(Y, axis=1)");
    assert_eq!(label.message, "in this call of `nn.reduce_mean`");
    // There is a note for each call on the way to the error.
    assert!(
        d.notes[0].starts_with("nn/reduction.tile:") && d.notes[0].ends_with(": this does not hold"),
        "{d:?}"
    );
    assert!(d.notes[1].contains("in this call of `nn._axis`"), "{d:?}");
    assert_eq!(d.notes.len(), 3);
    let shown = render(&d, &Source { name: "user.tile".into(), text: text.into() }, false);
    assert!(shown.contains("user.tile:5:10"), "{shown}");

    // A tensor that is only computed inside the called function.
    let text = "import nn\ndef f(X):\n  N = TensorDim()\n  i = TensorIndex()\n  X.bind_dims(N)\n  O = TensorOutput(N, 2)\n  O[i] += X[i]\n  return nn.softmax(O)\n";
    let d = wrong(text);
    assert_eq!(d.code, Some(rules::TILE_OUTPUT_RANK));
    assert_eq!(&text[d.labels[0].span.range()], "O[i]");

    let d = wrong("import nn\ndef f(X):\n  return nn.softmax(X, axes=1)\n");
    assert_eq!(d.message, "`nn.softmax` has no parameter `axes`");
    assert!(
        d.notes.iter().any(|n| n.starts_with("nn/activation.tile:") && n.ends_with("defined here")),
        "{d:?}"
    );
    assert!(d.notes.contains(&"did you mean `axis`?".to_owned()), "{d:?}");
}

#[test]
fn instructions_have_the_places_of_the_library() {
    let made = made("from nn import silu\ndef f(X):\n  return silu(X)\n", f32(&[4])).unwrap();
    let entry = &made.module[made.module.entry()];
    let metadata = &made.module[entry.root()].common.as_ref().unwrap().metadata;
    assert_eq!(metadata.op_name.as_str(), Some("f/silu"));
    assert_eq!(metadata.source_file.as_str(), Some("nn/activation.tile"));
    assert!(metadata.source_line > 1);
}

#[test]
fn lists_and_choices_are_pythons() {
    // Computed with CPython.
    for (expression, value) in [
        ("len([1, 2][1:] + [3] * 2 + (4,))", 4.0),
        ("[1, 2, 3][-2:][0]", 2.0),
        ("len([1, 2, 3][:-1])", 2.0),
        ("len([1, 2, 3][5:])", 0.0),
        ("len([1, 2, 3][2:1])", 0.0),
        ("len([1] * True + 2 * [] + [0] * -1)", 1.0),
        ("1 if 0 else 2 if '' else 3", 3.0),
        ("1 if 'a' == 'a' and not [] else 2", 1.0),
        ("1 if 'a' == (1, 2) or None == 0 else 2", 2.0),
        ("1 if (1, (2.0, 'x')) == [1, [2, 'x']] else 2", 1.0),
        ("1 if None != None else 2", 2.0),
        ("(None or [7])[0] + (0 and [1][9])", 7.0),
        ("X.size + len(X.shape) + X.shape[-1]", 9.0),
        ("1 if X.dtype == DType.FLOAT32 else 2", 1.0),
        ("len('äb')", 2.0),
    ] {
        let text = format!("def f(X):\n  assert X.rank == 1\n  return 0 * X + ({expression})\n");
        assert_eq!(computed(&text, &[5.0, 6.0, 7.0, 8.0]), [value; 4], "{expression}");
    }
    for (expression, message) in [
        ("1 if X else 2", "a tensor has no single truth value"),
        ("X[1:]", "expected a list, found a tensor"),
        ("len(X)", "expected a list, found a tensor"),
        ("[1] + 2", "expected a number, an index or a tensor, found a list of 1"),
        ("len([1] * 20000)", "a list of 20000 values, more than 10000"),
        ("[1, 2][1, 0:]", "a part of a list is `list[from:until]`"),
        ("1 if 2", "a text that is not Tile"),
    ] {
        assert_eq!(wrong(&format!("def f(X):\n  return 0 * X + ({expression})\n")).message, message);
    }
    let d = wrong("def f(X):\n  assert X.rank == 2, 'a matrix, please'\n  return X\n");
    assert_eq!((d.message.as_str(), d.code), ("a matrix, please", Some(rules::TILE_ASSERTION)));
    // The values in nested lists count, too. Deeply nested conditionals do not overflow the stack of the
    // parser.
    let grows = "  a = [a] * 100\n".repeat(9);
    assert_eq!(wrong(&format!("def f(X):\n  a = 1\n{grows}  return X\n")).code, Some(rules::TILE_SIZE));
    let deep = "1 if 0 else ".repeat(100_000);
    assert_eq!(wrong(&format!("def f(X):\n  return {deep} 1\n")).code, Some(rules::TILE_SYNTAX));
}

#[test]
fn einsum_says_what_is_wrong() {
    for (call, rule) in [
        ("einsum(X, X)", rules::TILE_OPERAND),
        ("einsum('i->j', X)", rules::TILE_OPERAND),
        ("einsum('i,i->i', X)", rules::TILE_CALL),
        ("einsum('ij->i', X)", rules::TILE_BIND_RANK),
        ("einsum('i,i->', X, X + index([4, 4], 0))", rules::TILE_BIND_RANK),
        ("einsum('i,ji->', X, index([2, 3], 0))", rules::TILE_BIND_MISMATCH),
        ("einsum('i->i', x=X)", rules::TILE_CALL),
    ] {
        assert_eq!(wrong(&format!("def f(X):\n  return {call}\n")).code, Some(rule), "{call}");
    }
}

#[test]
fn files_are_tile() {
    for (name, text) in internals::TEXTS {
        let file = hlo_tile::parse(text).unwrap_or_else(|d| panic!("{name}: {d:?}"));
        internals::check_imports(&file, true).unwrap_or_else(|d| panic!("{name}: {d:?}"));
        assert!(text.lines().count() <= 800, "{name} is too long");
    }
}

#[test]
fn functions_are_documented_and_hide_none_of_tiles() {
    let mut names = Vec::new();
    for f in library::functions() {
        let name = f.function.name.text.as_str();
        assert!(f.documentation().contains('.'), "{name} does not say what it does");
        assert!(!builtin_names().any(|b| b == name), "{name} hides a function of Tile");
        names.push(name);
    }
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count, "two functions have one name");
    assert!(count > 50);
}
