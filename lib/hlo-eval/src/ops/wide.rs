//! Sums and products that are accumulated in a wider type than their elements', and rounded once.

use super::accumulate::in_range;
use super::convert;
use crate::kernel::{Kernel, binary, computes_in_f32, elements, elements_mut};
use bytemuck::Pod;
use hlo_ir::{ElementType, Op};

/// Elements that are widened at a time.
const LANES: usize = 256;

/// Combines the neighbours in the bytes of the first, in their order, with the accumulator in those of the second.
type Fold = Box<dyn Fn(&[u8], &mut [u8])>;

/// How sums or products of elements of one type are accumulated.
pub(super) struct Wide {
    from: ElementType,
    to: ElementType,
    widen: Kernel,
    combine: Kernel,
    /// Combines neighbours, in their order, with an accumulator.
    fold: Fold,
    narrow: Kernel,
    /// What changes nothing.
    neutral: Vec<u8>,
}

impl Wide {
    /// In a reduction, whose order is open: sums of what fits `f32` in `f64`, nearer to the truth than any order in
    /// `f32`. They are infinite where they leave its range, as compiled code's. Products of narrow floats in `f32`.
    pub(super) fn of_reduction(op: &Op, from: ElementType) -> Option<Self> {
        use ElementType as T;
        match op {
            Op::Add if from.is_float() && from != T::F64 => {
                Some(Self::new(from, T::F64, |a: f64, b| in_range(a + b), -0.0))
            }
            Op::Add if from == T::C64 => {
                let add = |a: [f64; 2], b: [f64; 2]| [in_range(a[0] + b[0]), in_range(a[1] + b[1])];
                Some(Self::new(from, T::C128, add, [-0.0; 2]))
            }
            Op::Multiply => Self::of_updates(op, from),
            _ => None,
        }
    }

    /// Of narrow floats in `f32`, one after the other.
    pub(super) fn of_updates(op: &Op, from: ElementType) -> Option<Self> {
        let to = ElementType::F32;
        match op {
            _ if !computes_in_f32(from) => None,
            Op::Add => Some(Self::new(from, to, |a: f32, b| a + b, -0.0)),
            Op::Multiply => Some(Self::new(from, to, |a: f32, b| a * b, 1.0)),
            _ => None,
        }
    }

    fn new<E: Pod + Send + Sync>(
        from: ElementType,
        to: ElementType,
        f: impl Fn(E, E) -> E + Copy + Send + Sync + 'static,
        neutral: E,
    ) -> Self {
        let fold = move |line: &[u8], accumulator: &mut [u8]| {
            if let Some(a) = elements_mut::<E>(accumulator).first_mut() {
                *a = elements::<E>(line).iter().fold(*a, |a, &x| f(a, x));
            }
        };
        Self {
            from,
            to,
            widen: convert::kernel(from, to),
            combine: binary(f),
            fold: Box::new(fold),
            narrow: convert::kernel(to, from),
            neutral: bytemuck::bytes_of(&neutral).to_vec(),
        }
    }

    /// `initial` and the elements of `line`, one after the other.
    pub(super) fn fold(&self, line: &[u8], initial: &[u8], out: &mut [u8]) {
        let (size, wide) = (self.from.byte_size(), self.to.byte_size());
        let (mut sum, mut terms) = (Buffer::new(wide), Buffer::new(LANES * wide));
        (self.widen)(&[initial], &mut sum.bytes_mut()[..wide]);
        for chunk in line.chunks(LANES * size) {
            let terms = &mut terms.bytes_mut()[..chunk.len() / size * wide];
            (self.widen)(&[chunk], terms);
            (self.fold)(terms, &mut sum.bytes_mut()[..wide]);
        }
        (self.narrow)(&[&sum.bytes()[..wide]], out);
    }
}

/// Bytes that are aligned for every element type.
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

/// Accumulators of a number of lanes.
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
    pub(super) fn begin(&mut self, initial: &[u8], lanes: usize) {
        let size = self.wide.to.byte_size();
        let (first, rest) = self.sums.bytes_mut()[..lanes * size].split_at_mut(size);
        (self.wide.widen)(&[initial], first);
        rest.chunks_exact_mut(size).for_each(|lane| lane.copy_from_slice(first));
    }

    /// The elements that are combined next.
    pub(super) fn elements(&self) -> &[u8] {
        self.elements.bytes()
    }

    /// The same, for writing.
    pub(super) fn elements_mut(&mut self) -> &mut [u8] {
        self.elements.bytes_mut()
    }

    /// Combines the elements of the first lanes with the accumulators, but of those that `skip` names.
    pub(super) fn combine(&mut self, lanes: usize, skip: &[bool]) {
        let (from, to) = (self.wide.from.byte_size(), self.wide.to.byte_size());
        let terms = &mut self.terms.bytes_mut()[..lanes * to];
        (self.wide.widen)(&[&self.elements.bytes()[..lanes * from]], terms);
        for (term, _) in terms.chunks_exact_mut(to).zip(skip).filter(|(_, skip)| **skip) {
            term.copy_from_slice(&self.wide.neutral);
        }
        let sums = &self.sums.bytes()[..lanes * to];
        (self.wide.combine)(&[sums, terms], &mut self.next.bytes_mut()[..lanes * to]);
        std::mem::swap(&mut self.sums, &mut self.next);
    }

    /// The accumulators, rounded.
    pub(super) fn write(&self, lanes: usize, out: &mut [u8]) {
        let sums = &self.sums.bytes()[..lanes * self.wide.to.byte_size()];
        (self.wide.narrow)(&[sums], &mut out[..lanes * self.wide.from.byte_size()]);
    }
}

/// An array that elements are combined into, at any places.
pub(super) struct WideTarget {
    wide: Wide,
    values: Buffer,
    touched: Vec<bool>,
}

impl WideTarget {
    /// Begins with the values of an array.
    pub(super) fn new(wide: Wide, array: &[u8]) -> Self {
        let count = array.len() / wide.from.byte_size();
        let bytes = count * wide.to.byte_size();
        let mut values = Buffer::new(bytes);
        (wide.widen)(&[array], &mut values.bytes_mut()[..bytes]);
        Self { wide, values, touched: vec![false; count] }
    }

    /// Combines an element with the one at a place.
    pub(super) fn combine(&mut self, at: usize, element: &[u8]) {
        let size = self.wide.to.byte_size();
        let mut term = [0u128; 1];
        let term: &mut [u8] = &mut bytemuck::cast_slice_mut::<u128, u8>(&mut term)[..size];
        (self.wide.widen)(&[element], term);
        (self.wide.fold)(term, &mut self.values.bytes_mut()[at * size..(at + 1) * size]);
        self.touched[at] = true;
    }

    /// Writes what was combined with anything, rounded.
    pub(super) fn write(&self, array: &mut [u8]) {
        let (from, to) = (self.wide.from.byte_size(), self.wide.to.byte_size());
        for (at, out) in array.chunks_exact_mut(from).enumerate().filter(|(at, _)| self.touched[*at]) {
            (self.wide.narrow)(&[&self.values.bytes()[at * to..(at + 1) * to]], out);
        }
    }
}
