//! Reducers for many results at a time. Each pass through the reducer's program processes several *lanes*,
//! one per result.

use super::wide_lanes::WideLanes;
use crate::context::Context;
use crate::error::EvalError;
use crate::function;
use crate::kernel::{elements, elements_mut, with_storage};
use crate::ops::reducer::Reduction;
use crate::ops::support::Result;
use crate::program::Machine;
use hlo_ir::{ElementType, Literal};

/// The accumulators of a reduction for several results, and the reducer.
pub(super) struct Lanes {
    /// The reducer. `None` if all its results are sums and products that are accumulated in a wider type.
    machine: Option<Machine>,
    wide: Vec<Option<WideLanes>>,
    types: Vec<ElementType>,
}

impl Lanes {
    /// Creates accumulators with `capacity` lanes. Returns `None` if the reducer is not a program.
    pub(super) fn new(
        cx: &mut Context<'_>,
        reduction: &Reduction<'_>,
        capacity: usize,
    ) -> Result<Option<Self>> {
        let types = reduction.types.clone();
        let machine = if reduction.is_all_wide() {
            None
        } else {
            match function::program(cx, reduction.computation, &reduction.parameters(), &types)? {
                Some(program) => Some(Machine::new(program, capacity)),
                None => return Ok(None),
            }
        };
        let wide = (0..types.len()).map(|k| Some(WideLanes::new(reduction.wide(k)?, capacity))).collect();
        Ok(Some(Self { machine, wide, types }))
    }

    /// Sets the accumulators to the initial values.
    pub(super) fn begin(&mut self, init_values: &[Literal], lanes: usize) -> Result<()> {
        for (k, (value, wide)) in init_values.iter().zip(&mut self.wide).enumerate() {
            if let Some(wide) = wide {
                wide.begin(value.bytes(), lanes)?;
            }
            if let Some(machine) = &mut self.machine {
                let running = machine.parameter_mut(k)?.chunks_exact_mut(self.types[k].byte_size());
                running.take(lanes).for_each(|lane| lane.copy_from_slice(value.bytes()));
            }
        }
        Ok(())
    }

    /// Loads the elements at `bases[lane] + offset` of array `k` for the next `combine`.
    pub(super) fn load(&mut self, k: usize, from: &[u8], bases: &[usize], offset: usize) -> Result<()> {
        let to = match (&mut self.wide[k], &mut self.machine) {
            (Some(wide), _) => wide.elements_mut(),
            (None, Some(machine)) => machine.parameter_mut(self.types.len() + k)?,
            (None, None) => return Err(EvalError::internal(format!("nothing accumulates component {k}"))),
        };
        let loaded = with_storage!(self.types[k].byte_size(), T => {
            let (from, to) = (elements::<T>(from)?, elements_mut::<T>(to)?);
            bases.iter().zip(to).try_for_each(|(&base, to)| {
                *to = *from.get(base + offset)?;
                Some(())
            })
        });
        loaded.flatten().ok_or_else(|| EvalError::internal("an element outside of the array would be read"))
    }

    /// Combines the elements with the accumulators, except in the lanes where `skip` is true.
    pub(super) fn combine(&mut self, cx: &mut Context<'_>, lanes: usize, skip: &[bool]) -> Result<()> {
        match &mut self.machine {
            Some(machine) => {
                for (k, (wide, ty)) in self.wide.iter().zip(&self.types).enumerate() {
                    if let Some(wide) = wide {
                        let bytes = lanes * ty.byte_size();
                        let to = machine.parameter_mut(self.types.len() + k)?;
                        to[..bytes].copy_from_slice(&wide.elements()[..bytes]);
                    }
                }
                cx.charge(machine.cost() * lanes)?;
                machine.run(lanes)?;
                if skip.contains(&true) {
                    machine.keep_parameters(skip)?;
                }
                machine.move_results_to_parameters();
            }
            None => cx.charge(2 * lanes)?,
        }
        for wide in self.wide.iter_mut().flatten() {
            wide.combine(lanes, skip)?;
        }
        Ok(())
    }

    /// Writes the accumulators of array `k`.
    pub(super) fn write(&mut self, k: usize, lanes: usize, out: &mut [u8]) -> Result<()> {
        let bytes = lanes * self.types[k].byte_size();
        match (&self.wide[k], &mut self.machine) {
            (Some(wide), _) => wide.write(lanes, out)?,
            (None, Some(machine)) => out[..bytes].copy_from_slice(&machine.parameter_mut(k)?[..bytes]),
            (None, None) => return Err(EvalError::internal(format!("nothing accumulates component {k}"))),
        }
        Ok(())
    }
}
