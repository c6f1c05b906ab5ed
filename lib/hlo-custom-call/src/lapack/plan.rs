//! Checks the types and sizes of a call, and describes the layout of its matrices.

use super::Routine;
use crate::{ArrayType, Attributes, CallSite};
use hlo_ir::ElementType;
use hlo_runtime_core::Error;

/// The element types of operands and results, relative to the routine's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The type of the routine.
    Element,
    /// The real type of the same precision.
    Part,
    /// The complex type of the same precision.
    Wide,
    /// 32-bit integers.
    Integer,
}

impl Kind {
    /// Returns the element type of this kind in a routine for numbers of type `element`.
    pub fn element(self, element: ElementType) -> ElementType {
        let double = matches!(element, ElementType::F64 | ElementType::C128);
        match (self, double) {
            (Kind::Element, _) => element,
            (Kind::Part, false) => ElementType::F32,
            (Kind::Part, true) => ElementType::F64,
            (Kind::Wide, false) => ElementType::C64,
            (Kind::Wide, true) => ElementType::C128,
            (Kind::Integer, _) => ElementType::S32,
        }
    }
}

/// An operand or result.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub(super) kind: Kind,
    /// The number of dimensions after the batch dimensions.
    pub(super) inner: usize,
}

/// The sizes of the dimensions after the batch dimensions.
pub(super) type Inner = Vec<usize>;

/// An array as a batch of matrices. A vector is a matrix with one column; a number is a matrix with one row
/// and one column.
#[derive(Clone, Debug)]
pub struct Array {
    /// The kind of its elements.
    pub kind: Kind,
    /// The number of rows of each matrix.
    pub rows: usize,
    /// The number of columns of each matrix.
    pub columns: usize,
    /// Distance from one row to the next, in elements.
    pub row_stride: usize,
    /// Distance from one column to the next, in elements.
    pub column_stride: usize,
    /// The size of an element in bytes.
    pub element_bytes: usize,
    /// The size and the stride, in elements, of each batch dimension.
    batch: Vec<(usize, usize)>,
}

impl Array {
    fn new(ty: &ArrayType, slot: Slot) -> Array {
        let strides = ty.strides();
        let outer = ty.dims.len() - slot.inner;
        let at = |list: &[usize], d: usize, other| list.get(outer + d).copied().unwrap_or(other);
        Array {
            kind: slot.kind,
            rows: at(&ty.dims, 0, 1),
            columns: at(&ty.dims, 1, 1),
            row_stride: at(&strides, 0, 0),
            column_stride: at(&strides, 1, 0),
            element_bytes: ty.element_bytes,
            batch: ty.dims.iter().copied().zip(strides).take(outer).collect(),
        }
    }

    /// Returns the byte offset of matrix `b`.
    pub fn start(&self, mut b: usize) -> usize {
        let mut at = 0;
        for &(size, stride) in self.batch.iter().rev() {
            at += b % size.max(1) * stride;
            b /= size.max(1);
        }
        at * self.element_bytes
    }

    /// Returns the byte offset of an element from the start of its matrix.
    pub fn offset(&self, row: usize, column: usize) -> usize {
        (row * self.row_stride + column * self.column_stride) * self.element_bytes
    }

    /// Returns whether the matrices are contiguous and column-major.
    fn is_column_major(&self) -> bool {
        let mut next = self.rows * self.columns;
        let columns = (self.rows <= 1 || self.row_stride == 1)
            && (self.columns <= 1 || self.column_stride == self.rows);
        let batch = self.batch.iter().rev().all(|&(size, stride)| {
            let fits = size <= 1 || stride == next;
            next *= size;
            fits
        });
        columns && batch
    }
}

/// The maximum number of rows or columns of a matrix. LAPACK's sizes are 32-bit integers.
const MAX_SIZE: usize = i32::MAX as usize;

/// A checked call of a routine.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The routine to compute.
    pub routine: Routine,
    /// The element type of the routine: f32, f64, c64 or c128.
    pub element: ElementType,
    /// The attributes of the call.
    pub attributes: Attributes,
    /// The operands.
    pub operands: Vec<Array>,
    /// The results.
    pub results: Vec<Array>,
    /// The number of matrices in each operand and result.
    pub batch: usize,
}

impl Plan {
    /// Checks the operands, results and attributes of a call.
    ///
    /// # Errors
    /// Returns an error that describes the mismatch.
    pub(super) fn new(
        routine: Routine,
        element: ElementType,
        site: &CallSite,
        attributes: &Attributes,
    ) -> Result<Plan, Error> {
        let (operands, results) = (site.operand_arrays(), site.result_arrays());
        let complex = element.is_complex();
        let (operand_slots, result_slots) = (routine.operands(), routine.results(complex));
        let (batch, inner) = split("operand", &operands, operand_slots, element, None)?;
        let (_, found) = split("result", &results, result_slots, element, Some(&batch))?;
        // LAPACK has the same limit. It also ensures that loops over the columns of matrices without rows
        // end.
        if let Some(size) = inner.iter().chain(&found).flatten().find(|&&n| n > MAX_SIZE) {
            return Err(Error(format!("takes at most {MAX_SIZE} rows and columns, found {size}")));
        }
        let sizes = routine.sizes(&inner, &found, attributes, complex)?;
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
        let arrays = |arrays: &[&ArrayType], slots: &[Slot]| {
            arrays.iter().zip(slots).map(|(a, &s)| Array::new(a, s)).collect()
        };
        Ok(Plan {
            routine,
            element,
            attributes: attributes.clone(),
            operands: arrays(&operands, operand_slots),
            results: arrays(&results, result_slots),
            batch: batch.iter().product(),
        })
    }

    /// Returns whether there is nothing to compute. A batch may then have any size.
    pub(super) fn is_empty(&self) -> bool {
        self.batch == 0 || self.results.iter().all(|r| r.rows == 0 || r.columns == 0)
    }

    /// Returns the rows and columns of the operands and results, if all of them are contiguous column-major
    /// matrices.
    pub fn column_major(&self) -> Option<Vec<(usize, usize)>> {
        let arrays = || self.operands.iter().chain(&self.results);
        arrays().all(Array::is_column_major).then(|| arrays().map(|a| (a.rows, a.columns)).collect())
    }
}

/// Checks the number, types and ranks of arrays. Returns the sizes of the batch dimensions, and those of the
/// remaining dimensions.
fn split(
    what: &str,
    arrays: &[&ArrayType],
    slots: &[Slot],
    element: ElementType,
    batch: Option<&[usize]>,
) -> Result<(Vec<usize>, Vec<Inner>), Error> {
    if arrays.len() != slots.len() {
        return Err(Error(format!("has {} {what}s, found {}", slots.len(), arrays.len())));
    }
    let mut batch = batch.map(<[usize]>::to_vec);
    let mut inner = Vec::with_capacity(arrays.len());
    for (i, (a, slot)) in arrays.iter().zip(slots).enumerate() {
        let element = slot.kind.element(element).name();
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
