//! The text form of contractions: `{(d0,d1) += (d0,d2) * (d2,d1), d0-d2 < 5}`.

use super::{Affine, Aggregation, Combination, Constraint, Contraction, MAX_INDICES};
use crate::attr::{AttrError, AttrReader, AttrValue, ComputationNames};
use std::fmt;

impl AttrValue for Contraction {
    const RULE: &'static str = "contraction";

    fn read(r: &mut AttrReader<'_>) -> Result<Self, AttrError> {
        r.expect("{")?;
        let output = access(r)?;
        let aggregation = aggregation(r)?;
        let mut operands = vec![access(r)?];
        let mut combination = match () {
            () if r.eat("==") => Combination::Equal,
            () if r.eat("*") => Combination::Multiply,
            () if r.eat("+") => Combination::Add,
            () => Combination::Single,
        };
        if combination != Combination::Single {
            operands.push(access(r)?);
        }
        if combination == Combination::Equal && r.eat("?") {
            combination = Combination::Select;
            operands.push(access(r)?);
        }
        let constraints = if r.eat(",") { r.separated(constraint)? } else { Vec::new() };
        if !r.eat("}") {
            return Err(r.expected(match (combination, constraints.is_empty()) {
                (Combination::Single, true) => "`*`, `+`, `==`, `,` or `}`",
                (Combination::Equal, true) => "`?`, `,` or `}`",
                _ => "`,` or `}`",
            }));
        }
        let mut contraction = Self { indices: 0, output, operands, aggregation, combination, constraints };
        let count = contraction.expressions_mut().map(|e| e.coefficients.len()).max();
        contraction.indices = count.unwrap_or(0);
        for expression in contraction.expressions_mut() {
            expression.coefficients.resize(count.unwrap_or(0), 0);
        }
        Ok(contraction)
    }

    fn write(&self, f: &mut dyn fmt::Write, _: &dyn ComputationNames) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl fmt::Display for Contraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        write_access(f, &self.output)?;
        write!(f, " {} ", self.aggregation.text())?;
        for (n, operand) in self.operands.iter().enumerate() {
            match (n, self.combination) {
                (0, _) => {}
                (_, Combination::Multiply) => f.write_str(" * ")?,
                (_, Combination::Add) => f.write_str(" + ")?,
                (2, Combination::Select) => f.write_str(" ? ")?,
                _ => f.write_str(" == ")?,
            }
            write_access(f, operand)?;
        }
        for Constraint { index, bound } in &self.constraints {
            write!(f, ", {index} < {bound}")?;
        }
        f.write_str("}")
    }
}

impl Contraction {
    fn expressions_mut(&mut self) -> impl Iterator<Item = &mut Affine> {
        let operands = self.operands.iter_mut().flatten();
        let constraints = self.constraints.iter_mut().map(|c| &mut c.index);
        self.output.iter_mut().chain(operands).chain(constraints)
    }
}

fn write_access(f: &mut fmt::Formatter<'_>, access: &[Affine]) -> fmt::Result {
    f.write_str("(")?;
    for (n, index) in access.iter().enumerate() {
        let comma = if n == 0 { "" } else { "," };
        write!(f, "{comma}{index}")?;
    }
    f.write_str(")")
}

fn access(r: &mut AttrReader<'_>) -> Result<Vec<Affine>, AttrError> {
    r.list("(", ")", expression)
}

fn aggregation(r: &mut AttrReader<'_>) -> Result<Aggregation, AttrError> {
    let found = Aggregation::ALL.iter().copied().find(|a| r.eat(a.text()));
    found.ok_or_else(|| r.expected("`+=`, `*=`, `>=`, `<=` or `=`"))
}

fn constraint(r: &mut AttrReader<'_>) -> Result<Constraint, AttrError> {
    let index = expression(r)?;
    r.expect("<")?;
    Ok(Constraint { index, bound: r.integer()? })
}

/// Reads a linear expression such as `2*d0-d1+3`. The terms can be in any order, with spaces between them.
fn expression(r: &mut AttrReader<'_>) -> Result<Affine, AttrError> {
    let start = r.offset_of_next();
    let too_large = |r: &AttrReader<'_>| r.error_since(start, "the numbers do not fit 64 bits".into());
    let mut expression = Affine::default();
    let mut negative = r.eat("-");
    loop {
        let (factor, index) = term(r)?;
        let factor = if negative { -factor } else { factor };
        let sum = match index {
            None => &mut expression.constant,
            Some(index) => {
                let count = expression.coefficients.len().max(index + 1);
                expression.coefficients.resize(count, 0);
                &mut expression.coefficients[index]
            }
        };
        *sum = i64::try_from(i128::from(*sum) + factor).map_err(|_| too_large(r))?;
        negative = match () {
            () if r.eat("+") => false,
            () if r.eat("-") => true,
            () => return Ok(expression),
        };
    }
}

/// Reads a term: `3`, `d0`, `3*d0` or `d0*3`. Returns the factor, and the number of the index if there is
/// one.
fn term(r: &mut AttrReader<'_>) -> Result<(i128, Option<usize>), AttrError> {
    if r.peek() == b'd' {
        let index = index(r)?;
        let factor = if r.eat("*") { number(r)? } else { 1 };
        return Ok((factor, Some(index)));
    }
    if !r.peek().is_ascii_digit() {
        return Err(r.expected("an index such as `d0`, or a number"));
    }
    let factor = number(r)?;
    let index = if r.eat("*") { Some(index(r)?) } else { None };
    Ok((factor, index))
}

fn index(r: &mut AttrReader<'_>) -> Result<usize, AttrError> {
    let start = r.offset_of_next();
    if !r.eat("d") || !r.byte().is_ascii_digit() {
        r.rewind(start);
        return Err(r.expected("an index such as `d0`"));
    }
    let number = r.take_while(|b| b.is_ascii_digit()).parse::<usize>().ok();
    number
        .filter(|&n| n < MAX_INDICES)
        .ok_or_else(|| r.error_since(start, format!("an index is one of `d0` to `d{}`", MAX_INDICES - 1)))
}

fn number(r: &mut AttrReader<'_>) -> Result<i128, AttrError> {
    let start = r.offset_of_next();
    let digits = r.take_while(|b| b.is_ascii_digit());
    if digits.is_empty() {
        return Err(r.expected("a number"));
    }
    // 2^63 is allowed, because -2^63 fits into an `i64`. The caller reads the sign.
    let number = digits.parse::<i128>().ok().filter(|&n| n <= 1 << 63);
    number.ok_or_else(|| r.error_since(start, "the number does not fit 64 bits".into()))
}
