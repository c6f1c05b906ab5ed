//! Descriptions of the pretty forms of operations, which the reader and the printer share.

mod chlo;
pub mod defaults;
mod others;
mod stablehlo;
pub mod structure;

use crate::dialect;
use foldhash::HashMap;
use hlo_ir::Class;
use std::sync::LazyLock;

/// The form of an operation.
#[derive(Clone, Copy, Debug)]
pub enum Form {
    /// A sequence of pieces.
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

/// A part of the text after an operation's name.
#[derive(Clone, Copy, Debug)]
pub enum Piece {
    /// Literal text with its blanks. Readers accept any blanks between words and symbols.
    Text(&'static str),
    /// The next operand.
    Operand,
    /// All remaining operands, separated by commas.
    Operands,
    /// All remaining operands, each followed by a comma.
    OperandsAndCommas,
    /// All remaining operands and their types, ` %0, %1 : A, B`. Nothing if there are none.
    OperandsAndTypes,
    /// The value of an attribute.
    Attribute(&'static str, AttributeForm),
    /// A text and the value of an attribute, if the operation has the attribute.
    Optional(&'static str, &'static str, AttributeForm),
    /// `start:limit:stride` for each dimension: the attributes `start_indices`, `limit_indices` and
    /// `strides`.
    SliceRanges,
    /// `batching_dims = [0] x [0], contracting_dims = [2] x [1]`: the attribute `dot_dimension_numbers`.
    DotDimensions,
    /// `stride = [1, 1], pad = [[0, 0], [0, 0]]`: the attributes of a window.
    Window,
    /// `e5m10`: the attributes with these names.
    ExponentMantissa(&'static str, &'static str),
    /// The attributes that no other piece contains.
    Dictionary,
    /// The types of operands and results.
    Types(Types),
    /// Regions in parentheses. Nothing if there are none.
    Regions,
    /// A region with its arguments before it: `(%arg0: tensor<f32>) { … }`.
    RegionWithArguments,
}

/// The form of an attribute's value.
#[derive(Clone, Copy, Debug)]
pub enum AttributeForm {
    /// The form of a standalone attribute.
    Any,
    /// `0`: an integer of the given number of bits, without its type.
    Integer(u32),
    /// `0`: an unsigned integer of the given number of bits, without its type.
    Unsigned(u32),
    /// `[0, 1]`: a list of integers.
    Integers,
    /// `1.0e-4`: a number of type `f64`.
    Float,
    /// `true`.
    Bool,
    /// `"x"`.
    String,
    /// `@f`: a symbol attribute.
    Symbol,
    /// `@f`: a string attribute.
    StringSymbol,
    /// `LT`: a word of an enumeration of the given kind.
    Word(&'static str),
    /// `FORWARD`: one of these words. The attribute is its index, of type `i32`.
    WordOf(&'static [&'static str]),
    /// `[DEFAULT, DEFAULT]`: a list of words of an enumeration of the given kind.
    Words(&'static str),
    /// `<…>`, `[…]`: an attribute of the given kind, without the kind.
    Body(&'static str),
    /// `[b, 0, f]x[0, i, o]->[b, 0, f]`.
    ConvolutionDimensions,
    /// `[<@mesh, [{"x"}]>]`: shardings of kind `sdy.sharding_per_value`.
    Shardings,
}

/// The form of the types of operands and results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Types {
    /// `(A, B) -> C`.
    Function,
    /// A single type if all types are equal, otherwise as `Function`.
    Same,
    /// The types of the results.
    Results,
    /// The types of the operands. Nothing if there are none.
    Operands,
    /// The common type of all operands of an operation without results.
    OperandsSame,
    /// The types of the operands. The results have the same types.
    Pairwise,
    /// The type of the result, a tuple of the operand types.
    Tuple,
    /// The types of the predicate and the result, if the other operands have the result type, otherwise as
    /// `Function`.
    Select,
    /// The type of the result, a complex type whose parts are the operands, otherwise as `Function`.
    Complex,
    /// `A, B -> C`.
    Arrow,
    /// `A, B to C`.
    To,
}

/// Returns the pretty form of an operation, or `None` if it has only the generic form.
pub fn find(name: &str) -> Option<Form> {
    FORMS.get(name).copied().or_else(|| {
        // Of CHLO's operations, the table contains all.
        let opcode = dialect::plain_opcode(name).filter(|_| name.starts_with("stablehlo."))?;
        Some(if opcode.elementwise()?.class == Class::Unary { *UNARY } else { *SAME })
    })
}

/// The form of plain operations with one operand: `%0`.
static UNARY: LazyLock<Form> = LazyLock::new(|| Row::Line(&[Piece::Operand], Types::Same).form());

/// The form of other plain operations: `%0, %1`.
static SAME: LazyLock<Form> = LazyLock::new(|| Row::Line(&[Piece::Operands], Types::Same).form());

/// The operations that a reduction can apply without a region.
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
    groups.flat_map(|(names, row)| names.iter().map(|name| (*name, row.form()))).collect()
});

/// The operations that share a form.
type Group = (&'static [&'static str], Row);

/// The form of operations in a table.
enum Row {
    /// These pieces, the other attributes, and after a colon the types. A blank precedes them unless the
    /// first piece contains its own text.
    Line(&'static [Piece], Types),
    /// A complete form.
    Form(Form),
}

/// Defines a table of forms. A row contains the names of operations, and after `:` their pieces. A row that
/// ends with the form of the types is a [`Row::Line`]. After `=`, a row contains a complete form.
macro_rules! forms {
    ($($($name:literal)|+ $(: [$($piece:expr),+] $($types:ident)?)? $(= $form:expr)?;)*) => {
        pub(super) const FORMS: &[$crate::text::format::Group] =
            &[$((&[$($name),+], forms!(@row $([$($piece),+] $($types)?)? $($form)?)),)*];
    };
    (@row [$($piece:expr),+] $types:ident) => {
        $crate::text::format::Row::Line(&[$($piece),+], $crate::text::format::Types::$types)
    };
    (@row [$($piece:expr),+]) => {
        $crate::text::format::Row::Form($crate::text::format::Form::Pieces(&[$($piece),+]))
    };
    (@row $form:expr) => {
        $crate::text::format::Row::Form($form)
    };
}
use forms;

impl Row {
    /// Returns the form with all of its pieces.
    fn form(&self) -> Form {
        match *self {
            Row::Line(pieces, types) => {
                let begins = matches!(pieces, [Piece::Text(_) | Piece::Optional(..), ..]);
                let blank: &[Piece] = if begins { &[] } else { &[Piece::Text(" ")] };
                let end = [Piece::Dictionary, Piece::Text(" : "), Piece::Types(types)];
                Form::Pieces([blank, pieces, &end].concat().leak())
            }
            Row::Form(form) => form,
        }
    }
}

/// Returns the piece of the attribute `name`, an integer of 64 bits.
const fn int(name: &'static str) -> Piece {
    Piece::Attribute(name, AttributeForm::Integer(64))
}

/// Returns the piece of the attribute `name`, a list of integers.
const fn ints(name: &'static str) -> Piece {
    Piece::Attribute(name, AttributeForm::Integers)
}
