//! Tests sorts and selections against the standard library's stable sort, by comparator and by key.

use crate::common::{elements, same_on_any_number_of_threads};
use hlo_runtime::{
    Context, ElementCode, KeyKind, KeyOrder, SortDesc, SortKey, TopKDesc, hlo_rt_sort, hlo_rt_sort_keys,
    hlo_rt_top_k,
};
use hlo_testing::Numbers;

/// Returns the key of an operand with an element type.
fn key_of(operand: i64, code: ElementCode, order: KeyOrder) -> SortKey {
    let kind = match code {
        ElementCode::S8 | ElementCode::S16 | ElementCode::S32 | ElementCode::S64 => KeyKind::Signed,
        ElementCode::F32 => KeyKind::Float,
        _ => KeyKind::Unsigned,
    };
    let bits = 8 * code.byte_size() as i64;
    SortKey { operand, kind: kind as i64, bits, largest: 0x7f80_0000, order: order as i64 }
}

/// Sorts `[outer, size, inner]` keys and their row numbers, by comparator or by key.
fn sort(
    ctx: &Context,
    code: ElementCode,
    order: KeyOrder,
    keys: &[u8],
    [outer, size, inner]: [usize; 3],
    by_comparator: bool,
) -> (Vec<u8>, Vec<i32>) {
    let count = outer * size * inner;
    let payload: Vec<i32> = (0..count).map(|i| (i / inner % size.max(1)) as i32).collect();
    let (mut sorted, mut moved) = (vec![0u8; keys.len()], vec![-1; count]);
    let desc = SortDesc { outer: outer as i64, size: size as i64, inner: inner as i64, operands: 2, keys: 1 };
    let bytes = [code.byte_size() as i64, 4];
    let from = [keys.as_ptr(), payload.as_ptr().cast()];
    let to = [sorted.as_mut_ptr(), moved.as_mut_ptr().cast()];
    // SAFETY: the buffers have the sizes of the descriptor.
    let status = unsafe {
        if by_comparator {
            hlo_rt_sort(ctx, &desc, bytes.as_ptr(), from.as_ptr(), to.as_ptr(), less_f32)
        } else {
            let (b, f, t) = (bytes.as_ptr(), from.as_ptr(), to.as_ptr());
            hlo_rt_sort_keys(ctx, &desc, b, f, t, &key_of(0, code, order))
        }
    };
    assert_eq!(status, 0, "{:?}", ctx.take_error());
    (sorted, moved)
}

unsafe extern "C" fn less_f32(elements: *const *const u8) -> i8 {
    // SAFETY: the first operand of the test is f32.
    let (a, b) = unsafe { (*(*elements).cast::<f32>(), *(*elements.add(1)).cast::<f32>()) };
    i8::from(a < b)
}

fn f32s(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks(4).map(|b| f32::from_ne_bytes(b.try_into().unwrap())).collect()
}

/// Returns keys with few distinct values, so that the test detects an unstable sort.
fn keys(rng: &mut Numbers, count: usize) -> Vec<u8> {
    (0..count).flat_map(|_| (rng.below(count / 3 + 1) as f32 - 5.0).to_ne_bytes()).collect()
}

#[test]
fn both_ways_sort_stably_along_any_dimension() {
    let mut rng = Numbers::new(12);
    for shape in [
        [1, 1, 1],
        [3, 40, 1],
        [2, 17, 5],
        [1, 1000, 1],
        [4, 0, 2],
        [300, 13, 7],
        [1, 100_000, 1],
        [2, 20_000, 3],
    ] {
        let [outer, size, inner] = shape;
        let data = keys(&mut rng, outer * size * inner);
        for by_comparator in [false, true] {
            let run = |ctx: &Context| {
                let order = KeyOrder::Ascending;
                let (sorted, moved) = sort(ctx, ElementCode::F32, order, &data, shape, by_comparator);
                [sorted, moved.iter().flat_map(|v| v.to_ne_bytes()).collect()].concat()
            };
            let got = same_on_any_number_of_threads("sort", run);
            let values = f32s(&data);
            let (sorted, moved) = got.split_at(data.len());
            let sorted = f32s(sorted);
            for o in 0..outer {
                for i in 0..inner {
                    let at = |s: usize| (o * size + s) * inner + i;
                    let mut want: Vec<(f32, usize)> = (0..size).map(|s| (values[at(s)], s)).collect();
                    want.sort_by(|a, b| a.0.total_cmp(&b.0));
                    for (s, (value, from)) in want.into_iter().enumerate() {
                        assert_eq!(sorted[at(s)], value);
                        assert_eq!(moved[4 * at(s)..][..4], (from as i32).to_ne_bytes());
                    }
                }
            }
        }
    }
}

#[test]
fn special_floats_in_every_order() {
    let values = [1.0, f32::NAN, -0.0, f32::NEG_INFINITY, 0.0, -f32::NAN, f32::INFINITY, -0.0, 2.0];
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_ne_bytes()).collect();
    let moved = |order| sort(&Context::new(1), ElementCode::F32, order, &bytes, [1, 9, 1], false).1;
    assert_eq!(moved(KeyOrder::Ascending), [5, 3, 2, 7, 4, 0, 8, 6, 1]);
    assert_eq!(moved(KeyOrder::Descending), [1, 6, 8, 0, 4, 2, 7, 3, 5]);
    assert_eq!(moved(KeyOrder::AscendingNumbers), [3, 2, 4, 7, 0, 8, 6, 1, 5]);
    assert_eq!(moved(KeyOrder::DescendingNumbers), [1, 5, 6, 8, 0, 2, 4, 7, 3]);
}

#[test]
fn integers_of_every_width_by_key() {
    let mut rng = Numbers::new(13);
    macro_rules! check {
        ($($t:ty, $code:ident;)*) => {$(
            let data = elements(&mut rng, ElementCode::$code, 500);
            let mut want: Vec<$t> = data
                .chunks(size_of::<$t>())
                .map(|b| <$t>::from_ne_bytes(b.try_into().unwrap()))
                .collect();
            want.sort();
            let want: Vec<u8> = want.iter().flat_map(|v| v.to_ne_bytes()).collect();
            let order = KeyOrder::Ascending;
            let got = sort(&Context::new(1), ElementCode::$code, order, &data, [1, 500, 1], false);
            assert!(got.0 == want, stringify!($t));
        )*};
    }
    check! { i8, S8; u8, U8; i16, S16; u16, U16; i32, S32; u32, U32; i64, S64; u64, U64; }
}

#[test]
fn an_inconsistent_comparator_still_gives_a_permutation() {
    unsafe extern "C" fn always(_elements: *const *const u8) -> i8 {
        1
    }
    /// A comparator that is not an order: a hash of the bits of both elements.
    unsafe extern "C" fn noise(elements: *const *const u8) -> i8 {
        // SAFETY: the operand of the test is u32.
        let (a, b) = unsafe { (*(*elements).cast::<u32>(), *(*elements.add(1)).cast::<u32>()) };
        (a.wrapping_mul(0x9E37_79B9) ^ b.wrapping_mul(0x85EB_CA6B)).count_ones() as i8 & 1
    }
    for (comparator, n) in [(always as hlo_runtime::Comparator, 1000), (always, 50_000), (noise, 70_000)] {
        let from: Vec<u32> = (0..n).collect();
        let got = same_on_any_number_of_threads("an inconsistent sort", |ctx| {
            let mut to = vec![0u32; n as usize];
            let desc = SortDesc { outer: 1, size: n.into(), inner: 1, operands: 1, keys: 0 };
            // SAFETY: the buffers have the sizes of the descriptor.
            let status = unsafe {
                let (from, to) = ([from.as_ptr().cast()], [to.as_mut_ptr().cast()]);
                hlo_rt_sort(ctx, &desc, [4].as_ptr(), from.as_ptr(), to.as_ptr(), comparator)
            };
            assert_eq!(status, 0);
            to.iter().flat_map(|v| v.to_ne_bytes()).collect()
        });
        let mut got: Vec<u32> = got.chunks(4).map(|b| u32::from_ne_bytes(b.try_into().unwrap())).collect();
        got.sort();
        assert_eq!(got, from);
    }
}

#[test]
fn several_keys_order_lexicographically() {
    let mut rng = Numbers::new(14);
    for n in [50, 3000, 90_000] {
        let first: Vec<i32> = (0..n).map(|_| rng.below(5) as i32 - 2).collect();
        let second: Vec<u64> = (0..n).map(|_| rng.below(n / 4) as u64 * 0x1_0000_0001).collect();
        let mut want: Vec<usize> = (0..n).collect();
        want.sort_by_key(|&i| (std::cmp::Reverse(first[i]), second[i]));
        let keys = [
            key_of(1, ElementCode::S32, KeyOrder::Descending),
            key_of(0, ElementCode::U64, KeyOrder::Ascending),
        ];
        let got = same_on_any_number_of_threads("two keys", |ctx| {
            let (mut a, mut b) = (vec![0u64; n], vec![0i32; n]);
            let desc = SortDesc { outer: 1, size: n as i64, inner: 1, operands: 2, keys: 2 };
            let from = [second.as_ptr().cast(), first.as_ptr().cast()];
            let to = [a.as_mut_ptr().cast(), b.as_mut_ptr().cast()];
            // SAFETY: the buffers have the sizes of the descriptor.
            let status = unsafe {
                hlo_rt_sort_keys(ctx, &desc, [8, 4].as_ptr(), from.as_ptr(), to.as_ptr(), keys.as_ptr())
            };
            assert_eq!(status, 0, "{:?}", ctx.take_error());
            let firsts = b.iter().flat_map(|v| v.to_ne_bytes());
            firsts.chain(a.iter().flat_map(|v| v.to_ne_bytes())).collect()
        });
        let expected: Vec<u8> = want.iter().flat_map(|&i| first[i].to_ne_bytes()).collect();
        assert_eq!(got[..4 * n], expected);
        let expected: Vec<u8> = want.iter().flat_map(|&i| second[i].to_ne_bytes()).collect();
        assert_eq!(got[4 * n..], expected);
    }
}

#[test]
fn the_first_k_of_each_row() {
    let mut rng = Numbers::new(15);
    for (rows, size, k) in
        [(1, 1, 1), (3, 10, 10), (500, 33, 4), (9, 5000, 8), (3, 300, 70), (2, 20_000, 100), (4, 7, 0)]
    {
        for order in [KeyOrder::Ascending, KeyOrder::Descending] {
            let data = keys(&mut rng, rows * size);
            let got = same_on_any_number_of_threads("topk", |ctx| {
                let (mut values, mut positions) = (vec![0f32; rows * k], vec![-1i32; rows * k]);
                let (r, s) = (rows as i64, size as i64);
                let key = key_of(0, ElementCode::F32, order);
                let desc = TopKDesc { rows: r, size: s, k: k as i64, key };
                // SAFETY: the buffers have the sizes of the descriptor.
                let status = unsafe {
                    let values = values.as_mut_ptr().cast();
                    hlo_rt_top_k(ctx, &desc, data.as_ptr(), values, positions.as_mut_ptr())
                };
                assert_eq!(status, 0, "{:?}", ctx.take_error());
                let bytes = values.iter().flat_map(|v| v.to_ne_bytes());
                bytes.chain(positions.iter().flat_map(|v| v.to_ne_bytes())).collect()
            });
            let all = f32s(&data);
            let mut expected = (Vec::new(), Vec::new());
            for row in all.chunks(size) {
                let mut by: Vec<usize> = (0..size).collect();
                by.sort_by(|&a, &b| match order {
                    KeyOrder::Ascending => row[a].total_cmp(&row[b]),
                    _ => row[b].total_cmp(&row[a]),
                });
                expected.0.extend(by[..k].iter().flat_map(|&i| row[i].to_ne_bytes()));
                expected.1.extend(by[..k].iter().flat_map(|&i| (i as i32).to_ne_bytes()));
            }
            assert_eq!(got, [expected.0, expected.1].concat());
        }
    }
}

/// Tests every kind of key on rows of several blocks and a rest. The order must be that of the sort by key.
#[test]
fn top_k_of_every_kind_of_key_agrees_with_the_sort() {
    const SIZE: usize = 1000;
    let ctx = Context::new(2);
    let kinds = [KeyKind::Unsigned, KeyKind::Signed, KeyKind::Float, KeyKind::FloatWithoutNegativeZero];
    let orders =
        [KeyOrder::Ascending, KeyOrder::Descending, KeyOrder::AscendingNumbers, KeyOrder::DescendingNumbers];
    let mut numbers = Numbers::new(3);
    for (bits, kind, order) in [4, 7, 8, 16, 32, 64]
        .into_iter()
        .flat_map(|bits| kinds.map(|kind| (bits, kind)))
        .flat_map(|(bits, kind)| orders.map(|order| (bits, kind, order)))
    {
        let bytes = (bits as usize).div_ceil(8);
        let data: Vec<u8> = (0..SIZE * bytes).map(|_| numbers.bits() as u8).collect();
        let largest = ((1u64 << (bits - 1)) - 1) / 8 * 7;
        let key =
            SortKey { operand: 0, kind: kind as i64, bits, largest: largest as i64, order: order as i64 };
        let positions: Vec<i32> = (0..SIZE as i32).collect();
        let (mut sorted, mut moved) = (vec![0u8; data.len()], vec![0i32; SIZE]);
        let desc = SortDesc { outer: 1, size: SIZE as i64, inner: 1, operands: 2, keys: 1 };
        let element_bytes = [bytes as i64, 4];
        let from = [data.as_ptr(), positions.as_ptr().cast()];
        let to = [sorted.as_mut_ptr(), moved.as_mut_ptr().cast()];
        // SAFETY: the buffers have the sizes of the descriptor.
        let status = unsafe {
            hlo_rt_sort_keys(&ctx, &desc, element_bytes.as_ptr(), from.as_ptr(), to.as_ptr(), &key)
        };
        assert_eq!(status, 0, "{:?}", ctx.take_error());
        for k in [1, 17, 100, SIZE] {
            let (mut values, mut at) = (vec![0u8; k * bytes], vec![0i32; k]);
            let desc = TopKDesc { rows: 1, size: SIZE as i64, k: k as i64, key };
            // SAFETY: the buffers have the sizes of the descriptor.
            let status =
                unsafe { hlo_rt_top_k(&ctx, &desc, data.as_ptr(), values.as_mut_ptr(), at.as_mut_ptr()) };
            assert_eq!(status, 0, "{:?}", ctx.take_error());
            assert_eq!(at, moved[..k], "{bits} bits, {kind:?}, {order:?}, k = {k}");
            assert_eq!(values, sorted[..k * bytes]);
        }
    }
}
