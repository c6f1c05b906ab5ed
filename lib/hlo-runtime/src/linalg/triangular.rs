//! Triangular systems over batches of row-major matrices.

use faer::linalg::triangular_solve::{
    solve_lower_triangular_in_place, solve_unit_lower_triangular_in_place,
    solve_unit_upper_triangular_in_place, solve_upper_triangular_in_place,
};
use faer::{MatMut, MatRef, Par};
use hlo_runtime_core::{Context, ElementCode, Error, Shared, SolveDesc};

use super::small::{MAX_SMALL_SIZE, RightSides, View, solve};
use super::{Generic, Matrix, Scalar, Strides, by_faer, dispatch, size};

/// Solves triangular systems; see [`SolveDesc`]. Returns 0, or 1 with a message in the context.
///
/// # Safety
/// `ctx` must point to a live [`Context`] and `desc` to a descriptor. `a` and `b` must be fully readable, `x`
/// must be fully writable, and `x` must not overlap anything.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_rt_triangular_solve(
    ctx: *const Context,
    desc: *const SolveDesc,
    a: *const u8,
    b: *const u8,
    x: *mut u8,
) -> i32 {
    // SAFETY: guaranteed by the caller.
    let (ctx, desc, a, b, x) = unsafe { (&*ctx, &*desc, Shared::new(a), Shared::new(b), Shared::new(x)) };
    ctx.guard("triangular-solve", || {
        let (rows, columns) = (size(desc.rows)?, size(desc.columns)?);
        if !(0..=2).contains(&desc.transpose) {
            return Err(Error(format!("unknown transposition {}", desc.transpose)));
        }
        let left = desc.left_side != 0;
        let (n, width) = if left { (rows, columns) } else { (columns, rows) };
        // The solver puts the unknown on the right. The matrix on its left is `op(a)` or its transpose.
        let form = Triangle {
            transposed: (desc.transpose != 0) == left,
            conjugated: desc.transpose == 2,
            lower: desc.lower != 0,
            unit: desc.unit_diagonal != 0,
        };
        let batch = size(desc.batch)?;
        dispatch(desc.element, &Solve { ctx, batch, n, width, left, form, a, b, x })
    })
}

/// The form of the triangular matrix of a system.
#[derive(Clone, Copy, Debug)]
pub struct Triangle {
    /// Whether the system contains the transpose of the matrix.
    pub transposed: bool,
    /// Whether the system contains the conjugate of the matrix.
    pub conjugated: bool,
    /// Whether the lower triangle is read, before transposition; otherwise the upper one is.
    pub lower: bool,
    /// Whether the diagonal consists of ones and is not read.
    pub unit: bool,
}

impl Triangle {
    /// Reads the matrix in the form that the system contains.
    ///
    /// # Errors
    /// As [`Matrix::zeros`].
    ///
    /// # Safety
    /// `from` must be readable for an `n` by `n` matrix of elements of type `code` with these strides.
    pub unsafe fn read<T: Scalar>(
        self,
        n: usize,
        code: ElementCode,
        from: *const u8,
        strides: Strides,
    ) -> Result<Matrix<T>, Error> {
        let strides = if self.transposed { strides.transposed() } else { strides };
        let wanted = |i: usize, j: usize| match (self.is_lower(), self.unit) {
            (true, false) => i >= j,
            (true, true) => i > j,
            (false, false) => i <= j,
            (false, true) => i < j,
        };
        // SAFETY: guaranteed by the caller.
        let mut a = unsafe { Matrix::read(n, n, code, from, strides, wanted)? };
        if self.conjugated {
            a.conjugate();
        }
        Ok(a)
    }

    /// Returns whether the matrix in the system is lower triangular.
    fn is_lower(self) -> bool {
        self.lower != self.transposed
    }

    /// Solves a system in place of `b` with a matrix that [`Triangle::read`] has read.
    pub fn solve<T: Scalar>(self, a: MatRef<'_, T>, b: MatMut<'_, T>) {
        by_faer(|| match (self.is_lower(), self.unit) {
            (true, false) => solve_lower_triangular_in_place(a, b, Par::Seq),
            (true, true) => solve_unit_lower_triangular_in_place(a, b, Par::Seq),
            (false, false) => solve_upper_triangular_in_place(a, b, Par::Seq),
            (false, true) => solve_unit_upper_triangular_in_place(a, b, Par::Seq),
        })
    }
}

struct Solve<'a> {
    ctx: &'a Context,
    batch: usize,
    n: usize,
    /// The number of right-hand sides.
    width: usize,
    left: bool,
    form: Triangle,
    a: Shared<*const u8>,
    b: Shared<*const u8>,
    x: Shared<*mut u8>,
}

/// The number of right-hand sides that are solved together.
const RIGHT_SIDES_PER_PASS: usize = 128;

impl Generic for Solve<'_> {
    fn run<T: Scalar>(&self, code: ElementCode) -> Result<(), Error> {
        let (n, width, bytes) = (self.n, self.width, code.byte_size());
        if n == 0 || width == 0 {
            return Ok(());
        }
        if n <= MAX_SMALL_SIZE {
            let group = (MAX_SMALL_SIZE * RIGHT_SIDES_PER_PASS / width.max(n)).max(1);
            self.ctx.for_each(self.batch.div_ceil(group), |task| {
                let systems = task * group..self.batch.min((task + 1) * group);
                systems.for_each(|system| self.small::<T>(code, system));
            });
            return Ok(());
        }
        let parts = width.div_ceil(RIGHT_SIDES_PER_PASS);
        // The matrix of the system has one column for each right-hand side.
        let strides = if self.left { Strides::row_major(width) } else { Strides::row_major(n).transposed() };
        self.ctx.try_for_each(self.batch * parts, |task| {
            let (system, first) = (task / parts, task % parts * RIGHT_SIDES_PER_PASS);
            let columns = RIGHT_SIDES_PER_PASS.min(width - first);
            let at = (system * n * width + first * strides.column) * bytes;
            // SAFETY: guaranteed by the caller of `hlo_rt_triangular_solve`; each task writes its own part.
            unsafe {
                let a = self.a.get().add(system * n * n * bytes);
                let a = self.form.read::<T>(n, code, a, Strides::row_major(n))?;
                let mut b = Matrix::read(n, columns, code, self.b.get().add(at), strides, |_, _| true)?;
                self.form.solve(a.as_ref(), b.as_mut());
                b.write(code, self.x.get().add(at), strides);
            }
            Ok(())
        })
    }
}

impl Solve<'_> {
    /// Solves a small system in stack memory.
    fn small<T: Scalar>(&self, code: ElementCode, system: usize) {
        let (n, width, bytes) = (self.n, self.width, code.byte_size());
        let Triangle { transposed, conjugated, lower, unit } = self.form;
        let mut a = [T::ZERO; MAX_SMALL_SIZE * MAX_SMALL_SIZE];
        for (i, z) in a[..n * n].iter_mut().enumerate() {
            // SAFETY: guaranteed by the caller of `hlo_rt_triangular_solve`.
            *z = unsafe { T::load(code, self.a.get().add((system * n * n + i) * bytes)) };
        }
        let (row, column) = if transposed { (1, n) } else { (n, 1) };
        let view = View { values: &a, size: n, row, column, conjugated, lower: lower != transposed, unit };
        let strides = if self.left { Strides::row_major(width) } else { Strides::row_major(n).transposed() };
        for c in 0..width {
            let place = |i: usize| (system * n * width + i * strides.row + c * strides.column) * bytes;
            let mut x = [T::ZERO; MAX_SMALL_SIZE];
            for (i, z) in x[..n].iter_mut().enumerate() {
                // SAFETY: as above.
                *z = unsafe { T::load(code, self.b.get().add(place(i))) };
            }
            solve(view, RightSides { values: &mut x, count: 1, row: 1, column: n });
            for (i, z) in x[..n].iter().enumerate() {
                // SAFETY: as above; systems are disjoint.
                unsafe { z.store(code, self.x.get().add(place(i))) };
            }
        }
    }
}
