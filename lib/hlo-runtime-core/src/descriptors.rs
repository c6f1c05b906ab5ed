//! The descriptors of runtime functions: what a plan writes for a call, as constants of the compiled program, and the
//! function reads. All of their fields are words of 64 bits, so that a plan can write them as a list.

use crate::Error;

/// A batch of matrix products. Sizes count elements; strides count elements and may be zero or negative for
/// the operands; the output's elements must be distinct.
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
    /// Left operand: elements from one product to the next.
    pub lhs_batch_stride: i64,
    /// Left operand: elements from one row to the next.
    pub lhs_m_stride: i64,
    /// Left operand: elements from one column to the next.
    pub lhs_k_stride: i64,
    /// Right operand: elements from one product to the next.
    pub rhs_batch_stride: i64,
    /// Right operand: elements from one row to the next.
    pub rhs_k_stride: i64,
    /// Right operand: elements from one column to the next.
    pub rhs_n_stride: i64,
    /// Result: elements from one product to the next.
    pub out_batch_stride: i64,
    /// Result: elements from one row to the next.
    pub out_m_stride: i64,
    /// Result: elements from one column to the next.
    pub out_n_stride: i64,
}

impl DotDesc {
    /// The same product read the other way round: `outᵀ = rhsᵀ · lhsᵀ`.
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

/// The most spatial dimensions that a convolution may have.
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
    /// How far the window moves from one output element to the next.
    pub stride: i64,
    /// Zeros before the first input element; negative to skip input elements.
    pub pad_low: i64,
    /// The distance between input elements, 1 for none in between.
    pub lhs_dilation: i64,
    /// The distance between window elements, 1 for none in between.
    pub rhs_dilation: i64,
    /// Not 0 when the window is read backwards.
    pub reversed: i64,
    /// Input: elements from one position to the next.
    pub lhs_stride: i64,
    /// Filter: elements from one position to the next.
    pub rhs_stride: i64,
    /// Output: elements from one position to the next.
    pub out_stride: i64,
}

/// A convolution. Any order of dimensions is expressed by the strides, which count elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct ConvDesc {
    /// The [`ElementCode`](crate::ElementCode) of the input.
    pub lhs_type: i64,
    /// The [`ElementCode`](crate::ElementCode) of the filter.
    pub rhs_type: i64,
    /// The [`ElementCode`](crate::ElementCode) of the output.
    pub out_type: i64,
    /// The number of entries of `dims` that count.
    pub spatial_rank: i64,
    /// The batch size of the input; the output has `batch / batch_groups`.
    pub batch: i64,
    /// The number of features of the input; the filter has `in_features / feature_groups`.
    pub in_features: i64,
    /// The number of features of the output, and output features of the filter.
    pub out_features: i64,
    /// The number of groups that features are divided into.
    pub feature_groups: i64,
    /// The number of groups that the batch is divided into.
    pub batch_groups: i64,
    /// Input: elements from one batch entry to the next.
    pub lhs_batch_stride: i64,
    /// Input: elements from one feature to the next.
    pub lhs_feature_stride: i64,
    /// Filter: elements from one input feature to the next.
    pub rhs_in_stride: i64,
    /// Filter: elements from one output feature to the next.
    pub rhs_out_stride: i64,
    /// Output: elements from one batch entry to the next.
    pub out_batch_stride: i64,
    /// Output: elements from one feature to the next.
    pub out_feature_stride: i64,
    /// The spatial dimensions.
    pub dims: [ConvDim; MAX_SPATIAL],
}

/// The highest rank of a strided copy.
pub const MAX_COPY_RANK: usize = 8;

/// A copy of a box of elements between two strided arrays. Strides count elements and may be zero or negative on
/// the `from` side; the elements on the `to` side must be distinct.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct CopyDesc {
    /// Bytes of one element: 1, 2, 4, 8 or 16.
    pub element_bytes: i64,
    /// The number of entries of the arrays that count.
    pub rank: i64,
    /// The sizes.
    pub sizes: [i64; MAX_COPY_RANK],
    /// From one element to the next of each dimension, where elements are read.
    pub from_strides: [i64; MAX_COPY_RANK],
    /// From one element to the next of each dimension, where elements are written.
    pub to_strides: [i64; MAX_COPY_RANK],
}

/// A compiled comparator: `elements` holds two pointers for each operand, to its left and its right candidate, in
/// the order of the comparator's parameters. Not 0 means left goes before right. It must not unwind and may be
/// called from several threads at once.
pub type Comparator = unsafe extern "C" fn(elements: *const *const u8) -> i8;

/// What is sorted: row-major arrays of `[outer, size, inner]` elements, sorted along the middle.
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

/// The bytes of a [`SortDesc`] in words.
pub const SORT_DESC_WORDS: usize = size_of::<SortDesc>() / 8;

/// An operand that elements are ordered by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct SortKey {
    /// The operand's position.
    pub operand: i64,
    /// What its bits mean: a [`KeyKind`].
    pub kind: i64,
    /// How many bits an element has, 1 to 64; the higher ones of its last byte say nothing.
    pub bits: i64,
    /// For floats the largest magnitude that is not a NaN, as bits (of those without a sign: pattern).
    pub largest: i64,
    /// The order: a [`KeyOrder`].
    pub order: i64,
}

/// The bytes of a [`SortKey`] in a descriptor, in words.
pub const SORT_KEY_WORDS: usize = size_of::<SortKey>() / 8;

/// What the bits of a key's elements mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i64)]
pub enum KeyKind {
    /// An unsigned number: integers, truth values, floats without a sign.
    Unsigned = 0,
    /// A number in two's complement, extended by its sign to whole bytes.
    Signed = 1,
    /// A sign and a magnitude that orders as the numbers do: floats.
    Float = 2,
    /// The same where the pattern of the negative zero is the only NaN; it is a negative one.
    FloatWithoutNegativeZero = 3,
}

/// The order of the numbers of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i64)]
pub enum KeyOrder {
    /// Ascending; floats in total order: −NaN, −∞, …, −0, +0, …, +∞, +NaN.
    Ascending = 0,
    /// The reverse of `Ascending`.
    Descending = 1,
    /// Ascending; zeros are equal, and NaNs are equal and last.
    AscendingNumbers = 2,
    /// The reverse of `AscendingNumbers`: NaNs come first.
    DescendingNumbers = 3,
    /// By `<` on floats: ascending, zeros are equal. With a NaN it is no order, and a comparator must answer.
    Less = 4,
    /// By `>` on floats, likewise.
    Greater = 5,
}

/// What is selected: the first `k` elements of each row of a row-major `[rows, size]` array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct TopKDesc {
    /// The number of rows.
    pub rows: i64,
    /// The elements of a row.
    pub size: i64,
    /// How many of them are selected.
    pub k: i64,
    /// The order of the elements; equal ones come in the order of their positions.
    pub key: SortKey,
}

/// The most dimensions that are transformed at once.
pub const MAX_FFT_RANK: usize = 3;

/// A transform of the last `rank` dimensions of row-major arrays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct FftDesc {
    /// An [`FftKind`].
    pub kind: i64,
    /// The [`ElementCode`](crate::ElementCode) of the complex numbers; real ones are of the matching type.
    pub element: i64,
    /// The product of the sizes before the transformed dimensions.
    pub batch: i64,
    /// The number of transformed dimensions.
    pub rank: i64,
    /// Their lengths on the side of time: for a real transform the number of reals.
    pub lengths: [i64; MAX_FFT_RANK],
}

/// The kinds of transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i64)]
pub enum FftKind {
    /// Complex to complex, without a scale.
    Forward = 0,
    /// Complex to complex, divided by the number of elements.
    Inverse = 1,
    /// Real to the first half of the spectrum.
    ForwardReal = 2,
    /// The first half of the spectrum to real, divided by the number of elements.
    InverseReal = 3,
}

impl FftKind {
    /// The kind that a descriptor's field names.
    ///
    /// # Errors
    /// There is no such kind.
    pub fn from_code(code: i64) -> Result<FftKind, Error> {
        match code {
            0 => Ok(FftKind::Forward),
            1 => Ok(FftKind::Inverse),
            2 => Ok(FftKind::ForwardReal),
            3 => Ok(FftKind::InverseReal),
            _ => Err(Error(format!("unknown kind of transform {code}"))),
        }
    }

    /// True if one side is real numbers.
    pub fn is_real(self) -> bool {
        matches!(self, FftKind::ForwardReal | FftKind::InverseReal)
    }
}

/// Pieces of consecutive rows. Offsets and sizes are integers of `index_bytes` bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct RowsDesc {
    /// Bytes of one row.
    pub row_bytes: i64,
    /// Rows of the array that is read.
    pub from_rows: i64,
    /// Rows of the array that is written.
    pub to_rows: i64,
    /// The number of pieces.
    pub pieces: i64,
    /// Bytes of an offset or size: 1, 2, 4 or 8.
    pub index_bytes: i64,
    /// 1 if offsets and sizes are signed, else 0.
    pub signed: i64,
}

/// A concatenation. The result is rows of one piece of each operand after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct JoinDesc {
    /// The number of rows: the product of the dimensions before the one that the operands are joined along.
    pub rows: i64,
    /// The number of operands.
    pub operands: i64,
}

/// Which numbers are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct DrawDesc {
    /// The instruction's stream.
    pub stream: i64,
    /// How many numbers.
    pub count: i64,
    /// 0 for uniform numbers in `[a, b)`, 1 for normal ones of mean `a` and standard deviation `b`.
    pub distribution: i64,
}

/// Square row-major matrices to factor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct CholeskyDesc {
    /// The [`ElementCode`](crate::ElementCode) of the elements: floating-point or complex.
    pub element: i64,
    /// The number of matrices.
    pub batch: i64,
    /// Their size.
    pub n: i64,
    /// 1: `a = l·lᴴ` from the lower triangle; 0: `a = uᴴ·u` from the upper one.
    pub lower: i64,
}

/// Triangular systems: `op(a)·x = b` or `x·op(a) = b`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct SolveDesc {
    /// The [`ElementCode`](crate::ElementCode) of the elements: floating-point or complex.
    pub element: i64,
    /// The number of systems.
    pub batch: i64,
    /// The rows of `b`.
    pub rows: i64,
    /// The columns of `b`.
    pub columns: i64,
    /// 1: `op(a)` is on the left and has as many rows as `b`; 0: on the right, as many as `b` has columns.
    pub left_side: i64,
    /// 1: `a` is its lower triangle; 0: its upper one.
    pub lower: i64,
    /// 1: the diagonal of `a` is not read, it consists of ones.
    pub unit_diagonal: i64,
    /// What `op` is. 0: nothing; 1: the transpose; 2: the conjugate transpose.
    pub transpose: i64,
}

/// What devices do with the arrays of each other. Its number stands in descriptors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i64)]
pub enum Exchange {
    /// Each result is the operands of all members, one after the other.
    AllGather = 0,
    /// The operand is cut into a piece for each member, the result is the pieces for this one.
    AllToAll = 1,
    /// An operand for each member, a result from each.
    AllToAllTuple = 2,
    /// The operands of one member.
    Broadcast = 3,
    /// The operands of the device that has this one as its target, or zeros.
    Permute = 4,
}

impl Exchange {
    /// What a number in a descriptor stands for.
    pub fn from_number(number: i64) -> Option<Self> {
        let all = [Self::AllGather, Self::AllToAll, Self::AllToAllTuple, Self::Broadcast, Self::Permute];
        all.into_iter().find(|&kind| kind as i64 == number)
    }
}

/// The body of a compiled combination: combines `elements` elements at the same places of `count` arrays, at least one, in
/// their order, and writes the results to `result`, which is none of them.
pub type Combiner =
    unsafe extern "C" fn(members: *const *const u8, count: i64, result: *mut u8, elements: i64);
