//! Compares both sides of a clause on the interpreter.

use crate::semantics::is_open;
use crate::types::Typing;
use hlo_eval::Options;
use hlo_ir::attr::ComparisonType;
use hlo_ir::print::print_literal;
use hlo_ir::{AlignedBytes, ElementType, FloatFormat, Literal, Opcode, Shape};
use hlo_passes::rewriting::{
    Clause, Condition, Expression, Number, Operation, Term, comparison_direction, evaluate, number_bytes,
    relates, value_bytes,
};
use hlo_testing::Numbers;
use std::fmt::Write;

/// The bits of the elements of each variable. All variables have the same number of elements.
pub type Values = Vec<Vec<u128>>;

/// Values for which both sides of a clause differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counterexample {
    /// The variables and their values, as literals of HLO text.
    pub inputs: Vec<(String, String)>,
    /// The value of the pattern.
    pub pattern: String,
    /// The value of the replacement.
    pub replacement: String,
}

impl std::fmt::Display for Counterexample {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (name, value) in &self.inputs {
            write!(f, "{name} = {value}, ")?;
        }
        write!(f, "the pattern is {}, the replacement is {}", self.pattern, self.replacement)
    }
}

/// Returns the variables of a clause that have a name. The others are parts of the pattern.
pub fn named(clause: &Clause) -> impl Iterator<Item = usize> + '_ {
    (0..clause.variables.len()).filter(|&v| !clause.variables[v].is_empty())
}

/// The result of a comparison for some values.
pub enum Comparison {
    /// No values satisfy the condition.
    NoValues,
    /// Both sides are the same for all values that satisfy the condition.
    Same,
    /// Both sides differ.
    Different(Counterexample),
}

/// Computes both sides of a clause for these values of the variables, if they satisfy the condition. Returns the
/// first difference.
///
/// # Errors
/// The interpreter does not support the clause for these types.
pub fn find_difference(clause: &Clause, typing: &Typing, values: &Values) -> Result<Comparison, String> {
    let variables: Vec<usize> = named(clause).collect();
    let mut kept = values.clone();
    if typing.admits(&clause.condition) != Some(true) || has_computed(&clause.replacement) {
        let size = values.first().map_or(0, Vec::len);
        let valid: Vec<usize> = (0..size)
            .filter(|&n| {
                let row: Vec<u128> = values.iter().map(|column| column[n]).collect();
                let row = Row { typing, variables: &variables, bits: &row };
                row.satisfies(&clause.condition) && row.represents(&clause.replacement, typing.result)
            })
            .collect();
        kept = values.iter().map(|column| valid.iter().map(|&n| column[n]).collect()).collect();
    }
    if kept.first().is_none_or(Vec::is_empty) {
        return Ok(Comparison::NoValues);
    }
    let (ty, [pattern, replacement]) = (typing.result, both_sides(clause, typing, &kept)?);
    let mut pairs = pattern.iter().zip(&replacement);
    let Some(at) = pairs.position(|(&a, &b)| !same(ty, a, b)) else { return Ok(Comparison::Same) };
    let input = |(n, &v): (usize, &usize)| {
        (clause.variables[v].to_string(), text_of(typing.variables[v], kept[n][at]))
    };
    Ok(Comparison::Different(Counterexample {
        inputs: variables.iter().enumerate().map(input).collect(),
        pattern: text_of(ty, pattern[at]),
        replacement: text_of(ty, replacement[at]),
    }))
}

/// Computes the pattern and the replacement of a clause. Returns the bits of their elements.
///
/// # Errors
/// The interpreter does not support the clause for these types.
pub fn both_sides(clause: &Clause, typing: &Typing, values: &Values) -> Result<[Vec<u128>; 2], String> {
    let variables: Vec<usize> = named(clause).collect();
    let size = values.first().map_or(0, Vec::len);
    let mut program = Program::new(typing, &variables, size);
    let ty = typing.result;
    let pattern = program.operation(&clause.pattern, ty)?;
    let replacement = program.term(&clause.replacement, ty)?;
    let text = program.finish(ty, &pattern, &replacement);
    let module = hlo_parser::parse_module(&text).map_err(|errors| {
        let first = errors.into_iter().next().map_or(String::new(), |error| error.message);
        format!("{first}\n{text}")
    })?;
    let mut inputs = Vec::new();
    for (n, &v) in variables.iter().enumerate() {
        inputs.push(array(typing.variables[v], &values[n])?);
    }
    for (constant, ty) in &program.constants {
        let column: Option<Vec<u128>> = (0..size)
            .map(|n| {
                let bits: Vec<u128> = values.iter().map(|column| column[n]).collect();
                Row { typing, variables: &variables, bits: &bits }.constant(constant, *ty)
            })
            .collect();
        let column = column.ok_or_else(|| format!("{} has no such number", ty.name()))?;
        inputs.push(array(*ty, &column)?);
    }
    let results = hlo_eval::evaluate(&module, &inputs, &Options::default()).map_err(|e| e.message)?;
    let [a, b] = results.tuple_elements() else { return Err("the program has no two results".to_string()) };
    let bits = |literal: &Literal| literal.bytes().chunks_exact(ty.byte_size()).map(number).collect();
    Ok([bits(a), bits(b)])
}

/// The text of a program that computes both sides.
struct Program<'t> {
    typing: &'t Typing,
    size: usize,
    text: String,
    next: usize,
    parameters: usize,
    /// The constants, which are parameters after the variables.
    constants: Vec<(Term, ElementType)>,
}

impl<'t> Program<'t> {
    fn new(typing: &'t Typing, variables: &[usize], size: usize) -> Self {
        let mut text = String::from("HloModule both_sides\n\nENTRY e {\n");
        for (n, &v) in variables.iter().enumerate() {
            let ty = typing.variables[v].name();
            let _ = writeln!(text, "  v{v} = {ty}[{size}] parameter({n})");
        }
        Self { typing, size, text, next: 0, parameters: variables.len(), constants: Vec::new() }
    }

    /// Adds an instruction, and returns its name.
    fn add(&mut self, ty: ElementType, call: &str) -> String {
        let name = format!("t{}", self.next);
        self.next += 1;
        let _ = writeln!(self.text, "  {name} = {}[{}] {call}", ty.name(), self.size);
        name
    }

    fn term(&mut self, term: &Term, ty: ElementType) -> Result<String, String> {
        match term {
            Term::Variable(v) => Ok(format!("v{v}")),
            Term::Literal(_) | Term::Computed(_) => {
                self.constants.push((term.clone(), ty));
                let n = self.parameters;
                self.parameters += 1;
                Ok(self.add(ty, &format!("parameter({n})")))
            }
            Term::Rest(..) => Err("a list of operands has no value".to_string()),
            Term::Operation(operation) => self.operation(operation, ty),
        }
    }

    fn operation(&mut self, operation: &Operation, ty: ElementType) -> Result<String, String> {
        let opcode = operation.opcode;
        let operand = match opcode {
            Opcode::Convert => self.typing.type_of(&operation.operands[0], None),
            _ => self.typing.operand_type(operation, Some(ty)),
        };
        let operand = operand.ok_or("an operand has no element type")?;
        let mut names = Vec::new();
        for (n, term) in operation.operands.iter().enumerate() {
            let ty = if opcode == Opcode::Select && n == 0 { ElementType::Pred } else { operand };
            names.push(self.term(term, ty)?);
        }
        let mut call = format!("{}({})", opcode.name(), names.join(", "));
        if let Some(direction) = operation.direction {
            let _ = write!(call, ", direction={}", comparison_direction(direction).text());
            if self.typing.order != ComparisonType::Default {
                let _ = write!(call, ", type={}", self.typing.order.text());
            }
        }
        let name = self.add(ty, &call);
        if let Some(v) = operation.bound {
            let shape = format!("{}[{}]", ty.name(), self.size);
            let _ = writeln!(self.text, "  v{v} = {shape} {call}");
        }
        Ok(name)
    }

    fn finish(&mut self, ty: ElementType, pattern: &str, replacement: &str) -> String {
        let shape = format!("{}[{}]", ty.name(), self.size);
        format!("{}  ROOT both = ({shape}, {shape}) tuple({pattern}, {replacement})\n}}\n", self.text)
    }
}

/// Returns an array of these elements.
fn array(ty: ElementType, bits: &[u128]) -> Result<Literal, String> {
    let bytes: Vec<u8> = bits.iter().flat_map(|&b| element(ty, b)).collect();
    let shape = Shape::array(ty, [bits.len() as i64]);
    Literal::try_from_bytes(shape, AlignedBytes::from_slice(&bytes))
        .ok_or_else(|| format!("an array of {} cannot be made", ty.name()))
}

/// Returns the bytes of an element. Narrow signed integers are sign-extended to a byte.
fn element(ty: ElementType, bits: u128) -> Vec<u8> {
    let width = ty.bit_width();
    let bits = if ty.is_signed_integer() && width < 8 {
        let unused = 128 - width;
        ((bits << unused) as i128 >> unused) as u128
    } else {
        bits
    };
    bits.to_le_bytes()[..ty.byte_size()].to_vec()
}

/// Returns the bits of an element.
fn number(bytes: &[u8]) -> u128 {
    let mut wide = [0; 16];
    wide[..bytes.len()].copy_from_slice(bytes);
    u128::from_le_bytes(wide)
}

/// Returns whether two elements are the same. All NaNs are.
fn same(ty: ElementType, a: u128, b: u128) -> bool {
    if a == b {
        return true;
    }
    if ty.is_complex() {
        let (part, half) = (ty.real_type(), ty.bit_width() / 2);
        let mask = u128::MAX >> (128 - half);
        return same(part, a & mask, b & mask) && same(part, a >> half, b >> half);
    }
    let is_nan = |bits: u128| FloatFormat::of(ty).is_some_and(|format| format.decode(bits as u64).is_nan());
    is_nan(a) && is_nan(b)
}

/// Returns an element as HLO text.
fn text_of(ty: ElementType, bits: u128) -> String {
    match Literal::scalar_from_bytes(ty, &element(ty, bits)) {
        Some(literal) => print_literal(&literal, None),
        None => format!("{} {bits:#x}", ty.name()),
    }
}

/// Returns whether a replacement contains a computed constant.
fn has_computed(term: &Term) -> bool {
    match term {
        Term::Computed(_) => true,
        Term::Operation(operation) => operation.operands.iter().any(has_computed),
        _ => false,
    }
}

/// The values of the variables for one element.
struct Row<'a> {
    typing: &'a Typing,
    variables: &'a [usize],
    bits: &'a [u128],
}

impl Row<'_> {
    /// Returns the number that a variable has.
    fn number(&self, v: usize) -> Option<Number> {
        let (n, ty) = (self.variables.iter().position(|&known| known == v)?, self.typing.variables[v]);
        Number::of(ty, &element(ty, self.bits[n]))
    }

    fn evaluate(&self, expression: &Expression) -> Option<Number> {
        evaluate(expression, &|v| self.number(v), &|v| self.typing.variables.get(v).copied())
    }

    /// Returns the bits of a constant of the replacement, if the type represents it.
    fn constant(&self, term: &Term, ty: ElementType) -> Option<u128> {
        let bytes = match term {
            Term::Literal(value) => value_bytes(*value, ty)?,
            Term::Computed(expression) => number_bytes(self.evaluate(expression)?, ty)?,
            _ => return None,
        };
        Some(number(&bytes))
    }

    /// Returns whether all constants of the replacement can be represented.
    fn represents(&self, term: &Term, ty: ElementType) -> bool {
        match term {
            Term::Computed(_) => self.constant(term, ty).is_some(),
            Term::Operation(operation) => {
                let operand = self.typing.operand_type(operation, Some(ty)).unwrap_or(ty);
                operation.operands.iter().all(|term| self.represents(term, operand))
            }
            _ => true,
        }
    }

    /// Returns whether the values satisfy a condition.
    fn satisfies(&self, condition: &Condition) -> bool {
        if let Some(known) = self.typing.admits(condition) {
            return known;
        }
        match condition {
            Condition::All(list) => list.iter().all(|c| self.satisfies(c)),
            Condition::Any(list) => list.iter().any(|c| self.satisfies(c)),
            Condition::Not(inner) => inner.iter().all(|c| is_open(c) || !self.satisfies(c)),
            // A range contains the value.
            Condition::Compare(relation, a, b) | Condition::Always(relation, a, b) => {
                match (self.evaluate(a), self.evaluate(b)) {
                    (Some(a), Some(b)) => relates(*relation, a, b),
                    _ => false,
                }
            }
            _ => true,
        }
    }
}

/// Number of bits of all variables together for which one program computes all values.
const CHUNK_BITS: u32 = 16;

/// Returns all values of the variables in chunks, if the variables have at most `limit` bits together.
pub fn all_values(clause: &Clause, typing: &Typing, limit: u32) -> Option<impl Iterator<Item = Values>> {
    let widths: Vec<u32> = named(clause).map(|v| typing.variables[v].bit_width()).collect();
    let total: u32 = widths.iter().sum();
    if total > limit {
        return None;
    }
    let chunk = total.min(CHUNK_BITS);
    Some((0u64..1 << (total - chunk)).map(move |high| {
        let mut shift = 0;
        let columns = widths.iter().map(|&width| {
            let column = (0u64..1 << chunk).map(|low| {
                let bits = high << chunk | low;
                u128::from((bits >> shift) & ((1 << width) - 1))
            });
            let column = column.collect();
            shift += width;
            column
        });
        columns.collect()
    }))
}

/// Number of random values that are tried.
const RANDOM_ROWS: usize = 8192;

/// Returns random values of the variables, with many special ones and many that are equal.
pub fn random_values(clause: &Clause, typing: &Typing) -> Values {
    let mut numbers = Numbers::new(0x9e37_79b9_7f4a_7c15);
    let mut all = Values::new();
    for v in named(clause) {
        let ty = typing.variables[v];
        let (special, mask) = (special(ty), u128::MAX >> (128 - ty.bit_width()));
        let column = (0..RANDOM_ROWS).map(|row| match numbers.below(8) {
            0..4 => special[numbers.below(special.len())],
            4 if !all.is_empty() => all[numbers.below(all.len())][row] & mask,
            _ => (u128::from(numbers.bits()) << 64 | u128::from(numbers.bits())) & mask,
        });
        let column = column.collect();
        all.push(column);
    }
    all
}

/// Returns the bits of values that rules often treat specially.
fn special(ty: ElementType) -> Vec<u128> {
    let width = ty.bit_width();
    let mask = u128::MAX >> (128 - width);
    if ty.is_complex() {
        let part = special(ty.real_type());
        let half = width / 2;
        return part.iter().flat_map(|&re| part.iter().map(move |&im| im << half | re)).collect();
    }
    match FloatFormat::of(ty) {
        Some(format) => {
            let tiny = f64::MIN_POSITIVE;
            let values = [0.0, 1.0, 0.5, 2.0, 2.5, 3.0, 1e30, 1e-30, tiny, f64::MAX, f64::INFINITY, f64::NAN];
            let signed = values.iter().flat_map(|&x| [x, -x]);
            signed.map(|x| u128::from(format.encode(x))).chain([1, 3]).collect()
        }
        None => {
            let top = 1u128 << (width - 1);
            [0, 1, 2, 3, mask, mask - 1, top, top - 1, u128::from(width)].map(|bits| bits & mask).to_vec()
        }
    }
}
