//! How dialects encode their own attributes: which number stands for which word, and what a structure is made of.
//!
//! The numbers are those of `VhloBytecode.cpp`, `StablehloBytecode.cpp`, `ChloBytecode.cpp` and Shardy's `bytecode.td`.

/// An attribute that is a word of a list, encoded as the word's number.
#[derive(Debug)]
pub(super) struct Enumeration {
    /// The number of the attribute.
    pub(super) code: u64,
    /// The kind, as [`crate::tree::Attribute::Enum`] has it.
    pub(super) kind: &'static str,
    /// The words.
    pub(super) words: &'static [&'static str],
    /// The number of the first word.
    pub(super) first: u64,
}

/// An attribute that has fields.
#[derive(Debug)]
pub(super) struct Structure {
    /// The number of the attribute.
    pub(super) code: u64,
    /// The kind, as [`crate::tree::Attribute::Struct`] has it.
    pub(super) kind: &'static str,
    /// The fields in the order of their bytes.
    pub(super) fields: &'static [(&'static str, Field)],
}

/// How a field is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    /// A number with a sign.
    Int,
    /// A list of them.
    Ints,
    /// The same, and an empty list says that the field lacks.
    OptionalInts,
    /// A number without a sign, which may lack.
    OptionalUnsigned,
    /// A byte.
    Bool,
    /// A floating-point number of 64 bits.
    Double,
    /// A string of the file's table.
    String,
    /// A type.
    Type,
    /// An attribute.
    Attribute,
    /// A string attribute that names a symbol, or another attribute.
    Symbol,
    /// A list of attributes.
    Attributes,
    /// An attribute that may lack: its number carries a flag.
    OptionalAttribute,
    /// An attribute that may lack: a byte before it says so.
    AttributeAfterByte,
    /// An attribute that may lack: a number before it says so.
    AttributeAfterNumber,
    /// A number with a sign that stands for a word of a kind.
    Word(&'static str, &'static [&'static str]),
}

/// What a dialect encodes.
#[derive(Debug)]
pub(super) struct Encoding {
    /// Attributes that are words.
    pub(super) enumerations: &'static [Enumeration],
    /// Attributes that have fields.
    pub(super) structures: &'static [Structure],
}

impl Encoding {
    /// The words that a number stands for.
    pub(super) fn enumeration(&self, code: u64) -> Option<&'static Enumeration> {
        self.enumerations.iter().find(|e| e.code == code)
    }

    /// The words of a kind.
    pub(super) fn enumeration_of(&self, kind: &str) -> Option<&'static Enumeration> {
        self.enumerations.iter().find(|e| e.kind == kind)
    }

    /// The structure of a kind that has fields of the given names: if several have, the one with the fewest fields.
    pub(super) fn structure_of(
        &self,
        kind: &str,
        is_given: impl Fn(&str) -> bool,
    ) -> Option<&'static Structure> {
        let of_kind = || self.structures.iter().filter(|s| s.kind == kind);
        // Later structures of a kind have more fields, the last ones of which may lack.
        let given = |s: &Structure| s.fields.iter().filter(|(name, _)| is_given(name)).count();
        let most = of_kind().map(given).max()?;
        of_kind().find(|s| given(s) == most)
    }

    /// The structure that a number stands for.
    pub(super) fn structure(&self, code: u64) -> Option<&'static Structure> {
        self.structures.iter().find(|s| s.code == code)
    }
}

impl Enumeration {
    /// The number of a word.
    pub(super) fn number(&self, word: &str) -> Option<u64> {
        let at = self.words.iter().position(|w| *w == word)?;
        Some(at as u64 + self.first)
    }

    /// The word of a number.
    pub(super) fn word(&self, number: u64) -> Option<&'static str> {
        let at = number.checked_sub(self.first)?;
        self.words.get(usize::try_from(at).ok()?).copied()
    }
}

const DIRECTIONS: &[&str] = &["EQ", "NE", "GE", "GT", "LE", "LT"];
const COMPARISONS: &[&str] = &["NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"];
const FFTS: &[&str] = &["FFT", "IFFT", "RFFT", "IRFFT"];
const PRECISIONS: &[&str] = &["DEFAULT", "HIGH", "HIGHEST"];
const ALGORITHMS: &[&str] = &["DEFAULT", "THREE_FRY", "PHILOX"];
const DISTRIBUTIONS: &[&str] = &["UNIFORM", "NORMAL"];
const TRANSPOSES: &[&str] = &["TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"];
const ACCURACIES: &[&str] = &["DEFAULT", "HIGHEST", "TOLERANCE"];
const REDUCTIONS: &[&str] = &["sum", "max", "min"];

/// Words that are numbered from 0.
const fn words(code: u64, kind: &'static str, words: &'static [&'static str]) -> Enumeration {
    Enumeration { code, kind, words, first: 0 }
}

const fn fields(code: u64, kind: &'static str, fields: &'static [(&'static str, Field)]) -> Structure {
    Structure { code, kind, fields }
}

/// What a custom call's target is called by: VHLO's words for StableHLO's numbers.
pub(super) const API_VERSION: &str = "vhlo.api_version";

/// The words of [`API_VERSION`], in the order of the numbers.
pub(super) const API_VERSIONS: &[&str] = &[
    "API_VERSION_UNSPECIFIED",
    "API_VERSION_ORIGINAL",
    "API_VERSION_STATUS_RETURNING",
    "API_VERSION_STATUS_RETURNING_UNIFIED",
    "API_VERSION_TYPED_FFI",
];

use Field as F;

/// VHLO's attributes. Those that have no entry are read by hand: they are MLIR's own ones.
pub(super) static VHLO: Encoding = Encoding {
    enumerations: &[
        words(3, "stablehlo.comparison_direction", DIRECTIONS),
        words(4, "stablehlo.comparison_type", COMPARISONS),
        words(5, API_VERSION, API_VERSIONS),
        words(7, "stablehlo.fft_type", FFTS),
        words(11, "stablehlo.precision", PRECISIONS),
        words(12, "stablehlo.rng_algorithm", ALGORITHMS),
        Enumeration { code: 13, kind: "stablehlo.rng_distribution", words: DISTRIBUTIONS, first: 1 },
        words(16, "stablehlo.transpose", TRANSPOSES),
        words(19, "stablehlo.result_accuracy_mode", ACCURACIES),
    ],
    structures: &[
        fields(10, "stablehlo.output_operand_alias", ALIAS),
        fields(18, "stablehlo.bounds", &[("bounds", F::Ints)]),
        fields(20, "stablehlo.result_accuracy", ACCURACY),
        fields(21, "stablehlo.sub_axis_info", SUB_AXIS),
        fields(
            22,
            "stablehlo.axis_ref",
            &[("name", F::Attribute), ("sub_axis_info", F::AttributeAfterNumber)],
        ),
        fields(23, "stablehlo.replica_group_mesh_axes", &[("mesh", F::Symbol), ("axes", F::Attribute)]),
        fields(24, "stablehlo.mesh_axis", &[("name", F::Attribute), ("size", F::Int)]),
        fields(25, "stablehlo.mesh", &[("axes", F::Attribute), ("device_ids", F::OptionalAttribute)]),
    ],
};

/// StableHLO's attributes.
pub(super) static STABLEHLO: Encoding = Encoding {
    enumerations: &[
        words(2, "stablehlo.comparison_direction", DIRECTIONS),
        words(3, "stablehlo.comparison_type", COMPARISONS),
        words(6, "stablehlo.fft_type", FFTS),
        words(8, "stablehlo.precision", PRECISIONS),
        words(9, "stablehlo.rng_algorithm", ALGORITHMS),
        Enumeration { code: 10, kind: "stablehlo.rng_distribution", words: DISTRIBUTIONS, first: 1 },
        words(12, "stablehlo.transpose", TRANSPOSES),
        words(16, "stablehlo.result_accuracy_mode", ACCURACIES),
    ],
    structures: &[
        fields(1, "stablehlo.channel_handle", &[("handle", F::Int), ("type", F::Int)]),
        fields(4, "stablehlo.conv", CONVOLUTION),
        fields(5, "stablehlo.dot", DOT),
        fields(7, "stablehlo.gather", GATHER),
        fields(11, "stablehlo.scatter", SCATTER),
        fields(13, "stablehlo.bounds", &[("bounds", F::Ints)]),
        fields(14, "stablehlo.output_operand_alias", ALIAS),
        fields(15, "stablehlo.dot_algorithm", DOT_ALGORITHM),
        fields(17, "stablehlo.result_accuracy", ACCURACY),
        fields(18, "stablehlo.replica_group_mesh_axes", &[("mesh", F::Attribute), ("axes", F::Attributes)]),
        fields(19, "stablehlo.sub_axis_info", SUB_AXIS),
        fields(20, "stablehlo.axis_ref", &[("name", F::String), ("sub_axis_info", F::AttributeAfterByte)]),
        fields(21, "stablehlo.mesh_axis", &[("name", F::String), ("size", F::Int)]),
        fields(22, "stablehlo.mesh", &[("axes", F::Attribute), ("device_ids", F::AttributeAfterByte)]),
    ],
};

/// CHLO's attributes; all others it writes as text.
pub(super) static CHLO: Encoding = Encoding {
    enumerations: &[
        words(0, "chlo.comparison_direction", DIRECTIONS),
        words(1, "chlo.comparison_type", COMPARISONS),
    ],
    structures: &[],
};

/// Shardy's attributes. Of those with several numbers the later ones have fields that the first one lacks.
pub(super) static SDY: Encoding = Encoding {
    enumerations: &[],
    structures: &[
        fields(0, "sdy.manual_axes", &[("value", F::Attributes)]),
        fields(1, "sdy.mesh_axis", &[("name", F::String), ("size", F::Int)]),
        fields(2, "sdy.mesh", &[("axes", F::Attributes), ("device_ids", F::OptionalInts)]),
        fields(3, "sdy.sub_axis_info", SUB_AXIS),
        fields(4, "sdy.axis_ref", &[("name", F::String), ("sub_axis_info", F::OptionalAttribute)]),
        fields(
            5,
            "sdy.dimension_sharding",
            &[("axes", F::Attributes), ("is_closed", F::Bool), ("priority", F::OptionalUnsigned)],
        ),
        fields(
            6,
            "sdy.sharding",
            &[
                ("mesh_or_ref", F::Attribute),
                ("dim_shardings", F::Attributes),
                ("replicated_axes", F::Attributes),
            ],
        ),
        fields(7, "sdy.sharding_per_value", &[("shardings", F::Attributes)]),
        fields(8, "sdy.dim_mapping", &[("factor_indices", F::Ints)]),
        fields(9, "sdy.tensor_mapping", &[("dim_mappings", F::Attributes)]),
        fields(10, "sdy.op_sharding_rule", SHARDING_RULE),
        fields(11, "sdy.axis_ref_list", &[("value", F::Attributes)]),
        fields(12, "sdy.list_of_axis_ref_lists", &[("value", F::Attributes)]),
        fields(
            13,
            "sdy.all_to_all_param",
            &[("axes", F::Attributes), ("src_dim", F::Int), ("tgt_dim", F::Int)],
        ),
        fields(14, "sdy.all_to_all_param_list", &[("value", F::Attributes)]),
        fields(
            15,
            "sdy.sharding",
            &[
                ("mesh_or_ref", F::Attribute),
                ("dim_shardings", F::Attributes),
                ("replicated_axes", F::Attributes),
                ("unreduced_axes", F::Attributes),
            ],
        ),
        fields(16, "sdy.sharding_per_value", &[("shardings", F::Attributes)]),
        fields(
            17,
            "sdy.sharding",
            &[
                ("mesh_or_ref", F::Attribute),
                ("dim_shardings", F::Attributes),
                ("replicated_axes", F::Attributes),
                ("unreduced_axes", F::Attributes),
                ("reduction_op", F::Word("sdy.reduction_op", REDUCTIONS)),
            ],
        ),
    ],
};

const ALIAS: &[(&str, Field)] =
    &[("output_tuple_indices", F::Ints), ("operand_index", F::Int), ("operand_tuple_indices", F::Ints)];

const ACCURACY: &[(&str, Field)] =
    &[("atol", F::Double), ("rtol", F::Double), ("ulps", F::Int), ("mode", F::Attribute)];

const SUB_AXIS: &[(&str, Field)] = &[("pre_size", F::Int), ("size", F::Int)];

/// The fields of a convolution's dimension numbers.
pub(super) const CONVOLUTION: &[(&str, Field)] = &[
    ("input_batch_dimension", F::Int),
    ("input_feature_dimension", F::Int),
    ("input_spatial_dimensions", F::Ints),
    ("kernel_input_feature_dimension", F::Int),
    ("kernel_output_feature_dimension", F::Int),
    ("kernel_spatial_dimensions", F::Ints),
    ("output_batch_dimension", F::Int),
    ("output_feature_dimension", F::Int),
    ("output_spatial_dimensions", F::Ints),
];

/// The fields of a dot product's dimension numbers.
pub(super) const DOT: &[(&str, Field)] = &[
    ("lhs_batching_dimensions", F::Ints),
    ("rhs_batching_dimensions", F::Ints),
    ("lhs_contracting_dimensions", F::Ints),
    ("rhs_contracting_dimensions", F::Ints),
];

/// The fields of a dot product's algorithm.
pub(super) const DOT_ALGORITHM: &[(&str, Field)] = &[
    ("lhs_precision_type", F::Type),
    ("rhs_precision_type", F::Type),
    ("accumulation_type", F::Type),
    ("lhs_component_count", F::Int),
    ("rhs_component_count", F::Int),
    ("num_primitive_operations", F::Int),
    ("allow_imprecise_accumulation", F::Bool),
];

/// The fields of a gather's dimension numbers.
pub(super) const GATHER: &[(&str, Field)] = &[
    ("offset_dims", F::Ints),
    ("collapsed_slice_dims", F::Ints),
    ("operand_batching_dims", F::Ints),
    ("start_indices_batching_dims", F::Ints),
    ("start_index_map", F::Ints),
    ("index_vector_dim", F::Int),
];

/// The fields of a scatter's dimension numbers.
pub(super) const SCATTER: &[(&str, Field)] = &[
    ("update_window_dims", F::Ints),
    ("inserted_window_dims", F::Ints),
    ("input_batching_dims", F::Ints),
    ("scatter_indices_batching_dims", F::Ints),
    ("scatter_dims_to_operand_dims", F::Ints),
    ("index_vector_dim", F::Int),
];

const SHARDING_RULE: &[(&str, Field)] = &[
    ("factor_sizes", F::Ints),
    ("operand_mappings", F::Attributes),
    ("result_mappings", F::Attributes),
    ("reduction_factors", F::Ints),
    ("need_replication_factors", F::Ints),
    ("permutation_factors", F::Ints),
    ("blocked_propagation_factors", F::Ints),
    ("is_custom_rule", F::Bool),
];
