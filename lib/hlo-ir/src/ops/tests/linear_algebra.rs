//! Rows of products, transforms, factorisations, batch normalisation and random numbers.

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
    // As jax.numpy.linalg.svd lowers for TPU.
    ok("f32[8,8] dot(f32[8,8], s32[8,8]), lhs_contracting_dims={1}, rhs_contracting_dims={0}");
    ok("s32[] dot(s8[3], s8[3]), lhs_contracting_dims={0}, rhs_contracting_dims={0}");
    refuses(&[
        (
            "dot(f32[2,3], f32[4,4]), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
            code::PAIRED_SIZES,
            "contracting dimensions, found 3 in dimension 1 of operand 0 and 4",
        ),
        (
            "dot(f32[2,3], f32[3,3]), lhs_batch_dims={0}, rhs_batch_dims={0}",
            code::PAIRED_SIZES,
            "batch dimensions",
        ),
        (
            "dot(f32[2,3], f32[3]), lhs_contracting_dims={1}",
            code::ENTRY_COUNT,
            "needs 1 entries in `rhs_contracting_dims`, found 0",
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
        ("s16[3,3] dot(s32[3], s32[3])", code::DECLARED_SHAPE, "of s32 does not give s16"),
        ("f32[3,3] dot(c64[3], c64[3])", code::DECLARED_SHAPE, "of c64 does not give f32"),
        ("dot(c64[3], f32[3])", code::MIXED_TYPES, "found c64 and f32"),
        ("dot(pred[3], f32[3])", code::MIXED_TYPES, "found pred and f32"),
        ("f32[3] dot(f32[3], f32[3])", code::DECLARED_SHAPE, "gives f32[3,3]"),
    ]);
    accepts(&[
        "f32[4,2] ragged-dot(f32[4,3], f32[5,3,2], s32[5]), lhs_contracting_dims={1}, rhs_contracting_dims={1}, \
         lhs_ragged_dims={0}, rhs_group_dims={0}",
    ]);
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
    ]);
    let row = |lhs: &str, rhs: &str, rest: &str| {
        format!("convolution({lhs}, {rhs}), dim_labels=b0f_0io->b0f, {rest}")
    };
    for (text, code, message) in [
        (
            row("f32[1,8,3]", "f32[3,4,16]", "window={size=3}"),
            code::OPERAND_SHAPES,
            "a kernel of 3 input features",
        ),
        (row("f32[1,8,3]", "f32[3,3,16]", "window={size=4}"), code::ATTRIBUTE, "a window size of 4"),
        (row("f32[1,8,3]", "f32[3,3,16]", "window={size=3x3}"), code::WINDOW_RANK, "`window`"),
        (row("f32[1,8,3,1]", "f32[3,3,16]", "window={size=3}"), code::ENTRY_COUNT, "`dim_labels (input)`"),
        (row("f32[1,8,3]", "f32[3,3]", "window={size=3}"), code::ENTRY_COUNT, "`dim_labels (kernel)`"),
        (
            row("f32[1,8,3]", "f32[3,1,16]", "window={size=3}, feature_group_count=2"),
            code::OPERAND_SHAPES,
            "multiple of 2 groups, found 3",
        ),
        (
            row("f32[1,8,4]", "f32[3,2,15]", "window={size=3}, feature_group_count=2"),
            code::OPERAND_SHAPES,
            "found 15",
        ),
        (
            row("f32[1,8,3]", "f32[3,3,16]", "window={size=3}, batch_group_count=2"),
            code::OPERAND_SHAPES,
            "an input batch size",
        ),
        (
            row("f32[1,8,3]", "f32[3,3,16]", "window={size=3}, feature_group_count=0"),
            code::ATTRIBUTE,
            "group counts",
        ),
        (
            row("f32[1,8,3]", "f32[3,3,16]", "window={size=3}, feature_group_count=3, batch_group_count=2"),
            code::ATTRIBUTE,
            "at most one",
        ),
        (row("f32[1,8,3]", "s32[3,3,16]", "window={size=3}"), code::MIXED_TYPES, "found f32 and s32"),
    ] {
        refuses(&[(&text, code, message)]);
    }
}

#[test]
fn transforms_and_factorisations() {
    infers(&[
        ("fft(c64[2,8]), fft_type=FFT, fft_length={8}", "c64[2,8]"),
        ("fft(f32[2,8]), fft_type=RFFT, fft_length={8}", "c64[2,5]"),
        ("fft(c128[4,5]), fft_type=IRFFT, fft_length={4,8}", "f64[4,8]"),
        ("cholesky(f32[2,3,3]), lower=true", "f32[2,3,3]"),
        ("triangular-solve(f32[3,3], f32[3,5]), left_side=true", "f32[3,5]"),
        ("triangular-solve(f32[2,3,3], f32[2,5,3])", "f32[2,5,3]"),
    ]);
    refuses(&[
        ("fft(f32[8]), fft_type=FFT, fft_length={8}", code::ELEMENT_TYPE, "complex types"),
        ("fft(c64[8]), fft_type=RFFT, fft_length={8}", code::ELEMENT_TYPE, "floating-point"),
        ("fft(f16[8]), fft_type=RFFT, fft_length={8}", code::ELEMENT_TYPE, "f32 and f64"),
        (
            "fft(c64[8]), fft_type=FFT, fft_length={7}",
            code::ATTRIBUTE,
            "length 7 needs size 7 in dimension 0, found 8",
        ),
        ("fft(c64[8]), fft_type=IRFFT, fft_length={8}", code::ATTRIBUTE, "needs size 5"),
        ("fft(c64[8]), fft_type=FFT, fft_length={8,8}", code::ATTRIBUTE, "`fft_length` has 2"),
        ("fft(c64[8]), fft_type=FFT, fft_length={}", code::ATTRIBUTE, "1 to 3 dimensions"),
        ("cholesky(f32[3,4])", code::OPERAND_KIND, "needs square matrices"),
        ("cholesky(f32[3])", code::OPERAND_KIND, "needs square matrices"),
        ("cholesky(s32[3,3])", code::ELEMENT_TYPE, "s32[3,3]"),
        ("triangular-solve(f32[3,3], f32[4,5]), left_side=true", code::OPERAND_SHAPES, "rows of f32[3,3]"),
        ("triangular-solve(f32[3,3], f32[3,5])", code::OPERAND_SHAPES, "columns of f32[3,3]"),
        ("triangular-solve(f32[2,3,3], f32[3,3])", code::OPERAND_SHAPES, "batch dimensions"),
    ]);
}

#[test]
fn batch_normalisation() {
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
            code::OPERAND_SHAPES,
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
        ("s32[4] rng(f32[], f32[]), distribution=rng_uniform", code::DECLARED_SHAPE, "gives f32"),
        ("f32[4] rng(f32[], s32[]), distribution=rng_uniform", code::MIXED_TYPES, "found f32 and s32"),
        ("f32[4] rng(f32[2], f32[]), distribution=rng_uniform", code::OPERAND_KIND, "a scalar as operand 0"),
        (
            "(u64[3], u32[5]) rng-bit-generator(u64[2]), algorithm=rng_philox",
            code::DECLARED_SHAPE,
            "gives the state, u64[2]",
        ),
        ("(u64[2], pred[5]) rng-bit-generator(u64[2]), algorithm=rng_philox", code::ELEMENT_TYPE, "pred[5]"),
        ("u32[5] rng-bit-generator(f32[2]), algorithm=rng_philox", code::ELEMENT_TYPE, "unsigned integers"),
        ("u32[2] rng-get-and-update-state(), delta=1", code::DECLARED_SHAPE, "gives a vector of u64"),
    ]);
}
