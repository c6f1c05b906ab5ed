//! `associative-scan-rewriter`: converts scans with an associative operation to cumulative reductions.
//!
//! ```text
//! scan(x, c), dimensions={0}, num_carries=1, is_associative=true, to_apply=add
//! →
//! r = f32[8] reduce-window(x, 0), window={size=8 pad=7_0}, to_apply=add
//! (add(r, broadcast(c)), c)
//! ```
//!
//! The pass rewrites forward scans whose function applies a single operation to the element and the carry,
//! and returns the result as both output and carry. The final carry must be unused, because it is not
//! computed, so a scan that is the root is not rewritten. The windows start with the operation's identity.
//! The initial carry is then combined with each of their results.
//!
//! A window as long as the array takes quadratic work. `reduce-window-rewriter` splits it into blocks. With
//! `base-length`, longer scans are not rewritten unless their initial carry is the identity, as in XLA.

use hlo_ir::attr::{ReduceWindowAttrs, Window, WindowDim};
use hlo_ir::build::Build;
use hlo_ir::{InstrId, Module, Op};
use hlo_passes::support::combiner::{identity, parameter_number};
use hlo_passes::support::constants::{integer_bytes, splat};
use hlo_passes::support::expander::{Emitter, expand_all};
use hlo_passes::support::layouts::relaid;
use hlo_passes::{OptionInfo, OptionValue, PassInfo, Preservation, Rewrites};

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "associative-scan-rewriter",
    summary: "replace scans with an associative operation by cumulative reductions",
    options: &[OptionInfo {
        name: "base-length",
        summary: "maximum length of scans whose initial carry is not neutral; 0: no limit",
        default: OptionValue::Count(0),
    }],
    keeps: Preservation::Values,
    example: "\
HloModule associative_scan_rewriter

step {
  x = f32[] parameter(0)
  c = f32[] parameter(1)
  s = f32[] add(c, x)
  ROOT r = (f32[], f32[]) tuple(s, s)
}

ENTRY e {
  x = f32[8] parameter(0)
  c = f32[] constant(0)
  s = (f32[8], f32[]) scan(x, c), dimensions={0}, num_carries=1, is_associative=true, to_apply=step
  ROOT r = f32[8] get-tuple-element(s), index=0
}
",
    build: |_, options| {
        let longest = options.count("base-length");
        Box::new(move |module: &mut Module, rewrites: &mut Rewrites| {
            let expand = |e: &mut Emitter<'_>, id: InstrId| rewrite(e, id, longest);
            Ok(expand_all(module, "rewrite-scan", |op| matches!(op, Op::Scan(_)), expand, rewrites))
        })
    },
    ..PassInfo::PLAIN
};

fn rewrite(e: &mut Emitter<'_>, id: InstrId, longest: u64) -> Option<InstrId> {
    let Op::Scan(attrs) = &e.module[id].op else { return None };
    let attrs = attrs.clone();
    let [x, carry] = e.module[id].operands[..] else { return None };
    if !attrs.is_associative || attrs.is_reverse || attrs.num_carries != 1 || needs_carry(e.module, id) {
        return None;
    }
    let parts = e.module[id].shape.as_tuple()?;
    let output = parts.first()?.as_array().filter(|a| a.is_static())?.clone();
    let along = usize::try_from(*attrs.dimensions.first()?).ok()?;
    let (input, first) = (e.array(x)?, e.array(carry)?);
    let op = operation(e.module, &attrs)?;
    // The function is applied to slices. A single operation can also be applied to elements.
    let ty = input.element_type;
    if output.element_type != ty
        || first.element_type != ty
        || !input.same_dims(&output)
        || !input.is_static()
    {
        return None;
    }
    let mut slice = input.dims.clone();
    (along < slice.len()).then(|| slice.remove(along))?;
    let mut nothing = identity(op.opcode(), ty)?;
    let length = input.dims[along];
    let given = splat(e.module, carry).map(|(_, bytes)| bytes);
    // A sum with initial carry 0 starts with 0 here too. This differs from the identity only in the sign of
    // zero.
    let zero = integer_bytes(ty, 0).filter(|_| op == Op::Add);
    let neutral = given.is_some() && (given == zero || given.as_ref() == Some(&nothing));
    if let (true, Some(given)) = (neutral, given) {
        nothing = given;
    }
    let too_long = longest > 0 && u64::try_from(length).is_ok_and(|n| n > longest);
    if length < 1 || first.dims != slice || too_long && !neutral {
        return None;
    }
    let mut dims = vec![WindowDim::default(); input.rank()];
    dims[along] = WindowDim { size: length, pad_low: length - 1, ..WindowDim::default() };
    let to_apply = e.combiner(&op, ty);
    let init = e.scalar(ty, &nothing)?;
    let window = Op::ReduceWindow(Box::new(ReduceWindowAttrs { window: Window { dims }, to_apply }));
    let mut result = e.add(output.clone(), window, &[x, init]);
    if !neutral {
        let kept: Vec<i64> = (0..input.rank() as i64).filter(|&d| d != along as i64).collect();
        let first = e.broadcast(carry, &output, &kept);
        result = e.add(output, op, &[first, result]);
    }
    let shape = e.shape();
    let tuple = e.tuple(&[result, carry]);
    Some(relaid(e.module, tuple, &shape))
}

/// Checks whether anything other than the output of a scan is used.
fn needs_carry(module: &Module, id: InstrId) -> bool {
    let output = |&user: &InstrId| match &module[user].op {
        Op::GetTupleElement(a) => a.index == 0 || !module.is_used(user),
        _ => !module.is_used(user),
    };
    module.is_root(id) || !module.users(id).iter().all(output)
}

/// Returns the operation on the element and the carry, if the scan's function consists only of it.
fn operation(module: &Module, attrs: &hlo_ir::attr::ScanAttrs) -> Option<Op> {
    let function = attrs.to_apply;
    let root = &module[module.has_root(function).then(|| module[function].root())?];
    let [output, carry] = root.operands[..] else { return None };
    let value = &module[output];
    let [a, b] = value.operands[..] else { return None };
    let mut numbers = [parameter_number(module, a)?, parameter_number(module, b)?];
    numbers.sort_unstable();
    let associative = value.opcode().is_associative();
    let is_it = root.op == Op::Tuple && output == carry && numbers == [0, 1] && associative;
    is_it.then(|| value.op.clone())
}
