//! Loops whose parts need more of an operand than the part with the same number: windows, slices, padding. What is missing
//! lies with the neighbours.

use super::convolutions;
use super::factors::{Factors, Kind};
use hlo_ir::attr::WindowDim;
use hlo_ir::{InstrId, Module, Op};

/// A dimension of an operand that is read around the result's index in another: `first + step · i` and the `extent - 1`
/// after that, counted in elements that lie `dilation` apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reach {
    pub(super) operand: usize,
    /// The operand's dimension.
    pub(super) from: usize,
    /// The factor: the result's dimension, or the loop over the places of a window.
    pub(super) to: usize,
    /// The number of the window's dimension, if the loop is over its places.
    pub(super) window: Option<usize>,
    pub(super) first: i64,
    pub(super) step: i64,
    pub(super) extent: i64,
    pub(super) dilation: i64,
}

/// What the parts of a loop need of an operand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Needed {
    /// Where what a part needs begins, of each.
    pub(super) starts: Vec<i64>,
    /// How many elements each needs.
    pub(super) size: i64,
    /// How far the window begins before the first element, and goes on behind the last.
    pub(super) padding: [i64; 2],
}

impl Reach {
    /// The very index of the result.
    pub(super) const PLAIN: Self =
        Self { operand: 0, from: 0, to: 0, window: None, first: 0, step: 1, extent: 1, dilation: 1 };

    /// What so many parts of `part` indices of the result each need; `None` if it is not the same for all.
    pub(super) fn needed(&self, parts: i64, part: i64) -> Option<Needed> {
        let between = part.checked_mul(self.step)?;
        if between % self.dilation != 0 {
            return None;
        }
        let span = (part - 1).checked_mul(self.step)?.checked_add(self.extent)?;
        let low = (-self.first).rem_euclid(self.dilation);
        // A window that holds no element has to be computed somewhere else.
        let size = (span - low + self.dilation - 1).div_euclid(self.dilation);
        if part < 1 || size < 1 {
            return None;
        }
        let start = |n: i64| (self.first + low + n * between).div_euclid(self.dilation);
        let high = span - low - (size - 1) * self.dilation - 1;
        Some(Needed { starts: (0..parts).map(start).collect(), size, padding: [low, high] })
    }
}

/// The reaches of an instruction, whose factors can be cut along them then.
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
                found.extend(each.map(|(d, w)| Reach { operand, from: d, to: d, ..windowed(plain, w) }));
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
    // What is read at the very index of the result needs nothing else.
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

/// Lets what is written at indices be cut there: devices that do not have what an index says write nothing.
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

/// The factors of an instruction along which its operands and its result are worth being cut alike, though parts may need
/// some of their neighbours: where that is the smaller part of them.
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

pub(super) fn windowed(reach: Reach, w: &WindowDim) -> Reach {
    Reach {
        first: -w.pad_low,
        step: w.stride.max(1),
        extent: (w.size - 1) * w.rhs_dilate + 1,
        dilation: w.lhs_dilate.max(1),
        ..reach
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_of_parts() {
        let plain = Reach { first: -1, extent: 3, ..Reach::PLAIN };
        let needed = plain.needed(4, 4);
        assert_eq!(needed, Some(Needed { starts: vec![-1, 3, 7, 11], size: 6, padding: [0, 0] }));
        // Every other place of the window is an element: 0 . 1 . 2 . 3, from one place before the first on.
        let dilated = Reach { dilation: 2, ..plain };
        let needed = dilated.needed(2, 4);
        assert_eq!(needed, Some(Needed { starts: vec![0, 2], size: 3, padding: [1, 0] }));
        assert_eq!(dilated.needed(2, 3), None);
    }
}
