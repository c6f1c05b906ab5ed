//! `bfloat16-fold`: folds conversions from and to `bf16` into products.
//!
//! ```text
//! dot(convert(x), convert(y)) : f32, x and y of bf16  →  dot(x, y) : f32
//! convert(dot(x, y) : f32) : bf16                     →  dot(x, y) : bf16
//! ```
//!
//! Both engines sum products of `bf16` in `f32` or wider. The second rewrite rounds once instead of twice.

use hlo_ir::attr::DotAlgorithm;
use hlo_ir::{ElementType, InstrId, Op, Opcode};
use hlo_passes::support::rewrite::{Cx, Pattern};
use hlo_passes::{PassInfo, Preservation};

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "bfloat16-fold",
    summary: "fold conversions from and to bf16 into products and convolutions",
    keeps: Preservation::Values,
    example: "\
HloModule bfloat16_fold

ENTRY e {
  x = bf16[2,3] parameter(0)
  y = bf16[3,4] parameter(1)
  a = f32[2,3] convert(x)
  b = f32[3,4] convert(y)
  ROOT d = f32[2,4] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
",
    patterns: &[PATTERNS],
    ..PassInfo::PLAIN
};

static PATTERNS: &[Pattern] = &[
    Pattern::new(
        "fold-operands",
        "dot(convert(x), convert(y)) of bf16 x and y → dot(x, y); also convolution",
        &[Opcode::Dot, Opcode::Convolution],
        fold_operands,
    ),
    Pattern::new(
        "fold-result",
        "convert(dot(x, y)) to bf16 of bf16 x and y → dot(x, y) of bf16; also convolution",
        &[Opcode::Convert],
        fold_result,
    ),
];

const NARROW: ElementType = ElementType::Bf16;
const WIDE: ElementType = ElementType::F32;

/// Checks for a product or convolution with the default algorithm, whose precision is not specified.
fn is_free(op: &Op) -> bool {
    match op {
        Op::Dot(a) => a.algorithm == DotAlgorithm::default(),
        Op::Convolution(a) => a.algorithm == DotAlgorithm::default(),
        _ => false,
    }
}

fn fold_operands(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let operands = cx.module[id].operands.to_vec();
    if operands.len() != 2 || !is_free(&cx.module[id].op) || cx.element_type(id)? != WIDE {
        return None;
    }
    let source = |&o: &InstrId| -> Option<InstrId> {
        let from = cx.operand(o, 0).filter(|_| matches!(cx.module[o].op, Op::Convert))?;
        (cx.element_type(o)? == WIDE && cx.element_type(from)? == NARROW).then_some(from)
    };
    let sources = operands.iter().map(source).collect::<Option<Vec<_>>>()?;
    let op = cx.module[id].op.clone();
    Some(cx.add_same_shape(op, &sources))
}

fn fold_result(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let product = cx.operand(id, 0)?;
    let operands = cx.module[product].operands.to_vec();
    let types = [cx.element_type(id)?, cx.element_type(product)?];
    if types != [NARROW, WIDE] || !is_free(&cx.module[product].op) || !cx.used_only_by(product, id) {
        return None;
    }
    if operands.len() != 2 || !operands.iter().all(|&o| cx.element_type(o) == Some(NARROW)) {
        return None;
    }
    let op = cx.module[product].op.clone();
    Some(cx.add_same_shape(op, &operands))
}
