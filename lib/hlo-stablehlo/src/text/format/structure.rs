//! The text form of structures: `#stablehlo.gather<offset_dims = [1], index_vector_dim = 0>`.

/// The value of a structure's field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// `1`: an integer of type `i64`.
    Integer,
    /// `[0, 1]`: integers of type `i64`.
    Integers,
    /// `true`.
    Bool,
    /// `tf32`: a type.
    Type,
    /// `"x"`.
    String,
    /// `1.0e-5`: a number of type `f64`.
    Float,
    /// Any attribute, in its standalone form.
    Any,
    /// `(1)2`: a part of an axis, of kind `sub_axis_info`.
    SubAxis,
    /// `[<name = "x", size = 2>]`: structures of the given kind, without its name.
    Structures(&'static str),
}

/// A structure.
#[derive(Debug)]
pub struct Structure {
    /// The kind of the structure.
    pub kind: &'static str,
    /// The fields, in order.
    pub fields: &'static [(&'static str, Field)],
    /// Whether the printer omits fields that are zero or empty.
    pub omits_zeros: bool,
}

/// Returns the structure of a kind.
pub fn find(kind: &str) -> Option<&'static Structure> {
    STRUCTURES.iter().find(|s| s.kind == kind)
}

const STRUCTURES: &[Structure] = &[
    Structure {
        kind: "stablehlo.gather",
        fields: &[
            ("offset_dims", Field::Integers),
            ("collapsed_slice_dims", Field::Integers),
            ("operand_batching_dims", Field::Integers),
            ("start_indices_batching_dims", Field::Integers),
            ("start_index_map", Field::Integers),
            ("index_vector_dim", Field::Integer),
        ],
        omits_zeros: true,
    },
    Structure {
        kind: "stablehlo.scatter",
        fields: &[
            ("update_window_dims", Field::Integers),
            ("inserted_window_dims", Field::Integers),
            ("input_batching_dims", Field::Integers),
            ("scatter_indices_batching_dims", Field::Integers),
            ("scatter_dims_to_operand_dims", Field::Integers),
            ("index_vector_dim", Field::Integer),
        ],
        omits_zeros: true,
    },
    Structure {
        kind: "stablehlo.dot",
        fields: &[
            ("lhs_batching_dimensions", Field::Integers),
            ("rhs_batching_dimensions", Field::Integers),
            ("lhs_contracting_dimensions", Field::Integers),
            ("rhs_contracting_dimensions", Field::Integers),
        ],
        omits_zeros: true,
    },
    Structure {
        kind: "chlo.ragged_dot",
        fields: &[
            ("lhs_batching_dimensions", Field::Integers),
            ("rhs_batching_dimensions", Field::Integers),
            ("lhs_contracting_dimensions", Field::Integers),
            ("rhs_contracting_dimensions", Field::Integers),
            ("lhs_ragged_dimensions", Field::Integers),
            ("rhs_group_dimensions", Field::Integers),
        ],
        omits_zeros: true,
    },
    Structure {
        kind: "stablehlo.dot_algorithm",
        fields: &[
            ("lhs_precision_type", Field::Type),
            ("rhs_precision_type", Field::Type),
            ("accumulation_type", Field::Type),
            ("lhs_component_count", Field::Integer),
            ("rhs_component_count", Field::Integer),
            ("num_primitive_operations", Field::Integer),
            ("allow_imprecise_accumulation", Field::Bool),
        ],
        omits_zeros: false,
    },
    Structure {
        kind: "stablehlo.channel_handle",
        fields: &[("handle", Field::Integer), ("type", Field::Integer)],
        omits_zeros: false,
    },
    Structure {
        kind: "stablehlo.output_operand_alias",
        fields: &[
            ("output_tuple_indices", Field::Integers),
            ("operand_index", Field::Integer),
            ("operand_tuple_indices", Field::Integers),
        ],
        omits_zeros: false,
    },
    Structure {
        kind: "stablehlo.result_accuracy",
        fields: &[
            ("atol", Field::Float),
            ("rtol", Field::Float),
            ("ulps", Field::Integer),
            ("mode", Field::Any),
        ],
        omits_zeros: true,
    },
    Structure {
        kind: "stablehlo.axis_ref",
        fields: &[("name", Field::String), ("sub_axis_info", Field::SubAxis)],
        omits_zeros: false,
    },
    Structure {
        kind: "stablehlo.mesh_axis",
        fields: &[("name", Field::String), ("size", Field::Integer)],
        omits_zeros: false,
    },
    Structure {
        kind: "stablehlo.mesh",
        fields: &[("axes", Field::Structures("stablehlo.mesh_axis")), ("device_ids", Field::Any)],
        omits_zeros: false,
    },
    Structure {
        kind: "stablehlo.replica_group_mesh_axes",
        fields: &[("mesh", Field::Any), ("axes", Field::Any)],
        omits_zeros: false,
    },
];

/// The dimensions of a convolution. They have the form `<[b, 0, f]x[0, i, o]->[b, 0, f]>`, and that of a
/// structure after the word `raw`.
pub const CONVOLUTION: Structure = Structure {
    kind: "stablehlo.conv",
    fields: &[
        ("input_batch_dimension", Field::Integer),
        ("input_feature_dimension", Field::Integer),
        ("input_spatial_dimensions", Field::Integers),
        ("kernel_input_feature_dimension", Field::Integer),
        ("kernel_output_feature_dimension", Field::Integer),
        ("kernel_spatial_dimensions", Field::Integers),
        ("output_batch_dimension", Field::Integer),
        ("output_feature_dimension", Field::Integer),
        ("output_spatial_dimensions", Field::Integers),
    ],
    omits_zeros: false,
};

/// Checks whether the values of a kind are words. The form of the words in the second list is
/// `#stablehlo.result_accuracy_mode<DEFAULT>`, not `#stablehlo<precision DEFAULT>`.
pub fn is_enumeration(kind: &str) -> bool {
    WORDS.contains(&kind) || WORDS_IN_ANGLES.contains(&kind)
}

const WORDS: &[&str] = &[
    "stablehlo.precision",
    "stablehlo.comparison_direction",
    "stablehlo.comparison_type",
    "stablehlo.fft_type",
    "stablehlo.transpose",
    "stablehlo.rng_distribution",
    "stablehlo.rng_algorithm",
    "chlo.precision",
    "chlo.comparison_direction",
    "chlo.comparison_type",
];

/// Kinds whose word is in angle brackets of its own.
pub const WORDS_IN_ANGLES: &[&str] = &["stablehlo.result_accuracy_mode"];
