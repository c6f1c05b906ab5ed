//! Tests random numbers without an explicit state.

use hlo_runtime::internals::uniform;
use hlo_runtime::{Context, DrawDesc, hlo_rt_rng, hlo_rt_rng_state};

fn draw(ctx: &Context, draws: &mut i64, count: usize, distribution: i64, a: f64, b: f64) -> Vec<f64> {
    let mut out = vec![0.0; count];
    let desc = DrawDesc { stream: 3, count: count as i64, distribution };
    // SAFETY: the buffers have the sizes of the descriptor.
    let status = unsafe { hlo_rt_rng(ctx, &desc, draws, &a, &b, out.as_mut_ptr()) };
    assert_eq!(status, 0);
    out
}

#[test]
fn uniform_numbers_stay_below_the_limit() {
    // The largest number below 1 that is drawn, times the smallest limit above 1, would round to the
    // limit.
    assert!(uniform(u64::MAX, 0, 0.0, 1.0 + f64::EPSILON) < 1.0 + f64::EPSILON);
    assert!(uniform(u64::MAX, 0, 1.0, 2.0) < 2.0);
    assert_eq!(uniform(0, 0, -1.0, 3.0), -1.0);
}

#[test]
fn draws_differ_and_moments_fit() {
    let (one, three) = (Context::new(1), Context::new(3));
    let mut draws = [0, 0];
    let n = 40_001;
    for (distribution, mean, variance) in [(0, 1.0, 4.0 / 3.0), (1, -1.0, 9.0)] {
        let first = draw(&one, &mut draws[0], n, distribution, -1.0, 3.0);
        assert_eq!(first, draw(&three, &mut draws[1], n, distribution, -1.0, 3.0));
        assert_ne!(first, draw(&one, &mut draws[0], n, distribution, -1.0, 3.0));
        draws[1] += 1;
        let m = first.iter().sum::<f64>() / n as f64;
        let v = first.iter().map(|x| (x - m) * (x - m)).sum::<f64>() / n as f64;
        assert!((m - mean).abs() < 0.06 && (v - variance).abs() < 0.25, "{m} {v}");
    }
    assert_eq!(draws, [4, 4]);
}

#[test]
fn states_grow_by_delta() {
    let ctx = Context::new(1).with_seed(u64::MAX);
    let (mut draws, mut state) = (0, [0u64; 2]);
    let mut next = || {
        // SAFETY: a counter and two words are passed.
        unsafe { hlo_rt_rng_state(&ctx, &mut draws, 7, 5, state.as_mut_ptr()) };
        state
    };
    assert_eq!(next(), [u64::MAX, 7]);
    assert_eq!(next(), [4, 8]);
}
