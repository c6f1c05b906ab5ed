//! What all routines share: the check of types and sizes, and the loop over the batch.

use super::Routine;
use hlo_custom_call::{ArrayType, Attributes, Call, CallSite};
use hlo_runtime::ElementCode;
use hlo_runtime::linalg::{Matrix, Scalar, Strides};
use hlo_runtime::{Error, Shared};

/// The kinds of elements of operands and results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The routine's type.
    Element,
    /// The real type of that precision.
    Part,
    /// The complex type of that precision.
    Wide,
    /// 32-bit integers.
    Integer,
}

/// An operand or result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    pub(crate) kind: Kind,
    /// The number of dimensions behind those of the batch.
    pub(crate) inner: usize,
}

/// The sizes behind those of the batch.
pub(crate) type Inner = Vec<usize>;

/// One matrix, vector or number of the batch.
pub(crate) enum Data<T: Scalar> {
    Elements(Matrix<T>),
    Parts(Matrix<T::Part>),
    Wide(Matrix<T::Wide>),
    Integers(Vec<i32>),
    /// What nobody asked for: zeros of any size.
    Zeros,
}

/// The elements of an operand.
pub(crate) fn elements<T: Scalar>(data: Data<T>) -> Result<Matrix<T>, Error> {
    match data {
        Data::Elements(matrix) => Ok(matrix),
        Data::Parts(_) | Data::Wide(_) | Data::Integers(_) | Data::Zeros => {
            Err(Error("an operand is of another kind".into()))
        }
    }
}

/// A matrix of one column.
pub(crate) fn vector<T: Scalar>(values: &[T]) -> Result<Matrix<T>, Error> {
    let mut column = Matrix::zeros(values.len(), 1)?;
    column.values_mut().copy_from_slice(values);
    Ok(column)
}

/// An array as a batch of matrices.
struct Batched {
    code: Kind,
    rows: usize,
    columns: usize,
    strides: Strides,
    sizes: Vec<usize>,
    batch_strides: Vec<usize>,
    element_bytes: usize,
}

impl Batched {
    fn new(ty: &ArrayType, slot: Slot) -> Batched {
        let strides = ty.strides();
        let outer = ty.dims.len() - slot.inner;
        let at = |list: &[usize], d: usize, other| list.get(outer + d).copied().unwrap_or(other);
        Batched {
            code: slot.kind,
            rows: at(&ty.dims, 0, 1),
            columns: at(&ty.dims, 1, 1),
            strides: Strides { row: at(&strides, 0, 0), column: at(&strides, 1, 0) },
            sizes: ty.dims[..outer].to_vec(),
            batch_strides: strides[..outer].to_vec(),
            element_bytes: ty.element_bytes,
        }
    }

    /// The byte at which matrix number `b` starts.
    fn start(&self, mut b: usize) -> usize {
        let mut at = 0;
        for (&size, &stride) in self.sizes.iter().zip(&self.batch_strides).rev() {
            at += b % size.max(1) * stride;
            b /= size.max(1);
        }
        at * self.element_bytes
    }

    /// # Safety
    /// `from` must be readable as the array.
    unsafe fn read<T: Scalar>(&self, b: usize, from: *const u8) -> Result<Data<T>, Error> {
        // SAFETY: the caller's promise: all elements are within the array.
        unsafe {
            let from = from.add(self.start(b));
            let (rows, columns, strides) = (self.rows, self.columns, self.strides);
            Ok(match self.code {
                Kind::Element => Data::Elements(Matrix::read_all(rows, columns, from, strides)?),
                Kind::Part => Data::Parts(Matrix::read_all(rows, columns, from, strides)?),
                Kind::Wide => Data::Wide(Matrix::read_all(rows, columns, from, strides)?),
                Kind::Integer => {
                    let at = |i: usize| from.add(i * strides.row * 4).cast::<i32>().read_unaligned();
                    Data::Integers((0..rows).map(at).collect())
                }
            })
        }
    }

    /// # Safety
    /// `to` must be writable as the array.
    unsafe fn write<T: Scalar>(&self, b: usize, data: &Data<T>, to: *mut u8) -> Result<(), Error> {
        let wrong = || Error("internal error: a result of another size or kind".into());
        let fits = |rows: usize, columns: usize| rows == self.rows && columns == self.columns;
        // SAFETY: the caller's promise: all elements are within the array.
        unsafe {
            let to = to.add(self.start(b));
            match (self.code, data) {
                (Kind::Element, Data::Elements(m)) if fits(m.rows(), m.columns()) => {
                    m.write(T::CODE, to, self.strides);
                }
                (Kind::Part, Data::Parts(m)) if fits(m.rows(), m.columns()) => {
                    m.write(T::Part::CODE, to, self.strides);
                }
                (Kind::Wide, Data::Wide(m)) if fits(m.rows(), m.columns()) => {
                    m.write(T::Wide::CODE, to, self.strides);
                }
                (Kind::Integer, Data::Integers(values)) if fits(values.len(), 1) => {
                    for (i, &value) in values.iter().enumerate() {
                        to.add(i * self.strides.row * 4).cast::<i32>().write_unaligned(value);
                    }
                }
                (_, Data::Zeros) => {
                    for (i, j) in (0..self.columns).flat_map(|j| (0..self.rows).map(move |i| (i, j))) {
                        let at = (i * self.strides.row + j * self.strides.column) * self.element_bytes;
                        to.add(at).write_bytes(0, self.element_bytes);
                    }
                }
                _ => return Err(wrong()),
            }
        }
        Ok(())
    }
}

/// A validated call.
pub(crate) struct Plan {
    operands: Vec<Batched>,
    results: Vec<Batched>,
    batch: usize,
}

impl Plan {
    /// Checks a call's operands and results.
    pub(crate) fn new<T: Scalar>(
        routine: Routine,
        site: &CallSite,
        attributes: &Attributes,
    ) -> Result<Plan, Error> {
        let (operands, results) = (site.operand_arrays(), site.result_arrays());
        let (operand_slots, result_slots) = (routine.operands(), routine.results(T::COMPLEX));
        let (batch, inner) = split::<T>("operand", &operands, operand_slots, None)?;
        let (_, found) = split::<T>("result", &results, result_slots, Some(&batch))?;
        let sizes = routine.sizes(&inner, &found, attributes, T::COMPLEX)?;
        for (i, (wanted, found)) in sizes.iter().zip(&found).enumerate() {
            if wanted != found {
                let text = |list: &[usize]| list.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
                return Err(Error(format!(
                    "gives [{}] behind the batch as result {i}, which is {}",
                    text(wanted),
                    results[i]
                )));
            }
        }
        let batched = |arrays: &[&ArrayType], slots: &[Slot]| {
            arrays.iter().zip(slots).map(|(a, &s)| Batched::new(a, s)).collect()
        };
        Ok(Plan {
            operands: batched(&operands, operand_slots),
            results: batched(&results, result_slots),
            batch: batch.iter().product(),
        })
    }

    /// The number of matrices.
    pub(crate) fn batch(&self) -> usize {
        self.batch
    }

    /// The rows and columns of the operands and results, if all lie matrix by matrix and these column by column.
    pub(crate) fn column_major(&self) -> Option<Vec<(usize, usize)>> {
        let mut sizes = Vec::new();
        for array in self.operands.iter().chain(&self.results) {
            let mut next = array.rows * array.columns;
            let columns = (array.rows <= 1 || array.strides.row == 1)
                && (array.columns <= 1 || array.strides.column == array.rows);
            let batch = array.sizes.iter().zip(&array.batch_strides).rev().all(|(&size, &stride)| {
                let fits = size <= 1 || stride == next;
                next *= size;
                fits
            });
            if !columns || !batch {
                return None;
            }
            sizes.push((array.rows, array.columns));
        }
        Some(sizes)
    }

    /// Computes every matrix of the batch.
    pub(crate) fn run<T: Scalar>(
        &self,
        call: &mut Call<'_>,
        compute: impl Fn(Vec<Data<T>>) -> Result<Vec<Data<T>>, Error> + Sync,
    ) -> Result<(), Error> {
        let mut results = Vec::with_capacity(self.results.len());
        for i in 0..self.results.len() {
            // SAFETY: the matrices of the batch are disjoint parts of a result.
            results.push(unsafe { Shared::new(call.result_bytes(i)?.as_mut_ptr()) });
        }
        let call = &*call;
        call.for_each(self.batch, |b| {
            let mut operands = Vec::with_capacity(self.operands.len());
            for (i, operand) in self.operands.iter().enumerate() {
                // SAFETY: the bytes are those of the operand's type, by the registry's check.
                operands.push(unsafe { operand.read::<T>(b, call.operand_bytes(i)?.as_ptr())? });
            }
            let computed = compute(operands)?;
            if computed.len() != self.results.len() {
                return Err(Error("internal error: another number of results".into()));
            }
            for ((result, data), to) in self.results.iter().zip(&computed).zip(&results) {
                // SAFETY: as above.
                unsafe { result.write(b, data, to.get())? };
            }
            Ok(())
        })
    }
}

/// The sizes of the batch and those behind them, after a check of number, types and ranks.
fn split<T: Scalar>(
    what: &str,
    arrays: &[&ArrayType],
    slots: &[Slot],
    batch: Option<&[usize]>,
) -> Result<(Vec<usize>, Vec<Inner>), Error> {
    if arrays.len() != slots.len() {
        return Err(Error(format!("has {} {what}s, found {}", slots.len(), arrays.len())));
    }
    let mut batch = batch.map(<[usize]>::to_vec);
    let mut inner = Vec::with_capacity(arrays.len());
    for (i, (a, slot)) in arrays.iter().zip(slots).enumerate() {
        let element = match slot.kind {
            Kind::Element => name(T::CODE),
            Kind::Part => name(T::Part::CODE),
            Kind::Wide => name(T::Wide::CODE),
            Kind::Integer => "s32",
        };
        let outer = a.dims.len().checked_sub(slot.inner);
        let Some(outer) = outer.filter(|_| a.element == element) else {
            return Err(Error(format!(
                "takes or gives {element} of at least {} dimensions as {what} {i}, found {a}",
                slot.inner
            )));
        };
        let (first, last) = a.dims.split_at(outer);
        if batch.get_or_insert_with(|| first.to_vec()) != first {
            return Err(Error(format!("works on a batch of one size, but {what} {i} is {a}")));
        }
        inner.push(last.to_vec());
    }
    Ok((batch.unwrap_or_default(), inner))
}

/// The name of a routine's element type.
fn name(code: ElementCode) -> &'static str {
    match code {
        ElementCode::F32 => "f32",
        ElementCode::F64 => "f64",
        ElementCode::C64 => "c64",
        _ => "c128",
    }
}
