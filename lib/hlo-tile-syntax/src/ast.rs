//! The syntax tree of a Tile file.

use hlo_ir::Span;
use hlo_ir::diag::Diag;

/// A file: its imports and functions, in the order of the text.
#[derive(Clone, Debug, Default)]
pub struct File {
    /// The imports.
    pub imports: Vec<Import>,
    /// The functions.
    pub functions: Vec<Function>,
    /// The errors of the parts that are not Tile: Python functions, classes and statements.
    pub python: Vec<Diag>,
}

/// An import from one module.
#[derive(Clone, Debug)]
pub struct Import {
    /// The module: `nn`, `plaidml.edsl`.
    pub module: Name,
    /// The imported names.
    pub what: Imported,
}

/// The names that an import takes from a module.
#[derive(Clone, Debug)]
pub enum Imported {
    /// `import module as name`: functions are called as `name.function`.
    Module(Option<Name>),
    /// `from module import *`.
    All,
    /// `from module import function as name, …`.
    Functions(Vec<(Name, Option<Name>)>),
}

/// `def name(parameters): body`.
#[derive(Clone, Debug)]
pub struct Function {
    /// The name.
    pub name: Name,
    /// The parameters.
    pub parameters: Vec<Parameter>,
    /// The statements.
    pub body: Vec<Statement>,
    /// The error if the function is not Tile. Such a function has no parameters and no statements here.
    pub python: Option<Diag>,
}

/// A parameter: a tensor or a number.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// The name.
    pub name: Name,
    /// The default value.
    pub default: Option<Expr>,
}

/// A name and its span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The name.
    pub text: String,
    /// The span.
    pub span: Span,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Statement {
    /// The kind of statement.
    pub kind: StatementKind,
    /// The span of the whole statement.
    pub span: Span,
}

/// The kinds of statements.
#[derive(Clone, Debug)]
pub enum StatementKind {
    /// `targets = value`, or with an operator: `target += value`.
    Assign {
        /// One expression, or several separated by commas.
        targets: Vec<Expr>,
        /// The operator before `=`: empty, or `+`, `*`, …
        operator: String,
        /// The assigned value.
        value: Expr,
    },
    /// An expression that is evaluated for its effect: `I.bind_dims(N)`, `O[i] >= I[i, j]`.
    Expression(Expr),
    /// `return value`.
    Return(Option<Expr>),
    /// `pass`.
    Pass,
    /// `assert test, message`.
    Assert {
        /// The condition that must be true.
        test: Expr,
        /// The error message if it is false.
        message: Option<Expr>,
    },
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// The kind of expression.
    pub kind: ExprKind,
    /// The span of the whole expression, including parentheses around it.
    pub span: Span,
}

/// The kinds of expressions.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// An integer.
    Integer(i64),
    /// A number with a decimal point or an exponent.
    Float(f64),
    /// `True`, `False`.
    Truth(bool),
    /// `None`.
    Nothing,
    /// A string without its quotes. Escapes are not decoded.
    Text(String),
    /// A name.
    Name(String),
    /// A unary operation.
    Unary(Unary, Box<Expr>),
    /// A binary operation.
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// `function(arguments)`.
    Call(Box<Expr>, Vec<Argument>),
    /// `base[indices]`; no indices for `base[()]`.
    Subscript(Box<Expr>, Vec<Expr>),
    /// `base[from:until]`: a part of a list.
    Slice {
        /// The list.
        base: Box<Expr>,
        /// The first position, or `None` for the beginning.
        from: Option<Box<Expr>>,
        /// The position after the last, or `None` for the end.
        until: Option<Box<Expr>>,
    },
    /// `base.name`.
    Attribute(Box<Expr>, Name),
    /// `then if test else otherwise`.
    Conditional {
        /// The condition.
        test: Box<Expr>,
        /// The value if the condition is true.
        then: Box<Expr>,
        /// The value if the condition is false.
        otherwise: Box<Expr>,
    },
    /// `(a, b)` or `[a, b]`.
    Sequence(Vec<Expr>),
    /// `*list` among arguments, dimensions or elements: expands to the elements of the list.
    Starred(Box<Expr>),
}

/// An argument of a call.
#[derive(Clone, Debug)]
pub struct Argument {
    /// The name of the parameter, if it is given.
    pub name: Option<Name>,
    /// The value.
    pub value: Expr,
}

/// A unary operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    /// `-a`
    Negate,
    /// `+a`
    Plus,
    /// `~a`
    Invert,
    /// `not a`
    Not,
}

/// Declares the binary operators with their text.
macro_rules! binary {
    ($($(#[$doc:meta])* $name:ident $text:literal)*) => {
        /// A binary operator.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Binary {
            $($(#[$doc])* $name,)*
        }

        impl Binary {
            /// Returns the text of the operator.
            pub fn text(self) -> &'static str {
                match self {
                    $(Binary::$name => $text,)*
                }
            }

            /// Returns the operator with the given text.
            pub fn of(text: &str) -> Option<Self> {
                match text {
                    $($text => Some(Binary::$name),)*
                    _ => None,
                }
            }
        }
    };
}

binary! {
    /// `a + b`
    Add "+"
    /// `a - b`
    Subtract "-"
    /// `a * b`
    Multiply "*"
    /// `a / b`
    Divide "/"
    /// `a // b`
    FloorDivide "//"
    /// `a % b`
    Modulo "%"
    /// `a ** b`
    Power "**"
    /// `a & b`
    And "&"
    /// `a | b`
    Or "|"
    /// `a ^ b`
    Xor "^"
    /// `a << b`
    ShiftLeft "<<"
    /// `a >> b`
    ShiftRight ">>"
    /// `a == b`
    Equal "=="
    /// `a != b`
    NotEqual "!="
    /// `a < b`
    Less "<"
    /// `a <= b`
    LessEqual "<="
    /// `a > b`
    Greater ">"
    /// `a >= b`
    GreaterEqual ">="
    /// `a and b`
    LogicalAnd "and"
    /// `a or b`
    LogicalOr "or"
}

impl Binary {
    /// Whether the operator is a comparison.
    pub fn is_comparison(self) -> bool {
        use Binary::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
        matches!(self, Equal | NotEqual | Less | LessEqual | Greater | GreaterEqual)
    }
}
