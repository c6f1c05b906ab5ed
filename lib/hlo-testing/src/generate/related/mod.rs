//! Modules for testing simplifications: operations on results of similar operations, on the same value twice,
//! on neutral constants, and sequences of data movements.
//!
//! The intermediate results of an expression have no other uses, so that patterns which require this apply.

mod arithmetic;
mod arrays;
mod indices;
mod products;

use super::Options;
use super::builder::Generator;
use super::program::Program;
use super::types::{Array, Type, braced};
use crate::Numbers;
use hlo_ir::{ElementType as E, Opcode};

/// Returns a random module with `options.steps` such expressions. Consecutive seeds select each kind for the
/// first expression in turn.
pub fn related(seed: u64, options: Options) -> Program {
    let mut generator = Generator::new(Numbers::new(seed), options.first_name);
    generator.executable = options.executable;
    generator.begin("entry");
    let first = (seed % KINDS.len() as u64) as usize;
    let mut results = vec![KINDS[first](&mut generator)];
    for _ in 1..options.steps {
        let kind = generator.numbers.pick(KINDS);
        results.push(kind(&mut generator));
    }
    let root = generator.tuple(&results);
    generator.finish_at(seed, root)
}

/// The kinds of expressions.
const KINDS: &[fn(&mut Generator) -> usize] = &[
    Generator::calculation,
    Generator::identity,
    Generator::identity,
    Generator::chosen,
    Generator::conversions,
    Generator::moved,
    Generator::moved,
    Generator::moved_operands,
    Generator::reduced,
    Generator::windowed,
    Generator::sorted,
    Generator::tuple_elements,
    Generator::updated,
    Generator::gathered,
    Generator::scattered,
    Generator::product,
    Generator::products_beside,
    Generator::convolved,
];

impl Generator {
    /// Returns small sizes, often 1, sometimes 0.
    fn few_dims(&mut self, low: i64, high: i64) -> Vec<i64> {
        let rank = self.numbers.between(low, high);
        (0..rank).map(|_| self.numbers.pick(&[1, 1, 2, 2, 3, 3, 4, 0, 5])).collect()
    }

    /// Returns a new parameter, or sometimes a constant array.
    fn fresh_array(&mut self, a: &Array) -> usize {
        match self.numbers.below(8) {
            0 => self.constant(a.clone()),
            1 => {
                let text = self.special(a.element);
                self.splat(a, &text)
            }
            2 if a.rank() > 0 && !a.element.is_pred() => {
                let d = self.numbers.below(a.rank()).to_string();
                self.add(a.clone(), Opcode::Iota, &[], &[("iota_dimension", d)])
            }
            _ => self.parameter(a.clone()),
        }
    }

    /// Returns the text of a number that is special for some operation.
    fn special(&mut self, t: E) -> String {
        let text: &[&str] = match t {
            E::Pred => &["true", "false"],
            E::C64 | E::C128 => &["(0, 0)", "(1, 0)", "(-1, 0)", "(0, -1)"],
            E::F16 | E::Bf16 | E::F32 | E::F64 => {
                &["0", "-0", "1", "-1", "2", "0.5", "-4", "inf", "-inf", "nan", "3"]
            }
            t if t.is_float() => &["1", "0.5", "2"],
            _ => {
                let bits = t.bit_width();
                let (low, high) = if t.is_signed_integer() {
                    (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
                } else {
                    (0, (1i128 << bits) - 1)
                };
                let number = match self.numbers.below(4) {
                    0 => self.numbers.pick(&[low, high]),
                    1 => i128::from(self.numbers.pick(&[2, 4, 8, 3, 7, bits, bits - 1])),
                    _ => self.numbers.pick(&[0, 1, -1]),
                };
                return number.clamp(low, high).to_string();
            }
        };
        self.numbers.pick(text).to_string()
    }

    /// Returns an array that contains one number in all elements.
    fn splat(&mut self, a: &Array, text: &str) -> usize {
        let scalar = self.number(a.element, text);
        match a.rank() {
            0 => scalar,
            _ => self.add(a.clone(), Opcode::Broadcast, &[scalar], &[("dimensions", "{}".into())]),
        }
    }

    /// Returns the transposed value.
    fn transposed(&mut self, x: usize, order: &[i64]) -> usize {
        let a = self.array_type(x);
        let dims: Vec<i64> = order.iter().map(|&d| a.dims[d as usize]).collect();
        self.add(Array::new(a.element, &dims), Opcode::Transpose, &[x], &[("dimensions", braced(order))])
    }

    /// Adds tuples and their elements.
    fn tuple_elements(&mut self) -> usize {
        let types: Vec<Type> = (0..self.numbers.between(1, 3)).map(|_| self.some_type(1)).collect();
        let parts: Vec<usize> = types.iter().map(|t| self.parameter(t.clone())).collect();
        let whole =
            if self.numbers.one_in(2) { self.tuple(&parts) } else { self.parameter(Type::Tuple(types)) };
        let mut elements: Vec<usize> = (0..parts.len()).map(|n| self.element_of(whole, n)).collect();
        if self.numbers.one_in(4) {
            elements.reverse();
        }
        self.tuple(&elements)
    }

    /// Adds sorts whose results are barely used, or that have little to sort.
    fn sorted(&mut self) -> usize {
        let mut dims = self.few_dims(1, 2);
        let along = self.numbers.below(dims.len());
        if self.numbers.one_in(2) {
            dims[along] = 1;
        }
        let elements: Vec<E> = (0..self.numbers.between(1, 3)).map(|_| self.element(|_| true)).collect();
        let operands: Vec<usize> =
            elements.iter().map(|&t| self.fresh_array(&Array::new(t, &dims))).collect();
        let types: Vec<Type> = elements.iter().map(|&t| Type::array(t, &dims)).collect();
        let function = self.comparator(&elements);
        let ty = super::types::one_or_tuple(types);
        let attributes =
            [("dimensions", braced(&[along as i64])), ("is_stable", "true".into()), ("to_apply", function)];
        let sort = self.add(ty, Opcode::Sort, &operands, &attributes);
        if elements.len() == 1 {
            return sort;
        }
        let n = self.numbers.below(elements.len());
        self.element_of(sort, n)
    }
}
