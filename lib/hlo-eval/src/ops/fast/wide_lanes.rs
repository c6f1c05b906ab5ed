//! Accumulators in wider types, with several lanes.

use crate::kernel::KernelError;
use crate::ops::wide::Wide;

type Result<T> = std::result::Result<T, KernelError>;

/// Number of elements that are widened at a time.
const CHUNK: usize = 256;

/// Bytes with an alignment that suits every element type.
#[derive(Clone, Default)]
struct Buffer(Vec<u128>);

impl Buffer {
    fn new(bytes: usize) -> Self {
        Self(vec![0; bytes.div_ceil(16)])
    }

    fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.0)
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        bytemuck::cast_slice_mut(&mut self.0)
    }
}

/// Combines `initial` with the elements of `line`, one after the other.
pub(super) fn fold(wide: &Wide, line: &[u8], initial: &[u8], out: &mut [u8]) -> Result<()> {
    let (from, to) = (wide.from.byte_size(), wide.to.byte_size());
    let (mut sum, mut terms) = (Buffer::new(to), Buffer::new(CHUNK * to));
    (wide.widen)(&[initial], &mut sum.bytes_mut()[..to])?;
    for chunk in line.chunks(CHUNK * from) {
        let terms = &mut terms.bytes_mut()[..chunk.len() / from * to];
        (wide.widen)(&[chunk], terms)?;
        (wide.fold)(terms, &mut sum.bytes_mut()[..to])?;
    }
    (wide.narrow)(&[&sum.bytes()[..to]], out)
}

/// Accumulators with several lanes.
pub(super) struct WideLanes {
    wide: Wide,
    elements: Buffer,
    terms: Buffer,
    sums: Buffer,
    next: Buffer,
}

impl WideLanes {
    pub(super) fn new(wide: Wide, capacity: usize) -> Self {
        let lanes = Buffer::new(capacity * wide.to.byte_size());
        let elements = Buffer::new(capacity * wide.from.byte_size());
        Self { wide, elements, terms: lanes.clone(), sums: lanes.clone(), next: lanes }
    }

    /// Sets all accumulators to a value.
    pub(super) fn begin(&mut self, initial: &[u8], lanes: usize) -> Result<()> {
        let size = self.wide.to.byte_size();
        let (first, rest) = self.sums.bytes_mut()[..lanes * size].split_at_mut(size);
        (self.wide.widen)(&[initial], first)?;
        rest.chunks_exact_mut(size).for_each(|lane| lane.copy_from_slice(first));
        Ok(())
    }

    /// Returns the elements of the next `combine`.
    pub(super) fn elements(&self) -> &[u8] {
        self.elements.bytes()
    }

    /// Returns the elements of the next `combine`, for writing.
    pub(super) fn elements_mut(&mut self) -> &mut [u8] {
        self.elements.bytes_mut()
    }

    /// Combines the elements of the first lanes with the accumulators, except in the lanes where `skip` is
    /// true.
    pub(super) fn combine(&mut self, lanes: usize, skip: &[bool]) -> Result<()> {
        let (from, to) = (self.wide.from.byte_size(), self.wide.to.byte_size());
        let terms = &mut self.terms.bytes_mut()[..lanes * to];
        (self.wide.widen)(&[&self.elements.bytes()[..lanes * from]], terms)?;
        for (term, _) in terms.chunks_exact_mut(to).zip(skip).filter(|(_, skip)| **skip) {
            term.copy_from_slice(&self.wide.neutral);
        }
        let sums = &self.sums.bytes()[..lanes * to];
        (self.wide.combine)(&[sums, terms], &mut self.next.bytes_mut()[..lanes * to])?;
        std::mem::swap(&mut self.sums, &mut self.next);
        Ok(())
    }

    /// Writes the accumulators, rounded.
    pub(super) fn write(&self, lanes: usize, out: &mut [u8]) -> Result<()> {
        let sums = &self.sums.bytes()[..lanes * self.wide.to.byte_size()];
        (self.wide.narrow)(&[sums], &mut out[..lanes * self.wide.from.byte_size()])
    }
}
