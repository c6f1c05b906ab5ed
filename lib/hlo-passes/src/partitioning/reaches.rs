//! Finds the factors whose parts also need elements of neighboring parts of an operand: windows, slices,
//! padding. The neighboring devices hold the missing elements.

use super::convolutions;
use super::factors::{Factors, Kind};
use super::reach::Reach;
use hlo_ir::{InstrId, Module, Op};

/// Returns the reaches of an instruction, and allows its factors to be split along them.
pub(super) fn reaches(module: &Module, id: InstrId, factors: &mut Factors) -> Vec<Reach> {
    let plain = Reach::PLAIN;
    let mut found = Vec::new();
    match &module[id].op {
        Op::Slice(a) => {
            let each = a.slice.iter().enumerate();
            found.extend(each.map(|(d, s)| Reach {
                from: d,
                to: d,
                first: s.start,
                step: s.stride,
                ..plain
            }));
        }
        Op::Pad(a) => {
            let each = a.padding.iter().enumerate().filter(|(_, p)| p.interior == 0);
            found.extend(each.map(|(d, p)| Reach { from: d, to: d, first: -p.low, ..plain }));
        }
        Op::ReduceWindow(a) => {
            for operand in 0..module[id].operands.len() / 2 {
                let each = a.window.dims.iter().enumerate();
                found.extend(each.map(|(d, w)| Reach { operand, from: d, to: d, ..plain.windowed(w) }));
            }
        }
        Op::Convolution(a) => found.extend(convolutions::reaches(a, factors)),
        Op::Concatenate(a) => {
            let Ok(d) = usize::try_from(a.dimension()) else { return found };
            let mut before = 0i64;
            for (operand, &o) in module[id].operands.iter().enumerate() {
                found.push(Reach { operand, from: d, to: d, first: -before, ..plain });
                before += module[o].shape.as_array().and_then(|s| s.dims.get(d)).copied().unwrap_or(0);
            }
        }
        _ => {}
    }
    // Remove reaches of operands that are read exactly at the index of the result.
    found.retain(|r| {
        let walk = factors.operands.get(r.operand).and_then(|walk| walk.get(r.from));
        let of_window = r.window.is_some();
        walk == Some(&None) && factors.factors.get(r.to).is_some_and(|f| of_window || f.kind == Kind::Whole)
    });
    for r in &found {
        factors.operands[r.operand][r.from] = Some(r.to);
    }
    for r in found.iter().filter(|r| r.window.is_none()) {
        factors.factors[r.to].kind = Kind::Kept;
    }
    found
}

/// Allows splitting dimensions that are written at indices. A device writes nothing if its tile does not
/// contain the index.
pub(super) fn written_at_indices(op: &Op, factors: &mut Factors) {
    match op {
        Op::DynamicUpdateSlice => {
            let rank = factors.result.len();
            factors.factors[..rank].iter_mut().for_each(|f| f.kind = Kind::Kept);
        }
        Op::Scatter(a) => {
            for d in a.inserted_window_dims.iter().filter(|d| a.scatter_dims_to_operand_dims.contains(d)) {
                if let Some(factor) = usize::try_from(*d).ok().and_then(|d| factors.factors.get_mut(d)) {
                    factor.kind = Kind::Kept;
                }
            }
        }
        _ => {}
    }
}

/// Returns the factors of an instruction for propagation. Its operands and its result should be split alike
/// even if parts need some elements of neighboring parts, as long as these are the smaller portion.
pub(super) fn near_factors(module: &Module, id: InstrId) -> Option<Factors> {
    let mut factors = Factors::of(module, id)?;
    let strict = factors.clone();
    let found = reaches(module, id, &mut factors);
    for r in &found {
        let size = module[id]
            .operands
            .get(r.operand)
            .and_then(|&o| module[o].shape.as_array()?.dims.get(r.from).copied());
        let result = factors.factors[r.to].size;
        let most = size.is_some_and(|size| {
            result.saturating_mul(r.step) > size / 2 && result <= size.saturating_mul(2 * r.dilation)
        });
        if matches!(module[id].op, Op::Concatenate(_)) || !most {
            factors.factors[r.to].kind = Kind::Whole;
            factors.operands[r.operand][r.from] = strict.operands[r.operand][r.from];
        }
    }
    written_at_indices(&module[id].op, &mut factors);
    Some(factors)
}
