//! The partitioning information of custom calls: Shardy's rules, and the number of batch dimensions.
//!
//! The frontend attribute `xla.sdy.sharding_rule` contains a rule: `#sdy.op_sharding_rule<([i, j], [j,
//! k])->([i, k]) {i=8, j=4, k=2} reduction={j}, custom>`. It names the factor of each dimension of each
//! array. If a dimension is a product of factors (`[ij]`), the first factor is the outermost. The attribute
//! `num_batch_dims` contains the number of batch dimensions, with which all operands and results begin.

use super::factors::{DimensionFactors, Factor, Factors, Kind};
use hlo_ir::{Dims, InstrId, Module, Op, Shape};
use std::collections::BTreeMap;

/// The attribute with the rule.
const RULE_ATTRIBUTE: &str = "xla.sdy.sharding_rule";

/// The attribute with the number of batch dimensions.
const BATCH_ATTRIBUTE: &str = "num_batch_dims";

/// Returns the factors of a custom call, and the factors of the dimensions of each result. The first of these
/// equals [`Factors::result`].
pub(super) fn factors(module: &Module, id: InstrId) -> Option<(Factors, Vec<DimensionFactors>)> {
    let Op::CustomCall(_) = module[id].op else { return None };
    let attributes = &module[id].common.as_ref()?.frontend_attributes;
    let written = attributes.get(RULE_ATTRIBUTE).and_then(|text| Rule::parse(text.as_str()?));
    let dims = |shape: &Shape| shape.as_array().filter(|a| a.is_static()).map(|a| a.dims.clone());
    let operands = module[id].operands.iter().map(|&o| dims(&module[o].shape)).collect::<Option<Vec<_>>>()?;
    let results = module[id].shape.leaves().into_iter().map(dims).collect::<Option<Vec<_>>>()?;
    match written {
        Some(rule) => rule.factors(&operands, &results),
        None => of_batch(&batch(module, id)?, &operands, &results),
    }
}

/// Returns factors for the leading dimensions of all arrays.
fn of_batch(batch: &[i64], operands: &[Dims], results: &[Dims]) -> Option<(Factors, Vec<DimensionFactors>)> {
    let factors = batch.iter().map(|&size| Factor { size, kind: Kind::Kept, runs: None }).collect();
    let walk = |dims: &Dims| -> DimensionFactors {
        (0..dims.len()).map(|d| (d < batch.len()).then_some(d)).collect()
    };
    let walks: Vec<DimensionFactors> = results.iter().map(walk).collect();
    let operands = operands.iter().map(walk).collect();
    Some((Factors { factors, operands, result: walks.first()?.clone() }, walks))
}

/// Returns the sizes of the batch dimensions that all operands and results of a custom call begin with.
/// Returns `None` if the call has no such attribute, or an array does not begin with these dimensions.
pub(super) fn batch(module: &Module, id: InstrId) -> Option<Dims> {
    let Op::CustomCall(_) = module[id].op else { return None };
    let said = module[id].common.as_ref()?.frontend_attributes.get(BATCH_ATTRIBUTE)?.as_str()?;
    let count = said.parse::<usize>().ok().filter(|&count| count > 0)?;
    let first: Dims = module[*module[id].operands.first()?].shape.as_array()?.dims.get(..count)?.into();
    let alike = |a: &hlo_ir::ArrayShape| a.is_static() && a.dims.get(..count) == Some(&first[..]);
    let operands = module[id].operands.iter().map(|&o| &module[o].shape);
    let mut arrays = operands.chain(module[id].shape.leaves()).map(Shape::as_array);
    arrays.all(|a| a.is_some_and(alike)).then_some(first)
}

/// A parsed rule. Factors are numbered in the order in which they first appear.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Rule {
    /// For each operand and each of its dimensions, the factors of which it is the product.
    pub operands: Vec<Vec<Vec<usize>>>,
    /// For each result and each of its dimensions, the factors of which it is the product.
    pub results: Vec<Vec<Vec<usize>>>,
    /// The sizes of the factors.
    pub sizes: Vec<i64>,
    /// The factors that must not be split.
    pub whole: Vec<usize>,
}

impl Rule {
    /// Parses a rule. Returns `None` if the text is not one.
    pub fn parse(text: &str) -> Option<Self> {
        let text =
            text.trim().trim_start_matches('#').strip_prefix("sdy.op_sharding_rule<")?.strip_suffix('>')?;
        let (mappings, rest) = match text.find('{') {
            Some(at) => text.split_at(at),
            None => (text.trim_end_matches(", custom"), ""),
        };
        let mut names = BTreeMap::new();
        let (operands, results) = mappings.split_once("->")?;
        let (operands, results) = (mapping(operands, &mut names)?, mapping(results, &mut names)?);
        let mut sets = rest.split('{').skip(1).map(|set| set.split_once('}'));
        let mut rule = Self { operands, results, sizes: vec![1; names.len()], whole: Vec::new() };
        let mut label = match sets.next() {
            Some(sizes) => {
                let (sizes, label) = sizes?;
                for one in sizes.split(',') {
                    let (name, size) = one.split_once('=')?;
                    *rule.sizes.get_mut(*names.get(name.trim())?)? = size.trim().parse().ok()?;
                }
                label
            }
            None => "",
        };
        for set in sets {
            let (factors, next) = set?;
            let numbers = factors.split(',').map(|name| names.get(name.trim()).copied());
            let numbers = numbers.collect::<Option<Vec<_>>>()?;
            match label.trim().trim_end_matches('=') {
                "need_replication" | "blocked_propagation" => rule.whole.extend(numbers),
                "reduction" | "permutation" => {}
                _ => return None,
            }
            label = next;
        }
        Some(rule)
    }

    /// Returns the factors, and the factors of the dimensions of each result. Returns `None` if the rule does
    /// not match the arrays.
    pub fn factors(&self, operands: &[Dims], results: &[Dims]) -> Option<(Factors, Vec<DimensionFactors>)> {
        let fits = |mapping: &[Vec<Vec<usize>>], arrays: &[Dims]| {
            mapping.len() == arrays.len()
                && mapping.iter().zip(arrays).all(|(dims, array)| {
                    let mut all: Vec<usize> = dims.iter().flatten().copied().collect();
                    all.sort_unstable();
                    dims.len() == array.len()
                        && all.windows(2).all(|pair| pair[0] != pair[1])
                        && dims.iter().zip(array).all(|(factors, &size)| {
                            let mut sizes = factors.iter().map(|&f| self.sizes[f]);
                            factors.is_empty() && size == 1
                                || sizes.try_fold(1, |all: i64, n| all.checked_mul(n)) == Some(size)
                        })
                })
        };
        if !fits(&self.operands, operands) || !fits(&self.results, results) {
            return None;
        }
        let mut known = vec![FactorUses::default(); self.sizes.len()];
        for (dims, of_result) in
            self.operands.iter().map(|dims| (dims, false)).chain(self.results.iter().map(|dims| (dims, true)))
        {
            for factors in dims {
                for (place, &f) in factors.iter().enumerate() {
                    known[f].by_result |= of_result;
                    known[f].leads |= place == 0 && factors.len() > 1;
                    known[f].dimensions += usize::from(place == 0);
                }
            }
        }
        self.whole.iter().for_each(|&f| known[f].dimensions = 0);
        // Factors of a single dimension and factors that must not be split do not propagate shardings.
        let (mut numbers, mut factors) = (vec![None; known.len()], Vec::new());
        for (f, walked) in known.iter().enumerate().filter(|(_, walked)| walked.dimensions > 1) {
            numbers[f] = Some(factors.len());
            let kind = if walked.by_result { Kind::Kept } else { Kind::Combined };
            // If further factors follow within a dimension, the first one can only be split between its
            // indices.
            let size = self.sizes[f];
            factors.push(Factor { size, kind, runs: walked.leads.then_some(size) });
        }
        let walk = |dims: &Vec<Vec<usize>>| -> DimensionFactors {
            dims.iter().map(|of_dim| of_dim.first().and_then(|&f| numbers[f])).collect()
        };
        let walks: Vec<DimensionFactors> = self.results.iter().map(walk).collect();
        let operands = self.operands.iter().map(walk).collect();
        Some((Factors { factors, operands, result: walks.first()?.clone() }, walks))
    }
}

/// How dimensions use a factor.
#[derive(Clone, Default)]
struct FactorUses {
    /// Number of dimensions of which it is the first or only factor.
    dimensions: usize,
    /// Whether a result uses it.
    by_result: bool,
    /// Whether it is followed by further factors within a dimension.
    leads: bool,
}

/// Parses the factors of the dimensions of arrays: `([i, jk], [])`. A name is a letter, followed by `_` and a
/// number if there are many.
fn mapping(text: &str, names: &mut BTreeMap<String, usize>) -> Option<Vec<Vec<Vec<usize>>>> {
    let text = text.trim().strip_prefix('(')?.strip_suffix(')')?;
    let arrays = text.split('[').skip(1).map(|array| array.split_once(']').map(|(dims, _)| dims));
    let mut found = Vec::new();
    for dims in arrays {
        let dims = dims?.split(',').map(str::trim).filter(|dim| !dim.is_empty());
        let mut of_array = Vec::new();
        for dim in dims {
            let mut factors: Vec<String> = Vec::new();
            for c in dim.chars() {
                match c {
                    '_' | '0'..='9' => factors.last_mut()?.push(c),
                    'a'..='z' => factors.push(c.into()),
                    _ => return None,
                }
            }
            let number = |name: String| {
                let next = names.len();
                *names.entry(name).or_insert(next)
            };
            of_array.push(factors.into_iter().map(number).collect());
        }
        found.push(of_array);
    }
    Some(found)
}
