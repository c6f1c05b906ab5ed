//! Code generation for the loops of a contraction.

use super::writer::{Accumulators, BlockAccumulators, Done, Source, Writer};
use crate::builder::{Binary, FastMath, IntPredicate, V};
use crate::elem::{self, Elem};
use crate::kernels::element::ElementCx;
use crate::kernels::index::{self, Idx};
use hlo_ir::ElementType;
use hlo_ir::contraction::{Aggregation, Interval, Level, Nest};
use hlo_kernel::KernelSpec;
use hlo_kernel::contraction::{ContractionPlan, ElementStrategy};
use hlo_plan::Refusal;

/// Number of values of a block, which are added up sequentially. A longer sum is the sum of its blocks.
/// `STRIP_BLOCK_VALUES` applies to strips, which have one sum per element; `BLOCK_VALUES` applies to single
/// elements, whose sum LLVM splits into several.
const STRIP_BLOCK_VALUES: i64 = 256;
const BLOCK_VALUES: i64 = 2048;

/// Emits iterations `begin..end` of a contraction.
///
/// # Errors
/// The types violate the verifier's rules.
pub fn emit<'c>(
    cx: &ElementCx<'_, 'c>,
    plan: &ContractionPlan<'_>,
    spec: &KernelSpec,
    begin: V<'c>,
    end: V<'c>,
) -> Result<(), Refusal> {
    let Some(loops) = &plan.loops else { return Ok(()) };
    let (b, module) = (cx.b, cx.body.module);
    // Operands are identified by number, because one value may be both an operand and the default that the
    // result overwrites.
    let source = |n: usize| match spec.operand_slots.get(n) {
        Some(Some(slot)) => Ok(Source::Buffer(cx.buffer(*slot))),
        _ => cx.value(module[spec.instruction].operands[n], &[]).map(Source::Scalar),
    };
    let sources = (0..loops.operands.len()).map(source).collect::<Result<_, _>>()?;
    let accumulators = |count: i64| Accumulators {
        values: plan.parts().into_iter().map(|part| cx.stack_array(part, count)).collect(),
        block: plan.is_float_sum().then(|| cx.stack_array(plan.work_type(), count)),
        any: cx.stack_array(ElementType::Pred, 1),
    };
    let has_loops = !loops.inner.is_empty();
    let writer = Writer {
        b,
        plan,
        loops,
        sources,
        result: cx.buffer(spec.result_slots[0]),
        single: has_loops.then(|| accumulators(1)),
        strip: (loops.lanes() > 0).then(|| accumulators(loops.lanes())),
        block: loops.blocks.as_ref().map(|blocks| BlockAccumulators {
            values: plan.parts().into_iter().map(|part| cx.stack_array(part, blocks.size)).collect(),
            any: (!plan.covers).then(|| cx.stack_array(ElementType::Pred, blocks.size)),
        }),
    };
    b.for_loop(begin, end, 1, |i| writer.iteration(i))
}

/// Elements that are computed together.
#[derive(Clone, Copy)]
struct Strip<'n, 'c> {
    /// The loops that contain the elements.
    nest: &'n Nest,
    accumulators: &'n Accumulators<'c>,
    /// Number of elements.
    lanes: i64,
}

/// The outer loops.
impl<'c> Writer<'_, '_, 'c> {
    /// Emits one iteration of the kernel.
    fn iteration(&self, number: V<'c>) -> Done {
        let (b, nest) = (self.b, &self.loops.nest);
        let mut variables = vec![b.index(0); nest.levels().len()];
        let sizes: Vec<i64> = self.loops.shared.iter().map(|s| s.count).collect();
        let minor: Vec<usize> = (0..sizes.len()).rev().collect();
        let position = Idx::value(number, 0, self.plan.iterations.max(1) - 1);
        let parts = index::delinearize(b, position, &sizes, &minor);
        let mut part = None;
        for (variable, (at, shared)) in parts.into_iter().zip(&self.loops.shared).enumerate() {
            let Interval { low, high } = nest.levels()[variable].range();
            let first = at.times(b, shared.step).plus(low).emit(b);
            variables[variable] = first;
            if self.loops.innermost() == Some(variable) && shared.count > 1 {
                let end = b.index_add(first, b.index(shared.step));
                part = Some([first, b.binary(Binary::Smin, end, b.index(high + 1))]);
            }
        }
        self.outer(self.loops.shared.len(), part, &mut variables)
    }

    /// Emits the outer loops from `variable` on. If `part` is present, only this part of the innermost one is
    /// emitted.
    fn outer(&self, variable: usize, part: Option<[V<'c>; 2]>, variables: &mut Vec<V<'c>>) -> Done {
        let nest = &self.loops.nest;
        if self.loops.innermost().is_some_and(|innermost| variable >= innermost) {
            return self.line(part, variables);
        }
        if variable >= nest.outer() {
            return match &self.loops.blocks {
                Some(blocks) => self.in_block(blocks, variables),
                None => self.single(nest, variables),
            };
        }
        let [lower, end] = self.bounds(nest, variable, variables);
        self.b.for_loop(lower, end, 1, |x| {
            variables[variable] = x;
            self.outer(variable + 1, part, variables)
        })
    }

    /// Emits the innermost loop of the result, or a part of it.
    fn line(&self, part: Option<[V<'c>; 2]>, variables: &mut Vec<V<'c>>) -> Done {
        let (b, nest) = (self.b, &self.loops.nest);
        let innermost = nest.outer() - 1;
        let within = |[lower, end]: [V<'c>; 2]| match part {
            Some([first, last]) => [b.binary(Binary::Smax, lower, first), b.binary(Binary::Smin, end, last)],
            None => [lower, end],
        };
        let [lower, end] = within(self.bounds(nest, innermost, variables));
        let Some((interior, inside)) = &self.loops.interior else {
            return self.each(nest, [lower, end], variables);
        };
        let level = &interior.levels()[innermost];
        let most = |bounds: [V<'c>; 2], variables: &mut Vec<V<'c>>| match inside {
            ElementStrategy::Unrolled => b.for_loop(bounds[0], bounds[1], 1, |x| {
                variables[innermost] = x;
                self.unrolled(interior, variables)
            }),
            ElementStrategy::Strips(lanes) => {
                self.strips(interior, *lanes, bounds, self.constant_count(level, part), variables)
            }
        };
        if nest.levels()[innermost] == *level {
            return most([lower, end], variables);
        }
        let [from, to] = within(self.bounds(interior, innermost, variables));
        let from = b.binary(Binary::Smin, b.binary(Binary::Smax, from, lower), end);
        let to = b.binary(Binary::Smax, to, from);
        self.each(nest, [lower, from], variables)?;
        most([from, to], variables)?;
        self.each(nest, [to, end], variables)
    }

    /// Returns the number of steps of a loop if it is constant.
    fn constant_count(&self, level: &Level, part: Option<[V<'c>; 2]>) -> Option<i64> {
        let Interval { low, high } = level.range();
        (level.is_constant() && part.is_none()).then_some(high - low + 1)
    }

    /// Emits elements one by one.
    fn each(&self, nest: &Nest, [lower, end]: [V<'c>; 2], variables: &mut Vec<V<'c>>) -> Done {
        self.b.for_loop(lower, end, 1, |x| {
            variables[nest.outer() - 1] = x;
            self.single(nest, variables)
        })
    }

    fn single(&self, nest: &Nest, variables: &mut Vec<V<'c>>) -> Done {
        match &self.single {
            Some(accumulators) => self.elements(&Strip { nest, accumulators, lanes: 1 }, variables),
            None => self.unrolled(nest, variables),
        }
    }

    /// Emits elements in strips. The last strip overlaps the one before it if the number of elements is not a
    /// multiple of the strip's. These elements are computed twice, with the same result.
    fn strips(
        &self,
        nest: &Nest,
        lanes: i64,
        [lower, end]: [V<'c>; 2],
        count: Option<i64>,
        variables: &mut Vec<V<'c>>,
    ) -> Done {
        let b = self.b;
        let Some(accumulators) = &self.strip else { return self.each(nest, [lower, end], variables) };
        let innermost = nest.outer() - 1;
        let strip = |lanes: i64, at: V<'c>, variables: &mut Vec<V<'c>>| {
            variables[innermost] = at;
            self.elements(&Strip { nest, accumulators, lanes }, variables)
        };
        if let Some(count) = count.filter(|&count| count >= lanes) {
            let rest = count % lanes;
            let whole = b.index_sub(end, b.index(rest));
            b.for_loop(lower, whole, lanes, |x| strip(lanes, x, variables))?;
            return match rest {
                0 => Ok(()),
                rest => {
                    let last = (rest as u64).next_power_of_two() as i64;
                    strip(last, b.index_sub(end, b.index(last)), variables)
                }
            };
        }
        let size = b.index(lanes);
        let last = b.index_sub(end, size);
        let is_long = b.cmpi(IntPredicate::Sge, last, lower);
        let long = || {
            let mut variables = variables.clone();
            b.for_loop(lower, end, lanes, |x| strip(lanes, b.binary(Binary::Smin, x, last), &mut variables))
        };
        let short = || self.each(nest, [lower, end], &mut variables.clone());
        let nothing = |done: Done| done.map(|()| Vec::new());
        b.if_else(is_long, &[], || nothing(long()), || nothing(short())).map(drop)
    }
}

/// The computation of elements.
impl<'c> Writer<'_, '_, 'c> {
    /// Emits one element, without loops over its values.
    fn unrolled(&self, nest: &Nest, variables: &mut Vec<V<'c>>) -> Done {
        // A sum starts from 0, which matters for -0. Other aggregations start with the first value.
        let is_sum = self.plan.contraction.aggregation == Aggregation::Sum;
        let mut parts = is_sum.then(|| self.neutral());
        let at = self.at(&self.loops.output, variables);
        self.unroll(nest, 0, variables, &mut parts)?;
        let Some(parts) = parts else { return Ok(()) };
        self.store(at, self.finished(&parts)?);
        Ok(())
    }

    /// Aggregates the values of the inner loops from `depth` on. The loops have constant bounds.
    fn unroll(
        &self,
        nest: &Nest,
        depth: usize,
        variables: &mut Vec<V<'c>>,
        parts: &mut Option<Vec<Elem<'c>>>,
    ) -> Done {
        let Some(&variable) = self.loops.inner.get(depth) else {
            let value = self.value(&self.positions(variables), None)?;
            let value = self.aggregated_parts(value);
            *parts = Some(match parts {
                Some(before) => self.aggregated(before, &value, FastMath::None)?,
                None => value,
            });
            return Ok(());
        };
        let Interval { low, high } = nest.levels()[variable].range();
        for x in low..=high {
            variables[variable] = self.b.index(x);
            self.unroll(nest, depth + 1, variables, parts)?;
        }
        Ok(())
    }

    /// Emits a set of elements: aggregates and stores their values.
    fn elements(&self, strip: &Strip<'_, 'c>, variables: &mut Vec<V<'c>>) -> Done {
        let b = self.b;
        let at = self.at(&self.loops.output, variables);
        let Accumulators { values, any, .. } = strip.accumulators;
        let always = self.plan.covers
            || self.loops.inner.iter().all(|&variable| strip.nest.trip_count_bounds(variable).low > 0);
        self.fill(strip, values)?;
        if !always {
            elem::store(b, ElementType::Pred, *any, b.index(0), Elem::One(b.const_bool(false)));
        }
        self.inner(strip, 0, values, (!always).then_some(*any), variables)?;
        let store_all = || {
            let step = self.step(&self.loops.output, strip.nest);
            self.lanes(strip, step.abs() == 1, |lane| {
                let value = self.finished(&self.parts_at(values, lane))?;
                self.store(b.addi(at, b.muli(lane, b.index(step))), value);
                Ok(())
            })
        };
        if always {
            return store_all();
        }
        let any = elem::load(b, ElementType::Pred, *any, b.index(0));
        b.if_then(any.first(), store_all)
    }

    /// Emits the inner loops from `depth` on, in order, which aggregate into `to`.
    fn inner(
        &self,
        strip: &Strip<'_, 'c>,
        depth: usize,
        to: &[V<'c>],
        any: Option<V<'c>>,
        variables: &mut Vec<V<'c>>,
    ) -> Done {
        let (b, loops) = (self.b, self.loops);
        let Some(&variable) = loops.inner.get(depth) else { return self.add(strip, to, variables) };
        let [lower, end] = self.bounds(strip.nest, variable, variables);
        if let Some(any) = any.filter(|_| depth + 1 == loops.inner.len()) {
            let before = elem::load(b, ElementType::Pred, any, b.index(0)).first();
            let here = b.cmpi(IntPredicate::Slt, lower, end);
            elem::store(
                b,
                ElementType::Pred,
                any,
                b.index(0),
                Elem::One(b.binary(Binary::Ori, before, here)),
            );
        }
        let block = strip.accumulators.block.zip(self.block(strip, depth));
        let Some((block, length)) = block else {
            return b.for_loop(lower, end, 1, |x| {
                variables[variable] = x;
                self.inner(strip, depth + 1, to, any, variables)
            });
        };
        let block = &[block];
        b.for_loop(lower, end, length, |first| {
            self.fill(strip, block)?;
            let last = b.binary(Binary::Smin, b.index_add(first, b.index(length)), end);
            b.for_loop(first, last, 1, |x| {
                variables[variable] = x;
                self.inner(strip, depth + 1, block, any, variables)
            })?;
            self.lanes(strip, true, |lane| {
                self.aggregate(to, lane, &self.parts_at(block, lane), FastMath::None)
            })
        })
    }

    /// Returns the number of steps of an inner loop that form a block, if a long sum is split into blocks at
    /// this loop.
    fn block(&self, strip: &Strip<'_, 'c>, depth: usize) -> Option<i64> {
        let most = if strip.lanes > 1 { STRIP_BLOCK_VALUES } else { BLOCK_VALUES };
        let trips = |&variable: &usize| strip.nest.trip_count_bounds(variable).high;
        let inside =
            self.loops.inner[depth + 1..].iter().map(trips).fold(1i64, |n, trips| n.saturating_mul(trips));
        let here = trips(&self.loops.inner[depth]);
        let is_cut = inside <= most && inside.saturating_mul(here) > most;
        is_cut.then(|| (most / inside.max(1)).max(1))
    }

    /// Aggregates one value of each element.
    fn add(&self, strip: &Strip<'_, 'c>, to: &[V<'c>], variables: &[V<'c>]) -> Done {
        let positions = self.positions(variables);
        let (fast, several) = match strip.lanes {
            1 => (FastMath::Reassoc, false),
            _ => (FastMath::None, true),
        };
        self.lanes(strip, true, |lane| {
            let value = self.value(&positions, several.then_some(lane))?;
            self.aggregate(to, lane, &self.aggregated_parts(value), fast)
        })
    }

    fn aggregate(&self, to: &[V<'c>], lane: V<'c>, value: &[Elem<'c>], fast: FastMath) -> Done {
        let next = self.aggregated(&self.parts_at(to, lane), value, fast)?;
        self.set(to, lane, next);
        Ok(())
    }

    /// Sets accumulators to the neutral element.
    fn fill(&self, strip: &Strip<'_, 'c>, values: &[V<'c>]) -> Done {
        self.lanes(strip, true, |lane| {
            self.set(values, lane, self.neutral());
            Ok(())
        })
    }

    /// Emits `body` for each element of a strip, with the element's number. If `vector` is set, the loop
    /// becomes one vector.
    fn lanes(&self, strip: &Strip<'_, 'c>, vector: bool, body: impl FnOnce(V<'c>) -> Done) -> Done {
        let b = self.b;
        match strip.lanes {
            1 => body(b.index(0)),
            lanes if vector => b.for_vector(lanes, body),
            lanes => b.for_loop(b.index(0), b.index(lanes), 1, body),
        }
    }
}
