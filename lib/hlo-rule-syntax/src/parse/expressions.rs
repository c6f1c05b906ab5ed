//! Conditions, and expressions of numbers.

use super::{INDEX, Part, Reader, Result, error, number};
use crate::{Arithmetic, Condition, Expression, Relation, TypeClass, Value};
use pest::iterators::Pair;

/// Maximum number of operands and operators of an expression. The functions that examine it recurse for each.
const MAX_TERMS: usize = 32;

impl<'t> Reader<'t> {
    pub(super) fn condition(&mut self, pair: Pair<'t, Part>) -> Result<Condition> {
        let all = pair.into_inner().map(|any| {
            let any = any.into_inner().map(|test| self.test(test)).collect::<Result<Vec<_>>>()?;
            Ok(one_or(any, |any| Condition::Any(any.into())))
        });
        Ok(one_or(all.collect::<Result<Vec<_>>>()?, |all| Condition::All(all.into())))
    }

    fn test(&mut self, pair: Pair<'t, Part>) -> Result<Condition> {
        let at = pair.clone();
        let mut parts: Vec<_> = pair.into_inner().collect();
        let not = parts.len() > 1;
        let condition = match parts.pop() {
            Some(part) if part.as_rule() == Part::comparison => self.comparison(part)?,
            Some(part) => self.predicate(part)?,
            None => Condition::All(Vec::new().into()),
        };
        if not && matches!(condition, Condition::Always(..)) {
            // A range that is not known does not say that an element is outside of it.
            return Err(error(&at, "`always` cannot be negated"));
        }
        Ok(if not { Condition::Not(vec![condition].into()) } else { condition })
    }

    fn comparison(&mut self, pair: Pair<'t, Part>) -> Result<Condition> {
        let mut parts: Vec<_> = pair.clone().into_inner().collect();
        let word = parts.first().map(Pair::as_rule).filter(|kind| matches!(kind, Part::always | Part::some));
        if word.is_some() {
            parts.remove(0);
        }
        let [low, sign, high] = &parts[..] else { return Err(error(&pair, "expected a comparison")) };
        let (low, high) = (self.expression(low.clone())?, self.expression(high.clone())?);
        let relation = relation(sign);
        match word {
            None => Ok(Condition::Compare(relation, low, high)),
            Some(Part::some) if low.has_lists() || high.has_lists() => {
                Ok(Condition::Some(relation, low, high))
            }
            Some(Part::some) => Err(error(&pair, "`some` needs a comparison of lists")),
            Some(_) if relation == Relation::Equal => Err(error(&pair, "`always` needs `<` or `<=`")),
            Some(_) => Ok(Condition::Always(relation, low, high)),
        }
    }

    /// Reads sums and products. Operators associate to the left.
    pub(super) fn expression(&mut self, pair: Pair<'t, Part>) -> Result<Expression> {
        if pair.clone().into_inner().count() > MAX_TERMS {
            return Err(error(
                &pair,
                format!("expected at most {} operands of an expression", MAX_TERMS / 2),
            ));
        }
        let mut result: Option<Expression> = None;
        let mut arithmetic = Arithmetic::Add;
        for part in pair.clone().into_inner() {
            let next = match part.as_rule() {
                Part::sum_sign | Part::product_sign => {
                    arithmetic = match part.as_str() {
                        "+" => Arithmetic::Add,
                        "-" => Arithmetic::Subtract,
                        "*" => Arithmetic::Multiply,
                        "/" => Arithmetic::Divide,
                        _ => Arithmetic::Remainder,
                    };
                    continue;
                }
                Part::product => self.expression(part)?,
                _ => self.factor(part)?,
            };
            result = Some(match result {
                Some(left) => Expression::Result(arithmetic, vec![left, next].into()),
                None => next,
            });
        }
        result.ok_or_else(|| error(&pair, "expected an expression"))
    }

    fn factor(&mut self, pair: Pair<'t, Part>) -> Result<Expression> {
        let parts: Vec<_> = pair.clone().into_inner().collect();
        let Some(first) = parts.first() else { return Err(error(&pair, "expected a number")) };
        let found = match first.as_rule() {
            Part::number => match number(first)? {
                Value::Integer(value) => Expression::Integer(value),
                _ => return Err(error(first, "expected an integer")),
            },
            Part::choose => self.choose(first.clone())?,
            Part::call => self.call(first.clone())?,
            Part::expression => self.expression(first.clone())?,
            _ => match first.as_str() {
                INDEX => Expression::Index,
                name => match self.lists.iter().position(|list| list == name) {
                    Some(list) => Expression::List(list),
                    None => Expression::Variable(self.variable(first)?),
                },
            },
        };
        let at = parts.get(1).and_then(|at| at.clone().into_inner().next());
        match at {
            Some(at) => {
                let at = self.expression(at)?;
                if !found.has_lists() {
                    return Err(error(&pair, "expected a list in front of `[`"));
                }
                Ok(Expression::At(vec![found, at].into()))
            }
            None => Ok(found),
        }
    }

    /// Reads `if(a < b, yes, no)`.
    fn choose(&mut self, pair: Pair<'t, Part>) -> Result<Expression> {
        let parts: Vec<_> = pair.clone().into_inner().collect();
        let [a, sign, b, yes, no] = &parts[..] else { return Err(error(&pair, "expected a choice")) };
        let mut read = |part: &Pair<'t, Part>| self.expression(part.clone());
        let parts = vec![read(a)?, read(b)?, read(yes)?, read(no)?];
        if !parts.iter().any(Expression::has_lists) {
            return Err(error(&pair, "`if` needs lists"));
        }
        Ok(Expression::If(relation(sign), parts.into()))
    }

    /// Reads a function of a number or list.
    fn call(&mut self, pair: Pair<'t, Part>) -> Result<Expression> {
        let mut parts = pair.clone().into_inner();
        let (Some(function), Some(operand)) = (parts.next(), parts.next()) else {
            return Err(error(&pair, "expected a function"));
        };
        if function.as_str() == "value"
            && let Some(rest) = self.rests.iter().position(|rest| rest == operand.as_str().trim())
        {
            return Ok(Expression::Values(rest));
        }
        if let Some(second) = parts.next() {
            let (a, b) = (self.expression(operand)?, self.expression(second)?);
            if parts.next().is_some() || !(a.has_lists() || b.has_lists()) {
                return Err(error(&pair, "expected two lists of numbers"));
            }
            let arithmetic = match function.as_str() {
                "min" => Arithmetic::Minimum,
                "max" => Arithmetic::Maximum,
                _ => return Err(error(&function, "expected `min` or `max`, which have two operands")),
            };
            return Ok(Expression::Result(arithmetic, vec![a, b].into()));
        }
        let operand = self.expression(operand)?;
        Ok(match (function.as_str(), operand) {
            ("log2", operand) if operand.all().iter().any(|part| matches!(part, Expression::Log2(_))) => {
                return Err(error(&function, "`log2` of an expression with `log2` is not supported"));
            }
            ("inverse", operand) if operand.has_lists() => Expression::Inverse(vec![operand].into()),
            ("kept", operand) if operand.has_lists() => Expression::Kept(vec![operand].into()),
            ("log2", operand) => Expression::Log2(vec![operand].into()),
            ("size", Expression::Variable(v)) => Expression::Sizes(v),
            ("width", Expression::Variable(v)) => Expression::Width(v),
            ("lowest", Expression::Variable(v)) => Expression::Lowest(v),
            ("highest", Expression::Variable(v)) => Expression::Highest(v),
            ("reciprocal", Expression::Variable(v)) => Expression::Reciprocal(v),
            _ => {
                let found = pair.as_str().trim();
                return Err(error(&function, format!("expected a function of constants, found `{found}`")));
            }
        })
    }

    fn predicate(&mut self, pair: Pair<'t, Part>) -> Result<Condition> {
        let mut parts = pair.clone().into_inner();
        let name = parts.next().map(|word| word.as_str()).unwrap_or_default();
        let variables = parts.map(|word| self.variable(&word)).collect::<Result<Vec<_>>>()?;
        let class = TypeClass::ALL.iter().find(|(word, _)| *word == name);
        match (name, &variables[..]) {
            (_, &[variable]) if class.is_some() => {
                Ok(Condition::Type(class.map_or(TypeClass::Integer, |class| class.1), variable))
            }
            ("scalar", &[variable]) => Ok(Condition::Scalar(variable)),
            ("same-rank", &[a, b]) => Ok(Condition::SameRank(a, b)),
            ("empty", &[variable]) => Ok(Condition::Empty(variable)),
            ("constant", &[variable]) => Ok(Condition::Constant(variable)),
            ("same-type", &[a, b]) => Ok(Condition::SameType(a, b)),
            ("same-sizes", &[a, b]) => Ok(Condition::SameSizes(a, b)),
            ("same-opcode", &[a, b]) => Ok(Condition::SameOpcode(a, b)),
            ("ordered", []) => Ok(Condition::Ordered),
            ("by-integer", []) => Ok(Condition::ByInteger),
            ("by-value", []) => Ok(Condition::ByValue),
            _ => Err(error(&pair, format!("expected a condition, found `{}`", pair.as_str()))),
        }
    }
}

fn relation(sign: &Pair<'_, Part>) -> Relation {
    match sign.as_str() {
        "<" => Relation::Below,
        "<=" => Relation::AtMost,
        _ => Relation::Equal,
    }
}

/// Returns the only condition of a list, or the list as one condition.
fn one_or(mut list: Vec<Condition>, all: fn(Vec<Condition>) -> Condition) -> Condition {
    match list.len() {
        1 => list.remove(0),
        _ => all(list),
    }
}
