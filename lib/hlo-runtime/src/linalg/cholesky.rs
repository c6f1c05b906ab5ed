//! Cholesky factors of batches of row-major matrices.

use faer::dyn_stack::MemStack;
use faer::linalg::cholesky::llt::factor::{LltError, cholesky_in_place, cholesky_in_place_scratch};
use faer::{MatMut, Par};
use hlo_runtime_core::{CholeskyDesc, Context, ElementCode, Error, Number, Scratch, Shared};
use num_traits::Float;

use super::small::{SMALL, cholesky};
use super::{Generic, Matrix, Scalar, Strides, by_faer, dispatch, size};
use std::mem::MaybeUninit;

/// Factors matrices; the other triangle of a factor is 0, and one of a matrix that is not positive definite is
/// NaN. Returns 0, or 1 with a message in the context.
///
/// # Safety
/// `ctx` must point to a live [`Context`] and `desc` to a descriptor; `from` must be readable and `to` writable
/// in full, and they must not overlap.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_rt_cholesky(
    ctx: *const Context,
    desc: *const CholeskyDesc,
    from: *const u8,
    to: *mut u8,
) -> i32 {
    // SAFETY: the caller's promise.
    let (ctx, desc, from, to) = unsafe { (&*ctx, &*desc, Shared::new(from), Shared::new(to)) };
    ctx.guard("cholesky", || {
        let (batch, n) = (size(desc.batch)?, size(desc.n)?);
        dispatch(desc.element, &Cholesky { ctx, batch, n, lower: desc.lower != 0, from, to })
    })
}

/// Small matrices that are factored by one task.
const TOGETHER: usize = 64;

struct Cholesky<'a> {
    ctx: &'a Context,
    batch: usize,
    n: usize,
    lower: bool,
    from: Shared<*const u8>,
    to: Shared<*mut u8>,
}

impl Generic for Cholesky<'_> {
    fn run<T: Scalar>(&self, code: ElementCode) -> Result<(), Error> {
        let n = self.n;
        // The lower factor of the conjugate is the transpose of the upper one of the matrix.
        let strides = Strides::row_major(n);
        let strides = if self.lower { strides } else { strides.transposed() };
        if n <= SMALL {
            let tasks = self.batch.div_ceil(TOGETHER);
            self.ctx.for_each(tasks, |task| {
                let batch = task * TOGETHER..self.batch.min((task + 1) * TOGETHER);
                batch.for_each(|b| small::<T>(self, b, code, strides));
            });
            return Ok(());
        }
        self.ctx.try_for_each(self.batch, |b| {
            let at = b * n * n * code.byte_size();
            // SAFETY: the promise made to `hlo_rt_cholesky`; matrices are disjoint.
            let mut a =
                unsafe { Matrix::<T>::read(n, n, code, self.from.get().add(at), strides, |i, j| i >= j)? };
            match factor(a.as_mut())? {
                None => a.clear_upper(),
                Some(_) => {
                    let nan = <T::Part as Float>::nan();
                    a.fill(T::new(nan, nan));
                }
            }
            // SAFETY: as above.
            unsafe { a.write(code, self.to.get().add(at), strides) };
            Ok(())
        })
    }
}

/// A small matrix, by the processor's stack.
fn small<T: Scalar>(work: &Cholesky<'_>, b: usize, code: ElementCode, strides: Strides) {
    let n = work.n;
    let at = b * n * n * code.byte_size();
    let mut values = [T::ZERO; SMALL * SMALL];
    let place = |i: usize, j: usize| at + (i * strides.row + j * strides.column) * code.byte_size();
    for j in 0..n {
        for i in j..n {
            // SAFETY: the promise made to `hlo_rt_cholesky`.
            values[i + j * n] = unsafe { T::load(code, work.from.get().add(place(i, j))) };
        }
    }
    if cholesky(&mut values[..n * n], n, true).is_some() {
        let nan = <T::Part as Float>::nan();
        values.fill(T::new(nan, nan));
    }
    for j in 0..n {
        for i in 0..n {
            // SAFETY: as above; matrices are disjoint. What is right of the diagonal was never read.
            unsafe { values[i + j * n].store(code, work.to.get().add(place(i, j))) };
        }
    }
}

/// The lower factor in place of the lower triangle, or the number of the first pivot that is not positive. What
/// is in the upper triangle does not count, and is lost.
///
/// # Errors
/// There is no working memory.
pub fn factor<T: Scalar>(mut a: MatMut<'_, T>) -> Result<Option<usize>, Error> {
    let n = a.nrows();
    if n == 0 {
        return Ok(None);
    }
    // The imaginary part of the diagonal does not count.
    for i in 0..n {
        a[(i, i)] = T::real(a[(i, i)].re());
    }
    let stack = cholesky_in_place_scratch::<T>(n, Par::Seq, Default::default());
    let bytes = stack.unaligned_bytes_required();
    let memory = Scratch::new::<u8>(bytes)?;
    // SAFETY: the buffer has as many bytes, whatever they are.
    let memory = unsafe { std::slice::from_raw_parts_mut(memory.pointer::<MaybeUninit<u8>>(), bytes) };
    let stack = MemStack::new(memory);
    let done =
        by_faer(|| cholesky_in_place(a.as_mut(), Default::default(), Par::Seq, stack, Default::default()));
    if let Err(LltError::NonPositivePivot { index }) = done {
        return Ok(Some(index));
    }
    // A NaN compares as neither.
    let positive = |i: usize| a[(i, i)].re() > <T::Part as Number>::ZERO;
    Ok((0..n).find(|&i| !positive(i)))
}
