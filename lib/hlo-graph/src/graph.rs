//! The graph of a computation: boxes, edges, and the computations inside boxes.
//!
//! Scalar constants and broadcasts of them are shown in the boxes that use them. Elements of tuples have no
//! boxes; their users are connected to the source of the tuple. If there are too many boxes, groups of
//! instructions become boxes, each with its own graph inside.

use crate::critical::mark_critical;
use crate::group::{Group, groups};
use crate::kind::Kind;
use crate::label;
use crate::page::{Edge, Inner, Node, Page};
use hlo_ir::{ComputationId, InstrId, Module, Op, SourceFrames};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::rc::Rc;

/// The maximum number of groups on a page. It is smaller than the usual box limit, because users look at the
/// groups first.
const MAX_GROUPS: usize = 60;

/// A request for a graph.
pub struct Request<'a> {
    /// The computation to draw.
    pub computation: ComputationId,
    /// The instruction and the distance: draw only instructions that are at most this number of edges away.
    pub around: Option<(InstrId, usize)>,
    /// The maximum number of boxes on a page (at least two). If there are more, they are grouped.
    pub limit: usize,
    /// Returns the time that an instruction takes, for the critical path.
    pub weight: &'a dyn Fn(InstrId) -> f64,
    /// Returns additional text about an instruction.
    pub note: &'a dyn Fn(InstrId) -> String,
}

/// A graph: the requested computation, and the computations inside its boxes.
#[derive(Clone, Debug)]
pub struct Graph {
    /// The pages, one for each computation or group. The first is the requested computation. The contents of
    /// a box come after the page of the box.
    pub pages: Vec<Page>,
}

impl Graph {
    /// Builds the requested graph.
    pub fn of(module: &Module, request: &Request<'_>) -> Self {
        let mut builder = Builder { module, request, known: HashMap::new() };
        let first = builder.boxes(request.computation, request.around);
        // Callers come before their callees, regardless of the number and the order of the calls.
        let inside = builder.inside(first.instructions());
        let mut parts = builder.divided(first);
        for c in module.computations_post_order().into_iter().rev().filter(|c| inside.contains(c)) {
            builder.known.insert(c, parts.len());
            let mut pages = builder.divided(builder.boxes(c, None));
            let offset = parts.len();
            pages.iter_mut().flat_map(|p| &mut p.groups).for_each(|(_, page)| *page += offset);
            parts.append(&mut pages);
        }
        Self { pages: parts.iter().map(|part| builder.page(part)).collect() }
    }

    /// Returns the number of levels of computations when all boxes are open; 1 if no box contains a
    /// computation.
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

    /// Returns the number of boxes when all boxes are open.
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
    /// The pages of the computations inside boxes.
    known: HashMap<ComputationId, usize>,
}

/// The contents of a page.
struct Boxes {
    computation: ComputationId,
    /// The name of the group of instructions; empty if the page shows the whole computation.
    title: String,
    /// The instructions of the computation that have boxes, on this page or others.
    shown: Rc<HashSet<InstrId>>,
    /// The boxes, operands first.
    drawn: Vec<Group>,
    /// The indices of the boxes that are groups, with the indices of their pages.
    groups: Vec<(usize, usize)>,
}

impl Boxes {
    /// Returns the instructions in the boxes.
    fn instructions(&self) -> impl Iterator<Item = InstrId> + '_ {
        self.drawn.iter().flat_map(|g| g.members.iter().copied())
    }

    /// Returns the box of each instruction.
    fn position(&self) -> HashMap<InstrId, usize> {
        let of = |(n, g): (usize, &Group)| g.members.iter().map(move |&i| (i, n)).collect::<Vec<_>>();
        self.drawn.iter().enumerate().flat_map(of).collect()
    }
}

/// The source of a value: a box, and the index of the tuple element.
#[derive(Clone)]
struct Source {
    node: InstrId,
    element: String,
}

impl Builder<'_> {
    /// Returns the boxes of a computation, or those around one instruction.
    fn boxes(&self, computation: ComputationId, around: Option<(InstrId, usize)>) -> Boxes {
        let order = self.module.post_order(computation);
        let shown = self.shown(computation, &order);
        let wanted = around.map(|(center, depth)| self.neighborhood(&order, &shown, center, depth));
        let is_drawn = |i: &InstrId| shown.contains(i) && wanted.as_ref().is_none_or(|w| w.contains(i));
        let drawn =
            order.into_iter().filter(is_drawn).map(|i| Group { members: vec![i], name: String::new() });
        let drawn = drawn.collect();
        Boxes { computation, title: String::new(), shown: Rc::new(shown), drawn, groups: Vec::new() }
    }

    /// Returns the pages for the boxes. If there are too many boxes, these are a page of groups, followed by
    /// the pages of the groups.
    fn divided(&self, boxes: Boxes) -> Vec<Boxes> {
        let mut pages = vec![boxes];
        let mut at = 0;
        while let Some(page) = pages.get_mut(at) {
            if page.drawn.len() > self.request.limit.max(2) {
                let single: Vec<InstrId> = page.instructions().collect();
                let (edges, _) = self.edges(page, &page.position());
                let edges: Vec<(usize, usize)> = edges.iter().map(|e| (e.from, e.to)).collect();
                page.drawn = groups(self.module, &single, &edges, self.request.limit.min(MAX_GROUPS));
                let (computation, shown) = (page.computation, Rc::clone(&page.shown));
                let mut inside = Vec::new();
                let mut places = Vec::new();
                for (n, group) in page.drawn.iter().enumerate().filter(|(_, g)| g.members.len() > 1) {
                    places.push(n);
                    let drawn =
                        group.members.iter().map(|&i| Group { members: vec![i], name: String::new() });
                    inside.push(Boxes {
                        computation,
                        title: group.name.clone(),
                        shown: Rc::clone(&shown),
                        drawn: drawn.collect(),
                        groups: Vec::new(),
                    });
                }
                let first = pages.len();
                if let Some(page) = pages.get_mut(at) {
                    page.groups = places.into_iter().enumerate().map(|(k, n)| (n, first + k)).collect();
                }
                pages.append(&mut inside);
            }
            at += 1;
        }
        pages
    }

    /// Returns the computations inside boxes, and those inside their boxes.
    fn inside(&self, boxes: impl Iterator<Item = InstrId>) -> HashSet<ComputationId> {
        let callees = |i: InstrId| label::inside(self.module, i).into_iter().map(|(_, c)| c);
        let mut found = HashSet::new();
        let mut work: Vec<ComputationId> = boxes.flat_map(callees).collect();
        while let Some(c) = work.pop() {
            if found.insert(c) {
                work.extend(self.module[c].instructions().iter().copied().flat_map(callees));
            }
        }
        found
    }

    /// Builds a page.
    fn page(&self, boxes: &Boxes) -> Page {
        let (edges, cut) = self.edges(boxes, &boxes.position());
        let name = &self.module[boxes.computation].name;
        let title =
            if boxes.title.is_empty() { name.to_string() } else { format!("{name}: {}", boxes.title) };
        let mut page = Page { title, nodes: Vec::new(), edges };
        let mut labeled = vec![false; boxes.drawn.len()];
        for edge in page.edges.iter().filter(|e| !e.control) {
            labeled[edge.from] = true;
        }
        let inside: HashMap<usize, usize> = boxes.groups.iter().copied().collect();
        for (n, group) in boxes.drawn.iter().enumerate() {
            let node = match (&group.members[..], inside.get(&n)) {
                (&[id], _) => self.node(id, &boxes.shown, !labeled[n]),
                (_, page) => self.group(group, page.copied()),
            };
            page.nodes.push(Node { cut: cut.contains(&n), ..node });
        }
        mark_critical(&mut page, self.request.weight);
        page
    }

    /// Returns the instructions that have boxes.
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

    /// Returns the source of a value, or `None` if the boxes that use it show the value.
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

    /// Returns the boxes that are at most `depth` edges away from `center`.
    fn neighborhood(
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
        // An instruction without a box is replaced by the boxes that use it; an element of a tuple is
        // replaced by the tuple.
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

    /// Returns the operands and the control predecessors of an instruction.
    fn before(&self, id: InstrId) -> impl Iterator<Item = InstrId> + '_ {
        let control = self.module[id].control_predecessors();
        self.module[id].operands.iter().chain(control).copied()
    }

    /// Returns the edges between the boxes, and the boxes with operands or users that are not drawn.
    fn edges(&self, boxes: &Boxes, position: &HashMap<InstrId, usize>) -> (Vec<Edge>, HashSet<usize>) {
        let shown = &*boxes.shown;
        let mut edges: Vec<Edge> = Vec::new();
        let mut cut = HashSet::new();
        for (to, group) in boxes.drawn.iter().enumerate() {
            let mut seen = HashSet::new();
            // The values from groups or to this group, by their source box. Each source gets one edge.
            let mut values: BTreeMap<(usize, bool), BTreeSet<(InstrId, String)>> = BTreeMap::new();
            for (o, control) in group.members.iter().flat_map(|&id| self.inputs(id)) {
                let Some(source) = self.source(o, shown) else { continue };
                let Some(&from) = position.get(&source.node) else {
                    cut.insert(to);
                    continue;
                };
                if from == to {
                    continue;
                }
                let label = if control {
                    String::new()
                } else if source.element.is_empty() {
                    label::short_shape(&self.module[o].shape)
                } else {
                    format!("{} {}", source.element, label::short_shape(&self.module[o].shape))
                };
                if group.members.len() > 1 || boxes.drawn[from].members.len() > 1 {
                    values.entry((from, control)).or_default().insert((source.node, label));
                } else if seen.insert((from, label.clone(), control)) {
                    // A value that is used as two operands is one edge.
                    edges.push(Edge { from, to, label, control, critical: false });
                }
            }
            for ((from, control), values) in values {
                let label = match values.first() {
                    Some((_, label)) if values.len() == 1 => label.clone(),
                    _ if control => String::new(),
                    _ => format!("{} values", values.len()),
                };
                edges.push(Edge { from, to, label, control, critical: false });
            }
        }
        for (n, group) in boxes.drawn.iter().enumerate() {
            let mut users: Vec<InstrId> =
                group.members.iter().flat_map(|&id| self.module.users(id)).copied().collect();
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

    /// Returns the operands and the control predecessors of an instruction, each with whether it is a control
    /// predecessor.
    fn inputs(&self, id: InstrId) -> impl Iterator<Item = (InstrId, bool)> + '_ {
        let operands = self.module[id].operands.len();
        self.before(id).enumerate().map(move |(n, o)| (o, n >= operands))
    }

    /// Builds the box of a group.
    fn group(&self, group: &Group, page: Option<usize>) -> Node {
        let m = self.module;
        let weight = self.request.weight;
        let mut opcodes: BTreeMap<&str, usize> = BTreeMap::new();
        for &i in &group.members {
            *opcodes.entry(m[i].opcode().name()).or_default() += 1;
        }
        let mut opcodes: Vec<(&str, usize)> = opcodes.into_iter().collect();
        opcodes.sort_by_key(|&(name, count)| (Reverse(count), name));
        let all: Vec<String> = opcodes.iter().map(|(name, count)| format!("{count} {name}")).collect();
        let (scope, last) = group.name.rsplit_once('/').unwrap_or(("", &group.name));
        let count = format!("{} instructions", group.members.len());
        let mut lines = Vec::new();
        if !scope.is_empty() {
            lines.push(label::cut_front(scope, label::MAX_LINE_LENGTH));
        }
        if last != count {
            lines.push(count);
        }
        lines.extend(all.chunks(3).take(2).map(|some| label::cut(&some.join(", "), label::MAX_LINE_LENGTH)));
        // The instruction that takes the longest time describes the group best.
        let longest = group.members.iter().copied().max_by(|&a, &b| weight(a).total_cmp(&weight(b)));
        let mut text = format!("{}\n{}", group.name, all.join(", "));
        if let Some(id) = longest {
            text.push_str(&format!("\nlongest: {}", label::instruction(m, id)));
        }
        Node {
            instructions: group.members.clone(),
            head: label::cut(last, label::MAX_LINE_LENGTH),
            lines,
            shape: None,
            kind: Kind::Group,
            text,
            inner: page.map(|page| Inner { role: String::new(), page }).into_iter().collect(),
            root: group.members.iter().any(|&i| m.is_root(i)),
            critical: false,
            cut: false,
        }
    }

    fn node(&self, id: InstrId, shown: &HashSet<InstrId>, with_shape: bool) -> Node {
        let m = self.module;
        let instruction = &m[id];
        let mut lines = vec![label::cut(&instruction.name, label::MAX_LINE_LENGTH)];
        lines.extend(label::contents(m, id));
        lines.extend(label::attributes(m, id));
        for (n, &o) in instruction.operands.iter().enumerate() {
            if !shown.contains(&o)
                && let Some(value) = label::scalar(m, o)
            {
                lines.push(label::cut(&format!("operand {n} = {value}"), label::MAX_LINE_LENGTH));
            }
        }
        let page = |(role, c)| self.known.get(&c).map(|&page| Inner { role, page });
        let inner = label::inside(m, id).into_iter().filter_map(page).collect();
        let mut text = label::instruction(m, id);
        if let Some(trace) = SourceFrames::of(m).line(id) {
            text.push_str("\nfrom ");
            text.push_str(&trace);
        }
        let note = (self.request.note)(id);
        if !note.is_empty() {
            text.push('\n');
            text.push_str(&note);
        }
        Node {
            instructions: vec![id],
            head: label::head(m, id),
            lines,
            shape: with_shape
                .then(|| label::cut(&format!("{:#}", instruction.shape), label::MAX_LINE_LENGTH)),
            kind: Kind::of(&instruction.op),
            text,
            inner,
            root: m.is_root(id),
            critical: false,
            cut: false,
        }
    }
}
