//! The forms of each opcode whose meaning depends on the element type, as text with `$T` for the type.

use hlo_ir::ElementType;

/// Operands that every form may use: name and shape.
pub const OPERANDS: &[(&str, &str)] = &[
    ("a", "$T[4,6]"),
    ("b", "$T[4,6]"),
    ("m", "$T[6,4]"),
    ("l", "$T[4,4]"),
    ("u", "$T[2,3]"),
    ("v", "$T[6]"),
    ("w", "$T[6]"),
    ("x", "$T[1,5,5,2]"),
    ("y", "$T[3,3,2,4]"),
    ("z", "$T[]"),
    ("e", "$T[]"),
    ("p", "pred[4,6]"),
    ("i", "s32[]"),
    ("j", "s32[3,1]"),
    ("r", "$T[3,6]"),
    ("n", "u8[4,6]"),
    ("o", "u16[4,6]"),
    ("q", "u32[4,6]"),
    ("t", "u64[4,6]"),
    ("d", "u64[2]"),
    ("g", "s32[2]"),
    ("h", "s32[]"),
    ("s", "s32[]"),
    ("k", "$T[2,6,4]"),
    ("c2", "$T[3,2]"),
    ("variance", "$T[6]"),
    ("c4", "$T[3,4]"),
    ("c8", "$T[3,8]"),
];

/// Returns the computations that forms use, for an element type. Complex numbers, which have no order, are
/// ordered by their real parts.
pub fn computations(ty: ElementType) -> String {
    let ordered = if ty.is_complex() { BY_REAL_PARTS } else { ORDERED };
    [COMPUTATIONS, ordered].concat().replace("$T", ty.name()).replace("$R", ty.real_type().name())
}

const COMPUTATIONS: &str = "
f_add { x = $T[] parameter(0)  y = $T[] parameter(1)  ROOT r = $T[] add(x, y) }
f_max { x = $T[] parameter(0)  y = $T[] parameter(1)  ROOT r = $T[] maximum(x, y) }
f_mul { x = $T[] parameter(0)  y = $T[] parameter(1)  ROOT r = $T[] multiply(x, y) }
f_second { x = $T[] parameter(0)  ROOT y = $T[] parameter(1) }
f_eq { x = $T[] parameter(0)  y = $T[] parameter(1)  ROOT r = pred[] compare(x, y), direction=EQ }
f_scan { c = $T[6] parameter(0)  x = $T[6] parameter(1)  s = $T[6] add(c, x)  ROOT r = ($T[6], $T[6]) tuple(s, s) }
";

const ORDERED: &str = "
f_less { x = $T[] parameter(0)  y = $T[] parameter(1)  ROOT r = pred[] compare(x, y), direction=LT }
f_ge { x = $T[] parameter(0)  y = $T[] parameter(1)  ROOT r = pred[] compare(x, y), direction=GE }
";

const BY_REAL_PARTS: &str = "
f_less { x = $T[] parameter(0)  y = $T[] parameter(1)  a = $R[] real(x)  b = $R[] real(y)  ROOT r = pred[] compare(a, b), direction=LT }
f_ge { x = $T[] parameter(0)  y = $T[] parameter(1)  a = $R[] real(x)  b = $R[] real(y)  ROOT r = pred[] compare(a, b), direction=GE }
";

/// All forms. `$R` is the type of the parts of a complex type, `$C` the complex type with such parts, `$O`
/// any other type of the same width, and `$*` each type in turn.
pub const FORMS: &[&str] = &[
    "$R[4,6] abs(a)",
    "$T[4,6] acos(a)",
    "$T[4,6] acosh(a)",
    "$T[4,6] asin(a)",
    "$T[4,6] asinh(a)",
    "$T[4,6] atanh(a)",
    "$T[4,6] cbrt(a)",
    "$T[4,6] ceil(a)",
    "$T[4,6] copy(a)",
    "$T[4,6] cosine(a)",
    "$T[4,6] cosh(a)",
    "$T[4,6] count-leading-zeros(a)",
    "$T[4,6] erf(a)",
    "$T[4,6] exponential(a)",
    "$T[4,6] exponential-minus-one(a)",
    "$T[4,6] floor(a)",
    "$R[4,6] imag(a)",
    "pred[4,6] is-finite(a)",
    "$T[4,6] log(a)",
    "$T[4,6] log-plus-one(a)",
    "$T[4,6] logistic(a)",
    "$T[4,6] negate(a)",
    "$T[4,6] not(a)",
    "$T[4,6] popcnt(a)",
    "$R[4,6] real(a)",
    "$T[4,6] round-nearest-afz(a)",
    "$T[4,6] round-nearest-even(a)",
    "$T[4,6] rsqrt(a)",
    "$T[4,6] sign(a)",
    "$T[4,6] sine(a)",
    "$T[4,6] sinh(a)",
    "$T[4,6] sqrt(a)",
    "$T[4,6] tan(a)",
    "$T[4,6] tanh(a)",
    "$*[4,6] convert(a)",
    "$O[4,6] bitcast-convert(a)",
    "$*[4,6,2] bitcast-convert(a)",
    "$*[4,6,4] bitcast-convert(a)",
    "$*[4,6,8] bitcast-convert(a)",
    "$*[3] bitcast-convert(c2)",
    "$*[3] bitcast-convert(c4)",
    "$*[3] bitcast-convert(c8)",
    "$T[4,6] reduce-precision(a), exponent_bits=3, mantissa_bits=1",
    "$T[4,6] reduce-precision(a), exponent_bits=5, mantissa_bits=4",
    "$*[4,6] stochastic-convert(a, n)",
    "$*[4,6] stochastic-convert(a, o)",
    "$*[4,6] stochastic-convert(a, q)",
    "$*[4,6] stochastic-convert(a, t)",
    "$T[4,6] add(a, b)",
    "$T[4,6] and(a, b)",
    "$T[4,6] atan2(a, b)",
    "pred[4,6] compare(a, b), direction=EQ",
    "pred[4,6] compare(a, b), direction=NE",
    "pred[4,6] compare(a, b), direction=LT",
    "pred[4,6] compare(a, b), direction=GE",
    "pred[4,6] compare(a, b), direction=GT, type=TOTALORDER",
    "$C[4,6] complex(a, b)",
    "$T[4,6] divide(a, b)",
    "$T[4,6] maximum(a, b)",
    "$T[4,6] minimum(a, b)",
    "$T[4,6] mulhi(a, b)",
    "$T[4,6] multiply(a, b)",
    "$T[4,6] or(a, b)",
    "$T[4,6] power(a, b)",
    "$T[4,6] remainder(a, b)",
    "$T[4,6] shift-left(a, b)",
    "$T[4,6] shift-right-arithmetic(a, b)",
    "$T[4,6] shift-right-logical(a, b)",
    "$T[4,6] subtract(a, b)",
    "$T[4,6] xor(a, b)",
    "$T[4,6] clamp(z, a, e)",
    "$T[4,6] select(p, a, b)",
    "$T[6,4] bitcast(a)",
    "$T[2,4,6] broadcast(a), dimensions={1,2}",
    "$T[4,12] concatenate(a, b), dimensions={1}",
    "$T[5,3] iota(), iota_dimension=0",
    "$T[6,15] pad(a, z), padding=1_1x-1_0_2",
    "$T[8,3] reshape(a)",
    "$T[4,6] reverse(a), dimensions={0,1}",
    "$T[2,2] slice(a), slice={[1:3], [0:6:3]}",
    "$T[6,4] transpose(a), dimensions={1,0}",
    "$T[8,3] dynamic-reshape(a, h, s)",
    "$T[2,3] dynamic-slice(a, i, i), dynamic_slice_sizes={2,3}",
    "$T[4,6] dynamic-update-slice(a, u, i, i)",
    "$T[3,6] gather(a, j), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,6}",
    "$T[4,6] scatter(a, j, r), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=f_add",
    "$T[4,6] scatter(a, j, r), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=f_second",
    "s32[] get-dimension-size(a), dimensions={1}",
    "$T[4,<=6] set-dimension-size(a, i), dimensions={1}",
    "$T[4,6] map(a, b), dimensions={0,1}, to_apply=f_mul",
    "pred[4,6] map(a, b), dimensions={0,1}, to_apply=f_eq",
    "$T[4] reduce(a, z), dimensions={1}, to_apply=f_add",
    "$T[6] reduce(a, z), dimensions={0}, to_apply=f_max",
    "$T[] reduce(a, z), dimensions={0,1}, to_apply=f_mul",
    "$T[3,6] reduce-window(a, z), window={size=2x3 pad=0_0x1_1}, to_apply=f_add",
    "$T[4,6] reduce-window(a, z), window={size=1x6 pad=0_0x5_0}, to_apply=f_max",
    "($T[4,6], $T[6]) scan(a, v), dimensions={0}, num_carries=1, to_apply=f_scan",
    "$T[4,6] select-and-scatter(a, u, z), window={size=2x2 stride=2x2}, select=f_ge, scatter=f_add",
    "$T[4,6] sort(a), dimensions={1}, to_apply=f_less",
    "$T[4,6] sort(a), dimensions={0}, is_stable=true, to_apply=f_less",
    "($T[4,2], s32[4,2]) topk(a), k=2, largest=true",
    "$T[4,4] cholesky(l), lower=true",
    "$T[1,3,3,4] convolution(x, y), window={size=3x3}, dim_labels=b01f_01io->b01f",
    "$T[4,4] dot(a, m), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
    "$T[] dot(v, w), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
    "$T[1,5,5,2] fft(x), fft_type=FFT, fft_length={2}",
    "$C[4,4] fft(a), fft_type=RFFT, fft_length={6}",
    "$R[4,10] fft(a), fft_type=IRFFT, fft_length={10}",
    "$T[4,4] contraction(a, m), access={(d0,d1) += (d0,d2) * (d2,d1)}",
    "$T[4] contraction(a), access={(d0) *= (d0,d1), d1 < 3}",
    "$T[8,4] contraction(a, m), access={(2*d0,d1) >= (d0,d2) + (d2,d1)}",
    "$T[4,6] contraction(a, b), access={(d0,d1) <= (d0,d1-d2), d2 < 3}",
    "$T[5,4] contraction(a), access={(d0+1,d1) = (d0,d1+2)}",
    "pred[4] contraction(a, v), access={(d0) += (d0,d1) == (d1)}",
    "$T[4] contraction(v, w, a), access={(d0) >= (d1) == (d2) ? (d0,d1-d2+1)}",
    "$T[4,4] ragged-dot(a, k, g), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}",
    "$T[4,6] triangular-solve(l, a), left_side=true, lower=true, unit_diagonal=true, transpose_a=NO_TRANSPOSE",
    "($T[4,6], $T[6], $T[6]) batch-norm-training(a, v, w), epsilon=0.5, feature_index=1",
    "$T[4,6] batch-norm-inference(a, v, w, v, variance), epsilon=0.5, feature_index=1",
    "($T[4,6], $T[6], $T[6]) batch-norm-grad(a, v, w, variance, b), epsilon=0.5, feature_index=1",
    "$T[4,6] rng(z, e), distribution=rng_uniform",
    "$T[4,6] rng(z, e), distribution=rng_normal",
    "(u64[2], $T[4,6]) rng-bit-generator(d), algorithm=rng_three_fry",
    "(u64[2], $T[4,6]) rng-bit-generator(d), algorithm=rng_philox",
    "(u64[2], $T[4,6]) rng-bit-generator(d), algorithm=rng_default",
    "$T[4,6] opt-barrier(a)",
    "$T[4,6] domain(a), domain={kind=\"sharding\", entry={replicated}, exit={replicated}}",
];
