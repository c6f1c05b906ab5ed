//! Concatenations of many operands as calls of the runtime.

use crate::Refusal;
use crate::array;
use crate::{Argument, BufId, RuntimeCall};
use hlo_ir::{InstrId, Module, Op};

/// Returns the runtime call for a `concatenate` of row-major arrays.
pub(super) fn lower(
    module: &Module,
    id: InstrId,
    operands: Vec<BufId>,
    results: Vec<BufId>,
) -> Result<RuntimeCall<BufId>, Refusal> {
    let Op::Concatenate(attrs) = &module[id].op else { return Err("this is not a concatenate".into()) };
    let result = array(module, id)?;
    let along = usize::try_from(attrs.dimension()).ok().filter(|&d| d < result.rank());
    let along = along.ok_or("no dimension to join along")?;
    // The words of a `JoinDesc`, then the number of bytes that each operand contributes to a row.
    let mut descriptor = vec![result.dims[..along].iter().product(), operands.len() as i64];
    let pieces_at = descriptor.len();
    for &o in &module[id].operands {
        let a = array(module, o)?;
        descriptor.push(a.dims[along..].iter().product::<i64>() * a.element_type.byte_size() as i64);
    }
    let arguments = vec![
        Argument::Descriptor,
        Argument::DescriptorFrom(pieces_at),
        Argument::Operands,
        Argument::Results,
    ];
    let symbol = "hlo_rt_join";
    Ok(RuntimeCall { instruction: id, symbol, arguments, descriptor, operands, results, loops: Vec::new() })
}
