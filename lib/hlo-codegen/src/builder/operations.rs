//! The MLIR operations that the code generator uses, as enums. Each enum contains operations with the same
//! number of operands and the same relation between the types of operands and result. A misspelled name or a
//! wrong number of operands is therefore an error of the Rust compiler.

/// Defines an enum of operations, with their names in MLIR.
macro_rules! operations {
    ($(#[$about:meta])* $kind:ident { $($operation:ident $name:literal,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs, reason = "MLIR's own names")]
        pub enum $kind {
            $($operation,)*
        }

        impl $kind {
            /// Returns the name of the operation in MLIR, with the prefix of its dialect.
            pub(super) fn name(self) -> &'static str {
                match self {
                    $($kind::$operation => $name,)*
                }
            }
        }
    };
}

operations! {
    /// An operation of one operand. The result has the operand's type.
    Unary {
        Ceil "llvm.intr.ceil",
        Ctpop "llvm.intr.ctpop",
        Fabs "llvm.intr.fabs",
        Floor "llvm.intr.floor",
        Negf "arith.negf",
        Roundeven "llvm.intr.roundeven",
        Sqrt "llvm.intr.sqrt",
        Trunc "llvm.intr.trunc",
    }
}

operations! {
    /// An operation of two operands of the same type. The result has the same type.
    Binary {
        Addf "arith.addf",
        Addi "arith.addi",
        Andi "arith.andi",
        Copysign "llvm.intr.copysign",
        Divf "arith.divf",
        Divsi "arith.divsi",
        Divui "arith.divui",
        Maximum "llvm.intr.maximum",
        Maxsi "arith.maxsi",
        Maxui "arith.maxui",
        Minimum "llvm.intr.minimum",
        Minsi "arith.minsi",
        Minui "arith.minui",
        Mulf "arith.mulf",
        Muli "arith.muli",
        Ori "arith.ori",
        Remf "arith.remf",
        Remsi "arith.remsi",
        Remui "arith.remui",
        Shli "arith.shli",
        Shrsi "arith.shrsi",
        Shrui "arith.shrui",
        Smax "llvm.intr.smax",
        Smin "llvm.intr.smin",
        Subf "arith.subf",
        Subi "arith.subi",
        Umin "llvm.intr.umin",
        Xori "arith.xori",
    }
}

operations! {
    /// A conversion: one operand, and a result of another type.
    Cast {
        Bitcast "arith.bitcast",
        Extf "arith.extf",
        Extsi "arith.extsi",
        Extui "arith.extui",
        Fptosi "arith.fptosi",
        Fptoui "arith.fptoui",
        Ptrtoint "llvm.ptrtoint",
        Sitofp "arith.sitofp",
        Truncf "arith.truncf",
        Trunci "arith.trunci",
        Uitofp "arith.uitofp",
    }
}
