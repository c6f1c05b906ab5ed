//! The operations of MLIR that the code generator uses, by what they take and give: a name that is misspelt or has
//! another number of operands does not compile.

/// The operations of one kind, and their names in MLIR.
macro_rules! operations {
    ($(#[$about:meta])* $kind:ident { $($operation:ident $name:literal,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs, reason = "MLIR's own names")]
        pub enum $kind {
            $($operation,)*
        }

        impl $kind {
            /// The name in MLIR, with its dialect.
            pub(super) fn name(self) -> &'static str {
                match self {
                    $($kind::$operation => $name,)*
                }
            }
        }
    };
}

operations! {
    /// An operation of one operand, whose type the result has.
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
    /// An operation of two operands of one type, which the result has.
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
        Sitofp "arith.sitofp",
        Truncf "arith.truncf",
        Trunci "arith.trunci",
        Uitofp "arith.uitofp",
    }
}
