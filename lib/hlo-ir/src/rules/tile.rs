//! Rules of Tile (`lib/hlo-tile`). Their examples are Tile files, each with arguments for its function.

rules! {
    TILE_SYNTAX = "E3001" "tile-syntax" {
        rule: "A file of Tile has functions of straight-line code, in Python's spelling.",
        why: "There are assignments, contractions, calls and `return`; no loops or branches: a contraction runs over all indices that are valid.",
        example: Some(r"def f(A):
  O = (A + 1
  return O
"),
        fix: "close the parenthesis: `O = (A + 1)`",
        section: "Tile eDSL",
    }
    TILE_NAME = "E3002" "tile-name" {
        rule: "A name, an attribute or a method is one that there is.",
        why: "Variables are those of the function; functions those of the file and those that Tile has.",
        example: Some(r"# tile: A: f32[2]
def f(A):
  return A + B
"),
        fix: "give the function a parameter `B`, or write `A + A`",
        section: "Tile eDSL",
    }
    TILE_NOT_SUBSCRIPTABLE = "E3003" "tile-not-subscriptable" {
        rule: "Brackets are of tensors and lists.",
        why: "`TensorOutput` is a function: it is called with the sizes in parentheses.",
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
        rule: "A function is called with an argument for each parameter that has no default, and ends.",
        why: "Nothing branches, so a function that calls itself would do so for ever.",
        example: Some(r"# tile: A: f32[2]
def f(A):
  return sqrt(A, A)
"),
        fix: "write `sqrt(A)`",
        section: "Tile eDSL",
    }
    TILE_OPERAND = "E3005" "tile-operand" {
        rule: "An operation has operands of the kind that it takes.",
        why: "Tensors, numbers, dimensions, indices and constraints are different things, whatever Python would make of them.",
        example: Some(r"# tile: A: f32[2]
def f(A):
  i = TensorIndex()
  return A + i
"),
        fix: "`index([2], 0)` is the tensor of a dimension's indices",
        section: "Tile eDSL",
    }
    TILE_TYPE = "E3006" "tile-type" {
        rule: "An operation works on the element types of its operands.",
        why: "Bits are of whole numbers and truth values, arithmetic is of numbers.",
        example: Some(r"# tile: A: f32[2], B: f32[2]
def f(A, B):
  return A & B
"),
        fix: "compare first, or `cast` to whole numbers",
        section: "Tile eDSL",
    }
    TILE_ASSERTION = "E3007" "tile-assertion" {
        rule: "What a function asserts holds for what it is called with.",
        why: "`assert test, message` is how a function says what it takes; the message is the function's own.",
        example: Some(r"# tile: X: f32[4], axis = 1
def f(X, axis):
  assert axis < X.rank, 'there is no such dimension'
  return X
"),
        fix: "call the function with `axis = 0`",
        section: "Tile eDSL",
    }
    TILE_BIND_MISMATCH = "E3010" "tile-bind-mismatch" {
        rule: "A TensorDim has one size: `bind_dims` of another tensor, or of another dimension, finds the same.",
        why: "That is how a function says which sizes of its arguments are equal.",
        example: Some(r"# tile: A: f32[3,4], B: f32[5,2]
def f(A, B):
  I, J, K = TensorDims(3)
  A.bind_dims(I, K)
  B.bind_dims(K, J)
  return A
"),
        fix: "call it with tensors that fit, such as `B: f32[4,2]`",
        section: "Tile eDSL",
    }
    TILE_BIND_RANK = "E3011" "tile-bind-rank" {
        rule: "`bind_dims` has a dimension for each of the tensor's.",
        why: "A tensor's rank is part of what a function says of it.",
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
        rule: "A TensorDim has a size before it is used.",
        why: "`bind_dims` gives it the one that a tensor has.",
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
        rule: "Sizes are positive, and numbers of indices and dimensions stay below 2^60.",
        why: "A tensor without elements is none in Tile; nothing divides by 0.",
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
        rule: "A TensorOutput is written at an index for each of its dimensions.",
        why: "The tutorial's `avg` says `TensorOutput()`, which has none, and writes `Sum[y]`.",
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
        rule: "A tensor is read at an index for each of its dimensions.",
        why: "An index says where in each dimension an element is.",
        example: Some(r"# tile: A: f32[3,4]
def f(A):
  i = TensorIndex()
  O = TensorOutput(3)
  O[i] += A[i]
  return O
"),
        fix: "read it at two: `A[i, j]`",
        section: "Tile eDSL",
    }
    TILE_UNBOUNDED = "E3022" "tile-unbounded-index" {
        rule: "Accesses and constraints bound every index.",
        why: "A contraction runs over all valid indices, so these must be finitely many. A sum of indices that is bounded leaves each of them free.",
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
        rule: "An index of a constraint is in an access, too.",
        why: "It would count each value as often as it has values itself.",
        example: Some(r"# tile: A: f32[4]
def f(A):
  i, k = TensorIndexes(2)
  O = TensorOutput(4)
  O[i] += A[i]
  O.add_constraint(k < 3)
  return O
"),
        fix: "leave the constraint out, or use `k` in an access",
        section: "Tile eDSL",
    }
    TILE_MULTIPLE_ASSIGN = "E3024" "tile-multiple-assign" {
        rule: "`=` writes each element of its output at most once.",
        why: "Which of several values were to stay would be unclear. It is checked exactly for the sizes that there are; where that takes too long, it is refused.",
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
        rule: "An index expression is affine: sums of indices with whole factors, and numbers.",
        why: "Only of such can all valid indices be found exactly. `//` by a number leaves out the indices that it does not divide.",
        example: Some(r"# tile: A: f32[9]
def f(A):
  i, j = TensorIndexes(2)
  O = TensorOutput(9)
  O[i] += A[i * j]
  return O
"),
        fix: "give one of them a fixed size, such as `3 * i + j`",
        section: "Tile eDSL",
    }
    TILE_CONSTRAINT = "E3026" "tile-constraint" {
        rule: "A constraint is `index < bound`, and says `0 <= index` as well.",
        why: "The bound is made of dimensions and numbers. `k <= i` is `0 <= i - k`, so `i - k < N` with a bound that is never reached.",
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
        rule: "A contraction aggregates elements of one tensor, or of two combined by `*`, `+` or `==`, or of three by `cond`.",
        why: "All else is elementwise, on whole tensors, in statements of its own.",
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
        rule: "A TensorOutput is written before it is used.",
        why: "A TensorOutput is only a shape until a contraction says what its elements are.",
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
        rule: "A TensorOutput has one contraction, and all that is said of it comes before its first use.",
        why: "PlaidML drops the first of two without a word.",
        example: Some(r"# tile: A: f32[4], B: f32[4]
def f(A, B):
  i = TensorIndex()
  O = TensorOutput(4)
  O[i] += A[i]
  O[i] += B[i]
  return O
"),
        fix: "write `A + B`, or give the second one an output of its own",
        section: "Tile eDSL",
    }
    TILE_NOT_AN_OUTPUT = "E3030" "tile-not-an-output" {
        rule: "Only a TensorOutput is written.",
        why: "Arguments and results of operations have their elements already.",
        example: Some(r"# tile: A: f32[4]
def f(A):
  i = TensorIndex()
  A[i] += A[i]
  return A
"),
        fix: "begin a new one: `O = TensorOutput(4)`",
        section: "Tile eDSL",
    }
    TILE_BROADCAST = "E3040" "tile-broadcast" {
        rule: "Shapes that are combined elementwise fit each other: aligned at their last dimensions, sizes are equal or 1.",
        why: "That is numpy's broadcasting. The choices of `select` have one shape, or are scalars.",
        example: Some(r"# tile: A: f32[3,4], B: f32[3]
def f(A, B):
  return A + B
"),
        fix: "reshape first: `A + reshape(B, (3, 1))`",
        section: "Tile eDSL",
    }
    TILE_RESHAPE = "E3041" "tile-reshape" {
        rule: "`reshape` keeps the number of elements.",
        why: "It moves no element: the order in memory stays.",
        example: Some(r"# tile: A: f32[2,3]
def f(A):
  return reshape(A, (3, 3))
"),
        fix: "write `reshape(A, (3, 2))`",
        section: "Tile eDSL",
    }
}
