//! `float-normalization-…`: computes on a narrow type in a wider one. There is one pass for each narrow type.
//!
//! ```text
//! add(x, y) : bf16  →  convert(add(convert(x), convert(y)) : f32) : bf16
//! ```
//!
//! Data movement keeps the type. So do instructions that call computations, but the called computations are
//! normalized too. Floats are computed in `f32`, which represents all their values and rounds sums and
//! products once. XLA uses `f16` for some of these types. Integers of a few bits are computed in 8 bits, for
//! operations whose lowest bits stay the same.

use hlo_ir::{ElementType, Module, Op};
use hlo_passes::support::retype::{Retype, is_arithmetic, is_modular};
use hlo_passes::{PassInfo, Preservation, Rewrites};

/// Defines one registry entry per type.
macro_rules! normalizations {
    ($($info:ident $name:literal $from:ident $to:ident $wanted:ident $keeps:ident,)*) => {$(
        #[doc = concat!("The registry's entry for `", $name, "`.")]
        pub static $info: PassInfo = PassInfo {
            name: concat!("float-normalization-", $name),
            summary: concat!("perform arithmetic on ", $name, " in a wider type"),
            keeps: Preservation::$keeps,
            example: concat!(
                "HloModule float_normalization\n\nENTRY e {\n  x = ", $name, "[4] parameter(0)\n  y = ",
                $name, "[4] parameter(1)\n  ROOT s = ", $name, "[4] add(x, y)\n}\n",
            ),
            build: |_, _| {
                let (from, to) = (ElementType::$from, ElementType::$to);
                let retype = Retype { name: "normalize", from, to, whole: false };
                Box::new(move |module: &mut Module, rewrites: &mut Rewrites| {
                    Ok(retype.run(module, $wanted, rewrites))
                })
            },
            ..PassInfo::PLAIN
        };
    )*};
}

normalizations! {
    BF16 "bf16" Bf16 F32 is_float_arithmetic Values,
    F16 "f16" F16 F32 is_float_arithmetic Values,
    F4E2M1FN "f4e2m1fn" F4E2M1Fn F32 is_float_arithmetic Values,
    F6E2M3FN "f6e2m3fn" F6E2M3Fn F32 is_float_arithmetic Values,
    F6E3M2FN "f6e3m2fn" F6E3M2Fn F32 is_float_arithmetic Values,
    F8E3M4 "f8e3m4" F8E3M4 F32 is_float_arithmetic Values,
    F8E4M3 "f8e4m3" F8E4M3 F32 is_float_arithmetic Values,
    F8E4M3B11FNUZ "f8e4m3b11fnuz" F8E4M3B11Fnuz F32 is_float_arithmetic Values,
    F8E4M3FN "f8e4m3fn" F8E4M3Fn F32 is_float_arithmetic Values,
    F8E4M3FNUZ "f8e4m3fnuz" F8E4M3Fnuz F32 is_float_arithmetic Values,
    F8E5M2 "f8e5m2" F8E5M2 F32 is_float_arithmetic Values,
    F8E5M2FNUZ "f8e5m2fnuz" F8E5M2Fnuz F32 is_float_arithmetic Values,
    F8E8M0FNU "f8e8m0fnu" F8E8M0Fnu F32 is_float_arithmetic Values,
    S2 "s2" S2 S8 is_modular Bits,
    S4 "s4" S4 S8 is_modular Bits,
    U2 "u2" U2 U8 is_modular Bits,
    U4 "u4" U4 U8 is_modular Bits,
}

/// Checks for arithmetic, except Cholesky factorizations and triangular solves, which choose their own type
/// for the computation.
fn is_float_arithmetic(op: &Op) -> bool {
    is_arithmetic(op) && !matches!(op, Op::Cholesky(_) | Op::TriangularSolve(_))
}
