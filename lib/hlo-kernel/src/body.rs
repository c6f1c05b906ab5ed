//! The contents of a kernel: the instructions of a fusion, or one unfused instruction, and the sources of
//! their inputs.

use crate::Reduction;
use hlo_ir::{ArrayShape, InstrId, Module, Op, Shape};
use hlo_plan::applied::check_size;
use hlo_plan::{BufferRef, KernelCall, Refusal, array, stored_constants};
use std::collections::{HashMap, HashSet};
use std::fmt;

/// A kernel to be planned: an instruction and its buffers. Leaves of tuples are flattened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelSpec {
    /// The instruction: a fusion or any operation that the kernels cover.
    pub instruction: InstrId,
    /// The buffer number of each operand leaf, or `None` for a scalar constant, which is embedded in the
    /// code. The numbers of the [`hlo_plan::stored_constants`] of a fusion follow.
    pub operand_slots: Vec<Option<usize>>,
    /// The buffer number of each result leaf. If a buffer is also an operand's, the kernel updates it in
    /// place.
    pub result_slots: Vec<usize>,
    /// The number of buffers.
    pub slots: usize,
}

impl KernelSpec {
    /// Returns the description of a call, and the buffer of each slot. Equal buffers share a slot.
    pub(crate) fn of(call: &KernelCall<BufferRef>) -> (Self, Vec<BufferRef>) {
        let mut buffers: Vec<BufferRef> = Vec::new();
        let mut known: HashMap<BufferRef, usize> = HashMap::new();
        let mut slot = |b: BufferRef| {
            *known.entry(b).or_insert_with(|| {
                buffers.push(b);
                buffers.len() - 1
            })
        };
        let operand_slots = call.operands.iter().map(|o| o.map(&mut slot)).collect();
        let result_slots = call.results.iter().map(|&r| slot(r)).collect();
        let instruction = call.instruction;
        (Self { instruction, operand_slots, result_slots, slots: buffers.len() }, buffers)
    }
}

/// The source of an instruction's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The value is read from a buffer.
    Slot(usize),
    /// The value is the scalar constant of another instruction.
    Constant(InstrId),
}

/// A result of a kernel: an array that an instruction computes, and the buffer that it is stored to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Root {
    /// The instruction.
    pub id: InstrId,
    /// The index of the result among the instruction's results (a variadic reduction has several).
    pub leaf: usize,
    /// The number of the buffer.
    pub slot: usize,
}

/// Returns the results of the given instructions, in order, with the buffers that they are stored to.
fn roots(module: &Module, ids: &[InstrId], spec: &KernelSpec) -> Result<Vec<Root>, Refusal> {
    let leaves: Vec<(InstrId, usize)> =
        ids.iter().flat_map(|&id| (0..module[id].shape.leaf_count()).map(move |leaf| (id, leaf))).collect();
    if leaves.len() != spec.result_slots.len() {
        let name = &module[spec.instruction].name;
        let (has, wants) = (leaves.len(), spec.result_slots.len());
        return Err(format!("`{name}` has {has} results, its buffers number {wants}").into());
    }
    Ok(leaves
        .into_iter()
        .zip(&spec.result_slots)
        .map(|((id, leaf), &slot)| Root { id, leaf, slot })
        .collect())
}

/// The instructions of a kernel.
#[derive(Clone)]
pub struct Body<'a> {
    /// The module.
    pub module: &'a Module,
    /// The instructions that the kernel does not compute, and the sources of their values.
    pub sources: HashMap<InstrId, Source>,
    /// The results, and the buffers that they are stored to.
    pub roots: Vec<Root>,
    /// The instructions that the kernel computes, operands first.
    pub computed: Vec<InstrId>,
}

impl fmt::Debug for Body<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { module: _, sources, roots, computed } = self;
        let mut body = f.debug_struct("Body");
        body.field("sources", sources)
            .field("roots", roots)
            .field("computed", computed)
            .finish_non_exhaustive()
    }
}

impl<'a> Body<'a> {
    /// Creates the body of a kernel.
    pub(crate) fn new(module: &'a Module, spec: &KernelSpec) -> Result<Self, Refusal> {
        let id = spec.instruction;
        let instr = &module[id];
        let mut sources = HashMap::new();
        let slot = |leaf: usize, producer: InstrId| match spec.operand_slots.get(leaf) {
            Some(Some(s)) => Source::Slot(*s),
            _ => Source::Constant(producer),
        };
        let Op::Fusion(fusion) = &instr.op else {
            let mut leaf = 0;
            for &o in &instr.operands {
                sources.insert(o, slot(leaf, o));
                leaf += module[o].shape.leaf_count();
            }
            let roots = roots(module, &[id], spec)?;
            return Self { module, sources, roots, computed: vec![id] }.checked();
        };
        let mut first_leaf = Vec::new();
        let mut leaf = 0;
        for &o in &instr.operands {
            first_leaf.push(leaf);
            leaf += module[o].shape.leaf_count();
        }
        for (k, constant) in stored_constants(module, fusion.calls).into_iter().enumerate() {
            if let Some(Some(s)) = spec.operand_slots.get(leaf + k) {
                sources.insert(constant, Source::Slot(*s));
            }
        }
        let mut computed = Vec::new();
        for i in module.post_order(fusion.calls) {
            match &module[i].op {
                Op::Parameter(p) => {
                    let number = p.number as usize;
                    if !module[i].shape.is_tuple() {
                        sources.insert(i, slot(first_leaf[number], instr.operands[number]));
                    }
                }
                Op::GetTupleElement(g) => {
                    let tuple = module[i].operands[0];
                    match (&module[tuple].op, &module[tuple].shape) {
                        (Op::Parameter(p), Shape::Tuple(elements)) => {
                            let before: usize =
                                elements[..g.index as usize].iter().map(Shape::leaf_count).sum();
                            let number = p.number as usize;
                            sources.insert(i, slot(first_leaf[number] + before, instr.operands[number]));
                        }
                        _ => computed.push(i),
                    }
                }
                _ if sources.contains_key(&i) => {}
                _ => computed.push(i),
            }
        }
        let root = module[fusion.calls].root();
        let roots = match &module[root].op {
            Op::Tuple => roots(module, &module[root].operands, spec)?,
            _ => roots(module, &[root], spec)?,
        };
        Self { module, sources, roots, computed }.checked()
    }

    /// Checks that the computations that the instructions apply can be expanded. The key and the code of the
    /// kernel contain them expanded.
    fn checked(self) -> Result<Self, Refusal> {
        check_size(self.module, &self.computed)?;
        Ok(self)
    }

    /// Returns the description of a `reduce`.
    ///
    /// # Errors
    /// The instruction is not a `reduce` of arrays.
    pub fn reduction(&self, id: InstrId) -> Result<Reduction<'a>, Refusal> {
        Reduction::of(self.module, id)
    }

    /// Returns the shape of a result.
    ///
    /// # Errors
    /// The result is not an array.
    pub fn root_shape(&self, root: &Root) -> Result<&'a ArrayShape, Refusal> {
        let leaves = self.module[root.id].shape.leaves();
        leaves.get(root.leaf).and_then(|s| s.as_array()).ok_or_else(|| "a result that is not an array".into())
    }

    /// Returns the buffer that an instruction's value is read from, or `None` if the kernel computes it.
    pub fn slot(&self, id: InstrId) -> Option<usize> {
        match self.sources.get(&id) {
            Some(Source::Slot(s)) => Some(*s),
            _ => None,
        }
    }

    /// Returns the computed instructions that reach a root through elementwise operations on arrays of the
    /// root's dimensions only. These are needed at the same index as the results. Operands come first.
    pub fn elementwise_spine(&self) -> Vec<InstrId> {
        let Ok(dims) = array(self.module, self.roots[0].id).map(|a| &a.dims) else { return Vec::new() };
        let mut seen: HashSet<InstrId> = HashSet::new();
        let mut work: Vec<InstrId> = self.roots.iter().map(|r| r.id).collect();
        while let Some(id) = work.pop() {
            let same = array(self.module, id).is_ok_and(|a| a.dims == *dims);
            let elementwise = self.module[id].opcode().is_pointwise();
            if same && elementwise && !self.sources.contains_key(&id) && seen.insert(id) {
                work.extend(&self.module[id].operands);
            }
        }
        self.computed.iter().copied().filter(|id| seen.contains(id)).collect()
    }

    /// Returns the results in groups of the same dimensions.
    pub(crate) fn roots_by_dimensions(&self) -> Vec<Vec<Root>> {
        let dims = |root: &Root| self.root_shape(root).ok().map(|a| &a.dims);
        let mut groups: Vec<Vec<Root>> = Vec::new();
        for root in &self.roots {
            match groups.iter_mut().find(|group| dims(&group[0]) == dims(root)) {
                Some(group) => group.push(*root),
                None => groups.push(vec![*root]),
            }
        }
        groups
    }

    /// Returns the same kernel with only these results.
    #[must_use]
    pub fn with_roots(&self, roots: Vec<Root>) -> Self {
        let Self { module, sources, computed, .. } = self;
        Self { module, sources: sources.clone(), computed: computed.clone(), roots }
    }

    /// Returns whether all instructions that are not scalars are elementwise and have the dimensions and
    /// layout of the first root. The kernel is then one loop over all elements, whatever the rank.
    pub fn is_flat(&self) -> bool {
        let Ok(root) = array(self.module, self.roots[0].id) else { return false };
        let same = |id: InstrId| match array(self.module, id) {
            Ok(a) => a.rank() == 0 || (a.dims == root.dims && a.minor_to_major() == root.minor_to_major()),
            Err(_) => false,
        };
        let elementwise = |id: InstrId| match &self.module[id].op {
            Op::Broadcast(_) => array(self.module, self.module[id].operands[0]).is_ok_and(|a| a.rank() == 0),
            Op::Constant(_) => array(self.module, id).is_ok_and(|a| a.rank() == 0),
            Op::BitcastConvert => array(self.module, id).is_ok_and(|a| {
                array(self.module, self.module[id].operands[0]).is_ok_and(|o| o.rank() == a.rank())
            }),
            Op::Tuple => true,
            op => op.opcode().is_pointwise(),
        };
        self.sources.keys().all(|&i| self.module[i].shape.is_tuple() || same(i))
            && self
                .computed
                .iter()
                .all(|&i| elementwise(i) && (matches!(self.module[i].op, Op::Tuple) || same(i)))
    }
}
