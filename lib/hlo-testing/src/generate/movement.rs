//! Opcodes that move elements.

use super::builder::Generator;
use super::types::{Array, braced};
use hlo_ir::{ElementType as E, Opcode};

impl Generator {
    /// Adds an instruction that moves elements without changing them.
    pub(super) fn movement(&mut self, opcode: Opcode) -> usize {
        match opcode {
            Opcode::Iota => {
                let element = self.element(|t| !t.is_pred());
                let dims = self.dims(1, 4);
                let d = self.numbers.below(dims.len());
                self.add(Array::new(element, &dims), opcode, &[], &[("iota_dimension", d.to_string())])
            }
            Opcode::Concatenate => self.concatenate(),
            Opcode::Pad => self.pad(),
            Opcode::Copy => {
                let x = self.array_of(|_| true, 0, 4);
                self.random_copy(x)
            }
            Opcode::BitcastConvert => {
                let x = self.array_of(|_| true, 0, 4);
                self.bitcast_convert(x)
            }
            _ => {
                let x = self.array_of(|_| true, 0, 3);
                self.move_one(opcode, x)
            }
        }
    }

    pub(super) fn move_one(&mut self, opcode: Opcode, x: usize) -> usize {
        let a = self.array_type(x);
        match opcode {
            Opcode::Bitcast => {
                let result = self.regrouped(&a);
                self.add(result, opcode, &[x], &[])
            }
            Opcode::Reshape => {
                let result = self.regrouped(&a);
                let rank = result.rank();
                let value = self.add(result, opcode, &[x], &[]);
                if rank > 0 && self.numbers.one_in(4) {
                    let d = self.numbers.below(rank);
                    self.attribute(value, "inferred_dimension", d.to_string());
                }
                value
            }
            Opcode::Broadcast => {
                let extra = self.numbers.below(3);
                let places = self.numbers.permutation(a.rank() + extra);
                let mut places: Vec<i64> = places.into_iter().take(a.rank()).collect();
                places.sort_unstable();
                let mut dims: Vec<i64> = (0..a.rank() + extra).map(|_| self.size(1, 4)).collect();
                for (&p, &d) in places.iter().zip(&a.dims) {
                    dims[p as usize] = d;
                }
                self.add(Array::new(a.element, &dims), opcode, &[x], &[("dimensions", braced(&places))])
            }
            Opcode::Reverse => {
                let dims = self.numbers.subset(a.rank());
                self.add(a, opcode, &[x], &[("dimensions", braced(&dims))])
            }
            Opcode::Slice => self.slice(x),
            // A transpose.
            _ => {
                let order = self.numbers.permutation(a.rank());
                let dims: Vec<i64> = order.iter().map(|&d| a.dims[d as usize]).collect();
                self.add(
                    Array::new(a.element, &dims),
                    Opcode::Transpose,
                    &[x],
                    &[("dimensions", braced(&order))],
                )
            }
        }
    }

    /// Returns the array type with the same number of elements in other dimensions.
    pub(super) fn regrouped(&mut self, a: &Array) -> Array {
        let mut dims = match self.numbers.below(3) {
            0 => vec![a.elements()],
            1 => a.dims.iter().copied().filter(|&d| d != 1).collect(),
            _ => a.dims.iter().rev().copied().collect(),
        };
        if self.numbers.one_in(2) {
            let at = self.numbers.below(dims.len() + 1);
            dims.insert(at, 1);
        }
        Array::new(a.element, &dims)
    }

    fn slice(&mut self, x: usize) -> usize {
        let a = self.array_type(x);
        let mut dims = Vec::new();
        let mut ranges = Vec::new();
        for &d in &a.dims {
            let start = self.numbers.between(0, d);
            let limit = self.numbers.between(start, d);
            let stride = self.numbers.between(1, 3);
            dims.push((limit - start + stride - 1) / stride);
            ranges.push(match stride {
                1 => format!("[{start}:{limit}]"),
                _ => format!("[{start}:{limit}:{stride}]"),
            });
        }
        let ranges = format!("{{{}}}", ranges.join(", "));
        self.add(Array::new(a.element, &dims), Opcode::Slice, &[x], &[("slice", ranges)])
    }

    fn concatenate(&mut self) -> usize {
        let first = self.array_of(|_| true, 1, 3);
        let a = self.array_type(first);
        let along = self.numbers.below(a.rank());
        let mut parts = vec![first];
        let mut result = a.clone();
        for _ in 0..self.numbers.below(8) {
            let mut part = a.clone();
            part.dims[along] = self.size(1, 3);
            result.dims[along] += part.dims[along];
            parts.push(self.value(&part.into()));
        }
        self.add(result, Opcode::Concatenate, &parts, &[("dimensions", braced(&[along as i64]))])
    }

    fn pad(&mut self) -> usize {
        let x = self.array_of(|_| true, 0, 3);
        let a = self.array_type(x);
        let value = self.value(&Array::new(a.element, &[]).into());
        let mut dims = Vec::new();
        let mut padding = Vec::new();
        let interior = self.numbers.one_in(2);
        for &d in &a.dims {
            let low = self.numbers.between(-1, 2).max(-d);
            let high = self.numbers.between(-1, 2).max(-(d + low));
            let inside = if interior { self.numbers.between(0, 2) } else { 0 };
            dims.push(d + (d - 1).max(0) * inside + low + high);
            padding.push(if interior { format!("{low}_{high}_{inside}") } else { format!("{low}_{high}") });
        }
        // XLA's lexer cannot parse the padding of a scalar.
        if padding.is_empty() {
            return self.add(a, Opcode::Copy, &[x], &[]);
        }
        let result = Array::new(a.element, &dims);
        self.add(result, Opcode::Pad, &[x, value], &[("padding", padding.join("x"))])
    }

    /// Returns an index: a scalar integer.
    pub(super) fn index(&mut self, element: E) -> usize {
        self.value(&Array::new(element, &[]).into())
    }

    fn random_copy(&mut self, x: usize) -> usize {
        let all = self.lines().len();
        let other = self.numbers.below(all);
        let plain = self.ty(other).leaves().iter().all(|t| t.as_array().is_some());
        let x = if plain && self.numbers.one_in(2) { other } else { x };
        self.add(self.ty(x), Opcode::Copy, &[x], &[])
    }

    /// Adds a bitcast-convert between types of the same width, or of widths of which one is a multiple of the
    /// other.
    fn bitcast_convert(&mut self, x: usize) -> usize {
        // Dynamic dimensions are not supported here.
        let x = if self.array_type(x).is_static() { x } else { self.array_of(|_| true, 0, 3) };
        let a = self.array_type(x);
        let from = a.element;
        let last = a.dims.last().copied().unwrap_or(0);
        let (width, complex) = (i64::from(from.bit_width()), from.is_complex());
        let ratio = |t: E| {
            let to = i64::from(t.bit_width());
            match (t.is_complex() == complex, width.cmp(&to)) {
                (false, _) => false,
                (true, std::cmp::Ordering::Less) => to % width == 0 && last == to / width,
                (true, std::cmp::Ordering::Equal) => true,
                (true, std::cmp::Ordering::Greater) => width % to == 0,
            }
        };
        // For one-bit types, XLA and the tools disagree about the ratio.
        let to = self.element(|t| t == from || (ratio(t) && t.bit_width() > 1 && width > 1));
        let mut result = a.of(to);
        match width.cmp(&i64::from(to.bit_width())) {
            std::cmp::Ordering::Less => drop(result.dims.pop()),
            std::cmp::Ordering::Equal => {}
            std::cmp::Ordering::Greater => result.dims.push(width / i64::from(to.bit_width())),
        }
        self.add(result, Opcode::BitcastConvert, &[x], &[])
    }
}
