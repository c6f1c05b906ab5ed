//! Tests of the values of names, for editors.

use hlo_tile::Tile;

#[test]
fn names_are_known_by_what_they_become() {
    let text = "\
# tile: I: f32[2,3], s = 2
def f(I, s, half=0.5):
  M, N = TensorDims(2)
  P = TensorDim()
  m, n = TensorIndexes(2)
  I.bind_dims(M, N)
  O = TensorOutput(N * s)
  O[s * n] += I[m, n]
  Q = TensorOutput(N)
  A = O + half
  A = g(A) > 1
  return A

def g(X):
  Y = X * X
  return Y
";
    let tile = Tile::new("known.tile", text).unwrap();
    let arguments = &tile.directive("f").unwrap().arguments;
    let (made, names) = tile.inspect("f", arguments, &[]);
    made.unwrap();
    let all: Vec<_> = names.iter().map(|k| format!("{}: {k}", &text[k.span.range()])).collect();
    let expected = [
        "I: a tensor `f32[2,3]`",
        "s: the number 2",
        "half: the number 0.5",
        "M: a TensorDim, 2",
        "N: a TensorDim, 3",
        "P: a TensorDim without a size",
        "m: an index",
        "n: an index",
        "O: a tensor `f32[6]`",
        "Q: a TensorOutput that nothing has used",
        "A: a tensor `f32[6]`",
        "A: a tensor `pred[6]`",
        "X: a tensor `f32[6]`",
        "Y: a tensor `f32[6]`",
    ];
    assert_eq!(all, expected);
}
