//! Sorts against the standard library's stable sort, by comparator and by key.

mod common;

use common::{Rng, elements, same_on_any_number_of_threads};
use hlo_runtime::{Context, ElementCode, KeyOrder, SortDesc, hlo_rt_sort, hlo_rt_sort_keys};

/// Sorts `[outer, size, inner]` keys and their row numbers; `less` is `None` for the sort by key.
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
    let desc = SortDesc { outer: outer as i64, size: size as i64, inner: inner as i64, operands: 2 };
    let bytes = [code.byte_size() as i64, 4];
    let from = [keys.as_ptr(), payload.as_ptr().cast()];
    let to = [sorted.as_mut_ptr(), moved.as_mut_ptr().cast()];
    // SAFETY: the buffers have the sizes of the descriptor.
    let status = unsafe {
        if by_comparator {
            let env = std::ptr::null();
            hlo_rt_sort(ctx, &desc, bytes.as_ptr(), from.as_ptr(), to.as_ptr(), less_f32, env)
        } else {
            let (b, f, t) = (bytes.as_ptr(), from.as_ptr(), to.as_ptr());
            hlo_rt_sort_keys(ctx, &desc, b, f, t, code as i64, order as i64)
        }
    };
    assert_eq!(status, 0, "{:?}", ctx.take_error());
    (sorted, moved)
}

unsafe extern "C" fn less_f32(_env: *const *mut u8, elements: *const *const u8) -> i8 {
    // SAFETY: the first operand of the test is f32.
    let (a, b) = unsafe { (*(*elements).cast::<f32>(), *(*elements.add(1)).cast::<f32>()) };
    i8::from(a < b)
}

fn f32s(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks(4).map(|b| f32::from_ne_bytes(b.try_into().unwrap())).collect()
}

/// Few distinct values, so that stability shows.
fn keys(rng: &mut Rng, count: usize) -> Vec<u8> {
    (0..count).flat_map(|_| (rng.below(count / 3 + 1) as f32 - 5.0).to_ne_bytes()).collect()
}

#[test]
fn both_ways_sort_stably_along_any_dimension() {
    let mut rng = Rng(12);
    for shape in [[1, 1, 1], [3, 40, 1], [2, 17, 5], [1, 1000, 1], [4, 0, 2], [300, 13, 7]] {
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
            for o in 0..outer {
                for i in 0..inner {
                    let at = |s: usize| (o * size + s) * inner + i;
                    let mut want: Vec<(f32, usize)> = (0..size).map(|s| (values[at(s)], s)).collect();
                    want.sort_by(|a, b| a.0.total_cmp(&b.0));
                    for (s, (value, from)) in want.into_iter().enumerate() {
                        assert_eq!(f32s(sorted)[at(s)], value);
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
    let mut rng = Rng(13);
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
    unsafe extern "C" fn always(_env: *const *mut u8, _elements: *const *const u8) -> i8 {
        1
    }
    let from: Vec<u32> = (0..1000).collect();
    let mut to = vec![0u32; 1000];
    let desc = SortDesc { outer: 1, size: 1000, inner: 1, operands: 1 };
    // SAFETY: the buffers have the sizes of the descriptor.
    let status = unsafe {
        let (from, to) = ([from.as_ptr().cast()], [to.as_mut_ptr().cast()]);
        let ctx = Context::new(1);
        hlo_rt_sort(&ctx, &desc, [4].as_ptr(), from.as_ptr(), to.as_ptr(), always, std::ptr::null())
    };
    assert_eq!(status, 0);
    to.sort();
    assert_eq!(to, from);
}
