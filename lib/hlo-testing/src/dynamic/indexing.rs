//! Gathers and scatters. Some of their indices and windows have sizes that are only known at run time.

use super::{Dim, MAX_ELEMENTS, Maker, Value, elements, list, shape};

impl Maker {
    /// Adds indices into a dimension, some of them out of bounds. Returns their name and their number.
    fn indices(&mut self, into: Dim) -> (String, Dim) {
        let count = self.numbers.between(1, 4);
        let indices: Vec<i64> = (0..count).map(|_| self.numbers.between(-1, into.bound + 1)).collect();
        let all = self.helper(&format!("s32[{count}]"), &format!("constant({{{}}})", list(&indices)));
        if self.numbers.one_in(2) {
            return (all, Dim::fixed(count));
        }
        let real = self.numbers.between(0, count);
        let n = self.integer(real);
        let dim = Dim { bound: count, dynamic: true, open: true, real };
        (
            self.helper(
                &format!("s32[<={count}]"),
                &format!("set-dimension-size({all}, {n}), dimensions={{0}}"),
            ),
            dim,
        )
    }

    /// Adds a gather with slices of one element in the first dimension, and of some elements in the others.
    pub(super) fn gather(&mut self, v: &Value) -> Option<()> {
        let first = *v.dims.first()?;
        if first.real == 0 {
            return None;
        }
        let (indices, count) = self.indices(first);
        let mut dims = vec![count];
        let mut sizes = vec![1];
        for d in &v.dims[1..] {
            let size = if self.numbers.one_in(2) { d.bound } else { self.numbers.between(0, d.bound) };
            sizes.push(size);
            let dynamic = d.dynamic && size == d.bound;
            dims.push(Dim { bound: size, dynamic, open: d.open, real: size.min(d.real) });
        }
        if elements(&dims) > MAX_ELEMENTS {
            return None;
        }
        let offsets: Vec<i64> = (1..v.dims.len() as i64).collect();
        let attributes = format!(
            "offset_dims={{{}}}, collapsed_slice_dims={{0}}, start_index_map={{0}}, index_vector_dim=1, \
             slice_sizes={{{}}}",
            list(&offsets),
            list(&sizes)
        );
        self.push(dims, &format!("gather({}, {indices}), {attributes}", v.name));
        Some(())
    }

    /// Adds a scatter that adds to elements, rows or blocks.
    pub(super) fn scatter(&mut self, v: &Value) -> Option<()> {
        let first = *v.dims.first()?;
        let (indices, count) = self.indices(first);
        let inserts = self.numbers.one_in(2);
        let mut dims = vec![count];
        for d in &v.dims[usize::from(inserts)..] {
            let real = self.numbers.between(0, d.real);
            let dynamic = self.numbers.one_in(2);
            let bound = if dynamic { self.numbers.between(real, d.bound) } else { real };
            dims.push(Dim { bound, dynamic, open: dynamic, real });
        }
        if elements(&dims) > MAX_ELEMENTS {
            return None;
        }
        let bounds: Vec<i64> = dims.iter().map(|d| d.bound).collect();
        let mut updates = self.constant(&bounds);
        let mut made: Vec<Dim> = bounds.iter().map(|&b| Dim::fixed(b)).collect();
        for (d, &dim) in dims.iter().enumerate().skip(1).filter(|(_, d)| d.dynamic) {
            let n = self.integer(dim.real);
            made[d] = dim;
            updates = self
                .helper(&shape(&made), &format!("set-dimension-size({updates}, {n}), dimensions={{{d}}}"));
        }
        let windows: Vec<i64> = (1..dims.len() as i64).collect();
        let attributes = format!(
            "update_window_dims={{{}}}, inserted_window_dims={{{}}}, scatter_dims_to_operand_dims={{0}}, \
             index_vector_dim=1, to_apply=add",
            list(&windows),
            if inserts { "0" } else { "" }
        );
        self.push(v.dims.clone(), &format!("scatter({}, {indices}, {updates}), {attributes}", v.name));
        Some(())
    }
}
