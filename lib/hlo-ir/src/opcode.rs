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

/// Calls the macro `$m` with the whole table. A row is
/// `Variant "text-name" Arity(n) Family [AttributeStruct]`.
#[macro_export]
macro_rules! for_each_opcode {
    ($m:ident) => {
        $m! {
            Parameter "parameter" Exactly(0) Structural [ParameterAttrs]
            Constant "constant" Exactly(0) Structural [ConstantAttrs]
            Tuple "tuple" AtLeast(0) Structural []
            GetTupleElement "get-tuple-element" Exactly(1) Structural [GetTupleElementAttrs]

            Abs "abs" Exactly(1) Elementwise []
            Acos "acos" Exactly(1) Elementwise []
            Acosh "acosh" Exactly(1) Elementwise []
            Asin "asin" Exactly(1) Elementwise []
            Asinh "asinh" Exactly(1) Elementwise []
            Atanh "atanh" Exactly(1) Elementwise []
            Cbrt "cbrt" Exactly(1) Elementwise []
            Ceil "ceil" Exactly(1) Elementwise []
            Copy "copy" Exactly(1) Elementwise []
            Cosine "cosine" Exactly(1) Elementwise []
            Cosh "cosh" Exactly(1) Elementwise []
            CountLeadingZeros "count-leading-zeros" Exactly(1) Elementwise []
            Erf "erf" Exactly(1) Elementwise []
            Exponential "exponential" Exactly(1) Elementwise []
            ExponentialMinusOne "exponential-minus-one" Exactly(1) Elementwise []
            Floor "floor" Exactly(1) Elementwise []
            Imag "imag" Exactly(1) Elementwise []
            IsFinite "is-finite" Exactly(1) Elementwise []
            Log "log" Exactly(1) Elementwise []
            LogPlusOne "log-plus-one" Exactly(1) Elementwise []
            Logistic "logistic" Exactly(1) Elementwise []
            Negate "negate" Exactly(1) Elementwise []
            Not "not" Exactly(1) Elementwise []
            PopulationCount "popcnt" Exactly(1) Elementwise []
            Real "real" Exactly(1) Elementwise []
            RoundNearestAfz "round-nearest-afz" Exactly(1) Elementwise []
            RoundNearestEven "round-nearest-even" Exactly(1) Elementwise []
            Rsqrt "rsqrt" Exactly(1) Elementwise []
            Sign "sign" Exactly(1) Elementwise []
            Sine "sine" Exactly(1) Elementwise []
            Sinh "sinh" Exactly(1) Elementwise []
            Sqrt "sqrt" Exactly(1) Elementwise []
            Tan "tan" Exactly(1) Elementwise []
            Tanh "tanh" Exactly(1) Elementwise []
            Convert "convert" Exactly(1) Elementwise []
            BitcastConvert "bitcast-convert" Exactly(1) Elementwise []
            ReducePrecision "reduce-precision" Exactly(1) Elementwise [ReducePrecisionAttrs]
            Add "add" Exactly(2) Elementwise []
            And "and" Exactly(2) Elementwise []
            Atan2 "atan2" Exactly(2) Elementwise []
            Compare "compare" Exactly(2) Elementwise [CompareAttrs]
            Complex "complex" Exactly(2) Elementwise []
            Divide "divide" Exactly(2) Elementwise []
            Maximum "maximum" Exactly(2) Elementwise []
            Minimum "minimum" Exactly(2) Elementwise []
            Mulhi "mulhi" Exactly(2) Elementwise []
            Multiply "multiply" Exactly(2) Elementwise []
            Or "or" Exactly(2) Elementwise []
            Power "power" Exactly(2) Elementwise []
            Remainder "remainder" Exactly(2) Elementwise []
            ShiftLeft "shift-left" Exactly(2) Elementwise []
            ShiftRightArithmetic "shift-right-arithmetic" Exactly(2) Elementwise []
            ShiftRightLogical "shift-right-logical" Exactly(2) Elementwise []
            StochasticConvert "stochastic-convert" Exactly(2) Elementwise []
            Subtract "subtract" Exactly(2) Elementwise []
            Xor "xor" Exactly(2) Elementwise []
            Clamp "clamp" Exactly(3) Elementwise []
            Select "select" Exactly(3) Elementwise []

            Bitcast "bitcast" Exactly(1) DataMovement []
            Broadcast "broadcast" Exactly(1) DataMovement [BroadcastAttrs]
            Concatenate "concatenate" AtLeast(1) DataMovement [DimensionAttrs]
            Iota "iota" Exactly(0) DataMovement [IotaAttrs]
            Pad "pad" Exactly(2) DataMovement [PadAttrs]
            Reshape "reshape" Exactly(1) DataMovement [ReshapeAttrs]
            Reverse "reverse" Exactly(1) DataMovement [DimensionsAttrs]
            Slice "slice" Exactly(1) DataMovement [SliceAttrs]
            Transpose "transpose" Exactly(1) DataMovement [DimensionsAttrs]

            DynamicReshape "dynamic-reshape" AtLeast(1) Indexing []
            DynamicSlice "dynamic-slice" AtLeast(1) Indexing [DynamicSliceAttrs]
            DynamicUpdateSlice "dynamic-update-slice" AtLeast(2) Indexing []
            Gather "gather" Exactly(2) Indexing [GatherAttrs]
            GetDimensionSize "get-dimension-size" Exactly(1) Indexing [DimensionAttrs]
            Scatter "scatter" AtLeast(3) Indexing [ScatterAttrs]
            SetDimensionSize "set-dimension-size" Exactly(2) Indexing [DimensionAttrs]

            Map "map" AtLeast(0) Reduction [MapAttrs]
            Reduce "reduce" AtLeast(2) Reduction [ReduceAttrs]
            ReduceWindow "reduce-window" AtLeast(2) Reduction [ReduceWindowAttrs]
            Scan "scan" AtLeast(1) Reduction [ScanAttrs]
            SelectAndScatter "select-and-scatter" Exactly(3) Reduction [SelectAndScatterAttrs]
            Sort "sort" AtLeast(1) Reduction [SortAttrs]
            TopK "topk" Exactly(1) Reduction [TopkAttrs]

            Cholesky "cholesky" Exactly(1) LinearAlgebra [CholeskyAttrs]
            Convolution "convolution" AtLeast(2) LinearAlgebra [ConvolutionAttrs]
            Dot "dot" AtLeast(2) LinearAlgebra [DotAttrs]
            Fft "fft" Exactly(1) LinearAlgebra [FftAttrs]
            RaggedDot "ragged-dot" Exactly(3) LinearAlgebra [RaggedDotAttrs]
            ScaledDot "scaled-dot" Exactly(4) LinearAlgebra [DotAttrs]
            TriangularSolve "triangular-solve" Exactly(2) LinearAlgebra [TriangularSolveAttrs]

            BatchNormGrad "batch-norm-grad" Exactly(5) Normalization [BatchNormAttrs]
            BatchNormInference "batch-norm-inference" Exactly(5) Normalization [BatchNormAttrs]
            BatchNormTraining "batch-norm-training" Exactly(3) Normalization [BatchNormAttrs]

            Rng "rng" AtLeast(2) Random [RngAttrs]
            RngBitGenerator "rng-bit-generator" Exactly(1) Random [RngBitGeneratorAttrs]
            RngGetAndUpdateState "rng-get-and-update-state" Exactly(0) Random [RngGetAndUpdateStateAttrs]

            Call "call" AtLeast(0) Control [CallAttrs]
            Conditional "conditional" AtLeast(1) Control [ConditionalAttrs]
            Fusion "fusion" AtLeast(0) Control [FusionAttrs]
            OptBarrier "opt-barrier" Exactly(1) Control []
            While "while" Exactly(1) Control [WhileAttrs]

            AddDependency "add-dependency" Exactly(2) Effects []
            AfterAll "after-all" AtLeast(0) Effects []
            AsyncDone "async-done" AtLeast(1) Effects [AsyncAttrs]
            AsyncStart "async-start" AtLeast(0) Effects [AsyncAttrs]
            AsyncUpdate "async-update" AtLeast(1) Effects [AsyncAttrs]
            CopyDone "copy-done" Exactly(1) Effects []
            CopyStart "copy-start" Exactly(1) Effects [CopyStartAttrs]
            CustomCall "custom-call" AtLeast(0) Effects [CustomCallAttrs]
            Domain "domain" Exactly(1) Effects [DomainAttrs]
            Infeed "infeed" Exactly(1) Effects [InfeedAttrs]
            Outfeed "outfeed" Exactly(2) Effects [OutfeedAttrs]
            PartitionId "partition-id" Exactly(0) Effects []
            Recv "recv" Exactly(1) Effects [ChannelAttrs]
            RecvDone "recv-done" Exactly(1) Effects [ChannelAttrs]
            ReplicaId "replica-id" Exactly(0) Effects []
            Send "send" Exactly(2) Effects [ChannelAttrs]
            SendDone "send-done" Exactly(1) Effects [ChannelAttrs]

            AllGather "all-gather" AtLeast(1) Collective [CollectiveAttrs]
            AllGatherDone "all-gather-done" Exactly(1) Collective []
            AllGatherStart "all-gather-start" AtLeast(1) Collective [CollectiveAttrs]
            AllReduce "all-reduce" AtLeast(1) Collective [AllReduceAttrs]
            AllReduceDone "all-reduce-done" Exactly(1) Collective []
            AllReduceStart "all-reduce-start" AtLeast(1) Collective [AllReduceAttrs]
            AllToAll "all-to-all" AtLeast(1) Collective [CollectiveAttrs]
            CollectiveBroadcast "collective-broadcast" AtLeast(1) Collective [CollectiveAttrs]
            CollectivePermute "collective-permute" AtLeast(1) Collective [CollectivePermuteAttrs]
            CollectivePermuteDone "collective-permute-done" Exactly(1) Collective []
            CollectivePermuteStart "collective-permute-start" AtLeast(1) Collective [CollectivePermuteAttrs]
            RaggedAllToAll "ragged-all-to-all" Exactly(6) Collective [CollectiveAttrs]
            ReduceScatter "reduce-scatter" AtLeast(1) Collective [AllReduceAttrs]
        }
    };
}

macro_rules! bind_pattern {
    ($name:ident $attrs:ty) => {
        $name
    };
}

macro_rules! define_ops {
    ($($variant:ident $text:literal $arity:ident($n:literal) $family:ident [$($attrs:ty)?])*) => {
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
