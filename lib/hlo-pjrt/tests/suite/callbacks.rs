//! Custom calls of the caller's functions: Python functions and registered handlers.

use crate::plugin::*;
use hlo_pjrt::callbacks::{PythonArray, hlo_pjrt_set_python_callback};
use hlo_pjrt::ffi::args::{RegisterHandler, TypeRegister, UserDataAdd};
use hlo_pjrt::sys::{ExecuteOptions, Text, args::*};
use std::ffi::c_void;

/// The number of the extension for custom calls, which has three functions.
const FFI: i32 = 5;

/// A replacement for Python, which doubles the first operand if the object is the number 7.
unsafe extern "C" fn double(
    callable: *mut c_void,
    operands: *const PythonArray,
    operand_count: usize,
    results: *const PythonArray,
    result_count: usize,
    message: *mut u8,
    message_size: *mut usize,
) -> i32 {
    // SAFETY: these are the test's own arrays and its buffer for a message.
    unsafe {
        if callable.addr() != 7 {
            let text = b"ValueError: not seven";
            assert!(*message_size >= text.len());
            std::ptr::copy_nonoverlapping(text.as_ptr(), message, text.len());
            *message_size = text.len();
            return 1;
        }
        assert_eq!((operand_count, result_count), (1, 1));
        let (from, to) = (&*operands, &*results);
        assert_eq!((from.element_type, from.rank, *from.dims, *from.byte_strides), (11, 1, 2, 4));
        for i in 0..2 {
            to.data.cast::<f32>().add(i).write(2.0 * from.data.cast::<f32>().add(i).read());
        }
    }
    0
}

/// The data that JAX passes to runs: a list of Python objects.
#[repr(C)]
struct Callables {
    objects: *const *mut c_void,
    count: u32,
}

#[test]
fn a_program_calls_python() {
    let [type_register, user_data_add, _] = extension(FFI);
    let client = devices(1);
    let text = "HloModule m ENTRY e { x = f32[2] parameter(0)
ROOT y = f32[2] custom-call(x), custom_call_target=\"xla_ffi_python_cpu_callback\", api_version=API_VERSION_TYPED_FFI, backend_config=\"{index = 1 : ui64}\" }";
    let program = compile(client, text, &[]).expect("a program");
    let x = floats(client, 0, &[2], &[1.5, -4.]);
    assert!(run(program, &[x]).expect_err("an error").message.contains("Python"));
    hlo_pjrt_set_python_callback(Some(double));
    let register = TypeRegister { name: Text::of("callbacks"), ..none() };
    let id = call(type_register, register).expect("a type").id;
    let mut objects = [std::ptr::null_mut(), std::ptr::without_provenance_mut(7)];
    let mut go = |object: usize| {
        objects[1] = std::ptr::without_provenance_mut(object);
        let list = Callables { objects: objects.as_ptr(), count: 2 };
        let context =
            call(api().ExecuteContextCreate, ExecuteContextCreate { ..none() }).expect("a context").context;
        let data = (&raw const list).cast_mut().cast();
        call(user_data_add, UserDataAdd { context, id, data, ..none() }).expect("data");
        let options = ExecuteOptions::default().with_context(context);
        let (buffers, event) = execute(program, &[vec![x]], &options).expect("a run").remove(0);
        call(api().ExecuteContextDestroy, ExecuteContextDestroy { context, ..none() }).expect("a context");
        wait(event).map(|()| numbers(buffers[0]).expect("numbers"))
    };
    assert_eq!(go(7), Ok(vec![3., -8.]));
    let failed = go(8).expect_err("an error");
    assert!(failed.message.contains("ValueError: not seven"), "{}", failed.message);
}

/// A handler of XLA's typed custom calls. It reports version 0.1 and does nothing else.
unsafe extern "C" fn handler(frame: *mut usize) -> *mut c_void {
    // SAFETY: the frame begins with its size and its extensions. The extension that requests the version of
    // the handler contains a pointer to the metadata after its header. In the metadata, the version numbers
    // follow its size and two headers.
    unsafe {
        let extension = frame.add(1).read() as *const usize;
        if !extension.is_null() {
            let metadata = extension.add(3).read() as *mut usize;
            let version = metadata.add(3).cast::<i32>();
            version.write(0);
            version.add(1).write(1);
        }
    }
    std::ptr::null_mut()
}

/// Returns the address of the handler.
fn address() -> *const c_void {
    handler as unsafe extern "C" fn(*mut usize) -> *mut c_void as *const c_void
}

/// Registers a handler for a target on a platform.
fn register(name: &str, platform: &str, handler: *const c_void) -> Result<(), Failed> {
    let [_, _, register] = extension(FFI);
    let args = RegisterHandler { target: Text::of(name), handler, platform: Text::of(platform), ..none() };
    call(register, args).map(drop)
}

#[test]
fn the_library_that_jaxlib_registers_is_not_called() {
    register("lapack_spotrf_ffi", "Host", address()).expect("a handler");
    let text = "HloModule m ENTRY e { x = f32[2,2] parameter(0)
c = (f32[2,2], s32[]) custom-call(x), custom_call_target=\"lapack_spotrf_ffi\", operand_layout_constraints={f32[2,2]{0,1}},
  api_version=API_VERSION_TYPED_FFI, backend_config=\"{uplo = 76 : ui8}\"
ROOT l = f32[2,2] get-tuple-element(c), index=0 }";
    let compiled = if cfg!(feature = "codegen") { &["compiled"][..] } else { &[] };
    for engine in [&["tiered", "interpreted"], compiled].concat() {
        let client = with_engine(engine.as_bytes());
        let program = compile(client, text, &[]).expect("a program");
        let x = floats(client, 0, &[2, 2], &[4., 2., 2., 5.]);
        let factor = numbers(run(program, &[x]).expect("results")[0]).expect("numbers");
        assert_eq!(factor, [2., 2., 1., 2.], "{engine}");
    }
}

#[test]
fn a_handler_comes_before_what_is_built_in() {
    // Any caller may use the name of a built-in target. A program then runs the caller's handler, which
    // leaves its results unchanged.
    register("Qr", "Host", address()).expect("a handler");
    let text = "HloModule m ENTRY e { x = f32[2] parameter(0)
ROOT y = f32[2] custom-call(x), custom_call_target=\"Qr\", api_version=API_VERSION_TYPED_FFI }";
    let client = devices(1);
    let program = compile(client, text, &[]).expect("a program");
    let x = floats(client, 0, &[2], &[1., 2.]);
    assert_eq!(numbers(run(program, &[x]).expect("results")[0]).expect("numbers").len(), 2);
}

#[test]
fn a_handler_is_registered_for_processors_only() {
    let (call_of, address) = (register, address());
    assert!(call_of("test.handler", "CUDA", address).expect_err("an error").message.contains("CUDA"));
    assert!(call_of("test.handler", "Host", std::ptr::null()).is_err());
    call_of("test.handler", "Host", address).expect("a handler");
    call_of("test.handler", "Host", address).expect("the same handler");
    assert_eq!(call_of("test.handler", "Host", std::ptr::dangling()).expect_err("an error").code, 6);
    let client = devices(1);
    let text = "HloModule m ENTRY e { x = f32[2] parameter(0)
ROOT y = f32[2] custom-call(x), custom_call_target=\"test.handler\", api_version=API_VERSION_TYPED_FFI }";
    let program = compile(client, text, &[]).expect("a program");
    let x = floats(client, 0, &[2], &[1., 2.]);
    assert_eq!(numbers(run(program, &[x]).expect("results")[0]).expect("numbers").len(), 2);
}
