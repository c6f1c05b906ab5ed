//! Elementwise opcodes: each element of the result is computed from the operands' elements at the same index.
//! A `copy` moves data and a `bitcast-convert` may change sizes, so they are not elementwise.

use super::{Opcode, Types};

/// The operands of an elementwise opcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// One operand.
    Unary,
    /// Two operands, whose order matters.
    Binary,
    /// Two operands in either order. Exchanging them changes no bit of the result, except the payload of a
    /// NaN.
    Commutative,
    /// Commutative. In addition, regrouping several operands changes only rounding. Reductions use these
    /// opcodes.
    Associative,
    /// Three operands, some of which may be scalars used for all elements.
    Ternary,
}

impl Class {
    /// Returns the number of operands.
    pub const fn operands(self) -> usize {
        match self {
            Class::Unary => 1,
            Class::Binary | Class::Commutative | Class::Associative => 2,
            Class::Ternary => 3,
        }
    }
}

/// The cost of computing one element on a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Work {
    /// A few instructions: addition, multiplication, comparisons, bit operations, conversions.
    Simple,
    /// A division or a remainder.
    Division,
    /// A square root.
    Root,
    /// An approximated function, such as the exponential.
    Function,
    /// A function that takes about twice as long, such as the power.
    LongFunction,
}

impl Work {
    /// Returns an approximate weight, relative to 1 for a load or an addition.
    pub const fn weight(self) -> i64 {
        match self {
            Work::Simple => 1,
            Work::Division | Work::Root => 8,
            Work::Function => 20,
            Work::LongFunction => 40,
        }
    }

    /// Returns whether the cost is counted as a transcendental function. Roots are included, as in XLA's cost
    /// analysis.
    pub const fn is_transcendental(self) -> bool {
        matches!(self, Work::Root | Work::Function | Work::LongFunction)
    }
}

/// The element type of an elementwise result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultType {
    /// The operands' type.
    Same,
    /// The type of the real and imaginary parts if the operands are complex, and otherwise the operands'
    /// type.
    Real,
    /// `pred`.
    Pred,
    /// The complex type that corresponds to the real type of the operands.
    Complex,
    /// Any type, as written in the text.
    Written,
}

/// The properties that all instructions of an elementwise opcode share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elementwise {
    /// The operands.
    pub class: Class,
    /// The element type of the result.
    pub result: ResultType,
    /// The allowed element types.
    pub types: Types,
    /// The cost of one element.
    pub work: Work,
}

/// Number of associative opcodes.
const ASSOCIATIVE: usize = {
    let (mut count, mut at) = (0, 0);
    while at < Opcode::ELEMENTWISE.len() {
        count += Opcode::ELEMENTWISE[at].is_associative() as usize;
        at += 1;
    }
    count
};

/// Returns the associative opcodes.
const fn associative() -> [Opcode; ASSOCIATIVE] {
    let mut out = [Opcode::Add; ASSOCIATIVE];
    let (mut count, mut at) = (0, 0);
    while at < Opcode::ELEMENTWISE.len() {
        if Opcode::ELEMENTWISE[at].is_associative() {
            out[count] = Opcode::ELEMENTWISE[at];
            count += 1;
        }
        at += 1;
    }
    out
}

impl Opcode {
    /// All associative opcodes, in the order of the table.
    pub const ASSOCIATIVE: &[Opcode] = &associative();

    /// Returns whether each element of the result is computed from the operands' elements at the same index.
    pub fn is_elementwise(self) -> bool {
        self.elementwise().is_some()
    }

    /// Returns whether an element of the result is computed from the elements at its own index, in the
    /// operands that have its sizes. True for elementwise opcodes, `copy`, and `bitcast-convert`, whose sizes
    /// differ if the element widths differ.
    pub fn is_pointwise(self) -> bool {
        self.is_elementwise() || matches!(self, Opcode::Copy | Opcode::BitcastConvert)
    }

    /// Returns whether exchanging the two operands changes no bit of the result, except the payload of a NaN.
    /// The element type must not be complex, see [`is_commutative_on`](Self::is_commutative_on).
    pub fn is_commutative(self) -> bool {
        self.elementwise().is_some_and(|e| matches!(e.class, Class::Commutative | Class::Associative))
    }

    /// Returns whether exchanging the two operands of this element type changes no bit of the result, except
    /// the payload of a NaN. The maximum and the minimum of complex numbers compare only their real parts.
    pub fn is_commutative_on(self, ty: crate::ElementType) -> bool {
        self.is_commutative() && !(ty.is_complex() && matches!(self, Opcode::Maximum | Opcode::Minimum))
    }

    /// Returns whether reordering and regrouping operands changes only rounding, so that reductions can use
    /// the opcode.
    pub const fn is_associative(self) -> bool {
        matches!(self.elementwise(), Some(Elementwise { class: Class::Associative, .. }))
    }

    /// Returns the cost of one element; `Simple` for opcodes that are not elementwise.
    pub fn work(self) -> Work {
        self.elementwise().map_or(Work::Simple, |e| e.work)
    }

    /// Returns whether instructions may have the attribute `result_accuracy`: transcendental functions of one
    /// operand.
    pub fn has_accuracy(self) -> bool {
        self.elementwise().is_some_and(|e| e.class == Class::Unary && e.work.is_transcendental())
    }
}

/// Defines the items about elementwise opcodes from the rows of the table.
macro_rules! define_elementwise {
    ($($variant:ident $class:ident $result:ident($types:ident) $work:ident [$($attrs:ty)?])*) => {
        /// An elementwise operation with its attributes. Evaluation and code generation match on it instead
        /// of on [`Op`].
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[allow(missing_docs, reason = "a variant's meaning is its text name")]
        pub enum ElementwiseOp<'a> { $($variant $((&'a $attrs))?,)* }

        impl ElementwiseOp<'_> {
            /// Returns the opcode.
            pub fn opcode(self) -> Opcode {
                match self {
                    $(ElementwiseOp::$variant $((bind_pattern!(_a $attrs)))? => Opcode::$variant,)*
                }
            }
        }

        impl Op {
            /// Returns the elementwise operation; `None` if this is another operation.
            pub fn elementwise(&self) -> Option<ElementwiseOp<'_>> {
                match self {
                    $(Op::$variant $((bind_pattern!(a $attrs)))? =>
                        Some(ElementwiseOp::$variant $((a as &$attrs))?),)*
                    _ => None,
                }
            }
        }

        impl Opcode {
            /// All elementwise opcodes, in the order of the table.
            pub const ELEMENTWISE: &[Opcode] = &[$(Opcode::$variant,)*];

            /// Returns the table's properties of the opcode, if it is elementwise.
            pub const fn elementwise(self) -> Option<Elementwise> {
                let (class, result, types, work) = match self {
                    $(Opcode::$variant => (
                        Class::$class,
                        result_type!($result),
                        Types::$types,
                        Work::$work,
                    ),)*
                    _ => return None,
                };
                Some(Elementwise { class, result, types, work })
            }
        }

        /// The pattern of all elementwise operations, for a `match` with one arm for them.
        #[macro_export]
        macro_rules! elementwise_op {
            () => { $($crate::Op::$variant { .. })|* };
        }

        /// The pattern of all elementwise opcodes.
        #[macro_export]
        macro_rules! elementwise_opcode {
            () => { $($crate::Opcode::$variant)|* };
        }
    };
}

/// Maps a word of the table to a [`ResultType`].
macro_rules! result_type {
    (same) => {
        ResultType::Same
    };
    (real) => {
        ResultType::Real
    };
    (pred) => {
        ResultType::Pred
    };
    (complex) => {
        ResultType::Complex
    };
    (written) => {
        ResultType::Written
    };
}
