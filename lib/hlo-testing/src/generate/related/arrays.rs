//! Sequences of data movements, and reductions after them.

use super::{Array, E, Generator, Opcode, Type, braced};

/// Maximum number of elements of an array that is enlarged.
const MAX_ENLARGED_ELEMENTS: i64 = 100;

impl Generator {
    /// Adds a sequence of movements.
    pub(super) fn moved(&mut self) -> usize {
        let t = self.element(|_| true);
        let dims = self.few_dims(0, 3);
        let mut x = self.fresh_array(&Array::new(t, &dims));
        for _ in 0..self.numbers.between(2, 4) {
            x = self.move_once(x);
        }
        x
    }

    /// Adds one movement or a conversion.
    pub(super) fn move_once(&mut self, x: usize) -> usize {
        let a = self.array_type(x);
        let small = a.elements() <= MAX_ENLARGED_ELEMENTS && a.rank() < 5;
        match self.numbers.below(12) {
            0 | 1 => self.move_one(Opcode::Reshape, x),
            2 if small => self.move_one(Opcode::Broadcast, x),
            3 => self.move_one(Opcode::Reverse, x),
            4 => self.sliced(x),
            5 if self.numbers.one_in(2) => self.move_one(Opcode::Slice, x),
            5 => self.move_one(Opcode::Bitcast, x),
            6 => self.move_one(Opcode::Transpose, x),
            7 | 8 if small && a.rank() > 0 => self.joined(x),
            9 if small && a.rank() > 0 => self.padded(x),
            10 if !a.element.is_complex() => {
                let to = self.numbers.pick(&[E::F32, E::Bf16, E::S8, E::S32, E::F64]);
                self.add(a.of(to), Opcode::Convert, &[x], &[])
            }
            11 => self.add(a, Opcode::Copy, &[x], &[]),
            _ => self.move_one(Opcode::Transpose, x),
        }
    }

    /// Adds a slice with at least one element, if the array has any.
    fn sliced(&mut self, x: usize) -> usize {
        let mut a = self.array_type(x);
        let mut ranges = Vec::new();
        for d in &mut a.dims {
            let start = self.numbers.between(0, (*d - 1).max(0));
            let limit = self.numbers.between((start + 1).min(*d), *d);
            let stride = self.numbers.pick(&[1, 1, 2]);
            ranges.push(format!("[{start}:{limit}:{stride}]"));
            *d = (limit - start + stride - 1) / stride;
        }
        self.add(a, Opcode::Slice, &[x], &[("slice", format!("{{{}}}", ranges.join(", ")))])
    }

    /// Returns the part of an array from `start` to `limit` along a dimension.
    pub(super) fn part(&mut self, x: usize, along: usize, start: i64, limit: i64) -> usize {
        let mut a = self.array_type(x);
        let ranges: Vec<String> = (0..a.rank())
            .map(|d| if d == along { format!("[{start}:{limit}]") } else { format!("[0:{}]", a.dims[d]) })
            .collect();
        a.dims[along] = limit - start;
        self.add(a, Opcode::Slice, &[x], &[("slice", format!("{{{}}}", ranges.join(", ")))])
    }

    /// Adds concatenations of parts or copies, or with repeated values.
    fn joined(&mut self, x: usize) -> usize {
        let a = self.array_type(x);
        let along = self.numbers.below(a.rank());
        let size = a.dims[along];
        let parts = match self.numbers.below(5) {
            0 => {
                let middle = self.numbers.between(0, size);
                vec![self.part(x, along, 0, middle), self.part(x, along, middle, size)]
            }
            1 => vec![x; 2],
            2 => {
                let y = self.parameter(a.clone());
                let inner = self.concatenated(&[x, y], along);
                if self.numbers.one_in(2) { vec![inner, y] } else { vec![y, inner] }
            }
            3 => {
                let text = self.special(a.element);
                let side = self.splat(&a, &text);
                let other = self.splat(&a, &text);
                match self.numbers.below(3) {
                    0 => vec![x, side],
                    1 => vec![side, x],
                    _ => vec![side, x, other],
                }
            }
            _ => {
                let row = Array { dims: Vec::new(), ..a.clone() };
                let row = self.parameter(row);
                let spread = [("dimensions", "{}".to_string())];
                let first = self.add(a.clone(), Opcode::Broadcast, &[row], &spread);
                let second = self.add(a, Opcode::Broadcast, &[row], &spread);
                vec![first, second]
            }
        };
        self.concatenated(&parts, along)
    }

    fn concatenated(&mut self, parts: &[usize], along: usize) -> usize {
        let mut a = self.array_type(parts[0]);
        a.dims[along] = parts.iter().map(|&p| self.array_type(p).dims[along]).sum();
        self.add(a, Opcode::Concatenate, parts, &[("dimensions", braced(&[along as i64]))])
    }

    /// Adds padding, sometimes around padding, and sometimes with an existing value.
    fn padded(&mut self, x: usize) -> usize {
        let a = self.array_type(x);
        let text = self.special(a.element);
        let value = self.number(a.element, &text);
        let x = match self.numbers.below(4) {
            0 => self.add(a.clone(), Opcode::Broadcast, &[value], &[("dimensions", "{}".into())]),
            _ => x,
        };
        let once = self.padded_with(x, value);
        if self.numbers.one_in(2) { self.padded_with(once, value) } else { once }
    }

    /// Adds padding with a value. No amount is less than -1.
    pub(super) fn padded_with(&mut self, x: usize, value: usize) -> usize {
        let a = self.array_type(x);
        let (cuts, interior) = (self.numbers.one_in(3), self.numbers.one_in(3));
        let (mut dims, mut padding) = (Vec::new(), Vec::new());
        for &d in &a.dims {
            let least = if cuts { -1 } else { 0 };
            let low = self.numbers.between(least, 2).max(-d);
            let high = self.numbers.between(least, if cuts { 0 } else { 2 }).max(-(d + low));
            let inside = if interior { self.numbers.between(0, 1) } else { 0 };
            dims.push(d + (d - 1).max(0) * inside + low + high);
            padding.push(if interior { format!("{low}_{high}_{inside}") } else { format!("{low}_{high}") });
        }
        self.add(Array::new(a.element, &dims), Opcode::Pad, &[x, value], &[("padding", padding.join("x"))])
    }

    /// Returns a reduction function for a type, and its identity or, sometimes, another initial value.
    fn reducer(&mut self, t: E) -> (String, usize) {
        let (function, identities) = self.combiner(&Type::scalar(t));
        let text = match identities.into_iter().next().flatten() {
            Some(text) if !self.numbers.one_in(4) => text,
            _ => self.special(t),
        };
        (function, self.number(t, &text))
    }

    fn reduce_by(&mut self, x: usize, init: usize, function: &str) -> usize {
        let a = self.array_type(x);
        let dims = self.numbers.subset(a.rank());
        let kept: Vec<i64> =
            (0..a.rank()).filter(|&d| !dims.contains(&(d as i64))).map(|d| a.dims[d]).collect();
        let attributes = [("dimensions", braced(&dims)), ("to_apply", function.to_string())];
        self.add(Array::new(a.element, &kept), Opcode::Reduce, &[x, init], &attributes)
    }

    /// Adds one or two reductions of moved data, which is sometimes moved again.
    pub(super) fn reduced(&mut self) -> usize {
        let t = self.element(|_| true);
        let dims = self.few_dims(1, 4);
        let mut x = self.parameter(Array::new(t, &dims));
        if self.numbers.one_in(4) {
            let (_, init) = self.reducer(t);
            x = self.padded_with(x, init);
        } else if !self.numbers.one_in(6) {
            x = self.move_once(x);
        }
        let t = self.array_type(x).element;
        let (function, init) = self.reducer(t);
        x = self.reduce_by(x, init, &function);
        match self.numbers.below(3) {
            0 => self.reduce_by(x, init, &function),
            1 => self.move_once(x),
            _ => x,
        }
    }

    /// Adds windows of one element, of all elements, over padding, and cumulative windows.
    pub(super) fn windowed(&mut self) -> usize {
        let t = self.numbers.pick(&[E::F32, E::S32, E::F64, E::Pred, E::U8, E::Bf16]);
        let mut dims = self.few_dims(1, 3);
        let cumulative = self.numbers.one_in(4);
        if cumulative {
            dims[0] = self.numbers.between(17, 40);
        }
        let mut x = self.parameter(Array::new(t, &dims));
        let (function, init) = self.reducer(t);
        if self.numbers.one_in(3) && !cumulative {
            x = self.padded_with(x, init);
        }
        let a = self.array_type(x);
        let (mut places, mut columns) = (Vec::new(), [Vec::new(), Vec::new(), Vec::new()]);
        for (d, &size) in a.dims.iter().enumerate() {
            let (window, stride, low, high) = match self.numbers.below(3) {
                _ if cumulative && d == 0 && self.numbers.one_in(2) => (size, 1, size - 1, 0),
                _ if cumulative && d == 0 => (size, 1, 0, size - 1),
                0 => (1, self.numbers.between(1, 2), 0, 0),
                1 => (2 * size.max(1) - 1, 1, size.max(1) - 1, size.max(1) - 1),
                _ if cumulative => (1, 1, 0, 0),
                _ => (2, self.numbers.between(1, 2), 1, 0),
            };
            let padded = size + low + high;
            places.push(if padded < window { 0 } else { (padded - window) / stride + 1 });
            let texts = [window.to_string(), stride.to_string(), format!("{low}_{high}")];
            columns.iter_mut().zip(texts).for_each(|(c, text): (&mut Vec<String>, _)| c.push(text));
        }
        let [sizes, strides, pads] = columns.map(|c| c.join("x"));
        let window = format!("{{size={sizes} stride={strides} pad={pads}}}");
        let attributes = [("window", window), ("to_apply", function)];
        self.add(Type::array(t, &places), Opcode::ReduceWindow, &[x, init], &attributes)
    }
}
