//! The language of rewrite rules. `docs/adding-a-rule.md` describes it, and `grammar/rules.pest` is its grammar.
//!
//! The build script of `hlo-passes` [parses](parse) the rules and translates them to [tables](rust_tables), so
//! that a program that uses rules parses nothing. This crate therefore knows opcodes only by name: it does not
//! depend on `hlo-ir`, which would be built a second time for the build script.

mod lists;
mod parse;
mod rust;

use std::borrow::Cow;

pub use lists::{Entry, Length, Lists, common, entry, length};
pub use parse::parse;
pub use rust::rust_tables;

/// A list in a table of the program, or of a parsed text.
pub type List<T> = Cow<'static, [T]>;

/// A text in a table of the program, or of a parsed text.
pub type Text = Cow<'static, str>;

/// A rewrite rule: a name, and clauses that are tried in their order. `O` is the type of an opcode: a name, or
/// the opcode of `hlo-ir`.
#[derive(Clone, Debug)]
pub struct Rule<O: Clone + 'static> {
    /// The name in statistics and in the documentation.
    pub name: Text,
    /// The text of each clause in one line, with `→` for `=>`. Choices are not resolved.
    pub lines: List<Text>,
    /// All lines in one line.
    pub summary: Text,
    /// The clauses. A clause of the text that has choices becomes several clauses.
    pub clauses: List<Clause<O>>,
}

/// A pattern and the value that replaces what it matches.
#[derive(Clone, Debug)]
pub struct Clause<O: Clone + 'static> {
    /// The line in the text, counted from 1.
    pub line: usize,
    /// The text, without choices: `maximum(x, x) → x`.
    pub text: Text,
    /// The pattern.
    pub pattern: Operation<O>,
    /// The value that replaces the instruction that the pattern matches.
    pub replacement: Term<O>,
    /// The condition for the replacement.
    pub condition: Condition,
    /// The names of the variables. A [`Term::Variable`] is an index of this list. A variable without a name is
    /// a part of the pattern that the replacement uses again.
    pub variables: List<Text>,
    /// The names of the lists of numbers in braces. An [`Expression::List`] is an index of this list.
    pub lists: List<Text>,
    /// The names of the lists of operands. A [`Term::Rest`] is an index of this list.
    pub rests: List<Text>,
}

/// A value in a pattern or in a replacement.
#[derive(Clone, Debug, PartialEq)]
pub enum Term<O: Clone + 'static> {
    /// Any value in a pattern, and that value in the replacement. A variable that occurs twice in a pattern
    /// matches equal values.
    Variable(usize),
    /// A constant whose elements are all equal.
    Literal(Value),
    /// A constant that is computed from constants of the pattern. The clause does not apply if the element type
    /// does not represent it.
    Computed(Expression),
    /// All other operands of an operation. In a replacement, the list may contain one expression with the
    /// numbers of the operands to use.
    Rest(usize, List<Expression>),
    /// An operation.
    Operation(Operation<O>),
}

/// An operation in a pattern or in a replacement.
#[derive(Clone, Debug, PartialEq)]
pub struct Operation<O: Clone + 'static> {
    /// The opcode.
    pub opcode: O,
    /// The numbers of the attributes. In a pattern, a list that occurs for the first time matches any numbers.
    /// The list is empty if the pattern does not examine the attributes.
    pub numbers: List<Expression>,
    /// The operands.
    pub operands: List<Term<O>>,
    /// The direction of a comparison. All comparisons of a clause have the same type of order.
    pub direction: Option<Direction>,
    /// Whether the operation only matches if nothing else uses its result.
    pub once: bool,
    /// The variable that the matched instruction is bound to, if the replacement uses it.
    pub bound: Option<usize>,
}

/// The direction of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of HLO text")]
pub enum Direction {
    Eq,
    Ne,
    Ge,
    Gt,
    Le,
    Lt,
}

/// The element of a constant. -0.0 differs from 0.0.
#[derive(Clone, Copy, Debug)]
pub enum Value {
    /// An integer, or a floating-point number of that value. 0 is +0.
    Integer(i64),
    /// A floating-point number, with its sign if it is 0.
    Float(f64),
    /// The element of type `pred`.
    Pred(bool),
    /// The lowest value of the type: -∞ for floating-point numbers.
    Lowest,
    /// The highest value of the type: ∞ for floating-point numbers.
    Highest,
    /// The integer with all bits set, or true.
    Ones,
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Value::Integer(a), Value::Integer(b)) => a == b,
            (Value::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits(),
            (Value::Pred(a), Value::Pred(b)) => a == b,
            (Value::Lowest, Value::Lowest)
            | (Value::Highest, Value::Highest)
            | (Value::Ones, Value::Ones) => true,
            _ => false,
        }
    }
}

/// A condition of a clause.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// All of these conditions.
    All(List<Condition>),
    /// At least one of these conditions.
    Any(List<Condition>),
    /// The list contains one condition, which must be false.
    Not(List<Condition>),
    /// The variable has an element type of this class.
    Type(TypeClass, usize),
    /// The variables have the same element type.
    SameType(usize, usize),
    /// The variables have the same sizes.
    SameSizes(usize, usize),
    /// The variables are results of the same opcode, such as two broadcasts.
    SameOpcode(usize, usize),
    /// All elements of the variable are known: a constant, or a broadcast of a constant scalar.
    Constant(usize),
    /// The relation is true for the numbers, or for all dimensions of lists. -0 is below +0, and NaN is neither
    /// below nor above any number.
    Compare(Relation, Expression, Expression),
    /// The relation is true for at least one dimension of lists.
    Some(Relation, Expression, Expression),
    /// The relation is true for all elements of integer variables, as far as their ranges are known.
    Always(Relation, Expression, Expression),
    /// The variable has no elements.
    Empty(usize),
    /// The variable has no dimensions.
    Scalar(usize),
    /// The variables have equally many dimensions.
    SameRank(usize, usize),
    /// The comparisons of the pattern compare integers, predicates, or floating-point numbers in their total
    /// order: exactly one of `<`, `=` and `>` is true for two values.
    Ordered,
    /// The comparisons of the pattern compare the values of integers or predicates.
    ByInteger,
    /// The comparisons of the pattern compare integers, predicates, or floating-point numbers by value.
    ByValue,
}

/// A number that is computed from constants and element types.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// This integer.
    Integer(i64),
    /// The value that all elements of the variable have.
    Variable(usize),
    /// The width of the variable's element type in bits.
    Width(usize),
    /// The lowest value of the variable's integer type.
    Lowest(usize),
    /// The highest value of the variable's integer type.
    Highest(usize),
    /// The exponent of the only integer in this list, which is a power of two.
    Log2(List<Expression>),
    /// The reciprocal of a floating-point number that is a power of two. Both are normal numbers.
    Reciprocal(usize),
    /// The result of an operation on two integers.
    Result(Arithmetic, List<Expression>),
    /// A list of numbers in the pattern.
    List(usize),
    /// The sizes of an array.
    Sizes(usize),
    /// The values of the scalars in a list of operands.
    Values(usize),
    /// The list 0, 1, 2, … of the numbers of the dimensions.
    Index,
    /// The list of the entries of the first list whose numbers are in the second one.
    At(List<Expression>),
    /// The list of the positions at which a list contains 0, 1, 2, ….
    Inverse(List<Expression>),
    /// The list with the number of zeros before each entry of a list. If the list has 1 for the dimensions that
    /// an operation removes, these are the new numbers of the others.
    Kept(List<Expression>),
    /// The third expression where the relation of the first two is true, and the fourth one elsewhere.
    If(Relation, List<Expression>),
}

/// A relation of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// The first number is below the second.
    Below,
    /// The first number is not above the second.
    AtMost,
    /// Both are equal.
    Equal,
}

impl Relation {
    /// Returns whether the relation is true for two numbers.
    pub fn of<N: Ord>(self, a: &N, b: &N) -> bool {
        match self {
            Relation::Below => a < b,
            Relation::AtMost => a <= b,
            Relation::Equal => a == b,
        }
    }
}

impl Expression {
    /// Returns the expressions from which the expression is computed.
    pub fn parts(&self) -> &[Expression] {
        match self {
            Expression::Log2(parts)
            | Expression::Result(_, parts)
            | Expression::At(parts)
            | Expression::Inverse(parts)
            | Expression::Kept(parts)
            | Expression::If(_, parts) => parts,
            _ => &[],
        }
    }

    /// Returns the expression and all of its parts, also those of parts.
    pub fn all(&self) -> Vec<&Expression> {
        let mut found = vec![self];
        found.extend(self.parts().iter().flat_map(Expression::all));
        found
    }

    /// Returns the variables whose values the expression contains.
    pub fn variables(&self) -> Vec<usize> {
        let variable = |part: &Expression| match part {
            Expression::Variable(v) | Expression::Reciprocal(v) => Some(*v),
            _ => None,
        };
        self.all().into_iter().filter_map(variable).collect()
    }

    /// Returns the lists of the pattern that the expression contains, each as often as it occurs.
    pub fn lists(&self) -> Vec<usize> {
        let list = |part: &Expression| match part {
            Expression::List(list) => Some(*list),
            _ => None,
        };
        self.all().into_iter().filter_map(list).collect()
    }

    /// Returns whether the expression is a list with a number for each dimension, or computed from lists.
    pub fn has_lists(&self) -> bool {
        match self {
            Expression::List(_) | Expression::Sizes(_) | Expression::Values(_) | Expression::Index => true,
            Expression::At(_) | Expression::Inverse(_) | Expression::Kept(_) | Expression::If(..) => true,
            other => other.parts().iter().any(Expression::has_lists),
        }
    }
}

impl Condition {
    /// Returns the conditions of which the condition consists.
    pub fn parts(&self) -> &[Condition] {
        match self {
            Condition::All(list) | Condition::Any(list) | Condition::Not(list) => list,
            _ => &[],
        }
    }

    /// Returns all expressions that the condition and its parts compare.
    pub fn expressions(&self) -> Vec<&Expression> {
        match self {
            Condition::Compare(_, a, b) | Condition::Some(_, a, b) | Condition::Always(_, a, b) => vec![a, b],
            other => other.parts().iter().flat_map(Condition::expressions).collect(),
        }
    }

    /// Evaluates the condition. `leaf` evaluates the conditions that contain no others, and returns `None` if it
    /// does not know the result. Returns `None` if the result depends on such conditions.
    pub fn known(&self, leaf: &dyn Fn(&Condition) -> Option<bool>) -> Option<bool> {
        // One result `end` decides about the whole list.
        let all = |list: &[Condition], end: bool| {
            let known: Vec<Option<bool>> = list.iter().map(|condition| condition.known(leaf)).collect();
            if known.contains(&Some(end)) {
                return Some(end);
            }
            known.iter().all(Option::is_some).then_some(!end)
        };
        match self {
            Condition::All(list) => all(list, false),
            Condition::Any(list) => all(list, true),
            Condition::Not(inner) => inner.first()?.known(leaf).map(|known| !known),
            other => leaf(other),
        }
    }
}

/// An operation on integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    /// The sum.
    Add,
    /// The difference.
    Subtract,
    /// The product.
    Multiply,
    /// The quotient, rounded toward 0.
    Divide,
    /// The remainder, with the sign of the dividend.
    Remainder,
    /// The smaller number.
    Minimum,
    /// The larger number.
    Maximum,
}

impl Arithmetic {
    /// Returns the result for two integers, or `None` if it does not fit or is not defined.
    pub fn compute(self, a: i128, b: i128) -> Option<i128> {
        match self {
            Arithmetic::Add => a.checked_add(b),
            Arithmetic::Subtract => a.checked_sub(b),
            Arithmetic::Multiply => a.checked_mul(b),
            Arithmetic::Divide => a.checked_div(b),
            Arithmetic::Remainder => a.checked_rem(b),
            Arithmetic::Minimum => Some(a.min(b)),
            Arithmetic::Maximum => Some(a.max(b)),
        }
    }
}

/// A class of element types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeClass {
    /// Signed and unsigned integers.
    Integer,
    /// Signed integers.
    Signed,
    /// Unsigned integers.
    Unsigned,
    /// Floating-point numbers.
    Float,
    /// Complex numbers.
    Complex,
    /// Predicates.
    Pred,
    /// All types except `f8e8m0fnu`, the only floating-point type without signs.
    Negatable,
}

impl TypeClass {
    /// The classes with their names in rules.
    pub const ALL: &[(&str, TypeClass)] = &[
        ("integer", TypeClass::Integer),
        ("signed", TypeClass::Signed),
        ("unsigned", TypeClass::Unsigned),
        ("float", TypeClass::Float),
        ("complex", TypeClass::Complex),
        ("pred", TypeClass::Pred),
        ("negatable", TypeClass::Negatable),
    ];
}

impl<O: Clone + 'static> Clause<O> {
    /// Returns the operations of the pattern and of the replacement.
    pub fn operations(&self) -> Vec<&Operation<O>> {
        let replacement = match &self.replacement {
            Term::Operation(operation) => operation.all(),
            _ => Vec::new(),
        };
        [self.pattern.all(), replacement].concat()
    }
}

impl<O: Clone + 'static> Operation<O> {
    /// Returns the operation and all operations inside it.
    pub fn all(&self) -> Vec<&Operation<O>> {
        let mut found = vec![self];
        for operand in self.operands.iter() {
            if let Term::Operation(inner) = operand {
                found.extend(inner.all());
            }
        }
        found
    }

    /// Returns the operation with other opcodes.
    ///
    /// # Errors
    /// The first error of `opcode`.
    pub fn try_map<P: Clone + 'static, E>(
        &self,
        opcode: &impl Fn(&Operation<O>) -> Result<P, E>,
    ) -> Result<Operation<P>, E> {
        let operands = self.operands.iter().map(|operand| operand.try_map(opcode));
        Ok(Operation {
            opcode: opcode(self)?,
            numbers: self.numbers.clone(),
            operands: operands.collect::<Result<Vec<_>, E>>()?.into(),
            direction: self.direction,
            once: self.once,
            bound: self.bound,
        })
    }
}

impl<O: Clone + 'static> Term<O> {
    /// Returns the term with other opcodes.
    ///
    /// # Errors
    /// The first error of `opcode`.
    pub fn try_map<P: Clone + 'static, E>(
        &self,
        opcode: &impl Fn(&Operation<O>) -> Result<P, E>,
    ) -> Result<Term<P>, E> {
        Ok(match self {
            Term::Variable(v) => Term::Variable(*v),
            Term::Literal(value) => Term::Literal(*value),
            Term::Computed(expression) => Term::Computed(expression.clone()),
            Term::Rest(rest, at) => Term::Rest(*rest, at.clone()),
            Term::Operation(operation) => Term::Operation(operation.try_map(opcode)?),
        })
    }
}

/// An error in a text of rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleError {
    /// The line, counted from 1.
    pub line: usize,
    /// The expected and the found text, in words.
    pub message: String,
}

impl std::fmt::Display for RuleError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for RuleError {}
