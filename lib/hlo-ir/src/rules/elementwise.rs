//! Rules for structural and elementwise opcodes.

rules! {
    CONSTANT_SHAPE = "E0401" "constant-shape" {
        rule: "A constant's value has the shape of the constant.",
        why: "The parser reads a value according to the written shape, but a program that builds a constant specifies both.",
        example: None,
        fix: "give the constant the shape of its literal",
        section: "Operation semantics, ConstantR0 and the like; HLO text, literals",
    }
    TUPLE_INDEX = "E0402" "tuple-index" {
        rule: "The `index` of a `get-tuple-element` is that of an element of the tuple.",
        why: "Elements are numbered from 0.",
        example: Some(r"HloModule m

ENTRY main {
  t = (f32[2], s32[]) parameter(0)
  ROOT y = s32[] get-tuple-element(t), index=2
}
"),
        fix: "write `index=1` for the second element",
        section: "Operation semantics, GetTupleElement",
    }
    COMPARE_TYPE = "E0421" "compare-type" {
        rule: "The `type` of a `compare` is an order that the operands' element type supports.",
        why: "`FLOAT` is for floating-point and complex numbers, `TOTALORDER` for floating-point numbers, `SIGNED` for signed integers, and `UNSIGNED` for unsigned integers and `pred`.",
        example: Some(r"HloModule m

ENTRY main {
  x = s32[2] parameter(0)
  ROOT y = pred[2] compare(x, x), direction=LT, type=UNSIGNED
}
"),
        fix: "omit `type`, or convert to `u32` first",
        section: "Operation semantics, Element-wise comparison operations",
    }
    COMPARE_DIRECTION = "E0422" "compare-direction" {
        rule: "Complex numbers are compared only with `EQ` and `NE`.",
        why: "They have no order.",
        example: Some(r"HloModule m

ENTRY main {
  x = c64[2] parameter(0)
  ROOT y = pred[2] compare(x, x), direction=LT
}
"),
        fix: "compare the absolute values: `abs(x)`",
        section: "Operation semantics, Element-wise comparison operations",
    }
    COMPLEX_PARTS = "E0423" "complex-parts" {
        rule: "`complex` takes two parts of type `f32` or two of type `f64`.",
        why: "The complex types are `c64` and `c128`.",
        example: Some(r"HloModule m

ENTRY main {
  x = f16[2] parameter(0)
  ROOT y = c64[2] complex(x, x)
}
"),
        fix: "convert the parts to `f32`",
        section: "Operation semantics, Element-wise binary arithmetic operations",
    }
    SELECT_PREDICATE = "E0424" "select-predicate" {
        rule: "The predicate of a `select` is a scalar or has the sizes of the values.",
        why: "A scalar selects one of the two arrays. An array selects for each element.",
        example: Some(r"HloModule m

ENTRY main {
  p = pred[3] parameter(0)
  x = f32[2] parameter(1)
  ROOT y = f32[2] select(p, x, x)
}
"),
        fix: "give the predicate the sizes of `x`, or make it `pred[]`",
        section: "Operation semantics, Select",
    }
    CLAMP_BOUNDS = "E0425" "clamp-bounds" {
        rule: "Each bound of a `clamp` is a scalar or has the sizes of the array.",
        why: "A scalar bounds all elements. An array has a bound for each element.",
        example: Some(r"HloModule m

ENTRY main {
  low = f32[3] parameter(0)
  x = f32[2] parameter(1)
  high = f32[] parameter(2)
  ROOT y = f32[2] clamp(low, x, high)
}
"),
        fix: "give `low` the shape `f32[2]` or `f32[]`",
        section: "Operation semantics, Clamp",
    }
    CONVERT_COMPLEX = "E0426" "convert-complex" {
        rule: "`convert` does not convert complex numbers to real ones.",
        why: "It would drop the imaginary part silently.",
        example: Some(r"HloModule m

ENTRY main {
  x = c64[2] parameter(0)
  ROOT y = f32[2] convert(x)
}
"),
        fix: "use `real(x)`, `imag(x)` or `abs(x)`",
        section: "Operation semantics, ConvertElementType",
    }
    CONVERT_SIZES = "E0427" "convert-sizes" {
        rule: "`convert` and `stochastic-convert` keep their operand's sizes.",
        why: "They change only the element type.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[2] parameter(0)
  ROOT y = s32[3] convert(x)
}
"),
        fix: "write `s32[2]`",
        section: "Operation semantics, ConvertElementType",
    }
    EXPONENT_BITS = "E0428" "exponent-bits" {
        rule: "`reduce-precision` keeps at least one exponent bit.",
        why: "A floating-point format has exponent bits.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[2] parameter(0)
  ROOT y = f32[2] reduce-precision(x), exponent_bits=0, mantissa_bits=7
}
"),
        fix: "write the format's bits: `exponent_bits=8` for bf16",
        section: "Operation semantics, ReducePrecision",
    }
    MANTISSA_BITS = "E0429" "mantissa-bits" {
        rule: "`reduce-precision` keeps 0 or more mantissa bits.",
        why: "With 0 mantissa bits, the values are powers of two.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[2] parameter(0)
  ROOT y = f32[2] reduce-precision(x), exponent_bits=8, mantissa_bits=-1
}
"),
        fix: "write 0 or more: `mantissa_bits=7` for bf16",
        section: "Operation semantics, ReducePrecision",
    }
    RANDOM_WIDTH = "E0430" "random-width" {
        rule: "The random numbers of a `stochastic-convert` have as many bits as the operand's type.",
        why: "They are compared with the bits that rounding removes.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[2] parameter(0)
  random = u16[2] parameter(1)
  ROOT y = bf16[2] stochastic-convert(x, random)
}
"),
        fix: "give `random` the type `u32`",
        section: "Operation semantics, ConvertElementType",
    }
    STOCHASTIC_RESULT = "E0431" "stochastic-result" {
        rule: "`stochastic-convert` returns integers or floating-point numbers.",
        why: "It rounds to one of the two nearest values of the new type.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[2] parameter(0)
  random = u32[2] parameter(1)
  ROOT y = pred[2] stochastic-convert(x, random)
}
"),
        fix: "write an integer or floating-point type",
        section: "Operation semantics, ConvertElementType",
    }
    BITCAST_CONVERT_COMPLEX = "E0432" "bitcast-convert-complex" {
        rule: "`bitcast-convert` does not convert between complex and real types.",
        why: "The implementation decides how the parts of a complex number are stored.",
        example: Some(r"HloModule m

ENTRY main {
  x = c64[2] parameter(0)
  ROOT y = f32[2,2] bitcast-convert(x)
}
"),
        fix: "extract the parts with `real` and `imag`",
        section: "Operation semantics, BitcastConvertType",
    }
    BITCAST_CONVERT_SIZES = "E0433" "bitcast-convert-sizes" {
        rule: "`bitcast-convert` keeps the sizes between types of one width; otherwise the narrower side has one more dimension, the last, whose size is the ratio of the widths.",
        why: "The bits of each element stay together: an `f32` becomes two `u16`, in a new dimension of size 2.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[2] parameter(0)
  ROOT y = u16[4] bitcast-convert(x)
}
"),
        fix: "write `u16[2,2]`, and reshape the result",
        section: "Operation semantics, BitcastConvertType",
    }
}
