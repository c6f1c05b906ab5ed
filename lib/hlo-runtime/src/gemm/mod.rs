//! The blocked matrix product that the fast paths share: packed panels times packed panels, by a small kernel
//! that keeps an 8 by 48 tile of sums in registers.
//!
//! All panels consist of 32-bit words. A word holds one f32 or i32, two bf16 or i16, or four bytes that are
//! neighbours along the contracted dimension, which is what the processors' dot-product instructions take; so
//! one driver serves every element type. A left panel is `[word][8 rows]`, a right panel `[word][48 columns]`,
//! and both are filled up with zeros. Operands whose elements are words can be read without packing.
//!
//! Products of f32 come here though faer makes those of f64. In Gflop/s on one core with AVX-512, here and by faer 0.24
//! (rows x contracted x columns): 64x64x64 177 and 201; 256x256x256 199 and 201; 512x512x512 199 and 192; 128x768x768
//! 190 and 174; 2048x2048x2048 152 and 165; 8x768x3072 64 and 49; 4x4096x4096 30 and 24; 1000x40x3 25 and 22;
//! 20000x64x10 65 and 69; 64x20000x10 70 and 68. So neither is faster as a whole, and this driver is needed for the
//! other types, for convolutions, which pack patches, and for sums in parts, whose errors are smaller.

mod block;
mod driver;
mod kernel;
mod pack;
mod parts;
mod store;
mod transpose;

pub(crate) use driver::{product, small_product};
#[cfg(target_arch = "x86_64")]
pub(crate) use kernel::{Avx512Bf16, Avx512S8};
pub(crate) use kernel::{F32, I32, Kernel, Pairs};
pub(crate) use pack::{Format, Panels, Rows};
pub(crate) use store::{Output, Sink, bf16_bits};
#[cfg(target_arch = "x86_64")]
pub(crate) use transpose::transpose_16;
pub(crate) use transpose::transpose_words;

/// Rows of a tile and of a left panel.
pub(crate) const MR: usize = 8;
/// Columns of a tile and of a right panel.
pub(crate) const NR: usize = 48;
/// Lanes of one vector of sums; a tile is `MR` rows of `NR / LANES` vectors.
pub(crate) const LANES: usize = 16;
