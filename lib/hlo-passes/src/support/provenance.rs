//! What inlined instructions say of where they come from: as it is seen from the call.

use hlo_ir::attr::{HloString, Origin, OriginTree};
use hlo_ir::{ComputationId, InstrId, JoinedFrames, Module, Op};
use std::collections::HashSet;

/// Names of operations stay below so many bytes.
const MAX_OP_NAME: usize = 1024;

/// Marks of a call that what is inlined has too: of the first two there is one.
const FUSION_MARKS: [&[&str]; 2] = [&["MUST_FUSE", "MAXIMAL_FUSE"], &["mosaic_fusion_group"]];

/// What calls say of the instructions that are put in place of them.
pub(crate) struct CallSites {
    frames: JoinedFrames,
    /// The computations within called ones that were done: they are not copied with their loops and conditionals.
    done: HashSet<(ComputationId, ComputationId)>,
}

impl CallSites {
    /// For the calls of a module.
    pub(crate) fn of(module: &Module) -> Self {
        Self { frames: JoinedFrames::of(module), done: HashSet::new() }
    }

    /// Makes what copies of `callee`'s instructions say hold in place of the call: its operation goes before theirs, and its
    /// origin before theirs; where it is not known what was called, nor is what they were. They are called from where
    /// the call is. Bodies of loops and branches of conditionals, which are shared, say where the first call is.
    pub(crate) fn apply(
        &mut self,
        module: &mut Module,
        site: &CallSite,
        callee: ComputationId,
        copies: &[InstrId],
    ) {
        let mut bodies = Vec::new();
        for &id in copies {
            self.name(module, site, id);
            if let Some(origin) = module[id].common.as_deref().and_then(|c| c.origin.as_deref().cloned()) {
                module.common_mut(id).origin = site.origin_of(origin).map(Box::new);
            }
            if is_fusible(module, id) {
                for (key, value) in &site.marks {
                    let attributes = &mut module.common_mut(id).frontend_attributes;
                    if attributes.get(key).is_none() {
                        attributes.set(key, value.clone());
                    }
                }
            }
            bodies.extend(bodies_of(&module[id].op));
        }
        while let Some(body) = bodies.pop() {
            if site.is_nowhere() || !self.done.insert((callee, body)) {
                continue;
            }
            for id in module[body].instructions().to_vec() {
                self.name(module, site, id);
                bodies.extend(bodies_of(&module[id].op));
            }
        }
    }

    /// Gives an instruction the operation and the stack frame that it has inside of the call.
    fn name(&mut self, module: &mut Module, site: &CallSite, id: InstrId) {
        let metadata = module[id].common.as_deref().map(|c| &c.metadata);
        let name = inside(&site.op_name, metadata.map_or(&HloString::default(), |m| &m.op_name));
        let frame = metadata.map_or(0, |m| m.stack_frame_id);
        let joined = self.frames.inside(module, site.frame, frame);
        if let Some(name) = name {
            module.common_mut(id).metadata.op_name = name;
        }
        if joined != frame {
            module.common_mut(id).metadata.stack_frame_id = joined;
        }
    }
}

/// The computations of control flow, whose instructions are instructions of the program.
fn bodies_of(op: &Op) -> Vec<ComputationId> {
    match op {
        Op::While(_) | Op::Conditional(_) | Op::AsyncStart(_) => op.called_computations().to_vec(),
        _ => Vec::new(),
    }
}

/// True for what could be part of a fusion.
fn is_fusible(module: &Module, id: InstrId) -> bool {
    match &module[id].op {
        Op::Domain(_) | Op::Parameter(_) | Op::While(_) | Op::Conditional(_) | Op::Call(_) => false,
        Op::Fusion(_) | Op::Map(_) | Op::Reduce(_) | Op::ReduceWindow(_) => true,
        Op::Rng(_) => module.users(id).len() <= 1,
        op => !op.has_side_effect(),
    }
}

/// Where a call is, by its metadata and its origin, and how it is marked.
pub(crate) struct CallSite {
    op_name: HloString,
    frame: i32,
    origin: Option<Origin>,
    marks: Vec<(&'static str, HloString)>,
}

impl CallSite {
    /// Of a call.
    pub(crate) fn of(module: &Module, call: InstrId) -> Self {
        let Some(common) = module[call].common.as_deref() else {
            return Self { op_name: HloString::default(), frame: 0, origin: None, marks: Vec::new() };
        };
        let mark = |key: &&'static str| Some((*key, common.frontend_attributes.get(key)?.clone()));
        Self {
            op_name: common.metadata.op_name.clone(),
            frame: common.metadata.stack_frame_id,
            origin: common.origin.as_deref().cloned(),
            marks: FUSION_MARKS.iter().filter_map(|keys| keys.iter().find_map(mark)).collect(),
        }
    }

    /// True if it is not known where the call is.
    fn is_nowhere(&self) -> bool {
        self.op_name.is_empty() && self.frame == 0
    }

    /// What a value of the called computation is in the program that has the call.
    fn origin_of(&self, mut inner: Origin) -> Option<Origin> {
        let call = match self.origin.as_ref()? {
            // It was not in that program: what is inside stood where the call is.
            Origin::SyntheticCall => return Some(inner),
            Origin::Arrays(tree) => first(tree)?,
        };
        if let Origin::Arrays(tree) = &mut inner {
            prefix(tree, call);
        }
        Some(inner)
    }
}

/// The instruction of the first array of a tree.
fn first(tree: &OriginTree) -> Option<&HloString> {
    match tree {
        OriginTree::Array(array) => Some(&array.as_ref()?.instruction),
        OriginTree::Tuple(elements) => first(elements.first()?),
    }
}

/// Puts a call before the instructions of a tree.
fn prefix(tree: &mut OriginTree, call: &HloString) {
    match tree {
        OriginTree::Array(Some(array)) => {
            array.instruction = joined(call.as_bytes(), array.instruction.as_bytes())
        }
        OriginTree::Array(None) => {}
        OriginTree::Tuple(elements) => elements.iter_mut().for_each(|e| prefix(e, call)),
    }
}

/// The name of an operation inside of another one; `None` if it says so already, or would be too long.
fn inside(outer: &HloString, inner: &HloString) -> Option<HloString> {
    let outer = outer.as_bytes();
    let outer = outer.strip_suffix(b"/").unwrap_or(outer);
    let inner = inner.as_bytes();
    let inner = inner.strip_prefix(b"/").unwrap_or(inner);
    let inner = inner.strip_suffix(b"/").unwrap_or(inner);
    if outer.is_empty() || inner.starts_with(outer) || outer.len() + inner.len() >= MAX_OP_NAME {
        return None;
    }
    Some(if inner.is_empty() { HloString::from_bytes(outer) } else { joined(outer, inner) })
}

fn joined(outer: &[u8], inner: &[u8]) -> HloString {
    HloString::from_bytes([outer, b"/", inner].concat())
}
