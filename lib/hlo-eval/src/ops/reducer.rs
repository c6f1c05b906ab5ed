//! Reducers: the functions of `reduce` and `reduce-window`, and the types in which they accumulate.

use super::support::{Result, array};
use super::wide::Wide;
use crate::context::Context;
use crate::element::{Elements, ElementsMut, Scalars, load};
use crate::error::EvalError;
use crate::function::Function;
use hlo_ir::accumulation::sums_and_products;
use hlo_ir::{ComputationId, ElementType, Literal, Module, Op};

/// The operands and the function of a reduction.
pub(super) struct Reduction<'m> {
    /// The N arrays to reduce. They have the same dimensions.
    pub(super) arrays: Vec<Literal>,
    /// `init_values`, one for each array.
    pub(super) init_values: Vec<Literal>,
    /// The element types of the arrays.
    pub(super) types: Vec<ElementType>,
    /// The reduction function.
    pub(super) computation: ComputationId,
    /// For each result of the function, its operation if it is a sum or product that is accumulated in a
    /// wider type.
    pub(super) sums: Vec<Option<&'m Op>>,
}

impl<'m> Reduction<'m> {
    /// Reads N arrays and N initial values.
    pub(super) fn new(
        cx: &mut Context<'m>,
        mut operands: Vec<Literal>,
        computation: ComputationId,
    ) -> Result<Self> {
        if operands.is_empty() || operands.len() % 2 == 1 {
            return Err(EvalError::new(format!(
                "{} operands where as many arrays as scalars are needed",
                operands.len()
            )));
        }
        let init_values = operands.split_off(operands.len() / 2);
        let arrays = operands;
        let types = element_types(&arrays)?;
        let dims = &array(&arrays[0])?.dims;
        for (a, init) in arrays.iter().zip(&init_values) {
            let (a, init) = (array(a)?, array(init)?);
            if a.dims != *dims || init.element_count() != 1 || init.element_type != a.element_type {
                return Err(EvalError::new(
                    "the operands differ in dimensions, or the initial values do not fit them",
                ));
            }
        }
        let sums = wide_components(cx.module, computation, &types, Wide::of_reduction);
        Ok(Self { arrays, init_values, types, computation, sums })
    }

    /// Returns the dimensions of the arrays.
    pub(super) fn dims(&self) -> Result<&[i64]> {
        Ok(&array(&self.arrays[0])?.dims)
    }

    /// Returns the elements of the arrays at an index.
    pub(super) fn at(&self, index: &[i64]) -> Result<Scalars> {
        self.arrays.iter().map(|a| Elements::of(a)?.at(index)).collect()
    }

    /// Returns the accumulation of component `k`, if it is a sum or product in a wider type.
    pub(super) fn wide(&self, k: usize) -> Option<Wide> {
        Wide::of_reduction(self.sums[k]?, self.types[k])
    }

    /// Checks whether all results of the function are accumulated in wider types.
    pub(super) fn is_all_wide(&self) -> bool {
        self.sums.iter().all(Option::is_some)
    }

    /// Returns the types of the function's parameters: those of the running values, then those of the
    /// elements.
    pub(super) fn parameters(&self) -> Vec<ElementType> {
        self.types.iter().chain(&self.types).copied().collect()
    }

    /// Returns the reducer that applies the function.
    pub(super) fn reducer(&self, cx: &mut Context<'_>) -> Result<Reducer> {
        let function = if self.is_all_wide() {
            None
        } else {
            Some(Function::new(cx, self.computation, &self.parameters(), &self.types)?)
        };
        let wide: Vec<Option<Wide>> = (0..self.types.len()).map(|k| self.wide(k)).collect();
        let first = |init: &Literal, ty: &ElementType| load(init.bytes(), ty.byte_size(), 0);
        let init_values: Scalars =
            self.init_values.iter().zip(&self.types).map(|(v, t)| first(v, t)).collect::<Result<_>>()?;
        let mut reducer = Reducer {
            function,
            wide,
            init_values,
            wide_init_values: Scalars::new(),
            running: Scalars::new(),
            sums: Scalars::new(),
        };
        let widened =
            |(wide, &value): (&Option<Wide>, _)| wide.as_ref().map_or(Ok(value), |w| w.widened(value));
        reducer.wide_init_values =
            reducer.wide.iter().zip(&reducer.init_values).map(widened).collect::<Result<_>>()?;
        Ok(reducer)
    }

    /// Frees the arrays.
    pub(super) fn release(self, cx: &mut Context<'_>) {
        self.arrays.into_iter().for_each(|a| cx.release(a));
    }
}

/// A reduction function with its running values (semantics, "Variadic Reduce").
pub(super) struct Reducer {
    /// The function. `None` if all its results are sums and products that are accumulated in a wider type.
    function: Option<Function>,
    /// For each component, its accumulation in a wider type.
    wide: Vec<Option<Wide>>,
    init_values: Scalars,
    wide_init_values: Scalars,
    /// The running values, in the types of the function.
    running: Scalars,
    /// The running sums in their wider types. The values of other components are not used.
    sums: Scalars,
}

impl Reducer {
    /// Sets the running values to the initial values.
    pub(super) fn begin(&mut self) {
        self.running.clone_from(&self.init_values);
        self.sums.clone_from(&self.wide_init_values);
    }

    /// Computes `(running…) = computation(running…, elements…)`.
    pub(super) fn combine(&mut self, cx: &mut Context<'_>, elements: &[u128]) -> Result<()> {
        match &mut self.function {
            Some(function) => {
                self.running.extend_from_slice(elements);
                let values = function.call(cx, &self.running)?;
                self.running.clear();
                self.running.extend_from_slice(values);
            }
            None => cx.charge(2)?,
        }
        for ((sum, wide), &element) in self.sums.iter_mut().zip(&self.wide).zip(elements) {
            if let Some(wide) = wide {
                *sum = wide.combined(*sum, wide.widened(element)?)?;
            }
        }
        Ok(())
    }

    /// Writes the running values to the results at an index.
    pub(super) fn write(&self, results: &mut [Literal], index: &[i64]) -> Result<()> {
        for (k, result) in results.iter_mut().enumerate() {
            let value = match &self.wide[k] {
                Some(wide) => wide.rounded(self.sums[k])?,
                None => self.running[k],
            };
            ElementsMut::of(result)?.set(index, value)?;
        }
        Ok(())
    }
}

/// Returns the results of a computation on values of these types that are sums or products for which `wide`
/// returns an accumulation in a wider type.
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

/// Returns the element types of arrays.
pub(super) fn element_types(operands: &[Literal]) -> Result<Vec<ElementType>> {
    operands.iter().map(|o| Ok(array(o)?.element_type)).collect()
}
