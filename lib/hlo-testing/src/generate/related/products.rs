//! Dot products of moved or converted operands, in the order of matrix products or not, and dot products that
//! share operands.

use super::{Array, E, Generator, Opcode, braced};

/// The dimension numbers of a dot.
#[derive(Clone)]
struct Numbers {
    left: [Vec<i64>; 2],
    right: [Vec<i64>; 2],
}

impl Generator {
    /// Returns an operand with the given sizes: a parameter, or a transposed or converted one.
    fn factor(&mut self, t: E, dims: &[i64]) -> usize {
        let a = Array::new(t, dims);
        match self.numbers.below(3) {
            0 => {
                let order = self.numbers.permutation(dims.len());
                let before: Vec<i64> = (0..dims.len())
                    .map(|d| dims[order.iter().position(|&o| o == d as i64).unwrap_or(d)])
                    .collect();
                let x = self.parameter(Array::new(t, &before));
                self.transposed(x, &order)
            }
            1 => {
                let narrow = match t {
                    E::F32 => E::Bf16,
                    E::S32 => E::S8,
                    E::U32 => E::U8,
                    other => other,
                };
                let x = self.parameter(a.of(narrow));
                self.add(a, Opcode::Convert, &[x], &[])
            }
            _ => self.parameter(a),
        }
    }

    fn dot_of(&mut self, t: E, [x, y]: [usize; 2], numbers: &Numbers) -> usize {
        let free = |g: &Self, value: usize, [batch, contracting]: &[Vec<i64>; 2]| -> (Vec<i64>, Vec<i64>) {
            let dims = g.array_type(value).dims;
            let free = (0..dims.len() as i64).filter(|d| !batch.contains(d) && !contracting.contains(d));
            (batch.iter().map(|&d| dims[d as usize]).collect(), free.map(|d| dims[d as usize]).collect())
        };
        let (mut dims, left) = free(self, x, &numbers.left);
        dims.extend(left);
        dims.extend(free(self, y, &numbers.right).1);
        let all = [
            ("lhs_batch_dims", &numbers.left[0]),
            ("lhs_contracting_dims", &numbers.left[1]),
            ("rhs_batch_dims", &numbers.right[0]),
            ("rhs_contracting_dims", &numbers.right[1]),
        ];
        let attributes: Vec<(&str, String)> = all
            .iter()
            .filter(|(_, dims)| !dims.is_empty())
            .map(|(name, dims)| (*name, braced(dims)))
            .collect();
        self.add(Array::new(t, &dims), Opcode::Dot, &[x, y], &attributes)
    }

    /// Returns the sizes of a dot: batch, left, contracting and right dimensions. Many of them are 1.
    fn dot_sizes(&mut self) -> [Vec<i64>; 4] {
        let batch = self.few_dims(0, 2);
        let summed = self.numbers.between(0, 2);
        [batch, self.few_dims(0, 2), self.few_dims(summed.min(1), summed), self.few_dims(0, 1)]
    }

    /// Adds a dot, sometimes transposed.
    pub(super) fn product(&mut self) -> usize {
        let t = self.numbers.pick(&[E::F32, E::F32, E::S32, E::U8, E::Bf16, E::C64, E::F64, E::F16]);
        let [batch, left, summed, right] = self.dot_sizes();
        let mut numbers = Numbers { left: Default::default(), right: Default::default() };
        let mut operands = [0; 2];
        for (n, free) in [&left, &right].into_iter().enumerate() {
            let sizes: Vec<i64> = batch.iter().chain(&summed).chain(free).copied().collect();
            let place = self.numbers.permutation(sizes.len());
            let mut dims = vec![0; sizes.len()];
            place.iter().zip(&sizes).for_each(|(&p, &size)| dims[p as usize] = size);
            operands[n] = self.factor(t, &dims);
            let (b, rest) = place.split_at(batch.len());
            let side = [b.to_vec(), rest[..summed.len()].to_vec()];
            if n == 0 { numbers.left = side } else { numbers.right = side }
        }
        let dot = self.dot_of(t, operands, &numbers);
        let rank = self.array_type(dot).rank();
        let (b, l) = (batch.len(), left.len());
        match self.numbers.below(3) {
            0 => {
                let order = (0..b).chain(b + l..rank).chain(b..b + l).map(|d| d as i64).collect::<Vec<_>>();
                self.transposed(dot, &order)
            }
            1 => self.move_once(dot),
            _ => dot,
        }
    }

    /// Adds dots that share an operand.
    pub(super) fn products_beside(&mut self) -> usize {
        let t = self.numbers.pick(&[E::F32, E::S32, E::F64]);
        let [m, k] = [self.numbers.between(1, 3), self.numbers.between(1, 4)];
        let shared = self.parameter(Array::new(t, &[m, k]));
        let numbers = Numbers { left: [vec![], vec![1]], right: [vec![], vec![0]] };
        let left = self.numbers.one_in(2);
        let mut dots = Vec::new();
        for _ in 0..self.numbers.between(2, 4) {
            let n = self.numbers.between(1, 3);
            let mut other = self.parameter(Array::new(t, &if left { [k, n] } else { [n, m] }));
            if self.numbers.one_in(3) {
                let a = self.array_type(other);
                other = self.add(a, Opcode::Negate, &[other], &[]);
            }
            let operands = if left { [shared, other] } else { [other, shared] };
            dots.push(self.dot_of(t, operands, &numbers));
        }
        self.tuple(&dots)
    }

    /// Adds convolutions with windows of one element, and over padding.
    pub(super) fn convolved(&mut self) -> usize {
        let t = self.numbers.pick(&[E::F32, E::F64, E::S32, E::Bf16]);
        let [batch, features, outputs] = [0; 3].map(|_| self.numbers.pick(&[1, 2, 3]));
        let (size, window) = (self.numbers.between(1, 4), self.numbers.pick(&[1, 1, 2]));
        // The positions of b, f and the spatial dimension, and of i, o and the spatial dimension.
        let orders = [0; 3].map(|_| self.numbers.permutation(3));
        let arranged = |order: &[i64], sizes: [i64; 3], letters: [char; 3]| -> (Vec<i64>, String) {
            let (mut dims, mut label) = (vec![0; 3], vec!['?'; 3]);
            for (n, &p) in order.iter().enumerate() {
                (dims[p as usize], label[p as usize]) = (sizes[n], letters[n]);
            }
            (dims, label.into_iter().collect())
        };
        let (mut input, input_label) = arranged(&orders[0], [batch, features, size], ['b', 'f', '0']);
        let (kernel, kernel_label) = arranged(&orders[1], [features, outputs, window], ['i', 'o', '0']);
        let spatial = orders[0][2] as usize;
        let mut x = self.parameter(Array::new(t, &input));
        if self.numbers.one_in(2) {
            let zero = self.number(t, "0");
            let padding: Vec<String> =
                (0..3).map(|d| if d == spatial { "1_2_1".to_string() } else { "0_0_0".into() }).collect();
            input[spatial] = 2 * size + 2;
            let padding = [("padding", padding.join("x"))];
            x = self.add(Array::new(t, &input), Opcode::Pad, &[x, zero], &padding);
        } else if self.numbers.one_in(3) {
            let order = self.numbers.permutation(3);
            let before: Vec<i64> =
                (0..3).map(|d| input[order.iter().position(|&o| o == d).unwrap_or(0)]).collect();
            let y = self.parameter(Array::new(t, &before));
            x = self.transposed(y, &order);
        }
        let places = (input[spatial] - window + 1).max(0);
        let (output, output_label) = arranged(&orders[2], [batch, outputs, places], ['b', 'f', '0']);
        let kernel = self.parameter(Array::new(t, &kernel));
        let attributes = [
            ("window", format!("{{size={window}}}")),
            ("dim_labels", format!("{input_label}_{kernel_label}->{output_label}")),
        ];
        self.add(Array::new(t, &output), Opcode::Convolution, &[x, kernel], &attributes)
    }
}
