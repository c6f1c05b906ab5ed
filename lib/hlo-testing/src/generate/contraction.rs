//! Contractions.

use super::builder::Generator;
use super::types::{Array, Type};
use crate::Numbers;
use hlo_ir::contraction::{
    Affine, Aggregation, Combination, Constraint, Contraction, MAX_INDICES, Nest, Repetition, Strip,
};
use hlo_ir::{ElementType, Opcode};

/// A contraction and the sizes of its arrays.
#[derive(Clone, Debug)]
pub struct RandomContraction {
    /// The value of the attribute.
    pub contraction: Contraction,
    /// The sizes of the result.
    pub result: Vec<i64>,
    /// The sizes of each operand.
    pub operands: Vec<Vec<i64>>,
}

impl RandomContraction {
    /// Returns the element types of the operands and of the result, with one type for values and another for
    /// compared operands.
    pub fn types(&self, value: ElementType, compared: ElementType) -> (Vec<ElementType>, ElementType) {
        match self.contraction.combination {
            Combination::Single => (vec![value], value),
            Combination::Multiply | Combination::Add => (vec![value; 2], value),
            Combination::Equal => (vec![compared; 2], ElementType::Pred),
            Combination::Select => (vec![compared, compared, value], value),
        }
    }

    /// Returns the instructions of the contraction, with parameters that start at number `first`. Their names
    /// end in that number. With `default`, the default value is the last parameter.
    pub fn text(&self, value: ElementType, compared: ElementType, default: bool, first: usize) -> String {
        let (types, result) = self.types(value, compared);
        let array = |ty: ElementType, dims: &[i64]| format!("{ty}[{}]", join(dims));
        let mut shapes: Vec<String> =
            types.iter().zip(&self.operands).map(|(&ty, dims)| array(ty, dims)).collect();
        let result = array(result, &self.result);
        shapes.extend(default.then(|| result.clone()));
        let numbers = first..first + shapes.len();
        let parameters =
            numbers.clone().zip(&shapes).map(|(n, shape)| format!("  p{n} = {shape} parameter({n})\n"));
        let names: Vec<String> = numbers.map(|n| format!("p{n}")).collect();
        format!(
            "{}  r{first} = {result} contraction({}), access={}\n",
            parameters.collect::<String>(),
            names.join(", "),
            self.contraction
        )
    }
}

fn join(dims: &[i64]) -> String {
    dims.iter().map(i64::to_string).collect::<Vec<_>>().join(",")
}

/// Maximum number of elements and of valid indices, so that one case out of thousands does not take too long.
const MAX_ELEMENTS: i64 = 4000;

/// Returns a valid contraction with up to five indices of up to `extent` values each. Its arrays are as large
/// as required, or a little larger or smaller.
pub fn random_contraction(numbers: &mut Numbers, extent: i64) -> RandomContraction {
    loop {
        let drawn = draw(numbers, extent);
        if is_valid(&drawn) {
            return drawn;
        }
    }
}

fn draw(numbers: &mut Numbers, extent: i64) -> RandomContraction {
    let combination = numbers.pick(Combination::ALL);
    let extents: Vec<i64> = (0..numbers.below(6)).map(|_| numbers.between(1, extent)).collect();
    // Each index occurs in some access, together with other terms.
    let mut accesses: Vec<Vec<Affine>> = vec![Vec::new(); 1 + combination.operands()];
    for index in numbers.permutation(extents.len()) {
        for _ in 0..numbers.between(1, 2) {
            let access = numbers.below(accesses.len());
            let expression = expression(numbers, &extents, Some(index as usize));
            accesses[access].push(expression);
        }
    }
    let access = numbers.below(2 * accesses.len());
    if let Some(access) = accesses.get_mut(access) {
        access.push(expression(numbers, &extents, None));
    }
    let mut sized = |access: &mut Vec<Affine>| -> Vec<i64> {
        access.iter_mut().map(|e| placed(numbers, &extents, e)).collect()
    };
    let sizes: Vec<Vec<i64>> = accesses.iter_mut().map(&mut sized).collect();
    let constraints = match numbers.below(3) {
        0 => (0..numbers.between(1, 2)).map(|_| constraint(numbers, &extents)).collect(),
        _ => Vec::new(),
    };
    let mut accesses = accesses.into_iter();
    RandomContraction {
        contraction: Contraction {
            indices: extents.len(),
            output: accesses.next().unwrap_or_default(),
            operands: accesses.collect(),
            aggregation: numbers.pick(Aggregation::ALL),
            combination,
            constraints,
        },
        result: sizes[0].clone(),
        operands: sizes[1..].to_vec(),
    }
}

/// Returns a function of the index, which mostly depends on no other index.
fn expression(numbers: &mut Numbers, extents: &[i64], index: Option<usize>) -> Affine {
    let mut expression = Affine::constant(0, extents.len());
    if let Some(index) = index {
        expression.coefficients[index] = match numbers.below(8) {
            0 => -1,
            1 => 2,
            2 => numbers.pick(&[3, -2, -3, 4]),
            _ => 1,
        };
    }
    if numbers.one_in(3) && !extents.is_empty() {
        for _ in 0..numbers.between(1, 2) {
            let other = numbers.below(extents.len());
            expression.coefficients[other] += numbers.pick(&[1, 1, 1, -1, -1, 2, -2, 3]);
        }
    }
    expression
}

/// Shifts a function so that its values start approximately at 0. Returns the approximate number of its
/// values.
fn placed(numbers: &mut Numbers, extents: &[i64], expression: &mut Affine) -> i64 {
    let terms = || expression.coefficients.iter().zip(extents).map(|(&c, &n)| c * (n - 1));
    let (low, high): (i64, i64) = (terms().map(|x| x.min(0)).sum(), terms().map(|x| x.max(0)).sum());
    let near = |numbers: &mut Numbers| if numbers.one_in(3) { numbers.between(-2, 2) } else { 0 };
    expression.constant = near(numbers) - low;
    (high - low + 1 + near(numbers)).max(0)
}

fn constraint(numbers: &mut Numbers, extents: &[i64]) -> Constraint {
    let index = (!extents.is_empty()).then(|| numbers.below(extents.len()));
    let mut index = expression(numbers, extents, index);
    let size = placed(numbers, extents, &mut index);
    Constraint { index, bound: size - numbers.between(-1, 4) }
}

/// Whether the contraction follows the rules and is not too large.
fn is_valid(drawn: &RandomContraction) -> bool {
    let elements = |dims: &[i64]| dims.iter().fold(1i64, |n, &d| n.saturating_mul(d));
    if drawn.operands.iter().chain([&drawn.result]).any(|dims| elements(dims) > MAX_ELEMENTS) {
        return false;
    }
    let c = &drawn.contraction;
    let accesses = std::iter::once((&c.output, &drawn.result)).chain(c.operands.iter().zip(&drawn.operands));
    let expressions = accesses.flat_map(|(access, dims)| access.iter().zip(dims));
    let mut strips: Vec<Strip> =
        expressions.map(|(index, &size)| Strip { index: index.clone(), size }).collect();
    strips.extend(c.constraints.iter().map(|c| Strip { index: c.index.clone(), size: c.bound }));
    let accessed = |i: usize| c.output.iter().chain(c.operands.iter().flatten()).any(|e| e.depends_on(i));
    match Nest::new(c.indices, &strips, c.output.len()) {
        _ if c.indices > MAX_INDICES || !(0..c.indices).all(accessed) => false,
        Ok(Some(nest)) => {
            let once = || nest.repetition(MAX_ELEMENTS as usize) == Repetition::Never;
            nest.most_points() <= MAX_ELEMENTS as u64 && (c.aggregation != Aggregation::Assign || once())
        }
        Ok(None) => true,
        Err(_) => false,
    }
}

impl Generator {
    pub(super) fn contraction(&mut self) -> usize {
        let extent = if self.executable && self.numbers.one_in(8) { 70 } else { 4 };
        let drawn = random_contraction(&mut self.numbers, extent);
        let RandomContraction { contraction, result, operands } = &drawn;
        let is_ordered = matches!(contraction.aggregation, Aggregation::Max | Aggregation::Min);
        let value = self.element(|t| !(is_ordered && t.is_complex()));
        let compared = self.element(|_| true);
        let (types, result_type) = drawn.types(value, compared);
        let shapes = types.iter().zip(operands);
        let mut operands: Vec<usize> = shapes.map(|(&t, dims)| self.value(&Type::array(t, dims))).collect();
        let result = Array::new(result_type, result);
        if self.numbers.one_in(3) {
            operands.push(self.value(&result.clone().into()));
        }
        self.add(result, Opcode::Contraction, &operands, &[("access", contraction.to_string())])
    }
}
