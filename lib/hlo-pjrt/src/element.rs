//! Numbers of element types in the C API.

use crate::fault::{Fault, Result};
use hlo_ir::ElementType::{self, *};

/// The element types and their numbers.
const NUMBERS: &[(ElementType, i32)] = &[
    (Pred, 1),
    (S8, 2),
    (S16, 3),
    (S32, 4),
    (S64, 5),
    (U8, 6),
    (U16, 7),
    (U32, 8),
    (U64, 9),
    (F16, 10),
    (F32, 11),
    (F64, 12),
    (Bf16, 13),
    (C64, 14),
    (C128, 15),
    (F8E5M2, 16),
    (F8E4M3Fn, 17),
    (F8E4M3B11Fnuz, 18),
    (F8E5M2Fnuz, 19),
    (F8E4M3Fnuz, 20),
    (S4, 21),
    (U4, 22),
    (S2, 24),
    (U2, 25),
    (F8E4M3, 26),
    (F8E3M4, 27),
    (F8E8M0Fnu, 28),
    (F4E2M1Fn, 29),
    (S1, 30),
    (U1, 31),
    (F6E2M3Fn, 32),
    (F6E3M2Fn, 33),
];

/// Returns the element type with a number.
///
/// # Errors
/// No element type of arrays has that number.
pub fn element_type(number: i32) -> Result<ElementType> {
    let found = NUMBERS.iter().find(|(_, n)| *n == number).map(|(ty, _)| *ty);
    found.ok_or_else(|| Fault::invalid(format!("there is no element type of number {number}")))
}

/// Returns the number of an element type.
pub fn number(ty: ElementType) -> i32 {
    NUMBERS.iter().find(|(found, _)| *found == ty).map_or(0, |(_, number)| *number)
}
