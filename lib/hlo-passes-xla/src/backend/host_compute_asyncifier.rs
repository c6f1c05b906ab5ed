//! `host_compute_asyncifier`: converts calls that the host computes to asynchronous calls on the thread
//! `host`.
//!
//! ```text
//! r = f32[4] call(x), to_apply=f,                                  →    s = ((f32[4]), f32[4], u32[]) call-start(x), to_apply=f,
//!       frontend_attributes={_xla_compute_type="host"}                        async_execution_thread="host", …
//!                                                                       r = f32[4] call-done(s), …
//! ```
//!
//! Such a call has `_xla_compute_type="host"` in its frontend attributes, or
//! `"device_type":"DEVICE_TYPE_HOST"` in its backend configuration. The pass changes what is passed to the
//! host:
//! - Tuples are passed as separate arrays, and arrays that the host does not use are not passed.
//! - Constants are created on the host, including those that `MoveToHost` moves.
//! - The called computations lose the device's tiles and memory spaces.
//!
//! Calls that already run on the thread `host`, or are asynchronous, are not changed.

use crate::support::host_memory::{DEVICE, MOVE_TO_HOST, moved, set_space};
use hlo_ir::attr::{AsyncDoneAttrs, AsyncStartAttrs, HloString};
use hlo_ir::build::Build;
use hlo_ir::diag::Diag;
use hlo_ir::{ComputationId, ElementType, InstrId, Module, Op, Shape};
use hlo_passes::support::clone::set_callee;
use hlo_passes::support::expander::{Emitter, expand_all};
use hlo_passes::support::fusions::{fused_computations, started_computations};
use hlo_passes::support::while_loop::element_of;
use hlo_passes::{PassInfo, Rewrites};
use std::collections::{HashMap, HashSet};

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "host_compute_asyncifier",
    summary: "turn calls that the host computes into asynchronous calls",
    example: "\
HloModule host_compute_asyncifier

f {
  p = f32[4] parameter(0)
  c = f32[] parameter(1)
  b = f32[4] broadcast(c), dimensions={}
  ROOT s = f32[4] add(p, b)
}

ENTRY e {
  x = f32[4] parameter(0)
  one = f32[] constant(1)
  ROOT r = f32[4] call(x, one), to_apply=f, frontend_attributes={_xla_compute_type=\"host\"}
}
",
    build: |_, _| Box::new(run),
    ..PassInfo::PLAIN
};

/// The name of the host's thread.
const THREAD: &[u8] = b"host";

fn run(module: &mut Module, rewrites: &mut Rewrites) -> Result<bool, Diag> {
    let mut inner = fused_computations(module);
    inner.extend(started_computations(module));
    let on_host =
        |c: &ComputationId| module[*c].execution_thread.as_ref().is_some_and(|t| t.as_bytes() == THREAD);
    inner.extend(module.computations().filter(on_host));
    let mut host = Host { callers: module.callers(), copies: HashMap::new() };
    let expand = |e: &mut Emitter<'_>, id: InstrId| {
        let stays = inner.contains(&e.module[id].parent) || !is_for_host(e.module, id);
        if stays { None } else { start(e, &mut host, id) }
    };
    Ok(expand_all(module, "start", |op| matches!(op, Op::Call(_)), expand, rewrites))
}

/// Checks whether the host computes a call.
fn is_for_host(module: &Module, id: InstrId) -> bool {
    let Some(common) = module[id].common.as_deref() else { return false };
    let config: String = common.backend_config.as_str().unwrap_or_default().split_whitespace().collect();
    common.frontend_attributes.get("_xla_compute_type").is_some_and(|t| t.as_bytes() == THREAD)
        || config.contains("\"device_type\":\"DEVICE_TYPE_HOST\"")
}

/// Adds the start and the done instruction of the asynchronous call. Returns the done instruction.
fn start(e: &mut Emitter<'_>, host: &mut Host, id: InstrId) -> Option<InstrId> {
    let Op::Call(a) = &e.module[id].op else { return None };
    let callee = a.to_apply;
    let operands = e.module[id].operands.to_vec();
    let count = e.module.parameters(callee).len();
    if count != operands.len() || !e.module.has_root(callee) {
        return None;
    }
    let callee = host.unshared_callee(e, id, callee);
    let mut handover = Handover { callee, values: Vec::new() };
    let parameters = e.module.parameters(callee);
    for (&outside, &parameter) in operands.iter().zip(&parameters) {
        handover.pass_value(e, outside, &[parameter])?;
    }
    let module = &mut *e.module;
    let replaced: HashSet<InstrId> = parameters.into_iter().collect();
    let mut dead: Vec<InstrId> = module.post_order(callee);
    dead.retain(|i| matches!(module[*i].op, Op::GetTupleElement(_)) || replaced.contains(i));
    dead.reverse();
    take_out(module, dead);
    host.assign_to_host_thread(e, callee);
    let values = handover.values;
    let shapes: Vec<Shape> = values.iter().map(|&v| e.module[v].shape.clone()).collect();
    let (result, mut call) = (e.shape(), e.module[id].op.clone());
    if let Op::Call(a) = &mut call {
        a.to_apply = callee;
    }
    let wrapped = e.computation("async_computation", |e| {
        let parameters: Vec<InstrId> =
            shapes.iter().enumerate().map(|(n, s)| e.parameter(n, s.clone())).collect();
        Some(e.add(result.clone(), call, &parameters))
    })?;
    e.module[wrapped].execution_thread = Some(HloString::from_bytes(THREAD));
    let shape = Shape::tuple(vec![Shape::tuple(shapes), result.clone(), Shape::scalar(ElementType::U32)]);
    let attrs = AsyncStartAttrs {
        async_execution_thread: Some(HloString::from_bytes(THREAD)),
        calls: Some(wrapped),
        ..AsyncStartAttrs::default()
    };
    let start = e.add(shape, Op::AsyncStart(attrs), &values);
    let done = e.add(result, Op::AsyncDone(AsyncDoneAttrs::default()), &[start]);
    if let Some(common) = e.module[id].common.as_deref().cloned() {
        for made in [start, done, e.module[wrapped].root()] {
            let to = e.module.common_mut(made);
            to.backend_config = common.backend_config.clone();
            to.frontend_attributes = common.frontend_attributes.clone();
        }
    }
    Some(done)
}

/// Removes the unused instructions of a list in which users come before their operands.
fn take_out(module: &mut Module, list: Vec<InstrId>) {
    let mut gone: HashSet<InstrId> = HashSet::new();
    for id in list {
        if !module.is_root(id) && module.users(id).iter().all(|u| gone.contains(u)) {
            gone.insert(id);
        }
    }
    module.remove_all(&gone.into_iter().collect::<Vec<_>>());
}

/// The computations that the host runs.
struct Host {
    callers: HashMap<ComputationId, Vec<InstrId>>,
    /// The copies of computations that are called both by the host and elsewhere.
    copies: HashMap<ComputationId, ComputationId>,
}

impl Host {
    /// Returns `callee`, or a copy of it if other instructions call it too.
    fn unshared_callee(&self, e: &mut Emitter<'_>, call: InstrId, callee: ComputationId) -> ComputationId {
        match self.callers.get(&callee).map(Vec::as_slice) {
            Some(&[only]) if only == call => callee,
            _ => e.copy_of(callee),
        }
    }

    /// Assigns a computation and its callees to the host's thread, and removes the device's tiles and memory
    /// spaces.
    fn assign_to_host_thread(&mut self, e: &mut Emitter<'_>, computation: ComputationId) {
        let mut work = vec![computation];
        while let Some(c) = work.pop() {
            e.module[c].execution_thread = Some(HloString::from_bytes(THREAD));
            for id in e.module[c].instructions().to_vec() {
                let mut shape = e.module[id].shape.clone();
                make_plain(&mut shape);
                e.module.set_shape(id, shape);
                let op = e.module[id].op.clone();
                if !matches!(op, Op::Call(_) | Op::While(_) | Op::Conditional(_) | Op::Fusion(_)) {
                    continue;
                }
                for (n, callee) in op.called_computations().into_iter().enumerate() {
                    let copy = match self.copies.get(&callee) {
                        Some(&copy) if !matches!(op, Op::Fusion(_)) => copy,
                        _ => {
                            let copy = self.unshared_callee(e, id, callee);
                            self.copies.insert(callee, copy);
                            work.push(copy);
                            copy
                        }
                    };
                    set_callee(e.module.op_mut(id), n, copy);
                }
            }
        }
    }
}

/// Removes tiles and memory spaces from a shape.
fn make_plain(shape: &mut Shape) {
    set_space(shape, DEVICE);
    match shape {
        Shape::Array(a) => {
            let Some(layout) = a.layout.clone().filter(|l| !l.tiles().is_empty()) else { return };
            let mut items = layout.items().cloned().unwrap_or_default();
            items.tiles.clear();
            *a = a.clone().with_layout(layout.with_items(items));
        }
        Shape::Tuple(parts) => parts.iter_mut().for_each(make_plain),
        _ => {}
    }
}

/// The values that are passed to a computation.
struct Handover {
    callee: ComputationId,
    /// The caller's value for each parameter.
    values: Vec<InstrId>,
}

impl Handover {
    /// Replaces `inside`, a list of instructions for the same part of a parameter, by new parameters or
    /// constants of the computation. Their value in the caller is `outside`.
    fn pass_value(&mut self, e: &mut Emitter<'_>, outside: InstrId, inside: &[InstrId]) -> Option<()> {
        let Some(&first) = inside.first() else { return Some(()) };
        let needed = |&i: &InstrId| e.module.is_root(i) || !e.module.users(i).is_empty();
        if !inside.iter().any(needed) {
            return Some(());
        }
        let shape = e.module[first].shape.clone();
        let count = shape.as_tuple().map(<[Shape]>::len);
        let mut taken: Vec<Vec<InstrId>> = vec![Vec::new(); count.unwrap_or(0)];
        let mut whole = count.is_none();
        for &i in inside {
            whole |= e.module.is_root(i);
            for &user in e.module.users(i) {
                match element_of(e.module, user, i).and_then(|n| taken.get_mut(n)) {
                    Some(list) => list.push(user),
                    None => whole = true,
                }
            }
        }
        if !whole {
            for (n, taken) in taken.iter().enumerate().filter(|(_, t)| !t.is_empty()) {
                let part = part_of(e, outside, n)?;
                self.pass_value(e, part, taken)?;
            }
            return Some(());
        }
        let value = self.value(e, outside, &shape)?;
        for (n, taken) in taken.into_iter().enumerate() {
            let part = e.module[value].operands.get(n).copied();
            for user in taken {
                e.module.replace_all_uses_with(user, part?);
            }
        }
        inside.iter().for_each(|&i| e.module.replace_all_uses_with(i, value));
        Some(())
    }

    /// Returns a value in the computation that stands for `outside` and has the given shape.
    fn value(&mut self, e: &mut Emitter<'_>, outside: InstrId, shape: &Shape) -> Option<InstrId> {
        if let Some(parts) = shape.as_tuple() {
            let part = |(n, shape): (usize, &Shape)| {
                let part = part_of(e, outside, n)?;
                self.value(e, part, shape)
            };
            let parts: Vec<InstrId> = parts.iter().enumerate().map(part).collect::<Option<_>>()?;
            return Some(self.add(e, "tuple", shape, Op::Tuple, &parts));
        }
        let source = moved(e.module, outside, MOVE_TO_HOST).unwrap_or(outside);
        if matches!(e.module[source].op, Op::Constant(_)) {
            let (op, name) = (e.module[source].op.clone(), e.module[source].name.clone());
            return Some(self.add(e, &name, shape, op, &[]));
        }
        let number = i64::try_from(self.values.len()).ok()?;
        self.values.push(outside);
        Some(self.add(e, "param", shape, Op::parameter(number), &[]))
    }

    fn add(&self, e: &mut Emitter<'_>, base: &str, shape: &Shape, op: Op, operands: &[InstrId]) -> InstrId {
        let name = e.module.unique_name(base);
        e.module.add(self.callee, &name, shape.clone(), op, operands.iter().copied())
    }
}

/// Returns an element of a tuple in the caller. If the tuple instruction is known, this is its operand.
fn part_of(e: &mut Emitter<'_>, tuple: InstrId, index: usize) -> Option<InstrId> {
    match e.module[tuple].op {
        Op::Tuple => e.module[tuple].operands.get(index).copied(),
        _ => e.element(tuple, index),
    }
}
