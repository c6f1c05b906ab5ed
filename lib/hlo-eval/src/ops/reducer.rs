//! Reducers: what `reduce` and `reduce-window` apply, and the types that they accumulate in.

use super::reduction::arrays_and_scalars;
use super::wide::{Wide, WideLanes};
use super::{Result, float};
use crate::evaluator::Evaluator;
use crate::kernel::{elements, elements_mut, lane_type, with_integer};
use crate::program::Function;
use bytemuck::Pod;
use hlo_ir::accumulation::sums_and_products;
use hlo_ir::{ComputationId, ElementType, ElementwiseOp, Literal, Module, Op, Shape};

/// A reduction's operands, and what combines them.
pub(super) struct Reduction<'m> {
    /// The arrays to reduce.
    pub(super) arrays: Vec<Literal>,
    /// The initial values, one for each array.
    pub(super) initial: Vec<Literal>,
    /// The element types of the arrays.
    pub(super) types: Vec<ElementType>,
    to_apply: ComputationId,
    /// The reducer, if it is one operation.
    operation: Option<ElementwiseOp<'m>>,
    /// Which results of the reducer are sums or products that are accumulated in a wider type.
    sums: Vec<Option<&'m Op>>,
}

impl<'m> Reduction<'m> {
    /// Reads N arrays and N initial values.
    pub(super) fn new(
        ev: &mut Evaluator<'m>,
        operands: Vec<Literal>,
        to_apply: ComputationId,
    ) -> Result<Self> {
        let (arrays, initial, types) = arrays_and_scalars(operands)?;
        let operation = match types[..] {
            [ty] => single_operation(ev.module, to_apply, ty),
            _ => None,
        };
        let sums = wide_components(ev.module, to_apply, &types, Wide::of_reduction);
        Ok(Self { arrays, initial, types, to_apply, operation, sums })
    }

    /// Accumulators of up to `capacity` lanes.
    pub(super) fn lanes(&self, ev: &mut Evaluator<'_>, capacity: usize) -> Result<Lanes> {
        let wide: Vec<Option<WideLanes>> = self
            .sums
            .iter()
            .zip(&self.types)
            .map(|(op, &ty)| Some(WideLanes::new(Wide::of_reduction((*op)?, ty)?, capacity)))
            .collect();
        let function = match wide.iter().all(Option::is_some) {
            true => None,
            false => Some(self.function(ev, capacity)?),
        };
        Ok(Lanes { function, wide, types: self.types.clone() })
    }

    /// The reducer, for up to `capacity` lanes.
    fn function(&self, ev: &mut Evaluator<'_>, capacity: usize) -> Result<Function> {
        if let (Some(op), &[ty]) = (self.operation, &self.types[..])
            && let Some(function) = Function::of_operation(op, ty, capacity)
        {
            return Ok(function);
        }
        let both: Vec<ElementType> = self.types.iter().chain(&self.types).copied().collect();
        Function::new(ev, self.to_apply, &both, &self.types, capacity)
    }

    /// The loop over neighbouring elements, if the reducer is one operation that has one.
    pub(super) fn fold(&self) -> Option<Fold> {
        let &[ty] = &self.types[..] else { return None };
        match self.sums[..] {
            [Some(op)] => {
                let wide = Wide::of_reduction(op, ty)?;
                Some(Box::new(move |line, initial, out| wide.fold(line, initial, out)))
            }
            _ => fold(self.operation?, ty),
        }
    }

    /// Gives back what is no longer needed.
    pub(super) fn release(self, ev: &mut Evaluator<'_>) {
        self.arrays.into_iter().for_each(|a| ev.release(a));
    }
}

/// The results of a combining computation on values of these types that are sums or products which `wide` accumulates in
/// a wider type.
pub(super) fn wide_components<'m>(
    module: &'m Module,
    computation: ComputationId,
    types: &[ElementType],
    wide: fn(&Op, ElementType) -> Option<Wide>,
) -> Vec<Option<&'m Op>> {
    let found = sums_and_products(module, computation, types.len());
    let fits = |(found, &ty): (Option<(&'m Op, ElementType)>, &ElementType)| {
        found.filter(|&(op, of)| of == ty && wide(op, ty).is_some()).map(|(op, _)| op)
    };
    found.into_iter().zip(types).map(fits).collect()
}

/// The accumulators of a reduction for a number of results at a time, and what combines them with elements.
pub(super) struct Lanes {
    /// The reducer, unless all that it makes are sums and products that are accumulated in a wider type.
    function: Option<Function>,
    wide: Vec<Option<WideLanes>>,
    types: Vec<ElementType>,
}

impl Lanes {
    /// The work of one step, in operations a lane.
    pub(super) fn cost(&self) -> usize {
        self.function.as_ref().map_or(2, Function::cost)
    }

    /// Begins with the initial values.
    pub(super) fn begin(&mut self, initial: &[Literal], lanes: usize) {
        for (k, (value, wide)) in initial.iter().zip(&mut self.wide).enumerate() {
            if let Some(wide) = wide {
                wide.begin(value.bytes(), lanes);
            }
            if let Some(function) = &mut self.function {
                function.fill_parameter(k, value.bytes(), lanes);
            }
        }
    }

    /// The elements of array `k` that are combined next, for writing.
    pub(super) fn elements_mut(&mut self, k: usize) -> &mut [u8] {
        match (&mut self.wide[k], &mut self.function) {
            (Some(wide), _) => wide.elements_mut(),
            (None, Some(function)) => function.parameter_mut(self.types.len() + k),
            (None, None) => &mut [],
        }
    }

    /// Combines the elements with the accumulators, but in the lanes that `skip` names.
    pub(super) fn combine(&mut self, ev: &mut Evaluator<'_>, lanes: usize, skip: &[bool]) -> Result<()> {
        match &mut self.function {
            Some(function) => {
                for (k, (wide, ty)) in self.wide.iter().zip(&self.types).enumerate() {
                    if let Some(wide) = wide {
                        let bytes = lanes * ty.byte_size();
                        let to = function.parameter_mut(self.types.len() + k);
                        to[..bytes].copy_from_slice(&wide.elements()[..bytes]);
                    }
                }
                function.run(ev, lanes)?;
                if skip.contains(&true) {
                    function.keep_parameters(skip);
                }
                function.feed_back();
            }
            None => ev.charge(self.cost() * lanes)?,
        }
        self.wide.iter_mut().flatten().for_each(|wide| wide.combine(lanes, skip));
        Ok(())
    }

    /// Writes the accumulators of array `k`.
    pub(super) fn write(&mut self, k: usize, lanes: usize, out: &mut [u8]) {
        let size = self.types[k].byte_size();
        match (&self.wide[k], &mut self.function) {
            (Some(wide), _) => wide.write(lanes, out),
            (None, Some(function)) => {
                let values = &function.parameter_mut(k)[..lanes * size];
                out[..lanes * size].copy_from_slice(values);
            }
            (None, None) => {}
        }
    }
}

/// The operation of a computation that applies one commutative operation to its two parameters, scalars of the
/// type `ty`.
fn single_operation(
    module: &Module,
    computation: ComputationId,
    ty: ElementType,
) -> Option<ElementwiseOp<'_>> {
    if !module.has_root(computation) {
        return None;
    }
    let root = module[computation].root();
    let scalar = |s: &Shape| s.as_array().is_some_and(|a| a.rank() == 0 && a.element_type == ty);
    let &[a, b] = &module[root].operands[..] else { return None };
    let &[p, q] = &module.parameters(computation)[..] else { return None };
    let op = module[root].op.elementwise().filter(|op| op.opcode().is_associative())?;
    let of_parameters = [a, b] == [p, q] || [a, b] == [q, p];
    let of_type = [root, a, b].iter().all(|&i| scalar(&module[i].shape));
    (of_parameters && of_type).then_some(op)
}

/// Combines neighbouring elements, in their order, with an initial value.
pub(super) type Fold = Box<dyn Fn(&[u8], &[u8], &mut [u8])>;

/// The fold of an operation: the same function of two elements as its kernel's. `None` where programs do.
fn fold(op: ElementwiseOp<'_>, ty: ElementType) -> Option<Fold> {
    use ElementType as T;
    fn by<E: Pod>(f: impl Fn(E, E) -> E + 'static) -> Option<Fold> {
        Some(Box::new(move |line, initial, out| {
            if let (Some(out), Some(&initial)) =
                (elements_mut::<E>(out).first_mut(), elements(initial).first())
            {
                *out = elements::<E>(line).iter().fold(initial, |a, &x| f(a, x));
            }
        }))
    }
    if lane_type(ty) != ty {
        return None;
    }
    match (op, ty) {
        (ElementwiseOp::Add, T::F32) => by(|a: f32, b| a + b),
        (ElementwiseOp::Add, T::F64) => by(|a: f64, b| a + b),
        (ElementwiseOp::Add, _) => with_integer!(ty, I => by(I::wrapping_add)).flatten(),
        (ElementwiseOp::Multiply, T::F32) => by(|a: f32, b| a * b),
        (ElementwiseOp::Multiply, T::F64) => by(|a: f64, b| a * b),
        (ElementwiseOp::Multiply, _) => with_integer!(ty, I => by(I::wrapping_mul)).flatten(),
        (ElementwiseOp::Maximum, T::F32) => by(float::maximum_f32),
        (ElementwiseOp::Maximum, T::F64) => by(float::maximum_f64),
        (ElementwiseOp::Maximum, _) => with_integer!(ty, I => by(|a: I, b| a.max(b))).flatten(),
        (ElementwiseOp::Minimum, T::F32) => by(float::minimum_f32),
        (ElementwiseOp::Minimum, T::F64) => by(float::minimum_f64),
        (ElementwiseOp::Minimum, _) => with_integer!(ty, I => by(|a: I, b| a.min(b))).flatten(),
        (ElementwiseOp::And, T::Pred) => by(|a: u8, b| a & b),
        (ElementwiseOp::Or, T::Pred) => by(|a: u8, b| a | b),
        _ => None,
    }
}
