//! The index vectors of `gather` and `scatter`, for loops over them.

use super::expander::Emitter;
use super::loops::INDEX;
use hlo_ir::build::Build;
use hlo_ir::{ArrayShape, Dims, ElementType, InstrId, Op};

/// Where the slices of a `gather` or `scatter` begin.
pub(crate) struct IndexVectors {
    /// The vectors: one a row, of indices.
    pub(crate) rows: InstrId,
    /// The sizes of the dimensions that number the vectors.
    pub(crate) batch: Vec<i64>,
    /// For each component of a vector, the operand dimension that it offsets.
    components: Vec<usize>,
    /// Operand dimensions that take their index from the number of the vector: the dimension, and the one of `batch`.
    batching: Vec<(usize, usize)>,
    /// The operand's sizes.
    dims: Dims,
}

/// What the attributes say of index vectors.
pub(crate) struct VectorDims<'a> {
    /// The dimension of the index array that holds the components.
    pub(crate) vector: i64,
    /// For each component, the operand dimension that it offsets.
    pub(crate) components: &'a [i64],
    /// Operand dimensions that pair up with index dimensions, and these.
    pub(crate) batching: [&'a [i64]; 2],
}

impl VectorDims<'_> {
    /// The number of vectors in an array of indices of the given sizes.
    pub(crate) fn count(&self, dims: &[i64]) -> Option<i64> {
        let others = dims.iter().enumerate().filter(|(d, _)| i64::try_from(*d) != Ok(self.vector));
        others.map(|(_, &size)| size).try_fold(1i64, i64::checked_mul)
    }
}

impl IndexVectors {
    /// Of an array of indices into an operand of the given sizes.
    pub(crate) fn new(
        e: &mut Emitter<'_>,
        indices: InstrId,
        of: VectorDims<'_>,
        dims: &Dims,
    ) -> Option<Self> {
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
            // What is beyond the indices is beyond every array.
            let most = e.splat_bits(rows, ElementType::U64, i64::MAX as u64)?;
            rows = e.same(Op::Minimum, &[rows, most]);
        }
        rows = e.convert(rows, INDEX)?;
        if vector < shape.rank() {
            let order: Vec<usize> = others.iter().copied().chain([vector]).collect();
            rows = e.transposed(rows, &order)?;
        }
        rows = e.reshaped(rows, &[count, components.len() as i64])?;
        Some(Self { rows, batch, components, batching, dims: dims.clone() })
    }

    /// The number of vectors.
    pub(crate) fn count(&self) -> i64 {
        self.batch.iter().product()
    }

    /// Where the slice of vector number `i` begins in each of the operand's dimensions, wherever that may be. `rows` are
    /// the vectors, `batch` is the index of the number.
    pub(crate) fn start(
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
                e.add(ArrayShape::new(INDEX, []), Op::reshape(), &[one])
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

    /// The operand dimensions in which a slice may begin anywhere.
    pub(crate) fn offset_dims(&self) -> &[usize] {
        &self.components
    }
}
