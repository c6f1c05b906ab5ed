//! Fingerprints: hashes that are equal for equal instructions, regardless of their names.

use crate::Ignore;
use hlo_ir::attr::ComputationNames;
use hlo_ir::{ComputationId, InstrId, Module, Op, Shape};
use std::collections::HashMap;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The fingerprints of a module's instructions, indexed by instruction id.
pub struct Fingerprints {
    /// The fingerprint of the instruction itself: its opcode, shape, attributes and callees.
    pub local: Vec<u64>,
    /// The fingerprint of the value: the instruction and, recursively, its operands.
    pub value: Vec<u64>,
    /// The fingerprint of the uses: the instruction and, recursively, its users.
    pub uses: Vec<u64>,
    /// The fingerprint of each computation: the value of its root, and the values of its instructions without
    /// users.
    pub computations: HashMap<ComputationId, u64>,
}

impl Fingerprints {
    /// Computes the fingerprints of a whole module.
    pub fn of(module: &Module, ignore: Ignore) -> Self {
        let n = module.instruction_capacity();
        let mut all =
            Self { local: vec![0; n], value: vec![0; n], uses: vec![0; n], computations: HashMap::new() };
        // The known users of each instruction: their fingerprints, and the operand positions at which they
        // use it.
        let mut users: Vec<Vec<(u64, usize)>> = vec![Vec::new(); n];
        // Callees come first, because an instruction's fingerprint includes theirs.
        for c in module.computations_post_order() {
            let order = module.dependency_order(c);
            for &i in &order {
                let local = all.local(module, i, ignore);
                all.local[i.index()] = local;
                all.value[i.index()] = all.value(module, i);
            }
            for &i in order.iter().rev() {
                let uses = all.uses(module, i, std::mem::take(&mut users[i.index()]));
                all.uses[i.index()] = uses;
                for (place, o) in module[i].operands.iter().enumerate() {
                    users[o.index()].push((uses, place));
                }
            }
            let fingerprint = all.computation(module, c, &order);
            all.computations.insert(c, fingerprint);
        }
        all
    }

    fn local(&self, module: &Module, id: InstrId, ignore: Ignore) -> u64 {
        let mut hasher = DefaultHasher::new();
        let instr = &module[id];
        instr.opcode().hash(&mut hasher);
        if !ignore.shape {
            instr.shape.without_layout().hash(&mut hasher);
        }
        match &instr.op {
            Op::Parameter(p) => p.number.hash(&mut hasher),
            Op::Constant(c) => literal(&c.literal, &mut hasher),
            op => {
                let mut out = HashWriter(&mut hasher);
                if let Some(attrs) = op.attrs() {
                    for (n, field) in attrs.fields().iter().enumerate() {
                        if !attrs.is_default(n) {
                            field.name.hash(out.0);
                            // Writing to a hash does not fail.
                            let _ = attrs.write_field(n, &mut out, &NoNames);
                        }
                    }
                }
                for callee in op.called_computations() {
                    self.computations.get(&callee).hash(&mut hasher);
                }
            }
        }
        hasher.finish()
    }

    fn value(&self, module: &Module, id: InstrId) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.local.get(id.index()).hash(&mut hasher);
        for o in &module[id].operands {
            self.value.get(o.index()).hash(&mut hasher);
        }
        hasher.finish()
    }

    fn uses(&self, module: &Module, id: InstrId, mut users: Vec<(u64, usize)>) -> u64 {
        users.sort_unstable();
        let mut hasher = DefaultHasher::new();
        self.local.get(id.index()).hash(&mut hasher);
        module.is_root(id).hash(&mut hasher);
        users.hash(&mut hasher);
        hasher.finish()
    }

    fn computation(&self, module: &Module, id: ComputationId, order: &[InstrId]) -> u64 {
        let mut effects: Vec<Option<&u64>> = order
            .iter()
            .filter(|&&i| module.users(i).is_empty())
            .map(|i| self.value.get(i.index()))
            .collect();
        effects.sort_unstable();
        let mut hasher = DefaultHasher::new();
        self.value.get(module[id].root().index()).hash(&mut hasher);
        effects.hash(&mut hasher);
        hasher.finish()
    }
}

/// Hashes the value of a constant, regardless of its layout.
fn literal(literal: &hlo_ir::Literal, hasher: &mut DefaultHasher) {
    for leaf in literal.leaves() {
        if let Shape::Array(_) = leaf.shape() {
            leaf.bytes().hash(hasher);
        }
    }
}

/// Hashes the text that is written to it.
struct HashWriter<'a>(&'a mut DefaultHasher);

impl fmt::Write for HashWriter<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.write(text.as_bytes());
        Ok(())
    }
}

/// Omits the names of computations.
struct NoNames;

impl ComputationNames for NoNames {
    fn write_computation(&self, _: &mut dyn fmt::Write, _: ComputationId) -> fmt::Result {
        Ok(())
    }
}
