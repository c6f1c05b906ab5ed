//! Factorizations and triangular systems of column-major matrices, as JAX passes them. They are computed in
//! the result's buffer, without further copies. Small ones allocate no memory.

use std::sync::Arc;

use faer::{MatMut, MatRef};

use super::factor;
use hlo_custom_call::lapack::{Plan, Routine};
use hlo_custom_call::{Call, Function};
use hlo_runtime::linalg::small::{self, MAX_SMALL_SIZE, RightSides, View};
use hlo_runtime::linalg::{Scalar, Triangle};
use hlo_runtime::{Error, Shared};

/// Number of elements of the small matrices in one task.
const ELEMENTS_PER_TASK: usize = 1 << 12;

/// The computation for one matrix of a batch.
enum Step {
    /// The rows and columns, and the pivots.
    Lu(usize, usize),
    /// The size, and whether the triangle is the lower one.
    Cholesky(usize, bool),
    Solve(System),
}

/// A triangular system: `op(a)·x = b` or `x·op(a) = b`.
struct System {
    left: bool,
    form: Triangle,
    rows: usize,
    columns: usize,
}

/// Checks whether the buffers of a call are aligned for elements of this type. A caller's own program may not
/// align them.
pub(crate) fn is_aligned<T>(call: &Call<'_>) -> bool {
    let operands = call.operand_addresses().iter().map(|p| p.addr());
    operands
        .chain(call.result_addresses().iter().map(|p| p.addr()))
        .all(|address| address.is_multiple_of(align_of::<T>()))
}

/// Returns the function that computes a routine in its result's buffer, or `None` if this is not possible.
/// The call's buffers must be aligned.
pub(crate) fn function<T: Scalar>(plan: &Plan) -> Result<Option<Arc<Function>>, Error> {
    let attributes = &plan.attributes;
    let Some(shape) = plan.column_major() else { return Ok(None) };
    let (rows, columns) = shape[0];
    let step = match plan.routine {
        Routine::Getrf => Step::Lu(rows, columns),
        Routine::Potrf if rows <= MAX_SMALL_SIZE => {
            Step::Cholesky(rows, attributes.letter("uplo", "LU")? == 'L')
        }
        Routine::Trsm => {
            let left = attributes.letter("side", "LR")? == 'L';
            let op = attributes.letter("trans_x", "NTC")?;
            let form = Triangle {
                // The unknown is on the right.
                transposed: (op != 'N') == left,
                conjugated: op == 'C' && T::COMPLEX,
                lower: attributes.letter("uplo", "LU")? == 'L',
                unit: attributes.letter("diag", "NU")? == 'U',
            };
            let (rows, columns) = shape[1];
            let n = if left { rows } else { columns };
            if n > MAX_SMALL_SIZE && form.conjugated {
                return Ok(None);
            }
            Step::Solve(System { left, form, rows, columns })
        }
        _ => return Ok(None),
    };
    let batch = plan.batch;
    let most = shape.iter().map(|(m, n)| m * n).max().unwrap_or(0).max(1);
    let grain = (ELEMENTS_PER_TASK / most).max(1);
    Ok(Some(Arc::new(move |call| run::<T>(&step, call, (batch, grain)))))
}

fn run<T: Scalar>(step: &Step, call: &mut Call<'_>, (batch, grain): (usize, usize)) -> Result<(), Error> {
    // SAFETY: each task writes its own matrices, pivots and numbers.
    let results = unsafe {
        let mut at = |n: usize| call.result_bytes(n).map_or(std::ptr::null_mut(), <[u8]>::as_mut_ptr);
        Shared::new([at(0), at(1), at(2)])
    };
    let operands =
        [call.operand_bytes(0)?.as_ptr(), call.operand_bytes(1).map_or(std::ptr::null(), <[u8]>::as_ptr)];
    // SAFETY: operands are only read.
    let operands = unsafe { Shared::new(operands) };
    let one = |b: usize| -> Result<(), Error> {
        let ([a, second], [to, integers, info]) = (operands.get(), results.get());
        let (a, second, to) = (a.cast::<T>(), second.cast::<T>(), to.cast::<T>());
        // SAFETY: this is matrix number `b` of the operand and of the result, which are aligned and
        // column-major.
        unsafe {
            match *step {
                Step::Lu(m, n) => {
                    let (len, k) = (m * n, m.min(n));
                    let to = given(a.add(b * len), to.add(b * len), len);
                    let pivots = std::slice::from_raw_parts_mut(integers.cast::<i32>().add(b * k), k);
                    info.cast::<i32>().add(b).write(factor::getrf(to, (m, n), pivots));
                }
                Step::Cholesky(n, lower) => {
                    let (a, to) = (a.add(b * n * n), to.add(b * n * n));
                    let failed = small::cholesky(given(a, to, n * n), n, lower);
                    if failed.is_some() {
                        given(a, to, n * n);
                    }
                    integers.cast::<i32>().add(b).write(failed.map_or(0, |n| n as i32 + 1));
                }
                Step::Solve(ref system) => {
                    let n = if system.left { system.rows } else { system.columns };
                    let len = system.rows * system.columns;
                    let triangle = std::slice::from_raw_parts(a.add(b * n * n), n * n);
                    system.solve(triangle, given(second.add(b * len), to.add(b * len), len));
                }
            }
        }
        Ok(())
    };
    let tasks = batch.div_ceil(grain);
    let task = |task: usize| (task * grain..batch.min((task + 1) * grain)).try_for_each(one);
    if tasks == 1 { task(0) } else { call.for_each(tasks, task) }
}

/// Copies the operand to the result, and returns the result's elements.
///
/// # Safety
/// Both must have `len` elements, and nothing else may refer to the result's elements.
unsafe fn given<'a, T: Copy>(from: *const T, to: *mut T, len: usize) -> &'a mut [T] {
    // SAFETY: guaranteed by the caller.
    unsafe {
        std::ptr::copy_nonoverlapping(from, to, len);
        std::slice::from_raw_parts_mut(to, len)
    }
}

impl System {
    fn solve<T: Scalar>(&self, a: &[T], b: &mut [T]) {
        let (m, n) = if self.left { (self.rows, self.columns) } else { (self.columns, self.rows) };
        if m == 0 || n == 0 {
            return;
        }
        let (row, column) = if self.form.transposed { (m, 1) } else { (1, m) };
        let (x_row, x_column) = if self.left { (1, self.rows) } else { (self.rows, 1) };
        let Triangle { conjugated, unit, .. } = self.form;
        let lower = self.form.lower != self.form.transposed;
        if m <= MAX_SMALL_SIZE {
            let a = View { values: a, size: m, row, column, conjugated, lower, unit };
            small::solve(a, RightSides { values: b, count: n, row: x_row, column: x_column });
            return;
        }
        let a = MatRef::from_column_major_slice(a, m, m);
        let x = MatMut::from_column_major_slice_mut(b, self.rows, self.columns);
        let a = if self.form.transposed { a.transpose() } else { a };
        self.form.solve(a, if self.left { x } else { x.transpose_mut() });
    }
}
