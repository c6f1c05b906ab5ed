//! Targets that hand on their operand: what they say about devices and memory means nothing where there is one
//! device with one memory.

use std::sync::Arc;

use crate::registry::Target;
use crate::{CallSite, ValueType};
use hlo_ir::attr::CustomCallAttrs;
use hlo_runtime::Error;

/// The target of a name.
pub(crate) fn target(name: &str) -> Option<Target> {
    CustomCallAttrs::HAND_ON.contains(&name).then(|| Target {
        check: Arc::new(check),
        run: Arc::new(|call| {
            for i in 0..call.site.result_arrays().len() {
                let (from, to) = (call.operand_type(i)?, call.result_type(i)?);
                let (strides, target) = (from.strides(), to.strides());
                let (dims, size, same) = (from.dims.clone(), from.element_bytes, strides == target);
                let bytes = call.operand_bytes(i)?;
                let result = call.result_bytes(i)?;
                if same {
                    result.copy_from_slice(bytes);
                } else {
                    relay(&dims, size, (bytes, &strides), (result, &target));
                }
            }
            Ok(())
        }),
    })
}

/// One operand, and a result of its type in any layout.
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
