//! Names of values, `%0`, `%cst_1`, `%arg0`, as MLIR chooses them. The values of a region are numbered before
//! those of its nested regions, which all continue from the same number. In the generic form no number occurs
//! twice, and the last region comes first.

use crate::tree::{Attribute, Block, Operation, Region, Tree, Type, TypeKind, ValueId};
use std::collections::HashSet;
use std::fmt::Write;
use std::rc::Rc;

/// The name of a value.
#[derive(Clone, Debug)]
enum Label {
    Number(u32),
    Name(Rc<str>),
    /// One of several results: the number of the first one, and the index.
    Part(u32, u32),
}

/// The names of all values of a tree.
pub struct Names {
    labels: Vec<Option<Label>>,
}

impl Names {
    /// Names the values. In the generic form, all names are numbers.
    pub fn new(tree: &Tree, is_generic: bool) -> Self {
        let mut namer = Namer {
            tree,
            labels: vec![None; tree.value_count()],
            used: HashSet::new(),
            is_generic,
            counters: Counters::default(),
        };
        namer.operation(&tree.module);
        namer.regions(&tree.module);
        Self { labels: namer.labels }
    }

    /// Writes `%name`.
    pub fn write(&self, out: &mut String, value: ValueId) {
        let _ = match self.labels.get(value.index()) {
            Some(Some(Label::Number(n))) => write!(out, "%{n}"),
            Some(Some(Label::Name(name))) => write!(out, "%{name}"),
            Some(Some(Label::Part(n, part))) => write!(out, "%{n}#{part}"),
            _ => write!(out, "%unnamed{}", value.index()),
        };
    }

    /// Writes `%0:2 =` or `%values, %indices =` before an operation with results.
    pub fn write_results(&self, out: &mut String, results: &[ValueId]) {
        let mut is_first = true;
        for &value in results {
            match self.labels.get(value.index()) {
                Some(Some(Label::Part(_, 1..))) => continue,
                Some(Some(Label::Part(n, _))) => {
                    let _ = write!(out, "%{n}:{}", results.len());
                }
                _ => {
                    if !is_first {
                        out.push_str(", ");
                    }
                    self.write(out, value);
                }
            }
            is_first = false;
        }
        if !is_first {
            out.push_str(" = ");
        }
    }
}

/// The next numbers, and the number of name conflicts.
#[derive(Clone, Copy, Default)]
struct Counters {
    value: u32,
    argument: u32,
    conflict: u32,
}

struct Namer<'t> {
    tree: &'t Tree,
    labels: Vec<Option<Label>>,
    /// The names of the open regions.
    used: HashSet<Rc<str>>,
    is_generic: bool,
    counters: Counters,
}

impl Namer<'_> {
    fn regions(&mut self, op: &Operation) {
        for region in op.regions.iter().rev() {
            let counters = self.counters;
            self.region(op, region);
            if !self.is_generic {
                self.counters = counters;
            }
        }
    }

    fn region(&mut self, parent: &Operation, region: &Region) {
        let mut own = Vec::new();
        for (i, block) in region.blocks.iter().enumerate() {
            self.arguments(parent, block, i == 0, &mut own);
            for op in &block.operations {
                self.results(op, &mut own);
            }
        }
        for op in region.blocks.iter().rev().flat_map(|block| block.operations.iter().rev()) {
            self.regions(op);
        }
        for name in own {
            self.used.remove(&name);
        }
    }

    fn arguments(&mut self, parent: &Operation, block: &Block, is_entry: bool, own: &mut Vec<Rc<str>>) {
        let inputs = match &*parent.name {
            "chlo.scan" => parent.attribute("operandSegmentSizes").and_then(|a| a.ints()?.first().copied()),
            _ => None,
        };
        for (i, &value) in block.arguments.iter().enumerate() {
            let special = match &*parent.name {
                _ if self.is_generic => None,
                "stablehlo.while" => Some("iterArg"),
                "chlo.scan" => Some(if (i as i64) < inputs.unwrap_or(0) { "input" } else { "carry" }),
                _ => None,
            };
            match special {
                Some(name) => self.name(value, name, own),
                None if is_entry => {
                    let name = format!("arg{}", self.counters.argument);
                    self.counters.argument += 1;
                    self.name(value, &name, own);
                }
                None => {
                    self.labels[value.index()] = Some(Label::Number(self.counters.value));
                    self.counters.value += 1;
                }
            }
        }
    }

    fn operation(&mut self, op: &Operation) {
        self.results(op, &mut Vec::new());
    }

    fn results(&mut self, op: &Operation, own: &mut Vec<Rc<str>>) {
        if op.name == "arith.constant"
            && let [value] = op.results[..]
            && !self.is_generic
        {
            return self.name(value, &name_of_constant(op), own);
        }
        let named = if self.is_generic { &[][..] } else { names_of_results(op, self.tree) };
        if !named.is_empty() && named.len() == op.results.len() {
            for (&value, name) in op.results.iter().zip(named) {
                self.name(value, name, own);
            }
            return;
        }
        let number = self.counters.value;
        for (i, &value) in op.results.iter().enumerate() {
            let label =
                if op.results.len() == 1 { Label::Number(number) } else { Label::Part(number, i as u32) };
            self.labels[value.index()] = Some(label);
        }
        self.counters.value += u32::from(!op.results.is_empty());
    }

    /// Sets the name of a value. Appends a number if the name is in use.
    fn name(&mut self, value: ValueId, wanted: &str, own: &mut Vec<Rc<str>>) {
        let mut name: Rc<str> = wanted.into();
        while self.used.contains(&name) {
            name = format!("{wanted}_{}", self.counters.conflict).into();
            self.counters.conflict += 1;
        }
        self.used.insert(name.clone());
        own.push(name.clone());
        self.labels[value.index()] = Some(Label::Name(name));
    }
}

/// Returns the name of a constant: `c1_i32`, `true`, `cst`.
fn name_of_constant(op: &Operation) -> String {
    match op.attribute("value") {
        Some(Attribute::Bool(value)) => value.to_string(),
        Some(Attribute::Integer(value, ty)) => match **ty {
            TypeKind::Integer(1, _) => (*value != 0).to_string(),
            TypeKind::Integer(bits, _) => format!("c{value}_i{bits}"),
            _ => format!("c{value}"),
        },
        _ => "cst".into(),
    }
}

/// Returns the names of an operation's results. The list is empty if they are numbered.
fn names_of_results(op: &Operation, tree: &Tree) -> &'static [&'static str] {
    let is_integer = |ty: &Type| ty.as_tensor().is_some_and(|t| matches!(*t.element, TypeKind::Integer(..)));
    match &*op.name {
        "stablehlo.constant" => match op.results.first() {
            Some(&value) if is_integer(tree.type_of(value)) => &["c"],
            _ => &["cst"],
        },
        "stablehlo.rng_bit_generator" => &["output_state", "output"],
        "stablehlo.batch_norm_training" => &["output", "batch_mean", "batch_var"],
        "stablehlo.batch_norm_grad" => &["grad_operand", "grad_scale", "grad_offset"],
        "chlo.top_k" => &["values", "indices"],
        "tensor.cast" => &["cast"],
        _ => &[],
    }
}
