//! Descriptors of runtime functions. The plan writes a descriptor for each call as a constant of the compiled
//! program, and the runtime function reads it. All fields are 64-bit words, so that a plan can write a
//! descriptor as a list of words.

use crate::Error;

/// A batch of matrix products. Sizes and strides count elements. The strides of the operands may be zero or
/// negative. The elements of the output must be distinct.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct DotDesc {
    /// The [`ElementCode`](crate::ElementCode) of the left operand.
    pub lhs_type: i64,
    /// The [`ElementCode`](crate::ElementCode) of the right operand.
    pub rhs_type: i64,
    /// The [`ElementCode`](crate::ElementCode) of the result.
    pub out_type: i64,
    /// The number of products.
    pub batch: i64,
    /// Rows of the left operand and of the result.
    pub m: i64,
    /// Columns of the right operand and of the result.
    pub n: i64,
    /// Columns of the left operand, rows of the right one.
    pub k: i64,
    /// Distance in the left operand from one product to the next, in elements.
    pub lhs_batch_stride: i64,
    /// Distance in the left operand from one row to the next, in elements.
    pub lhs_m_stride: i64,
    /// Distance in the left operand from one column to the next, in elements.
    pub lhs_k_stride: i64,
    /// Distance in the right operand from one product to the next, in elements.
    pub rhs_batch_stride: i64,
    /// Distance in the right operand from one row to the next, in elements.
    pub rhs_k_stride: i64,
    /// Distance in the right operand from one column to the next, in elements.
    pub rhs_n_stride: i64,
    /// Distance in the result from one product to the next, in elements.
    pub out_batch_stride: i64,
    /// Distance in the result from one row to the next, in elements.
    pub out_m_stride: i64,
    /// Distance in the result from one column to the next, in elements.
    pub out_n_stride: i64,
}

impl DotDesc {
    /// Returns the descriptor of the transposed product: `outᵀ = rhsᵀ · lhsᵀ`.
    #[must_use]
    pub fn transposed(&self) -> DotDesc {
        DotDesc {
            lhs_type: self.rhs_type,
            rhs_type: self.lhs_type,
            m: self.n,
            n: self.m,
            lhs_batch_stride: self.rhs_batch_stride,
            lhs_m_stride: self.rhs_n_stride,
            lhs_k_stride: self.rhs_k_stride,
            rhs_batch_stride: self.lhs_batch_stride,
            rhs_k_stride: self.lhs_k_stride,
            rhs_n_stride: self.lhs_m_stride,
            out_m_stride: self.out_n_stride,
            out_n_stride: self.out_m_stride,
            ..*self
        }
    }
}

/// The maximum number of spatial dimensions of a convolution.
pub const MAX_SPATIAL: usize = 8;

/// One spatial dimension of a convolution. Strides count elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct ConvDim {
    /// The size of the input.
    pub in_size: i64,
    /// The size of the window, which is the filter's size.
    pub window: i64,
    /// The size of the output.
    pub out_size: i64,
    /// The distance that the window moves between two adjacent output elements.
    pub stride: i64,
    /// Number of zeros before the first input element; negative to skip input elements.
    pub pad_low: i64,
    /// The distance between input elements; 1 if the input is not dilated.
    pub lhs_dilation: i64,
    /// The distance between window elements; 1 if the window is not dilated.
    pub rhs_dilation: i64,
    /// Nonzero if the window is reversed.
    pub reversed: i64,
    /// Distance in the input from one position to the next.
    pub lhs_stride: i64,
    /// Distance in the filter from one position to the next.
    pub rhs_stride: i64,
    /// Distance in the output from one position to the next.
    pub out_stride: i64,
}

/// A convolution. The strides, which count elements, express any order of dimensions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct ConvDesc {
    /// The [`ElementCode`](crate::ElementCode) of the input.
    pub lhs_type: i64,
    /// The [`ElementCode`](crate::ElementCode) of the filter.
    pub rhs_type: i64,
    /// The [`ElementCode`](crate::ElementCode) of the output.
    pub out_type: i64,
    /// The number of entries of `dims` that are used.
    pub spatial_rank: i64,
    /// The batch size of the input. The batch size of the output is `batch / batch_groups`.
    pub batch: i64,
    /// The number of input features. The filter has `in_features / feature_groups` input features.
    pub in_features: i64,
    /// The number of output features of the filter and the output.
    pub out_features: i64,
    /// The number of groups that features are divided into.
    pub feature_groups: i64,
    /// The number of groups that the batch is divided into.
    pub batch_groups: i64,
    /// Distance in the input from one batch entry to the next.
    pub lhs_batch_stride: i64,
    /// Distance in the input from one feature to the next.
    pub lhs_feature_stride: i64,
    /// Distance in the filter from one input feature to the next.
    pub rhs_in_stride: i64,
    /// Distance in the filter from one output feature to the next.
    pub rhs_out_stride: i64,
    /// Distance in the output from one batch entry to the next.
    pub out_batch_stride: i64,
    /// Distance in the output from one feature to the next.
    pub out_feature_stride: i64,
    /// The spatial dimensions.
    pub dims: [ConvDim; MAX_SPATIAL],
}

/// The maximum rank of a strided copy.
pub const MAX_COPY_RANK: usize = 8;

/// A copy of a box of elements between two strided arrays. Strides count elements. The source strides may be
/// zero or negative; the destination elements must be distinct.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct CopyDesc {
    /// The size of one element in bytes: 1, 2, 4, 8 or 16.
    pub element_bytes: i64,
    /// The number of entries of the arrays below that are used.
    pub rank: i64,
    /// The sizes of the box.
    pub sizes: [i64; MAX_COPY_RANK],
    /// The stride of each dimension in the source.
    pub from_strides: [i64; MAX_COPY_RANK],
    /// The stride of each dimension in the destination.
    pub to_strides: [i64; MAX_COPY_RANK],
}

/// A compiled comparator. `elements` contains two pointers for each operand, to its left and its right
/// candidate, in the order of the comparator's parameters. A nonzero result means that the left candidate
/// sorts before the right one. The comparator must not unwind, and several threads may call it at once.
pub type Comparator = unsafe extern "C" fn(elements: *const *const u8) -> i8;

/// A sort of row-major arrays of `[outer, size, inner]` elements along the middle dimension.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct SortDesc {
    /// Product of the sizes before the sorted dimension.
    pub outer: i64,
    /// The size of the sorted dimension.
    pub size: i64,
    /// Product of the sizes after the sorted dimension.
    pub inner: i64,
    /// The number of operands.
    pub operands: i64,
    /// The number of keys; 0 for a sort by a comparator.
    pub keys: i64,
}

/// The size of a [`SortDesc`] in 64-bit words.
pub const SORT_DESC_WORDS: usize = size_of::<SortDesc>() / 8;

/// An operand by which elements are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct SortKey {
    /// The operand's position.
    pub operand: i64,
    /// How to interpret the bits of the key: a [`KeyKind`].
    pub kind: i64,
    /// The number of bits of an element, 1 to 64. The bits above them in the last byte are ignored.
    pub bits: i64,
    /// For floats, the bits of the largest magnitude that is not a NaN. For floats without a sign, the
    /// largest bit pattern that is not a NaN.
    pub largest: i64,
    /// The order: a [`KeyOrder`].
    pub order: i64,
}

/// The size of a [`SortKey`] in a descriptor, in 64-bit words.
pub const SORT_KEY_WORDS: usize = size_of::<SortKey>() / 8;

/// The interpretation of the bits of a key's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i64)]
pub enum KeyKind {
    /// An unsigned number: an integer, a predicate, or a float without a sign.
    Unsigned = 0,
    /// A two's complement number, sign-extended to whole bytes.
    Signed = 1,
    /// A sign and a magnitude whose order is that of the numbers: a float.
    Float = 2,
    /// As `Float`, but the bit pattern of negative zero is the only NaN, and it is a negative NaN.
    FloatWithoutNegativeZero = 3,
}

/// The order of a key's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i64)]
pub enum KeyOrder {
    /// Ascending. Floats are in total order: −NaN, −∞, …, −0, +0, …, +∞, +NaN.
    Ascending = 0,
    /// The reverse of `Ascending`.
    Descending = 1,
    /// Ascending. All zeros are equal, and all NaNs are equal and come last.
    AscendingNumbers = 2,
    /// The reverse of `AscendingNumbers`. NaNs come first.
    DescendingNumbers = 3,
    /// The order of `<` on floats: ascending, with equal zeros. This is not an order if there are NaNs; the
    /// comparator must then decide.
    Less = 4,
    /// The order of `>` on floats, with the same restriction as `Less`.
    Greater = 5,
}

/// A selection of the first `k` elements of each row of a row-major `[rows, size]` array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct TopKDesc {
    /// The number of rows.
    pub rows: i64,
    /// The number of elements of a row.
    pub size: i64,
    /// The number of elements that are selected from each row.
    pub k: i64,
    /// The order of the elements. Equal elements are ordered by their positions.
    pub key: SortKey,
}

/// The maximum number of dimensions of a Fourier transform.
pub const MAX_FFT_RANK: usize = 3;

/// A Fourier transform of the last `rank` dimensions of row-major arrays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct FftDesc {
    /// An [`FftKind`].
    pub kind: i64,
    /// The [`ElementCode`](crate::ElementCode) of the complex numbers. Real numbers have the matching
    /// floating-point type.
    pub element: i64,
    /// The product of the sizes before the transformed dimensions.
    pub batch: i64,
    /// The number of transformed dimensions.
    pub rank: i64,
    /// The lengths of the transformed dimensions in the time domain; for a real transform, the number of real
    /// elements.
    pub lengths: [i64; MAX_FFT_RANK],
}

/// The kinds of Fourier transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i64)]
pub enum FftKind {
    /// Complex to complex, without scaling.
    Forward = 0,
    /// Complex to complex, divided by the number of elements.
    Inverse = 1,
    /// Real to the first half of the spectrum.
    ForwardReal = 2,
    /// The first half of the spectrum to real, divided by the number of elements.
    InverseReal = 3,
}

impl FftKind {
    /// Returns the kind with code `code`.
    ///
    /// # Errors
    /// Returns an error if there is no such kind.
    pub fn from_code(code: i64) -> Result<FftKind, Error> {
        match code {
            0 => Ok(FftKind::Forward),
            1 => Ok(FftKind::Inverse),
            2 => Ok(FftKind::ForwardReal),
            3 => Ok(FftKind::InverseReal),
            _ => Err(Error(format!("unknown kind of transform {code}"))),
        }
    }

    /// Returns whether the input or the output is real.
    pub fn is_real(self) -> bool {
        matches!(self, FftKind::ForwardReal | FftKind::InverseReal)
    }
}

/// A copy of pieces of consecutive rows. Offsets and sizes are integers of `index_bytes` bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct RowsDesc {
    /// The size of one row in bytes.
    pub row_bytes: i64,
    /// The number of rows of the source array.
    pub from_rows: i64,
    /// The number of rows of the destination array.
    pub to_rows: i64,
    /// The number of pieces.
    pub pieces: i64,
    /// The size of an offset or size in bytes: 1, 2, 4 or 8.
    pub index_bytes: i64,
    /// 1 if offsets and sizes are signed, otherwise 0.
    pub signed: i64,
}

/// A concatenation. Each row of the result contains one piece of each operand, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct JoinDesc {
    /// The number of rows: the product of the dimensions before the concatenated dimension.
    pub rows: i64,
    /// The number of operands.
    pub operands: i64,
}

/// A draw of random numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct DrawDesc {
    /// The random number stream of the instruction.
    pub stream: i64,
    /// The number of random numbers to draw.
    pub count: i64,
    /// The distribution: 0 for uniform numbers in `[a, b)`, 1 for normal numbers with mean `a` and standard
    /// deviation `b`.
    pub distribution: i64,
}

/// A batch of square row-major matrices to factor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct CholeskyDesc {
    /// The [`ElementCode`](crate::ElementCode) of the elements: floating-point or complex.
    pub element: i64,
    /// The number of matrices.
    pub batch: i64,
    /// The number of rows and columns of each matrix.
    pub n: i64,
    /// 1 to compute `a = l·lᴴ` from the lower triangle, 0 to compute `a = uᴴ·u` from the upper triangle.
    pub lower: i64,
}

/// A batch of triangular systems: `op(a)·x = b` or `x·op(a) = b`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct SolveDesc {
    /// The [`ElementCode`](crate::ElementCode) of the elements: floating-point or complex.
    pub element: i64,
    /// The number of systems.
    pub batch: i64,
    /// The number of rows of `b`.
    pub rows: i64,
    /// The number of columns of `b`.
    pub columns: i64,
    /// 1 if `op(a)` is on the left and has as many rows as `b`; 0 if it is on the right and has as many rows
    /// as `b` has columns.
    pub left_side: i64,
    /// 1 to read the lower triangle of `a`, 0 to read the upper one.
    pub lower: i64,
    /// 1 if the diagonal of `a` consists of ones and is not read.
    pub unit_diagonal: i64,
    /// The operation `op`: 0 for none, 1 for the transpose, 2 for the conjugate transpose.
    pub transpose: i64,
}

/// How devices exchange arrays. Descriptors contain its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i64)]
pub enum Exchange {
    /// Each result is the concatenation of the operands of all members.
    AllGather = 0,
    /// The operand is split into one piece for each member. The result contains the pieces that all members
    /// have for this member.
    AllToAll = 1,
    /// As `AllToAll`, with one operand and one result for each member.
    AllToAllTuple = 2,
    /// The results are the operands of one member.
    Broadcast = 3,
    /// The results are the operands of the device whose target is this device, or zeros if there is none.
    Permute = 4,
}

impl Exchange {
    /// Returns the exchange with number `number`, or `None` if there is none.
    pub fn from_number(number: i64) -> Option<Self> {
        let all = [Self::AllGather, Self::AllToAll, Self::AllToAllTuple, Self::Broadcast, Self::Permute];
        all.into_iter().find(|&kind| kind as i64 == number)
    }
}

/// A compiled combiner. It combines `elements` elements at the same positions of `count` arrays in the order
/// of the arrays. There is at least one array. The results are written to `result`, which is none of these
/// arrays.
pub type Combiner =
    unsafe extern "C" fn(members: *const *const u8, count: i64, result: *mut u8, elements: i64);
