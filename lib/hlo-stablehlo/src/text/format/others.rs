//! The pretty forms of functions, of Shardy operations, and of the operations that test StableHLO.

use super::Piece::{
    Attribute, Dictionary, Operand, Operands, OperandsAndTypes, Optional, RegionWithArguments, Text, Types,
};
use super::{AttributeForm as A, Form, Piece, Types as T, forms, int};

/// The word of the combining operation, such as `max`, if it is not a sum.
const REDUCTION: A = A::WordOf(&["sum", "max", "min"]);

/// Returns the piece of the attribute `name`, a sharding.
const fn sharding(name: &'static str) -> Piece {
    body(name, "sdy.sharding")
}

/// Returns the piece of the attribute `name`, of the given kind.
const fn body(name: &'static str, kind: &'static str) -> Piece {
    Attribute(name, A::Body(kind))
}

forms! {
    "builtin.module" = Form::Module;
    "builtin.unrealized_conversion_cast": [Operands] To;
    "func.func" = Form::Function;
    "func.return": [Dictionary, OperandsAndTypes];
    "func.call": [Attribute("callee", A::Symbol), Text("("), Operands, Text(")")] Function;
    "sdy.mesh": [Text(" "), Attribute("sym_name", A::StringSymbol), Text(" = "),
        Attribute("mesh", A::Body("sdy.mesh")), Dictionary];
    "sdy.sharding_constraint" | "sdy.reshard": [Operand, Text(" "), sharding("sharding")] Same;
    "sdy.return": [Dictionary, OperandsAndTypes];
    "sdy.manual_computation": [Text("("), Operands, Text(") in_shardings="),
        Attribute("in_shardings", A::Shardings), Text(" out_shardings="),
        Attribute("out_shardings", A::Shardings), Text(" manual_axes="),
        Attribute("manual_axes", A::Body("sdy.manual_axes")), Text(" "), RegionWithArguments] Function;
    "sdy.named_computation": [Text("<"), Attribute("name", A::String), Text(">("), Operands, Text(")"),
        Optional("in_shardings", " in_shardings=", A::Shardings),
        Optional("out_shardings", " out_shardings=", A::Shardings), Text(" "), RegionWithArguments] Function;
    "sdy.sharding_group": [Operand, Text(" group_id="), int("group_id")] OperandsSame;
    "sdy.constant" = Form::Constant;
    "sdy.data_flow_edge": [Operand, Optional("sharding", " sharding=", A::Body("sdy.sharding"))] Same;
    "sdy.func_data_flow_edge": [Operand] Same;
    "sdy.propagation_barrier": [Operand, Text(" allowed_direction="),
        Attribute("allowed_direction", A::WordOf(&["NONE", "FORWARD", "BACKWARD", "BOTH"]))] Same;
    "sdy.all_gather": [body("gathering_axes", "sdy.list_of_axis_ref_lists"), Text(" "), Operand,
        Text(" out_sharding="), sharding("out_sharding")] Same;
    "sdy.all_slice": [body("slicing_axes", "sdy.list_of_axis_ref_lists"), Text(" "), Operand,
        Text(" out_sharding="), sharding("out_sharding")] Same;
    "sdy.all_to_all": [body("params", "sdy.all_to_all_param_list"), Text(" "), Operand,
        Text(" out_sharding="), sharding("out_sharding")] Same;
    "sdy.collective_permute": [Operand, Text(" out_sharding="), sharding("out_sharding")] Same;
    "sdy.all_reduce": [Optional("reduction_op", " ", REDUCTION), Text(" "),
        body("reduction_axes", "sdy.axis_ref_list"), Text(" "), Operand, Text(" out_sharding="),
        sharding("out_sharding")] Same;
    "sdy.reduce_scatter": [Optional("reduction_op", " ", REDUCTION), Text(" "),
        body("reduce_scatter_axes", "sdy.list_of_axis_ref_lists"), Text(" "), Operand,
        Text(" out_sharding="), sharding("out_sharding")] Same;
    "sdy.sharded_to_unreduced": [body("axes", "sdy.list_of_axis_ref_lists"), Text(" "), Operand,
        Text(" out_sharding="), sharding("out_sharding")] Same;
    "sdy.replicated_to_unreduced": [body("axes", "sdy.axis_ref_list"), Text(" "), Operand,
        Text(" out_sharding="), sharding("out_sharding")] Same;
    // Operations of other dialects that StableHLO's own programs use to compute sizes at run time.
    "arith.constant" = Form::TypedConstant;
    "arith.index_cast" | "tensor.cast": [Operands] To;
    "arith.addi" | "arith.muli" | "arith.subi": [Operands] Same;
    "shape.broadcast" | "shape.num_elements" | "shape.shape_of": [Operands] Arrow;
    "check.expect_eq": [Operands] OperandsSame;
    "check.expect_eq_const": [Text(" "), Operand, Text(", "), Attribute("value", A::Any), Dictionary];
    "check.expect_almost_eq": [Operand, Text(", "), Operand,
        Optional("tolerance", ", tolerance = ", A::Float)] OperandsSame;
    "check.expect_almost_eq_const": [Text(" "), Operand, Text(", "), Attribute("value", A::Any),
        Optional("tolerance", ", tolerance = ", A::Float), Dictionary];
    "check.expect_close": [Text(" "), Operand, Text(", "), Operand, Text(", max_ulp_difference = "),
        Attribute("max_ulp_difference", A::Unsigned(64)),
        Optional("min_ulp_difference", ", min_ulp_difference = ", A::Unsigned(64)), Dictionary,
        Types(T::Operands)];
    "check.expect_serialized_eq": [Operand, Text(", probe_id = "), Attribute("probe_id", A::String),
        Optional("iteration", ", iter = ", A::Unsigned(32))] OperandsSame;
    "interpreter.print": [Operand] OperandsSame;
    "interpreter.probe": [Operand, Text(", probe_id = "), Attribute("probe_id", A::String)] Same;
}
