//! Checks that any damaged text is either a module or rejected with at most 20 errors with valid spans.
//! `HLO_SEEDS=N` runs N times as many tests.

use hlo_testing::generate::{Options, Style, program};
use hlo_testing::{Numbers, check, mutate};

fn times() -> u64 {
    std::env::var("HLO_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(1)
}

fn hold(text: &str, what: &str) {
    match std::panic::catch_unwind(|| check::parse(text)) {
        Ok(Ok(_)) => {}
        Ok(Err(finding)) => panic!("{what}: {finding}\n{text}"),
        Err(_) => panic!("{what} panics:\n{text}"),
    }
}

fn small(seed: u64) -> String {
    let style = Style { layouts: true, percent: seed % 2 == 1, ..Style::default() };
    program(seed, Options { steps: 2, ..Options::default() }).text(style)
}

#[test]
fn one_to_four_slips() {
    for seed in 0..600 * times() {
        let mut numbers = Numbers::new(seed);
        let original = small(seed);
        for _ in 0..5 {
            let mut text = original.clone();
            for _ in 0..1 + numbers.below(4) {
                text = mutate::damage(&text, &mut numbers);
            }
            hold(&text, &format!("seed {seed}"));
        }
    }
}

#[test]
fn cut_off_anywhere() {
    for seed in 0..6 * times() {
        let text = small(seed * 97 + 5);
        for (end, _) in text.char_indices() {
            hold(&text[..end], &format!("seed {seed}, the first {end} bytes"));
        }
    }
}

#[test]
fn flipped_bits() {
    for seed in 0..200 * times() {
        let mut numbers = Numbers::new(seed);
        let mut bytes = small(seed).into_bytes();
        for _ in 0..1 + numbers.below(3) {
            let at = numbers.below(bytes.len());
            bytes[at] ^= 1 << numbers.below(8);
        }
        hold(&String::from_utf8_lossy(&bytes), &format!("seed {seed}"));
    }
}

/// Nested brackets without meaning, and words of the language in random order.
#[test]
fn heaps_of_words() {
    let words = hlo_testing::dictionary::words();
    for seed in 0..300 * times() {
        let mut numbers = Numbers::new(seed);
        let mut text =
            if numbers.one_in(2) { "HloModule m\nENTRY e {\n  ROOT x = ".to_string() } else { String::new() };
        for _ in 0..numbers.below(60) {
            match numbers.below(4) {
                0 => text.push_str(
                    numbers
                        .pick(&["{", "}", "(", ")", "[", "]", ",", " = ", "\n", "%a", "f32[2]", "1", "\""]),
                ),
                _ => text.push_str(&words[numbers.below(words.len())]),
            }
            text.push_str(numbers.pick(&["", " "]));
        }
        hold(&text, &format!("seed {seed}"));
    }
}
