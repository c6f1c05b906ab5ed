//! Table tests of data movement and tuples.

use super::{accepts, code, infers, refuses};

#[test]
fn tuples() {
    infers(&[
        ("tuple()", "()"),
        ("tuple(f32[2], (s32[]))", "(f32[2], (s32[]))"),
        ("get-tuple-element((f32[2,2]{0,1}, s32[])), index=0", "f32[2,2]{0,1}"),
    ]);
    refuses(&[
        ("get-tuple-element((f32[2])), index=1", code::TUPLE_INDEX, "element 1 in `index`, of a tuple of 1"),
        ("get-tuple-element((f32[2])), index=-1", code::TUPLE_INDEX, "element -1"),
        (
            "get-tuple-element(f32[2]), index=0",
            code::OPERAND_KIND,
            "needs a tuple as operand 0, found f32[2]",
        ),
        ("(f32[2]) tuple(f32[3])", code::DECLARED_SHAPE, "gives (f32[3])"),
        ("(f32[3], f32[3]) tuple(f32[3])", code::DECLARED_SHAPE, "gives (f32[3])"),
    ]);
}

#[test]
fn broadcast_and_iota() {
    // A scalar can be broadcast to any declared shape. Without a declared shape, the result is a scalar.
    for text in ["f32[2,3] broadcast(f32[]), dimensions={}", "f32[?] broadcast(f32[]), dimensions={}"] {
        assert_eq!(super::Row::read(text).check(), Ok(()), "{text}");
    }
    infers(&[("broadcast(f32[]), dimensions={}", "f32[]")]);
    accepts(&[
        "f32[2,3] broadcast(f32[3]), dimensions={1}",
        "f32[3,2] broadcast(f32[2,3]), dimensions={1,0}",
        "s32[4] iota(), iota_dimension=0",
        "c64[4,0] iota(), iota_dimension=1",
    ]);
    refuses(&[
        (
            "f32[2,3] broadcast(f32[3]), dimensions={0}",
            code::BROADCAST_SIZES,
            "of size 3, to dimension 0 of the result, of size 2",
        ),
        (
            "f32[2,3] broadcast(f32[3]), dimensions={}",
            code::ENTRY_COUNT,
            "needs 1 entries in `dimensions`, found 0",
        ),
        (
            "f32[2,3] broadcast(f32[3]), dimensions={2}",
            code::DIMENSION_RANGE,
            "names dimension 2 in `dimensions`, but the rank is 2",
        ),
        (
            "f32[3,3] broadcast(f32[3,3]), dimensions={1,1}",
            code::DIMENSION_REPEATED,
            "names dimension 1 twice",
        ),
        ("f32[2,3] broadcast(f32[1]), dimensions={0}", code::BROADCAST_SIZES, "of size 1"),
        ("s32[2] broadcast(f32[]), dimensions={}", code::KEPT_TYPE, "keeps the element type f32"),
        ("s32[] iota(), iota_dimension=0", code::DIMENSION_RANGE, "but the rank is 0"),
        ("s32[4] iota(), iota_dimension=-1", code::DIMENSION_RANGE, "names dimension -1"),
        ("pred[4] iota(), iota_dimension=0", code::IOTA_TYPE, "pred[4]"),
        ("(s32[4]) iota(), iota_dimension=0", code::DECLARED_SHAPE, "gives an array"),
    ]);
}

#[test]
fn reshape_and_bitcast() {
    accepts(&[
        "f32[6] reshape(f32[2,3])",
        "f32[] reshape(f32[1,1])",
        "f32[0,7] reshape(f32[5,0])",
        "f32[?] reshape(f32[2,3])",
        "f32[3,2] bitcast(f32[2,3])",
        "s32[2] bitcast(f32[2])",
        "u8[8] bitcast(f32[2])",
    ]);
    refuses(&[
        (
            "f32[5] reshape(f32[2,3])",
            code::RESHAPE_COUNT,
            "the operand, f32[2,3], has 6, the written shape, f32[5], 5",
        ),
        ("s32[6] reshape(f32[2,3])", code::KEPT_TYPE, "keeps the element type f32"),
        ("f32[6] reshape(f32[2,3]), inferred_dimension=1", code::DIMENSION_RANGE, "`inferred_dimension`"),
        ("f32[9223372036854775807,3] reshape(f32[3,9223372036854775807])", code::OVERFLOW, "64 bits"),
    ]);
}

#[test]
fn transpose_and_reverse() {
    infers(&[
        ("transpose(f32[2,3,<=4]), dimensions={2,0,1}", "f32[<=4,2,3]{0,2,1}"),
        ("transpose(f32[2,3]{0,1}), dimensions={1,0}", "f32[3,2]"),
        ("transpose(f32[]), dimensions={}", "f32[]"),
        ("reverse(f32[2,3]), dimensions={1}", "f32[2,3]"),
    ]);
    refuses(&[
        ("transpose(f32[2,3]), dimensions={0}", code::ENTRY_COUNT, "needs 2 entries"),
        ("transpose(f32[2,3]), dimensions={0,0}", code::DIMENSION_REPEATED, "names dimension 0 twice"),
        ("transpose(f32[2,3]), dimensions={0,2}", code::DIMENSION_RANGE, "names dimension 2"),
        ("f32[2,3] transpose(f32[2,3]), dimensions={1,0}", code::DECLARED_SHAPE, "gives f32[3,2]"),
        ("reverse(f32[2,3]), dimensions={2}", code::DIMENSION_RANGE, "names dimension 2"),
        ("reverse(f32[2,3]), dimensions={1,1}", code::DIMENSION_REPEATED, "twice"),
    ]);
}

#[test]
fn slice() {
    infers(&[
        ("slice(f32[10]), slice={[2:7]}", "f32[5]"),
        ("slice(f32[10,4]), slice={[0:10:3], [1:1]}", "f32[4,0]"),
        ("slice(f32[]), slice={}", "f32[]"),
        ("slice(f32[?]), slice={[0:5]}", "f32[5]"),
        ("slice(f32[9223372036854775807]), slice={[0:9223372036854775807:9223372036854775807]}", "f32[1]"),
    ]);
    refuses(&[
        ("slice(f32[10]), slice={[2:11]}", code::SLICE_LIMITS, "takes [2:11] of dimension 0"),
        ("slice(f32[10]), slice={[-1:5]}", code::SLICE_LIMITS, "takes [-1:5]"),
        ("slice(f32[10]), slice={[5:4]}", code::SLICE_LIMITS, "takes [5:4]"),
        ("slice(f32[10]), slice={[0:4:0]}", code::SLICE_STRIDE, "strides of 1 or more, found 0"),
        ("slice(f32[10]), slice={}", code::ENTRY_COUNT, "needs 1 entries in `slice`, found 0"),
        ("f32[4] slice(f32[10]), slice={[2:7]}", code::DECLARED_SHAPE, "gives f32[5]"),
    ]);
}

#[test]
fn pad() {
    infers(&[
        ("pad(f32[3], f32[]), padding=1_2", "f32[6]"),
        ("pad(f32[3], f32[]), padding=-1_-1", "f32[1]"),
        ("pad(f32[3,2], f32[]), padding=0_0_2x1_1", "f32[7,4]"),
        ("pad(f32[0], f32[]), padding=1_1_5", "f32[2]"),
        ("pad(f32[?], f32[]), padding=1_1", "f32[?]"),
    ]);
    refuses(&[
        ("pad(f32[3], f32[]), padding=1_2x0_0", code::ENTRY_COUNT, "needs 1 entries in `padding`, found 2"),
        ("pad(f32[3], f32[]), padding=-2_-2", code::PADDED_SIZE, "the size would be -1"),
        ("pad(f32[3], f32[]), padding=0_0_-1", code::INTERIOR_PADDING, "interior padding of 0 or more"),
        ("pad(f32[3], f32[1]), padding=0_0", code::OPERAND_KIND, "needs a scalar as operand 1"),
        ("pad(f32[3], s32[]), padding=0_0", code::MIXED_TYPES, "found f32 and s32"),
        ("pad(f32[3], f32[]), padding=0_9223372036854775807", code::OVERFLOW, "64 bits"),
        ("pad(f32[3], f32[]), padding=0_0_9223372036854775807", code::OVERFLOW, "64 bits"),
    ]);
}

#[test]
fn concatenate() {
    infers(&[
        ("concatenate(f32[2]), dimensions={0}", "f32[2]"),
        ("concatenate(f32[2,3], f32[2,4], f32[2,0]), dimensions={1}", "f32[2,7]"),
        ("concatenate(f32[?,3], f32[2,4]), dimensions={1}", "f32[2,7]"),
        ("concatenate(f32[?], f32[2]), dimensions={0}", "f32[?]"),
    ]);
    refuses(&[
        (
            "concatenate(f32[2,3], f32[3,3]), dimensions={1}",
            code::CONCATENATE_SIZES,
            "found f32[2,3] and f32[3,3]",
        ),
        (
            "concatenate(f32[2], f32[2,1]), dimensions={0}",
            code::CONCATENATE_SIZES,
            "found f32[2] and f32[2,1]",
        ),
        ("concatenate(f32[2], s32[2]), dimensions={0}", code::MIXED_TYPES, "found f32 and s32"),
        ("concatenate(f32[], f32[]), dimensions={0}", code::DIMENSION_RANGE, "but the rank is 0"),
        (
            "concatenate(f32[2], f32[2]), dimensions={0,1}",
            code::ONE_DIMENSION,
            "needs one dimension in `dimensions`, found 2",
        ),
        ("concatenate(), dimensions={0}", code::ARITY, "at least 1 operand, found 0"),
        ("concatenate(s8[9223372036854775807], s8[1]), dimensions={0}", code::OVERFLOW, "64 bits"),
    ]);
}
