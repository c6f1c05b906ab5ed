//! Arrays of the caller's.

use crate::element;
use crate::fault::{Fault, Result};
use crate::layouts::Order;
use crate::platform::Platform;
use crate::promise::{Pending, Promise};
use crate::strided::Strided;
use hlo_client::Buffer as Array;
use hlo_ir::{Dims, ElementType, Shape};
use std::sync::{Arc, Mutex, PoisonError};

/// An array of the caller's, which may be one that a run still computes.
pub struct Buffer {
    /// The client that it belongs to.
    pub platform: Arc<Platform>,
    /// The number of the memory that it is in.
    pub memory: usize,
    /// The type of its elements.
    pub element_type: ElementType,
    /// Its sizes.
    pub dims: Dims,
    /// The order of its dimensions in memory; nothing if it lies row-major.
    pub order: Order,
    content: Mutex<Content>,
    external: Mutex<External>,
}

/// What a buffer has.
enum Content {
    Here(Array),
    Later(Arc<Pending>),
    /// The caller deleted it, or gave it to a run.
    Gone,
}

/// Who else has a buffer's memory.
#[derive(Default)]
struct External {
    count: usize,
    /// Keeps the memory as long as somebody else has it.
    array: Option<Array>,
}

/// An array that is there, or that a run still computes.
#[derive(Clone)]
pub enum Value {
    /// It is there.
    Here(Array),
    /// A run computes it.
    Later(Arc<Pending>),
}

impl Buffer {
    /// A buffer in a memory of a client, of an array that lies row-major.
    pub fn new(platform: Arc<Platform>, memory: usize, ty: ElementType, dims: Dims, value: Value) -> Self {
        let content = match value {
            Value::Here(array) => Content::Here(array),
            Value::Later(pending) => Content::Later(pending),
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

    /// The buffer of an array whose dimensions are in this order in memory.
    pub fn in_order(self, order: Order) -> Self {
        Self { order, ..self }
    }

    /// The number of the device that it is on.
    pub fn device(&self) -> usize {
        self.platform.memories[self.memory].device
    }

    /// Its number among the element types of the C API.
    pub fn type_number(&self) -> i32 {
        element::number(self.element_type)
    }

    /// Its shape.
    pub fn shape(&self) -> Shape {
        self.order.shape(self.element_type, &self.dims)
    }

    /// How it lies in memory.
    ///
    /// # Errors
    /// It does not fit the address space.
    pub fn strided(&self) -> Result<Strided> {
        let order = self.order.minor_to_major(self.dims.len());
        let order = order.iter().map(|&d| usize::try_from(d).unwrap_or(usize::MAX));
        Strided::in_order(&self.dims, self.element_type.byte_size(), &order.collect::<Vec<_>>())
    }

    /// What it has now.
    ///
    /// # Errors
    /// It was deleted or given to a run.
    pub fn value(&self) -> Result<Value> {
        let mut content = self.content();
        settle(&mut content);
        match &*content {
            Content::Here(array) => Ok(Value::Here(array.clone())),
            Content::Later(pending) => Ok(Value::Later(pending.clone())),
            Content::Gone => Err(gone()),
        }
    }

    /// Gives what it has to a run, and is deleted.
    ///
    /// # Errors
    /// As [`Buffer::value`].
    pub fn take(&self) -> Result<Value> {
        let mut content = self.content();
        settle(&mut content);
        match std::mem::replace(&mut *content, Content::Gone) {
            Content::Here(array) => Ok(Value::Here(array)),
            Content::Later(pending) => Ok(Value::Later(pending)),
            Content::Gone => Err(gone()),
        }
    }

    /// Waits for the array.
    ///
    /// # Errors
    /// As [`Buffer::value`], or it could not be computed.
    pub fn wait(&self) -> Result<Array> {
        match self.value()? {
            Value::Here(array) => Ok(array),
            Value::Later(pending) => {
                pending.over().wait().clone()?;
                drop(pending);
                match self.value()? {
                    Value::Here(array) => Ok(array),
                    Value::Later(_) => Err(Fault::internal("internal error: the array is not there")),
                }
            }
        }
    }

    /// Forgets the array. Its memory stays as long as somebody else has it.
    pub fn delete(&self) {
        let content = std::mem::replace(&mut *self.content(), Content::Gone);
        drop(content);
    }

    /// True once it was deleted or given to a run.
    pub fn is_deleted(&self) -> bool {
        matches!(*self.content(), Content::Gone)
    }

    /// Somebody else has its memory from now on.
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

    /// One of those who had its memory does not have it any more.
    ///
    /// # Errors
    /// There was nobody.
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

    /// True if somebody else has its memory.
    pub fn is_shared(&self) -> bool {
        self.external().count > 0
    }

    /// Where its elements are.
    ///
    /// # Errors
    /// As [`Buffer::wait`].
    pub fn address(&self) -> Result<*const u8> {
        if let Some(array) = &self.external().array {
            return Ok(array.bytes()?.as_ptr());
        }
        Ok(self.wait()?.bytes()?.as_ptr())
    }

    /// What says when it is there; nothing if it is.
    ///
    /// # Errors
    /// As [`Buffer::value`].
    pub fn ready(&self) -> Result<Option<Arc<Promise<()>>>> {
        match self.value()? {
            Value::Here(_) => Ok(None),
            Value::Later(pending) => Ok(Some(pending.over().clone())),
        }
    }

    fn content(&self) -> std::sync::MutexGuard<'_, Content> {
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn external(&self) -> std::sync::MutexGuard<'_, External> {
        self.external.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An array as its shape says that it is to lie, which shares the memory if it lies so.
///
/// # Errors
/// There is no memory for it.
pub fn relaid(array: Array, shape: &Shape) -> Result<Array> {
    let lies_so = match (array.shape().as_array(), shape.as_array()) {
        (Some(own), Some(wanted)) => own.stored_size() == own.byte_size() && own.same_strides(wanted),
        _ => true,
    };
    if lies_so { Ok(array) } else { Ok(Array::from_literal(&array.to_literal()?, shape)?) }
}

/// Has the array itself once it is there: its memory is as little shared as it was.
fn settle(content: &mut Content) {
    let Content::Later(pending) = &*content else { return };
    if !matches!(pending.over().get(), Some(Ok(()))) {
        return;
    }
    if let Content::Later(pending) = std::mem::replace(content, Content::Gone)
        && let Ok(array) = pending.into_array()
    {
        *content = Content::Here(array);
    }
}

fn gone() -> Fault {
    Fault::invalid("the buffer has been deleted or donated")
}
