//! The caller's arrays.

use crate::element;
use crate::fault::{Fault, Result};
use crate::order::Order;
use crate::platform::Platform;
use crate::promise::{Pending, Promise};
use crate::strided::Strided;
use hlo_client::Buffer as Array;
use hlo_ir::{Dims, ElementType, Shape};
use std::sync::{Arc, Mutex, PoisonError};

/// An array of the caller, which a run may still be computing.
pub struct Buffer {
    /// The client that the buffer belongs to.
    pub platform: Arc<Platform>,
    /// The number of the memory that holds the buffer.
    pub memory: usize,
    /// The element type.
    pub element_type: ElementType,
    /// The sizes of the dimensions.
    pub dims: Dims,
    /// The order of the dimensions in memory.
    pub order: Order,
    content: Mutex<Content>,
    external: Mutex<External>,
}

/// The content of a buffer.
enum Content {
    Ready(Array),
    Pending(Arc<Pending>),
    /// The caller deleted the buffer or donated it to a run.
    Deleted,
}

/// External references to a buffer's memory.
#[derive(Default)]
struct External {
    count: usize,
    /// Keeps the memory alive while there are external references.
    array: Option<Array>,
}

/// An array that is ready, or that a run still computes.
#[derive(Clone)]
pub enum Value {
    /// The array is ready.
    Ready(Array),
    /// A run computes the array.
    Pending(Arc<Pending>),
}

impl Buffer {
    /// Creates a buffer for a row-major array in a memory of a client.
    pub fn new(platform: Arc<Platform>, memory: usize, ty: ElementType, dims: Dims, value: Value) -> Self {
        let content = match value {
            Value::Ready(array) => Content::Ready(array),
            Value::Pending(pending) => Content::Pending(pending),
        };
        Self {
            platform,
            memory,
            element_type: ty,
            dims,
            order: Order::ROW_MAJOR,
            content: Mutex::new(content),
            external: Mutex::default(),
        }
    }

    /// Returns the buffer with the given order of the dimensions in memory.
    pub fn in_order(self, order: Order) -> Self {
        Self { order, ..self }
    }

    /// Returns the number of the device that holds the buffer.
    pub fn device(&self) -> usize {
        self.platform.memories[self.memory].device
    }

    /// Returns the number of the element type in the C API.
    pub fn type_number(&self) -> i32 {
        element::number(self.element_type)
    }

    /// Returns the shape.
    pub fn shape(&self) -> Shape {
        self.order.shape(self.element_type, &self.dims)
    }

    /// Returns how the elements are arranged in memory.
    ///
    /// # Errors
    /// The array does not fit in the address space.
    pub fn strided(&self) -> Result<Strided> {
        let order = self.order.minor_to_major(self.dims.len());
        let order = order.iter().map(|&d| usize::try_from(d).unwrap_or(usize::MAX));
        Strided::in_order(&self.dims, self.element_type.byte_size(), &order.collect::<Vec<_>>())
    }

    /// Returns the current value.
    ///
    /// # Errors
    /// The buffer was deleted or donated to a run.
    pub fn value(&self) -> Result<Value> {
        let mut content = self.content();
        replace_if_ready(&mut content);
        match &*content {
            Content::Ready(array) => Ok(Value::Ready(array.clone())),
            Content::Pending(pending) => Ok(Value::Pending(pending.clone())),
            Content::Deleted => Err(deleted_buffer_error()),
        }
    }

    /// Takes the value for a run and marks the buffer as deleted.
    ///
    /// # Errors
    /// As [`Buffer::value`].
    pub fn take(&self) -> Result<Value> {
        let mut content = self.content();
        replace_if_ready(&mut content);
        match std::mem::replace(&mut *content, Content::Deleted) {
            Content::Ready(array) => Ok(Value::Ready(array)),
            Content::Pending(pending) => Ok(Value::Pending(pending)),
            Content::Deleted => Err(deleted_buffer_error()),
        }
    }

    /// Waits for the array.
    ///
    /// # Errors
    /// As [`Buffer::value`], or the array could not be computed.
    pub fn wait(&self) -> Result<Array> {
        match self.value()? {
            Value::Ready(array) => Ok(array),
            Value::Pending(pending) => {
                pending.over().wait().clone()?;
                drop(pending);
                match self.value()? {
                    Value::Ready(array) => Ok(array),
                    Value::Pending(_) => Err(Fault::internal("internal error: the array is not there")),
                }
            }
        }
    }

    /// Deletes the buffer. Its memory stays allocated while there are external references.
    pub fn delete(&self) {
        let content = std::mem::replace(&mut *self.content(), Content::Deleted);
        drop(content);
    }

    /// Returns whether the buffer was deleted or donated to a run.
    pub fn is_deleted(&self) -> bool {
        matches!(*self.content(), Content::Deleted)
    }

    /// Adds an external reference to the memory.
    ///
    /// # Errors
    /// As [`Buffer::wait`].
    pub fn share(&self) -> Result {
        let mut external = self.external();
        if external.array.is_none() {
            external.array = Some(self.wait()?);
        }
        external.count += 1;
        Ok(())
    }

    /// Removes an external reference to the memory.
    ///
    /// # Errors
    /// There are no external references.
    pub fn unshare(&self) -> Result {
        let mut external = self.external();
        external.count = external.count.checked_sub(1).ok_or_else(|| {
            Fault::new(crate::fault::Code::FailedPrecondition, "nobody else has the buffer's memory")
        })?;
        let freed = if external.count == 0 { external.array.take() } else { None };
        drop(external);
        drop(freed);
        Ok(())
    }

    /// Returns whether there are external references to the memory.
    pub fn is_shared(&self) -> bool {
        self.external().count > 0
    }

    /// Returns the address of the elements.
    ///
    /// # Errors
    /// As [`Buffer::wait`].
    pub fn address(&self) -> Result<*const u8> {
        if let Some(array) = &self.external().array {
            return Ok(array.bytes()?.as_ptr());
        }
        Ok(self.wait()?.bytes()?.as_ptr())
    }

    /// Returns the promise that is fulfilled when the array is ready, or `None` if it is ready already.
    ///
    /// # Errors
    /// As [`Buffer::value`].
    pub fn ready(&self) -> Result<Option<Arc<Promise<()>>>> {
        match self.value()? {
            Value::Ready(_) => Ok(None),
            Value::Pending(pending) => Ok(Some(pending.over().clone())),
        }
    }

    fn content(&self) -> std::sync::MutexGuard<'_, Content> {
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn external(&self) -> std::sync::MutexGuard<'_, External> {
        self.external.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Converts an array to the layout of `shape`. If the array has that layout already, the result shares its
/// memory.
///
/// # Errors
/// There is no memory for the converted array.
pub fn relaid(array: Array, shape: &Shape) -> Result<Array> {
    let lies_so = match (array.shape().as_array(), shape.as_array()) {
        (Some(own), Some(wanted)) => own.stored_size() == own.byte_size() && own.same_strides(wanted),
        _ => true,
    };
    if lies_so { Ok(array) } else { Ok(Array::from_literal(&array.to_literal()?, shape)?) }
}

/// Replaces a pending array by the array itself once it is ready. Adds no reference to its memory.
fn replace_if_ready(content: &mut Content) {
    let Content::Pending(pending) = &*content else { return };
    if !matches!(pending.over().get(), Some(Ok(()))) {
        return;
    }
    if let Content::Pending(pending) = std::mem::replace(content, Content::Deleted)
        && let Ok(array) = pending.into_array()
    {
        *content = Content::Ready(array);
    }
}

fn deleted_buffer_error() -> Fault {
    Fault::invalid("the buffer has been deleted or donated")
}
