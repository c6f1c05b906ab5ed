//! Structural equality of modules, ignoring ids, spans and the order of storage.

use crate::attr::Header;
use crate::print::asynchronous::ShortForms;
use crate::{ComputationId, InstrId, Module, Op};
use std::collections::{HashMap, HashSet};

impl Module {
    /// Returns whether both modules have the same header and the same computations and instructions, with the
    /// same names, shapes, attributes and operands. Order matters only if it is a schedule.
    pub fn same_as(&self, other: &Module) -> bool {
        self.difference(other).is_none()
    }

    /// Returns a description of the first difference between two modules; `None` if they are the same.
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
        let ca = self.computations_post_order();
        let count = other.computations().count();
        if ca.len() != count {
            return Some(format!("{} and {count} computations", ca.len()));
        }
        let mut comparison = Comparison {
            a: self,
            b: other,
            computations: HashMap::new(),
            fused: self.fused_computations(),
            short_a: ShortForms::of(self),
            short_b: ShortForms::of(other),
        };
        if let Some(difference) = comparison.pair_computations(&ca) {
            return Some(difference);
        }
        if comparison.computations.get(&self.entry()) != Some(&other.entry()) {
            return Some("the entry computations".into());
        }
        ca.iter().find_map(|&a| comparison.computations(a, *comparison.computations.get(&a)?))
    }
}

/// Returns the computation that an `async-start` calls.
fn started(module: &Module, i: InstrId) -> Option<ComputationId> {
    match &module[i].op {
        Op::AsyncStart(a) => a.calls,
        _ => None,
    }
}

/// Two modules with a mapping between their computations.
struct Comparison<'m> {
    a: &'m Module,
    b: &'m Module,
    computations: HashMap<ComputationId, ComputationId>,
    /// The computations of the first module that have no schedule.
    fused: HashSet<ComputationId>,
    short_a: ShortForms,
    short_b: ShortForms,
}

impl Comparison<'_> {
    /// Pairs the computations by name. A computation that prints in the short form of an asynchronous
    /// operation has no name in the text, so it is paired by the name of its operation. Returns a description
    /// of a computation without counterpart.
    fn pair_computations(&mut self, all: &[ComputationId]) -> Option<String> {
        let named: HashMap<&str, ComputationId> =
            self.b.computations().map(|c| (&*self.b[c].name, c)).collect();
        let is_short = |c: ComputationId| self.short_a.only_operation(c).is_some();
        let mut pairs = HashMap::with_capacity(all.len());
        for &c in all.iter().filter(|&&c| !is_short(c)) {
            let name = &*self.a[c].name;
            match named.get(name) {
                Some(&other) => drop(pairs.insert(c, other)),
                None => return Some(format!("the name of computation `{name}`")),
            }
        }
        // Callers before their callees, because callees precede callers in the list.
        for &c in all.iter().rev() {
            let Some(&other) = pairs.get(&c) else { continue };
            let starts: HashMap<&str, ComputationId> = self.b[other]
                .instructions()
                .iter()
                .filter_map(|&i| Some((&*self.b[i].name, started(self.b, i)?)))
                .collect();
            for &i in self.a[c].instructions() {
                if let Some(callee) = started(self.a, i).filter(|&callee| is_short(callee))
                    && let Some(&other) = starts.get(&*self.a[i].name)
                {
                    pairs.insert(callee, other);
                }
            }
        }
        self.computations = pairs;
        let lost = all.iter().find(|c| !self.computations.contains_key(c))?;
        Some(format!("the asynchronous operation that calls computation `{}`", self.a[*lost].name))
    }

    /// Pairs the instructions of two computations: by name, or without names in an order determined by
    /// operands.
    fn pair_instructions(
        &self,
        a: ComputationId,
        b: ComputationId,
        named: bool,
    ) -> Option<Vec<(InstrId, InstrId)>> {
        let order = self.a.post_order(a);
        if !named || self.a.header.is_scheduled && !self.fused.contains(&a) {
            return Some(order.into_iter().zip(self.b.post_order(b)).collect());
        }
        let names: HashMap<&str, InstrId> =
            self.b[b].instructions().iter().map(|&i| (&*self.b[i].name, i)).collect();
        order.into_iter().map(|i| Some((i, *names.get(&*self.a[i].name)?))).collect()
    }

    fn computations(&self, a: ComputationId, b: ComputationId) -> Option<String> {
        let (ca, cb) = (&self.a[a], &self.b[b]);
        let what = |what: &str| Some(format!("{what} of computation `{}`", ca.name));
        // An operation that prints in the short form of an asynchronous operation has no name in the text.
        let named = self.short_a.only_operation(a).is_none() || self.short_b.only_operation(b).is_none();
        if named && ca.name != cb.name {
            return what(&format!("the name (other: `{}`)", cb.name));
        }
        if named && ca.execution_thread != cb.execution_thread {
            return what("the execution thread");
        }
        if ca.instructions().len() != cb.instructions().len() {
            return what("the number of instructions");
        }
        let Some(list) = self.pair_instructions(a, b, named) else {
            return what("the name of an instruction");
        };
        let pairs: HashMap<InstrId, InstrId> = list.iter().copied().collect();
        if pairs.get(&ca.root()) != Some(&cb.root()) {
            return what("the root");
        }
        list.iter().find_map(|&(x, y)| {
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

/// Compares operations after replacing the computations of `a` by their counterparts. Values of constants are
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
