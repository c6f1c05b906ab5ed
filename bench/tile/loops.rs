//! The nests of nests.tile as loops in Rust.

/// A loop: of its operands, to its result.
pub type Loop = fn(&[&[f32]], &mut [f32]);

/// The loop for a function of nests.tile.
pub fn of(name: &str) -> Option<Loop> {
    Some(match name {
        "min_plus" => min_plus,
        "triangular" => triangular,
        "antidiagonals" => antidiagonals,
        "band" => band,
        "im2col" => im2col,
        _ => return None,
    })
}

fn min_plus(operands: &[&[f32]], out: &mut [f32]) {
    const N: usize = 512;
    for (row, a) in out.chunks_exact_mut(N).zip(operands[0].chunks_exact(N)) {
        row.fill(f32::INFINITY);
        for (a, b) in a.iter().zip(operands[1].chunks_exact(N)) {
            for (o, b) in row.iter_mut().zip(b) {
                *o = o.min(a + b);
            }
        }
    }
}

fn triangular(operands: &[&[f32]], out: &mut [f32]) {
    const N: usize = 768;
    for (i, (row, a)) in out.chunks_exact_mut(N).zip(operands[0].chunks_exact(N)).enumerate() {
        row.fill(0.0);
        for (a, b) in a[..=i].iter().zip(operands[1].chunks_exact(N)) {
            for (o, b) in row.iter_mut().zip(b) {
                *o += a * b;
            }
        }
    }
}

fn antidiagonals(operands: &[&[f32]], out: &mut [f32]) {
    const N: usize = 2048;
    out.fill(0.0);
    for (i, a) in operands[0].chunks_exact(N).enumerate() {
        for (o, a) in out[i..i + N].iter_mut().zip(a) {
            *o += a;
        }
    }
}

fn band(operands: &[&[f32]], out: &mut [f32]) {
    const N: usize = 4096;
    for (i, (o, a)) in out.iter_mut().zip(operands[0].chunks_exact(N)).enumerate() {
        let (first, last) = (i.saturating_sub(64), (i + 65).min(N));
        *o = if first < last {
            a[first..last].iter().zip(&operands[1][first..last]).map(|(a, x)| a * x).sum()
        } else {
            0.0
        };
    }
}

fn im2col(operands: &[&[f32]], out: &mut [f32]) {
    let [images, width, height, channels] = [8, 64, 64, 32];
    let mut patches = out.chunks_exact_mut(3 * channels);
    for n in 0..images {
        for x in 0..width - 2 {
            for y in 0..height - 2 {
                for i in 0..3 {
                    let start = ((n * width + x + i) * height + y) * channels;
                    if let Some(row) = patches.next() {
                        row.copy_from_slice(&operands[0][start..start + 3 * channels]);
                    }
                }
            }
        }
    }
}
