//! What inlined instructions say of where they come from: as it is seen from the call.

use hlo_ir::attr::{HloString, Origin, OriginTree};
use hlo_ir::{InstrId, Module};

/// Names of operations stay below so many bytes.
const MAX_OP_NAME: usize = 1024;

/// Where a call is, by its metadata and its origin.
pub(crate) struct CallSite {
    op_name: HloString,
    origin: Option<Origin>,
}

impl CallSite {
    /// Of a call.
    pub(crate) fn of(module: &Module, call: InstrId) -> Self {
        let common = module[call].common.as_deref();
        Self {
            op_name: common.map_or_else(HloString::default, |c| c.metadata.op_name.clone()),
            origin: common.and_then(|c| c.origin.as_deref().cloned()),
        }
    }

    /// Makes what copies of the called computation's instructions say hold in place of the call: the call's operation goes
    /// before theirs, and its origin before theirs. Where it is not known what was called, nor is what they were.
    pub(crate) fn apply(&self, module: &mut Module, copies: &[InstrId]) {
        for &id in copies {
            let common = module[id].common.as_deref();
            let name = common.map(|c| &c.metadata.op_name);
            if let Some(name) = inside(&self.op_name, name.unwrap_or(&HloString::default())) {
                module.common_mut(id).metadata.op_name = name;
            }
            if let Some(origin) = module[id].common.as_deref().and_then(|c| c.origin.as_deref().cloned()) {
                module.common_mut(id).origin = self.origin_of(origin).map(Box::new);
            }
        }
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
