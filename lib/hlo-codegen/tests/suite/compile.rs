//! Tests of whole programs: compiled, run on one and on two threads, and compared with the interpreter.

use crate::module;
use hlo_codegen::{CompileOptions, Executable, Input, RunError, SourceFile, Stage, compile, emit, jit};
use hlo_ir::host::NoHost;
use hlo_ir::verify::Verified;
use hlo_ir::{AlignedBytes, ElementType, Literal, Module, Shape};

fn compiled(m: &Verified<Module>, threads: usize) -> Executable {
    compile(m.as_ref(), &CompileOptions { threads, ..CompileOptions::default() })
        .unwrap_or_else(|e| panic!("{e:?}"))
}

/// Returns a deterministic array of small numbers.
fn input(shape: &Shape, seed: u64) -> Literal {
    let a = shape.as_array().unwrap();
    let n = a.element_count() as u64;
    let value = |i: u64| (i.wrapping_mul(2_654_435_761).wrapping_add(seed * 97) >> 7) % 17;
    match a.element_type {
        ElementType::F32 => {
            let v: Vec<f32> = (0..n).map(|i| value(i) as f32 / 4.0 - 2.0).collect();
            Literal::from_elements(shape.clone(), &v)
        }
        ElementType::S32 => {
            let v: Vec<i32> = (0..n).map(|i| value(i) as i32 % 3).collect();
            Literal::from_elements(shape.clone(), &v)
        }
        ElementType::S64 => {
            let v: Vec<i64> = (0..n).map(|i| value(i) as i64).collect();
            Literal::from_elements(shape.clone(), &v)
        }
        ElementType::Pred => {
            let v: Vec<u8> = (0..n).map(|i| (value(i) % 2) as u8).collect();
            Literal::from_elements(shape.clone(), &v)
        }
        other => panic!("no inputs of type {other}"),
    }
}

/// Runs the compiled and the interpreted module on generated inputs and compares the results bit for bit.
fn check(text: &str) -> Executable {
    let m = module(text);
    let inputs: Vec<Literal> = m
        .parameters(m.entry())
        .into_iter()
        .enumerate()
        .map(|(i, p)| {
            let mut leaves: Vec<Literal> =
                m[p].shape.leaves().into_iter().map(|s| input(s, i as u64)).collect();
            match leaves.len() {
                1 => leaves.remove(0),
                _ => Literal::tuple(leaves),
            }
        })
        .collect();
    let expected = hlo_eval::evaluate(&m, &inputs, &hlo_eval::Options::default()).unwrap();
    let flat: Vec<&[u8]> = inputs.iter().flat_map(|l| l.leaves()).map(Literal::bytes).collect();
    let mut last = None;
    for threads in [1, 2] {
        let executable = compiled(&m, threads);
        for _ in 0..2 {
            let results = executable.run(&flat).unwrap();
            let expected: Vec<&[u8]> = expected.leaves().into_iter().map(Literal::bytes).collect();
            let found: Vec<&[u8]> = results.iter().map(|r| &**r).collect();
            assert_eq!(found, expected, "on {threads} threads");
        }
        last = Some(executable);
    }
    last.unwrap()
}

#[test]
fn straight_lines_with_constants_and_repeated_results() {
    check(
        "HloModule m\nENTRY e {\n a = f32[3,5] parameter(0)\n k = f32[3,5] constant({{1,2,3,4,5},{6,7,8,9,10},{11,12,13,14,15}})\n \
         one = f32[] constant(1)\n b = f32[3,5] broadcast(one), dimensions={}\n s = f32[3,5] add(a, k)\n \
         t = f32[5,3] transpose(s), dimensions={1,0}\n u = f32[3,5] subtract(s, b)\n \
         ROOT r = (f32[5,3], f32[3,5], f32[3,5], f32[3,5]) tuple(t, u, u, a)\n}\n",
    );
}

#[test]
fn constants_lie_in_memory_by_their_layout() {
    check(
        "HloModule m\nENTRY e {\n k = s32[2,3]{0,1} constant({{1,2,3},{4,5,6}})\n \
         ROOT c = s32[2,3]{1,0} copy(k)\n}\n",
    );
}

#[test]
fn loops_with_swaps_updates_and_loops_inside() {
    check(
        "HloModule m\n\
         ic { s = (s32[], f32[4]) parameter(0)\n i = s32[] get-tuple-element(s), index=0\n n = s32[] constant(3)\n \
           ROOT lt = pred[] compare(i, n), direction=LT\n}\n\
         ib { s = (s32[], f32[4]) parameter(0)\n i = s32[] get-tuple-element(s), index=0\n \
           x = f32[4] get-tuple-element(s), index=1\n one = s32[] constant(1)\n j = s32[] add(i, one)\n \
           y = f32[4] reverse(x), dimensions={0}\n z = f32[4] add(x, y)\n ROOT t = (s32[], f32[4]) tuple(j, z)\n}\n\
         oc { s = (s32[], f32[4], f32[4], f32[8,4]) parameter(0)\n i = s32[] get-tuple-element(s), index=0\n \
           n = s32[] constant(8)\n ROOT lt = pred[] compare(i, n), direction=LT\n}\n\
         ob { s = (s32[], f32[4], f32[4], f32[8,4]) parameter(0)\n i = s32[] get-tuple-element(s), index=0\n \
           a = f32[4] get-tuple-element(s), index=1\n b = f32[4] get-tuple-element(s), index=2\n \
           rows = f32[8,4] get-tuple-element(s), index=3\n one = s32[] constant(1)\n j = s32[] add(i, one)\n \
           z = s32[] constant(0)\n t = (s32[], f32[4]) tuple(z, a)\n l = (s32[], f32[4]) while(t), condition=ic, body=ib\n \
           c = f32[4] get-tuple-element(l), index=1\n h = f32[] constant(0.125)\n hb = f32[4] broadcast(h), dimensions={}\n \
           d = f32[4] multiply(c, hb)\n row = f32[1,4] reshape(d)\n \
           u = f32[8,4] dynamic-update-slice(rows, row, i, z)\n \
           ROOT r = (s32[], f32[4], f32[4], f32[8,4]) tuple(j, b, d, u)\n}\n\
         ENTRY e { a = f32[4] parameter(0)\n b = f32[4] parameter(1)\n m = f32[8,4] parameter(2)\n z = s32[] constant(0)\n \
           t = (s32[], f32[4], f32[4], f32[8,4]) tuple(z, a, b, m)\n \
           ROOT l = (s32[], f32[4], f32[4], f32[8,4]) while(t), condition=oc, body=ob\n}\n",
    );
}

#[test]
fn conditionals_of_both_forms() {
    let branches = "HloModule m\n\
         p { x = f32[4] parameter(0)\n ROOT n = f32[4] negate(x)\n}\n\
         q { x = f32[4] parameter(0)\n ROOT n = f32[4] add(x, x)\n}\n\
         r { ROOT x = f32[4] parameter(0)\n}\n";
    for selected in 0..2 {
        check(&format!(
            "{branches}ENTRY e {{ a = f32[4] parameter(0)\n c = pred[] constant({})\n \
             ROOT s = f32[4] conditional(c, a, a), true_computation=p, false_computation=q\n}}\n",
            selected == 1
        ));
    }
    for index in [-1, 0, 1, 2, 3] {
        check(&format!(
            "{branches}ENTRY e {{ a = f32[4] parameter(0)\n c = s32[] constant({index})\n \
             ROOT s = f32[4] conditional(c, a, a, a), branch_computations={{p,q,r}}\n}}\n"
        ));
    }
}

#[test]
fn products_in_the_runtime_and_in_kernels() {
    check(
        "HloModule m\nENTRY e {\n a = f32[2,32,4,16] parameter(0)\n b = f32[2,32,4,16] parameter(1)\n \
         d = f32[2,4,32,32] dot(a, b), lhs_batch_dims={0,2}, rhs_batch_dims={0,2}, \
         lhs_contracting_dims={3}, rhs_contracting_dims={3}\n \
         s = f32[2,4,2,3] slice(d), slice={[0:2],[0:4],[0:2],[0:3]}\n \
         ROOT t = f32[2,4,2,2] dot(s, s), lhs_batch_dims={0,1}, rhs_batch_dims={0,1}, \
         lhs_contracting_dims={3}, rhs_contracting_dims={3}\n}\n",
    );
}

#[test]
fn products_over_dimensions_that_lie_apart() {
    // Left: the two contracted dimensions are not adjacent. Right: they are swapped.
    check(
        "HloModule m\nENTRY e {\n a = f32[8,6,16] parameter(0)\n b = f32[16,10,8] parameter(1)\n \
         ROOT d = f32[6,10] dot(a, b), lhs_contracting_dims={0,2}, rhs_contracting_dims={2,0}\n}\n",
    );
}

#[test]
fn convolutions() {
    check(
        "HloModule m\nENTRY e {\n a = f32[2,9,8,4] parameter(0)\n b = f32[3,3,2,6] parameter(1)\n \
         ROOT d = f32[2,5,4,6] convolution(a, b), window={size=3x3 stride=2x2 pad=1_1x1_1}, \
         dim_labels=b01f_01io->b01f, feature_group_count=2\n}\n",
    );
}

#[test]
fn random_bits_with_and_without_the_new_state() {
    for algorithm in ["rng_three_fry", "rng_philox"] {
        check(&format!(
            "HloModule m\nENTRY e {{\n s = u64[2] constant({{42,7}})\n \
             a = (u64[2], u32[3,5]) rng-bit-generator(s), algorithm={algorithm}\n \
             t = u64[2] get-tuple-element(a), index=0\n b = (u64[2], u64[7]) rng-bit-generator(t), algorithm={algorithm}\n \
             ROOT r = ((u64[2], u32[3,5]), (u64[2], u64[7])) tuple(a, b)\n}}\n"
        ));
    }
}

#[test]
fn large_transpositions_and_changes_of_layout() {
    check(
        "HloModule m\nENTRY e {\n a = f32[3,100,70] parameter(0)\n \
         t = f32[70,3,100] transpose(a), dimensions={2,0,1}\n c = f32[3,100,70]{0,1,2} copy(a)\n \
         n = f32[3,100,70]{2,1,0} copy(c)\n m = f32[3,100,70] multiply(n, n)\n \
         ROOT r = (f32[70,3,100], f32[3,100,70]) tuple(t, m)\n}\n",
    );
}

#[test]
fn empty_arrays_need_no_code() {
    check(
        "HloModule m\nENTRY e {\n a = f32[0,4] parameter(0)\n b = f32[2,4] parameter(1)\n n = f32[0,4] negate(a)\n \
         ROOT t = (f32[0,4], f32[2,4]) tuple(n, b)\n}\n",
    );
}

#[test]
fn a_million_iterations_on_scalars_take_less_than_50_ms() {
    let m = module(
        "HloModule m\n\
         c { s = (s64[], s64[]) parameter(0)\n i = s64[] get-tuple-element(s), index=0\n n = s64[] constant(1000000)\n \
           ROOT lt = pred[] compare(i, n), direction=LT\n}\n\
         b { s = (s64[], s64[]) parameter(0)\n i = s64[] get-tuple-element(s), index=0\n \
           x = s64[] get-tuple-element(s), index=1\n one = s64[] constant(1)\n j = s64[] add(i, one)\n \
           k = s64[] constant(6364136223846793005)\n y = s64[] multiply(x, k)\n z = s64[] add(y, i)\n \
           ROOT t = (s64[], s64[]) tuple(j, z)\n}\n\
         ENTRY e { x = s64[] parameter(0)\n z = s64[] constant(0)\n t = (s64[], s64[]) tuple(z, x)\n \
           l = (s64[], s64[]) while(t), condition=c, body=b\n ROOT r = s64[] get-tuple-element(l), index=1\n}\n",
    );
    let executable = compiled(&m, 1);
    let x = AlignedBytes::from_slice(&7i64.to_le_bytes());
    let mut expected = 7i64;
    for i in 0..1_000_000 {
        expected = expected.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(i);
    }
    let start = std::time::Instant::now();
    let result = executable.run(&[&x]).unwrap();
    let time = start.elapsed();
    assert_eq!(*result[0], expected.to_le_bytes());
    assert!(time.as_millis() < 50, "{time:?}");
}

#[test]
fn wrong_inputs_and_instructions_without_code_are_errors() {
    let m = module("HloModule m\nENTRY e {\n a = f32[4] parameter(0)\n ROOT n = f32[4] negate(a)\n}\n");
    let executable = compiled(&m, 1);
    assert_eq!(executable.run(&[]), Err(RunError::Count { what: "input", expected: 1, found: 0 }));
    assert!(matches!(executable.run(&[&[0; 8]]), Err(RunError::Size { expected: 16, found: 8, .. })));
    // Unaligned buffers are copied.
    let bytes = AlignedBytes::zeroed(20);
    assert_eq!(&*executable.run(&[&bytes[3..19]]).unwrap()[0], &[0, 0, 0, 0x80].repeat(4)[..]);
    let m = module(
        "HloModule m\nENTRY e {\n a = f32[4] parameter(0)\n x = f32[4] custom-call(a), custom_call_target=\"f\"\n \
         y = f32[4] custom-call(x), custom_call_target=\"g\"\n ROOT n = f32[4] negate(y)\n}\n",
    );
    let errors = compile(m.as_ref(), &CompileOptions::default()).unwrap_err();
    assert_eq!(errors.len(), 2, "{errors:?}");
    assert!(errors.iter().all(|e| !e.labels.is_empty()));
}

/// The passes that lower the computations of reductions and maps did not run. The error points to the
/// instruction inside the computation and shows the instruction that it was compiled for. The first case is
/// large enough for a kernel function, and the second is small enough for the host function.
#[test]
fn an_instruction_without_code_inside_of_loops_is_the_one_that_is_shown() {
    for (size, loops) in [(100_000, "reduce(a, z), dimensions={0}, to_apply=f"), (2, "map(a, a), to_apply=f")]
    {
        let result = if loops.starts_with("map") { format!("f32[{size}]") } else { "f32[]".to_string() };
        let text = format!(
            "HloModule m\nf {{\n x = f32[] parameter(0)\n y = f32[] parameter(1)\n v = f32[1] reshape(x)\n \
             w = f32[2] concatenate(v, v), dimensions={{0}}\n u = f32[1] slice(w), slice={{[1:2]}}\n \
             s = f32[] reshape(u)\n ROOT r = f32[] add(s, y)\n}}\n\
             ENTRY e {{\n a = f32[{size}] parameter(0)\n z = f32[] constant(0)\n ROOT n = {result} {loops}\n}}\n"
        );
        let m = module(&text);
        let errors = compile(m.as_ref(), &CompileOptions::default()).unwrap_err();
        let error = errors[0].focused(&text);
        let marked: Vec<&str> = error.labels.iter().map(|l| &text[l.span.range()]).collect();
        let head = loops.split(", dim").next().unwrap_or(loops).split(", to_apply").next().unwrap_or(loops);
        assert_eq!(marked, ["v = f32[1] reshape(x)", &*format!("ROOT n = {result} {head}")], "{errors:?}");
        assert!(error.message.contains("is no function of scalars"), "{error:?}");
        assert!(error.labels[0].primary && !error.labels[1].primary);
    }
}

#[test]
fn every_stage_can_be_looked_at() {
    let m = module("HloModule m\nENTRY e {\n a = f32[400] parameter(0)\n ROOT n = f32[400] negate(a)\n}\n");
    let text = |stage| String::from_utf8(emit(m.as_ref(), stage, None, false).unwrap()).unwrap();
    assert!(text(Stage::Mlir).contains("scf.for"));
    assert!(text(Stage::LlvmDialect).contains("llvm.func @hlo_main"));
    let (translated, optimized) = (text(Stage::Llvm), text(Stage::OptimizedLlvm));
    assert!(translated.contains("define i32 @hlo_main(") && optimized.contains("define i32 @hlo_main("));
    // LLVM vectorizes the code.
    assert!(!translated.contains("fneg <") && optimized.contains("fneg <"), "{optimized}");
    assert!(text(Stage::Asm).contains("hlo_main:"));
    assert_eq!(emit(m.as_ref(), Stage::Obj, None, false).unwrap()[..4], *b"\x7fELF");
}

/// MLIR's own tools can read the text of both stages. Operations carry the names and locations of their
/// instructions, for any file name.
#[test]
fn the_text_of_mlir_reads_back_with_places() {
    let hlo = "HloModule m\nENTRY e {\n a = f32[400] parameter(0)\n ROOT n = f32[400] negate(a)\n}\n";
    let file = SourceFile::new("a \"b\"\n\\c.hlo", hlo);
    for stage in [Stage::Mlir, Stage::LlvmDialect] {
        let text = String::from_utf8(emit(module(hlo).as_ref(), stage, Some(&file), true).unwrap()).unwrap();
        let context = jit::context();
        let read = melior::ir::Module::parse(&context, &text).expect("what MLIR printed");
        assert!(melior::ir::operation::OperationLike::verify(&read.as_operation()));
        assert!(text.contains(r#"loc("n"("#) && text.contains(r#""a \22b\22\0A\\c.hlo":4:"#), "{text}");
    }
}

/// Tests parameters that are donated to outputs at any address, packed or not, and to outputs that are not
/// theirs.
#[test]
fn inputs_may_lie_in_outputs() {
    let module = module(
        "HloModule m, input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {}, may-alias) },
  entry_computation_layout={(f32[3]{0}, s4[4]{0:E(4)})->(f32[3]{0}, s4[4]{0:E(4)})}
ENTRY e {
  a = f32[3] parameter(0)
  b = s4[4] parameter(1)
  c = f32[3] add(a, a)
  d = s4[4] negate(b)
  ROOT r = (f32[3], s4[4]) tuple(c, d)
}",
    );
    let options = CompileOptions { donation: true, threads: 1, ..CompileOptions::default() };
    let program = compile(module.as_ref(), &options).unwrap();
    let floats: Vec<u8> = [1f32, 2., 3.].into_iter().flat_map(f32::to_le_bytes).collect();
    for offset in [0, 4] {
        let mut memory = AlignedBytes::zeroed(32);
        memory[offset..offset + 12].copy_from_slice(&floats);
        let mut packed = [0x21u8, 0x43];
        let mut outputs: [&mut [u8]; 2] = [&mut memory[offset..offset + 12], &mut packed];
        let inputs = [Input::InOutput(0), Input::InOutput(1)];
        program.run_watched(&inputs, &mut outputs, &mut NoHost, None).unwrap();
        let doubled: Vec<u8> = [2f32, 4., 6.].into_iter().flat_map(f32::to_le_bytes).collect();
        assert_eq!(outputs[0], doubled);
        assert_eq!(packed, [0xef, 0xcd]);
    }
    let (mut first, mut second) = ([0u8; 12], [0u8; 2]);
    let mut outputs: [&mut [u8]; 2] = [&mut first, &mut second];
    for (inputs, wrong) in [
        ([Input::InOutput(1), Input::InOutput(1)], (0, 1)),
        ([Input::Bytes(&floats), Input::InOutput(9)], (1, 9)),
    ] {
        let error = program.run_watched(&inputs, &mut outputs, &mut NoHost, None).unwrap_err();
        assert_eq!(error, RunError::Donation { input: wrong.0, output: wrong.1 });
    }
}
