//! Each kernel strategy, compared with the interpreter. The root of a small module is emitted as one kernel.
//! The kernel runs over all its iterations at once and then in pieces.

use hlo_codegen::builder::{ModuleBuilder, PointerFacts, Signature};
use hlo_codegen::internals::emit_kernel;
use hlo_codegen::jit::{self, Effort, FileType, Linked};
use hlo_ir::diag::Diag;
use hlo_ir::verify::Verified;
use hlo_ir::{AlignedBytes, ElementType, Literal, Module, Op, Shape};
use hlo_kernel::{Kernel, KernelSpec};
use hlo_testing::Numbers;
use std::convert::Infallible;

/// Returns a deterministic input: small numbers with fractions, small non-negative integers, or both truth
/// values.
fn input(shape: &Shape, seed: u64) -> Literal {
    let array = shape.as_array().unwrap();
    let mut numbers = Numbers::new(seed);
    let mut next = || numbers.bits() >> 32;
    let n = array.element_count();
    match array.element_type {
        ElementType::F32 => {
            let v: Vec<f32> = (0..n).map(|_| (next() % 4001) as f32 / 1000.0 - 2.0).collect();
            Literal::from_elements(shape.clone(), &v)
        }
        ElementType::Bf16 | ElementType::F16 => {
            let v: Vec<u16> = (0..n).map(|_| 0x3c00 + (next() % 256) as u16).collect();
            Literal::from_elements(shape.clone(), &v)
        }
        ElementType::S32 => {
            let v: Vec<i32> = (0..n).map(|_| (next() % 7) as i32).collect();
            Literal::from_elements(shape.clone(), &v)
        }
        ElementType::Pred => {
            let v: Vec<u8> = (0..n).map(|_| (next() % 2) as u8).collect();
            Literal::from_elements(shape.clone(), &v)
        }
        other => panic!("no inputs of type {other}"),
    }
}

/// Runs the root of the entry as a kernel on its operands' buffers. `shared` is the operand whose buffer the
/// single result shares. `pieces` is the number of ranges that the iterations are split into.
fn run_kernel(
    module: &Verified<Module>,
    inputs: &[Literal],
    shared: Option<usize>,
    pieces: i64,
) -> Vec<AlignedBytes> {
    let root = module[module.entry()].root();
    let instr = &module[root];
    let operands: Vec<Option<usize>> = instr
        .operands
        .iter()
        .enumerate()
        .map(|(n, &o)| (!matches!(module[o].op, Op::Constant(_))).then_some(n))
        .collect();
    let leaves = instr.shape.leaves();
    let first = operands.len();
    let results: Vec<usize> = match shared {
        Some(operand) => vec![operand],
        None => (0..leaves.len()).map(|i| first + i).collect(),
    };
    let slots = first + leaves.len();
    let spec =
        KernelSpec { instruction: root, operand_slots: operands, result_slots: results.clone(), slots };
    let kernel = Kernel::new(module.as_ref(), spec).unwrap();

    let context = jit::context();
    let mut mlir = melior::ir::Module::new(melior::ir::Location::unknown(&context));
    let functions = ModuleBuilder::new(&context, &mlir);
    let buffer = (functions.ptr(), Some(PointerFacts { noalias: true, align: 16 }));
    let range = [(functions.int(64), None); 2];
    let parameters = [vec![buffer; slots], range.to_vec()].concat();
    let signature = Signature { parameters: &parameters, result: None };
    let emitted = functions.function("kernel", signature, None, |b, args| {
        emit_kernel(b, &kernel, &args[..slots], [args[slots], args[slots + 1]])?;
        b.ret(None);
        Ok::<_, Diag>(())
    });
    emitted.unwrap();
    // A function that receives the buffers in an array, so that any number of them can be passed.
    let signature = Signature { parameters: &[(functions.ptr(), None), range[0], range[1]], result: None };
    let Ok(()) = functions.function("entry", signature, None, |b, args| {
        let mut all: Vec<_> =
            (0..slots).map(|k| b.load(b.ptr(), b.gep(args[0], b.index(k as i64), b.ptr()))).collect();
        all.extend([args[1], args[2]]);
        b.call("kernel", &all, None);
        b.ret(None);
        Ok::<_, Infallible>(())
    });
    jit::lower_to_llvm_dialect(&context, &mut mlir).unwrap();
    let object = jit::compile(&context, &mlir, Effort::Full, FileType::Object).unwrap();
    let linked = Linked::link(&[object], &[], false).unwrap();
    let entry = linked.lookup("entry").unwrap();
    // SAFETY: the function has this signature.
    let entry: unsafe extern "C" fn(*const *mut u8, i64, i64) = unsafe { std::mem::transmute(entry) };

    let mut buffers: Vec<AlignedBytes> = inputs.iter().map(|l| AlignedBytes::from_slice(l.bytes())).collect();
    buffers.extend(leaves.iter().map(|l| AlignedBytes::zeroed(l.byte_size())));
    let pointers: Vec<*mut u8> = buffers.iter_mut().map(|b| b.as_mut_ptr()).collect();
    let step = (kernel.iterations + pieces - 1) / pieces.max(1);
    for piece in 0..pieces {
        let (begin, end) = (piece * step, ((piece + 1) * step).min(kernel.iterations));
        if begin < end {
            // SAFETY: every buffer has the size of its shape.
            unsafe { entry(pointers.as_ptr(), begin, end) };
        }
    }
    results.iter().map(|&r| buffers[r].clone()).collect()
}

fn check_shared(text: &str, tolerance: f64, shared: Option<usize>) {
    let module = crate::module(text);
    let parameters = module.parameters(module.entry());
    let inputs: Vec<Literal> =
        parameters.iter().enumerate().map(|(n, &p)| input(&module[p].shape, n as u64 + 1)).collect();
    let root = module[module.entry()].root();
    let operand_inputs: Vec<Literal> = module[root]
        .operands
        .iter()
        .map(|o| match &module[*o].op {
            Op::Constant(c) => c.literal.clone(),
            _ => inputs[parameters.iter().position(|p| p == o).unwrap()].clone(),
        })
        .collect();
    let want = hlo_eval::evaluate(&module, &inputs, &hlo_eval::Options::default()).unwrap();
    let got = run_kernel(&module, &operand_inputs, shared, 1);
    if shared.is_none() {
        assert_eq!(got, run_kernel(&module, &operand_inputs, shared, 3), "pieces give other bits: {text}");
    }
    for (got, want) in got.iter().zip(want.leaves()) {
        let shape = want.shape().as_array().unwrap();
        if shape.element_type == ElementType::F32 {
            let got: &[f32] = bytemuck::cast_slice(got);
            for (n, (&g, &w)) in got.iter().zip(want.elements::<f32>()).enumerate() {
                let near = f64::from((g - w).abs()) <= tolerance * f64::from(w.abs()).max(1.0);
                assert!(near || g == w || (g.is_nan() && w.is_nan()), "element {n}: {g}, want {w}\n{text}");
            }
        } else {
            assert_eq!(&got[..], want.bytes(), "{text}");
        }
    }
}

fn check(text: &str, tolerance: f64) {
    check_shared(text, tolerance, None);
}

fn one_op(parameters: &[&str], result: &str, op: &str) -> String {
    let mut text = String::from(
        "HloModule m\n\nadd {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n  ROOT r = f32[] add(x, y)\n}\n\nmax {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n  ROOT r = f32[] maximum(x, y)\n}\n\nsecond {\n  x = f32[] parameter(0)\n  ROOT y = f32[] parameter(1)\n}\n\nENTRY e {\n",
    );
    for (n, p) in parameters.iter().enumerate() {
        text += &format!("  p{n} = {p} parameter({n})\n");
    }
    text + &format!("  z = f32[] constant(0)\n  ROOT r = {result} {op}\n}}\n")
}

#[test]
fn data_movement() {
    for (parameters, result, op) in [
        (vec!["f32[5,7]"], "f32[7,5]", "transpose(p0), dimensions={1,0}"),
        (vec!["f32[50,70]"], "f32[70,50]", "transpose(p0), dimensions={1,0}"),
        (vec!["f32[33,3,40,2]"], "f32[2,40,3,33]", "transpose(p0), dimensions={3,2,1,0}"),
        (vec!["f32[6,4]"], "f32[3,8]", "reshape(p0)"),
        (vec!["f32[6,4]"], "f32[2,3,2,2]", "reshape(p0)"),
        (vec!["f32[2,3,4]"], "f32[4,6]", "reshape(p0)"),
        (vec!["f32[5]"], "f32[3,5,2]", "broadcast(p0), dimensions={1}"),
        (vec!["f32[5,7]"], "f32[5,7]", "reverse(p0), dimensions={0,1}"),
        (vec!["f32[9,40]"], "f32[4,13]", "slice(p0), slice={[1:9:2],[0:39:3]}"),
        (vec!["f32[5,40]", "f32[]"], "f32[8,50]", "pad(p0, p1), padding=1_2x3_7"),
        (vec!["f32[5,6]", "f32[]"], "f32[6,20]", "pad(p0, p1), padding=2_-1x-1_5_2"),
        (vec!["f32[3,20]", "f32[3,1]", "f32[3,30]"], "f32[3,51]", "concatenate(p0, p1, p2), dimensions={1}"),
        (vec!["f32[3,2]", "f32[1,2]", "f32[4,2]"], "f32[8,2]", "concatenate(p0, p1, p2), dimensions={0}"),
        (vec![], "s32[4,5]", "iota(), iota_dimension=1"),
        (
            vec!["f32[9,9]", "s32[]", "s32[]"],
            "f32[4,3]",
            "dynamic-slice(p0, p1, p2), dynamic_slice_sizes={4,3}",
        ),
        (vec!["f32[9,9]", "f32[2,9]", "s32[]", "s32[]"], "f32[9,9]", "dynamic-update-slice(p0, p1, p2, p3)"),
        (
            vec!["f32[10,6]", "s32[3,2]"],
            "f32[3,2,6]",
            "gather(p0, p1), offset_dims={2}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=2, slice_sizes={1,6}",
        ),
    ] {
        check(&one_op(&parameters, result, op), 0.0);
    }
}

#[test]
fn layouts() {
    for (parameters, result, op) in [
        (vec!["f32[5,7]{0,1}"], "f32[7,5]{1,0}", "transpose(p0), dimensions={1,0}"),
        (vec!["f32[6,4]{0,1}"], "f32[24]{0}", "reshape(p0)"),
    ] {
        // The interpreter's literals are row-major, whatever the layout. Compare through a row-major copy.
        let text = one_op(&parameters, result, op);
        let module = crate::module(&text);
        let p0 = module.parameters(module.entry())[0];
        let logical = input(&module[p0].shape, 1);
        let want = hlo_eval::evaluate(&module, std::slice::from_ref(&logical), &Default::default()).unwrap();
        let dims = &module[p0].shape.as_array().unwrap().dims;
        let (rows, columns) = (dims[0] as usize, dims[1] as usize);
        let mut physical = vec![0f32; rows * columns];
        for r in 0..rows {
            for c in 0..columns {
                physical[c * rows + r] = logical.elements::<f32>()[r * columns + c];
            }
        }
        let got =
            run_kernel(&module, &[Literal::from_elements(module[p0].shape.clone(), &physical)], None, 1);
        assert_eq!(&got[0][..], want.bytes(), "{text}");
    }
}

#[test]
fn reductions() {
    for (parameters, result, op) in [
        (vec!["f32[7,100]"], "f32[7]", "reduce(p0, z), dimensions={1}, to_apply=add"),
        (vec!["f32[50,37]"], "f32[37]", "reduce(p0, z), dimensions={0}, to_apply=add"),
        (vec!["f32[3,50,2100]"], "f32[3,2100]", "reduce(p0, z), dimensions={1}, to_apply=max"),
        (vec!["f32[4,5,6,9]"], "f32[5,9]", "reduce(p0, z), dimensions={0,2}, to_apply=add"),
        (vec!["f32[4,5,6]"], "f32[]", "reduce(p0, z), dimensions={0,1,2}, to_apply=max"),
        (vec!["f32[4,0]"], "f32[4]", "reduce(p0, z), dimensions={1}, to_apply=add"),
        (
            vec!["f32[9,12]"],
            "f32[9,5]",
            "reduce-window(p0, z), window={size=1x3 stride=1x3 pad=0_0x2_1}, to_apply=add",
        ),
        (
            vec!["f32[9,12]", "f32[12,5]"],
            "f32[9,5]",
            "dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
        ),
        (
            vec!["f32[2,3,4]", "f32[4,2,5]"],
            "f32[2,3,5]",
            "dot(p0, p1), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={1}, rhs_contracting_dims={0}",
        ),
    ] {
        check(&one_op(&parameters, result, op), 1e-5);
    }
}

#[test]
fn in_place() {
    let dus = one_op(
        &["f32[9,9]", "f32[2,9]", "s32[]", "s32[]"],
        "f32[9,9]",
        "dynamic-update-slice(p0, p1, p2, p3)",
    );
    check_shared(&dus, 0.0, Some(0));
    for function in ["add", "second"] {
        let scatter = one_op(
            &["f32[5,6]", "s32[8,1]", "f32[8,6]"],
            "f32[5,6]",
            &format!(
                "scatter(p0, p1, p2), update_window_dims={{1}}, inserted_window_dims={{0}}, scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply={function}"
            ),
        );
        check_shared(&scatter, 1e-6, Some(0));
    }
}

const SOFTMAX: &str = "HloModule m

max {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT r = f32[] maximum(x, y)
}

add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT r = f32[] add(x, y)
}

fused {
  p = f32[33,200] parameter(0)
  low = f32[] constant(-inf)
  m = f32[33] reduce(p, low), dimensions={1}, to_apply=max
  mb = f32[33,200] broadcast(m), dimensions={0}
  d = f32[33,200] subtract(p, mb)
  e = f32[33,200] exponential(d)
  zero = f32[] constant(0)
  s = f32[33] reduce(e, zero), dimensions={1}, to_apply=add
  t1 = f32[33,1] reshape(s)
  t2 = f32[33] reshape(t1)
  sb = f32[33,200] broadcast(t2), dimensions={0}
  ROOT q = f32[33,200] divide(e, sb)
}

ENTRY e {
  p0 = f32[33,200] parameter(0)
  ROOT r = f32[33,200] fusion(p0), kind=kInput, calls=fused
}
";

#[test]
fn rows() {
    check(SOFTMAX, 1e-6);
}

#[test]
fn fusions() {
    check(
        "HloModule m

fused {
  a = f32[64,48] parameter(0)
  b = f32[48] parameter(1)
  two = f32[] constant(2)
  twos = f32[64,48] broadcast(two), dimensions={}
  bb = f32[64,48] broadcast(b), dimensions={1}
  s = f32[64,48] add(a, bb)
  m = f32[64,48] multiply(s, twos)
  t = f32[48,64] transpose(m), dimensions={1,0}
  u = f32[48,64] exponential(t)
  ROOT r = (f32[48,64], f32[48,64]) tuple(t, u)
}

ENTRY e {
  p0 = f32[64,48] parameter(0)
  p1 = f32[48] parameter(1)
  ROOT r = (f32[48,64], f32[48,64]) fusion(p0, p1), kind=kLoop, calls=fused
}
",
        1e-6,
    );
}
