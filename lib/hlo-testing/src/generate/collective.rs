//! Collective operations. Modules run on four replicas with four partitions each: see `header`.

use super::builder::Generator;
use super::program::DEVICES;
use super::types::{Array, Type, braced, one_or_tuple};
use hlo_ir::{ElementType as E, Opcode};

/// The groups of devices that communicate.
struct Groups {
    /// The attributes that specify the groups.
    attributes: Vec<(&'static str, String)>,
    /// The number of devices in each group.
    size: i64,
}

impl Generator {
    /// Returns groups of one size, in one of the textual forms.
    fn groups(&mut self) -> Groups {
        let global = self.numbers.one_in(3);
        let mut groups = self.groups_of(global);
        // With a channel, the groups would consist of replicas with all their partitions. The number of
        // partitions is not known while the program is generated.
        if !global {
            groups.attributes.retain(|a| a.0 != "channel_id");
        }
        groups
    }

    /// Returns groups of replicas or partitions, or of both if `global`. Not every opcode has an attribute
    /// for the latter.
    fn groups_of(&mut self, global: bool) -> Groups {
        let mut attributes = Vec::new();
        if self.executable {
            let text = self.numbers.pick(&["{}", "{{0}}", "[1,1]<=[1]"]).to_string();
            return Groups { attributes: vec![("replica_groups", text)], size: 1 };
        }
        if global || self.numbers.one_in(2) {
            attributes.push(("channel_id", self.numbers.between(1, 1000).to_string()));
        }
        let devices = if global { DEVICES * DEVICES } else { DEVICES };
        let size = self.numbers.pick(&[1, 2, 4]);
        let count = devices / size;
        let (size, text) = match self.numbers.below(5) {
            0 if !global => (devices, "{}".to_string()),
            1 => (size, format!("[{count},{size}]<=[{devices}]")),
            2 => (size, format!("[{count},{size}]<=[{size},{count}]T(1,0)")),
            3 if size > 1 => (size, format!("mesh['a'={count},'b'={size}] {{'b'}}")),
            _ => {
                let order = self.numbers.permutation(devices as usize);
                let groups: Vec<String> = order.chunks(size as usize).map(braced).collect();
                (size, format!("{{{}}}", groups.join(",")))
            }
        };
        attributes.push(("replica_groups", text));
        if self.numbers.one_in(4) {
            attributes.push(("constrain_layout", "true".into()));
        }
        if global {
            attributes.push(("use_global_device_ids", "true".into()));
        }
        Groups { attributes, size }
    }

    fn collective_arrays(&mut self) -> (Vec<usize>, Type) {
        let n = self.numbers.pick(&[1, 1, 2]);
        let t = self.element(|t| !t.is_complex() && !t.is_pred());
        let values: Vec<usize> = (0..n).map(|_| self.array_of(|e| e == t, 0, 3)).collect();
        let ty = one_or_tuple(values.iter().map(|&v| self.ty(v)).collect());
        (values, ty)
    }

    /// Adds an instruction of the family, including the chain that it belongs to.
    pub(super) fn collective(&mut self, opcode: Opcode) -> usize {
        match opcode {
            Opcode::AllReduce | Opcode::AllReduceStart | Opcode::AllReduceDone => self.all_reduce(opcode),
            Opcode::AllGather | Opcode::AllGatherStart | Opcode::AllGatherDone => self.all_gather(opcode),
            Opcode::CollectivePermute | Opcode::CollectivePermuteStart | Opcode::CollectivePermuteDone => {
                self.permute(opcode)
            }
            Opcode::ReduceScatter => self.reduce_scatter(),
            Opcode::AllToAll => self.all_to_all(),
            Opcode::RaggedAllToAll => self.ragged_all_to_all(),
            // collective-broadcast
            _ => {
                let x = self.array_of(|_| true, 0, 3);
                let mut groups = self.groups_of(false);
                groups.attributes.retain(|a| matches!(a.0, "channel_id" | "replica_groups"));
                self.add(self.ty(x), Opcode::CollectiveBroadcast, &[x], &groups.attributes)
            }
        }
    }

    fn all_reduce(&mut self, opcode: Opcode) -> usize {
        let (values, ty) = self.collective_arrays();
        let groups = self.groups();
        let t = self.array_type(values[0]).element;
        let combine = self.scalar_function(&[t, t], &Type::scalar(t));
        let first = if opcode == Opcode::AllReduce { opcode } else { Opcode::AllReduceStart };
        let value = self.add(ty.clone(), first, &values, &groups.attributes);
        self.attribute(value, "to_apply", combine);
        self.mode(value, &groups);
        if opcode == Opcode::AllReduce { value } else { self.add(ty, Opcode::AllReduceDone, &[value], &[]) }
    }

    /// Sometimes adds an attribute that repeats the meaning of the others.
    fn mode(&mut self, value: usize, groups: &Groups) {
        let told = |name: &str| groups.attributes.iter().any(|a| a.0 == name);
        if self.numbers.one_in(4) {
            let mode = match (told("channel_id"), told("use_global_device_ids")) {
                (_, true) => "flattened_id",
                (true, false) => "cross_replica_and_partition",
                (false, false) => "cross_replica",
            };
            self.attribute(value, "mode", mode);
        }
    }

    fn all_gather(&mut self, opcode: Opcode) -> usize {
        let x = self.array_of(|_| true, 1, 3);
        let a = self.array_type(x);
        let groups = self.groups();
        let d = self.numbers.below(a.rank());
        let mut result = a.clone();
        result.dims[d] *= groups.size;
        let mut attributes = groups.attributes;
        attributes.push(("dimensions", braced(&[d as i64])));
        if opcode == Opcode::AllGather {
            return self.add(result, opcode, &[x], &attributes);
        }
        let pair = Type::Tuple(vec![a.into(), result.clone().into()]);
        let start = self.add(pair, Opcode::AllGatherStart, &[x], &attributes);
        self.add(result, Opcode::AllGatherDone, &[start], &[])
    }

    fn permute(&mut self, opcode: Opcode) -> usize {
        let x = self.array_of(|_| true, 0, 3);
        let ty = self.ty(x);
        let devices = if self.executable { self.numbers.below(2) } else { DEVICES as usize };
        let to = self.numbers.permutation(devices);
        let pairs: Vec<String> = (0..).zip(to).map(|(from, to)| braced(&[from, to])).collect();
        let mut attributes = vec![("source_target_pairs", format!("{{{}}}", pairs.join(",")))];
        if self.numbers.one_in(2) {
            attributes.insert(0, ("channel_id", self.numbers.between(1, 1000).to_string()));
        }
        let mut operands = vec![x];
        if self.array_type(x).rank() > 0 && self.numbers.one_in(3) {
            // A part of the operand, written to a position of another array.
            let a = self.array_type(x);
            operands.push(self.value(&ty));
            let index = Type::Tuple(vec![Type::scalar(E::S32); a.rank()]);
            operands.extend([self.value(&index), self.value(&index)]);
            let sizes: Vec<i64> = a.dims.iter().map(|&d| self.numbers.between(d.min(1), d)).collect();
            attributes.push(("slice_sizes", format!("{{{}}}", braced(&sizes))));
        }
        if opcode == Opcode::CollectivePermute {
            return self.add(ty, opcode, &operands, &attributes);
        }
        let context = Type::scalar(E::U32);
        let state = Type::Tuple(vec![ty.clone(), ty.clone(), context.clone(), context]);
        let start = self.add(state, Opcode::CollectivePermuteStart, &operands, &attributes);
        self.add(ty, Opcode::CollectivePermuteDone, &[start], &[])
    }

    fn reduce_scatter(&mut self) -> usize {
        let t = self.element(|t| !t.is_complex() && !t.is_pred());
        let groups = self.groups();
        let mut dims = self.dims(1, 3);
        let d = self.numbers.below(dims.len());
        let result = Array::new(t, &dims);
        dims[d] *= groups.size;
        let x = self.value(&Type::array(t, &dims));
        let combine = self.scalar_function(&[t, t], &Type::scalar(t));
        let value = self.add(result, Opcode::ReduceScatter, &[x], &groups.attributes);
        self.attribute(value, "dimensions", braced(&[d as i64]));
        self.mode(value, &groups);
        self.attribute(value, "to_apply", combine);
        value
    }

    fn all_to_all(&mut self) -> usize {
        let mut groups = self.groups_of(false);
        let t = self.element(|_| true);
        let mut dims = self.dims(1, 3);
        if self.numbers.one_in(2) {
            let d = self.numbers.below(dims.len());
            dims[d] *= groups.size;
            let x = self.value(&Type::array(t, &dims));
            groups.attributes.push(("dimensions", braced(&[d as i64])));
            return self.add(self.ty(x), Opcode::AllToAll, &[x], &groups.attributes);
        }
        let ty = Type::array(t, &dims);
        // With one part, it is not defined whether the result is a tuple.
        if groups.size == 1 {
            let x = self.value(&ty);
            return self.add(ty, Opcode::Copy, &[x], &[]);
        }
        let parts: Vec<usize> = (0..groups.size).map(|_| self.value(&ty)).collect();
        let result = Type::Tuple(vec![ty; parts.len()]);
        self.add(result, Opcode::AllToAll, &parts, &groups.attributes)
    }

    fn ragged_all_to_all(&mut self) -> usize {
        let mut groups = self.groups_of(false);
        groups.attributes.retain(|a| matches!(a.0, "channel_id" | "replica_groups"));
        let t = self.element(|_| true);
        let rest = self.dims(0, 2);
        let with = |first: i64| -> Type {
            let dims: Vec<i64> = std::iter::once(first).chain(rest.iter().copied()).collect();
            Type::array(t, &dims)
        };
        let (input, output) = (with(self.size(1, 8)), with(self.size(1, 8)));
        let element = self.numbers.pick(&[E::S32, E::S64]);
        let offsets = Type::array(element, &[groups.size]);
        let mut operands = vec![self.value(&input), self.value(&output)];
        if self.executable {
            // The moved rows are within both arrays.
            let rows = |value: usize| self.array_type(value).dims[0];
            let (from, to) = (rows(operands[0]), rows(operands[1]));
            let size = self.numbers.between(0, from.min(to));
            let (from, to) = (self.numbers.between(0, from - size), self.numbers.between(0, to - size));
            for number in [from, size, to, size] {
                let value = self.add(offsets.clone(), Opcode::Constant, &[], &[]);
                self.edit(value, |line| line.payload = format!("{{{number}}}"));
                operands.push(value);
            }
        } else {
            for _ in 0..4 {
                operands.push(self.value(&offsets));
            }
        }
        self.add(output, Opcode::RaggedAllToAll, &operands, &groups.attributes)
    }
}
