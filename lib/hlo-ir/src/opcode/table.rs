//! The table of all HLO opcodes.
//!
//! A row of `elementwise` has the form `Variant "text-name" Class result(TYPES) Work [AttributeStruct]
//! "Summary in one line."`, with a [`Class`], a [`Work`], and one of these results:
//!
//! - `same(TYPES)`: operands and result have the same type, one of `TYPES`;
//! - `real(TYPES)`: the same, except that the result of a complex operand is real;
//! - `pred(TYPES)`: the result has type `pred`;
//! - `complex(TYPES)`: the result has the complex type that corresponds to the operands' real type;
//! - `written(TYPES)`: the text defines the type of the result.
//!
//! A row of the other groups has the form `Variant "text-name" Arity(n) Family [AttributeStruct] "Summary in
//! one line."`. Large structs are boxed, because every instruction has the size of the largest operation.
//!
//! The columns in braces before the summary are the fields of [`Traits`] that differ from the default.
//!
//! [`Class`]: super::Class
//! [`Work`]: super::Work
//! [`Traits`]: super::Traits

/// Calls the macro `$m` with the table.
macro_rules! for_each_opcode {
    ($m:ident) => {
        $m! {
            structural {
                Parameter "parameter" Exactly(0) Structural [ParameterAttrs]
                    { sizes: Forwarded, role: Parameter }
                    "The computation's argument with the given number."
                Constant "constant" Exactly(0) Structural [Box<ConstantAttrs>]
                    { sizes: Bounds, role: Constant }
                    "A literal value."
                Tuple "tuple" AtLeast(0) Structural []
                    { sizes: Forwarded, role: Tuple }
                    "A tuple of the operands."
                GetTupleElement "get-tuple-element" Exactly(1) Structural [GetTupleElementAttrs]
                    { sizes: Forwarded, role: Element }
                    "An element of a tuple."
            }

            elementwise {
                Abs "abs" Unary real(SIGNED_NUMERIC) Simple []
                    "Absolute value of each element, or the magnitude of a complex element."
                Acos "acos" Unary same(INEXACT) LongFunction []
                    "Inverse cosine of each element."
                Acosh "acosh" Unary same(INEXACT) LongFunction []
                    "Inverse hyperbolic cosine of each element."
                Asin "asin" Unary same(INEXACT) LongFunction []
                    "Inverse sine of each element."
                Asinh "asinh" Unary same(INEXACT) LongFunction []
                    "Inverse hyperbolic sine of each element."
                Atanh "atanh" Unary same(INEXACT) LongFunction []
                    "Inverse hyperbolic tangent of each element."
                Cbrt "cbrt" Unary same(FLOAT) Function []
                    "Cube root of each element."
                Ceil "ceil" Unary same(FLOAT) Simple []
                    "Each element rounded up to an integral value."
                Cosine "cosine" Unary same(INEXACT) Function []
                    "Cosine of each element, in radians."
                Cosh "cosh" Unary same(INEXACT) Function []
                    "Hyperbolic cosine of each element."
                CountLeadingZeros "count-leading-zeros" Unary same(INTEGER) Simple []
                    "Number of zero bits above the highest set bit of each element."
                Erf "erf" Unary same(FLOAT) Function []
                    "Gauss error function of each element."
                Exponential "exponential" Unary same(INEXACT) Function []
                    "e to the power of each element."
                ExponentialMinusOne "exponential-minus-one" Unary same(INEXACT) Function []
                    "e to the power of each element, minus 1, accurate near 0."
                Floor "floor" Unary same(FLOAT) Simple []
                    "Each element rounded down to an integral value."
                Imag "imag" Unary real(INEXACT) Simple []
                    "Imaginary part of each element, or 0 for a real element."
                IsFinite "is-finite" Unary pred(FLOAT) Simple []
                    "True where the element is neither infinite nor NaN."
                Log "log" Unary same(INEXACT) Function []
                    "Natural logarithm of each element."
                LogPlusOne "log-plus-one" Unary same(INEXACT) Function []
                    "Natural logarithm of 1 plus each element, accurate near 0."
                Logistic "logistic" Unary same(INEXACT) Function []
                    "1 / (1 + exp(-x)) of each element."
                Negate "negate" Unary same(NUMERIC) Simple []
                    "Each element negated, with wraparound for integers."
                Not "not" Unary same(BITS) Simple []
                    "Complement of each element: logical for pred, bitwise for integers."
                PopulationCount "popcnt" Unary same(INTEGER) Simple []
                    "Number of set bits of each element."
                Real "real" Unary real(INEXACT) Simple []
                    "Real part of each element."
                RoundNearestAfz "round-nearest-afz" Unary same(FLOAT) Simple []
                    "Each element rounded to the nearest integral value, ties away from zero."
                RoundNearestEven "round-nearest-even" Unary same(FLOAT) Simple []
                    "Each element rounded to the nearest integral value, ties to even."
                Rsqrt "rsqrt" Unary same(INEXACT) Root []
                    "Reciprocal square root of each element."
                Sign "sign" Unary same(SIGNED_NUMERIC) Simple []
                    "Sign of each element: -1 or 1 (zeros and NaN are unchanged), or x/|x| for a complex element."
                Sine "sine" Unary same(INEXACT) Function []
                    "Sine of each element, in radians."
                Sinh "sinh" Unary same(INEXACT) Function []
                    "Hyperbolic sine of each element."
                Sqrt "sqrt" Unary same(INEXACT) Root []
                    "Square root of each element."
                Tan "tan" Unary same(INEXACT) LongFunction []
                    "Tangent of each element, in radians."
                Tanh "tanh" Unary same(INEXACT) Function []
                    "Hyperbolic tangent of each element."
                Convert "convert" Unary written(ANY) Simple []
                    "Each element converted to the result's element type."
                ReducePrecision "reduce-precision" Unary same(FLOAT) Simple [ReducePrecisionAttrs]
                    "Each element rounded to fewer exponent and mantissa bits, in the same type."
                Add "add" Associative same(ANY) Simple []
                    "Elementwise sum of the operands, or logical or for pred."
                And "and" Associative same(BITS) Simple []
                    "Elementwise and of the operands: bitwise for integers, logical for pred."
                Atan2 "atan2" Binary same(INEXACT) LongFunction []
                    "Elementwise angle between the positive x axis and the point (second operand, first operand)."
                Compare "compare" Binary pred(ANY) Simple [CompareAttrs]
                    "Elementwise comparison of the operands with the relation `direction`."
                Complex "complex" Binary complex(FLOAT) Simple []
                    "Complex numbers with the given real (first operand) and imaginary (second operand) parts."
                Divide "divide" Binary same(NUMERIC) Division []
                    "Elementwise quotient of the operands, rounded towards zero for integers."
                Maximum "maximum" Associative same(ANY) Simple []
                    "Elementwise maximum of the operands, or NaN if either is NaN."
                Minimum "minimum" Associative same(ANY) Simple []
                    "Elementwise minimum of the operands, or NaN if either is NaN."
                Mulhi "mulhi" Commutative same(INTEGER) Simple []
                    "Elementwise upper half of the double-width product of integers."
                Multiply "multiply" Associative same(ANY) Simple []
                    "Elementwise product of the operands, or logical and for pred."
                Or "or" Associative same(BITS) Simple []
                    "Elementwise or of the operands: bitwise for integers, logical for pred."
                Power "power" Binary same(NUMERIC) LongFunction []
                    "Elementwise power of the first operand to the second."
                Remainder "remainder" Binary same(NUMERIC) Division []
                    "Elementwise remainder of the division, with the sign of the dividend."
                ShiftLeft "shift-left" Binary same(INTEGER) Simple []
                    "Elementwise left shift of the first operand by the second, filling with zeros."
                ShiftRightArithmetic "shift-right-arithmetic" Binary same(INTEGER) Simple []
                    "Elementwise right shift of the first operand by the second, filling with copies of the sign bit."
                ShiftRightLogical "shift-right-logical" Binary same(INTEGER) Simple []
                    "Elementwise right shift of the first operand by the second, filling with zeros."
                StochasticConvert "stochastic-convert" Binary written(FLOAT) Simple []
                    "Each element of the first operand rounded to the result's type, up or down depending on random bits (second operand)."
                Subtract "subtract" Binary same(NUMERIC) Simple []
                    "Elementwise difference of the operands."
                Xor "xor" Associative same(BITS) Simple []
                    "Elementwise exclusive or of the operands: bitwise for integers, logical for pred."
                Clamp "clamp" Ternary same(ANY) Simple []
                    "Second operand clamped elementwise to the range from the first to the third operand."
                Select "select" Ternary same(ANY) Simple []
                    { moves: Branches }
                    "Elements of the second operand where the first is true, and of the third where it is false."
            }

            others {
                Bitcast "bitcast" Exactly(1) DataMovement []
                    { sizes: Own, role: Alias }
                    "The operand's buffer reinterpreted with another shape and layout of the same size."
                BitcastConvert "bitcast-convert" Exactly(1) DataMovement []
                    { sizes: Own, role: Kernel, fusion: Cheap, by_parts: true }
                    "The operand's bits as another element type, adding or removing a last dimension if the widths differ."
                Broadcast "broadcast" Exactly(1) DataMovement [BroadcastAttrs]
                    { moves: View, sizes: Own, role: Kernel, fusion: Free, by_parts: true }
                    "The operand repeated along new dimensions, with its own dimensions mapped by `dimensions`."
                Concatenate "concatenate" AtLeast(1) DataMovement [DimensionAttrs]
                    { moves: All, sizes: Own, role: Kernel, fusion: Cheap, by_parts: true }
                    "The operands concatenated along one dimension."
                Copy "copy" Exactly(1) DataMovement []
                    { moves: First, sizes: FirstOperand, role: Kernel, by_parts: true }
                    "A copy of the operand in its own buffer, possibly with another layout."
                Iota "iota" Exactly(0) DataMovement [IotaAttrs]
                    { sizes: Bounds, role: Kernel, fusion: Free }
                    "Each element's index along `iota_dimension`."
                Pad "pad" Exactly(2) DataMovement [PadAttrs]
                    { moves: FirstTwo, sizes: Own, role: Kernel, fusion: Cheap, by_parts: true }
                    "The operand with padding before, after and between its elements; negative padding removes elements."
                Reshape "reshape" Exactly(1) DataMovement [ReshapeAttrs]
                    { moves: View, sizes: Own, role: Kernel, fusion: Free }
                    "The operand's elements in row-major order, with other dimension sizes."
                Reverse "reverse" Exactly(1) DataMovement [DimensionsAttrs]
                    { moves: View, role: Kernel, fusion: Free, by_parts: true }
                    "The operand with the order of its elements reversed along `dimensions`."
                Slice "slice" Exactly(1) DataMovement [SliceAttrs]
                    { moves: View, role: Kernel, fusion: Free, by_parts: true }
                    "A part of the operand: start (inclusive), limit (exclusive) and stride in each dimension."
                Transpose "transpose" Exactly(1) DataMovement [DimensionsAttrs]
                    { moves: View, role: Kernel, fusion: Free, by_parts: true }
                    "The operand with its dimensions reordered: result dimension i is operand dimension `dimensions[i]`."

                DynamicReshape "dynamic-reshape" AtLeast(1) Indexing []
                    { moves: First, sizes: Forwarded }
                    "A reshape of the first operand to the sizes in the other operands, bounded by the result's shape."
                DynamicSlice "dynamic-slice" AtLeast(1) Indexing [DynamicSliceAttrs]
                    { moves: First, role: Kernel, fusion: Cheap, by_parts: true }
                    "A part of the first operand that starts at the indices in the other operands, clamped to be in bounds."
                DynamicUpdateSlice "dynamic-update-slice" AtLeast(2) Indexing []
                    { moves: FirstTwo, role: Kernel, fusion: Update, by_parts: true }
                    "First operand with a part replaced by the second, at the indices in the other operands, clamped to be in bounds."
                Gather "gather" Exactly(2) Indexing [Box<GatherAttrs>]
                    { moves: First, sizes: Paired, role: Kernel, fusion: Expensive, by_parts: true }
                    "Slices of the first operand at the indices in the second, combined into one array."
                GetDimensionSize "get-dimension-size" Exactly(1) Indexing [DimensionAttrs]
                    { sizes: Forwarded }
                    "The run-time size of one dimension, as s32."
                Scatter "scatter" AtLeast(3) Indexing [Box<ScatterAttrs>]
                    { sizes: Paired, role: Kernel, by_parts: true }
                    "The operands with updates combined into them at the given indices."
                SetDimensionSize "set-dimension-size" Exactly(2) Indexing [DimensionAttrs]
                    { moves: First, sizes: Forwarded }
                    "The first operand with one dimension's run-time size set to the second."

                Map "map" AtLeast(0) Reduction [MapAttrs]
                    { sizes: Elementwise, role: Kernel, by_parts: true }
                    "A computation on scalars applied elementwise to the operands."
                Reduce "reduce" AtLeast(2) Reduction [ReduceAttrs]
                    { sizes: Paired, role: Kernel, fusion: Reduce, by_parts: true }
                    "The elements along `dimensions` combined by a computation, starting from the initial values."
                ReduceWindow "reduce-window" AtLeast(2) Reduction [Box<ReduceWindowAttrs>]
                    { sizes: Paired, role: Kernel, by_parts: true }
                    "The elements of each position of a moving window combined by a computation."
                Scan "scan" AtLeast(1) Reduction [ScanAttrs]
                    { sizes: Own }
                    "A scan along a dimension, by a computation from inputs and carries to outputs and carries."
                SelectAndScatter "select-and-scatter" Exactly(3) Reduction [Box<SelectAndScatterAttrs>]
                    { sizes: Paired, role: Kernel, by_parts: true }
                    "Each source element combined with the element that a computation selects in its window."
                Sort "sort" AtLeast(1) Reduction [SortAttrs]
                    { moves: Sorted, sizes: Paired, role: Runtime, by_parts: true }
                    "The operands sorted together along one dimension, in the order of a comparator."
                TopK "topk" Exactly(1) Reduction [TopkAttrs]
                    { moves: Sorted, role: Runtime, by_parts: true }
                    "The k largest or smallest elements along the last dimension, and their indices."

                Cholesky "cholesky" Exactly(1) LinearAlgebra [CholeskyAttrs]
                    { sizes: Own, role: Runtime, by_parts: true }
                    "Cholesky factors of positive definite matrices in the last two dimensions."
                Contraction "contraction" AtLeast(1) LinearAlgebra [Box<ContractionAttrs>]
                    { sizes: Forwarded, role: Kernel }
                    "Elements of one to three operands at affine indices, combined and aggregated over all valid indices."
                Convolution "convolution" AtLeast(2) LinearAlgebra [Box<ConvolutionAttrs>]
                    { sizes: Paired, role: Convolution, by_parts: true }
                    "Convolution of an input with a kernel over the spatial dimensions of a window."
                Dot "dot" AtLeast(2) LinearAlgebra [Box<DotAttrs>]
                    { sizes: Paired, role: Dot, by_parts: true }
                    "Sum of products over the contracting dimensions, for each index of the batch dimensions."
                Fft "fft" Exactly(1) LinearAlgebra [FftAttrs]
                    { role: Runtime, by_parts: true }
                    "Fourier transform over the innermost dimensions: forward or inverse, complex or real."
                RaggedDot "ragged-dot" Exactly(3) LinearAlgebra [Box<RaggedDotAttrs>]
                    { sizes: Own }
                    "A dot with a dimension of the left operand split into groups of different sizes."
                ScaledDot "scaled-dot" Exactly(4) LinearAlgebra [Box<DotAttrs>]
                    { sizes: Paired }
                    "A dot of two operands, each multiplied blockwise by a scale (third and fourth operand)."
                TriangularSolve "triangular-solve" Exactly(2) LinearAlgebra [TriangularSolveAttrs]
                    { sizes: Own, role: Runtime, by_parts: true }
                    "Solutions of linear equations with triangular coefficient matrices."

                BatchNormGrad "batch-norm-grad" Exactly(5) Normalization [BatchNormAttrs]
                    { sizes: Own }
                    "Gradients of batch normalization with respect to operand, scale and offset."
                BatchNormInference "batch-norm-inference" Exactly(5) Normalization [BatchNormAttrs]
                    { sizes: Paired, by_parts: true }
                    "Batch normalization with a given mean and variance."
                BatchNormTraining "batch-norm-training" Exactly(3) Normalization [BatchNormAttrs]
                    { sizes: Own }
                    "Batch normalization with the mean and variance of each feature over the batch, and these values."

                Rng "rng" AtLeast(2) Random [RngAttrs]
                    { sizes: Bounds, role: Runtime }
                    "Random numbers of a distribution with the operands as parameters."
                RngBitGenerator "rng-bit-generator" Exactly(1) Random [RngBitGeneratorAttrs]
                    { role: RandomBits }
                    "The next state of a generator, and random bits of the result's shape."
                RngGetAndUpdateState "rng-get-and-update-state" Exactly(0) Random [RngGetAndUpdateStateAttrs]
                    { sizes: Bounds, role: Runtime }
                    "The global state of random numbers, before adding `delta` to it."

                Call "call" AtLeast(0) Control [CallAttrs]
                    { sizes: Forwarded, role: Call }
                    "The result of a computation applied to the operands."
                Conditional "conditional" AtLeast(1) Control [ConditionalAttrs]
                    { sizes: Forwarded, role: Conditional }
                    "The result of the branch selected by the first operand, applied to the operand of that branch."
                Fusion "fusion" AtLeast(0) Control [FusionAttrs]
                    { sizes: Forwarded, role: Kernel }
                    "The result of a computation that is compiled as one kernel, applied to the operands."
                OptBarrier "opt-barrier" Exactly(1) Control []
                    { sizes: FirstOperand, role: Alias }
                    "The operand unchanged, as a barrier that no optimization moves code across."
                While "while" Exactly(1) Control [WhileAttrs]
                    { sizes: Forwarded, role: While }
                    "The state after applying `body` while `condition` returns true."

                AddDependency "add-dependency" Exactly(2) Effects []
                    { sizes: FirstOperand, role: Alias }
                    "The first operand, after waiting for the second, a token."
                AfterAll "after-all" AtLeast(0) Effects []
                    { sizes: Forwarded, role: Token }
                    "A token that waits for all operands."
                AsyncDone "async-done" AtLeast(1) Effects [AsyncDoneAttrs]
                    { sizes: Forwarded, role: Element }
                    "Waits for an asynchronous computation and returns its result."
                AsyncStart "async-start" AtLeast(0) Effects [AsyncStartAttrs]
                    { sizes: Forwarded, role: Start }
                    "Starts an asynchronous computation, whose result is passed to `async-update` or `async-done`."
                AsyncUpdate "async-update" AtLeast(1) Effects [AsyncUpdateAttrs]
                    { sizes: Forwarded, role: Alias }
                    "Continues an asynchronous computation without waiting for it, and can bind more of its operands."
                CopyDone "copy-done" Exactly(1) Effects []
                    { moves: First, sizes: Forwarded, role: Element }
                    "Waits for a copy started by `copy-start` and returns it."
                CopyStart "copy-start" Exactly(1) Effects [CopyStartAttrs]
                    { moves: First, sizes: Forwarded, role: Start }
                    "Starts an asynchronous copy of the operand, possibly to another memory space."
                CustomCall "custom-call" AtLeast(0) Effects [Box<CustomCallAttrs>]
                    { sizes: Forwarded, role: CustomCall }
                    "The result of a function outside HLO, looked up by name."
                Domain "domain" Exactly(1) Effects [Box<DomainAttrs>]
                    { sizes: FirstOperand, role: Alias }
                    "The operand unchanged, as a boundary where metadata such as a sharding changes."
                Infeed "infeed" Exactly(1) Effects [InfeedAttrs]
                    { sizes: Forwarded, role: Transfer }
                    "Reads data from the host's infeed queue, and returns the data and a token."
                Outfeed "outfeed" Exactly(2) Effects [Box<OutfeedAttrs>]
                    { sizes: Forwarded, role: Transfer }
                    "Writes the first operand to the host's outfeed queue, and returns a token."
                PartitionId "partition-id" Exactly(0) Effects []
                    { sizes: Forwarded, role: DeviceId }
                    "The number of the partition that runs the instruction, as u32."
                Recv "recv" Exactly(1) Effects [ChannelAttrs]
                    { sizes: Forwarded, role: Transfer }
                    "Starts receiving data over a channel."
                RecvDone "recv-done" Exactly(1) Effects [ChannelAttrs]
                    { sizes: Forwarded, role: Transfer }
                    "Waits for a receive, and returns the data and a token."
                ReplicaId "replica-id" Exactly(0) Effects []
                    { sizes: Forwarded, role: DeviceId }
                    "The number of the replica that runs the instruction, as u32."
                Send "send" Exactly(2) Effects [ChannelAttrs]
                    { sizes: Forwarded, role: Transfer }
                    "Starts sending the first operand over a channel, after waiting for the token."
                SendDone "send-done" Exactly(1) Effects [ChannelAttrs]
                    { sizes: Forwarded, role: Token }
                    "Waits for a send, and returns a token."

                AllGather "all-gather" AtLeast(1) Collective [Box<AllGatherAttrs>]
                    { moves: Devices, role: Exchange }
                    "The operands of all devices of a group, concatenated along one dimension."
                AllGatherDone "all-gather-done" Exactly(1) Collective []
                    { sizes: Forwarded, role: Element }
                    "Waits for an all-gather and returns its result."
                AllGatherStart "all-gather-start" AtLeast(1) Collective [Box<AllGatherAttrs>]
                    { moves: Devices, sizes: Forwarded, role: Start }
                    "Starts an asynchronous all-gather."
                AllReduce "all-reduce" AtLeast(1) Collective [Box<AllReduceAttrs>]
                    { role: Exchange }
                    "The operands of all devices of a group, combined elementwise by a computation."
                AllReduceDone "all-reduce-done" Exactly(1) Collective []
                    { sizes: Forwarded, role: Alias }
                    "Waits for an all-reduce and returns its result."
                AllReduceStart "all-reduce-start" AtLeast(1) Collective [Box<AllReduceAttrs>]
                    { sizes: Forwarded, role: Exchange }
                    "Starts an asynchronous all-reduce."
                AllToAll "all-to-all" AtLeast(1) Collective [Box<AllToAllAttrs>]
                    { moves: Devices, role: Exchange }
                    "The parts that all devices of a group send to this device, concatenated."
                CollectiveBroadcast "collective-broadcast" AtLeast(1) Collective [Box<CollectiveBroadcastAttrs>]
                    { moves: Devices, role: Exchange }
                    "The operand of the first device of each group, copied to all devices of the group."
                CollectivePermute "collective-permute" AtLeast(1) Collective [Box<CollectivePermuteAttrs>]
                    { moves: Devices, role: Exchange }
                    "The operand of the device that sends to this device, or zeros if there is none."
                CollectivePermuteDone "collective-permute-done" Exactly(1) Collective []
                    { sizes: Forwarded, role: Element }
                    "Waits for a collective-permute and returns its result."
                CollectivePermuteStart "collective-permute-start" AtLeast(1) Collective [Box<CollectivePermuteAttrs>]
                    { moves: Devices, sizes: Forwarded, role: Start }
                    "Starts an asynchronous collective-permute."
                RaggedAllToAll "ragged-all-to-all" Exactly(6) Collective [Box<RaggedAllToAllAttrs>]
                    { moves: Devices, sizes: Own, role: Exchange }
                    "An all-to-all with the rows for each device defined by operands that contain offsets and sizes."
                ReduceScatter "reduce-scatter" AtLeast(1) Collective [Box<ReduceScatterAttrs>]
                    { role: Exchange }
                    "An all-reduce with its result split along one dimension, one part for each device."
            }
        }
    };
}

pub(super) use for_each_opcode;
