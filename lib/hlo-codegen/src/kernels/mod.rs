//! Kernels: the loop nests that compute fusions and single instructions.
//!
//! [`plan_kernel`] plans a kernel first. It selects a strategy, and determines the number of independent
//! iterations and the number of iterations that are worth running on another thread. The split depends on
//! shapes only. [`emit_kernel`] emits the kernel for a range of iterations. The first suitable strategy is
//! selected:
//!
//! - *update*: the root is a dynamic-update-slice of a buffer that the result shares: only the update is
//!   written;
//! - *scatter*: the root is a scatter into buffers that the results share;
//! - *select-and-scatter*: windows that each update one element of the result (`select_scatter`);
//! - *contraction*: the loop nest of a `contraction` (`contraction`);
//! - *cumulative*: windows that extend to the first or the last element of a dimension (`cumulative`);
//! - *rows*: reductions along rows and elementwise work on the same rows, one row after the other (`rows`);
//! - *columns*: a reduction that keeps the fastest varying dimension, by tile (`columns`);
//! - *loops*: all others, as a loop nest over the result's elements, each computed by `value`;
//! - *separate*: results of different dimensions, a loop nest for each list of dimensions.

mod bitcast;
mod body;
mod carried_loops;
mod columns;
pub(crate) mod combiner;
pub(crate) mod comparator;
mod contraction;
mod covered_loops;
mod cumulative;
mod dot;
mod element;
mod extremum;
mod gather;
mod index;
mod key;
mod loop_splitting;
mod loops;
mod reduce;
mod rows;
mod scalar;
mod select_scatter;
mod sums;
mod tiling;
mod value;
mod window;

pub use body::KernelSpec;

use crate::builder::{Builder, V};
use body::{Body, array};
use element::ElementCx;
use hlo_ir::diag::Diag;
use hlo_ir::{InstrId, Module, Op};
use hlo_plan::Refusal;

/// The iterations and properties of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelShape {
    /// Number of independent iterations.
    pub iterations: i64,
    /// Number of iterations per chunk if the kernel is split over threads. At least `iterations` if it is not
    /// split.
    pub grain: i64,
    /// The key of the kernel's code. Kernels with equal keys compute the same results from their buffers.
    pub key: String,
    /// Whether the kernel is so small that a call would cost more than its execution.
    pub tiny: bool,
    /// An approximate number of operations, for distributing kernels over compilation threads.
    pub code_size: usize,
}

enum Strategy<'a> {
    /// Updates this root in place.
    Update(InstrId),
    Scatter(InstrId),
    SelectAndScatter(select_scatter::Plan<'a>),
    Contraction(contraction::Plan<'a>),
    Cumulative(cumulative::Plan),
    Rows(rows::RowPlan),
    Columns(InstrId, columns::ColumnPlan),
    Loops(loops::LoopPlan),
    Separate(Vec<(Body<'a>, loops::LoopPlan)>),
}

/// Minimum number of element operations that are split over threads: about 20 µs of work.
const MIN_PARALLEL_COST: i64 = 1 << 16;
/// Maximum number of element operations of a tiny kernel. They take about as long as a call.
const MAX_TINY_COST: i64 = 1 << 10;
/// Number of element operations in a chunk.
const CHUNK_COST: i64 = 1 << 16;
/// Maximum number of chunks. More of them only add scheduling cost.
const MAX_CHUNKS: i64 = 256;

/// Plans a kernel.
///
/// # Errors
/// An instruction of the kernel cannot be compiled.
pub fn plan_kernel(module: &Module, spec: &KernelSpec) -> Result<KernelShape, Refusal> {
    let body = Body::new(module, spec)?;
    hlo_plan::applied::check_size(module, &body.computed)?;
    let strategy = choose(&body, spec)?;
    let elements = work_elements(&body)?;
    let (iterations, divisible) = match &strategy {
        Strategy::Update(root) => {
            let update = array(module, module[*root].operands[1])?;
            let plan = loops::LoopPlan::of_shape(update);
            (plan.iterations, true)
        }
        Strategy::Scatter(_) => (1, false),
        Strategy::SelectAndScatter(plan) => (plan.iterations, true),
        Strategy::Contraction(plan) => (plan.iterations, true),
        Strategy::Cumulative(plan) => (plan.iterations, true),
        Strategy::Rows(plan) => (plan.rows, true),
        Strategy::Columns(root, plan) => {
            let result = array(module, *root)?;
            let outer: i64 = plan.outer.iter().map(|&d| result.dims[d]).product();
            (outer * plan.tiles, true)
        }
        Strategy::Loops(plan) => (plan.iterations, true),
        Strategy::Separate(_) => (1, false),
    };
    // A tiny kernel may be inlined into a loop, where it cannot allocate arrays on the stack.
    let on_stack = match &strategy {
        Strategy::Rows(plan) => plan.keeps_rows(),
        Strategy::Columns(..) | Strategy::Contraction(_) | Strategy::Cumulative(_) => true,
        Strategy::Update(_) | Strategy::Scatter(_) | Strategy::SelectAndScatter(_) => false,
        Strategy::Loops(_) | Strategy::Separate(_) => false,
    };
    let cost = elements.saturating_mul(cost_per_element(&body));
    let chunks = (cost / CHUNK_COST).clamp(1, MAX_CHUNKS);
    let grain =
        if divisible && cost >= MIN_PARALLEL_COST { (iterations + chunks - 1) / chunks } else { iterations };
    Ok(KernelShape {
        iterations,
        grain: grain.max(1),
        key: key::of(&body, spec),
        tiny: elements <= 16 && body.computed.len() <= 64 && cost <= MAX_TINY_COST && !on_stack,
        code_size: 8 + body.computed.len(),
    })
}

/// Emits iterations `begin..end` of a kernel at the insertion point, which must be in a function's entry
/// block unless the kernel is tiny.
///
/// # Errors
/// An instruction of the kernel cannot be compiled.
pub fn emit_kernel<'c>(
    b: &Builder<'c>,
    module: &Module,
    spec: &KernelSpec,
    buffers: &[V<'c>],
    range: [V<'c>; 2],
) -> Result<(), Diag> {
    b.at(module, spec.instruction, || emit_iterations(b, module, spec, buffers, range))
        .map_err(|refusal| refusal.of(module, spec.instruction))
}

fn emit_iterations<'c>(
    b: &Builder<'c>,
    module: &Module,
    spec: &KernelSpec,
    buffers: &[V<'c>],
    [begin, end]: [V<'c>; 2],
) -> Result<(), Refusal> {
    let body = Body::new(module, spec)?;
    let strategy = choose(&body, spec)?;
    let flat = matches!(&strategy, Strategy::Loops(plan) if plan.flat);
    let cx = ElementCx::new(b, &body, buffers, flat);
    match &strategy {
        Strategy::Update(root) => loops::emit_update(&cx, *root, spec.result_slots[0], begin, end),
        Strategy::Scatter(root) => gather::scatter(&cx, *root, &spec.result_slots),
        Strategy::SelectAndScatter(plan) => select_scatter::emit(&cx, plan, &body.roots[0], begin, end),
        Strategy::Contraction(plan) => contraction::emit(&cx, plan, spec, begin, end),
        Strategy::Cumulative(plan) => cumulative::emit(&cx, plan, begin, end),
        Strategy::Rows(plan) => rows::emit(&cx, plan, begin, end),
        Strategy::Columns(root, plan) => columns::emit(&cx, *root, spec.result_slots[0], plan, begin, end),
        Strategy::Loops(plan) => loops::emit(&cx, plan, begin, end),
        Strategy::Separate(nests) => nests.iter().try_for_each(|(body, plan)| {
            let cx = ElementCx::new(b, body, buffers, plan.flat);
            loops::emit(&cx, plan, b.index(0), b.index(plan.iterations))
        }),
    }
}

fn choose<'a>(body: &Body<'a>, spec: &KernelSpec) -> Result<Strategy<'a>, Refusal> {
    let module = body.module;
    let root = body.roots[0].id;
    let in_place = |operand: InstrId| {
        body.roots.len() == 1 && body.slot(operand).is_some_and(|s| s == spec.result_slots[0])
    };
    match &module[root].op {
        Op::DynamicUpdateSlice if in_place(module[root].operands[0]) => return Ok(Strategy::Update(root)),
        Op::Scatter(_) => return scatter_in_place(body, spec, root),
        Op::Contraction(_) => return Ok(Strategy::Contraction(contraction::Plan::new(module, root)?)),
        Op::SelectAndScatter(_) => {
            return Ok(Strategy::SelectAndScatter(select_scatter::Plan::new(module, root)?));
        }
        Op::ReduceWindow(_) if cumulative::is_whole(body, root) => {
            if let Some(plan) = cumulative::plan(module, root) {
                return Ok(Strategy::Cumulative(plan));
            }
        }
        _ => {}
    }
    if let Some(plan) = rows::plan(body) {
        return Ok(Strategy::Rows(plan));
    }
    if body.roots.len() == 1
        && !module[root].shape.is_tuple()
        && let Some(plan) = columns::plan(module, root)
    {
        return Ok(Strategy::Columns(root, plan));
    }
    let mut nests = Vec::new();
    for part in body.by_dimensions() {
        let plan = loops::LoopPlan::of_body(&part)?;
        nests.push((part, plan));
    }
    Ok(match <[_; 1]>::try_from(nests) {
        Ok([(_, plan)]) => Strategy::Loops(plan),
        Err(nests) => Strategy::Separate(nests),
    })
}

fn scatter_in_place<'a>(body: &Body<'a>, spec: &KernelSpec, root: InstrId) -> Result<Strategy<'a>, Refusal> {
    let operands = &body.module[root].operands;
    let n = operands.len() / 2;
    // If the instruction is the scatter itself, buffers are identified by operand number, because one
    // instruction may be both the operand and the updates or indices.
    let slot = |(k, &o): (usize, &InstrId)| {
        if root == spec.instruction { spec.operand_slots.get(k).copied().flatten() } else { body.slot(o) }
    };
    let shared =
        operands[..n].iter().enumerate().map(slot).zip(&spec.result_slots).all(|(o, &s)| o == Some(s));
    if shared && n == spec.result_slots.len() {
        Ok(Strategy::Scatter(root))
    } else {
        Err("a scatter needs its operands' buffers for its results".into())
    }
}

/// Returns the number of elements that the kernel iterates over: that of the largest result or reduced
/// operand.
fn work_elements(body: &Body<'_>) -> Result<i64, Refusal> {
    let module = body.module;
    let mut most = 0;
    for root in body.roots.iter().map(|r| r.id) {
        for leaf in module[root].shape.leaves() {
            most = most.max(leaf.as_array().map_or(0, |a| a.element_count() as i64));
        }
    }
    if let Op::DynamicUpdateSlice = &module[body.roots[0].id].op {
        most = array(module, module[body.roots[0].id].operands[1])?.element_count() as i64;
    }
    for &id in &body.computed {
        match &module[id].op {
            Op::Reduce(_) | Op::Scatter(_) => {
                for &o in &module[id].operands {
                    most = most.max(array(module, o)?.element_count() as i64);
                }
            }
            Op::Dot(a) => {
                let lhs = array(module, module[id].operands[0])?;
                let contracted = product(a.lhs_contracting_dims.iter().map(|&d| lhs.dims[d as usize]));
                let result = array(module, id)?.element_count() as i64;
                most = most.max(result.saturating_mul(contracted));
            }
            Op::Contraction(_) => {
                most = most.max(contraction::Plan::new(module, id)?.work);
            }
            Op::SelectAndScatter(_) => {
                most = most.max(select_scatter::Plan::new(module, id)?.work());
            }
            Op::ReduceWindow(a) => {
                let is_cumulative = cumulative::is_whole(body, id) && cumulative::plan(module, id).is_some();
                let sizes = a.window.dims.iter().zip(&array(module, module[id].operands[0])?.dims);
                let covered = product(sizes.map(|(w, &size)| w.most_covered(size)));
                let window = if is_cumulative { 1 } else { covered };
                let leaves = module[id].shape.leaves();
                let result = leaves[0].as_array().map_or(0, |a| a.element_count() as i64);
                most = most.max(result.saturating_mul(window));
            }
            _ => {}
        }
    }
    Ok(most)
}

/// Returns the product of sizes, saturating.
fn product(sizes: impl Iterator<Item = i64>) -> i64 {
    sizes.fold(1, i64::saturating_mul)
}

/// Returns an approximate weight of the work per element, where a load or an addition counts 1.
fn cost_per_element(body: &Body<'_>) -> i64 {
    let weight = |&id: &InstrId| body.module[id].opcode().work().weight();
    body.computed.iter().map(weight).sum::<i64>().max(1)
}
