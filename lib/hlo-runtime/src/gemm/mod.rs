//! The blocked matrix product that the fast paths share. A small kernel multiplies packed panels and keeps an
//! 8 by 48 tile of sums in registers.
//!
//! All panels consist of 32-bit words. A word contains one f32 or i32, two bf16 or i16, or four bytes. The
//! elements of a word are neighbors along the contracted dimension, as the processors' dot-product
//! instructions require. So one driver serves every element type. A left panel is `[word][8 rows]`, a right
//! panel `[word][48 columns]`. Both are padded with zeros. Operands whose elements are words can be read
//! without packing.
//!
//! Products of f64 use faer. This driver also computes products of f32, because neither is faster overall.
//! The driver is needed for the other types, for convolutions, which pack patches, and for sums in parts,
//! whose errors are smaller. Gflop/s on one core with AVX-512, compared with faer 0.24:
//!
//! | rows x contracted x columns | this driver | faer |
//! |---|---|---|
//! | 64x64x64 | 177 | 201 |
//! | 256x256x256 | 199 | 201 |
//! | 512x512x512 | 199 | 192 |
//! | 128x768x768 | 190 | 174 |
//! | 2048x2048x2048 | 152 | 165 |
//! | 8x768x3072 | 64 | 49 |
//! | 4x4096x4096 | 30 | 24 |
//! | 1000x40x3 | 25 | 22 |
//! | 20000x64x10 | 65 | 69 |
//! | 64x20000x10 | 70 | 68 |

mod block;
mod driver;
mod kernel;
mod pack;
mod parts;
mod product;
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
pub use transpose::transpose_words;

/// The number of rows of a tile and of a left panel.
pub(crate) const MR: usize = 8;
/// The number of columns of a tile and of a right panel.
pub(crate) const NR: usize = 48;
/// The number of lanes of one vector of sums. A tile is `MR` rows of `NR / LANES` vectors.
pub(crate) const LANES: usize = 16;
