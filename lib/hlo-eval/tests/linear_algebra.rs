//! Products, convolutions and random bits.

mod common;
use common::{apply, assert_same};

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
fn dot_of_narrow_types_sums_wide() {
    // 1 + 256 · 2⁻⁸: a sum in bf16 would stay at 1.
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
    // Each feature with a kernel of its own.
    let x = "s32[1,2,2] {{{1, 2}, {3, 4}}}";
    conv(
        "window={size=1}, dim_labels=b0f_0io->b0f, feature_group_count=2",
        "s32[1,2,2]",
        x,
        "s32[1,1,2] {{{10, 100}}}",
        "{{{10, 200}, {30, 400}}}",
    );
    // Each batch group with output features of its own.
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
