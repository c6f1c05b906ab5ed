//! Kernels: element-wise functions over slices of elements.
//!
//! A kernel is selected once by opcode and element types. It contains the loop over the elements. The same
//! kernels run over whole arrays and over the registers of a scalar program.

use crate::error::EvalError;
use bytemuck::Pod;
use half::{bf16, f16};
use hlo_ir::ElementType;
use hlo_ir::FloatFormat;

/// A function that computes result elements from the operands' elements at the same positions. Its arguments
/// are the bytes of the operands and of the result. Each operand has as many elements as the result. A
/// function of three operands also accepts operands with a single element, which it uses at every position.
pub(crate) type Kernel = Box<dyn Fn(&[&[u8]], &mut [u8]) -> Result<(), KernelError> + Send + Sync>;

/// An error of a kernel with arguments that it does not support. No verified module causes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum KernelError {
    #[error("internal error: a function of {expected} operands was given {found}")]
    Operands { expected: usize, found: usize },
    #[error("internal error: {expected} elements were expected, but {found} were given")]
    Count { expected: usize, found: usize },
    #[error("internal error: elements of {size} bytes were expected, but {bytes} bytes were given")]
    Bytes { size: usize, bytes: usize },
    #[error("internal error: {from} has no conversion to {to}")]
    NoConversion { from: ElementType, to: ElementType },
}

impl From<KernelError> for EvalError {
    fn from(error: KernelError) -> Self {
        Self::new(error.to_string())
    }
}

/// Views bytes as elements. Fails if they are not whole elements.
pub(crate) fn elements<T: Pod>(bytes: &[u8]) -> Result<&[T], KernelError> {
    let wrong = KernelError::Bytes { size: size_of::<T>(), bytes: bytes.len() };
    bytemuck::try_cast_slice(bytes).map_err(|_| wrong)
}

/// Views bytes as mutable elements. Fails if they are not whole elements.
pub(crate) fn elements_mut<T: Pod>(bytes: &mut [u8]) -> Result<&mut [T], KernelError> {
    let wrong = KernelError::Bytes { size: size_of::<T>(), bytes: bytes.len() };
    bytemuck::try_cast_slice_mut(bytes).map_err(|_| wrong)
}

/// Returns the `N` operands of a kernel.
fn operands_of<'a, const N: usize>(operands: &[&'a [u8]]) -> Result<[&'a [u8]; N], KernelError> {
    operands.try_into().map_err(|_| KernelError::Operands { expected: N, found: operands.len() })
}

fn same_count(expected: usize, found: usize) -> Result<(), KernelError> {
    if expected == found { Ok(()) } else { Err(KernelError::Count { expected, found }) }
}

/// Returns the kernel that applies `f` to each element.
pub(crate) fn unary<A: Pod, R: Pod>(f: impl Fn(A) -> R + Send + Sync + 'static) -> Kernel {
    Box::new(move |operands, out| {
        let [a] = operands_of(operands)?;
        let (a, out) = (elements::<A>(a)?, elements_mut::<R>(out)?);
        same_count(out.len(), a.len())?;
        for (r, &a) in out.iter_mut().zip(a) {
            *r = f(a);
        }
        Ok(())
    })
}

/// Returns the kernel that applies `f` to pairs of elements.
pub(crate) fn binary<A: Pod, B: Pod, R: Pod>(f: impl Fn(A, B) -> R + Send + Sync + 'static) -> Kernel {
    Box::new(move |operands, out| {
        let [a, b] = operands_of(operands)?;
        let (a, b, out) = (elements::<A>(a)?, elements::<B>(b)?, elements_mut::<R>(out)?);
        same_count(out.len(), a.len())?;
        same_count(out.len(), b.len())?;
        for (r, (&a, &b)) in out.iter_mut().zip(a.iter().zip(b)) {
            *r = f(a, b);
        }
        Ok(())
    })
}

/// Returns the kernel that applies `f` to triples of elements. Each operand may be a single element.
pub(crate) fn ternary<A: Pod, B: Pod, C: Pod, R: Pod>(
    f: impl Fn(A, B, C) -> R + Send + Sync + 'static,
) -> Kernel {
    /// Returns the distance between neighboring elements: 0 for a single element.
    fn step<T>(operand: &[T], count: usize) -> Result<usize, KernelError> {
        match operand.len() {
            1 => Ok(0),
            found => same_count(count, found).map(|()| 1),
        }
    }
    Box::new(move |operands, out| {
        let [a, b, c] = operands_of(operands)?;
        let (a, b, c) = (elements::<A>(a)?, elements::<B>(b)?, elements::<C>(c)?);
        let out = elements_mut::<R>(out)?;
        if [a.len(), b.len(), c.len()] == [out.len(); 3] {
            for (r, ((&a, &b), &c)) in out.iter_mut().zip(a.iter().zip(b).zip(c)) {
                *r = f(a, b, c);
            }
            return Ok(());
        }
        let (step_a, step_b, step_c) = (step(a, out.len())?, step(b, out.len())?, step(c, out.len())?);
        for (i, r) in out.iter_mut().enumerate() {
            *r = f(a[i * step_a], b[i * step_b], c[i * step_c]);
        }
        Ok(())
    })
}

/// Evaluates `$body` with `$T` as the type that an integer element type computes in (its lane, see
/// [`in_lanes`]). Returns `None` for other types.
macro_rules! with_integer {
    ($ty:expr, $T:ident => $body:expr) => {{
        use hlo_ir::ElementType::*;
        macro_rules! arm {
            ($native:ty) => {{
                type $T = $native;
                Some($body)
            }};
        }
        match $ty {
            S1 | S2 | S4 | S8 | S16 | S32 => arm!(i32),
            S64 => arm!(i64),
            U1 | U2 | U4 | U8 | U16 | U32 => arm!(u32),
            U64 => arm!(u64),
            _ => None,
        }
    }};
}

/// Evaluates `$body` with `$T` as the unsigned integer of `$size` bytes (1, 2, 4, 8 or 16), to move elements
/// of any type. Returns `None` for other sizes.
macro_rules! with_storage {
    ($size:expr, $T:ident => $body:expr) => {{
        macro_rules! arm {
            ($native:ty) => {{
                type $T = $native;
                Some($body)
            }};
        }
        match $size {
            1 => arm!(u8),
            2 => arm!(u16),
            4 => arm!(u32),
            8 => arm!(u64),
            16 => arm!(u128),
            _ => None,
        }
    }};
}

pub(crate) use {with_integer, with_storage};

/// Wraps a value to the width of a sub-byte integer type: sign-extends it if the type is signed, and
/// zero-extends it otherwise.
pub(crate) fn wrap_sub_byte(ty: ElementType, byte: u8) -> u8 {
    let unused = 8u32.saturating_sub(ty.bit_width());
    if ty.is_signed_integer() {
        (((byte << unused) as i8) >> unused) as u8
    } else {
        (byte << unused) >> unused
    }
}

/// Checks whether a float type has no arithmetic of its own and computes in `f32`.
pub(crate) fn computes_in_f32(ty: ElementType) -> bool {
    ty.is_float() && !matches!(ty, ElementType::F32 | ElementType::F64)
}

/// Returns the type that elements are computed in: `f32` for narrower floats, 32 bits for narrower integers,
/// otherwise the type itself. On extended integers, arithmetic modulo 2ⁿ, comparisons and bit operations
/// return the same results as on the integers.
pub(crate) fn lane_type(ty: ElementType) -> ElementType {
    if computes_in_f32(ty) {
        ElementType::F32
    } else if ty.is_integer() && ty.bit_width() < 32 {
        if ty.is_signed_integer() { ElementType::S32 } else { ElementType::U32 }
    } else {
        ty
    }
}

/// Converts a kernel on lane types to one on the types themselves: widens the elements and narrows the
/// results. Floats are rounded once, to nearest even. Integers are wrapped to their width.
pub(crate) fn in_lanes(operands: &[ElementType], result: ElementType, inner: Kernel) -> Kernel {
    let is_narrow = |ty: ElementType| lane_type(ty) != ty;
    if !is_narrow(result) && !operands.iter().any(|&t| is_narrow(t)) {
        return inner;
    }
    const LANES: usize = 64;
    let types: Vec<ElementType> = operands.to_vec();
    Box::new(move |operands, out| {
        if types.len() != operands.len() || types.len() > 3 {
            return Err(KernelError::Operands { expected: types.len().min(3), found: operands.len() });
        }
        let size = result.byte_size();
        let count = out.len() / size;
        let mut wide = [[0u32; LANES]; 3];
        let mut wide_out = [0u32; LANES];
        for start in (0..count).step_by(LANES) {
            let n = LANES.min(count - start);
            let mut args: [&[u8]; 3] = [&[]; 3];
            for (((arg, buffer), &ty), bytes) in args.iter_mut().zip(&mut wide).zip(&types).zip(operands) {
                let size = ty.byte_size();
                let range = if bytes.len() == size { 0..size } else { start * size..(start + n) * size };
                let short = KernelError::Count { expected: count, found: bytes.len() / size };
                let bytes = bytes.get(range).ok_or(short)?;
                *arg = if is_narrow(ty) {
                    let buffer = &mut buffer[..bytes.len() / size];
                    widen(ty, bytes, buffer)?;
                    bytemuck::cast_slice(buffer)
                } else {
                    bytes
                };
            }
            let (args, out) = (&args[..types.len()], &mut out[start * size..(start + n) * size]);
            if is_narrow(result) {
                inner(args, bytemuck::cast_slice_mut(&mut wide_out[..n]))?;
                narrow(result, &wide_out[..n], out)?;
            } else {
                inner(args, out)?;
            }
        }
        Ok(())
    })
}

/// Converts narrow elements to the bits of their lanes.
fn widen(ty: ElementType, bytes: &[u8], out: &mut [u32]) -> Result<(), KernelError> {
    fn each<T: Pod>(bytes: &[u8], out: &mut [u32], f: impl Fn(T) -> u32) -> Result<(), KernelError> {
        out.iter_mut().zip(elements::<T>(bytes)?).for_each(|(o, &x)| *o = f(x));
        Ok(())
    }
    match (ty, FloatFormat::of(ty)) {
        (ElementType::F16, _) => each(bytes, out, |x: u16| f16::from_bits(x).to_f32().to_bits()),
        (ElementType::Bf16, _) => each(bytes, out, |x: u16| bf16::from_bits(x).to_f32().to_bits()),
        (_, Some(format)) => each(bytes, out, |x: u8| (format.decode(x.into()) as f32).to_bits()),
        (ElementType::S16, None) => each(bytes, out, |x: i16| x as u32),
        (ElementType::U16, None) => each(bytes, out, |x: u16| x.into()),
        (_, None) if ty.is_signed_integer() => each(bytes, out, |x: i8| x as u32),
        (_, None) => each(bytes, out, |x: u8| x.into()),
    }
}

/// Converts the bits of lanes to narrow elements.
fn narrow(ty: ElementType, lanes: &[u32], out: &mut [u8]) -> Result<(), KernelError> {
    fn each<T: Pod>(lanes: &[u32], out: &mut [u8], f: impl Fn(u32) -> T) -> Result<(), KernelError> {
        elements_mut::<T>(out)?.iter_mut().zip(lanes).for_each(|(o, &x)| *o = f(x));
        Ok(())
    }
    match (ty, FloatFormat::of(ty)) {
        (ElementType::F16, _) => each(lanes, out, |x| f16::from_f32(f32::from_bits(x)).to_bits()),
        (ElementType::Bf16, _) => each(lanes, out, |x| bf16::from_f32(f32::from_bits(x)).to_bits()),
        (_, Some(format)) => each(lanes, out, |x| format.encode(f32::from_bits(x).into()) as u8),
        (_, None) if ty.byte_size() == 2 => each(lanes, out, |x| x as u16),
        (_, None) if ty.bit_width() < 8 => each(lanes, out, |x| wrap_sub_byte(ty, x as u8)),
        (_, None) => each(lanes, out, |x| x as u8),
    }
}
