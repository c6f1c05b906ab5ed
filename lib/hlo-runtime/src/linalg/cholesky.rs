//! Cholesky factors of batches of row-major matrices.

use faer::dyn_stack::MemStack;
use faer::linalg::cholesky::llt::factor::{LltError, cholesky_in_place, cholesky_in_place_scratch};
use faer::{MatMut, Par};
use hlo_runtime_core::{CholeskyDesc, Context, ElementCode, Error, Number, Scratch, Shared};
use num_traits::Float;

use super::small::{MAX_SMALL_SIZE, cholesky};
use super::{Generic, Matrix, Scalar, Strides, by_faer, dispatch, size};
use std::mem::MaybeUninit;

/// Factors matrices. The other triangle of a factor is 0. The factor of a matrix that is not positive
/// definite is NaN. Returns 0, or 1 with a message in the context.
///
/// # Safety
/// `ctx` must point to a live [`Context`] and `desc` to a descriptor. `from` must be fully readable, `to`
/// must be fully writable, and they must not overlap.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_rt_cholesky(
    ctx: *const Context,
    desc: *const CholeskyDesc,
    from: *const u8,
    to: *mut u8,
) -> i32 {
    // SAFETY: guaranteed by the caller.
    let (ctx, desc, from, to) = unsafe { (&*ctx, &*desc, Shared::new(from), Shared::new(to)) };
    ctx.guard("cholesky", || {
        let (batch, n) = (size(desc.batch)?, size(desc.n)?);
        dispatch(desc.element, &Cholesky { ctx, batch, n, lower: desc.lower != 0, from, to })
    })
}

/// The number of small matrices that one task factors.
const MATRICES_PER_TASK: usize = 64;

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
        // The lower factor of the conjugate matrix is the transpose of the upper factor of the matrix.
        let strides = Strides::row_major(n);
        let strides = if self.lower { strides } else { strides.transposed() };
        if n <= MAX_SMALL_SIZE {
            let tasks = self.batch.div_ceil(MATRICES_PER_TASK);
            self.ctx.for_each(tasks, |task| {
                let batch = task * MATRICES_PER_TASK..self.batch.min((task + 1) * MATRICES_PER_TASK);
                batch.for_each(|b| small::<T>(self, b, code, strides));
            });
            return Ok(());
        }
        self.ctx.try_for_each(self.batch, |b| {
            let at = b * n * n * code.byte_size();
            // SAFETY: guaranteed by the caller of `hlo_rt_cholesky`; matrices are disjoint.
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

/// Factors a small matrix in stack memory.
fn small<T: Scalar>(work: &Cholesky<'_>, b: usize, code: ElementCode, strides: Strides) {
    let n = work.n;
    let at = b * n * n * code.byte_size();
    let mut values = [T::ZERO; MAX_SMALL_SIZE * MAX_SMALL_SIZE];
    let place = |i: usize, j: usize| at + (i * strides.row + j * strides.column) * code.byte_size();
    for j in 0..n {
        for i in j..n {
            // SAFETY: guaranteed by the caller of `hlo_rt_cholesky`.
            values[i + j * n] = unsafe { T::load(code, work.from.get().add(place(i, j))) };
        }
    }
    if cholesky(&mut values[..n * n], n, true).is_some() {
        let nan = <T::Part as Float>::nan();
        values.fill(T::new(nan, nan));
    }
    for j in 0..n {
        for i in 0..n {
            // SAFETY: as above; matrices are disjoint. The elements above the diagonal are still zero,
            // because they were never read.
            unsafe { values[i + j * n].store(code, work.to.get().add(place(i, j))) };
        }
    }
}

/// Replaces the lower triangle of `a` by its lower factor. Returns the index of the first pivot that is not
/// positive, if there is one. The contents of the upper triangle are ignored and overwritten.
///
/// # Errors
/// Returns an error if there is not enough working memory.
pub fn factor<T: Scalar>(mut a: MatMut<'_, T>) -> Result<Option<usize>, Error> {
    let n = a.nrows();
    if n == 0 {
        return Ok(None);
    }
    // The imaginary parts of the diagonal are ignored.
    for i in 0..n {
        a[(i, i)] = T::real(a[(i, i)].re());
    }
    let stack = cholesky_in_place_scratch::<T>(n, Par::Seq, Default::default());
    let bytes = stack.unaligned_bytes_required();
    let memory = Scratch::new::<u8>(bytes)?;
    // SAFETY: the buffer has `bytes` bytes, which may be uninitialized.
    let memory = unsafe { std::slice::from_raw_parts_mut(memory.pointer::<MaybeUninit<u8>>(), bytes) };
    let stack = MemStack::new(memory);
    let done =
        by_faer(|| cholesky_in_place(a.as_mut(), Default::default(), Par::Seq, stack, Default::default()));
    if let Err(LltError::NonPositivePivot { index }) = done {
        return Ok(Some(index));
    }
    // A NaN is not positive either.
    let positive = |i: usize| a[(i, i)].re() > <T::Part as Number>::ZERO;
    Ok((0..n).find(|&i| !positive(i)))
}
