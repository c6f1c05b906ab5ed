//! Planning of the loops of a contraction.

use super::blocks::Blocks;
use crate::kernels::body::array;
use hlo_analysis::cost_model::TARGET_PARALLEL_ITERATIONS;
use hlo_ir::contraction::{Affine, Contraction, Level, Nest, Strip};
use hlo_ir::{ElementType, InstrId, Module, Op, Shape};
use hlo_plan::Refusal;

/// Maximum size of the accumulators of a strip in bytes: a few vectors.
const STRIP_BYTES: usize = 256;
/// Maximum number of values of an element that are aggregated without loops.
const MAX_UNROLLED: i64 = 16;
/// Maximum number of elements of a strip.
const MAX_LANES: i64 = 64;
/// Minimum number of elements of a strip.
const MIN_LANES: i64 = 4;
/// Maximum number of residues that get loops of their own.
const MAX_RESIDUES: i64 = 16;

/// The planned loops of a contraction.
pub struct Plan<'a> {
    /// The instruction's attribute.
    pub contraction: &'a Contraction,
    /// The element types of the operands that elements are read from.
    pub types: Vec<ElementType>,
    /// The element type of the result.
    pub element_type: ElementType,
    /// The loops, or `None` if there is no valid index.
    pub loops: Option<Loops>,
    /// Whether each element of the result is known to have a value.
    pub covers: bool,
    /// The number of independent iterations.
    pub iterations: i64,
    /// The approximate number of values that are aggregated.
    pub work: i64,
}

/// Loops and their positions in memory.
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
    pub blocks: Option<Box<Blocks>>,
}

/// The way of computing elements where neighbours have the same inner loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementStrategy {
    /// Elements are computed one by one, without inner loops, so that the loop over the elements is the
    /// innermost.
    Unrolled,
    /// This number of elements is computed together.
    Strips(i64),
}

/// A loop whose steps are iterations of the kernel.
pub struct Shared {
    /// Number of values of its variable per step.
    pub step: i64,
    /// Number of steps.
    pub count: i64,
}

impl<'a> Plan<'a> {
    /// Plans the loops of an instruction.
    ///
    /// # Errors
    /// The instruction is not a contraction, or other passes must transform it first.
    pub fn new(module: &'a Module, id: InstrId) -> Result<Self, Refusal> {
        let instr = &module[id];
        let Op::Contraction(attrs) = &instr.op else { return Err("not a contraction".into()) };
        let contraction = &attrs.access;
        let result = array(module, id)?;
        let read =
            instr.operands.get(..contraction.operands.len()).ok_or("a contraction without operands")?;
        let shapes: Vec<&Shape> = read.iter().map(|&o| &module[o].shape).collect();
        // If there is a default operand, the result overwrites it.
        let written = array(module, instr.operands.get(read.len()).copied().unwrap_or(id))?;
        let memory = Memory {
            output: written.strides().to_vec(),
            operands: read
                .iter()
                .map(|&o| Ok(array(module, o)?.strides().to_vec()))
                .collect::<Result<_, Refusal>>()?,
        };
        let strips = contraction.strips(&instr.shape, &shapes);
        let mut plan = Self {
            contraction,
            types: read
                .iter()
                .map(|&o| Ok(array(module, o)?.element_type))
                .collect::<Result<_, Refusal>>()?,
            element_type: result.element_type,
            loops: None,
            covers: false,
            iterations: 0,
            work: 0,
        };
        // More accumulators per element mean fewer elements per strip.
        let bytes = plan.work_type().byte_size() * plan.parts().len().div_ceil(2);
        plan.loops = Loops::new(contraction, &strips, &memory, (STRIP_BYTES / bytes) as i64)?;
        let has_default = instr.operands.len() > read.len();
        // The pass uses the same test, but considers only one order of the loops.
        let nest = contraction.nest(&instr.shape, &shapes).ok().flatten();
        plan.covers = nest.is_some_and(|nest| nest.covers(result.element_count()));
        if !has_default && !plan.covers {
            return Err("a contraction without a default for elements that may have no value: the pass \
                        `contraction-default` has to run before"
                .into());
        }
        if let Some(loops) = &plan.loops {
            plan.iterations = loops.shared.iter().map(|s| s.count).product();
            plan.work = loops.nest.most_points().min(i64::MAX as u64) as i64;
        }
        Ok(plan)
    }
}

/// The distance of neighbours in memory along each dimension, in elements.
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
    fn new(
        contraction: &Contraction,
        strips: &[Strip],
        memory: &Memory,
        lanes: i64,
    ) -> Result<Option<Self>, Refusal> {
        let mut search = Search { contraction, strips, memory, order: Vec::new() };
        // The dimensions with the largest strides are outermost.
        search.order.extend(0..contraction.output.len());
        search.order.sort_by_key(|&d| std::cmp::Reverse(memory.output[d]));
        let Some(mut best) = search.loops(None)? else { return Ok(None) };
        let mut worth = 0;
        for innermost in search.order.clone().into_iter().rev() {
            // If elements are only moved or combined one by one, only the memory order of the result matters.
            for mut candidate in search.ending_in(innermost)?.into_iter().filter(|c| !c.inner.is_empty()) {
                let found = candidate.choose_element_strategy(lanes.min(MAX_LANES));
                if found > worth {
                    (best, worth) = (candidate, found);
                }
            }
        }
        if worth == 0
            && !best.inner.is_empty()
            && let Some(in_blocks) = search.in_blocks()
        {
            best = in_blocks;
        }
        best.share();
        Ok(Some(best))
    }

    /// Returns the number of the innermost variable of the result, along which elements are computed one by
    /// one or in strips. Returns `None` for blocks, because all outer loops enclose them.
    pub(super) fn innermost(&self) -> Option<usize> {
        self.nest.outer().checked_sub(1).filter(|_| self.blocks.is_none())
    }

    /// Decides how most elements are computed along the innermost loop of the result, in strips of at most
    /// `most` elements. Returns the benefit for vectorisation, approximately the number of elements of a
    /// vector.
    fn choose_element_strategy(&mut self, most: i64) -> i64 {
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
            // LLVM can vectorise accesses with a small stride.
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
    fn share(&mut self) {
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
    order: Vec<usize>,
}

impl Search<'_> {
    /// Returns the loops over the result in the order of its dimensions. With `modulus`, they have one more
    /// loop over the residues of an index of the last dimension. Returns `None` if there is no valid index.
    fn loops(&self, modulus: Option<i64>) -> Result<Option<Loops>, Refusal> {
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
    fn ending_in(&mut self, innermost: usize) -> Result<Vec<Loops>, Refusal> {
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
        // A loop of few steps is not worth vectorising.
        far.sum::<i64>() + if nest.trip_count_bounds(variable).high < 8 { 4 } else { 0 }
    };
    let best = order.iter().copied().rev().filter(|&v| is_free(v)).min_by_key(|&v| distance(v));
    if let Some(best) = best {
        order.retain(|&v| v != best);
        order.push(best);
    }
    order
}
