//! The description of a kernel.

use crate::columns::{self, ColumnPlan};
use crate::contraction::ContractionPlan;
use crate::cumulative::{self, CumulativePlan};
use crate::loops::LoopNest;
use crate::rows::{self, RowPlan};
use crate::select_scatter::SelectAndScatterPlan;
use crate::{Body, KernelSpec, Root, cost};
use hlo_ir::verify::Verified;
use hlo_ir::{InstrId, Module, Op};
use hlo_plan::{Refusal, array};

/// A kernel: its instructions, its buffers and its loops.
#[derive(Clone, Debug)]
pub struct Kernel<'m> {
    /// The instruction and its buffers.
    pub spec: KernelSpec,
    /// The instructions that the kernel computes.
    pub body: Body<'m>,
    /// The loops.
    pub strategy: Strategy<'m>,
    /// Number of independent iterations.
    pub iterations: i64,
    /// Number of iterations per chunk if the kernel is split over threads. At least `iterations` if it is not
    /// split.
    pub grain: i64,
    /// Whether the kernel is so small that a call would cost more than its execution.
    pub tiny: bool,
    /// An approximate number of operations, for distributing kernels over compilation threads.
    pub code_size: usize,
}

/// The loops of a kernel: see the [crate's documentation](crate).
#[derive(Clone, Debug)]
pub enum Strategy<'m> {
    /// Updates the result of this dynamic-update-slice in place, in loops over the update.
    Update(InstrId, LoopNest),
    /// Updates the results of this scatter in place.
    Scatter(InstrId),
    /// Updates an element of the result for each window.
    SelectAndScatter(SelectAndScatterPlan<'m>),
    /// The loop nest of a contraction.
    Contraction(ContractionPlan<'m>),
    /// Carries totals along a dimension.
    Cumulative(CumulativePlan),
    /// Reduces rows and computes with the same rows.
    Rows(RowPlan),
    /// Reduces tiles of columns.
    Columns(ColumnPlan),
    /// Loops over the results.
    Loops(LoopNest),
    /// A loop nest for the results of each list of dimensions.
    Separate(Vec<(Vec<Root>, LoopNest)>),
}

/// Maximum number of element operations of a tiny kernel. They take about as long as a call.
const MAX_TINY_COST: i64 = 1 << 10;
/// Maximum number of elements that a tiny kernel iterates over.
const MAX_TINY_ELEMENTS: i64 = 16;
/// Maximum number of instructions of a tiny kernel.
const MAX_TINY_INSTRUCTIONS: usize = 64;

impl<'m> Kernel<'m> {
    /// Plans a kernel. The plan depends on instructions and shapes only.
    ///
    /// # Errors
    /// An instruction of the kernel cannot be planned.
    pub fn new(module: Verified<&'m Module>, spec: KernelSpec) -> Result<Self, Refusal> {
        Self::of_body(Body::new(module.get(), &spec)?, spec)
    }

    /// Plans a kernel, given its instructions.
    pub(crate) fn of_body(body: Body<'m>, spec: KernelSpec) -> Result<Self, Refusal> {
        let strategy = Strategy::of(&body, &spec)?;
        let elements = cost::work_elements(&body, &strategy)?;
        let cost = elements.saturating_mul(cost::cost_per_element(&body));
        let iterations = strategy.iterations();
        let grain = if strategy.is_divisible() { cost::grain(iterations, cost) } else { iterations.max(1) };
        let is_small = elements <= MAX_TINY_ELEMENTS
            && body.computed.len() <= MAX_TINY_INSTRUCTIONS
            && cost <= MAX_TINY_COST;
        // A tiny kernel may be inlined into a loop, where it cannot allocate arrays on the stack.
        let tiny = is_small && !strategy.needs_stack();
        let code_size = 8 + body.computed.len();
        Ok(Self { spec, body, strategy, iterations, grain, tiny, code_size })
    }
}

impl<'m> Strategy<'m> {
    fn of(body: &Body<'m>, spec: &KernelSpec) -> Result<Self, Refusal> {
        let module = body.module;
        let root = body.roots.first().ok_or("a kernel without results")?.id;
        let in_place = |operand: InstrId| {
            body.roots.len() == 1 && body.slot(operand).is_some_and(|s| s == spec.result_slots[0])
        };
        match &module[root].op {
            Op::DynamicUpdateSlice if in_place(module[root].operands[0]) => {
                let update = array(module, module[root].operands[1])?;
                return Ok(Strategy::Update(root, LoopNest::of_shape(update)));
            }
            Op::Scatter(_) => return scatter_in_place(body, spec, root),
            Op::Contraction(_) => return Ok(Strategy::Contraction(ContractionPlan::new(module, root)?)),
            Op::SelectAndScatter(_) => {
                return Ok(Strategy::SelectAndScatter(SelectAndScatterPlan::new(module, root)?));
            }
            _ => {}
        }
        if let Some(plan) = cumulative::plan(body) {
            return Ok(Strategy::Cumulative(plan));
        }
        if let Some(plan) = rows::plan(body) {
            return Ok(Strategy::Rows(plan));
        }
        if let Some(plan) = columns::plan(body) {
            return Ok(Strategy::Columns(plan));
        }
        let groups = body.roots_by_dimensions();
        if groups.len() == 1 {
            return Ok(Strategy::Loops(LoopNest::of_body(body)?));
        }
        let nest = |roots: Vec<Root>| Ok((roots.clone(), LoopNest::of_body(&body.with_roots(roots))?));
        Ok(Strategy::Separate(groups.into_iter().map(nest).collect::<Result<_, Refusal>>()?))
    }

    /// Returns the number of independent iterations.
    fn iterations(&self) -> i64 {
        match self {
            Strategy::Update(_, nest) | Strategy::Loops(nest) => nest.iterations,
            Strategy::SelectAndScatter(plan) => plan.iterations,
            Strategy::Contraction(plan) => plan.iterations,
            Strategy::Cumulative(plan) => plan.iterations,
            Strategy::Rows(plan) => plan.rows,
            Strategy::Columns(plan) => plan.iterations,
            Strategy::Scatter(_) | Strategy::Separate(_) => 1,
        }
    }

    /// Returns whether threads may share the iterations.
    fn is_divisible(&self) -> bool {
        !matches!(self, Strategy::Scatter(_) | Strategy::Separate(_))
    }

    /// Returns whether the code of a small kernel needs arrays on the stack. Tiled nests are not small: they have
    /// at least 256 elements.
    fn needs_stack(&self) -> bool {
        match self {
            Strategy::Rows(plan) => !plan.kept.is_empty(),
            Strategy::Columns(_) | Strategy::Contraction(_) | Strategy::Cumulative(_) => true,
            Strategy::Update(..) | Strategy::Scatter(_) | Strategy::SelectAndScatter(_) => false,
            Strategy::Loops(_) | Strategy::Separate(_) => false,
        }
    }
}

fn scatter_in_place<'m>(body: &Body<'m>, spec: &KernelSpec, root: InstrId) -> Result<Strategy<'m>, Refusal> {
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
