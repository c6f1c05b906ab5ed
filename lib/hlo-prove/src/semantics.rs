//! The semantics of elementwise operations as terms of SMT-LIB: bit vectors for integers, and IEEE 754
//! numbers for `f16`, `bf16`, `f32` and `f64`.
//!
//! The theory of floating-point numbers has one NaN and tells -0 from +0. That is also the equality of
//! results that passes preserve. Functions without a definition in the theory, such as `exponential`, are
//! uninterpreted: equal operands have equal results.

use crate::types::Typing;
use hlo_ir::attr::ComparisonType;
use hlo_ir::{ElementType, Opcode};
use hlo_passes::rewriting::{
    Arithmetic, Condition, Direction, Expression, Number, Operation, Relation, Term, Value, evaluate,
    value_bytes,
};

/// The reason why a clause has no translation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Untranslated(pub String);

type Result<T> = std::result::Result<T, Untranslated>;

/// The translation of one clause: declarations of variables and definitions of terms.
pub struct Translation<'t> {
    typing: &'t Typing,
    /// The text so far.
    pub text: String,
    /// Whether the text contains functions of which the solver knows only facts. A difference that the
    /// solver then finds may not exist.
    pub is_abstract: bool,
    /// Whether products, quotients and remainders are functions of which the solver knows only facts. That is
    /// often faster.
    by_facts: bool,
    defined: usize,
    functions: Vec<String>,
}

/// A number of this many bits.
fn bits(value: u64, width: u32) -> String {
    format!("(_ bv{} {width})", value & (u64::MAX >> (64 - width)))
}

/// Returns the numbers of exponent bits and of mantissa bits, including the implicit one.
fn float_form(ty: ElementType) -> Option<(u32, u32)> {
    match ty {
        ElementType::F16 => Some((5, 11)),
        ElementType::Bf16 => Some((8, 8)),
        ElementType::F32 => Some((8, 24)),
        ElementType::F64 => Some((11, 53)),
        _ => None,
    }
}

/// Returns the sort of an element type. Floating-point numbers that the theory does not have are bit vectors,
/// and their operations are uninterpreted.
fn sort(ty: ElementType) -> String {
    if ty.is_pred() {
        return "Bool".to_string();
    }
    if ty.is_complex() {
        return ty.name().to_uppercase();
    }
    match float_form(ty) {
        Some((exponent, mantissa)) => format!("(_ FloatingPoint {exponent} {mantissa})"),
        None => format!("(_ BitVec {})", ty.bit_width()),
    }
}

/// Complex numbers, as pairs of a real and an imaginary part.
pub const COMPLEX_SORTS: &str = "\
(declare-datatypes ((C64 0)) (((c64 (re64 (_ FloatingPoint 8 24)) (im64 (_ FloatingPoint 8 24))))))
(declare-datatypes ((C128 0)) (((c128 (re128 (_ FloatingPoint 11 53)) (im128 (_ FloatingPoint 11 53))))))";

/// Returns the expression of a floating-point number with these bits.
fn from_bits(ty: ElementType, bits: &str) -> String {
    match float_form(ty) {
        Some((exponent, mantissa)) => format!("((_ to_fp {exponent} {mantissa}) {bits})"),
        None => bits.to_string(),
    }
}

/// Returns the bits of a variable.
pub fn bits_of(ty: ElementType, value: u128) -> String {
    let width = ty.bit_width();
    if ty.is_pred() {
        return (value != 0).to_string();
    }
    format!("(_ bv{} {width})", value & (u128::MAX >> (128 - width)))
}

/// Returns the value with these bits.
pub fn value_of(ty: ElementType, value: u128) -> String {
    if !ty.is_complex() {
        return from_bits(ty, &bits_of(ty, value));
    }
    let (part, half) = (ty.real_type(), ty.bit_width() / 2);
    format!("({} {} {})", ty.name(), value_of(part, value), value_of(part, value >> half))
}

impl<'t> Translation<'t> {
    /// Declares the variables. A variable `v3` has its bits in `b3`.
    pub fn new(typing: &'t Typing, named: impl Iterator<Item = usize>, by_facts: bool) -> Self {
        let mut this = Self::empty(typing, by_facts);
        named.for_each(|v| this.variable(v, None));
        this
    }

    /// Defines the variables to have these bits.
    pub fn of_values(typing: &'t Typing, values: impl Iterator<Item = (usize, u128)>) -> Self {
        let mut this = Self::empty(typing, false);
        values.for_each(|(v, bits)| this.variable(v, Some(bits)));
        this
    }

    fn empty(typing: &'t Typing, by_facts: bool) -> Self {
        let (text, functions) = (String::new(), Vec::new());
        Self { typing, text, is_abstract: false, by_facts, defined: 0, functions }
    }

    /// Declares a variable, or defines it to have these bits.
    fn variable(&mut self, v: usize, value: Option<u128>) {
        let ty = self.typing.variables[v];
        let (sort, width) = (sort(ty), ty.bit_width());
        let bits = if ty.is_pred() { "Bool".to_string() } else { format!("(_ BitVec {width})") };
        match value {
            Some(value) => self.line(&format!("(define-fun b{v} () {bits} {})", bits_of(ty, value))),
            None => self.line(&format!("(declare-const b{v} {bits})")),
        }
        let value = if ty.is_complex() {
            let (part, half) = (ty.real_type(), width / 2);
            let re = from_bits(part, &format!("((_ extract {} 0) b{v})", half - 1));
            let im = from_bits(part, &format!("((_ extract {} {half}) b{v})", width - 1));
            format!("({} {re} {im})", ty.name())
        } else {
            from_bits(ty, &format!("b{v}"))
        };
        self.line(&format!("(define-fun v{v} () {sort} {value})"));
    }

    /// Returns the complete text.
    pub fn script(self) -> String {
        format!("{COMPLEX_SORTS}\n{}", self.text)
    }

    /// Adds a line to the text.
    pub fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// Defines a name for an expression, so that it can occur several times.
    fn define(&mut self, ty: ElementType, expression: &str) -> String {
        let name = format!("t{}", self.defined);
        self.defined += 1;
        let sort = sort(ty);
        self.line(&format!("(define-fun {name} () {sort} {expression})"));
        name
    }

    /// Returns a term's expression. `ty` is its element type.
    ///
    /// # Errors
    /// The solver has no such operation or number.
    pub fn term(&mut self, term: &Term, ty: ElementType) -> Result<String> {
        match term {
            Term::Variable(v) => Ok(format!("v{v}")),
            Term::Literal(value) => literal(*value, ty),
            Term::Computed(expression) => self.computed(expression, ty),
            Term::Rest(..) => Err(Untranslated("a list of operands has no translation".to_string())),
            Term::Operation(operation) => self.operation(operation, ty),
        }
    }

    /// Returns the name of an operation's result. `ty` is its element type.
    ///
    /// # Errors
    /// The solver has no such operation or number.
    pub fn operation(&mut self, operation: &Operation, ty: ElementType) -> Result<String> {
        let expression = self.expression(operation, ty)?;
        let name = self.define(ty, &expression);
        if let Some(v) = operation.bound {
            let sort = sort(ty);
            self.line(&format!("(define-fun v{v} () {sort} {name})"));
        }
        Ok(name)
    }

    fn expression(&mut self, operation: &Operation, result: ElementType) -> Result<String> {
        let opcode = operation.opcode;
        let missing = || Untranslated(format!("`{}` has no translation", opcode.name()));
        let ty = match opcode {
            Opcode::Convert => self.typing.type_of(&operation.operands[0], None).ok_or_else(missing)?,
            _ => self.typing.operand_type(operation, Some(result)).ok_or_else(missing)?,
        };
        if let (Opcode::Power, [x, Term::Literal(Value::Integer(exponent))]) =
            (opcode, &operation.operands[..])
            && ty.is_integer()
        {
            let x = self.term(x, ty)?;
            return integer_power(&x, *exponent, ty).ok_or_else(missing);
        }
        let mut operands = Vec::new();
        for (n, operand) in operation.operands.iter().enumerate() {
            let ty = if opcode == Opcode::Select && n == 0 { ElementType::Pred } else { ty };
            operands.push(self.term(operand, ty)?);
        }
        let all: Vec<&str> = operands.iter().map(String::as_str).collect();
        if opcode == Opcode::Select {
            return Ok(format!("(ite {})", all.join(" ")));
        }
        if opcode == Opcode::Convert {
            return convert(all[0], ty, result).ok_or_else(missing);
        }
        if let Some(direction) = operation.direction {
            return self.compare(operation, direction, (all[0], all[1]), ty).ok_or_else(missing);
        }
        if let Some(expression) = self.by_facts(opcode, &all, ty) {
            return Ok(expression);
        }
        let found = if ty.is_pred() {
            pred(opcode, &all)
        } else if ty.is_integer() {
            integer(opcode, &all, ty)
        } else if ty.is_complex() || opcode == Opcode::Complex {
            complex(opcode, &all, if ty.is_complex() { ty } else { result })
        } else {
            float(opcode, &all, ty)
        };
        Ok(found.unwrap_or_else(|| self.uninterpreted(opcode, &all, ty, result)))
    }

    /// Returns an operation of which the solver only gets facts that are enough for most rules.
    fn by_facts(&mut self, opcode: Opcode, operands: &[&str], ty: ElementType) -> Option<String> {
        if let (Opcode::Abs, &[a], true) = (opcode, operands, ty.is_complex()) {
            // The magnitude does not depend on the signs of the parts, and is not negative.
            let width = ty.bit_width();
            let parts = format!("({} (fp.abs (re{width} {a})) (fp.abs (im{width} {a})))", ty.name());
            let magnitude = self.uninterpreted(opcode, &[&parts], ty, ty.real_type());
            let magnitude = self.define(ty.real_type(), &magnitude);
            self.line(&format!("(assert (not (fp.isNegative {magnitude})))"));
            return Some(magnitude);
        }
        let &[a, b] = operands else { return None };
        if opcode == Opcode::Remainder && (ty.is_integer() && self.by_facts || float_form(ty).is_some()) {
            let name = self.uninterpreted(opcode, operands, ty, ty);
            let remainder = self.define(ty, &name);
            for fact in remainder_facts(&remainder, a, b, ty) {
                self.line(&format!("(assert {fact})"));
            }
            return Some(remainder);
        }
        if !self.by_facts || float_form(ty).is_none() || !matches!(opcode, Opcode::Multiply | Opcode::Divide)
        {
            return None;
        }
        // The magnitude depends on the magnitudes, because rounding to nearest is symmetric. The sign is the
        // exclusive or of the signs (IEEE 754, section 6.3).
        let magnitudes = [format!("(fp.abs {a})"), format!("(fp.abs {b})")];
        let of_magnitudes = self.uninterpreted(opcode, &[&magnitudes[0], &magnitudes[1]], ty, ty);
        let magnitude = self.define(ty, &of_magnitudes);
        self.line(&format!("(assert (=> (or (fp.isNaN {a}) (fp.isNaN {b})) (fp.isNaN {magnitude})))"));
        let negative = format!("(xor (fp.isNegative {a}) (fp.isNegative {b}))");
        Some(format!("(ite {negative} (fp.neg {magnitude}) {magnitude})"))
    }

    /// Returns an application of a function that is only known to be a function.
    fn uninterpreted(
        &mut self,
        opcode: Opcode,
        operands: &[&str],
        ty: ElementType,
        result: ElementType,
    ) -> String {
        self.is_abstract = true;
        let name = format!("{}-{}", opcode.name(), ty.name());
        if !self.functions.contains(&name) {
            let domain = vec![sort(ty); operands.len()].join(" ");
            let range = sort(result);
            self.line(&format!("(declare-fun {name} ({domain}) {range})"));
            self.functions.push(name.clone());
        }
        format!("({name} {})", operands.join(" "))
    }

    fn compare(
        &self,
        operation: &Operation,
        direction: Direction,
        (a, b): (&str, &str),
        ty: ElementType,
    ) -> Option<String> {
        use Direction::{Eq, Ge, Gt, Le, Lt, Ne};
        if ty.is_pred() {
            return Some(match direction {
                Eq => format!("(= {a} {b})"),
                Ne => format!("(not (= {a} {b}))"),
                Lt => format!("(and (not {a}) {b})"),
                Gt => format!("(and {a} (not {b}))"),
                Le => format!("(or (not {a}) {b})"),
                Ge => format!("(or {a} (not {b}))"),
            });
        }
        if ty.is_complex() {
            let [re, im] = ["re", "im"].map(|part| {
                let part = format!("{part}{}", ty.bit_width());
                format!("(fp.eq ({part} {a}) ({part} {b}))")
            });
            return match direction {
                Eq => Some(format!("(and {re} {im})")),
                Ne => Some(format!("(not (and {re} {im}))")),
                _ => None,
            };
        }
        if ty.is_float() && float_form(ty).is_none() {
            return None;
        }
        if ty.is_float() && self.typing.order == ComparisonType::TotalOrder {
            // The theory has only one NaN, so the order of NaNs is that of the variables' bits.
            let keys: Vec<String> =
                operation.operands.iter().map(|o| total_order_key(o, ty)).collect::<Option<_>>()?;
            return Some(ordered(direction, &keys[0], &keys[1], true));
        }
        if ty.is_float() {
            return Some(match direction {
                Eq => format!("(fp.eq {a} {b})"),
                Ne => format!("(not (fp.eq {a} {b}))"),
                Lt => format!("(fp.lt {a} {b})"),
                Gt => format!("(fp.gt {a} {b})"),
                Le => format!("(fp.leq {a} {b})"),
                Ge => format!("(fp.geq {a} {b})"),
            });
        }
        let signed = ty.is_signed_integer() && self.typing.order != ComparisonType::Unsigned;
        Some(ordered(direction, a, b, signed))
    }

    /// Returns the formula of a condition. The numbers of constants are those of the variables.
    ///
    /// # Errors
    /// The solver has no such number.
    pub fn condition(&self, condition: &Condition) -> Result<String> {
        if let Some(known) = self.typing.admits(condition) {
            return Ok(known.to_string());
        }
        Ok(match condition {
            Condition::All(list) => self.list("and", list)?,
            Condition::Any(list) => self.list("or", list)?,
            open if is_open(open) => "true".to_string(),
            Condition::Not(inner) if inner.iter().all(is_open) => "true".to_string(),
            Condition::Not(inner) => {
                let inner = inner.first().ok_or_else(|| Untranslated("a condition is empty".to_string()))?;
                format!("(not {})", self.condition(inner)?)
            }
            Condition::Compare(relation, a, b) | Condition::Always(relation, a, b) => {
                self.relation(*relation, a, b)?
            }
            _ => return Err(Untranslated("a condition has no translation".to_string())),
        })
    }

    fn list(&self, word: &str, list: &[Condition]) -> Result<String> {
        let parts = list.iter().map(|c| self.condition(c)).collect::<Result<Vec<_>>>()?;
        Ok(format!("({word} {})", parts.join(" ")))
    }

    fn relation(&self, relation: Relation, a: &Expression, b: &Expression) -> Result<String> {
        let direction = match relation {
            Relation::Below => Direction::Lt,
            Relation::AtMost => Direction::Le,
            Relation::Equal => Direction::Eq,
        };
        let is_float =
            |of: &Expression| matches!(of, Expression::Variable(v) if self.typing.variables[*v].is_float());
        if is_float(a) && is_float(b) {
            let key = |of: &Expression| match of {
                Expression::Variable(v) => total_order_key(&Term::Variable(*v), self.typing.variables[*v]),
                _ => None,
            };
            let missing = || Untranslated("a condition has no translation".to_string());
            let (x, y) = (key(a).ok_or_else(missing)?, key(b).ok_or_else(missing)?);
            let names = [a, b].map(|of| match of {
                Expression::Variable(v) => format!("(not (fp.isNaN v{v}))"),
                _ => "true".to_string(),
            });
            return Ok(format!("(and {} {} {})", names[0], names[1], ordered(direction, &x, &y, true)));
        }
        // A number and a floating-point number are not ordered.
        if is_float(a) || is_float(b) {
            return Ok("false".to_string());
        }
        let width = self.exact_bits(a).max(self.exact_bits(b)) + 1;
        let mut defined = Vec::new();
        let (x, y) = (self.integer(a, width, &mut defined)?, self.integer(b, width, &mut defined)?);
        defined.push(ordered(direction, &x, &y, true));
        Ok(format!("(and {})", defined.join(" ")))
    }

    /// Returns the number of bits of a signed integer that represents an expression and its parts exactly.
    fn exact_bits(&self, of: &Expression) -> u32 {
        match of {
            Expression::Variable(v) | Expression::Lowest(v) | Expression::Highest(v) => {
                self.typing.variables[*v].bit_width() + 1
            }
            Expression::Integer(n) => 65 - n.unsigned_abs().leading_zeros(),
            // A type has at most 128 bits.
            Expression::Width(_) | Expression::Reciprocal(_) => 9,
            Expression::Log2(operand) => operand.iter().map(|o| self.exact_bits(o)).max().unwrap_or(1).max(8),
            Expression::Result(arithmetic, operands) => {
                let bits = operands.iter().map(|operand| self.exact_bits(operand));
                match arithmetic {
                    Arithmetic::Multiply => bits.sum(),
                    Arithmetic::Add | Arithmetic::Subtract => bits.max().unwrap_or(1) + 1,
                    Arithmetic::Divide => bits.max().unwrap_or(1) + 1,
                    Arithmetic::Remainder | Arithmetic::Minimum | Arithmetic::Maximum => {
                        bits.max().unwrap_or(1)
                    }
                }
            }
            // `integer` has no translation of lists.
            _ => 1,
        }
    }

    /// Returns an integer as a signed bit vector. Adds the conditions for which it is defined to a list.
    fn integer(&self, of: &Expression, width: u32, defined: &mut Vec<String>) -> Result<String> {
        let ty = |v: usize| self.typing.variables[v];
        let number = |n: i128| wide_number(n, width);
        Ok(match of {
            Expression::Variable(v) if ty(*v).is_pred() => format!("(ite v{v} {} {})", number(1), number(0)),
            Expression::Variable(v) if ty(*v).is_integer() => {
                let word = if ty(*v).is_signed_integer() { "sign_extend" } else { "zero_extend" };
                format!("((_ {word} {}) v{v})", width - ty(*v).bit_width())
            }
            Expression::Log2(operand) => {
                let operand =
                    operand.first().ok_or_else(|| Untranslated("an expression is empty".to_string()))?;
                let largest = self.exact_bits(operand).min(127);
                let operand = self.integer(operand, width, defined)?;
                let powers: Vec<String> =
                    (0..largest).map(|n| format!("(= {operand} {})", number(1 << n))).collect();
                defined.push(format!("(or {})", powers.join(" ")));
                (0..largest).fold(number(0), |otherwise, n| {
                    format!("(ite (= {operand} {}) {} {otherwise})", number(1 << n), number(n.into()))
                })
            }
            Expression::Result(arithmetic, operands) => {
                let operands = operands.iter().map(|operand| self.integer(operand, width, defined));
                let operands = operands.collect::<Result<Vec<_>>>()?;
                let word = match arithmetic {
                    Arithmetic::Minimum | Arithmetic::Maximum => {
                        let (a, b) = (&operands[0], &operands[1]);
                        let (low, high) = if *arithmetic == Arithmetic::Minimum { (a, b) } else { (b, a) };
                        return Ok(format!("(ite (bvslt {a} {b}) {low} {high})"));
                    }
                    Arithmetic::Add => "bvadd",
                    Arithmetic::Subtract => "bvsub",
                    Arithmetic::Multiply => "bvmul",
                    Arithmetic::Divide => {
                        defined.push(format!("(not (= {} {}))", operands[1], number(0)));
                        "bvsdiv"
                    }
                    Arithmetic::Remainder => {
                        defined.push(format!("(not (= {} {}))", operands[1], number(0)));
                        "bvsrem"
                    }
                };
                format!("({word} {})", operands.join(" "))
            }
            other => match evaluate(other, &|_| None, &|v| Some(ty(v))) {
                Some(Number::Integer(n)) => number(n),
                _ => return Err(Untranslated("a number has no translation".to_string())),
            },
        })
    }

    /// Returns a computed constant. Asserts that it is defined, because the clause does not apply otherwise.
    fn computed(&mut self, of: &Expression, ty: ElementType) -> Result<String> {
        if let Expression::Reciprocal(v) = of {
            let one = literal(Value::Integer(1), ty)?;
            let reciprocal = self.define(ty, &format!("(fp.div RNE {one} v{v})"));
            let (_, mantissa) = float_form(ty).ok_or_else(|| Untranslated("no reciprocal".to_string()))?;
            let zeros = bits(0, mantissa - 1);
            self.line(&format!(
                "(assert (and (= ((_ extract {} 0) b{v}) {zeros}) (fp.isNormal v{v}) (fp.isNormal {reciprocal})))",
                mantissa - 2
            ));
            return Ok(reciprocal);
        }
        if !ty.is_integer() {
            return Err(Untranslated("a number is computed in a type that has no translation".to_string()));
        }
        let width = self.exact_bits(of).max(ty.bit_width()) + 2;
        let mut defined = Vec::new();
        let value = self.integer(of, width, &mut defined)?;
        let result = self.define(ty, &format!("((_ extract {} 0) {value})", ty.bit_width() - 1));
        let word = if ty.is_signed_integer() { "sign_extend" } else { "zero_extend" };
        defined.push(format!("(= {value} ((_ {word} {}) {result}))", width - ty.bit_width()));
        self.line(&format!("(assert (and {}))", defined.join(" ")));
        Ok(result)
    }
}

/// Returns whether a condition does not restrict the elements. A proof does not depend on it: it is taken for true,
/// and so is its opposite.
pub fn is_open(condition: &Condition) -> bool {
    match condition {
        Condition::Constant(_)
        | Condition::SameSizes(..)
        | Condition::SameOpcode(..)
        | Condition::SameRank(..)
        | Condition::Empty(_)
        | Condition::Scalar(_)
        | Condition::Some(..) => true,
        Condition::Compare(_, a, b) => a.has_lists() || b.has_lists(),
        _ => false,
    }
}

/// Returns a signed integer of this width.
fn wide_number(n: i128, width: u32) -> String {
    let magnitude = format!("(_ bv{} {width})", n.unsigned_abs());
    if n < 0 { format!("(bvneg {magnitude})") } else { magnitude }
}

/// Returns the comparison of two bit vectors.
fn ordered(direction: Direction, a: &str, b: &str, signed: bool) -> String {
    use Direction::{Eq, Ge, Gt, Le, Lt, Ne};
    let sign = if signed { 's' } else { 'u' };
    match direction {
        Eq => format!("(= {a} {b})"),
        Ne => format!("(not (= {a} {b}))"),
        Lt => format!("(bv{sign}lt {a} {b})"),
        Gt => format!("(bv{sign}gt {a} {b})"),
        Le => format!("(bv{sign}le {a} {b})"),
        Ge => format!("(bv{sign}ge {a} {b})"),
    }
}

/// Returns the signed integer by which a floating-point variable is ordered: the bits, with those below the
/// sign inverted if the sign is set.
fn total_order_key(term: &Term, ty: ElementType) -> Option<String> {
    let Term::Variable(v) = term else { return None };
    float_form(ty)?;
    let width = ty.bit_width();
    let below_sign = bits(u64::MAX >> (65 - width), width);
    Some(format!("(ite (bvslt b{v} {}) (bvxor b{v} {below_sign}) b{v})", bits(0, width)))
}

/// Returns the expression of a literal.
fn literal(value: Value, ty: ElementType) -> Result<String> {
    let missing = || Untranslated(format!("{} has no such number", ty.name()));
    let bytes = value_bytes(value, ty).ok_or_else(missing)?;
    let mut wide = [0; 8];
    wide.get_mut(..bytes.len()).ok_or_else(missing)?.copy_from_slice(&bytes);
    let number = u64::from_le_bytes(wide);
    if ty.is_pred() {
        return Ok((number != 0).to_string());
    }
    Ok(from_bits(ty, &bits(number, ty.bit_width())))
}

/// Returns what is true of a remainder: it is below the divisor, and a dividend below the divisor is its own
/// remainder.
fn remainder_facts(remainder: &str, a: &str, b: &str, ty: ElementType) -> Vec<String> {
    if ty.is_float() {
        let none = format!("(or (fp.isNaN {a}) (fp.isInfinite {a}) (fp.isNaN {b}) (fp.isZero {b}))");
        return vec![
            format!("(= (fp.isNaN {remainder}) {none})"),
            format!("(or {none} (fp.lt (fp.abs {remainder}) (fp.abs {b})))"),
            format!("(=> (and (not {none}) (fp.lt (fp.abs {a}) (fp.abs {b}))) (= {remainder} {a}))"),
        ];
    }
    let zero = bits(0, ty.bit_width());
    let magnitude = |x: &str| {
        if ty.is_signed_integer() {
            format!("(ite (bvslt {x} {zero}) (bvneg {x}) {x})")
        } else {
            x.to_string()
        }
    };
    let (small, of_a, of_b) = (magnitude(remainder), magnitude(a), magnitude(b));
    vec![
        format!("(=> (= {b} {zero}) (= {remainder} {a}))"),
        format!("(or (= {b} {zero}) (bvult {small} {of_b}))"),
        format!("(=> (bvult {of_a} {of_b}) (= {remainder} {a}))"),
    ]
}

/// The operations on complex numbers that compute each part by itself. `ty` is the complex type.
fn complex(opcode: Opcode, operands: &[&str], ty: ElementType) -> Option<String> {
    let (make, width) = (ty.name(), ty.bit_width());
    let parts = |of: &dyn Fn(&str) -> String| format!("({make} {} {})", of("re"), of("im"));
    let part = |name: &str, x: &str| format!("({name}{width} {x})");
    Some(match (opcode, operands) {
        (Opcode::Complex, [re, im]) => format!("({make} {re} {im})"),
        (Opcode::Real, [a]) => part("re", a),
        (Opcode::Imag, [a]) => part("im", a),
        // By the real part; the second operand if the real parts cannot be compared.
        (Opcode::Maximum, [a, b]) => format!("(ite (fp.geq {} {}) {a} {b})", part("re", a), part("re", b)),
        (Opcode::Minimum, [a, b]) => format!("(ite (fp.leq {} {}) {a} {b})", part("re", a), part("re", b)),
        (Opcode::Negate, [a]) => parts(&|name| format!("(fp.neg {})", part(name, a))),
        (Opcode::Add, [a, b]) => parts(&|name| format!("(fp.add RNE {} {})", part(name, a), part(name, b))),
        (Opcode::Subtract, [a, b]) => {
            parts(&|name| format!("(fp.sub RNE {} {})", part(name, a), part(name, b)))
        }
        _ => return None,
    })
}

fn pred(opcode: Opcode, operands: &[&str]) -> Option<String> {
    let word = match (opcode, operands.len()) {
        (Opcode::And | Opcode::Multiply | Opcode::Minimum, 2) => "and",
        (Opcode::Or | Opcode::Add | Opcode::Maximum, 2) => "or",
        (Opcode::Xor | Opcode::Subtract, 2) => "xor",
        (Opcode::Not, 1) => "not",
        (Opcode::Clamp, 3) => {
            return Some(format!("(and (or {1} {0}) {2})", operands[0], operands[1], operands[2]));
        }
        _ => return None,
    };
    Some(format!("({word} {})", operands.join(" ")))
}

/// Cases that the semantics leave unspecified are as in the interpreter: x / 0 is all ones, and x % 0 is x.
fn integer(opcode: Opcode, operands: &[&str], ty: ElementType) -> Option<String> {
    let (width, signed) = (ty.bit_width(), ty.is_signed_integer());
    let (zero, ones) = (bits(0, width), bits(u64::MAX, width));
    let less = if signed { "bvslt" } else { "bvult" };
    Some(match (opcode, operands) {
        (Opcode::Add, [a, b]) => format!("(bvadd {a} {b})"),
        (Opcode::Subtract, [a, b]) => format!("(bvsub {a} {b})"),
        (Opcode::Multiply, [a, b]) => format!("(bvmul {a} {b})"),
        (Opcode::Divide, [a, b]) if signed => format!("(ite (= {b} {zero}) {ones} (bvsdiv {a} {b}))"),
        (Opcode::Divide, [a, b]) => format!("(bvudiv {a} {b})"),
        (Opcode::Remainder, [a, b]) if signed => format!("(bvsrem {a} {b})"),
        (Opcode::Remainder, [a, b]) => format!("(bvurem {a} {b})"),
        (Opcode::Maximum, [a, b]) => format!("(ite ({less} {a} {b}) {b} {a})"),
        (Opcode::Minimum, [a, b]) => format!("(ite ({less} {a} {b}) {a} {b})"),
        (Opcode::And, [a, b]) => format!("(bvand {a} {b})"),
        (Opcode::Or, [a, b]) => format!("(bvor {a} {b})"),
        (Opcode::Xor, [a, b]) => format!("(bvxor {a} {b})"),
        (Opcode::Not, [a]) => format!("(bvnot {a})"),
        (Opcode::Negate, [a]) => format!("(bvneg {a})"),
        (Opcode::Abs, [a]) if signed => format!("(ite (bvslt {a} {zero}) (bvneg {a}) {a})"),
        (Opcode::Abs, [a]) => (*a).to_string(),
        (Opcode::Sign, [a]) if signed => {
            let one = bits(1, width);
            format!("(ite (bvslt {a} {zero}) {ones} (ite (= {a} {zero}) {zero} {one}))")
        }
        (Opcode::ShiftLeft, [a, b]) => format!("(bvshl {a} {b})"),
        (Opcode::ShiftRightLogical, [a, b]) => format!("(bvlshr {a} {b})"),
        (Opcode::ShiftRightArithmetic, [a, b]) => format!("(bvashr {a} {b})"),
        (Opcode::Clamp, [low, x, high]) => {
            let raised = format!("(ite ({less} {x} {low}) {low} {x})");
            format!("(ite ({less} {raised} {high}) {raised} {high})")
        }
        _ => return None,
    })
}

/// Returns `x` to a small power, as the interpreter computes it.
fn integer_power(x: &str, exponent: i64, ty: ElementType) -> Option<String> {
    if !(0..=8).contains(&exponent) {
        return None;
    }
    let one = bits(1, ty.bit_width());
    Some((0..exponent).fold(one, |product, _| format!("(bvmul {product} {x})")))
}

fn float(opcode: Opcode, operands: &[&str], ty: ElementType) -> Option<String> {
    float_form(ty)?;
    Some(match (opcode, operands) {
        (Opcode::Add, [a, b]) => format!("(fp.add RNE {a} {b})"),
        (Opcode::Subtract, [a, b]) => format!("(fp.sub RNE {a} {b})"),
        (Opcode::Multiply, [a, b]) => format!("(fp.mul RNE {a} {b})"),
        (Opcode::Divide, [a, b]) => format!("(fp.div RNE {a} {b})"),
        (Opcode::Negate, [a]) => format!("(fp.neg {a})"),
        (Opcode::Abs, [a]) => format!("(fp.abs {a})"),
        (Opcode::Sqrt, [a]) => format!("(fp.sqrt RNE {a})"),
        (Opcode::Floor, [a]) => format!("(fp.roundToIntegral RTN {a})"),
        (Opcode::Ceil, [a]) => format!("(fp.roundToIntegral RTP {a})"),
        (Opcode::RoundNearestEven, [a]) => format!("(fp.roundToIntegral RNE {a})"),
        (Opcode::RoundNearestAfz, [a]) => format!("(fp.roundToIntegral RNA {a})"),
        (Opcode::Maximum, [a, b]) => maximum(a, b),
        (Opcode::Minimum, [a, b]) => minimum(a, b),
        (Opcode::Clamp, [low, x, high]) => minimum(&maximum(x, low), high),
        (Opcode::Real, [a]) => (*a).to_string(),
        (Opcode::Imag, [_]) => literal(Value::Integer(0), ty).ok()?,
        (Opcode::Sign, [a]) => {
            let (one, minus) = (literal(Value::Integer(1), ty).ok()?, literal(Value::Integer(-1), ty).ok()?);
            format!("(ite (or (fp.isZero {a}) (fp.isNaN {a})) {a} (ite (fp.isNegative {a}) {minus} {one}))")
        }
        _ => return None,
    })
}

/// NaN if either is NaN, and -0 below +0.
fn maximum(a: &str, b: &str) -> String {
    let takes = format!("(or (fp.isNaN {a}) (fp.gt {a} {b}) (and (fp.eq {a} {b}) (fp.isNegative {b})))");
    format!("(ite {takes} {a} {b})")
}

fn minimum(a: &str, b: &str) -> String {
    let takes = format!("(or (fp.isNaN {a}) (fp.lt {a} {b}) (and (fp.eq {a} {b}) (fp.isNegative {a})))");
    format!("(ite {takes} {a} {b})")
}

/// Returns the conversion between two types, if it has a translation.
fn convert(a: &str, from: ElementType, to: ElementType) -> Option<String> {
    if from == to {
        return Some(a.to_string());
    }
    if from.is_pred() && (to.is_integer() || float_form(to).is_some()) {
        let (one, zero) = (literal(Value::Integer(1), to).ok()?, literal(Value::Integer(0), to).ok()?);
        return Some(format!("(ite {a} {one} {zero})"));
    }
    if from.is_integer() && to.is_integer() {
        let (narrow, wide) = (from.bit_width(), to.bit_width());
        if wide <= narrow {
            return Some(format!("((_ extract {} 0) {a})", wide - 1));
        }
        let word = if from.is_signed_integer() { "sign_extend" } else { "zero_extend" };
        return Some(format!("((_ {word} {}) {a})", wide - narrow));
    }
    let (exponent, mantissa) = float_form(to)?;
    if float_form(from).is_some() {
        return Some(format!("((_ to_fp {exponent} {mantissa}) RNE {a})"));
    }
    if !from.is_integer() {
        return None;
    }
    let word = if from.is_signed_integer() { "to_fp" } else { "to_fp_unsigned" };
    Some(format!("((_ {word} {exponent} {mantissa}) RNE {a})"))
}
