//! The opcode table: every HLO opcode with its text name, arity, family and attributes.
//!
//! [`for_each_opcode!`](crate::for_each_opcode) is the one place that lists them. [`Op`], [`Opcode`], text names, reading and printing
//! of attributes come from it.

use crate::attr::*;

/// How many operands an opcode takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arity {
    /// Exactly so many.
    Exactly(usize),
    /// So many or more.
    AtLeast(usize),
}

/// A group of opcodes. Shape inference, evaluation and code generation for a family sit in the file of its
/// name under `ops/` of the crate that does it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Family {
    /// Parameters, constants, tuples.
    Structural,
    /// One result element from the operands' elements at the same index.
    Elementwise,
    /// Elements are moved, not changed.
    DataMovement,
    /// Slices and updates at indices known at run time only.
    Indexing,
    /// Many elements into one; sorting.
    Reduction,
    /// Products, transforms, factorisations.
    LinearAlgebra,
    /// Batch normalisation.
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

/// The pattern of the operations that make each element of their result of the elements at the same place of their
/// operands. A `match` that treats them all alike uses it. A copy moves, and a bitcast-convert may change the sizes.
#[macro_export]
macro_rules! elementwise_op {
    () => {
        $crate::Op::Abs
            | $crate::Op::Acos
            | $crate::Op::Acosh
            | $crate::Op::Asin
            | $crate::Op::Asinh
            | $crate::Op::Atanh
            | $crate::Op::Cbrt
            | $crate::Op::Ceil
            | $crate::Op::Cosine
            | $crate::Op::Cosh
            | $crate::Op::CountLeadingZeros
            | $crate::Op::Erf
            | $crate::Op::Exponential
            | $crate::Op::ExponentialMinusOne
            | $crate::Op::Floor
            | $crate::Op::Imag
            | $crate::Op::IsFinite
            | $crate::Op::Log
            | $crate::Op::LogPlusOne
            | $crate::Op::Logistic
            | $crate::Op::Negate
            | $crate::Op::Not
            | $crate::Op::PopulationCount
            | $crate::Op::Real
            | $crate::Op::RoundNearestAfz
            | $crate::Op::RoundNearestEven
            | $crate::Op::Rsqrt
            | $crate::Op::Sign
            | $crate::Op::Sine
            | $crate::Op::Sinh
            | $crate::Op::Sqrt
            | $crate::Op::Tan
            | $crate::Op::Tanh
            | $crate::Op::Convert
            | $crate::Op::ReducePrecision(_)
            | $crate::Op::Add
            | $crate::Op::And
            | $crate::Op::Atan2
            | $crate::Op::Compare(_)
            | $crate::Op::Complex
            | $crate::Op::Divide
            | $crate::Op::Maximum
            | $crate::Op::Minimum
            | $crate::Op::Mulhi
            | $crate::Op::Multiply
            | $crate::Op::Or
            | $crate::Op::Power
            | $crate::Op::Remainder
            | $crate::Op::ShiftLeft
            | $crate::Op::ShiftRightArithmetic
            | $crate::Op::ShiftRightLogical
            | $crate::Op::StochasticConvert
            | $crate::Op::Subtract
            | $crate::Op::Xor
            | $crate::Op::Clamp
            | $crate::Op::Select
    };
}

/// Calls the macro `$m` with the whole table. A row is
/// `Variant "text-name" Arity(n) Family [AttributeStruct] "What it computes, in one line."`. Large structs are
/// boxed: every instruction has the size of the largest operation.
#[macro_export]
macro_rules! for_each_opcode {
    ($m:ident) => {
        $m! {
            Parameter "parameter" Exactly(0) Structural [ParameterAttrs]
                "The argument of the computation with the given number."
            Constant "constant" Exactly(0) Structural [Box<ConstantAttrs>]
                "A value written in the text."
            Tuple "tuple" AtLeast(0) Structural []
                "A tuple of the operands."
            GetTupleElement "get-tuple-element" Exactly(1) Structural [GetTupleElementAttrs]
                "One element of a tuple."

            Abs "abs" Exactly(1) Elementwise []
                "Absolute value of each element; the magnitude of a complex one."
            Acos "acos" Exactly(1) Elementwise []
                "Inverse cosine of each element."
            Acosh "acosh" Exactly(1) Elementwise []
                "Inverse hyperbolic cosine of each element."
            Asin "asin" Exactly(1) Elementwise []
                "Inverse sine of each element."
            Asinh "asinh" Exactly(1) Elementwise []
                "Inverse hyperbolic sine of each element."
            Atanh "atanh" Exactly(1) Elementwise []
                "Inverse hyperbolic tangent of each element."
            Cbrt "cbrt" Exactly(1) Elementwise []
                "Cube root of each element."
            Ceil "ceil" Exactly(1) Elementwise []
                "Each element rounded up to an integral value."
            Copy "copy" Exactly(1) Elementwise []
                "The operand's value in a buffer of its own, possibly with another layout."
            Cosine "cosine" Exactly(1) Elementwise []
                "Cosine of each element, in radians."
            Cosh "cosh" Exactly(1) Elementwise []
                "Hyperbolic cosine of each element."
            CountLeadingZeros "count-leading-zeros" Exactly(1) Elementwise []
                "Number of zero bits above the highest set bit of each element."
            Erf "erf" Exactly(1) Elementwise []
                "Gauss error function of each element."
            Exponential "exponential" Exactly(1) Elementwise []
                "e to the power of each element."
            ExponentialMinusOne "exponential-minus-one" Exactly(1) Elementwise []
                "e to the power of each element, minus 1, accurate near 0."
            Floor "floor" Exactly(1) Elementwise []
                "Each element rounded down to an integral value."
            Imag "imag" Exactly(1) Elementwise []
                "Imaginary part of each element; 0 for a real one."
            IsFinite "is-finite" Exactly(1) Elementwise []
                "True where the element is neither infinite nor NaN."
            Log "log" Exactly(1) Elementwise []
                "Natural logarithm of each element."
            LogPlusOne "log-plus-one" Exactly(1) Elementwise []
                "Natural logarithm of 1 plus each element, accurate near 0."
            Logistic "logistic" Exactly(1) Elementwise []
                "1 / (1 + exp(-x)) of each element."
            Negate "negate" Exactly(1) Elementwise []
                "Each element with its sign reversed; integers wrap around."
            Not "not" Exactly(1) Elementwise []
                "Complement of each element: logical for pred, of every bit for integers."
            PopulationCount "popcnt" Exactly(1) Elementwise []
                "Number of set bits of each element."
            Real "real" Exactly(1) Elementwise []
                "Real part of each element."
            RoundNearestAfz "round-nearest-afz" Exactly(1) Elementwise []
                "Each element rounded to the nearest integral value, ties away from zero."
            RoundNearestEven "round-nearest-even" Exactly(1) Elementwise []
                "Each element rounded to the nearest integral value, ties to even."
            Rsqrt "rsqrt" Exactly(1) Elementwise []
                "1 / square root of each element."
            Sign "sign" Exactly(1) Elementwise []
                "-1, 0 or 1 by the sign of each element (zeros and NaN stay); x/|x| for a complex one."
            Sine "sine" Exactly(1) Elementwise []
                "Sine of each element, in radians."
            Sinh "sinh" Exactly(1) Elementwise []
                "Hyperbolic sine of each element."
            Sqrt "sqrt" Exactly(1) Elementwise []
                "Square root of each element."
            Tan "tan" Exactly(1) Elementwise []
                "Tangent of each element, in radians."
            Tanh "tanh" Exactly(1) Elementwise []
                "Hyperbolic tangent of each element."
            Convert "convert" Exactly(1) Elementwise []
                "Each element's value in the result's element type."
            BitcastConvert "bitcast-convert" Exactly(1) Elementwise []
                "The operand's bits read as another element type; a last dimension appears or goes if the widths differ."
            ReducePrecision "reduce-precision" Exactly(1) Elementwise [ReducePrecisionAttrs]
                "Each element rounded to a float of fewer exponent and mantissa bits, in the same type."
            Add "add" Exactly(2) Elementwise []
                "Sum of the operands, element by element; logical or for pred."
            And "and" Exactly(2) Elementwise []
                "Bitwise and of integers, logical and of pred, element by element."
            Atan2 "atan2" Exactly(2) Elementwise []
                "Angle of the point (second, first operand) from the positive x axis, element by element."
            Compare "compare" Exactly(2) Elementwise [CompareAttrs]
                "Whether the relation `direction` holds, element by element."
            Complex "complex" Exactly(2) Elementwise []
                "Complex numbers from their real (first operand) and imaginary (second operand) parts."
            Divide "divide" Exactly(2) Elementwise []
                "Quotient of the operands, element by element; integers round towards zero."
            Maximum "maximum" Exactly(2) Elementwise []
                "Larger of the operands, element by element; NaN if either is NaN."
            Minimum "minimum" Exactly(2) Elementwise []
                "Smaller of the operands, element by element; NaN if either is NaN."
            Mulhi "mulhi" Exactly(2) Elementwise []
                "Upper half of the double-width product of integers, element by element."
            Multiply "multiply" Exactly(2) Elementwise []
                "Product of the operands, element by element; logical and for pred."
            Or "or" Exactly(2) Elementwise []
                "Bitwise or of integers, logical or of pred, element by element."
            Power "power" Exactly(2) Elementwise []
                "First operand to the power of the second, element by element."
            Remainder "remainder" Exactly(2) Elementwise []
                "Remainder of the division, with the sign of the dividend, element by element."
            ShiftLeft "shift-left" Exactly(2) Elementwise []
                "Bits of the first operand moved up by the second, zeros moved in, element by element."
            ShiftRightArithmetic "shift-right-arithmetic" Exactly(2) Elementwise []
                "Bits of the first operand moved down by the second, copies of the sign bit moved in, element by element."
            ShiftRightLogical "shift-right-logical" Exactly(2) Elementwise []
                "Bits of the first operand moved down by the second, zeros moved in, element by element."
            StochasticConvert "stochastic-convert" Exactly(2) Elementwise []
                "Each element of the first operand rounded to the result's type, up or down at random by the bits of the second."
            Subtract "subtract" Exactly(2) Elementwise []
                "Difference of the operands, element by element."
            Xor "xor" Exactly(2) Elementwise []
                "Bitwise exclusive or of integers, logical exclusive or of pred, element by element."
            Clamp "clamp" Exactly(3) Elementwise []
                "Second operand limited to the range from the first to the third, element by element."
            Select "select" Exactly(3) Elementwise []
                "Second operand where the first is true, third where it is false, element by element."

            Bitcast "bitcast" Exactly(1) DataMovement []
                "The operand's buffer read with another shape and layout of the same size; no data moves."
            Broadcast "broadcast" Exactly(1) DataMovement [BroadcastAttrs]
                "Copies of the operand along new dimensions; `dimensions` says where its own ones go."
            Concatenate "concatenate" AtLeast(1) DataMovement [DimensionAttrs]
                "The operands joined end to end along one dimension."
            Iota "iota" Exactly(0) DataMovement [IotaAttrs]
                "Each element's index along `iota_dimension`."
            Pad "pad" Exactly(2) DataMovement [PadAttrs]
                "The operand with copies of the padding value before, after and between its elements; negative amounts cut."
            Reshape "reshape" Exactly(1) DataMovement [ReshapeAttrs]
                "The operand's elements in row-major order, with other dimension sizes."
            Reverse "reverse" Exactly(1) DataMovement [DimensionsAttrs]
                "The operand with the order of its elements reversed along `dimensions`."
            Slice "slice" Exactly(1) DataMovement [SliceAttrs]
                "Part of the operand: from start up to limit by stride in each dimension."
            Transpose "transpose" Exactly(1) DataMovement [DimensionsAttrs]
                "The operand with its dimensions reordered: result dimension i is operand dimension `dimensions[i]`."

            DynamicReshape "dynamic-reshape" AtLeast(1) Indexing []
                "A reshape whose result sizes are the other operands, bounded by the result's shape."
            DynamicSlice "dynamic-slice" AtLeast(1) Indexing [DynamicSliceAttrs]
                "Part of the first operand that begins at the indices given by the others, clamped to stay inside."
            DynamicUpdateSlice "dynamic-update-slice" AtLeast(2) Indexing []
                "First operand with the second written over it at the indices given by the others, clamped to stay inside."
            Gather "gather" Exactly(2) Indexing [Box<GatherAttrs>]
                "Slices of the first operand at the indices in the second, put together in one array."
            GetDimensionSize "get-dimension-size" Exactly(1) Indexing [DimensionAttrs]
                "Size of one dimension at run time, as s32."
            Scatter "scatter" AtLeast(3) Indexing [Box<ScatterAttrs>]
                "The operands with updates combined into them at the given indices."
            SetDimensionSize "set-dimension-size" Exactly(2) Indexing [DimensionAttrs]
                "The first operand with one dimension's run-time size set to the second."

            Map "map" AtLeast(0) Reduction [MapAttrs]
                "A computation on scalars applied to the operands, element by element."
            Reduce "reduce" AtLeast(2) Reduction [ReduceAttrs]
                "The elements along `dimensions` combined into one by a computation, starting from the initial values."
            ReduceWindow "reduce-window" AtLeast(2) Reduction [Box<ReduceWindowAttrs>]
                "The elements of each position of a moving window combined into one by a computation."
            Scan "scan" AtLeast(1) Reduction [ScanAttrs]
                "Running combinations along a dimension: a computation takes inputs and carries to outputs and carries."
            SelectAndScatter "select-and-scatter" Exactly(3) Reduction [Box<SelectAndScatterAttrs>]
                "Each source element combined into the place that a computation selects in its window."
            Sort "sort" AtLeast(1) Reduction [SortAttrs]
                "The operands sorted together along one dimension, in the order that a comparator gives."
            TopK "topk" Exactly(1) Reduction [TopkAttrs]
                "The k largest or smallest elements along the last dimension, and their indices."

            Cholesky "cholesky" Exactly(1) LinearAlgebra [CholeskyAttrs]
                "Cholesky factors of positive definite matrices in the last two dimensions."
            Convolution "convolution" AtLeast(2) LinearAlgebra [Box<ConvolutionAttrs>]
                "Convolution of an input with a kernel over the spatial dimensions of a window."
            Dot "dot" AtLeast(2) LinearAlgebra [Box<DotAttrs>]
                "Sum of products over the contracting dimensions, for each index of the batch dimensions."
            Fft "fft" Exactly(1) LinearAlgebra [FftAttrs]
                "Fourier transform over the innermost dimensions: forward or inverse, complex or real."
            RaggedDot "ragged-dot" Exactly(3) LinearAlgebra [Box<RaggedDotAttrs>]
                "A dot in which group sizes split a dimension of the left operand into parts of different lengths."
            ScaledDot "scaled-dot" Exactly(4) LinearAlgebra [Box<DotAttrs>]
                "A dot of two operands that are each multiplied by a scale (third and fourth operand) per block."
            TriangularSolve "triangular-solve" Exactly(2) LinearAlgebra [TriangularSolveAttrs]
                "Solves linear equations with triangular coefficient matrices."

            BatchNormGrad "batch-norm-grad" Exactly(5) Normalization [BatchNormAttrs]
                "Gradients of batch normalisation with respect to operand, scale and offset."
            BatchNormInference "batch-norm-inference" Exactly(5) Normalization [BatchNormAttrs]
                "Batch normalisation with a given mean and variance."
            BatchNormTraining "batch-norm-training" Exactly(3) Normalization [BatchNormAttrs]
                "Batch normalisation, and the mean and variance of each feature over the batch."

            Rng "rng" AtLeast(2) Random [RngAttrs]
                "Random numbers of a distribution with the operands as parameters."
            RngBitGenerator "rng-bit-generator" Exactly(1) Random [RngBitGeneratorAttrs]
                "A generator's next state and random bits that fill the result's shape."
            RngGetAndUpdateState "rng-get-and-update-state" Exactly(0) Random [RngGetAndUpdateStateAttrs]
                "The global state of the random numbers, to which `delta` is then added."

            Call "call" AtLeast(0) Control [CallAttrs]
                "The result of a computation applied to the operands."
            Conditional "conditional" AtLeast(1) Control [ConditionalAttrs]
                "The result of the branch that the first operand picks, applied to that branch's own operand."
            Fusion "fusion" AtLeast(0) Control [FusionAttrs]
                "The result of a computation that is compiled as one kernel, applied to the operands."
            OptBarrier "opt-barrier" Exactly(1) Control []
                "The operand unchanged; no optimisation moves code across."
            While "while" Exactly(1) Control [WhileAttrs]
                "The state after `body` has been applied as long as `condition` holds."

            AddDependency "add-dependency" Exactly(2) Effects []
                "The first operand, once the second (a token) is there."
            AfterAll "after-all" AtLeast(0) Effects []
                "A token that is there once all operands are."
            AsyncDone "async-done" AtLeast(1) Effects [AsyncDoneAttrs]
                "Waits for an asynchronous computation and gives its result."
            AsyncStart "async-start" AtLeast(0) Effects [AsyncStartAttrs]
                "Starts a computation that runs beside the others; its result is for `async-update` and `async-done`."
            AsyncUpdate "async-update" AtLeast(1) Effects [AsyncUpdateAttrs]
                "Lets an asynchronous computation go on without waiting for it; binds more of its operands."
            CopyDone "copy-done" Exactly(1) Effects []
                "Waits for a copy that `copy-start` began and gives it."
            CopyStart "copy-start" Exactly(1) Effects [CopyStartAttrs]
                "Starts an asynchronous copy of the operand, possibly to another memory space."
            CustomCall "custom-call" AtLeast(0) Effects [Box<CustomCallAttrs>]
                "The result of a function outside HLO, found by its name."
            Domain "domain" Exactly(1) Effects [Box<DomainAttrs>]
                "The operand; marks where metadata such as a sharding changes."
            Infeed "infeed" Exactly(1) Effects [InfeedAttrs]
                "Data from the host's infeed queue, and a token."
            Outfeed "outfeed" Exactly(2) Effects [Box<OutfeedAttrs>]
                "Writes the first operand to the host's outfeed queue; gives a token."
            PartitionId "partition-id" Exactly(0) Effects []
                "Number of the partition that runs this, as u32."
            Recv "recv" Exactly(1) Effects [ChannelAttrs]
                "Starts to receive data over a channel."
            RecvDone "recv-done" Exactly(1) Effects [ChannelAttrs]
                "Waits for a receive; gives the data and a token."
            ReplicaId "replica-id" Exactly(0) Effects []
                "Number of the replica that runs this, as u32."
            Send "send" Exactly(2) Effects [ChannelAttrs]
                "Starts to send the first operand over a channel, once the token is there."
            SendDone "send-done" Exactly(1) Effects [ChannelAttrs]
                "Waits for a send; gives a token."

            AllGather "all-gather" AtLeast(1) Collective [Box<AllGatherAttrs>]
                "The operands of all devices of a group joined along one dimension."
            AllGatherDone "all-gather-done" Exactly(1) Collective []
                "Waits for an all-gather and gives its result."
            AllGatherStart "all-gather-start" AtLeast(1) Collective [Box<AllGatherAttrs>]
                "Starts an asynchronous all-gather."
            AllReduce "all-reduce" AtLeast(1) Collective [Box<AllReduceAttrs>]
                "The operands of all devices of a group combined, element by element, by a computation."
            AllReduceDone "all-reduce-done" Exactly(1) Collective []
                "Waits for an all-reduce and gives its result."
            AllReduceStart "all-reduce-start" AtLeast(1) Collective [Box<AllReduceAttrs>]
                "Starts an asynchronous all-reduce."
            AllToAll "all-to-all" AtLeast(1) Collective [Box<AllToAllAttrs>]
                "Each device of a group sends a part of its operand to every device and joins what it gets."
            CollectiveBroadcast "collective-broadcast" AtLeast(1) Collective [Box<CollectiveBroadcastAttrs>]
                "The operand of the first device of each group, on all devices of the group."
            CollectivePermute "collective-permute" AtLeast(1) Collective [Box<CollectivePermuteAttrs>]
                "The operand of the device that sends to this one; zeros if none does."
            CollectivePermuteDone "collective-permute-done" Exactly(1) Collective []
                "Waits for a collective-permute and gives its result."
            CollectivePermuteStart "collective-permute-start" AtLeast(1) Collective [Box<CollectivePermuteAttrs>]
                "Starts an asynchronous collective-permute."
            RaggedAllToAll "ragged-all-to-all" Exactly(6) Collective [Box<RaggedAllToAllAttrs>]
                "An all-to-all in which offsets and sizes (operands) say which rows go to which device."
            ReduceScatter "reduce-scatter" AtLeast(1) Collective [Box<ReduceScatterAttrs>]
                "An all-reduce whose result is split along one dimension; each device gets its part."
        }
    };
}

macro_rules! bind_pattern {
    ($name:ident $attrs:ty) => {
        $name
    };
}

macro_rules! define_ops {
    ($($variant:ident $text:literal $arity:ident($n:literal) $family:ident [$($attrs:ty)?] $summary:literal)*) => {
        /// An operation: the opcode with its attributes.
        #[derive(Clone, Debug, PartialEq)]
        #[allow(missing_docs, reason = "a variant's meaning is its text name")]
        pub enum Op { $($variant $(($attrs))?,)* }

        /// An opcode without its attributes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[allow(missing_docs, reason = "a variant's meaning is its text name")]
        pub enum Opcode { $($variant,)* }

        impl Opcode {
            /// Every opcode, in the table's order.
            pub const ALL: &[Opcode] = &[$(Opcode::$variant,)*];

            /// The spelling in HLO text.
            pub fn name(self) -> &'static str {
                match self { $(Opcode::$variant => $text,)* }
            }

            /// The opcode that `name` spells.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($text => Some(Opcode::$variant),)* _ => None }
            }

            /// The number of operands.
            pub fn arity(self) -> Arity {
                match self { $(Opcode::$variant => Arity::$arity($n),)* }
            }

            /// The family that it belongs to.
            pub fn family(self) -> Family {
                match self { $(Opcode::$variant => Family::$family,)* }
            }

            /// What it computes, in one line.
            pub fn summary(self) -> &'static str {
                match self { $(Opcode::$variant => $summary,)* }
            }

            /// The operation with default attributes, for the parser to fill in.
            pub fn default_op(self) -> Op {
                match self { $(Opcode::$variant => Op::$variant $((<$attrs>::default()))?,)* }
            }
        }

        impl Op {
            /// The opcode.
            pub fn opcode(&self) -> Opcode {
                match self { $(Op::$variant $((bind_pattern!(_a $attrs)))? => Opcode::$variant,)* }
            }

            /// The attributes, if the opcode has any.
            pub fn attrs(&self) -> Option<&dyn Attrs> {
                match self {
                    $(Op::$variant $((bind_pattern!(a $attrs)))? => None::<&dyn Attrs>$(.or(Some(a as &$attrs)))?,)*
                }
            }

            /// The attributes for changing, if the opcode has any.
            pub fn attrs_mut(&mut self) -> Option<&mut dyn Attrs> {
                match self {
                    $(Op::$variant $((bind_pattern!(a $attrs)))? => None::<&mut dyn Attrs>$(.or(Some(a as &mut $attrs)))?,)*
                }
            }
        }
    };
}

for_each_opcode!(define_ops);

impl Op {
    /// The opcode's spelling in HLO text.
    pub fn name(&self) -> &'static str {
        self.opcode().name()
    }

    /// The computations that the attributes name, in printing order.
    pub fn called_computations(&self) -> Vec<crate::ComputationId> {
        let mut out = Vec::new();
        if let Some(a) = self.attrs() {
            a.for_each_computation(&mut |c| out.push(c));
        }
        out
    }
}

impl std::fmt::Display for Opcode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_small() {
        assert!(size_of::<Op>() <= 64, "{} bytes: box the largest attributes", size_of::<Op>());
    }

    #[test]
    fn summaries_are_one_short_sentence() {
        for &opcode in Opcode::ALL {
            let s = opcode.summary();
            assert!(s.ends_with('.') && s.len() <= 120 && !s.contains('\n'), "{opcode}: {s}");
        }
    }

    #[test]
    fn attributes_are_documented() {
        for &opcode in Opcode::ALL {
            for field in opcode.default_op().attrs().map_or(&[][..], |a| a.fields()) {
                assert!(!field.doc.is_empty() && !field.doc.starts_with(' '), "{opcode} {}", field.name);
            }
        }
    }
}
