//! Custom calls that specify shardings, that convert between arrays of the whole program and of a device, and
//! that run on one device or on each device.

use super::partitioner::Partitioner;
use super::value::{Part, Value};
use crate::partitioning::sharding_propagation::forwards_device_array;
use crate::partitioning::sharding_rule::batch;
use crate::partitioning::tilings::invalid_sharding;
use hlo_ir::attr::{ComparisonDirection, ConditionalAttrs, ShardingKind, TileAssignment};
use hlo_ir::build::Build;
use hlo_ir::diag::Diag;
use hlo_ir::{ComputationId, ElementType, InstrId, Literal, Op, Shape};

/// The target of JAX's calls to a Python function that each device calls with its own part.
const PARTITIONED_CALLBACK: &str = "xla_ffi_partitioned_python_cpu_callback";

impl Partitioner<'_> {
    /// Partitions such a call. Returns `None` for all others.
    pub(super) fn custom_call(&mut self, id: InstrId, target: &str) -> Result<Option<Value>, Diag> {
        if target == PARTITIONED_CALLBACK {
            return Ok(self.call_on_each_part(id));
        }
        if let Some(device) = self.only_device(id) {
            return Ok(self.on_one_device(id, device));
        }
        let Some(value) = self.operand(0) else { return Ok(None) };
        Ok(match (target, &value) {
            (_, _) if forwards_device_array(self.module, id) => Some(self.forward_value(id, &value)),
            ("SPMDFullToShardShape" | "SPMDShardToFullShape", Value::Array(part)) => {
                Some(Value::Array(self.reinterpret_part(id, part, target == "SPMDFullToShardShape")?))
            }
            _ => batch(self.module, id).and_then(|batch| self.call_on_batch_parts(id, &batch)),
        })
    }

    /// Returns the device that computes the result of a call with side effects, if the sharding names one.
    fn only_device(&self, id: InstrId) -> Option<i64> {
        let Op::CustomCall(a) = &self.module[id].op else { return None };
        let leaves = self.module[id].sharding()?.leaves();
        let device = match leaves.first()?.kind {
            ShardingKind::Maximal(device) => device,
            _ => return None,
        };
        let is_one = leaves.iter().all(|leaf| leaf.kind == ShardingKind::Maximal(device));
        let is_known = usize::try_from(device).is_ok_and(|d| d < self.devices);
        (a.custom_call_has_side_effect && is_one && is_known).then_some(device)
    }

    /// Partitions a call that runs on one device, with all of the operands, and sends the result to the
    /// others. Returns `None` if sizes are dynamic.
    fn on_one_device(&mut self, id: InstrId, device: i64) -> Option<Value> {
        let shape = self.module[id].shape.clone();
        let is_known = |leaf: &&Shape| match leaf {
            Shape::Array(array) => array.is_static(),
            other => matches!(other, Shape::Token),
        };
        let are_known = |s: &Shape| s.leaves().iter().all(is_known);
        let given = self.module[id].operands.clone();
        if !are_known(&shape) || !given.iter().all(|&o| are_known(&self.module[o].shape)) {
            return None;
        }
        let mut operands = Vec::with_capacity(given.len());
        for (n, &o) in given.iter().enumerate() {
            let whole = self.replicated(&self.module[o].shape);
            let value = self.operand(n)?;
            let value = self.resharded_value(&value, &whole);
            operands.push(self.materialized(&value));
        }
        let argument = self.tuple(&operands);
        let argument_shape = self.shape_of(argument);
        let calling = self.branch(&argument_shape, |p, argument| {
            let elements: Vec<InstrId> = (0..given.len()).filter_map(|n| p.element(argument, n)).collect();
            let made = p.add(shape.clone(), p.module[id].op.clone(), &elements);
            p.keep_notes(id, made);
            made
        });
        let idle = self.branch(&argument_shape, |p, _| p.zeros(&shape));
        let number = Literal::r0(u32::try_from(device).unwrap_or(0));
        let number = self.add(number.shape().clone(), Op::constant(number), &[]);
        let partition = self.partition_id();
        let flag = Shape::scalar(ElementType::Pred);
        let is_it = self.add(flag, Op::compare(ComparisonDirection::Eq), &[partition, number]);
        let attrs = ConditionalAttrs {
            true_computation: Some(calling),
            false_computation: Some(idle),
            branch_computations: Vec::new(),
        };
        let made = self.add(shape.clone(), Op::Conditional(attrs), &[is_it, argument, argument]);
        let others = (0..self.devices as i64).filter(|&d| d != device);
        let group = [std::iter::once(device).chain(others).collect()];
        let tilings = self.replicated(&shape);
        let value = self.unpacked(made, &shape, &mut tilings.iter());
        Some(self.sent(value, &group))
    }

    /// Broadcasts a value from the first device of each group.
    fn sent(&mut self, value: Value, groups: &[Vec<i64>]) -> Value {
        match value {
            Value::Array(part) => Value::Array(Part { id: self.broadcast_among(part.id, groups), ..part }),
            Value::Tuple(parts) => Value::Tuple(parts.into_iter().map(|p| self.sent(p, groups)).collect()),
            token => token,
        }
    }

    /// Adds a computation with one parameter.
    fn branch(
        &mut self,
        argument: &Shape,
        fill: impl FnOnce(&mut Self, InstrId) -> InstrId,
    ) -> ComputationId {
        let name = self.namer.fresh("one_device");
        let to = self.module.add_computation(&name);
        self.module[to].execution_thread = self.module[self.scope.to].execution_thread.clone();
        let outer = std::mem::replace(&mut self.scope.to, to);
        let parameter = self.add(argument.clone(), Op::parameter(0), &[]);
        let root = fill(self, parameter);
        self.module.set_root(to, root);
        self.scope.to = outer;
        to
    }

    /// Emits zeros for arrays, and tokens without predecessors.
    fn zeros(&mut self, shape: &Shape) -> InstrId {
        match shape {
            Shape::Tuple(parts) => {
                let parts: Vec<InstrId> = parts.iter().map(|p| self.zeros(p)).collect();
                self.tuple(&parts)
            }
            Shape::Array(array) => {
                let zero = Literal::try_zeros(&Shape::scalar(array.element_type));
                let zero = zero.unwrap_or_else(|| Literal::r0(0i32));
                let zero = self.add(zero.shape().clone(), Op::constant(zero), &[]);
                self.add(array.clone(), Op::broadcast([]), &[zero])
            }
            other => self.add(other.clone(), Op::AfterAll, &[]),
        }
    }

    /// Partitions a call without results that each device makes on its parts of the operands.
    fn call_on_each_part(&mut self, id: InstrId) -> Option<Value> {
        let shape = self.module[id].shape.clone();
        if shape.leaf_count() > 0 {
            return None;
        }
        let mut operands = Vec::new();
        for n in 0..self.module[id].operands.len() {
            let value = self.operand(n)?;
            operands.push(self.materialized(&value));
        }
        self.emit_call_on_parts(id, shape, &operands);
        Some(Value::Tuple(Vec::new()))
    }

    /// Partitions a call that does the same for each entry of a batch. Each device calls it on a part of the
    /// batch, split as the largest split operand or result. Returns `None` if none is split, or if the call
    /// has computations, which expect arrays of the whole size.
    fn call_on_batch_parts(&mut self, id: InstrId, batch: &[i64]) -> Option<Value> {
        if !self.module[id].op.called_computations().is_empty() {
            return None;
        }
        let wanted = self.required_shardings(id);
        let leaves = self.module[id].shape.leaves().into_iter().map(Shape::byte_size);
        let results = leaves.zip(wanted.iter().cloned());
        let parts =
            (0..self.module[id].operands.len()).map(|n| self.part(n)).collect::<Option<Vec<Part>>>()?;
        let operands = parts.iter().map(|p| (p.shape.byte_size(), p.tiling.clone()));
        let on_batch = |tiling: &TileAssignment, rank: usize| -> TileAssignment {
            tiling.select(&(0..rank).map(|d| (d < batch.len()).then_some(d)).collect::<Vec<_>>())
        };
        let all = operands.chain(results).map(|(bytes, tiling)| (bytes, on_batch(&tiling, batch.len())));
        let (_, cut) = all.filter(|(_, cut)| !cut.is_whole()).max_by_key(|(bytes, _)| *bytes)?;
        let operands: Vec<InstrId> =
            parts.iter().map(|part| self.reshard(part, &on_batch(&cut, part.shape.rank())).id).collect();
        let tilings: Vec<TileAssignment> = wanted.iter().map(|to| on_batch(&cut, to.rank())).collect();
        let shape = self.module[id].shape.clone();
        let local = self.local_shape(&shape, &tilings);
        let made = self.emit_call_on_parts(id, local, &operands);
        let value = self.unpacked(made, &shape, &mut tilings.iter());
        Some(self.resharded_value(&value, &wanted))
    }

    /// Emits a call on parts of its operands, in the layouts of the whole operands.
    fn emit_call_on_parts(&mut self, id: InstrId, shape: Shape, operands: &[InstrId]) -> InstrId {
        let mut op = self.module[id].op.clone();
        if let Op::CustomCall(a) = &mut op
            && let Some(shapes) = &mut a.operand_layout_constraints.0
        {
            for (shape, &o) in shapes.iter_mut().zip(operands) {
                if let (Shape::Array(wanted), Shape::Array(local)) = (&mut *shape, self.shape_of(o)) {
                    *wanted = wanted.with_sizes(&local.dims);
                }
            }
        }
        let made = self.add(shape, op, operands);
        self.keep_notes(id, made);
        made
    }

    /// Passes a value on, in the annotated sharding if there is one.
    fn forward_value(&mut self, id: InstrId, value: &Value) -> Value {
        if self.module[id].sharding().is_some() {
            let wanted = self.required_shardings(id);
            self.resharded_value(value, &wanted)
        } else {
            value.clone()
        }
    }

    /// Reinterprets each device's part as a part of another array: one of the device itself, or one of the
    /// whole program.
    fn reinterpret_part(&self, id: InstrId, part: &Part, own: bool) -> Result<Part, Diag> {
        let Some(shape) = self.module[id].shape.as_array().cloned() else { return Ok(part.clone()) };
        let tiling = match self.required_shardings(id).into_iter().next() {
            Some(tiling) if !own || !tiling.is_replicated() => tiling,
            _ => TileAssignment::manual(shape.rank(), self.devices),
        };
        let (have, want) = (part.local_dims(), tiling.shard(&shape.dims));
        if have != want {
            let why = format!("each device has {have:?} elements, and {want:?} are taken");
            return Err(invalid_sharding(self.module, id, &why));
        }
        Ok(Part { id: part.id, shape, tiling })
    }
}
