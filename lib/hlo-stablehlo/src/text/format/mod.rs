//! The pretty forms of operations: a description of each, which reader and printer share.

mod chlo;
pub mod defaults;
mod others;
mod stablehlo;
pub mod structure;

use foldhash::HashMap;
use std::sync::LazyLock;

/// How an operation is written.
#[derive(Clone, Copy, Debug)]
pub enum Form {
    /// Piece by piece.
    Pieces(&'static [Piece]),
    /// `stablehlo.constant dense<1.0> : tensor<f32>`
    Constant,
    /// `arith.constant 1 : i32`
    TypedConstant,
    /// `stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [0] : …`
    Reduce,
    /// `stablehlo.while(%iterArg = %0) : tensor<i32> cond { … } do { … }`
    While,
    /// `chlo.scan(%0) inits (%1) dimension=0 { … } : …`
    Scan,
    /// `func.func @main(%arg0: tensor<f32>) -> tensor<f32> { … }`
    Function,
    /// `module @m attributes { … } { … }`
    Module,
}

/// A part of an operation's text behind its name.
#[derive(Clone, Copy, Debug)]
pub enum Piece {
    /// What is written, with its blanks; a reader takes any blanks between words and signs.
    Text(&'static str),
    /// The next operand.
    Operand,
    /// All operands that are left, with commas between them.
    Operands,
    /// All operands that are left, each with a comma behind it.
    OperandsAndCommas,
    /// All operands that are left and their types, ` %0, %1 : A, B`; nothing if there are none.
    OperandsAndTypes,
    /// An attribute's value.
    Attribute(&'static str, As),
    /// Pieces that are there if the attribute is; the first of them is a text, or the attribute's word.
    Optional(&'static str, &'static [Piece]),
    /// `start:limit:stride` of each dimension, the attributes `start_indices`, `limit_indices` and `strides`.
    SliceRanges,
    /// `batching_dims = [0] x [0], contracting_dims = [2] x [1]`, the attribute `dot_dimension_numbers`.
    DotDimensions,
    /// `stride = [1, 1], pad = [[0, 0], [0, 0]]`, the attributes of a window.
    Window,
    /// `e5m10`: the attributes of these names.
    ExponentMantissa(&'static str, &'static str),
    /// Attributes that nothing else says.
    Dictionary,
    /// The types.
    Types(Types),
    /// Regions in parentheses, if there are any.
    Regions,
    /// A region whose arguments stand before it: `(%arg0: tensor<f32>) { … }`.
    RegionWithArguments,
}

/// How the value of an attribute is written.
#[derive(Clone, Copy, Debug)]
pub enum As {
    /// As it is written by itself.
    Any,
    /// `0`: an integer of a number of bits without its type.
    Integer(u32),
    /// The same without a sign.
    Unsigned(u32),
    /// `[0, 1]`: integers.
    Integers,
    /// `1.0e-4`: a number of type `f64`.
    Float,
    /// `true`.
    Bool,
    /// `"x"`.
    String,
    /// `@f`: a symbol.
    Symbol,
    /// `@f`: a string.
    StringSymbol,
    /// `LT`: the word of an enumeration of a kind.
    Word(&'static str),
    /// `FORWARD`: one of these words; the attribute is its position, of type `i32`.
    WordOf(&'static [&'static str]),
    /// `[DEFAULT, DEFAULT]`: a list of those.
    Words(&'static str),
    /// `<…>`, `[…]`: an attribute of a kind without the kind.
    Body(&'static str),
    /// `[b, 0, f]x[0, i, o]->[b, 0, f]`.
    ConvolutionDimensions,
    /// `[<@mesh, [{"x"}]>]`: shardings of kind `sdy.sharding_per_value`.
    Shardings,
}

/// How the types of operands and results are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Types {
    /// `(A, B) -> C`.
    Function,
    /// One for all, if all are the same; otherwise as `Function`.
    Same,
    /// Those of the results.
    Results,
    /// Those of the operands, each; nothing if there are none.
    Operands,
    /// That of all operands; there are no results.
    OperandsSame,
    /// Those of the operands, each; the results have the same.
    Pairwise,
    /// That of the result, a tuple of the operands' types.
    Tuple,
    /// Those of the predicate and the result, if the other operands have the result's; otherwise as `Function`.
    Select,
    /// That of the result, whose parts the operands are; otherwise as `Function`.
    Complex,
    /// `A, B -> C`.
    Arrow,
    /// `A, B to C`.
    To,
}

/// The form of an operation; `None` if it has the generic one only.
pub fn find(name: &str) -> Option<Form> {
    FORMS.get(name).copied()
}

/// What a reduction may apply without a region.
pub const COMMUTATIVE: &[&str] = &[
    "stablehlo.add",
    "stablehlo.and",
    "stablehlo.maximum",
    "stablehlo.minimum",
    "stablehlo.multiply",
    "stablehlo.or",
    "stablehlo.xor",
];

static FORMS: LazyLock<HashMap<&str, Form>> = LazyLock::new(|| {
    let groups = stablehlo::FORMS.iter().chain(chlo::FORMS).chain(others::FORMS);
    groups.flat_map(|(names, form)| names.iter().map(|name| (*name, *form))).collect()
});

/// Operations of one form.
type Group = (&'static [&'static str], Form);

/// `%0`
const UNARY: Form = Form::Pieces(&[
    Piece::Text(" "),
    Piece::Operand,
    Piece::Dictionary,
    Piece::Text(" : "),
    Piece::Types(Types::Same),
]);
