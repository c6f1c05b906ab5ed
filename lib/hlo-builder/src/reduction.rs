//! Operations that combine elements (operation semantics, "Map", "Reduce", "ReduceWindow", "SelectAndScatter", "Sort", …).

use crate::operand::Operand;
use crate::window::{self, Padding};
use crate::{Builder, Computation, Value};
use hlo_ir::attr::{
    ComparisonDirection, ComparisonType, MapAttrs, OrTrue, ReduceWindowAttrs, ScanAttrs,
    SelectAndScatterAttrs, SortAttrs, TopkAttrs, Window,
};
use hlo_ir::diag::Diag;
use hlo_ir::{Op, Shape};
use std::panic::Location;

/// Operations on one array.
impl<'b> Value<'b> {
    /// Combines the elements along some dimensions with a computation of two scalars, starting with `init`.
    #[track_caller]
    pub fn reduce(
        self,
        init: impl Into<Operand<'b>>,
        computation: &Computation,
        dimensions: &[i64],
    ) -> Value<'b> {
        let init = init.into().plain(self.builder, self.element_type("reduce"));
        self.builder.reduce(&[self], &[init], computation, dimensions)
    }

    /// Combines all elements with a computation of two scalars, starting with `init`.
    #[track_caller]
    pub fn reduce_all(self, init: impl Into<Operand<'b>>, computation: &Computation) -> Value<'b> {
        let Some(a) = self.array("reduce") else { return self.builder.nothing() };
        self.reduce(init, computation, &(0..a.rank() as i64).collect::<Vec<_>>())
    }

    /// Combines the elements in each position of a window with a computation of two scalars, starting with
    /// `init`. The window has a size and a stride for each dimension.
    #[track_caller]
    pub fn reduce_window(
        self,
        init: impl Into<Operand<'b>>,
        computation: &Computation,
        sizes: &[i64],
        strides: &[i64],
        padding: impl Into<Padding>,
    ) -> Value<'b> {
        let Some(a) = self.array("reduce-window") else { return self.builder.nothing() };
        let init = init.into().plain(self.builder, Some(a.element_type));
        match window::over(&a, sizes, strides, &padding.into()) {
            Ok(window) => self.builder.reduce_window(&[self], &[init], computation, &window),
            Err(message) => self.builder.fail(Location::caller(), Diag::error(message)),
        }
    }

    /// Selects one element in each position of a window with the computation `select`. Returns an array with
    /// the shape of this one that is filled with `init`. At the position of each selected element, `scatter`
    /// combines it with the corresponding element of `source`.
    #[track_caller]
    #[expect(clippy::too_many_arguments, reason = "the operation has so many")]
    pub fn select_and_scatter(
        self,
        select: &Computation,
        sizes: &[i64],
        strides: &[i64],
        padding: impl Into<Padding>,
        source: Value<'b>,
        init: impl Into<Operand<'b>>,
        scatter: &Computation,
    ) -> Value<'b> {
        let Some(a) = self.array("select-and-scatter") else { return self.builder.nothing() };
        let at = Location::caller();
        let init = init.into().plain(self.builder, Some(a.element_type));
        let window = match window::over(&a, sizes, strides, &padding.into()) {
            Ok(window) => window,
            Err(message) => return self.builder.fail(at, Diag::error(message)),
        };
        let imported = (self.builder.import(at, select), self.builder.import(at, scatter));
        let (Some(select), Some(scatter)) = imported else { return self.builder.nothing() };
        let op = Op::SelectAndScatter(Box::new(SelectAndScatterAttrs { window, select, scatter }));
        self.builder.add(op, &[self, source, init])
    }

    /// Sorts the elements along the last dimension in increasing order. The sort is stable. Floating-point
    /// numbers are in the total order: -NaN, -∞, …, -0, 0, …, ∞, NaN.
    #[track_caller]
    pub fn sort(self) -> Value<'b> {
        let Some(a) = self.array("sort") else { return self.builder.nothing() };
        let ascending = Computation::comparator(&[a.element_type], ComparisonDirection::Lt);
        self.sort_by(&ascending, a.rank() as i64 - 1, true)
    }

    /// Sorts the elements along a dimension. `comparator` returns whether the first of two elements comes
    /// before the second. If `is_stable`, equal elements keep their order.
    #[track_caller]
    pub fn sort_by(self, comparator: &Computation, dimension: i64, is_stable: bool) -> Value<'b> {
        self.builder.sort(&[self], comparator, dimension, is_stable)
    }

    /// Returns a tuple of the `k` largest (or smallest) elements along the last dimension and their indices,
    /// as `s32`.
    #[track_caller]
    pub fn top_k(self, k: i64, largest: bool) -> Value<'b> {
        self.builder.add(Op::TopK(TopkAttrs { k, largest: OrTrue(largest), is_stable: None }), &[self])
    }
}

/// Operations on several arrays of the same sizes. The result is a tuple if there is more than one.
impl Builder {
    /// Combines elements along some dimensions. The computation receives an accumulator for each array, then
    /// an element of each array, and returns the new accumulators. Their initial values are `inits`.
    #[track_caller]
    pub fn reduce<'b>(
        &'b self,
        operands: &[Value<'b>],
        inits: &[Value<'b>],
        computation: &Computation,
        dimensions: &[i64],
    ) -> Value<'b> {
        let Some(to_apply) = self.import(Location::caller(), computation) else { return self.nothing() };
        self.add(Op::reduce(dimensions.iter().copied(), to_apply), &[operands, inits].concat())
    }

    /// Combines the elements in each position of a window, in the same way as [`Builder::reduce`].
    #[track_caller]
    pub fn reduce_window<'b>(
        &'b self,
        operands: &[Value<'b>],
        inits: &[Value<'b>],
        computation: &Computation,
        window: &Window,
    ) -> Value<'b> {
        let Some(to_apply) = self.import(Location::caller(), computation) else { return self.nothing() };
        let attributes = ReduceWindowAttrs { window: window.clone(), to_apply };
        self.add(Op::ReduceWindow(Box::new(attributes)), &[operands, inits].concat())
    }

    /// Sorts arrays together along a dimension. The comparator receives two elements of each array, starting
    /// with those of the first array. It returns whether the first elements come before the second ones.
    #[track_caller]
    pub fn sort<'b>(
        &'b self,
        operands: &[Value<'b>],
        comparator: &Computation,
        dimension: i64,
        is_stable: bool,
    ) -> Value<'b> {
        let Some(to_apply) = self.import(Location::caller(), comparator) else { return self.nothing() };
        let dimensions = [dimension].into_iter().collect();
        self.add(Op::Sort(SortAttrs { dimensions, is_stable, to_apply }), operands)
    }

    /// Applies a computation along a dimension of the inputs. Each step receives a slice of each input and
    /// the carries. It returns a slice of each output and the next carries. The result contains the outputs,
    /// then the last carries. If `is_reverse`, the steps run from the last slice to the first. If
    /// `is_associative`, the steps may be combined in any grouping.
    #[track_caller]
    pub fn scan<'b>(
        &'b self,
        inputs: &[Value<'b>],
        carries: &[Value<'b>],
        computation: &Computation,
        dimension: i64,
        is_reverse: bool,
        is_associative: bool,
    ) -> Value<'b> {
        let Some(to_apply) = self.import(Location::caller(), computation) else { return self.nothing() };
        let attributes = ScanAttrs {
            dimensions: [dimension].into_iter().collect(),
            num_carries: carries.len() as i64,
            is_reverse,
            is_associative,
            to_apply,
        };
        self.add(Op::Scan(attributes), &[inputs, carries].concat())
    }

    /// Applies a computation of scalars to the elements of arrays of the same sizes. The computation receives
    /// the scalars in `static_operands` as additional arguments, which are the same for all elements.
    #[track_caller]
    pub fn map<'b>(
        &'b self,
        operands: &[Value<'b>],
        computation: &Computation,
        static_operands: &[Value<'b>],
    ) -> Value<'b> {
        let at = Location::caller();
        let Some(to_apply) = self.import(at, computation) else { return self.nothing() };
        let Some(first) = operands.first() else {
            return self
                .fail(at, Diag::error("`map` needs an array whose elements it is applied to, found none"));
        };
        if !self.owns(operands) || !self.owns(static_operands) {
            return self.nothing();
        }
        let Some(a) = first.array("map") else { return self.nothing() };
        let mut all = operands.to_vec();
        for (n, &operand) in static_operands.iter().enumerate() {
            match operand.shape_if_made() {
                Some(shape) if shape.is_scalar() => all.push(operand.broadcast_in_dim(&a.dims, &[])),
                Some(other) => return self.fail(at, not_scalar(n, &other)),
                None => return self.nothing(),
            }
        }
        let dimensions = (0..a.rank() as i64).collect();
        self.add(Op::Map(MapAttrs { dimensions, to_apply }), &all)
    }
}

fn not_scalar(n: usize, found: &Shape) -> Diag {
    Diag::error(format!("static operand {n} of `map` must be a scalar, found {found}"))
        .note("arrays that each element needs can be constants of the computation")
}

/// Common computations of scalars.
impl Computation {
    /// Returns a comparator that sorts several arrays of these element types by the first one. It returns
    /// whether the first element is less than the second, or has another relation to it. Floating-point
    /// numbers are in the total order.
    #[track_caller]
    pub fn comparator(element_types: &[hlo_ir::ElementType], direction: ComparisonDirection) -> Self {
        let parameters: Vec<Shape> =
            element_types.iter().flat_map(|&ty| [Shape::scalar(ty), Shape::scalar(ty)]).collect();
        let order = match element_types.first() {
            Some(ty) if ty.is_float() => ComparisonType::TotalOrder,
            _ => ComparisonType::Default,
        };
        let builder = Builder::new("compare");
        let mut values = Vec::with_capacity(parameters.len());
        for (n, shape) in parameters.into_iter().enumerate() {
            values.push(builder.parameter(n as i64, shape, &format!("p{n}")));
        }
        let result = match values.as_slice() {
            [a, b, ..] => a.compare(*b, direction, order),
            _ => {
                let message = "a comparator needs an element type, found none";
                builder.fail(Location::caller(), Diag::error(message))
            }
        };
        builder.set_return_value(result);
        builder.computation()
    }
}
