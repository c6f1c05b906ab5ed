//! The analyzed form of a contraction: the ranges of its indices, and the form of each index expression.

use hlo_ir::contraction::{Affine, Aggregation, Combination, Constraint, Contraction, Interval};

/// A contraction whose indices have fixed ranges.
#[derive(Clone, Debug)]
pub(super) struct Form {
    pub(super) aggregation: Aggregation,
    pub(super) combination: Combination,
    /// The index expressions of the output.
    pub(super) output: Vec<Expression>,
    pub(super) sizes: Vec<i64>,
    /// The index expressions of each operand.
    pub(super) operands: Vec<Vec<Expression>>,
    pub(super) operand_sizes: Vec<Vec<i64>>,
    /// The range of each index: the values that satisfy every bound on this index alone.
    pub(super) ranges: Vec<Interval>,
    /// The constraints that involve several indices.
    pub(super) masks: Vec<Constraint>,
    /// Whether elements that are not written have a default value other than 0.
    pub(super) has_default: bool,
}

/// An index expression with at most two indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expression {
    /// A constant.
    Constant(i64),
    /// A single term, plus an offset.
    One(Term, i64),
    /// The sum of two terms, plus an offset.
    Two(Term, Term, i64),
}

/// An index and its nonzero coefficient.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Term {
    pub(super) index: usize,
    pub(super) scale: i64,
}

impl Expression {
    fn of(affine: &Affine) -> Option<Self> {
        let term = |index: usize| Term { index, scale: affine.coefficients[index] };
        let used: Vec<Term> =
            (0..affine.coefficients.len()).filter(|&i| affine.coefficients[i] != 0).map(term).collect();
        Some(match used[..] {
            [] => Expression::Constant(affine.constant),
            [a] => Expression::One(a, affine.constant),
            [a, b] => Expression::Two(a, b, affine.constant),
            _ => return None,
        })
    }

    /// Returns the terms of the expression.
    pub(super) fn terms(&self) -> impl Iterator<Item = Term> {
        let (a, b) = match *self {
            Expression::Constant(_) => (None, None),
            Expression::One(a, _) => (Some(a), None),
            Expression::Two(a, b, _) => (Some(a), Some(b)),
        };
        a.into_iter().chain(b)
    }

    /// Checks whether the expression depends on the index.
    pub(super) fn has(&self, index: usize) -> bool {
        self.terms().any(|t| t.index == index)
    }
}

impl Form {
    /// Returns the form of a contraction that has valid indices. Returns `None` if an index has no range of
    /// its own, or if an expression has more than two indices.
    pub(super) fn of(
        contraction: &Contraction,
        sizes: &[i64],
        operand_sizes: Vec<Vec<i64>>,
        has_default: bool,
    ) -> Option<Self> {
        let contraction = with_windows(contraction)?;
        let all = |affine: &[Affine]| affine.iter().map(Expression::of).collect::<Option<Vec<_>>>();
        let operands = contraction.operands.iter().map(|o| all(o)).collect::<Option<Vec<_>>>()?;
        let mut form = Self {
            aggregation: contraction.aggregation,
            combination: contraction.combination,
            output: all(&contraction.output)?,
            sizes: sizes.to_vec(),
            operands,
            operand_sizes,
            ranges: Vec::new(),
            masks: Vec::new(),
            has_default,
        };
        let mut strips = Vec::new();
        let accesses = form.operands.iter().zip(&form.operand_sizes);
        for (access, sizes) in accesses.chain([(&form.output, &form.sizes)]) {
            strips.extend(access.iter().copied().zip(sizes.iter().copied()));
        }
        for constraint in &contraction.constraints {
            match Expression::of(&constraint.index) {
                Some(e @ (Expression::One(..) | Expression::Constant(_))) => {
                    strips.push((e, constraint.bound))
                }
                _ => form.masks.push(constraint.clone()),
            }
        }
        for index in 0..contraction.indices {
            form.ranges.push(range(index, &strips)?);
        }
        Some(form)
    }

    /// Returns the number of values of an index.
    pub(super) fn count(&self, index: usize) -> i64 {
        let Interval { low, high } = self.ranges[index];
        high - low + 1
    }

    /// Checks whether the index occurs in the output.
    pub(super) fn is_output(&self, index: usize) -> bool {
        self.output.iter().any(|e| e.has(index))
    }

    /// Checks whether the index occurs in an operand.
    pub(super) fn is_in(&self, operand: usize, index: usize) -> bool {
        self.operands[operand].iter().any(|e| e.has(index))
    }

    /// Returns the number of expressions of the output and operands in which an index occurs.
    pub(super) fn uses(&self, index: usize) -> usize {
        self.output.iter().chain(self.operands.iter().flatten()).filter(|e| e.has(index)).count()
    }

    /// Returns the two indices whose digits make up an expression, the high one first, and the minimum of the
    /// expression. The expression has the form `a · i + j + c`, where `j` has `a` values. Its values are
    /// within a dimension of the given size.
    pub(super) fn digits(&self, expression: Expression, size: i64) -> Option<(usize, usize, i64)> {
        let Expression::Two(a, b, _) = expression else { return None };
        let (first, last) = self.extremes(expression);
        let (high, low) = if b.scale == 1 { (a, b) } else { (b, a) };
        let fits = low.scale == 1 && high.scale == self.count(low.index) && first >= 0 && last < size.into();
        fits.then(|| Some((high.index, low.index, i64::try_from(first).ok()?))).flatten()
    }

    /// Returns the minimum and maximum of an expression.
    pub(super) fn extremes(&self, expression: Expression) -> (i128, i128) {
        let offset = match expression {
            Expression::Constant(c) | Expression::One(_, c) | Expression::Two(_, _, c) => c,
        };
        expression.terms().fold((offset.into(), offset.into()), |(least, greatest), t| {
            let Interval { low, high } = self.ranges[t.index];
            let ends = [low, high].map(|x| i128::from(x) * i128::from(t.scale));
            (least + ends[0].min(ends[1]), greatest + ends[0].max(ends[1]))
        })
    }
}

/// Returns the values of an index that satisfy all bounds on this index alone. Returns `None` if there are no
/// such values or no such bounds.
fn range(index: usize, strips: &[(Expression, i64)]) -> Option<Interval> {
    let mut found: Option<Interval> = None;
    for (expression, size) in strips {
        let Expression::One(Term { index: i, scale }, offset) = *expression else { continue };
        if i != index {
            continue;
        }
        // 0 <= scale · x + offset < size.
        let (first, last) = (0_i64.checked_sub(offset)?, size.checked_sub(1)?.checked_sub(offset)?);
        let (first, last) =
            if scale > 0 { (first, last) } else { (last.checked_neg()?, first.checked_neg()?) };
        let by = scale.checked_abs()?;
        let own = Interval { low: -(-first).div_euclid(by), high: last.div_euclid(by) };
        found = Some(found.map_or(own, |f| Interval { low: f.low.max(own.low), high: f.high.min(own.high) }));
    }
    found.filter(|f| f.low <= f.high)
}

/// Substitutes indices so that constraints on several indices become ranges of one. For `0 <= i - k < N`,
/// where `k` is reduced over, the difference becomes a new index `w`. The index `k` then becomes the position
/// `i - w` in a window.
fn with_windows(contraction: &Contraction) -> Option<Contraction> {
    let mut out = contraction.clone();
    for number in 0..out.constraints.len() {
        let index = out.constraints[number].index.clone();
        let used: Vec<usize> = (0..out.indices).filter(|&i| index.depends_on(i)).collect();
        if used.len() < 2 || is_mask(&out, &used) {
            continue;
        }
        let reduced = |&i: &usize| {
            !out.output.iter().any(|e| e.depends_on(i))
                && index.coefficients[i].abs() == 1
                // `k` must have no range of its own, which would become a constraint of several indices.
                && !out.constraints.iter().enumerate().any(|(n, c)| n != number && c.index.depends_on(i))
        };
        let &k = used.iter().find(|i| reduced(i))?;
        substitute(&mut out, k, &index)?;
    }
    Some(out)
}

/// Checks whether a constraint on these indices selects elements of the output, or of the only operand.
fn is_mask(contraction: &Contraction, used: &[usize]) -> bool {
    let within = |access: &[Affine]| used.iter().all(|&i| access.iter().any(|e| e.depends_on(i)));
    within(&contraction.output) || matches!(&contraction.operands[..], [only] if within(only))
}

/// Replaces index `k` by the value of `by`, in which the coefficient of `k` is 1 or -1.
fn substitute(contraction: &mut Contraction, k: usize, by: &Affine) -> Option<()> {
    let sign = by.coefficients[k];
    let replace = |e: &mut Affine| -> Option<()> {
        // k = sign · (w - rest).
        let factor = e.coefficients[k].checked_mul(sign)?;
        if factor == 0 {
            return Some(());
        }
        for (i, (c, b)) in e.coefficients.iter_mut().zip(&by.coefficients).enumerate() {
            *c = if i == k { factor } else { c.checked_sub(factor.checked_mul(*b)?)? };
        }
        e.constant = e.constant.checked_sub(factor.checked_mul(by.constant)?)?;
        Some(())
    };
    let operands = contraction.operands.iter_mut().flatten();
    let constraints = contraction.constraints.iter_mut().map(|c| &mut c.index);
    contraction.output.iter_mut().chain(operands).chain(constraints).try_for_each(replace)
}
