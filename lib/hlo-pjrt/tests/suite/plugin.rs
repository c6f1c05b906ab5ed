//! Helpers that use the plugin as callers do: only through the table of functions.

use hlo_pjrt::buffer::Buffer;
use hlo_pjrt::client::Client;
use hlo_pjrt::event::Event;
use hlo_pjrt::executable::LoadedExecutable;
use hlo_pjrt::fault::Error;
use hlo_pjrt::sys::table::{Api, Slot};
use hlo_pjrt::sys::{
    Args, ExecuteOptions, Extension, Handle, List, NamedValue, Program, Text, Value, args::*,
};
use std::ffi::c_void;

/// The error of a function.
#[derive(Debug, PartialEq)]
pub struct Failed {
    pub code: i32,
    pub message: String,
}

pub fn api() -> &'static Api {
    // SAFETY: the table exists as long as the library is loaded.
    unsafe { &*hlo_pjrt::GetPjrtApi() }
}

/// Returns the functions of an extension of the table, which must have `N` functions.
pub fn extension<const N: usize>(kind: i32) -> [Slot; N] {
    let mut extension: *const Extension = api().extensions;
    // SAFETY: extensions form a list. The caller knows the number of functions of the extension.
    unsafe {
        while (*extension).kind != kind {
            extension = (*extension).next;
        }
        extension.add(1).cast::<[Slot; N]>().read()
    }
}

/// Returns a struct of arguments with all fields zero except its size.
pub fn none<A: Args>() -> A {
    // SAFETY: `Args` guarantees that zeros are a valid struct that begins with its size.
    unsafe {
        let mut args: A = std::mem::zeroed();
        (&raw mut args).cast::<usize>().write(A::FULL_SIZE);
        args
    }
}

/// Converts an error and destroys it.
pub fn failure(error: Handle<Error>) -> Result<(), Failed> {
    if error.is_null() {
        return Ok(());
    }
    let mut code = ErrorGetCode { error, ..none() };
    let mut message = ErrorMessage { error, ..none() };
    // SAFETY: these are the structs of the functions.
    unsafe {
        assert!((api().ErrorGetCode)((&raw mut code).cast()).is_null());
        (api().ErrorMessage)((&raw mut message).cast());
    }
    let failed = Failed { code: code.code, message: message.message.text().expect("a text") };
    let mut destroy = ErrorDestroy { error, ..none() };
    // SAFETY: as above.
    unsafe { (api().ErrorDestroy)((&raw mut destroy).cast()) };
    Err(failed)
}

/// Calls a function and returns its arguments.
pub fn call<A: Args>(slot: Slot, mut args: A) -> Result<A, Failed> {
    // SAFETY: each test passes the struct of the function.
    failure(unsafe { slot((&raw mut args).cast()) }).map(|()| args)
}

/// Creates a client with options.
pub fn client(options: &[NamedValue]) -> Handle<Client> {
    call(api().ClientCreate, ClientCreate { create_options: List::to(options), ..none() })
        .expect("a client")
        .client
}

pub fn devices(count: i64) -> Handle<Client> {
    client(&[NamedValue::new("num_devices", Value::Integer(count))])
}

pub fn with_engine(engine: &[u8]) -> Handle<Client> {
    client(&[NamedValue::new("engine", Value::Text(engine))])
}

/// Compiles a text.
pub fn compile(
    client: Handle<Client>,
    text: &str,
    options: &[u8],
) -> Result<Handle<LoadedExecutable>, Failed> {
    compile_as(client, "hlo", text.as_bytes(), options)
}

pub fn compile_as(
    client: Handle<Client>,
    format: &str,
    code: &[u8],
    options: &[u8],
) -> Result<Handle<LoadedExecutable>, Failed> {
    let program = Program::new(code, format);
    let args =
        ClientCompile { client, program: &raw const program, compile_options: Text::to(options), ..none() };
    call(api().ClientCompile, args).map(|args| args.executable)
}

/// Creates an array on a device from the number of its element type, its sizes and its elements.
pub fn array(client: Handle<Client>, device: usize, ty: i32, dims: &[i64], bytes: &[u8]) -> Handle<Buffer> {
    let all = call(api().ClientDevices, ClientDevices { client, ..none() }).expect("devices").devices;
    let args = ClientBufferFromHostBuffer {
        client,
        data: bytes.as_ptr().cast(),
        element_type: ty,
        dims: List::to(dims),
        device: all.get().expect("devices")[device],
        ..none()
    };
    let made = call(api().ClientBufferFromHostBuffer, args).expect("a buffer");
    wait(made.done_with_host_buffer).expect("a copy");
    made.buffer
}

pub fn floats(client: Handle<Client>, device: usize, dims: &[i64], values: &[f32]) -> Handle<Buffer> {
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_ne_bytes()).collect();
    array(client, device, 11, dims, &bytes)
}

/// Waits for an event, and destroys it.
pub fn wait(event: Handle<Event>) -> Result<(), Failed> {
    let outcome = call(api().EventAwait, EventAwait { event, ..none() }).map(drop);
    call(api().EventDestroy, EventDestroy { event, ..none() }).expect("an event");
    outcome
}

/// Returns the bytes of an array's elements.
pub fn bytes(buffer: Handle<Buffer>) -> Result<Vec<u8>, Failed> {
    let size = call(api().BufferToHostBuffer, BufferToHostBuffer { src: buffer, ..none() })?.dst_size;
    let mut bytes = vec![0u8; size];
    let dst: *mut c_void = bytes.as_mut_ptr().cast();
    let args = BufferToHostBuffer { src: buffer, dst, dst_size: size, ..none() };
    wait(call(api().BufferToHostBuffer, args)?.event)?;
    Ok(bytes)
}

pub fn numbers(buffer: Handle<Buffer>) -> Result<Vec<f32>, Failed> {
    let bytes = bytes(buffer)?;
    Ok(bytes.chunks_exact(4).map(|b| f32::from_ne_bytes([b[0], b[1], b[2], b[3]])).collect())
}

/// The results of a run on each device, and the event that completes with it.
pub type Results = Vec<(Vec<Handle<Buffer>>, Handle<Event>)>;

/// Runs a program on lists of arguments.
pub fn execute(
    executable: Handle<LoadedExecutable>,
    arguments: &[Vec<Handle<Buffer>>],
    options: &ExecuteOptions,
) -> Result<Results, Failed> {
    let properties = call(
        api().LoadedExecutableGetExecutable,
        LoadedExecutableGetExecutable { loaded: executable, ..none() },
    );
    let properties = properties.expect("an executable").executable;
    let count = call(api().ExecutableNumOutputs, ExecutableNumOutputs { executable: properties, ..none() });
    let count = count.expect("a number").num_outputs;
    call(api().ExecutableDestroy, ExecutableDestroy { executable: properties, ..none() })
        .expect("an executable");
    let lists: Vec<*const Handle<Buffer>> = arguments.iter().map(|list| list.as_ptr()).collect();
    let mut outputs = vec![vec![Handle::NULL; count]; arguments.len()];
    let places: Vec<*mut Handle<Buffer>> = outputs.iter_mut().map(|list| list.as_mut_ptr()).collect();
    let mut events = vec![Handle::NULL; arguments.len()];
    call(
        api().LoadedExecutableExecute,
        LoadedExecutableExecute {
            executable,
            options: &raw const *options,
            argument_lists: lists.as_ptr(),
            num_devices: arguments.len(),
            num_args: arguments.first().map_or(0, Vec::len),
            output_lists: places.as_ptr(),
            device_complete_events: events.as_mut_ptr(),
            ..none()
        },
    )?;
    Ok(outputs.into_iter().zip(events).collect())
}

/// Runs a program on one device and waits for it.
pub fn run(
    executable: Handle<LoadedExecutable>,
    arguments: &[Handle<Buffer>],
) -> Result<Vec<Handle<Buffer>>, Failed> {
    let mut results = execute(executable, &[arguments.to_vec()], &ExecuteOptions::default())?;
    let (buffers, event) = results.remove(0);
    wait(event)?;
    Ok(buffers)
}

pub fn is_deleted(buffer: Handle<Buffer>) -> bool {
    call(api().BufferIsDeleted, BufferIsDeleted { buffer, ..none() }).expect("a buffer").is_deleted
}

pub fn delete(buffer: Handle<Buffer>) {
    call(api().BufferDelete, BufferDelete { buffer, ..none() }).expect("a buffer");
}

/// Returns the address of an array's elements.
pub fn address(buffer: Handle<Buffer>) -> usize {
    let args = BufferOpaqueDeviceMemoryDataPointer { buffer, ..none() };
    call(api().BufferOpaqueDeviceMemoryDataPointer, args).expect("an address").pointer.addr()
}
