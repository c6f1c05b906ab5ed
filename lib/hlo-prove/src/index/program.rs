//! Instances as HLO modules, which the rewrite driver and the interpreter run.

use super::instance::{Kind, Node};
use super::number::Number;
use hlo_eval::Options;
use hlo_ir::{AlignedBytes, ElementType, Literal, Module, Opcode, Shape};
use hlo_passes::rewriting::{Clause, Rule, comparison_direction, rewrite};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::rc::Rc;

/// Maximum number of rewrites of an instance, which has a few instructions.
const MAX_REWRITES: u64 = 24;

/// The values of the terms of an instance.
pub type Values = HashMap<String, i128>;

/// Adds the terms of a value and of its operands to a list.
pub fn terms(node: &Node, found: &mut Vec<String>) {
    let mut add = |numbers: &[Number]| {
        for number in numbers {
            let text = number.to_string();
            if matches!(number, Number::Term(_)) && !found.contains(&text) {
                found.push(text);
            }
        }
    };
    add(&node.dims);
    if let Kind::Operation { numbers, operands, rest, .. } = &node.kind {
        numbers.iter().for_each(|list| add(list));
        add(rest);
        operands.iter().for_each(|operand| terms(operand, found));
    }
}

/// The values of the pattern and of the module that the clause made of it.
pub struct Run {
    /// The text of the module.
    pub module: String,
    /// The value of the pattern.
    pub before: Literal,
    /// The value of the replacement.
    pub after: Literal,
}

/// Applies a clause to an instance of its pattern, and computes both.
///
/// # Errors
/// The instance is no valid module, the clause does not apply to it, or the interpreter does not support it.
pub fn run(clause: &Clause, root: &Rc<Node>, values: &Values, constant_starts: bool) -> Result<Run, String> {
    let mut program = Program {
        values,
        constant_starts,
        lines: String::new(),
        done: Vec::new(),
        parameters: BTreeMap::new(),
        starts: Vec::new(),
        start_names: HashMap::new(),
        names: 0,
    };
    let name = program.value(root, false)?;
    let text = program.finish(&name);
    let module = hlo_parser::parse_module(&text).map_err(|errors| {
        let first = errors.into_iter().next().map_or(String::new(), |error| error.message);
        format!("{first}\n{text}")
    })?;
    let valid = |module: &Module| match hlo_ir::verify::verify(module).into_iter().next() {
        Some(error) => Err(format!("{}\n{text}", error.message)),
        None => Ok(()),
    };
    valid(&module)?;
    let mut changed = module.clone();
    let rule = Rule {
        name: "clause".into(),
        lines: Vec::new().into(),
        summary: "".into(),
        clauses: vec![clause.clone()].into(),
    };
    match rewrite(&mut changed, &[rule]) {
        0 => return Err(format!("the clause does not apply to\n{text}")),
        n if n > MAX_REWRITES => return Err(format!("the clause applies again and again to\n{text}")),
        _ => {}
    }
    valid(&changed)?;
    let inputs: Vec<Literal> = program.inputs()?;
    let compute =
        |module: &Module| hlo_eval::evaluate(module, &inputs, &Options::default()).map_err(|e| e.message);
    let (before, after) = (compute(&module)?, compute(&changed)?);
    Ok(Run { module: text, before, after })
}

/// The text of a program.
struct Program<'v> {
    values: &'v Values,
    /// Whether starts of windows are constants, and not parameters.
    constant_starts: bool,
    lines: String,
    /// The instructions that exist, by the address of their value.
    done: Vec<(*const Node, String)>,
    /// The sizes and the element type of each variable.
    parameters: BTreeMap<usize, (Vec<i128>, ElementType)>,
    /// The starts of windows.
    starts: Vec<i128>,
    /// The names of starts, by their term.
    start_names: HashMap<String, String>,
    names: usize,
}

impl Program<'_> {
    fn number(&self, number: &Number) -> Result<i128, String> {
        match number {
            Number::Known(value) => Ok(*value),
            Number::Term(term) => {
                self.values.get(term).copied().ok_or_else(|| format!("the solver has no value of {term}"))
            }
        }
    }

    fn numbers(&self, numbers: &[Number]) -> Result<Vec<i128>, String> {
        numbers.iter().map(|number| self.number(number)).collect()
    }

    /// Adds the instruction of a value, and returns its name. `is_pred` is true for the predicate of a selection.
    fn value(&mut self, node: &Rc<Node>, is_pred: bool) -> Result<String, String> {
        if let Some((_, name)) = self.done.iter().find(|(known, _)| std::ptr::eq(*known, &raw const **node)) {
            return Ok(name.clone());
        }
        let dims = self.numbers(&node.dims)?;
        let name = match &node.kind {
            Kind::Leaf(v) => {
                let ty = if is_pred { ElementType::Pred } else { ElementType::S32 };
                self.parameters.insert(*v, (dims, ty));
                format!("x{v}")
            }
            Kind::Constant(text) => return Err(format!("the constant {text} has no type")),
            Kind::Operation { opcode, direction, numbers, operands, rest } => {
                let mut names = Vec::new();
                for (n, operand) in operands.iter().enumerate() {
                    let is_pred = is_pred || *opcode == Opcode::Select && n == 0;
                    names.push(self.value(operand, is_pred)?);
                }
                for start in rest {
                    names.push(self.start(start)?);
                }
                let lists = numbers.iter().map(|list| self.numbers(list)).collect::<Result<Vec<_>, _>>()?;
                let mut attributes = attributes(*opcode, &lists);
                if let Some(direction) = direction {
                    let _ = write!(attributes, ", direction={}", comparison_direction(*direction).text());
                }
                let is_pred = is_pred || *opcode == Opcode::Compare;
                let ty = if is_pred { "pred" } else { "s32" };
                let name = format!("t{}", self.names);
                self.names += 1;
                let call = format!("{}({}){attributes}", opcode.name(), names.join(", "));
                let _ = writeln!(self.lines, "  {name} = {ty}{} {call}", brackets(&dims));
                name
            }
        };
        self.done.push((&raw const **node, name.clone()));
        Ok(name)
    }

    fn start(&mut self, start: &Number) -> Result<String, String> {
        if let Some(known) = self.start_names.get(&start.to_string()) {
            return Ok(known.clone());
        }
        let value = self.number(start)?;
        let name = format!("i{}", self.names);
        self.names += 1;
        self.start_names.insert(start.to_string(), name.clone());
        if self.constant_starts {
            let _ = writeln!(self.lines, "  {name} = s64[] constant({value})");
        } else {
            self.starts.push(value);
            let _ = writeln!(self.lines, "  {name} = s64[] parameter(START{})END", self.starts.len() - 1);
        }
        Ok(name)
    }

    fn finish(&self, root: &str) -> String {
        let mut text = String::from(
            "HloModule instance\n\nsum {\n  a = s32[] parameter(0)\n  b = s32[] parameter(1)\n  ROOT c = s32[] add(a, b)\n}\n\nENTRY e {\n",
        );
        for (n, (v, (dims, ty))) in self.parameters.iter().enumerate() {
            let _ = writeln!(text, "  x{v} = {}{} parameter({n})", ty.name(), brackets(dims));
        }
        let mut lines = self.lines.clone();
        for n in 0..self.starts.len() {
            lines = lines.replace(&format!("START{n})END"), &format!("{})", self.parameters.len() + n));
        }
        let root = format!("  {root} = ");
        // The root is the last instruction.
        text.push_str(&lines.replace(&root, &format!("  ROOT {}", root.trim_start())));
        text.push_str("}\n");
        text
    }

    /// Returns the inputs. All elements of a variable are different.
    fn inputs(&self) -> Result<Vec<Literal>, String> {
        let mut inputs = Vec::new();
        for (v, (dims, ty)) in &self.parameters {
            let count = dims.iter().try_fold(1i128, |n, d| n.checked_mul(*d)).filter(|n| *n <= 1 << 20);
            let count = count.ok_or("the counterexample is too large")? as usize;
            let bytes: Vec<u8> = match ty {
                ElementType::Pred => (0..count).map(|n| (n * 7 + v) as u8 % 3 % 2).collect(),
                _ => (0..count).flat_map(|n| ((v + 1) * 1_000_000 + n).to_le_bytes()[..4].to_vec()).collect(),
            };
            let dims = dims.iter().map(|&d| d as i64);
            let shape = Shape::array(*ty, dims);
            let literal = Literal::try_from_bytes(shape, AlignedBytes::from_slice(&bytes));
            inputs.push(literal.ok_or("an input cannot be made")?);
        }
        for &start in &self.starts {
            let bytes = i64::try_from(start).map_err(|e| e.to_string())?.to_le_bytes();
            inputs
                .push(Literal::scalar_from_bytes(ElementType::S64, &bytes).ok_or("an input cannot be made")?);
        }
        Ok(inputs)
    }
}

fn brackets(dims: &[i128]) -> String {
    format!("[{}]", joined(dims))
}

fn joined(numbers: &[i128]) -> String {
    numbers.iter().map(i128::to_string).collect::<Vec<_>>().join(",")
}

/// Returns the attributes as HLO text.
fn attributes(opcode: Opcode, lists: &[Vec<i128>]) -> String {
    let set = |flags: &[i128]| {
        let members = flags.iter().enumerate().filter(|(_, flag)| **flag != 0);
        joined(&members.map(|(d, _)| d as i128).collect::<Vec<_>>())
    };
    match opcode {
        Opcode::Broadcast | Opcode::Transpose | Opcode::Concatenate => {
            format!(", dimensions={{{}}}", joined(&lists[0]))
        }
        Opcode::Reverse => format!(", dimensions={{{}}}", set(&lists[0])),
        Opcode::Reduce => format!(", dimensions={{{}}}, to_apply=sum", set(&lists[0])),
        Opcode::Iota => format!(", iota_dimension={}", joined(&lists[0])),
        Opcode::DynamicSlice => format!(", dynamic_slice_sizes={{{}}}", joined(&lists[0])),
        Opcode::Slice => {
            let ranges =
                (0..lists[0].len()).map(|d| format!("[{}:{}:{}]", lists[0][d], lists[1][d], lists[2][d]));
            format!(", slice={{{}}}", ranges.collect::<Vec<_>>().join(", "))
        }
        Opcode::Pad => {
            let padding =
                (0..lists[0].len()).map(|d| format!("{}_{}_{}", lists[0][d], lists[1][d], lists[2][d]));
            format!(", padding={}", padding.collect::<Vec<_>>().join("x"))
        }
        _ => String::new(),
    }
}
