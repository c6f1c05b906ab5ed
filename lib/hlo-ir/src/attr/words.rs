//! Attributes whose value is one of a few words.

use super::{AttrError, AttrReader, AttrValue, ComputationNames};
use crate::ElementType;
use std::fmt;

/// Reads one of a few words, with `any_case` ignoring case.
macro_rules! read_word {
    ($r:ident, $words:expr) => {
        $r.one_of($words)
    };
    ($r:ident, $words:expr, any_case) => {
        $r.one_of_ignoring_case($words)
    };
}

/// Declares an attribute type whose value is one of a few words, with the name of its grammar rule.
/// `[any_case]` ignores case.
macro_rules! word_enum {
    ($($(#[$doc:meta])* $name:ident = $rule:literal $([$case:ident])? { $($(#[$vdoc:meta])* $variant:ident = $text:literal $(or $alias:literal)*,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$vdoc])* $variant,)* }

        impl $name {
            /// All values.
            pub const ALL: &[Self] = &[$($name::$variant),*];

            /// The words of [`Self::ALL`].
            pub const WORDS: &[&str] = &[$($text),*];

            /// Returns the word in HLO text.
            pub fn text(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }
        }

        impl AttrValue for $name {
            const RULE: &'static str = $rule;
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
    /// Returns whether this is the usual comparison for values of type `ty`.
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
    /// The relation that `compare` tests.
    ComparisonDirection = "comparison_direction" {
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
    ComparisonType = "comparison_type" {
        /// By the element type: IEEE for floats, signed or unsigned for integers. Not printed.
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
    /// The kind of fusion.
    FusionKind = "fusion_kind" {
        /// A loop over the elements of the output.
        #[default] Loop = "kLoop",
        /// A reduction with fused producers.
        Input = "kInput",
        /// A library operation with fused consumers.
        Output = "kOutput",
        /// Determined by the backend config.
        Custom = "kCustom",
    }
    /// The transform of `fft`.
    FftType = "fft_type" {
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
    RngAlgorithm = "rng_algorithm" [any_case] {
        /// The backend's choice: Philox, as in XLA's CPU backend.
        #[default] Default = "rng_default",
        /// ThreeFry-2x32, 20 rounds.
        ThreeFry = "rng_three_fry",
        /// Philox-4x32, 10 rounds.
        Philox = "rng_philox",
    }
    /// The distribution of `rng`.
    RngDistribution = "rng_distribution" [any_case] {
        /// Uniform between the two operands.
        #[default] Uniform = "rng_uniform",
        /// Normal, with the operands as mean and standard deviation.
        Normal = "rng_normal",
        /// Can be read, but is not valid.
        Invalid = "rng_invalid",
    }
    /// `mode=` of `all-reduce` and `reduce-scatter`: the meaning of the numbers in `replica_groups`. XLA
    /// reads it, but derives the meaning from `channel_id` and `use_global_device_ids`.
    CollectiveMode = "collective_mode" {
        /// Replica numbers.
        #[default] CrossReplica = "cross_replica",
        /// Partition numbers.
        CrossPartition = "cross_partition",
        /// Replica numbers; each replica includes all its partitions.
        CrossReplicaAndPartition = "cross_replica_and_partition",
        /// `replica × partitions + partition`.
        FlattenedId = "flattened_id",
    }
    /// The form in which `triangular-solve` uses its matrix.
    TransposeKind = "transpose_kind" {
        /// Unspecified, which means not transposed. Not printed.
        #[default] Invalid = "TRANSPOSE_INVALID",
        /// Not transposed.
        NoTranspose = "NO_TRANSPOSE",
        /// Transposed.
        Transpose = "TRANSPOSE",
        /// Conjugated and transposed.
        Adjoint = "ADJOINT",
    }
    /// The precision with which a product uses an operand.
    Precision = "precision" [any_case] {
        /// The backend's default.
        #[default] Default = "default",
        /// Higher than the default.
        High = "high",
        /// The full precision of the element type.
        Highest = "highest",
    }
    /// The element types in which a matrix product is computed: those of the operands, then that of the sums.
    DotAlgorithm = "dot_algorithm" [any_case] {
        /// The backend's choice. Not printed.
        #[default] Unset = "unset",
        /// Any 8-bit type, sums in `f32`.
        AnyF8AnyF8F32 = "dot_any_f8_any_f8_f32",
        /// Any 8-bit type, sums in `f32` with less precision.
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
    /// The convolution's role in a training step.
    ConvolutionKind = "convolution_kind" {
        /// Unspecified. Not printed.
        #[default] Unset = "unset",
        /// The forward pass.
        Forward = "fprop",
        /// The gradient with respect to the kernel.
        KernelGradient = "wgrad",
        /// The gradient with respect to the input.
        InputGradient = "dgrad",
    }
    /// `padding_type=` of `custom-call`.
    PaddingType = "padding_type" {
        /// Unspecified. Not printed.
        #[default] Invalid = "PADDING_INVALID",
        /// No padding.
        Valid = "PADDING_VALID",
        /// Padding such that the result has the size of the input.
        Same = "PADDING_SAME",
    }
    /// When a `custom-call` runs. Not printed if any time is allowed.
    CustomCallSchedule = "custom_call_schedule" {
        /// At any time.
        #[default] None = "SCHEDULE_NONE",
        /// As late as possible.
        Latest = "SCHEDULE_LATEST",
        /// As early as possible.
        Earliest = "SCHEDULE_EARLIEST",
    }
    /// The calling convention of a `custom-call`'s target.
    CustomCallApiVersion = "custom_call_api_version" {
        /// `void(void* out, const void** in)`. Not printed.
        #[default] Original = "API_VERSION_ORIGINAL" or "API_VERSION_UNSPECIFIED",
        /// As `API_VERSION_ORIGINAL`, with a status.
        StatusReturning = "API_VERSION_STATUS_RETURNING",
        /// As `API_VERSION_STATUS_RETURNING`, with one signature for all platforms.
        StatusReturningUnified = "API_VERSION_STATUS_RETURNING_UNIFIED",
        /// The typed FFI.
        TypedFfi = "API_VERSION_TYPED_FFI",
    }
}
