//! Reductions, windows, maps, scans and sorting.

use super::builder::Generator;
use super::types::{Array, Type, braced, one_or_tuple};
use hlo_ir::attr::WindowDim;
use hlo_ir::{ElementType as E, Opcode};

/// A window over some dimensions.
pub(super) struct Window {
    /// The text in braces.
    pub(super) text: String,
    /// The sizes of the window.
    pub(super) sizes: Vec<i64>,
    /// The number of positions along each dimension.
    pub(super) places: Vec<i64>,
}

impl Window {
    /// Creates the window of these dimensions. Attributes after the padding are omitted unless it is
    /// `dilated`.
    fn new(dims: &[WindowDim], places: Vec<i64>, dilated: bool) -> Self {
        type Column = (&'static str, fn(&WindowDim) -> String);
        let columns: [Column; 6] = [
            ("size", |w| w.size.to_string()),
            ("stride", |w| w.stride.to_string()),
            ("pad", |w| format!("{}_{}", w.pad_low, w.pad_high)),
            ("lhs_dilate", |w| w.lhs_dilate.to_string()),
            ("rhs_dilate", |w| w.rhs_dilate.to_string()),
            ("rhs_reversal", |w| u8::from(w.reversed).to_string()),
        ];
        let used = if dilated { 6 } else { 3 };
        let column =
            |(name, text): &Column| format!("{name}={}", dims.iter().map(text).collect::<Vec<_>>().join("x"));
        let parts: Vec<String> = columns.iter().take(used).map(column).collect();
        let text = if dims.is_empty() { "{}".into() } else { format!("{{{}}}", parts.join(" ")) };
        Window { text, sizes: dims.iter().map(|w| w.size).collect(), places }
    }
}

impl Generator {
    /// Returns a window with at least one position in `base` along each dimension.
    pub(super) fn window(&mut self, base: &[i64], dilated: bool) -> Window {
        let (mut dims, mut places) = (Vec::new(), Vec::new());
        for &d in base {
            let size = self.numbers.between(1, 3);
            let stride = self.numbers.between(1, 2);
            let [from, to] = if dilated { [0, 0].map(|_| self.numbers.between(1, 2)) } else { [1, 1] };
            let spread = (size - 1) * to + 1;
            let width = if d == 0 { 0 } else { (d - 1) * from + 1 };
            let low = self.numbers.between(0, 2);
            let high = (spread - width - low).max(self.numbers.between(-1, 1)).max(-(width + low));
            let padded = width + low + high;
            places.push(if padded < spread { 0 } else { (padded - spread) / stride + 1 });
            let reversed = dilated && self.numbers.one_in(2);
            dims.push(WindowDim {
                size,
                stride,
                pad_low: low,
                pad_high: high,
                lhs_dilate: from,
                rhs_dilate: to,
                reversed,
            });
        }
        Window::new(&dims, places, dilated)
    }

    /// Returns a window with few positions but large numbers: it mostly covers padding or holes.
    fn far_window(&mut self, base: &[i64], dilated: bool) -> Window {
        let (mut dims, mut places) = (Vec::new(), Vec::new());
        for &d in base {
            let size = self.numbers.pick(&[1, 2, 3, 17, 40, 1 << 20, 1 << 45]);
            let stride = self.numbers.pick(&[1, 2, 5, 1 << 40]);
            let lhs_dilate = if dilated { self.numbers.pick(&[1, 1, 2, 3, 1 << 20, 1 << 40]) } else { 1 };
            let rhs_dilate =
                if size > 40 || !dilated { 1 } else { self.numbers.pick(&[1, 1, 2, 3, 1 << 20, 1 << 40]) };
            let spread = (size - 1) * rhs_dilate + 1;
            let width = if d == 0 { 0 } else { (d - 1) * lhs_dilate + 1 };
            let count = self.numbers.between(1, 3);
            let padded = spread + (count - 1) * stride + self.numbers.between(0, stride.min(3) - 1);
            let near = self.numbers.between(-2, 2);
            let far = [0, spread - 1, spread / 2, padded - width, padded / 2, -width, -width / 2, 1 << 60];
            let pad_low = near + self.numbers.pick(&far);
            let pad_high = padded - width - pad_low;
            places.push(count);
            dims.push(WindowDim { size, stride, pad_low, pad_high, lhs_dilate, rhs_dilate, reversed: false });
        }
        Window::new(&dims, places, true)
    }

    /// Adds an instruction of the family.
    pub(super) fn reduction(&mut self, opcode: Opcode) -> usize {
        match opcode {
            Opcode::Map => self.map(),
            Opcode::Reduce => self.reduce(),
            Opcode::ReduceWindow => self.reduce_window(),
            Opcode::SelectAndScatter => self.select_and_scatter(),
            Opcode::Sort => self.sort(),
            Opcode::TopK => self.topk(),
            _ => self.scan(),
        }
    }

    fn map(&mut self) -> usize {
        let x = self.array_of(|_| true, 0, 3);
        let a = self.array_type(x);
        let other = self.element(|_| true);
        let operands =
            if self.numbers.one_in(2) { vec![x] } else { vec![x, self.value(&a.of(other).into())] };
        let types: Vec<E> = operands.iter().map(|&o| self.array_type(o).element).collect();
        let result = self.element(|_| true);
        let function = if self.executable && self.numbers.one_in(2) {
            let types: Vec<Type> = types.into_iter().map(Type::scalar).collect();
            self.function("mapped", &types, &Type::scalar(result))
        } else {
            self.scalar_function(&types, &Type::scalar(result))
        };
        let dims: Vec<i64> = (0..a.rank() as i64).collect();
        self.add(
            a.of(result),
            Opcode::Map,
            &operands,
            &[("dimensions", braced(&dims)), ("to_apply", function)],
        )
    }

    /// Returns N arrays of the same sizes, and their element types.
    fn several(&mut self, low: i64) -> (Vec<usize>, Array, Vec<E>) {
        let x = self.array_of(|_| true, low, 3);
        let a = self.array_type(x);
        let n = self.numbers.pick(&[1, 1, 2, 3]);
        let elements: Vec<E> =
            (0..n).map(|i| if i == 0 { a.element } else { self.element(|_| true) }).collect();
        let mut arrays = vec![x];
        for &t in &elements[1..] {
            arrays.push(self.value(&a.of(t).into()));
        }
        (arrays, a, elements)
    }

    /// Returns the type of the result of a combiner: a tuple for several elements, and sometimes for one.
    fn accumulated(&mut self, elements: &[E]) -> Type {
        let types = elements.iter().map(|&t| Type::scalar(t)).collect();
        if self.numbers.one_in(8) { Type::Tuple(types) } else { one_or_tuple(types) }
    }

    /// Adds initial values to the operands, and returns the function that combines elements to `combined`.
    fn accumulators(&mut self, operands: &mut Vec<usize>, elements: &[E], combined: &Type) -> String {
        let (function, identities) = self.combiner(combined);
        for (&t, identity) in elements.iter().zip(identities) {
            operands.push(match identity {
                Some(text) => self.number(t, &text),
                None => self.value(&Type::scalar(t)),
            });
        }
        function
    }

    fn reduce(&mut self) -> usize {
        let (mut operands, a, elements) = self.several(0);
        let combined = self.accumulated(&elements);
        let function = self.accumulators(&mut operands, &elements, &combined);
        let dims = self.numbers.subset(a.rank());
        let kept: Vec<i64> =
            (0..a.rank()).filter(|&d| !dims.contains(&(d as i64))).map(|d| a.dims[d]).collect();
        let result = combined.map(|t| Type::array(t, &kept));
        let attributes = [("dimensions", braced(&dims)), ("to_apply", function)];
        self.add(result, Opcode::Reduce, &operands, &attributes)
    }

    fn reduce_window(&mut self) -> usize {
        let (mut operands, a, elements) = self.several(1);
        let combined = self.accumulated(&elements);
        let function = self.accumulators(&mut operands, &elements, &combined);
        let dilated = self.numbers.one_in(3);
        let window = if self.numbers.one_in(4) {
            self.far_window(&a.dims, dilated)
        } else {
            self.window(&a.dims, dilated)
        };
        let result = combined.map(|t| Type::array(t, &window.places));
        // Only convolutions have reversed windows.
        let text =
            window.text.split(" rhs_reversal").next().map(|t| format!("{}}}", t.trim_end_matches('}')));
        let attributes = [("window", text.unwrap_or_default()), ("to_apply", function)];
        self.add(result, Opcode::ReduceWindow, &operands, &attributes)
    }

    fn select_and_scatter(&mut self) -> usize {
        let x = self.array_of(|t| !t.is_complex(), 1, 3);
        let a = self.array_type(x);
        let t = a.element;
        let window = if self.numbers.one_in(4) {
            self.far_window(&a.dims, false)
        } else {
            self.window(&a.dims, false)
        };
        let source = self.value(&Type::array(t, &window.places));
        let initial = self.value(&Type::scalar(t));
        let (select, scatter) = (self.comparator(&[t]), self.combiner(&Type::scalar(t)).0);
        let attributes = [("window", window.text), ("select", select), ("scatter", scatter)];
        self.add(a, Opcode::SelectAndScatter, &[x, source, initial], &attributes)
    }

    fn sort(&mut self) -> usize {
        let (operands, a, elements) = self.several(1);
        let comparator = self.comparator(&elements);
        let d = self.numbers.below(a.rank()) as i64;
        let results = elements.iter().map(|&t| a.of(t).into()).collect();
        let value = self.add(one_or_tuple(results), Opcode::Sort, &operands, &[("dimensions", braced(&[d]))]);
        if self.executable {
            // Otherwise the order of equal elements is not defined.
            self.attribute(value, "is_stable", "true")
        } else {
            self.promise(value, "is_stable")
        }
        self.attribute(value, "to_apply", comparator);
        value
    }

    fn topk(&mut self) -> usize {
        let x = self.array_of(|t| !t.is_complex() && !t.is_pred(), 1, 2);
        let a = self.array_type(x);
        let mut part = a.clone();
        let last = part.rank() - 1;
        part.dims[last] = self.size(1, a.dims[last]).min(a.dims[last]);
        let k = part.dims[last].to_string();
        let ty = Type::Tuple(vec![part.clone().into(), part.of(E::S32).into()]);
        let largest = self.numbers.pick(&["true", "false"]).into();
        self.add(ty, Opcode::TopK, &[x], &[("k", k), ("largest", largest)])
    }

    /// Adds a scan along a dimension: `(slice of the input, carry)` → `(slice of the output, carry)`.
    fn scan(&mut self) -> usize {
        let x = self.array_of(|_| true, 1, 3);
        let a = self.array_type(x);
        let d = self.numbers.below(a.rank());
        let mut part = a.clone();
        part.dims.remove(d);
        let carry: Type = part.of(self.element(|_| true)).into();
        let output = part.of(self.element(|_| true));
        let initial = self.value(&carry);
        let both = Type::Tuple(vec![output.clone().into(), carry.clone()]);
        let function = self.function("step", &[part.into(), carry.clone()], &both);
        let result = Type::Tuple(vec![a.of(output.element).into(), carry]);
        let attributes = [("dimensions", braced(&[d as i64])), ("num_carries", "1".into())];
        let value = self.add(result, Opcode::Scan, &[x, initial], &attributes);
        self.promise(value, "is_reverse");
        self.promise(value, "is_associative");
        self.attribute(value, "to_apply", function);
        value
    }
}
