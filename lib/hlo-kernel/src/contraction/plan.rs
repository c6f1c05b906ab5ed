//! Planning of the loops of a contraction.

use super::blocks::in_blocks;
use super::loops::{Loops, MAX_LANES, Memory, Search};
use crate::accumulator_type;
use hlo_ir::contraction::{Aggregation, Contraction, Strip};
use hlo_ir::{ElementType, InstrId, Module, Op, Shape};
use hlo_plan::{Refusal, array};

/// Maximum size of the accumulators of a strip in bytes: a few vectors.
const STRIP_BYTES: usize = 256;

/// The planned loops of a contraction.
#[derive(Clone, Debug)]
pub struct ContractionPlan<'a> {
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

impl<'a> ContractionPlan<'a> {
    /// Plans the loops of an instruction.
    ///
    /// # Errors
    /// The instruction is not a contraction, or other passes must transform it first.
    pub(crate) fn new(module: &'a Module, id: InstrId) -> Result<Self, Refusal> {
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
        plan.loops = plan_loops(contraction, &strips, &memory, (STRIP_BYTES / bytes) as i64)?;
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

/// The values that are aggregated.
impl ContractionPlan<'_> {
    /// Returns the type that values are combined and aggregated in: `f32` for narrow floats.
    pub fn work_type(&self) -> ElementType {
        accumulator_type(self.element_type)
    }

    /// Returns whether the aggregation is a sum of floating-point numbers. Long sums of this kind are
    /// computed in blocks.
    pub fn is_float_sum(&self) -> bool {
        let ty = self.work_type();
        self.contraction.aggregation == Aggregation::Sum && (ty.is_float() || ty.is_complex())
    }

    /// Returns the types of the numbers that an element's values are aggregated in.
    pub fn parts(&self) -> Vec<ElementType> {
        let ty = self.work_type();
        if !self.is_float_extremum() {
            return vec![ty];
        }
        let (signed, unsigned) = match ty {
            ElementType::F64 => (ElementType::S64, ElementType::U64),
            _ => (ElementType::S32, ElementType::U32),
        };
        vec![signed, unsigned, unsigned]
    }

    /// Returns whether the aggregation is the maximum or minimum of floating-point numbers. `maximum` takes
    /// several instructions because of NaNs and zeros. Three extrema of the numbers' bits as integers take
    /// one instruction each and determine the result.
    pub fn is_float_extremum(&self) -> bool {
        let is_extremum = matches!(self.contraction.aggregation, Aggregation::Max | Aggregation::Min);
        is_extremum && self.work_type().is_float()
    }
}

/// Chooses the loops of a contraction, in strips of at most `lanes` elements. Returns `None` if there is no
/// valid index.
fn plan_loops(
    contraction: &Contraction,
    strips: &[Strip],
    memory: &Memory,
    lanes: i64,
) -> Result<Option<Loops>, Refusal> {
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
        && let Some(in_blocks) = in_blocks(&search)
    {
        best = in_blocks;
    }
    best.share();
    Ok(Some(best))
}
