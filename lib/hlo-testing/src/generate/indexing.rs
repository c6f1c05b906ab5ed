//! Slices and updates at indices that are only known at run time.

use super::builder::Generator;
use super::types::{Array, Type, braced, one_or_tuple};
use hlo_ir::{ElementType as E, Opcode};

/// The dimension numbers of a gather, or of the corresponding scatter.
struct IndexDims {
    operand: Array,
    indices: Array,
    /// The gathered slices, or the updates of a scatter.
    slices: Array,
    slice_sizes: Vec<i64>,
    collapsed: Vec<i64>,
    batching: Vec<i64>,
    index_batching: Vec<i64>,
    map: Vec<i64>,
    offsets: Vec<i64>,
    vector: usize,
}

impl Generator {
    /// Adds an instruction of the family.
    pub(super) fn indexing(&mut self, opcode: Opcode) -> usize {
        match opcode {
            Opcode::DynamicReshape => self.dynamic_reshape(),
            Opcode::DynamicSlice | Opcode::DynamicUpdateSlice => self.dynamic_slice(opcode),
            Opcode::Gather => self.gather(),
            Opcode::Scatter => self.scatter(),
            Opcode::GetDimensionSize => {
                let x = self.array_of(|_| true, 1, 3);
                let d = self.numbers.below(self.array_type(x).rank()) as i64;
                self.add(Array::new(E::S32, &[]), opcode, &[x], &[("dimensions", braced(&[d]))])
            }
            // set-dimension-size
            _ => {
                let x = self.array_of(|_| true, 1, 3);
                let a = self.array_type(x);
                let d = self.numbers.below(a.rank());
                let size = self.index(E::S32);
                let mut dynamic = vec![false; a.rank()];
                dynamic[d] = true;
                let result = Array { dynamic, ..a };
                self.add(result, opcode, &[x, size], &[("dimensions", braced(&[d as i64]))])
            }
        }
    }

    fn dynamic_reshape(&mut self) -> usize {
        let x = self.array_of(|_| true, 1, 3);
        let a = self.array_type(x);
        let mut result = self.regrouped(&a);
        result.dynamic = result.dims.iter().map(|_| self.numbers.one_in(2)).collect();
        let mut operands = vec![x];
        for _ in 0..result.rank() {
            operands.push(self.index(E::S32));
        }
        self.add(result, Opcode::DynamicReshape, &operands, &[])
    }

    fn dynamic_slice(&mut self, opcode: Opcode) -> usize {
        let x = self.array_of(|_| true, 0, 3);
        let a = self.array_type(x);
        let sizes: Vec<i64> = a.dims.iter().map(|&d| self.numbers.between(0, d)).collect();
        let part = Array::new(a.element, &sizes);
        let mut operands = vec![x];
        if opcode == Opcode::DynamicUpdateSlice {
            operands.push(self.value(&part.clone().into()));
        }
        let element = self.numbers.pick(&[E::S32, E::S64, E::U32, E::U8]);
        for _ in 0..a.rank() {
            operands.push(self.index(element));
        }
        match opcode {
            Opcode::DynamicUpdateSlice => self.add(a, opcode, &operands, &[]),
            _ => self.add(part, opcode, &operands, &[("dynamic_slice_sizes", braced(&sizes))]),
        }
    }

    fn index_dims(&mut self) -> IndexDims {
        let operand = Array::new(self.element(|_| true), &self.dims(1, 3));
        let rank = operand.rank();
        let mut slice_sizes: Vec<i64> = operand.dims.iter().map(|&d| self.size(1, d).min(d)).collect();
        let mut batching = Vec::new();
        if self.numbers.one_in(3) {
            batching.push(self.numbers.below(rank) as i64);
        }
        let mut collapsed = self.numbers.subset(rank);
        collapsed.retain(|d| !batching.contains(d));
        for &d in collapsed.iter().chain(&batching) {
            slice_sizes[d as usize] = self.size(1, 1).min(operand.dims[d as usize]);
        }
        let mut map = self.numbers.permutation(rank);
        map.retain(|d| !batching.contains(d) && (collapsed.contains(d) || self.numbers.one_in(2)));
        // The index array has batch dimensions, including one for each batching dimension, and the index
        // vector.
        let mut index_dims = self.dims(0, 2);
        let mut index_batching = Vec::new();
        for &d in &batching {
            index_batching.push(index_dims.len() as i64);
            index_dims.push(operand.dims[d as usize]);
        }
        let batch = index_dims.clone();
        let mut vector = index_dims.len();
        if map.len() != 1 || self.numbers.one_in(2) {
            vector = self.numbers.below(index_dims.len() + 1);
            index_dims.insert(vector, map.len() as i64);
            for d in &mut index_batching {
                *d += i64::from(*d >= vector as i64);
            }
        }
        let window: Vec<i64> = (0..rank as i64)
            .filter(|d| !collapsed.contains(d) && !batching.contains(d))
            .map(|d| slice_sizes[d as usize])
            .collect();
        let mut offsets: Vec<i64> =
            self.numbers.permutation(window.len() + batch.len()).into_iter().take(window.len()).collect();
        offsets.sort_unstable();
        let (mut window, mut batch) = (window.into_iter(), batch.into_iter());
        let total = window.len() + batch.len();
        let dims: Vec<i64> = (0..total as i64)
            .filter_map(|d| if offsets.contains(&d) { window.next() } else { batch.next() })
            .collect();
        let indices = Array::new(self.numbers.pick(&[E::S32, E::U32, E::S64]), &index_dims);
        let slices = Array::new(operand.element, &dims);
        IndexDims {
            operand,
            indices,
            slices,
            slice_sizes,
            collapsed,
            batching,
            index_batching,
            map,
            offsets,
            vector,
        }
    }

    fn gather(&mut self) -> usize {
        let d = self.index_dims();
        let operands = [self.value(&d.operand.into()), self.value(&d.indices.into())];
        let attributes = [
            ("offset_dims", braced(&d.offsets)),
            ("collapsed_slice_dims", braced(&d.collapsed)),
            ("start_index_map", braced(&d.map)),
            ("index_vector_dim", d.vector.to_string()),
            ("slice_sizes", braced(&d.slice_sizes)),
        ];
        let value = self.add(d.slices, Opcode::Gather, &operands, &attributes);
        if !d.batching.is_empty() {
            self.attribute(value, "operand_batching_dims", braced(&d.batching));
            self.attribute(value, "start_indices_batching_dims", braced(&d.index_batching));
        }
        self.promise(value, "indices_are_sorted");
        value
    }

    fn scatter(&mut self) -> usize {
        let d = self.index_dims();
        let n = 1 + self.numbers.below(2);
        let elements: Vec<E> =
            (0..n).map(|i| if i == 0 { d.operand.element } else { self.element(|_| true) }).collect();
        let combine = self.combiner(&one_or_tuple(elements.iter().map(|&t| Type::scalar(t)).collect()));
        let mut operands: Vec<usize> =
            elements.iter().map(|&t| self.value(&d.operand.of(t).into())).collect();
        operands.push(self.value(&d.indices.clone().into()));
        for &t in &elements {
            operands.push(self.value(&d.slices.of(t).into()));
        }
        let results: Vec<Type> = elements.iter().map(|&t| d.operand.of(t).into()).collect();
        let attributes = [
            ("update_window_dims", braced(&d.offsets)),
            ("inserted_window_dims", braced(&d.collapsed)),
            ("scatter_dims_to_operand_dims", braced(&d.map)),
            ("index_vector_dim", d.vector.to_string()),
        ];
        let value = self.add(one_or_tuple(results), Opcode::Scatter, &operands, &attributes);
        if !d.batching.is_empty() {
            self.attribute(value, "input_batching_dims", braced(&d.batching));
            self.attribute(value, "scatter_indices_batching_dims", braced(&d.index_batching));
        }
        self.promise(value, "indices_are_sorted");
        self.promise(value, "unique_indices");
        self.attribute(value, "to_apply", combine.0);
        value
    }

    /// Sometimes adds a flag that is true, and more rarely one that is false.
    pub(super) fn promise(&mut self, value: usize, name: &str) {
        // These promises might not hold.
        if self.executable && matches!(name, "indices_are_sorted" | "unique_indices" | "is_associative") {
            return;
        }
        match self.numbers.below(8) {
            0 | 1 => self.attribute(value, name, "true"),
            2 => self.attribute(value, name, "false"),
            _ => {}
        }
    }
}
