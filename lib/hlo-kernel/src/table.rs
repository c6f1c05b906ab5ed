//! The table of a program's kernels. Calls with equal code share a function.

use crate::{Body, Kernel, KernelSpec, key};
use hlo_ir::diag::Diag;
use hlo_ir::verify::Verified;
use hlo_ir::{InstrId, Module};
use hlo_plan::{BufferRef, KernelCall, Plan, Refusal, Step};
use std::collections::{HashMap, HashSet};

/// Maximum number of addresses that are passed as separate arguments. A kernel with more receives a list.
const MAX_SEPARATE_ARGUMENTS: usize = 32;
/// Maximum total code size of tiny kernels in the host function. Kernels beyond it are called, so that
/// compile time stays linear in the number of instructions.
const MAX_INLINED_CODE_SIZE: usize = 4096;

/// One call of a kernel.
#[derive(Clone, Debug)]
pub struct KernelUse<'m> {
    /// The instruction that the kernel computes.
    pub instruction: InstrId,
    /// The buffer of each slot.
    pub buffers: Vec<BufferRef>,
    /// Number of independent iterations.
    pub iterations: i64,
    /// Number of iterations per chunk.
    pub grain: i64,
    /// The kernel's code.
    pub code: KernelCode<'m>,
}

/// The place of a kernel's code.
#[derive(Clone, Debug)]
pub enum KernelCode<'m> {
    /// A function, by its number in [`KernelTable::functions`].
    Function(usize),
    /// The host function.
    Inline(Box<Kernel<'m>>),
}

impl KernelUse<'_> {
    /// Returns the number of the kernel's function, if its code is not part of the host function.
    pub fn function(&self) -> Option<usize> {
        match self.code {
            KernelCode::Function(number) => Some(number),
            KernelCode::Inline(_) => None,
        }
    }

    /// Returns whether the call is split over threads.
    pub fn is_parallel(&self) -> bool {
        self.function().is_some() && self.grain < self.iterations
    }

    /// Returns whether the host function calls the entry that takes a list of addresses.
    pub fn takes_list(&self) -> bool {
        self.is_parallel() || self.function().is_some() && self.buffers.len() > MAX_SEPARATE_ARGUMENTS
    }
}

/// A kernel that is a function of its own.
#[derive(Clone, Debug)]
pub struct KernelFunction<'m> {
    /// The function's name, which contains a number and the first instruction that the kernel computes.
    pub name: String,
    /// The kernel of its first use.
    pub kernel: Kernel<'m>,
}

impl KernelFunction<'_> {
    /// Returns the name of the entry for `hlo_rt_parallel_for`.
    pub fn parallel_name(&self) -> String {
        format!("{}_parallel", self.name)
    }
}

/// All kernels of a program.
#[derive(Clone, Debug, Default)]
pub struct KernelTable<'m> {
    uses: Vec<KernelUse<'m>>,
    functions: Vec<KernelFunction<'m>>,
    /// The number of kernel calls before those of each body of the plan.
    starts: Vec<usize>,
    /// Total code size of the tiny kernels in the host function.
    inlined: usize,
}

impl<'m> KernelTable<'m> {
    /// Plans the kernels that the steps call.
    ///
    /// # Errors
    /// Reports all instructions that cannot be planned.
    pub fn new(module: Verified<&'m Module>, plan: &Plan) -> Result<Self, Vec<Diag>> {
        let module = module.get();
        let mut table = Self::default();
        let mut errors = Vec::new();
        let mut known: HashMap<String, usize> = HashMap::new();
        let mut refused = HashSet::new();
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
    pub fn uses(&self) -> &[KernelUse<'m>] {
        &self.uses
    }

    /// Returns the kernels that are functions.
    pub fn functions(&self) -> &[KernelFunction<'m>] {
        &self.functions
    }

    fn collect(
        &mut self,
        module: &'m Module,
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
        module: &'m Module,
        call: &KernelCall<BufferRef>,
        known: &mut HashMap<String, usize>,
    ) -> Result<(), Refusal> {
        let (spec, buffers) = KernelSpec::of(call);
        let instruction = spec.instruction;
        let body = Body::new(module, &spec)?;
        let key = key::of(&body, &spec);
        let code = match known.get(&key) {
            // Kernels with equal keys have equal plans.
            Some(&number) => KernelCode::Function(number),
            None => self.code(Kernel::of_body(body, spec)?, key, known),
        };
        let kernel = match &code {
            KernelCode::Function(number) => &self.functions[*number].kernel,
            KernelCode::Inline(kernel) => kernel,
        };
        let (iterations, grain) = (kernel.iterations, kernel.grain);
        self.uses.push(KernelUse { instruction, buffers, iterations, grain, code });
        Ok(())
    }

    /// Places the code of a new kernel: in the host function if the kernel is tiny and the function has room for
    /// it, otherwise in a function of its own.
    fn code(
        &mut self,
        kernel: Kernel<'m>,
        key: String,
        known: &mut HashMap<String, usize>,
    ) -> KernelCode<'m> {
        if kernel.tiny && self.inlined + kernel.code_size <= MAX_INLINED_CODE_SIZE {
            self.inlined += kernel.code_size;
            return KernelCode::Inline(Box::new(kernel));
        }
        let number = self.functions.len();
        let name = format!("kernel_{number}.{}", kernel.body.module[kernel.spec.instruction].name);
        self.functions.push(KernelFunction { name, kernel });
        known.insert(key, number);
        KernelCode::Function(number)
    }
}
