//! `host-offloader`: converts annotations of values that should be in host memory to memory spaces and
//! copies.
//!
//! ```text
//! h = f32[4] custom-call(x), custom_call_target="MoveToHost"          h = f32[4]{0:S(5)} copy(x)
//! t = (f32[4]) tuple(h)                                          →    t = (f32[4]{0:S(5)}) tuple(h)
//! g = f32[4] get-tuple-element(t), index=0                            g = f32[4]{0:S(5)} get-tuple-element(t), index=0
//! d = f32[4] custom-call(g), custom_call_target="MoveToDevice"        d = f32[4] copy(g)
//! ```
//!
//! The pass starts at each `MoveToHost` and at each entry parameter in host memory. It follows the value
//! through tuples, calls, loops, branches and asynchronous operations. It stops at the next `MoveToDevice` or
//! at an entry result in host memory. An entry result in another memory is an error. All instructions on the
//! path are placed in host memory, which is space 5.
//!
//! - A `MoveToHost` becomes a copy, unless a `dynamic-update-slice` writes the value into a larger buffer. In
//!   that case the whole buffer is in host memory, and it must begin as a broadcast or an `AllocateBuffer`. A
//!   broadcast of zeros becomes an `AllocateBuffer`. With `assume-overwritten`, so does any other broadcast.
//!   Otherwise the broadcast is copied.
//! - A `MoveToDevice` becomes a copy, unless the value comes directly from a slice, which then performs the
//!   transfer. A `slice` becomes a `dynamic-slice`.
//! - Instructions that compute with values in host memory get the attribute `_xla_compute_type="host"`. With
//!   `host-compute=false`, they are an error.
//!
//! Results of asynchronous calls on the thread `host` stay in host memory if they are used only as entry
//! results in host memory. At the end, the pass merges instructions that compute the same value. If a module
//! contains anything for this pass to do, only the memory spaces in `entry_computation_layout` count.
//! Existing memory spaces of other values are ignored.

mod buffers;
mod results;
mod walk;

use crate::support::host_memory::{
    DEVICE, Flow, HOST, MOVE_TO_DEVICE, MOVE_TO_HOST, calls_target, move_part, moved, set_space, space,
};
use hlo_ir::attr::{EntryLayout, HloString};
use hlo_ir::diag::Diag;
use hlo_ir::{ComputationId, InstrId, Module, Op, Shape};
use hlo_passes::support::effects::control_dependent;
use hlo_passes::{OptionInfo, OptionValue, PassInfo, Rewrites};
use std::collections::{HashMap, HashSet};

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "host-offloader",
    summary: "place values that move to the host in its memory, with copies there and back",
    options: &[
        OptionInfo {
            name: "assume-overwritten",
            summary: "whether to assume that updates in host memory write each element of a broadcast before it is read",
            default: OptionValue::Switch(false),
        },
        OptionInfo {
            name: "host-compute",
            summary: "whether computing with values in host memory is allowed (otherwise it is an error)",
            default: OptionValue::Switch(true),
        },
        OptionInfo {
            name: "host-copies",
            summary: "whether copies within host memory are allowed even with `host-compute=false`",
            default: OptionValue::Switch(false),
        },
    ],
    example: "\
HloModule host_offloader

ENTRY e {
  x = f32[4] parameter(0)
  h = f32[4] custom-call(x), custom_call_target=\"MoveToHost\"
  t = (f32[4]) tuple(h)
  g = f32[4] get-tuple-element(t), index=0
  ROOT d = f32[4] custom-call(g), custom_call_target=\"MoveToDevice\"
}
",
    build: |_, options| {
        let settings = Settings {
            overwritten: options.switch("assume-overwritten"),
            compute: options.switch("host-compute"),
            copies: options.switch("host-copies"),
        };
        Box::new(move |module: &mut Module, _: &mut Rewrites| run(module, settings))
    },
    ..PassInfo::PLAIN
};

/// The option values.
#[derive(Clone, Copy)]
struct Settings {
    overwritten: bool,
    compute: bool,
    copies: bool,
}

fn run(module: &mut Module, settings: Settings) -> Result<bool, Diag> {
    if module.entry_if_set().is_none_or(|e| !module.has_root(e)) {
        return Ok(false);
    }
    let layout = module.entry_layout().map(|l| l.into_owned()).unwrap_or_default();
    check_moves(module)?;
    if !has_host_moves(module, &layout) {
        return Ok(false);
    }
    // If an error occurs, the module stays unchanged.
    let mut offloaded = module.clone();
    let changed = Offloader::of(&offloaded, settings, layout).run(&mut offloaded)?;
    if changed {
        *module = offloaded;
    }
    Ok(changed)
}

/// Returns an error if the shape of a move differs from that of its operand, or if it does not have exactly
/// one operand.
fn check_moves(module: &Module) -> Result<(), Diag> {
    for id in module.computations().flat_map(|c| module[c].instructions()).copied() {
        let target = [MOVE_TO_HOST, MOVE_TO_DEVICE].into_iter().find(|t| calls_target(module, id, t));
        let Some(target) = target.filter(|t| moved(module, id, t).is_none()) else { continue };
        let (name, shape) = (&module[id].name, &module[id].shape);
        return Err(Diag::error(format!("`{name}` is no `{target}` of its operand, as it gives {shape}"))
            .at(module.span(id), "a move has one operand, of its own shape"));
    }
    Ok(())
}

/// Checks whether the pass has anything to do. This is the case if the module contains moves, or if the
/// memory of an entry parameter differs from `entry_computation_layout`. It is also the case if the entry's
/// result differs and the host computes asynchronously.
fn has_host_moves(module: &Module, layout: &EntryLayout) -> bool {
    let any = |of: fn(&Module, InstrId) -> bool| {
        module.computations().any(|c| module[c].instructions().iter().any(|&i| of(module, i)))
    };
    let elsewhere = |(id, wanted): (InstrId, &Shape)| host_parts(wanted) != host_parts(&module[id].shape);
    let entry = module.entry();
    any(|m, i| [MOVE_TO_HOST, MOVE_TO_DEVICE].iter().any(|t| moved(m, i, t).is_some()))
        || module.parameters(entry).into_iter().zip(&layout.parameters).any(elsewhere)
        || elsewhere((module[entry].root(), &layout.result)) && any(|m, i| results::is_host_start(&m[i].op))
}

/// The state of the pass.
struct Offloader {
    settings: Settings,
    flow: Flow,
    /// The layouts, with memory spaces, of the entry's parameters and result.
    layout: EntryLayout,
    /// The moves to the host that were processed or need no copy.
    done: HashSet<InstrId>,
    /// The copies to the host that the pass added, by their operands.
    copies: HashMap<InstrId, InstrId>,
    /// The copies to the device that the pass added.
    to_device: HashSet<InstrId>,
    /// The updates found, each with whether the value that it writes is moved to the host.
    updates: Vec<(InstrId, bool)>,
    /// The updates whose buffer is allocated in host memory.
    allocated: HashSet<InstrId>,
    /// The instructions with control dependencies.
    pinned: HashSet<InstrId>,
    /// The instructions to remove.
    gone: Vec<InstrId>,
}

impl Offloader {
    fn of(module: &Module, settings: Settings, layout: EntryLayout) -> Self {
        Self {
            settings,
            flow: Flow::of(module),
            layout,
            done: HashSet::new(),
            copies: HashMap::new(),
            to_device: HashSet::new(),
            updates: Vec::new(),
            allocated: HashSet::new(),
            pinned: control_dependent(module),
            gone: Vec::new(),
        }
    }

    fn run(mut self, module: &mut Module) -> Result<bool, Diag> {
        let given = spaces(module);
        for c in module.computations().collect::<Vec<_>>() {
            for id in module[c].instructions().to_vec() {
                leave_host(module, id);
            }
        }
        let mut changed = self.keep_results(module);
        changed |= self.parameters(module)?;
        for id in moves_to_host(module) {
            changed |= self.move_to_host(module, id)?;
        }
        changed |= self.update(module)?;
        for c in module.computations().collect::<Vec<_>>() {
            for id in module[c].instructions().to_vec() {
                let Some(operand) = moved(module, id, MOVE_TO_DEVICE) else { continue };
                module.replace_all_uses_with(id, operand);
                self.gone.push(id);
                changed = true;
            }
        }
        self.remove(module);
        changed |= copy_parameters(module);
        if changed {
            changed |= hlo_passes::parts::eliminate_common_subexpressions(module, &mut Rewrites::new(None))?;
        }
        let kept = module.entry_layout().is_some_and(|l| *l == self.layout);
        if !kept {
            module.header.entry_computation_layout = Some(self.layout);
        }
        Ok(changed || spaces(module) != given)
    }

    /// Follows the values of the entry's parameters in host memory.
    fn parameters(&mut self, module: &mut Module) -> Result<bool, Diag> {
        let mut changed = false;
        for (n, parameter) in module.parameters(module.entry()).into_iter().enumerate() {
            let Some(shape) = self.layout.parameters.get(n).cloned() else { continue };
            for index in host_parts(&shape) {
                changed |= self.walk(module, &(parameter, index), None)?;
            }
        }
        Ok(changed)
    }

    /// Removes the collected instructions that are no longer used.
    fn remove(&mut self, module: &mut Module) {
        let mut gone: HashSet<InstrId> = HashSet::new();
        let mut list = Vec::new();
        for id in std::mem::take(&mut self.gone).into_iter().rev() {
            let alone = module.is_live(id) && module.users(id).iter().all(|u| gone.contains(u));
            if alone && !module.is_root(id) && gone.insert(id) {
                list.push(id);
            }
        }
        module.remove_all(&list);
    }

    /// Adds an instruction to the computation of another one, with a name derived from it.
    fn add(&self, module: &mut Module, at: InstrId, shape: Shape, op: Op, operands: &[InstrId]) -> InstrId {
        module.add_like(at, shape, op, operands.iter().copied())
    }

    /// Adds a copy of a value to a memory space.
    fn add_copy(&self, module: &mut Module, of: InstrId, space: i32) -> InstrId {
        let mut shape = module[of].shape.clone();
        set_space(&mut shape, space);
        self.add(module, of, shape, Op::Copy, &[of])
    }
}

/// Marks an instruction as computed by the host.
fn compute_on_host(module: &mut Module, id: InstrId) {
    let value = HloString::from_bytes(*b"host");
    module.common_mut(id).frontend_attributes.set("_xla_compute_type", value);
}

/// Returns the shapes of all instructions, with their memory spaces.
fn spaces(module: &Module) -> HashMap<InstrId, Shape> {
    let all = module.computations().flat_map(|c| module[c].instructions());
    all.map(|&i| (i, module[i].shape.clone())).collect()
}

/// Moves an instruction's arrays from host memory to device memory.
fn leave_host(module: &mut Module, id: InstrId) {
    for index in host_parts(&module[id].shape.clone()) {
        move_part(module, &(id, index), DEVICE);
    }
}

/// Returns the indices of the arrays of a shape that are in host memory.
fn host_parts(shape: &Shape) -> Vec<Vec<usize>> {
    let mut out = Vec::new();
    let mut work = vec![(Vec::new(), shape)];
    while let Some((index, shape)) = work.pop() {
        match shape {
            Shape::Array(a) if a.memory_space() == HOST => out.push(index),
            Shape::Tuple(parts) => {
                let parts = parts.iter().enumerate().rev();
                work.extend(parts.map(|(n, part)| ([&index[..], &[n]].concat(), part)));
            }
            _ => {}
        }
    }
    out
}

/// Returns all moves to the host in execution order, so that the first move of a chain comes first.
fn moves_to_host(module: &Module) -> Vec<InstrId> {
    let mut out = Vec::new();
    let mut seen: HashSet<ComputationId> = HashSet::from([module.entry()]);
    // The remaining instructions of each visited computation. The next one is the last element.
    let left = |c: ComputationId| module.post_order(c).into_iter().rev().collect::<Vec<_>>();
    let mut work = vec![left(module.entry())];
    while let Some(list) = work.last_mut() {
        let Some(id) = list.pop() else {
            work.pop();
            continue;
        };
        if moved(module, id, MOVE_TO_HOST).is_some() {
            out.push(id);
        }
        for callee in module[id].op.called_computations().into_iter().rev() {
            if module.has_root(callee) && seen.insert(callee) {
                work.push(left(callee));
            }
        }
    }
    out
}

/// Copies the value that an update in host memory writes if it shares memory with a parameter. Without the
/// copy, the value would have to be read before the update overwrites it. Returns whether anything changed.
fn copy_parameters(module: &mut Module) -> bool {
    let entry = module.entry();
    let ops = module.computations().flat_map(|c| module[c].instructions()).map(|&i| &module[i].op);
    let body = |op: &Op| if let Op::While(a) = op { Some(a.body) } else { None };
    let bodies: HashSet<ComputationId> = ops.filter_map(body).collect();
    let mut found = Vec::new();
    for c in module.computations().filter(|&c| c != entry) {
        for id in module.post_order(c) {
            let [_, written, ..] = module[id].operands[..] else { continue };
            let update = matches!(module[id].op, Op::DynamicUpdateSlice) && space(module, id) == Some(HOST);
            if update && shares_parameter(module, written, bodies.contains(&c)) {
                found.push((id, written));
            }
        }
    }
    for &(id, written) in &found {
        let (parent, shape) = (module[id].parent, module[written].shape.clone());
        let copy = module.add_like_in(parent, written, shape, Op::Copy, [written]);
        module.replace_operand(id, 1, copy);
    }
    !found.is_empty()
}

/// Checks whether a value shares memory with a parameter of its computation: it is part of one, or part of
/// the state in a loop body.
fn shares_parameter(module: &Module, id: InstrId, in_body: bool) -> bool {
    let mut work = vec![id];
    let mut seen = HashSet::new();
    while let Some(id) = work.pop() {
        if !seen.insert(id) {
            continue;
        }
        match &module[id].op {
            Op::Parameter(_) => return true,
            Op::GetTupleElement(_) | Op::Bitcast | Op::OptBarrier | Op::DynamicUpdateSlice | Op::While(_) => {
                work.extend(module[id].operands.first());
            }
            _ => {}
        }
        // The result of a loop's body shares memory with its parameter.
        let state = |&&user: &&InstrId| matches!(module[user].op, Op::Tuple) && module.is_root(user);
        if in_body && module.users(id).iter().any(|u| state(&u)) {
            return true;
        }
    }
    false
}
