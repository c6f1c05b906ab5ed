//! Rules for products, contractions, convolutions, transforms, factorizations, batch normalization and random
//! numbers.

rules! {
    PRODUCT_TYPES = "E0801" "product-types" {
        rule: "The operands of a product have one element type, or two element types that the opcode can mix.",
        why: "Integers and floating-point numbers can be mixed, in `convolution` also with `pred`. Complex numbers can be combined only with their own type.",
        example: Some(r"HloModule m

ENTRY main {
  x = c64[3] parameter(0)
  y = f32[3] parameter(1)
  ROOT z = c64[] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}
}
"),
        fix: "convert first: `c = c64[3] convert(y)`",
        section: "Operation semantics, DotGeneral",
    }
    PRODUCT_RESULT_TYPE = "E0802" "product-result-type" {
        rule: "The element type of a product of integers is at least as wide as theirs.",
        why: "The result of a product may be wider than its operands. The product is then accumulated in the wider type.",
        example: Some(r"HloModule m

ENTRY main {
  x = s32[3] parameter(0)
  y = s32[3] parameter(1)
  ROOT z = s8[] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}
}
"),
        fix: "write `s32[]`, and convert the result",
        section: "Operation semantics, DotGeneral",
    }
    BATCH_COUNT = "E0803" "batch-count" {
        rule: "A product has the same number of batch dimensions on the right and on the left.",
        why: "The lists pair them by position: the first entry of one with the first entry of the other.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[2,3] parameter(0)
  y = f32[3] parameter(1)
  ROOT z = f32[2] dot(x, y), lhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"),
        fix: "omit `lhs_batch_dims`: a free dimension computes the same result",
        section: "Operation semantics, DotGeneral",
    }
    CONTRACTING_COUNT = "E0804" "contracting-count" {
        rule: "A product has the same number of contracting dimensions on the right and on the left.",
        why: "The lists pair them by position: the first entry of one with the first entry of the other.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[2,3] parameter(0)
  y = f32[3] parameter(1)
  ROOT z = f32[2] dot(x, y), lhs_contracting_dims={1}
}
"),
        fix: "add `rhs_contracting_dims={0}`",
        section: "Operation semantics, DotGeneral",
    }
    BATCH_SIZES = "E0805" "batch-sizes" {
        rule: "Paired batch dimensions have the same size.",
        why: "Each index of a batch dimension selects a part of both operands.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[2,3] parameter(0)
  y = f32[4,3] parameter(1)
  ROOT z = f32[2] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_contracting_dims={1}
}
"),
        fix: "slice or broadcast one operand to the other's size",
        section: "Operation semantics, DotGeneral",
    }
    CONTRACTING_SIZES = "E0806" "contracting-sizes" {
        rule: "Paired contracting dimensions have the same size.",
        why: "A product adds up the products of elements at the same index.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[2,3] parameter(0)
  y = f32[4,5] parameter(1)
  ROOT z = f32[2,5] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"),
        fix: "multiply by a matrix of 3 rows",
        section: "Operation semantics, DotGeneral",
    }
    SCALE_RANK = "E0807" "scale-rank" {
        rule: "Each scale of `scaled-dot` is a scalar or has the rank of its operand, and at least one of the two is not a scalar.",
        why: "A scale has one element for each block of its operand, so it has the same dimensions with fewer elements.",
        example: Some(r"HloModule m

ENTRY main {
  x = f8e4m3fn[4,64] parameter(0)
  y = f8e4m3fn[64,8] parameter(1)
  s = f8e8m0fnu[2] parameter(2)
  t = f8e8m0fnu[2,8] parameter(3)
  ROOT z = f32[4,8] scaled-dot(x, y, s, t), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"),
        fix: "give `s` the shape `f8e8m0fnu[4,2]`",
        section: "HLO text, opcodes",
    }
    SCALE_SIZES = "E0808" "scale-sizes" {
        rule: "In each dimension, the size of a scale of `scaled-dot` is that of its operand or divides it.",
        why: "All blocks of elements that share a scale have the same size.",
        example: Some(r"HloModule m

ENTRY main {
  x = f8e4m3fn[4,64] parameter(0)
  y = f8e4m3fn[64,8] parameter(1)
  s = f8e8m0fnu[4,3] parameter(2)
  t = f8e8m0fnu[2,8] parameter(3)
  ROOT z = f32[4,8] scaled-dot(x, y, s, t), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"),
        fix: "give `s` the shape `f8e8m0fnu[4,2]`: 64 elements are 2 blocks of 32",
        section: "HLO text, opcodes",
    }
    GROUP_DIMENSIONS = "E0809" "group-dimensions" {
        rule: "`ragged-dot` has one group dimension on the right if the ragged dimension is free, and none otherwise.",
        why: "Only free rows of the left operand select one of several matrices on the right.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[11,5] parameter(0)
  y = f32[5,7] parameter(1)
  g = s32[3] parameter(2)
  ROOT z = f32[11,7] ragged-dot(x, y, g), lhs_contracting_dims={1}, rhs_contracting_dims={0}, lhs_ragged_dims={0}
}
"),
        fix: "stack a matrix for each group, `f32[3,5,7]`, and add `rhs_group_dims={0}`",
        section: "HLO text, opcodes",
    }
    GROUP_DIMENSION_FREE = "E0810" "group-dimension-free" {
        rule: "The group dimension of `ragged-dot` is neither a batch nor a contracting dimension.",
        why: "It numbers the matrices of the right operand.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[11,5] parameter(0)
  y = f32[3,5,7] parameter(1)
  g = s32[5] parameter(2)
  ROOT z = f32[11,3,7] ragged-dot(x, y, g), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={1}
}
"),
        fix: "write `rhs_group_dims={0}`",
        section: "HLO text, opcodes",
    }
    GROUP_COUNT = "E0811" "group-count" {
        rule: "`ragged-dot` has one matrix along the group dimension for each group size.",
        why: "Each group of rows is multiplied by its own matrix.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[11,5] parameter(0)
  y = f32[3,5,7] parameter(1)
  g = s32[4] parameter(2)
  ROOT z = f32[11,7] ragged-dot(x, y, g), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}
}
"),
        fix: "use 3 group sizes, or 4 matrices",
        section: "HLO text, opcodes",
    }
    GROUP_SIZES = "E0812" "group-sizes" {
        rule: "The group sizes of `ragged-dot` are a vector, or have the dimensions before the ragged one, followed by the groups.",
        why: "Each batch, or each index of the dimensions before the ragged one, may be divided into different groups.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[2,11,5] parameter(0)
  y = f32[3,2,5,7] parameter(1)
  g = s32[4,3] parameter(2)
  ROOT z = f32[2,11,7] ragged-dot(x, y, g), lhs_batch_dims={0}, rhs_batch_dims={1}, lhs_contracting_dims={2}, rhs_contracting_dims={2}, lhs_ragged_dims={1}, rhs_group_dims={0}
}
"),
        fix: "use 3 sizes, `s32[3]`, or 3 for each of the 2 batches, `s32[2,3]`",
        section: "HLO text, opcodes",
    }
    LABEL_COUNT = "E0813" "label-count" {
        rule: "`dim_labels` has a label for each dimension of the input, the kernel and the output.",
        why: "The labels are b for batch, f for features, i and o for the kernel's input and output features, and digits for spatial dimensions.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4,8,6,2] parameter(0)
  k = f32[3,6,16] parameter(1)
  ROOT y = f32[4,6,16] convolution(x, k), window={size=3}, dim_labels=b0f_0io->b0f
}
"),
        fix: "label the fourth dimension, or reshape the input to rank 3",
        section: "Operation semantics, ConvWithGeneralPadding (convolution)",
    }
    SPATIAL_COUNT = "E0814" "spatial-count" {
        rule: "The kernel has as many spatial dimensions as the input.",
        why: "The kernel moves along each spatial dimension of the input. The parser rejects labels that differ.",
        example: None,
        fix: "give all three parts of the labels the same spatial dimensions",
        section: "Operation semantics, ConvWithGeneralPadding (convolution)",
    }
    KERNEL_WINDOW = "E0815" "kernel-window" {
        rule: "The sizes of a convolution's window are the sizes of the kernel's spatial dimensions.",
        why: "The text contains them twice: in `window` and in the kernel's shape.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4,8,6] parameter(0)
  k = f32[3,6,16] parameter(1)
  ROOT y = f32[4,5,16] convolution(x, k), window={size=4}, dim_labels=b0f_0io->b0f
}
"),
        fix: "write `window={size=3}`",
        section: "Operation semantics, ConvWithGeneralPadding (convolution)",
    }
    KERNEL_OUTPUT_DYNAMIC = "E0816" "kernel-output-dynamic" {
        rule: "The number of a kernel's output features is static.",
        why: "The result has this number of features. A bound cannot replace it.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4,8,6] parameter(0)
  k = f32[3,6,<=16] parameter(1)
  ROOT y = f32[4,6,<=16] convolution(x, k), window={size=3}, dim_labels=b0f_0io->b0f
}
"),
        fix: "pad the kernel to `f32[3,6,16]`",
        section: "Operation semantics, ConvWithGeneralPadding (convolution)",
    }
    CONVOLUTION_GROUPS_POSITIVE = "E0817" "convolution-groups-positive" {
        rule: "The group counts of a convolution are at least 1.",
        why: "A convolution that is not grouped has one group.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4,8,6] parameter(0)
  k = f32[3,6,16] parameter(1)
  ROOT y = f32[4,6,16] convolution(x, k), window={size=3}, dim_labels=b0f_0io->b0f, feature_group_count=0
}
"),
        fix: "omit `feature_group_count`",
        section: "Operation semantics, ConvWithGeneralPadding (convolution)",
    }
    CONVOLUTION_GROUPS_BOTH = "E0818" "convolution-groups-both" {
        rule: "A convolution is grouped by features or by batch, not both.",
        why: "The gradient of a convolution that is grouped by features is grouped by batch.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4,8,6] parameter(0)
  k = f32[3,3,16] parameter(1)
  ROOT y = f32[2,6,16] convolution(x, k), window={size=3}, dim_labels=b0f_0io->b0f, feature_group_count=2, batch_group_count=2
}
"),
        fix: "omit one of the two counts",
        section: "Operation semantics, ConvWithGeneralPadding (convolution)",
    }
    INPUT_FEATURE_GROUPS = "E0819" "input-feature-groups" {
        rule: "The number of a convolution's input features is a multiple of `feature_group_count`.",
        why: "All groups have the same size.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4,8,6] parameter(0)
  k = f32[3,1,16] parameter(1)
  ROOT y = f32[4,6,16] convolution(x, k), window={size=3}, dim_labels=b0f_0io->b0f, feature_group_count=4
}
"),
        fix: "divide 6 features into 2, 3 or 6 groups",
        section: "Operation semantics, ConvWithGeneralPadding (convolution)",
    }
    OUTPUT_FEATURE_GROUPS = "E0820" "output-feature-groups" {
        rule: "The number of a convolution's output features is a multiple of `feature_group_count`.",
        why: "Each group computes the same number of output features.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4,8,6] parameter(0)
  k = f32[3,3,15] parameter(1)
  ROOT y = f32[4,6,15] convolution(x, k), window={size=3}, dim_labels=b0f_0io->b0f, feature_group_count=2
}
"),
        fix: "use 14 or 16 output features",
        section: "Operation semantics, ConvWithGeneralPadding (convolution)",
    }
    INPUT_BATCH_GROUPS = "E0821" "input-batch-groups" {
        rule: "The size of a convolution's batch is a multiple of `batch_group_count`.",
        why: "All groups have the same size.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[5,8,6] parameter(0)
  k = f32[3,6,16] parameter(1)
  ROOT y = f32[2,6,16] convolution(x, k), window={size=3}, dim_labels=b0f_0io->b0f, batch_group_count=2
}
"),
        fix: "use a batch of 4 or 6",
        section: "Operation semantics, ConvWithGeneralPadding (convolution)",
    }
    OUTPUT_BATCH_GROUPS = "E0822" "output-batch-groups" {
        rule: "The number of a convolution's output features is a multiple of `batch_group_count`.",
        why: "Each batch group computes the same number of output features.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4,8,6] parameter(0)
  k = f32[3,6,15] parameter(1)
  ROOT y = f32[2,6,15] convolution(x, k), window={size=3}, dim_labels=b0f_0io->b0f, batch_group_count=2
}
"),
        fix: "use 14 or 16 output features",
        section: "Operation semantics, ConvWithGeneralPadding (convolution)",
    }
    KERNEL_INPUT_FEATURES = "E0823" "kernel-input-features" {
        rule: "The kernel has as many input features as one group of the input.",
        why: "This is the number of the input's features divided by `feature_group_count`.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4,8,6] parameter(0)
  k = f32[3,5,16] parameter(1)
  ROOT y = f32[4,6,16] convolution(x, k), window={size=3}, dim_labels=b0f_0io->b0f
}
"),
        fix: "give the kernel 6 input features: `f32[3,6,16]`",
        section: "Operation semantics, ConvWithGeneralPadding (convolution)",
    }
    FFT_TYPE = "E0824" "fft-type" {
        rule: "FFT, IFFT and IRFFT transform complex numbers, and RFFT transforms `f32` or `f64`.",
        why: "RFFT returns complex numbers of the same precision, which exist only for these two types.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[8] parameter(0)
  ROOT y = f32[8] fft(x), fft_type=FFT, fft_length={8}
}
"),
        fix: "write `fft_type=RFFT`, or make the operand complex",
        section: "Operation semantics, Fft",
    }
    FFT_RANK = "E0825" "fft-rank" {
        rule: "`fft` transforms the last one to three dimensions of its operand.",
        why: "`fft_length` has one entry for each transformed dimension.",
        example: Some(r"HloModule m

ENTRY main {
  x = c64[8] parameter(0)
  ROOT y = c64[8] fft(x), fft_type=FFT, fft_length={1,8}
}
"),
        fix: "write `fft_length={8}`",
        section: "Operation semantics, Fft",
    }
    FFT_LENGTH = "E0826" "fft-length" {
        rule: "`fft_length` contains the sizes of the transformed dimensions; the last entry of IRFFT is n if the operand has size n/2+1.",
        why: "A real signal of n numbers has n/2+1 different frequencies, and n cannot be computed from that number.",
        example: Some(r"HloModule m

ENTRY main {
  x = c64[7] parameter(0)
  ROOT y = c64[7] fft(x), fft_type=FFT, fft_length={8}
}
"),
        fix: "write `fft_length={7}`, or pad the operand",
        section: "Operation semantics, Fft",
    }
    SQUARE_MATRICES = "E0827" "square-matrices" {
        rule: "`cholesky` and `triangular-solve` operate on square matrices in the last two dimensions.",
        why: "The dimensions before them are batch dimensions.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[3,4] parameter(0)
  ROOT y = f32[3,4] cholesky(x), lower=true
}
"),
        fix: "slice or pad the operand to a square matrix",
        section: "Operation semantics, Cholesky",
    }
    SOLVE_RANK = "E0828" "solve-rank" {
        rule: "The operands of `triangular-solve` have the same rank.",
        why: "A single right-hand side is a matrix with one column.",
        example: Some(r"HloModule m

ENTRY main {
  a = f32[4,4] parameter(0)
  b = f32[4] parameter(1)
  ROOT x = f32[4] triangular-solve(a, b), left_side=true, lower=true, transpose_a=NO_TRANSPOSE
}
"),
        fix: "reshape `b` to `f32[4,1]`",
        section: "Operation semantics, TriangularSolve",
    }
    SOLVE_BATCH = "E0829" "solve-batch" {
        rule: "The operands of `triangular-solve` have the same batch dimensions.",
        why: "Each matrix has its own right-hand sides.",
        example: Some(r"HloModule m

ENTRY main {
  a = f32[3,4,4] parameter(0)
  b = f32[2,4,1] parameter(1)
  ROOT x = f32[2,4,1] triangular-solve(a, b), left_side=true, lower=true, transpose_a=NO_TRANSPOSE
}
"),
        fix: "broadcast the operands to one batch",
        section: "Operation semantics, TriangularSolve",
    }
    SOLVE_SIZE = "E0830" "solve-size" {
        rule: "The right-hand side of `triangular-solve` has as many rows as the matrices, or as many columns if `left_side` is false.",
        why: "With `left_side=true` the equation is a x = b. Otherwise it is x a = b.",
        example: Some(r"HloModule m

ENTRY main {
  a = f32[4,4] parameter(0)
  b = f32[4,1] parameter(1)
  ROOT x = f32[4,1] triangular-solve(a, b), lower=true, transpose_a=NO_TRANSPOSE
}
"),
        fix: "write `left_side=true`",
        section: "Operation semantics, TriangularSolve",
    }
    FEATURE_VECTOR = "E0831" "feature-vector" {
        rule: "The scale, offset, mean and variance of a batch normalization are vectors with one element for each feature.",
        why: "The number of features is the operand's size in the dimension `feature_index`.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[2,5] parameter(0)
  s = f32[4] parameter(1)
  o = f32[5] parameter(2)
  ROOT y = (f32[2,5], f32[5], f32[5]) batch-norm-training(x, s, o), epsilon=0.1, feature_index=1
}
"),
        fix: "give `s` the shape `f32[5]`",
        section: "Operation semantics, BatchNormTraining",
    }
    RNG_RESULT = "E0832" "rng-result-type" {
        rule: "The result of `rng` has the element type of the distribution's parameters.",
        why: "The parameters are the ends of the interval, or the mean and the standard deviation.",
        example: Some(r"HloModule m

ENTRY main {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT x = s32[3] rng(a, b), distribution=rng_uniform
}
"),
        fix: "write `f32[3]`, and convert the result",
        section: "Operation semantics, RngUniform",
    }
    GENERATOR_STATE = "E0833" "generator-state" {
        rule: "The state of `rng-bit-generator` has the type that the algorithm requires: `u64[2]` for three_fry, `u64[2]` or `u64[3]` for philox, unsigned integers for the default.",
        why: "The state consists of a key and a counter.",
        example: Some(r"HloModule m

ENTRY main {
  s = u32[4] parameter(0)
  ROOT x = (u32[4], u32[8]) rng-bit-generator(s), algorithm=rng_three_fry
}
"),
        fix: "reshape to `u32[2,2]` and `bitcast-convert` to `u64[2]`",
        section: "Operation semantics, RngBitGenerator",
    }
    GENERATOR_RESULT = "E0834" "generator-result" {
        rule: "`rng-bit-generator` returns the next state, with the shape of the state, and the bits.",
        why: "The next state generates different numbers. If you do not need it, write only the bits as the result.",
        example: Some(r"HloModule m

ENTRY main {
  s = u64[2] parameter(0)
  ROOT x = (u64[3], u32[8]) rng-bit-generator(s), algorithm=rng_three_fry
}
"),
        fix: "write `(u64[2], u32[8])`",
        section: "Operation semantics, RngBitGenerator",
    }
    GENERATOR_BITS = "E0835" "generator-bits" {
        rule: "The bits of `rng-bit-generator` are an array of integers or floating-point numbers.",
        why: "Each element has as many random bits as its type. To generate a `pred`, compare the numbers.",
        example: Some(r"HloModule m

ENTRY main {
  s = u64[2] parameter(0)
  ROOT x = (u64[2], pred[8]) rng-bit-generator(s), algorithm=rng_three_fry
}
"),
        fix: "generate `u8[8]`, and compare",
        section: "Operation semantics, RngBitGenerator",
    }
    RNG_STATE = "E0836" "rng-state" {
        rule: "`rng-get-and-update-state` returns `u64[2]`.",
        why: "The global state has 128 bits.",
        example: Some(r"HloModule m

ENTRY main {
  ROOT x = u64[3] rng-get-and-update-state(), delta=1
}
"),
        fix: "write `u64[2]`",
        section: "HLO text, opcodes",
    }
    RNG_DISTRIBUTION = "E0837" "rng-distribution" {
        rule: "The distribution of `rng` is one that can be sampled.",
        why: "The text can contain `rng_invalid`, which means that the distribution was never set.",
        example: Some(r"HloModule m

ENTRY main {
  a = f32[] constant(0)
  b = f32[] constant(1)
  ROOT x = f32[8] rng(a, b), distribution=rng_invalid
}
"),
        fix: "write `rng_uniform` or `rng_normal`",
        section: "Operation semantics, RngUniform",
    }
    CONTRACTION_OPERANDS = "E0838" "contraction-operands" {
        rule: "A contraction has an operand for each access on the right of its `access`, and optionally a default.",
        why: "The default contains the elements of the result that no index assigns. Without a default they are 0.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[2,3] parameter(0)
  ROOT y = f32[2] contraction(x), access={(d0) += (d0,d1) * (d1)}
}
"),
        fix: "add the operand that `(d1)` reads: `contraction(x, weights)`",
        section: "HLO text, Contractions",
    }
    CONTRACTION_RANK = "E0839" "contraction-rank" {
        rule: "An access of a contraction has an index expression for each dimension of its array.",
        why: "The first access is that of the result. The others are those of the operands, in order. The access of a scalar is `()`.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[2,3] parameter(0)
  ROOT y = f32[2] contraction(x), access={(d0) += (d0)}
}
"),
        fix: "add an index for the other dimension: `(d0,d1)`",
        section: "HLO text, Contractions",
    }
    CONTRACTION_TYPES = "E0840" "contraction-types" {
        rule: "A contraction combines elements of one type and returns that type; `==` returns `pred`, or with `?` the type of the operand after it.",
        why: "A contraction converts nothing. Use a `convert` of an operand or of the result.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[2,3] parameter(0)
  y = s32[3] parameter(1)
  ROOT z = f32[2] contraction(x, y), access={(d0) += (d0,d1) * (d1)}
}
"),
        fix: "convert first: `c = f32[3] convert(y)`",
        section: "HLO text, Contractions",
    }
    CONTRACTION_DEFAULT = "E0841" "contraction-default" {
        rule: "The default of a contraction has the shape of the result.",
        why: "It contains the value of each element that no index assigns.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[2] parameter(0)
  zero = f32[] constant(0)
  ROOT y = f32[4] contraction(x, zero), access={(2*d0) = (d0)}
}
"),
        fix: "broadcast `zero`: `zeros = f32[4] broadcast(zero), dimensions={}`",
        section: "HLO text, Contractions",
    }
    CONTRACTION_STATIC = "E0842" "contraction-static" {
        rule: "The arrays of a contraction have static sizes.",
        why: "The sizes determine which indices are valid, and so the loops.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[<=4] parameter(0)
  ROOT y = f32[] contraction(x), access={() += (d0)}
}
"),
        fix: "pad to the bound: `set-dimension-size` to the full size makes the array static",
        section: "HLO text, Contractions",
    }
    CONTRACTION_BOUNDED = "E0843" "contraction-bounded" {
        rule: "The accesses and constraints of a contraction bound all its indices.",
        why: "A contraction iterates over all valid indices, so their number must be finite.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] contraction(x), access={(d0) >= (d1+d2)}
}
"),
        fix: "bound `d1` or `d2` by a constraint: `access={(d0) >= (d1+d2), d1 < 2}`",
        section: "HLO text, Contractions",
    }
    CONTRACTION_CONSTRAINT_INDEX = "E0844" "contraction-constraint-index" {
        rule: "An index in a contraction's constraints is also in one of its accesses.",
        why: "An index that is only in constraints would count each value once for each value of the index, which is rarely intended.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] contraction(x), access={(d0) += (d0), d1 < 3}
}
"),
        fix: "constrain `d0`: `access={(d0) += (d0), d0 < 3}`",
        section: "HLO text, Contractions",
    }
    CONTRACTION_ASSIGNS_ONCE = "E0845" "contraction-assigns-once" {
        rule: "A contraction with `=` assigns at most one value to each element of its result.",
        why: "`=` does not aggregate values. The check is exact. It also rejects the rare contractions for which it would take too long.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[2,3] parameter(0)
  ROOT y = f32[2] contraction(x), access={(d0) = (d0,d1)}
}
"),
        fix: "aggregate the values, for example with `+=`, which equals `=` if each element has only one value",
        section: "HLO text, Contractions",
    }
    CONTRACTION_SIZE = "E0846" "contraction-size" {
        rule: "A contraction has at most 32 indices, and coefficients and bounds of moderate size.",
        why: "Loop bounds are computed exactly: the numbers derived from coefficients and sizes must fit in 62 bits.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] contraction(x), access={(d0) += (d0+9000000000000000000*d1)}
}
"),
        fix: "use smaller numbers",
        section: "HLO text, Contractions",
    }
}
