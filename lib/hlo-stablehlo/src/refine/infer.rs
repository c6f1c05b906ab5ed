//! Inference of result types from operand types.
//!
//! Most types follow from the rules of HLO: the single operation is translated to HLO, with its operands as
//! parameters, or as constants if they are known. This module contains the rules of operations that HLO
//! lacks, or whose result sizes are listed by an operand.

use super::failure::Result;
use super::refiner::Refiner;
use super::types::{static_dims, with_shape};
use crate::Tree;
use crate::import::translate;
use crate::tree::{Attribute, Attributes, Block, Operation, Region, ValueId};
use hlo_ir::{ArrayShape, ElementType, Shape};
use std::collections::{HashMap, HashSet};

impl Refiner<'_> {
    /// Infers the types of the results of a new operation from its operands.
    ///
    /// # Errors
    /// The operands violate a rule of the operation, or they do not determine the sizes.
    pub fn infer(&mut self, op: &Operation) -> Result<()> {
        let shapes = match self.listed_sizes(op) {
            Some(sizes) => sizes.iter().map(|dims| Shape::Array(of_dims(dims))).collect(),
            None => self.shapes_by_translation(op)?,
        };
        for (index, &result) in op.results.iter().enumerate() {
            let declared = self.type_of(result);
            let ty = match shapes.get(index) {
                Some(shape) => with_shape(declared, shape)
                    .map_err(|why| vec![op.diag(format!("result {index}: {why}"))])?,
                None => declared.clone(),
            };
            self.set_type(op, index, ty)?;
        }
        Ok(())
    }

    /// Returns the sizes of each result, for operations that HLO has no rule for.
    fn listed_sizes(&self, op: &Operation) -> Option<Vec<Vec<i64>>> {
        let dims = |operand: usize| Some(static_dims(self.type_of(*op.operands.get(operand)?))?.to_vec());
        let listed = |operand: usize| Some(self.known.get(op.operands.get(operand)?)?.to_vec());
        match &*op.name {
            "stablehlo.dynamic_broadcast_in_dim" | "stablehlo.dynamic_reshape" => Some(vec![listed(1)?]),
            "stablehlo.dynamic_iota" => Some(vec![listed(0)?]),
            "stablehlo.rng" => Some(vec![listed(2)?]),
            "stablehlo.real_dynamic_slice" => Some(vec![self.slice_sizes(op)?]),
            "stablehlo.scatter" => (0..op.results.len()).map(dims).collect(),
            "chlo.constant_like" => Some(vec![dims(0)?]),
            name if name.starts_with("chlo.broadcast_") => {
                let operands: Option<Vec<_>> = (0..op.operands.len()).map(dims).collect();
                Some(vec![broadcast_sizes(&operands?, op.attribute("broadcast_dimensions"))?])
            }
            // Operations on the sharding of values.
            name if name.starts_with("sdy.") && op.regions.is_empty() => {
                (0..op.results.len()).map(dims).collect()
            }
            _ => None,
        }
    }

    /// Returns the sizes of a slice with unknown start. They are known if the limits are computed as the
    /// start plus these sizes.
    fn slice_sizes(&self, op: &Operation) -> Option<Vec<i64>> {
        let [_, start, limit, strides] = op.operands[..] else { return None };
        let has_unit_strides = self.known.get(&strides)?.iter().all(|&stride| stride == 1);
        let [a, b] = self.sums.get(&limit).filter(|_| has_unit_strides)?;
        let size = match start {
            _ if start == *a => b,
            _ if start == *b => a,
            _ => return None,
        };
        Some(self.known.get(size)?.to_vec())
    }

    /// Returns the shapes of the results, by translating only this operation.
    fn shapes_by_translation(&self, op: &Operation) -> Result<Vec<Shape>> {
        let mut alone = SingleOperation { from: &self.new, tree: Tree::new(), values: HashMap::new() };
        let mut operations = Vec::new();
        let mut arguments = Vec::new();
        for outside in values_from_outside(op) {
            let value = alone.value(outside);
            match self.constants.get(&outside) {
                Some(elements) => {
                    let mut constant = Operation::new("stablehlo.constant");
                    constant.results.push(value);
                    constant.attributes.set("value", elements.clone());
                    operations.push(constant);
                }
                None => arguments.push(value),
            }
        }
        let copy = alone.copy(op);
        let mut last = Operation::new("func.return");
        last.operands.clone_from(&copy.results);
        operations.extend([copy, last]);
        let mut function = Operation::new("func.func");
        function.attributes.set("sym_name", Attribute::string("main"));
        function.regions.push(Region { blocks: vec![Block { arguments, operations }] });
        alone.tree.operations_mut().push(function);
        let module = translate(&alone.tree, None)?;
        let shape = module[module[module.entry()].root()].shape.clone();
        Ok(match (shape, op.results.len()) {
            (one, 1) => vec![one],
            (Shape::Tuple(elements), _) => elements.to_vec(),
            (_, _) => Vec::new(),
        })
    }
}

/// Returns the values that an operation uses but does not define.
fn values_from_outside(op: &Operation) -> Vec<ValueId> {
    let mut inside: HashSet<ValueId> = HashSet::new();
    let mut outside = Vec::new();
    let mut pending = vec![op];
    while let Some(op) = pending.pop() {
        for block in op.regions.iter().flat_map(|r| &r.blocks) {
            inside.extend(&block.arguments);
            inside.extend(block.operations.iter().flat_map(|op| &op.results));
            pending.extend(&block.operations);
        }
        outside.extend(&op.operands);
    }
    let mut seen = HashSet::new();
    outside.retain(|value| !inside.contains(value) && seen.insert(*value));
    outside
}

/// A tree that contains a single operation of another tree.
struct SingleOperation<'a> {
    from: &'a Tree,
    tree: Tree,
    values: HashMap<ValueId, ValueId>,
}

impl SingleOperation<'_> {
    fn value(&mut self, of: ValueId) -> ValueId {
        let (from, tree) = (self.from, &mut self.tree);
        *self.values.entry(of).or_insert_with(|| tree.add_value(from.type_of(of).clone()))
    }

    fn values(&mut self, of: &[ValueId]) -> Vec<ValueId> {
        of.iter().map(|&value| self.value(value)).collect()
    }

    /// Copies an operation without attributes that refer to the whole program, such as shardings on a mesh.
    fn copy(&mut self, op: &Operation) -> Operation {
        let attributes = op.attributes.iter().filter(|(name, _)| is_of_operation(name));
        let attributes: Attributes = attributes.map(|(name, value)| (name.clone(), value.clone())).collect();
        let block = |alone: &mut Self, block: &Block| Block {
            arguments: alone.values(&block.arguments),
            operations: block.operations.iter().map(|op| alone.copy(op)).collect(),
        };
        let regions = op
            .regions
            .iter()
            .map(|region| Region { blocks: region.blocks.iter().map(|b| block(self, b)).collect() });
        let regions = regions.collect();
        Operation {
            name: op.name.clone(),
            operands: self.values(&op.operands),
            results: self.values(&op.results),
            attributes,
            regions,
            location: op.location.clone(),
            span: op.span,
        }
    }
}

/// Checks whether an attribute affects what an operation computes.
fn is_of_operation(name: &str) -> bool {
    let is_discardable = name.starts_with("sdy.") || name.starts_with("mhlo.");
    !is_discardable || matches!(name, "mhlo.attributes" | "mhlo.backend_config")
}

/// Returns an array of the given sizes. Its element type has no meaning.
fn of_dims(dims: &[i64]) -> ArrayShape {
    ArrayShape::new(ElementType::Pred, dims.iter().copied())
}

/// Returns the sizes of operands that are broadcast to each other. Their last dimensions correspond unless
/// the dimensions of the smaller operand are listed. Dimensions of size 1 are stretched.
fn broadcast_sizes(operands: &[Vec<i64>], listed: Option<&Attribute>) -> Option<Vec<i64>> {
    let rank = operands.iter().map(Vec::len).max()?;
    let listed = listed.and_then(Attribute::ints);
    let mut sizes = vec![1; rank];
    for dims in operands {
        let from = rank - dims.len();
        let listed = listed.as_ref().filter(|listed| from > 0 && listed.len() == dims.len());
        for (d, &size) in dims.iter().enumerate() {
            let at = match listed {
                Some(listed) => usize::try_from(listed[d]).ok()?,
                None => from + d,
            };
            let slot = sizes.get_mut(at)?;
            match (*slot, size) {
                (1, size) => *slot = size,
                (_, 1) => {}
                (a, b) if a == b => {}
                _ => return None,
            }
        }
    }
    Some(sizes)
}
