//! Lists with a number for each dimension, which rules compute from the attributes of operations.
//!
//! The functions are generic over the numbers. The rewrite driver evaluates integers, and the proofs of
//! `hlo-prove` evaluate terms of the solver, so both use the same definition.

use super::{Arithmetic, Expression, Relation};

/// An entry of a list.
pub trait Entry: Clone {
    /// Returns this integer.
    fn integer(value: i64) -> Self;

    /// Returns the result of an operation, or `None` if it is not defined or does not fit.
    fn compute(arithmetic: Arithmetic, a: Self, b: Self) -> Option<Self>;

    /// Returns the result of `yes` if the relation is true, and that of `no` otherwise. A function whose result
    /// is not needed may not be called.
    fn choose(
        relation: Relation,
        a: Self,
        b: Self,
        yes: impl FnOnce() -> Option<Self>,
        no: impl FnOnce() -> Option<Self>,
    ) -> Option<Self>;

    /// Returns the number as an index of a list.
    fn index(&self) -> Option<usize>;
}

/// The lists and arrays of a pattern.
pub trait Lists<N> {
    /// Returns the number of entries of a list.
    fn entries(&self, list: usize) -> Option<usize>;

    /// Returns an entry of a list.
    fn list(&self, list: usize, at: usize) -> Option<N>;

    /// Returns the rank of an array.
    fn rank(&self, variable: usize) -> Option<usize>;

    /// Returns the size of a dimension of an array.
    fn size(&self, variable: usize, dimension: usize) -> Option<N>;

    /// Returns the number of scalars in a list of operands.
    fn operands(&self, rest: usize) -> Option<usize>;

    /// Returns the value of a scalar in a list of operands.
    fn value(&self, rest: usize, at: usize) -> Option<N>;
}

/// The number of entries of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// One number, which counts for all dimensions.
    One,
    /// A list of this length.
    List(usize),
}

/// Returns entry `k` of an expression, or `None` if it is not defined.
pub fn entry<N: Entry>(expression: &Expression, k: usize, lists: &impl Lists<N>) -> Option<N> {
    match expression {
        Expression::Integer(value) => Some(N::integer(*value)),
        Expression::List(list) => lists.list(*list, k),
        Expression::Sizes(v) => lists.size(*v, k),
        Expression::Values(rest) => lists.value(*rest, k),
        Expression::Index => i64::try_from(k).ok().map(N::integer),
        Expression::At(parts) => {
            let [list, at] = &parts[..] else { return None };
            entry(list, entry(at, k, lists)?.index()?, lists)
        }
        Expression::Inverse(list) => {
            let list = list.first()?;
            let Length::List(count) = length(list, lists)? else { return None };
            let place = (0..count).find(|&n| entry(list, n, lists).and_then(|e| e.index()) == Some(k))?;
            i64::try_from(place).ok().map(N::integer)
        }
        Expression::Kept(list) => {
            let list = list.first()?;
            let is_zero = |n: usize| Some(entry(list, n, lists)?.index()? == 0);
            let before = (0..k).map(is_zero).collect::<Option<Vec<bool>>>()?;
            i64::try_from(before.into_iter().filter(|zero| *zero).count()).ok().map(N::integer)
        }
        Expression::If(relation, parts) => {
            let [a, b, yes, no] = &parts[..] else { return None };
            let (a, b) = (entry(a, k, lists)?, entry(b, k, lists)?);
            N::choose(*relation, a, b, || entry(yes, k, lists), || entry(no, k, lists))
        }
        Expression::Result(arithmetic, parts) => {
            let [a, b] = &parts[..] else { return None };
            N::compute(*arithmetic, entry(a, k, lists)?, entry(b, k, lists)?)
        }
        Expression::Variable(_)
        | Expression::Width(_)
        | Expression::Lowest(_)
        | Expression::Highest(_)
        | Expression::Log2(_)
        | Expression::Reciprocal(_) => None,
    }
}

/// Returns the length of an expression, or `None` if its parts have different lengths.
pub fn length<N: Entry>(expression: &Expression, lists: &impl Lists<N>) -> Option<Length> {
    match expression {
        Expression::List(list) => Some(Length::List(lists.entries(*list)?)),
        Expression::Sizes(v) => Some(Length::List(lists.rank(*v)?)),
        Expression::Values(rest) => Some(Length::List(lists.operands(*rest)?)),
        Expression::At(parts) => match length(parts.get(1)?, lists)? {
            // `a[0]` is one number.
            Length::One => Some(Length::One),
            list => Some(list),
        },
        Expression::Inverse(parts) | Expression::Kept(parts) => length(parts.first()?, lists),
        Expression::If(_, parts) | Expression::Result(_, parts) => common(&parts[..], lists),
        _ => Some(Length::One),
    }
}

/// Returns the common length of expressions.
pub fn common<'e, N: Entry>(
    parts: impl IntoIterator<Item = &'e Expression>,
    lists: &impl Lists<N>,
) -> Option<Length> {
    let mut found = Length::One;
    for part in parts {
        match (found, length(part, lists)?) {
            (Length::One, other) => found = other,
            (_, Length::One) => {}
            (known, other) if known == other => {}
            _ => return None,
        }
    }
    Some(found)
}

impl Entry for i128 {
    fn integer(value: i64) -> Self {
        value.into()
    }

    fn compute(arithmetic: Arithmetic, a: Self, b: Self) -> Option<Self> {
        arithmetic.compute(a, b)
    }

    fn choose(
        relation: Relation,
        a: Self,
        b: Self,
        yes: impl FnOnce() -> Option<Self>,
        no: impl FnOnce() -> Option<Self>,
    ) -> Option<Self> {
        if relation.of(&a, &b) { yes() } else { no() }
    }

    fn index(&self) -> Option<usize> {
        usize::try_from(*self).ok()
    }
}
