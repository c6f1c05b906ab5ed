//! Random bits: XLA's exact streams for `rng-bit-generator` with ThreeFry-2x32-20 and Philox-4x32-10 (Salmon et
//! al., "Parallel random numbers: as easy as 1, 2, 3").
//!
//! A state is two 64-bit words (for Philox: two or three). The key comes first, then the counter, with its
//! low word first. An element of 8 or 16 bits is the low bits of one 32-bit word. An element of 64 bits uses
//! two words, the low word first. Outputs are row-major.

use hlo_runtime_core::{Context, Error, Shared};

/// Number of counters of one task.
const TASK_COUNTERS: usize = 8192;
/// Number of counters that are computed together.
pub(crate) const LANES: usize = 32;

/// Writes random bits by ThreeFry to the row-major array whose `rank` sizes are at `dims`. Elements have
/// `element_bits` bits: 8, 16, 32 or 64, or 1 to 7 in one byte each (negative for signed elements). The state
/// is `u64[2]`. Returns 0, or 1 with a message in the context.
///
/// Each counter produces a pair of words. For elements of up to 32 bits, the words of a pair are neighbors
/// along the first dimension of even size. If there is none, they are neighbors along the first dimension of
/// the largest size.
///
/// # Safety
/// `ctx` must point to a live [`Context`], `state` to two readable words, `new_state` to two writable words
/// (it may be `state`), `dims` to `rank` sizes, and `out` to room for the array.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_rt_rng_three_fry(
    ctx: *const Context,
    state: *const u64,
    new_state: *mut u64,
    out: *mut u8,
    element_bits: i64,
    dims: *const i64,
    rank: i64,
) -> i32 {
    // SAFETY: guaranteed by the caller.
    unsafe {
        (*ctx).guard("rng-bit-generator", || {
            check_width(element_bits)?;
            let rank = usize::try_from(rank).map_err(|_| Error(format!("the rank is {rank}")))?;
            let dims = if rank == 0 { &[] } else { std::slice::from_raw_parts(dims, rank) };
            let pairs = Pairs::new(dims, element_bits == 64)?;
            let [key, counter] = state.cast::<[u64; 2]>().read_unaligned();
            let out = Shared::new(out);
            (*ctx).for_each(pairs.counters.div_ceil(TASK_COUNTERS), |task| {
                let end = pairs.counters.min((task + 1) * TASK_COUNTERS);
                for first in (task * TASK_COUNTERS..end).step_by(LANES) {
                    let words = three_fry(key, counter.wrapping_add(first as u64));
                    let n = LANES.min(end - first);
                    match element_bits {
                        8 => pairs.store(&words, first, n, out.get(), |w| w as u8),
                        16 => pairs.store(&words, first, n, out.get(), |w| w as u16),
                        32 => pairs.store(&words, first, n, out.get(), |w| w),
                        narrow if narrow < 8 => pairs.store(&words, first, n, out.get(), |w| cut(w, narrow)),
                        _ => store_wide(&words, n, out.get().cast::<u64>().add(first)),
                    }
                }
            });
            let updated = counter.wrapping_add(pairs.counters as u64);
            new_state.cast::<[u64; 2]>().write_unaligned([key, updated]);
            Ok(())
        })
    }
}

/// Writes `count` elements of random bits by Philox, of `element_bits` bits each, as [`hlo_rt_rng_three_fry`]
/// does. The state is `u64[state_words]`. Three words are a key and a 128-bit counter. With two words, the
/// first word is both the key and the upper half of the counter, and it is not updated. Returns 0, or 1 with
/// a message in the context.
///
/// # Safety
/// `ctx` must point to a live [`Context`], `state` to `state_words` readable words, `new_state` to as many
/// writable words (it may be `state`), and `out` to room for the elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_rt_rng_philox(
    ctx: *const Context,
    state: *const u64,
    state_words: i64,
    new_state: *mut u64,
    out: *mut u8,
    element_bits: i64,
    count: i64,
) -> i32 {
    // SAFETY: guaranteed by the caller.
    unsafe {
        (*ctx).guard("rng-bit-generator", || {
            check_width(element_bits)?;
            let count = usize::try_from(count).map_err(|_| Error(format!("the size is {count}")))?;
            let key = state.read_unaligned();
            let low = match state_words {
                2 | 3 => state.add(1).read_unaligned(),
                _ => return Err(Error(format!("the state has {state_words} words, not 2 or 3"))),
            };
            let high = if state_words == 3 { state.add(2).read_unaligned() } else { key };
            let counter = (u128::from(high) << 64) | u128::from(low);
            let a_block = if element_bits == 64 { 2 } else { 4 };
            let element_bytes = element_bits.max(8) as usize / 8;
            let blocks = count.div_ceil(a_block);
            let out = Shared::new(out);
            (*ctx).for_each(blocks.div_ceil(TASK_COUNTERS), |task| {
                let end = blocks.min((task + 1) * TASK_COUNTERS);
                for first in (task * TASK_COUNTERS..end).step_by(LANES) {
                    let words = philox(key, counter.wrapping_add(first as u128));
                    let n = (a_block * LANES).min(count - a_block * first).min(a_block * (end - first));
                    let to = out.get().add(a_block * first * element_bytes);
                    match element_bits {
                        8 => store_blocks(&words, n, to, |w| w as u8),
                        16 => store_blocks(&words, n, to.cast(), |w| w as u16),
                        32 => store_blocks(&words, n, to.cast(), |w| w),
                        narrow if narrow < 8 => store_blocks(&words, n, to, |w| cut(w, narrow)),
                        _ => {
                            for i in 0..n {
                                let (lane, word) = (i / 2, i % 2 * 2);
                                let value =
                                    u64::from(words[word][lane]) | (u64::from(words[word + 1][lane]) << 32);
                                to.cast::<u64>().add(i).write_unaligned(value);
                            }
                        }
                    }
                }
            });
            let updated = counter.wrapping_add(blocks as u128);
            new_state.write_unaligned(key);
            new_state.add(1).write_unaligned(updated as u64);
            if state_words == 3 {
                new_state.add(2).write_unaligned((updated >> 64) as u64);
            }
            Ok(())
        })
    }
}

/// Checks the element width: 8, 16, 32 or 64 bits, or 1 to 7 bits in the low bits of a byte. The other bits
/// of that byte are zero, or copies of the sign bit if `element_bits` is negative.
fn check_width(element_bits: i64) -> Result<(), Error> {
    match element_bits {
        8 | 16 | 32 | 64 | 1..=7 | -7..=-1 => Ok(()),
        _ => Err(Error(format!("there is no element of {element_bits} bits"))),
    }
}

/// Returns the low bits of `word` as an element narrower than a byte; see [`check_width`].
fn cut(word: u32, element_bits: i64) -> u8 {
    let unused = 8 - element_bits.unsigned_abs() as u32;
    let high = (word as u8) << unused;
    if element_bits < 0 { ((high as i8) >> unused) as u8 } else { high >> unused }
}

/// Stores blocks of four words consecutively, `n` words in total.
///
/// # Safety
/// `to` must be writable for `n` elements, `n <= 4 * LANES`.
unsafe fn store_blocks<T>(words: &[[u32; LANES]; 4], n: usize, to: *mut T, f: impl Fn(u32) -> T) {
    if n == 4 * LANES {
        for lane in 0..LANES {
            for (j, words) in words.iter().enumerate() {
                // SAFETY: guaranteed by the caller.
                unsafe { to.add(4 * lane + j).write_unaligned(f(words[lane])) };
            }
        }
    } else {
        for i in 0..n {
            // SAFETY: guaranteed by the caller.
            unsafe { to.add(i).write_unaligned(f(words[i % 4][i / 4])) };
        }
    }
}

/// Stores `n` pairs as 64-bit elements.
///
/// # Safety
/// `to` must be writable for `n` elements, `n <= LANES`.
unsafe fn store_wide(words: &[[u32; LANES]; 2], n: usize, to: *mut u64) {
    for (i, (&low, &high)) in words[0].iter().zip(&words[1]).enumerate().take(n) {
        // SAFETY: guaranteed by the caller.
        unsafe { to.add(i).write_unaligned(u64::from(low) | (u64::from(high) << 32)) };
    }
}

/// The positions of ThreeFry's pairs of words in the output. The array is `[outer, split, inner]`. The pair
/// of counter `[o, h, i]` (of sizes `outer, ceil(split / 2), inner`) is stored at `[o, 2h, i]` and `[o, 2h +
/// 1, i]`.
struct Pairs {
    counters: usize,
    split: usize,
    inner: usize,
}

impl Pairs {
    fn new(dims: &[i64], wide: bool) -> Result<Pairs, Error> {
        if let Some(d) = dims.iter().find(|&&d| usize::try_from(d).is_err()) {
            return Err(Error(format!("a size is {d}")));
        }
        let count = |dims: &[i64]| {
            dims.iter()
                .try_fold(1usize, |n, &d| n.checked_mul(d as usize))
                .ok_or_else(|| Error("the sizes do not fit the address space".into()))
        };
        if wide {
            return Ok(Pairs { counters: count(dims)?, split: 1, inner: 1 });
        }
        let largest = (0..dims.len()).rev().max_by_key(|&d| dims[d]);
        let Some(d) = dims.iter().position(|d| d % 2 == 0).or(largest) else {
            return Ok(Pairs { counters: 1, split: 1, inner: 1 });
        };
        count(dims)?;
        let (outer, inner) = (count(&dims[..d])?, count(&dims[d + 1..])?);
        let split = dims[d] as usize;
        Ok(Pairs { counters: outer * split.div_ceil(2) * inner, split, inner })
    }

    /// Stores the pairs of counters `first..first + n`.
    ///
    /// # Safety
    /// `out` must be writable for the whole array.
    unsafe fn store<T>(
        &self,
        words: &[[u32; LANES]; 2],
        first: usize,
        n: usize,
        out: *mut u8,
        f: impl Fn(u32) -> T,
    ) {
        let (half, inner, out) = (self.split.div_ceil(2), self.inner, out.cast::<T>());
        let mut done = 0;
        while done < n {
            let (row, i) = ((first + done) / inner, (first + done) % inner);
            let (o, h) = (row / half, row % half);
            let to = out.wrapping_add((o * self.split + 2 * h) * inner + i);
            // SAFETY: the positions of the pair are inside the array.
            unsafe {
                if inner == 1 {
                    // A run of adjacent pairs, up to a pair without a second position.
                    let run = (self.split / 2).saturating_sub(h).min(n - done);
                    for p in 0..run {
                        to.add(2 * p).write_unaligned(f(words[0][done + p]));
                        to.add(2 * p + 1).write_unaligned(f(words[1][done + p]));
                    }
                    if run == 0 {
                        to.write_unaligned(f(words[0][done]));
                    }
                    done += run.max(1);
                } else {
                    let run = (inner - i).min(n - done);
                    for p in 0..run {
                        to.add(p).write_unaligned(f(words[0][done + p]));
                    }
                    if 2 * h + 1 < self.split {
                        for p in 0..run {
                            to.add(inner + p).write_unaligned(f(words[1][done + p]));
                        }
                    }
                    done += run;
                }
            }
        }
    }
}

/// Defines a function that runs a lane-wise function compiled for the widest vectors of this processor.
macro_rules! wide {
    ($name:ident, $inner:ident, $counter:ty, $result:ty) => {
        pub(crate) fn $name(key: u64, counter: $counter) -> $result {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512dq,avx512vl")]
                fn avx512(key: u64, counter: $counter) -> $result {
                    $inner(key, counter)
                }
                #[target_feature(enable = "avx2")]
                fn avx2(key: u64, counter: $counter) -> $result {
                    $inner(key, counter)
                }
                if is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
                {
                    // SAFETY: the processor has these features.
                    return unsafe { avx512(key, counter) };
                }
                if is_x86_feature_detected!("avx2") {
                    // SAFETY: the processor has this feature.
                    return unsafe { avx2(key, counter) };
                }
            }
            $inner(key, counter)
        }
    };
}

wide!(three_fry, three_fry_lanes, u64, [[u32; LANES]; 2]);
wide!(philox, philox_lanes, u128, [[u32; LANES]; 4]);

/// Computes ThreeFry-2x32 with 20 rounds for the counters `counter..counter + LANES`, low word first.
#[inline(always)]
fn three_fry_lanes(key: u64, counter: u64) -> [[u32; LANES]; 2] {
    const ROTATIONS: [[u32; 4]; 2] = [[13, 15, 26, 6], [17, 29, 16, 24]];
    let (k0, k1) = (key as u32, (key >> 32) as u32);
    let schedule = [k0, k1, k0 ^ k1 ^ 0x1bd1_1bda];
    let (mut x, mut y) = ([0u32; LANES], [0u32; LANES]);
    for i in 0..LANES {
        let c = counter.wrapping_add(i as u64);
        x[i] = (c as u32).wrapping_add(k0);
        y[i] = ((c >> 32) as u32).wrapping_add(k1);
    }
    for round in 0..5 {
        for rotation in ROTATIONS[round % 2] {
            for i in 0..LANES {
                x[i] = x[i].wrapping_add(y[i]);
                y[i] = y[i].rotate_left(rotation) ^ x[i];
            }
        }
        let (a, b) = (schedule[(round + 1) % 3], schedule[(round + 2) % 3].wrapping_add(round as u32 + 1));
        for i in 0..LANES {
            x[i] = x[i].wrapping_add(a);
            y[i] = y[i].wrapping_add(b);
        }
    }
    [x, y]
}

/// Computes Philox-4x32 with 10 rounds for the counters `counter..counter + LANES`.
#[inline(always)]
fn philox_lanes(key: u64, counter: u128) -> [[u32; LANES]; 4] {
    let mut words = [[0u32; LANES]; 4];
    for i in 0..LANES {
        let c = counter.wrapping_add(i as u128);
        for (w, word) in words.iter_mut().enumerate() {
            word[i] = (c >> (32 * w)) as u32;
        }
    }
    let (mut k0, mut k1) = (key as u32, (key >> 32) as u32);
    for _ in 0..10 {
        let [w0, w1, w2, w3] = &mut words;
        for (((w0, w1), w2), w3) in w0.iter_mut().zip(w1).zip(w2).zip(w3) {
            let p = u64::from(*w0) * 0xd251_1f53;
            let q = u64::from(*w2) * 0xcd9e_8d57;
            *w0 = (q >> 32) as u32 ^ *w1 ^ k0;
            *w2 = (p >> 32) as u32 ^ *w3 ^ k1;
            *w1 = q as u32;
            *w3 = p as u32;
        }
        k0 = k0.wrapping_add(0x9e37_79b9);
        k1 = k1.wrapping_add(0xbb67_ae85);
    }
    words
}
