//! Functions that create arrays from the caller's data.

use crate::buffer::{Buffer, Value, relaid};
use crate::element;
use crate::event::Event;
use crate::fault::{Code, Fault, Result};
use crate::order::Order;
use crate::promise::{Pending, Promise};
use crate::strided::Strided;
use crate::sys::{Handle, MemoryLayout, args::*};
use crate::task::TaskReference;
use hlo_client::Buffer as Array;
use hlo_ir::{AlignedBytes, Dims, ElementType, Literal, Shape};
use stable_deref_trait::StableDeref;
use std::ffi::c_void;
use std::ops::Deref;
use std::sync::Arc;

/// Memory of the caller that an array uses.
struct BorrowedMemory {
    data: *const u8,
    size: usize,
    /// Called when the memory is not needed any more.
    end: Option<Box<dyn FnOnce() + Send + Sync>>,
}

// SAFETY: the caller guarantees that the memory is not written until `end` is called.
unsafe impl Send for BorrowedMemory {}
// SAFETY: as above.
unsafe impl Sync for BorrowedMemory {}
// SAFETY: the memory does not move when this value does.
unsafe impl StableDeref for BorrowedMemory {}

impl Deref for BorrowedMemory {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self.size {
            0 => &[],
            // SAFETY: the caller guarantees that there are `size` bytes.
            _ => unsafe { std::slice::from_raw_parts(self.data, self.size) },
        }
    }
}

impl Drop for BorrowedMemory {
    fn drop(&mut self) {
        if let Some(end) = self.end.take() {
            end();
        }
    }
}

/// The first value of the host buffer semantics that allows the library to use the host memory while the
/// array exists.
const ZERO_COPY: i32 = 2;

pub fn buffer_from_host_buffer(a: &mut ClientBufferFromHostBuffer) -> Result {
    let platform = &a.client.get()?.platform;
    let memory = platform.place(a.memory, a.device)?;
    let ty = element::element_type(a.element_type)?;
    let dims = a.dims.get()?;
    // SAFETY: the caller passes a layout or null.
    let order = order(dims, ty, unsafe { a.device_layout.as_ref() })?;
    let placed = order.shape(ty, dims);
    let host = Strided::at(dims, ty.byte_size(), a.byte_strides.get()?)?;
    let size = host.byte_size();
    if a.data.is_null() && size > 0 {
        return Err(Fault::invalid("the data is a null pointer"));
    }
    let shape = Shape::array(ty, dims.iter().copied());
    let data = a.data.cast::<u8>();
    let lies_so = host.is_dense_in_order(&order.minor_to_major(dims.len()));
    let array = if a.semantics >= ZERO_COPY && lies_so {
        let done: Arc<Promise<()>> = Arc::default();
        let over = done.clone();
        let end = Box::new(move || {
            over.keep(Ok(()));
        });
        let array = lent(BorrowedMemory { data, size, end: Some(end) }, &placed)?;
        a.done_with_host_buffer = Handle::allocate(Event::Own(done));
        array
    } else {
        // SAFETY: the caller guarantees that the elements are readable.
        let array = relaid(unsafe { gathered(&host, data, &shape)? }, &placed)?;
        a.done_with_host_buffer = Handle::allocate(Event::Over(Ok(())));
        array
    };
    let value = Value::Ready(array);
    let buffer = Buffer::new(platform.clone(), memory, ty, dims.into(), value);
    a.buffer = Handle::allocate(buffer.in_order(order));
    Ok(())
}

/// Returns the order of an array's dimensions in memory according to a layout, or row-major order if there is
/// none.
fn order(dims: &[i64], ty: ElementType, layout: Option<&MemoryLayout>) -> Result<Order> {
    let strided = Strided::laid_out(dims, ty.byte_size(), layout)?;
    let said = layout.map_or(Ok(None), MemoryLayout::minor_to_major)?;
    let order = said.map_or_else(|| strided.order(), Dims::from);
    if strided.is_dense_in_order(&order) {
        Ok(Order::new(&order))
    } else {
        Err(Fault::unimplemented("arrays with something between their elements are not supported"))
    }
}

/// Reads the elements at an address into a row-major array.
///
/// # Safety
/// The elements must be readable according to the strides.
unsafe fn gathered(host: &Strided, data: *const u8, shape: &Shape) -> Result<Array> {
    let size = host.byte_size();
    let bytes = AlignedBytes::try_zeroed(size);
    let mut bytes = bytes
        .ok_or_else(|| Fault::new(Code::ResourceExhausted, format!("there is no memory for {size} bytes")))?;
    // SAFETY: guaranteed by the caller. The destination has the same size.
    unsafe { host.gather(data, bytes.as_mut_ptr()) };
    if let Some(ty) = shape.as_array().map(|a| a.element_type)
        && ty.first_odd_byte(&bytes).is_some()
    {
        bytes.iter_mut().for_each(|byte| *byte = value_of(ty, *byte));
    }
    let value = Literal::try_from_shared(shape.clone(), Arc::new(bytes));
    let value =
        value.ok_or_else(|| Fault::internal("internal error: an array is not as large as its shape"))?;
    Ok(Array::from_literal(&value, shape)?)
}

/// Returns the value of a sub-byte element type in the low bits of a byte. The unused bits are ignored.
fn value_of(ty: ElementType, byte: u8) -> u8 {
    let unused = 8u32.saturating_sub(ty.bit_width());
    match (ty.is_pred(), ty.is_signed_integer()) {
        (true, _) => u8::from(byte != 0),
        (_, true) => (((byte << unused).cast_signed()) >> unused).cast_unsigned(),
        _ => (byte << unused) >> unused,
    }
}

/// Creates an array in the caller's memory. If the memory contains invalid values of a sub-byte type, the
/// array is a corrected copy.
///
/// # Errors
/// There is no memory for the copy. In this case `end` is not called.
fn lent(mut memory: BorrowedMemory, shape: &Shape) -> Result<Array> {
    let Some(ty) = shape.as_array().map(|a| a.element_type) else {
        return Err(Fault::internal("internal error: no array"));
    };
    if ty.first_odd_byte(&memory).is_none() {
        return Ok(Array::from_owner(memory, shape)?);
    }
    let values: Vec<u8> = memory.iter().map(|&byte| value_of(ty, byte)).collect();
    let own = Array::from_slice(&values, shape);
    if own.is_err() {
        memory.end = None;
    }
    Ok(own?)
}

/// The caller's function to call when memory is not needed any more, and its arguments.
struct OnDelete(OnDeleteFunction, *mut c_void, *mut c_void);
type OnDeleteFunction = crate::sys::args::OnDelete;

// SAFETY: the caller guarantees that the function may be called on any thread.
unsafe impl Send for OnDelete {}
// SAFETY: as above.
unsafe impl Sync for OnDelete {}

impl OnDelete {
    fn call(self) {
        if let Some(function) = self.0 {
            // SAFETY: the caller guarantees that the function has this type and accepts these arguments.
            unsafe { function(self.1, self.2) };
        }
    }
}

pub fn create_view_of_device_buffer(a: &mut ClientCreateViewOfDeviceBuffer) -> Result {
    let platform = &a.client.get()?.platform;
    let memory = platform.place(a.memory, a.device)?;
    let ty = element::element_type(a.element_type)?;
    let dims = a.dims.get()?;
    // SAFETY: the caller passes a layout or null.
    let layout = unsafe { a.layout.as_ref() };
    let there = Strided::laid_out(dims, ty.byte_size(), layout)?;
    let order = order(dims, ty, layout);
    let size = there.byte_size();
    if a.device_buffer_ptr.is_null() && size > 0 {
        return Err(Fault::invalid("the memory is a null pointer"));
    }
    let address = a.device_buffer_ptr.addr();
    if size > 0 && !address.is_multiple_of(AlignedBytes::ALIGNMENT) {
        // The message is XLA's: JAX looks for it and copies the data if it may.
        let why = format!(
            "Can't create a view of buffer with unaligned data, ptr: {address:#x} is not aligned to {} bytes. ",
            AlignedBytes::ALIGNMENT
        );
        return Err(Fault::invalid(why));
    }
    let data = a.device_buffer_ptr.cast_const().cast::<u8>();
    let on_delete = OnDelete(a.on_delete, a.device_buffer_ptr, a.on_delete_arg);
    let buffer = |array| Buffer::new(platform.clone(), memory, ty, dims.into(), Value::Ready(array));
    a.buffer = Handle::allocate(match order {
        Ok(order) => {
            let memory = BorrowedMemory { data, size, end: Some(Box::new(move || on_delete.call())) };
            buffer(lent(memory, &order.shape(ty, dims))?).in_order(order)
        }
        Err(_) => {
            // SAFETY: the caller guarantees that the elements are readable.
            let array = unsafe { gathered(&there, data, &Shape::array(ty, dims.iter().copied()))? };
            on_delete.call();
            buffer(array)
        }
    });
    Ok(())
}

pub fn create_uninitialized_buffer(a: &mut ClientCreateUninitializedBuffer) -> Result {
    let platform = &a.client.get()?.platform;
    let memory = platform.place(a.memory, a.device)?;
    let ty = element::element_type(a.element_type)?;
    let dims = a.dims.get()?;
    // SAFETY: the caller passes a layout or null.
    let order = order(dims, ty, unsafe { a.layout.as_ref() })?;
    let array = Array::zeros(&order.shape(ty, dims))?;
    let buffer = Buffer::new(platform.clone(), memory, ty, dims.into(), Value::Ready(array));
    a.buffer = Handle::allocate(buffer.in_order(order));
    Ok(())
}

pub fn create_error_buffer(a: &mut ClientCreateErrorBuffer) -> Result {
    let platform = &a.client.get()?.platform;
    let memory = platform.memory(a.memory)?;
    let ty = element::element_type(a.element_type)?;
    let mut fault = Fault::new(Code::from_number(a.error_code), a.error_message.text()?);
    for named in a.payload.get()? {
        if let crate::sys::Value::Text(text) = named.value()? {
            fault.payloads.push((named.name.get()?.to_vec(), text.to_vec()));
        }
    }
    let failed = Pending::by(TaskReference::default());
    failed.clone().keep(Err(fault));
    let dims = a.dims.get()?.into();
    a.buffer = Handle::allocate(Buffer::new(platform.clone(), memory, ty, dims, Value::Pending(failed)));
    Ok(())
}
