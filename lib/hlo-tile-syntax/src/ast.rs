//! A file of Tile as it is written.

use hlo_ir::Span;
use hlo_ir::diag::Diag;

/// A file: its imports and functions in the order of the text.
#[derive(Clone, Debug, Default)]
pub struct File {
    /// What it takes from modules.
    pub imports: Vec<Import>,
    /// The functions.
    pub functions: Vec<Function>,
    /// The errors of the parts that are not Tile: functions, classes and statements of Python.
    pub python: Vec<Diag>,
}

/// What a file takes from one module.
#[derive(Clone, Debug)]
pub struct Import {
    /// The module: `nn`, `plaidml.edsl`.
    pub module: Name,
    /// What of it.
    pub what: Imported,
}

/// What an import takes of a module.
#[derive(Clone, Debug)]
pub enum Imported {
    /// `import module as name`: the functions by `name.function`.
    Module(Option<Name>),
    /// `from module import *`.
    All,
    /// `from module import function as name, …`.
    Functions(Vec<(Name, Option<Name>)>),
}

/// `def name(parameters): body`.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: Name,
    /// What it takes.
    pub parameters: Vec<Parameter>,
    /// What it does.
    pub body: Vec<Statement>,
    /// The error of a function that is not Tile. Such a function has no parameters and no statements here.
    pub python: Option<Diag>,
}

/// A parameter: a tensor or a number.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: Name,
    /// What it is if the call does not say.
    pub default: Option<Expr>,
}

/// A name and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The name.
    pub text: String,
    /// Its place.
    pub span: Span,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Statement {
    /// What it is.
    pub kind: StatementKind,
    /// All of it.
    pub span: Span,
}

/// What a statement is.
#[derive(Clone, Debug)]
pub enum StatementKind {
    /// `targets = value`; `operator` is that of `target += value`.
    Assign {
        /// One expression, or those that are separated by commas.
        targets: Vec<Expr>,
        /// The operator before `=`: empty, or `+`, `*`, …
        operator: String,
        /// What is assigned.
        value: Expr,
    },
    /// An expression that is computed for its effect: `I.bind_dims(N)`, `O[i] >= I[i, j]`.
    Expression(Expr),
    /// `return value`.
    Return(Option<Expr>),
    /// `pass`.
    Pass,
    /// `assert test, message`.
    Assert {
        /// What must be true.
        test: Expr,
        /// What to say if it is not.
        message: Option<Expr>,
    },
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// All of it, with parentheses around it.
    pub span: Span,
}

/// What an expression is.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// An integer.
    Integer(i64),
    /// A number with a point or an exponent.
    Float(f64),
    /// `True`, `False`.
    Truth(bool),
    /// `None`.
    Nothing,
    /// A string, without its quotes; escapes as they are written.
    Text(String),
    /// A name.
    Name(String),
    /// An operator before its operand.
    Unary(Unary, Box<Expr>),
    /// An operator between its operands.
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// `function(arguments)`.
    Call(Box<Expr>, Vec<Argument>),
    /// `base[indices]`; no indices for `base[()]`.
    Subscript(Box<Expr>, Vec<Expr>),
    /// `base[from:until]`, a part of a list.
    Slice {
        /// The list.
        base: Box<Expr>,
        /// The first position, if not the beginning.
        from: Option<Box<Expr>>,
        /// The position after the last, if not the end.
        until: Option<Box<Expr>>,
    },
    /// `base.name`.
    Attribute(Box<Expr>, Name),
    /// `then if test else otherwise`.
    Conditional {
        /// What decides.
        test: Box<Expr>,
        /// The value if it is true.
        then: Box<Expr>,
        /// The value if it is not.
        otherwise: Box<Expr>,
    },
    /// `(a, b)` or `[a, b]`.
    Sequence(Vec<Expr>),
    /// `*list` among arguments, dimensions or elements: each of its elements.
    Starred(Box<Expr>),
}

/// What is handed to a function.
#[derive(Clone, Debug)]
pub struct Argument {
    /// The parameter that it is for, if that is said.
    pub name: Option<Name>,
    /// The value.
    pub value: Expr,
}

/// An operator before its operand.
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

/// Declares the operators between operands with their text.
macro_rules! binary {
    ($($(#[$doc:meta])* $name:ident $text:literal)*) => {
        /// An operator between its operands.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Binary {
            $($(#[$doc])* $name,)*
        }

        impl Binary {
            /// How it is written.
            pub fn text(self) -> &'static str {
                match self {
                    $(Binary::$name => $text,)*
                }
            }

            /// The operator that is written so.
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
    /// True for those that compare.
    pub fn is_comparison(self) -> bool {
        use Binary::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
        matches!(self, Equal | NotEqual | Less | LessEqual | Greater | GreaterEqual)
    }
}
