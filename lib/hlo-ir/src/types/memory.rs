//! The memory of arrays: aligned bytes that are owned or borrowed.

use super::reuse::Words;
use bytemuck::Pod;
use stable_deref_trait::StableDeref;
use std::any::Any;
use std::hash::{Hash, Hasher};
use std::ptr::NonNull;

/// Bytes aligned for every element type (16 bytes), so that typed views need no copy. The memory is allocated
/// by this value, or belongs to an owner that it stores, such as a vector or a mapped file.
///
/// # Example
/// ```
/// use hlo_ir::AlignedBytes;
///
/// let numbers: Vec<f32> = vec![1.0; 1024];
/// let address = numbers.as_ptr().cast::<u8>();
/// let bytes = AlignedBytes::from_owner(numbers);
/// assert_eq!(bytes.len(), 4096);
/// // The allocator may or may not align a vector of floats to 16 bytes. If it does not, the elements are
/// // copied.
/// assert_eq!(bytes.is_borrowed(), bytes.as_ptr() == address);
/// ```
pub struct AlignedBytes(Memory);

enum Memory {
    Own {
        words: Vec<u128>,
        len: usize,
    },
    /// As `Own`, with memory that is reused after the value is dropped.
    Room {
        words: Words,
        len: usize,
    },
    Borrowed(Borrowed),
}

/// Bytes in the memory of an owner.
struct Borrowed {
    address: NonNull<u8>,
    len: usize,
    _owner: Box<dyn Any + Send + Sync>,
}

// SAFETY: the bytes are only read, by the holder of the value, and their owner is `Send` and `Sync`.
unsafe impl Send for Borrowed {}
// SAFETY: as above.
unsafe impl Sync for Borrowed {}

impl AlignedBytes {
    /// The alignment in bytes.
    pub const ALIGNMENT: usize = align_of::<u128>();

    /// Creates `len` zero bytes.
    pub fn zeroed(len: usize) -> Self {
        Self(Memory::Own { words: vec![0; len.div_ceil(Self::ALIGNMENT)], len })
    }

    /// Creates `len` zero bytes. Returns `None` if memory cannot be allocated.
    pub fn try_zeroed(len: usize) -> Option<Self> {
        let words = len.div_ceil(Self::ALIGNMENT);
        if words == 0 {
            return Some(Self(Memory::Own { words: Vec::new(), len }));
        }
        let layout = std::alloc::Layout::array::<u128>(words).ok()?;
        // The allocator provides zeroed memory. Fresh pages are zero when first touched and cost it nothing.
        // SAFETY: the layout's size is not 0.
        let address = unsafe { std::alloc::alloc_zeroed(layout) }.cast::<u128>();
        if address.is_null() {
            return None;
        }
        // SAFETY: allocated by the global allocator as an array of `words` elements, all of which are zero.
        let words = unsafe { Vec::from_raw_parts(address, words, words) };
        Some(Self(Memory::Own { words, len }))
    }

    /// Creates `len` bytes with unspecified contents, for a caller that writes all of them. Returns `None` if
    /// memory cannot be allocated. The memory of a large array may come from a dropped array, and is reused
    /// when this one is dropped.
    pub fn try_room(len: usize) -> Option<Self> {
        let words = match Words::take_cached(len.div_ceil(Self::ALIGNMENT)) {
            Some(words) => words,
            None => match Self::try_zeroed(len)?.0 {
                Memory::Own { words, .. } => Words(words),
                _ => return None,
            },
        };
        Some(Self(Memory::Room { words, len }))
    }

    /// Copies `bytes`.
    pub fn from_slice(bytes: &[u8]) -> Self {
        let mut out = Self::zeroed(bytes.len());
        out.copy_from_slice(bytes);
        out
    }

    /// Copies `bytes`. Returns `None` if memory cannot be allocated.
    pub fn try_from_slice(bytes: &[u8]) -> Option<Self> {
        let mut out = Self::try_zeroed(bytes.len())?;
        out.copy_from_slice(bytes);
        Some(out)
    }

    /// Converts the elements of an owner, such as a `Vec<f32>`, an `Arc<[u8]>` or a mapped file, to bytes.
    /// Elements that are aligned to 16 bytes are not copied. The owner is dropped with the last user of these
    /// bytes.
    pub fn from_owner<T, O>(owner: O) -> Self
    where
        T: Pod,
        O: StableDeref<Target = [T]> + Send + Sync + 'static,
    {
        // Moved into its own allocation before its address is taken: moving a `Box` asserts unique access to
        // its contents.
        let owner = Box::new(owner);
        let elements: &[u8] = bytemuck::cast_slice(&owner);
        let (address, len) = (NonNull::from(elements).cast::<u8>(), elements.len());
        if !address.addr().get().is_multiple_of(Self::ALIGNMENT) {
            return Self::from_slice(elements);
        }
        Self(Memory::Borrowed(Borrowed { address, len, _owner: owner }))
    }

    /// Returns whether the bytes are in an owner's memory.
    pub fn is_borrowed(&self) -> bool {
        matches!(self.0, Memory::Borrowed(_))
    }
}

impl std::ops::Deref for AlignedBytes {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        match &self.0 {
            Memory::Own { words, len } => &bytemuck::cast_slice(words)[..*len],
            Memory::Room { words, len } => &bytemuck::cast_slice(&words.0)[..*len],
            // SAFETY: the owner is alive and has this many initialized bytes at this address. Nothing changes
            // them: they were reached through a shared reference to the owner, which is only dropped
            // afterwards.
            Memory::Borrowed(b) => unsafe { std::slice::from_raw_parts(b.address.as_ptr(), b.len) },
        }
    }
}

impl std::ops::DerefMut for AlignedBytes {
    /// Returns the bytes for writing. Copies them first if they are borrowed.
    fn deref_mut(&mut self) -> &mut [u8] {
        if self.is_borrowed() {
            *self = Self::from_slice(self);
        }
        match &mut self.0 {
            Memory::Own { words, len } => &mut bytemuck::cast_slice_mut(words)[..*len],
            Memory::Room { words, len } => &mut bytemuck::cast_slice_mut(&mut words.0)[..*len],
            Memory::Borrowed(_) => &mut [],
        }
    }
}

impl Clone for AlignedBytes {
    fn clone(&self) -> Self {
        Self::from_slice(self)
    }
}

impl Default for AlignedBytes {
    fn default() -> Self {
        Self::zeroed(0)
    }
}

impl PartialEq for AlignedBytes {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for AlignedBytes {}

impl Hash for AlignedBytes {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl std::fmt::Debug for AlignedBytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "AlignedBytes({})", self.len())
    }
}
