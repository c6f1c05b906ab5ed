//! Compares two executions of one instruction on the same operands, with a tolerance that depends on the
//! instruction.
//!
//! Integers and data movement must agree in every bit. Arithmetic that rounds once must agree except for the
//! bits of a NaN. Other functions must agree within a few units in the last place, and sums within the error
//! of any order of summation. There is no requirement if an intermediate result may overflow in one order and
//! not in another, or if an input is at a discontinuity of the function.

use crate::generate::is_exact;
use hlo_ir::contraction::Aggregation;
use hlo_ir::{ElementType, FloatFormat, InstrId, Literal, Module, Moves, Op, Opcode, Role, Shape, Traits};

/// The required agreement of a result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// The same bits.
    Bits,
    /// The same numbers. All NaNs are equal.
    Numbers,
    /// `|got - want| <= absolute + relative * |want|`, with magnitudes for complex numbers. Infinities and
    /// NaNs must be the same.
    Within {
        /// The factor of the expected magnitude.
        relative: f64,
        /// The absolute part.
        absolute: f64,
    },
    /// No requirement.
    Open,
}

/// The difference allowed between two functions of `f32` or wider types, each with its own error, in units in
/// the last place.
const ULPS: f64 = 8.0;

/// Returns the required agreement of instruction `id` for operands with these values.
pub fn bound(module: &Module, id: InstrId, operands: &[Literal]) -> Bound {
    let instr = &module[id];
    let opcode = instr.opcode();
    let ty = widest(&instr.shape);
    if let Op::Rng(_) = instr.op {
        return if ty.is_float() { near(ty, 4.0, 4.0) } else { Bound::Numbers };
    }
    if !(ty.is_float() || ty.is_complex()) {
        // If a combiner compares floats, the result also contains floats, so `ty` is a floating-point type.
        return Bound::Bits;
    }
    if moves_data(opcode) {
        // Narrower types may be computed in a wider type, with different NaNs.
        return if ty.real_type().bit_width() < 32 { Bound::Numbers } else { Bound::Bits };
    }
    if is_exact(opcode)
        && !(ty.is_complex() && rounds_twice(opcode))
        && !complex_operand_rounds(opcode, operands)
    {
        return Bound::Numbers;
    }
    let scale = operands.iter().map(magnitude).fold(0.0, f64::max);
    match opcode {
        // Elementwise functions.
        _ if !sums(opcode) => {
            if !operands.iter().any(|o| widest(o.shape()).is_complex()) {
                near(ty, ULPS, 0.0)
            } else if moderate(operands) {
                near(ty, 8.0 * ULPS, 0.0)
            } else {
                // Parts of very different magnitudes overflow or vanish with one algorithm and not with another.
                Bound::Open
            }
        }
        _ if exact_combiner(module, id) => Bound::Numbers,
        _ if chooses(&instr.op) && !ty.is_complex() => Bound::Numbers,
        // Every partial sum is rounded, saturated or becomes a NaN.
        _ if ty.real_type().bit_width() < 16 => Bound::Open,
        _ if !moderate(operands) => Bound::Open,
        _ => {
            let terms = terms(module, id).unwrap_or_else(|| operands.iter().map(elements).max().unwrap_or(1));
            let terms = terms.max(1) as f64;
            let factors = if matches!(
                opcode,
                Opcode::Contraction
                    | Opcode::Convolution
                    | Opcode::Dot
                    | Opcode::RaggedDot
                    | Opcode::ScaledDot
            ) {
                scale * scale
            } else {
                scale
            };
            match opcode {
                _ if multiplies(module, id) || is_product(&instr.op) => near(ty, 2.0 * terms, 0.0),
                Opcode::BatchNormGrad | Opcode::BatchNormInference | Opcode::BatchNormTraining => {
                    near(ty, 64.0 * terms, 64.0 * terms * scale.powi(3))
                }
                _ => near(ty, ULPS, 2.0 * terms * terms * factors),
            }
        }
    }
}

/// Returns a bound of `relative` units in the last place and `absolute` times the type's precision.
fn near(ty: ElementType, relative: f64, absolute: f64) -> Bound {
    let format = FloatFormat::of(ty.real_type()).unwrap_or(FloatFormat::F64);
    let epsilon = 2f64.powi(-(format.mantissa_bits as i32));
    let smallest = format.decode(1).abs();
    let relative =
        if ty.real_type().bit_width() < 32 { relative.min(2.0).max(relative / 8.0) } else { relative };
    Bound::Within { relative: relative * epsilon, absolute: absolute * epsilon + 2.0 * smallest }
}

/// Returns the element type in a shape that requires the largest tolerance: a floating-point type if there is
/// one.
fn widest(shape: &Shape) -> ElementType {
    let types = shape.leaves().into_iter().filter_map(|l| l.as_array().map(|a| a.element_type));
    let rank = |t: &ElementType| (t.is_float() || t.is_complex(), t.is_complex(), u32::MAX - t.bit_width());
    types.max_by_key(rank).unwrap_or(ElementType::Pred)
}

/// Returns whether the elements of the result are bits of the operands.
fn moves_data(opcode: Opcode) -> bool {
    let Traits { moves, role, .. } = opcode.traits();
    moves != Moves::Nothing
        || matches!(role, Role::Tuple | Role::Element | Role::Alias)
        || matches!(opcode, Opcode::BitcastConvert | Opcode::Real | Opcode::Imag)
}

/// Whether the complex form of the opcode rounds several times.
fn rounds_twice(opcode: Opcode) -> bool {
    use Opcode::*;
    matches!(opcode, Multiply | Divide | Sqrt | Sign | Abs | Remainder)
}

/// Whether the opcode is a real function of complex numbers that rounds several times.
fn complex_operand_rounds(opcode: Opcode, operands: &[Literal]) -> bool {
    opcode == Opcode::Abs && operands.iter().any(|o| widest(o.shape()).is_complex())
}

/// Whether the opcode adds or multiplies many numbers.
fn sums(opcode: Opcode) -> bool {
    use Opcode::*;
    matches!(
        opcode,
        Scatter
            | Reduce
            | ReduceWindow
            | SelectAndScatter
            | Cholesky
            | Contraction
            | Convolution
            | Dot
            | Fft
            | RaggedDot
            | ScaledDot
            | TriangularSolve
            | BatchNormGrad
            | BatchNormInference
            | BatchNormTraining
    )
}

/// Returns the opcodes of the computations that an instruction calls.
fn called(module: &Module, id: InstrId) -> Vec<Opcode> {
    let called = module[id].op.called_computations();
    called.iter().flat_map(|&c| module[c].instructions()).map(|&i| module[i].opcode()).collect()
}

/// Whether the combiner of an instruction neither adds nor multiplies.
fn exact_combiner(module: &Module, id: InstrId) -> bool {
    let opcodes = called(module, id);
    !opcodes.is_empty() && !opcodes.iter().any(|o| matches!(o, Opcode::Add | Opcode::Multiply))
}

/// Whether the operation is a contraction whose result elements are each one of the combined values, which
/// are rounded once.
fn chooses(op: &Op) -> bool {
    matches!(op, Op::Contraction(a)
        if matches!(a.access.aggregation, Aggregation::Max | Aggregation::Min | Aggregation::Assign))
}

fn is_product(op: &Op) -> bool {
    matches!(op, Op::Contraction(a) if a.access.aggregation == Aggregation::Product)
}

/// Returns the number of values that a contraction aggregates for all elements together.
fn terms(module: &Module, id: InstrId) -> Option<usize> {
    let Op::Contraction(a) = &module[id].op else { return None };
    let operands: Vec<&Shape> = module[id].operands.iter().map(|&o| &module[o].shape).collect();
    let nest = a.access.nest(&module[id].shape, &operands).ok().flatten();
    Some(nest.map_or(0, |nest| nest.most_points() as usize))
}

fn multiplies(module: &Module, id: InstrId) -> bool {
    called(module, id).contains(&Opcode::Multiply)
}

fn elements(literal: &Literal) -> usize {
    literal.leaves().iter().filter_map(|l| l.shape().as_array()).map(|a| a.element_count()).max().unwrap_or(0)
}

/// Returns the floating-point numbers in a literal.
fn numbers(literal: &Literal) -> impl Iterator<Item = f64> {
    literal.leaves().into_iter().flat_map(|leaf| {
        let part = leaf.shape().as_array().map_or(ElementType::Pred, |a| a.element_type.real_type());
        let format = FloatFormat::of(part);
        let chunks = leaf.bytes().chunks_exact(part.byte_size());
        chunks.filter_map(move |c| format.map(|f| f.decode(word(c))))
    })
}

fn magnitude(literal: &Literal) -> f64 {
    numbers(literal).map(f64::abs).fold(1.0, f64::max)
}

/// Whether the magnitudes of all numbers are such that products of a few of them neither overflow nor vanish.
fn moderate(operands: &[Literal]) -> bool {
    operands.iter().flat_map(numbers).all(|x| x == 0.0 || (1e-3..1e3).contains(&x.abs()))
}

fn word(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

/// Whether a value contains a NaN. The bits of a NaN may differ between executions.
pub fn has_nan(literal: &Literal) -> bool {
    numbers(literal).any(f64::is_nan)
}

/// Describes the first element of a result that is outside the bound. Returns `None` if there is none.
pub fn difference(got: &Literal, want: &Literal, bound: Bound) -> Option<String> {
    let (got, want) = (got.leaves(), want.leaves());
    if got.len() != want.len() {
        return Some(format!("{} arrays instead of {}", got.len(), want.len()));
    }
    got.iter().zip(&want).find_map(|(g, w)| {
        let array = w.shape().as_array()?;
        if !g.shape().compatible(w.shape()) {
            return Some(format!("shape {} instead of {}", g.shape(), w.shape()));
        }
        let ty = array.element_type;
        let elements = g.bytes().chunks_exact(ty.byte_size()).zip(w.bytes().chunks_exact(ty.byte_size()));
        let bad = elements.enumerate().find(|(_, (g, w))| !agrees(ty, g, w, bound));
        bad.map(|(n, (g, w))| {
            format!(
                "element {n} of {}: {} instead of {}",
                w_shape(ty, array.rank()),
                show(ty, g),
                show(ty, w)
            )
        })
    })
}

fn w_shape(ty: ElementType, rank: usize) -> String {
    format!("{ty}, rank {rank}")
}

fn show(ty: ElementType, bytes: &[u8]) -> String {
    let part = ty.real_type();
    let parts: Vec<String> = bytes
        .chunks_exact(part.byte_size())
        .map(|c| match FloatFormat::of(part) {
            Some(format) => format!("{:e} (0x{:x})", format.decode(word(c)), word(c)),
            None => format!("0x{:x}", word(c)),
        })
        .collect();
    parts.join(", ")
}

fn agrees(ty: ElementType, got: &[u8], want: &[u8], bound: Bound) -> bool {
    if got == want || bound == Bound::Open {
        return true;
    }
    let part = ty.real_type();
    let (Some(format), false) = (FloatFormat::of(part), bound == Bound::Bits) else { return false };
    let decode = |bytes: &[u8]| -> Vec<f64> {
        bytes.chunks_exact(part.byte_size()).map(|c| format.decode(word(c))).collect()
    };
    let (got, want) = (decode(got), decode(want));
    let same = got.iter().zip(&want).all(|(g, w)| g.to_bits() == w.to_bits() || (g.is_nan() && w.is_nan()));
    let Bound::Within { relative, absolute } = bound else { return same };
    let finite = |x: &[f64]| x.iter().all(|p| p.is_finite());
    if same || (ty.is_complex() && !(finite(&got) && finite(&want))) {
        return true;
    }
    // Depending on rounding, the largest numbers may overflow.
    let largest = format.decode(format.max_bits());
    let finite_or_largest = |x: f64| if x.is_infinite() { largest.copysign(x) } else { x };
    let size = want.iter().map(|w| finite_or_largest(*w).abs()).fold(0.0, f64::max);
    got.iter()
        .zip(&want)
        .all(|(&g, &w)| (finite_or_largest(g) - finite_or_largest(w)).abs() <= absolute + relative * size)
}
