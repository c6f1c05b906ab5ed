//! Elementwise opcodes.

use super::builder::Generator;
use super::types::Array;
use hlo_ir::opcode::ResultType;
use hlo_ir::{ElementType as E, Opcode};

impl Generator {
    /// Adds an elementwise instruction. Sometimes its operands have dynamic dimensions.
    pub(super) fn elementwise(&mut self, opcode: Opcode) -> usize {
        use Opcode::*;
        let x = self.first_operand(opcode);
        let a = self.array_type(x);
        match opcode {
            Convert => {
                let complex = a.element.is_complex();
                let to = self.element(|t| !complex || t.is_complex());
                self.add(a.of(to), opcode, &[x], &[])
            }
            ReducePrecision => {
                let bits = [
                    ("exponent_bits", self.numbers.between(1, 11)),
                    ("mantissa_bits", self.numbers.between(0, 52)),
                ];
                self.add(a, opcode, &[x], &bits.map(|(n, v)| (n, v.to_string())))
            }
            StochasticConvert => self.stochastic_convert(),
            Compare => self.compare(x),
            Select | Clamp => self.ternary(opcode, x),
            _ => self.by_table(opcode, x),
        }
    }

    /// Adds an instruction of an opcode that the opcode table describes completely.
    fn by_table(&mut self, opcode: Opcode, x: usize) -> usize {
        let a = self.array_type(x);
        let Some(table) = opcode.elementwise() else { return x };
        let element = match table.result {
            ResultType::Same | ResultType::Written => a.element,
            ResultType::Real => a.element.real_type(),
            ResultType::Pred => E::Pred,
            ResultType::Complex => a.element.complex_type().unwrap_or(E::C64),
        };
        let mut operands = vec![x];
        while operands.len() < table.class.operands() {
            operands.push(self.value(&a.clone().into()));
        }
        let value = self.add(a.of(element), opcode, &operands, &[]);
        if opcode.has_accuracy() && self.numbers.one_in(3) {
            let accuracy = self.numbers.pick(&[
                "{mode=highest}",
                "{tolerance={atol=0,rtol=0.5,ulps=2}}",
                "{mode=default}",
            ]);
            self.attribute(value, "result_accuracy", accuracy);
        }
        value
    }

    /// Returns an array for the first operand that is not a predicate.
    fn first_operand(&mut self, opcode: Opcode) -> usize {
        use Opcode::*;
        let table = opcode.elementwise();
        // The remainder of complex numbers is not defined. Inside called computations, all operations must be
        // exact.
        let rounds_twice = matches!(opcode, Multiply | Divide | Sqrt | Sign | Abs);
        let real = self.executable && (opcode == Remainder || (rounds_twice && self.is_called()));
        let fits = |t: E| match opcode {
            Complex => t.complex_type().is_some(),
            // The order of complex numbers is not defined, so bounds cannot be complex.
            Clamp => !t.is_complex(),
            _ => table.is_some_and(|e| e.types.contains(t)) && !(real && t.is_complex()),
        };
        let dynamic: Vec<usize> = (0..self.lines().len())
            .filter(|&i| self.lines()[i].ty.as_array().is_some_and(|a| !a.is_static() && fits(a.element)))
            .collect();
        if dynamic.is_empty() || self.numbers.one_in(2) {
            self.array_of(fits, 0, 4)
        } else {
            self.numbers.pick(&dynamic)
        }
    }

    fn compare(&mut self, x: usize) -> usize {
        let a = self.array_type(x);
        let y = self.value(&a.clone().into());
        let directions =
            if a.element.is_complex() { &["EQ", "NE"][..] } else { &["EQ", "NE", "GE", "GT", "LE", "LT"] };
        let direction = self.numbers.pick(directions).to_string();
        let value = self.add(a.of(E::Pred), Opcode::Compare, &[x, y], &[("direction", direction)]);
        let ty = match a.element {
            t if t.is_float() => self.numbers.pick(&["FLOAT", "TOTALORDER"]),
            t if t.is_complex() => "FLOAT",
            t if t.is_signed_integer() => "SIGNED",
            _ => "UNSIGNED",
        };
        if self.numbers.one_in(3) {
            self.attribute(value, "type", ty);
        }
        value
    }

    fn stochastic_convert(&mut self) -> usize {
        let x = self.array_of(|t| matches!(t, E::F32 | E::F16 | E::Bf16 | E::F64), 0, 3);
        let a = self.array_type(x);
        let random = match a.element.bit_width() {
            16 => E::U16,
            32 => E::U32,
            _ => E::U64,
        };
        let random = self.value(&a.of(random).into());
        let to = self.numbers.pick(&[E::S8, E::F8E5M2, E::Bf16, E::S32]);
        self.add(a.of(to), Opcode::StochasticConvert, &[x, random], &[])
    }

    fn ternary(&mut self, opcode: Opcode, x: usize) -> usize {
        let a = self.array_type(x);
        // Bounds and predicates may be scalars.
        let one = |g: &mut Self, element: E| {
            let ty =
                if g.numbers.one_in(2) && a.is_static() { Array::new(element, &[]) } else { a.of(element) };
            g.value(&ty.into())
        };
        match opcode {
            Opcode::Select => {
                let predicate = one(self, E::Pred);
                let y = self.value(&a.clone().into());
                self.add(a, opcode, &[predicate, x, y], &[])
            }
            _ => {
                let (low, high) = (one(self, a.element), one(self, a.element));
                self.add(a, opcode, &[low, x, high], &[])
            }
        }
    }
}
