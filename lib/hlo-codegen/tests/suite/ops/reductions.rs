//! Tests that reduction loops with common combiners are vectorized.

use hlo_codegen::builder::{FastMath, ModuleBuilder, PointerFacts, Signature};
use hlo_codegen::internals::{Elem, Unsupported, emit_reducer_op, load, store};
use hlo_codegen::jit::{self, Effort, FileType, Linked};
use hlo_ir::{ElementType, Op};
use melior::ir::{Location, Module};

type Reduction = unsafe extern "C" fn(*const f32, *mut f32, i64);

fn reduction(op: &Op, init: f64, file: FileType) -> Vec<u8> {
    let context = jit::context();
    let mut module = Module::new(Location::unknown(&context));
    let functions = ModuleBuilder::new(&context, &module);
    let array = (functions.ptr(), Some(PointerFacts { noalias: true, align: 8 }));
    let signature = Signature { parameters: &[array, array, (functions.int(64), None)], result: None };
    let ty = ElementType::F32;
    let emitted = functions.function("f", signature, None, |b, args| {
        let combine = op.elementwise().expect("an elementwise operation");
        let init = b.const_float(b.f32(), init);
        let r = b.for_carry(b.index(0), args[2], 1, &[init], |i, carried| {
            let x = load(b, ty, args[0], i);
            let next = emit_reducer_op(b, combine, ty, Elem::One(carried[0]), x, FastMath::Reassoc)?;
            Ok::<_, Unsupported>(next.flatten())
        })?;
        store(b, ty, args[1], b.index(0), Elem::One(r[0]));
        b.ret(None);
        Ok::<_, Unsupported>(())
    });
    emitted.expect("a reducer");
    jit::lower_to_llvm_dialect(&context, &mut module).expect("valid MLIR");
    jit::compile(&context, &module, Effort::Full, file).expect("code")
}

#[test]
fn float_reductions_vectorize_and_propagate_nan() {
    let cases = [
        (Op::Add, 0.0, 4096.0 * 4097.0 / 2.0),
        (Op::Maximum, f64::NEG_INFINITY, 4096.0),
        (Op::Minimum, f64::INFINITY, 1.0),
    ];
    let mut x: Vec<f32> = (1..=4096).map(|i| i as f32).collect();
    for (op, init, want) in cases {
        let text = String::from_utf8(reduction(&op, init, FileType::Assembly)).expect("text");
        if cfg!(target_arch = "x86_64") {
            assert!(["addps", "maxps", "minps"].iter().any(|m| text.contains(m)), "{}", op.name());
        }
        let linked =
            Linked::link(&[reduction(&op, init, FileType::Object)], &[], false).expect("a linked object");
        // SAFETY: the function has this signature.
        let f: Reduction = unsafe { std::mem::transmute(linked.lookup("f").expect("the function")) };
        let mut out = 0.0f32;
        let mut best = f64::INFINITY;
        for _ in 0..50 {
            let start = std::time::Instant::now();
            // SAFETY: the buffers are as long as the function reads and writes.
            unsafe { f(x.as_ptr(), &mut out, x.len() as i64) };
            best = best.min(start.elapsed().as_secs_f64() / x.len() as f64 * 1e9);
        }
        println!("f32 reduce {:<12} {best:.3} ns", op.name());
        assert_eq!(f64::from(out), want, "{}", op.name());
        x[77] = f32::NAN;
        // SAFETY: as above.
        unsafe { f(x.as_ptr(), &mut out, x.len() as i64) };
        assert!(out.is_nan(), "{}", op.name());
        x[77] = 78.0;
    }
}
