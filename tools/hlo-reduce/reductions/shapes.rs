//! Reduces dimensions: replaces every dimension of some size with a smaller one, and infers the shapes that
//! depend on it.

use super::{Reduction, at_sites};
use hlo_ir::attr::{SliceDim, Window};
use hlo_ir::ops::infer_shape;
use hlo_ir::{ArrayShape, ComputationId, Dims, InstrId, Module, Op, Shape};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Changes all dimensions of a size to 1.
pub const TO_ONE: Reduction =
    resizing("dimensions of 1", |module, range| resize(module, range, |n| n > 1, |_| 1));

/// Changes all dimensions of a size to 2.
pub const TO_TWO: Reduction =
    resizing("dimensions of 2", |module, range| resize(module, range, |n| n > 2, |_| 2));

/// Halves all dimensions of a size.
pub const HALVE: Reduction =
    resizing("half the dimensions", |module, range| resize(module, range, |n| n > 3, |n| n / 2));

const fn resizing(name: &'static str, apply: fn(&mut Module, Range<usize>) -> usize) -> Reduction {
    Reduction { name, changes_interface: false, grows: false, apply }
}

/// Resizes dimensions. Each site is a size in the module, the largest first.
fn resize(module: &mut Module, range: Range<usize>, wanted: fn(i64) -> bool, to: fn(i64) -> i64) -> usize {
    let mut sizes: BTreeSet<i64> = BTreeSet::new();
    for c in module.computations() {
        for &i in module[c].instructions() {
            let arrays = module[i].shape.leaves().into_iter().filter_map(Shape::as_array);
            sizes.extend(arrays.flat_map(|a| a.dims.iter().copied()).filter(|&n| wanted(n)));
        }
    }
    at_sites(module, range, sites(sizes), |module, chosen| {
        Resizing { new: chosen.iter().map(|&n| (n, to(n))).collect() }.apply(module);
    })
}

fn sites(sizes: BTreeSet<i64>) -> Vec<i64> {
    sizes.into_iter().rev().collect()
}

/// The new size for each old size.
struct Resizing {
    new: BTreeMap<i64, i64>,
}

impl Resizing {
    fn apply(&self, module: &mut Module) {
        let all: Vec<InstrId> = module
            .computations()
            .collect::<Vec<ComputationId>>()
            .into_iter()
            .flat_map(|c| module[c].instructions().to_vec())
            .collect();
        let old: BTreeMap<InstrId, Shape> = all.iter().map(|&i| (i, module[i].shape.clone())).collect();
        for &i in &all {
            let shape = self.shape(&module[i].shape);
            module.set_shape(i, shape);
        }
        for &i in &all {
            self.attributes(module, i, &old);
        }
        infer_again(module);
    }

    fn size(&self, n: i64) -> i64 {
        self.new.get(&n).copied().unwrap_or(n)
    }

    fn shape(&self, shape: &Shape) -> Shape {
        match shape {
            Shape::Array(a) => {
                let dims = a.dims.iter().map(|&d| self.size(d)).collect();
                Shape::Array(ArrayShape { dims, ..a.clone() })
            }
            Shape::Tuple(parts) => Shape::Tuple(parts.iter().map(|p| self.shape(p)).collect()),
            Shape::Buffer(inner) => Shape::Buffer(Box::new(self.shape(inner))),
            Shape::Token | Shape::Opaque => shape.clone(),
        }
    }

    /// Changes attributes that contain sizes.
    fn attributes(&self, module: &mut Module, id: InstrId, old: &BTreeMap<InstrId, Shape>) {
        let dims_of = |shape: Option<&Shape>| shape.and_then(Shape::as_array).map(|a| a.dims.clone());
        let operand = |n: usize| module[id].operands.get(n).copied();
        let old_dims = |n: usize| operand(n).and_then(|o| dims_of(old.get(&o))).unwrap_or_default();
        let new_dims =
            |n: usize| operand(n).and_then(|o| dims_of(Some(&module[o].shape))).unwrap_or_default();
        let (old_first, new_first, new_second) = (old_dims(0), new_dims(0), new_dims(1));
        let result = module[id].shape.clone();
        match module.op_mut(id) {
            Op::Constant(a) => {
                let sizes = result.as_array().map(|array| array.dims.clone());
                if let Some(literal) = sizes.and_then(|sizes| a.literal.resized(&sizes)) {
                    a.literal = literal.with_shape(result);
                }
            }
            Op::Slice(a) => {
                for (d, dim) in a.slice.iter_mut().enumerate() {
                    let (Some(&old), Some(&new)) = (old_first.get(d), new_first.get(d)) else { continue };
                    *dim = self.slice(*dim, old, new);
                }
            }
            Op::DynamicSlice(a) => self.within(&mut a.dynamic_slice_sizes, &new_first),
            Op::Gather(a) => self.within(&mut a.slice_sizes, &new_first),
            Op::Fft(a) => a.fft_length.iter_mut().for_each(|n| *n = self.size(*n)),
            Op::TopK(a) => a.k = self.size(a.k),
            Op::ReduceWindow(a) => self.window(&mut a.window, &old_first),
            Op::SelectAndScatter(a) => self.window(&mut a.window, &old_first),
            Op::Convolution(a) => {
                for (dim, &d) in a.window.dims.iter_mut().zip(&a.dim_labels.kernel_spatial) {
                    let size = usize::try_from(d).ok().and_then(|d| new_second.get(d));
                    dim.size = size.copied().unwrap_or(dim.size);
                }
            }
            _ => {}
        }
    }

    /// Changes the range of a slice so that it has as many elements as its result, if possible.
    fn slice(&self, dim: SliceDim, old: i64, new: i64) -> SliceDim {
        let SliceDim { start, limit, stride } = dim;
        if (start, limit, stride) == (0, old, 1) {
            return SliceDim { limit: new, ..dim };
        }
        let count = if stride > 0 { (limit - start + stride - 1) / stride } else { 0 };
        let count = self.size(count).clamp(0, new);
        let stride = if (count - 1).saturating_mul(stride) < new { stride } else { 1 };
        let length = if count > 0 { (count - 1) * stride + 1 } else { 0 };
        let start = start.min(new - length);
        SliceDim { start, limit: start + length, stride }
    }

    /// Changes the sizes of slices, limited by the sizes of the sliced array.
    fn within(&self, sizes: &mut Dims, of: &Dims) {
        for (size, &most) in sizes.iter_mut().zip(of) {
            *size = self.size(*size).min(most);
        }
    }

    /// Changes a window. A window over a whole dimension, with the padding of a running sum, keeps these
    /// properties.
    fn window(&self, window: &mut Window, old: &Dims) {
        for (dim, &old) in window.dims.iter_mut().zip(old) {
            let new = self.size(old);
            if dim.pad_low == old - 1 {
                dim.pad_low = new - 1;
            }
            if dim.pad_high == old - 1 {
                dim.pad_high = new - 1;
            }
            dim.size = self.size(dim.size);
        }
    }
}

/// Infers the shapes that depend on operands, operands first and callees first. Other shapes stay the same.
/// The verifier finds shapes that do not match.
pub fn infer_again(module: &mut Module) {
    for c in module.computations_post_order() {
        for i in module.post_order(c) {
            let shapes: Vec<&Shape> = module[i].operands.iter().map(|&o| &module[o].shape).collect();
            let new = match &module[i].op {
                // The element type is the existing one, and the sizes are those of the operand.
                Op::Convert => {
                    match (module[i].shape.as_array(), shapes.first().and_then(|s| s.as_array())) {
                        (Some(written), Some(operand)) => {
                            Some(Shape::Array(ArrayShape { dims: operand.dims.clone(), ..written.clone() }))
                        }
                        _ => None,
                    }
                }
                op => infer_shape(module, op, &shapes).ok().flatten(),
            };
            if let Some(new) = new.filter(|new| !new.compatible(&module[i].shape)) {
                let shape = in_layout_of(new, &module[i].shape);
                module.set_shape(i, shape);
            }
        }
    }
}

/// Returns `new` with the layouts of `written` wherever the ranks match.
fn in_layout_of(new: Shape, written: &Shape) -> Shape {
    match (new, written) {
        (Shape::Array(new), Shape::Array(written)) => {
            let layout = if new.rank() == written.rank() { written.layout.clone() } else { None };
            Shape::Array(ArrayShape { layout, ..new })
        }
        (Shape::Tuple(new), Shape::Tuple(written)) if new.len() == written.len() => {
            Shape::Tuple(new.iter().cloned().zip(written).map(|(n, w)| in_layout_of(n, w)).collect())
        }
        (new, _) => new,
    }
}
