//! Arrays on a device.

use crate::{Device, Error};
use bytemuck::Pod;
use hlo_ir::laid_out::{first_odd_byte, in_buffer, of_buffer};
use hlo_ir::{AlignedBytes, ArrayShape, Literal, Shape};
use stable_deref_trait::StableDeref;
use std::sync::{Arc, OnceLock};

/// An array on a device, or a token. The elements are stored in the layout of the shape, packed if the layout
/// says so. Cloning is cheap: both clones are the same array.
///
/// The results of an asynchronous run ([`crate::Executable::execute_async`]) are buffers too. Such a buffer
/// becomes ready when the run ends. Reading its elements waits until then.
///
/// A result belongs to the device of this process that computed it, and an array made by
/// [`crate::Client::transfer_to_device`] belongs to that device. Programs accept such a buffer on its device
/// only. Every device accepts a buffer that the Rust program made itself. The devices of all clients in a
/// process are its processors, so devices with the same number count as the same device.
///
/// # Example
/// ```
/// use hlo_client::Buffer;
/// use hlo_ir::{ElementType, Shape};
///
/// // The vector is not copied if its address is a multiple of 16.
/// let buffer = Buffer::from_owner(vec![1.0f32, 2.0, 3.0, 4.0], &Shape::array(ElementType::F32, [2, 2]))?;
/// assert_eq!(buffer.elements::<f32>()?, [1.0, 2.0, 3.0, 4.0]);
/// assert_eq!(buffer.to_literal()?.get::<f32>(&[1, 0]), Some(3.0));
/// # Ok::<(), hlo_client::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Buffer {
    shape: Shape,
    content: Content,
    device: Option<Device>,
}

#[derive(Clone, Debug)]
enum Content {
    Ready(Arc<AlignedBytes>),
    Later(Arc<OnceLock<Result<Buffer, Error>>>),
    /// An array on a server, and a local copy once its elements have been requested.
    #[cfg(feature = "remote")]
    Server(hlo_remote::RemoteBuffer, Arc<OnceLock<Result<Buffer, Error>>>),
}

/// The obligation to fill a buffer. If it is dropped unfulfilled, the buffer becomes an error.
#[derive(Debug)]
pub(crate) struct Promise(Option<Arc<OnceLock<Result<Buffer, Error>>>>);

impl Promise {
    /// Fulfils the promise with a buffer, or with the reason why there is none.
    pub(crate) fn keep(mut self, outcome: Result<Buffer, Error>) {
        if let Some(cell) = self.0.take() {
            // No other code sets the cell.
            let _ = cell.set(outcome);
        }
    }
}

impl Drop for Promise {
    fn drop(&mut self) {
        if let Some(cell) = self.0.take() {
            let _ = cell.set(Err(Error::new("internal error: the run ended before this result was there")));
        }
    }
}

impl Buffer {
    /// Creates a buffer from a value, in the layout of `shape`, which is an array shape or a token. Where
    /// `shape` has bounds, the buffer has the sizes of the value. A row-major array shares the memory of the
    /// value.
    ///
    /// # Errors
    /// The value has another type or other sizes, or it is a tuple. Create one buffer for each leaf of a
    /// tuple.
    pub fn from_literal(literal: &Literal, shape: &Shape) -> Result<Self, Error> {
        let (shape, bytes) = in_buffer(literal, shape)?;
        Ok(Self::ready(shape, bytes))
    }

    /// Creates an array of zeros, or a token.
    ///
    /// # Errors
    /// There is no memory for the array, or the shape is a tuple. Create one buffer for each leaf of a tuple.
    pub fn zeros(shape: &Shape) -> Result<Self, Error> {
        if matches!(shape, Shape::Tuple(_)) {
            return Err(Error::new(format!("expected the shape of an array or a token, found {shape}")));
        }
        let bytes = AlignedBytes::try_zeroed(shape.stored_size()).ok_or_else(|| no_memory(shape))?;
        Ok(Self::ready(shape.clone(), Arc::new(bytes)))
    }

    /// Allocates a result buffer with unspecified contents. The run must write all of it.
    #[cfg(feature = "codegen")]
    pub(crate) fn allocate(shape: &Shape) -> Result<Self, Error> {
        // A run does not write beyond the sizes of a dynamic array, so that memory is zeroed.
        let is_written = shape.as_array().is_some_and(hlo_ir::ArrayShape::is_static);
        if is_written {
            let bytes = AlignedBytes::try_room(shape.stored_size()).ok_or_else(|| no_memory(shape))?;
            Ok(Self::ready(shape.clone(), Arc::new(bytes)))
        } else {
            Self::zeros(shape)
        }
    }

    /// Creates a buffer with a copy of `elements`, which are in the order of `shape`'s layout. For `T`, see
    /// [`Buffer::from_owner`].
    ///
    /// # Errors
    /// As [`Buffer::from_owner`], or there is no memory for the copy.
    pub fn from_slice<T: Pod>(elements: &[T], shape: &Shape) -> Result<Self, Error> {
        check::<T>(elements, shape)?;
        let bytes = AlignedBytes::try_from_slice(bytemuck::cast_slice(elements));
        Ok(Self::ready(shape.clone(), Arc::new(bytes.ok_or_else(|| no_memory(shape))?)))
    }

    /// Creates a buffer from an owner of elements, such as a `Vec<f32>`, an `Arc<[u8]>` or a mapped file. The
    /// elements are in the order of `shape`'s layout. They are not copied if their address is a multiple of
    /// 16. The owner is dropped with the last buffer or value that shares its memory. `T` must have the size
    /// of an element (see [`Literal::from_elements`]) or of a byte.
    ///
    /// # Errors
    /// `shape` is not an array of static sizes, the number or the size of the elements does not match it, or
    /// an element is not a value of its type, such as a 2 for `pred`.
    pub fn from_owner<T, O>(owner: O, shape: &Shape) -> Result<Self, Error>
    where
        T: Pod,
        O: StableDeref<Target = [T]> + Send + Sync + 'static,
    {
        check::<T>(&owner, shape)?;
        Ok(Self::ready(shape.clone(), Arc::new(AlignedBytes::from_owner(owner))))
    }

    /// Creates a buffer of an array shape or a token that a run will fill. `device` is the device of this
    /// process that computes it, if any.
    pub(crate) fn pending(shape: &Shape, device: Option<&Device>) -> (Self, Promise) {
        let cell = Arc::new(OnceLock::new());
        let content = Content::Later(cell.clone());
        (Self { shape: shape.clone(), content, device: device.cloned() }, Promise(Some(cell)))
    }

    /// Creates the buffer of an array on a server.
    #[cfg(feature = "remote")]
    pub(crate) fn on_server(buffer: hlo_remote::RemoteBuffer) -> Self {
        Self { shape: buffer.shape().clone(), content: Content::Server(buffer, Arc::default()), device: None }
    }

    /// Returns the array on a server, or `None` if the buffer is not on a server.
    #[cfg(feature = "remote")]
    pub(crate) fn server_buffer(&self) -> Option<&hlo_remote::RemoteBuffer> {
        match &self.content {
            Content::Server(buffer, _) => Some(buffer),
            Content::Ready(_) | Content::Later(_) => None,
        }
    }

    pub(crate) fn ready(shape: Shape, bytes: Arc<AlignedBytes>) -> Self {
        Self { shape, content: Content::Ready(bytes), device: None }
    }

    /// Returns the device that holds the array, or `None` if every device of this process accepts it.
    pub fn device(&self) -> Option<&Device> {
        self.device.as_ref()
    }

    /// Returns the array as an array of `device`, which must be a device of this process, as must the array.
    /// The devices of a process share memory, so nothing is copied until one of the two buffers is donated
    /// and written.
    ///
    /// # Errors
    /// The array is on a server.
    pub fn copy_to_device(&self, device: &Device) -> Result<Self, Error> {
        #[cfg(feature = "remote")]
        if self.server_buffer().is_some() {
            return Err(Error::new("an array on a server can't be copied from device to device"));
        }
        Ok(self.clone().on(device))
    }

    /// Returns the array, now assigned to `device`.
    pub(crate) fn on(mut self, device: &Device) -> Self {
        self.set_device(device);
        self
    }

    /// Assigns the array to `device`.
    pub(crate) fn set_device(&mut self, device: &Device) {
        // The results of repeated runs stay on the same device.
        if self.device.as_ref() != Some(device) {
            self.device = Some(device.clone());
        }
    }

    /// Returns the shape, with the actual sizes of the array. Dynamic dimensions of a buffer that is not
    /// ready have their bounds.
    pub fn shape(&self) -> &Shape {
        match &self.content {
            Content::Later(cell) => match cell.get() {
                Some(Ok(buffer)) => buffer.shape(),
                Some(Err(_)) | None => &self.shape,
            },
            Content::Ready(_) => &self.shape,
            #[cfg(feature = "remote")]
            Content::Server(..) => &self.shape,
        }
    }

    /// Returns whether the run that computes the buffer is over, successfully or not. Reading a ready buffer
    /// does not wait, except for the transfer from a server.
    pub fn is_ready(&self) -> bool {
        match &self.content {
            Content::Ready(_) => true,
            Content::Later(cell) => cell.get().is_some(),
            #[cfg(feature = "remote")]
            Content::Server(..) => true,
        }
    }

    /// Waits until the buffer is ready.
    ///
    /// # Errors
    /// The error of the run that computes the buffer.
    pub fn wait(&self) -> Result<(), Error> {
        match &self.content {
            Content::Later(cell) => cell.wait().as_ref().map_err(Clone::clone)?.wait(),
            Content::Ready(_) => Ok(()),
            #[cfg(feature = "remote")]
            Content::Server(..) => Ok(()),
        }
    }

    /// Returns the elements, in the order of the shape's layout. The elements of an array on a server are
    /// transferred once.
    ///
    /// # Errors
    /// As [`Buffer::wait`], or there is no connection to the server.
    pub fn bytes(&self) -> Result<&[u8], Error> {
        Ok(self.memory()?)
    }

    /// Returns the elements as Rust numbers, in the order of the shape's layout. For `T`, see
    /// [`Buffer::from_owner`].
    ///
    /// # Errors
    /// As [`Buffer::wait`], or the elements have another size.
    pub fn elements<T: Pod>(&self) -> Result<&[T], Error> {
        let bytes = self.bytes()?;
        check_size::<T>(self.shape())?;
        bytemuck::try_cast_slice(bytes).map_err(|e| Error::new(format!("{} bytes: {e}", bytes.len())))
    }

    /// Returns the elements for writing. Returns `None` if another buffer or value shares the memory, or if
    /// the buffer is not in the memory of this process yet.
    pub fn bytes_mut(&mut self) -> Option<&mut [u8]> {
        match &mut self.content {
            Content::Ready(bytes) => Arc::get_mut(bytes).map(|bytes| &mut **bytes),
            Content::Later(_) => None,
            #[cfg(feature = "remote")]
            Content::Server(..) => None,
        }
    }

    /// Prepares the buffer for results. Allocates new memory if the current memory is shared.
    #[cfg(feature = "codegen")]
    pub(crate) fn make_own(&mut self) -> Result<(), Error> {
        if self.bytes_mut().is_none() {
            *self = Self::allocate(self.shape())?;
        }
        Ok(())
    }

    /// Returns the value. A row-major array shares the memory of the buffer.
    ///
    /// # Errors
    /// As [`Buffer::wait`].
    pub fn to_literal(&self) -> Result<Literal, Error> {
        self.clone().into_literal()
    }

    /// Converts the buffer into its value. See [`Buffer::to_literal`].
    ///
    /// # Errors
    /// As [`Buffer::wait`].
    pub fn into_literal(self) -> Result<Literal, Error> {
        let (shape, bytes) = match self.content {
            Content::Ready(bytes) => (self.shape, bytes),
            Content::Later(ref cell) => return cell.wait().as_ref().map_err(Clone::clone)?.to_literal(),
            #[cfg(feature = "remote")]
            Content::Server(ref buffer, ref here) => {
                return match here.get() {
                    Some(transferred) => transferred.as_ref().map_err(Clone::clone)?.to_literal(),
                    None => buffer.to_literal(),
                };
            }
        };
        of_buffer(shape, bytes)
            .ok_or_else(|| Error::new("internal error: a buffer is not as large as its shape"))
    }

    /// Returns the memory. Waits until the buffer is ready.
    fn memory(&self) -> Result<&AlignedBytes, Error> {
        match &self.content {
            Content::Ready(bytes) => Ok(bytes),
            Content::Later(cell) => cell.wait().as_ref().map_err(Clone::clone)?.memory(),
            #[cfg(feature = "remote")]
            Content::Server(buffer, here) => {
                let transfer = || Buffer::from_literal(&buffer.to_literal()?, &self.shape);
                here.get_or_init(transfer).as_ref().map_err(Clone::clone)?.memory()
            }
        }
    }

    /// Waits until the buffer is ready, then returns the buffer that the run stored. Adds no reference to its
    /// memory.
    #[cfg(feature = "codegen")]
    pub(crate) fn into_settled(self) -> Result<Self, Error> {
        match self.content {
            Content::Ready(_) => Ok(self),
            Content::Later(cell) => match Arc::try_unwrap(cell) {
                Ok(cell) => cell.into_inner().unwrap_or_else(|| Err(Error::new("internal error: not ready"))),
                Err(shared) => shared.wait().clone(),
            },
            #[cfg(feature = "remote")]
            Content::Server(..) => Ok(self),
        }
    }

    /// Returns whether this is an array in the layout of `shape` whose memory nothing else shares. If so, the
    /// buffer's shape becomes `shape`.
    #[cfg(feature = "codegen")]
    pub(crate) fn is_own_in(&mut self, shape: &Shape) -> bool {
        let is_own = match &mut self.content {
            Content::Ready(bytes) => Arc::get_mut(bytes).is_some_and(|bytes| !bytes.is_borrowed()),
            Content::Later(_) => false,
            #[cfg(feature = "remote")]
            Content::Server(..) => false,
        };
        let fits = is_own && hlo_analysis::have_same_memory_layout(&self.shape, shape);
        if fits {
            self.shape = shape.clone();
        }
        fits
    }

    /// Waits until the buffer is ready, then returns the buffer that the run stored.
    pub(crate) fn settled(&self) -> Result<Self, Error> {
        match &self.content {
            Content::Ready(_) => Ok(self.clone()),
            Content::Later(cell) => Ok(Self { device: self.device.clone(), ..cell.wait().clone()? }),
            #[cfg(feature = "remote")]
            Content::Server(..) => Ok(self.clone()),
        }
    }
}

fn no_memory(shape: &Shape) -> Error {
    Error::memory(format!("there is no memory for an array of shape {shape}"))
}

/// Returns the array shape if its sizes are static.
fn array(shape: &Shape) -> Result<&ArrayShape, Error> {
    let array = shape.as_array().filter(|a| a.is_static());
    array.ok_or_else(|| Error::new(format!("expected the shape of an array of known sizes, found {shape}")))
}

/// Checks that `T` has the size of an element or of a byte.
fn check_size<T: Pod>(shape: &Shape) -> Result<(), Error> {
    let size = array(shape)?.element_type.byte_size();
    if size_of::<T>() == 1 || size_of::<T>() == size {
        return Ok(());
    }
    Err(Error::new(format!(
        "an element of {shape} has {size} bytes, one of `{}` has {}",
        std::any::type_name::<T>(),
        size_of::<T>()
    )))
}

/// Checks that the elements are valid elements of an array of that shape.
fn check<T: Pod>(elements: &[T], shape: &Shape) -> Result<(), Error> {
    check_size::<T>(shape)?;
    let (found, expected) = (size_of_val(elements), shape.stored_size());
    if found != expected {
        return Err(Error::new(format!("an array of shape {shape} takes {expected} bytes, found {found}")));
    }
    let array = array(shape)?;
    let bytes = bytemuck::cast_slice::<T, u8>(elements);
    match first_odd_byte(array, bytes) {
        None => Ok(()),
        Some(at) => Err(Error::new(format!(
            "element {at} of {shape}: the byte {:#04x} is no value of {}",
            bytes[at], array.element_type
        ))),
    }
}
