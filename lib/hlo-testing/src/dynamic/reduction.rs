//! Reductions, dot products, sorts and windows.

use super::{Dim, MAX_ELEMENTS, MAX_RANK, Maker, Value, elements, list, shape};

impl Maker {
    pub(super) fn reduce(&mut self, v: &Value) -> Option<()> {
        let reduced = self.numbers.subset(v.dims.len());
        let kept = (0..v.dims.len()).filter(|&d| !reduced.contains(&(d as i64))).map(|d| v.dims[d]).collect();
        let f = self.numbers.pick(&["add", "max", "min", "largest"]);
        self.push(
            kept,
            &format!("reduce({}, zero), dimensions={{{}}}, to_apply={f}", v.name, list(&reduced)),
        );
        Some(())
    }

    pub(super) fn dot(&mut self, v: &Value) -> Option<()> {
        let w = self.any();
        let (a, b) = (self.dim(v)?, self.dim(&w)?);
        v.dims[a].paired(w.dims[b], false)?;
        let free = |v: &Value, but: usize| -> Vec<Dim> {
            v.dims.iter().enumerate().filter(|&(d, _)| d != but).map(|(_, &d)| d).collect()
        };
        let mut dims = free(v, a);
        dims.extend(free(&w, b));
        if dims.len() > MAX_RANK || elements(&dims) > MAX_ELEMENTS {
            return None;
        }
        let attributes = format!("lhs_contracting_dims={{{a}}}, rhs_contracting_dims={{{b}}}");
        self.push(dims, &format!("dot({}, {}), {attributes}", v.name, w.name));
        Some(())
    }

    pub(super) fn sort(&mut self, v: &Value) -> Option<()> {
        let d = self.dim(v)?;
        self.push(v.dims.clone(), &format!("sort({}), dimensions={{{d}}}, to_apply=less", v.name));
        Some(())
    }

    pub(super) fn window(&mut self, v: &Value) -> Option<()> {
        let mut dims = Vec::new();
        let (mut sizes, mut strides, mut pads) = (Vec::new(), Vec::new(), Vec::new());
        for d in &v.dims {
            let (size, stride) = (self.numbers.between(1, 3), self.numbers.between(1, 2));
            let (low, high) = (self.numbers.between(0, 1), self.numbers.between(0, 1));
            let places = |n: i64| {
                let room = n + low + high - size;
                if room < 0 { 0 } else { room / stride + 1 }
            };
            dims.push(Dim { bound: places(d.bound), dynamic: d.dynamic, open: d.open, real: places(d.real) });
            sizes.push(size.to_string());
            strides.push(stride.to_string());
            pads.push(format!("{low}_{high}"));
        }
        if v.dims.is_empty() {
            return None;
        }
        let window = format!("size={} stride={} pad={}", sizes.join("x"), strides.join("x"), pads.join("x"));
        let f = self.numbers.pick(&["add", "max", "largest"]);
        self.push(dims, &format!("reduce-window({}, zero), window={{{window}}}, to_apply={f}", v.name));
        Some(())
    }

    /// Adds a sort that also moves a second array.
    pub(super) fn sort_two(&mut self, v: &Value) -> Option<()> {
        let (w, dims) = self.partner(v, None);
        let d = self.dim(v)?;
        let operands = format!("{}, {}", v.name, w.name);
        let right = format!("sort({operands}), dimensions={{{d}}}, is_stable=true, to_apply=less_of_two");
        let sorted = self.helper(&format!("({}, {})", shape(&v.dims), shape(&w.dims)), &right);
        // Each result has the shape of its own operand, and the actual sizes of the smaller one.
        let which = self.numbers.below(2);
        let own = [v, &w][which];
        let dims = dims.iter().zip(&own.dims).map(|(d, own)| Dim { dynamic: own.dynamic, ..*d }).collect();
        self.push(dims, &format!("get-tuple-element({sorted}), index={which}"));
        Some(())
    }

    /// Adds a reduction that returns the positions of the largest elements.
    pub(super) fn first_largest(&mut self, v: &Value) -> Option<()> {
        let d = self.dim(v)?;
        let bounds: Vec<i64> = v.dims.iter().map(|d| d.bound).collect();
        let places = self.helper(&format!("s32[{}]", list(&bounds)), &format!("iota(), iota_dimension={d}"));
        let kept: Vec<Dim> = (0..v.dims.len()).filter(|&k| k != d).map(|k| v.dims[k]).collect();
        let none = self.integer(-1);
        let (of, integers) = (shape(&kept), shape(&kept).replace("f32", "s32"));
        let operands = format!("{}, {places}, low, {none}", v.name);
        let right = format!("reduce({operands}), dimensions={{{d}}}, to_apply=first_largest");
        let both = self.helper(&format!("({of}, {integers})"), &right);
        let place = self.helper(&integers, &format!("get-tuple-element({both}), index=1"));
        self.push(kept, &format!("convert({place})"));
        Some(())
    }

    /// Adds the largest or smallest elements.
    pub(super) fn topk(&mut self, v: &Value) -> Option<()> {
        let last = *v.dims.last()?;
        if last.real == 0 {
            return None;
        }
        let k = self.numbers.between(1, last.real);
        let mut dims = v.dims.clone();
        *dims.last_mut()? = Dim::fixed(k);
        let (of, integers) = (shape(&dims), shape(&dims).replace("f32", "s32"));
        let largest = self.numbers.one_in(2);
        let right = format!("topk({}), k={k}, largest={largest}", v.name);
        let both = self.helper(&format!("({of}, {integers})"), &right);
        if self.numbers.one_in(2) {
            self.push(dims, &format!("get-tuple-element({both}), index=0"));
        } else {
            let places = self.helper(&integers, &format!("get-tuple-element({both}), index=1"));
            self.push(dims, &format!("convert({places})"));
        }
        Some(())
    }

    /// Adds a select-and-scatter that selects the largest element of each window.
    pub(super) fn select_and_scatter(&mut self, v: &Value) -> Option<()> {
        let (mut sizes, mut strides, mut pads, mut places) = (vec![], vec![], vec![], vec![]);
        for d in &v.dims {
            let (size, stride) = (self.numbers.between(1, 3), self.numbers.between(1, 2));
            let (low, high) = (self.numbers.between(0, size - 1), self.numbers.between(0, size - 1));
            let room = d.bound + low + high - size;
            places.push(if room < 0 { 0 } else { room / stride + 1 });
            sizes.push(size.to_string());
            strides.push(stride.to_string());
            pads.push(format!("{low}_{high}"));
        }
        if v.dims.is_empty() {
            return None;
        }
        let source = self.constant(&places);
        let window = format!("size={} stride={} pad={}", sizes.join("x"), strides.join("x"), pads.join("x"));
        let right = format!(
            "select-and-scatter({}, {source}, zero), window={{{window}}}, select=not_less, scatter=add",
            v.name
        );
        self.push(v.dims.clone(), &right);
        Some(())
    }

    /// Adds a convolution along the second of three dimensions.
    pub(super) fn convolution(&mut self, v: &Value) -> Option<()> {
        let &[batch, spatial, feature] = &v.dims[..] else { return None };
        let (size, stride) = (self.numbers.between(1, 3), self.numbers.between(1, 2));
        let (low, high) = (self.numbers.between(0, 1), self.numbers.between(0, 1));
        let dilation = self.numbers.between(1, 2);
        let kernel = self.constant(&[size, feature.bound, 2]);
        let places = |n: i64| {
            let dilated = if n == 0 { 0 } else { (n - 1) * dilation + 1 };
            let room = dilated + low + high - size;
            if room < 0 { 0 } else { room / stride + 1 }
        };
        let out = Dim { bound: places(spatial.bound), real: places(spatial.real), ..spatial };
        let window = format!("size={size} stride={stride} pad={low}_{high} lhs_dilate={dilation}");
        let right =
            format!("convolution({}, {kernel}), window={{{window}}}, dim_labels=b0f_0io->b0f", v.name);
        self.push(vec![batch, out, Dim::fixed(2)], &right);
        Some(())
    }

    /// Adds a product of groups of rows with one matrix for each group.
    pub(super) fn ragged_dot(&mut self, v: &Value) -> Option<()> {
        let &[rows, inner] = &v.dims[..] else { return None };
        let matrices = self.constant(&[2, inner.bound, 3]);
        let first = self.numbers.between(0, rows.real);
        let second = self.numbers.between(0, rows.real - first);
        let groups = self.helper("s32[2]", &format!("constant({{{first}, {second}}})"));
        let attributes =
            "lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}";
        self.push(
            vec![rows, Dim::fixed(3)],
            &format!("ragged-dot({}, {matrices}, {groups}), {attributes}", v.name),
        );
        Some(())
    }
}
