//! Arithmetic, comparisons and selections on few values, and sequences of conversions.

use super::{Array, E, Generator, Opcode};

/// The values computed so far, all of the same sizes.
struct Pool {
    numbers: Vec<usize>,
    predicates: Vec<usize>,
}

impl Generator {
    /// Adds some operations on a few values of one type.
    pub(super) fn calculation(&mut self) -> usize {
        let t = self.numbers.pick(&[
            E::S32,
            E::S32,
            E::U8,
            E::U32,
            E::S8,
            E::F32,
            E::F32,
            E::Bf16,
            E::Pred,
            E::Pred,
            E::S4,
            E::U2,
            E::F64,
            E::C64,
            E::F8E5M2,
            E::S1,
        ]);
        let dims = self.few_dims(0, 2);
        let a = Array::new(t, &dims);
        let mut pool = Pool { numbers: Vec::new(), predicates: Vec::new() };
        for _ in 0..2 {
            pool.numbers.push(self.fresh_array(&a));
        }
        pool.predicates.push(self.parameter(a.of(E::Pred)));
        for _ in 0..self.numbers.between(2, 6) {
            self.calculate(&a, &mut pool);
        }
        let last = |values: &[usize]| values.last().copied().unwrap_or(0);
        last(&pool.numbers).max(last(&pool.predicates))
    }

    /// Returns one of the values, usually the last, or a special constant.
    fn drawn(&mut self, a: &Array, from: &[usize]) -> usize {
        match self.numbers.below(6) {
            0 => {
                let text = self.special(a.element);
                self.splat(a, &text)
            }
            1 | 2 => self.numbers.pick(from),
            _ => from[from.len() - 1],
        }
    }

    /// Returns two operands, which are related more often than not.
    fn drawn_pair(&mut self, a: &Array, from: &[usize]) -> [usize; 2] {
        let x = self.drawn(a, from);
        let y = match self.numbers.below(4) {
            0 => {
                let text = self.special(a.element);
                self.splat(a, &text)
            }
            1 => x,
            _ => self.numbers.pick(from),
        };
        if self.numbers.one_in(3) { [y, x] } else { [x, y] }
    }

    fn calculate(&mut self, a: &Array, pool: &mut Pool) {
        use Opcode::*;
        let t = a.element;
        let bools = a.of(E::Pred);
        match self.numbers.below(8) {
            0 => {
                let value = self.comparison(a, pool);
                pool.predicates.push(value);
            }
            1 => {
                let [x, y] = self.drawn_pair(&bools, &pool.predicates);
                let opcode = self.numbers.pick(&[And, Or, Xor, Not, Select, Add, Maximum]);
                let value = match opcode {
                    Not => self.add(bools, Not, &[x], &[]),
                    Select => {
                        let p = self.numbers.pick(&pool.predicates);
                        self.add(bools, Select, &[p, x, y], &[])
                    }
                    _ => self.add(bools, opcode, &[x, y], &[]),
                };
                pool.predicates.push(value);
            }
            2 => {
                let p = self.drawn(&bools, &pool.predicates);
                let [x, y] = self.drawn_pair(a, &pool.numbers);
                let value = self.add(a.clone(), Select, &[p, x, y], &[]);
                pool.numbers.push(value);
            }
            3 => {
                let x = self.drawn(a, &pool.numbers);
                let opcodes: &[Opcode] = match t {
                    E::Pred => &[Not],
                    t if t.is_float() => &[Negate, Abs, Floor, Ceil, Sign, Exponential, Sqrt, Logistic],
                    t if t.is_complex() => &[Negate],
                    t if t.is_signed_integer() => &[Negate, Not, Abs, Sign],
                    _ => &[Negate, Not, PopulationCount],
                };
                let opcode = self.numbers.pick(opcodes);
                let value = self.add(a.clone(), opcode, &[x], &[]);
                pool.numbers.push(value);
            }
            4 if !t.is_complex() => {
                let [low, high] = self.drawn_pair(a, &pool.numbers);
                let x = self.drawn(a, &pool.numbers);
                let value = self.add(a.clone(), Clamp, &[low, x, high], &[]);
                pool.numbers.push(value);
            }
            _ => {
                let [x, y] = self.drawn_pair(a, &pool.numbers);
                let opcodes: &[Opcode] = match t {
                    E::Pred => &[And, Or, Xor, Maximum, Minimum, Add, Multiply],
                    t if t.is_complex() => &[Add, Subtract, Multiply, Divide],
                    t if t.is_float() => {
                        &[Add, Subtract, Multiply, Divide, Remainder, Maximum, Minimum, Power]
                    }
                    _ => &[
                        Add,
                        Subtract,
                        Multiply,
                        Divide,
                        Remainder,
                        Maximum,
                        Minimum,
                        And,
                        Or,
                        Xor,
                        ShiftLeft,
                        ShiftRightArithmetic,
                        ShiftRightLogical,
                        Power,
                    ],
                };
                let opcode = self.numbers.pick(opcodes);
                let value = self.add(a.clone(), opcode, &[x, y], &[]);
                pool.numbers.push(value);
            }
        }
    }

    /// Adds a comparison of two numbers, or of a predicate converted to a number.
    fn comparison(&mut self, a: &Array, pool: &Pool) -> usize {
        let mut operands = self.drawn_pair(a, &pool.numbers);
        if self.numbers.one_in(4) && !a.element.is_pred() {
            let p = self.numbers.pick(&pool.predicates);
            operands[0] = self.add(a.clone(), Opcode::Convert, &[p], &[]);
        }
        let directions: &[&str] =
            if a.element.is_complex() { &["EQ", "NE"] } else { &["EQ", "NE", "LT", "LE", "GT", "GE"] };
        let direction = self.numbers.pick(directions).to_string();
        let value = self.add(a.of(E::Pred), Opcode::Compare, &operands, &[("direction", direction)]);
        if a.element.is_float() && self.numbers.one_in(3) {
            self.attribute(value, "type", "TOTALORDER");
        }
        value
    }

    /// Adds operations of one family, each on the results of two others, all on the same two values and
    /// constants.
    pub(super) fn identity(&mut self) -> usize {
        use Opcode::*;
        let t = self.numbers.pick(&[E::S32, E::S32, E::U8, E::S8, E::Pred, E::F32, E::S4, E::U32, E::F64]);
        let sums: &[Opcode] = &[Add, Subtract, Multiply, Negate];
        let extrema: &[Opcode] = &[Maximum, Minimum];
        let bits: &[Opcode] = &[And, Or, Xor, Not];
        let quotients: &[Opcode] = &[Divide, Remainder];
        let families = match t {
            E::Pred => vec![bits, extrema],
            t if t.is_float() => vec![sums, &[Abs, Multiply, Divide, Negate], extrema, &[Remainder]],
            t if !t.is_signed_integer() => {
                vec![sums, bits, extrema, quotients, &[ShiftLeft], &[ShiftRightLogical]]
            }
            _ => vec![sums, bits, extrema, quotients, &[Abs, Multiply, Negate], &[ShiftRightArithmetic]],
        };
        let family = self.numbers.pick(&families);
        let dims = self.few_dims(0, 2);
        let a = Array::new(t, &dims);
        let mut leaves = vec![self.fresh_array(&a), self.parameter(a.clone())];
        for _ in 0..2 {
            let text = self.special(t);
            let value = self.splat(&a, &text);
            leaves.push(value);
        }
        let mut pair = [0; 2];
        for inner in &mut pair {
            *inner = self.of_family(&a, family, &leaves);
        }
        let known = leaves.len();
        leaves.extend(pair);
        let outer = if self.numbers.one_in(2) { &leaves[..] } else { &leaves[known..] };
        let compares = self.numbers.one_in(4);
        if !compares {
            let both = self.of_family(&a, family, outer);
            return if self.numbers.one_in(4) { self.of_family(&a, family, &[both]) } else { both };
        }
        let operands = [self.numbers.pick(&pair), self.numbers.pick(outer)];
        let direction = self.numbers.pick(&["EQ", "NE", "LT", "GE"]).to_string();
        self.add(a.of(E::Pred), Compare, &operands, &[("direction", direction)])
    }

    /// Adds an operation of a family on some of the values.
    fn of_family(&mut self, a: &Array, family: &[Opcode], values: &[usize]) -> usize {
        let opcode = self.numbers.pick(family);
        let x = self.numbers.pick(values);
        if matches!(opcode, Opcode::Abs | Opcode::Negate | Opcode::Not) {
            return self.add(a.clone(), opcode, &[x], &[]);
        }
        let y = self.numbers.pick(values);
        self.add(a.clone(), opcode, &[x, y], &[])
    }

    /// Adds selections between values that were selected or compared.
    pub(super) fn chosen(&mut self) -> usize {
        let t = self.numbers.pick(&[E::S32, E::U8, E::F32, E::Pred]);
        let dims = self.few_dims(0, 2);
        let a = Array::new(t, &dims);
        let bools = a.of(E::Pred);
        let (x, y) = (self.parameter(a.clone()), self.parameter(a.clone()));
        let mut predicates = vec![self.parameter(bools.clone())];
        if self.numbers.one_in(2) {
            predicates.push(self.parameter(bools))
        } else {
            let direction = self.numbers.pick(&["EQ", "NE", "LT", "LE", "GT", "GE"]).to_string();
            predicates.push(self.add(bools, Opcode::Compare, &[x, y], &[("direction", direction)]));
        }
        let select = |g: &mut Self, values: &[usize]| {
            let p = g.numbers.pick(&predicates);
            let operands = [p, g.numbers.pick(values), g.numbers.pick(values)];
            g.add(a.clone(), Opcode::Select, &operands, &[])
        };
        let inner = select(self, &[x, y]);
        if self.numbers.one_in(4) { inner } else { select(self, &[x, y, inner]) }
    }

    /// Adds a sequence of conversions, and splits complex numbers into parts.
    pub(super) fn conversions(&mut self) -> usize {
        let dims = self.few_dims(0, 2);
        let t = self.element(|_| true);
        let mut x = self.fresh_array(&Array::new(t, &dims));
        for _ in 0..self.numbers.between(2, 4) {
            let a = self.array_type(x);
            let t = a.element;
            x = match self.numbers.below(6) {
                0 if t.is_complex() => {
                    let parts =
                        [Opcode::Real, Opcode::Imag].map(|o| self.add(a.of(t.real_type()), o, &[x], &[]));
                    self.add(a, Opcode::Complex, &parts, &[])
                }
                0 if matches!(t, E::F32 | E::F64) => {
                    let y = self.parameter(a.clone());
                    let to = a.of(t.complex_type().unwrap_or(E::C64));
                    let whole = self.add(to, Opcode::Complex, &[x, y], &[]);
                    let part = self.numbers.pick(&[Opcode::Real, Opcode::Imag]);
                    self.add(a, part, &[whole], &[])
                }
                1 if t.is_float() => {
                    let bits = self.numbers.pick(&[(5, 10), (8, 7), (8, 23), (11, 52), (4, 3)]);
                    let bits = [("exponent_bits", bits.0.to_string()), ("mantissa_bits", bits.1.to_string())];
                    let once = self.add(a.clone(), Opcode::ReducePrecision, &[x], &bits);
                    self.add(a, Opcode::ReducePrecision, &[once], &bits)
                }
                2 if !t.is_complex() && t.bit_width() >= 8 => {
                    let same = |u: E| u.bit_width() == t.bit_width() && !u.is_complex() && !u.is_pred();
                    let to = self.element(|u| u == t || (same(u) && !t.is_pred()));
                    self.add(a.of(to), Opcode::BitcastConvert, &[x], &[])
                }
                3 if t.is_float() => {
                    let whole = self.add(a.of(E::C64), Opcode::Convert, &[x], &[]);
                    let part = self.numbers.pick(&[Opcode::Real, Opcode::Imag]);
                    self.add(a.of(E::F32), part, &[whole], &[])
                }
                _ => {
                    let to = self.element(|u| !t.is_complex() || u.is_complex());
                    self.add(a.of(to), Opcode::Convert, &[x], &[])
                }
            };
        }
        x
    }

    /// Adds an elementwise operation on values that were moved in the same way, or broadcast.
    pub(super) fn moved_operands(&mut self) -> usize {
        let t = self.numbers.pick(&[E::F32, E::S32, E::U8, E::Bf16]);
        let dims = self.few_dims(0, 3);
        let x = self.parameter(Array::new(t, &dims));
        let first = self.move_once(x);
        let moved = self.array_type(first);
        let last = self.lines().len() - 1;
        let line = self.lines()[last].clone();
        let alike = first == last && line.operands == [x] && line.opcode != Opcode::Convert;
        let second = match self.numbers.below(3) {
            0 | 1 if alike => {
                let y = self.parameter(self.array_type(x));
                let value = self.add(moved.clone(), line.opcode, &[y], &[]);
                self.edit(value, |l| l.attributes = line.attributes);
                value
            }
            _ => {
                let text = self.special(moved.element);
                self.splat(&moved, &text)
            }
        };
        let opcodes = [Opcode::Add, Opcode::Maximum, Opcode::Multiply, Opcode::Subtract];
        let opcode = self.numbers.pick(&opcodes);
        let value = self.add(moved.clone(), opcode, &[first, second], &[]);
        if self.numbers.one_in(2) { self.add(moved, Opcode::Negate, &[value], &[]) } else { value }
    }
}
