//! The PJRT C API as defined by `xla/pjrt/c/pjrt_c_api.h`, version 0.114: its structs, its table of
//! functions, and functions that read pointers from the caller.
//!
//! Every struct of arguments begins with its size as the caller knows it. New fields are only added at the
//! end.
//!
//! # Safety
//! The caller of the API guarantees that each pointer is null, or is what the field requires and stays valid
//! as long as the header says: an object that this library created and that was not destroyed, or a list of
//! the given length. The types of this module rely on that guarantee, because they can check only for null.
//! Their values come from the caller or point to memory that the library owns.

pub mod args;
pub(crate) mod handle;
pub mod table;

pub use handle::Handle;

use crate::fault::{Fault, Result};
use std::ffi::c_void;
use std::fmt;
use std::ptr;

/// The major version of the API that the structs belong to.
pub const MAJOR: i32 = 0;
/// The minor version of the API that the structs belong to.
pub const MINOR: i32 = 114;

/// The header of an extension, which can be chained to a struct.
#[repr(C)]
#[derive(Debug)]
pub struct Extension {
    /// The size of the whole extension.
    pub struct_size: usize,
    /// The number of the extension.
    pub kind: i32,
    /// The next extension, or null.
    pub next: *const Extension,
}

/// A pointer to elements and their number.
#[repr(C)]
#[derive(Debug)]
pub struct List<T> {
    data: *const T,
    len: usize,
}

impl<T> Clone for List<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for List<T> {}

impl<T> List<T> {
    /// Returns a list of elements that the library keeps as long as the header requires.
    pub fn to(elements: &[T]) -> Self {
        Self { data: elements.as_ptr(), len: elements.len() }
    }

    /// Returns the elements.
    ///
    /// # Errors
    /// The pointer is null and the length is not 0.
    pub fn get<'a>(self) -> Result<&'a [T]> {
        // SAFETY: guaranteed by the caller (see the module).
        unsafe { elements(self.data, self.len) }
    }
}

/// Returns the elements at an address.
///
/// # Safety
/// If the address is not null, the memory must contain `len` elements.
///
/// # Errors
/// The address is null or not aligned, and the length is not 0.
pub unsafe fn elements<'a, T>(data: *const T, len: usize) -> Result<&'a [T]> {
    match len {
        0 => Ok(&[]),
        _ if data.is_null() => Err(Fault::invalid(format!("expected {len} elements, found a null pointer"))),
        _ if !data.is_aligned() => Err(Fault::invalid("a list is not aligned for its elements")),
        // SAFETY: guaranteed by the caller.
        _ => Ok(unsafe { std::slice::from_raw_parts(data, len) }),
    }
}

/// Bytes, usually a text without a terminator.
pub type Text = List<u8>;

impl Text {
    /// Returns a list for a text that the library keeps.
    pub fn of(text: &str) -> Self {
        Self::to(text.as_bytes())
    }

    /// Returns the text.
    ///
    /// # Errors
    /// The pointer is null.
    pub fn text(self) -> Result<String> {
        Ok(String::from_utf8_lossy(self.get()?).into_owned())
    }
}

/// Bytes that the library allocated for the caller, and the function that frees them.
#[repr(C)]
#[derive(Debug)]
pub struct Serialized {
    bytes: Text,
    owner: *mut c_void,
    free: Option<unsafe extern "C" fn(*mut c_void)>,
}

impl Serialized {
    /// Transfers ownership of bytes to the caller.
    pub fn new(bytes: Vec<u8>) -> Self {
        unsafe extern "C" fn free(owner: *mut c_void) {
            if !owner.is_null() {
                // SAFETY: the caller guarantees that this is `owner` below (see the module).
                drop(unsafe { Box::from_raw(owner.cast::<Vec<u8>>()) });
            }
        }
        let owner = Box::new(bytes);
        Self { bytes: Text::to(&owner), owner: Box::into_raw(owner).cast(), free: Some(free) }
    }

    /// Returns the bytes.
    ///
    /// # Errors
    /// The pointer is null.
    pub fn get<'a>(&self) -> Result<&'a [u8]> {
        self.bytes.get()
    }

    /// Frees the bytes, as the caller does.
    pub fn free(self) {
        if let Some(free) = self.free {
            // SAFETY: `new` created the value.
            unsafe { free(self.owner) };
        }
    }
}

/// A name and its value: an option or an attribute.
#[repr(C)]
#[derive(Debug)]
pub struct NamedValue {
    pub(crate) struct_size: usize,
    pub(crate) extensions: *const Extension,
    pub(crate) name: Text,
    pub(crate) kind: i32,
    /// The bits of a number, or the address of a text or a list.
    pub(crate) bits: u64,
    pub(crate) size: usize,
}

// SAFETY: neither the struct nor the memory that it points to is ever written.
unsafe impl Send for NamedValue {}
// SAFETY: as above.
unsafe impl Sync for NamedValue {}

/// The value of a [`NamedValue`].
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    /// A text.
    Text(&'a [u8]),
    /// An integer.
    Integer(i64),
    /// A list of integers.
    Integers(&'a [i64]),
    /// A floating-point number.
    Float(f32),
    /// A boolean.
    Bool(bool),
}

impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "the text `{}`", String::from_utf8_lossy(text)),
            Self::Integer(n) => write!(f, "the number {n}"),
            Self::Integers(list) => write!(f, "{} numbers", list.len()),
            Self::Float(x) => write!(f, "the number {x:?}"),
            Self::Bool(b) => write!(f, "the truth value {b}"),
        }
    }
}

impl NamedValue {
    /// Creates a value whose name and contents the library keeps.
    pub fn new(name: &str, value: Value<'_>) -> Self {
        let (kind, bits, size) = match value {
            Value::Text(text) => (0, text.as_ptr().expose_provenance() as u64, text.len()),
            Value::Integer(number) => (1, number.cast_unsigned(), 1),
            Value::Integers(numbers) => (2, numbers.as_ptr().expose_provenance() as u64, numbers.len()),
            Value::Float(number) => (3, number.to_bits().into(), 1),
            Value::Bool(value) => (4, value.into(), 1),
        };
        Self {
            struct_size: size_of::<Self>(),
            extensions: ptr::null(),
            name: Text::of(name),
            kind,
            bits,
            size,
        }
    }

    /// Returns the value.
    ///
    /// # Errors
    /// The kind is unknown, or the value is a null pointer.
    pub fn value(&self) -> Result<Value<'_>> {
        let address = usize::try_from(self.bits).unwrap_or(0);
        Ok(match self.kind {
            // SAFETY: guaranteed by the caller (see the module).
            0 => Value::Text(unsafe { elements(ptr::with_exposed_provenance(address), self.size)? }),
            1 => Value::Integer(self.bits.cast_signed()),
            // SAFETY: as above.
            2 => Value::Integers(unsafe { elements(ptr::with_exposed_provenance(address), self.size)? }),
            3 => Value::Float(f32::from_bits(self.bits as u32)),
            4 => Value::Bool(self.bits & 0xff != 0),
            other => return Err(Fault::invalid(format!("there is no kind {other} of named values"))),
        })
    }
}

/// A program and its format.
#[repr(C)]
#[derive(Debug)]
pub struct Program {
    pub(crate) struct_size: usize,
    pub(crate) extensions: *const Extension,
    pub(crate) code: *mut u8,
    pub(crate) code_size: usize,
    pub(crate) format: Text,
}

impl Program {
    /// Creates a program of a caller, which keeps the code and the format.
    pub fn new(code: &[u8], format: &str) -> Self {
        let struct_size = size_of::<Self>();
        let (data, code_size) = (code.as_ptr().cast_mut(), code.len());
        Self { struct_size, extensions: ptr::null(), code: data, code_size, format: Text::of(format) }
    }
}

/// A layout given by the order of the dimensions and by tiles.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TiledLayout {
    pub(crate) struct_size: usize,
    pub(crate) extensions: *const Extension,
    pub(crate) minor_to_major: List<i64>,
    pub(crate) tile_dims: *const i64,
    pub(crate) tile_dim_sizes: *const usize,
    pub(crate) num_tiles: usize,
}

/// A layout given by the stride of each dimension, in bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct StridedLayout {
    pub(crate) struct_size: usize,
    pub(crate) extensions: *const Extension,
    pub(crate) byte_strides: List<i64>,
}

/// One of the two layouts. `MemoryLayout::kind` selects it.
#[repr(C)]
#[derive(Clone, Copy)]
pub union AnyLayout {
    pub(crate) tiled: TiledLayout,
    pub(crate) strides: StridedLayout,
}

/// The layout of an array in memory.
#[repr(C)]
pub struct MemoryLayout {
    pub(crate) struct_size: usize,
    pub(crate) extensions: *const Extension,
    pub(crate) layout: AnyLayout,
    pub(crate) kind: i32,
}

impl MemoryLayout {
    /// Creates a layout with the given order of dimensions. The list must stay valid while the layout is
    /// used.
    pub fn in_order(minor_to_major: &[i64]) -> Self {
        let tiled = TiledLayout {
            struct_size: size_of::<TiledLayout>(),
            extensions: ptr::null(),
            minor_to_major: List::to(minor_to_major),
            tile_dims: ptr::null(),
            tile_dim_sizes: ptr::null(),
            num_tiles: 0,
        };
        Self {
            struct_size: std::mem::offset_of!(Self, kind) + 4,
            extensions: ptr::null(),
            layout: AnyLayout { tiled },
            kind: 0,
        }
    }

    /// Returns the order of the dimensions in memory, the fastest varying one first, or `None` if the layout
    /// has strides.
    ///
    /// # Errors
    /// The kind of the layout is unknown, the layout has tiles, or the list is a null pointer.
    pub fn minor_to_major<'a>(&self) -> Result<Option<&'a [i64]>> {
        match self.kind {
            0 => {
                // SAFETY: the caller guarantees that the kind selects the right layout.
                let tiled = unsafe { self.layout.tiled };
                match tiled.num_tiles {
                    0 => tiled.minor_to_major.get().map(Some),
                    _ => Err(Fault::unimplemented("arrays in tiles are not supported")),
                }
            }
            1 => Ok(None),
            other => Err(Fault::invalid(format!("there is no kind {other} of layouts"))),
        }
    }
}

/// Options of a run.
#[repr(C)]
#[derive(Debug)]
pub struct ExecuteOptions {
    pub(crate) struct_size: usize,
    pub(crate) extensions: *const Extension,
    pub(crate) send_callbacks: *const c_void,
    pub(crate) recv_callbacks: *const c_void,
    pub(crate) num_send_ops: usize,
    pub(crate) num_recv_ops: usize,
    pub(crate) launch_id: i32,
    pub(crate) non_donatable_input_indices: List<i64>,
    /// Fields after this one are not read.
    pub(crate) context: Handle<crate::user_data::ExecuteContext>,
}

impl Default for ExecuteOptions {
    /// No options.
    fn default() -> Self {
        Self {
            struct_size: size_of::<Self>(),
            extensions: ptr::null(),
            send_callbacks: ptr::null(),
            recv_callbacks: ptr::null(),
            num_send_ops: 0,
            num_recv_ops: 0,
            launch_id: 0,
            non_donatable_input_indices: List::to(&[]),
            context: Handle::NULL,
        }
    }
}

impl ExecuteOptions {
    /// Adds data of the caller to the options.
    pub fn with_context(self, context: Handle<crate::user_data::ExecuteContext>) -> Self {
        Self { context, ..self }
    }

    /// Adds arguments that must not be donated, whatever the program says.
    pub fn keeping(self, arguments: &[i64]) -> Self {
        Self { non_donatable_input_indices: List::to(arguments), ..self }
    }
}

/// The replica and partition that a device runs.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogicalDeviceIds {
    pub(crate) replica: i32,
    pub(crate) partition: i32,
}

/// A struct of arguments.
///
/// # Safety
/// The struct must be `repr(C)`, begin with its size, and be valid if all its bytes are zero.
pub unsafe trait Args: Sized {
    /// Offset of the first field that the oldest supported caller does not have, in bytes.
    const MIN_SIZE: usize;
    /// Offset of the end of the last field, in bytes.
    const FULL_SIZE: usize;
}

/// Calls a function of the table on a caller's struct. Returns null, or an error that the caller owns.
///
/// # Safety
/// The pointer must be null, or point to a struct of the size that its first field contains. See the module.
pub unsafe fn call<A: Args>(
    name: &str,
    args: *mut A,
    function: impl FnOnce(&mut A) -> Result,
) -> Handle<crate::fault::Error> {
    // Some threads that JAX calls from flush subnormal numbers to zero. This call may read programs and start
    // threads.
    let _standard = hlo_client::StandardFloats::set();
    let run = || {
        if args.is_null() {
            return Err(Fault::invalid("expected arguments, found a null pointer"));
        }
        // SAFETY: guaranteed by the caller.
        let size = unsafe { args.cast::<usize>().read() };
        if size < A::MIN_SIZE {
            let required = A::MIN_SIZE;
            return Err(Fault::invalid(format!(
                "expected a struct of at least {required} bytes, found one of {size}: the caller is of another version"
            )));
        }
        if size >= A::FULL_SIZE {
            // SAFETY: the caller guarantees that the struct has all fields and that no other code writes it
            // now.
            return function(unsafe { &mut *args });
        }
        // The caller does not know the last fields.
        // SAFETY: zeros are a valid struct, and the caller's struct has `size` bytes.
        unsafe {
            let mut whole: A = std::mem::zeroed();
            ptr::copy_nonoverlapping(args.cast::<u8>(), (&raw mut whole).cast::<u8>(), size);
            let outcome = function(&mut whole);
            ptr::copy_nonoverlapping((&raw const whole).cast::<u8>(), args.cast::<u8>(), size);
            outcome
        }
    };
    match crate::fault::catch(run) {
        Ok(()) => Handle::NULL,
        Err(fault) => Handle::allocate(crate::fault::Error::new(fault.of(name))),
    }
}
