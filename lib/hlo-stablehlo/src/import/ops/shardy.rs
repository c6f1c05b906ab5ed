//! Shardy's operations: constraints, and regions in which the program defines the value of each device.

use crate::import::failure::Result;
use crate::import::importer::{ImportedValue, Importer};
use crate::import::regions::block_of;
use crate::tree::{Attribute, Name, Operation};
use hlo_ir::attr::{ShardGroup, Sharding, ShardingKind, SingleSharding};
use hlo_ir::build::Build;
use hlo_ir::{InstrId, Op, Shape};
use std::sync::Arc;

impl<'t> Importer<'t> {
    pub(super) fn sdy(&mut self, op: &'t Operation, name: &str) -> Result<()> {
        match name {
            "mesh" => Ok(()),
            "sharding_group" => self.sharding_group(op),
            "constant" => self.record_constant(op),
            "sharding_constraint" | "reshard" => self.constraint(op, "sharding"),
            "all_gather" | "all_slice" | "all_to_all" | "collective_permute" => {
                self.constraint(op, "out_sharding")
            }
            "propagation_barrier" | "data_flow_edge" | "func_data_flow_edge" => {
                let operand = self.operand(op, 0)?;
                let result = op.result(0)?;
                self.set_representation(result, ImportedValue::Instruction(operand));
                Ok(())
            }
            "manual_computation" => self.manual_computation(op),
            "named_computation" => self.inlined(op),
            _ => op.fail("it has no translation to HLO"),
        }
    }

    /// Annotates a value with the sharding in an attribute. The custom call's configuration lists the open
    /// dimensions.
    fn constraint(&mut self, op: &Operation, name: &str) -> Result<()> {
        let operand = self.operand(op, 0)?;
        let attribute = op.required(name)?;
        let sharding =
            self.shardy(attribute).map_err(|why| op.failure(format!("the attribute `{name}`: {why}")))?;
        let id = self.annotation("Sharding", operand, self.shape_of(operand), sharding);
        let open = open_dimensions(attribute);
        if !open.is_empty() {
            let list = open.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
            self.module.common_mut(id).backend_config = format!("unspecified_dims=[{list}]").as_str().into();
        }
        let result = op.result(0)?;
        self.set_representation(result, ImportedValue::Instruction(id));
        Ok(())
    }

    /// Translates `sharding_group`, which adds a value to a group. All values of a group have the same
    /// sharding. If the value already belongs to a group or has several leaves, a custom call in this group
    /// replaces it.
    fn sharding_group(&mut self, op: &Operation) -> Result<()> {
        let group = Some(ShardGroup { id: op.int("group_id")?, same: true });
        let operand = self.operand(op, 0)?;
        let unknown = || SingleSharding { kind: ShardingKind::Unknown, group: None, metadata: Vec::new() };
        let said = match (self.module[operand].sharding(), &self.module[operand].shape) {
            (None, Shape::Array(_)) => Some(unknown()),
            (Some(Sharding::Single(one)), _) if one.group.is_none() => Some((**one).clone()),
            _ => None,
        };
        let single = |one: SingleSharding| Sharding::Single(Arc::new(SingleSharding { group, ..one }));
        match said {
            Some(one) => self.module.common_mut(operand).sharding = Some(single(one)),
            None => {
                let shape = self.shape_of(operand);
                let id = self.annotation("Sharding", operand, shape, single(unknown()));
                if let Some(&value) = op.operands.first() {
                    self.set_representation(value, ImportedValue::Instruction(id));
                }
            }
        }
        Ok(())
    }

    /// Adds a custom call that annotates the sharding of a value.
    fn annotation(&mut self, target: &str, operand: InstrId, shape: Shape, sharding: Sharding) -> InstrId {
        let id = self.add(shape, Op::custom_call(target), &[operand]);
        self.module.common_mut(id).sharding = Some(sharding);
        id
    }

    /// Translates `manual_computation`. Each operand is split as its sharding defines, the region computes on
    /// the parts, and its results become parts of whole arrays again.
    fn manual_computation(&mut self, op: &'t Operation) -> Result<()> {
        let block = block_of(op, 0)?;
        let axes = op.required("manual_axes")?.fields("sdy.manual_axes").and_then(|f| f.get("value"));
        let axes = axes.and_then(Attribute::as_array).unwrap_or_default();
        let axes: Option<Vec<Name>> = axes.iter().map(|a| a.as_str().map(Name::from)).collect();
        let axes = axes.ok_or_else(|| op.failure("the attribute `manual_axes` is no list of names"))?;
        if axes.is_empty() {
            return self.inlined(op);
        }
        let inputs = listed(op, "in_shardings", op.operands.len())?;
        let outputs = listed(op, "out_shardings", op.results.len())?;
        if block.arguments.len() != op.operands.len() {
            return op.fail("its region has not as many arguments as it has operands");
        }
        for ((index, &argument), sharding) in block.arguments.iter().enumerate().zip(inputs) {
            let whole = self.operand(op, index)?;
            let (cut, manual) = self.inside_and_outside(op, sharding, &axes)?;
            let shape = self.shape_of(whole);
            let cut = self.annotation("Sharding", whole, shape, cut);
            let local = self.type_shape(argument);
            let local = local.map_err(|why| op.failure(format!("the type of argument {index}: {why}")))?;
            let part = self.annotation("SPMDFullToShardShape", cut, local, manual);
            self.set_representation(argument, ImportedValue::Instruction(part));
        }
        let before = self.manual_axes.len();
        self.manual_axes.extend(axes.iter().cloned());
        let results = self.inlined_block(op);
        self.manual_axes.truncate(before);
        let results = results?;
        if results.len() != op.results.len() {
            return op.fail("its region does not give as many values as it has results");
        }
        for ((index, &part), sharding) in results.iter().enumerate().zip(outputs) {
            let (cut, manual) = self.inside_and_outside(op, sharding, &axes)?;
            let shape = self.shape_of(part);
            let part = self.annotation("Sharding", part, shape, manual);
            let whole = self.declared(op, index)?;
            let whole = self.annotation("SPMDShardToFullShape", part, whole, cut);
            self.set_representation(op.result(index)?, ImportedValue::Instruction(whole));
        }
        Ok(())
    }

    /// Returns a sharding outside of a manual region and inside it. The inner one does not contain the manual
    /// axes.
    fn inside_and_outside(
        &self,
        op: &Operation,
        sharding: &Attribute,
        axes: &[Name],
    ) -> Result<(Sharding, Sharding)> {
        let wrong = |why| op.failure(format!("a sharding of its operands or results: {why}"));
        let outside = self.shardy(sharding).map_err(wrong)?;
        let inside = self.shardy_within(sharding, axes).map_err(wrong)?;
        // A mesh of one device has no axis that could be manual.
        let is_replicated = |s: &Sharding| s.leaves().iter().all(|l| l.kind == ShardingKind::Replicated);
        let manual = Sharding::single(ShardingKind::Manual);
        Ok((outside, if is_replicated(&inside) { manual } else { inside }))
    }

    /// Translates a region in place of its operation.
    fn inlined(&mut self, op: &'t Operation) -> Result<()> {
        let block = block_of(op, 0)?;
        let operands = self.operands(op)?;
        if block.arguments.len() != operands.len() {
            return op.fail("its region has not as many arguments as it has operands");
        }
        for (&argument, id) in block.arguments.iter().zip(operands) {
            self.set_representation(argument, ImportedValue::Instruction(id));
        }
        let results = self.inlined_block(op)?;
        if results.len() != op.results.len() {
            return op.fail("its region does not give as many values as it has results");
        }
        for (&result, id) in op.results.iter().zip(results) {
            self.set_representation(result, ImportedValue::Instruction(id));
        }
        Ok(())
    }
}

/// Returns the dimensions that a sharding leaves open.
fn open_dimensions(attribute: &Attribute) -> Vec<usize> {
    let dimensions =
        attribute.fields("sdy.sharding").and_then(|f| f.get("dim_shardings")).and_then(Attribute::as_array);
    let is_open = |a: &Attribute| {
        let closed = a.fields("sdy.dimension_sharding").and_then(|f| f.get("is_closed"));
        closed.and_then(Attribute::as_bool) == Some(false)
    };
    let dimensions = dimensions.unwrap_or_default().iter().enumerate();
    dimensions.filter(|(_, a)| is_open(a)).map(|(d, _)| d).collect()
}

/// Returns the shardings of a `sdy.sharding_per_value`, which must have `count` entries.
fn listed<'a>(op: &'a Operation, name: &str, count: usize) -> Result<&'a [Attribute]> {
    let list = op.required(name)?.fields("sdy.sharding_per_value").and_then(|f| f.get("shardings"));
    let list = list.and_then(Attribute::as_array).unwrap_or_default();
    if list.len() == count {
        Ok(list)
    } else {
        op.fail(format!("`{name}` has {} shardings for {count} values", list.len()))
    }
}
