//! The table: every HLO opcode, once.
//!
//! A row of `elementwise` is
//! `Variant "text-name" Class result(TYPES) Work [AttributeStruct] "What it computes, in one line."`, with a [`Class`],
//! a [`Work`], and
//!
//! - `same(TYPES)`: operands and result are of one type, of these;
//! - `real(TYPES)`: the same, but that the result of a complex operand is real;
//! - `pred(TYPES)`: the result is of `pred`;
//! - `complex(TYPES)`: the result is of the complex type of the operands' real one;
//! - `written(TYPES)`: the result's type is what the text says.
//!
//! A row of the others is `Variant "text-name" Arity(n) Family [AttributeStruct] "What it computes, in one line."`.
//! Large structs are boxed: every instruction has the size of the largest operation.
//!
//! Columns in braces before the summary are fields of [`Traits`] that differ from the default.
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
                    "The argument of the computation with the given number."
                Constant "constant" Exactly(0) Structural [Box<ConstantAttrs>]
                    { sizes: Bounds, role: Constant }
                    "A value written in the text."
                Tuple "tuple" AtLeast(0) Structural []
                    { sizes: Forwarded, role: Tuple }
                    "A tuple of the operands."
                GetTupleElement "get-tuple-element" Exactly(1) Structural [GetTupleElementAttrs]
                    { sizes: Forwarded, role: Element }
                    "One element of a tuple."
            }

            elementwise {
                Abs "abs" Unary real(SIGNED_NUMERIC) Simple []
                    "Absolute value of each element; the magnitude of a complex one."
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
                    "Imaginary part of each element; 0 for a real one."
                IsFinite "is-finite" Unary pred(FLOAT) Simple []
                    "True where the element is neither infinite nor NaN."
                Log "log" Unary same(INEXACT) Function []
                    "Natural logarithm of each element."
                LogPlusOne "log-plus-one" Unary same(INEXACT) Function []
                    "Natural logarithm of 1 plus each element, accurate near 0."
                Logistic "logistic" Unary same(INEXACT) Function []
                    "1 / (1 + exp(-x)) of each element."
                Negate "negate" Unary same(NUMERIC) Simple []
                    "Each element with its sign reversed; integers wrap around."
                Not "not" Unary same(BITS) Simple []
                    "Complement of each element: logical for pred, of every bit for integers."
                PopulationCount "popcnt" Unary same(INTEGER) Simple []
                    "Number of set bits of each element."
                Real "real" Unary real(INEXACT) Simple []
                    "Real part of each element."
                RoundNearestAfz "round-nearest-afz" Unary same(FLOAT) Simple []
                    "Each element rounded to the nearest integral value, ties away from zero."
                RoundNearestEven "round-nearest-even" Unary same(FLOAT) Simple []
                    "Each element rounded to the nearest integral value, ties to even."
                Rsqrt "rsqrt" Unary same(INEXACT) Root []
                    "1 / square root of each element."
                Sign "sign" Unary same(SIGNED_NUMERIC) Simple []
                    "-1, 0 or 1 by the sign of each element (zeros and NaN stay); x/|x| for a complex one."
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
                    "Each element's value in the result's element type."
                ReducePrecision "reduce-precision" Unary same(FLOAT) Simple [ReducePrecisionAttrs]
                    "Each element rounded to a float of fewer exponent and mantissa bits, in the same type."
                Add "add" Associative same(ANY) Simple []
                    "Sum of the operands, element by element; logical or for pred."
                And "and" Associative same(BITS) Simple []
                    "Bitwise and of integers, logical and of pred, element by element."
                Atan2 "atan2" Binary same(INEXACT) LongFunction []
                    "Angle of the point (second, first operand) from the positive x axis, element by element."
                Compare "compare" Binary pred(ANY) Simple [CompareAttrs]
                    "Whether the relation `direction` holds, element by element."
                Complex "complex" Binary complex(FLOAT) Simple []
                    "Complex numbers from their real (first operand) and imaginary (second operand) parts."
                Divide "divide" Binary same(NUMERIC) Division []
                    "Quotient of the operands, element by element; integers round towards zero."
                Maximum "maximum" Associative same(ANY) Simple []
                    "Larger of the operands, element by element; NaN if either is NaN."
                Minimum "minimum" Associative same(ANY) Simple []
                    "Smaller of the operands, element by element; NaN if either is NaN."
                Mulhi "mulhi" Commutative same(INTEGER) Simple []
                    "Upper half of the double-width product of integers, element by element."
                Multiply "multiply" Associative same(ANY) Simple []
                    "Product of the operands, element by element; logical and for pred."
                Or "or" Associative same(BITS) Simple []
                    "Bitwise or of integers, logical or of pred, element by element."
                Power "power" Binary same(NUMERIC) LongFunction []
                    "First operand to the power of the second, element by element."
                Remainder "remainder" Binary same(NUMERIC) Division []
                    "Remainder of the division, with the sign of the dividend, element by element."
                ShiftLeft "shift-left" Binary same(INTEGER) Simple []
                    "Bits of the first operand moved up by the second, zeros moved in, element by element."
                ShiftRightArithmetic "shift-right-arithmetic" Binary same(INTEGER) Simple []
                    "Bits of the first operand moved down by the second, copies of the sign bit moved in, element by element."
                ShiftRightLogical "shift-right-logical" Binary same(INTEGER) Simple []
                    "Bits of the first operand moved down by the second, zeros moved in, element by element."
                StochasticConvert "stochastic-convert" Binary written(FLOAT) Simple []
                    "Each element of the first operand rounded to the result's type, up or down at random by the bits of the second."
                Subtract "subtract" Binary same(NUMERIC) Simple []
                    "Difference of the operands, element by element."
                Xor "xor" Associative same(BITS) Simple []
                    "Bitwise exclusive or of integers, logical exclusive or of pred, element by element."
                Clamp "clamp" Ternary same(ANY) Simple []
                    "Second operand limited to the range from the first to the third, element by element."
                Select "select" Ternary same(ANY) Simple []
                    { moves: Branches }
                    "Second operand where the first is true, third where it is false, element by element."
            }

            others {
                Bitcast "bitcast" Exactly(1) DataMovement []
                    { moves: View, sizes: Own, role: Alias }
                    "The operand's buffer read with another shape and layout of the same size; no data moves."
                BitcastConvert "bitcast-convert" Exactly(1) DataMovement []
                    { sizes: Own, role: Kernel, fusion: Cheap, by_parts: true }
                    "The operand's bits read as another element type; a last dimension appears or goes if the widths differ."
                Broadcast "broadcast" Exactly(1) DataMovement [BroadcastAttrs]
                    { moves: View, sizes: Own, role: Kernel, fusion: Free, by_parts: true }
                    "Copies of the operand along new dimensions; `dimensions` says where its own ones go."
                Concatenate "concatenate" AtLeast(1) DataMovement [DimensionAttrs]
                    { moves: All, sizes: Own, role: Kernel, fusion: Cheap, by_parts: true }
                    "The operands joined end to end along one dimension."
                Copy "copy" Exactly(1) DataMovement []
                    { moves: First, sizes: FirstOperand, role: Kernel, by_parts: true }
                    "The operand's value in a buffer of its own, possibly with another layout."
                Iota "iota" Exactly(0) DataMovement [IotaAttrs]
                    { sizes: Bounds, role: Kernel, fusion: Free }
                    "Each element's index along `iota_dimension`."
                Pad "pad" Exactly(2) DataMovement [PadAttrs]
                    { moves: FirstTwo, sizes: Own, role: Kernel, fusion: Cheap, by_parts: true }
                    "The operand with copies of the padding value before, after and between its elements; negative amounts cut."
                Reshape "reshape" Exactly(1) DataMovement [ReshapeAttrs]
                    { moves: View, sizes: Own, role: Kernel, fusion: Free }
                    "The operand's elements in row-major order, with other dimension sizes."
                Reverse "reverse" Exactly(1) DataMovement [DimensionsAttrs]
                    { moves: View, role: Kernel, fusion: Free, by_parts: true }
                    "The operand with the order of its elements reversed along `dimensions`."
                Slice "slice" Exactly(1) DataMovement [SliceAttrs]
                    { moves: View, role: Kernel, fusion: Free, by_parts: true }
                    "Part of the operand: from start up to limit by stride in each dimension."
                Transpose "transpose" Exactly(1) DataMovement [DimensionsAttrs]
                    { moves: View, role: Kernel, fusion: Free, by_parts: true }
                    "The operand with its dimensions reordered: result dimension i is operand dimension `dimensions[i]`."

                DynamicReshape "dynamic-reshape" AtLeast(1) Indexing []
                    { moves: First, sizes: Forwarded }
                    "A reshape whose result sizes are the other operands, bounded by the result's shape."
                DynamicSlice "dynamic-slice" AtLeast(1) Indexing [DynamicSliceAttrs]
                    { moves: First, role: Kernel, fusion: Cheap, by_parts: true }
                    "Part of the first operand that begins at the indices given by the others, clamped to stay inside."
                DynamicUpdateSlice "dynamic-update-slice" AtLeast(2) Indexing []
                    { moves: FirstTwo, role: Kernel, fusion: Update, by_parts: true }
                    "First operand with the second written over it at the indices given by the others, clamped to stay inside."
                Gather "gather" Exactly(2) Indexing [Box<GatherAttrs>]
                    { moves: First, sizes: Paired, role: Kernel, fusion: Expensive, by_parts: true }
                    "Slices of the first operand at the indices in the second, put together in one array."
                GetDimensionSize "get-dimension-size" Exactly(1) Indexing [DimensionAttrs]
                    { sizes: Forwarded }
                    "Size of one dimension at run time, as s32."
                Scatter "scatter" AtLeast(3) Indexing [Box<ScatterAttrs>]
                    { sizes: Paired, role: Kernel, by_parts: true }
                    "The operands with updates combined into them at the given indices."
                SetDimensionSize "set-dimension-size" Exactly(2) Indexing [DimensionAttrs]
                    { moves: First, sizes: Forwarded }
                    "The first operand with one dimension's run-time size set to the second."

                Map "map" AtLeast(0) Reduction [MapAttrs]
                    { sizes: Elementwise, role: Kernel, by_parts: true }
                    "A computation on scalars applied to the operands, element by element."
                Reduce "reduce" AtLeast(2) Reduction [ReduceAttrs]
                    { sizes: Paired, role: Kernel, fusion: Reduce, by_parts: true }
                    "The elements along `dimensions` combined into one by a computation, starting from the initial values."
                ReduceWindow "reduce-window" AtLeast(2) Reduction [Box<ReduceWindowAttrs>]
                    { sizes: Paired, role: Kernel, by_parts: true }
                    "The elements of each position of a moving window combined into one by a computation."
                Scan "scan" AtLeast(1) Reduction [ScanAttrs]
                    { sizes: Own }
                    "Running combinations along a dimension: a computation takes inputs and carries to outputs and carries."
                SelectAndScatter "select-and-scatter" Exactly(3) Reduction [Box<SelectAndScatterAttrs>]
                    { sizes: Paired, role: Kernel, by_parts: true }
                    "Each source element combined into the place that a computation selects in its window."
                Sort "sort" AtLeast(1) Reduction [SortAttrs]
                    { moves: Sorted, sizes: Paired, role: Runtime, by_parts: true }
                    "The operands sorted together along one dimension, in the order that a comparator gives."
                TopK "topk" Exactly(1) Reduction [TopkAttrs]
                    { moves: Sorted, role: Runtime, by_parts: true }
                    "The k largest or smallest elements along the last dimension, and their indices."

                Cholesky "cholesky" Exactly(1) LinearAlgebra [CholeskyAttrs]
                    { sizes: Own, role: Runtime, by_parts: true }
                    "Cholesky factors of positive definite matrices in the last two dimensions."
                Contraction "contraction" AtLeast(1) LinearAlgebra [Box<ContractionAttrs>]
                    { sizes: Forwarded, role: Kernel }
                    "Elements of one to three operands at affine indices, combined and aggregated, for all indices that are valid."
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
                    "A dot in which group sizes split a dimension of the left operand into parts of different lengths."
                ScaledDot "scaled-dot" Exactly(4) LinearAlgebra [Box<DotAttrs>]
                    { sizes: Paired }
                    "A dot of two operands that are each multiplied by a scale (third and fourth operand) per block."
                TriangularSolve "triangular-solve" Exactly(2) LinearAlgebra [TriangularSolveAttrs]
                    { sizes: Own, role: Runtime, by_parts: true }
                    "Solves linear equations with triangular coefficient matrices."

                BatchNormGrad "batch-norm-grad" Exactly(5) Normalization [BatchNormAttrs]
                    { sizes: Own }
                    "Gradients of batch normalisation with respect to operand, scale and offset."
                BatchNormInference "batch-norm-inference" Exactly(5) Normalization [BatchNormAttrs]
                    { sizes: Paired, by_parts: true }
                    "Batch normalisation with a given mean and variance."
                BatchNormTraining "batch-norm-training" Exactly(3) Normalization [BatchNormAttrs]
                    { sizes: Own }
                    "Batch normalisation, and the mean and variance of each feature over the batch."

                Rng "rng" AtLeast(2) Random [RngAttrs]
                    { sizes: Bounds, role: Runtime }
                    "Random numbers of a distribution with the operands as parameters."
                RngBitGenerator "rng-bit-generator" Exactly(1) Random [RngBitGeneratorAttrs]
                    { role: RandomBits }
                    "A generator's next state and random bits that fill the result's shape."
                RngGetAndUpdateState "rng-get-and-update-state" Exactly(0) Random [RngGetAndUpdateStateAttrs]
                    { sizes: Bounds, role: Runtime }
                    "The global state of the random numbers, to which `delta` is then added."

                Call "call" AtLeast(0) Control [CallAttrs]
                    { sizes: Forwarded, role: Call }
                    "The result of a computation applied to the operands."
                Conditional "conditional" AtLeast(1) Control [ConditionalAttrs]
                    { sizes: Forwarded, role: Conditional }
                    "The result of the branch that the first operand picks, applied to that branch's own operand."
                Fusion "fusion" AtLeast(0) Control [FusionAttrs]
                    { sizes: Forwarded, role: Kernel }
                    "The result of a computation that is compiled as one kernel, applied to the operands."
                OptBarrier "opt-barrier" Exactly(1) Control []
                    { sizes: FirstOperand, role: Alias }
                    "The operand unchanged; no optimisation moves code across."
                While "while" Exactly(1) Control [WhileAttrs]
                    { sizes: Forwarded, role: While }
                    "The state after `body` has been applied as long as `condition` holds."

                AddDependency "add-dependency" Exactly(2) Effects []
                    { sizes: FirstOperand, role: Alias }
                    "The first operand, once the second (a token) is there."
                AfterAll "after-all" AtLeast(0) Effects []
                    { sizes: Forwarded, role: Token }
                    "A token that is there once all operands are."
                AsyncDone "async-done" AtLeast(1) Effects [AsyncDoneAttrs]
                    { sizes: Forwarded, role: Element }
                    "Waits for an asynchronous computation and gives its result."
                AsyncStart "async-start" AtLeast(0) Effects [AsyncStartAttrs]
                    { sizes: Forwarded, role: Start }
                    "Starts a computation that runs beside the others; its result is for `async-update` and `async-done`."
                AsyncUpdate "async-update" AtLeast(1) Effects [AsyncUpdateAttrs]
                    { sizes: Forwarded, role: Alias }
                    "Lets an asynchronous computation go on without waiting for it; binds more of its operands."
                CopyDone "copy-done" Exactly(1) Effects []
                    { moves: First, sizes: Forwarded, role: Element }
                    "Waits for a copy that `copy-start` began and gives it."
                CopyStart "copy-start" Exactly(1) Effects [CopyStartAttrs]
                    { moves: First, sizes: Forwarded, role: Start }
                    "Starts an asynchronous copy of the operand, possibly to another memory space."
                CustomCall "custom-call" AtLeast(0) Effects [Box<CustomCallAttrs>]
                    { sizes: Forwarded, role: CustomCall }
                    "The result of a function outside HLO, found by its name."
                Domain "domain" Exactly(1) Effects [Box<DomainAttrs>]
                    { sizes: FirstOperand, role: Alias }
                    "The operand; marks where metadata such as a sharding changes."
                Infeed "infeed" Exactly(1) Effects [InfeedAttrs]
                    { sizes: Forwarded, role: Transfer }
                    "Data from the host's infeed queue, and a token."
                Outfeed "outfeed" Exactly(2) Effects [Box<OutfeedAttrs>]
                    { sizes: Forwarded, role: Transfer }
                    "Writes the first operand to the host's outfeed queue; gives a token."
                PartitionId "partition-id" Exactly(0) Effects []
                    { sizes: Forwarded, role: DeviceId }
                    "Number of the partition that runs this, as u32."
                Recv "recv" Exactly(1) Effects [ChannelAttrs]
                    { sizes: Forwarded, role: Transfer }
                    "Starts to receive data over a channel."
                RecvDone "recv-done" Exactly(1) Effects [ChannelAttrs]
                    { sizes: Forwarded, role: Transfer }
                    "Waits for a receive; gives the data and a token."
                ReplicaId "replica-id" Exactly(0) Effects []
                    { sizes: Forwarded, role: DeviceId }
                    "Number of the replica that runs this, as u32."
                Send "send" Exactly(2) Effects [ChannelAttrs]
                    { sizes: Forwarded, role: Transfer }
                    "Starts to send the first operand over a channel, once the token is there."
                SendDone "send-done" Exactly(1) Effects [ChannelAttrs]
                    { sizes: Forwarded, role: Token }
                    "Waits for a send; gives a token."

                AllGather "all-gather" AtLeast(1) Collective [Box<AllGatherAttrs>]
                    { moves: Devices, role: Exchange }
                    "The operands of all devices of a group joined along one dimension."
                AllGatherDone "all-gather-done" Exactly(1) Collective []
                    { sizes: Forwarded, role: Element }
                    "Waits for an all-gather and gives its result."
                AllGatherStart "all-gather-start" AtLeast(1) Collective [Box<AllGatherAttrs>]
                    { moves: Devices, sizes: Forwarded, role: Start }
                    "Starts an asynchronous all-gather."
                AllReduce "all-reduce" AtLeast(1) Collective [Box<AllReduceAttrs>]
                    { role: Exchange }
                    "The operands of all devices of a group combined, element by element, by a computation."
                AllReduceDone "all-reduce-done" Exactly(1) Collective []
                    { sizes: Forwarded, role: Alias }
                    "Waits for an all-reduce and gives its result."
                AllReduceStart "all-reduce-start" AtLeast(1) Collective [Box<AllReduceAttrs>]
                    { sizes: Forwarded, role: Exchange }
                    "Starts an asynchronous all-reduce."
                AllToAll "all-to-all" AtLeast(1) Collective [Box<AllToAllAttrs>]
                    { moves: Devices, role: Exchange }
                    "Each device of a group sends a part of its operand to every device and joins what it gets."
                CollectiveBroadcast "collective-broadcast" AtLeast(1) Collective [Box<CollectiveBroadcastAttrs>]
                    { moves: Devices, role: Exchange }
                    "The operand of the first device of each group, on all devices of the group."
                CollectivePermute "collective-permute" AtLeast(1) Collective [Box<CollectivePermuteAttrs>]
                    { moves: Devices, role: Exchange }
                    "The operand of the device that sends to this one; zeros if none does."
                CollectivePermuteDone "collective-permute-done" Exactly(1) Collective []
                    { sizes: Forwarded, role: Element }
                    "Waits for a collective-permute and gives its result."
                CollectivePermuteStart "collective-permute-start" AtLeast(1) Collective [Box<CollectivePermuteAttrs>]
                    { moves: Devices, sizes: Forwarded, role: Start }
                    "Starts an asynchronous collective-permute."
                RaggedAllToAll "ragged-all-to-all" Exactly(6) Collective [Box<RaggedAllToAllAttrs>]
                    { moves: Devices, sizes: Own, role: Exchange }
                    "An all-to-all in which offsets and sizes (operands) say which rows go to which device."
                ReduceScatter "reduce-scatter" AtLeast(1) Collective [Box<ReduceScatterAttrs>]
                    { role: Exchange }
                    "An all-reduce whose result is split along one dimension; each device gets its part."
            }
        }
    };
}

pub(super) use for_each_opcode;
