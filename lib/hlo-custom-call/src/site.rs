//! The call site of a custom call: its target, its calling convention, and the types of its operands and
//! result.

use std::fmt;

use hlo_ir::ElementType;
use hlo_runtime_core::Error;

/// The type of an array and its memory layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayType {
    /// The name of the element type in HLO text, such as `f32`.
    pub element: String,
    /// The size of one element in memory, in bytes.
    pub element_bytes: usize,
    /// The sizes of the dimensions.
    pub dims: Vec<usize>,
    /// The dimensions from the fastest to the slowest varying.
    pub minor_to_major: Vec<usize>,
}

impl ArrayType {
    /// Returns the number of elements, or the maximum `usize` if there are more.
    pub fn element_count(&self) -> usize {
        self.dims.iter().fold(1, |n: usize, &d| n.saturating_mul(d))
    }

    /// Returns the size in bytes, or the maximum `usize` if it is larger.
    pub fn byte_size(&self) -> usize {
        self.element_count().saturating_mul(self.element_bytes)
    }

    /// Returns the distance between adjacent elements of each dimension, in elements.
    pub fn strides(&self) -> Vec<usize> {
        let mut strides = vec![0; self.dims.len()];
        let mut next = 1usize;
        for &d in &self.minor_to_major {
            if let (Some(stride), Some(&size)) = (strides.get_mut(d), self.dims.get(d)) {
                *stride = next;
                next = next.saturating_mul(size.max(1));
            }
        }
        strides
    }
}

impl fmt::Display for ArrayType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |numbers: &[usize]| numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
        write!(f, "{}[{}]", self.element, list(&self.dims))?;
        if self.minor_to_major.iter().rev().copied().ne(0..self.dims.len()) {
            write!(f, "{{{}}}", list(&self.minor_to_major))?;
        }
        Ok(())
    }
}

/// The type of an operand or of the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueType {
    /// An array.
    Array(ArrayType),
    /// A token, which has no memory.
    Token,
    /// A tuple of values.
    Tuple(Vec<ValueType>),
}

impl ValueType {
    /// Returns the arrays in the type, in order.
    pub fn arrays(&self) -> Vec<&ArrayType> {
        match self {
            ValueType::Array(a) => vec![a],
            ValueType::Token => Vec::new(),
            ValueType::Tuple(parts) => parts.iter().flat_map(ValueType::arrays).collect(),
        }
    }
}

impl fmt::Display for ValueType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ValueType::Array(a) => a.fmt(f),
            ValueType::Token => f.write_str("token[]"),
            ValueType::Tuple(parts) => {
                f.write_str("(")?;
                for (i, part) in parts.iter().enumerate() {
                    f.write_str(if i > 0 { ", " } else { "" })?;
                    part.fmt(f)?;
                }
                f.write_str(")")
            }
        }
    }
}

/// The calling conventions of custom calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(i64)]
pub enum ApiVersion {
    /// `void target(void* out, const void** in)`.
    #[default]
    Original = 0,
    /// `void target(void* out, const void** in, XlaCustomCallStatus* status)`.
    StatusReturning = 1,
    /// `void target(void* out, const void** in, const char* opaque, size_t opaque_len, XlaCustomCallStatus*
    /// status)`.
    StatusReturningUnified = 2,
    /// XLA's typed FFI, with named attributes.
    TypedFfi = 3,
}

impl fmt::Display for ApiVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ApiVersion::Original => "API_VERSION_ORIGINAL",
            ApiVersion::StatusReturning => "API_VERSION_STATUS_RETURNING",
            ApiVersion::StatusReturningUnified => "API_VERSION_STATUS_RETURNING_UNIFIED",
            ApiVersion::TypedFfi => "API_VERSION_TYPED_FFI",
        })
    }
}

/// A custom call without its data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallSite {
    /// The name of the target.
    pub target: String,
    /// The calling convention.
    pub api: ApiVersion,
    /// The contents of `backend_config`: opaque bytes, or the attribute dictionary of a typed call.
    pub config: Vec<u8>,
    /// The types of the operands.
    pub operands: Vec<ValueType>,
    /// The type of the result.
    pub result: ValueType,
    /// Pairs of a result array and an operand array, by number, that share memory.
    pub aliases: Vec<(usize, usize)>,
}

impl Default for ValueType {
    fn default() -> Self {
        ValueType::Tuple(Vec::new())
    }
}

impl CallSite {
    /// Returns the arrays of all operands, in order.
    pub fn operand_arrays(&self) -> Vec<&ArrayType> {
        self.operands.iter().flat_map(ValueType::arrays).collect()
    }

    /// Returns the arrays of the result, in order.
    pub fn result_arrays(&self) -> Vec<&ArrayType> {
        self.result.arrays()
    }

    /// Checks that element types have the given sizes, that layouts match the dimensions, and that the arrays
    /// fit the address space. Accesses according to these types are then within the buffers.
    pub(crate) fn check(&self) -> Result<(), Error> {
        for array in self.operand_arrays().into_iter().chain(self.result_arrays()) {
            let element = ElementType::from_name(&array.element);
            if element.is_none_or(|e| e.byte_size() != array.element_bytes) {
                let (name, bytes) = (&array.element, array.element_bytes);
                return Err(Error(format!("there are no elements of type {name} and {bytes} bytes")));
            }
            let mut order = array.minor_to_major.clone();
            order.sort_unstable();
            if !order.into_iter().eq(0..array.dims.len()) {
                return Err(Error(format!("{array} has a layout that is not of its dimensions")));
            }
            let extent = array.dims.iter().fold(array.element_bytes, |n, &d| n.saturating_mul(d.max(1)));
            if isize::try_from(extent).is_err() {
                return Err(Error(format!("{array} does not fit the address space")));
            }
        }
        Ok(())
    }
}
