//! Integers that are known, or that are terms of the solver.

use hlo_passes::rewriting::{Arithmetic, Entry, Relation};

/// An integer of a proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Number {
    /// This integer.
    Known(i128),
    /// The value of a term of sort `Int`.
    Term(String),
}

use Number::{Known, Term};

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            // SMT-LIB has no negative literals.
            Known(value) if *value < 0 => write!(f, "(- {})", value.unsigned_abs()),
            Known(value) => write!(f, "{value}"),
            Term(term) => f.write_str(term),
        }
    }
}

impl Number {
    /// Returns the sum.
    pub fn plus(&self, other: &Number) -> Number {
        match (self, other) {
            (Known(0), x) | (x, Known(0)) => x.clone(),
            (Known(a), Known(b)) => Known(a + b),
            (a, b) => Term(format!("(+ {a} {b})")),
        }
    }

    /// Returns the difference.
    pub fn minus(&self, other: &Number) -> Number {
        match (self, other) {
            (x, Known(0)) => x.clone(),
            (Known(a), Known(b)) => Known(a - b),
            (a, b) => Term(format!("(- {a} {b})")),
        }
    }

    /// Returns the product.
    pub fn times(&self, other: &Number) -> Number {
        match (self, other) {
            (Known(0), _) | (_, Known(0)) => Known(0),
            (Known(1), x) | (x, Known(1)) => x.clone(),
            (Known(a), Known(b)) => Known(a * b),
            (a, b) => Term(format!("(* {a} {b})")),
        }
    }

    /// Returns the formula of a relation.
    pub fn relate(&self, relation: Relation, other: &Number) -> String {
        if let (Known(a), Known(b)) = (self, other) {
            return relation.of(a, b).to_string();
        }
        let sign = match relation {
            Relation::Below => "<",
            Relation::AtMost => "<=",
            Relation::Equal => "=",
        };
        format!("({sign} {self} {other})")
    }

    /// Returns the formula that both numbers are equal.
    pub fn equals(&self, other: &Number) -> String {
        if self == other { "true".to_string() } else { self.relate(Relation::Equal, other) }
    }

    /// Returns the formula that the number is an index below `size`.
    pub fn is_below(&self, size: &Number) -> String {
        format!("(and (<= 0 {self}) (< {self} {size}))")
    }
}

/// Returns a conjunction.
pub fn all(formulas: impl IntoIterator<Item = String>) -> String {
    joined("and", formulas, ["true", "false"])
}

/// Returns a disjunction.
pub fn any(formulas: impl IntoIterator<Item = String>) -> String {
    joined("or", formulas, ["false", "true"])
}

/// Joins formulas. `neutral` changes nothing, and `absorbing` is the result if it occurs.
fn joined(word: &str, formulas: impl IntoIterator<Item = String>, [neutral, absorbing]: [&str; 2]) -> String {
    let mut formulas: Vec<String> = formulas.into_iter().filter(|formula| formula != neutral).collect();
    if formulas.iter().any(|formula| formula == absorbing) {
        return absorbing.to_string();
    }
    match formulas.len() {
        0 => neutral.to_string(),
        1 => formulas.remove(0),
        _ => format!("({word} {})", formulas.join(" ")),
    }
}

/// Returns the formula that two lists are equal.
pub fn same_list(a: &[Number], b: &[Number]) -> String {
    if a.len() != b.len() {
        return "false".to_string();
    }
    all(a.iter().zip(b).map(|(a, b)| a.equals(b)))
}

/// Returns a number, or `None` if its text is very long. Each operation can repeat its operands.
fn short(number: Number) -> Option<Number> {
    const MAX_LENGTH: usize = 20_000;
    match &number {
        Term(text) if text.len() > MAX_LENGTH => None,
        _ => Some(number),
    }
}

/// Returns the product of a list.
pub fn product(list: &[Number]) -> Number {
    list.iter().fold(Known(1), |product, number| product.times(number))
}

impl Entry for Number {
    fn integer(value: i64) -> Self {
        Known(value.into())
    }

    fn compute(arithmetic: Arithmetic, a: Self, b: Self) -> Option<Self> {
        if let (Known(a), Known(b)) = (&a, &b) {
            return arithmetic.compute(*a, *b).map(Known);
        }
        // SMT-LIB rounds quotients so that remainders are not negative.
        let quotient = |a: &Number, b: &Number| match b {
            Known(1) => a.clone(),
            b => Term(format!("(ite (<= 0 {a}) (div {a} {b}) (- (div (- {a}) {b})))")),
        };
        let smaller = |a: &Number, b: &Number, c: &Number, d: &Number| {
            Term(format!("(ite {} {c} {d})", a.relate(Relation::Below, b)))
        };
        short(match arithmetic {
            Arithmetic::Minimum => smaller(&a, &b, &a, &b),
            Arithmetic::Maximum => smaller(&a, &b, &b, &a),
            Arithmetic::Add => a.plus(&b),
            Arithmetic::Subtract => a.minus(&b),
            Arithmetic::Multiply => a.times(&b),
            Arithmetic::Divide => quotient(&a, &b),
            Arithmetic::Remainder if b == Known(1) => Known(0),
            Arithmetic::Remainder => a.minus(&b.times(&quotient(&a, &b))),
        })
    }

    fn choose(
        relation: Relation,
        a: Self,
        b: Self,
        yes: impl FnOnce() -> Option<Self>,
        no: impl FnOnce() -> Option<Self>,
    ) -> Option<Self> {
        match a.relate(relation, &b).as_str() {
            "true" => yes(),
            "false" => no(),
            formula => {
                let (yes, no) = (yes()?, no()?);
                short(if yes == no { yes } else { Term(format!("(ite {formula} {yes} {no})")) })
            }
        }
    }

    fn index(&self) -> Option<usize> {
        match self {
            Known(value) => usize::try_from(*value).ok(),
            Term(_) => None,
        }
    }
}
