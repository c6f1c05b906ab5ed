//! `element_type_converter`: computes and moves elements of one float type in another type.
//!
//! ```text
//! add(x, y) : bf16  →  convert(add(convert(x), convert(y)) : f32) : bf16
//! ```
//!
//! Afterwards, the type no longer occurs in arithmetic. Parameters, constants, tuples and results keep it. So
//! do instructions that call computations, but the called computations are converted too. Elementwise results
//! are rounded as before. Sums of products are rounded once more.

use hlo_ir::{Family, Module, Op};
use hlo_passes::support::retype::{NARROW_FLOATS, Retype, WIDE_FLOATS, is_arithmetic};
use hlo_passes::{OptionInfo, OptionValue, PassInfo, Preservation, Rewrites};

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "element_type_converter",
    summary: "compute and move elements of one float type in another type",
    keeps: Preservation::Values,
    options: &[
        OptionInfo {
            name: "from",
            summary: "element type to replace",
            default: OptionValue::Choice { word: "bf16", of: NARROW_FLOATS },
        },
        OptionInfo {
            name: "to",
            summary: "element type that replaces it",
            default: OptionValue::Choice { word: "f32", of: WIDE_FLOATS },
        },
    ],
    example: "\
HloModule element_type_converter

ENTRY e {
  x = bf16[4] parameter(0)
  y = bf16[4] parameter(1)
  ROOT s = bf16[4] add(x, y)
}
",
    build: |_, options| {
        let retype = Retype::named("convert-elements", options, false);
        Box::new(move |module: &mut Module, rewrites: &mut Rewrites| {
            Ok(retype.run(module, is_converted, rewrites))
        })
    },
    ..PassInfo::PLAIN
};

/// Checks whether an operation is arithmetic or data movement. Bitcasts are excluded, because they depend on
/// how elements are stored.
fn is_converted(op: &Op) -> bool {
    is_arithmetic(op)
        || match op.opcode().family() {
            Family::DataMovement => !matches!(op, Op::Bitcast | Op::BitcastConvert),
            Family::Indexing => op.called_computations().is_empty() && !matches!(op, Op::GetDimensionSize(_)),
            _ => matches!(op, Op::Select | Op::ReducePrecision(_)),
        }
}
