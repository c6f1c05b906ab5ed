//! Arrays on a device.

use crate::{Device, Error};
use bytemuck::Pod;
use hlo_ir::laid_out::{first_odd_byte, in_buffer, of_buffer};
use hlo_ir::{AlignedBytes, ArrayShape, Literal, Shape};
use stable_deref_trait::StableDeref;
use std::sync::{Arc, OnceLock};

/// An array on a device, whose elements lie as its shape's layout says, packed if that says so; or a token. Cloning is cheap:
/// both are the same array.
///
/// The result of a run that goes on ([`crate::Executable::execute_async`]) is a buffer as well: it is ready once the run is over,
/// and whoever asks for its elements waits for that.
///
/// A result lies on the device of this process that computed it, and what [`crate::Client::transfer_to_device`] made on that
/// device: a program takes it there and nowhere else. What a program of Rust made itself is taken by every device. The
/// devices of all clients of a process are its processors: those of the same number are taken for the same.
///
/// # Example
/// ```
/// use hlo_client::Buffer;
/// use hlo_ir::{ElementType, Shape};
///
/// // The vector is not copied, if it begins at a multiple of 16 bytes.
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
    /// On a server; and here, once somebody has asked for its elements.
    #[cfg(feature = "remote")]
    Server(hlo_remote::RemoteBuffer, Arc<OnceLock<Result<Buffer, Error>>>),
}

/// Whoever computes a buffer. If it is dropped before, the buffer is an error.
#[derive(Debug)]
pub(crate) struct Promise(Option<Arc<OnceLock<Result<Buffer, Error>>>>);

impl Promise {
    /// The buffer is there, or will never be.
    pub(crate) fn keep(mut self, outcome: Result<Buffer, Error>) {
        if let Some(cell) = self.0.take() {
            // Nobody else sets it.
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
    /// A value in the layout of `shape`, an array or a token; it has the sizes of the value, where `shape` has bounds. An
    /// array that lies row-major shares the value's memory.
    ///
    /// # Errors
    /// The value is of another type, of other sizes, or a tuple: of that, each leaf has a buffer.
    pub fn from_literal(literal: &Literal, shape: &Shape) -> Result<Self, Error> {
        let (shape, bytes) = in_buffer(literal, shape)?;
        Ok(Self::ready(shape, bytes))
    }

    /// An array of zeros; a token.
    ///
    /// # Errors
    /// There is no memory for it, or the shape is a tuple: of that, each leaf has a buffer.
    pub fn zeros(shape: &Shape) -> Result<Self, Error> {
        if matches!(shape, Shape::Tuple(_)) {
            return Err(Error::new(format!("expected the shape of an array or a token, found {shape}")));
        }
        let bytes = AlignedBytes::try_zeroed(shape.stored_size()).ok_or_else(|| no_memory(shape))?;
        Ok(Self::ready(shape.clone(), Arc::new(bytes)))
    }

    /// Memory for a result, all of which is written: an array of whatever elements.
    #[cfg(feature = "codegen")]
    pub(crate) fn room(shape: &Shape) -> Result<Self, Error> {
        // Beyond the sizes of an array whose sizes are known at run time there are zeros.
        let is_written = shape.as_array().is_some_and(hlo_ir::ArrayShape::is_static);
        match is_written {
            true => {
                let bytes = AlignedBytes::try_room(shape.stored_size()).ok_or_else(|| no_memory(shape))?;
                Ok(Self::ready(shape.clone(), Arc::new(bytes)))
            }
            false => Self::zeros(shape),
        }
    }

    /// A copy of a program's elements, in the order of `shape`'s layout; `T` is as in [`Buffer::from_owner`].
    ///
    /// # Errors
    /// Those of [`Buffer::from_owner`], or there is no memory for the copy.
    pub fn from_slice<T: Pod>(elements: &[T], shape: &Shape) -> Result<Self, Error> {
        check::<T>(elements, shape)?;
        let bytes = AlignedBytes::try_from_slice(bytemuck::cast_slice(elements));
        Ok(Self::ready(shape.clone(), Arc::new(bytes.ok_or_else(|| no_memory(shape))?)))
    }

    /// The elements of an owner, such as a `Vec<f32>`, an `Arc<[u8]>` or a mapped file, in the order of `shape`'s layout. They are
    /// not copied, if they begin at a multiple of 16 bytes; the owner is dropped with the last buffer or value that has them.
    /// `T` is as large as an element (see [`Literal::from_elements`]), or a byte.
    ///
    /// # Errors
    /// `shape` is no array of a size that is known, there are more or fewer elements, they are of another size, or one is
    /// no value of its type, such as a 2 of `pred`.
    pub fn from_owner<T, O>(owner: O, shape: &Shape) -> Result<Self, Error>
    where
        T: Pod,
        O: StableDeref<Target = [T]> + Send + Sync + 'static,
    {
        check::<T>(&owner, shape)?;
        Ok(Self::ready(shape.clone(), Arc::new(AlignedBytes::from_owner(owner))))
    }

    /// A buffer that somebody computes, on a device of this process if that is given, of an array shape or a token.
    pub(crate) fn later(shape: &Shape, device: Option<&Device>) -> (Self, Promise) {
        let cell = Arc::new(OnceLock::new());
        let content = Content::Later(cell.clone());
        (Self { shape: shape.clone(), content, device: device.cloned() }, Promise(Some(cell)))
    }

    /// An array on a server.
    #[cfg(feature = "remote")]
    pub(crate) fn on_server(buffer: hlo_remote::RemoteBuffer) -> Self {
        Self { shape: buffer.shape().clone(), content: Content::Server(buffer, Arc::default()), device: None }
    }

    /// The array on a server, if it is one.
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

    /// The device that it lies on; `None` of what every device of this process takes.
    pub fn device(&self) -> Option<&Device> {
        self.device.as_ref()
    }

    /// The same array on a device, of this process as the array is. The devices of a process share its memory: nothing is
    /// copied, unless one of the two is given away and written to.
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

    /// The same array, on a device from now on.
    pub(crate) fn on(mut self, device: &Device) -> Self {
        self.lie_on(device);
        self
    }

    /// Notes the device that it lies on.
    pub(crate) fn lie_on(&mut self, device: &Device) {
        // Results of run after run lie where they lay.
        if self.device.as_ref() != Some(device) {
            self.device = Some(device.clone());
        }
    }

    /// The shape: its sizes are those of the array, but for dimensions whose sizes are known at run time only of a buffer that
    /// is not ready, which have their bounds.
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

    /// True if the elements are there, or never will be: nobody who asks for them waits, but for their transfer from a server.
    pub fn is_ready(&self) -> bool {
        match &self.content {
            Content::Ready(_) => true,
            Content::Later(cell) => cell.get().is_some(),
            #[cfg(feature = "remote")]
            Content::Server(..) => true,
        }
    }

    /// Waits until the elements are there.
    ///
    /// # Errors
    /// What the run ended with that was to compute them.
    pub fn wait(&self) -> Result<(), Error> {
        match &self.content {
            Content::Later(cell) => cell.wait().as_ref().map_err(Clone::clone)?.wait(),
            Content::Ready(_) => Ok(()),
            #[cfg(feature = "remote")]
            Content::Server(..) => Ok(()),
        }
    }

    /// The elements, in the order of the shape's layout; those of an array on a server are transferred, once.
    ///
    /// # Errors
    /// Those of [`Buffer::wait`]; or there is no connection to the server.
    pub fn bytes(&self) -> Result<&[u8], Error> {
        Ok(self.memory()?)
    }

    /// The elements as numbers of Rust, in the order of the shape's layout; `T` is as in [`Buffer::from_owner`].
    ///
    /// # Errors
    /// Those of [`Buffer::wait`], or elements are of another size.
    pub fn elements<T: Pod>(&self) -> Result<&[T], Error> {
        let bytes = self.bytes()?;
        check_size::<T>(self.shape())?;
        bytemuck::try_cast_slice(bytes).map_err(|e| Error::new(format!("{} bytes: {e}", bytes.len())))
    }

    /// The elements for writing; `None` if another buffer or value has the same memory, or they are not there.
    pub fn bytes_mut(&mut self) -> Option<&mut [u8]> {
        match &mut self.content {
            Content::Ready(bytes) => Arc::get_mut(bytes).map(|bytes| &mut **bytes),
            Content::Later(_) => None,
            #[cfg(feature = "remote")]
            Content::Server(..) => None,
        }
    }

    /// Lets results be written to it: other memory, unless nobody else has this.
    #[cfg(feature = "codegen")]
    pub(crate) fn make_own(&mut self) -> Result<(), Error> {
        if self.bytes_mut().is_none() {
            *self = Self::room(self.shape())?;
        }
        Ok(())
    }

    /// The value. An array that lies row-major shares its memory.
    ///
    /// # Errors
    /// Those of [`Buffer::wait`].
    pub fn to_literal(&self) -> Result<Literal, Error> {
        self.clone().into_literal()
    }

    /// The value; as [`Buffer::to_literal`], of a buffer that is not needed any more.
    ///
    /// # Errors
    /// Those of [`Buffer::wait`].
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

    /// The memory, once it is there.
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

    /// The buffer itself once it is there, of one that is not needed any more: its memory is as little shared as it was.
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

    /// True if it is an array that lies as `shape` says, which is its shape then, and nobody else has its memory.
    #[cfg(feature = "codegen")]
    pub(crate) fn is_own_in(&mut self, shape: &Shape) -> bool {
        let is_own = match &mut self.content {
            Content::Ready(bytes) => Arc::get_mut(bytes).is_some_and(|bytes| !bytes.is_borrowed()),
            Content::Later(_) => false,
            #[cfg(feature = "remote")]
            Content::Server(..) => false,
        };
        let fits = is_own && hlo_analysis::lie_alike(&self.shape, shape);
        if fits {
            self.shape = shape.clone();
        }
        fits
    }

    /// The buffer itself once it is there.
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

/// The array of a shape whose sizes are known.
fn array(shape: &Shape) -> Result<&ArrayShape, Error> {
    let array = shape.as_array().filter(|a| a.is_static());
    array.ok_or_else(|| Error::new(format!("expected the shape of an array of known sizes, found {shape}")))
}

/// Checks that a `T` is as large as an element, or a byte.
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

/// Checks that elements are those of an array of that shape.
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
