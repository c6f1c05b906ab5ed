//! Tests transforms of two real lines at a time.

use hlo_fft::{FftDirection, FftPlans, Precision};
use hlo_runtime::internals::Pairs;
use num_complex::Complex;

/// The spectra of two lines of very different magnitudes are as exact as those of each line alone, and
/// the inverse transform restores the lines.
#[test]
fn pairs_are_two_lines() {
    let plans = FftPlans::default();
    for n in [1usize, 3, 5, 9, 21, 67, 97, 341] {
        for factor in [1.0, 1e-12, 3e30] {
            let a: Vec<f64> = (0..n).map(|i| (i as f64 * 0.7).sin() + 0.25).collect();
            let b: Vec<f64> = (0..n).map(|i| factor * (i as f64 * 1.3).cos()).collect();
            let width = n / 2 + 1;
            let zero = Complex::new(0.0, 0.0);
            let (mut x, mut y) = (vec![zero; width], vec![zero; width]);
            let forward = f64::complex(&plans, n, FftDirection::Forward);
            Pairs::new(&forward).unwrap().forward([&a, &b], [&mut x, &mut y]);
            for (line, spectrum, size) in [(&a, &x, 1.0), (&b, &y, factor)] {
                for (k, &found) in spectrum.iter().enumerate() {
                    let turn = |i: usize| std::f64::consts::TAU * ((i * k) % n) as f64 / n as f64;
                    let exact: Complex<f64> =
                        line.iter().enumerate().map(|(i, &x)| Complex::from_polar(x, -turn(i))).sum();
                    assert!((found - exact).norm() < 1e-13 * n as f64 * size, "{n} {k}: {found} {exact}");
                }
                assert_eq!(spectrum[0].im.to_bits(), 0);
            }
            let (mut back, mut other) = (vec![0.0; n], vec![0.0; n]);
            let inverse = f64::complex(&plans, n, FftDirection::Inverse);
            Pairs::new(&inverse).unwrap().inverse([&x, &y], [&mut back, &mut other], 1.0 / n as f64);
            for (line, found, size) in [(&a, &back, 1.0), (&b, &other, factor)] {
                let near = |(x, y): (&f64, &f64)| (x - y).abs() < 1e-13 * n as f64 * size;
                assert!(line.iter().zip(found).all(near), "{n} {factor}");
            }
        }
    }
}
