//! Rules for opcodes that move elements without changing them.

rules! {
    BITCAST_BYTES = "E0501" "bitcast-bytes" {
        rule: "In a module that passes transform or that runs, `bitcast` keeps the number of bytes.",
        why: "A `bitcast` changes the shape of the same memory. (Layouts without padding leave no meaning for other sizes.)",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[2,3] parameter(0)
  ROOT y = f32[7] bitcast(x)
}
"),
        fix: "write a shape of 24 bytes, such as `f32[6]`",
        section: "HLO text, bitcast; operation semantics, BitcastConvertType",
    }
    KEPT_TYPE = "E0502" "kept-type" {
        rule: "`broadcast`, `reshape` and `dynamic-reshape` keep the element type.",
        why: "They move elements and change none of them.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[2,3] parameter(0)
  ROOT y = s32[6] reshape(x)
}
"),
        fix: "write `f32[6]`, and convert the result",
        section: "Operation semantics, Reshape",
    }
    BROADCAST_SIZES = "E0503" "broadcast-sizes" {
        rule: "Each operand dimension of a `broadcast` has the size of the result dimension that it maps to.",
        why: "`dimensions` contains this map. The operand is repeated along the other result dimensions. A dimension of size 1 is not repeated implicitly.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[3] parameter(0)
  ROOT y = f32[2,3] broadcast(x), dimensions={0}
}
"),
        fix: "map dimension 0 to dimension 1 of the result: `dimensions={1}`",
        section: "Operation semantics, Broadcast",
    }
    CONCATENATE_SIZES = "E0504" "concatenate-sizes" {
        rule: "The operands of a `concatenate` have the same sizes in all dimensions except the concatenated one.",
        why: "The result has the same sizes in its other dimensions.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[2,3] parameter(0)
  y = f32[4,5] parameter(1)
  ROOT z = f32[6,3] concatenate(x, y), dimensions={0}
}
"),
        fix: "give both 3 columns with `slice` or `pad`",
        section: "Operation semantics, Concatenate",
    }
    IOTA_TYPE = "E0505" "iota-type" {
        rule: "`iota` returns integers, floating-point numbers or complex numbers.",
        why: "A `pred` cannot count.",
        example: Some(r"HloModule m

ENTRY main {
  ROOT y = pred[4] iota(), iota_dimension=0
}
"),
        fix: "use `s32[4]`, and compare the result",
        section: "Operation semantics, Iota",
    }
    INTERIOR_PADDING = "E0506" "interior-padding" {
        rule: "Interior padding, between the elements, is 0 or more.",
        why: "Only low and high padding may be negative. They then remove elements at the ends.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[3] parameter(0)
  zero = f32[] constant(0)
  ROOT y = f32[3] pad(x, zero), padding=0_0_-1
}
"),
        fix: "skip elements with the stride of a `slice`",
        section: "Operation semantics, Pad",
    }
    PADDED_SIZE = "E0507" "padded-size" {
        rule: "Negative padding removes no more elements than there are.",
        why: "The resulting size would be negative.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[3] parameter(0)
  zero = f32[] constant(0)
  ROOT y = f32[0] pad(x, zero), padding=-2_-2
}
"),
        fix: "remove at most 3 elements: `padding=-2_-1`",
        section: "Operation semantics, Pad",
    }
    RESHAPE_COUNT = "E0508" "reshape-count" {
        rule: "`reshape` keeps the number of elements.",
        why: "It assigns new indices to the elements, in row-major order.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[2,3] parameter(0)
  ROOT y = f32[7] reshape(x)
}
"),
        fix: "write a shape of 6 elements",
        section: "Operation semantics, Reshape",
    }
    SLICE_LIMITS = "E0509" "slice-limits" {
        rule: "A range `[start:limit]` of a `slice` is inside its dimension: `0 <= start <= limit <= size`.",
        why: "The bounds are known when the module is compiled, so they are not clamped. The limit is not part of the range.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[10] parameter(0)
  ROOT y = f32[9] slice(x), slice={[2:11]}
}
"),
        fix: "end at 10: `slice={[2:10]}`",
        section: "Operation semantics, Slice",
    }
    SLICE_STRIDE = "E0510" "slice-stride" {
        rule: "A stride of a `slice` is 1 or more.",
        why: "A `slice` reads every `stride`th element. Use `reverse` for the opposite order.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[10] parameter(0)
  ROOT y = f32[10] slice(x), slice={[0:10:0]}
}
"),
        fix: "write 1, or omit the stride",
        section: "Operation semantics, Slice",
    }
}
