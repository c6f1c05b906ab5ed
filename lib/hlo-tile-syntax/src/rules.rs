//! Rules of Tile. Their examples are Tile files, each with arguments for its function.

/// The rules of Tile.
pub const FAMILY: hlo_ir::rules::Family =
    hlo_ir::rules::Family { title: "Tile", example: "example.tile", rules: TABLE };

hlo_ir::rules! {
    TILE_SYNTAX = "E3001" "tile-syntax" {
        rule: "A file of Tile contains functions of straight-line code, in Python's syntax.",
        why: "Statements are assignments, contractions, calls and `return`. There are no loops or branches: a contraction iterates over all valid indices.",
        example: Some(r"def f(A):
  O = (A + 1
  return O
"),
        fix: "close the parenthesis: `O = (A + 1)`",
        section: "Tile eDSL",
    }
    TILE_NAME = "E3002" "tile-name" {
        rule: "A name, an attribute or a method exists.",
        why: "Variables are those of the function. Functions are those of the file and of Tile.",
        example: Some(r"# tile: A: f32[2]
def f(A):
  return A + B
"),
        fix: "add a parameter `B` to the function, or write `A + A`",
        section: "Tile eDSL",
    }
    TILE_NOT_SUBSCRIPTABLE = "E3003" "tile-not-subscriptable" {
        rule: "Only tensors and lists have elements in brackets.",
        why: "`TensorOutput` is a function: call it with the sizes in parentheses.",
        example: Some(r"# tile: A: f32[4]
def f(A):
  N = TensorDim()
  i = TensorIndex()
  A.bind_dims(N)
  O = TensorOutput[N]
  O[i] += A[i]
  return O
"),
        fix: "write `O = TensorOutput(N)`",
        section: "Tile eDSL",
    }
    TILE_CALL = "E3004" "tile-call" {
        rule: "A call has an argument for each parameter without a default, and is not recursive.",
        why: "Tile has no branches, so a function that calls itself would never end.",
        example: Some(r"# tile: A: f32[2]
def f(A):
  return sqrt(A, A)
"),
        fix: "write `sqrt(A)`",
        section: "Tile eDSL",
    }
    TILE_OPERAND = "E3005" "tile-operand" {
        rule: "An operation has operands of the kind that it requires.",
        why: "Tensors, numbers, dimensions, indices and constraints are different kinds, even where Python would convert them.",
        example: Some(r"# tile: A: f32[2]
def f(A):
  i = TensorIndex()
  return A + i
"),
        fix: "use `index([2], 0)`, the tensor of a dimension's indices",
        section: "Tile eDSL",
    }
    TILE_TYPE = "E3006" "tile-type" {
        rule: "An operation supports the element types of its operands.",
        why: "Bit operations take integers and truth values. Arithmetic takes numbers.",
        example: Some(r"# tile: A: f32[2], B: f32[2]
def f(A, B):
  return A & B
"),
        fix: "compare first, or `cast` to integers",
        section: "Tile eDSL",
    }
    TILE_ASSERTION = "E3007" "tile-assertion" {
        rule: "The assertions of a function are true for its arguments.",
        why: "`assert test, message` describes the arguments that a function accepts. The message comes from the function.",
        example: Some(r"# tile: X: f32[4], axis = 1
def f(X, axis):
  assert axis < X.rank, 'there is no such dimension'
  return X
"),
        fix: "call the function with `axis = 0`",
        section: "Tile eDSL",
    }
    TILE_BIND_MISMATCH = "E3010" "tile-bind-mismatch" {
        rule: "A TensorDim has one size: a second `bind_dims` must find the same size.",
        why: "A function uses this to specify which sizes of its arguments are equal.",
        example: Some(r"# tile: A: f32[3,4], B: f32[5,2]
def f(A, B):
  I, J, K = TensorDims(3)
  A.bind_dims(I, K)
  B.bind_dims(K, J)
  return A
"),
        fix: "call it with tensors of equal sizes, such as `B: f32[4,2]`",
        section: "Tile eDSL",
    }
    TILE_BIND_RANK = "E3011" "tile-bind-rank" {
        rule: "`bind_dims` has one argument for each dimension of the tensor.",
        why: "A function uses this to specify the rank of the tensor.",
        example: Some(r"# tile: A: f32[3,4]
def f(A):
  N = TensorDim()
  A.bind_dims(N)
  return A
"),
        fix: "bind both: `A.bind_dims(M, N)`",
        section: "Tile eDSL",
    }
    TILE_UNBOUND_DIM = "E3012" "tile-unbound-dim" {
        rule: "A TensorDim has a size before its first use.",
        why: "`bind_dims` assigns it the size of a tensor's dimension.",
        example: Some(r"# tile: A: f32[3]
def f(A):
  M, N = TensorDims(2)
  i = TensorIndex()
  A.bind_dims(N)
  O = TensorOutput(M)
  O[i] += A[i]
  return O
"),
        fix: "write `TensorOutput(N)`",
        section: "Tile eDSL",
    }
    TILE_SIZE = "E3013" "tile-size" {
        rule: "Sizes are positive, and numbers in indices and dimensions are less than 2^60.",
        why: "A tensor in Tile has at least one element, and no operation divides by 0.",
        example: Some(r"# tile: A: f32[3]
def f(A):
  N = TensorDim()
  i = TensorIndex()
  A.bind_dims(N)
  O = TensorOutput(N - 3)
  O[i] += A[i]
  return O
"),
        fix: "make the output larger: `TensorOutput(N - 2)`",
        section: "Tile eDSL",
    }
    TILE_OUTPUT_RANK = "E3020" "tile-output-rank" {
        rule: "A contraction writes a TensorOutput with one index for each dimension.",
        why: "`avg` in the tutorial declares `TensorOutput()`, which has no dimensions, and writes `Sum[y]`.",
        example: Some(r"# tile: A: f32[3,4]
def f(A):
  X, Y = TensorDims(2)
  x, y = TensorIndexes(2)
  A.bind_dims(X, Y)
  Sum = TensorOutput()
  Sum[y] += A[x, y]
  return Sum / X
"),
        fix: "write `Sum = TensorOutput(Y)`",
        section: "Tile eDSL",
    }
    TILE_ACCESS_RANK = "E3021" "tile-access-rank" {
        rule: "A contraction reads a tensor with one index for each dimension.",
        why: "The indices select an element along each dimension.",
        example: Some(r"# tile: A: f32[3,4]
def f(A):
  i = TensorIndex()
  O = TensorOutput(3)
  O[i] += A[i]
  return O
"),
        fix: "read it with two indices: `A[i, j]`",
        section: "Tile eDSL",
    }
    TILE_UNBOUNDED = "E3022" "tile-unbounded-index" {
        rule: "Accesses and constraints bound every index.",
        why: "A contraction iterates over all valid indices, so their number must be finite. A bounded sum of indices does not bound each of them.",
        example: Some(r"# tile: A: f32[4]
def f(A):
  i, j, k = TensorIndexes(3)
  O = TensorOutput(4)
  O[i] += A[i + j + k]
  return O
"),
        fix: "bound one: `O.add_constraint(j < 2)`",
        section: "Tile eDSL",
    }
    TILE_CONSTRAINT_ONLY = "E3023" "tile-constraint-only-index" {
        rule: "An index in a constraint is also in an access.",
        why: "Otherwise it would count each value once for each value of the index.",
        example: Some(r"# tile: A: f32[4]
def f(A):
  i, k = TensorIndexes(2)
  O = TensorOutput(4)
  O[i] += A[i]
  O.add_constraint(k < 3)
  return O
"),
        fix: "remove the constraint, or use `k` in an access",
        section: "Tile eDSL",
    }
    TILE_MULTIPLE_ASSIGN = "E3024" "tile-multiple-assign" {
        rule: "`=` writes each element of its output at most once.",
        why: "It would be unclear which of several values to keep. The check is exact for the given sizes, and rejects a contraction if it takes too long.",
        example: Some(r"# tile: A: f32[3,4]
def f(A):
  m, n = TensorIndexes(2)
  O = TensorOutput(4)
  O[n] = A[m, n]
  return O
"),
        fix: "aggregate: `O[n] += A[m, n]`, or constrain `m`",
        section: "Tile eDSL",
    }
    TILE_NON_AFFINE = "E3025" "tile-non-affine" {
        rule: "An index expression is affine: a sum of indices with whole factors, and of numbers.",
        why: "Only then can all valid indices be found exactly. `//` by a number skips the indices that it does not divide.",
        example: Some(r"# tile: A: f32[9]
def f(A):
  i, j = TensorIndexes(2)
  O = TensorOutput(9)
  O[i] += A[i * j]
  return O
"),
        fix: "multiply one index by a fixed size, such as `3 * i + j`",
        section: "Tile eDSL",
    }
    TILE_CONSTRAINT = "E3026" "tile-constraint" {
        rule: "A constraint is `index < bound`, which includes `0 <= index`.",
        why: "The bound consists of dimensions and numbers. `k <= i` is `0 <= i - k`, so write `i - k < N` with a bound that is never reached.",
        example: Some(r"# tile: A: f32[4]
def f(A):
  N = TensorDim()
  i, k = TensorIndexes(2)
  A.bind_dims(N)
  O = TensorOutput(N)
  O[i] += A[k]
  O.add_constraint(k <= i)
  return O
"),
        fix: "write `O.add_constraint(i - k < N)`",
        section: "Tile eDSL",
    }
    TILE_COMBINATION = "E3027" "tile-combination" {
        rule: "A contraction aggregates elements of one tensor, of two combined by `*`, `+` or `==`, or of three combined by `cond`.",
        why: "Other operations work on whole tensors, element by element, in separate statements.",
        example: Some(r"# tile: A: f32[3,4]
def f(A):
  i, j = TensorIndexes(2)
  O = TensorOutput()
  O[()] >= -A[i, j]
  return O
"),
        fix: "negate the tensor first: `B = -A`",
        section: "Tile eDSL",
    }
    TILE_NO_CONTRACTION = "E3028" "tile-no-contraction" {
        rule: "A contraction writes a TensorOutput before its first use.",
        why: "Until then, a TensorOutput is only a shape without elements.",
        example: Some(r"# tile: A: f32[4]
def f(A):
  N = TensorDim()
  A.bind_dims(N)
  O = TensorOutput(N)
  return O
"),
        fix: "write it: `O[i] += A[i]`",
        section: "Tile eDSL",
    }
    TILE_REASSIGNMENT = "E3029" "tile-reassignment" {
        rule: "A TensorOutput has one contraction, and its constraints and defaults come before its first use.",
        why: "PlaidML silently drops the first of two.",
        example: Some(r"# tile: A: f32[4], B: f32[4]
def f(A, B):
  i = TensorIndex()
  O = TensorOutput(4)
  O[i] += A[i]
  O[i] += B[i]
  return O
"),
        fix: "write `A + B`, or use another output for the second contraction",
        section: "Tile eDSL",
    }
    TILE_NOT_AN_OUTPUT = "E3030" "tile-not-an-output" {
        rule: "A contraction writes only a TensorOutput.",
        why: "Arguments and results of operations already have elements.",
        example: Some(r"# tile: A: f32[4]
def f(A):
  i = TensorIndex()
  A[i] += A[i]
  return A
"),
        fix: "create an output: `O = TensorOutput(4)`",
        section: "Tile eDSL",
    }
    TILE_BROADCAST = "E3040" "tile-broadcast" {
        rule: "Shapes that are combined elementwise are compatible: aligned at their last dimensions, sizes are equal or 1.",
        why: "These are numpy's broadcasting rules. The last two operands of `select` have the same shape, or are scalars.",
        example: Some(r"# tile: A: f32[3,4], B: f32[3]
def f(A, B):
  return A + B
"),
        fix: "reshape first: `A + reshape(B, (3, 1))`",
        section: "Tile eDSL",
    }
    TILE_RESHAPE = "E3041" "tile-reshape" {
        rule: "`reshape` keeps the number of elements.",
        why: "It moves no element: the order in memory stays the same.",
        example: Some(r"# tile: A: f32[2,3]
def f(A):
  return reshape(A, (3, 3))
"),
        fix: "write `reshape(A, (3, 2))`",
        section: "Tile eDSL",
    }
    TILE_EMPTY = "W3001" "tile-empty" {
        rule: "A contraction has at least one valid index.",
        why: "Otherwise no element is written: all are 0, or those of the default.",
        example: Some(r"# tile: A: f32[4]
def f(A):
  N = TensorDim()
  i = TensorIndex()
  A.bind_dims(N)
  O = TensorOutput(N)
  O[i] += A[i + 10]
  return O
"),
        fix: "read within the tensor, or remove the contraction",
        section: "Tile eDSL",
    }
    TILE_OUTPUT_ONLY = "W3002" "tile-output-only-index" {
        rule: "If a contraction reads windows, each index of the output is also in an operand.",
        why: "The complex convolution in the tutorial reads `s0 * x1` where `s0 * x0` is meant. The result is the same for every `x0`.",
        example: Some(r"# tile: A: f32[8], K: f32[3]
def f(A, K):
  x, y, k = TensorIndexes(3)
  O = TensorOutput(4, 6)
  O[x, y] += A[y + k] * K[k]
  return O
"),
        fix: "use `x` in an operand, or remove its dimension from the output",
        section: "Tile eDSL",
    }
    TILE_NEGATIVE_DIVISION = "W3003" "tile-negative-division" {
        rule: "A dimension that is divided is not negative.",
        why: "`//` of dimensions rounds towards zero, as in PlaidML. Python would round down.",
        example: Some(r"# tile: A: f32[3]
def f(A):
  N = TensorDim()
  A.bind_dims(N)
  P = (N - 6) // 2
  return A + P
"),
        fix: "divide a number that is not negative",
        section: "Tile eDSL",
    }
    TILE_PYTHON = "W3004" "tile-python" {
        rule: "A file of Tile contains only imports and functions of Tile.",
        why: "Other Python code, such as classes and functions with loops or branches, is ignored. Functions of Tile in the same file are read.",
        example: Some(r"# tile: A: f32[3]
def f(A):
  return -A

def show(A):
  for a in A:
    print(a)
"),
        fix: "change nothing, unless you call the function",
        section: "Tile eDSL",
    }
}
