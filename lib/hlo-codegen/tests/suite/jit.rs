//! Tests of code generation and linking in this process.

use hlo_codegen::builder::{Binary, FastMath, ModuleBuilder, PointerFacts, Signature};
use hlo_codegen::jit::{Effort, FileType, Linked, compile, context, lower_to_llvm_dialect};
use melior::ir::{Location, Module};
use std::convert::Infallible;

#[test]
fn a_loop_is_compiled_linked_and_run() {
    let context = context();
    let mut module = Module::new(Location::unknown(&context));
    let functions = ModuleBuilder::new(&context, &module);
    let pointer = (functions.ptr(), Some(PointerFacts { noalias: true, align: 16 }));
    let signature = Signature { parameters: &[pointer, pointer, (functions.int(64), None)], result: None };
    let Ok(()) = functions.function("sum", signature, None, |b, args| {
        let zero = b.const_float(b.f32(), 0.0);
        let sum = b.for_carry(b.index(0), args[2], 1, &[zero], |i, acc| {
            let x = b.load(b.f32(), b.gep(args[0], i, b.f32()));
            Ok::<_, Infallible>(vec![b.binary_fast(Binary::Addf, acc[0], x, FastMath::Reassoc)])
        })?;
        b.store(sum[0], args[1]);
        b.ret(None);
        Ok::<_, Infallible>(())
    });
    lower_to_llvm_dialect(&context, &mut module).unwrap();
    let object = compile(&context, &module, Effort::Full, FileType::Object).unwrap();
    let linked = Linked::link(&[object], &[], false).unwrap();
    let sum = linked.lookup("sum").unwrap();
    // SAFETY: the function has this signature.
    let sum: unsafe extern "C" fn(*const f32, *mut f32, i64) = unsafe { std::mem::transmute(sum) };
    let x = [1.5f32; 100];
    let mut out = 0.0f32;
    // SAFETY: the buffers are as long as the function reads and writes.
    unsafe { sum(x.as_ptr(), &mut out, 100) };
    assert_eq!(out, 150.0);
    assert!(linked.lookup("nonexistent").is_err());
}
