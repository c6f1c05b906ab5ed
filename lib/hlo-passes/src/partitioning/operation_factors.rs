//! Finds the factors of an operation. They follow from the elements that the operation reads
//! ([`hlo_ir::access`]).

use super::convolutions;
use super::factors::{DimensionFactors, Factor, Factors, Kind};
use hlo_ir::access::{Access, Axis, access};
use hlo_ir::attr::WindowDim;
use hlo_ir::{InstrId, Module, Op, Shape};

impl Factors {
    /// Returns the factors of an instruction. Returns `None` if the elements that it reads are not known, or
    /// its result does not depend on its operands alone.
    pub(super) fn of(module: &Module, id: InstrId) -> Option<Self> {
        let instruction = &module[id];
        if !instruction.opcode().traits().by_parts {
            return None;
        }
        let operands: Vec<&Shape> = instruction.operands.iter().map(|&o| &module[o].shape).collect();
        Self::of_op(&instruction.op, &operands, &instruction.shape)
    }

    /// Returns the factors of an operation on operands of these shapes.
    pub(super) fn of_op(op: &Op, operands: &[&Shape], result: &Shape) -> Option<Self> {
        let leaves = result.leaves();
        let first = leaves.first()?.as_array()?;
        let alike = leaves.iter().all(|l| l.as_array().is_some_and(|a| a.same_dims(first)));
        if !alike || !first.is_static() {
            return None;
        }
        if let (Op::Convolution(a), [input, kernel]) = (op, operands) {
            let array = |s: &'_ Shape| s.as_array().filter(|a| a.is_static()).cloned();
            return convolutions::factors(a, &array(input)?, &array(kernel)?, first);
        }
        let plain = |size: i64, kind: Kind| Factor { size, kind, runs: None };
        let mut found = Self {
            factors: first.dims.iter().map(|&size| plain(size, Kind::Whole)).collect(),
            operands: Vec::new(),
            result: (0..first.rank()).map(Some).collect(),
        };
        let mut combined: Vec<(usize, usize)> = Vec::new();
        // Dimensions of the result whose index determines more than the index into operands. They cannot be
        // split.
        let mut bound = index_bound(op);
        for (n, shape) in operands.iter().enumerate() {
            let array = shape.as_array().filter(|a| a.is_static())?;
            let Access::Axes(axes) = access(op, n, operands, result) else { return None };
            if axes.len() != array.rank() {
                return None;
            }
            let mut walk = DimensionFactors::new();
            for (axis, &size) in axes.iter().zip(&array.dims) {
                walk.push(match *axis {
                    Axis::Along(along) if along.is_same() && first.dims.get(along.dim) == Some(&size) => {
                        Some(along.dim)
                    }
                    Axis::All(k) => {
                        let known = combined.iter().find(|(other, _)| *other == k).map(|&(_, f)| f);
                        let factor = known.unwrap_or_else(|| {
                            found.factors.push(plain(size, all_kind(op)));
                            combined.push((k, found.factors.len() - 1));
                            found.factors.len() - 1
                        });
                        (found.factors[factor].size == size).then_some(factor)
                    }
                    Axis::Group { dim, .. } | Axis::Tap { dim, .. } => {
                        bound.push(dim);
                        None
                    }
                    _ => {
                        bound.extend(axis.dim());
                        None
                    }
                });
            }
            found.operands.push(walk);
        }
        for f in first.rank()..found.factors.len() {
            let walked = |n: usize| found.operands.get(n).is_some_and(|walk| walk.contains(&Some(f)));
            if !combining(op, operands.len()).all(walked) {
                found.factors[f].kind = Kind::Whole;
            }
        }
        for d in 0..first.rank() {
            let read = found.operands.iter().any(|walk| walk.contains(&Some(d)));
            if (read || matches!(op, Op::Broadcast(_))) && !bound.contains(&d) {
                found.factors[d].kind = Kind::Kept;
            }
        }
        if let (Op::SelectAndScatter(a), [_, source, ..]) = (op, operands) {
            found.cut_between_windows(&a.window.dims, &source.as_array()?.dims);
        }
        Some(found)
    }

    /// Allows splitting a select-and-scatter between windows that do not overlap and leave no gap.
    fn cut_between_windows(&mut self, window: &[WindowDim], source: &[i64]) {
        for (d, (w, &count)) in window.iter().zip(source).enumerate() {
            let beside = WindowDim { size: w.stride, stride: w.stride, ..WindowDim::default() };
            let Some(factor) = self.factors.get_mut(d).filter(|f| f.size == count * w.stride) else {
                continue;
            };
            if *w == beside && w.stride > 1 && count > 0 {
                (factor.kind, factor.runs) = (Kind::Kept, Some(count));
                self.operands
                    .iter_mut()
                    .take(2)
                    .filter_map(|walk| walk.get_mut(d))
                    .for_each(|f| *f = Some(d));
            }
        }
    }
}

/// Returns how a factor behaves that an operation reads completely for each element of the result.
fn all_kind(op: &Op) -> Kind {
    match op {
        Op::Dot(_) | Op::Reduce(_) | Op::Scatter(_) => Kind::Combined,
        _ => Kind::Whole,
    }
}

/// Returns the operands whose elements are combined. A combined factor must be split in each of them.
fn combining(op: &Op, count: usize) -> std::ops::Range<usize> {
    match op {
        Op::Dot(_) => 0..2,
        Op::Scatter(_) => count / 2..count,
        _ => 0..count / 2,
    }
}

/// Returns the dimensions of the result in which operands contain indices.
fn index_bound(op: &Op) -> Vec<usize> {
    match op {
        Op::Scatter(a) => a.inserted_window_dims.iter().filter_map(|&d| usize::try_from(d).ok()).collect(),
        _ => Vec::new(),
    }
}
