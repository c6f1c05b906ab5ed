//! Custom calls: assertions, operations with sizes as operands, and calls whose operands list the sizes of
//! their results.

use super::failure::{Result, fail};
use super::fold::Integers;
use super::refiner::Refiner;
use super::types::with_shape;
use crate::import::failure::Failure;
use crate::import::regions::only_block;
use crate::tree::{Attribute, Attributes, Operation, Region, Type, ValueId};
use hlo_ir::{ArrayShape, ElementType};
use std::sync::Arc;

/// The attribute that lists the operands that are the sizes of the results, in order.
const SHAPE_OPERANDS: &str = "indices_of_shape_operands";

impl<'t> Refiner<'t> {
    pub fn custom_call(&mut self, op: &'t Operation, into: &mut Vec<Operation>) -> Result<()> {
        let target = op.attribute("call_target_name").and_then(Attribute::as_str).unwrap_or_default();
        match target {
            "shape_assertion" => self.assertion(op),
            "stablehlo.shape_refinement_operand_wrapper" => self.wrapper(op),
            "stablehlo.dynamic_reduce_window" => self.reduce_window(op, into),
            "stablehlo.dynamic_rng_bit_generator" => self.rng_bit_generator(op, into),
            "stablehlo.dynamic_top_k" => self.top_k(op, into),
            "stablehlo.dynamic_approx_top_k" => self.approximate_top_k(op, into),
            _ => self.other_custom_call(op, into),
        }
    }

    /// Replaces a shape wrapper by its operand. The wrapper keeps the type that was declared before the
    /// argument got a shape.
    fn wrapper(&mut self, op: &Operation) -> Result<()> {
        let operands = self.operands(op)?;
        if let (Some(&value), [result]) = (operands.first(), &op.results[..]) {
            self.replace(*result, value);
        }
        Ok(())
    }

    /// Copies a custom call and the functions that it calls. Operands that list the sizes of its results are
    /// dropped.
    fn other_custom_call(&mut self, op: &'t Operation, into: &mut Vec<Operation>) -> Result<()> {
        let mut call = self.copied(op)?;
        if let Some(list) = op.attribute("called_computations").and_then(Attribute::as_array) {
            let names = list.iter().map(|symbol| {
                let name = symbol.as_str().unwrap_or_default();
                Ok(Attribute::Symbol(self.applied_function(op, name)?))
            });
            let names = names.collect::<Result<_>>()?;
            call.attributes.set("called_computations", Attribute::Array(names));
        }
        self.drop_shape_operands(&mut call)?;
        self.add(call, into)
    }

    /// Sets the sizes of a call's results to those that its operands list, and drops these operands and their
    /// layouts.
    fn drop_shape_operands(&mut self, call: &mut Operation) -> Result<()> {
        let Some(listed) = call.attributes.remove(SHAPE_OPERANDS).and_then(|a| a.ints()) else {
            return Ok(());
        };
        if listed.len() != call.results.len() {
            let (expected, found) = (call.results.len(), listed.len());
            return fail(
                call,
                format!("`{SHAPE_OPERANDS}` lists {found} operands, but it has {expected} results"),
            );
        }
        for (index, &operand) in listed.iter().enumerate() {
            let operand = usize::try_from(operand).unwrap_or(usize::MAX);
            let dims = self.known_operand(call, operand)?;
            let shape = ArrayShape::new(ElementType::Pred, dims.iter().copied());
            let ty = with_shape(self.type_of(call.results[index]), &shape.into());
            let ty = ty.map_err(|why| vec![call.diag(format!("result {index}: {why}"))])?;
            self.set_type(call, index, ty)?;
        }
        let is_kept = |index: usize| !listed.contains(&(index as i64));
        if let Some(layouts) = call.attribute("operand_layouts").and_then(Attribute::as_array) {
            let kept = layouts.iter().enumerate().filter(|&(index, _)| is_kept(index));
            let kept = kept.map(|(_, layout)| layout.clone()).collect();
            call.attributes.set("operand_layouts", Attribute::Array(kept));
        }
        let operands = call.operands.iter().enumerate().filter(|&(index, _)| is_kept(index));
        call.operands = operands.map(|(_, &operand)| operand).collect();
        Ok(())
    }

    /// Returns the integers of an operand, which must be known.
    fn known_operand(&self, op: &Operation, index: usize) -> Result<Integers> {
        let known = op.operands.get(index).and_then(|operand| self.known.get(operand));
        match known {
            Some(integers) => Ok(integers.clone()),
            None => fail(op, format!("operand {index} does not follow from the shapes of the arguments")),
        }
    }

    /// Copies a call as another operation with the first `count` operands, and returns the integers of the
    /// others.
    fn as_operation(
        &mut self,
        op: &'t Operation,
        name: &str,
        count: usize,
    ) -> Result<(Operation, Vec<Integers>)> {
        let mut operation = self.copied(op)?;
        let sizes = (count..operation.operands.len()).map(|index| self.known_operand(&operation, index));
        let sizes = sizes.collect::<Result<Vec<_>>>()?;
        operation.operands.truncate(count);
        operation.name = name.into();
        let attributes = op.attributes.iter().filter(|(name, _)| !is_of_custom_call(name));
        operation.attributes =
            attributes.map(|(name, value)| (name.clone(), value.clone())).collect::<Attributes>();
        Ok((operation, sizes))
    }

    /// Refines `stablehlo.dynamic_reduce_window`. Its last five operands are the window sizes, the strides,
    /// the dilations of the operand and of the window, and the padding. The called function becomes the body.
    fn reduce_window(&mut self, op: &'t Operation, into: &mut Vec<Operation>) -> Result<()> {
        const NAMES: [&str; 4] =
            ["window_dimensions", "window_strides", "base_dilations", "window_dilations"];
        let list = op.attribute("called_computations").and_then(Attribute::as_array);
        let Some([Attribute::Symbol(name)]) = list else {
            return fail(op, "it names one function that reduces (`called_computations`)");
        };
        let Some(count) = op.operands.len().checked_sub(NAMES.len() + 1) else {
            return fail(op, format!("it has at least {} operands", NAMES.len() + 1));
        };
        let (mut window, sizes) = self.as_operation(op, "stablehlo.reduce_window", count)?;
        for (name, list) in NAMES.into_iter().zip(&sizes) {
            window.attributes.set(name, Attribute::i64s(&list[..]));
        }
        if let Some(padding) = sizes.last() {
            let ty = Type::tensor([padding.len() as i64 / 2, 2], Type::integer(64));
            let padding = super::fold::elements(&ty, padding).map(|e| Attribute::Elements(Arc::new(e)));
            let padding = padding.ok_or_else(|| vec![op.diag("its padding is no list of pairs")])?;
            window.attributes.set("padding", padding);
        }
        let (_, function) = self.functions.find(op, name)?;
        let body = match &function.regions[..] {
            [region] => only_block(function, region).map_err(Failure::into_diags)?,
            _ => return fail(op, format!("the function `{name}` has no body")),
        };
        let arguments: Vec<ValueId> =
            body.arguments.iter().map(|&old| self.add_value(old, self.tree.type_of(old).clone())).collect();
        let mut body = self.deeper(op, |this| this.block(body, arguments))?;
        if let Some(last) = body.operations.last_mut() {
            last.name = "stablehlo.return".into();
        }
        window.regions = vec![Region { blocks: vec![body] }];
        self.add(window, into)
    }

    /// Refines `stablehlo.dynamic_rng_bit_generator`. Its second operand is the sizes of the numbers.
    fn rng_bit_generator(&mut self, op: &'t Operation, into: &mut Vec<Operation>) -> Result<()> {
        let (generator, sizes) = self.as_operation(op, "stablehlo.rng_bit_generator", 1)?;
        let ([sizes], [_, numbers]) = (&sizes[..], &generator.results[..]) else {
            return fail(op, "it has two operands and two results");
        };
        let shape = ArrayShape::new(ElementType::Pred, sizes.iter().copied());
        let ty = with_shape(self.type_of(*numbers), &shape.into());
        let ty = ty.map_err(|why| vec![op.diag(format!("result 1: {why}"))])?;
        self.set_type(&generator, 1, ty)?;
        self.add(generator, into)
    }

    /// Refines `stablehlo.dynamic_top_k`. Its second operand is the number of elements.
    fn top_k(&mut self, op: &'t Operation, into: &mut Vec<Operation>) -> Result<()> {
        let (mut top, k) = self.as_operation(op, "chlo.top_k", 1)?;
        let [k] = &k[..] else { return fail(op, "it has two operands") };
        top.attributes.set("k", Attribute::i64(k.first().copied().unwrap_or(0)));
        self.add(top, into)
    }

    /// Refines `stablehlo.dynamic_approx_top_k`. The operand after those of `ApproxTopK` is the number of
    /// elements.
    fn approximate_top_k(&mut self, op: &'t Operation, into: &mut Vec<Operation>) -> Result<()> {
        let mut call = self.copied(op)?;
        let listed = op.attribute(SHAPE_OPERANDS).and_then(Attribute::ints).unwrap_or_default();
        // `ApproxTopK` has an initial value for each operand.
        let index = 2 * op.results.len();
        let k = self.known_operand(&call, index)?;
        call.operands.remove(index);
        let listed: Vec<i64> = listed.iter().map(|&operand| operand - 1).collect();
        call.attributes.set(SHAPE_OPERANDS, Attribute::i64s(listed));
        call.attributes.set("call_target_name", Attribute::string("ApproxTopK"));
        for name in ["mhlo.backend_config", "backend_config"] {
            if let Some(Attribute::Dictionary(config)) = call.attribute(name) {
                let mut config = (**config).clone();
                config.set("top_k", Attribute::i64(k.first().copied().unwrap_or(0)));
                call.attributes.set(name, Attribute::Dictionary(Arc::new(config)));
            }
        }
        if let Some(list) = op.attribute("called_computations").and_then(Attribute::as_array) {
            for symbol in list {
                self.applied_function(op, symbol.as_str().unwrap_or_default())?;
            }
        }
        self.drop_shape_operands(&mut call)?;
        self.add(call, into)
    }
}

/// Checks whether an attribute belongs to the custom call itself, not to the operation that replaces it.
fn is_of_custom_call(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "api_version",
        "backend_config",
        "call_target_name",
        "called_computations",
        "has_side_effect",
        "mhlo.backend_config",
        "operand_layouts",
        "output_operand_aliases",
        "result_layouts",
        SHAPE_OPERANDS,
    ];
    NAMES.contains(&name)
}
