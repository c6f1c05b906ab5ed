//! Attributes that are one of a few words.

use super::{AttrError, AttrReader, AttrValue, ComputationNames};
use std::fmt;

/// Declares an attribute type that is one of a few words.
macro_rules! word_enum {
    ($($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$vdoc])* $variant,)* }

        impl $name {
            /// Every value.
            pub const ALL: &[Self] = &[$($name::$variant),*];

            /// The words of [`Self::ALL`].
            pub const WORDS: &[&str] = &[$($text),*];

            /// The word in HLO text.
            pub fn text(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }
        }

        impl AttrValue for $name {
            const WORDS: &'static [&'static str] = $name::WORDS;

            fn read(r: &mut AttrReader<'_>) -> Result<Self, AttrError> {
                r.one_of(Self::WORDS).map(|index| Self::ALL[index])
            }
            fn write(&self, f: &mut dyn fmt::Write, _: &dyn ComputationNames) -> fmt::Result {
                f.write_str(self.text())
            }
        }
    )*};
}

pub(super) use word_enum;

word_enum! {
    /// Which relation `compare` tests.
    ComparisonDirection {
        /// Equal.
        #[default] Eq = "EQ",
        /// Not equal.
        Ne = "NE",
        /// Greater or equal.
        Ge = "GE",
        /// Greater.
        Gt = "GT",
        /// Less or equal.
        Le = "LE",
        /// Less.
        Lt = "LT",
    }
    /// How `compare` orders its operands.
    ComparisonType {
        /// By the element type: IEEE for floats, signed or unsigned for integers. Not written.
        #[default] Default = "DEFAULT",
        /// IEEE 754 comparison.
        Float = "FLOAT",
        /// The total order of floats: -NaN < -inf < … < -0 < +0 < … < inf < NaN.
        TotalOrder = "TOTALORDER",
        /// Two's complement.
        Signed = "SIGNED",
        /// Unsigned.
        Unsigned = "UNSIGNED",
    }
    /// What a fusion was formed around.
    FusionKind {
        /// A loop over the output's elements.
        #[default] Loop = "kLoop",
        /// Producers fused into a reduction.
        Input = "kInput",
        /// Consumers fused onto a library operation.
        Output = "kOutput",
        /// What the backend config says.
        Custom = "kCustom",
    }
    /// The transform of `fft`.
    FftType {
        /// Complex to complex, forward.
        #[default] Fft = "FFT",
        /// Complex to complex, inverse.
        Ifft = "IFFT",
        /// Real to complex, forward.
        Rfft = "RFFT",
        /// Complex to real, inverse.
        Irfft = "IRFFT",
    }
    /// The generator of `rng-bit-generator`.
    RngAlgorithm {
        /// The backend's choice; here Philox, as XLA's CPU backend chooses.
        #[default] Default = "rng_default",
        /// ThreeFry-2x32, 20 rounds.
        ThreeFry = "rng_three_fry",
        /// Philox-4x32, 10 rounds.
        Philox = "rng_philox",
    }
    /// The distribution of `rng`.
    RngDistribution {
        /// Uniform between the operands.
        #[default] Uniform = "rng_uniform",
        /// Normal with the operands as mean and standard deviation.
        Normal = "rng_normal",
    }
    /// `mode=` of `all-reduce` and `reduce-scatter`: what the numbers in `replica_groups` mean. XLA reads it and
    /// derives the meaning from `channel_id` and `use_global_device_ids` all the same.
    CollectiveMode {
        /// Replicas.
        #[default] CrossReplica = "cross_replica",
        /// Partitions.
        CrossPartition = "cross_partition",
        /// Replicas, each with all its partitions.
        CrossReplicaAndPartition = "cross_replica_and_partition",
        /// `replica × partitions + partition`.
        FlattenedId = "flattened_id",
    }
    /// How `triangular-solve` takes its matrix.
    TransposeKind {
        /// As it is.
        #[default] NoTranspose = "NO_TRANSPOSE",
        /// Transposed.
        Transpose = "TRANSPOSE",
        /// Conjugated and transposed.
        Adjoint = "ADJOINT",
    }
}
