//! Rules for instructions of every opcode: number and kinds of operands, dimension numbers, declared shapes,
//! signatures of called computations.

rules! {
    ARITY = "E0301" "operand-count" {
        rule: "An instruction has as many operands as its opcode takes.",
        why: "The number is fixed for most opcodes; some take any number from a smallest one on, or one for each dimension, branch or array.",
        example: Some(r"HloModule m

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

ENTRY main {
  x = f32[2] parameter(0)
  zero = f32[] constant(0)
  ROOT y = f32[] reduce(x, zero, zero), dimensions={0}, to_apply=add
}
"),
        fix: "one array goes with one initial value: write `reduce(x, zero)`",
        section: "Operation semantics, Reduce",
    }
    OPERAND_KIND = "E0302" "operand-kind" {
        rule: "An operand is an array, a scalar, a tuple or a token as the opcode asks.",
        why: "Computing opcodes work on arrays; tuples only group values and have to be taken apart by `get-tuple-element` first.",
        example: Some(r"HloModule m

ENTRY main {
  x = (f32[2]) parameter(0)
  ROOT y = f32[2] negate(x)
}
"),
        fix: "negate the element: `a = f32[2] get-tuple-element(x), index=0`",
        section: "Operation semantics, GetTupleElement",
    }
    ELEMENT_TYPE = "E0303" "element-type" {
        rule: "An operand's element type is one that the opcode works on.",
        why: "Shifts have no meaning for floating-point numbers, nor has a sine for integers: a `convert` must say how to get there.",
        example: Some(r"HloModule m

ENTRY main {
  x = s32[2] parameter(0)
  ROOT y = s32[2] sine(x)
}
"),
        fix: "convert first: `f = f32[2] convert(x)`",
        section: "Operation semantics, Element-wise unary functions",
    }
    OPERAND_SHAPES = "E0304" "operand-sizes" {
        rule: "Operands that go together element by element have the same sizes.",
        why: "HLO has no implicit broadcasting: what is repeated goes through a `broadcast` that says along which dimensions.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[2] parameter(0)
  y = f32[3] parameter(1)
  ROOT z = f32[2] add(x, y)
}
"),
        fix: "give both operands the same sizes, by `slice`, `pad` or `broadcast`",
        section: "Operation semantics, Element-wise binary arithmetic operations",
    }
    DECLARED_SHAPE = "E0306" "declared-shape" {
        rule: "The shape written before the opcode is the one that follows from the operands and attributes.",
        why: "Element types, sizes and dynamic dimensions have to agree; layouts may differ.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[2] parameter(0)
  ROOT y = f32[3] negate(x)
}
"),
        fix: "write the shape that the message names, `f32[2]`, or leave it out where it can be inferred",
        section: "HLO text, instructions",
    }
    CALLEE_SIGNATURE = "E0307" "callee-parameters" {
        rule: "A called computation has a parameter of the right shape for each value that it is given.",
        why: "What it is given depends on the opcode: the operands for a `call`, two scalars of the element type for a `reduce`, the state for a `while`.",
        example: Some(r"HloModule m

f {
  a = f32[3] parameter(0)
  ROOT b = f32[3] negate(a)
}

ENTRY main {
  x = f32[2] parameter(0)
  ROOT y = f32[3] call(x), to_apply=f
}
"),
        fix: "give `a` the shape of `x`, or the other way round",
        section: "Operation semantics, Call",
    }
    INVALID_SHAPE = "E0308" "valid-shape" {
        rule: "No size is negative, an array has at most 256 dimensions, and a layout lists each dimension once.",
        why: "The parser reads no such shape; a pass that computes sizes can make one. A shape of more dimensions costs more than its elements.",
        example: None,
        fix: "compute sizes of 0 or more, and layouts that are permutations; reshape arrays of more dimensions",
        section: "HLO text, shapes",
    }
    OVERFLOW = "E0310" "size-overflow" {
        rule: "The sizes that an instruction computes fit 64 bits.",
        why: "Every size and number of elements is a signed 64-bit integer.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[2] parameter(0)
  zero = f32[] constant(0)
  ROOT y = f32[2] pad(x, zero), padding=9223372036854775807_0
}
"),
        fix: "pad by less",
        section: "HLO text, shapes",
    }
    MIXED_TYPES = "E0311" "operand-types" {
        rule: "Operands that go together have one element type, or floating-point types.",
        why: "HLO converts integers to nothing by itself: a `convert` says which of the two types the result has. (For several floating-point types see W0008.)",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[2] parameter(0)
  y = s32[2] parameter(1)
  ROOT z = f32[2] add(x, y)
}
"),
        fix: "convert one of them: `c = f32[2] convert(y)`",
        section: "Operation semantics, Element-wise binary arithmetic operations",
    }
    DIMENSION_RANGE = "E0312" "dimension-range" {
        rule: "A dimension number in an attribute is at least 0 and less than the rank.",
        why: "Dimensions are numbered from 0, the one that changes slowest in the row-major order first; negative numbers do not count from the end.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[2,3] parameter(0)
  ROOT y = f32[2,3] reverse(x), dimensions={2}
}
"),
        fix: "an array of rank 2 has the dimensions 0 and 1",
        section: "Operation semantics, Rev (reverse)",
    }
    DIMENSION_REPEATED = "E0313" "dimension-repeated" {
        rule: "A list of dimensions names none twice.",
        why: "Each entry gives one dimension its role.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[2,3] parameter(0)
  ROOT y = f32[2,3] reverse(x), dimensions={1,1}
}
"),
        fix: "name each dimension once: `dimensions={1}`",
        section: "Operation semantics, Rev (reverse)",
    }
    ENTRY_COUNT = "E0314" "entry-count" {
        rule: "A list in an attribute has an entry for each dimension, index component or operand that it describes.",
        why: "Entries are matched by position, so that none may be left out.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[2,3] parameter(0)
  ROOT y = f32[2,2] slice(x), slice={[0:2]}
}
"),
        fix: "write a range for each dimension: `slice={[0:2], [0:2]}`",
        section: "Operation semantics, Slice",
    }
    DIMENSIONS_SORTED = "E0315" "dimensions-sorted" {
        rule: "Lists of dimensions whose order could say nothing are sorted.",
        why: "The dimensions of slices and windows keep the operand's order, so that another order would only be a second spelling.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4,5,6] parameter(0)
  i = s32[2,1] parameter(1)
  ROOT y = f32[2,6] gather(x, i), offset_dims={1}, collapsed_slice_dims={1,0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,1,6}
}
"),
        fix: "write `collapsed_slice_dims={0,1}`",
        section: "Operation semantics, Gather",
    }
    DIMENSION_SHARED = "E0316" "dimension-shared" {
        rule: "A dimension has one role: it stands in one of an opcode's lists of dimensions.",
        why: "A dimension can't be kept and summed over, or dropped and used for batches, at the same time.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[2,3] parameter(0)
  y = f32[2,3] parameter(1)
  ROOT z = f32[2,3] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={0}, rhs_contracting_dims={0}
}
"),
        fix: "contract dimension 1 instead: `lhs_contracting_dims={1}, rhs_contracting_dims={1}`",
        section: "Operation semantics, DotGeneral",
    }
    ONE_DIMENSION = "E0317" "one-dimension" {
        rule: "The attribute `dimensions` of opcodes that work along one dimension names exactly one.",
        why: "`concatenate`, `sort`, `get-dimension-size` and the like take a list in the text, of one entry.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[2,3] parameter(0)
  ROOT y = f32[2,3] concatenate(x), dimensions={0,1}
}
"),
        fix: "write `dimensions={0}`",
        section: "Operation semantics, Concatenate",
    }
    CALLEE_RESULT = "E0318" "callee-result" {
        rule: "A called computation gives a result of the shape that its caller needs.",
        why: "The body of a `while` gives the next state, the function of a `reduce` the next accumulator, a comparator a `pred[]`.",
        example: Some(r"HloModule m

f {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=LT
}

ENTRY main {
  x = f32[4] parameter(0)
  i = s32[1] parameter(1)
  u = f32[] parameter(2)
  ROOT y = f32[4] scatter(x, i, u), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=0, to_apply=f
}
"),
        fix: "give `f` a root of `f32[]`, such as `maximum(a, b)`",
        section: "Operation semantics, Scatter",
    }
    PAIRED_SIZES = "E0319" "paired-sizes" {
        rule: "Dimensions of two operands that an attribute pairs have the same size.",
        why: "Batching dimensions run side by side.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[2,3] parameter(0)
  i = s32[4,1] parameter(1)
  ROOT y = f32[4] gather(x, i), offset_dims={}, collapsed_slice_dims={1}, start_index_map={1}, operand_batching_dims={0}, start_indices_batching_dims={0}, index_vector_dim=1, slice_sizes={1,1}
}
"),
        fix: "give an index for each of the 2 batches",
        section: "Operation semantics, Gather",
    }
}
