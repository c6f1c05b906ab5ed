//! The functions of kernels.

use crate::builder::{Builder, ModuleBuilder, PointerFacts, Signature, V};
use crate::kernels::emit_kernel;
use hlo_ir::diag::Diag;
use hlo_kernel::KernelFunction;
use melior::ir::Type;

/// The alignment of every buffer in bytes.
pub const BUFFER_ALIGNMENT: u32 = 16;

/// Maximum number of buffers for which a kernel has one parameter each. Without these parameters, LLVM knows
/// less about the buffers, which shortens compilation.
const MAX_PARAMETERS: usize = 512;

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
pub fn emit_functions<'c>(functions: &ModuleBuilder<'c>, function: &KernelFunction<'_>) -> Result<(), Diag> {
    let kernel = &function.kernel;
    let slots = kernel.spec.slots;
    let emit = |b: &Builder<'c>, buffers: &[V<'c>], range: &[V<'c>]| -> Result<(), Diag> {
        emit_kernel(b, kernel, buffers, [range[0], range[1]])?;
        b.ret(None);
        Ok(())
    };
    let instruction = Some((kernel.body.module, kernel.spec.instruction));
    let parameters = parameters(functions, slots);
    if let Some(parameters) = &parameters {
        let signature = Signature { parameters, result: None };
        functions.function(&function.name, signature, instruction, |b, args| {
            emit(b, &args[..slots], &args[slots..])
        })?;
    }
    let parallel = parallel_parameters(functions);
    let signature = Signature { parameters: &parallel, result: None };
    functions.function(&function.parallel_name(), signature, instruction, |b, args| {
        let address = |i| b.load(b.ptr(), b.gep(args[0], b.index(i as i64), b.ptr()));
        let buffers: Vec<V<'c>> = (0..slots).map(address).collect();
        if parameters.is_none() {
            return emit(b, &buffers, &args[1..]);
        }
        b.call(&function.name, &[&buffers, &args[1..]].concat(), None);
        b.ret(None);
        Ok(())
    })
}
