//! Slices and updates at the same positions, at known positions, and of single windows.

use super::{Array, E, Generator, Opcode, Type, braced};

impl Generator {
    /// Returns scalar indices, known or not. Sometimes one array contains all of them.
    fn starts(&mut self, rank: usize) -> Vec<usize> {
        if rank > 0 && self.numbers.one_in(4) {
            return vec![self.parameter(Array::new(E::S32, &[rank as i64]))];
        }
        let t = self.numbers.pick(&[E::S32, E::U8, E::S64]);
        let known = self.numbers.one_in(2);
        (0..rank)
            .map(|_| {
                let text = self.numbers.pick(&["0", "1", "2", "7"]);
                if known { self.number(t, text) } else { self.parameter(Array::new(t, &[])) }
            })
            .collect()
    }

    fn read(&mut self, x: usize, sizes: &[i64], starts: &[usize]) -> usize {
        let element = self.array_type(x).element;
        let operands: Vec<usize> = [x].into_iter().chain(starts.iter().copied()).collect();
        let sizes_text = [("dynamic_slice_sizes", braced(sizes))];
        self.add(Array::new(element, sizes), Opcode::DynamicSlice, &operands, &sizes_text)
    }

    fn written(&mut self, x: usize, part: usize, starts: &[usize]) -> usize {
        let operands: Vec<usize> = [x, part].into_iter().chain(starts.iter().copied()).collect();
        self.add(self.array_type(x), Opcode::DynamicUpdateSlice, &operands, &[])
    }

    /// Adds reads and updates of one window.
    pub(super) fn updated(&mut self) -> usize {
        let t = self.element(|_| true);
        let whole = Array::new(t, &self.few_dims(0, 3));
        let x = if self.numbers.one_in(3) {
            let scalar = self.parameter(Array::new(t, &[]));
            self.add(whole.clone(), Opcode::Broadcast, &[scalar], &[("dimensions", "{}".into())])
        } else {
            self.parameter(whole.clone())
        };
        let everything = self.numbers.one_in(6);
        let sizes: Vec<i64> =
            whole.dims.iter().map(|&d| if everything { d } else { self.numbers.between(0, d) }).collect();
        let starts = self.starts(whole.rank());
        let part = self.parameter(Array::new(t, &sizes));
        match self.numbers.below(5) {
            0 => self.read(x, &sizes, &starts),
            1 => {
                let read = self.read(x, &sizes, &starts);
                self.written(x, read, &starts)
            }
            2 => {
                let written = self.written(x, part, &starts);
                self.read(written, &sizes, &starts)
            }
            3 => {
                let other = self.parameter(Array::new(t, &sizes));
                let once = self.written(x, other, &starts);
                self.written(once, part, &starts)
            }
            _ => self.written(x, part, &starts),
        }
    }

    /// Returns indices at equal distances, or few indices.
    fn index_list(&mut self, dims: &[i64]) -> usize {
        let t = self.numbers.pick(&[E::S32, E::U32, E::S64, E::U8]);
        let a = Array::new(t, dims);
        if self.numbers.one_in(3) {
            return self.parameter(a);
        }
        let count = a.elements();
        let list = self.add(Array::new(t, &[count]), Opcode::Iota, &[], &[("iota_dimension", "0".into())]);
        let mut list = if a.rank() == 1 { list } else { self.add(a.clone(), Opcode::Reshape, &[list], &[]) };
        for opcode in [Opcode::Multiply, Opcode::Add] {
            if self.numbers.one_in(2) {
                let text = self.numbers.pick(&["1", "2", "3"]);
                let by = self.splat(&a, text);
                list = self.add(a.clone(), opcode, &[list, by], &[]);
            }
        }
        list
    }

    /// Adds a gather of windows along one dimension, at positions that form a slice or at a single position.
    pub(super) fn gathered(&mut self) -> usize {
        if self.numbers.one_in(3) {
            return self.indexing(Opcode::Gather);
        }
        let t = self.element(|_| true);
        let a = Array::new(
            t,
            &(0..self.numbers.between(1, 3)).map(|_| self.numbers.between(1, 6)).collect::<Vec<_>>(),
        );
        let x = if self.numbers.one_in(5) {
            let text = self.special(t);
            self.splat(&a, &text)
        } else {
            self.parameter(a.clone())
        };
        let d = self.numbers.below(a.rank()) as i64;
        let count = self.numbers.between(1, 4);
        let indices = if self.numbers.one_in(2) { vec![count, 1] } else { vec![count] };
        let indices = self.index_list(&indices);
        let mut sizes = a.dims.clone();
        sizes[d as usize] = 1;
        let collapsed = self.numbers.one_in(2);
        let mut window: Vec<i64> = sizes.clone();
        if collapsed {
            window.remove(d as usize);
        }
        let at = self.numbers.below(window.len() + 1);
        let offsets: Vec<i64> = (0..=window.len() as i64).filter(|&k| k != at as i64).collect();
        let mut dims = window;
        dims.insert(at, count);
        let attributes = [
            ("offset_dims", braced(&offsets)),
            ("collapsed_slice_dims", if collapsed { braced(&[d]) } else { "{}".into() }),
            ("start_index_map", braced(&[d])),
            ("index_vector_dim", "1".to_string()),
            ("slice_sizes", braced(&sizes)),
        ];
        self.add(Array::new(t, &dims), Opcode::Gather, &[x, indices], &attributes)
    }

    /// Adds a scatter to single elements or rows. The first positions are used.
    pub(super) fn scattered(&mut self) -> usize {
        if self.numbers.one_in(3) {
            return self.indexing(Opcode::Scatter);
        }
        let t = self.element(|_| true);
        let (rows, columns) = (self.numbers.between(1, 6), self.numbers.between(1, 3));
        let count = self.numbers.pick(&[0, 1, 1, 2, 4]);
        let x = self.parameter(Array::new(t, &[rows, columns]));
        let indices = self.index_list(&[count, 1]);
        let updates = self.parameter(Array::new(t, &[count, columns]));
        let function = self.combiner(&Type::scalar(t)).0;
        let attributes = [
            ("update_window_dims", "{1}".to_string()),
            ("inserted_window_dims", "{0}".to_string()),
            ("scatter_dims_to_operand_dims", "{0}".to_string()),
            ("index_vector_dim", "1".to_string()),
            ("to_apply", function),
        ];
        let operands = [x, indices, updates];
        let value = self.add(Array::new(t, &[rows, columns]), Opcode::Scatter, &operands, &attributes);
        if self.numbers.one_in(2) {
            let limit = self.numbers.between(0, rows);
            self.part(value, 0, 0, limit)
        } else {
            value
        }
    }
}
