//! `change-op-data-type`: computes products and convolutions of one element type in another.
//!
//! ```text
//! dot(x, y) : f16  →  convert(dot(convert(x), convert(y)) : f32) : f16
//! ```
//!
//! The pass rewrites only operations whose operands and result all have the type `from`.

use hlo_ir::{Module, Op};
use hlo_passes::support::retype::{NARROW_FLOATS, Retype, WIDE_FLOATS};
use hlo_passes::{OptionInfo, OptionValue, PassInfo, Preservation, Rewrites};

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "change-op-data-type",
    summary: "compute products and convolutions of one element type in another type",
    keeps: Preservation::Values,
    options: &[
        OptionInfo {
            name: "from",
            summary: "element type of the operands and the result",
            default: OptionValue::Choice { word: "f16", of: NARROW_FLOATS },
        },
        OptionInfo {
            name: "to",
            summary: "element type to compute in",
            default: OptionValue::Choice { word: "f32", of: WIDE_FLOATS },
        },
    ],
    example: "\
HloModule change_op_data_type

ENTRY e {
  x = f16[2,3] parameter(0)
  y = f16[3,4] parameter(1)
  ROOT d = f16[2,4] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
",
    build: |_, options| {
        let retype = Retype::named("change-type", options, true);
        let wanted = |op: &Op| matches!(op, Op::Dot(_) | Op::Convolution(_));
        Box::new(move |module: &mut Module, rewrites: &mut Rewrites| Ok(retype.run(module, wanted, rewrites)))
    },
    ..PassInfo::PLAIN
};
