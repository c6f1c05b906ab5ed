//! Compares matched instructions.

use crate::moved::out_of_order;
use crate::{ComputationDiff, Ignore, InstructionDiff, Matching, ModuleDiff};
use hlo_ir::attr::{Attrs, ComputationNames, Header, HloString};
use hlo_ir::{CommonAttrs, CommonField, ComputationId, InstrId, Module, Op, Shape, SourceFrames};
use std::collections::{HashMap, HashSet};
use std::fmt;

/// A difference between the two sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The names differ.
    Name {
        /// The name on the left side.
        left: String,
        /// The name on the right side.
        right: String,
    },
    /// The opcodes differ.
    Opcode {
        /// The opcode on the left side.
        left: &'static str,
        /// The opcode on the right side.
        right: &'static str,
    },
    /// The element types or sizes differ.
    Shape {
        /// The shape on the left side.
        left: Shape,
        /// The shape on the right side.
        right: Shape,
    },
    /// Only the layouts differ.
    Layout {
        /// The shape on the left side.
        left: Shape,
        /// The shape on the right side.
        right: Shape,
    },
    /// An operand differs.
    Operand {
        /// The index of the operand.
        index: usize,
        /// The name of the operand on the left side, or `None` if there are fewer operands.
        left: Option<String>,
        /// The name of the operand on the right side, or `None` if there are fewer operands.
        right: Option<String>,
    },
    /// An attribute differs. Values are in the spelling of HLO text, and empty if the attribute is absent.
    Attribute {
        /// The name before the `=`.
        name: &'static str,
        /// The value on the left side.
        left: String,
        /// The value on the right side.
        right: String,
    },
    /// The values of constants differ.
    Value,
    /// The instruction is the root on only one side.
    Root {
        /// The side on which it is the root.
        side: Side,
    },
    /// The positions in the schedule differ.
    Moved,
}

/// One of the two modules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The first module.
    Left,
    /// The second module.
    Right,
}

/// Compares matched computations and instructions, and lists unmatched ones.
pub fn compare(left: &Module, right: &Module, matching: &Matching, ignore: Ignore) -> ModuleDiff {
    let frames = (SourceFrames::of(left), SourceFrames::of(right));
    let comparison = Comparison { left, right, matching, ignore, frames };
    let mut computations = Vec::new();
    let mut pending = left.computations_post_order().into_iter().rev();
    let mut passed: HashSet<ComputationId> = HashSet::new();
    for b in right.computations_post_order().into_iter().rev() {
        let a = matching.computation_left_of(b);
        // Computations of only the left side keep their position in the order.
        if let Some(a) = a.filter(|a| !passed.contains(a)) {
            for c in pending.by_ref().take_while(|&c| c != a) {
                passed.insert(c);
                if matching.computation_right_of(c).is_none() {
                    computations.push(comparison.one_sided(Some(c), None));
                }
            }
            passed.insert(a);
        }
        computations.push(match a {
            Some(a) => comparison.computations(a, b),
            None => comparison.one_sided(None, Some(b)),
        });
    }
    let gone = pending.filter(|&c| matching.computation_right_of(c).is_none());
    computations.extend(gone.map(|c| comparison.one_sided(Some(c), None)));
    ModuleDiff { header: comparison.header(), computations }
}

struct Comparison<'m> {
    left: &'m Module,
    right: &'m Module,
    /// The source locations of the instructions.
    frames: (SourceFrames<'m>, SourceFrames<'m>),
    matching: &'m Matching,
    ignore: Ignore,
}

impl Comparison<'_> {
    fn header(&self) -> Vec<Change> {
        let mut out = Vec::new();
        if !self.ignore.names && self.left.name != self.right.name {
            out.push(name_change(&self.left.name, &self.right.name));
        }
        if !self.ignore.header {
            let full = |m: &Module| Header {
                entry_computation_layout: m.entry_layout().map(|l| l.into_owned()),
                ..m.header.clone()
            };
            let changes = self.attributes(Some(&full(self.left)), Some(&full(self.right)));
            // Layouts and shapes are also compared at the parameters and the root.
            let seen = self.ignore.shape || self.ignore.layout;
            out.extend(changes.into_iter().filter(|c| {
                !seen || !matches!(c, Change::Attribute { name: "entry_computation_layout", .. })
            }));
        }
        out
    }

    /// Returns the difference for a computation of only one side.
    fn one_sided(&self, left: Option<ComputationId>, right: Option<ComputationId>) -> ComputationDiff {
        let of = |m: &Module, c: Option<ComputationId>| c.map_or_else(Vec::new, |c| m.post_order(c));
        let gone = of(self.left, left).into_iter().map(|i| (Some(i), None));
        let new = of(self.right, right).into_iter().map(|i| (None, Some(i)));
        let instructions = gone
            .chain(new)
            .map(|(left, right)| InstructionDiff { left, right, changes: Vec::new() })
            .collect();
        ComputationDiff { left, right, changes: Vec::new(), instructions }
    }

    fn computations(&self, a: ComputationId, b: ComputationId) -> ComputationDiff {
        let (x, y) = (&self.left[a], &self.right[b]);
        let mut changes = Vec::new();
        if !self.ignore.names && x.name != y.name {
            changes.push(name_change(&x.name, &y.name));
        }
        if x.execution_thread != y.execution_thread {
            let text = |t: &Option<HloString>| t.as_ref().map_or(String::new(), |t| t.to_string());
            let (left, right) = (text(&x.execution_thread), text(&y.execution_thread));
            changes.push(Change::Attribute { name: "execution_thread", left, right });
        }
        let (left, right) = (self.left.post_order(a), self.right.post_order(b));
        let moved = self.moved(&left, &right);
        let mut instructions = Vec::with_capacity(right.len());
        let places: HashMap<InstrId, usize> = left.iter().enumerate().map(|(n, &x)| (x, n)).collect();
        let mut at = 0;
        for &y in &right {
            let x = self.matching.left_of(y);
            // Removed instructions come before the instruction that followed them.
            if let Some(&place) = x.and_then(|x| places.get(&x)).filter(|&&place| place >= at) {
                instructions.extend(self.removed_instructions(left.get(at..place).unwrap_or_default()));
                at = place + 1;
            }
            let changes = match x {
                Some(x) => {
                    let mut changes = self.instructions(x, y);
                    changes.extend(moved.contains(&y).then_some(Change::Moved));
                    changes
                }
                None => Vec::new(),
            };
            instructions.push(InstructionDiff { left: x, right: Some(y), changes });
        }
        instructions.extend(self.removed_instructions(left.get(at..).unwrap_or_default()));
        ComputationDiff { left: Some(a), right: Some(b), changes, instructions }
    }

    /// Returns the instructions of the left side that have no counterpart.
    fn removed_instructions(&self, ids: &[InstrId]) -> Vec<InstructionDiff> {
        let gone = ids.iter().copied().filter(|&x| self.matching.right_of(x).is_none());
        gone.map(|x| InstructionDiff { left: Some(x), right: None, changes: Vec::new() }).collect()
    }

    /// Returns the instructions of the right side whose position in the schedule differs, if both modules are
    /// scheduled.
    fn moved(&self, left: &[InstrId], right: &[InstrId]) -> HashSet<InstrId> {
        if !(self.left.header.is_scheduled && self.right.header.is_scheduled) {
            return HashSet::new();
        }
        let places: HashMap<InstrId, usize> = left.iter().enumerate().map(|(n, &x)| (x, n)).collect();
        let matched: Vec<(InstrId, usize)> =
            right.iter().filter_map(|&y| Some((y, *places.get(&self.matching.left_of(y)?)?))).collect();
        let positions: Vec<usize> = matched.iter().map(|&(_, p)| p).collect();
        let moved = out_of_order(&positions);
        matched.into_iter().zip(moved).filter(|(_, m)| *m).map(|((y, _), _)| y).collect()
    }

    fn instructions(&self, x: InstrId, y: InstrId) -> Vec<Change> {
        let (a, b) = (&self.left[x], &self.right[y]);
        let mut out = Vec::new();
        if !self.ignore.names && a.name != b.name {
            out.push(name_change(&a.name, &b.name));
        }
        if a.opcode() != b.opcode() {
            out.push(Change::Opcode { left: a.op.name(), right: b.op.name() });
        }
        if !a.shape.compatible(&b.shape) {
            if !self.ignore.shape {
                out.push(Change::Shape { left: a.shape.clone(), right: b.shape.clone() });
            }
        } else if a.shape != b.shape && !self.ignore.layout {
            out.push(Change::Layout { left: a.shape.clone(), right: b.shape.clone() });
        }
        for n in 0..a.operands.len().max(b.operands.len()) {
            let (p, q) = (a.operands.get(n).copied(), b.operands.get(n).copied());
            if p.and_then(|p| self.matching.right_of(p)) != q || p.is_none() != q.is_none() {
                out.push(Change::Operand {
                    index: n,
                    left: p.map(|p| self.left[p].name.to_string()),
                    right: q.map(|q| self.right[q].name.to_string()),
                });
            }
        }
        match (self.left.is_root(x), self.right.is_root(y)) {
            (true, false) => out.push(Change::Root { side: Side::Left }),
            (false, true) => out.push(Change::Root { side: Side::Right }),
            _ => {}
        }
        match (&a.op, &b.op) {
            (Op::Constant(p), Op::Constant(q)) => {
                let bytes = |l: &hlo_ir::Literal| -> Vec<Vec<u8>> {
                    let arrays = l.leaves().into_iter().filter(|l| l.shape().as_array().is_some());
                    arrays.map(|l| l.bytes().to_vec()).collect()
                };
                if p.elided != q.elided || bytes(&p.literal) != bytes(&q.literal) {
                    out.push(Change::Value);
                }
            }
            (Op::Parameter(p), Op::Parameter(q)) if p.number != q.number => out.push(Change::Attribute {
                name: "number",
                left: p.number.to_string(),
                right: q.number.to_string(),
            }),
            // If the opcodes differ, the attributes differ too.
            (p, q) if p.opcode() == q.opcode() => out.extend(self.attributes(p.attrs(), q.attrs())),
            _ => {}
        }
        out.extend(self.common(a.common.as_deref(), b.common.as_deref()));
        out
    }

    /// Returns the attributes that differ. Called computations are equal if they are matched.
    fn attributes(&self, a: Option<&dyn Attrs>, b: Option<&dyn Attrs>) -> Vec<Change> {
        let (Some(a), Some(b)) = (a, b) else { return Vec::new() };
        let (of_left, of_right) = (Names { module: self.left }, Names { module: self.right });
        let mut out = Vec::new();
        for (n, field) in a.fields().iter().enumerate() {
            let text = |attrs: &dyn Attrs, names: &dyn ComputationNames| {
                let mut text = String::new();
                if !attrs.is_default(n) {
                    // Writing to a string does not fail.
                    let _ = attrs.write_field(n, &mut text, names);
                }
                text
            };
            let partners = Partners { left: self.left, right: self.right, matching: self.matching };
            if text(a, &partners) != text(b, &of_right) {
                let (left, right) = (text(a, &of_left), text(b, &of_right));
                out.push(Change::Attribute { name: field.name, left, right });
            }
        }
        out
    }

    fn same_metadata(&self, a: &CommonAttrs, b: &CommonAttrs) -> bool {
        let (mut p, mut q) = (a.metadata.clone(), b.metadata.clone());
        (p.stack_frame_id, q.stack_frame_id) = (0, 0);
        p == q && self.frames.0.trace_of(&a.metadata) == self.frames.1.trace_of(&b.metadata)
    }

    fn common(&self, a: Option<&CommonAttrs>, b: Option<&CommonAttrs>) -> Vec<Change> {
        let none = CommonAttrs::default();
        let (a, b) = (a.unwrap_or(&none), b.unwrap_or(&none));
        let mut out = Vec::new();
        for &field in CommonField::ALL {
            let ignored = match field {
                CommonField::Metadata | CommonField::Origin | CommonField::Statistics => self.ignore.metadata,
                CommonField::BackendConfig => self.ignore.backend_config,
                CommonField::Sharding => self.ignore.sharding,
                CommonField::FrontendAttributes => self.ignore.frontend_attributes,
                CommonField::ParameterReplication
                | CommonField::ControlPredecessors
                | CommonField::ResultAccuracy => false,
            };
            if ignored {
                continue;
            }
            // The numbers of frames depend on the order of first use, so they are not compared.
            if field == CommonField::Metadata && self.same_metadata(a, b) {
                continue;
            }
            let (left, right) = if field == CommonField::ControlPredecessors {
                let mapped: Vec<Option<InstrId>> =
                    a.control_predecessors.iter().map(|&p| self.matching.right_of(p)).collect();
                let right: Vec<Option<InstrId>> = b.control_predecessors.iter().copied().map(Some).collect();
                if mapped == right {
                    continue;
                }
                let list = |m: &Module, ids: &[InstrId]| {
                    let names: Vec<&str> = ids.iter().map(|&i| &*m[i].name).collect();
                    format!("{{{}}}", names.join(", "))
                };
                (list(self.left, &a.control_predecessors), list(self.right, &b.control_predecessors))
            } else {
                let text = |c: &CommonAttrs, module, frames: &SourceFrames<'_>| {
                    let mut text = String::new();
                    if !c.is_default(field) {
                        // Writing to a string does not fail.
                        let _ = c.write_field(field, &mut text, &Names { module });
                    }
                    // The number of a frame is meaningless to a reader.
                    if field == CommonField::Metadata && c.metadata.stack_frame_id != 0 {
                        text.extend(frames.line_of(&c.metadata).map(|trace| format!(" ({trace})")));
                    }
                    text
                };
                (text(a, self.left, &self.frames.0), text(b, self.right, &self.frames.1))
            };
            if left != right {
                out.push(Change::Attribute { name: field.name(), left, right });
            }
        }
        out
    }
}

fn name_change(left: &str, right: &str) -> Change {
    Change::Name { left: left.to_string(), right: right.to_string() }
}

/// Writes computations by their names.
struct Names<'m> {
    module: &'m Module,
}

impl ComputationNames for Names<'_> {
    fn write_computation(&self, f: &mut dyn fmt::Write, id: ComputationId) -> fmt::Result {
        if !self.module.is_live_computation(id) {
            return Ok(());
        }
        write!(f, "%{}", self.module[id].name)
    }
}

/// Writes computations of the left side by the names of their counterparts.
struct Partners<'m> {
    left: &'m Module,
    right: &'m Module,
    matching: &'m Matching,
}

impl ComputationNames for Partners<'_> {
    fn write_computation(&self, f: &mut dyn fmt::Write, id: ComputationId) -> fmt::Result {
        match self.matching.computation_right_of(id) {
            Some(other) => write!(f, "%{}", self.right[other].name),
            // No computation has such a name.
            None if self.left.is_live_computation(id) => write!(f, "(left) %{}", self.left[id].name),
            None => Ok(()),
        }
    }
}
