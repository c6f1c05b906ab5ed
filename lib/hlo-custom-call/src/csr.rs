//! `cpu_csr_sparse_dense_ffi`: the product of a sparse matrix in compressed row format and a dense matrix or
//! vector.

use std::sync::Arc;

use num_complex::Complex;

use crate::plan::Function;
use crate::target::Target;
use crate::{ArrayType, Call, CallElement, CallSite, ValueType};
use hlo_runtime_core::{Error, Shared};

/// The name of the target.
pub(crate) const NAME: &str = "cpu_csr_sparse_dense_ffi";

/// The number of products that one task computes.
const PRODUCTS_PER_TASK: usize = 1 << 16;

/// Returns the target if this is its name.
pub(crate) fn target(name: &str) -> Option<Target> {
    (name == NAME).then(|| {
        Target::new(|site, _| {
            let sizes = Sizes::new(site)?;
            Ok(match sizes.element.as_str() {
                "s32" => sizes.function::<i32>(),
                "s64" => sizes.function::<i64>(),
                "f32" => sizes.function::<f32>(),
                "f64" => sizes.function::<f64>(),
                "c64" => sizes.function::<Complex<f32>>(),
                "c128" => sizes.function::<Complex<f64>>(),
                other => return Err(Error(format!("has no products of elements of type {other}"))),
            })
        })
    })
}

/// The checked sizes of a call.
struct Sizes {
    element: String,
    wide_indices: bool,
    rows: usize,
    /// The number of rows of the dense matrix.
    inner: usize,
    columns: usize,
}

impl Sizes {
    fn new(site: &CallSite) -> Result<Sizes, Error> {
        let (operands, ValueType::Array(out)) = (site.operand_arrays(), &site.result) else {
            return Err(Error("gives one array".into()));
        };
        let &[values, starts, columns, dense] = &operands[..] else {
            return Err(Error(format!("takes four arrays, found {}", operands.len())));
        };
        let ([_], [starts_count], [_], [inner, width @ ..]) =
            (&values.dims[..], &starts.dims[..], &columns.dims[..], &dense.dims[..])
        else {
            return Err(Error("takes values, starts of rows, columns and a dense matrix or vector".into()));
        };
        let rows = starts_count
            .checked_sub(1)
            .ok_or_else(|| Error("takes a start and an end of each row".into()))?;
        let wanted: Vec<usize> = std::iter::once(rows).chain(width.iter().copied()).collect();
        let same = values.element == dense.element && values.element == out.element;
        if width.len() > 1 || out.dims != wanted || !same || values.dims != columns.dims {
            return Err(Error(format!("of {values}, {starts}, {columns} and {dense} can't give {out}")));
        }
        let row_major = |a: &ArrayType| a.minor_to_major.iter().rev().copied().eq(0..a.dims.len());
        if !row_major(dense) || !row_major(out) {
            return Err(Error("works on row-major arrays".into()));
        }
        let wide_indices = match (starts.element.as_str(), columns.element.as_str()) {
            ("s32", "s32") => false,
            ("s64", "s64") => true,
            _ => return Err(Error("takes starts and columns of type s32 or s64".into())),
        };
        let (element, columns) = (values.element.clone(), width.first().copied().unwrap_or(1));
        Ok(Sizes { element, wide_indices, rows, inner: *inner, columns })
    }

    fn function<T>(self) -> Arc<Function>
    where
        T: CallElement + Send + Sync + num_traits::Zero + Wrapping,
    {
        Arc::new(
            move |call| if self.wide_indices { self.run::<T, i64>(call) } else { self.run::<T, i32>(call) },
        )
    }

    fn run<T, I>(&self, call: &mut Call<'_>) -> Result<(), Error>
    where
        T: CallElement + Send + Sync + num_traits::Zero + Wrapping,
        I: CallElement + Send + Sync + Into<i64>,
    {
        let (values, starts, columns) = (call.operand::<T>(0)?, call.operand::<I>(1)?, call.operand::<I>(2)?);
        let dense = call.operand::<T>(3)?;
        // SAFETY: each task writes its own rows.
        let out = unsafe { Shared::new(call.result::<T>(0)?.as_mut_ptr()) };
        let per_row = (values.len() / self.rows.max(1)).saturating_mul(self.columns).max(1);
        let grain = (PRODUCTS_PER_TASK / per_row).max(1);
        let work = |task: usize| -> Result<(), Error> {
            for row in task * grain..self.rows.min((task + 1) * grain) {
                // SAFETY: a row of the result, whose size was checked.
                let to = unsafe {
                    std::slice::from_raw_parts_mut(out.get().add(row * self.columns), self.columns)
                };
                to.fill(T::zero());
                let at = |i: I| usize::try_from(i.into()).unwrap_or(usize::MAX);
                let (start, end) = (at(starts[row]), at(starts[row + 1]));
                let range = values.get(start..end).zip(columns.get(start..end));
                let (values, columns) =
                    range.ok_or_else(|| Error(format!("row {row} can't be the values {start} to {end}")))?;
                for (&value, &column) in values.iter().zip(columns) {
                    let column = at(column);
                    if column >= self.inner {
                        return Err(Error(format!("there is no column {column} of {}", self.inner)));
                    }
                    let from = &dense[column * self.columns..][..self.columns];
                    to.iter_mut().zip(from).for_each(|(to, &z)| *to = to.plus(value.times(z)));
                }
            }
            Ok(())
        };
        call.for_each(self.rows.div_ceil(grain), work)
    }
}

/// Sums and products that wrap for integers.
trait Wrapping: Copy {
    fn plus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
}

macro_rules! wrapping {
    (integers: $($i:ty),*; numbers: $($f:ty),*) => {
        $(impl Wrapping for $i {
            fn plus(self, other: $i) -> $i { self.wrapping_add(other) }
            fn times(self, other: $i) -> $i { self.wrapping_mul(other) }
        })*
        $(impl Wrapping for $f {
            fn plus(self, other: $f) -> $f { self + other }
            fn times(self, other: $f) -> $f { self * other }
        })*
    };
}

wrapping!(integers: i32, i64; numbers: f32, f64, Complex<f32>, Complex<f64>);
