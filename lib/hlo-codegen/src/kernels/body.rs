//! What a kernel computes: the instructions of a fusion, or one unfused instruction, and where their inputs
//! come from.

use hlo_ir::{InstrId, Module, Op, Shape};
use hlo_plan::Refusal;
pub use hlo_plan::array;
use hlo_plan::stored_constants;
use std::collections::{HashMap, HashSet};

/// A kernel to be emitted: an instruction and the buffers that it works on. Leaves of tuples are flattened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelSpec {
    /// The instruction: a fusion or any operation that the kernels cover.
    pub instruction: InstrId,
    /// For each operand leaf the number of its buffer; `None` if it is a scalar constant, which is embedded. Then
    /// those of the [`hlo_plan::stored_constants`] of a fusion.
    pub operand_slots: Vec<Option<usize>>,
    /// For each result leaf the number of its buffer. A buffer that is an operand's too is updated in place.
    pub result_slots: Vec<usize>,
    /// The number of buffers.
    pub slots: usize,
}

/// Where the value of an instruction comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// It is read from a buffer.
    Slot(usize),
    /// It is the scalar constant of another instruction.
    Constant(InstrId),
}

/// A result of a kernel: an array that an instruction gives, and where it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Root {
    /// The instruction.
    pub id: InstrId,
    /// Which of its results, for an instruction with several (a variadic reduction).
    pub leaf: usize,
    /// The buffer.
    pub slot: usize,
}

/// The results of the given instructions, in order, with the buffers that they are stored to.
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
pub struct Body<'a> {
    /// The module.
    pub module: &'a Module,
    /// The instructions that are not computed here, with where they come from.
    pub sources: HashMap<InstrId, Source>,
    /// The results, with the buffer that each is stored to.
    pub roots: Vec<Root>,
    /// The instructions computed here, operands first.
    pub computed: Vec<InstrId>,
}

impl<'a> Body<'a> {
    /// The body of a kernel.
    pub fn new(module: &'a Module, spec: &KernelSpec) -> Result<Self, Refusal> {
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
            return Ok(Self { module, sources, roots, computed: vec![id] });
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
        Ok(Self { module, sources, roots, computed })
    }

    /// The buffer that an instruction's value is read from, if it is not computed here.
    pub fn slot(&self, id: InstrId) -> Option<usize> {
        match self.sources.get(&id) {
            Some(Source::Slot(s)) => Some(*s),
            _ => None,
        }
    }

    /// The computed instructions that reach a root through elementwise operations on arrays of the root's dimensions
    /// alone: what is needed at the very index of the results, operands first.
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

    /// The same kernel with some of the results only: those of one list of dimensions each.
    pub fn by_dimensions(&self) -> Vec<Body<'a>> {
        let mut out: Vec<Body<'a>> = Vec::new();
        for root in &self.roots {
            match out.iter_mut().find(|b| b.root_dims(&b.roots[0]) == self.root_dims(root)) {
                Some(body) => body.roots.push(*root),
                None => out.push(Body {
                    module: self.module,
                    sources: self.sources.clone(),
                    roots: vec![*root],
                    computed: self.computed.clone(),
                }),
            }
        }
        out
    }

    /// The dimensions of a result; `None` if it is not an array.
    fn root_dims(&self, root: &Root) -> Option<&'a hlo_ir::Dims> {
        let leaves = self.module[root.id].shape.leaves();
        leaves.get(root.leaf).and_then(|s| s.as_array()).map(|a| &a.dims)
    }

    /// True if all instructions that are not scalars have the dimensions and layout of the first root and work
    /// element by element: the kernel is then one loop over all elements, whatever the rank.
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
