//! Random numbers: `rng-bit-generator`, with the bits of XLA's generators, and `rng`.
//!
//! Algorithms: J. Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3". The layout of counters, keys
//! and results follows XLA (`prng.cc`).

use super::convert;
use super::reduction::result_arrays;
use super::support::{Result, array, result_array, take};
use crate::context::Context;
use crate::element::store;
use crate::error::EvalError;
use crate::kernel::{elements, elements_mut};
use hlo_ir::FloatFormat;
use hlo_ir::attr::{RngAlgorithm, RngDistribution};
use hlo_ir::{ArrayShape, ElementType, InstrId, Instruction, Literal};

/// `rng-bit-generator` (semantics, "RngBitGenerator"): computes a new state and an array of random bits from
/// a state u64[2] or u64[3], which contains the key and the counter. The result is both, or only the bits.
pub(super) fn rng_bit_generator(
    cx: &mut Context<'_>,
    instr: &Instruction,
    operands: Vec<Literal>,
    algorithm: RngAlgorithm,
) -> Result<Literal> {
    let [state] = take(operands)?;
    let words: Vec<u64> = match (array(&state)?.element_type.byte_size(), state.bytes()) {
        (8, bytes) => elements::<u64>(bytes)?.to_vec(),
        (4, bytes) => elements::<[u32; 2]>(bytes)?.iter().copied().map(join).collect(),
        _ => return Err(EvalError::new(format!("a random state of shape {}", state.shape()))),
    };
    let shapes = result_arrays(&instr.shape)?;
    let Some(&bits_shape) = shapes.last() else { return Err(EvalError::new("a result without arrays")) };
    let mut bits = cx.allocate(bits_shape)?;
    let dims = &bits_shape.dims;
    let (width, out) = (bits_shape.element_type.byte_size(), bits.bytes_mut());
    let new_state = match (algorithm, words.as_slice()) {
        (RngAlgorithm::ThreeFry, &[key, counter]) => {
            vec![key, three_fry_bits(key, counter, dims, width, out)?]
        }
        (RngAlgorithm::Default | RngAlgorithm::Philox, &[key, counter]) => {
            // XLA uses the key as the missing high word of the counter.
            let next = philox_bits(key, u128::from(counter) | u128::from(key) << 64, width, out);
            vec![key, next as u64]
        }
        (RngAlgorithm::Default | RngAlgorithm::Philox, &[key, low, high]) => {
            let next = philox_bits(key, u128::from(low) | u128::from(high) << 64, width, out);
            vec![key, next as u64, (next >> 64) as u64]
        }
        _ => {
            return Err(EvalError::new(format!(
                "a state of shape {} does not fit the algorithm",
                state.shape()
            )));
        }
    };
    let element = bits_shape.element_type;
    if element.bit_width() < 8 {
        bits.bytes_mut().iter_mut().for_each(|b| *b = crate::kernel::wrap_sub_byte(element, *b));
    }
    if !instr.shape.is_tuple() {
        return Ok(bits);
    }
    let mut state = cx.make_unique(state)?;
    let bytes: Vec<u8> = new_state.iter().flat_map(|w| w.to_le_bytes()).collect();
    state.bytes_mut().copy_from_slice(&bytes);
    Ok(Literal::tuple(vec![state, bits]))
}

fn split(word: u64) -> [u32; 2] {
    [word as u32, (word >> 32) as u32]
}

fn join(halves: [u32; 2]) -> u64 {
    u64::from(halves[0]) | u64::from(halves[1]) << 32
}

/// ThreeFry-2x32 with 20 rounds.
fn three_fry([mut x0, mut x1]: [u32; 2], key: [u32; 2]) -> [u32; 2] {
    const ROTATIONS: [[u32; 4]; 2] = [[13, 15, 26, 6], [17, 29, 16, 24]];
    let keys = [key[0], key[1], 0x1BD1_1BDA ^ key[0] ^ key[1]];
    x0 = x0.wrapping_add(keys[0]);
    x1 = x1.wrapping_add(keys[1]);
    for round in 0..5 {
        for rotation in ROTATIONS[round % 2] {
            x0 = x0.wrapping_add(x1);
            x1 = x1.rotate_left(rotation) ^ x0;
        }
        x0 = x0.wrapping_add(keys[(round + 1) % 3]);
        x1 = x1.wrapping_add(keys[(round + 2) % 3]).wrapping_add(round as u32 + 1);
    }
    [x0, x1]
}

/// Fills `out` with elements of `width` bytes. Returns the new counter.
///
/// A 64-bit element takes one block. Other elements take one word each, and neighbors along one dimension
/// share a block. That dimension is the first even one, or the largest one (rounded up) if all are odd.
/// Counter `i` of the halved array produces both elements of pair `i`.
fn three_fry_bits(key: u64, counter: u64, dims: &[i64], width: usize, out: &mut [u8]) -> Result<u64> {
    let key = split(key);
    let block = |i: u64| three_fry(split(counter.wrapping_add(i)), key);
    let total = crate::index::count(dims);
    if width == 8 {
        for (i, element) in elements_mut::<u64>(out)?.iter_mut().enumerate() {
            *element = join(block(i as u64));
        }
        return Ok(counter.wrapping_add(total as u64));
    }
    let largest = |d: usize| (0..dims.len()).all(|e| dims[e] < dims[d] || (dims[e] == dims[d] && e >= d));
    let halved =
        (0..dims.len()).find(|&d| dims[d] % 2 == 0).or_else(|| (0..dims.len()).find(|&d| largest(d)));
    let Some(halved) = halved else {
        store(out, width, 0, block(0)[0].into())?; // a scalar
        return Ok(counter.wrapping_add(1));
    };
    let outer = crate::index::count(&dims[..halved]);
    let inner = crate::index::count(&dims[halved + 1..]);
    let size = dims[halved] as usize;
    let half = size.div_ceil(2);
    for o in 0..outer {
        for h in 0..half {
            for i in 0..inner {
                let words = block(((o * half + h) * inner + i) as u64);
                for (place, word) in words.into_iter().enumerate().filter(|(place, _)| 2 * h + place < size) {
                    store(out, width, (o * size + 2 * h + place) * inner + i, word.into())?;
                }
            }
        }
    }
    Ok(counter.wrapping_add((outer * half * inner) as u64))
}

/// Philox-4x32 with 10 rounds.
fn philox(mut x: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    for _ in 0..10 {
        let a = u64::from(x[0]) * 0xD251_1F53;
        let b = u64::from(x[2]) * 0xCD9E_8D57;
        x = [(b >> 32) as u32 ^ x[1] ^ key[0], b as u32, (a >> 32) as u32 ^ x[3] ^ key[1], a as u32];
        key = [key[0].wrapping_add(0x9E37_79B9), key[1].wrapping_add(0xBB67_AE85)];
    }
    x
}

/// Fills `out` with elements of `width` bytes from the blocks at `counter`, `counter + 1`, … A block contains
/// four elements, or two of 64 bits. Returns the new counter.
fn philox_bits(key: u64, counter: u128, width: usize, out: &mut [u8]) -> u128 {
    let key = split(key);
    let per_block = if width == 8 { 2 } else { 4 };
    let mut next = counter;
    for block in out.chunks_mut(per_block * width) {
        let (low, high) = (split(next as u64), split((next >> 64) as u64));
        let words = philox([low[0], low[1], high[0], high[1]], key);
        for (i, element) in block.chunks_exact_mut(width).enumerate() {
            let word = if width == 8 { join([words[2 * i], words[2 * i + 1]]) } else { words[i].into() };
            element.copy_from_slice(&word.to_le_bytes()[..width]);
        }
        next = next.wrapping_add(1);
    }
    next
}

/// `rng` (semantics, "RngUniform" and "RngNormal"), computed in `f64` and rounded to the result's type at the
/// end.
///
/// Number `i` of draw `n` uses the Philox block with key `seed` and counter `(i, n, stream)`, of 64, 32 and
/// 32 bits. Each half of the block becomes a number of 53 bits in `[0, 1)`. For a uniform distribution, the
/// first number is scaled to `[a, b)`, and rounded down for integers. For a normal distribution, the
/// Box-Muller transform uses both.
pub(super) fn rng(
    cx: &mut Context<'_>,
    id: InstrId,
    instr: &Instruction,
    operands: Vec<Literal>,
    distribution: RngDistribution,
) -> Result<Literal> {
    let [a, b] = take(operands)?;
    let shape = result_array(instr)?;
    let ty = shape.element_type;
    if ty.is_complex() || array(&a)?.element_type != ty || array(&b)?.element_type != ty {
        return Err(EvalError::new(format!("rng of {ty} is not defined")));
    }
    if distribution == RngDistribution::Invalid {
        return Err(EvalError::new("rng_invalid is no distribution"));
    }
    let scalar = |value: &Literal| -> Result<f64> {
        let mut wide = [0.0f64];
        convert::kernel(ty, ElementType::F64)(&[value.bytes()], bytemuck::cast_slice_mut(&mut wide))?;
        Ok(wide[0])
    };
    let (a, b) = (scalar(&a)?, scalar(&b)?);
    let draw = cx.next_draw(id)?;
    let mut numbers = cx.allocate(&ArrayShape::new(ElementType::F64, shape.dims.iter().copied()))?;
    for (i, x) in elements_mut::<f64>(numbers.bytes_mut())?.iter_mut().enumerate() {
        let index = split(i as u64);
        let words = philox([index[0], index[1], draw.number as u32, draw.stream as u32], split(draw.seed));
        let unit = |low: u32, high: u32| (join([low, high]) >> 11) as f64 / (1u64 << 53) as f64;
        let (u, v) = (unit(words[0], words[1]), unit(words[2], words[3]));
        let uniform = || below(a + u * (b - a), b, ElementType::F64);
        *x = match distribution {
            RngDistribution::Uniform if ty.is_float() => below(uniform(), b, ty),
            // An invalid distribution was rejected above.
            RngDistribution::Uniform | RngDistribution::Invalid => uniform().floor(),
            RngDistribution::Normal => {
                a + b * ((-2.0 * libm::log(1.0 - u)).sqrt() * libm::cos(2.0 * std::f64::consts::PI * v))
            }
        };
    }
    let mut result = cx.allocate(shape)?;
    convert::kernel(ElementType::F64, ty)(&[numbers.bytes()], result.bytes_mut())?;
    cx.release(numbers);
    Ok(result)
}

/// Returns `x`, reduced if necessary so that rounding to `ty` does not reach the limit `b`.
fn below(x: f64, b: f64, ty: ElementType) -> f64 {
    // Integers are already whole numbers below the limit.
    let Some(format) = FloatFormat::of(ty) else { return x };
    let step = libm::ldexp(b.abs(), -(format.mantissa_bits as i32));
    if format.decode(format.encode(x)) >= b { b - step } else { x }
}

/// `rng-get-and-update-state`: a 128-bit state that grows by `delta` at each draw. It starts at the seed (low
/// word) and the stream (high word).
pub(super) fn get_and_update_state(
    cx: &mut Context<'_>,
    id: InstrId,
    instr: &Instruction,
    delta: i64,
) -> Result<Literal> {
    let draw = cx.next_draw(id)?;
    let first = u128::from(draw.seed) | u128::from(draw.stream) << 64;
    let state = first.wrapping_add((i128::from(delta) as u128).wrapping_mul(draw.number.into()));
    let mut result = cx.allocate(result_array(instr)?)?;
    match elements_mut::<u64>(result.bytes_mut())? {
        [low, high] => (*low, *high) = (state as u64, (state >> 64) as u64),
        _ => return Err(EvalError::new("a random state is u64[2]")),
    }
    Ok(result)
}
