//! Dot products, convolutions, Fourier transforms, factorizations, normalization and random numbers.

use super::builder::Generator;
use super::types::{Array, Type, braced};
use hlo_ir::{ElementType as E, Opcode};

const FLOATS: [E; 4] = [E::F32, E::F64, E::Bf16, E::F16];

impl Generator {
    /// Adds an instruction of linear algebra, normalization or random numbers.
    pub(super) fn algebra(&mut self, opcode: Opcode) -> usize {
        match opcode {
            Opcode::Dot => self.dot(),
            Opcode::ScaledDot => self.scaled_dot(),
            Opcode::RaggedDot => self.ragged_dot(),
            Opcode::Contraction => self.contraction(),
            Opcode::Convolution => self.convolution(),
            Opcode::Fft => self.fft(),
            Opcode::Cholesky | Opcode::TriangularSolve => self.solve(opcode),
            Opcode::BatchNormGrad | Opcode::BatchNormInference | Opcode::BatchNormTraining => {
                self.normalization(opcode)
            }
            Opcode::Rng => {
                let distribution = self.numbers.pick(&["rng_uniform", "rng_normal"]).to_string();
                let t = self.numbers.pick(&FLOATS);
                let operands = if self.executable {
                    [self.number(t, "-1"), self.number(t, "3")]
                } else {
                    [self.value(&Type::scalar(t)), self.value(&Type::scalar(t))]
                };
                let ty = Array::new(t, &self.dims(0, 3));
                self.add(ty, opcode, &operands, &[("distribution", distribution)])
            }
            Opcode::RngBitGenerator => {
                let algorithm =
                    self.numbers.pick(&["rng_default", "rng_three_fry", "rng_philox"]).to_string();
                let state = self.value(&Type::array(E::U64, &[2]));
                let bits = self.element(|t| t.is_integer());
                let bits: Type = Array::new(bits, &self.dims(0, 3)).into();
                let ty = Type::Tuple(vec![Type::array(E::U64, &[2]), bits]);
                self.add(ty, opcode, &[state], &[("algorithm", algorithm)])
            }
            _ => {
                let delta = self.numbers.between(0, 1000).to_string();
                self.add(Array::new(E::U64, &[2]), Opcode::RngGetAndUpdateState, &[], &[("delta", delta)])
            }
        }
    }

    fn precision(&mut self, value: usize, operands: usize) {
        if self.numbers.one_in(3) {
            let words: Vec<&str> =
                (0..operands).map(|_| self.numbers.pick(&["default", "high", "highest"])).collect();
            self.attribute(value, "operand_precision", format!("{{{}}}", words.join(",")));
        }
    }

    fn dot(&mut self) -> usize {
        let t = self.element(|t| !t.is_pred());
        let (batch, contracting) = (self.dims(0, 1), self.dims(0, 2));
        // Each side has batch, contracting and free dimensions in random order.
        let mut sides = Vec::new();
        for _ in 0..2 {
            let free = self.dims(0, 1);
            let all: Vec<i64> = batch.iter().chain(&contracting).chain(&free).copied().collect();
            let place = self.numbers.permutation(all.len());
            let mut dims = vec![0; all.len()];
            for (i, &p) in place.iter().enumerate() {
                dims[p as usize] = all[i];
            }
            let b = place[..batch.len()].to_vec();
            let c = place[batch.len()..batch.len() + contracting.len()].to_vec();
            let mut kept: Vec<i64> = place[batch.len() + contracting.len()..].to_vec();
            kept.sort_unstable();
            let free: Vec<i64> = kept.iter().map(|&d| dims[d as usize]).collect();
            sides.push((self.value(&Type::array(t, &dims)), b, c, free));
        }
        let mut result = batch;
        result.extend(sides.iter().flat_map(|s| &s.3));
        let mut attributes = Vec::new();
        for (side, name) in sides.iter().zip(["lhs", "rhs"]) {
            attributes.push((format!("{name}_batch_dims"), braced(&side.1)));
            attributes.push((format!("{name}_contracting_dims"), braced(&side.2)));
        }
        attributes.retain(|(_, v)| v != "{}");
        let attributes: Vec<(&str, String)> =
            attributes.iter().map(|(n, v)| (n.as_str(), v.clone())).collect();
        let value = self.add(Array::new(t, &result), Opcode::Dot, &[sides[0].0, sides[1].0], &attributes);
        self.precision(value, 2);
        if t == E::F32 && self.numbers.one_in(3) {
            let algorithm =
                self.numbers.pick(&["dot_f32_f32_f32", "dot_bf16_bf16_f32_x3", "dot_tf32_tf32_f32"]);
            self.attribute(value, "algorithm", algorithm);
        }
        value
    }

    fn scaled_dot(&mut self) -> usize {
        let (m, n) = (self.size(1, 4), self.size(1, 4));
        let t = self.numbers.pick(&[E::F8E4M3Fn, E::F8E5M2]);
        let batch = self.dims(0, 1);
        let d = batch.len();
        let with = |rest: [i64; 2]| -> Vec<i64> { batch.iter().copied().chain(rest).collect() };
        let shapes = [(t, [m, 4]), (t, [4, n]), (E::F8E8M0Fnu, [m, 2]), (E::F8E8M0Fnu, [2, n])];
        let operands = shapes.map(|(t, dims)| self.value(&Type::array(t, &with(dims))));
        let result = Array::new(self.numbers.pick(&[E::F32, E::Bf16]), &with([m, n]));
        let attributes = [
            ("lhs_contracting_dims", format!("{{{}}}", d + 1)),
            ("rhs_contracting_dims", format!("{{{d}}}")),
        ];
        let value = self.add(result, Opcode::ScaledDot, &operands, &attributes);
        if d > 0 {
            self.attribute(value, "lhs_batch_dims", "{0}");
            self.attribute(value, "rhs_batch_dims", "{0}");
        }
        self.precision(value, 4);
        if self.numbers.one_in(4) {
            self.attribute(value, "algorithm", "dot_f32_f32_f32");
        }
        value
    }

    fn ragged_dot(&mut self) -> usize {
        let [m, k, n, g] = [0; 4].map(|_| self.size(1, 4));
        let t = self.numbers.pick(&FLOATS);
        let batch = self.dims(0, 1);
        let d = batch.len();
        let with = |before: &[i64], after: &[i64]| -> Type {
            let dims: Vec<i64> = before.iter().chain(&batch).chain(after).copied().collect();
            Type::array(t, &dims)
        };
        let lhs = self.value(&with(&[], &[m, k]));
        let sizes = if self.executable {
            self.group_sizes(g, m.max(k))
        } else {
            self.value(&Type::array(E::S32, &[g]))
        };
        // The ragged dimension is a free one of the left side, or the contracting one.
        let free = self.numbers.one_in(2);
        let groups: &[i64] = if free { &[g] } else { &[] };
        let rhs = self.value(&with(groups, &[k, n]));
        let result = if free { with(&[], &[m, n]) } else { with(&[g], &[m, n]) };
        let place = |d: usize| braced(&[d as i64]);
        let attributes = [
            ("lhs_contracting_dims", place(d + 1)),
            ("rhs_contracting_dims", place(d + groups.len())),
            ("lhs_ragged_dims", place(if free { d } else { d + 1 })),
        ];
        let value = self.add(result, Opcode::RaggedDot, &[lhs, rhs, sizes], &attributes);
        if d > 0 {
            self.attribute(value, "lhs_batch_dims", place(0));
            self.attribute(value, "rhs_batch_dims", place(groups.len()));
        }
        if free {
            self.attribute(value, "rhs_group_dims", "{0}");
        }
        self.precision(value, 2);
        value
    }

    fn convolution(&mut self) -> usize {
        let t = self.element(|t| !t.is_pred());
        let base = self.dims(0, 3);
        let window = self.window(&base, true);
        let [mut batch, input, mut output] = [0; 3].map(|_| self.size(1, 3));
        let groups = self.numbers.pick(&[1, 1, 2]);
        let by_batch = groups > 1 && self.numbers.one_in(2);
        output *= groups;
        batch *= if by_batch { groups } else { 1 };
        let features = if by_batch { input } else { input * groups };
        let rank = base.len() + 2;
        // Random positions of batch, feature and spatial dimensions in each array.
        let mut arrays = Vec::new();
        let mut labels = Vec::new();
        let places = if by_batch { batch / groups } else { batch };
        for (letters, first, second, spatial) in [
            (['b', 'f'], batch, features, &base),
            (['i', 'o'], input, output, &window.sizes),
            (['b', 'f'], places, output, &window.places),
        ] {
            let order = self.numbers.permutation(rank);
            let mut dims = vec![0; rank];
            let mut label = vec!['?'; rank];
            let all: Vec<(char, i64)> = [(letters[0], first), (letters[1], second)]
                .into_iter()
                .chain(('0'..).zip(spatial.iter().copied()))
                .collect();
            for (&p, (c, d)) in order.iter().zip(all) {
                (label[p as usize], dims[p as usize]) = (c, d);
            }
            arrays.push(Array::new(t, &dims));
            labels.push(label.into_iter().collect::<String>());
        }
        let operands = [self.value(&arrays[0].clone().into()), self.value(&arrays[1].clone().into())];
        let mut attributes = vec![("dim_labels", format!("{}_{}->{}", labels[0], labels[1], labels[2]))];
        if !base.is_empty() {
            attributes.insert(0, ("window", window.text));
        }
        if groups > 1 {
            let name = if by_batch { "batch_group_count" } else { "feature_group_count" };
            attributes.push((name, groups.to_string()));
        }
        if self.numbers.one_in(4) {
            attributes.push(("convolution_kind", self.numbers.pick(&["fprop", "wgrad", "dgrad"]).into()));
        }
        if !self.executable && self.numbers.one_in(6) {
            let text = "{lhs={sparsity=2x4 dimension=1 stride=1} rhs={sparsity=1x4 dimension=0 stride=2}}";
            attributes.push(("sparsity_config", text.into()));
        }
        let value = self.add(arrays[2].clone(), Opcode::Convolution, &operands, &attributes);
        self.precision(value, 2);
        value
    }

    fn fft(&mut self) -> usize {
        let mut dims = self.dims(1, 3);
        let transformed = 1 + self.numbers.below(dims.len());
        let kind = self.numbers.pick(&["FFT", "IFFT", "RFFT", "IRFFT"]);
        let wide = self.numbers.one_in(2);
        let (real, complex) = if wide { (E::F64, E::C128) } else { (E::F32, E::C64) };
        let lengths = dims[dims.len() - transformed..].to_vec();
        let last = dims.len() - 1;
        let whole = dims.clone();
        dims[last] = if dims[last] == 0 { 0 } else { dims[last] / 2 + 1 };
        let (from, to) = match kind {
            "RFFT" => (Array::new(real, &whole), Array::new(complex, &dims)),
            "IRFFT" => (Array::new(complex, &dims), Array::new(real, &whole)),
            _ => (Array::new(complex, &whole), Array::new(complex, &whole)),
        };
        let x = self.value(&from.into());
        self.add(to, Opcode::Fft, &[x], &[("fft_type", kind.into()), ("fft_length", braced(&lengths))])
    }

    fn solve(&mut self, opcode: Opcode) -> usize {
        let t = self.numbers.pick(&[E::F32, E::F64, E::C64, E::C128]);
        let mut dims = self.dims(0, 2);
        let (n, m) = (self.size(1, 4), self.size(1, 3));
        let batch = dims.clone();
        dims.extend([n, n]);
        let a = if self.executable {
            self.well_conditioned(t, &dims)
        } else {
            self.value(&Type::array(t, &dims))
        };
        if opcode == Opcode::Cholesky {
            let value = self.add(Array::new(t, &dims), opcode, &[a], &[]);
            self.promise(value, "lower");
            return value;
        }
        let left = self.numbers.one_in(2);
        let mut other = batch;
        other.extend(if left { [n, m] } else { [m, n] });
        let b = self.value(&Type::array(t, &other));
        let value = self.add(Array::new(t, &other), opcode, &[a, b], &[]);
        if left {
            self.attribute(value, "left_side", "true");
        }
        self.promise(value, "lower");
        self.promise(value, "unit_diagonal");
        let transpose = self.numbers.pick(&["NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"]);
        self.attribute(value, "transpose_a", transpose);
        value
    }

    fn normalization(&mut self, opcode: Opcode) -> usize {
        let t = self.numbers.pick(&FLOATS);
        let dims = self.dims(1, 4);
        let feature = self.numbers.below(dims.len());
        let (array, vector) = (Type::array(t, &dims), Type::array(t, &[dims[feature]]));
        let three = Type::Tuple(vec![array.clone(), vector.clone(), vector.clone()]);
        let (vectors, result) = match opcode {
            Opcode::BatchNormTraining => (2, three),
            Opcode::BatchNormInference => (4, array.clone()),
            _ => (3, three),
        };
        let mut operands = vec![self.value(&array)];
        for n in 0..vectors {
            let value = self.value(&vector);
            // The last operand is a variance, which must not be negative.
            let variance = self.executable && n + 1 == vectors && opcode != Opcode::BatchNormTraining;
            operands.push(if variance {
                self.add(vector.clone(), Opcode::Multiply, &[value, value], &[])
            } else {
                value
            });
        }
        if opcode == Opcode::BatchNormGrad {
            operands.push(self.value(&array));
        }
        // Division by a very small number loses all precision.
        let all = if self.executable { ["0.5", "1", "2.5"] } else { ["0.001", "1e-05", "0"] };
        let epsilon = self.numbers.pick(&all).to_string();
        self.add(result, opcode, &operands, &[("epsilon", epsilon), ("feature_index", feature.to_string())])
    }
}
