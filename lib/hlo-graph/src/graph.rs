//! The graph of a computation: boxes, what is between them, and the computations inside of boxes.
//!
//! Scalar constants, and what is broadcast from them, stand in the boxes that use them. Elements of tuples are no boxes:
//! what uses one is connected to where the tuple comes from.

use crate::critical::mark_critical;
use crate::kind::Kind;
use crate::label;
use hlo_ir::print::{PrintOptions, print_instruction};
use hlo_ir::{ComputationId, InstrId, Module, Op};
use std::collections::{HashMap, HashSet, VecDeque};

/// What is to be drawn.
pub struct Request<'a> {
    /// The computation.
    pub computation: ComputationId,
    /// Only the instructions at most so many edges away from one.
    pub around: Option<(InstrId, usize)>,
    /// The most boxes, those inside of others among them.
    pub limit: usize,
    /// How long an instruction takes, for the critical path.
    pub weight: &'a dyn Fn(InstrId) -> f64,
    /// What else is to be said about an instruction where there is space for it.
    pub note: &'a dyn Fn(InstrId) -> String,
}

/// Why there is no graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GraphError {
    /// More boxes than asked for.
    TooLarge {
        /// How many there are.
        boxes: usize,
        /// How many there may be.
        limit: usize,
    },
}

/// A graph: the computation that was asked for, and those inside of its boxes.
#[derive(Clone, Debug)]
pub struct Graph {
    /// The computations, each once: the first is the one that was asked for, and what is inside of a box comes after
    /// what the box is in.
    pub pages: Vec<Page>,
}

/// The graph of one computation.
#[derive(Clone, Debug)]
pub struct Page {
    /// The computation's name.
    pub title: String,
    /// The boxes; operands come before users.
    pub nodes: Vec<Node>,
    /// What is between them.
    pub edges: Vec<Edge>,
}

/// A box: an instruction.
#[derive(Clone, Debug)]
pub struct Node {
    /// The instruction.
    pub instruction: InstrId,
    /// The opcode and what distinguishes it, such as the direction of a comparison.
    pub head: String,
    /// Further lines: the name, important attributes, operands that stand in it.
    pub lines: Vec<String>,
    /// The shape, if no edge says it.
    pub shape: Option<String>,
    /// Its kind.
    pub kind: Kind,
    /// All there is to say: the instruction's text, and the note.
    pub text: String,
    /// The computations inside.
    pub inner: Vec<Inner>,
    /// True for the result.
    pub root: bool,
    /// True if it is on the critical path.
    pub critical: bool,
    /// True if it has operands or users that are left out.
    pub cut: bool,
}

/// A computation inside of a box.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inner {
    /// What it is to the instruction, such as `body`; empty if there is one only.
    pub role: String,
    /// Its place in [`Graph::pages`].
    pub page: usize,
}

/// A value on its way from one box to another, or an order between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The box that it comes from.
    pub from: usize,
    /// The box that it goes to.
    pub to: usize,
    /// The value's shape; before it `#1` for an element of a tuple. Empty for an order.
    pub label: String,
    /// True for an order without a value.
    pub control: bool,
    /// True if it is on the critical path.
    pub critical: bool,
}

impl Graph {
    /// The graph that is asked for.
    pub fn of(module: &Module, request: &Request<'_>) -> Result<Self, GraphError> {
        let mut builder = Builder { module, request, known: HashMap::new() };
        let first = builder.boxes(request.computation, request.around);
        // Callers come before what they call, however often and from where that is called.
        let inside = builder.inside(&first.drawn);
        let mut parts = vec![(request.computation, first)];
        for c in module.computations_post_order().into_iter().rev().filter(|c| inside.contains(c)) {
            builder.known.insert(c, parts.len());
            parts.push((c, builder.boxes(c, None)));
        }
        let boxes = parts.iter().map(|(_, b)| b.drawn.len()).fold(0, usize::saturating_add);
        if boxes > request.limit {
            return Err(GraphError::TooLarge { boxes, limit: request.limit });
        }
        Ok(Self { pages: parts.iter().map(|(c, boxes)| builder.page(*c, boxes)).collect() })
    }

    /// How many levels of computations there are when all boxes are open; 1 if no box has anything inside.
    pub fn depth(&self) -> usize {
        let mut depths = vec![1usize; self.pages.len()];
        for (n, page) in self.pages.iter().enumerate().rev() {
            let inner = page.nodes.iter().flat_map(|node| &node.inner);
            let deepest = inner.filter_map(|i| depths.get(i.page)).max().copied().unwrap_or(0);
            if let Some(depth) = depths.get_mut(n) {
                *depth = deepest + 1;
            }
        }
        depths.first().copied().unwrap_or(0)
    }

    /// The number of boxes that there are when all are open.
    pub fn open_boxes(&self) -> usize {
        let mut counts = vec![0usize; self.pages.len()];
        for (n, page) in self.pages.iter().enumerate().rev() {
            let inner = page.nodes.iter().flat_map(|node| &node.inner);
            let inside: usize = inner.filter_map(|i| counts.get(i.page)).fold(0, |n, c| n.saturating_add(*c));
            if let Some(count) = counts.get_mut(n) {
                *count = page.nodes.len().saturating_add(inside);
            }
        }
        counts.first().copied().unwrap_or(0)
    }
}

struct Builder<'a> {
    module: &'a Module,
    request: &'a Request<'a>,
    /// The pages of the computations inside of boxes.
    known: HashMap<ComputationId, usize>,
}

/// The instructions of a computation that are boxes.
struct Boxes {
    /// All of them.
    shown: HashSet<InstrId>,
    /// Those that are wanted, operands first.
    drawn: Vec<InstrId>,
}

/// Where a value comes from: a box, and the element of its tuple.
#[derive(Clone)]
struct Source {
    node: InstrId,
    element: String,
}

impl Builder<'_> {
    /// The boxes of a computation, or those around one.
    fn boxes(&self, computation: ComputationId, around: Option<(InstrId, usize)>) -> Boxes {
        let order = self.module.post_order(computation);
        let shown = self.shown(computation, &order);
        let wanted = around.map(|(center, depth)| self.neighbourhood(&order, &shown, center, depth));
        let is_drawn = |i: &InstrId| shown.contains(i) && wanted.as_ref().is_none_or(|w| w.contains(i));
        let drawn = order.iter().copied().filter(is_drawn).collect();
        Boxes { shown, drawn }
    }

    /// The computations inside of boxes, and inside of those.
    fn inside(&self, boxes: &[InstrId]) -> HashSet<ComputationId> {
        let callees = |i: InstrId| label::inside(self.module, i).into_iter().map(|(_, c)| c);
        let mut found = HashSet::new();
        let mut work: Vec<ComputationId> = boxes.iter().copied().flat_map(callees).collect();
        while let Some(c) = work.pop() {
            if found.insert(c) {
                work.extend(self.module[c].instructions().iter().copied().flat_map(callees));
            }
        }
        found
    }

    /// Makes the page of a computation.
    fn page(&self, computation: ComputationId, boxes: &Boxes) -> Page {
        let Boxes { shown, drawn } = boxes;
        let position: HashMap<InstrId, usize> = drawn.iter().enumerate().map(|(n, &i)| (i, n)).collect();
        let (edges, cut) = self.edges(drawn, shown, &position);
        let mut page = Page { title: self.module[computation].name.to_string(), nodes: Vec::new(), edges };
        let mut labelled = vec![false; drawn.len()];
        for edge in page.edges.iter().filter(|e| !e.control) {
            labelled[edge.from] = true;
        }
        for (n, &id) in drawn.iter().enumerate() {
            page.nodes.push(Node { cut: cut.contains(&n), ..self.node(id, shown, !labelled[n]) });
        }
        mark_critical(&mut page, self.request.weight);
        page
    }

    /// The instructions that are boxes.
    fn shown(&self, computation: ComputationId, order: &[InstrId]) -> HashSet<InstrId> {
        let m = self.module;
        let root = m.has_root(computation).then(|| m[computation].root());
        let mut shown = HashSet::new();
        let mut scalars = HashSet::new();
        for &i in order {
            let scalar = match &m[i].op {
                Op::Constant(_) => m[i].shape.is_scalar(),
                Op::Broadcast(_) => m[i].operands.iter().all(|o| scalars.contains(o)),
                _ => false,
            };
            if scalar {
                scalars.insert(i);
            }
            let element = matches!(m[i].op, Op::GetTupleElement(_));
            let used = !m.users(i).is_empty();
            if Some(i) == root || !used || !(scalar || element) {
                shown.insert(i);
            }
        }
        shown
    }

    /// Where a value comes from; `None` if it stands in the boxes that use it.
    fn source(&self, mut id: InstrId, shown: &HashSet<InstrId>) -> Option<Source> {
        let mut indices = Vec::new();
        while !shown.contains(&id) {
            let Op::GetTupleElement(a) = &self.module[id].op else { return None };
            indices.push(format!("#{}", a.index));
            id = *self.module[id].operands.first()?;
        }
        indices.reverse();
        Some(Source { node: id, element: indices.concat() })
    }

    /// The boxes that are at most so many edges away.
    fn neighbourhood(
        &self,
        order: &[InstrId],
        shown: &HashSet<InstrId>,
        center: InstrId,
        depth: usize,
    ) -> HashSet<InstrId> {
        let mut near: HashMap<InstrId, Vec<InstrId>> = HashMap::new();
        for &i in order.iter().filter(|i| shown.contains(i)) {
            for o in self.before(i) {
                if let Some(s) = self.source(o, shown) {
                    near.entry(i).or_default().push(s.node);
                    near.entry(s.node).or_default().push(i);
                }
            }
        }
        // What is no box itself stands for the boxes that use it, an element of a tuple for the tuple.
        let mut queue: VecDeque<(InstrId, usize)> = match self.source(center, shown) {
            Some(s) => [(s.node, 0)].into(),
            None => {
                let mut users = self.module.users(center).to_vec();
                let mut found = Vec::new();
                while let Some(u) = users.pop() {
                    if shown.contains(&u) {
                        found.push(u);
                    } else {
                        users.extend(self.module.users(u));
                    }
                }
                found.into_iter().map(|u| (u, 0)).collect()
            }
        };
        let mut seen: HashSet<InstrId> = queue.iter().map(|&(i, _)| i).collect();
        while let Some((i, distance)) = queue.pop_front() {
            if distance == depth {
                continue;
            }
            for &next in near.get(&i).into_iter().flatten() {
                if seen.insert(next) {
                    queue.push_back((next, distance + 1));
                }
            }
        }
        seen
    }

    /// The operands of an instruction and its control predecessors.
    fn before(&self, id: InstrId) -> impl Iterator<Item = InstrId> + '_ {
        let control = self.module[id].control_predecessors();
        self.module[id].operands.iter().chain(control).copied()
    }

    /// What is between the boxes, and the boxes at which something is left out.
    fn edges(
        &self,
        drawn: &[InstrId],
        shown: &HashSet<InstrId>,
        position: &HashMap<InstrId, usize>,
    ) -> (Vec<Edge>, HashSet<usize>) {
        let mut edges: Vec<Edge> = Vec::new();
        let mut cut = HashSet::new();
        for (to, &id) in drawn.iter().enumerate() {
            let operands = self.module[id].operands.len();
            let mut seen = HashSet::new();
            for (n, o) in self.before(id).enumerate() {
                let Some(source) = self.source(o, shown) else { continue };
                let control = n >= operands;
                let Some(&from) = position.get(&source.node) else {
                    cut.insert(to);
                    continue;
                };
                let label = match control {
                    true => String::new(),
                    false if source.element.is_empty() => label::short_shape(&self.module[o].shape),
                    false => format!("{} {}", source.element, label::short_shape(&self.module[o].shape)),
                };
                // A value that is an operand twice is one line.
                if seen.insert((from, label.clone(), control)) {
                    edges.push(Edge { from, to, label, control, critical: false });
                }
            }
        }
        for (n, &id) in drawn.iter().enumerate() {
            let mut users = self.module.users(id).to_vec();
            while let Some(user) = users.pop() {
                if !shown.contains(&user) {
                    users.extend(self.module.users(user));
                } else if !position.contains_key(&user) {
                    cut.insert(n);
                }
            }
        }
        (edges, cut)
    }

    fn node(&self, id: InstrId, shown: &HashSet<InstrId>, with_shape: bool) -> Node {
        let m = self.module;
        let instruction = &m[id];
        let mut lines = vec![label::cut(&instruction.name, label::MAX_LINE)];
        lines.extend(label::contents(m, id));
        lines.extend(label::attributes(m, id));
        for (n, &o) in instruction.operands.iter().enumerate() {
            if !shown.contains(&o)
                && let Some(value) = label::scalar(m, o)
            {
                lines.push(label::cut(&format!("operand {n} = {value}"), label::MAX_LINE));
            }
        }
        let page = |(role, c)| self.known.get(&c).map(|&page| Inner { role, page });
        let inner = label::inside(m, id).into_iter().filter_map(page).collect();
        let options =
            PrintOptions { print_large_constants: false, percent: false, ..PrintOptions::default() };
        let mut text = label::cut(print_instruction(m, id, &options).trim(), label::MAX_TEXT);
        let note = (self.request.note)(id);
        if !note.is_empty() {
            text.push('\n');
            text.push_str(&note);
        }
        Node {
            instruction: id,
            head: label::head(m, id),
            lines,
            shape: with_shape.then(|| label::cut(&format!("{:#}", instruction.shape), label::MAX_LINE)),
            kind: Kind::of(&instruction.op),
            text,
            inner,
            root: m.is_root(id),
            critical: false,
            cut: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Module {
        hlo_parser::parse_module(text).expect("a module")
    }

    fn graph(module: &Module, around: Option<(&str, usize)>, limit: usize) -> Result<Graph, GraphError> {
        let entry = module.entry();
        let named =
            |name: &str| module[entry].instructions().iter().copied().find(|&i| *module[i].name == *name);
        let around = around.map(|(name, depth)| (named(name).expect("an instruction"), depth));
        let weight = |i: InstrId| module[i].shape.byte_size() as f64;
        let note = |_: InstrId| String::new();
        Graph::of(module, &Request { computation: entry, around, limit, weight: &weight, note: &note })
    }

    const MODULE: &str = "HloModule m
        f { a = f32[8] parameter(0) one = f32[] constant(1) ones = f32[8] broadcast(one), dimensions={}
            ROOT s = f32[8] add(a, ones) }
        ENTRY e {
          x = (f32[8], f32[2]) parameter(0)
          big = f32[8] get-tuple-element(x), index=0
          small = f32[2] get-tuple-element(x), index=1
          n = f32[2] negate(small)
          c = f32[8] fusion(big), kind=kLoop, calls=f
          d = f32[8] fusion(c), kind=kLoop, calls=f
          ROOT r = (f32[2], f32[8], f32[8]) tuple(n, d, c)
        }";

    #[test]
    fn elements_and_scalars_are_no_boxes() {
        let module = parse(MODULE);
        let g = graph(&module, None, 100).unwrap();
        let names: Vec<&str> = g.pages[0].nodes.iter().map(|n| n.lines[0].as_str()).collect();
        assert_eq!(names, ["x", "n", "c", "d", "r"]);
        assert!(g.pages[0].edges.iter().any(|e| e.from == 0 && e.to == 1 && e.label == "#1 f32[2]"));
        // One page for the computation that is fused twice.
        assert_eq!((g.pages.len(), g.open_boxes()), (2, 5 + 2 * 2));
        let inside: Vec<&str> = g.pages[1].nodes[1].lines.iter().map(String::as_str).collect();
        assert_eq!(inside, ["s", "operand 1 = 1"]);
        let critical: Vec<&str> =
            g.pages[0].nodes.iter().filter(|n| n.critical).map(|n| n.lines[0].as_str()).collect();
        assert_eq!(critical, ["x", "c", "d", "r"]);
        let shapes: Vec<bool> = g.pages[0].nodes.iter().map(|n| n.shape.is_some()).collect();
        assert_eq!(shapes, [false, false, false, false, true]);
    }

    #[test]
    fn a_neighbourhood_says_where_it_is_cut() {
        let module = parse(MODULE);
        let g = graph(&module, Some(("d", 1)), 100).unwrap();
        let nodes: Vec<(&str, bool)> =
            g.pages[0].nodes.iter().map(|n| (n.lines[0].as_str(), n.cut)).collect();
        assert_eq!(nodes, [("c", true), ("d", false), ("r", true)]);
        let g = graph(&module, Some(("small", 0)), 100).unwrap();
        assert_eq!(g.pages[0].nodes.len(), 1);
    }

    #[test]
    fn boxes_are_counted_whatever_the_order_of_calls() {
        // Each computation calls the one before it twice, and the entry calls all, the innermost first.
        let mut text = String::from("HloModule m\ng0 { p = f32[] parameter(0) ROOT n = f32[] negate(p) }\n");
        let mut entry = String::from("ENTRY e { c0 = f32[] parameter(0)\n");
        for n in 1..=30 {
            let m = n - 1;
            text += &format!(
                "g{n} {{ p = f32[] parameter(0) a = f32[] call(p), to_apply=g{m} ROOT b = f32[] call(a), to_apply=g{m} }}\n"
            );
            let root = if n == 30 { "ROOT " } else { "" };
            entry += &format!("{root}c{n} = f32[] call(c{m}), to_apply=g{m}\n");
        }
        let g = graph(&parse(&(text + &entry + "}")), None, 1000).unwrap();
        // Opened, number n has b(n) = 3 + 2 b(n - 1) boxes, and b(0) = 2: that is 5 · 2ⁿ - 3.
        let inside: usize = (0..30).map(|n| 5 * (1 << n) - 3).sum();
        assert_eq!((g.pages[0].nodes.len(), g.open_boxes(), g.depth()), (31, 31 + inside, 31));
        let later = |(n, p): (usize, &Page)| p.nodes.iter().flat_map(|b| &b.inner).all(|i| i.page > n);
        assert!(g.pages.iter().enumerate().all(later));
    }

    #[test]
    fn there_is_a_limit() {
        let module = parse(MODULE);
        assert_eq!(graph(&module, None, 4).err(), Some(GraphError::TooLarge { boxes: 7, limit: 4 }));
        assert!(graph(&module, None, 7).is_ok());
        assert!(graph(&module, None, 6).is_err());
    }
}
