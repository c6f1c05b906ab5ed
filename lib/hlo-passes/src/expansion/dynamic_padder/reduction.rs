//! Padding of reductions and sorts: elements beyond the sizes must not take part.

use super::{Padded, Padder, Result, Sizes, of_array};
use crate::support::combiner::{binary_combiner, identity};
use hlo_ir::attr::{ComparisonDirection, ReduceAttrs, ReduceWindowAttrs, SortAttrs};
use hlo_ir::build::Build;
use hlo_ir::{ArrayShape, ComputationId, ElementType, InstrId, Literal, Op, Shape};

/// The operands and the function of a reduction after masking.
struct Masked {
    operands: Vec<InstrId>,
    to_apply: ComputationId,
    /// Whether there is one more array and one more result, which mark the valid elements.
    flagged: bool,
}

impl Padder<'_> {
    /// Excludes the elements beyond `sizes` from a reduction. They are replaced by the identity of
    /// `to_apply`. If no identity is known, the function receives a flag for each element instead.
    fn masked(&mut self, sizes: &Sizes, to_apply: ComputationId) -> Result<Masked> {
        let mut operands = self.operands().to_vec();
        let n = operands.len() / 2;
        let dims = self.bounds(0)?.dims;
        let Some(inside) = self.inside(&dims, sizes) else {
            return Ok(Masked { operands, to_apply, flagged: false });
        };
        let ty = self.bounds(0)?.element_type;
        let simple = binary_combiner(self.module, to_apply).filter(|_| n == 1);
        if let Some(fill) = simple.and_then(|op| Literal::scalar_from_bytes(ty, &identity(op, ty)?)) {
            let fill = self.add(Shape::scalar(ty), Op::constant(fill), &[]);
            let fill = self.splat(fill, &dims);
            operands[0] = self.select(inside, operands[0], fill);
            return Ok(Masked { operands, to_apply, flagged: false });
        }
        let yes = self.constant_true();
        operands.insert(n, inside);
        operands.push(yes);
        let to_apply = self.flagged_reducer(to_apply)?;
        Ok(Masked { operands, to_apply, flagged: true })
    }

    /// Returns a variant of `f` whose values come with flags: whether they are valid.
    fn flagged_reducer(&mut self, f: ComputationId) -> Result<ComputationId> {
        let parameters: Vec<Shape> =
            self.module.parameters(f).iter().map(|&p| self.module[p].shape.clone()).collect();
        let n = parameters.len() / 2;
        let pred = Shape::scalar(ElementType::Pred);
        let (first, second) = parameters.split_at(n);
        let flag = std::slice::from_ref(&pred);
        self.function(
            &format!("{}.sized", self.module[f].name),
            &[first, flag, second, flag].concat(),
            |p, inputs| {
                let (a, b) = inputs.split_at(n + 1);
                let arguments: Vec<InstrId> = a[..n].iter().chain(&b[..n]).copied().collect();
                let combined = p.inlined(f, &arguments)?;
                let mut results = Vec::with_capacity(n + 1);
                for k in 0..n {
                    let value = if p.shape(combined).is_tuple() { p.element(combined, k)? } else { combined };
                    let kept = p.select(a[n], value, b[k]);
                    results.push(p.select(b[n], kept, a[k]));
                }
                results.push(p.both(Op::Or, a[n], b[n]));
                Ok(p.tuple(&results))
            },
        )
    }

    /// Adds the reduction `op` on masked operands and returns its results.
    fn reduction(&mut self, masked: &Masked, op: Op, sizes: Sizes) -> Result<Padded> {
        let leaves = of_array(sizes);
        let n = self.operand_ids().len() / 2;
        let leaves = if n > 1 && !leaves.is_empty() { vec![leaves[0].clone(); n] } else { leaves };
        if !masked.flagged {
            return Ok(self.keep_with_operands(&masked.operands, leaves));
        }
        let declared = super::padded_shape(&self.module[self.at].shape);
        let mut shapes = declared.as_tuple().map_or_else(|| vec![declared.clone()], <[Shape]>::to_vec);
        let dims = shapes[0].as_array().map(|a| a.dims.clone()).unwrap_or_default();
        shapes.push(ArrayShape::new(ElementType::Pred, dims).into());
        let all = self.add(Shape::tuple(shapes), op, &masked.operands);
        let results = (0..n).map(|k| self.element(all, k)).collect::<Result<Vec<_>>>()?;
        let value = if declared.is_tuple() { self.tuple(&results) } else { results[0] };
        Ok((value, leaves))
    }

    /// Pads a `reduce`.
    pub(super) fn reduce(&mut self, attrs: &ReduceAttrs) -> Result<Padded> {
        let sizes = self.loops()?;
        let masked = self.masked(&sizes.combined[0], attrs.to_apply)?;
        let op = Op::Reduce(ReduceAttrs { to_apply: masked.to_apply, ..attrs.clone() });
        self.reduction(&masked, op, sizes.result)
    }

    /// Pads a `reduce-window`.
    pub(super) fn reduce_window(&mut self, attrs: &ReduceWindowAttrs) -> Result<Padded> {
        let sizes = self.loops()?;
        let masked = self.masked(&sizes.combined[0], attrs.to_apply)?;
        let op = Op::ReduceWindow(Box::new(ReduceWindowAttrs { to_apply: masked.to_apply, ..attrs.clone() }));
        self.reduction(&masked, op, sizes.result)
    }

    /// Pads a `sort`. Elements beyond the size are sorted last.
    pub(super) fn sort(&mut self, attrs: &SortAttrs) -> Result<Padded> {
        let n = self.operand_ids().len();
        let dims = self.bounds(0)?.dims;
        let sizes: Sizes =
            (0..dims.len()).map(|d| self.paired((0..n).map(|o| (o, d)))).collect::<Result<_>>()?;
        let along = attrs.dimensions.first().and_then(|&d| usize::try_from(d).ok()).unwrap_or(dims.len());
        let leaves = of_array(sizes.clone());
        let leaves = if n > 1 && !leaves.is_empty() { vec![leaves[0].clone(); n] } else { leaves };
        let sorted: Sizes = sizes.iter().enumerate().map(|(d, s)| s.filter(|_| d == along)).collect();
        let Some(inside) = self.inside(&dims, &sorted) else { return Ok(self.keep(leaves)) };
        let mut operands = self.operands().to_vec();
        operands.push(inside);
        let to_apply = self.sized_comparator(attrs.to_apply)?;
        let declared = super::padded_shape(&self.module[self.at].shape);
        let mut shapes = declared.as_tuple().map_or_else(|| vec![declared.clone()], <[Shape]>::to_vec);
        shapes.push(ArrayShape::new(ElementType::Pred, dims).into());
        let all =
            self.add(Shape::tuple(shapes), Op::Sort(SortAttrs { to_apply, ..attrs.clone() }), &operands);
        let results = (0..n).map(|k| self.element(all, k)).collect::<Result<Vec<_>>>()?;
        let value = if declared.is_tuple() { self.tuple(&results) } else { results[0] };
        Ok((value, leaves))
    }

    /// Returns the comparator with two more parameters: whether the elements are valid. Valid elements come
    /// first.
    fn sized_comparator(&mut self, f: ComputationId) -> Result<ComputationId> {
        let parameters: Vec<Shape> =
            self.module.parameters(f).iter().map(|&p| self.module[p].shape.clone()).collect();
        let flags = [Shape::scalar(ElementType::Pred), Shape::scalar(ElementType::Pred)];
        let shapes = [&parameters[..], &flags].concat();
        self.function(&format!("{}.sized", self.module[f].name), &shapes, |p, inputs| {
            let (arguments, flags) = inputs.split_at(inputs.len() - 2);
            let less = p.inlined(f, arguments)?;
            let alike = p.compare(ComparisonDirection::Eq, flags[0], flags[1]);
            Ok(p.select(alike, less, flags[0]))
        })
    }
}
