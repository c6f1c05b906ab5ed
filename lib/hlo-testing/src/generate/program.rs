//! A module in the generator, with enough structure to write it in several ways and to shrink it.

use super::types::Type;
use crate::Numbers;
use hlo_ir::Opcode;
use std::fmt::Write;

/// The number of replicas, and of partitions of each replica.
pub(super) const DEVICES: i64 = 4;

/// An instruction.
#[derive(Clone, Debug)]
pub struct Line {
    /// The name.
    pub name: String,
    /// The type of the result.
    pub ty: Type,
    /// The opcode.
    pub opcode: Opcode,
    /// The text of the opcode if it differs from its name: asynchronous operations in their short form.
    pub spelling: Option<String>,
    /// The text in the parentheses of a parameter or constant.
    pub payload: String,
    /// The operands, as indices of previous lines.
    pub operands: Vec<usize>,
    /// The attributes, in the order in which they are written.
    pub attributes: Vec<(String, String)>,
    /// The control predecessors, as indices of previous lines.
    pub control: Vec<usize>,
    /// The random seed of its layout; 0 for the default layout.
    pub layout: u64,
}

/// A computation.
#[derive(Clone, Debug, Default)]
pub struct Computation {
    /// The name.
    pub name: String,
    /// The instructions, operands first.
    pub lines: Vec<Line>,
    /// The index of the root's line.
    pub root: usize,
    /// The `execution_thread`, if any.
    pub thread: Option<String>,
}

/// A module.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The module's name.
    pub name: String,
    /// Header attributes.
    pub header: Vec<(String, String)>,
    /// The stack-frame tables, as text.
    pub tables: String,
    /// The computations, callees first, the entry last.
    pub computations: Vec<Computation>,
}

/// The style in which a program is written.
#[derive(Clone, Copy, Debug, Default)]
pub struct Style {
    /// Whether shapes have random layouts.
    pub layouts: bool,
    /// Whether shapes have random orders of dimensions, except those of the entry's parameters. Programs for
    /// execution support no other layout properties.
    pub orders: bool,
    /// Whether to omit shapes that can be inferred from the operands.
    pub omit_shapes: bool,
    /// Whether names have the prefix `%`.
    pub percent: bool,
    /// Whether operands have shapes.
    pub operand_shapes: bool,
}

impl Program {
    /// Returns the module's text.
    pub fn text(&self, style: Style) -> String {
        let mut out = format!("HloModule {}", self.name);
        for (name, value) in &self.header {
            let _ = write!(out, ", {name}={value}");
        }
        out.push_str("\n\n");
        out.push_str(&self.tables);
        for (i, computation) in self.computations.iter().enumerate() {
            if i + 1 == self.computations.len() {
                out.push_str("ENTRY ");
            }
            computation.write(&mut out, style, i + 1 == self.computations.len());
        }
        out
    }

    /// Returns the number of instructions.
    pub fn size(&self) -> usize {
        self.computations.iter().map(|c| c.lines.len()).sum()
    }

    /// Returns the smallest program that still `fails` after removing unused instructions, parts of roots,
    /// attributes, header attributes and computations.
    pub fn shrink(&self, fails: impl Fn(&Program) -> bool) -> Program {
        let mut best = self.clone();
        loop {
            let found = best.smaller().find(&fails);
            match found {
                Some(smaller) => best = smaller,
                None => return best,
            }
        }
    }

    /// Returns programs with one item removed, the largest reductions first.
    fn smaller(&self) -> impl Iterator<Item = Program> + '_ {
        let halves = (0..self.computations.len()).rev().flat_map(move |c| self.with_earlier_root(c));
        let lines = (0..self.computations.len()).flat_map(move |c| {
            (0..self.computations[c].lines.len()).rev().filter_map(move |l| self.without_line(c, l))
        });
        let computations =
            (0..self.computations.len().saturating_sub(1)).filter_map(|c| self.without_computation(c));
        let header = (0..self.header.len()).map(|h| {
            let mut p = self.clone();
            p.header.remove(h);
            p
        });
        let tables = (!self.tables.is_empty()).then(|| Program { tables: String::new(), ..self.clone() });
        let attributes = (0..self.computations.len()).flat_map(move |c| {
            (0..self.computations[c].lines.len()).flat_map(move |l| {
                let attributes = &self.computations[c].lines[l].attributes;
                // Without these, the order of NaNs or of equal elements may be undefined.
                let orders = move |a: &usize| matches!(attributes[*a].0.as_str(), "type" | "is_stable");
                (0..attributes.len()).filter(move |a| !orders(a)).map(move |a| {
                    let mut p = self.clone();
                    p.computations[c].lines[l].attributes.remove(a);
                    p
                })
            })
        });
        halves.chain(computations).chain(lines).chain(header).chain(tables).chain(attributes)
    }

    /// Moves the root of the entry to other lines, so that instructions only the old root needed can be
    /// removed.
    fn with_earlier_root(&self, c: usize) -> Vec<Program> {
        if c + 1 != self.computations.len() {
            return Vec::new();
        }
        let root = self.computations[c].root;
        let other = |r: usize| {
            let mut p = self.clone();
            p.computations[c].root = r;
            p.header.retain(|(name, _)| {
                !matches!(name.as_str(), "entry_computation_layout" | "input_output_alias")
            });
            p
        };
        (0..root).map(other).collect()
    }

    fn without_line(&self, c: usize, l: usize) -> Option<Program> {
        let body = &self.computations[c];
        let last_computation = c + 1 == self.computations.len();
        let used = body.lines.iter().any(|x| x.operands.contains(&l));
        if used || body.root == l || (body.lines[l].opcode == Opcode::Parameter && !last_computation) {
            return None;
        }
        let mut p = self.clone();
        let body = &mut p.computations[c];
        let removed = body.lines.remove(l);
        let shift = |i: &mut usize| *i -= usize::from(*i > l);
        shift(&mut body.root);
        for line in &mut body.lines {
            line.control.retain(|&i| i != l);
            line.operands.iter_mut().chain(&mut line.control).for_each(shift);
        }
        // Renumber the parameters after it.
        if let (Opcode::Parameter, Ok(number)) = (removed.opcode, removed.payload.parse::<usize>()) {
            for line in body.lines.iter_mut().filter(|x| x.opcode == Opcode::Parameter) {
                match line.payload.parse::<usize>() {
                    Ok(n) if n > number => line.payload = (n - 1).to_string(),
                    _ => {}
                }
            }
        }
        Some(p)
    }

    fn without_computation(&self, c: usize) -> Option<Program> {
        let name = format!("%{}", self.computations[c].name);
        let values = || self.computations.iter().flat_map(|c| &c.lines).flat_map(|l| &l.attributes);
        let named = |v: &str| v.split([',', '{', '}', ' ']).any(|word| word == name);
        if values().any(|(_, v)| named(v)) {
            return None;
        }
        let mut p = self.clone();
        p.computations.remove(c);
        Some(p)
    }
}

impl Computation {
    fn write(&self, out: &mut String, style: Style, entry: bool) {
        let percent = if style.percent { "%" } else { "" };
        let _ = writeln!(out, "{percent}{} {{", self.name);
        for (i, line) in self.lines.iter().enumerate() {
            out.push_str(if i == self.root { "  ROOT " } else { "  " });
            let _ = write!(out, "{percent}{} = ", line.name);
            let ty = |l: &Line| {
                let mut numbers = Numbers::new(l.layout);
                if l.layout != 0 && style.layouts {
                    l.ty.write(Some(&mut numbers))
                } else if l.layout != 0 && style.orders && !(entry && l.opcode == Opcode::Parameter) {
                    l.ty.write_orders(&mut numbers)
                } else {
                    l.ty.write(None)
                }
            };
            if !(style.omit_shapes && shape_follows(line)) {
                let _ = write!(out, "{} ", ty(line));
            }
            let operand = |&o: &usize| {
                let shape =
                    if style.operand_shapes { format!("{} ", ty(&self.lines[o])) } else { String::new() };
                format!("{shape}{percent}{}", self.lines[o].name)
            };
            let operands: Vec<String> = line.operands.iter().map(operand).collect();
            let spelling = line.spelling.as_deref().unwrap_or(line.opcode.name());
            let _ = write!(out, "{spelling}({}{})", line.payload, operands.join(", "));
            for (name, value) in &line.attributes {
                let _ = write!(out, ", {name}={value}");
            }
            if !line.control.is_empty() {
                let names: Vec<String> =
                    line.control.iter().map(|&c| format!("%{}", self.lines[c].name)).collect();
                let _ = write!(out, ", control-predecessors={{{}}}", names.join(", "));
            }
            out.push('\n');
        }
        out.push('}');
        if let Some(thread) = &self.thread {
            let _ = write!(out, ", execution_thread=\"{thread}\"");
        }
        out.push_str("\n\n");
    }
}

/// Whether the shape can be omitted because it follows from the opcode, the attributes and the shapes of the
/// operands.
fn shape_follows(line: &Line) -> bool {
    use Opcode::*;
    // A dimension that is set to its bound is static again, so the written shape is required.
    line.spelling.is_none()
        && match line.opcode {
            Bitcast | BitcastConvert | Broadcast | Constant | Convert | CustomCall | Fusion | Infeed | Outfeed | Iota
            | Parameter | ReducePrecision | Reshape | Rng | RngBitGenerator | RngGetAndUpdateState
            | StochasticConvert | DynamicReshape | SetDimensionSize | DynamicSlice | DynamicUpdateSlice | Slice
            | AllGather | AllGatherDone | AllGatherStart | AllReduce | AllReduceDone | AllReduceStart | AllToAll
            | CollectiveBroadcast | CollectivePermute | CollectivePermuteDone | CollectivePermuteStart
            | RaggedAllToAll | ReduceScatter | AsyncDone | AsyncStart | AsyncUpdate | Recv | RecvDone | Send
            | SendDone | CopyStart | CopyDone | Contraction | Scan | RaggedDot | ScaledDot | PartitionId | ReplicaId
            // The written element type may be wider.
            | Dot | Convolution => false,
            hlo_ir::elementwise_opcode!() => true,
            Tuple | GetTupleElement | Copy | Concatenate | Pad | Reverse | Transpose | Gather
            | GetDimensionSize | Scatter | Map | Reduce | ReduceWindow | SelectAndScatter | Sort | TopK | Cholesky
            | Fft | TriangularSolve | BatchNormGrad | BatchNormInference | BatchNormTraining | Call | Conditional
            | OptBarrier | While | AddDependency | AfterAll | Domain => true,
        }
}
