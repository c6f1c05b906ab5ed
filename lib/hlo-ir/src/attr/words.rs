//! Attributes that are one of a few words.

use super::{AttrError, AttrReader, AttrValue, ComputationNames};
use crate::ElementType;
use std::fmt;

/// Reads one of a few words, if so wished in capital or small letters.
macro_rules! read_word {
    ($r:ident, $words:expr) => {
        $r.one_of($words)
    };
    ($r:ident, $words:expr, any_case) => {
        $r.one_of_any_case($words)
    };
}

/// Declares an attribute type that is one of a few words; after `[any_case]` in capital or small letters.
macro_rules! word_enum {
    ($($(#[$doc:meta])* $name:ident $([$case:ident])? { $($(#[$vdoc:meta])* $variant:ident = $text:literal $(or $alias:literal)*,)* })*) => {$(
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
                const ALIASES: &[(&str, $name)] = &[$($(($alias, $name::$variant),)*)*];
                for &(word, value) in ALIASES {
                    let start = r.offset_of_next();
                    if r.name() == word {
                        return Ok(value);
                    }
                    r.rewind(start);
                }
                let index = read_word!(r, Self::WORDS $(, $case)?)?;
                Ok(Self::ALL[index])
            }
            fn write(&self, f: &mut dyn fmt::Write, _: &dyn ComputationNames) -> fmt::Result {
                f.write_str(self.text())
            }
        }
    )*};
}

pub(super) use {read_word, word_enum};

impl ComparisonType {
    /// True if values of this type are compared so anyway.
    pub fn is_usual_for(self, ty: ElementType) -> bool {
        match self {
            ComparisonType::Default => true,
            ComparisonType::Float => ty.is_float() || ty.is_complex(),
            ComparisonType::TotalOrder => false,
            ComparisonType::Signed => ty.is_signed_integer(),
            ComparisonType::Unsigned => ty.is_pred() || (ty.is_integer() && !ty.is_signed_integer()),
        }
    }
}

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
        #[default] Default = "",
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
    RngAlgorithm [any_case] {
        /// The backend's choice; here Philox, as XLA's CPU backend chooses.
        #[default] Default = "rng_default",
        /// ThreeFry-2x32, 20 rounds.
        ThreeFry = "rng_three_fry",
        /// Philox-4x32, 10 rounds.
        Philox = "rng_philox",
    }
    /// The distribution of `rng`.
    RngDistribution [any_case] {
        /// Uniform between the operands.
        #[default] Uniform = "rng_uniform",
        /// Normal with the operands as mean and standard deviation.
        Normal = "rng_normal",
        /// None: readable, and not valid.
        Invalid = "rng_invalid",
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
        /// Not said: as it is. Not printed.
        #[default] Invalid = "TRANSPOSE_INVALID",
        /// As it is.
        NoTranspose = "NO_TRANSPOSE",
        /// Transposed.
        Transpose = "TRANSPOSE",
        /// Conjugated and transposed.
        Adjoint = "ADJOINT",
    }
    /// How exactly an operand of a product is taken.
    Precision [any_case] {
        /// As the backend does it.
        #[default] Default = "default",
        /// More exactly.
        High = "high",
        /// As exactly as its type allows.
        Highest = "highest",
    }
    /// The types in which a product of matrices is computed: those of the operands, then that of the sums.
    DotAlgorithm [any_case] {
        /// The backend's choice. Not printed.
        #[default] Unset = "unset",
        /// Any type of 8 bits, sums in `f32`.
        AnyF8AnyF8F32 = "dot_any_f8_any_f8_f32",
        /// Any type of 8 bits, sums in `f32` of less precision.
        AnyF8AnyF8F32FastAccum = "dot_any_f8_any_f8_f32_fast_accum",
        /// `f16`, sums in `f16`.
        F16F16F16 = "dot_f16_f16_f16",
        /// `f16`, sums in `f32`.
        F16F16F32 = "dot_f16_f16_f32",
        /// `bf16`, sums in `bf16`.
        Bf16Bf16Bf16 = "dot_bf16_bf16_bf16",
        /// `bf16`, sums in `f32`.
        Bf16Bf16F32 = "dot_bf16_bf16_f32",
        /// Three products in `bf16`, sums in `f32`.
        Bf16Bf16F32X3 = "dot_bf16_bf16_f32_x3",
        /// Six products in `bf16`, sums in `f32`.
        Bf16Bf16F32X6 = "dot_bf16_bf16_f32_x6",
        /// Nine products in `bf16`, sums in `f32`.
        Bf16Bf16F32X9 = "dot_bf16_bf16_f32_x9",
        /// `tf32`, sums in `f32`.
        Tf32Tf32F32 = "dot_tf32_tf32_f32",
        /// Three products in `tf32`, sums in `f32`.
        Tf32Tf32F32X3 = "dot_tf32_tf32_f32_x3",
        /// `f32`, sums in `f32`.
        F32F32F32 = "dot_f32_f32_f32",
        /// `f64`, sums in `f64`.
        F64F64F64 = "dot_f64_f64_f64",
    }
    /// Which convolution of a training step it is.
    ConvolutionKind {
        /// Not said. Not printed.
        #[default] Unset = "unset",
        /// That of the forward pass.
        Forward = "fprop",
        /// The derivative by the kernel.
        KernelGradient = "wgrad",
        /// The derivative by the input.
        InputGradient = "dgrad",
    }
    /// `padding_type=` of `custom-call`.
    PaddingType {
        /// Not said. Not printed.
        #[default] Invalid = "PADDING_INVALID",
        /// No padding.
        Valid = "PADDING_VALID",
        /// As much as the result needs to have the input's size.
        Same = "PADDING_SAME",
    }
    /// When a `custom-call` should run. Not printed if any time will do.
    CustomCallSchedule {
        /// At any time.
        #[default] None = "SCHEDULE_NONE",
        /// As late as possible.
        Latest = "SCHEDULE_LATEST",
        /// As early as possible.
        Earliest = "SCHEDULE_EARLIEST",
    }
    /// The calling convention of a `custom-call`'s target.
    CustomCallApiVersion {
        /// `void(void* out, const void** in)`. Not printed.
        #[default] Original = "API_VERSION_ORIGINAL" or "API_VERSION_UNSPECIFIED",
        /// The same with a status.
        StatusReturning = "API_VERSION_STATUS_RETURNING",
        /// The same for all platforms.
        StatusReturningUnified = "API_VERSION_STATUS_RETURNING_UNIFIED",
        /// The typed interface for foreign functions.
        TypedFfi = "API_VERSION_TYPED_FFI",
    }
}
