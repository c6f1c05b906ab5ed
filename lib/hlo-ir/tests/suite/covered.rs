//! Tests of the elements that a window covers.

use hlo_ir::attr::WindowDim;

#[test]
fn pairs_are_those_that_counting_gives() {
    // Strides and dilations from 1 to 6.
    for n in 0..6 * 6 * 6 {
        let (stride, rhs_dilate, lhs_dilate) = (n % 6 + 1, n / 6 % 6 + 1, n / 36 + 1);
        for (size, elements, pad_low) in
            [(3, 5, 1), (5, 8, -2), (4, 1, 3), (1, 4, 0), (6, 0, 1), (0, 3, 0), (7, 9, 4), (16, 6, 12)]
        {
            let window = WindowDim { size, stride, pad_low, rhs_dilate, lhs_dilate, ..WindowDim::default() };
            for position in 0..7 {
                let counted = (0..size).filter_map(|tap| {
                    let at = position * stride + tap * rhs_dilate - pad_low;
                    let element = at.div_euclid(lhs_dilate);
                    (at.rem_euclid(lhs_dilate) == 0 && (0..elements).contains(&element))
                        .then_some((element, tap))
                });
                let covered = window.covered(position, elements);
                assert_eq!(
                    covered.pairs().collect::<Vec<_>>(),
                    counted.collect::<Vec<_>>(),
                    "{window:?} at {position} over {elements}"
                );
                assert!(covered.count <= window.most_covered(elements));
            }
        }
    }
}

#[test]
fn numbers_at_the_limits_do_not_overflow() {
    let pairs =
        |window: WindowDim, position, size| -> Vec<_> { window.covered(position, size).pairs().collect() };
    let plain = WindowDim::default();
    let window = WindowDim { size: 1 << 62, pad_low: 1 << 61, ..plain };
    assert_eq!(pairs(window, 0, 2), [(0, 1 << 61), (1, (1 << 61) + 1)]);
    let window = WindowDim { size: i64::MAX, pad_low: i64::MAX - 1, ..plain };
    assert_eq!(pairs(window, 0, 4), [(0, i64::MAX - 1)]);
    let window = WindowDim { pad_low: i64::MIN, stride: i64::MAX, ..plain };
    assert_eq!(pairs(window, i64::MAX, i64::MAX), []);
    let window = WindowDim { size: 3, rhs_dilate: i64::MAX / 2, lhs_dilate: i64::MAX / 3 * 2, ..plain };
    assert_eq!(pairs(window, 0, 2), [(0, 0)]);
}
