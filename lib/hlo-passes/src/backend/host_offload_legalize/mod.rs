//! `host-offload-legalize`: copies that change the layout of values in the host's memory go to where they are back on the
//! device.
//!
//! ```text
//! h = f32[4,8]{1,0} custom-call(x), custom_call_target="MoveToHost"         h = f32[4,8]{1,0} custom-call(x), …"MoveToHost"
//! c = f32[4,8]{0,1} copy(h)                                            →    d = f32[4,8]{1,0} custom-call(h), …"MoveToDevice"
//! d = f32[4,8]{0,1} custom-call(c), custom_call_target="MoveToDevice"       c = f32[4,8]{0,1} copy(d)
//! ```
//!
//! The way to the device begins at a `MoveToHost`, at the buffer that it is written into by a `dynamic-update-slice`, or at a
//! parameter of the entry that lies in the host's memory. It leads through tuples, loops, barriers, `bitcast`, `reshape` and
//! updates; all on the way gets the layout that there is before the copy. Where a slice takes a part before it is moved to
//! the device, the move comes right after the slice, and then the copy. What is written into a buffer whose layout changes is
//! moved there in that one. A bitcast on the way has to add or drop an outermost dimension of size 1, or to exchange
//! dimensions; another one is an error.
//!
//! A copy that can't go down, as what is on the host comes to a result or to what the host computes, changes places with the
//! `MoveToHost` before it. Others stay.

mod bitcasts;
mod down;
mod paths;

use crate::support::host_memory::{DEVICE, Flow, HOST, MOVE_TO_DEVICE, MOVE_TO_HOST, moved, set_space};
use crate::{PassInfo, Rewrites};
use hlo_ir::diag::Diag;
use hlo_ir::{InstrId, Module, Op, Shape};
use paths::{At, Paths};
use std::collections::HashSet;

/// The registry's entry.
pub static INFO: PassInfo = PassInfo {
    name: "host-offload-legalize",
    summary: "move copies that change layouts in the host's memory to where values are back on the device",
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
    // An error leaves the module as it was.
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

/// Where values come into the host's memory: at moves, and at parameters of the entry that lie there.
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
    /// The moves to the host that are on a way that was seen to.
    done: HashSet<InstrId>,
    gone: Vec<InstrId>,
}

impl Legalizer {
    /// Looks for copies on the way from where a value comes to the host, and moves them. Returns whether there are any.
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
            if self.comes_back(module, copy.0) {
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

    /// The copies on the way down from a place; `None` where a slice on the way does not lead to the device.
    fn copies(&self, module: &mut Module, top: At) -> Option<Vec<At>> {
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

    /// Lets the body of a loop hand on an element of its state from the host's memory, where it hands on the same
    /// element moved to the device: at the loop's beginning it is on the host.
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

    /// True if all that a copy becomes is moved to the device, and not a result or computed with on the host before.
    fn comes_back(&self, module: &Module, copy: InstrId) -> bool {
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

    /// Lets a copy change places with the move to the host that it copies. Returns whether it could.
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
