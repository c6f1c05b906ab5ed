//! Structural equality of modules: ids, spans and the order of storage do not count.

use crate::attr::Header;
use crate::print::asynchronous::ShortForms;
use crate::{ComputationId, InstrId, Module, Op};
use std::collections::HashMap;

impl Module {
    /// True if both modules print as the same text: same header, same computations and instructions with the
    /// same names, shapes, attributes and operands, in the same order.
    pub fn same_as(&self, other: &Module) -> bool {
        self.difference(other).is_none()
    }

    /// The first difference between two modules, in words; `None` if they are the same.
    pub fn difference(&self, other: &Module) -> Option<String> {
        if self.name != other.name {
            return Some(format!("the names `{}` and `{}`", self.name, other.name));
        }
        let rest = |m: &Module| Header { entry_computation_layout: None, ..m.header.clone() };
        if rest(self) != rest(other) {
            return Some("the headers".into());
        }
        if self.entry_layout() != other.entry_layout() {
            return Some("the layouts of the entries".into());
        }
        if self.stack_frames != other.stack_frames {
            return Some("the stack frames".into());
        }
        let (ca, cb) = (self.computations_post_order(), other.computations_post_order());
        if ca.len() != cb.len() {
            return Some(format!("{} and {} computations", ca.len(), cb.len()));
        }
        let comparison = Comparison {
            a: self,
            b: other,
            computations: ca.iter().copied().zip(cb.iter().copied()).collect(),
            short_a: ShortForms::of(self),
            short_b: ShortForms::of(other),
        };
        if comparison.computations.get(&self.entry()) != Some(&other.entry()) {
            return Some("the entry computations".into());
        }
        ca.iter().zip(&cb).find_map(|(&a, &b)| comparison.computations(a, b))
    }
}

/// Two modules whose computations are paired up.
struct Comparison<'m> {
    a: &'m Module,
    b: &'m Module,
    computations: HashMap<ComputationId, ComputationId>,
    short_a: ShortForms,
    short_b: ShortForms,
}

impl Comparison<'_> {
    fn computations(&self, a: ComputationId, b: ComputationId) -> Option<String> {
        let (ca, cb) = (&self.a[a], &self.b[b]);
        let what = |what: &str| Some(format!("{what} of computation `{}`", ca.name));
        // What prints in the short form of an asynchronous operation has no names in the text.
        let named = self.short_a.only_operation(a).is_none() || self.short_b.only_operation(b).is_none();
        if named && ca.name != cb.name {
            return what(&format!("the name (other: `{}`)", cb.name));
        }
        if named && ca.execution_thread != cb.execution_thread {
            return what("the execution thread");
        }
        let (ia, ib) = (self.a.post_order(a), self.b.post_order(b));
        if ia.len() != ib.len() {
            return what("the number of instructions");
        }
        let pairs: HashMap<InstrId, InstrId> = ia.iter().copied().zip(ib.iter().copied()).collect();
        if pairs.get(&ca.root()) != Some(&cb.root()) {
            return what("the root");
        }
        ia.iter().zip(&ib).find_map(|(&x, &y)| {
            let part = self.instructions(x, y, &pairs, named)?;
            what(&format!("{part} of instruction `{}`", self.a[x].name))
        })
    }

    fn instructions(
        &self,
        a: InstrId,
        b: InstrId,
        instructions: &HashMap<InstrId, InstrId>,
        named: bool,
    ) -> Option<&'static str> {
        let (x, y) = (&self.a[a], &self.b[b]);
        let same_list = |x: &[InstrId], y: &[InstrId]| {
            x.len() == y.len() && x.iter().zip(y).all(|(x, y)| instructions.get(x) == Some(y))
        };
        if named && x.name != y.name {
            return Some("the name");
        }
        if x.shape != y.shape {
            return Some("the shape");
        }
        if !same_list(&x.operands, &y.operands) {
            return Some("the operands");
        }
        if !same_op(&x.op, &y.op, &self.computations) {
            return Some("the operation");
        }
        let (x, y) = (x.common.clone().unwrap_or_default(), y.common.clone().unwrap_or_default());
        if !same_list(&x.control_predecessors, &y.control_predecessors) {
            return Some("the control predecessors");
        }
        let mut x = *x;
        x.control_predecessors.clone_from(&y.control_predecessors);
        (x != *y).then_some("an attribute")
    }
}

/// Equality with the computations that `a` names replaced by their counterparts. Values of constants are
/// compared as bits, so that NaNs equal themselves.
fn same_op(a: &Op, b: &Op, computations: &HashMap<ComputationId, ComputationId>) -> bool {
    let mut a = a.clone();
    let mut known = true;
    if let Some(attrs) = a.attrs_mut() {
        attrs.for_each_computation_mut(&mut |c| match computations.get(c) {
            Some(&other) => *c = other,
            None => known = false,
        });
    }
    known && a == *b
}
