//! `host-offload-legalize`: moves copies that change the layout of values in host memory to where the values
//! are back on the device.
//!
//! ```text
//! h = f32[4,8]{1,0} custom-call(x), custom_call_target="MoveToHost"         h = f32[4,8]{1,0} custom-call(x), …"MoveToHost"
//! c = f32[4,8]{0,1} copy(h)                                            →    d = f32[4,8]{1,0} custom-call(h), …"MoveToDevice"
//! d = f32[4,8]{0,1} custom-call(c), custom_call_target="MoveToDevice"       c = f32[4,8]{0,1} copy(d)
//! ```
//!
//! A path to the device begins at a `MoveToHost`, at the buffer that a `dynamic-update-slice` writes the
//! moved value to, or at an entry parameter in host memory. It leads through tuples, loops, barriers,
//! `bitcast`, `reshape` and updates. All instructions on the path get the layout that the value has before
//! the copy.
//! - If a slice precedes the move to the device, the move is placed directly after the slice, followed by the
//!   copy.
//! - If the layout of a buffer changes, values written to it are moved to the host in the new layout.
//! - A bitcast on the path must add or drop an outermost dimension of size 1, or exchange dimensions. Any
//!   other bitcast is an error.
//!
//! A copy cannot move down if the value on the host reaches a result or a host computation. Such a copy is
//! exchanged with the `MoveToHost` before it. Other copies are not changed.

mod bitcasts;
mod move_down;
mod paths;

use crate::support::host_memory::{DEVICE, Flow, HOST, MOVE_TO_DEVICE, MOVE_TO_HOST, moved, set_space};
use hlo_ir::diag::Diag;
use hlo_ir::{InstrId, Module, Op, Shape};
use hlo_passes::{PassInfo, Rewrites};
use paths::{Paths, ValueLocation};
use std::collections::HashSet;

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "host-offload-legalize",
    summary: "move copies that change layouts in host memory to after the move back to the device",
    example: "\
HloModule host_offload_legalize

ENTRY e {
  x = f32[4,8]{1,0} parameter(0)
  h = f32[4,8]{1,0} custom-call(x), custom_call_target=\"MoveToHost\"
  c = f32[4,8]{0,1} copy(h)
  ROOT d = f32[4,8]{0,1} custom-call(c), custom_call_target=\"MoveToDevice\"
}
",
    build: |_, _| Box::new(run),
    ..PassInfo::PLAIN
};

fn run(module: &mut Module, rewrites: &mut Rewrites) -> Result<bool, Diag> {
    if module.entry_if_set().is_none_or(|e| !module.has_root(e)) {
        return Ok(false);
    }
    let starts = starts(module);
    let mut legalizer =
        Legalizer { paths: Paths { flow: Flow::of(module) }, done: HashSet::new(), gone: Vec::new() };
    if starts.is_empty() {
        return Ok(false);
    }
    // If an error occurs, the module stays unchanged.
    let mut legal = module.clone();
    let mut changed = false;
    for start in starts {
        if !legalizer.done.contains(&start) && legal.is_live(start) {
            changed |= legalizer.process(&mut legal, start, rewrites)?;
        }
    }
    if changed {
        let gone = std::mem::take(&mut legalizer.gone);
        legal.remove_all(&gone);
        *module = legal;
    }
    Ok(changed)
}

/// Returns the instructions at which values enter host memory: `MoveToHost` calls, and entry parameters in
/// host memory.
fn starts(module: &Module) -> Vec<InstrId> {
    let layout = module.entry_layout().map(|l| l.into_owned()).unwrap_or_default();
    let in_host = |s: &Shape| s.as_array().is_some_and(|a| a.memory_space() == HOST);
    let parameters = module.parameters(module.entry()).into_iter().zip(&layout.parameters);
    let mut out: Vec<InstrId> = parameters.filter(|(_, s)| in_host(s)).map(|(p, _)| p).collect();
    for c in module.computations() {
        out.extend(module.post_order(c).into_iter().filter(|&i| moved(module, i, MOVE_TO_HOST).is_some()));
    }
    out
}

struct Legalizer {
    paths: Paths,
    /// The instructions that bring a value to the host and whose path has been processed.
    done: HashSet<InstrId>,
    gone: Vec<InstrId>,
}

impl Legalizer {
    /// Moves the copies on the path from an instruction that brings a value to the host. Returns whether
    /// anything changed.
    fn process(&mut self, module: &mut Module, id: InstrId, rewrites: &mut Rewrites) -> Result<bool, Diag> {
        let Some(&user) = module.users(id).first() else { return Ok(false) };
        if module.is_root(id) {
            return Ok(false);
        }
        let update = paths::update_after(module, user);
        let Some(top) = self.paths.top(module, update.unwrap_or(id)) else { return Ok(false) };
        self.done.insert(update.unwrap_or(id));
        let Some(copies) = self.copies(module, top) else { return Ok(false) };
        let mut changed = false;
        for copy in copies.into_iter().rev() {
            if !rewrites.allowed() || !module.is_live(copy.0) || module[copy.0].operands.is_empty() {
                continue;
            }
            let name = module[copy.0].name.to_string();
            if self.returns_to_device(module, copy.0) {
                if self.move_down(module, copy)? {
                    rewrites.made("move-down", &name);
                    changed = true;
                }
            } else if self.move_up(module, copy.0) {
                rewrites.made("move-up", &name);
                changed = true;
            }
        }
        Ok(changed)
    }

    /// Returns the copies on the path down from a place, or `None` if a slice on the path does not lead to
    /// the device.
    fn copies(&self, module: &mut Module, top: ValueLocation) -> Option<Vec<ValueLocation>> {
        let mut copies = Vec::new();
        let mut seen = HashSet::new();
        let mut work = vec![top];
        while let Some(at) = work.pop() {
            if !seen.insert(at) {
                continue;
            }
            let slices = matches!(module[at.0].op, Op::Slice(_) | Op::DynamicSlice(_));
            if slices || moved(module, at.0, MOVE_TO_DEVICE).is_some() {
                let annotation = paths::move_after(module, at.0)?;
                self.keep_state(module, annotation);
                continue;
            }
            let Some(below) = self.paths.down(module, at) else { break };
            copies.extend(below.iter().copied().filter(|b| matches!(module[b.0].op, Op::Copy)));
            work.extend(below);
        }
        Some(copies)
    }

    /// Makes the body of a loop return an element of its state in host memory, if it returns the same element
    /// moved to the device. The element is on the host when the loop starts.
    fn keep_state(&self, module: &mut Module, annotation: InstrId) {
        let Some(operand) = moved(module, annotation, MOVE_TO_DEVICE) else { return };
        let c = module[annotation].parent;
        let in_loop = match self.paths.flow.callers(c) {
            &[caller] => matches!(&module[caller].op, Op::While(a) if a.body == c),
            _ => false,
        };
        let Op::GetTupleElement(a) = &module[operand].op else { return };
        let of_state =
            module[operand].operands.first().is_some_and(|&t| matches!(module[t].op, Op::Parameter(_)));
        let (Ok(element), root) = (usize::try_from(a.index), module[c].root()) else { return };
        let same = module[root].operands.get(element) == Some(&annotation);
        if in_loop && of_state && same && matches!(module[root].op, Op::Tuple) {
            module.replace_operand(root, element, operand);
        }
    }

    /// Checks whether all values derived from a copy are moved to the device, without becoming a result or
    /// being used by a host computation first.
    fn returns_to_device(&self, module: &Module, copy: InstrId) -> bool {
        let mut seen = HashSet::new();
        let mut work = vec![(copy, Vec::new())];
        while let Some(part) = work.pop() {
            if !seen.insert(part.clone()) {
                continue;
            }
            let parent = module[part.0].parent;
            if module.is_root(part.0) && parent == module.entry() {
                return false;
            }
            for next in self.paths.flow.successors(module, &part) {
                let thread = module[module[next.0].parent].execution_thread.as_ref();
                let on_host = thread.is_some_and(|t| t.as_bytes() == b"host");
                if on_host && matches!(module[next.0].op, Op::Parameter(_)) {
                    return false;
                }
                if moved(module, next.0, MOVE_TO_DEVICE).is_none() {
                    work.push(next);
                }
            }
        }
        true
    }

    /// Exchanges a copy with the `MoveToHost` that is its operand. Returns whether this was possible.
    fn move_up(&self, module: &mut Module, copy: InstrId) -> bool {
        let Some(&annotation) = module[copy].operands.first() else { return false };
        let Some(operand) = moved(module, annotation, MOVE_TO_HOST) else { return false };
        if module.users(annotation).len() != 1 || module.is_root(annotation) {
            return false;
        }
        let mut shape = module[copy].shape.clone();
        set_space(&mut shape, DEVICE);
        module.replace_all_uses_with(copy, annotation);
        module.replace_operand(copy, 0, operand);
        module.replace_operand(annotation, 0, copy);
        module.set_shape(copy, shape.clone());
        module.set_shape(annotation, shape);
        true
    }
}
