//! Tests Python files that contain Tile functions, such as those of PlaidML.

use hlo_ir::ElementType;
use hlo_ir::diag::Severity;
use hlo_tile::rules;
use hlo_tile::{Argument, Tile};

const FILE: &str = "\"\"\"Functions,
and their tests.
\"\"\"

import functools
import unittest

LIMIT = 3

def twice(X):
  return X + X

@functools.cache
def cached(X):
  return X

def product(X):
  dims = functools.reduce(lambda x, y: x * y, X.shape.dims)
  return reshape(X, (dims,))

def flattened(X):
  return product(X)

class Tests(unittest.TestCase):
  def test(self):
    for i in range(3):
      self.assertEqual(i, i)

    \"\"\"text
def in_text(X):
\"\"\"

if __name__ == '__main__':
  unittest.main()
";

fn specialized(function: &str) -> Result<String, hlo_ir::diag::Diag> {
    let x = Argument::tensor(ElementType::F32, &[2, 3]);
    let made = Tile::new("file.py", FILE)?.specialize(function, &[x])?;
    Ok(made.module[made.module[made.module.entry()].root()].shape.without_layout().to_string())
}

#[test]
fn functions_of_tile_are_read_and_other_parts_are_warnings() {
    assert_eq!(specialized("twice").unwrap(), "f32[2,3]");
    let tile = Tile::new("file.py", FILE).unwrap();
    let lines: Vec<usize> = tile
        .warnings()
        .iter()
        .map(|d| {
            assert_eq!((d.severity, d.code), (Severity::Warning, Some(rules::TILE_PYTHON)));
            FILE[..d.labels[0].span.start as usize].lines().count()
        })
        .collect();
    // `LIMIT`, `@functools.cache`, the line with `lambda`, `class` and `if`.
    let of = |text: &str| FILE[..FILE.find(text).unwrap()].lines().count();
    assert_eq!(lines.len(), 5, "{lines:?}");
    for (line, text) in lines.iter().zip(["LIMIT", "@functools", "  dims =", "class", "if __name__"]) {
        assert!(line.abs_diff(of(text)) <= 1, "{text}: {line}");
    }
}

#[test]
fn what_is_not_tile_is_an_error_where_it_is_called() {
    let direct = specialized("product").unwrap_err();
    assert_eq!(direct.code, Some(rules::TILE_SYNTAX));
    let within = specialized("flattened").unwrap_err();
    assert_eq!(within.code, Some(rules::TILE_SYNTAX));
    assert!(within.labels.iter().any(|l| l.message == "in this call of `product`"), "{within:?}");
    // A decorator changes a function, so a decorated function is not Tile.
    assert!(specialized("cached").is_err());
    let absent = specialized("in_text").unwrap_err();
    assert!(absent.message.contains("no function `in_text`"), "{absent:?}");
}

#[test]
fn a_file_without_a_function_of_tile_is_an_error() {
    for text in ["x = 1\n", "class A:\n  pass\n", "def f(A):\n  for a in A:\n    pass\n"] {
        assert_eq!(Tile::new("file.py", text).unwrap_err().code, Some(rules::TILE_SYNTAX), "{text}");
    }
    // The file has two functions, of which only one is Tile, so the choice is ambiguous.
    let tile = Tile::new("file.py", "def f(A):\n  return A\n\ndef g(A):\n  while A:\n    pass\n").unwrap();
    assert!(tile.only_function().is_err());
}
