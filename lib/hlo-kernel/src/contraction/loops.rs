//! The loops of a contraction: their order, their positions in memory, and which of them are shared or
//! vectorized.

use hlo_analysis::cost_model::TARGET_PARALLEL_ITERATIONS;
use hlo_ir::contraction::{Affine, Contraction, Level, Nest, Strip};
use hlo_plan::Refusal;

/// Maximum number of values of an element that are aggregated without loops.
const MAX_UNROLLED: i64 = 16;
/// Maximum number of elements of a strip.
pub(super) const MAX_LANES: i64 = 64;
/// Minimum number of elements of a strip.
const MIN_LANES: i64 = 4;
/// Maximum number of residues that get loops of their own.
const MAX_RESIDUES: i64 = 16;

/// Loops and their positions in memory.
#[derive(Clone, Debug)]
pub struct Loops {
    /// The loop nest.
    pub nest: Nest,
    /// The part of the loops in which elements are computed in vectors, and the way of computing them.
    pub interior: Option<(Nest, ElementStrategy)>,
    /// The position of the result's element, as a function of the loop variables.
    pub output: Affine,
    /// The positions of the operands' elements.
    pub operands: Vec<Affine>,
    /// The inner loops, outermost first, as numbers of their variables.
    pub inner: Vec<usize>,
    /// The outer loops that form the iterations: the first ones, each with a constant number of steps.
    pub shared: Vec<Shared>,
    /// The blocks, if the inner loops run over the elements of a block of the result instead of over the
    /// values of one element.
    pub blocks: Option<Box<ElementBlocks>>,
}

/// The way of computing elements where neighbors have the same inner loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementStrategy {
    /// Elements are computed one by one, without inner loops, so that the loop over the elements is the
    /// innermost.
    Unrolled,
    /// This number of elements is computed together.
    Strips(i64),
}

/// A loop whose steps are iterations of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shared {
    /// Number of values of its variable per step.
    pub step: i64,
    /// Number of steps.
    pub count: i64,
}

/// The blocks of a contraction. The loop over blocks is the last outer loop.
#[derive(Clone, Debug)]
pub struct ElementBlocks {
    /// Number of elements of a block.
    pub size: i64,
    /// Number of elements along the dimension that is split into blocks.
    pub length: i64,
    /// The number of the block, as a function of the loop variables.
    pub number: Affine,
    /// The number of an element in its block.
    pub element: Affine,
    /// The position of the block's first element in memory.
    pub first: Affine,
}

/// The distance of neighbors in memory along each dimension, in elements.
pub(super) struct Memory {
    pub(super) output: Vec<i64>,
    pub(super) operands: Vec<Vec<i64>>,
}

/// Returns the position of an access in memory, as a function of the indices.
fn position(access: &[Affine], strides: &[i64]) -> Affine {
    let indices = access.iter().map(|index| index.coefficients.len()).max().unwrap_or(0);
    let mut sum = Affine::constant(0, indices);
    for (index, &stride) in access.iter().zip(strides) {
        let add = |sum: &mut i64, x: i64| *sum = sum.wrapping_add(x.wrapping_mul(stride));
        add(&mut sum.constant, index.constant);
        sum.coefficients.iter_mut().zip(&index.coefficients).for_each(|(sum, &x)| add(sum, x));
    }
    sum
}

impl Loops {
    /// Returns the number of the innermost variable of the result, along which elements are computed one by
    /// one or in strips. Returns `None` for blocks, because all outer loops enclose them.
    pub fn innermost(&self) -> Option<usize> {
        self.nest.outer().checked_sub(1).filter(|_| self.blocks.is_none())
    }

    /// Decides how most elements are computed along the innermost loop of the result, in strips of at most
    /// `most` elements. Returns the benefit for vectorization, approximately the number of elements of a
    /// vector.
    pub(super) fn choose_element_strategy(&mut self, most: i64) -> i64 {
        let (Some(innermost), Some(interior)) = (self.innermost(), self.nest.interior()) else { return 0 };
        let steps = |nest: &Nest| {
            let range = nest.levels()[innermost].range();
            range.high - range.low + 1
        };
        let count = steps(&interior);
        if count < MIN_LANES || 2 * count < steps(&self.nest) {
            return 0;
        }
        let steps = self.operands.iter().map(|position| position.coefficients[innermost].saturating_abs());
        let farthest = steps.max().unwrap_or(0);
        let inner = &interior.levels()[self.nest.outer()..];
        let is_small = inner.iter().all(Level::is_constant)
            && (self.nest.outer()..interior.levels().len())
                .try_fold(1i64, |n, level| n.checked_mul(interior.trip_count_bounds(level).high))
                .is_some_and(|points| points <= MAX_UNROLLED);
        let (inside, worth) = match farthest {
            // LLVM can vectorize accesses with a small stride.
            0..=4 if is_small => {
                (ElementStrategy::Unrolled, if farthest > 1 { MAX_LANES } else { 2 * MAX_LANES })
            }
            0..=1 => {
                let lanes = 1 << count.min(most).ilog2();
                (ElementStrategy::Strips(lanes), lanes)
            }
            _ => return 0,
        };
        self.interior = Some((interior, inside));
        worth.min(count)
    }

    /// Returns the number of elements of a strip, or 0 without strips.
    pub fn lanes(&self) -> i64 {
        match self.interior {
            Some((_, ElementStrategy::Strips(lanes))) => lanes,
            _ => 0,
        }
    }

    /// Makes iterations of the first outer loops, as long as their bounds are constant. If these are not
    /// enough, the innermost one is split, so that each iteration gets a part of it. The bounds of this one
    /// may vary.
    pub(super) fn share(&mut self) {
        let mut iterations = 1i64;
        for (variable, level) in self.nest.levels()[..self.nest.outer()].iter().enumerate() {
            // The remaining loops are not shared, because each shared loop needs a division of the iteration
            // number.
            if iterations >= TARGET_PARALLEL_ITERATIONS {
                break;
            }
            let range = level.range();
            let length = range.high - range.low + 1;
            let is_innermost = self.innermost() == Some(variable);
            let step = if is_innermost {
                let parts = (TARGET_PARALLEL_ITERATIONS / iterations).max(1);
                let whole = self.lanes().max(MAX_LANES);
                ((length + parts - 1) / parts + whole - 1) / whole * whole
            } else if level.is_constant() {
                1
            } else {
                break;
            };
            let count = (length + step - 1) / step;
            iterations = iterations.saturating_mul(count);
            self.shared.push(Shared { step, count });
        }
    }
}

/// The inputs of the search for loops.
pub(super) struct Search<'s> {
    pub(super) contraction: &'s Contraction,
    /// The strips of the contraction.
    pub(super) strips: &'s [Strip],
    pub(super) memory: &'s Memory,
    /// The dimensions of the result in loop order, outermost first.
    pub(super) order: Vec<usize>,
}

impl Search<'_> {
    /// Returns the loops over the result in the order of its dimensions. With `modulus`, they have one more
    /// loop over the residues of an index of the last dimension. Returns `None` if there is no valid index.
    pub(super) fn loops(&self, modulus: Option<i64>) -> Result<Option<Loops>, Refusal> {
        let outputs = self.order.len();
        let mut strips: Vec<Strip> = self.order.iter().map(|&d| self.strips[d].clone()).collect();
        let indices = self.contraction.indices + usize::from(modulus.is_some());
        if let (Some(modulus), Some(last)) = (modulus, strips.last()) {
            // index = residue + modulus · quotient, where quotient is a new index.
            let mut residue = last.index.clone();
            residue.coefficients.resize(indices, -modulus);
            strips.insert(outputs - 1, Strip { index: residue, size: modulus });
        }
        strips.extend_from_slice(&self.strips[outputs..]);
        let nest = Nest::new(indices, &strips, outputs + indices - self.contraction.indices);
        let nest = nest.map_err(|_| Refusal::from("a contraction whose indices have no bounds"))?;
        Ok(nest.map(|nest| self.placed(nest)))
    }

    /// Returns the loops with one dimension of the result innermost. If bounds depend on residues, also
    /// returns the loops with a loop over residues.
    pub(super) fn ending_in(&mut self, innermost: usize) -> Result<Vec<Loops>, Refusal> {
        self.order.retain(|&d| d != innermost);
        self.order.push(innermost);
        let Some(plain) = self.loops(None)? else { return Ok(Vec::new()) };
        let modulus = plain.innermost().and_then(|variable| modulus(&plain.nest, variable));
        let mut all = vec![plain];
        if modulus.is_some() {
            // This fails if there are too many indices.
            all.extend(self.loops(modulus).ok().flatten());
        }
        Ok(all)
    }

    /// Returns the loops of a nest, with the positions that they access.
    pub(super) fn placed(&self, nest: Nest) -> Loops {
        let place = |access: &[Affine], strides: &[i64]| nest.in_variables(&position(access, strides));
        let operands = self.contraction.operands.iter().zip(&self.memory.operands);
        let operands: Vec<Affine> = operands.map(|(access, strides)| place(access, strides)).collect();
        Loops {
            output: place(&self.contraction.output, &self.memory.output),
            inner: inner_order(&nest, &operands),
            operands,
            interior: None,
            shared: Vec::new(),
            blocks: None,
            nest,
        }
    }
}

/// Returns the modulus of a variable on whose residues the bounds of inner loops depend, if there is one.
fn modulus(nest: &Nest, variable: usize) -> Option<i64> {
    let inner = nest.levels().iter().enumerate().skip(nest.outer());
    let divisors = inner.flat_map(|(level, l)| l.strips().iter().map(move |s| (level, s)));
    let dependent = divisors.filter(|(_, s)| s.index.depends_on(variable));
    let modulus = dependent.fold(1, |m, (level, s)| lcm(m, s.index.coefficients[level].saturating_abs()));
    (2..=MAX_RESIDUES).contains(&modulus).then_some(modulus)
}

fn lcm(a: i64, b: i64) -> i64 {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    (a / x.max(1)).saturating_mul(b)
}

/// Returns the order of the inner loops. The innermost is the one that runs along most operands, chosen among
/// those that no other loop's bounds depend on.
fn inner_order(nest: &Nest, operands: &[Affine]) -> Vec<usize> {
    let mut order: Vec<usize> = (nest.outer()..nest.levels().len()).collect();
    let is_free = |variable: usize| {
        !nest.levels()[variable + 1..].iter().any(|l| l.strips().iter().any(|s| s.index.depends_on(variable)))
    };
    let distance = |variable: usize| -> i64 {
        let far = operands.iter().map(|position| match position.coefficients[variable] {
            0 => 0,
            1 => 1,
            -1 => 2,
            _ => 8,
        });
        // A loop of few steps is not worth vectorizing.
        far.sum::<i64>() + if nest.trip_count_bounds(variable).high < 8 { 4 } else { 0 }
    };
    let best = order.iter().copied().rev().filter(|&v| is_free(v)).min_by_key(|&v| distance(v));
    if let Some(best) = best {
        order.retain(|&v| v != best);
        order.push(best);
    }
    order
}
