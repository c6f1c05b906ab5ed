//! What the table says of the elementwise opcodes: those that make each element of their result of the elements at the
//! same place of their operands. A copy moves, and a bitcast-convert may change the sizes: they are none.

use super::{Opcode, Types};

/// How an elementwise opcode takes its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// One operand.
    Unary,
    /// Two operands, whose order matters.
    Binary,
    /// Two operands, in either order: exchanging them changes no bit of the result but a NaN's payload.
    Commutative,
    /// Commutative, and grouping several operands otherwise changes nothing but roundings: what reductions combine by.
    Associative,
    /// Three operands, some of which may be scalars that stand for all elements.
    Ternary,
}

impl Class {
    /// The number of operands.
    pub const fn operands(self) -> usize {
        match self {
            Class::Unary => 1,
            Class::Binary | Class::Commutative | Class::Associative => 2,
            Class::Ternary => 3,
        }
    }
}

/// How much work a processor has with one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Work {
    /// A few instructions: sums, products, comparisons, bits, conversions.
    Simple,
    /// A quotient or a remainder.
    Division,
    /// A square root.
    Root,
    /// A function that is approximated, such as the exponential.
    Function,
    /// One that takes about twice as long, such as the power.
    LongFunction,
}

impl Work {
    /// A rough weight: 1 for a load or an addition.
    pub const fn weight(self) -> i64 {
        match self {
            Work::Simple => 1,
            Work::Division | Work::Root => 8,
            Work::Function => 20,
            Work::LongFunction => 40,
        }
    }

    /// True for what costs are counted as transcendental functions: roots too, as XLA's cost analysis has it.
    pub const fn is_transcendental(self) -> bool {
        matches!(self, Work::Root | Work::Function | Work::LongFunction)
    }
}

/// The element type of an elementwise result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultType {
    /// That of the operands.
    Same,
    /// That of the parts of complex operands; else that of the operands.
    Real,
    /// `pred`.
    Pred,
    /// The complex type of real operands.
    Complex,
    /// Any: it has to be written.
    Written,
}

/// What is the same of all instructions of an elementwise opcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elementwise {
    /// How it takes its operands.
    pub class: Class,
    /// The result's element type.
    pub result: ResultType,
    /// The element types that values may have.
    pub types: Types,
    /// What an element costs.
    pub work: Work,
}

/// How many opcodes are associative.
const ASSOCIATIVE: usize = {
    let (mut count, mut at) = (0, 0);
    while at < Opcode::ELEMENTWISE.len() {
        count += Opcode::ELEMENTWISE[at].is_associative() as usize;
        at += 1;
    }
    count
};

/// Those that are.
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
    /// Every opcode that is associative, in the table's order.
    pub const ASSOCIATIVE: &[Opcode] = &associative();

    /// True if each element of the result is made of the elements at the same place of the operands.
    pub fn is_elementwise(self) -> bool {
        self.elementwise().is_some()
    }

    /// True if an element of the result is made of the elements at its own place, of those operands that have its
    /// sizes: elementwise opcodes, a copy, and a bitcast-convert, which has other sizes where the widths differ.
    pub fn is_pointwise(self) -> bool {
        self.is_elementwise() || matches!(self, Opcode::Copy | Opcode::BitcastConvert)
    }

    /// True if exchanging the two operands changes no bit of the result but a NaN's payload.
    pub fn is_commutative(self) -> bool {
        self.elementwise().is_some_and(|e| matches!(e.class, Class::Commutative | Class::Associative))
    }

    /// True for what reductions combine by: the order and the grouping of the operands change nothing but roundings.
    pub const fn is_associative(self) -> bool {
        matches!(self.elementwise(), Some(Elementwise { class: Class::Associative, .. }))
    }

    /// What an element costs; simple for what is not elementwise.
    pub fn work(self) -> Work {
        self.elementwise().map_or(Work::Simple, |e| e.work)
    }

    /// True if instructions may say by `result_accuracy` how exact their result must be: functions of one operand.
    pub fn has_accuracy(self) -> bool {
        self.elementwise().is_some_and(|e| e.class == Class::Unary && e.work.is_transcendental())
    }
}

/// Defines what knows the elementwise opcodes from the rows of the table.
macro_rules! define_elementwise {
    ($($variant:ident $class:ident $result:ident($types:ident) $work:ident [$($attrs:ty)?])*) => {
        /// An elementwise operation with its attributes: what evaluation and code generation go by, for whom the other
        /// opcodes do not exist.
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[allow(missing_docs, reason = "a variant's meaning is its text name")]
        pub enum ElementwiseOp<'a> { $($variant $((&'a $attrs))?,)* }

        impl ElementwiseOp<'_> {
            /// The opcode.
            pub fn opcode(self) -> Opcode {
                match self {
                    $(ElementwiseOp::$variant $((bind_pattern!(_a $attrs)))? => Opcode::$variant,)*
                }
            }
        }

        impl Op {
            /// The elementwise operation that it is; `None` for others.
            pub fn elementwise(&self) -> Option<ElementwiseOp<'_>> {
                match self {
                    $(Op::$variant $((bind_pattern!(a $attrs)))? =>
                        Some(ElementwiseOp::$variant $((a as &$attrs))?),)*
                    _ => None,
                }
            }
        }

        impl Opcode {
            /// Every elementwise opcode, in the table's order.
            pub const ELEMENTWISE: &[Opcode] = &[$(Opcode::$variant,)*];

            /// What the table says of it, if it is elementwise.
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

        /// The pattern of the elementwise operations, for a `match` that treats them all alike and lists the others.
        #[macro_export]
        macro_rules! elementwise_op {
            () => { $($crate::Op::$variant { .. })|* };
        }

        /// The pattern of the elementwise opcodes.
        #[macro_export]
        macro_rules! elementwise_opcode {
            () => { $($crate::Opcode::$variant)|* };
        }
    };
}

/// The word of the table for a [`ResultType`].
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
