//! Padding of `select-and-scatter`. The selection is a reduction that finds the position of an element in
//! each window, using flags for valid elements. The rest is a scatter to these positions.

use super::{Padded, Padder, Result, Sizes, of_array};
use hlo_ir::attr::{ReduceWindowAttrs, ScatterAttrs, SelectAndScatterAttrs};
use hlo_ir::build::Build;
use hlo_ir::{ArrayShape, ComputationId, Dims, ElementType, InstrId, Op, Shape};

impl Padder<'_> {
    /// Pads a `select-and-scatter`.
    pub(super) fn select_and_scatter(&mut self, attrs: &SelectAndScatterAttrs) -> Result<Padded> {
        let (bounds, of_source) = (self.bounds(0)?, self.bounds(1)?);
        let (sizes, source_sizes) = (self.sizes(0)?, self.sizes(1)?);
        let [operand, source, init] = self.operands()[..] else {
            return Err(self.unsupported_diag("takes an array, a source and a value"));
        };
        // The number of windows that fit. Each requires an element of the source.
        let mut places: Sizes = smallvec::smallvec![None; bounds.rank()];
        for d in 0..bounds.rank() {
            if sizes[d].is_none() && source_sizes[d].is_none() {
                continue;
            }
            let size = self.known_size(sizes[d], bounds.dims[d])?;
            let window = attrs.window.dims.get(d).cloned().unwrap_or_default();
            let wanted = self.window_places(size, bounds.dims[d], &window)?;
            if let Some(has) = source_sizes[d] {
                let taken = self.minimum(wanted, has)?;
                self.check_equal(taken, wanted);
            }
            places[d] = Some(wanted);
        }
        let chosen = self.chosen(operand, &bounds, &sizes, attrs, &of_source.dims)?;
        let (place, found) = (self.element(chosen, 1)?, self.element(chosen, 2)?);
        let inside = match self.inside(&of_source.dims, &places) {
            Some(inside) => self.both(Op::And, inside, found),
            None => found,
        };
        let nowhere = self.s32(-1)?;
        let nowhere = self.splat(nowhere, &of_source.dims);
        let place = self.select(inside, place, nowhere);
        // Use one dimension with the elements in row-major order.
        let (all, updates) = (count(&bounds.dims), count(&of_source.dims));
        let start = self.splat(init, &[all]);
        let indices = self.reshaped(place, &[updates, 1]);
        let source = self.reshaped(source, &[updates]);
        let op = Op::Scatter(Box::new(ScatterAttrs {
            update_window_dims: Dims::new(),
            inserted_window_dims: Dims::from_slice(&[0]),
            scatter_dims_to_operand_dims: Dims::from_slice(&[0]),
            index_vector_dim: 1,
            to_apply: attrs.scatter,
            ..ScatterAttrs::default()
        }));
        let flat = ArrayShape::new(self.array(init).element_type, [all]);
        let scattered = self.add(flat.clone(), op, &[start, indices, source]);
        let shape = self.result_bounds()?;
        Ok((self.add(shape, Op::reshape(), &[scattered]), of_array(sizes)))
    }

    /// Returns, for each window, the selected element, its position in row-major order, and whether there is
    /// one.
    fn chosen(
        &mut self,
        operand: InstrId,
        bounds: &ArrayShape,
        sizes: &Sizes,
        attrs: &SelectAndScatterAttrs,
        windows: &[i64],
    ) -> Result<InstrId> {
        self.s32(count(&bounds.dims))?;
        let mut number = None;
        let mut stride = 1i64;
        for d in (0..bounds.rank()).rev() {
            let position = self.iota(ElementType::S32, &bounds.dims, d);
            let by = self.s32(stride)?;
            let by = self.splat(by, &bounds.dims);
            let part = self.both(Op::Multiply, position, by);
            number = Some(match number {
                Some(sum) => self.both(Op::Add, sum, part),
                None => part,
            });
            stride = stride.saturating_mul(bounds.dims[d]);
        }
        let nothing = self.s32(0)?;
        let number = number.unwrap_or(nothing);
        let there = match self.inside(&bounds.dims, sizes) {
            Some(inside) => inside,
            None => {
                let yes = self.constant_true();
                self.splat(yes, &bounds.dims)
            }
        };
        let zero = self.zero(bounds.element_type)?;
        let no = self.zero(ElementType::Pred)?;
        let types = [bounds.element_type, ElementType::S32, ElementType::Pred];
        let to_apply = self.selector(attrs.select, types)?;
        let op = Op::ReduceWindow(Box::new(ReduceWindowAttrs { window: attrs.window.clone(), to_apply }));
        let shapes = types.map(|ty| Shape::array(ty, windows.iter().copied()));
        Ok(self.add(Shape::tuple(shapes.to_vec()), op, &[operand, number, there, zero, nothing, no]))
    }

    /// Returns a function that keeps one of two elements with their positions: the one that `select` prefers
    /// among the valid ones.
    fn selector(&mut self, select: ComputationId, types: [ElementType; 3]) -> Result<ComputationId> {
        let side = types.map(Shape::scalar);
        self.function(
            &format!("{}.sized", self.module[select].name),
            &[&side[..], &side].concat(),
            |p, inputs| {
                let keeps = p.inlined(select, &[inputs[0], inputs[3]])?;
                // The first element stays if it is valid, and is preferred or the only valid one.
                let (first, second) = (inputs[2], inputs[5]);
                let no_other = p.add(Shape::scalar(ElementType::Pred), Op::Not, &[second]);
                let stays = p.both(Op::Or, keeps, no_other);
                let stays = p.both(Op::And, first, stays);
                let mut results: Vec<InstrId> =
                    (0..2).map(|k| p.select(stays, inputs[k], inputs[k + 3])).collect();
                results.push(p.both(Op::Or, first, second));
                Ok(p.tuple(&results))
            },
        )
    }
}

/// Returns the number of elements.
fn count(dims: &[i64]) -> i64 {
    dims.iter().fold(1i64, |n, &d| n.saturating_mul(d))
}
