//! Translation of operations by family. Each file translates the operations whose HLO counterparts are in the
//! file of the same name in `hlo_ir::ops`.

mod check;
pub mod chlo;
mod collective;
mod composite;
mod control;
mod custom_call;
mod data_movement;
mod dynamic;
mod effects;
mod elementwise;
mod indexing;
mod legacy;
mod linear_algebra;
mod normalization;
mod quantized;
mod random;
mod reduction;
mod shardy;
mod special;
mod structural;

use super::attributes::from_text;
use super::entry::frontend_of;
use super::failure::Result;
use super::importer::{Importer, Site};
use super::shardings;
use super::types::Quantized;
use crate::dialect::plain_opcode;
use crate::tree::{Attribute, Operation, Type, TypeKind};
use hlo_ir::attr::Sharding;

impl<'t> Importer<'t> {
    /// Translates an operation. Reports its failure, but not the failures of operations that depend on it.
    pub fn operation(&mut self, op: &'t Operation) {
        if self.full() {
            return;
        }
        if let Err(failure) = self.site_of(op).and_then(|site| {
            self.site = site;
            self.translate(op)
        }) {
            self.report(failure);
            self.mark_results_broken(op);
        }
    }

    /// Returns the properties of all instructions that an operation becomes.
    pub fn site_of(&mut self, op: &Operation) -> Result<Site> {
        let mut site = Site::new(self.site.computation);
        site.metadata = self.frames.metadata(&op.location);
        site.span = op.span;
        if op.attributes.is_empty() {
            return Ok(site);
        }
        site.sharding = self.op_sharding(op)?;
        if let Some(notes) = op.attribute("mhlo.frontend_attributes") {
            site.frontend = frontend_of(notes);
            if let Some(payload) = site.frontend.get("xla_metadata_payload") {
                site.metadata.rare.get_or_insert_default().metadata_payload = payload.clone();
            }
        }
        if let Some(Attribute::Other(rule)) = op.attribute("sdy.sharding_rule") {
            let name = "xla.sdy.sharding_rule";
            site.frontend.set(name, format!("#{rule}").as_str().into());
        }
        if let Some(text) = op.attribute("mhlo.original_value").and_then(Attribute::as_str) {
            let wrong = |why| op.failure(format!("the attribute `mhlo.original_value`: {why}"));
            site.origin = Some(Box::new(from_text(text).map_err(wrong)?));
        }
        Ok(site)
    }

    /// Returns the sharding of the results of an operation.
    fn op_sharding(&self, op: &Operation) -> Result<Option<Sharding>> {
        if let Some(text) = op.attribute("mhlo.sharding") {
            return shardings::of_attribute(text).map_err(|why| op.failure(why));
        }
        let Some(attribute) = op.attribute("sdy.sharding") else { return Ok(None) };
        let wrong = |why: String| op.failure(format!("the attribute `sdy.sharding`: {why}"));
        let Some(list) = attribute.fields("sdy.sharding_per_value") else {
            return self.shardy(attribute).map(Some).map_err(wrong);
        };
        let list = list.get("shardings").and_then(Attribute::as_array).unwrap_or_default();
        let list: Vec<_> = list.iter().map(|s| self.shardy(s).map_err(wrong)).collect::<Result<_>>()?;
        Ok(match <[Sharding; 1]>::try_from(list) {
            Ok([one]) => Some(one),
            Err(list) if list.is_empty() => None,
            Err(list) => Some(shardings::tuple_of(&list.into_iter().map(Some).collect::<Vec<_>>())),
        })
    }

    fn translate(&mut self, op: &'t Operation) -> Result<()> {
        if self.is_quantized(op) { self.quantized_op(op) } else { self.by_dialect(op) }
    }

    /// Translates an operation by its dialect, in the current representation of quantized values.
    fn by_dialect(&mut self, op: &'t Operation) -> Result<()> {
        let Some((dialect, name)) = op.name.as_str().split_once('.') else {
            return op.fail("it is not known");
        };
        match dialect {
            "stablehlo" => self.stablehlo(op, name),
            "check" => self.check(op, name),
            "chlo" => self.chlo(op, name, &op.attributes),
            "sdy" => self.sdy(op, name),
            "func" if name == "call" => self.call(op),
            "arith" if name == "constant" => self.record_constant(op),
            "builtin" if name == "unrealized_conversion_cast" => self.cast(op),
            _ => op.fail("it has no translation to HLO"),
        }
    }

    fn stablehlo(&mut self, op: &'t Operation, name: &str) -> Result<()> {
        if let Some(opcode) = plain_opcode(&op.name) {
            return self.elementwise(op, opcode.default_op());
        }
        match name {
            "constant" => self.record_constant(op),
            "tuple" => self.tuple_op(op),
            "get_tuple_element" => self.get_tuple_element(op),

            "clamp" => self.clamp(op),
            "compare" => self.compare(op),
            "reduce_precision" => self.reduce_precision(op),
            "select" => self.elementwise(op, hlo_ir::Op::Select),

            "bitcast_convert" => self.same_operands(op, hlo_ir::Op::BitcastConvert),
            "broadcast" => self.broadcast_op(op),
            "broadcast_in_dim" => self.broadcast_in_dim(op),
            "concatenate" => self.concatenate(op),
            "copy" => self.same_operands(op, hlo_ir::Op::Copy),
            "iota" => self.iota_op(op),
            "pad" => self.pad(op),
            "reshape" => self.reshape(op),
            "reverse" => self.reverse(op),
            "slice" => self.slice(op),
            "transpose" => self.transpose(op),

            "dynamic_slice" => self.dynamic_slice(op),
            "dynamic_update_slice" => self.same_operands(op, hlo_ir::Op::DynamicUpdateSlice),
            "gather" => self.gather(op),
            "get_dimension_size" => self.get_dimension_size(op),
            "scatter" => self.scatter(op),
            "set_dimension_size" => self.set_dimension_size(op),

            "dynamic_broadcast_in_dim" => self.dynamic_broadcast_in_dim(op),
            "dynamic_conv" => self.dynamic_conv(op),
            "dynamic_gather" => self.dynamic_gather(op),
            "dynamic_iota" => self.dynamic_iota(op),
            "dynamic_pad" => self.dynamic_pad(op),
            "dynamic_reshape" => self.dynamic_reshape(op),
            "real_dynamic_slice" => self.real_dynamic_slice(op),

            "map" => self.map(op),
            "reduce" => self.reduce(op),
            "reduce_window" => self.reduce_window(op),
            "select_and_scatter" => self.select_and_scatter(op),
            "sort" => self.sort(op),

            "cholesky" => self.cholesky(op),
            "convolution" => self.convolution(op),
            "dot" => self.dot(op),
            "dot_general" => self.dot_general(op),
            "fft" => self.fft(op),
            "triangular_solve" => self.triangular_solve(op),

            "batch_norm_grad" | "batch_norm_inference" | "batch_norm_training" => self.batch_norm(op, name),

            "rng" => self.rng(op),
            "rng_bit_generator" => self.rng_bit_generator(op),

            "case" => self.case(op),
            "composite" => self.composite(op),
            "if" => self.if_op(op),
            "optimization_barrier" => self.optimization_barrier(op),
            "while" => self.while_op(op),

            "after_all" => self.same_operands(op, hlo_ir::Op::AfterAll),
            "create_token" => self.same_operands(op, hlo_ir::Op::AfterAll),
            "custom_call" => self.custom_call(op),
            "infeed" => self.infeed(op),
            "outfeed" => self.outfeed(op),
            "partition_id" => self.same_operands(op, hlo_ir::Op::PartitionId),
            "recv" => self.recv(op),
            "replica_id" => self.same_operands(op, hlo_ir::Op::ReplicaId),
            "send" => self.send(op),

            "all_gather" => self.all_gather(op),
            "all_reduce" => self.all_reduce(op),
            "all_to_all" => self.all_to_all(op),
            "async_done" => self.async_done(op),
            "async_start" => self.async_start(op),
            "collective_broadcast" => self.collective_broadcast(op),
            "collective_permute" => self.collective_permute(op),
            "cross-replica-sum" => self.cross_replica_sum(op),
            "reduce_scatter" => self.reduce_scatter(op),

            "einsum" => self.einsum(op),
            "torch_index_select" => self.torch_index_select(op),
            "trace" => Ok(()),
            "unary_einsum" => self.unary_einsum(op),
            _ => op.fail("it is not known, or has no translation to HLO"),
        }
    }

    /// Translates an operation without attributes to an HLO operation on the same operands.
    fn same_operands(&mut self, op: &Operation, hlo: hlo_ir::Op) -> Result<()> {
        let operands = self.operands(op)?;
        self.set_result_op(op, hlo, &operands)
    }

    /// Translates a cast between equivalent types of two dialects.
    fn cast(&mut self, op: &Operation) -> Result<()> {
        if op.operands.len() != op.results.len() {
            return op.fail("it casts between different numbers of values");
        }
        for (&operand, &result) in op.operands.iter().zip(&op.results) {
            let held = self.representation(operand);
            self.set_representation(result, held);
        }
        Ok(())
    }

    /// Checks whether an operand or result is quantized and represented by its stored integers.
    fn is_quantized(&self, op: &Operation) -> bool {
        if self.quantized == Quantized::Expressed {
            return false;
        }
        let is = |ty: &Type| ty.as_tensor().is_some_and(|t| matches!(*t.element, TypeKind::Quantized(_)));
        op.operands.iter().chain(&op.results).any(|&v| is(self.tree.type_of(v)))
    }
}
