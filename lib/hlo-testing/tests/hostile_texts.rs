//! Checks that memory and work for expensive texts are proportional to their size.

use hlo_ir::diag::{Diag, Source, render};
use hlo_ir::print::{PrintOptions, print_module};
use hlo_testing::hostile::ALL;
use hlo_testing::memory::{Counting, Usage, measure};
use std::time::{Duration, Instant};

#[global_allocator]
static COUNTING: Counting = Counting;

const TEXT_BYTES: usize = 50_000;

/// Memory per byte of text in bytes. Mostly shapes that are not written in the text need it.
const BYTES_PER_BYTE: usize = 300;
/// Memory in bytes that a text of any size may use, for parts of shapes that are not written.
const FREE_BYTES: usize = 40 << 20;
/// Time limit. Work that is quadratic in 100 kB takes longer on any machine.
const TIME_LIMIT: Duration = Duration::from_secs(10);

/// Maximum length of the rendered diagnostics of a text.
const MAX_DIAGNOSTIC_BYTES: usize = 1 << 20;

/// Parses, renumbers, verifies and prints a text, and renders its diagnostics. Also returns the length of the
/// rendered diagnostics.
fn cost(text: &str) -> (usize, Usage) {
    let source = Source { name: "input".into(), text: text.into() };
    let shown = |diags: Vec<Diag>| diags.iter().map(|d| render(d, &source, false).len()).sum();
    measure(|| match hlo_parser::parse_module(text) {
        Ok(mut module) => {
            let shown = shown(hlo_ir::verify::verify(&module));
            module.renumber_stack_frames();
            let _ = print_module(&module, &PrintOptions::default());
            shown
        }
        Err(diags) => shown(diags),
    })
}

// There is only one test, because the allocator counts the allocations of all threads.
#[test]
fn cost_in_proportion() {
    let mut findings = Vec::new();
    for hostile in ALL {
        let [text, double] = [TEXT_BYTES, 2 * TEXT_BYTES].map(hostile.text);
        let start = Instant::now();
        let ((_, one), (shown, two)) = (cost(&text), cost(&double));
        let time = start.elapsed();
        if shown > MAX_DIAGNOSTIC_BYTES {
            findings.push(format!("{}: {shown} bytes of diagnostics", hostile.name));
        }
        if one.peak > FREE_BYTES + BYTES_PER_BYTE * text.len() {
            findings.push(format!(
                "{}: {} bytes of memory for {} of text",
                hostile.name,
                one.peak,
                text.len()
            ));
        }
        // Allow a little more than twice as much, because hash tables and vectors grow in steps.
        let grows = |small: usize, large: usize| large > small / 10 * 23 + (1 << 18);
        if grows(one.peak, two.peak) || grows(one.total, two.total) {
            findings.push(format!(
                "{}: {one:?} for {} bytes, {two:?} for {}",
                hostile.name,
                text.len(),
                double.len()
            ));
        }
        if time > TIME_LIMIT {
            findings.push(format!(
                "{}: {time:?} for {} and {} bytes",
                hostile.name,
                text.len(),
                double.len()
            ));
        }
    }
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}
