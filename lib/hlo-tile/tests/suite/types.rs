//! Tests of the promotion of element types.

use ElementType::{F16, F32, F64, Pred, S8, S32, S64, U8};
use Kind::{Float, Integer, Tensor, Truth};
use hlo_ir::ElementType;
use hlo_tile::internals::{Kind, promoted};

#[test]
fn the_stronger_type_wins() {
    for (kinds, expected) in [
        (&[Tensor(S64), Tensor(F16)][..], F16),
        (&[Tensor(S8), Tensor(U8)], U8),
        (&[Tensor(U8), Tensor(S8)], U8),
        (&[Tensor(F64), Float], F64),
        (&[Tensor(S32), Float], F32),
        (&[Tensor(S8), Integer], S8),
        (&[Tensor(Pred), Integer], S32),
        (&[Tensor(Pred), Truth], Pred),
        (&[Integer, Float], F32),
        (&[Integer], S32),
    ] {
        assert_eq!(promoted(kinds), expected, "{kinds:?}");
    }
}
