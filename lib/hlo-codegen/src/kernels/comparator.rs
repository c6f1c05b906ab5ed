//! Comparators as functions that the runtime calls (`hlo_runtime::Comparator`).

use super::scalar;
use crate::builder::{Builder, Cast, ModuleBuilder, Signature, V};
use crate::elem;
use hlo_ir::{ComputationId, Module};
use hlo_plan::{Refusal, array};

/// Adds the function `name` for a computation that maps pairs of scalars to a `pred`. The function takes the
/// address of a list of the scalars' addresses and returns a byte, 1 or 0.
pub fn emit_function<'c>(
    functions: &ModuleBuilder<'c>,
    module: &Module,
    computation: ComputationId,
    name: &str,
) -> Result<(), Refusal> {
    let signature = Signature { parameters: &[(functions.ptr(), None)], result: Some(functions.int(8)) };
    functions.function(name, signature, Some((module, module[computation].root())), |b, args| {
        let value = answer(b, module, computation, args[0])?;
        b.ret(Some(b.cast(Cast::Extui, value, b.int(8))));
        Ok(())
    })
}

/// Emits the result of the computation on the elements at a list of addresses.
fn answer<'c>(
    b: &Builder<'c>,
    module: &Module,
    computation: ComputationId,
    list: V<'c>,
) -> Result<V<'c>, Refusal> {
    let mut arguments = Vec::new();
    for (n, p) in module.parameters(computation).into_iter().enumerate() {
        let ty = array(module, p)?.element_type;
        if module.users(p).is_empty() && !module.is_root(p) {
            // A placeholder for an unused parameter. Most comparators of a sort with a thousand operands use
            // only one.
            arguments.push(elem::constant(b, ty, &[]));
            continue;
        }
        let address = b.load(b.ptr(), b.gep(list, b.index(n as i64), b.ptr()));
        arguments.push(elem::load(b, ty, address, b.index(0)));
    }
    let results = scalar::apply(b, module, computation, &arguments, false)?;
    results.first().map(|e| e.first()).ok_or_else(|| "a comparator without a result".into())
}
