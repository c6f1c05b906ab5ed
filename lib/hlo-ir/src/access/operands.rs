//! The operand access of each operation.

use super::{Access, Along, Axes, Axis};
use crate::attr::{ConvolutionAttrs, GatherAttrs, ReduceWindowAttrs, ScatterAttrs, WindowDim};
use crate::{ArrayShape, Op, Shape};

/// Returns the elements of an operand that an element of an operation's result is computed from, for operands
/// and a result of these shapes. See [`Module::access`](crate::Module::access).
pub fn access(op: &Op, operand: usize, operands: &[&Shape], result: &Shape) -> Access {
    let array = |n: usize| operands.get(n).and_then(|s| s.as_array());
    let leaves = result.leaves();
    let (Some(from), Some(to)) = (array(operand), leaves.first().and_then(|s| s.as_array())) else {
        return Access::Any;
    };
    let call = Call { operand, count: operands.len(), from, to, array: &array };
    call.of(op)
}

/// An operand of an operation, with the data that its access depends on.
pub(super) struct Call<'a> {
    pub(super) operand: usize,
    count: usize,
    pub(super) from: &'a ArrayShape,
    to: &'a ArrayShape,
    pub(super) array: &'a dyn Fn(usize) -> Option<&'a ArrayShape>,
}

impl Call<'_> {
    fn of(&self, op: &Op) -> Access {
        let (operand, from, to) = (self.operand, self.from, self.to);
        match op {
            elementwise_op!() | Op::Map(_) => self.pointwise(),
            Op::Copy | Op::OptBarrier | Op::Domain(_) | Op::CopyDone | Op::AllReduceDone => self.pointwise(),
            Op::AddDependency | Op::SetDimensionSize(_) | Op::CopyStart(_) => match operand {
                0 => self.pointwise(),
                _ => self.scalar_or_any(),
            },
            Op::BitcastConvert => self.bitcast_convert(),
            Op::Bitcast if from.is_row_major() && to.is_row_major() && same_width(from, to) => {
                Access::SamePosition
            }
            Op::Reshape(_) if from.is_static() && to.is_static() => Access::SamePosition,
            Op::Bitcast | Op::Reshape(_) | Op::DynamicReshape => Access::Any,
            Op::Broadcast(a) => along_each(&a.dimensions, |&d| Along::same(index(d))),
            Op::Transpose(a) => self.placed(a.dimensions.iter().enumerate().map(|(i, &d)| (d, same(i)))),
            Op::Reverse(a) => self.reversed(&a.dimensions),
            Op::Slice(a) => along_each(a.slice.iter().enumerate(), |(dim, s)| Along {
                stride: s.stride,
                offset: s.start,
                ..Along::same(dim)
            }),
            Op::Pad(a) if operand == 0 => along_each(a.padding.iter().enumerate(), |(dim, p)| Along {
                offset: p.low.saturating_neg(),
                step: p.interior.saturating_add(1).max(1),
                ..Along::same(dim)
            }),
            Op::Pad(_) | Op::Rng(_) => self.scalar_or_any(),
            Op::Concatenate(a) => self.concatenate(index(a.dimension())),
            Op::DynamicSlice(_) if operand == 0 => self.moved(),
            Op::DynamicUpdateSlice if operand == 0 => self.pointwise(),
            Op::DynamicUpdateSlice if operand == 1 => self.moved(),
            Op::DynamicSlice(_) | Op::DynamicUpdateSlice => self.scalar_or_any(),
            Op::Gather(a) => self.gather(a),
            Op::Scatter(a) => self.scatter(a),
            Op::Reduce(a) => {
                if operand < self.count / 2 {
                    self.without(&a.dimensions)
                } else {
                    self.scalar_or_any()
                }
            }
            Op::ReduceWindow(a) => self.reduce_window(a),
            Op::Sort(a) => self.lines(a.dimensions.iter().map(|&d| index(d))),
            Op::TopK(_) => self.lines(from.rank().checked_sub(1)),
            Op::Fft(a) => self.lines(from.rank().saturating_sub(a.fft_length.len())..from.rank()),
            Op::Cholesky(_) => self.lines(from.rank().saturating_sub(2)..from.rank()),
            Op::TriangularSolve(a) => self.triangular_solve(a.left_side),
            Op::Dot(a) => self.dot(a),
            Op::RaggedDot(a) => self.ragged_dot(a),
            Op::ScaledDot(a) => self.scaled_dot(a),
            Op::SelectAndScatter(a) => self.select_and_scatter(&a.window.dims),
            Op::Contraction(a) => self.contraction(&a.access),
            Op::Convolution(a) => self.convolution(a),
            Op::BatchNormInference(a) if operand > 0 => {
                Access::Axes([same(index(a.feature_index))].into_iter().collect())
            }
            Op::BatchNormInference(_) => self.pointwise(),
            // Elements of this device or another one.
            Op::AllReduce(_)
            | Op::AllReduceStart(_)
            | Op::AllGather(_)
            | Op::ReduceScatter(_)
            | Op::CollectiveBroadcast(_)
            | Op::CollectivePermute(_) => self.exchanged(&[]),
            Op::AllToAll(a) if !a.dimensions.is_empty() => self.exchanged(&a.dimensions),
            _ => Access::Any,
        }
    }

    /// Returns the access at the result's own index, or of a scalar used for all elements.
    pub(super) fn pointwise(&self) -> Access {
        match self.from.rank() {
            0 => Access::Axes(Axes::new()),
            rank if rank == self.to.rank() => Access::identity(rank),
            _ => Access::Any,
        }
    }

    /// Returns the access of a scalar, such as an initial value.
    pub(super) fn scalar_or_any(&self) -> Access {
        if self.from.rank() == 0 { Access::Axes(Axes::new()) } else { Access::Any }
    }

    /// Returns the access with these axes for some of the operand's dimensions. The others are unknown.
    fn placed(&self, axes: impl IntoIterator<Item = (i64, Axis)>) -> Access {
        let mut out: Axes = (0..self.from.rank()).map(|_| Axis::Any).collect();
        for (d, axis) in axes {
            if let Some(place) = out.get_mut(index(d)) {
                *place = axis;
            }
        }
        Access::Axes(out)
    }

    /// Returns the access at the result's own index, except in some dimensions that are read completely:
    /// sorting, transforms.
    fn lines(&self, dims: impl IntoIterator<Item = usize>) -> Access {
        let Access::Axes(mut axes) = Access::identity(self.from.rank()) else { return Access::Any };
        for (k, d) in dims.into_iter().enumerate() {
            if let Some(axis) = axes.get_mut(d) {
                *axis = Axis::All(k);
            }
        }
        Access::Axes(axes)
    }

    /// Returns the access that reads all of some dimensions, which the result does not have.
    fn without(&self, dims: &[i64]) -> Access {
        let mut kept = 0..;
        let axes = (0..self.from.rank() as i64).map(|d| match dims.iter().position(|&r| r == d) {
            Some(k) => Axis::All(k),
            None => kept.next().map_or(Axis::Any, same),
        });
        Access::Axes(axes.collect())
    }

    /// A part of the operand, or of the result, at an offset known at run time. The offset is 0 if the part
    /// has the full size.
    fn moved(&self) -> Access {
        let axis = |d: usize| {
            if self.from.dims.get(d) == self.to.dims.get(d) { same(d) } else { Axis::Moved { dim: d } }
        };
        Access::Axes((0..self.from.rank()).map(axis).collect())
    }

    /// The only operand of a collective: the result's own index, except in dimensions that devices
    /// concatenate or split. These are the dimensions that change their size, and `moved`.
    fn exchanged(&self, moved: &[i64]) -> Access {
        if self.count != 1 {
            return Access::Any;
        }
        let stays = |d: usize| self.from.dims.get(d) == self.to.dims.get(d) && !moved.contains(&(d as i64));
        let axes = (0..self.from.rank()).map(|d| if stays(d) { same(d) } else { Axis::Any });
        Access::Axes(axes.collect())
    }

    /// If the element widths differ, the side with wider elements does not have the last dimension.
    fn bitcast_convert(&self) -> Access {
        let (from, to) = (self.from.rank(), self.to.rank());
        if from == to + 1 { self.lines([to]) } else { Access::identity(from) }
    }

    fn reversed(&self, dims: &[i64]) -> Access {
        along_each(0..self.from.rank(), |d| {
            if dims.contains(&(d as i64)) {
                Along { stride: -1, offset: self.from.dims[d].saturating_sub(1), ..Along::same(d) }
            } else {
                Along::same(d)
            }
        })
    }

    fn concatenate(&self, d: usize) -> Access {
        let sizes =
            (0..self.operand).map(|n| (self.array)(n).and_then(|a| a.dims.get(d)).copied().unwrap_or(0));
        let start = sizes.fold(0i64, i64::saturating_add);
        along_each(0..self.from.rank(), |dim| {
            if dim == d {
                Along { offset: start.saturating_neg(), ..Along::same(dim) }
            } else {
                Along::same(dim)
            }
        })
    }

    fn gather(&self, a: &GatherAttrs) -> Access {
        let is_window = |d: &i64| a.offset_dims.contains(d);
        // The result's dimensions that come from the indices, in order.
        let batch: Vec<usize> = (0..self.to.rank() as i64).filter(|d| !is_window(d)).map(index).collect();
        let of_indices = |rank: usize, d: i64| -> Option<usize> {
            let before = (0..d).filter(|&e| e != a.index_vector_dim).count();
            (d != a.index_vector_dim && d < rank as i64).then(|| batch.get(before).copied()).flatten()
        };
        if self.operand != 0 {
            let rank = self.from.rank();
            let axis = |d: i64| of_indices(rank, d).map_or(Axis::All(0), same);
            return Access::Axes((0..rank as i64).map(axis).collect());
        }
        let indices = (self.array)(1).map_or(0, ArrayShape::rank);
        let mut windows = a.offset_dims.iter();
        let axes = (0..self.from.rank() as i64).map(|d| {
            if a.collapsed_slice_dims.contains(&d) {
                return Axis::Any;
            }
            if let Some(k) = a.operand_batching_dims.iter().position(|&b| b == d) {
                let of = a.start_indices_batching_dims.get(k).and_then(|&b| of_indices(indices, b));
                return of.map_or(Axis::Any, same);
            }
            let Some(&window) = windows.next() else { return Axis::Any };
            let whole = a.slice_sizes.get(index(d)) == self.from.dims.get(index(d));
            if whole { same(index(window)) } else { Axis::Moved { dim: index(window) } }
        });
        Access::Axes(axes.collect())
    }

    fn scatter(&self, a: &ScatterAttrs) -> Access {
        let inputs = self.count / 2;
        if self.operand < inputs {
            return self.pointwise();
        }
        // The dimensions of the indices, which updates also have. The index values determine which of them an
        // element uses.
        let indices = (self.array)(inputs).map_or(0, ArrayShape::rank) as i64;
        let place = |n: usize, d: i64| match a.scatter_indices_batching_dims.iter().position(|&b| b == d) {
            Some(k) => a.input_batching_dims.get(k).map_or(Axis::Any, |&d| same(index(d))),
            None => Axis::All(n),
        };
        let places = (0..indices).filter(|&d| d != a.index_vector_dim).enumerate();
        if self.operand == inputs {
            let vector = [(a.index_vector_dim, Axis::All(indices as usize))];
            return self.placed(places.map(|(n, d)| (d, place(n, d))).chain(vector));
        }
        let others = (0..self.from.rank() as i64).filter(|d| !a.update_window_dims.contains(d));
        let places = others.zip(places).map(|(update, (n, d))| (update, place(n, d)));
        // The operand's dimensions that windows have.
        let gone = |d: &i64| a.inserted_window_dims.contains(d) || a.input_batching_dims.contains(d);
        let windows = (0..self.to.rank() as i64).filter(|d| !gone(d));
        let windows = a.update_window_dims.iter().zip(windows).map(|(&update, d)| {
            let whole = self.from.dims.get(index(update)) == self.to.dims.get(index(d));
            (update, if whole { same(index(d)) } else { Axis::Moved { dim: index(d) } })
        });
        self.placed(places.chain(windows))
    }

    /// The selected element of a window receives the source's element for this window. If windows are
    /// adjacent single elements, it is the source's element at the result's own index.
    fn select_and_scatter(&self, window: &[WindowDim]) -> Access {
        match self.operand {
            0 | 1 => {
                let axis = |(d, w): (usize, &WindowDim)| match windowed(d, d, w) {
                    Axis::Along(along) => Axis::Along(along),
                    _ => Axis::Any,
                };
                Access::Axes(window.iter().enumerate().map(axis).collect())
            }
            _ => self.scalar_or_any(),
        }
    }

    fn reduce_window(&self, a: &ReduceWindowAttrs) -> Access {
        if self.operand >= self.count / 2 {
            return self.scalar_or_any();
        }
        let axes = a.window.dims.iter().enumerate();
        Access::Axes(axes.map(|(d, w)| windowed(d, d, w)).collect())
    }

    fn triangular_solve(&self, left: bool) -> Access {
        let rank = self.from.rank();
        match (self.operand, left) {
            (0, _) => self.lines(rank.saturating_sub(2)..rank),
            (_, true) => self.lines(rank.checked_sub(2)),
            (_, false) => self.lines(rank.checked_sub(1)),
        }
    }

    /// The features of a convolution's input: all, or those of the group of the result's feature.
    fn input_features(&self, a: &ConvolutionAttrs) -> Option<Axis> {
        let labels = &a.dim_labels;
        if a.feature_groups() == 1 {
            return Some(Axis::All(0));
        }
        let features = *self.to.dims.get(index(labels.output_feature))?;
        let size = *(self.array)(1)?.dims.get(index(labels.kernel_input_feature))?;
        let of = features.checked_div(a.feature_groups()).filter(|&of| of > 0)?;
        Some(Axis::Group { dim: index(labels.output_feature), of, size })
    }

    fn convolution(&self, a: &ConvolutionAttrs) -> Access {
        let labels = &a.dim_labels;
        let spatial = |n: usize| labels.output_spatial.get(n).map_or(0, |&d| index(d));
        let window = |n: usize| a.window.dims.get(n).copied().unwrap_or_default();
        if self.operand == 0 {
            let mut axes = Vec::with_capacity(self.from.rank());
            if a.batch_groups() == 1 {
                axes.push((labels.input_batch, same(index(labels.output_batch))));
            }
            if let Some(axis) = self.input_features(a) {
                axes.push((labels.input_feature, axis));
            }
            let places = labels.input_spatial.iter().enumerate();
            axes.extend(places.map(|(n, &d)| (d, windowed(spatial(n), n, &window(n)))));
            return self.placed(axes);
        }
        let taps = labels.kernel_spatial.iter().enumerate();
        let input = (self.array)(0);
        let base = |n: usize| {
            let d = labels.input_spatial.get(n).map_or(usize::MAX, |&d| index(d));
            input.and_then(|a| a.dims.get(d)).copied().unwrap_or(0)
        };
        let taps = taps.map(|(n, &d)| (d, Axis::Tap { dim: spatial(n), window: n, base: base(n) }));
        let features = [
            (labels.kernel_input_feature, Axis::All(0)),
            (labels.kernel_output_feature, same(index(labels.output_feature))),
        ];
        self.placed(features.into_iter().chain(taps))
    }
}

/// The positions of a window along a dimension of the result. It is the result's own index if the window is
/// one element without an offset.
fn windowed(dim: usize, window: usize, w: &WindowDim) -> Axis {
    let plain = *w == WindowDim { reversed: w.reversed, ..WindowDim::default() };
    if plain { same(dim) } else { Axis::Window { dim, window } }
}

pub(super) fn same(dim: usize) -> Axis {
    Axis::Along(Along::same(dim))
}

fn along_each<T>(dims: impl IntoIterator<Item = T>, along: impl Fn(T) -> Along) -> Access {
    Access::Axes(dims.into_iter().map(|d| Axis::Along(along(d))).collect())
}

/// Converts a dimension number to an index. An invalid number becomes an index beyond every rank.
pub(super) fn index(d: i64) -> usize {
    usize::try_from(d).unwrap_or(usize::MAX)
}

fn same_width(from: &ArrayShape, to: &ArrayShape) -> bool {
    from.element_type.bit_width() == to.element_type.bit_width()
}
