//! Tests of `convert` between all pairs of element types: all bit patterns of a source type of up to 16 bits,
//! and a sample of a wider one. `conversions.txt` contains the expected results, one hash per pair.
//! `scripts/conversion_table.py` computes them with ml_dtypes and numpy. The sample and the hash are the same
//! as in that script.

use super::{compiled_results, module};
use hlo_ir::{AlignedBytes, ElementType, FloatFormat, Literal, Shape};
use std::fmt::Write;

/// Number of sampled bit patterns of a type of more than 16 bits.
const SAMPLE: u64 = 16384;

/// The finaliser of SplitMix64.
fn mix(mut x: u64) -> u64 {
    x = (x ^ x >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ x >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ x >> 31
}

/// Returns the bit patterns of a source type that is not complex.
fn patterns(ty: ElementType) -> Vec<u64> {
    let bits = ty.bit_width();
    if bits <= 16 {
        return (0..1 << bits).collect();
    }
    (0..SAMPLE).map(|i| if ty.is_float() { float_sample(i, bits) } else { integer_sample(i, bits) }).collect()
}

fn random(i: u64, bits: u32) -> u64 {
    mix(i.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(bits.into()))
}

/// Returns a float with few leading bits in its fraction, or next to a tie of a narrower type. One in four
/// has any exponent.
fn float_sample(i: u64, bits: u32) -> u64 {
    let r = random(i, bits);
    let (mantissa, exponent) = if bits == 32 { (23, 8) } else { (52, 11) };
    let bias = (1u64 << (exponent - 1)) - 1;
    let near = (bias + (r >> 8) % 300).wrapping_sub(bias.min(150));
    let field = if i.is_multiple_of(4) { r >> 20 } else { near } & ((1 << exponent) - 1);
    let drop = mantissa - (1 + (r >> 32) % 12);
    let all = (1u64 << mantissa) - 1;
    let tie = (r >> 40) << drop & all | 1 << (drop - 1);
    let fraction = match i / 4 % 4 {
        0 => tie,
        1 => tie + 1,
        2 => tie - 1,
        _ => mix(r) & all,
    };
    (r >> 5 & 1) << (bits - 1) | field << mantissa | fraction
}

/// Returns a number of any size from either end of the range, or next to a power of two.
fn integer_sample(i: u64, bits: u32) -> u64 {
    let r = random(i, bits);
    let shift = (r >> 6) % u64::from(bits);
    let all = u64::MAX >> (64 - bits);
    let value = mix(r) >> (64 - bits) >> shift;
    let taken = match i % 4 {
        3 => (1u64 << shift).wrapping_add(r % 3).wrapping_sub(1),
        0 | 2 => value,
        _ => all - value,
    };
    taken & all
}

/// Returns the elements of a source type, as they are stored.
fn source(ty: ElementType) -> Literal {
    let part = ty.real_type();
    let patterns = patterns(part);
    let count = if ty.is_complex() { patterns.len() / 2 } else { patterns.len() };
    let unused = 64 - part.bit_width();
    let mut bytes = AlignedBytes::zeroed(count * ty.byte_size());
    for (element, &bits) in bytes.chunks_exact_mut(part.byte_size()).zip(&patterns) {
        // Sub-byte integers are stored sign-extended.
        let bits = if part.is_signed_integer() { ((bits << unused) as i64 >> unused) as u64 } else { bits };
        element.copy_from_slice(&bits.to_le_bytes()[..element.len()]);
    }
    Literal::from_bytes(Shape::array(ty, [count as i64]), bytes)
}

/// Returns the hash of a result.
fn digest(bytes: &[u8], ty: ElementType) -> u64 {
    let part = ty.real_type();
    let format = FloatFormat::of(part);
    let elements = bytes.chunks_exact(part.byte_size()).zip(1..);
    elements.fold(0, |sum: u64, (element, n)| {
        let mut wide = [0; 8];
        wide[..element.len()].copy_from_slice(element);
        let bits = u64::from_le_bytes(wide) & u64::MAX >> (64 - part.bit_width());
        let is_nan = format.is_some_and(|f| f.decode(bits).is_nan());
        sum.wrapping_add(mix(if is_nan { u64::MAX } else { bits } ^ mix(n)))
    })
}

/// Returns the expected hash of each pair.
fn wanted(from: ElementType) -> Vec<(ElementType, u64)> {
    let line = include_str!("conversions.txt").lines().find(|l| l.split(' ').next() == Some(from.name()));
    let hashes = line.expect("a line for each source").split(' ').skip(1);
    let pairs = ElementType::ALL.iter().zip(hashes);
    pairs
        .filter(|(_, h)| *h != "-")
        .map(|(&to, h)| (to, u64::from_str_radix(h, 16).expect("a hash")))
        .collect()
}

fn check(from: ElementType, bad: &mut Vec<String>) {
    let source = source(from);
    let wanted = wanted(from);
    let count = source.shape().as_array().map_or(0, |a| a.element_count());
    let mut text = format!("HloModule m\nENTRY main {{\n  a = {from}[{count}] parameter(0)\n");
    for (to, _) in &wanted {
        let _ = writeln!(text, "  to_{to} = {to}[{count}] convert(a)");
    }
    let shapes: Vec<String> = wanted.iter().map(|(to, _)| format!("{to}[{count}]")).collect();
    let names: Vec<String> = wanted.iter().map(|(to, _)| format!("to_{to}")).collect();
    let _ = write!(text, "  ROOT all = ({}) tuple({})\n}}\n", shapes.join(", "), names.join(", "));
    let module = module(&text).unwrap_or_else(|| panic!("not a module:\n{text}"));
    let mut compare = |engine: &str, to: ElementType, want: u64, bytes: &[u8]| {
        if digest(bytes, to) != want {
            bad.push(format!("{engine}: {from} to {to}"));
        }
    };
    let inputs = [source];
    let evaluated = hlo_eval::evaluate(&module, &inputs, &hlo_eval::Options::default()).expect("a result");
    for (&(to, want), got) in wanted.iter().zip(evaluated.leaves()) {
        compare("eval", to, want, got.bytes());
    }
    for (&(to, want), got) in wanted.iter().zip(compiled_results(&module, &inputs)) {
        compare("jit", to, want, &got);
    }
}

#[test]
fn conversions_of_every_pair_give_what_ml_dtypes_gives() {
    let mut bad = Vec::new();
    ElementType::ALL.iter().for_each(|&from| check(from, &mut bad));
    assert!(bad.is_empty(), "{} pairs:\n{}", bad.len(), bad.join("\n"));
}
