//! Targets that move or allocate data. Some forward their operand: their information about devices and memory
//! has no effect on one device with one memory. Some only read operands, to keep or to order the instructions
//! that compute them. One allocates memory; its contents are zeros, because every result must be defined.

use std::sync::Arc;

use crate::target::Target;
use crate::{ArrayType, CallSite, ValueType};
use hlo_ir::attr::CustomCallAttrs;
use hlo_runtime_core::Error;

/// The target whose result is allocated memory.
pub(crate) const ALLOCATE: &str = "AllocateBuffer";

/// The targets that read their operands and have no result.
pub(crate) const SINKS: &[&str] = &["control_dep", "dce_sink", "xla.sdy.ShardingGroup"];

/// Returns the built-in target with this name, if there is one.
pub(crate) fn target(name: &str) -> Option<Target> {
    if name == ALLOCATE {
        return Some(Target::new(|site, _| {
            if !site.operands.is_empty() {
                return Err(Error(format!("takes no operand, found {}", site.operands.len())));
            }
            let results = site.result_arrays().len();
            Ok(Arc::new(move |call| {
                (0..results).try_for_each(|i| {
                    call.result_bytes(i)?.fill(0);
                    Ok(())
                })
            }))
        }));
    }
    if SINKS.contains(&name) {
        return Some(Target::new(|site, _| {
            if site.result_arrays().is_empty() {
                Ok(Arc::new(|_| Ok(())))
            } else {
                Err(Error(format!("gives nothing, and no {}", site.result)))
            }
        }));
    }
    CustomCallAttrs::FORWARDING_TARGETS.contains(&name).then(|| {
        Target::new(|site, _| {
            check(site)?;
            let moves = site.operand_arrays().into_iter().zip(site.result_arrays());
            let moves: Vec<Move> = moves.map(|(from, to)| Move::new(from, to)).collect();
            Ok(Arc::new(move |call| {
                for (i, step) in moves.iter().enumerate() {
                    let bytes = call.operand_bytes(i)?;
                    step.run(bytes, call.result_bytes(i)?);
                }
                Ok(())
            }))
        })
    })
}

/// A copy of an array between two layouts.
pub(crate) struct Move {
    dims: Vec<usize>,
    element_bytes: usize,
    from: Vec<usize>,
    to: Vec<usize>,
}

impl Move {
    pub(crate) fn new(from: &ArrayType, to: &ArrayType) -> Move {
        let (dims, element_bytes) = (from.dims.clone(), from.element_bytes);
        Move { dims, element_bytes, from: from.strides(), to: to.strides() }
    }

    pub(crate) fn run(&self, from: &[u8], to: &mut [u8]) {
        if self.from == self.to {
            to.copy_from_slice(from)
        } else {
            relay(&self.dims, self.element_bytes, (from, &self.from), (to, &self.to))
        }
    }
}

/// Checks that there is one operand, and that the result has the same type in any layout.
fn check(site: &CallSite) -> Result<(), Error> {
    let same = |a: &ValueType, b: &ValueType| {
        let (a, b) = (a.arrays(), b.arrays());
        a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| a.element == b.element && a.dims == b.dims)
    };
    match &site.operands[..] {
        [operand] if same(operand, &site.result) => Ok(()),
        [operand] => Err(Error(format!(
            "hands on its operand where there is one device: {operand} can't be {}",
            site.result
        ))),
        operands => Err(Error(format!("takes one operand, found {}", operands.len()))),
    }
}

/// Copies elements from one layout to another.
fn relay(dims: &[usize], size: usize, from: (&[u8], &[usize]), to: (&mut [u8], &[usize])) {
    let mut index = vec![0; dims.len()];
    let (mut source, mut place) = (0, 0);
    for _ in 0..dims.iter().product::<usize>() {
        to.0[place * size..][..size].copy_from_slice(&from.0[source * size..][..size]);
        for d in (0..dims.len()).rev() {
            index[d] += 1;
            source += from.1[d];
            place += to.1[d];
            if index[d] < dims[d] {
                break;
            }
            source -= from.1[d] * dims[d];
            place -= to.1[d] * dims[d];
            index[d] = 0;
        }
    }
}
