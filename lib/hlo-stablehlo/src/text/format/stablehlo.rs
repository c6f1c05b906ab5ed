//! The pretty forms of StableHLO operations.

use super::Piece::{
    Attribute, Dictionary, DotDimensions, ExponentMantissa, Operand, Operands, OperandsAndCommas, Optional,
    Regions, SliceRanges, Text, Types, Window,
};
use super::{AttributeForm as A, Form, Types as T, forms, int, ints};

forms! {
    "stablehlo.copy" | "stablehlo.uniform_dequantize" | "stablehlo.uniform_quantize":
        [Operand] Same;
    "stablehlo.clamp" | "stablehlo.after_all": [Operands] Same;
    "stablehlo.is_finite" | "stablehlo.bitcast_convert" | "stablehlo.dynamic_pad" |
        "stablehlo.dynamic_reshape" | "stablehlo.dynamic_update_slice" | "stablehlo.real_dynamic_slice" |
        "stablehlo.reshape": [Operands] Function;
    "stablehlo.create_token" | "stablehlo.partition_id" | "stablehlo.replica_id": [Dictionary, Text(" : "),
        Types(T::Results)];
    "stablehlo.complex": [Operands] Complex;
    "stablehlo.select": [Operands] Select;
    "stablehlo.tuple": [Operands] Tuple;
    "stablehlo.return": [Text(" "), Operands, Dictionary, Types(T::Operands)];
    "stablehlo.optimization_barrier": [Dictionary, Text(" "), Types(T::Pairwise)];
    "stablehlo.iota": [Text(" dim = "), int("iota_dimension")] Results;
    "stablehlo.dynamic_iota": [Operand, Text(", dim = "), int("iota_dimension")] Function;
    "stablehlo.get_tuple_element": [Operand, Text("["), Attribute("index", A::Integer(32)), Text("]")]
        Function;
    "stablehlo.compare": [Attribute("comparison_direction", A::Word("stablehlo.comparison_direction")),
        Text(", "), Operand, Text(", "), Operand,
        Optional("compare_type", ", ", A::Word("stablehlo.comparison_type"))] Function;
    "stablehlo.slice": [Operand, Text(" "), SliceRanges] Function;
    "stablehlo.dynamic_slice": [OperandsAndCommas, Text(" sizes = "), ints("slice_sizes")] Function;
    "stablehlo.concatenate": [OperandsAndCommas, Text(" dim = "), int("dimension")] Function;
    "stablehlo.broadcast": [Operand, Text(", sizes = "), ints("broadcast_sizes")] Function;
    "stablehlo.broadcast_in_dim": [Operand, Text(", dims = "), ints("broadcast_dimensions")] Function;
    "stablehlo.dynamic_broadcast_in_dim": [Operand, Text(", "), Operand, Text(", dims = "),
        ints("broadcast_dimensions")] Function;
    "stablehlo.transpose": [Operand, Text(", dims = "), ints("permutation")] Function;
    "stablehlo.reverse": [Operand, Text(", dims = "), ints("dimensions")] Same;
    "stablehlo.pad": [Operand, Text(", "), Operand, Text(", low = "), ints("edge_padding_low"),
        Text(", high = "), ints("edge_padding_high"), Text(", interior = "), ints("interior_padding")]
        Function;
    "stablehlo.get_dimension_size" | "stablehlo.set_dimension_size": [OperandsAndCommas, Text(" dim = "),
        int("dimension")] Function;
    "stablehlo.cholesky": [Operand, Optional("lower", ", lower = ", A::Bool)] Same;
    "stablehlo.reduce_precision": [Operand, Text(", format = "),
        ExponentMantissa("exponent_bits", "mantissa_bits")] Same;
    "stablehlo.fft": [Operand, Text(", type = "), Attribute("fft_type", A::Word("stablehlo.fft_type")),
        Text(", length = "), ints("fft_length")] Function;
    "stablehlo.rng": [Operand, Text(", "), Operand, Text(", "), Operand, Text(", distribution = "),
        Attribute("rng_distribution", A::Word("stablehlo.rng_distribution"))] Function;
    "stablehlo.rng_bit_generator": [Operand, Text(", algorithm = "),
        Attribute("rng_algorithm", A::Word("stablehlo.rng_algorithm"))] Function;
    "stablehlo.einsum" | "stablehlo.unary_einsum": [OperandsAndCommas, Text(" config = "),
        Attribute("einsum_config", A::String)] Function;
    "stablehlo.dot": [Operand, Text(", "), Operand,
        Optional("precision_config", ", precision = ", A::Words("stablehlo.precision"))] Function;
    "stablehlo.dot_general": [Operand, Text(", "), Operand, Text(", "), DotDimensions,
        Optional("precision_config", ", precision = ", A::Words("stablehlo.precision")),
        Optional("algorithm", ", algorithm = ", A::Body("stablehlo.dot_algorithm"))] Function;
    "stablehlo.convolution": [Text("("), Operands, Text(") dim_numbers = "),
        Attribute("dimension_numbers", A::ConvolutionDimensions), Text(", window = {"), Window, Text("}")]
        Function;
    "stablehlo.custom_call": [Attribute("call_target_name", A::StringSymbol), Text("("), Operands,
        Text(")")] Function;
    "stablehlo.composite": [Attribute("name", A::String), Text(" "), Operands, Regions] Function;
    "stablehlo.constant" = Form::Constant;
    "stablehlo.reduce" = Form::Reduce;
    "stablehlo.while" = Form::While;
}
