//! Functions that combine the elements of several devices, which the runtime calls (`hlo_runtime::Combiner`).
//!
//! The accumulators of a block of elements are on the stack. The block of each member is combined with them
//! in the order of the group, in loops that LLVM vectorizes. Sums and products of narrow floats are
//! accumulated in `f32` and rounded once (docs/numerics.md, "Sums").

use super::scalar;
use crate::builder::{Builder, FastMath, IntPredicate, ModuleBuilder, Signature, V};
use crate::elem::{self, Elem};
use crate::ops::convert::convert;
use crate::ops::reducer::emit_reducer_op;
use hlo_ir::accumulation::sums_and_products;
use hlo_ir::{ComputationId, ElementType, ElementwiseOp, Module};
use hlo_kernel::accumulator_type;
use hlo_plan::{Refusal, array};

/// Number of elements that are combined at a time.
const BLOCK_ELEMENTS: i64 = 256;

/// The combination of elements of one type.
struct Combination<'m> {
    module: &'m Module,
    computation: ComputationId,
    /// The type of the elements.
    from: ElementType,
    /// The type of the accumulators.
    held: ElementType,
    /// The operation, if it is a sum or product of narrow floats.
    wide: Option<ElementwiseOp<'m>>,
}

/// Adds the function `name` for a computation on elements of type `from`. Its parameters are the addresses of
/// the members' arrays, their number (at least one), the address of the result, and the number of elements.
pub fn emit_function<'c>(
    functions: &ModuleBuilder<'c>,
    module: &Module,
    computation: ComputationId,
    from: ElementType,
    name: &str,
) -> Result<(), Refusal> {
    let parameter = module.parameters(computation).first().copied().ok_or("a combiner without parameters")?;
    let sum = sums_and_products(module, computation, 1).pop().flatten();
    let wide = sum.filter(|&(_, ty)| ty == from && accumulator_type(from) != from);
    let wide = wide.and_then(|(op, _)| op.elementwise());
    let held = match wide {
        Some(_) => accumulator_type(from),
        None => array(module, parameter)?.element_type,
    };
    let combination = Combination { module, computation, from, held, wide };
    let (ptr, i64) = (functions.ptr(), functions.int(64));
    let signature =
        Signature { parameters: &[(ptr, None), (i64, None), (ptr, None), (i64, None)], result: None };
    functions.function(name, signature, Some((module, module[computation].root())), |b, args| {
        combination.emit(b, args)?;
        b.ret(None);
        Ok(())
    })
}

impl Combination<'_> {
    fn emit<'c>(&self, b: &Builder<'c>, args: &[V<'c>]) -> Result<(), Refusal> {
        let &[members, count, result, elements] = args else {
            return Err("internal error: a combiner has four parameters".into());
        };
        let block = b.alloca(elem::memory_type(b, self.held), BLOCK_ELEMENTS);
        let zero = b.index(0);
        b.for_loop(zero, elements, BLOCK_ELEMENTS, |start| {
            let left = b.index_sub(elements, start);
            let is_last = b.cmpi(IntPredicate::Slt, left, b.index(BLOCK_ELEMENTS));
            let n = b.select(is_last, left, b.index(BLOCK_ELEMENTS));
            let element = elem::memory_type(b, self.from);
            let operand = |member: V<'c>| {
                let address = b.load(b.ptr(), b.gep(members, member, b.ptr()));
                b.gep(address, start, element)
            };
            let first = operand(zero);
            b.for_loop::<Refusal>(zero, n, 1, |i| {
                elem::store(b, self.held, block, i, self.widened(b, elem::load(b, self.from, first, i)));
                Ok(())
            })?;
            b.for_loop(b.index(1), count, 1, |member| {
                let next = operand(member);
                b.for_loop(zero, n, 1, |i| {
                    let running = elem::load(b, self.held, block, i);
                    let value = self.widened(b, elem::load(b, self.from, next, i));
                    elem::store(b, self.held, block, i, self.combined(b, running, value)?);
                    Ok::<(), Refusal>(())
                })
            })?;
            let to = b.gep(result, start, element);
            b.for_loop(zero, n, 1, |i| {
                let value = elem::load(b, self.held, block, i);
                elem::store(b, self.from, to, i, convert(b, self.from, value, self.held));
                Ok::<(), Refusal>(())
            })
        })
    }

    fn widened<'c>(&self, b: &Builder<'c>, value: Elem<'c>) -> Elem<'c> {
        convert(b, self.held, value, self.from)
    }

    fn combined<'c>(&self, b: &Builder<'c>, running: Elem<'c>, value: Elem<'c>) -> Result<Elem<'c>, Refusal> {
        if let Some(op) = self.wide {
            return Ok(emit_reducer_op(b, op, self.held, running, value, FastMath::None)?);
        }
        let results = scalar::apply(b, self.module, self.computation, &[running, value], false)?;
        results.first().copied().ok_or_else(|| "a combiner without a result".into())
    }
}
