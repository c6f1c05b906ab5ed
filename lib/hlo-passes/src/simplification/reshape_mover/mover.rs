//! The reshape or transpose that moves past a region.

use crate::support::reshapes::groups;
use crate::support::rewrite::{index, result_accuracy, same_layout};
use hlo_ir::attr::ResultAccuracy;
use hlo_ir::{ArrayShape, Dims, InstrId, Module, Op, Shape};

/// The reshape or transpose that all values that enter a region share.
#[derive(PartialEq)]
pub(super) struct Mover {
    /// A reshape or a transpose.
    pub(super) op: Op,
    /// The sizes before the reshape or transpose.
    pub(super) from: Dims,
}

impl Mover {
    /// Returns the dimension before the move that equals dimension `d` of the sizes `to` after it, if there
    /// is one.
    pub(super) fn dimension_before(&self, to: &[i64], d: i64) -> Option<i64> {
        let d = index(d)?;
        match &self.op {
            Op::Transpose(a) => a.dimensions.get(d).copied(),
            _ => {
                let all = groups(to, &self.from)?;
                let (_, before) = all.into_iter().find(|(after, _)| after.as_slice() == [d])?;
                <[usize; 1]>::try_from(before).ok().map(|[only]| only as i64)
            }
        }
    }

    /// Returns the sizes and the dimension map, before the move, of a broadcast from sizes `x` along `map` to
    /// sizes `to`. Returns `None` if no broadcast that keeps the order of dimensions produces it.
    pub(super) fn broadcast_before(&self, x: &[i64], map: &[i64], to: &[i64]) -> Option<(Dims, Dims)> {
        if map.len() != x.len() || !map.is_sorted() {
            return None;
        }
        if let Op::Transpose(a) = &self.op {
            let places: Dims =
                map.iter().map(|&d| a.dimensions.get(index(d)?).copied()).collect::<Option<_>>()?;
            return places.is_sorted().then(|| (x.iter().copied().collect(), places));
        }
        let (mut dims, mut places) = (Dims::new(), Dims::new());
        if x.iter().all(|&size| size == 1) {
            return Some((dims, places)); // The operand has one element.
        }
        for (after, before) in groups(to, &self.from)? {
            let mapped = after.iter().filter(|&&d| map.contains(&(d as i64))).count();
            if mapped == after.len() {
                for d in before {
                    dims.push(*self.from.get(d)?);
                    places.push(d as i64);
                }
            } else if mapped > 0 {
                return None;
            }
        }
        Some((dims, places))
    }

    /// Adds an elementwise operation on arrays in the sizes before the move.
    pub(super) fn add_before_move(
        &self,
        module: &mut Module,
        id: InstrId,
        operands: &[InstrId],
    ) -> Option<InstrId> {
        let ty = module[id].shape.as_array()?.element_type;
        let (op, accuracy) = (module[id].op.clone(), result_accuracy(module, id));
        let new =
            module.add_like(id, Shape::array(ty, self.from.iter().copied()), op, operands.iter().copied());
        if accuracy != ResultAccuracy::Default {
            module.common_mut(new).result_accuracy = accuracy;
        }
        Some(new)
    }
}

/// Returns the shape of a static array in the default layout.
pub(super) fn plain(module: &Module, id: InstrId) -> Option<&ArrayShape> {
    let shape = module[id].shape.as_array().filter(|a| a.is_static())?;
    let usual = Shape::array(shape.element_type, shape.dims.iter().copied());
    same_layout(&module[id].shape, &usual).then_some(shape)
}
