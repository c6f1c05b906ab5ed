//! Tests of products, convolutions, linear algebra and random bits.

use crate::common::{self, apply, assert_same};

/// Semantics, "DotGeneral": both examples.
#[test]
fn dot_contracts_and_batches() {
    let r = apply(
        "f32[2,2] dot($0, $1), lhs_contracting_dims={1}, rhs_contracting_dims={1}",
        &["f32[2,3] {{1, 2, 3}, {4, 5, 6}}", "f32[2,3] {{1, 1, 1}, {2, 2, 2}}"],
    );
    assert_same(r, "f32[2,2] {{6, 12}, {15, 30}}");
    let lhs = "f32[2,2,2] {{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}}";
    let rhs = "f32[2,2,2] {{{1, 0}, {0, 1}}, {{1, 0}, {0, 1}}}";
    let r = apply(
        "f32[2,2,2] dot($0, $1), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}",
        &[lhs, rhs],
    );
    assert_same(r, lhs);
}

#[test]
fn dot_without_or_with_all_dimensions_contracted() {
    let outer = "s32[2,3] dot($0, $1)";
    assert_same(apply(outer, &["s32[2] {1, 2}", "s32[3] {3, 4, 5}"]), "s32[2,3] {{3, 4, 5}, {6, 8, 10}}");
    let inner = "c64[] dot($0, $1), lhs_contracting_dims={0,1}, rhs_contracting_dims={1,0}";
    let r = apply(inner, &["c64[1,2] {{(1, 1), (0, 2)}}", "c64[2,1] {{(1, -1)}, {(0, 1)}}"]);
    assert_same(r, "c64[] (0, 0)");
}

#[test]
fn products_of_wide_complex_numbers() {
    let (x, y) = ("c128[2,1] {{(1, 2)}, {(3, 0)}}", "c128[1,2] {{(0, 1), (2, -1)}}");
    let dot = "c128[2,2] dot($0, $1), lhs_contracting_dims={1}, rhs_contracting_dims={0}";
    assert_same(apply(dot, &[x, y]), "c128[2,2] {{(-2, 1), (4, 3)}, {(0, 3), (6, -3)}}");
    let convolution = "c128[2,2] convolution($0, $1), dim_labels=bf_io->bf";
    assert_same(apply(convolution, &[x, y]), "c128[2,2] {{(-2, 1), (4, 3)}, {(0, 3), (6, -3)}}");
}

#[test]
fn dot_of_narrow_types_sums_wide() {
    // 1 + 256 · 2⁻⁸. A sum in bf16 would stay at 1.
    let ones = format!("bf16[257] {{1{}}}", ", 0.00390625".repeat(256));
    let units = format!("bf16[257] {{1{}}}", ", 1".repeat(256));
    let contract = "lhs_contracting_dims={0}, rhs_contracting_dims={0}";
    assert_same(apply(&format!("bf16[] dot($0, $1), {contract}"), &[&ones, &units]), "bf16[] 2");
    let (a, b) = ("s8[2] {127, 127}", "s8[2] {127, 127}");
    assert_same(apply(&format!("s32[] dot($0, $1), {contract}"), &[a, b]), "s32[] 32258");
    assert_same(apply(&format!("s8[] dot($0, $1), {contract}"), &[a, b]), "s8[] 2");
}

fn conv(attributes: &str, result: &str, input: &str, kernel: &str, want: &str) {
    let r = apply(&format!("{result} convolution($0, $1), {attributes}"), &[input, kernel]);
    assert_same(r, &format!("{result} {want}"));
}

/// Values from jaxlib.
#[test]
fn convolution_windows() {
    let (x, k) = ("f32[1,5,1] {{{1}, {2}, {3}, {4}, {5}}}", "f32[3,1,1] {{{1}}, {{10}}, {{100}}}");
    let labels = "dim_labels=b0f_0io->b0f";
    conv(&format!("window={{size=3}}, {labels}"), "f32[1,3,1]", x, k, "{{{321}, {432}, {543}}}");
    conv(
        &format!("window={{size=3 rhs_reversal=1}}, {labels}"),
        "f32[1,3,1]",
        x,
        k,
        "{{{123}, {234}, {345}}}",
    );
    conv(
        &format!("window={{size=3 stride=2 pad=1_1}}, {labels}"),
        "f32[1,3,1]",
        x,
        k,
        "{{{210}, {432}, {54}}}",
    );
    conv(&format!("window={{size=3 pad=-1_0}}, {labels}"), "f32[1,2,1]", x, k, "{{{432}, {543}}}");
    conv(&format!("window={{size=3 rhs_dilate=2}}, {labels}"), "f32[1,1,1]", x, k, "{{{531}}}");
    let dilated = "{{{201}, {20}, {302}, {30}, {403}, {40}, {504}}}";
    conv(&format!("window={{size=3 lhs_dilate=2}}, {labels}"), "f32[1,7,1]", x, k, dilated);
}

#[test]
fn convolution_groups() {
    // Each feature has a kernel of its own.
    let x = "s32[1,2,2] {{{1, 2}, {3, 4}}}";
    conv(
        "window={size=1}, dim_labels=b0f_0io->b0f, feature_group_count=2",
        "s32[1,2,2]",
        x,
        "s32[1,1,2] {{{10, 100}}}",
        "{{{10, 200}, {30, 400}}}",
    );
    // Each batch group has output features of its own.
    conv(
        "window={size=1}, dim_labels=b0f_0io->b0f, batch_group_count=2",
        "s32[1,2,2]",
        "s32[2,2,1] {{{1}, {2}}, {{3}, {4}}}",
        "s32[1,1,2] {{{10, 100}}}",
        "{{{10, 300}, {20, 400}}}",
    );
}

/// Values from jaxlib.
#[test]
fn random_bits_are_those_of_xla() {
    let zeros = "u64[2] {0, 0}";
    let r = apply("(u64[2], u32[8]) rng-bit-generator($0), algorithm=rng_philox", &[zeros]);
    assert_same(
        r,
        "(u64[2], u32[8]) ({0, 2}, {1713891541, 3781805453, 3159862348, 2600524760, 4175744164, 1555169499, 2980410603, 159317863})",
    );
    let r = apply("(u64[2], u32[4]) rng-bit-generator($0), algorithm=rng_default", &["u64[2] {1, 0}"]);
    assert_same(r, "(u64[2], u32[4]) ({1, 1}, {117906450, 1115841718, 956895307, 1839381922})");
    let r = apply("(u64[3], u32[4]) rng-bit-generator($0), algorithm=rng_philox", &["u64[3] {1, 0, 0}"]);
    assert_same(r, "(u64[3], u32[4]) ({1, 1, 0}, {3823634032, 3842641596, 2515673792, 3054873127})");
}

/// [[4, 2], [2, 5]] = l·lᵀ with l = [[2, 0], [1, 2]].
#[test]
fn cholesky_takes_either_triangle() {
    let r = apply("f32[2,2] cholesky($0), lower=true", &["f32[2,2] {{4, 77}, {2, 5}}"]);
    assert_same(r, "f32[2,2] {{2, 0}, {1, 2}}");
    let r = apply("f32[2,2] cholesky($0), lower=false", &["f32[2,2] {{4, 2}, {77, 5}}"]);
    assert_same(r, "f32[2,2] {{2, 1}, {0, 2}}");
    let r = apply("f32[2,2] cholesky($0), lower=true", &["f32[2,2] {{1, 2}, {2, 1}}"]);
    assert_same(r, "f32[2,2] {{nan, nan}, {nan, nan}}");
}

/// Tests every combination of sides, triangles and transposes of a = [[2, ·], [1, 4]] against products
/// computed by hand.
#[test]
fn triangular_solve_on_both_sides() {
    let a = "f32[2,2] {{2, 9}, {1, 4}}"; // lower: [[2, 0], [1, 4]], upper: [[2, 9], [0, 4]]
    for (attributes, b, want) in [
        ("left_side=true, lower=true, transpose_a=NO_TRANSPOSE", "{{2}, {9}}", "{{1}, {2}}"),
        ("left_side=true, lower=true, transpose_a=TRANSPOSE", "{{4}, {8}}", "{{1}, {2}}"),
        ("left_side=true, lower=false, transpose_a=NO_TRANSPOSE", "{{20}, {8}}", "{{1}, {2}}"),
        ("left_side=true, lower=false, transpose_a=ADJOINT", "{{2}, {17}}", "{{1}, {2}}"),
        (
            "left_side=true, lower=true, unit_diagonal=true, transpose_a=NO_TRANSPOSE",
            "{{1}, {3}}",
            "{{1}, {2}}",
        ),
    ] {
        let r = apply(
            &format!("f32[2,1] triangular-solve($0, $1), {attributes}"),
            &[a, &format!("f32[2,1] {b}")],
        );
        assert_same(r, &format!("f32[2,1] {want}"));
    }
    for (attributes, b, want) in [
        ("left_side=false, lower=true, transpose_a=NO_TRANSPOSE", "{{4, 8}}", "{{1, 2}}"),
        ("left_side=false, lower=false, transpose_a=NO_TRANSPOSE", "{{2, 17}}", "{{1, 2}}"),
        ("left_side=false, lower=true, transpose_a=TRANSPOSE", "{{2, 9}}", "{{1, 2}}"),
    ] {
        let r = apply(
            &format!("f32[1,2] triangular-solve($0, $1), {attributes}"),
            &[a, &format!("f32[1,2] {b}")],
        );
        assert_same(r, &format!("f32[1,2] {want}"));
    }
}

#[test]
fn fourier_transforms() {
    let x = "c64[4] {(1, 0), (2, 0), (3, 0), (4, 0)}";
    let r = apply("c64[4] fft($0), fft_type=FFT, fft_length={4}", &[x]);
    assert_same(r, "c64[4] {(10, 0), (-2, 2), (-2, 0), (-2, -2)}");
    let spectrum = "c64[3] {(10, 0), (-2, 2), (-2, 0)}";
    assert_same(apply("c64[3] fft($0), fft_type=RFFT, fft_length={4}", &["f32[4] {1, 2, 3, 4}"]), spectrum);
    assert_same(apply("f32[4] fft($0), fft_type=IRFFT, fft_length={4}", &[spectrum]), "f32[4] {1, 2, 3, 4}");
    // A length that is not a power of two. The sum is exact.
    let r =
        apply("c64[3] fft($0), fft_type=FFT, fft_length={3}", &["c64[3] {(1, 0), (1, 0), (4, 0)}"]).unwrap();
    let got = r.elements::<f32>();
    let want = [6.0, 0.0, -1.5, 2.598_076, -1.5, -2.598_076];
    assert!(got.iter().zip(want).all(|(g, w)| (g - w).abs() < 1e-6), "{got:?}");
}

/// Semantics, "BatchNormTraining": two features, means 2 and 20, variances 1 and 100.
#[test]
fn batch_normalization() {
    let x = "f32[2,2] {{1, 10}, {3, 30}}";
    let ones = "f32[2] {1, 1}";
    let zeros = "f32[2] {0, 0}";
    let attributes = "epsilon=0, feature_index=1";
    let r = apply(
        &format!("(f32[2,2], f32[2], f32[2]) batch-norm-training($0, $1, $2), {attributes}"),
        &[x, ones, zeros],
    );
    assert_same(r, "(f32[2,2], f32[2], f32[2]) ({{-1, -1}, {1, 1}}, {2, 20}, {1, 100})");
    let (mean, variance) = ("f32[2] {2, 20}", "f32[2] {1, 100}");
    let inputs = [x, "f32[2] {2, 3}", "f32[2] {1, 0}", mean, variance];
    let r = apply(&format!("f32[2,2] batch-norm-inference($0, $1, $2, $3, $4), {attributes}"), &inputs);
    assert_same(r, "f32[2,2] {{-1, -3}, {3, 3}}");
    // A gradient that is the same everywhere changes only the offset.
    let inputs = [x, ones, mean, variance, "f32[2,2] {{1, 2}, {1, 2}}"];
    let r = apply(
        &format!("(f32[2,2], f32[2], f32[2]) batch-norm-grad($0, $1, $2, $3, $4), {attributes}"),
        &inputs,
    );
    assert_same(r, "(f32[2,2], f32[2], f32[2]) ({{0, 0}, {0, 0}}, {0, 0}, {2, 4})");
}

#[test]
fn topk_takes_the_first_of_equals() {
    let r = apply(
        "(f32[2,2], s32[2,2]) topk($0), k=2, largest=true",
        &["f32[2,4] {{1, 3, 3, 2}, {-1, nan, -5, inf}}"],
    );
    assert_same(r, "(f32[2,2], s32[2,2]) ({{3, 3}, {nan, inf}}, {{1, 2}, {1, 3}})");
    let r = apply("(s8[2], s32[2]) topk($0), k=2, largest=false", &["s8[4] {1, -3, 3, -3}"]);
    assert_same(r, "(s8[2], s32[2]) ({-3, -3}, {1, 3})");
}

#[test]
fn rng_stays_in_its_range_and_differs_between_instructions() {
    let text = "HloModule m\nENTRY e {\n a = f32[] constant(-1)\n b = f32[] constant(3)\n x = f32[1000] rng(a, b), distribution=rng_uniform\n y = f32[1000] rng(a, b), distribution=rng_uniform\n i = s32[] constant(5)\n j = s32[] constant(8)\n z = s32[1000] rng(i, j), distribution=rng_uniform\n ROOT t = (f32[1000], f32[1000], s32[1000]) tuple(x, y, z)\n}\n";
    let r = common::run(text, &[]).unwrap();
    assert_eq!(r, common::run(text, &[]).unwrap());
    let leaves = r.leaves();
    let (x, y) = (leaves[0].elements::<f32>(), leaves[1].elements::<f32>());
    assert!(x.iter().chain(y).all(|v| (-1.0..3.0).contains(v)));
    assert_ne!(x, y);
    let mean = x.iter().sum::<f32>() / 1000.0;
    assert!((mean - 1.0).abs() < 0.15, "{mean}");
    let z = leaves[2].elements::<i32>();
    assert!((5..8).all(|v| z.contains(&v)) && z.iter().all(|v| (5..8).contains(v)));
}
