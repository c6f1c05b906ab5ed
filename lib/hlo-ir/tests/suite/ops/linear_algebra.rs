//! Table tests of products, transforms, factorizations, batch normalization and random numbers.

use super::{accepts, code, infers, refuses};

#[test]
fn dot() {
    infers(&[
        ("dot(f32[2,3], f32[3,4]), lhs_contracting_dims={1}, rhs_contracting_dims={0}", "f32[2,4]"),
        (
            "dot(f32[5,2,3], f32[5,3,4]), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, \
             rhs_contracting_dims={1}",
            "f32[5,2,4]",
        ),
        ("dot(f32[2], f32[3])", "f32[2,3]"),
        ("dot(bf16[3], f32[3]), lhs_contracting_dims={0}, rhs_contracting_dims={0}", "f32[]"),
    ]);
    let ok = |text: &str| assert_eq!(super::Row::read(text).check(), Ok(()), "{text}");
    ok("f32[] dot(bf16[3], bf16[3]), lhs_contracting_dims={0}, rhs_contracting_dims={0}");
    // Taken from the TPU lowering of `jax.numpy.linalg.svd`.
    ok("f32[8,8] dot(f32[8,8], s32[8,8]), lhs_contracting_dims={1}, rhs_contracting_dims={0}");
    ok("s32[] dot(s8[3], s8[3]), lhs_contracting_dims={0}, rhs_contracting_dims={0}");
    refuses(&[
        (
            "dot(f32[2,3], f32[4,4]), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
            code::CONTRACTING_SIZES,
            "contracting dimensions, found 3 in dimension 1 of operand 0 and 4",
        ),
        (
            "dot(f32[2,3], f32[3,3]), lhs_batch_dims={0}, rhs_batch_dims={0}",
            code::BATCH_SIZES,
            "batch dimensions",
        ),
        (
            "dot(f32[2,3], f32[3]), lhs_contracting_dims={1}",
            code::CONTRACTING_COUNT,
            "as many entries in `rhs_contracting_dims` as in `lhs_contracting_dims`, found 0 and 1",
        ),
        (
            "dot(f32[2,3], f32[3]), lhs_contracting_dims={2}, rhs_contracting_dims={0}",
            code::DIMENSION_RANGE,
            "names dimension 2",
        ),
        (
            "dot(f32[3,3], f32[3,3]), lhs_contracting_dims={1,1}, rhs_contracting_dims={0,1}",
            code::DIMENSION_REPEATED,
            "twice",
        ),
        (
            "dot(f32[3,3], f32[3,3]), lhs_batch_dims={0}, rhs_batch_dims={1}, lhs_contracting_dims={0}, rhs_contracting_dims={0}",
            code::DIMENSION_SHARED,
            "both in `lhs_batch_dims` and in `lhs_contracting_dims`",
        ),
        ("s16[3,3] dot(s32[3], s32[3])", code::PRODUCT_RESULT_TYPE, "of s32 does not give s16"),
        ("dot(c64[3], f32[3])", code::PRODUCT_TYPES, "found c64 and f32"),
        ("dot(pred[3], f32[3])", code::PRODUCT_TYPES, "found pred and f32"),
        ("f32[3] dot(f32[3], f32[3])", code::DECLARED_SHAPE, "gives f32[3,3]"),
    ]);
}

/// The inferred element type of a product, for either order of the operands.
#[test]
fn product_types() {
    for (a, b, expected) in [
        ("s8", "s32", "s32"),
        ("u8", "s8", "s8"),
        ("s32", "u32", "s32"),
        ("s8", "u16", "u16"),
        ("u64", "s32", "u64"),
        ("s32", "f16", "f16"),
        ("f16", "bf16", "bf16"),
        ("bf16", "f32", "f32"),
        ("f8e5m2", "f8e4m3fn", "f8e5m2"),
        ("f8e3m4", "f8e4m3", "f8e4m3"),
        ("f8e8m0fnu", "f8e4m3b11fnuz", "f8e8m0fnu"),
        ("c64", "c64", "c64"),
    ] {
        for (a, b) in [(a, b), (b, a)] {
            infers(&[(&format!("dot({a}[], {b}[])"), &format!("{expected}[]"))]);
        }
    }
}

/// A batch dimension of the result is that of the left operand.
#[test]
fn dynamic_products() {
    let batch = "lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}";
    for (lhs, rhs, expected) in [
        ("<=3", "3", "<=3"),
        ("3", "<=3", "3"),
        ("3", "?", "3"),
        ("?", "3", "?"),
        ("?", "<=3", "?"),
        ("<=3", "?", "<=3"),
    ] {
        let text = format!("dot(f32[{lhs},4,5], f32[{rhs},5,6]), {batch}");
        infers(&[(&text, &format!("f32[{expected},4,6]"))]);
    }
    infers(&[(
        "dot(f32[<=4,5], f32[?,<=6]), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
        "f32[<=4,<=6]",
    )]);
}

#[test]
fn scaled_dot() {
    let numbers = "lhs_contracting_dims={1}, rhs_contracting_dims={0}";
    let row =
        |scales: &str| format!("f32[4,8] scaled-dot(f8e4m3fn[4,64], f8e5m2[64,8], {scales}), {numbers}");
    for scales in ["f8e8m0fnu[4,2], f8e8m0fnu[2,8]", "f8e8m0fnu[4,64], f8e8m0fnu[]"] {
        assert_eq!(super::Row::read(&row(scales)).check(), Ok(()), "{scales}");
    }
    infers(&[(
        "scaled-dot(bf16[4,64], bf16[64,8], f8e8m0fnu[4,2], f8e8m0fnu[2,8]), lhs_contracting_dims={1}, \
         rhs_contracting_dims={0}",
        "bf16[4,8]",
    )]);
    for (scales, code, message) in [
        ("f8e8m0fnu[2], f8e8m0fnu[2,8]", code::SCALE_RANK, "a scale of rank 0 or 2"),
        ("f8e8m0fnu[4,3], f8e8m0fnu[2,8]", code::SCALE_SIZES, "found 3 for 64 in dimension 1 of operand 0"),
        ("f8e8m0fnu[3,2], f8e8m0fnu[2,8]", code::SCALE_SIZES, "found 3 for 4 in dimension 0 of operand 0"),
        ("f8e8m0fnu[4,2], f8e8m0fnu[0,8]", code::SCALE_SIZES, "found 0 for 64 in dimension 0 of operand 1"),
        ("s32[4,2], f8e8m0fnu[2,8]", code::ELEMENT_TYPE, "operand 2 is s32[4,2]"),
    ] {
        refuses(&[(&row(scales), code, message)]);
    }
}

#[test]
fn ragged_dot() {
    let free = "lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}";
    let contracting = "lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={1,2}, \
                       rhs_contracting_dims={1,2}";
    let batch = "lhs_batch_dims={0,1}, rhs_batch_dims={0,1}, lhs_contracting_dims={3}, \
                 rhs_contracting_dims={2}, lhs_ragged_dims={1}";
    let nested = "lhs_batch_dims={1}, rhs_batch_dims={1}, lhs_contracting_dims={3}, rhs_contracting_dims={2}, \
                  lhs_ragged_dims={2}, rhs_group_dims={0}";
    for (operands, numbers, expected) in [
        ("f32[11,5], f32[3,5,7], s32[3]", free.to_string(), "f32[11,7]"),
        ("bf16[<=11,5], f32[3,5,7], s32[<=3]", free.to_string(), "f32[<=11,7]"),
        (
            "f32[11,5], f32[6,3,5,7], s32[3]",
            "lhs_contracting_dims={1}, rhs_contracting_dims={2}, lhs_ragged_dims={0}, rhs_group_dims={1}"
                .into(),
            "f32[11,6,7]",
        ),
        ("f32[4,2,11,5], f32[3,2,5,7], s32[2,4,3]", nested.to_string(), "f32[2,4,11,7]"),
        (
            "f32[2,6,11,5], f32[2,6,11,7], s32[2,6,3]",
            format!("{contracting}, lhs_ragged_dims={{2}}"),
            "f32[3,2,5,7]",
        ),
        (
            "f32[2,6,11,5], f32[2,6,11,7], s32[2,<=3]",
            format!("{contracting}, lhs_ragged_dims={{1}}"),
            "f32[<=3,2,5,7]",
        ),
        ("f32[2,6,11,5], f32[2,6,5,7], s32[2,3]", batch.to_string(), "f32[2,6,11,7]"),
        ("f32[2,6,11,5], f32[2,6,5,7], s32[3]", batch.to_string(), "f32[2,6,11,7]"),
    ] {
        infers(&[(&format!("ragged-dot({operands}), {numbers}"), expected)]);
    }
    for (operands, numbers, code, message) in [
        (
            "f32[11,5], f32[3,5,7], s32[4]",
            free,
            code::GROUP_COUNT,
            "of 4 groups needs as many matrices, found 3",
        ),
        ("f32[11,5], f32[3,5,7], f32[3]", free, code::ELEMENT_TYPE, "operand 2 is f32[3]"),
        ("f32[11,5], f32[3,5,7], s32[]", free, code::GROUP_SIZES, "of rank 1, found s32[]"),
        ("f32[11,5], f32[3,5,7], s32[11,3]", free, code::GROUP_SIZES, "found s32[11,3]"),
        ("f32[4,2,11,5], f32[3,2,5,7], s32[4,2,3]", nested, code::GROUP_SIZES, "or [2,4] and the number"),
        ("f32[4,2,11,5], f32[3,2,5,7], s32[4,3]", nested, code::GROUP_SIZES, "or [2,4] and the number"),
        ("f32[2,6,11,5], f32[2,6,5,7], s32[6,3]", batch, code::GROUP_SIZES, "or [2] and the number"),
        (
            "f32[11,5], f32[5,7], s32[3]",
            "lhs_contracting_dims={1}, rhs_contracting_dims={0}, lhs_ragged_dims={0}",
            code::GROUP_DIMENSIONS,
            "of a free ragged dimension needs 1 entries in `rhs_group_dims`, found 0",
        ),
        (
            "f32[11,5], f32[5,7], s32[3]",
            "lhs_contracting_dims={1}, rhs_contracting_dims={0}, lhs_ragged_dims={1}, rhs_group_dims={1}",
            code::GROUP_DIMENSIONS,
            "of a batch or contracting ragged dimension needs 0 entries",
        ),
        (
            "f32[11,5], f32[3,5,7], s32[5]",
            "lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={1}",
            code::GROUP_DIMENSION_FREE,
            "names dimension 1",
        ),
        (
            "f32[11,5], f32[3,5,7], s32[3]",
            "lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0,1}, rhs_group_dims={0}",
            code::ONE_DIMENSION,
            "`lhs_ragged_dims`, found 2",
        ),
    ] {
        refuses(&[(&format!("ragged-dot({operands}), {numbers}"), code, message)]);
    }
}

#[test]
fn convolution() {
    infers(&[
        (
            "convolution(f32[1,8,8,3], f32[3,3,3,16]), window={size=3x3}, dim_labels=b01f_01io->b01f",
            "f32[1,6,6,16]",
        ),
        (
            "convolution(f32[1,8,8,4], f32[3,3,1,8]), window={size=3x3 pad=1_1x1_1 stride=2x2}, \
             dim_labels=b01f_01io->b01f, feature_group_count=4",
            "f32[1,4,4,8]",
        ),
        (
            "convolution(f32[4,3,5], f32[2,3,3]), window={size=3}, dim_labels=bf0_oi0->0bf, batch_group_count=2",
            "f32[3,2,2]",
        ),
        ("convolution(f32[4,3], f32[3,2]), dim_labels=bf_io->bf", "f32[4,2]"),
        (
            "convolution(f32[<=4,?,<=3], f32[3,3,16]), window={size=3}, dim_labels=b0f_0io->b0f",
            "f32[<=4,?,16]",
        ),
        ("convolution(f32[4,8,3], f32[<=3,3,16]), window={size=3}, dim_labels=b0f_0io->b0f", "f32[4,<=6,16]"),
        ("convolution(bf16[4,8,3], f32[3,3,16]), window={size=3}, dim_labels=b0f_0io->b0f", "f32[4,6,16]"),
        (
            "convolution(f32[4,8,6], f32[3,3,16]), window={size=3 lhs_dilate=2 rhs_dilate=2}, \
             dim_labels=b0f_0io->b0f, feature_group_count=2",
            "f32[4,11,16]",
        ),
        (
            "convolution(f32[1,8,8,3]{0,1,2,3}, f32[3,3,3,16]), window={size=3x3 stride=2x1 pad=-1_-1x1_1}, \
             dim_labels=b01f_01io->bf01",
            "f32[1,16,2,8]",
        ),
    ]);
    let row = |lhs: &str, rhs: &str, rest: &str| {
        format!("convolution({lhs}, {rhs}), dim_labels=b0f_0io->b0f, {rest}")
    };
    for (text, code, message) in [
        (
            row("f32[1,8,3]", "f32[3,4,16]", "window={size=3}"),
            code::KERNEL_INPUT_FEATURES,
            "a kernel of 3 input features",
        ),
        (row("f32[1,8,3]", "f32[3,3,16]", "window={size=4}"), code::KERNEL_WINDOW, "a window size of 4"),
        (row("f32[1,8,3]", "f32[3,3,16]", "window={size=3x3}"), code::WINDOW_RANK, "`window`"),
        (row("f32[1,8,3,1]", "f32[3,3,16]", "window={size=3}"), code::LABEL_COUNT, "the input has rank 4"),
        (row("f32[1,8,3]", "f32[3,3]", "window={size=3}"), code::LABEL_COUNT, "the kernel has rank 2"),
        (
            row("f32[1,8,3]", "f32[3,1,16]", "window={size=3}, feature_group_count=2"),
            code::INPUT_FEATURE_GROUPS,
            "multiple of 2 groups, found 3",
        ),
        (
            row("f32[1,8,4]", "f32[3,2,15]", "window={size=3}, feature_group_count=2"),
            code::OUTPUT_FEATURE_GROUPS,
            "found 15",
        ),
        (
            row("f32[1,8,3]", "f32[3,3,16]", "window={size=3}, batch_group_count=2"),
            code::INPUT_BATCH_GROUPS,
            "an input batch size",
        ),
        (
            row("f32[1,8,3]", "f32[3,3,16]", "window={size=3}, feature_group_count=0"),
            code::CONVOLUTION_GROUPS_POSITIVE,
            "group counts",
        ),
        (
            row("f32[1,8,3]", "f32[3,3,16]", "window={size=3}, feature_group_count=3, batch_group_count=2"),
            code::CONVOLUTION_GROUPS_BOTH,
            "grouped by features, feature_group_count=3, and by batch",
        ),
        (row("f32[1,8,3]", "c64[3,3,16]", "window={size=3}"), code::PRODUCT_TYPES, "found f32 and c64"),
    ] {
        refuses(&[(&text, code, message)]);
    }
}

#[test]
fn transforms_and_factorizations() {
    infers(&[
        ("fft(c64[2,8]), fft_type=FFT, fft_length={8}", "c64[2,8]"),
        ("fft(f32[2,8]), fft_type=RFFT, fft_length={8}", "c64[2,5]"),
        ("fft(f32[2,8]{0,1}), fft_type=RFFT, fft_length={8}", "c64[2,5]{0,1}"),
        ("fft(f32[<=2,<=8]), fft_type=RFFT, fft_length={8}", "c64[<=2,<=5]"),
        ("fft(f32[2,?]), fft_type=RFFT, fft_length={8}", "c64[2,5]"),
        ("fft(c64[<=2,<=5]), fft_type=IRFFT, fft_length={9}", "f32[<=2,<=9]"),
        ("fft(c64[2,0]), fft_type=IRFFT, fft_length={0}", "f32[2,0]"),
        ("fft(c64[2,1]), fft_type=IRFFT, fft_length={0}", "f32[2,0]"),
        ("fft(c128[4,5]), fft_type=IRFFT, fft_length={4,8}", "f64[4,8]"),
        ("cholesky(f32[2,3,3]), lower=true", "f32[2,3,3]"),
        ("cholesky(c64[3,?,4]{0,1,2})", "c64[3,?,4]{0,1,2}"),
        ("triangular-solve(f32[3,3], f32[3,5]), left_side=true", "f32[3,5]"),
        ("triangular-solve(f32[2,3,3], f32[2,5,3])", "f32[2,5,3]"),
    ]);
    refuses(&[
        ("fft(f32[8]), fft_type=FFT, fft_length={8}", code::FFT_TYPE, "c64 or c128"),
        ("fft(c64[8]), fft_type=RFFT, fft_length={8}", code::FFT_TYPE, "f32 or f64"),
        ("fft(f16[8]), fft_type=RFFT, fft_length={8}", code::FFT_TYPE, "f32 or f64"),
        (
            "fft(c64[8]), fft_type=FFT, fft_length={7}",
            code::FFT_LENGTH,
            "length 7 needs size 7 in dimension 0, found 8",
        ),
        ("fft(c64[8]), fft_type=IRFFT, fft_length={8}", code::FFT_LENGTH, "needs size 5"),
        ("fft(c64[8]), fft_type=FFT, fft_length={8,8}", code::FFT_RANK, "`fft_length` has 2"),
        ("fft(c64[8]), fft_type=FFT, fft_length={}", code::FFT_RANK, "1 to 3 dimensions"),
        ("cholesky(f32[3,4])", code::SQUARE_MATRICES, "needs square matrices"),
        ("cholesky(f32[3])", code::SQUARE_MATRICES, "needs square matrices"),
        ("cholesky(s32[3,3])", code::ELEMENT_TYPE, "s32[3,3]"),
        (
            "triangular-solve(f32[3,3], f32[4,5]), left_side=true",
            code::SOLVE_SIZE,
            "as many rows in operand 1 as the matrices of f32[3,3]",
        ),
        ("triangular-solve(f32[3,3], f32[3,5])", code::SOLVE_SIZE, "as many columns"),
        ("triangular-solve(f32[2,3,3], f32[3,3])", code::SOLVE_RANK, "of one rank"),
        ("triangular-solve(f32[2,3,3], f32[4,3,3])", code::SOLVE_BATCH, "batch dimensions"),
    ]);
}

#[test]
fn batch_normalization() {
    infers(&[
        (
            "batch-norm-training(f32[2,3], f32[3], f32[3]), epsilon=0.1, feature_index=1",
            "(f32[2,3], f32[3], f32[3])",
        ),
        (
            "batch-norm-inference(f32[2,3], f32[3], f32[3], f32[3], f32[3]), epsilon=0.1, feature_index=1",
            "f32[2,3]",
        ),
        (
            "batch-norm-grad(f32[2,3], f32[3], f32[3], f32[3], f32[2,3]), epsilon=0.1, feature_index=1",
            "(f32[2,3], f32[3], f32[3])",
        ),
    ]);
    refuses(&[
        (
            "batch-norm-training(f32[2,3], f32[2], f32[3]), epsilon=0.1, feature_index=1",
            code::FEATURE_VECTOR,
            "a vector of 3 features as operand 1",
        ),
        (
            "batch-norm-training(f32[2,3], f32[3], f32[3]), epsilon=0.1, feature_index=2",
            code::DIMENSION_RANGE,
            "`feature_index`",
        ),
        (
            "batch-norm-grad(f32[2,3], f32[3], f32[3], f32[3], f32[3,2]), epsilon=0.1, feature_index=1",
            code::OPERAND_SHAPES,
            "operands 0 and 4",
        ),
    ]);
}

#[test]
fn random_numbers() {
    accepts(&[
        "f32[4] rng(f32[], f32[]), distribution=rng_uniform",
        "(u64[2], u32[5]) rng-bit-generator(u64[2]), algorithm=rng_philox",
        "u32[5] rng-bit-generator(u64[2]), algorithm=rng_default",
        "u64[2] rng-get-and-update-state(), delta=1",
    ]);
    refuses(&[
        ("s32[4] rng(f32[], f32[]), distribution=rng_uniform", code::RNG_RESULT, "gives f32"),
        ("f32[4] rng(f32[], s32[]), distribution=rng_uniform", code::MIXED_TYPES, "found f32 and s32"),
        ("f32[4] rng(f32[2], f32[]), distribution=rng_uniform", code::OPERAND_KIND, "a scalar as operand 0"),
        (
            "(u64[3], u32[5]) rng-bit-generator(u64[2]), algorithm=rng_philox",
            code::GENERATOR_RESULT,
            "gives the state, u64[2]",
        ),
        (
            "(u64[2], pred[5]) rng-bit-generator(u64[2]), algorithm=rng_philox",
            code::GENERATOR_BITS,
            "pred[5]",
        ),
        ("u32[5] rng-bit-generator(f32[2]), algorithm=rng_philox", code::GENERATOR_STATE, "u64[2] or u64[3]"),
        ("u32[2] rng-get-and-update-state(), delta=1", code::RNG_STATE, "gives u64[2]"),
    ]);
}
