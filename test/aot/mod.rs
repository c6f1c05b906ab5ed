//! Tests of ahead-of-time programs: modules are compiled to object files, linked into C, C++ and Rust
//! programs, and run. Their results must have the same bits as those of a program that is compiled at run
//! time, and must equal the interpreter's within the tolerance.

mod build;
mod targets;
#[path = "../tool.rs"]
mod tool;

use build::{Built, build, link_c, run};
use hlo_client::{Buffer, Client, CompileOptions, Engine, RunOptions};
use hlo_ir::{ElementType, Literal};
use hlo_tools_common::compare::{Tolerance, compare, magnitude};

/// A module, the names of its buffers, and whether it needs the runtime.
struct Case {
    name: &'static str,
    text: &'static str,
    arguments: &'static [&'static str],
    results: &'static [&'static str],
    runtime: bool,
}

const ELEMENTWISE: Case = Case {
    name: "elementwise",
    text: "HloModule elementwise
ENTRY main {
  Arg_0.1 = f32[40,25] parameter(0)
  float = f32[40,25] parameter(1)
  e = f32[40,25] exponential(Arg_0.1)
  t = f32[40,25] tanh(float)
  ROOT s = f32[40,25] add(e, t)
}",
    arguments: &["Arg_0_1", "float_"],
    results: &["result"],
    runtime: false,
};

const MLP: Case = Case {
    name: "mlp",
    text: "HloModule mlp
ENTRY main {
  x = f32[8,64] parameter(0)
  w1 = f32[64,128] parameter(1)
  b1 = f32[128] parameter(2)
  w2 = f32[128,10] parameter(3)
  h = f32[8,128] dot(x, w1), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  b = f32[8,128] broadcast(b1), dimensions={1}
  s = f32[8,128] add(h, b)
  zero = f32[] constant(0)
  zeros = f32[8,128] broadcast(zero), dimensions={}
  r = f32[8,128] maximum(s, zeros)
  ROOT y = f32[8,10] dot(r, w2), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}",
    arguments: &["x", "w1", "b1", "w2"],
    results: &["result"],
    runtime: true,
};

const CASES: &[Case] = &[
    ELEMENTWISE,
    MLP,
    Case {
        name: "newton",
        text: "HloModule newton
body {
  s = (f32[16], f32[16], s32[]) parameter(0)
  x = f32[16] get-tuple-element(s), index=0
  a = f32[16] get-tuple-element(s), index=1
  i = s32[] get-tuple-element(s), index=2
  q = f32[16] divide(a, x)
  m = f32[16] add(x, q)
  half = f32[] constant(0.5)
  halves = f32[16] broadcast(half), dimensions={}
  next = f32[16] multiply(m, halves)
  one = s32[] constant(1)
  j = s32[] add(i, one)
  ROOT t = (f32[16], f32[16], s32[]) tuple(next, a, j)
}
condition {
  s = (f32[16], f32[16], s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=2
  n = s32[] constant(20)
  ROOT less = pred[] compare(i, n), direction=LT
}
ENTRY main {
  a = f32[16] parameter(0)
  sq = f32[16] multiply(a, a)
  one = f32[] constant(1)
  ones = f32[16] broadcast(one), dimensions={}
  p = f32[16] add(sq, ones)
  zero = s32[] constant(0)
  init = (f32[16], f32[16], s32[]) tuple(ones, p, zero)
  ROOT r = (f32[16], f32[16], s32[]) while(init), condition=condition, body=body
}",
        arguments: &["a"],
        results: &["result_0", "result_1", "result_2"],
        runtime: false,
    },
    Case {
        name: "nested",
        text: "HloModule nested
ENTRY main {
  p = (f32[3], (s32[2], f64[2])) parameter(0)
  x = f32[3] get-tuple-element(p), index=0
  q = (s32[2], f64[2]) get-tuple-element(p), index=1
  i = s32[2] get-tuple-element(q), index=0
  d = f64[2] get-tuple-element(q), index=1
  n = f32[3] negate(x)
  e = f64[2] multiply(d, d)
  inner = (f64[2], s32[2]) tuple(e, i)
  ROOT r = (f32[3], (f64[2], s32[2])) tuple(n, inner)
}",
        arguments: &["p_0", "p_1_0", "p_1_1"],
        results: &["result_0", "result_1_0", "result_1_1"],
        runtime: false,
    },
    Case {
        name: "sorting",
        text: "HloModule sorting
less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  i = s32[] parameter(2)
  j = s32[] parameter(3)
  n = f32[] negate(a)
  m = f32[] negate(b)
  ROOT c = pred[] compare(n, m), direction=LT
}
ENTRY main {
  keys = f32[300] parameter(0)
  at = s32[300] iota(), iota_dimension=0
  ROOT s = (f32[300], s32[300]) sort(keys, at), dimensions={0}, to_apply=less, is_stable=true
}",
        arguments: &["keys"],
        results: &["result_0", "result_1"],
        runtime: true,
    },
    Case {
        name: "convolve",
        text: "HloModule convolve
ENTRY main {
  image = f32[2,12,12,3] parameter(0)
  kernel = f32[3,3,3,8] parameter(1)
  ROOT c = f32[2,12,12,8] convolution(image, kernel), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f
}",
        arguments: &["image", "kernel"],
        results: &["result"],
        runtime: true,
    },
    Case {
        name: "constants",
        text: "HloModule constants
ENTRY main {
  x = s32[7] parameter(0)
  table = s32[7] constant({3,1,4,1,5,9,2})
  ROOT r = s32[7] add(x, table)
}",
        arguments: &["x"],
        results: &["result"],
        runtime: false,
    },
    Case {
        name: "strided",
        text: "HloModule strided, entry_computation_layout={(f32[5,7]{0,1}, f32[5,7]{1,0})->f32[5,7]{0,1}}
ENTRY main {
  x = f32[5,7]{0,1} parameter(0)
  y = f32[5,7]{1,0} parameter(1)
  ROOT s = f32[5,7]{0,1} subtract(x, y)
}",
        arguments: &["x", "y"],
        results: &["result"],
        runtime: false,
    },
    Case {
        name: "small_types",
        text: "HloModule small_types
ENTRY main {
  a = s4[9] parameter(0)
  b = bf16[9] parameter(1)
  c = pred[9] parameter(2)
  h = f16[9] parameter(3)
  z = c64[9] parameter(4)
  w = s4[9] add(a, a)
  d = bf16[9] multiply(b, b)
  n = pred[9] not(c)
  g = f16[9] add(h, h)
  y = c64[9] multiply(z, z)
  ROOT r = (s4[9], bf16[9], pred[9], f16[9], c64[9]) tuple(w, d, n, g, y)
}",
        arguments: &["a", "b", "c", "h", "z"],
        results: &["result_0", "result_1", "result_2", "result_3", "result_4"],
        runtime: false,
    },
    Case {
        name: "long_loop",
        text: "HloModule long_loop
ENTRY main {
  x = f32[600000] parameter(0)
  y = f32[600000] cosine(x)
  ROOT z = f32[600000] multiply(y, x)
}",
        arguments: &["x"],
        results: &["result"],
        runtime: true,
    },
    Case {
        name: "algebra",
        text: "HloModule algebra
ENTRY main {
  m = f32[6,6] parameter(0)
  t = f32[6,6] transpose(m), dimensions={1,0}
  g = f32[6,6] dot(m, t), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  i = s32[6,6] iota(), iota_dimension=0
  j = s32[6,6] iota(), iota_dimension=1
  same = pred[6,6] compare(i, j), direction=EQ
  many = f32[] constant(50)
  manys = f32[6,6] broadcast(many), dimensions={}
  zero = f32[] constant(0)
  zeros = f32[6,6] broadcast(zero), dimensions={}
  diagonal = f32[6,6] select(same, manys, zeros)
  a = f32[6,6] add(g, diagonal)
  c = f32[6,6] cholesky(a), lower=true
  s = f32[6,6] triangular-solve(c, m), left_side=true, lower=true, unit_diagonal=false, transpose_a=NO_TRANSPOSE
  f = c64[6,4] fft(m), fft_type=RFFT, fft_length={6}
  ROOT r = (f32[6,6], c64[6,4]) tuple(s, f)
}",
        arguments: &["m"],
        results: &["result_0", "result_1"],
        runtime: true,
    },
    Case {
        name: "dynamic",
        text: "HloModule dynamic
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
ENTRY main {
  x = f32[<=8] parameter(0)
  zero = f32[] constant(0)
  ROOT sum = f32[] reduce(x, zero), dimensions={0}, to_apply=add
}",
        arguments: &["x", "x_size0"],
        results: &["result", "sizes_fit"],
        runtime: false,
    },
];

/// Returns the bytes of element number `i` of an argument.
fn element(ty: ElementType, i: usize) -> Vec<u8> {
    let small = (i * 37 % 29) as i64 - 14;
    let real = small as f32 * 0.25;
    match ty {
        ElementType::Pred => vec![u8::from(i.is_multiple_of(3))],
        ElementType::S4 => vec![(small % 4) as u8],
        ElementType::S32 => (small as i32).to_le_bytes().to_vec(),
        ElementType::F32 => real.to_le_bytes().to_vec(),
        ElementType::F64 => f64::from(real).to_le_bytes().to_vec(),
        ElementType::Bf16 => ((real.to_bits() >> 16) as u16).to_le_bytes().to_vec(),
        // From -14 to 14. The bits are 1.0 plus the number in the significand.
        ElementType::F16 => (0x3c00 + small.unsigned_abs() as u16).to_le_bytes().to_vec(),
        ElementType::C64 => [real.to_le_bytes(), (1.0 - real).to_le_bytes()].concat(),
        other => panic!("no test has {other}"),
    }
}

/// Returns the arguments of a program, and the results of both engines: the bits of the compiled one and the
/// values of the interpreter.
fn expected(text: &str) -> (Vec<Vec<u8>>, Vec<Vec<u8>>, Vec<Literal>) {
    let load = |engine| {
        let options = CompileOptions { engine: Some(engine), threads: 2, ..CompileOptions::default() };
        Client::local().compile_text(text, &options).unwrap()
    };
    let [compiled, interpreted] = [Engine::Compiled, Engine::Interpreted].map(load);
    let literals: Vec<Literal> = compiled
        .parameters()
        .iter()
        .flat_map(|p| p.leaves())
        .map(|shape| {
            let array = shape.as_array().unwrap();
            let bytes: Vec<u8> =
                (0..array.element_count()).flat_map(|i| element(array.element_type, i)).collect();
            let mut aligned = hlo_ir::AlignedBytes::try_zeroed(bytes.len()).unwrap();
            aligned.copy_from_slice(&bytes);
            Literal::try_from_bytes(shape.without_layout(), aligned).unwrap()
        })
        .collect();
    let results = |program: &hlo_client::Executable| {
        let buffers = program.buffers(&literals).unwrap();
        let all: Vec<&Buffer> = buffers.iter().collect();
        program.execute(&all, RunOptions::default()).unwrap()
    };
    let buffers = compiled.buffers(&literals).unwrap();
    let mut arguments: Vec<Vec<u8>> = buffers.iter().map(|b| b.bytes().unwrap().to_vec()).collect();
    // The sizes of dynamic dimensions come after all arguments. They are the bounds.
    for leaf in compiled.parameters().iter().flat_map(|p| p.leaves()) {
        for (_, d) in leaf.dynamic_dimensions() {
            arguments.push((leaf.as_array().unwrap().dims[d] as i32).to_le_bytes().to_vec());
        }
    }
    let bits = results(&compiled).iter().map(|b| b.bytes().unwrap().to_vec()).collect();
    let values = results(&interpreted).into_iter().map(|b| b.into_literal().unwrap()).collect();
    (arguments, bits, values)
}

/// Compares the output of a program with the results of both engines.
fn check(built: &Built, written: &[u8], bits: &[Vec<u8>], values: &[Literal], text: &str) {
    let mut rest = written;
    let program = Client::local().compile_text(text, &CompileOptions::default()).unwrap();
    for ((bits, value), shape) in bits.iter().zip(values).zip(program.result().leaves()) {
        let found;
        (found, rest) = rest.split_at(bits.len());
        assert!(found == &bits[..], "{}: not the bits of the program that runs at once", built.name);
        let mut aligned = hlo_ir::AlignedBytes::try_zeroed(found.len()).unwrap();
        aligned.copy_from_slice(found);
        let laid_out = hlo_ir::laid_out::from_buffer(aligned, shape.as_array().unwrap());
        let tolerance = Tolerance::default_for(shape.as_array().unwrap().element_type);
        let tolerance = tolerance.scaled(magnitude(value).max(1.0));
        let compared = compare(&laid_out, value, tolerance).unwrap();
        assert_eq!(compared.mismatch_fraction(), 0.0, "{}: not the interpreter's values", built.name);
    }
    // If sizes are known only at run time, the last byte says whether they are consistent.
    let last: &[u8] = if text.contains("<=") { &[1] } else { &[] };
    assert_eq!(rest, last, "{}", built.name);
}

#[test]
fn c_programs_give_what_both_engines_give() {
    for case in CASES {
        let (arguments, bits, values) = expected(case.text);
        let built = build(case.name, case.text, &[]);
        assert_eq!(built.has_runtime(), case.runtime, "{}", case.name);
        let program = link_c(&built, case.arguments, case.results);
        let input = arguments.concat();
        for threads in ["", "1", "3"] {
            let written = run(&program, threads, &input);
            check(&built, &written, &bits, &values, case.text);
        }
    }
}

#[test]
fn a_program_for_one_thread_needs_no_runtime_for_its_loops() {
    let case = CASES.iter().find(|c| c.name == "long_loop").unwrap();
    let (arguments, bits, values) = expected(case.text);
    let built = build("long_loop_alone", case.text, &["--threads=1"]);
    assert!(!built.has_runtime());
    let program = link_c(&built, case.arguments, case.results);
    check(&built, &run(&program, "", &arguments.concat()), &bits, &values, case.text);
}

#[test]
fn two_programs_in_one_binary_run_on_two_threads_at_once() {
    let mlp = build("two_mlp", MLP.text, &[]);
    let sorting = CASES.iter().find(|c| c.name == "sorting").unwrap();
    let sorting = build("two_sorting", sorting.text, &[]);
    let output =
        build::link_source("two_programs", include_str!("two_programs.c"), &[&mlp, &sorting], &["-pthread"]);
    let written = run(&output, "", &[]);
    assert_eq!(String::from_utf8_lossy(&written), "the same 200 times\n");
}

#[test]
fn the_example_shows_its_picture() {
    let text = include_str!("../../examples/aot/mandelbrot.hlo");
    let built = build("mandelbrot", text, &[]);
    assert!(!built.has_runtime());
    let source = include_str!("../../examples/aot/main.c");
    let program = build::link_source("mandelbrot", source, &[&built], &["-std=c11"]);
    let picture = String::from_utf8(run(&program, "", &[])).unwrap();
    let shown = picture.lines().map(|line| format!("    {}", line.trim_end()) + "\n").collect::<String>();
    assert_eq!(picture.lines().count(), 21);
    assert!(include_str!("../../examples/aot/README.md").contains(&shown), "{shown}");
}

#[test]
fn pointers_are_checked_and_errors_have_messages() {
    let text = "HloModule m
ENTRY main {
  n = s32[] parameter(0)
  x = f32[4] parameter(1)
  ROOT y = f32[4] negate(x)
}";
    let built = build("checked", text, &[]);
    let program = build::link_source("checked", include_str!("checked.c"), &[&built], &[]);
    assert_eq!(String::from_utf8_lossy(&run(&program, "", &[])), "0 2 2 2 2 2 -1\n");
}

#[test]
fn the_header_is_cpp_too() {
    for case in [&ELEMENTWISE, &MLP] {
        let built = build(&format!("cpp_{}", case.name), case.text, &[]);
        let source = format!(
            "#include \"{0}.h\"\n#include \"{0}.h\"\nint (*f)(const {0}_arguments *, const {0}_results *, void *, hlo_context *) = {0};\n",
            built.name
        );
        let file = built.folder.join("use.cpp");
        std::fs::write(&file, source).unwrap();
        let mut command = std::process::Command::new("g++");
        command.args(["-std=c++11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only"]).arg(&file);
        build::succeeds(&mut command);
    }
}

#[test]
fn the_rust_binding_runs() {
    let pure = build("rust_pure", ELEMENTWISE.text, &[]);
    let mlp = build("rust_mlp", MLP.text, &[]);
    let folder = build::folder("rust_program");
    let source = include_str!("binding.rs")
        .replace("PURE", &pure.folder.join("rust_pure.rs").display().to_string())
        .replace("MLP", &mlp.folder.join("rust_mlp.rs").display().to_string());
    let file = folder.join("main.rs");
    std::fs::write(&file, source).unwrap();
    let program = folder.join("program");
    let mut command = std::process::Command::new("rustc");
    command.args(["--edition=2024", "-D", "warnings", "-o"]).arg(&program).arg(&file);
    for file in [pure.object(), mlp.object(), mlp.runtime(), "-lm".into()] {
        command.arg("-C").arg(format!("link-arg={}", file.display()));
    }
    build::succeeds(&mut command);
    assert_eq!(String::from_utf8_lossy(&run(&program, "", &[])), "1 64 64\n");
}
