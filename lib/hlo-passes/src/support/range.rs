//! Derives the range of an integer array's elements from the instructions that compute it.

use super::constants::literal;
use super::integer_range::type_range;
use hlo_ir::{InstrId, Literal, Module, Op};

pub use super::integer_range::{Range, wrapped};

/// Maximum number of instructions visited for one range.
const MAX_VISITS: usize = 24;

/// Maximum number of elements of a constant that is scanned.
const MAX_ELEMENTS: usize = 1024;

/// Returns the range of the elements of `id`, or `None` if they are neither integers nor predicates.
pub fn range_of(module: &Module, id: InstrId) -> Option<Range> {
    range(module, id, &mut { MAX_VISITS })
}

fn range(module: &Module, id: InstrId, budget: &mut usize) -> Option<Range> {
    let array = module[id].shape.as_array()?;
    let all = type_range(array.element_type)?;
    if *budget == 0 {
        return Some(all);
    }
    *budget -= 1;
    // A value outside of the type wraps around, so the result may be any value of the type.
    Some(computed(module, id, budget).filter(|r| all.contains(*r)).unwrap_or(all))
}

/// Returns the range of an operation on unbounded integers.
fn computed(module: &Module, id: InstrId, budget: &mut usize) -> Option<Range> {
    let operands = &module[id].operands;
    let mut of = |n: usize| range(module, *operands.get(n)?, budget);
    match &module[id].op {
        Op::Constant(_) => constant_range(literal(module, id)?),
        Op::Iota(a) => {
            let size = *module[id].shape.as_array()?.dims.get(usize::try_from(a.iota_dimension).ok()?)?;
            Some(Range { low: 0, high: i128::from(size.max(1)) - 1 })
        }
        Op::GetDimensionSize(a) => {
            let array = module[*operands.first()?].shape.as_array()?;
            let bound = *array.dims.get(usize::try_from(a.dimension()).ok()?)?;
            (bound >= 0).then_some(Range { low: 0, high: bound.into() })
        }
        // Values outside of the result type wrap around. The caller `range` handles this.
        Op::Convert => of(0),
        Op::PopulationCount | Op::CountLeadingZeros => {
            let bits = module[id].shape.as_array()?.element_type.bit_width();
            Some(Range { low: 0, high: bits.into() })
        }
        Op::Abs => {
            let x = of(0)?;
            if x.low >= 0 {
                return Some(x);
            }
            Some(Range { low: 0, high: x.high.max(-x.low) })
        }
        Op::Sign => Some(Range { low: -1, high: 1 }),
        Op::Clamp => {
            let (low, x, high) = (of(0)?, of(1)?, of(2)?);
            Some(minimum(maximum(x, low), high))
        }
        op => {
            let moves = op.opcode().traits().moves;
            let moved: Vec<usize> = (0..operands.len()).filter(|&n| moves.contains(n)).collect();
            match moved.split_first() {
                None => binary(op, of(0)?, of(1)?),
                // The budget does not suffice for more operands.
                Some(_) if moved.len() > MAX_VISITS => None,
                Some((&first, rest)) => rest.iter().try_fold(of(first)?, |r, &n| Some(r.union(of(n)?))),
            }
        }
    }
}

/// Returns the range of a binary operation.
fn binary(op: &Op, a: Range, b: Range) -> Option<Range> {
    Some(match op {
        Op::Add => Range { low: a.low + b.low, high: a.high + b.high },
        Op::Subtract => Range { low: a.low - b.high, high: a.high - b.low },
        Op::Multiply => {
            let corners = [(a.low, b.low), (a.low, b.high), (a.high, b.low), (a.high, b.high)];
            let products: Option<Vec<i128>> = corners.iter().map(|(x, y)| x.checked_mul(*y)).collect();
            Range::of(products?)?
        }
        Op::Maximum => maximum(a, b),
        Op::Minimum => minimum(a, b),
        Op::And => {
            let nonnegative = [a, b].into_iter().filter(|r| r.low >= 0).map(|r| r.high);
            Range { low: 0, high: nonnegative.min()? }
        }
        Op::Divide if a.low >= 0 && b.low > 0 => Range { low: a.low / b.high, high: a.high / b.low },
        Op::Remainder if b.low > 0 => {
            let most = b.high - 1;
            Range { low: a.low.min(0).max(-most), high: a.high.max(0).min(most) }
        }
        Op::ShiftRightLogical if a.low >= 0 => Range { low: 0, high: a.high },
        _ => return None,
    })
}

fn maximum(a: Range, b: Range) -> Range {
    Range { low: a.low.max(b.low), high: a.high.max(b.high) }
}

fn minimum(a: Range, b: Range) -> Range {
    Range { low: a.low.min(b.low), high: a.high.min(b.high) }
}

/// Returns the range of the elements of a constant.
fn constant_range(value: &Literal) -> Option<Range> {
    let count = value.shape().as_array()?.element_count();
    (count <= MAX_ELEMENTS).then(|| Range::of((0..count).filter_map(|i| value.integer_at(i)))).flatten()
}
