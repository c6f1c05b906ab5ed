//! Elementwise functions: their names, the types that they work on, and their HLO operations.

use crate::ast::Binary;
use crate::types::{Kind, promoted};
use hlo_builder::Value as Hlo;
use hlo_ir::ElementType;

/// The operand types that a function accepts, and its result type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Domain {
    /// Floating-point numbers. The result for integers is `f32`.
    Real,
    /// Numbers. The result has the type of the operands.
    Number,
    /// Numbers or booleans. The result has the type of the operands.
    Any,
    /// Integers or booleans. The result has the type of the operands.
    Bits,
    /// Numbers or booleans of one type. The result is a boolean.
    Comparison,
    /// Booleans. A number counts as true if it is not 0.
    Logical,
}

/// Declares the functions with variant, name, number of operands and domain.
macro_rules! functions {
    ($($variant:ident $name:literal $arity:literal $domain:ident;)*) => {
        /// An elementwise function.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Function {
            $($variant,)*
        }

        impl Function {
            /// All functions.
            pub(crate) const ALL: &[Function] = &[$(Function::$variant,)*];

            /// Returns the name. If the function has an operator, the name is only used in messages.
            pub(crate) fn name(self) -> &'static str {
                match self {
                    $(Function::$variant => $name,)*
                }
            }

            /// Returns the number of operands.
            pub(crate) fn arity(self) -> usize {
                match self {
                    $(Function::$variant => $arity,)*
                }
            }

            /// Returns the types that the function accepts.
            pub(crate) fn domain(self) -> Domain {
                match self {
                    $(Function::$variant => Domain::$domain,)*
                }
            }
        }
    };
}

functions! {
    Neg "-" 1 Number;
    BitNot "~" 1 Bits;
    Abs "abs" 1 Number;
    Acos "acos" 1 Real;
    Acosh "acosh" 1 Real;
    Asin "asin" 1 Real;
    Asinh "asinh" 1 Real;
    Atan "atan" 1 Real;
    Atanh "atanh" 1 Real;
    Ceil "ceil" 1 Number;
    Cos "cos" 1 Real;
    Cosh "cosh" 1 Real;
    Erf "erf" 1 Real;
    Exp "exp" 1 Real;
    Floor "floor" 1 Number;
    Ident "ident" 1 Any;
    Log "log" 1 Real;
    LogicalNot "logical_not" 1 Logical;
    Relu "relu" 1 Number;
    Round "round" 1 Number;
    Sigmoid "sigmoid" 1 Real;
    Sign "sign" 1 Number;
    Sin "sin" 1 Real;
    Sinh "sinh" 1 Real;
    Sqrt "sqrt" 1 Real;
    Tan "tan" 1 Real;
    Tanh "tanh" 1 Real;
    Add "+" 2 Any;
    Sub "-" 2 Number;
    Mul "*" 2 Any;
    Div "/" 2 Number;
    Mod "%" 2 Number;
    Pow "pow" 2 Number;
    Max "max" 2 Any;
    Min "min" 2 Any;
    BitAnd "&" 2 Bits;
    BitOr "|" 2 Bits;
    BitXor "^" 2 Bits;
    BitLeft "<<" 2 Bits;
    BitRight ">>" 2 Bits;
    Equal "==" 2 Comparison;
    NotEqual "!=" 2 Comparison;
    Less "<" 2 Comparison;
    LessEqual "<=" 2 Comparison;
    Greater ">" 2 Comparison;
    GreaterEqual ">=" 2 Comparison;
    LogicalAnd "logical_and" 2 Logical;
    LogicalOr "logical_or" 2 Logical;
    LogicalXor "logical_xor" 2 Logical;
    Select "select" 3 Any;
}

impl Function {
    /// Returns the function called `name`.
    pub(crate) fn of_name(name: &str) -> Option<Self> {
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic());
        Self::ALL.iter().copied().find(|f| is_name && f.name() == name)
    }

    /// Returns the function of an operator.
    pub(crate) fn of_operator(operator: Binary) -> Option<Self> {
        Some(match operator {
            Binary::Add => Function::Add,
            Binary::Subtract => Function::Sub,
            Binary::Multiply => Function::Mul,
            // For integers, both round towards zero.
            Binary::Divide => Function::Div,
            Binary::FloorDivide => return None,
            Binary::Modulo => Function::Mod,
            Binary::Power => Function::Pow,
            Binary::And => Function::BitAnd,
            Binary::Or => Function::BitOr,
            Binary::Xor => Function::BitXor,
            Binary::ShiftLeft => Function::BitLeft,
            Binary::ShiftRight => Function::BitRight,
            Binary::Equal => Function::Equal,
            Binary::NotEqual => Function::NotEqual,
            Binary::Less => Function::Less,
            Binary::LessEqual => Function::LessEqual,
            Binary::Greater => Function::Greater,
            Binary::GreaterEqual => Function::GreaterEqual,
            Binary::LogicalAnd | Binary::LogicalOr => return None,
        })
    }

    /// Returns the type that operands of these kinds are converted to, or a description of the required types
    /// if the function does not accept them.
    pub(crate) fn working_type(self, kinds: &[Kind]) -> Result<ElementType, &'static str> {
        let promoted = promoted(kinds);
        match self.domain() {
            Domain::Real if promoted.is_float() => Ok(promoted),
            Domain::Real if promoted.is_integer() => Ok(ElementType::F32),
            Domain::Real | Domain::Number if promoted.is_pred() => Err("numbers"),
            Domain::Bits if promoted.is_float() => Err("whole numbers or truth values"),
            Domain::Logical => Ok(ElementType::Pred),
            _ if promoted.is_pred() && matches!(self, Function::BitLeft | Function::BitRight) => {
                Err("whole numbers")
            }
            _ => Ok(promoted),
        }
    }

    /// Applies the function to operands of one type, [`Function::working_type`], and one shape. The first
    /// operand of `select` contains booleans.
    pub(crate) fn apply<'b>(self, element_type: ElementType, operands: &[Hlo<'b>]) -> Option<Hlo<'b>> {
        match *operands {
            [x] => Some(self.unary(element_type, x)),
            [x, y] => self.binary(element_type, x, y),
            [test, x, y] => Some(test.select(x, y)),
            _ => None,
        }
    }

    fn unary(self, element_type: ElementType, x: Hlo<'_>) -> Hlo<'_> {
        let is_whole = element_type.is_integer();
        match self {
            Function::Neg => -x,
            Function::BitNot | Function::LogicalNot => !x,
            Function::Abs if element_type.is_unsigned_integer() => x,
            Function::Sign if element_type.is_unsigned_integer() => x.min(1),
            Function::Ceil | Function::Floor | Function::Round if is_whole => x,
            Function::Abs => x.abs(),
            Function::Acos => x.acos(),
            Function::Acosh => x.acosh(),
            Function::Asin => x.asin(),
            Function::Asinh => x.asinh(),
            Function::Atan => x.atan2(1),
            Function::Atanh => x.atanh(),
            Function::Ceil => x.ceil(),
            Function::Cos => x.cos(),
            Function::Cosh => x.cosh(),
            Function::Erf => x.erf(),
            Function::Exp => x.exp(),
            Function::Floor => x.floor(),
            Function::Log => x.log(),
            Function::Relu => x.max(0),
            // Halves are rounded away from zero.
            Function::Round => x.round(),
            Function::Sigmoid => x.logistic(),
            Function::Sign => x.sign(),
            Function::Sin => x.sin(),
            Function::Sinh => x.sinh(),
            Function::Sqrt => x.sqrt(),
            Function::Tan => x.tan(),
            Function::Tanh => x.tanh(),
            // `ident`. Functions of more operands do not reach this match.
            _ => x,
        }
    }

    fn binary<'b>(self, element_type: ElementType, x: Hlo<'b>, y: Hlo<'b>) -> Option<Hlo<'b>> {
        Some(match self {
            Function::Add => x + y,
            Function::Sub => x - y,
            Function::Mul => x * y,
            Function::Div => x / y,
            Function::Mod => x % y,
            Function::Pow => x.pow(y),
            Function::Max => x.max(y),
            Function::Min => x.min(y),
            Function::BitAnd | Function::LogicalAnd => x & y,
            Function::BitOr | Function::LogicalOr => x | y,
            Function::BitXor | Function::LogicalXor => x ^ y,
            Function::BitLeft => x << y,
            Function::BitRight if element_type.is_unsigned_integer() => x.shift_right_logical(y),
            Function::BitRight => x.shift_right_arithmetic(y),
            Function::Equal => x.eq(y),
            Function::NotEqual => x.ne(y),
            Function::Less => x.lt(y),
            Function::LessEqual => x.le(y),
            Function::Greater => x.gt(y),
            Function::GreaterEqual => x.ge(y),
            _ => return None,
        })
    }
}
