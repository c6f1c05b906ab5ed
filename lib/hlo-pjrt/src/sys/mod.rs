//! The PJRT C API as `xla/pjrt/c/pjrt_c_api.h` of version 0.114 lays it out: its structs, its table of functions, and how
//! pointers that cross the boundary are read.
//!
//! Every struct of arguments begins with its size as the caller knows it, and fields are only ever added at the end.
//!
//! # Safety
//! Whoever calls the API promises that each pointer is null, or is what the field says and alive as long as the header says: an
//! object that this library made and that was not destroyed, so many elements, so many bytes. All that the types of this module
//! do rests on that promise, which they can't check; they check what is null. Values of these types come from the caller, or point
//! to what the library keeps.

pub mod args;
pub mod table;

use crate::fault::{Fault, Result};
use std::ffi::c_void;
use std::fmt;
use std::ptr;

/// The version of the API that the structs are of.
pub const MAJOR: i32 = 0;
/// What was added last.
pub const MINOR: i32 = 114;

/// The head of what can be chained to a struct.
#[repr(C)]
#[derive(Debug)]
pub struct Extension {
    /// The size of the whole extension.
    pub struct_size: usize,
    /// Which one it is.
    pub kind: i32,
    /// The next one, or null.
    pub next: *const Extension,
}

/// A pointer to an object of this library, or null.
#[repr(transparent)]
pub struct Handle<T>(*const T);

impl<T> Clone for Handle<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Handle<T> {}

impl<T> fmt::Debug for Handle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

// SAFETY: objects that are pointed to are shared among threads.
unsafe impl<T: Sync> Send for Handle<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Handle<T> {}

impl<T> Handle<T> {
    /// Nothing.
    pub const NULL: Self = Self(ptr::null());

    /// An object that the caller will destroy.
    pub fn give(object: T) -> Self {
        Self(Box::into_raw(Box::new(object)))
    }

    /// An object that the library keeps as long as the header says.
    pub fn to(object: &T) -> Self {
        Self(object)
    }

    /// The object.
    ///
    /// # Errors
    /// It is null.
    pub fn get<'a>(self) -> Result<&'a T> {
        // SAFETY: the caller's promise (see the module).
        unsafe { self.0.as_ref() }.ok_or_else(|| {
            let name = std::any::type_name::<T>();
            Fault::invalid(format!(
                "expected a {}, found a null pointer",
                name.rsplit("::").next().unwrap_or(name)
            ))
        })
    }

    /// Takes back an object that was given away; nothing if it is null.
    pub fn take(self) -> Option<Box<T>> {
        // SAFETY: the caller's promise (see the module): it came from `give` and is not used again.
        (!self.0.is_null()).then(|| unsafe { Box::from_raw(self.0.cast_mut()) })
    }

    /// True if it is null.
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// True if it points to that object.
    pub fn is(self, object: &T) -> bool {
        ptr::eq(self.0, object)
    }
}

/// So many elements somewhere.
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
    /// Elements that the library keeps as long as the header says.
    pub fn to(elements: &[T]) -> Self {
        Self { data: elements.as_ptr(), len: elements.len() }
    }

    /// The elements.
    ///
    /// # Errors
    /// There are some, at a null pointer.
    pub fn get<'a>(self) -> Result<&'a [T]> {
        // SAFETY: the caller's promise (see the module).
        unsafe { elements(self.data, self.len) }
    }
}

/// So many elements at an address.
///
/// # Safety
/// There must be as many, unless it is null.
///
/// # Errors
/// There are some, at a null pointer.
pub unsafe fn elements<'a, T>(data: *const T, len: usize) -> Result<&'a [T]> {
    match len {
        0 => Ok(&[]),
        _ if data.is_null() => Err(Fault::invalid(format!("expected {len} elements, found a null pointer"))),
        _ if !data.is_aligned() => Err(Fault::invalid("a list is not aligned for its elements")),
        // SAFETY: the caller's promise.
        _ => Ok(unsafe { std::slice::from_raw_parts(data, len) }),
    }
}

/// Bytes somewhere, mostly a text without a terminator.
pub type Text = List<u8>;

impl Text {
    /// A text that the library keeps.
    pub fn of(text: &str) -> Self {
        Self::to(text.as_bytes())
    }

    /// The text.
    ///
    /// # Errors
    /// The pointer is null.
    pub fn text(self) -> Result<String> {
        Ok(String::from_utf8_lossy(self.get()?).into_owned())
    }
}

/// Bytes that the library made for the caller, and how to free them.
#[repr(C)]
#[derive(Debug)]
pub struct Serialized {
    bytes: Text,
    owner: *mut c_void,
    free: Option<unsafe extern "C" fn(*mut c_void)>,
}

impl Serialized {
    /// Gives bytes away.
    pub fn new(bytes: Vec<u8>) -> Self {
        unsafe extern "C" fn free(owner: *mut c_void) {
            if !owner.is_null() {
                // SAFETY: the caller's promise (see the module): it is `owner` below.
                drop(unsafe { Box::from_raw(owner.cast::<Vec<u8>>()) });
            }
        }
        let owner = Box::new(bytes);
        Self { bytes: Text::to(&owner), owner: Box::into_raw(owner).cast(), free: Some(free) }
    }

    /// The bytes.
    ///
    /// # Errors
    /// The pointer is null.
    pub fn get<'a>(&self) -> Result<&'a [u8]> {
        self.bytes.get()
    }

    /// Frees the bytes, as the caller does.
    pub fn free(self) {
        if let Some(free) = self.free {
            // SAFETY: it was made by `new`.
            unsafe { free(self.owner) };
        }
    }
}

/// A name and what it stands for: an option or an attribute.
#[repr(C)]
#[derive(Debug)]
pub struct NamedValue {
    pub(crate) struct_size: usize,
    pub(crate) extensions: *const Extension,
    pub(crate) name: Text,
    pub(crate) kind: i32,
    /// A number's bits, or the address of a text or a list.
    pub(crate) bits: u64,
    pub(crate) size: usize,
}

// SAFETY: it is not written, and points to what is not.
unsafe impl Send for NamedValue {}
// SAFETY: as above.
unsafe impl Sync for NamedValue {}

/// What a named value is.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    /// A text.
    Text(&'a [u8]),
    /// A whole number.
    Integer(i64),
    /// Whole numbers.
    Integers(&'a [i64]),
    /// A floating-point number.
    Float(f32),
    /// A truth value.
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
    /// A value whose name and contents the library keeps.
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

    /// What it is.
    ///
    /// # Errors
    /// It is of a kind that is not known, or a null pointer.
    pub fn value(&self) -> Result<Value<'_>> {
        let address = usize::try_from(self.bits).unwrap_or(0);
        Ok(match self.kind {
            // SAFETY: the caller's promise (see the module).
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

/// A program, and the format that it is in.
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
    /// A program of a caller, who keeps both.
    pub fn new(code: &[u8], format: &str) -> Self {
        let struct_size = size_of::<Self>();
        let (data, code_size) = (code.as_ptr().cast_mut(), code.len());
        Self { struct_size, extensions: ptr::null(), code: data, code_size, format: Text::of(format) }
    }
}

/// Which dimension varies fastest, and so on.
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

/// From one element to the next of each dimension, in bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct StridedLayout {
    pub(crate) struct_size: usize,
    pub(crate) extensions: *const Extension,
    pub(crate) byte_strides: List<i64>,
}

/// One of the two, as `MemoryLayout::kind` says.
#[repr(C)]
#[derive(Clone, Copy)]
pub union AnyLayout {
    pub(crate) tiled: TiledLayout,
    pub(crate) strides: StridedLayout,
}

/// How an array lies in memory.
#[repr(C)]
pub struct MemoryLayout {
    pub(crate) struct_size: usize,
    pub(crate) extensions: *const Extension,
    pub(crate) layout: AnyLayout,
    pub(crate) kind: i32,
}

impl MemoryLayout {
    /// The layout of an array whose dimensions are in an order in memory, which must stay there as long as the layout is used.
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

    /// The order of the dimensions in memory, the one that varies fastest first; nothing if the layout says distances.
    ///
    /// # Errors
    /// There is no such kind of layouts, it has tiles, or the list is at a null pointer.
    pub fn minor_to_major<'a>(&self) -> Result<Option<&'a [i64]>> {
        match self.kind {
            0 => {
                // SAFETY: the caller's promise: the kind says which one it is.
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

/// What a run is given besides its arguments.
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
    /// Fields after this one are not looked at.
    pub(crate) context: Handle<crate::ffi::ExecuteContext>,
}

impl Default for ExecuteOptions {
    /// Nothing.
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
    /// The same for runs with data of the caller.
    pub fn with_context(self, context: Handle<crate::ffi::ExecuteContext>) -> Self {
        Self { context, ..self }
    }

    /// The same for runs that keep some arguments, whatever the program says.
    pub fn keeping(self, arguments: &[i64]) -> Self {
        Self { non_donatable_input_indices: List::to(arguments), ..self }
    }
}

/// Which replica and partition a device runs.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogicalDeviceIds {
    pub(crate) replica: i32,
    pub(crate) partition: i32,
}

/// A struct of arguments.
///
/// # Safety
/// It must be `repr(C)`, begin with its size, and be valid if all its bytes are zero.
pub unsafe trait Args: Sized {
    /// The bytes up to the fields that the oldest supported caller does not have.
    const REQUIRED: usize;
    /// The bytes up to the last field.
    const WHOLE: usize;
}

/// Calls a function of the table on a caller's struct; gives null, or an error that the caller owns.
///
/// # Safety
/// The pointer must be null or to a struct of the size that its first field says: see the module.
pub unsafe fn call<A: Args>(
    name: &str,
    args: *mut A,
    function: impl FnOnce(&mut A) -> Result,
) -> Handle<crate::fault::Error> {
    // JAX calls on threads of its own, some of which take subnormal numbers as zero: programs are read, and threads started, here.
    let _standard = hlo_client::StandardFloats::set();
    let run = || {
        if args.is_null() {
            return Err(Fault::invalid("expected arguments, found a null pointer"));
        }
        // SAFETY: the caller's promise.
        let size = unsafe { args.cast::<usize>().read() };
        if size < A::REQUIRED {
            let required = A::REQUIRED;
            return Err(Fault::invalid(format!(
                "expected a struct of at least {required} bytes, found one of {size}: the caller is of another version"
            )));
        }
        if size >= A::WHOLE {
            // SAFETY: the caller's promise: it has all fields, and nobody else writes it now.
            return function(unsafe { &mut *args });
        }
        // The caller does not know the last fields.
        // SAFETY: zeros are a valid struct, and so many bytes of it are there.
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
        Err(fault) => Handle::give(crate::fault::Error::new(fault.of(name))),
    }
}
