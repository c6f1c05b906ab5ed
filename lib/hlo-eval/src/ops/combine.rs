//! Combination of the elements of several devices: applies the computation of an `all-reduce` or
//! `reduce-scatter` to arrays.
//!
//! Elements are combined in the order of the group. Sums and products of floats narrower than `f32`
//! accumulate in `f32` and are rounded once (docs/numerics.md, "Sums"). Everything else is combined in the
//! computation's type.

use super::support::Result;
use super::wide::Wide;
use super::{convert, fast};
use crate::context::Context;
use crate::element::{Scalars, load, store};
use crate::error::EvalError;
use crate::function::{self, Function};
use crate::kernel::Kernel;
use crate::program::Program;
use hlo_ir::accumulation::sums_and_products;
use hlo_ir::{AlignedBytes, ComputationId, ElementType};
use std::sync::Arc;

/// Combines elements of one type.
pub(super) struct Combiner {
    /// The type of the elements.
    from: ElementType,
    /// The type that they are combined in.
    held: ElementType,
    /// The conversions to that type and back, if the types differ.
    conversions: Option<[Kernel; 2]>,
    how: Method,
}

enum Method {
    /// A function of whole arrays.
    Kernel(Kernel),
    /// A computation that is a list of kernels.
    Program(Arc<Program>),
    /// Any other computation, applied to one element at a time.
    Computation(ComputationId),
}

impl Combiner {
    /// Returns the combiner of elements of type `from` by a computation.
    pub(super) fn new(cx: &mut Context<'_>, computation: ComputationId, from: ElementType) -> Result<Self> {
        let module = cx.module;
        let sum = sums_and_products(module, computation, 1).pop().flatten();
        let wide = sum.filter(|&(_, ty)| ty == from).and_then(|(op, _)| Wide::of_updates(op, from));
        if let Some(Wide { to, widen, combine, narrow, .. }) = wide {
            return Ok(Self {
                from,
                held: to,
                conversions: Some([widen, narrow]),
                how: Method::Kernel(combine),
            });
        }
        let parameter = module.parameters(computation).first().and_then(|&p| module[p].shape.as_array());
        let held = parameter.map_or(from, |a| a.element_type);
        let conversions = (held != from).then(|| [convert::kernel(from, held), convert::kernel(held, from)]);
        let program = function::program(cx, computation, &[held, held], &[held])?;
        let how = match program.filter(|_| !cx.definitions_only()) {
            Some(program) => Method::Program(program),
            None => Method::Computation(computation),
        };
        Ok(Self { from, held, conversions, how })
    }

    /// Combines the elements at the same positions of all members, in the order of the members.
    pub(super) fn combine(&self, cx: &mut Context<'_>, members: &[&[u8]], result: &mut [u8]) -> Result<()> {
        let elements = result.len() / self.from.byte_size();
        cx.charge(elements)?;
        let no_memory = || EvalError::memory("there is no memory for what devices combine");
        let bytes = elements * self.held.byte_size();
        let mut buffers = Vec::new();
        for _ in 0..3 {
            buffers.push(AlignedBytes::try_zeroed(bytes).ok_or_else(no_memory)?);
        }
        let [mut running, mut element, mut next] =
            <[AlignedBytes; 3]>::try_from(buffers).map_err(|_| no_memory())?;
        for (n, member) in members.iter().enumerate() {
            let to = if n == 0 { &mut running } else { &mut element };
            match &self.conversions {
                Some([widen, _]) => widen(&[member], to)?,
                None => to.copy_from_slice(member),
            }
            if n > 0 {
                self.apply(cx, &running, &element, &mut next)?;
                std::mem::swap(&mut running, &mut next);
            }
        }
        match &self.conversions {
            Some([_, narrow]) => narrow(&[&running], result)?,
            None => result.copy_from_slice(&running),
        }
        Ok(())
    }

    /// Applies the function to the elements of two arrays, in the type that they are combined in.
    fn apply(&self, cx: &mut Context<'_>, a: &[u8], b: &[u8], out: &mut [u8]) -> Result<()> {
        let size = self.held.byte_size();
        match &self.how {
            Method::Kernel(kernel) => kernel(&[a, b], out)?,
            Method::Program(program) => {
                fast::map::map_bytes(cx, program.clone(), &[(a, size), (b, size)], (out, size))?;
            }
            Method::Computation(computation) => {
                let mut function = Function::new(cx, *computation, &[self.held, self.held], &[self.held])?;
                for at in 0..out.len() / size {
                    let elements: Scalars = [load(a, size, at)?, load(b, size, at)?].into_iter().collect();
                    let value = function.call(cx, &elements)?;
                    store(out, size, at, value[0])?;
                }
            }
        }
        Ok(())
    }
}
