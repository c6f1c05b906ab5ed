//! `einsum("ij,jk->ik", A, B)`: products of tensors by Einstein's summation convention, in numpy's notation.
//!
//! Each contraction multiplies two tensors. It sums over the letters that occur neither in the result nor in
//! later tensors.

use super::arithmetic::Placed;
use super::calls::CallArgument;
use super::{Evaluator, unsuitable};
use crate::contraction::{Access, Contraction, contract};
use crate::error::error;
use crate::poly::{IndexId, Poly};
use crate::rules;
use crate::value::Value;
use hlo_builder::Value as Hlo;
use hlo_ir::Span;
use hlo_ir::contraction::{Aggregation, Combination};
use hlo_ir::diag::Diag;
use std::collections::BTreeMap;

/// `ij,jk->ik`.
#[derive(Debug, PartialEq, Eq)]
pub struct Formula {
    /// The letters of the dimensions of each tensor.
    pub operands: Vec<Vec<char>>,
    /// The letters of the dimensions of the result.
    pub result: Vec<char>,
}

impl Formula {
    /// Parses a formula. Without `->`, the result has the letters that occur once, in alphabetical order.
    ///
    /// # Errors
    /// Returns a message that describes the error in the formula.
    pub fn parse(text: &str) -> Result<Self, String> {
        let letters = |part: &str| -> Result<Vec<char>, String> {
            let all = part.chars().filter(|c| *c != ' ');
            all.map(|c| {
                if c.is_ascii_alphabetic() {
                    Ok(c)
                } else {
                    Err(format!("a letter is expected for each dimension, found `{c}`"))
                }
            })
            .collect()
        };
        let (left, right) = match text.split_once("->") {
            Some((left, right)) => (left, Some(right)),
            None => (text, None),
        };
        let operands = left.split(',').map(letters).collect::<Result<Vec<_>, _>>()?;
        let occurrences = |c: char| operands.iter().flatten().filter(|o| **o == c).count();
        let result = match right {
            Some(right) => letters(right)?,
            None => ('A'..='Z').chain('a'..='z').filter(|&c| occurrences(c) == 1).collect(),
        };
        for (n, &c) in result.iter().enumerate() {
            if occurrences(c) == 0 {
                return Err(format!("`{c}` is in the result and in no tensor"));
            }
            if result[..n].contains(&c) {
                return Err(format!("`{c}` is twice in the result"));
            }
        }
        Ok(Self { operands, result })
    }

    /// Returns the letters to keep after multiplying by tensor number `next`: those in the result or in later
    /// tensors.
    pub fn kept(&self, before: &[char], next: usize) -> Vec<char> {
        if next + 1 == self.operands.len() {
            return self.result.clone();
        }
        let needed =
            |c: char| self.result.contains(&c) || self.operands[next + 1..].iter().flatten().any(|o| *o == c);
        let mut kept = Vec::new();
        for &c in before.iter().chain(&self.operands[next]) {
            if needed(c) && !kept.contains(&c) {
                kept.push(c);
            }
        }
        kept
    }
}

/// A tensor, the letters of its dimensions, and its span.
type LabeledTensor<'b> = (Hlo<'b>, Vec<char>, Span);

impl<'b> Evaluator<'b, '_> {
    /// Evaluates `einsum(formula, tensors…)`.
    pub(super) fn einsum(&mut self, arguments: Vec<CallArgument<'b>>, span: Span) -> Result<Value<'b>, Diag> {
        if let Some((Some(name), ..)) = arguments.iter().find(|(name, ..)| name.is_some()) {
            let message = format!("`einsum` has no parameter `{}`", name.text);
            return Err(error(rules::TILE_CALL, name.span, message, "a formula and tensors are expected"));
        }
        let mut arguments = arguments.into_iter().map(|(_, value, place)| (value, place));
        let (text, place) = arguments.next().unwrap_or((Value::Nothing, span));
        let Value::Text(text) = text else {
            return Err(unsuitable(place, "a formula such as `\"ij,jk->ik\"`", &text));
        };
        let formula = Formula::parse(&text).map_err(|message| {
            error(rules::TILE_OPERAND, place, message, "this formula")
                .note("`ij,jk->ik` is a product of matrices")
        })?;
        let tensors: Vec<Placed<'b>> = arguments.collect();
        if tensors.len() != formula.operands.len() {
            let message = format!("a formula of {} tensors, found {}", formula.operands.len(), tensors.len());
            return Err(error(rules::TILE_CALL, span, message, "not as many tensors"));
        }
        let mut lettered = Vec::with_capacity(tensors.len());
        for ((value, place), letters) in tensors.iter().zip(&formula.operands) {
            lettered.push((self.whole(value.clone(), *place)?, letters.clone(), *place));
        }
        let sizes = self.sizes_of_letters(&lettered)?;
        let mut all = lettered.into_iter();
        let Some(mut product) = all.next() else { return Ok(Value::Nothing) };
        if all.len() == 0 {
            let result = self.product(&[product], &formula.result, &sizes, span)?;
            return Ok(Value::Tensor(result));
        }
        for (n, next) in all.enumerate() {
            let kept = formula.kept(&product.1, n + 1);
            let made = self.product(&[product, next], &kept, &sizes, span)?;
            product = (made, kept, span);
        }
        Ok(Value::Tensor(product.0))
    }

    /// Returns the size of the dimension of each letter. It must be the same in all tensors.
    fn sizes_of_letters(&self, lettered: &[LabeledTensor<'b>]) -> Result<BTreeMap<char, i64>, Diag> {
        let mut sizes: BTreeMap<char, (i64, Span)> = BTreeMap::new();
        for (tensor, letters, place) in lettered {
            let shape = self.shape_of(*tensor, *place)?;
            if shape.rank() != letters.len() {
                let message = format!(
                    "the formula has {} letters for a tensor of {} dimensions",
                    letters.len(),
                    shape.rank()
                );
                return Err(error(
                    rules::TILE_BIND_RANK,
                    *place,
                    message,
                    format!("this has the shape {:?}", shape.dims),
                ));
            }
            for (&letter, &size) in letters.iter().zip(&shape.dims) {
                let (first, other) = *sizes.entry(letter).or_insert((size, *place));
                if size != first {
                    let message = format!("`{letter}` is {first} and {size}");
                    let d = error(rules::TILE_BIND_MISMATCH, *place, message, format!("{size} here"));
                    return Err(d.and(other, format!("{first} here")));
                }
                if size == 0 {
                    let message = format!("`{letter}` is 0, sizes must be positive");
                    return Err(error(rules::TILE_SIZE, *place, message, "a tensor without elements"));
                }
            }
        }
        Ok(sizes.into_iter().map(|(letter, (size, _))| (letter, size)).collect())
    }

    /// Sums the elements of one tensor, or the products of elements of two tensors.
    fn product(
        &mut self,
        operands: &[LabeledTensor<'b>],
        result: &[char],
        sizes: &BTreeMap<char, i64>,
        span: Span,
    ) -> Result<Hlo<'b>, Diag> {
        let mut known: BTreeMap<char, IndexId> = BTreeMap::new();
        for &letter in operands.iter().flat_map(|(_, letters, _)| letters) {
            let fresh = || {
                let id = self.indices.fresh();
                self.indices.name(id, &letter.to_string());
                id
            };
            known.entry(letter).or_insert_with(fresh);
        }
        let indices = |letters: &[char], place: Span| -> Vec<(Poly, Span)> {
            letters.iter().filter_map(|c| Some((Poly::index(*known.get(c)?), place))).collect()
        };
        let operands: Vec<Access<'b>> = operands
            .iter()
            .map(|(value, letters, place)| Access {
                value: *value,
                name: "the tensor".into(),
                indices: indices(letters, *place),
                span: *place,
            })
            .collect();
        let contraction = Contraction {
            name: "einsum".into(),
            declared: span,
            sizes: result.iter().filter_map(|c| sizes.get(c).copied()).collect(),
            output: indices(result, span),
            target: span,
            aggregation: Aggregation::Sum,
            combination: if operands.len() == 1 { Combination::Single } else { Combination::Multiply },
            operands,
            constraints: Vec::new(),
            default: None,
            span,
        };
        let (made, warnings) = contract(self.builder, contraction, &self.indices)?;
        self.warnings.extend(warnings);
        Ok(made)
    }
}
