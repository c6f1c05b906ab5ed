//! The index vectors of `gather` and `scatter`, for loops over them.

use super::expander::Emitter;
use super::loops::INDEX_TYPE;
use hlo_ir::build::Build;
use hlo_ir::{ArrayShape, Dims, ElementType, InstrId, Op};

/// The start indices of the slices of a `gather` or `scatter`.
pub struct IndexVectors {
    /// The index vectors, one per row, with elements of type [`INDEX_TYPE`].
    pub rows: InstrId,
    /// The sizes of the dimensions of the index array other than the vector dimension.
    pub batch: Vec<i64>,
    /// The operand dimension that each component of a vector indexes.
    components: Vec<usize>,
    /// The batching dimensions: pairs of an operand dimension and the dimension of `batch` that provides its
    /// index.
    batching: Vec<(usize, usize)>,
    /// The sizes of the operand.
    dims: Dims,
}

/// The attributes that describe index vectors.
pub struct VectorDims<'a> {
    /// The dimension of the index array that contains the components.
    pub vector: i64,
    /// The operand dimension that each component indexes.
    pub components: &'a [i64],
    /// The batching dimensions of the operand, and the matching dimensions of the index array.
    pub batching: [&'a [i64]; 2],
}

impl VectorDims<'_> {
    /// Returns the number of vectors in an index array with these sizes.
    pub fn count(&self, dims: &[i64]) -> Option<i64> {
        let others = dims.iter().enumerate().filter(|(d, _)| i64::try_from(*d) != Ok(self.vector));
        others.map(|(_, &size)| size).try_fold(1i64, i64::checked_mul)
    }
}

impl IndexVectors {
    /// Emits the index vectors of an index array, for an operand with the sizes `dims`.
    pub fn new(e: &mut Emitter<'_>, indices: InstrId, of: VectorDims<'_>, dims: &Dims) -> Option<Self> {
        let shape = e.array(indices)?;
        let vector = usize::try_from(of.vector).ok().filter(|&v| v <= shape.rank())?;
        let numbers = |list: &[i64], below: usize| -> Option<Vec<usize>> {
            list.iter().map(|&d| usize::try_from(d).ok().filter(|&d| d < below)).collect()
        };
        let components = numbers(of.components, dims.len())?;
        let others: Vec<usize> = (0..shape.rank()).filter(|&d| d != vector).collect();
        let batch: Vec<i64> = others.iter().map(|&d| shape.dims[d]).collect();
        let count = of.count(&shape.dims)?;
        let pairs =
            numbers(of.batching[0], dims.len())?.into_iter().zip(numbers(of.batching[1], shape.rank())?);
        let batching =
            pairs.map(|(o, i)| Some((o, others.iter().position(|&d| d == i)?))).collect::<Option<_>>()?;

        let mut rows = indices;
        if shape.element_type == ElementType::U64 {
            // A `u64` index above the range of `i64` is out of bounds in every array, so clamping it does not
            // change the meaning.
            let most = e.splat_bits(rows, ElementType::U64, i64::MAX as u64)?;
            rows = e.same(Op::Minimum, &[rows, most]);
        }
        rows = e.convert(rows, INDEX_TYPE)?;
        if vector < shape.rank() {
            let order: Vec<usize> = others.iter().copied().chain([vector]).collect();
            rows = e.transposed(rows, &order)?;
        }
        rows = e.reshaped(rows, &[count, components.len() as i64])?;
        Some(Self { rows, batch, components, batching, dims: dims.clone() })
    }

    /// Returns the number of vectors.
    pub fn count(&self) -> i64 {
        self.batch.iter().product()
    }

    /// Emits the start indices of slice `i` in each dimension of the operand. They may be out of bounds.
    /// `rows` contains the vectors, and `batch` is the multi-dimensional index of `i`.
    pub fn start(
        &self,
        e: &mut Emitter<'_>,
        rows: InstrId,
        i: InstrId,
        batch: &[InstrId],
    ) -> Option<Vec<InstrId>> {
        let zero = e.index(0)?;
        let mut start = vec![zero; self.dims.len()];
        for (k, &d) in self.components.iter().enumerate() {
            start[d] = if self.count() == 1 {
                let one = e.sliced(rows, 1, k as i64, k as i64 + 1)?;
                e.add(ArrayShape::new(INDEX_TYPE, []), Op::reshape(), &[one])
            } else {
                let k = e.index(k as i64)?;
                e.read(rows, &[i, k])?
            };
        }
        for &(d, b) in &self.batching {
            start[d] = *batch.get(b)?;
        }
        Some(start)
    }

    /// Returns the operand dimensions that the index vectors index.
    pub fn offset_dims(&self) -> &[usize] {
        &self.components
    }
}
