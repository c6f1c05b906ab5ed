//! Code generation for the blocks of a contraction.

use super::writer::{BlockAccumulators, Done, Writer};
use crate::builder::{Binary, FastMath, V};
use crate::elem::{self, Elem};
use hlo_ir::ElementType;
use hlo_kernel::contraction::ElementBlocks;

impl<'c> Writer<'_, '_, 'c> {
    /// Emits a block: aggregates and stores its values.
    pub(super) fn in_block(&self, blocks: &ElementBlocks, variables: &mut Vec<V<'c>>) -> Done {
        let b = self.b;
        let Some(BlockAccumulators { values, any }) = &self.block else { return Ok(()) };
        let done = b.muli(self.at(&blocks.number, variables), b.index(blocks.size));
        let left = b.index_sub(b.index(blocks.length), done);
        let count = b.binary(Binary::Smin, b.index(blocks.size), left);
        let flag = |at: V<'c>, is: bool| {
            if let Some(any) = any {
                elem::store(b, ElementType::Pred, *any, at, Elem::One(b.const_bool(is)));
            }
        };
        b.for_loop(b.index(0), count, 1, |element| {
            self.set(values, element, self.neutral());
            flag(element, false);
            Ok::<_, hlo_plan::Refusal>(())
        })?;
        self.emit_inner_loops(0, variables, &|variables| {
            let element = self.at(&blocks.element, variables);
            let value = self.aggregated_parts(self.value(&self.positions(variables), None)?);
            let before = self.parts_at(values, element);
            self.set(values, element, self.aggregated(&before, &value, FastMath::None)?);
            flag(element, true);
            Ok(())
        })?;
        let first = self.at(&blocks.first, variables);
        b.for_loop(b.index(0), count, 1, |element| {
            let store = || {
                let value = self.finished(&self.parts_at(values, element))?;
                self.store(b.index_add(first, element), value);
                Ok(())
            };
            match any {
                None => store(),
                Some(any) => b.if_then(elem::load(b, ElementType::Pred, *any, element).first(), store),
            }
        })
    }

    /// Emits the inner loops from `depth` on.
    fn emit_inner_loops(
        &self,
        depth: usize,
        variables: &mut Vec<V<'c>>,
        body: &dyn Fn(&[V<'c>]) -> Done,
    ) -> Done {
        let Some(&variable) = self.loops.inner.get(depth) else { return body(variables) };
        let [lower, end] = self.bounds(&self.loops.nest, variable, variables);
        self.b.for_loop(lower, end, 1, |x| {
            variables[variable] = x;
            self.emit_inner_loops(depth + 1, variables, body)
        })
    }
}
