//! Fourier transforms of the innermost dimensions of row-major arrays, with the plans of `hlo-fft`.
//!
//! One thread transforms each line separately, or each fixed pair of lines, so that the bits do not depend on
//! how lines are divided among threads. The context keeps the plans.

pub(crate) mod pairs;

use hlo_runtime_core::{
    Context, ElementCode, Error, FftDesc, FftKind, Filled, MAX_FFT_RANK, Scratch, Shared,
};
use std::sync::Arc;

use hlo_fft::{Fft, FftDirection, FftNum, FftPlans, Precision};
use num_complex::Complex;
use pairs::Pairs;
use smallvec::SmallVec;

/// Returns the direction of a transform.
fn direction(kind: FftKind) -> FftDirection {
    match kind {
        FftKind::Forward | FftKind::ForwardReal => FftDirection::Forward,
        FftKind::Inverse | FftKind::InverseReal => FftDirection::Inverse,
    }
}

/// Transforms `from` into `to`; see [`FftDesc`]. Returns 0, or 1 with a message in the context.
///
/// # Safety
/// `ctx` must point to a live [`Context`] and `desc` to a descriptor. `from` must be fully readable and `to`
/// fully writable. Both must be aligned for their elements, and they must not overlap.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_rt_fft(
    ctx: *const Context,
    desc: *const FftDesc,
    from: *const u8,
    to: *mut u8,
) -> i32 {
    // SAFETY: guaranteed by the caller.
    let (ctx, desc) = unsafe { (&*ctx, &*desc) };
    ctx.guard("fft", || {
        let transform = Transform::new(desc)?;
        // SAFETY: guaranteed by the caller for either precision.
        unsafe {
            match ElementCode::from_code(desc.element)? {
                ElementCode::C64 => transform.run::<f32>(ctx, from, to),
                ElementCode::C128 => transform.run::<f64>(ctx, from, to),
                other => Err(Error(format!("no transform of {other:?}"))),
            }
        }
    })
}

/// A validated transform descriptor.
struct Transform {
    kind: FftKind,
    batch: usize,
    /// The lengths in the time domain, the innermost last.
    lengths: SmallVec<[usize; MAX_FFT_RANK]>,
}

/// The minimum number of elements of a task.
const MIN_TASK_ELEMENTS: usize = 1 << 13;
/// The number of lines that are transformed together if they are not contiguous. Together they fill cache
/// lines.
const LINES_PER_PASS: usize = 16;

impl Transform {
    fn new(desc: &FftDesc) -> Result<Transform, Error> {
        let size = |v: i64| usize::try_from(v).map_err(|_| Error(format!("a size is {v}")));
        let rank = size(desc.rank)?;
        if !(1..=MAX_FFT_RANK).contains(&rank) {
            return Err(Error(format!("a transform of {rank} dimensions")));
        }
        let lengths: SmallVec<_> = desc.lengths[..rank].iter().map(|&n| size(n)).collect::<Result<_, _>>()?;
        let transform = Transform { kind: FftKind::from_code(desc.kind)?, batch: size(desc.batch)?, lengths };
        let elements = transform.lengths.iter().try_fold(transform.batch, |n, &d| n.checked_mul(d));
        match elements {
            Some(_) => Ok(transform),
            None => Err(Error("the array does not fit the address space".into())),
        }
    }

    /// Returns the length of the innermost lines in the time domain.
    fn length(&self) -> usize {
        self.lengths.last().copied().unwrap_or(1)
    }

    /// Returns the number of innermost lines.
    fn lines(&self) -> usize {
        self.lengths.iter().rev().skip(1).product::<usize>() * self.batch
    }

    /// Returns the number of complex numbers in an innermost line.
    fn width(&self) -> usize {
        if self.kind.is_real() { self.length() / 2 + 1 } else { self.length() }
    }

    /// # Safety
    /// As for [`hlo_rt_fft`], with elements of `T`.
    unsafe fn run<T: Precision>(&self, ctx: &Context, from: *const u8, to: *mut u8) -> Result<(), Error> {
        if self.lines() == 0 || self.length() == 0 {
            return Ok(());
        }
        let complexes = self.lines() * self.width();
        let n = self.length();
        // SAFETY: guaranteed by the caller; sizes are those of the descriptor.
        unsafe {
            match self.kind {
                FftKind::Forward | FftKind::Inverse => {
                    let (from, to) = (from.cast::<Complex<T>>(), to.cast::<Complex<T>>());
                    std::ptr::copy_nonoverlapping(from, to, complexes);
                    let plan = T::complex(&ctx.kept::<FftPlans>(), n, direction(self.kind));
                    self.lines_in_place(ctx, &plan, to)?;
                    self.other_dimensions(ctx, to)
                }
                FftKind::ForwardReal => {
                    let to = to.cast::<Complex<T>>();
                    self.real_lines::<T>(ctx, from.cast(), to)?;
                    self.other_dimensions(ctx, to)
                }
                FftKind::InverseReal => {
                    let from = from.cast::<Complex<T>>();
                    if self.lengths.len() == 1 {
                        return self.lines_to_real::<T>(ctx, from, to.cast());
                    }
                    // The other dimensions are transformed first, in a copy because the operand must not be
                    // written.
                    let copy = Scratch::new::<Complex<T>>(complexes)?;
                    let spectrum = copy.pointer::<Complex<T>>();
                    std::ptr::copy_nonoverlapping(from, spectrum, complexes);
                    self.other_dimensions(ctx, spectrum)?;
                    self.lines_to_real::<T>(ctx, spectrum, to.cast())
                }
            }
        }
    }

    /// Returns the factor of the inverse transform of a line, or `None` for a forward transform.
    fn scale<T: FftNum>(&self, length: usize) -> Option<T> {
        match direction(self.kind) {
            FftDirection::Forward => None,
            FftDirection::Inverse => T::from_f64(1.0 / length as f64),
        }
    }

    /// Calls `body` for ranges of the innermost lines, in parallel.
    fn for_lines(
        &self,
        ctx: &Context,
        body: impl Fn(std::ops::Range<usize>) -> Result<(), Error> + Sync,
    ) -> Result<(), Error> {
        // The grain is even, so that the pairs do not depend on the number of threads.
        let (lines, grain) = (self.lines(), (MIN_TASK_ELEMENTS / self.length()).max(1).next_multiple_of(2));
        ctx.try_for_each(lines.div_ceil(grain), |task| body(task * grain..lines.min((task + 1) * grain)))
    }

    /// # Safety
    /// `values` must point to all complex numbers, and no other code may access them.
    unsafe fn lines_in_place<T: FftNum>(
        &self,
        ctx: &Context,
        plan: &Arc<dyn Fft<T>>,
        values: *mut Complex<T>,
    ) -> Result<(), Error> {
        let n = self.length();
        // SAFETY: the ranges of lines are disjoint.
        let values = unsafe { Shared::new(values) };
        self.for_lines(ctx, |lines| {
            let mut scratch = zeros::<T>(plan.get_inplace_scratch_len())?;
            // SAFETY: as above.
            let part =
                unsafe { std::slice::from_raw_parts_mut(values.get().add(lines.start * n), lines.len() * n) };
            let unbounded = lines_with_infinities(part, n)?;
            plan.process_with_scratch(part, &mut scratch);
            multiply(part, self.scale(n));
            fill_with_nan(part, n, &unbounded);
            Ok(())
        })
    }

    /// Returns the plan for transforming lines of odd length in pairs, if there are at least two. Lines of
    /// even length are transformed one by one.
    fn in_pairs<T: Precision>(&self, ctx: &Context) -> Option<Arc<dyn Fft<T>>> {
        let n = self.length();
        let has_pairs = !n.is_multiple_of(2) && self.lines() > 1;
        has_pairs.then(|| T::complex(&ctx.kept::<FftPlans>(), n, direction(self.kind)))
    }

    /// # Safety
    /// `from` must point to all real numbers and `to` to all complex numbers.
    unsafe fn real_lines<T: Precision>(
        &self,
        ctx: &Context,
        from: *const T,
        to: *mut Complex<T>,
    ) -> Result<(), Error> {
        let (n, width) = (self.length(), self.width());
        let plan = T::forward_real(&ctx.kept::<FftPlans>(), n);
        let in_pairs = self.in_pairs::<T>(ctx);
        // SAFETY: the operand is only read; the ranges of lines are disjoint.
        let (from, to) = unsafe { (Shared::new(from), Shared::new(to)) };
        self.for_lines(ctx, |lines| {
            let (mut line, mut scratch) = (Filled::new(n, T::zero())?, zeros::<T>(plan.get_scratch_len())?);
            let mut pairs = in_pairs.as_ref().filter(|_| lines.len() > 1).map(Pairs::new).transpose()?;
            // SAFETY: as above.
            let (from, to) = unsafe {
                (
                    std::slice::from_raw_parts(from.get().add(lines.start * n), lines.len() * n),
                    std::slice::from_raw_parts_mut(to.get().add(lines.start * width), lines.len() * width),
                )
            };
            for (from, to) in from.chunks(2 * n).zip(to.chunks_mut(2 * width)) {
                let finite = from.iter().all(|x| is_finite(*x));
                if let (Some(pairs), true, true) = (&mut pairs, finite, from.len() > n) {
                    let (from, to) = (from.split_at(n), to.split_at_mut(width));
                    pairs.forward([from.0, from.1], [to.0, to.1]);
                    continue;
                }
                for (from, to) in from.chunks_exact(n).zip(to.chunks_exact_mut(width)) {
                    if !from.iter().all(|x| is_finite(*x)) {
                        to.fill(not_a_number());
                        continue;
                    }
                    line.copy_from_slice(from);
                    let done = plan.process_with_scratch(&mut line, to, &mut scratch);
                    done.map_err(|e| Error(e.to_string()))?;
                }
            }
            Ok(())
        })
    }

    /// # Safety
    /// `from` must point to all complex numbers and `to` to all real numbers.
    unsafe fn lines_to_real<T: Precision>(
        &self,
        ctx: &Context,
        from: *const Complex<T>,
        to: *mut T,
    ) -> Result<(), Error> {
        let (n, width) = (self.length(), self.width());
        let plan = T::inverse_real(&ctx.kept::<FftPlans>(), n);
        let in_pairs = self.in_pairs::<T>(ctx);
        let scale = self.scale::<T>(n).unwrap_or_else(T::one);
        // SAFETY: the operand is only read; the ranges of lines are disjoint.
        let (from, to) = unsafe { (Shared::new(from), Shared::new(to)) };
        self.for_lines(ctx, |lines| {
            let (mut line, mut scratch) = (zeros::<T>(width)?, zeros::<T>(plan.get_scratch_len())?);
            let mut pairs = in_pairs.as_ref().filter(|_| lines.len() > 1).map(Pairs::new).transpose()?;
            // SAFETY: as above.
            let (from, to) = unsafe {
                (
                    std::slice::from_raw_parts(from.get().add(lines.start * width), lines.len() * width),
                    std::slice::from_raw_parts_mut(to.get().add(lines.start * n), lines.len() * n),
                )
            };
            for (from, to) in from.chunks(2 * width).zip(to.chunks_mut(2 * n)) {
                let finite = from.chunks_exact(width).all(|line| is_spectrum(line, n));
                if let (Some(pairs), true, true) = (&mut pairs, finite, from.len() > width) {
                    let (from, to) = (from.split_at(width), to.split_at_mut(n));
                    pairs.inverse([from.0, from.1], [to.0, to.1], scale);
                    continue;
                }
                for (from, to) in from.chunks_exact(width).zip(to.chunks_exact_mut(n)) {
                    if !is_spectrum(from, n) {
                        to.fill(not_a_number::<T>().re);
                        continue;
                    }
                    line.copy_from_slice(from);
                    line[0].im = T::zero();
                    if n.is_multiple_of(2) {
                        line[n / 2].im = T::zero();
                    }
                    let done = plan.process_with_scratch(&mut line, to, &mut scratch);
                    done.map_err(|e| Error(e.to_string()))?;
                    to.iter_mut().for_each(|x| *x = *x * scale);
                }
            }
            Ok(())
        })
    }

    /// Transforms every dimension except the innermost, in place.
    ///
    /// # Safety
    /// `values` must point to all complex numbers, and no other code may access them.
    unsafe fn other_dimensions<T: Precision>(
        &self,
        ctx: &Context,
        values: *mut Complex<T>,
    ) -> Result<(), Error> {
        let mut stride = self.width();
        for &n in self.lengths.iter().rev().skip(1) {
            let plan = T::complex(&ctx.kept::<FftPlans>(), n, direction(self.kind));
            let blocks = self.lines() * self.width() / (n * stride);
            // SAFETY: guaranteed by the caller.
            unsafe { self.columns(ctx, &plan, values, [blocks, n, stride])? };
            stride *= n;
        }
        Ok(())
    }

    /// Transforms the middle dimension of `[blocks, n, stride]` complex numbers.
    ///
    /// # Safety
    /// `values` must point to these numbers, and no other code may access them.
    unsafe fn columns<T: FftNum>(
        &self,
        ctx: &Context,
        plan: &Arc<dyn Fft<T>>,
        values: *mut Complex<T>,
        [blocks, n, stride]: [usize; 3],
    ) -> Result<(), Error> {
        // SAFETY: each task has its own columns.
        let values = unsafe { Shared::new(values) };
        let groups = stride.div_ceil(LINES_PER_PASS);
        ctx.try_for_each(blocks * groups, |task| {
            let (block, first) = (task / groups, task % groups * LINES_PER_PASS);
            let columns = LINES_PER_PASS.min(stride - first);
            let (mut lines, mut scratch) =
                (zeros::<T>(columns * n)?, zeros::<T>(plan.get_inplace_scratch_len())?);
            let start = values.get().wrapping_add(block * n * stride + first);
            for i in 0..n {
                for c in 0..columns {
                    // SAFETY: the sizes ensure that the element is within the block.
                    lines[c * n + i] = unsafe { start.add(i * stride + c).read() };
                }
            }
            let unbounded = lines_with_infinities(&lines, n)?;
            plan.process_with_scratch(&mut lines, &mut scratch);
            multiply(&mut lines, self.scale(n));
            fill_with_nan(&mut lines, n, &unbounded);
            for i in 0..n {
                for c in 0..columns {
                    // SAFETY: as above.
                    unsafe { start.add(i * stride + c).write(lines[c * n + i]) };
                }
            }
            Ok(())
        })
    }
}

fn is_finite<T: FftNum>(x: T) -> bool {
    // The product is NaN if `x` is not finite.
    x * T::zero() == T::zero()
}

/// Returns whether all used numbers of the first half of a spectrum of `n` real numbers are finite. The
/// imaginary part at 0 is ignored, and for even lengths also the one in the middle.
fn is_spectrum<T: FftNum>(line: &[Complex<T>], n: usize) -> bool {
    let is_real = |k: usize| k == 0 || (n.is_multiple_of(2) && k == n / 2);
    line.iter().enumerate().all(|(k, z)| is_finite(z.re) && (is_real(k) || is_finite(z.im)))
}

/// Returns NaN in both parts: every element of the transform of a line that contains an infinity or a NaN.
fn not_a_number<T: FftNum>() -> Complex<T> {
    let nan = T::zero() / T::zero();
    Complex::new(nan, nan)
}

/// Returns for each line of `n` elements whether it contains an infinity or a NaN.
fn lines_with_infinities<T: FftNum>(values: &[Complex<T>], n: usize) -> Result<Filled<bool>, Error> {
    let finite = |line: &[Complex<T>]| line.iter().all(|z| is_finite(z.re) && is_finite(z.im));
    let mut lines = Filled::new(values.len() / n, false)?;
    lines.iter_mut().zip(values.chunks_exact(n)).for_each(|(found, line)| *found = !finite(line));
    Ok(lines)
}

fn fill_with_nan<T: FftNum>(values: &mut [Complex<T>], n: usize, lines: &[bool]) {
    let found = values.chunks_exact_mut(n).zip(lines).filter(|(_, found)| **found);
    found.for_each(|(line, _)| line.fill(not_a_number()));
}

fn multiply<T: FftNum>(values: &mut [Complex<T>], scale: Option<T>) {
    if let Some(scale) = scale {
        values.iter_mut().for_each(|z| *z = Complex::new(z.re * scale, z.im * scale));
    }
}

/// Returns complex zeros in working memory.
fn zeros<T: FftNum>(len: usize) -> Result<Filled<Complex<T>>, Error> {
    Filled::new(len, Complex::new(T::zero(), T::zero()))
}
