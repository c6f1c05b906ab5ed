//! Programs on one device: compilation, runs, serialization and properties.

use crate::plugin::*;
use hlo_pjrt::sys::{ExecuteOptions, Text, args::*};

const AXPY: &str = "HloModule axpy
ENTRY main {
  a = f32[] parameter(0)
  x = f32[3] parameter(1)
  b = f32[3] broadcast(a), dimensions={}
  p = f32[3] multiply(b, x)
  ROOT t = (f32[3], f32[]) tuple(p, a)
}";

#[test]
fn a_program_runs_and_its_results_are_in_memory_of_their_own() {
    let client = devices(1);
    let program = compile(client, AXPY, &[]).expect("a program");
    let (a, x) = (floats(client, 0, &[], &[2.]), floats(client, 0, &[3], &[1., 2., 3.]));
    for _ in 0..3 {
        let results = run(program, &[a, x]).expect("results");
        assert_eq!(numbers(results[0]), Ok(vec![2., 4., 6.]));
        assert_eq!(numbers(results[1]), Ok(vec![2.]));
        assert_ne!(address(results[1]), address(a));
    }
}

#[test]
fn arguments_that_do_not_fit_are_refused() {
    let (client, other) = (devices(1), devices(1));
    let program = compile(client, AXPY, &[]).expect("a program");
    let (a, x) = (floats(client, 0, &[], &[2.]), floats(client, 0, &[3], &[1., 2., 3.]));
    let message = |arguments: &[_]| run(program, arguments).expect_err("an error").message;
    assert!(message(&[a]).contains("takes 2 arguments, found 1"));
    assert!(message(&[x, x]).contains("argument 0: expected a buffer of f32[], found one of f32[3]"));
    assert!(message(&[a, array(client, 0, 4, &[3], &[0; 12])]).contains("found one of s32[3]"));
    assert!(message(&[a, floats(other, 0, &[3], &[1., 2., 3.])]).contains("another client's"));
    delete(x);
    assert!(message(&[a, x]).contains("deleted"));
}

const ADD_IN_PLACE: &str = "HloModule m, input_output_alias={ {}: (0, {}, may-alias) }
ENTRY e { x = f32[2] parameter(0) y = f32[2] parameter(1) ROOT s = f32[2] add(x, y) }";

#[test]
fn what_is_given_away_is_deleted_unless_the_caller_keeps_it() {
    let client = devices(1);
    let program = compile(client, ADD_IN_PLACE, &[]).expect("a program");
    let (x, y) = (floats(client, 0, &[2], &[1., 2.]), floats(client, 0, &[2], &[10., 20.]));
    let keeping = ExecuteOptions::default().keeping(&[0]);
    let results = execute(program, &[vec![x, y]], &keeping).expect("results");
    wait(results[0].1).expect("the end");
    assert!(!is_deleted(x));
    let twice = run(program, &[x, x]).expect_err("an error").message;
    assert!(twice.contains("Attempt to donate the same buffer twice in Execute()"), "{twice}");
    let results = run(program, &[x, y]).expect("results");
    assert_eq!(numbers(results[0]), Ok(vec![11., 22.]));
    assert!(is_deleted(x) && !is_deleted(y));
    assert!(run(program, &[x, y]).expect_err("an error").message.contains("deleted or donated"));
}

/// The caller keeps the completion event of an array, as JAX does after it has waited for the array.
#[cfg(feature = "codegen")]
#[test]
fn a_donated_array_gives_its_memory_to_the_result_though_it_was_waited_for() {
    let client = with_engine(b"compiled");
    // Each run is still active when the call returns.
    let text = long(200_000).replace("HloModule long", "HloModule long, input_output_alias={ {}: (0, {}) }");
    let program = compile(client, &text, &[]).expect("a program");
    let mut array = run(program, &[floats(client, 0, &[64], &[1.; 64])]).expect("results")[0];
    let mut events = Vec::new();
    for _ in 0..4 {
        let before = address(array);
        let (results, over) =
            execute(program, &[vec![array]], &ExecuteOptions::default()).expect("a run").remove(0);
        array = results[0];
        let ready = BufferReadyEvent { buffer: array, ..none() };
        let ready = call(api().BufferReadyEvent, ready).expect("an event").event;
        call(api().EventAwait, EventAwait { event: ready, ..none() }).expect("the end");
        events.extend([over, ready]);
        assert_eq!(address(array), before, "the array was copied");
    }
    events.into_iter().for_each(|event| wait(event).expect("the end"));
}

#[test]
fn a_view_of_what_was_given_away_stays_as_it_was() {
    let client = devices(1);
    let program = compile(client, ADD_IN_PLACE, &[]).expect("a program");
    let (x, y) = (floats(client, 0, &[2], &[1., 2.]), floats(client, 0, &[2], &[10., 20.]));
    call(
        api().BufferIncreaseExternalReferenceCount,
        BufferIncreaseExternalReferenceCount { buffer: x, ..none() },
    )
    .expect("a reference");
    let view = BufferOpaqueDeviceMemoryDataPointer { buffer: x, ..none() };
    let view =
        call(api().BufferOpaqueDeviceMemoryDataPointer, view).expect("an address").pointer.cast::<f32>();
    let results = run(program, &[x, y]).expect("results");
    assert_eq!(numbers(results[0]), Ok(vec![11., 22.]));
    // SAFETY: the external reference keeps the memory alive.
    assert_eq!(unsafe { [view.read(), view.add(1).read()] }, [1., 2.]);
}

/// Returns a loop with this many iterations, which takes too long to run on the calling thread.
fn long(steps: u32) -> String {
    format!(
        "HloModule long
body {{ s = (s32[], f32[64]) parameter(0)
  i = s32[] get-tuple-element(s), index=0  x = f32[64] get-tuple-element(s), index=1
  one = s32[] constant(1)  j = s32[] add(i, one)
  half = f32[] constant(0.5)  h = f32[64] broadcast(half), dimensions={{}}
  y = f32[64] multiply(x, h)  z = f32[64] sine(y)
  ROOT t = (s32[], f32[64]) tuple(j, z) }}
condition {{ s = (s32[], f32[64]) parameter(0)
  i = s32[] get-tuple-element(s), index=0  n = s32[] constant({steps})
  ROOT c = pred[] compare(i, n), direction=LT }}
ENTRY e {{ x = f32[64] parameter(0)  zero = s32[] constant(0)
  t = (s32[], f32[64]) tuple(zero, x)
  w = (s32[], f32[64]) while(t), condition=condition, body=body
  ROOT r = f32[64] get-tuple-element(w), index=1 }}"
    )
}

#[test]
fn a_long_run_goes_on_while_the_caller_does_something_else() {
    let client = devices(1);
    // More iterations for compiled code, which is faster.
    let steps = if cfg!(feature = "codegen") { 2_000_000 } else { 20_000 };
    let program = compile(client, &long(steps), &[]).expect("a program");
    let double = "HloModule d ENTRY e { x = f32[64] parameter(0) ROOT y = f32[64] add(x, x) }";
    let double = compile(client, double, &[]).expect("a program");
    let x = floats(client, 0, &[64], &[1.; 64]);
    let first = execute(program, &[vec![x]], &ExecuteOptions::default()).expect("a run").remove(0);
    let ready =
        || call(api().EventIsReady, EventIsReady { event: first.1, ..none() }).expect("an event").is_ready;
    assert!(!ready());
    // A run that uses the result waits for it, and its argument may be deleted.
    delete(x);
    let second = execute(double, &[vec![first.0[0]]], &ExecuteOptions::default()).expect("a run").remove(0);
    delete(first.0[0]);
    assert_eq!(numbers(second.0[0]).expect("numbers").len(), 64);
    // The results are ready before the run is over.
    while !ready() {
        std::thread::yield_now();
    }
    wait(first.1).expect("the end");
    wait(second.1).expect("the end");
}

#[test]
fn a_program_can_be_asked_about() {
    let client = devices(1);
    let loaded = compile(client, AXPY, &[]).expect("a program");
    let executable = LoadedExecutableGetExecutable { loaded, ..none() };
    let executable = call(api().LoadedExecutableGetExecutable, executable).expect("an executable").executable;
    let name = call(api().ExecutableName, ExecutableName { executable, ..none() }).expect("a name").name;
    assert_eq!(name.text().expect("a text"), "axpy");
    let types = ExecutableOutputElementTypes { executable, ..none() };
    let types = call(api().ExecutableOutputElementTypes, types).expect("types").types;
    assert_eq!(types.get(), Ok(&[11, 11][..]));
    let dims = call(api().ExecutableOutputDimensions, ExecutableOutputDimensions { executable, ..none() });
    let dims = dims.expect("sizes");
    // SAFETY: the lists have as many elements as there are outputs, and as their ranks in total.
    let (ranks, sizes) =
        unsafe { (std::slice::from_raw_parts(dims.dim_sizes, 2), std::slice::from_raw_parts(dims.dims, 1)) };
    assert_eq!((dims.num_outputs, ranks, sizes), (2, &[1, 0][..], &[3][..]));
    let costs = call(api().ExecutableGetCostAnalysis, ExecutableGetCostAnalysis { executable, ..none() });
    assert_eq!(costs.expect("costs").num_properties, 3);
    let memory = ExecutableGetCompiledMemoryStats { executable, ..none() };
    let memory = call(api().ExecutableGetCompiledMemoryStats, memory).expect("sizes");
    assert_eq!((memory.argument, memory.output, memory.alias), (16, 16, 0));
    let devices = LoadedExecutableAddressableDevices { executable: loaded, ..none() };
    let devices = call(api().LoadedExecutableAddressableDevices, devices).expect("devices").devices;
    assert_eq!(devices.get().expect("devices").len(), 1);
}

#[test]
fn a_program_is_the_same_after_it_was_serialized() {
    let client = devices(1);
    let loaded = compile(client, AXPY, &[]).expect("a program");
    let executable = LoadedExecutableGetExecutable { loaded, ..none() };
    let executable = call(api().LoadedExecutableGetExecutable, executable).expect("an executable").executable;
    let made = call(api().ExecutableSerialize, ExecutableSerialize { executable, ..none() }).expect("bytes");
    let bytes = made.serialized.get().expect("bytes").to_vec();
    made.serialized.free();
    let load = |bytes: &[u8]| {
        let args = ExecutableDeserializeAndLoad { client, serialized: Text::to(bytes), ..none() };
        call(api().ExecutableDeserializeAndLoad, args).map(|args| args.executable)
    };
    let again = load(&bytes).expect("a program");
    let fingerprint = |loaded| {
        let executable = LoadedExecutableGetExecutable { loaded, ..none() };
        let executable =
            call(api().LoadedExecutableGetExecutable, executable).expect("an executable").executable;
        let made = call(api().ExecutableFingerprint, ExecutableFingerprint { executable, ..none() });
        made.expect("a fingerprint").fingerprint.text().expect("a text")
    };
    assert_eq!(fingerprint(again), fingerprint(loaded));
    let (a, x) = (floats(client, 0, &[], &[2.]), floats(client, 0, &[3], &[1., 2., 3.]));
    assert_eq!(numbers(run(again, &[a, x]).expect("results")[0]), Ok(vec![2., 4., 6.]));
    for end in [0, 10, 40, bytes.len() - 1] {
        assert!(load(&bytes[..end]).is_err());
    }
}

#[test]
fn what_is_no_program_is_an_error() {
    let client = devices(1);
    let message = |format: &str, code: &[u8], options: &[u8]| {
        compile_as(client, format, code, options).expect_err("an error").message
    };
    assert!(message("hlo", b"HloModule m ENTRY e { ROOT x = f32[2] add(y, y) }", &[]).contains('y'));
    assert!(message("vhlo", b"", &[]).contains("found `vhlo`"));
    let damaged = message("hlo", AXPY.as_bytes(), &[0xff; 7]);
    assert!(damaged.contains("CompileOptionsProto"), "{damaged}");
    let unknown = [&[0x3a, 0x0b, 0x0a, 0x05][..], b"magic", &[0x12, 0x02, 0x10, 0x01]].concat();
    assert!(message("hlo", AXPY.as_bytes(), &unknown).contains("No such compile option: 'magic'"));
}

/// The expected messages are those of jaxlib 0.10.2.
#[test]
fn options_of_xla_are_checked_as_xla_does() {
    use hlo_proto::OptionValue::{Bool, Integer, Number, Text};
    let client = devices(1);
    let said = |name: &str, value: hlo_proto::OptionValue| {
        let mut options = hlo_proto::CompileOptions::default();
        options.env_option_overrides.push((name.into(), value));
        compile_as(client, "hlo", AXPY.as_bytes(), &options.write())
            .err()
            .map(|e| e.message.trim_start_matches("PJRT_Client_Compile: ").to_owned())
    };
    let flag = "xla_embed_ir_in_executable";
    for value in [Text("True".into()), Bool(true), Integer(1)] {
        assert_eq!(said(flag, value), None);
    }
    let wrong = |name: &str, value: &str, ty: &str| {
        Some(format!("While setting option {name}, '{value}' is not a valid {ty} value."))
    };
    assert_eq!(said(flag, Text("true".into())), wrong(flag, "true", "bool"));
    assert_eq!(said(flag, Number(0.5)), wrong(flag, "0.5", "bool"));
    let level = "xla_backend_optimization_level";
    assert_eq!(said(level, Number(2.0)), None);
    assert_eq!(said(level, Bool(true)), wrong(level, "1", "int32"));
    assert_eq!(said(level, Integer(1 << 40)), wrong(level, "1099511627776", "int32"));
    let ratio = "xla_gpu_auto_spmd_partitioning_memory_budget_ratio";
    assert_eq!(said(ratio, Text("1.5".into())), None);
    assert_eq!(said(ratio, Integer(1)), wrong(ratio, "1", "float"));
    assert_eq!(said("xla_dump_to", Integer(3)), wrong("xla_dump_to", "3", "string"));
    let buffers = "xla_gpu_enable_command_buffer";
    assert_eq!(said(buffers, Text("FUSION".into())), None);
    assert_eq!(said(buffers, Text("+FUSION,-CUBLAS".into())), wrong(buffers, "+FUSION", "enum"));
    assert_eq!(said("xla_nope", Bool(true)).as_deref(), Some("No such compile option: 'xla_nope'"));
}

#[test]
fn a_program_that_is_too_large_can_be_asked_what_it_takes_and_not_run() {
    let client = devices(1);
    let text = "HloModule m ENTRY e { x = f32[] parameter(0)
  y = f32[1048576,1048576] broadcast(x), dimensions={}
  ROOT z = (f32[1048576,1048576], f32[]) tuple(y, x) }";
    let program = compile(client, text, &[]).expect("a program");
    let executable = LoadedExecutableGetExecutable { loaded: program, ..none() };
    let executable = call(api().LoadedExecutableGetExecutable, executable).expect("an executable").executable;
    let sizes = ExecutableGetCompiledMemoryStats { executable, ..none() };
    let sizes = call(api().ExecutableGetCompiledMemoryStats, sizes).expect("sizes");
    assert_eq!((sizes.argument, sizes.output), (4, (4 << 40) + 4));
    let failed = run(program, &[floats(client, 0, &[], &[1.])]).expect_err("an error");
    assert_eq!(failed.code, hlo_pjrt::fault::Code::ResourceExhausted as i32, "{}", failed.message);
    assert!(
        failed.message.contains("the limit is") || failed.message.contains("are available"),
        "{}",
        failed.message
    );
}

/// Damaged programs in each format must be rejected.
#[test]
fn damaged_programs_are_errors() {
    let client = devices(1);
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for round in 0..400 {
        let size = (next() % 64) as usize;
        let mut bytes: Vec<u8> = (0..size).map(|_| next() as u8).collect();
        let format = ["mlir", "hlo", "hlo_with_config"][round % 3];
        if round % 2 == 0 && format == "mlir" {
            bytes.splice(0..0, *b"ML\xefR");
        }
        if let Ok(executable) = compile_as(client, format, &bytes, &[]) {
            // Random bytes must not be a valid program.
            panic!("{format} {bytes:?} is a program: {executable:?}");
        }
    }
}
