//! Functions for arrays.

use crate::buffer::{Buffer, Value};
use crate::event::Event;
use crate::fault::{Fault, Result};
use crate::promise::{Pending, Promise};
use crate::strided::Strided;
use crate::sys::{Handle, List, MemoryLayout, args::*};
use crate::task::TaskReference;
use hlo_client::Buffer as Array;
use std::borrow::Cow;
use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

pub fn destroy(a: &mut BufferDestroy) -> Result {
    drop(a.buffer.take());
    Ok(())
}

pub fn element_type(a: &mut BufferElementType) -> Result {
    a.element_type = a.buffer.get()?.type_number();
    Ok(())
}

pub fn dimensions(a: &mut BufferDimensions) -> Result {
    a.dims = List::to(&a.buffer.get()?.dims);
    Ok(())
}

pub fn unpadded_dimensions(a: &mut BufferUnpaddedDimensions) -> Result {
    a.dims = List::to(&a.buffer.get()?.dims);
    Ok(())
}

pub fn dynamic_dimension_indices(a: &mut BufferDynamicDimensionIndices) -> Result {
    a.buffer.get()?;
    a.indices = List::to(&[]);
    Ok(())
}

pub fn get_memory_layout(a: &mut BufferGetMemoryLayout) -> Result {
    let buffer = a.buffer.get()?;
    let rank = buffer.dims.len();
    // The caller receives the address of the order.
    let Cow::Borrowed(order) = buffer.order.minor_to_major(rank) else {
        return Err(Fault::unimplemented(format!("an array of {rank} dimensions")));
    };
    a.layout = MemoryLayout::in_order(order);
    Ok(())
}

pub fn on_device_size_in_bytes(a: &mut BufferOnDeviceSizeInBytes) -> Result {
    a.size = a.buffer.get()?.shape().byte_size();
    Ok(())
}

pub fn device(a: &mut BufferDevice) -> Result {
    let buffer = a.buffer.get()?;
    a.device = buffer.platform.device_handles[buffer.device()];
    Ok(())
}

pub fn memory(a: &mut BufferMemory) -> Result {
    let buffer = a.buffer.get()?;
    a.memory = buffer.platform.memory_handles[buffer.memory];
    Ok(())
}

pub fn delete(a: &mut BufferDelete) -> Result {
    a.buffer.get()?.delete();
    Ok(())
}

pub fn is_deleted(a: &mut BufferIsDeleted) -> Result {
    a.is_deleted = a.buffer.get()?.is_deleted();
    Ok(())
}

pub fn is_on_cpu(a: &mut BufferIsOnCpu) -> Result {
    a.buffer.get()?;
    a.is_on_cpu = true;
    Ok(())
}

pub fn ready_event(a: &mut BufferReadyEvent) -> Result {
    let event = match a.buffer.get()?.ready() {
        Ok(Some(later)) => Event::Later(later),
        Ok(None) => Event::Over(Ok(())),
        Err(fault) => Event::Over(Err(fault)),
    };
    a.event = Handle::allocate(event);
    Ok(())
}

pub fn unsafe_pointer(a: &mut BufferUnsafePointer) -> Result {
    a.pointer = a.buffer.get()?.address()?.expose_provenance();
    Ok(())
}

pub fn opaque_device_memory_data_pointer(a: &mut BufferOpaqueDeviceMemoryDataPointer) -> Result {
    a.pointer = a.buffer.get()?.address()?.cast_mut().cast();
    Ok(())
}

pub fn increase_external_reference_count(a: &mut BufferIncreaseExternalReferenceCount) -> Result {
    a.buffer.get()?.share()
}

pub fn decrease_external_reference_count(a: &mut BufferDecreaseExternalReferenceCount) -> Result {
    a.buffer.get()?.unshare()
}

pub fn copy_to_device(a: &mut BufferCopyToDevice) -> Result {
    let buffer = a.buffer.get()?;
    let device = buffer.platform.device(a.dst_device)?;
    a.dst_buffer = Handle::allocate(copy(buffer, buffer.platform.default_memory(device))?);
    Ok(())
}

pub fn copy_to_memory(a: &mut BufferCopyToMemory) -> Result {
    let buffer = a.buffer.get()?;
    let memory = buffer.platform.memory(a.dst_memory)?;
    a.dst_buffer = Handle::allocate(copy(buffer, memory)?);
    Ok(())
}

/// Copies the array into new memory once it is ready.
fn copy(buffer: &Buffer, memory: usize) -> Result<Buffer> {
    let copied = |array: &Array| -> Result<Array> { Ok(Array::from_slice(array.bytes()?, array.shape())?) };
    let value = match buffer.value()? {
        Value::Ready(array) => Value::Ready(copied(&array)?),
        Value::Pending(pending) => {
            let copy = Pending::by(TaskReference::default());
            let made = copy.clone();
            pending.then(move |array| made.keep(array.as_ref().map_err(Clone::clone).and_then(copied)));
            Value::Pending(copy)
        }
    };
    let copy = Buffer::new(buffer.platform.clone(), memory, buffer.element_type, buffer.dims.clone(), value);
    Ok(copy.in_order(buffer.order.clone()))
}

/// The memory of the caller that a transfer writes to.
struct Destination(*mut c_void);

// SAFETY: the caller guarantees that no other code uses the memory until the event completes.
unsafe impl Send for Destination {}

pub fn to_host_buffer(a: &mut BufferToHostBuffer) -> Result {
    let buffer = a.src.get()?;
    // SAFETY: the caller passes a layout or null.
    let host = match unsafe { a.host_layout.as_ref() } {
        Some(layout) => Strided::laid_out(&buffer.dims, buffer.element_type.byte_size(), Some(layout))?,
        None => buffer.strided()?,
    };
    if a.dst.is_null() {
        a.dst_size = host.byte_size();
        return Ok(());
    }
    let extent = host.extent().filter(|&(low, _)| low >= 0).map(|(_, high)| high.unsigned_abs());
    match extent {
        Some(needed) if needed <= a.dst_size => {}
        Some(needed) => {
            let found = a.dst_size;
            return Err(Fault::invalid(format!("the array takes {needed} bytes, found room for {found}")));
        }
        None => return Err(Fault::invalid("the layout lies outside of the memory")),
    }
    let destination = Destination(a.dst);
    a.event = Handle::allocate(run_when_ready(buffer, move |array| write(array, &host, &destination))?);
    Ok(())
}

/// Writes the elements in the requested arrangement.
fn write(array: &Array, host: &Strided, destination: &Destination) -> Result {
    let to = destination.0.cast::<u8>();
    let shape = array.shape().as_array();
    let bytes = host.element_bytes as i64;
    let stride = |stride: &isize| i64::try_from(*stride).unwrap_or(-1);
    let lies_so = shape.is_some_and(|a| {
        a.stored_size() == a.byte_size()
            && a.strides().iter().map(|s| s * bytes).eq(host.strides.iter().map(stride))
    });
    if lies_so && array.bytes()?.len() == host.byte_size() {
        let elements = array.bytes()?;
        // SAFETY: the caller guarantees the size of the memory, which was checked against the array before.
        unsafe { ptr::copy_nonoverlapping(elements.as_ptr(), to, elements.len()) };
        return Ok(());
    }
    if shape.is_some_and(|a| a.is_dense_row_major()) {
        scatter(array.bytes()?, host, to)
    } else {
        scatter(array.to_literal()?.bytes(), host, to)
    }
}

fn scatter(bytes: &[u8], host: &Strided, to: *mut u8) -> Result {
    if bytes.len() != host.byte_size() {
        let (expected, found) = (host.byte_size(), bytes.len());
        return Err(Fault::internal(format!("internal error: expected {expected} bytes, found {found}")));
    }
    // SAFETY: the lengths match. The caller guarantees the size of the memory, which was checked before.
    unsafe { host.scatter(bytes.as_ptr(), to) };
    Ok(())
}

/// Calls `body` with an array: at once, or once the array is ready.
fn run_when_ready(buffer: &Buffer, body: impl FnOnce(&Array) -> Result + Send + 'static) -> Result<Event> {
    match buffer.value()? {
        Value::Ready(array) => Ok(Event::Over(body(&array))),
        Value::Pending(pending) => {
            let over: Arc<Promise<()>> = Arc::default();
            let done = over.clone();
            pending.then(move |array| {
                let array = array.as_ref().map_err(Clone::clone);
                done.keep(array.and_then(|array| crate::fault::catch(|| body(array))));
            });
            Ok(Event::Own(over))
        }
    }
}

pub fn copy_raw_to_host(a: &mut BufferCopyRawToHost) -> Result {
    let buffer = a.buffer.get()?;
    let bytes = buffer.shape().byte_size();
    let start = usize::try_from(a.offset).ok();
    let size = usize::try_from(a.transfer_size).ok();
    let range =
        start.zip(size).filter(|&(start, size)| start.checked_add(size).is_some_and(|end| end <= bytes));
    let Some((start, size)) = range else {
        let (offset, size) = (a.offset, a.transfer_size);
        return Err(Fault::invalid(format!(
            "{size} bytes from {offset} on are not within the array's {bytes}"
        )));
    };
    if a.dst.is_null() && size > 0 {
        return Err(Fault::invalid("the destination is a null pointer"));
    }
    let destination = Destination(a.dst);
    let body = move |array: &Array| {
        let destination = &destination;
        let bytes = array.bytes()?.get(start..start + size);
        let bytes = bytes.ok_or_else(|| Fault::internal("internal error: the array is too small"))?;
        // SAFETY: the caller guarantees that there is room for `size` bytes.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), destination.0.cast::<u8>(), size) };
        Ok(())
    };
    a.event = Handle::allocate(run_when_ready(buffer, body)?);
    Ok(())
}
