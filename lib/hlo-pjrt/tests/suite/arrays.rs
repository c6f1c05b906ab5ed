//! Arrays: transfers, and the lifetime of shared memory.

use crate::plugin::*;
use hlo_pjrt::buffer::Buffer;
use hlo_pjrt::client::Client;
use hlo_pjrt::fault::Error;
use hlo_pjrt::layouts::MemoryLayout as Layout;
use hlo_pjrt::layouts::args::{
    BufferLayout, ExecutableGetLayouts, MemoryLayoutDestroy, MemoryLayoutSerialize,
};
use hlo_pjrt::sys::table::Slot;
use hlo_pjrt::sys::{Handle, List, MemoryLayout, NamedValue, Value, args::*};
use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};

#[test]
fn a_client_has_the_devices_that_it_was_asked_for() {
    let client = devices(3);
    let all = call(api().ClientDevices, ClientDevices { client, ..none() }).expect("devices").devices;
    let all = all.get().expect("devices");
    assert_eq!(all.len(), 3);
    let name = call(api().ClientPlatformName, ClientPlatformName { client, ..none() }).expect("a name");
    assert_eq!(name.platform_name.text().expect("a text"), "cpu");
    let description = DeviceGetDescription { device: all[2], ..none() };
    let description = call(api().DeviceGetDescription, description).expect("a description").description;
    let kind = DeviceDescriptionKind { description, ..none() };
    let kind = call(api().DeviceDescriptionKind, kind).expect("a kind").device_kind;
    assert_eq!(kind.text().expect("a text"), "hlo");
    let memories = DeviceAddressableMemories { device: all[2], ..none() };
    let memories = call(api().DeviceAddressableMemories, memories).expect("memories").memories;
    let kinds: Vec<String> = memories
        .get()
        .expect("memories")
        .iter()
        .map(|&memory| {
            call(api().MemoryKind, MemoryKind { memory, ..none() })
                .expect("a kind")
                .kind
                .text()
                .expect("a text")
        })
        .collect();
    assert_eq!(kinds, ["device", "pinned_host", "unpinned_host"]);
    call(api().ClientDestroy, ClientDestroy { client, ..none() }).expect("a client");
}

#[test]
fn options_that_make_no_sense_are_refused() {
    for (name, value, expected) in [
        ("num_devices", Value::Integer(0), "expected a number from 1 to 1024, found 0"),
        ("num_threads", Value::Integer(0), "num_threads: expected a number from 1 to 1024, found 0"),
        ("num_threads", Value::Text(b"all"), "num_threads: expected a number, found the text `all`"),
        ("num_devices", Value::Text(b"two"), "num_devices: expected a number, found the text `two`"),
        ("cache_dir", Value::Bool(true), "cache_dir: expected a text, found the truth value true"),
        ("num_device", Value::Integer(2), "no option `num_device` of clients; did you mean `num_devices`?"),
        (
            "allocator",
            Value::Text(b"bfc"),
            "no option `allocator` of clients; known: num_devices, num_threads, platform_name",
        ),
        ("engine", Value::Text(b"gpu"), "found `gpu`"),
    ] {
        let options = [NamedValue::new(name, value)];
        let args = ClientCreate { create_options: List::to(&options), ..none() };
        let failed = call(api().ClientCreate, args).err().expect("an error");
        assert!(failed.message.contains(expected), "{}", failed.message);
    }
}

#[test]
fn elements_come_back_as_they_were_in_any_layout() {
    let client = devices(1);
    let rows = floats(client, 0, &[2, 3], &[1., 2., 3., 4., 5., 6.]);
    assert_eq!(numbers(rows), Ok(vec![1., 2., 3., 4., 5., 6.]));
    // Column-major, in both directions.
    let columns = [1f32, 4., 2., 5., 3., 6.];
    let device = call(api().BufferDevice, BufferDevice { buffer: rows, ..none() }).expect("a device").device;
    let args = ClientBufferFromHostBuffer {
        client,
        data: columns.as_ptr().cast(),
        element_type: 11,
        dims: List::to(&[2, 3]),
        byte_strides: List::to(&[4, 8]),
        device,
        ..none()
    };
    let made = call(api().ClientBufferFromHostBuffer, args).expect("a buffer");
    wait(made.done_with_host_buffer).expect("a copy");
    assert_eq!(numbers(made.buffer), Ok(vec![1., 2., 3., 4., 5., 6.]));
    let dims =
        call(api().BufferDimensions, BufferDimensions { buffer: made.buffer, ..none() }).expect("sizes");
    assert_eq!(dims.dims.get(), Ok(&[2i64, 3][..]));
}

/// Returns the column-major layout.
fn by_columns() -> MemoryLayout {
    MemoryLayout::in_order(&[0, 1])
}

/// Creates an array of two rows and three columns that is column-major on the device.
fn columns_on_device(client: Handle<Client>) -> Handle<Buffer> {
    let rows = [1f32, 2., 3., 4., 5., 6.];
    let layout = by_columns();
    let all = call(api().ClientDevices, ClientDevices { client, ..none() }).expect("devices").devices;
    let args = ClientBufferFromHostBuffer {
        client,
        data: rows.as_ptr().cast(),
        element_type: 11,
        dims: List::to(&[2, 3]),
        device: all.get().expect("devices")[0],
        device_layout: &raw const layout,
        ..none()
    };
    let made = call(api().ClientBufferFromHostBuffer, args).expect("a buffer");
    wait(made.done_with_host_buffer).expect("a copy");
    made.buffer
}

/// Returns the elements of an array in the order of its device memory.
fn raw(buffer: Handle<Buffer>) -> Vec<f32> {
    let size = 4 * numbers(buffer).expect("numbers").len();
    let mut found = vec![0f32; size / 4];
    let dst: *mut c_void = found.as_mut_ptr().cast();
    let args = BufferCopyRawToHost { buffer, dst, transfer_size: size as i64, ..none() };
    wait(call(api().BufferCopyRawToHost, args).expect("a copy").event).expect("a copy");
    found
}

/// Returns the text of a layout.
fn said(serialize: Slot, layout: Handle<Layout>) -> String {
    let text = call(serialize, MemoryLayoutSerialize { layout, ..none() }).expect("a text").serialized;
    let said = String::from_utf8_lossy(text.get().expect("a text")).into_owned();
    text.free();
    said
}

fn layout_text(buffer: Handle<Buffer>) -> String {
    let [destroy, serialize, _, of_buffer, ..] = layouts();
    let layout = call(of_buffer, BufferLayout { buffer, ..none() }).expect("a layout").layout;
    let found = said(serialize, layout);
    call(destroy, MemoryLayoutDestroy { layout, ..none() }).expect("a layout");
    found
}

/// Returns the functions of the layouts extension.
fn layouts() -> [Slot; 7] {
    extension(4)
}

#[test]
fn arrays_lie_on_the_device_as_the_caller_says() {
    let client = devices(1);
    let columns = columns_on_device(client);
    assert_eq!(raw(columns), [1., 4., 2., 5., 3., 6.]);
    assert_eq!(layout_text(columns), "{0,1}");
    // Without a layout, elements are copied in their order on the device. With a layout, they are copied in
    // its order.
    assert_eq!(numbers(columns), Ok(vec![1., 4., 2., 5., 3., 6.]));
    let rows = MemoryLayout::in_order(&[1, 0]);
    let mut found = [0f32; 6];
    let dst: *mut c_void = found.as_mut_ptr().cast();
    let host_layout = &raw const rows;
    let args = BufferToHostBuffer { src: columns, dst, dst_size: 24, host_layout, ..none() };
    wait(call(api().BufferToHostBuffer, args).expect("a copy").event).expect("a copy");
    assert_eq!(found, [1., 2., 3., 4., 5., 6.]);
    let known = call(api().BufferGetMemoryLayout, BufferGetMemoryLayout { buffer: columns, ..none() });
    assert_eq!(known.expect("a layout").layout.minor_to_major(), Ok(Some(&[0, 1][..])));
}

#[test]
fn arrays_of_many_dimensions_come_back() {
    let client = devices(1);
    let mut dims = vec![1i64; 64];
    dims.push(3);
    let many = floats(client, 0, &dims, &[1., 2., 3.]);
    assert_eq!(numbers(many), Ok(vec![1., 2., 3.]));
    assert!(layout_text(many).starts_with("{64,63,"));
    // An order is reported by its address only if a table contains it.
    let layout = call(api().BufferGetMemoryLayout, BufferGetMemoryLayout { buffer: many, ..none() });
    assert_eq!(layout.err().expect("an error").code, 12);
    // A stride of zero is not mistaken for the stride of dense elements.
    let (data, strides) = ([5f32, 6., 7.], vec![0i64; 65]);
    let all = call(api().ClientDevices, ClientDevices { client, ..none() }).expect("devices").devices;
    let args = ClientBufferFromHostBuffer {
        client,
        data: data.as_ptr().cast(),
        element_type: 11,
        dims: List::to(&dims),
        byte_strides: List::to(&strides),
        semantics: 2,
        device: all.get().expect("devices")[0],
        ..none()
    };
    let made = call(api().ClientBufferFromHostBuffer, args).expect("a buffer");
    assert_eq!(numbers(made.buffer), Ok(vec![5., 5., 5.]));
}

#[test]
fn programs_take_and_give_arrays_as_they_say() {
    let client = devices(1);
    let text = "HloModule m, entry_computation_layout={(f32[2,3]{0,1})->(f32[2,3]{0,1}, f32[3,2]{1,0})}
ENTRY e { x = f32[2,3] parameter(0) n = f32[2,3] negate(x) t = f32[3,2] transpose(n), dimensions={1,0} ROOT r = (f32[2,3], f32[3,2]) tuple(n, t) }";
    let program = compile(client, text, &[]).expect("a program");
    // An argument in another layout is converted.
    for x in [columns_on_device(client), floats(client, 0, &[2, 3], &[1., 2., 3., 4., 5., 6.])] {
        let results = run(program, &[x]).expect("results");
        assert_eq!(
            (raw(results[0]), layout_text(results[0])),
            (vec![-1., -4., -2., -5., -3., -6.], "{0,1}".into())
        );
        assert_eq!(
            (raw(results[1]), layout_text(results[1])),
            (vec![-1., -4., -2., -5., -3., -6.], "{1,0}".into())
        );
    }
    let args = LoadedExecutableGetExecutable { loaded: program, ..none() };
    let executable = call(api().LoadedExecutableGetExecutable, args).expect("an executable").executable;
    let [_, serialize, .., outputs, parameters] = layouts();
    let all = |slot| {
        let args = call(slot, ExecutableGetLayouts { executable, ..none() }).expect("layouts");
        // SAFETY: the list has `count` elements.
        let all = unsafe { std::slice::from_raw_parts(args.layouts, args.count) };
        all.iter().map(|&layout| said(serialize, layout)).collect::<Vec<_>>()
    };
    assert_eq!(all(parameters), ["{0,1}"]);
    assert_eq!(all(outputs), ["{0,1}", "{1,0}"]);
}

#[test]
fn layouts_that_are_left_open_are_chosen() {
    let client = devices(1);
    let text = "func.func @main(%x: tensor<2x3xf32> {mhlo.layout_mode = \"auto\"}) -> (tensor<3x2xf32> {mhlo.layout_mode = \"auto\"}, tensor<3x2xf32>) {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %0, %0 : tensor<3x2xf32>, tensor<3x2xf32>
}";
    let program = compile_as(client, "mlir", text.as_bytes(), &[]).expect("a program");
    let x = floats(client, 0, &[2, 3], &[1., 2., 3., 4., 5., 6.]);
    let results = run(program, &[x]).expect("results");
    // One transpose that moves no elements, and one whose result is requested row-major.
    assert_eq!((raw(results[0]), layout_text(results[0])), (vec![1., 2., 3., 4., 5., 6.], "{0,1}".into()));
    assert_eq!((raw(results[1]), layout_text(results[1])), (vec![1., 4., 2., 5., 3., 6.], "{1,0}".into()));
}

#[test]
fn results_are_in_the_kinds_of_memories_that_a_program_says() {
    let client = devices(1);
    let text = "func.func @main(%x: tensor<2xf32> {mhlo.memory_kind = \"pinned_host\"}) -> (tensor<2xf32> {mhlo.memory_kind = \"pinned_host\"}, tensor<2xf32>, tensor<2xf32> {mhlo.memory_kind = \"unpinned_host\"}) {
  %0 = stablehlo.add %x, %x : tensor<2xf32>
  %1 = stablehlo.custom_call @annotate_device_placement(%0) {has_side_effect = true, mhlo.frontend_attributes = {_xla_buffer_placement = \"unpinned_host\"}} : (tensor<2xf32>) -> tensor<2xf32>
  return %0, %0, %1 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}";
    let program = compile_as(client, "mlir", text.as_bytes(), &[]).expect("a program");
    let results = run(program, &[floats(client, 0, &[2], &[1., 2.])]).expect("results");
    let kinds = results.iter().map(|&buffer| {
        let memory = call(api().BufferMemory, BufferMemory { buffer, ..none() }).expect("a memory").memory;
        call(api().MemoryKind, MemoryKind { memory, ..none() }).expect("a kind").kind.text().expect("a text")
    });
    assert_eq!(kinds.collect::<Vec<_>>(), ["pinned_host", "device", "unpinned_host"]);
}

#[test]
fn sizes_and_types_that_make_no_sense_are_refused() {
    let client = devices(1);
    let data = [0u8; 16];
    let device =
        call(api().ClientLookupDevice, ClientLookupDevice { client, ..none() }).expect("a device").device;
    let refused = |element_type: i32, dims: &[i64], strides: &[i64]| {
        let args = ClientBufferFromHostBuffer {
            client,
            data: data.as_ptr().cast(),
            element_type,
            dims: List::to(dims),
            byte_strides: List::to(strides),
            device,
            ..none()
        };
        call(api().ClientBufferFromHostBuffer, args).err().expect("an error").message
    };
    assert!(refused(99, &[1], &[]).contains("no element type"));
    assert!(refused(11, &[-1], &[]).contains("no size -1"));
    assert!(refused(11, &[i64::MAX, 8], &[]).contains("address space"));
    assert!(refused(11, &[2], &[4, 4]).contains("1 strides"));
}

#[test]
fn memory_of_the_caller_is_used_as_it_is_and_given_back() {
    #[repr(align(64))]
    struct Aligned([f32; 4]);
    let client = devices(1);
    let memory = Aligned([1., 2., 3., 4.]);
    let device =
        call(api().ClientLookupDevice, ClientLookupDevice { client, ..none() }).expect("a device").device;
    let args = ClientBufferFromHostBuffer {
        client,
        data: memory.0.as_ptr().cast(),
        element_type: 11,
        dims: List::to(&[4]),
        semantics: 2,
        device,
        ..none()
    };
    let made = call(api().ClientBufferFromHostBuffer, args).expect("a buffer");
    let (buffer, event) = (made.buffer, made.done_with_host_buffer);
    let is_ready = || call(api().EventIsReady, EventIsReady { event, ..none() }).expect("an event").is_ready;
    assert!(!is_ready());
    assert_eq!(address(buffer), memory.0.as_ptr().addr());
    // An external reference exists, so the memory stays when the array is deleted.
    call(
        api().BufferIncreaseExternalReferenceCount,
        BufferIncreaseExternalReferenceCount { buffer, ..none() },
    )
    .expect("a reference");
    delete(buffer);
    assert!(is_deleted(buffer));
    assert!(!is_ready());
    assert_eq!(address(buffer), memory.0.as_ptr().addr());
    let decrease = || BufferDecreaseExternalReferenceCount { buffer, ..none() };
    call(api().BufferDecreaseExternalReferenceCount, decrease()).expect("a reference");
    assert!(is_ready());
    assert!(call(api().BufferDecreaseExternalReferenceCount, decrease()).is_err());
    assert!(numbers(buffer).expect_err("deleted").message.contains("deleted"));
    wait(event).expect("the end");
    call(api().BufferDestroy, BufferDestroy { buffer, ..none() }).expect("a buffer");
}

#[test]
fn a_copy_is_in_memory_of_its_own() {
    let client = devices(2);
    let x = floats(client, 0, &[2], &[1., 2.]);
    let device = ClientLookupDevice { client, id: 1, ..none() };
    let dst_device = call(api().ClientLookupDevice, device).expect("a device").device;
    let args = BufferCopyToDevice { buffer: x, dst_device, ..none() };
    let copy = call(api().BufferCopyToDevice, args).expect("a copy").dst_buffer;
    assert_ne!(address(copy), address(x));
    assert_eq!(numbers(copy), Ok(vec![1., 2.]));
    let of = call(api().BufferDevice, BufferDevice { buffer: copy, ..none() }).expect("a device").device;
    assert!(of.is(dst_device.get().expect("a device")));
}

static CALLBACK_COUNT: AtomicUsize = AtomicUsize::new(0);

unsafe extern "C" fn hear(error: Handle<Error>, argument: *mut c_void) {
    let failed = failure(error).expect_err("an error");
    assert_eq!((failed.code, failed.message.as_str()), (9, "not now"));
    CALLBACK_COUNT.fetch_add(argument.addr(), Ordering::SeqCst);
}

#[test]
fn an_event_of_the_caller_is_over_when_the_caller_says_so() {
    let event = call(api().EventCreate, EventCreate { ..none() }).expect("an event").event;
    let on_ready = || EventOnReady {
        event,
        callback: Some(hear),
        user_arg: std::ptr::without_provenance_mut(7),
        ..none()
    };
    call(api().EventOnReady, on_ready()).expect("a callback");
    assert_eq!(CALLBACK_COUNT.load(Ordering::SeqCst), 0);
    let early = call(api().EventError, EventError { event, ..none() }).err().expect("an error");
    assert_eq!(early.code, 9);
    let text = hlo_pjrt::sys::Text::of("not now");
    call(api().EventSet, EventSet { event, error_code: 9, error_message: text, ..none() }).expect("an event");
    assert_eq!(CALLBACK_COUNT.load(Ordering::SeqCst), 7);
    call(api().EventOnReady, on_ready()).expect("a callback");
    assert_eq!(CALLBACK_COUNT.load(Ordering::SeqCst), 14);
    assert!(call(api().EventSet, EventSet { event, ..none() }).is_err());
    assert!(wait(event).is_err());
}

unsafe extern "C" fn count(key: *const u8, size: usize, _: *const u8, _: usize, argument: *mut c_void) {
    // SAFETY: the argument is the test's own number, and the key has `size` bytes.
    unsafe {
        assert_eq!(std::slice::from_raw_parts(key, size), b"why");
        *argument.cast::<usize>() += 1;
    }
}

#[test]
fn an_array_may_be_an_error_from_the_start() {
    let client = devices(1);
    let x = floats(client, 0, &[2], &[1., 2.]);
    let memory = call(api().BufferMemory, BufferMemory { buffer: x, ..none() }).expect("a memory").memory;
    let payload = [NamedValue::new("why", Value::Text(b"because"))];
    let args = ClientCreateErrorBuffer {
        client,
        error_code: 8,
        error_message: hlo_pjrt::sys::Text::of("too large"),
        dims: List::to(&[2]),
        element_type: 11,
        memory,
        payload: List::to(&payload),
        ..none()
    };
    let wrong = call(api().ClientCreateErrorBuffer, args).expect("a buffer").buffer;
    let event =
        call(api().BufferReadyEvent, BufferReadyEvent { buffer: wrong, ..none() }).expect("an event").event;
    let mut error = EventError { event, ..none() };
    // SAFETY: this is the struct of the function.
    let error = unsafe { (api().EventError)((&raw mut error).cast()) };
    let mut payloads = 0usize;
    let user_arg = (&raw mut payloads).cast();
    call(api().ErrorForEachPayload, ErrorForEachPayload { error, visitor: Some(count), user_arg, ..none() })
        .expect("payloads");
    assert_eq!(payloads, 1);
    assert_eq!(failure(error).expect_err("an error").code, 8);
    // A computation on the buffer fails with the same error.
    let double =
        compile(client, "HloModule m ENTRY e { x = f32[2] parameter(0) ROOT y = f32[2] add(x, x) }", &[]);
    let failed = run(double.expect("a program"), &[wrong]).expect_err("an error");
    assert_eq!((failed.code, failed.message.contains("too large")), (8, true));
}
