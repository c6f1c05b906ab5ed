//! The table of a program's kernels: finds calls with equal code, and emits the functions of kernels.

use crate::builder::{Builder, ModuleBuilder, PointerFacts, Signature, V};
use crate::kernels::{KernelShape, KernelSpec, emit_kernel, plan_kernel};
use hlo_ir::Module;
use hlo_ir::diag::Diag;
use hlo_plan::{BufferRef, KernelCall, Plan, Refusal, Step};
use melior::ir::Type;
use std::collections::HashMap;

/// The alignment of every buffer in bytes.
pub const BUFFER_ALIGNMENT: u32 = 16;

/// Maximum number of addresses that are passed as separate arguments. A kernel with more receives a list.
const MAX_SEPARATE_ARGUMENTS: usize = 32;
/// Maximum number of buffers for which a kernel has one parameter each. Without these parameters, LLVM knows
/// less about the buffers, which shortens compilation.
const MAX_PARAMETERS: usize = 512;

/// One call of a kernel.
#[derive(Clone, Debug)]
pub struct KernelUse {
    /// The kernel's description.
    pub spec: KernelSpec,
    /// The buffer of each slot.
    pub buffers: Vec<BufferRef>,
    /// The kernel's loop structure.
    pub shape: KernelShape,
    /// The kernel's number, or `None` if its code is part of the host function.
    pub kernel: Option<usize>,
}

impl KernelUse {
    /// Returns whether the call is split over threads.
    pub fn is_parallel(&self) -> bool {
        self.kernel.is_some() && self.shape.grain < self.shape.iterations
    }

    /// Returns whether the host function calls the entry that takes a list of addresses.
    pub fn takes_list(&self) -> bool {
        self.is_parallel() || self.kernel.is_some() && self.buffers.len() > MAX_SEPARATE_ARGUMENTS
    }
}

/// A kernel that is a function of its own.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// The function's name, which contains a number and the first instruction that the kernel computes.
    pub name: String,
    /// The description of its first use.
    pub spec: KernelSpec,
    /// A measure of its compile time.
    pub code_size: usize,
}

impl Kernel {
    /// Returns the name of the entry for `hlo_rt_parallel_for`.
    pub fn parallel_name(&self) -> String {
        parallel_name(&self.name)
    }
}

/// Returns the name of a kernel's entry for `hlo_rt_parallel_for`.
pub fn parallel_name(name: &str) -> String {
    format!("{name}_parallel")
}

/// All kernels of a program.
#[derive(Clone, Debug, Default)]
pub struct KernelTable {
    uses: Vec<KernelUse>,
    kernels: Vec<Kernel>,
    /// The number of kernel calls before those of each body of the plan.
    starts: Vec<usize>,
    /// Total code size of the tiny kernels in the host function.
    inlined: usize,
}

/// Maximum total code size of tiny kernels in the host function. Kernels beyond it are called, so that
/// compile time stays linear in the number of instructions.
const MAX_INLINED_CODE_SIZE: usize = 4096;

impl KernelTable {
    /// Plans the kernels that the steps call. Reports all instructions that cannot be compiled.
    pub fn new(module: &Module, plan: &Plan) -> Result<Self, Vec<Diag>> {
        let mut table = Self::default();
        let mut errors = Vec::new();
        let mut known: HashMap<String, usize> = HashMap::new();
        let mut refused = std::collections::HashSet::new();
        let mut refuse = |call: &KernelCall<BufferRef>, refusal: Refusal| {
            if refused.insert(call.instruction) {
                errors.push(refusal.of(module, call.instruction));
            }
        };
        for steps in plan.bodies() {
            table.starts.push(table.uses.len());
            table.collect(module, steps, &mut known, &mut refuse);
        }
        if errors.is_empty() { Ok(table) } else { Err(errors) }
    }

    /// Returns the number of kernel calls before those of a body, an index into [`Plan::bodies`].
    pub fn start(&self, body: usize) -> usize {
        self.starts.get(body).copied().unwrap_or(0)
    }

    /// Returns the calls in the order of [`Plan::bodies`] and their steps (a loop's condition before its
    /// body, branches in order).
    pub fn uses(&self) -> &[KernelUse] {
        &self.uses
    }

    /// Returns the kernels that are functions.
    pub fn kernels(&self) -> &[Kernel] {
        &self.kernels
    }

    fn collect(
        &mut self,
        module: &Module,
        steps: &[Step<BufferRef>],
        known: &mut HashMap<String, usize>,
        refuse: &mut impl FnMut(&KernelCall<BufferRef>, Refusal),
    ) {
        for step in steps {
            match step {
                Step::Kernel(call) => match self.add(module, call, known) {
                    Ok(()) => {}
                    Err(refusal) => refuse(call, refusal),
                },
                Step::Copy { .. } | Step::Runtime(_) => {}
                Step::While { condition, body, .. } => {
                    self.collect(module, condition, known, refuse);
                    self.collect(module, body, known, refuse);
                }
                Step::Conditional { branches, .. } => {
                    for b in branches {
                        self.collect(module, b, known, refuse);
                    }
                }
            }
        }
    }

    fn add(
        &mut self,
        module: &Module,
        call: &KernelCall<BufferRef>,
        known: &mut HashMap<String, usize>,
    ) -> Result<(), Refusal> {
        let (spec, buffers) = spec(call);
        let shape = plan_kernel(module, &spec)?;
        let inline = shape.tiny && self.inlined + shape.code_size <= MAX_INLINED_CODE_SIZE;
        self.inlined += if inline { shape.code_size } else { 0 };
        let kernel = (!inline).then(|| {
            *known.entry(shape.key.clone()).or_insert_with(|| {
                self.kernels.push(Kernel {
                    name: format!("kernel_{}.{}", self.kernels.len(), module[call.instruction].name),
                    spec: spec.clone(),
                    code_size: shape.code_size,
                });
                self.kernels.len() - 1
            })
        });
        self.uses.push(KernelUse { spec, buffers, shape, kernel });
        Ok(())
    }
}

/// Returns the description of a call, and the buffer of each slot. Equal buffers share a slot.
fn spec(call: &KernelCall<BufferRef>) -> (KernelSpec, Vec<BufferRef>) {
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
    let spec =
        KernelSpec { instruction: call.instruction, operand_slots, result_slots, slots: buffers.len() };
    (spec, buffers)
}

/// Returns the parameters of a kernel with this number of buffers: their addresses, then the range of
/// iterations. Returns `None` if the kernel only has the entry with a list.
pub fn parameters<'c>(
    functions: &ModuleBuilder<'c>,
    slots: usize,
) -> Option<Vec<(Type<'c>, Option<PointerFacts>)>> {
    let facts = PointerFacts { noalias: true, align: BUFFER_ALIGNMENT };
    let address = (functions.ptr(), Some(facts));
    let addresses = (slots <= MAX_PARAMETERS).then(|| std::iter::repeat_n(address, slots));
    addresses.map(|a| a.chain([(functions.int(64), None); 2]).collect())
}

/// Returns the parameters of a kernel's parallel entry: the array of addresses, then the range of iterations.
pub fn parallel_parameters<'c>(functions: &ModuleBuilder<'c>) -> [(Type<'c>, Option<PointerFacts>); 3] {
    [(functions.ptr(), None), (functions.int(64), None), (functions.int(64), None)]
}

/// Emits a kernel's function and its parallel entry.
pub fn emit_functions<'c>(
    functions: &ModuleBuilder<'c>,
    module: &Module,
    kernel: &Kernel,
) -> Result<(), Diag> {
    let slots = kernel.spec.slots;
    let emit = |b: &Builder<'c>, buffers: &[V<'c>], range: &[V<'c>]| -> Result<(), Diag> {
        emit_kernel(b, module, &kernel.spec, buffers, [range[0], range[1]])?;
        b.ret(None);
        Ok(())
    };
    let instruction = Some((module, kernel.spec.instruction));
    let parameters = parameters(functions, slots);
    if let Some(parameters) = &parameters {
        let signature = Signature { parameters, result: None };
        functions.function(&kernel.name, signature, instruction, |b, args| {
            emit(b, &args[..slots], &args[slots..])
        })?;
    }
    let parallel = parallel_parameters(functions);
    let signature = Signature { parameters: &parallel, result: None };
    functions.function(&kernel.parallel_name(), signature, instruction, |b, args| {
        let address = |i| b.load(b.ptr(), b.gep(args[0], b.index(i as i64), b.ptr()));
        let buffers: Vec<V<'c>> = (0..slots).map(address).collect();
        if parameters.is_none() {
            return emit(b, &buffers, &args[1..]);
        }
        b.call(&kernel.name, &[&buffers, &args[1..]].concat(), None);
        b.ret(None);
        Ok(())
    })
}
