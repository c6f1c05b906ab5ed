//! Control flow. Each body is a closure that builds into a new block. Afterwards the insertion point is
//! restored. If a body fails, the method returns its error, and only the values built before it remain.

use super::{Builder, V, long, long_block};
use melior::dialect::{cf, llvm, scf};
use melior::ir::operation::OperationBuilder;
use melior::ir::{
    Attribute, Block, BlockLike, BlockRef, Identifier, Operation, Region, RegionLike, Type, ValueLike,
};

impl<'c> Builder<'c> {
    /// Runs `body` with the insertion point in a new block with the given argument types, and returns its
    /// region.
    fn in_block<E>(
        &self,
        arguments: &[Type<'c>],
        body: impl FnOnce(&[V<'c>]) -> Result<(), E>,
    ) -> Result<Region<'c>, E> {
        let arguments: Vec<_> = arguments.iter().map(|&t| (t, self.location())).collect();
        let region = Region::new();
        // Moving the region into an operation does not move its blocks.
        let inner = long_block(&region.append_block(Block::new(&arguments)));
        let values: Vec<V<'c>> =
            (0..arguments.len()).map(|i| long(inner.argument(i).expect("an argument"))).collect();
        let outer = self.block.replace(inner);
        let result = body(&values);
        self.block.set(outer);
        result.map(|()| region)
    }

    fn yield_(&self, values: &[V<'c>]) {
        self.append(scf::r#yield(values, self.location()));
    }

    fn results(&self, op: Operation<'c>, n: usize) -> Vec<V<'c>> {
        let op = self.append(op);
        (0..n).map(|i| long(op.result(i).expect("a result"))).collect()
    }

    /// Builds `for i in (lower..upper).step_by(step)`.
    ///
    /// # Errors
    /// The body's error.
    pub fn for_loop<E>(
        &self,
        lower: V<'c>,
        upper: V<'c>,
        step: i64,
        body: impl FnOnce(V<'c>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.for_carry(lower, upper, step, &[], |i, _| body(i).map(|()| Vec::new())).map(drop)
    }

    /// Builds `for i in 0..count` with independent iterations, which LLVM is asked to combine into one
    /// vector.
    ///
    /// # Errors
    /// The body's error.
    pub fn for_vector<E>(&self, count: i64, body: impl FnOnce(V<'c>) -> Result<(), E>) -> Result<(), E> {
        let annotation = format!(
            "#llvm.loop_annotation<vectorize = <disable = false, width = {count} : i32>, interleave = <count = 1 : i32>>"
        );
        let annotation = Attribute::parse(self.context, &annotation).expect("a known attribute");
        let attributes = [self.named("loop_annotation", annotation)];
        let bounds = [self.index(0), self.index(count)];
        self.counted(bounds, 1, &[], &attributes, |i, _| body(i).map(|()| Vec::new())).map(drop)
    }

    /// Builds a counted loop that carries values. `body(i, carried)` returns the values for the next
    /// iteration. The result is the values of the last iteration.
    ///
    /// # Errors
    /// The body's error.
    pub fn for_carry<E>(
        &self,
        lower: V<'c>,
        upper: V<'c>,
        step: i64,
        init: &[V<'c>],
        body: impl FnOnce(V<'c>, &[V<'c>]) -> Result<Vec<V<'c>>, E>,
    ) -> Result<Vec<V<'c>>, E> {
        self.counted([lower, upper], step, init, &[], body)
    }

    fn counted<E>(
        &self,
        [lower, upper]: [V<'c>; 2],
        step: i64,
        init: &[V<'c>],
        attributes: &[(Identifier<'c>, Attribute<'c>)],
        body: impl FnOnce(V<'c>, &[V<'c>]) -> Result<Vec<V<'c>>, E>,
    ) -> Result<Vec<V<'c>>, E> {
        let step = self.index(step);
        let types: Vec<Type<'c>> = init.iter().map(|v| v.r#type()).collect();
        let arguments: Vec<Type<'c>> = std::iter::once(self.i64()).chain(types.iter().copied()).collect();
        let region = self.in_block(&arguments, |a| body(a[0], &a[1..]).map(|next| self.yield_(&next)))?;
        let operands: Vec<V<'c>> = [lower, upper, step].into_iter().chain(init.iter().copied()).collect();
        let op = OperationBuilder::new("scf.for", self.location())
            .add_operands(&operands)
            .add_attributes(attributes)
            .add_results(&types)
            .add_regions([region])
            .build()
            .expect("an operation without result type inference");
        Ok(self.results(op, types.len()))
    }

    /// Builds `if condition { then } else { otherwise }` with results of the given types.
    ///
    /// # Errors
    /// The error of either side.
    pub fn if_else<E>(
        &self,
        condition: V<'c>,
        types: &[Type<'c>],
        then: impl FnOnce() -> Result<Vec<V<'c>>, E>,
        otherwise: impl FnOnce() -> Result<Vec<V<'c>>, E>,
    ) -> Result<Vec<V<'c>>, E> {
        let then = self.in_block(&[], |_| then().map(|v| self.yield_(&v)))?;
        let otherwise = self.in_block(&[], |_| otherwise().map(|v| self.yield_(&v)))?;
        let op = scf::r#if(condition, types, then, otherwise, self.location());
        Ok(self.results(op, types.len()))
    }

    /// Builds `if condition { then }`.
    ///
    /// # Errors
    /// The error of `then`.
    pub fn if_then<E>(&self, condition: V<'c>, then: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
        self.if_else(condition, &[], || then().map(|()| Vec::new()), || Ok(Vec::new())).map(drop)
    }

    /// Builds `while condition(carried) { carried = body(carried) }`.
    ///
    /// # Errors
    /// The error of the condition or the body.
    pub fn while_loop<E>(
        &self,
        init: &[V<'c>],
        condition: impl FnOnce(&[V<'c>]) -> Result<V<'c>, E>,
        body: impl FnOnce(&[V<'c>]) -> Result<Vec<V<'c>>, E>,
    ) -> Result<Vec<V<'c>>, E> {
        let types: Vec<Type<'c>> = init.iter().map(|v| v.r#type()).collect();
        let before = self.in_block(&types, |a| {
            let go_on = condition(a)?;
            self.append(scf::condition(go_on, a, self.location()));
            Ok(())
        })?;
        let after = self.in_block(&types, |a| body(a).map(|next| self.yield_(&next)))?;
        let op = scf::r#while(init, &types, before, after, self.location());
        Ok(self.results(op, types.len()))
    }

    /// Adds a block to the current function. The insertion point must be outside the bodies of loops and
    /// branches.
    pub fn label(&self) -> Label<'c> {
        let region = self.block.get().parent_region().expect("a function's block");
        Label(long_block(&region.append_block(Block::new(&[]))))
    }

    /// Branches to `then` if the condition holds, else to `otherwise`.
    pub fn branch(&self, condition: V<'c>, then: Label<'c>, otherwise: Label<'c>) {
        let (then, otherwise) = (&then.0, &otherwise.0);
        self.append(cf::cond_br(self.context, condition, then, otherwise, &[], &[], self.location()));
    }

    /// Branches to a block.
    pub fn jump(&self, to: Label<'c>) {
        self.append(cf::br(&to.0, &[], self.location()));
    }

    /// Moves the insertion point to a block.
    pub fn place(&self, label: Label<'c>) {
        self.block.set(label.0);
    }

    /// Returns from the function.
    pub fn ret(&self, value: Option<V<'c>>) {
        self.append(llvm::r#return(value, self.location()));
    }
}

/// A block of a function, the target of branches.
#[derive(Clone, Copy)]
pub struct Label<'c>(BlockRef<'c, 'c>);
