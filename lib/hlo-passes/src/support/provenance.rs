//! Metadata of inlined instructions: updates it for the program that contains the call.

use hlo_ir::attr::{HloString, Origin, OriginTree};
use hlo_ir::{ComputationId, InstrId, JoinedFrames, Module, Op};
use std::collections::HashSet;

/// Maximum length in bytes of operation names (exclusive).
const MAX_OP_NAME: usize = 1024;

/// Attributes of a call that inlined instructions inherit. At most one of the first two names applies.
const FUSION_ATTRIBUTES: [&[&str]; 2] = [&["MUST_FUSE", "MAXIMAL_FUSE"], &["mosaic_fusion_group"]];

/// Passes on the metadata of calls to the instructions that replace the calls.
pub struct CallSites {
    frames: JoinedFrames,
    /// Pairs of an inlined computation and a loop body or branch inside it that were already processed. Such
    /// bodies are not copied.
    done: HashSet<(ComputationId, ComputationId)>,
}

impl CallSites {
    /// Returns the state for inlining calls of a module.
    pub fn of(module: &Module) -> Self {
        Self { frames: JoinedFrames::of(module), done: HashSet::new() }
    }

    /// Updates the metadata of the copies of `callee`'s instructions for the program that contains the call:
    ///
    /// - The operation name of the call is put before theirs, and the call's stack frame becomes the caller
    ///   of theirs.
    /// - The origin of the call is put before theirs. If the origin of the call is unknown, theirs is
    ///   removed.
    ///
    /// Loop bodies and branches of conditionals are shared, so they are updated for the first call only.
    pub fn apply(&mut self, module: &mut Module, site: &CallSite, callee: ComputationId, copies: &[InstrId]) {
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
            if site.is_unidentified() || !self.done.insert((callee, body)) {
                continue;
            }
            for id in module[body].instructions().to_vec() {
                self.name(module, site, id);
                bodies.extend(bodies_of(&module[id].op));
            }
        }
    }

    /// Updates the operation name and the stack frame of an instruction.
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

/// Returns the computations of control flow that an operation calls. Their instructions need metadata too.
fn bodies_of(op: &Op) -> Vec<ComputationId> {
    match op {
        Op::While(_) | Op::Conditional(_) | Op::AsyncStart(_) => op.called_computations().to_vec(),
        _ => Vec::new(),
    }
}

/// Returns whether the instruction can be part of a fusion.
fn is_fusible(module: &Module, id: InstrId) -> bool {
    match &module[id].op {
        Op::Domain(_) | Op::Parameter(_) | Op::While(_) | Op::Conditional(_) | Op::Call(_) => false,
        Op::Fusion(_) | Op::Map(_) | Op::Reduce(_) | Op::ReduceWindow(_) => true,
        Op::Rng(_) => module.users(id).len() <= 1,
        op => !op.has_side_effect(),
    }
}

/// The metadata, origin and marks of a call.
pub struct CallSite {
    op_name: HloString,
    frame: i32,
    origin: Option<Origin>,
    marks: Vec<(&'static str, HloString)>,
}

impl CallSite {
    /// Reads the metadata of a call.
    pub fn of(module: &Module, call: InstrId) -> Self {
        let Some(common) = module[call].common.as_deref() else {
            return Self { op_name: HloString::default(), frame: 0, origin: None, marks: Vec::new() };
        };
        let mark = |key: &&'static str| Some((*key, common.frontend_attributes.get(key)?.clone()));
        Self {
            op_name: common.metadata.op_name.clone(),
            frame: common.metadata.stack_frame_id,
            origin: common.origin.as_deref().cloned(),
            marks: FUSION_ATTRIBUTES.iter().filter_map(|keys| keys.iter().find_map(mark)).collect(),
        }
    }

    /// Returns whether the metadata does not identify the call.
    fn is_unidentified(&self) -> bool {
        self.op_name.is_empty() && self.frame == 0
    }

    /// Returns the origin of a value of the called computation in the calling program.
    fn origin_of(&self, mut inner: Origin) -> Option<Origin> {
        let call = match self.origin.as_ref()? {
            // The original program does not contain the call, so the value's own origin applies.
            Origin::SyntheticCall => return Some(inner),
            Origin::Arrays(tree) => first(tree)?,
        };
        if let Origin::Arrays(tree) = &mut inner {
            prefix(tree, call);
        }
        Some(inner)
    }
}

/// Returns the instruction of the first array of a tree.
fn first(tree: &OriginTree) -> Option<&HloString> {
    match tree {
        OriginTree::Array(array) => Some(&array.as_ref()?.instruction),
        OriginTree::Tuple(elements) => first(elements.first()?),
    }
}

/// Prefixes the instructions of a tree with the name of a call.
fn prefix(tree: &mut OriginTree, call: &HloString) {
    match tree {
        OriginTree::Array(Some(array)) => {
            array.instruction = joined(call.as_bytes(), array.instruction.as_bytes())
        }
        OriginTree::Array(None) => {}
        OriginTree::Tuple(elements) => elements.iter_mut().for_each(|e| prefix(e, call)),
    }
}

/// Prefixes an operation name with the outer one. Returns `None` if the name already has this prefix or would
/// be too long.
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
