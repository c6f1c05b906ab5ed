//! The blocked matrix product that the fast paths share: packed panels times packed panels, by a small kernel
//! that keeps an 8 by 48 tile of sums in registers.
//!
//! All panels consist of 32-bit words. A word holds one f32 or i32, two bf16 or i16, or four bytes that are
//! neighbours along the contracted dimension, which is what the processors' dot-product instructions take; so
//! one driver serves every element type. A left panel is `[word][8 rows]`, a right panel `[word][48 columns]`,
//! and both are filled up with zeros. Operands whose elements are words can be read without packing.

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
