//! Opcodes: their text names, arities, families, attributes and other properties that all instructions of an
//! opcode share.
//!
//! `table.rs` is the only list of them. [`Op`], [`Opcode`], [`ElementwiseOp`], text names, the reading and
//! printing of attributes, rules for element types, and costs are generated from it.

use crate::attr::*;

/// The pattern that binds the attributes of an opcode. Macros of this crate expand to it.
#[doc(hidden)]
#[macro_export]
macro_rules! bind_pattern {
    ($name:ident $attrs:ty) => {
        $name
    };
}

mod construct;
mod manual;
mod table;
mod traits;
mod types;
#[macro_use]
mod elementwise;

pub use elementwise::{Class, Elementwise, ResultType, Work};
pub use manual::Manual;
pub use traits::{FusionRole, Moves, Role, SizeRule, Traits};
pub use types::Types;

/// The number of operands of an opcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arity {
    /// Exactly this number.
    Exactly(usize),
    /// This number or more.
    AtLeast(usize),
}

/// A group of opcodes. Shape inference, evaluation and code generation of a family are in the file of its
/// name under `ops/` of the respective crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Family {
    /// Parameters, constants, tuples.
    Structural,
    /// Each element of the result is computed from the operands' elements at the same index.
    Elementwise,
    /// Elements are moved without changing them.
    DataMovement,
    /// Slices and updates at indices known only at run time.
    Indexing,
    /// Many elements are combined into one. Includes sorting.
    Reduction,
    /// Products, transforms, factorizations.
    LinearAlgebra,
    /// Batch normalization.
    Normalization,
    /// Random numbers.
    Random,
    /// Calls, loops, branches, fusions.
    Control,
    /// Tokens, host transfers, dynamic sizes, custom calls.
    Effects,
    /// Communication between devices.
    Collective,
}

/// Converts the three kinds of rows to one kind, and separates the additional columns of elementwise opcodes.
macro_rules! define_ops {
    (
        structural { $($structural:tt)* }
        elementwise {
            $($variant:ident $text:literal $class:ident $result:ident($types:ident) $work:ident [$($attrs:ty)?]
                $({ $($column:ident: $value:ident),* })? $summary:literal)*
        }
        others { $($others:tt)* }
    ) => {
        define_opcodes! {
            ($)
            $($structural)*
            $($variant $text Exactly(Class::$class.operands()) Elementwise [$($attrs)?]
                $({ $($column: $value),* })? $summary)*
            $($others)*
        }
        define_elementwise! { $($variant $class $result($types) $work [$($attrs)?])* }
    };
}

/// Converts the value of a column.
macro_rules! column {
    (moves $value:ident) => {
        Moves::$value
    };
    (sizes $value:ident) => {
        SizeRule::$value
    };
    (role $value:ident) => {
        Role::$value
    };
    (fusion $value:ident) => {
        FusionRole::$value
    };
    (by_parts $value:tt) => {
        $value
    };
}

/// Defines the items that all rows of the table describe. `$d` is a dollar sign, for the macro that it defines.
macro_rules! define_opcodes {
    (($d:tt) $($variant:ident $text:literal $arity:ident($n:expr) $family:ident [$($attrs:ty)?]
        $({ $($column:ident: $value:tt),* })? $summary:literal)*) => {
        /// `with_attrs!(op, a => expression)` evaluates the expression with `a` bound to the attributes of an
        /// operation, each struct with its own type. Does nothing for an operation without attributes.
        #[macro_export]
        macro_rules! with_attrs {
            ($d op:expr, $d a:ident => $d with:expr) => {
                match $d op {
                    $($($crate::Op::$variant($crate::bind_pattern!($d a $attrs)) => $d with,)?)*
                    _ => {}
                }
            };
        }

        /// An operation: the opcode with its attributes.
        #[derive(Clone, Debug, PartialEq)]
        #[allow(missing_docs, reason = "a variant's meaning is its text name")]
        pub enum Op { $($variant $(($attrs))?,)* }

        /// An opcode without its attributes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[allow(missing_docs, reason = "a variant's meaning is its text name")]
        pub enum Opcode { $($variant,)* }

        impl Opcode {
            /// All opcodes, in the order of the table.
            pub const ALL: &[Opcode] = &[$(Opcode::$variant,)*];

            /// Returns the name in HLO text.
            pub fn name(self) -> &'static str {
                match self { $(Opcode::$variant => $text,)* }
            }

            /// Returns the opcode with this name, if there is one.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($text => Some(Opcode::$variant),)* _ => None }
            }

            /// Returns the number of operands.
            pub fn arity(self) -> Arity {
                match self { $(Opcode::$variant => Arity::$arity($n),)* }
            }

            /// Returns the family of the opcode.
            pub fn family(self) -> Family {
                match self { $(Opcode::$variant => Family::$family,)* }
            }

            /// Returns the columns of the table that passes and engines use.
            #[allow(clippy::needless_update, reason = "a row may list all columns")]
            pub const fn traits(self) -> Traits {
                match self {
                    $(Opcode::$variant => Traits {
                        $($($column: column!($column $value),)*)?
                        ..Traits::of_family(Family::$family)
                    },)*
                }
            }

            /// Returns a one-line description of the result.
            pub fn summary(self) -> &'static str {
                match self { $(Opcode::$variant => $summary,)* }
            }

            /// Creates an operation with default attributes, which the parser then sets.
            pub fn default_op(self) -> Op {
                match self { $(Opcode::$variant => Op::$variant $((<$attrs>::default()))?,)* }
            }
        }

        impl Op {
            /// Returns the opcode.
            pub fn opcode(&self) -> Opcode {
                match self { $(Op::$variant $((bind_pattern!(_a $attrs)))? => Opcode::$variant,)* }
            }

            /// Returns the attributes, if the opcode has any.
            pub fn attrs(&self) -> Option<&dyn Attrs> {
                match self {
                    $(Op::$variant $((bind_pattern!(a $attrs)))? => None::<&dyn Attrs>$(.or(Some(a as &$attrs)))?,)*
                }
            }

            /// Returns the attributes for changing them, if the opcode has any.
            pub fn attrs_mut(&mut self) -> Option<&mut dyn Attrs> {
                match self {
                    $(Op::$variant $((bind_pattern!(a $attrs)))? => None::<&mut dyn Attrs>$(.or(Some(a as &mut $attrs)))?,)*
                }
            }
        }
    };
}

table::for_each_opcode!(define_ops);

impl Op {
    /// Returns the opcode's name in HLO text.
    pub fn name(&self) -> &'static str {
        self.opcode().name()
    }

    /// Returns the computations in the attributes, in printing order.
    pub fn called_computations(&self) -> Vec<crate::ComputationId> {
        let mut out = Vec::new();
        if let Some(a) = self.attrs() {
            a.for_each_computation(&mut |c| out.push(c));
        }
        out
    }
}

impl Op {
    /// Returns the dimensions of the operation's window; empty if it has none.
    pub fn window(&self) -> &[WindowDim] {
        match self {
            Op::Convolution(a) => &a.window.dims,
            Op::ReduceWindow(a) => &a.window.dims,
            Op::SelectAndScatter(a) => &a.window.dims,
            _ => &[],
        }
    }
}

impl std::fmt::Display for Opcode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
