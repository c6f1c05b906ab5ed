//! `rng-bit-generator-expander`: replaces `rng-bit-generator` by the integer arithmetic of the generators.
//!
//! ```text
//! rng-bit-generator(state), algorithm=rng_philox  →  blocks = philox(counter + iota, key)
//!                                                    ((key, counter + n), bits of the blocks)
//! ```
//!
//! The bits are the same as XLA's: ThreeFry-2x32 with 20 rounds, and Philox-4x32 with 10. An option selects
//! the algorithm for `rng_default`. Both engines use Philox, like XLA on the CPU. The algorithms are from J.
//! Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3".

use crate::pass_info::{OptionInfo, OptionValue, PassInfo};
use crate::rewrites::Rewrites;
use crate::support::arrays::unsigned;
use crate::support::expander::{Emitter, expand_all};
use hlo_ir::attr::{ComparisonDirection, RngAlgorithm};
use hlo_ir::build::Build;
use hlo_ir::{ArrayShape, ElementType, InstrId, Module, Op, Shape};

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "rng-bit-generator-expander",
    summary: "replace rng-bit-generator by the integer arithmetic of ThreeFry and Philox",
    options: &[OptionInfo {
        name: "default",
        summary: "algorithm to use for rng_default",
        default: OptionValue::Choice { word: "philox", of: &["philox", "three-fry"] },
    }],
    example: "\
HloModule rng_bit_generator_expander

ENTRY e {
  state = u64[2] parameter(0)
  ROOT r = (u64[2], u32[]) rng-bit-generator(state), algorithm=rng_three_fry
}
",
    build: |_, options| {
        let default = match options.choice("default") {
            "three-fry" => RngAlgorithm::ThreeFry,
            _ => RngAlgorithm::Philox,
        };
        Box::new(move |module: &mut Module, rewrites: &mut Rewrites| {
            let wanted = |op: &Op| matches!(op, Op::RngBitGenerator(_));
            let expand = |e: &mut Emitter<'_>, id: InstrId| expand(e, id, default);
            Ok(expand_all(module, "rng-bit-generator", wanted, expand, rewrites))
        })
    },
    ..PassInfo::PLAIN
};

const HALF: ElementType = ElementType::U32;
const WORD: ElementType = ElementType::U64;

fn expand(e: &mut Emitter<'_>, id: InstrId, default: RngAlgorithm) -> Option<InstrId> {
    let Op::RngBitGenerator(attrs) = e.module[id].op.clone() else { return None };
    let state = e.operand(0)?;
    let bits = match e.shape() {
        Shape::Tuple(parts) => parts.last()?.as_array()?.clone(),
        shape => shape.as_array()?.clone(),
    };
    let algorithm = if attrs.algorithm == RngAlgorithm::Default { default } else { attrs.algorithm };
    if !e.is_static(id) || unsigned(bits.element_type.bit_width()).is_none() || bits.element_type.is_complex()
    {
        return None;
    }
    let words = words(e, state)?;
    let (next, bits) = match (algorithm, words.as_slice()) {
        (RngAlgorithm::ThreeFry, &[key, counter]) => {
            let (next, bits) = three_fry_bits(e, key, counter, &bits)?;
            (vec![key, next], bits)
        }
        // The key replaces the missing high word of the counter.
        (RngAlgorithm::Philox, &[key, low]) => {
            let ([low, _], bits) = philox_bits(e, key, [low, key], &bits)?;
            (vec![key, low], bits)
        }
        (RngAlgorithm::Philox, &[key, low, high]) => {
            let ([low, high], bits) = philox_bits(e, key, [low, high], &bits)?;
            (vec![key, low, high], bits)
        }
        _ => return None,
    };
    if !e.shape().is_tuple() {
        return e.results(&[bits]);
    }
    let state = state_of(e, &next, state)?;
    e.results(&[state, bits])
}

/// Returns the two or three 64-bit words of a state.
fn words(e: &mut Emitter<'_>, state: InstrId) -> Option<Vec<InstrId>> {
    let shape = e.array(state)?;
    let count = shape.checked_element_count()?;
    let (state, count) = match shape.element_type {
        WORD => (e.reshaped(state, &[count])?, count),
        HALF if count % 2 == 0 => {
            let pairs = e.reshaped(state, &[count / 2, 2])?;
            (e.add(ArrayShape::new(WORD, [count / 2]), Op::BitcastConvert, &[pairs]), count / 2)
        }
        _ => return None,
    };
    if !(2..=3).contains(&count) {
        return None;
    }
    let mut words = Vec::new();
    for i in 0..count {
        let word = e.sliced(state, 0, i, i + 1)?;
        words.push(e.reshaped(word, &[])?);
    }
    Some(words)
}

/// Combines words to a state with the shape of the state `before`.
fn state_of(e: &mut Emitter<'_>, words: &[InstrId], before: InstrId) -> Option<InstrId> {
    let shape = e.array(before)?;
    let mut parts = Vec::new();
    for &word in words {
        parts.push(e.reshaped(word, &[1])?);
    }
    let mut state = e.joined(&parts, 0)?;
    if shape.element_type == HALF {
        let pairs = ArrayShape::new(HALF, [words.len() as i64, 2]);
        state = e.add(pairs, Op::BitcastConvert, &[state]);
    }
    e.reshaped(state, &shape.dims)
}

/// Splits a 64-bit word into its halves, the low one first.
fn halves(e: &mut Emitter<'_>, word: InstrId) -> Option<[InstrId; 2]> {
    let low = e.convert(word, HALF)?;
    let by = e.splat(word, WORD, 32.0)?;
    let high = e.same(Op::ShiftRightLogical, &[word, by]);
    Some([low, e.convert(high, HALF)?])
}

/// Combines halves to 64-bit words.
fn whole(e: &mut Emitter<'_>, [low, high]: [InstrId; 2]) -> Option<InstrId> {
    let (low, high) = (e.convert(low, WORD)?, e.convert(high, WORD)?);
    let by = e.splat(high, WORD, 32.0)?;
    let high = e.same(Op::ShiftLeft, &[high, by]);
    Some(e.same(Op::Or, &[low, high]))
}

/// Converts random words to elements of the result, which take their low bits.
fn elements(e: &mut Emitter<'_>, words: InstrId, shape: &ArrayShape) -> Option<InstrId> {
    let bits = e.convert(words, unsigned(shape.element_type.bit_width())?)?;
    let bits = e.reinterpret(bits, shape.element_type)?;
    e.reshaped(bits, &shape.dims)
}

/// Returns a counter for each of `count` blocks, and the counter after them.
fn counters(e: &mut Emitter<'_>, first: InstrId, count: i64) -> Option<(InstrId, InstrId)> {
    let numbers = e.iota(WORD, &[count], 0);
    let firsts = e.spread(numbers, first)?;
    let bytes = count.to_le_bytes();
    let count = e.scalar(WORD, &bytes)?;
    Some((e.same(Op::Add, &[firsts, numbers]), e.same(Op::Add, &[first, count])))
}

/// Rotates the bits of a word to the left.
fn rotated(e: &mut Emitter<'_>, x: InstrId, by: u32) -> Option<InstrId> {
    let (up, down) = (e.splat(x, HALF, by.into())?, e.splat(x, HALF, (32 - by).into())?);
    let (up, down) = (e.same(Op::ShiftLeft, &[x, up]), e.same(Op::ShiftRightLogical, &[x, down]));
    Some(e.same(Op::Or, &[up, down]))
}

/// Computes ThreeFry-2x32 with 20 rounds.
fn three_fry(e: &mut Emitter<'_>, [x, y]: [InstrId; 2], key: [InstrId; 2]) -> Option<[InstrId; 2]> {
    const ROTATIONS: [[u32; 4]; 2] = [[13, 15, 26, 6], [17, 29, 16, 24]];
    let parity = e.splat_bits(key[0], HALF, 0x1BD1_1BDA)?;
    let third = e.same(Op::Xor, &[key[0], key[1]]);
    let third = e.same(Op::Xor, &[third, parity]);
    let mut keys = Vec::new();
    for key in [key[0], key[1], third] {
        keys.push(e.spread(x, key)?);
    }
    let (mut x, mut y) = (e.same(Op::Add, &[x, keys[0]]), e.same(Op::Add, &[y, keys[1]]));
    for round in 0..5usize {
        for rotation in ROTATIONS[round % 2] {
            x = e.same(Op::Add, &[x, y]);
            y = rotated(e, y, rotation)?;
            y = e.same(Op::Xor, &[y, x]);
        }
        x = e.same(Op::Add, &[x, keys[(round + 1) % 3]]);
        y = e.same(Op::Add, &[y, keys[(round + 2) % 3]]);
        let number = e.splat(y, HALF, (round + 1) as f64)?;
        y = e.same(Op::Add, &[y, number]);
    }
    Some([x, y])
}

/// Returns the next counter and the bits. Each 64-bit element uses one block. Other elements use one word
/// each. The array is halved along its first even dimension. If all dimensions are odd, it is halved along
/// the largest one, rounded up. A block produces the first and the second element of a pair.
fn three_fry_bits(
    e: &mut Emitter<'_>,
    key: InstrId,
    counter: InstrId,
    shape: &ArrayShape,
) -> Option<(InstrId, InstrId)> {
    let key = halves(e, key)?;
    let dims = shape.dims.as_slice();
    let is_largest = |d: usize| (0..dims.len()).all(|k| dims[k] < dims[d] || (dims[k] == dims[d] && k >= d));
    let even = (0..dims.len()).find(|&d| dims[d] % 2 == 0);
    let halved = match shape.element_type.byte_size() {
        8 => None,
        _ => even.or_else(|| (0..dims.len()).find(|&d| is_largest(d))),
    };
    let mut blocks = dims.to_vec();
    if let Some(d) = halved {
        blocks[d] = blocks[d] / 2 + blocks[d] % 2;
    }
    let count = blocks.iter().try_fold(1i64, |n, &d| n.checked_mul(d))?;
    let (counters, next) = counters(e, counter, count)?;
    let counters = e.reshaped(counters, &blocks)?;
    let counters = halves(e, counters)?;
    let both = three_fry(e, counters, key)?;
    let words = match halved {
        None if shape.element_type.byte_size() == 8 => whole(e, both)?,
        None => both[0],
        Some(d) => {
            let mut single = blocks.clone();
            single.insert(d + 1, 1);
            let places = [e.reshaped(both[0], &single)?, e.reshaped(both[1], &single)?];
            let pairs = e.joined(&places, d + 1)?;
            let mut paired = blocks.clone();
            paired[d] *= 2;
            let words = e.reshaped(pairs, &paired)?;
            e.sliced(words, d, 0, dims[d])?
        }
    };
    Some((next, elements(e, words, shape)?))
}

/// Returns the high and the low half of each product with a constant.
fn product(e: &mut Emitter<'_>, x: InstrId, by: u64) -> Option<[InstrId; 2]> {
    let wide = e.convert(x, WORD)?;
    let by = e.splat_bits(wide, WORD, by)?;
    let product = e.same(Op::Multiply, &[wide, by]);
    let [low, high] = halves(e, product)?;
    Some([high, low])
}

/// Computes Philox-4x32 with 10 rounds.
fn philox(e: &mut Emitter<'_>, mut x: [InstrId; 4], key: [InstrId; 2]) -> Option<[InstrId; 4]> {
    let mut key = key;
    for round in 0..10 {
        if round > 0 {
            let steps = [e.splat_bits(key[0], HALF, 0x9E37_79B9)?, e.splat_bits(key[1], HALF, 0xBB67_AE85)?];
            key = [e.same(Op::Add, &[key[0], steps[0]]), e.same(Op::Add, &[key[1], steps[1]])];
        }
        let keys = [e.spread(x[0], key[0])?, e.spread(x[0], key[1])?];
        let (a, b) = (product(e, x[0], 0xD251_1F53)?, product(e, x[2], 0xCD9E_8D57)?);
        let first = e.same(Op::Xor, &[b[0], x[1]]);
        let third = e.same(Op::Xor, &[a[0], x[3]]);
        x = [e.same(Op::Xor, &[first, keys[0]]), b[1], e.same(Op::Xor, &[third, keys[1]]), a[1]];
    }
    Some(x)
}

/// Returns the next counter, low word first, and the bits. A block produces four elements, or two of 64 bits.
fn philox_bits(
    e: &mut Emitter<'_>,
    key: InstrId,
    [low, high]: [InstrId; 2],
    shape: &ArrayShape,
) -> Option<([InstrId; 2], InstrId)> {
    let key = halves(e, key)?;
    let is_wide = shape.element_type.byte_size() == 8;
    let per_block = if is_wide { 2 } else { 4 };
    let count = shape.checked_element_count()?;
    let blocks = count / per_block + i64::from(count % per_block != 0);
    let (lows, next) = counters(e, low, blocks)?;
    // If a sum is smaller than one of its operands, it has a carry.
    let one = e.splat(low, WORD, 1.0)?;
    let carried = e.same(Op::Add, &[high, one]);
    let firsts = e.spread(lows, low)?;
    let has_carry = e.relation(lows, ComparisonDirection::Lt, firsts);
    let (carries, highs) = (e.spread(lows, carried)?, e.spread(lows, high)?);
    let highs = e.choose(has_carry, carries, highs)?;
    let next_has_carry = e.relation(next, ComparisonDirection::Lt, low);
    let next = [next, e.choose(next_has_carry, carried, high)?];

    let ([a, b], [c, d]) = (halves(e, lows)?, halves(e, highs)?);
    let words = philox(e, [a, b, c, d], key)?;
    let words = if is_wide {
        vec![whole(e, [words[0], words[1]])?, whole(e, [words[2], words[3]])?]
    } else {
        words.to_vec()
    };
    let mut columns = Vec::new();
    for word in words {
        columns.push(e.reshaped(word, &[blocks, 1])?);
    }
    let words = e.joined(&columns, 1)?;
    let words = e.reshaped(words, &[blocks.checked_mul(per_block)?])?;
    let words = e.sliced(words, 0, 0, count)?;
    Some((next, elements(e, words, shape)?))
}
