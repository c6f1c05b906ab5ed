//! `host-memory-transfer-asyncifier`: splits transfers between host and device memory into a start and a done
//! instruction.
//!
//! ```text
//! r = f32[4]{0:S(5)} copy(x)    →    s = (f32[4]{0:S(5)}, f32[4], u32[]) copy-start(x)
//!                                    r = f32[4]{0:S(5)} copy-done(s)
//! ```
//!
//! These instructions are transfers:
//! - a `copy` from one memory to the other;
//! - a `dynamic-slice` from host memory to device memory;
//! - a `dynamic-update-slice` of host memory with a value in device memory.
//!
//! Device memory is the default space. Host memory is space 5 unless `host-memory-space` sets another.
//! Instructions in fusions or in asynchronous computations are not changed.

use hlo_ir::attr::{AsyncDoneAttrs, AsyncStartAttrs, CopyStartAttrs};
use hlo_ir::{ElementType, InstrId, Module, Op, Shape};
use hlo_passes::support::expander::{Emitter, expand_all};
use hlo_passes::support::fusions::{fused_computations, started_computations};
use hlo_passes::{OptionInfo, OptionValue, PassInfo, Rewrites};

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "host-memory-transfer-asyncifier",
    summary: "split transfers between host and device memory into a start and a done instruction",
    options: &[OptionInfo {
        name: "host-memory-space",
        summary: "number of the memory space of the host",
        default: OptionValue::Count(5),
    }],
    example: "\
HloModule host_memory_transfer_asyncifier

ENTRY e {
  x = f32[4] parameter(0)
  h = f32[4]{0:S(5)} copy(x)
  ROOT d = f32[4] copy(h)
}
",
    build: |_, options| {
        let host = options.count("host-memory-space");
        Box::new(move |module: &mut Module, rewrites: &mut Rewrites| Ok(run(module, host, rewrites)))
    },
    ..PassInfo::PLAIN
};

fn run(module: &mut Module, host: u64, rewrites: &mut Rewrites) -> bool {
    let mut inner = fused_computations(module);
    inner.extend(started_computations(module));
    let wanted = |op: &Op| matches!(op, Op::Copy | Op::DynamicSlice(_) | Op::DynamicUpdateSlice);
    let expand = |e: &mut Emitter<'_>, id: InstrId| {
        let stays = inner.contains(&e.module[id].parent) || !is_transfer(e.module, id, host);
        (!stays).then(|| split(e, id))?
    };
    expand_all(module, "split", wanted, expand, rewrites)
}

/// Checks whether an instruction moves elements between host memory and device memory.
fn is_transfer(module: &Module, id: InstrId, host: u64) -> bool {
    let space = |id: InstrId| module[id].shape.as_array().and_then(|a| u64::try_from(a.memory_space()).ok());
    let operand = |n: usize| module[id].operands.get(n).copied().and_then(space);
    let (host, device) = (Some(host), Some(0));
    match &module[id].op {
        Op::Copy => {
            let ends = [operand(0), space(id)];
            ends == [host, device] || ends == [device, host]
        }
        Op::DynamicSlice(_) => operand(0) == host && space(id) == device,
        Op::DynamicUpdateSlice => operand(0) == host && operand(1) == device && space(id) == host,
        _ => false,
    }
}

fn split(e: &mut Emitter<'_>, id: InstrId) -> Option<InstrId> {
    let (operands, result, op) = (e.module[id].operands.to_vec(), e.shape(), e.module[id].op.clone());
    let shapes: Vec<Shape> = operands.iter().map(|&o| e.module[o].shape.clone()).collect();
    let context = Shape::scalar(ElementType::U32);
    let (shape, start, done) = match (op, &shapes[..]) {
        (Op::Copy, [source]) => {
            let shape = Shape::tuple(vec![result.clone(), source.clone(), context]);
            (shape, Op::CopyStart(CopyStartAttrs::default()), Op::CopyDone)
        }
        (op, _) => {
            let calls = e.computation("async_computation", |e| {
                let parameters: Vec<InstrId> =
                    shapes.iter().enumerate().map(|(n, s)| e.parameter(n, s.clone())).collect();
                Some(e.add(result.clone(), op, &parameters))
            })?;
            let shape = Shape::tuple(vec![Shape::tuple(shapes), result.clone(), context]);
            let attrs = AsyncStartAttrs { calls: Some(calls), ..AsyncStartAttrs::default() };
            (shape, Op::AsyncStart(attrs), Op::AsyncDone(AsyncDoneAttrs::default()))
        }
    };
    let start = e.add(shape, start, &operands);
    let done = e.add(result, done, &[start]);
    let config = e.module[id].common.as_deref().map(|c| c.backend_config.clone()).filter(|c| !c.is_empty());
    if let Some(config) = config {
        e.module.common_mut(start).backend_config = config.clone();
        e.module.common_mut(done).backend_config = config;
    }
    Some(done)
}
