//! Table tests of contractions.

use super::{Row, accepts, code, refuses};

#[test]
fn accepted() {
    accepts(&[
        "f32[2,4] contraction(f32[2,3], f32[3,4]), access={(d0,d1) += (d0,d2) * (d2,d1)}",
        "f32[2,4] contraction(f32[2,3], f32[3,4], f32[2,4]), access={(d0,d1) += (d0,d2) * (d2,d1)}",
        "s8[] contraction(s8[5]), access={() *= (d0)}",
        "pred[4] contraction(c64[4], c64[3]), access={(d0) >= (d0) == (d1)}",
        "bf16[4] contraction(c64[4], c64[3], bf16[3]), access={(d0) <= (d0) == (d1) ? (d1)}",
        "c64[4] contraction(c64[4], c64[3]), access={(d0) += (d0) + (d1)}",
        "f32[8] contraction(f32[4]), access={(d0) >= (2*d0+d1-1), d1 < 3}",
        // No index is valid: a size of 0, a bound of 0, a constant out of bounds.
        "f32[4] contraction(f32[0]), access={(d0) += (d0)}",
        "f32[4] contraction(f32[4]), access={(d0) += (d0), d0 < -1}",
        "f32[4] contraction(f32[4,2]), access={(d0) += (d0,2)}",
        // Each element is assigned one value.
        "f32[4,3] contraction(f32[3,4]), access={(d0,d1) = (d1,d0)}",
        "f32[100000,3] contraction(f32[300000]), access={(d0,d1) = (3*d0+d1)}",
        "f32[1000000000] contraction(f32[500000000]), access={(2*d0) = (d0)}",
        "f32[4] contraction(f32[4]), access={(d0) = (d1), d0-d1 < 1}",
        "f32[30000000] contraction(f32[3000,3000]), access={(3000*d0+2999*d1) = (d0,d1)}",
    ]);
}

#[test]
fn operands() {
    refuses(&[
        (
            "f32[2] contraction(f32[2,3]), access={(d0) += (d0,d1) * (d1)}",
            code::CONTRACTION_OPERANDS,
            "has 2 accesses of operands in `access`, and so needs 2 or 3 operands, found 1",
        ),
        (
            "f32[2] contraction(f32[2], f32[2], f32[2]), access={(d0) += (d0)}",
            code::CONTRACTION_OPERANDS,
            "needs 1 or 2 operands, found 3",
        ),
        ("f32[2] contraction((f32[2])), access={(d0) += (d0)}", code::OPERAND_KIND, "needs an array"),
        (
            "f32[2] contraction(f32[2,3]), access={(d0) += (d0)}",
            code::CONTRACTION_RANK,
            "needs 2 index expressions for operand 0, f32[2,3], found `(d0)`",
        ),
        (
            "f32[] contraction(f32[2]), access={(d0) += (d0)}",
            code::CONTRACTION_RANK,
            "needs 0 index expressions for the result, f32[], found `(d0)`",
        ),
        (
            "(f32[]) contraction(f32[2]), access={() += (d0)}",
            code::DECLARED_SHAPE,
            "gives an array, but its shape is written (f32[])",
        ),
        (
            "f32[<=2] contraction(f32[2]), access={(d0) += (d0)}",
            code::CONTRACTION_STATIC,
            "needs static sizes, but its result is f32[<=2]",
        ),
        (
            "f32[2] contraction(f32[?]), access={(d0) += (d0)}",
            code::CONTRACTION_STATIC,
            "needs static sizes, but operand 0 is f32[?]",
        ),
    ]);
}

#[test]
fn types() {
    refuses(&[
        (
            "f32[2] contraction(f32[2], s32[2]), access={(d0) += (d0) * (d0)}",
            code::CONTRACTION_TYPES,
            "combines elements of one type, found f32 and s32 in operands 0 and 1",
        ),
        (
            "f32[2] contraction(bf16[2]), access={(d0) += (d0)}",
            code::CONTRACTION_TYPES,
            "gives bf16 here, but its shape is written f32[2]",
        ),
        (
            "f32[2] contraction(f32[2], f32[2]), access={(d0) += (d0) == (d0)}",
            code::CONTRACTION_TYPES,
            "gives pred here, but its shape is written f32[2]",
        ),
        (
            "s32[2] contraction(s32[2], s32[2], f32[2]), access={(d0) += (d0) == (d0) ? (d0)}",
            code::CONTRACTION_TYPES,
            "gives f32 here, but its shape is written s32[2]",
        ),
        ("c64[2] contraction(c64[2]), access={(d0) >= (d0)}", code::ELEMENT_TYPE, "operand 0 is c64[2]"),
        (
            "c64[2] contraction(f32[2], f32[2], c64[2]), access={(d0) <= (d0) == (d0) ? (d0)}",
            code::ELEMENT_TYPE,
            "operand 2 is c64[2]",
        ),
        (
            "f32[4] contraction(f32[2], f32[]), access={(2*d0) = (d0)}",
            code::CONTRACTION_DEFAULT,
            "needs a default of the result's shape, f32[4], found f32[]",
        ),
        (
            "f32[4] contraction(f32[2], f64[4]), access={(2*d0) = (d0)}",
            code::CONTRACTION_DEFAULT,
            "found f64[4]",
        ),
    ]);
}

#[test]
fn indices() {
    refuses(&[
        (
            "f32[4] contraction(f32[4]), access={(d0) += (d1+d2)}",
            code::CONTRACTION_BOUNDED,
            "has no bounds for `d1`, `d2`",
        ),
        // An index is unbounded even if no index is valid.
        (
            "f32[4] contraction(f32[0]), access={(d0) += (d1+d2)}",
            code::CONTRACTION_BOUNDED,
            "has no bounds for `d1`, `d2`",
        ),
        (
            "f32[4] contraction(f32[4]), access={(d0) += (d2)}",
            code::CONTRACTION_BOUNDED,
            "has no bounds for `d1`: there are",
        ),
        (
            "f32[4] contraction(f32[4]), access={(d0) += (d0), d0-d1 < 3}",
            code::CONTRACTION_CONSTRAINT_INDEX,
            "has `d1` in a constraint, but in no access",
        ),
        (
            "f32[4] contraction(f32[4]), access={(d0) += (d0+9000000000000000000*d1)}",
            code::CONTRACTION_SIZE,
            "bounds that do not fit in 62 bits",
        ),
        (
            "f32[9223372036854775807] contraction(f32[4]), access={(d0) += (d1)}",
            code::CONTRACTION_SIZE,
            "bounds that do not fit in 62 bits",
        ),
    ]);
}

#[test]
fn assignments() {
    refuses(&[
        (
            "f32[2,3] contraction(f32[9]), access={(d0,0) = (3*d0+d1), d1 < 3}",
            code::CONTRACTION_ASSIGNS_ONCE,
            "assigns more than one value to element [0,0] of its result: at d0=0, d1=0 and at d0=0, d1=1",
        ),
        (
            "f32[38] contraction(f32[6,7]), access={(3*d0+5*d1) = (d0,d1)}",
            code::CONTRACTION_ASSIGNS_ONCE,
            "to element [15] of its result: at d0=0, d1=3 and at d0=5, d1=0",
        ),
        // The first element that is assigned twice is the last one.
        (
            "f32[1000001] contraction(f32[3]), access={(d0) = (d1), d0-1000000*d1 < 1000001}",
            code::CONTRACTION_ASSIGNS_ONCE,
            "to element [1000000] of its result: at d0=1000000, d1=0 and at d0=1000000, d1=1",
        ),
    ]);
}

/// An access that text cannot express.
#[test]
fn accesses_of_other_numbers() {
    let mut row = Row::read("f32[2] contraction(f32[2], f32[2]), access={(d0) += (d0) * (d0)}");
    if let hlo_ir::Op::Contraction(a) = &mut row.op {
        a.access.operands.pop();
    }
    assert_eq!(row.check().map_err(|v| v.code), Err(code::CONTRACTION_OPERANDS));
    if let hlo_ir::Op::Contraction(a) = &mut row.op {
        a.access.operands.push(a.access.output.clone());
        a.access.indices = 2;
    }
    assert_eq!(row.check().map_err(|v| v.code), Err(code::CONTRACTION_BOUNDED));
}
