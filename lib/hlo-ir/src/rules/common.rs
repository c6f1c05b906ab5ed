//! Rules for instructions of every opcode: number and kinds of operands, dimension numbers, declared shapes,
//! signatures of called computations.

rules! {
    ARITY = "E0301" "operand-count" {
        rule: "An instruction has as many operands as its opcode takes.",
        why: "Most opcodes take a fixed number. Others take a minimum number or more, or one operand for each dimension, branch or array.",
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
        fix: "write `reduce(x, zero)`: one array takes one initial value",
        section: "Operation semantics, Reduce",
    }
    OPERAND_KIND = "E0302" "operand-kind" {
        rule: "An operand is an array, a scalar, a tuple or a token, as the opcode requires.",
        why: "Opcodes that compute take arrays. A tuple only groups values: extract its elements with `get-tuple-element` first.",
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
        rule: "The opcode supports the element type of each operand.",
        why: "Shifts are not defined for floating-point numbers, and sine is not defined for integers. Use `convert` first.",
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
        rule: "Operands that are combined element by element have the same sizes.",
        why: "HLO has no implicit broadcasting: repeat elements with an explicit `broadcast`, which names the dimensions.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[2] parameter(0)
  y = f32[3] parameter(1)
  ROOT z = f32[2] add(x, y)
}
"),
        fix: "give both operands the same sizes with `slice`, `pad` or `broadcast`",
        section: "Operation semantics, Element-wise binary arithmetic operations",
    }
    DECLARED_SHAPE = "E0306" "declared-shape" {
        rule: "The shape written before the opcode is the shape inferred from the operands and attributes.",
        why: "Element types, sizes and dynamic dimensions must agree. Layouts may differ.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[2] parameter(0)
  ROOT y = f32[3] negate(x)
}
"),
        fix: "write the shape in the message, `f32[2]`, or omit it where it can be inferred",
        section: "HLO text, instructions",
    }
    CALLEE_SIGNATURE = "E0307" "callee-parameters" {
        rule: "A called computation has a parameter of the right shape for each argument.",
        why: "The arguments depend on the opcode: the operands for a `call`, two scalars of the element type for a `reduce`, the loop-carried value for a `while`.",
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
        fix: "give `a` the shape of `x`, or `x` the shape of `a`",
        section: "Operation semantics, Call",
    }
    INVALID_SHAPE = "E0308" "valid-shape" {
        rule: "No size is negative, an array has at most 256 dimensions, and a layout lists each dimension once.",
        why: "The parser rejects such shapes, but a pass that computes sizes can create them. A shape with more dimensions costs more than its elements.",
        example: None,
        fix: "compute sizes of at least 0 and layouts that are permutations; reshape arrays with more dimensions",
        section: "HLO text, shapes",
    }
    OVERFLOW = "E0310" "size-overflow" {
        rule: "The sizes that an instruction computes fit in 64 bits.",
        why: "Sizes and numbers of elements are signed 64-bit integers.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[2] parameter(0)
  zero = f32[] constant(0)
  ROOT y = f32[2] pad(x, zero), padding=9223372036854775807_0
}
"),
        fix: "use less padding",
        section: "HLO text, shapes",
    }
    MIXED_TYPES = "E0311" "operand-types" {
        rule: "Operands that are combined have one element type, or all have floating-point types.",
        why: "HLO does not convert integers implicitly: an explicit `convert` selects the type of the result. (W0008 covers different floating-point types.)",
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
        why: "Dimensions are numbered from 0, starting with the one that changes slowest in row-major order. Negative numbers do not count from the end.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[2,3] parameter(0)
  ROOT y = f32[2,3] reverse(x), dimensions={2}
}
"),
        fix: "use dimension 0 or 1 of the array of rank 2",
        section: "Operation semantics, Rev (reverse)",
    }
    DIMENSION_REPEATED = "E0313" "dimension-repeated" {
        rule: "A list of dimensions names each dimension at most once.",
        why: "Each entry assigns a role to one dimension.",
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
        why: "Entries are matched by position, so none can be omitted.",
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
        rule: "A list of dimensions is sorted if its order has no meaning.",
        why: "The dimensions of slices and windows keep the operand's order, so another order would only be a second spelling.",
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
        rule: "A dimension has one role: it is in at most one of an opcode's lists of dimensions.",
        why: "A dimension cannot be both kept and summed over, or both dropped and used for batches.",
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
        rule: "The attribute `dimensions` of an opcode that works along one dimension has exactly one entry.",
        why: "`concatenate`, `sort`, `get-dimension-size` and similar opcodes take a list with one entry in the text.",
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
        rule: "A called computation returns a result of the shape that its caller requires.",
        why: "The body of a `while` returns the next loop-carried value, the function of a `reduce` the next accumulator, and a comparator a `pred[]`.",
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
        why: "An index of a batching dimension selects a part of both operands.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[2,3] parameter(0)
  i = s32[4,1] parameter(1)
  ROOT y = f32[4] gather(x, i), offset_dims={}, collapsed_slice_dims={1}, start_index_map={1}, operand_batching_dims={0}, start_indices_batching_dims={0}, index_vector_dim=1, slice_sizes={1,1}
}
"),
        fix: "give `i` 2 rows, one for each batch",
        section: "Operation semantics, Gather",
    }
}
