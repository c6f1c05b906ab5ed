//! Tables of how dialects encode their own attributes: the words of enumeration numbers, and the fields
//! of structures.
//!
//! The numbers are those of `VhloBytecode.cpp`, `StablehloBytecode.cpp`, `ChloBytecode.cpp` and Shardy's
//! `bytecode.td`.

/// An attribute that is one of a list of words, encoded as the word's number.
#[derive(Debug)]
pub(super) struct Enumeration {
    /// The number that identifies the attribute.
    pub(super) code: u64,
    /// The kind, as in [`crate::tree::Attribute::Enum`].
    pub(super) kind: &'static str,
    /// The words.
    pub(super) words: &'static [&'static str],
    /// The number of the first word.
    pub(super) first: u64,
}

/// An attribute with fields.
#[derive(Debug)]
pub(super) struct Structure {
    /// The number that identifies the attribute.
    pub(super) code: u64,
    /// The kind, as in [`crate::tree::Attribute::Struct`].
    pub(super) kind: &'static str,
    /// The fields, in the order in which they are encoded.
    pub(super) fields: &'static [(&'static str, Field)],
}

/// The encoding of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    /// A signed number.
    Int,
    /// A list of signed numbers.
    Ints,
    /// A list of signed numbers. An empty list means that the field is absent.
    OptionalInts,
    /// An optional unsigned number.
    OptionalUnsigned,
    /// A byte.
    Bool,
    /// A 64-bit floating-point number.
    Double,
    /// A string in the file's string table.
    String,
    /// A type.
    Type,
    /// An attribute.
    Attribute,
    /// A string attribute that names a symbol, or another attribute.
    Symbol,
    /// A list of attributes.
    Attributes,
    /// An optional attribute. A flag in its number tells whether it is present.
    OptionalAttribute,
    /// An optional attribute. A byte before it tells whether it is present.
    AttributeAfterByte,
    /// An optional attribute. A number before it tells whether it is present.
    AttributeAfterNumber,
    /// A signed number that stands for one of the words of a kind.
    Word(&'static str, &'static [&'static str]),
}

/// The encoding of a dialect's attributes.
#[derive(Debug)]
pub(super) struct Encoding {
    /// Attributes that are one of a list of words.
    pub(super) enumerations: &'static [Enumeration],
    /// Attributes with fields.
    pub(super) structures: &'static [Structure],
}

impl Encoding {
    /// Returns the enumeration with the given number.
    pub(super) fn enumeration(&self, code: u64) -> Option<&'static Enumeration> {
        self.enumerations.iter().find(|e| e.code == code)
    }

    /// Returns the enumeration of a kind.
    pub(super) fn enumeration_of(&self, kind: &str) -> Option<&'static Enumeration> {
        self.enumerations.iter().find(|e| e.kind == kind)
    }

    /// Returns the structure of a kind that has the given fields. If several have them, returns the one with
    /// the fewest fields.
    pub(super) fn structure_of(
        &self,
        kind: &str,
        is_given: impl Fn(&str) -> bool,
    ) -> Option<&'static Structure> {
        let of_kind = || self.structures.iter().filter(|s| s.kind == kind);
        // Later structures of a kind add fields at the end. These may be absent.
        let given = |s: &Structure| s.fields.iter().filter(|(name, _)| is_given(name)).count();
        let most = of_kind().map(given).max()?;
        of_kind().find(|s| given(s) == most)
    }

    /// Returns the structure with the given number.
    pub(super) fn structure(&self, code: u64) -> Option<&'static Structure> {
        self.structures.iter().find(|s| s.code == code)
    }
}

impl Enumeration {
    /// Returns the number of a word.
    pub(super) fn number(&self, word: &str) -> Option<u64> {
        let at = self.words.iter().position(|w| *w == word)?;
        Some(at as u64 + self.first)
    }

    /// Returns the word of a number.
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

/// Returns an enumeration whose words are numbered from 0.
const fn words(code: u64, kind: &'static str, words: &'static [&'static str]) -> Enumeration {
    Enumeration { code, kind, words, first: 0 }
}

const fn fields(code: u64, kind: &'static str, fields: &'static [(&'static str, Field)]) -> Structure {
    Structure { code, kind, fields }
}

/// The kind of the API version of a custom call. VHLO encodes it as a word, StableHLO as a number.
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

/// The attributes of VHLO. Attributes without an entry correspond to MLIR's own; other code reads them.
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

/// The attributes of StableHLO.
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

/// The attributes of CHLO that it encodes. It writes all others as text.
pub(super) static CHLO: Encoding = Encoding {
    enumerations: &[
        words(0, "chlo.comparison_direction", DIRECTIONS),
        words(1, "chlo.comparison_type", COMPARISONS),
    ],
    structures: &[],
};

/// The attributes of Shardy. If an attribute has several numbers, the later ones have additional fields.
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
