//! Arithmetic on integers that are known during refinement.

use super::types::static_dims;
use crate::Tree;
use crate::tree::{Elements, Operation, Signedness, Type, TypeKind, ValueId};
use hlo_ir::AlignedBytes;
use std::collections::HashMap;
use std::sync::Arc;

/// Integers that are known during refinement, in row-major order.
pub(super) type Integers = Arc<[i64]>;

/// Maximum number of elements of a folded array. An array of sizes has one element for each dimension.
const MAX_ELEMENTS: usize = 1024;

/// An integer type. Its values are stored as `i64`; those of `ui64` keep their bits.
#[derive(Clone, Copy)]
struct IntegerType {
    bits: u32,
    is_signed: bool,
}

impl IntegerType {
    /// Returns the element type of an array, if it is an integer type.
    fn of(ty: &Type) -> Option<Self> {
        match *ty.as_tensor()?.element {
            TypeKind::Integer(1, _) => Some(Self { bits: 1, is_signed: false }),
            TypeKind::Integer(bits, signedness) => {
                (bits <= 64).then_some(Self { bits, is_signed: signedness != Signedness::Unsigned })
            }
            TypeKind::Index => Some(Self { bits: 64, is_signed: true }),
            _ => None,
        }
    }

    /// Returns the number that a stored value represents.
    fn number(self, value: i64) -> i128 {
        if self.is_signed { value.into() } else { (value as u64).into() }
    }

    /// Returns the stored value of a number, truncated to the bits of the type.
    fn wrap(self, number: i128) -> i64 {
        let unused = 128 - self.bits;
        if self.is_signed {
            ((number << unused) >> unused) as i64
        } else {
            (((number as u128) << unused) >> unused) as i64
        }
    }

    /// Returns the bits of a stored value.
    fn bits_of(self, value: i64) -> u64 {
        value as u64 & (u64::MAX >> (64 - self.bits))
    }
}

/// Returns the elements of an array of integers. Returns `None` if the type is not an integer array or has
/// another number of elements.
pub(super) fn elements(ty: &Type, integers: &[i64]) -> Option<Elements> {
    let tensor = ty.as_tensor()?;
    let size = match &*tensor.element {
        TypeKind::Index => 8,
        _ => tensor.element.element_type().filter(|e| e.is_integer() || e.is_pred())?.byte_size(),
    };
    let mut bytes = AlignedBytes::zeroed(size * integers.len());
    for (element, integer) in bytes.chunks_exact_mut(size).zip(integers) {
        element.copy_from_slice(integer.to_le_bytes().get(..size)?);
    }
    let is_all = tensor.count() == Some(integers.len());
    is_all.then(|| Elements { ty: ty.clone(), bytes: Arc::new(bytes), is_splat: false })
}

/// Computes the only result of an operation on known integers. Returns `None` if the result is unknown or not
/// a small array of integers. The types of operands and results must be known.
pub(super) fn fold(
    op: &Operation,
    result: ValueId,
    tree: &Tree,
    known: &HashMap<ValueId, Integers>,
) -> Option<Integers> {
    Fold { op, tree, known: &|value| known.get(&value).cloned() }.run(result)
}

/// An operation, and a source for the integers of its operands.
struct Fold<'a> {
    op: &'a Operation,
    tree: &'a Tree,
    known: &'a dyn Fn(ValueId) -> Option<Integers>,
}

impl Fold<'_> {
    fn run(&self, result: ValueId) -> Option<Integers> {
        let ty = self.tree.type_of(result);
        let to = IntegerType::of(ty)?;
        let count = ty.as_tensor()?.count().filter(|&count| count <= MAX_ELEMENTS)?;
        let name = self.op.name.strip_prefix("stablehlo.")?;
        let integers: Vec<i64> = match name {
            "constant" => self.op.attribute("value")?.ints()?,
            "get_dimension_size" => vec![self.dimension_size()?],
            "reshape" | "dynamic_reshape" => self.operand(0)?.to_vec(),
            "broadcast_in_dim" | "dynamic_broadcast_in_dim" => match self.operand(0)?[..] {
                [one] => vec![one; count],
                _ => return None,
            },
            "concatenate" => self.concatenation()?,
            "slice" => self.slice()?,
            "iota" | "dynamic_iota" => match static_dims(ty)? {
                [size] => (0..*size).map(|i| to.wrap(i.into())).collect(),
                _ => return None,
            },
            "reduce" => vec![self.reduction()?],
            _ => (0..count).map(|i| Some(to.wrap(self.element(name, i)?))).collect::<Option<_>>()?,
        };
        (integers.len() == count).then(|| integers.into())
    }

    fn operand(&self, index: usize) -> Option<Integers> {
        (self.known)(*self.op.operands.get(index)?)
    }

    fn operand_type(&self, index: usize) -> Option<&Type> {
        Some(self.tree.type_of(*self.op.operands.get(index)?))
    }

    fn integers(&self, attribute: &str) -> Option<Vec<i64>> {
        self.op.attribute(attribute)?.ints()
    }

    fn dimension_size(&self) -> Option<i64> {
        let dimension = self.op.attribute("dimension")?.as_int()?;
        let dims = &self.operand_type(0)?.as_tensor()?.dims;
        dims.get(usize::try_from(dimension).ok()?).copied().filter(|&size| size >= 0)
    }

    /// Concatenates arrays along their first dimension, which concatenates their elements.
    fn concatenation(&self) -> Option<Vec<i64>> {
        if self.op.attribute("dimension")?.as_int()? != 0 {
            return None;
        }
        let all: Option<Vec<_>> = (0..self.op.operands.len()).map(|index| self.operand(index)).collect();
        Some(all?.concat())
    }

    /// Returns the elements of a slice of a vector.
    fn slice(&self) -> Option<Vec<i64>> {
        let lists = ["start_indices", "limit_indices", "strides"].map(|name| self.integers(name));
        let [Some(start), Some(limit), Some(stride)] = lists else { return None };
        let ([start], [limit], [stride]) = (&start[..], &limit[..], &stride[..]) else { return None };
        let range = usize::try_from(*start).ok()?..usize::try_from(*limit).ok()?;
        let stride = usize::try_from(*stride).ok().filter(|&stride| stride > 0)?;
        Some(self.operand(0)?.get(range)?.iter().copied().step_by(stride).collect())
    }

    /// Computes the only result of the reduction of a vector.
    fn reduction(&self) -> Option<i64> {
        let ([_, _], Some([0])) = (&self.op.operands[..], self.integers("dimensions").as_deref()) else {
            return None;
        };
        let (elements, mut sum) = (self.operand(0)?, self.operand(1)?);
        let block = self.op.body()?;
        let (last, operations) = block.operations.split_last()?;
        for &element in elements.iter() {
            let mut inside: HashMap<ValueId, Integers> =
                block.arguments.iter().copied().zip([sum, [element].into()]).collect();
            for op in operations {
                let known = |value| inside.get(&value).cloned().or_else(|| (self.known)(value));
                let [result] = op.results[..] else { return None };
                let integers = Fold { op, tree: self.tree, known: &known }.run(result)?;
                inside.insert(result, integers);
            }
            let result = *last.operands.first()?;
            sum = inside.get(&result).cloned().or_else(|| (self.known)(result))?;
        }
        sum.first().copied()
    }

    /// Returns an element of an operand and its type. A scalar has the same value at all indices.
    fn at(&self, operand: usize, index: usize) -> Option<(i128, IntegerType)> {
        let ty = IntegerType::of(self.operand_type(operand)?)?;
        let integers = self.operand(operand)?;
        let value = match integers[..] {
            [one] => one,
            _ => *integers.get(index)?,
        };
        Some((ty.number(value), ty))
    }

    /// Computes an element of the result of an elementwise operation.
    fn element(&self, name: &str, index: usize) -> Option<i128> {
        let (a, ty) = self.at(0, index)?;
        match name {
            "select" => return Some(self.at(if a != 0 { 1 } else { 2 }, index)?.0),
            "clamp" => {
                let (value, most) = (self.at(1, index)?.0, self.at(2, index)?.0);
                return Some(value.max(a).min(most));
            }
            "convert" if self.is_truth(0) => return Some(i128::from(a != 0)),
            "convert" => return Some(a),
            "negate" => return Some(-a),
            "abs" => return Some(a.abs()),
            "sign" => return Some(a.signum()),
            "not" if ty.bits == 1 => return Some(i128::from(a == 0)),
            "not" => return Some(!a),
            _ => {}
        }
        let (b, _) = self.at(1, index)?;
        let shift = u32::try_from(b).ok().filter(|&b| b < ty.bits);
        let bits = i128::from(ty.bits_of(ty.wrap(a)));
        Some(match name {
            "add" if ty.bits == 1 => a | b,
            "add" => a + b,
            "subtract" => a - b,
            "multiply" => a.checked_mul(b)?,
            // The result of a division by zero depends on the machine.
            "divide" => a.checked_div(b)?,
            "remainder" => a.checked_rem(b)?,
            "maximum" => a.max(b),
            "minimum" => a.min(b),
            "power" => {
                (0..u32::try_from(b).ok()?.min(64)).try_fold(1i128, |power, _| power.checked_mul(a))?
            }
            "and" => a & b,
            "or" => a | b,
            "xor" => a ^ b,
            "shift_left" => shift.map_or(0, |shift| a << shift),
            "shift_right_arithmetic" => a >> shift.unwrap_or(ty.bits - 1),
            "shift_right_logical" => shift.map_or(0, |shift| bits >> shift),
            "compare" => {
                let direction = self.op.attribute("comparison_direction")?;
                i128::from(match direction.word("stablehlo.comparison_direction")? {
                    "EQ" => a == b,
                    "NE" => a != b,
                    "GE" => a >= b,
                    "GT" => a > b,
                    "LE" => a <= b,
                    "LT" => a < b,
                    _ => return None,
                })
            }
            _ => return None,
        })
    }

    /// Checks whether a result is Boolean.
    fn is_truth(&self, result: usize) -> bool {
        let ty = self.op.results.get(result).and_then(|&value| IntegerType::of(self.tree.type_of(value)));
        ty.is_some_and(|ty| ty.bits == 1)
    }
}
