//! The pretty forms of functions, of Shardy operations, and of the operations that test StableHLO.

use super::Piece::{
    Attribute, Dictionary, Operand, Operands, OperandsAndTypes, Optional, RegionWithArguments, Text, Types,
};
use super::{AttributeForm, Form, Group, Piece, Types as T};

/// `%0 : A to B`
const CONVERSION: Form = Form::Pieces(&[Text(" "), Operands, Dictionary, Text(" : "), Types(T::To)]);

/// The word of the combining operation, such as `max`, if it is not a sum.
const REDUCTION: &[Piece] =
    &[Text(" "), Attribute("reduction_op", AttributeForm::WordOf(&["sum", "max", "min"]))];

pub const FORMS: &[Group] = &[
    (&["builtin.module"], Form::Module),
    (&["builtin.unrealized_conversion_cast"], CONVERSION),
    (&["func.func"], Form::Function),
    (&["func.return"], Form::Pieces(&[Dictionary, OperandsAndTypes])),
    (
        &["func.call"],
        Form::Pieces(&[
            Text(" "),
            Attribute("callee", AttributeForm::Symbol),
            Text("("),
            Operands,
            Text(")"),
            Dictionary,
            Text(" : "),
            Types(T::Function),
        ]),
    ),
    (
        &["sdy.mesh"],
        Form::Pieces(&[
            Text(" "),
            Attribute("sym_name", AttributeForm::StringSymbol),
            Text(" = "),
            Attribute("mesh", AttributeForm::Body("sdy.mesh")),
            Dictionary,
        ]),
    ),
    (
        &["sdy.sharding_constraint", "sdy.reshard"],
        Form::Pieces(&[
            Text(" "),
            Operand,
            Text(" "),
            Attribute("sharding", AttributeForm::Body("sdy.sharding")),
            Dictionary,
            Text(" : "),
            Types(T::Same),
        ]),
    ),
    (&["sdy.return"], Form::Pieces(&[Dictionary, OperandsAndTypes])),
    (
        &["sdy.manual_computation"],
        Form::Pieces(&[
            Text("("),
            Operands,
            Text(") in_shardings="),
            Attribute("in_shardings", AttributeForm::Shardings),
            Text(" out_shardings="),
            Attribute("out_shardings", AttributeForm::Shardings),
            Text(" manual_axes="),
            Attribute("manual_axes", AttributeForm::Body("sdy.manual_axes")),
            Text(" "),
            RegionWithArguments,
            Dictionary,
            Text(" : "),
            Types(T::Function),
        ]),
    ),
    (
        &["sdy.named_computation"],
        Form::Pieces(&[
            Text("<"),
            Attribute("name", AttributeForm::String),
            Text(">("),
            Operands,
            Text(")"),
            Optional(
                "in_shardings",
                &[Text(" in_shardings="), Attribute("in_shardings", AttributeForm::Shardings)],
            ),
            Optional(
                "out_shardings",
                &[Text(" out_shardings="), Attribute("out_shardings", AttributeForm::Shardings)],
            ),
            Text(" "),
            RegionWithArguments,
            Dictionary,
            Text(" : "),
            Types(T::Function),
        ]),
    ),
    (
        &["sdy.sharding_group"],
        Form::Pieces(&[
            Text(" "),
            Operand,
            Text(" group_id="),
            Attribute("group_id", AttributeForm::Integer(64)),
            Dictionary,
            Text(" : "),
            Types(T::OperandsSame),
        ]),
    ),
    (&["sdy.constant"], Form::Constant),
    (
        &["sdy.data_flow_edge"],
        Form::Pieces(&[
            Text(" "),
            Operand,
            Optional(
                "sharding",
                &[Text(" sharding="), Attribute("sharding", AttributeForm::Body("sdy.sharding"))],
            ),
            Dictionary,
            Text(" : "),
            Types(T::Same),
        ]),
    ),
    (&["sdy.func_data_flow_edge"], super::UNARY),
    (
        &["sdy.propagation_barrier"],
        Form::Pieces(&[
            Text(" "),
            Operand,
            Text(" allowed_direction="),
            Attribute("allowed_direction", AttributeForm::WordOf(&["NONE", "FORWARD", "BACKWARD", "BOTH"])),
            Dictionary,
            Text(" : "),
            Types(T::Same),
        ]),
    ),
    (
        &["sdy.all_gather"],
        Form::Pieces(&[
            Text(" "),
            Attribute("gathering_axes", AttributeForm::Body("sdy.list_of_axis_ref_lists")),
            Text(" "),
            Operand,
            Text(" out_sharding="),
            Attribute("out_sharding", AttributeForm::Body("sdy.sharding")),
            Dictionary,
            Text(" : "),
            Types(T::Same),
        ]),
    ),
    (
        &["sdy.all_slice"],
        Form::Pieces(&[
            Text(" "),
            Attribute("slicing_axes", AttributeForm::Body("sdy.list_of_axis_ref_lists")),
            Text(" "),
            Operand,
            Text(" out_sharding="),
            Attribute("out_sharding", AttributeForm::Body("sdy.sharding")),
            Dictionary,
            Text(" : "),
            Types(T::Same),
        ]),
    ),
    (
        &["sdy.all_to_all"],
        Form::Pieces(&[
            Text(" "),
            Attribute("params", AttributeForm::Body("sdy.all_to_all_param_list")),
            Text(" "),
            Operand,
            Text(" out_sharding="),
            Attribute("out_sharding", AttributeForm::Body("sdy.sharding")),
            Dictionary,
            Text(" : "),
            Types(T::Same),
        ]),
    ),
    (
        &["sdy.collective_permute"],
        Form::Pieces(&[
            Text(" "),
            Operand,
            Text(" out_sharding="),
            Attribute("out_sharding", AttributeForm::Body("sdy.sharding")),
            Dictionary,
            Text(" : "),
            Types(T::Same),
        ]),
    ),
    (
        &["sdy.all_reduce"],
        Form::Pieces(&[
            Optional("reduction_op", REDUCTION),
            Text(" "),
            Attribute("reduction_axes", AttributeForm::Body("sdy.axis_ref_list")),
            Text(" "),
            Operand,
            Text(" out_sharding="),
            Attribute("out_sharding", AttributeForm::Body("sdy.sharding")),
            Dictionary,
            Text(" : "),
            Types(T::Same),
        ]),
    ),
    (
        &["sdy.reduce_scatter"],
        Form::Pieces(&[
            Optional("reduction_op", REDUCTION),
            Text(" "),
            Attribute("reduce_scatter_axes", AttributeForm::Body("sdy.list_of_axis_ref_lists")),
            Text(" "),
            Operand,
            Text(" out_sharding="),
            Attribute("out_sharding", AttributeForm::Body("sdy.sharding")),
            Dictionary,
            Text(" : "),
            Types(T::Same),
        ]),
    ),
    (
        &["sdy.sharded_to_unreduced"],
        Form::Pieces(&[
            Text(" "),
            Attribute("axes", AttributeForm::Body("sdy.list_of_axis_ref_lists")),
            Text(" "),
            Operand,
            Text(" out_sharding="),
            Attribute("out_sharding", AttributeForm::Body("sdy.sharding")),
            Dictionary,
            Text(" : "),
            Types(T::Same),
        ]),
    ),
    (
        &["sdy.replicated_to_unreduced"],
        Form::Pieces(&[
            Text(" "),
            Attribute("axes", AttributeForm::Body("sdy.axis_ref_list")),
            Text(" "),
            Operand,
            Text(" out_sharding="),
            Attribute("out_sharding", AttributeForm::Body("sdy.sharding")),
            Dictionary,
            Text(" : "),
            Types(T::Same),
        ]),
    ),
    // Operations of other dialects that StableHLO's own programs use to compute sizes at run time.
    (&["arith.constant"], Form::TypedConstant),
    (&["arith.index_cast", "tensor.cast"], CONVERSION),
    (
        &["arith.addi", "arith.muli", "arith.subi"],
        Form::Pieces(&[Text(" "), Operands, Dictionary, Text(" : "), Types(T::Same)]),
    ),
    (
        &["shape.broadcast", "shape.num_elements", "shape.shape_of"],
        Form::Pieces(&[Text(" "), Operands, Dictionary, Text(" : "), Types(T::Arrow)]),
    ),
    (
        &["check.expect_eq"],
        Form::Pieces(&[Text(" "), Operands, Dictionary, Text(" : "), Types(T::OperandsSame)]),
    ),
    (
        &["check.expect_eq_const"],
        Form::Pieces(&[Text(" "), Operand, Text(", "), Attribute("value", AttributeForm::Any), Dictionary]),
    ),
    (
        &["check.expect_almost_eq"],
        Form::Pieces(&[
            Text(" "),
            Operand,
            Text(", "),
            Operand,
            Optional("tolerance", &[Text(", tolerance = "), Attribute("tolerance", AttributeForm::Float)]),
            Dictionary,
            Text(" : "),
            Types(T::OperandsSame),
        ]),
    ),
    (
        &["check.expect_almost_eq_const"],
        Form::Pieces(&[
            Text(" "),
            Operand,
            Text(", "),
            Attribute("value", AttributeForm::Any),
            Optional("tolerance", &[Text(", tolerance = "), Attribute("tolerance", AttributeForm::Float)]),
            Dictionary,
        ]),
    ),
    (
        &["check.expect_close"],
        Form::Pieces(&[
            Text(" "),
            Operand,
            Text(", "),
            Operand,
            Text(", max_ulp_difference = "),
            Attribute("max_ulp_difference", AttributeForm::Unsigned(64)),
            Optional(
                "min_ulp_difference",
                &[
                    Text(", min_ulp_difference = "),
                    Attribute("min_ulp_difference", AttributeForm::Unsigned(64)),
                ],
            ),
            Dictionary,
            Types(T::Operands),
        ]),
    ),
    (
        &["check.expect_serialized_eq"],
        Form::Pieces(&[
            Text(" "),
            Operand,
            Text(", probe_id = "),
            Attribute("probe_id", AttributeForm::String),
            Optional("iteration", &[Text(", iter = "), Attribute("iteration", AttributeForm::Unsigned(32))]),
            Dictionary,
            Text(" : "),
            Types(T::OperandsSame),
        ]),
    ),
    (
        &["interpreter.print"],
        Form::Pieces(&[Text(" "), Operand, Dictionary, Text(" : "), Types(T::OperandsSame)]),
    ),
    (
        &["interpreter.probe"],
        Form::Pieces(&[
            Text(" "),
            Operand,
            Text(", probe_id = "),
            Attribute("probe_id", AttributeForm::String),
            Dictionary,
            Text(" : "),
            Types(T::Same),
        ]),
    ),
];
