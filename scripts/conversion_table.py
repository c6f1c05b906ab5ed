#!/usr/bin/env python3
"""Writes test/types/conversions.txt: what `convert` gives for every pair of element types, as ml_dtypes and numpy
have it, one hash a pair. Needs numpy and ml_dtypes; the tests read the file only.

    python3 scripts/conversion_table.py > test/types/conversions.txt

A source of 16 bits or fewer is taken in every bit pattern, a wider one at the sample that `sample` makes (and
test/types/convert.rs makes too). The rules, where the libraries leave them open: floats become integers by
truncation that saturates, NaN becomes 0; integers wrap; to `pred` is "is not zero"; a number is rounded once.
"""
import ml_dtypes
import numpy as np

SIGNED = {f"s{n}": n for n in (1, 2, 4, 8, 16, 32, 64)}
UNSIGNED = {f"u{n}": n for n in (1, 2, 4, 8, 16, 32, 64)}
FLOATS = {
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64,
    "f8e5m2": ml_dtypes.float8_e5m2, "f8e4m3": ml_dtypes.float8_e4m3, "f8e4m3fn": ml_dtypes.float8_e4m3fn,
    "f8e4m3b11fnuz": ml_dtypes.float8_e4m3b11fnuz, "f8e3m4": ml_dtypes.float8_e3m4,
    "f8e5m2fnuz": ml_dtypes.float8_e5m2fnuz, "f8e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "f8e8m0fnu": ml_dtypes.float8_e8m0fnu, "f4e2m1fn": ml_dtypes.float4_e2m1fn,
    "f6e3m2fn": ml_dtypes.float6_e3m2fn, "f6e2m3fn": ml_dtypes.float6_e2m3fn,
}
COMPLEX = {"c64": "f32", "c128": "f64"}
TYPES = ["pred", *SIGNED, *UNSIGNED, *FLOATS, *COMPLEX]
BITS = {"pred": 1, **SIGNED, **UNSIGNED, **{t: ml_dtypes.finfo(d).bits for t, d in FLOATS.items()}}
SAMPLE = 16384
U64 = np.uint64


def mix(x):
    """The finaliser of SplitMix64, element by element."""
    x = (x ^ (x >> U64(30))) * U64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> U64(27))) * U64(0x94D049BB133111EB)
    return x ^ (x >> U64(31))


def sample(bits, is_float):
    """Bit patterns of a wide type: any, few leading bits, and what lies next to a tie of a narrower type."""
    i = np.arange(SAMPLE, dtype=U64)
    r = mix(i * U64(0x9E3779B97F4A7C15) + U64(bits))
    if is_float:
        mantissa, exponent = (23, 8) if bits == 32 else (52, 11)
        # Exponents around those of the narrower types, for three of four.
        bias = (1 << (exponent - 1)) - 1
        near = U64(bias) + ((r >> U64(8)) % U64(300)) - U64(min(bias, 150))
        field = np.where(i % U64(4) == 0, (r >> U64(20)) & U64((1 << exponent) - 1), near)
        field &= U64((1 << exponent) - 1)
        kept = U64(1) + (r >> U64(32)) % U64(12)
        drop = U64(mantissa) - kept
        fraction = ((r >> U64(40)) << drop) & U64((1 << mantissa) - 1)
        # A tie, one beside it, or all bits.
        step = (i // U64(4)) % U64(4)
        tie = fraction | (U64(1) << (drop - U64(1)))
        fraction = np.choose((step).astype(int), [tie, tie + U64(1), tie - U64(1), mix(r) & U64((1 << mantissa) - 1)])
        sign = (r >> U64(5)) & U64(1)
        return (sign << U64(bits - 1)) | (field << U64(mantissa)) | fraction
    shift = (r >> U64(6)) % U64(bits)
    values = mix(r) >> U64(64 - bits)
    values = np.where(i % U64(2) == 0, values >> shift, U64((1 << bits) - 1) - (values >> shift))
    # Powers of two, and one beside them.
    power = (U64(1) << shift) + (r % U64(3)) - U64(1)
    return np.where(i % U64(4) == 3, power, values) & U64((1 << bits) - 1)


def patterns(t):
    bits = BITS[t]
    return np.arange(1 << bits, dtype=U64) if bits <= 16 else sample(bits, t in FLOATS)


def storage(bits):
    return {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}[max(8, bits)]


def values(t, raw):
    """Exact values: Python integers' array for integers, float64 for floats."""
    if t in FLOATS:
        return raw.astype(storage(BITS[t])).view(FLOATS[t]).astype(np.float64)
    if t in SIGNED:
        n = BITS[t]
        return (raw.astype(np.uint64) << U64(64 - n)).view(np.int64) >> np.int64(64 - n)
    return raw


def odd_f32(x):
    """Rounded to odd in f32, so that rounding to a narrower format afterwards rounds as if once."""
    with np.errstate(all="ignore"):
        y = x.astype(np.float32)
    back = y.astype(np.float64)
    bits = y.view(np.uint32).copy()
    inexact = np.isfinite(x) & (back != x)
    bits[inexact & (np.abs(back) > np.abs(x))] -= 1
    bits[inexact] |= 1
    return bits.view(np.float32)


def odd_f64(x):
    """An integer array rounded to odd in f64."""
    if x.dtype == np.uint64:
        big = x >= U64(1 << 53)
        folded = (x & ~U64(0xFFF)) | np.where(x & U64(0xFFF), U64(0x1000), U64(0))
        # The bit is only or-ed in where the exact value has 53 bits and more.
        return np.where(big, folded.astype(np.float64), x.astype(np.float64))
    negative = x < 0
    magnitude = np.where(negative, -x.astype(object), x.astype(object)).astype(np.uint64)
    return np.where(negative, -1.0, 1.0) * odd_f64(magnitude)


def to_float(t, x):
    dtype = FLOATS[t]
    with np.errstate(all="ignore"):
        if t in ("f64", "f32"):
            return x.astype(dtype)
        wide = x if x.dtype == np.float64 else odd_f64(x)
        y = odd_f32(wide).astype(dtype)
    if t[:2] in ("f4", "f6"):
        # They have no NaN. ml_dtypes gives a zero of the other sign, XLA always the negative one.
        zero = np.array([1 << (BITS[t] - 1)], np.uint8).view(dtype)
        y = np.where(np.isnan(wide), zero, y)
    return y


def to_integer(t, x):
    n, signed = BITS[t], t in SIGNED
    mask = U64((1 << n) - 1)
    if x.dtype != np.float64:
        return x.astype(np.uint64) & mask
    low, high = (-(1 << (n - 1)), (1 << (n - 1)) - 1) if signed else (0, (1 << n) - 1)
    def one(v):
        if np.isnan(v):
            return 0
        return (low if v < 0 else high) if np.isinf(v) else max(low, min(high, int(v)))
    return np.array([one(v) & ((1 << n) - 1) for v in x], dtype=np.uint64)


def canonical(t, y):
    """Bits of results, all ones for NaN."""
    bits = y.view(storage(BITS[t])).astype(np.uint64) & U64((1 << BITS[t]) - 1 if BITS[t] < 64 else 0xFFFFFFFFFFFFFFFF)
    return np.where(np.isnan(y.astype(np.float64)), U64(0xFFFFFFFFFFFFFFFF), bits)


def real(t, x):
    """The results' bits."""
    if t == "pred":
        return (x != 0).astype(np.uint64)
    return canonical(t, to_float(t, x)) if t in FLOATS else to_integer(t, x)


def results(source, target):
    if source in COMPLEX:
        part = COMPLEX[source]
        if target not in COMPLEX:
            return None
        raw = patterns(part)
        return real(COMPLEX[target], values(part, raw))  # parts in turn
    x = values(source, patterns(source))
    if target in COMPLEX:
        re = real(COMPLEX[target], x)
        return np.stack([re, np.zeros_like(re)], axis=1).reshape(-1)
    if source == target and source in FLOATS:
        return canonical(target, patterns(source).astype(storage(BITS[source])).view(FLOATS[source]))
    return real(target, x)


def digest(bits):
    i = np.arange(len(bits), dtype=U64)
    with np.errstate(over="ignore"):
        return int(np.sum(mix(bits ^ mix(i + U64(1))), dtype=np.uint64))


def main():
    print("# What `convert` gives, by scripts/conversion_table.py: a line a source, a hash a target (- where there is")
    print(f"# none), both in the order of ElementType::ALL. numpy {np.__version__}, ml_dtypes {ml_dtypes.__version__}.")
    for source in TYPES:
        row = []
        for target in TYPES:
            bits = results(source, target)
            row.append("-" if bits is None else f"{digest(bits):016x}")
        print(source, *row)


if __name__ == "__main__":
    np.seterr(over="ignore")
    main()
