//! The contents of random modules for execution: opcodes that need no external input, and computations and
//! operands for which the semantics allow only one result, except for rounding.

use super::builder::Generator;
use super::types::{Array, Type};
use hlo_ir::{ElementType as E, Opcode};

/// Whether one device can run the opcode by itself, on arrays of static sizes.
pub fn runs_alone(opcode: Opcode) -> bool {
    use Opcode::*;
    !matches!(
        opcode,
        // These create dynamic sizes.
        DynamicReshape | SetDimensionSize
        // These need the host, a library, or the other end of a channel.
        | CustomCall | Infeed | Outfeed | Recv | RecvDone | Send | SendDone
    )
}

/// Whether the opcode has the same result everywhere for all element types except complex ones: it moves
/// elements, or rounds once.
pub fn is_exact(opcode: Opcode) -> bool {
    use Opcode::*;
    match opcode {
        Sqrt => true,
        hlo_ir::elementwise_opcode!() => !opcode.work().is_transcendental(),
        // For floating-point numbers, the order of summation may differ.
        Scatter | Reduce | ReduceWindow | SelectAndScatter | Cholesky | Contraction | Convolution | Dot
        | Fft | RaggedDot | ScaledDot | TriangularSolve | BatchNormGrad | BatchNormInference
        | BatchNormTraining | Rng => false,
        _ => true,
    }
}

impl Generator {
    /// Adds a function that combines N accumulators with N elements to `combined`, a scalar or a tuple of
    /// scalars. Also returns the texts of the initial values if they must be identities.
    pub(super) fn combiner(&mut self, combined: &Type) -> (String, Vec<Option<String>>) {
        let elements: Vec<E> =
            combined.leaves().into_iter().filter_map(|t| Some(t.as_array()?.element)).collect();
        if !self.executable {
            let both = [&elements[..], &elements].concat();
            return (self.scalar_function(&both, combined), vec![None; elements.len()]);
        }
        self.begin("region");
        let parameters: Vec<usize> =
            elements.iter().chain(&elements).map(|&t| self.parameter(Array::new(t, &[]))).collect();
        let (mut roots, mut identities) = (Vec::new(), Vec::new());
        let in_arrays = self.numbers.one_in(6);
        for (i, &t) in elements.iter().enumerate() {
            let (opcode, identity) = self.associative(t);
            let operands = [parameters[i], parameters[i + elements.len()]];
            roots.push(self.on_scalars(in_arrays, t, t, opcode, operands));
            identities.push(Some(identity));
        }
        let root = match combined {
            Type::Tuple(_) => self.tuple(&roots),
            _ => roots[0],
        };
        (self.end(root), identities)
    }

    /// Adds an operation on two scalars, or on arrays of one element, so that the function does not only use
    /// scalars.
    fn on_scalars(&mut self, in_arrays: bool, from: E, to: E, opcode: Opcode, operands: [usize; 2]) -> usize {
        if !in_arrays {
            return self.add(Array::new(to, &[]), opcode, &operands, &[]);
        }
        let operands = operands.map(|o| self.add(Array::new(from, &[1]), Opcode::Reshape, &[o], &[]));
        let value = self.add(Array::new(to, &[1]), opcode, &operands, &[]);
        self.add(Array::new(to, &[]), Opcode::Reshape, &[value], &[])
    }

    /// Returns an opcode that is associative except for rounding, and the text of its identity.
    fn associative(&mut self, t: E) -> (Opcode, String) {
        let sum = (Opcode::Add, if t.is_complex() { "(0, 0)" } else { "0" }.to_string());
        let product = (Opcode::Multiply, if t.is_complex() { "(1, 0)" } else { "1" }.to_string());
        let mut all = Vec::new();
        if t.is_pred() {
            all = vec![(Opcode::And, "true".into()), (Opcode::Or, "false".into())];
        } else if t.is_complex() {
            all.extend([sum, product]);
        } else if t.is_integer() {
            let bits = t.bit_width();
            let (low, high) = if t.is_signed_integer() {
                (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
            } else {
                (0, (1i128 << bits) - 1)
            };
            all.extend([sum, (Opcode::Minimum, high.to_string()), (Opcode::Maximum, low.to_string())]);
            if high > 0 {
                all.push((Opcode::Multiply, "1".into()));
            }
            all.extend([(Opcode::And, if low < 0 { "-1".into() } else { high.to_string() })]);
            all.extend([(Opcode::Or, "0".into()), (Opcode::Xor, "0".into())]);
        } else {
            // The extreme values differ between the narrow types, so they have no minimum or maximum here.
            // Addition has an identity in all of them but one.
            match t {
                E::F8E8M0Fnu => all.push((Opcode::Multiply, "1".into())),
                E::F64 | E::F32 | E::F16 | E::Bf16 => {
                    all.extend([
                        (Opcode::Minimum, "inf".into()),
                        (Opcode::Maximum, "-inf".into()),
                        sum,
                        product,
                    ]);
                }
                _ => all.extend([sum, product]),
            }
        }
        self.numbers.pick(&all)
    }

    /// Adds a function that returns whether the first elements of N pairs come before the second ones. If
    /// required, the order is strict and includes NaNs.
    pub(super) fn comparator(&mut self, elements: &[E]) -> String {
        if !self.executable {
            let types: Vec<E> = elements.iter().flat_map(|&t| [t, t]).collect();
            return self.scalar_function(&types, &Type::scalar(E::Pred));
        }
        self.begin("region");
        let parameters: Vec<usize> =
            elements.iter().flat_map(|&t| [t, t]).map(|t| self.parameter(Array::new(t, &[]))).collect();
        // Complex numbers have no order, so another operand is the key, or all elements are equal.
        let Some(key) = elements.iter().position(|t| !t.is_complex()) else {
            let root = self.number(E::Pred, "false");
            return self.end(root);
        };
        let direction = self.numbers.pick(&["LT", "GT"]).to_string();
        let operands = [parameters[2 * key], parameters[2 * key + 1]];
        let in_arrays = self.numbers.one_in(6);
        let root = self.on_scalars(in_arrays, elements[key], E::Pred, Opcode::Compare, operands);
        let compare = if in_arrays { root - 1 } else { root };
        self.attribute(compare, "direction", direction);
        if elements[key].is_float() {
            self.attribute(compare, "type", "TOTALORDER");
        }
        self.end(root)
    }

    /// Adds a loop of a few iterations with a counter and a state.
    pub(super) fn counted_loop(&mut self) -> usize {
        let inner = self.state();
        let counter = Type::scalar(E::S32);
        let ty = Type::Tuple(vec![counter.clone(), inner.clone()]);
        let zero = self.number(E::S32, "0");
        let initial = self.value(&inner);
        let initial = self.tuple(&[zero, initial]);

        self.begin("condition");
        let state = self.parameter(ty.clone());
        let i = self.element_of(state, 0);
        let limit = self.numbers.below(4).to_string();
        let limit = self.number(E::S32, &limit);
        let go_on =
            self.add(Type::scalar(E::Pred), Opcode::Compare, &[i, limit], &[("direction", "LT".into())]);
        let condition = self.end(go_on);

        let step = self.function("step", &[counter.clone(), inner.clone()], &inner);
        self.begin("body");
        let state = self.parameter(ty.clone());
        let (i, x) = (self.element_of(state, 0), self.element_of(state, 1));
        let one = self.number(E::S32, "1");
        let next = self.add(counter, Opcode::Add, &[i, one], &[]);
        let x = self.add(inner, Opcode::Call, &[i, x], &[("to_apply", step)]);
        let root = self.tuple(&[next, x]);
        let body = self.end(root);
        self.add(ty, Opcode::While, &[initial], &[("condition", condition), ("body", body)])
    }

    /// Returns the sizes of `groups` groups with up to `rows` rows in total.
    pub(super) fn group_sizes(&mut self, groups: i64, rows: i64) -> usize {
        let mut rest = rows;
        let mut sizes = Vec::new();
        for _ in 0..groups {
            let size = self.numbers.between(0, rest);
            rest -= size;
            sizes.push(size.to_string());
        }
        let value = self.add(Array::new(E::S32, &[groups]), Opcode::Constant, &[], &[]);
        self.edit(value, |line| line.payload = format!("{{{}}}", sizes.join(", ")));
        value
    }

    /// Adds symmetric, diagonally dominant matrices in the last two dimensions.
    pub(super) fn well_conditioned(&mut self, t: E, dims: &[i64]) -> usize {
        let text = self.matrices(t, dims);
        let value = self.add(Array::new(t, dims), Opcode::Constant, &[], &[]);
        self.edit(value, |line| line.payload = text);
        value
    }

    fn matrices(&mut self, t: E, dims: &[i64]) -> String {
        let parts: Vec<String> = match dims {
            [n, _] => {
                let (n, seed) = (*n, self.numbers.bits());
                let off_diagonal = |i: i64, j: i64| {
                    let (low, high) = (i.min(j) as u64, i.max(j) as u64);
                    (seed.rotate_left((7 * low + 13 * high) as u32 % 64) % 9) as f64 / 8.0 - 0.5
                };
                let element = |i: i64, j: i64| {
                    let x = if i == j { 2.0 * n as f64 + 0.25 * i as f64 } else { off_diagonal(i, j) };
                    if t.is_complex() { format!("({x}, 0)") } else { x.to_string() }
                };
                let row = |i| (0..n).map(|j| element(i, j)).collect::<Vec<_>>().join(", ");
                (0..n).map(|i| format!("{{{}}}", row(i))).collect()
            }
            [n, rest @ ..] => (0..*n).map(|_| self.matrices(t, rest)).collect(),
            [] => Vec::new(),
        };
        format!("{{{}}}", parts.join(", "))
    }
}
