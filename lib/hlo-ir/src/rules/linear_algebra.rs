//! Rules for products, contractions, convolutions, transforms, factorisations, batch normalisation and random
//! numbers.

rules! {
    PRODUCT_TYPES = "E0801" "product-types" {
        rule: "The operands of a product have one element type, or two between which accumulation is defined.",
        why: "Integers and floating-point numbers go together, in `convolution` also with `pred`; complex numbers only with their own type.",
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
        rule: "The written element type of a product of integers is no narrower than theirs.",
        why: "A product may be written with a wider type than its operands have, in which it is then accumulated.",
        example: Some(r"HloModule m

ENTRY main {
  x = s32[3] parameter(0)
  y = s32[3] parameter(1)
  ROOT z = s8[] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}
}
"),
        fix: "write `s32[]`, and convert afterwards",
        section: "Operation semantics, DotGeneral",
    }
    BATCH_COUNT = "E0803" "batch-count" {
        rule: "A product has as many batch dimensions on the right as on the left.",
        why: "The lists name them in pairs: the first of one with the first of the other.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[2,3] parameter(0)
  y = f32[3] parameter(1)
  ROOT z = f32[2] dot(x, y), lhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"),
        fix: "leave `lhs_batch_dims` out: a free dimension gives the same result",
        section: "Operation semantics, DotGeneral",
    }
    CONTRACTING_COUNT = "E0804" "contracting-count" {
        rule: "A product has as many contracting dimensions on the right as on the left.",
        why: "The lists name them in pairs: the first of one with the first of the other.",
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
        rule: "Batch dimensions that go together have the same size.",
        why: "Each index of a batch dimension selects a part of both operands.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[2,3] parameter(0)
  y = f32[4,3] parameter(1)
  ROOT z = f32[2] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_contracting_dims={1}
}
"),
        fix: "slice or broadcast one of them to the other's size",
        section: "Operation semantics, DotGeneral",
    }
    CONTRACTING_SIZES = "E0806" "contracting-sizes" {
        rule: "Contracting dimensions that go together have the same size.",
        why: "Products of elements at the same index are added up.",
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
        rule: "A scale of `scaled-dot` is a scalar or has the rank of the operand that it scales; one of the two is no scalar.",
        why: "A scale has an element for each block of the operand, so that it has the same dimensions with fewer elements.",
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
        rule: "A scale of `scaled-dot` has in each dimension the size of its operand, or one that divides it.",
        why: "Blocks of elements that have a scale in common are of one size.",
        example: Some(r"HloModule m

ENTRY main {
  x = f8e4m3fn[4,64] parameter(0)
  y = f8e4m3fn[64,8] parameter(1)
  s = f8e8m0fnu[4,3] parameter(2)
  t = f8e8m0fnu[2,8] parameter(3)
  ROOT z = f32[4,8] scaled-dot(x, y, s, t), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"),
        fix: "64 elements are 2 blocks of 32: `s` is `f8e8m0fnu[4,2]`",
        section: "HLO text, opcodes",
    }
    GROUP_DIMENSIONS = "E0809" "group-dimensions" {
        rule: "`ragged-dot` has one group dimension on the right if the ragged dimension is a free one, and none otherwise.",
        why: "Only rows of the left operand that are kept choose among matrices of the right one.",
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
        rule: "`ragged-dot` has as many matrices along the group dimension as there are group sizes.",
        why: "Each group of rows is multiplied with its own matrix.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[11,5] parameter(0)
  y = f32[3,5,7] parameter(1)
  g = s32[4] parameter(2)
  ROOT z = f32[11,7] ragged-dot(x, y, g), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}
}
"),
        fix: "give 3 group sizes, or 4 matrices",
        section: "HLO text, opcodes",
    }
    GROUP_SIZES = "E0812" "group-sizes" {
        rule: "The group sizes of `ragged-dot` are a vector, or have the dimensions before the ragged one and then that of the groups.",
        why: "Each batch, or each index of what stands before the ragged dimension, may be divided into groups in its own way.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[2,11,5] parameter(0)
  y = f32[3,2,5,7] parameter(1)
  g = s32[4,3] parameter(2)
  ROOT z = f32[2,11,7] ragged-dot(x, y, g), lhs_batch_dims={0}, rhs_batch_dims={1}, lhs_contracting_dims={2}, rhs_contracting_dims={2}, lhs_ragged_dims={1}, rhs_group_dims={0}
}
"),
        fix: "give 3 sizes, `s32[3]`, or 3 for each of the 2 batches, `s32[2,3]`",
        section: "HLO text, opcodes",
    }
    LABEL_COUNT = "E0813" "label-count" {
        rule: "`dim_labels` has a label for each dimension of the input, the kernel and the output.",
        why: "The letters are b for batch, f for features, i and o for the kernel's input and output features, and digits for spatial dimensions.",
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
        why: "The kernel moves along each spatial dimension of the input. The parser refuses labels that differ.",
        example: None,
        fix: "give all three parts of the labels the same spatial dimensions",
        section: "Operation semantics, ConvWithGeneralPadding (convolution)",
    }
    KERNEL_WINDOW = "E0815" "kernel-window" {
        rule: "The sizes of a convolution's window are those of the kernel's spatial dimensions.",
        why: "They are written twice: in `window` and in the kernel's shape.",
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
        rule: "The number of a kernel's output features is known.",
        why: "It is the number of features of the result, which no bound can stand for.",
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
        why: "Not grouped means one group.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4,8,6] parameter(0)
  k = f32[3,6,16] parameter(1)
  ROOT y = f32[4,6,16] convolution(x, k), window={size=3}, dim_labels=b0f_0io->b0f, feature_group_count=0
}
"),
        fix: "leave `feature_group_count` out",
        section: "Operation semantics, ConvWithGeneralPadding (convolution)",
    }
    CONVOLUTION_GROUPS_BOTH = "E0818" "convolution-groups-both" {
        rule: "A convolution is grouped by features or by batch, not by both.",
        why: "Grouping by batch is what the gradient of a convolution grouped by features needs.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4,8,6] parameter(0)
  k = f32[3,3,16] parameter(1)
  ROOT y = f32[2,6,16] convolution(x, k), window={size=3}, dim_labels=b0f_0io->b0f, feature_group_count=2, batch_group_count=2
}
"),
        fix: "leave one of the two counts out",
        section: "Operation semantics, ConvWithGeneralPadding (convolution)",
    }
    INPUT_FEATURE_GROUPS = "E0819" "input-feature-groups" {
        rule: "The number of a convolution's input features is a multiple of `feature_group_count`.",
        why: "The groups have one size.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4,8,6] parameter(0)
  k = f32[3,1,16] parameter(1)
  ROOT y = f32[4,6,16] convolution(x, k), window={size=3}, dim_labels=b0f_0io->b0f, feature_group_count=4
}
"),
        fix: "6 features are 2, 3 or 6 groups",
        section: "Operation semantics, ConvWithGeneralPadding (convolution)",
    }
    OUTPUT_FEATURE_GROUPS = "E0820" "output-feature-groups" {
        rule: "The number of a convolution's output features is a multiple of `feature_group_count`.",
        why: "Each group gives as many output features.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4,8,6] parameter(0)
  k = f32[3,3,15] parameter(1)
  ROOT y = f32[4,6,15] convolution(x, k), window={size=3}, dim_labels=b0f_0io->b0f, feature_group_count=2
}
"),
        fix: "give 14 or 16 output features",
        section: "Operation semantics, ConvWithGeneralPadding (convolution)",
    }
    INPUT_BATCH_GROUPS = "E0821" "input-batch-groups" {
        rule: "The size of a convolution's batch is a multiple of `batch_group_count`.",
        why: "The groups have one size.",
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
        why: "Each batch group gives as many output features.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4,8,6] parameter(0)
  k = f32[3,6,15] parameter(1)
  ROOT y = f32[2,6,15] convolution(x, k), window={size=3}, dim_labels=b0f_0io->b0f, batch_group_count=2
}
"),
        fix: "give 14 or 16 output features",
        section: "Operation semantics, ConvWithGeneralPadding (convolution)",
    }
    KERNEL_INPUT_FEATURES = "E0823" "kernel-input-features" {
        rule: "The kernel has as many input features as a group of the input.",
        why: "That is the number of the input's features divided by `feature_group_count`.",
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
        rule: "FFT, IFFT and IRFFT transform complex numbers, RFFT `f32` or `f64`.",
        why: "RFFT gives complex numbers of the same precision, which only those two types have.",
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
        why: "`fft_length` has an entry for each of them.",
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
        rule: "`fft_length` has the sizes of the transformed dimensions; for the last one of IRFFT, n where the operand has n/2+1.",
        why: "A real signal of n numbers has n/2+1 different frequencies, from which n can't be told: it is written.",
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
        rule: "`cholesky` and `triangular-solve` work on square matrices in the last two dimensions.",
        why: "Dimensions before them are batch dimensions.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[3,4] parameter(0)
  ROOT y = f32[3,4] cholesky(x), lower=true
}
"),
        fix: "slice or pad to a square",
        section: "Operation semantics, Cholesky",
    }
    SOLVE_RANK = "E0828" "solve-rank" {
        rule: "The operands of `triangular-solve` have one rank.",
        why: "A single right-hand side is a matrix of one column.",
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
        rule: "The right-hand side of `triangular-solve` has as many rows as the matrices, or columns if `left_side` is false.",
        why: "With `left_side=true` the equation is a x = b, otherwise x a = b.",
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
        rule: "Scale, offset, mean and variance of a batch normalisation are vectors with an element for each feature.",
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
        why: "The parameters are the interval's ends, or mean and deviation.",
        example: Some(r"HloModule m

ENTRY main {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT x = s32[3] rng(a, b), distribution=rng_uniform
}
"),
        fix: "write `f32[3]`, and convert afterwards",
        section: "Operation semantics, RngUniform",
    }
    GENERATOR_STATE = "E0833" "generator-state" {
        rule: "The state of `rng-bit-generator` is what the algorithm asks for: `u64[2]` for three_fry, `u64[2]` or `u64[3]` for philox, unsigned integers for the default.",
        why: "The state is a key and a counter.",
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
        rule: "`rng-bit-generator` gives the next state, of the state's shape, and the bits.",
        why: "The next state makes other numbers next time. Where it is not needed, the bits alone may be written as the result.",
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
        why: "There are as many bits as the type has; a `pred` is made by a comparison.",
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
        rule: "`rng-get-and-update-state` gives `u64[2]`.",
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
        rule: "The distribution of `rng` is one that numbers can be drawn from.",
        why: "`rng_invalid` can be written and stands for a distribution that was never set.",
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
        rule: "A contraction has an operand for each access on the right of its `access`, and maybe one more.",
        why: "The one more has the elements of the result that no index gives a value; without it they are 0.",
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
        why: "The first access is the result's, the others are the operands', in their order. A scalar's is `()`.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[2,3] parameter(0)
  ROOT y = f32[2] contraction(x), access={(d0) += (d0)}
}
"),
        fix: "write an index for the other dimension: `(d0,d1)`",
        section: "HLO text, Contractions",
    }
    CONTRACTION_TYPES = "E0840" "contraction-types" {
        rule: "What a contraction combines has one element type, which is the result's; `==` gives `pred`, and with `?` the type of what follows.",
        why: "Nothing is converted: that is written as a `convert` of an operand or of the result.",
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
        rule: "The operand that has what no index writes has the shape of the contraction's result.",
        why: "Each element of the result without a value is the one in its place there.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[2] parameter(0)
  zero = f32[] constant(0)
  ROOT y = f32[4] contraction(x, zero), access={(2*d0) = (d0)}
}
"),
        fix: "broadcast it: `zeros = f32[4] broadcast(zero), dimensions={}`",
        section: "HLO text, Contractions",
    }
    CONTRACTION_STATIC = "E0842" "contraction-static" {
        rule: "The arrays of a contraction have static sizes.",
        why: "Which indices are valid follows from the sizes, and with them the loops.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[<=4] parameter(0)
  ROOT y = f32[] contraction(x), access={() += (d0)}
}
"),
        fix: "pad to the bound: with `set-dimension-size` to its full size the array is static",
        section: "HLO text, Contractions",
    }
    CONTRACTION_BOUNDED = "E0843" "contraction-bounded" {
        rule: "The accesses and constraints of a contraction bound all its indices.",
        why: "A contraction runs over all valid indices: there must not be infinitely many of them.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] contraction(x), access={(d0) >= (d1+d2)}
}
"),
        fix: "bound one of `d1` and `d2` by a constraint: `access={(d0) >= (d1+d2), d1 < 2}`",
        section: "HLO text, Contractions",
    }
    CONTRACTION_CONSTRAINT_INDEX = "E0844" "contraction-constraint-index" {
        rule: "The indices in a contraction's constraints occur in its accesses.",
        why: "An index that only constraints have would count each value as often as there are such indices, which is hardly meant.",
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
        rule: "A contraction with `=` gives no element of its result more than one value.",
        why: "`=` says that there is nothing to aggregate. It is checked exactly; the contraction is refused as well where that would take too long, which hardly happens.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[2,3] parameter(0)
  ROOT y = f32[2] contraction(x), access={(d0) = (d0,d1)}
}
"),
        fix: "say what becomes of the values, `+=` for instance; where there is one value only, that is the same as `=`",
        section: "HLO text, Contractions",
    }
    CONTRACTION_SIZE = "E0846" "contraction-size" {
        rule: "A contraction has at most 32 indices, and numbers of moderate size.",
        why: "Bounds of loops are computed exactly: what follows from coefficients and sizes must fit in 62 bits.",
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
