//! Texts made to be expensive take memory and work in proportion to their size.

use hlo_ir::diag::{Diag, Source, render};
use hlo_ir::print::{PrintOptions, print_module};
use hlo_testing::hostile::ALL;
use hlo_testing::memory::{Counting, Usage, measure};
use std::time::{Duration, Instant};

#[global_allocator]
static COUNTING: Counting = Counting;

const SMALL: usize = 50_000;

/// Memory for each byte of text, above all for shapes that are not written.
const BYTES_PER_BYTE: usize = 300;
/// What is allowed to a text of any size: as many parts of shapes that are not written.
const FREE_BYTES: usize = 40 << 20;
/// Work that is quadratic in 100 kB takes longer, whatever the machine.
const TIME: Duration = Duration::from_secs(10);

/// What is shown of a text is bounded, whatever the text.
const SHOWN: usize = 1 << 20;

/// Parses, renumbers, verifies and prints, and shows what is wrong. Gives the length of what is shown too.
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

// One test: the allocator counts for all threads.
#[test]
fn cost_in_proportion() {
    let mut findings = Vec::new();
    for hostile in ALL {
        let [text, double] = [SMALL, 2 * SMALL].map(hostile.text);
        let start = Instant::now();
        let ((_, one), (shown, two)) = (cost(&text), cost(&double));
        let time = start.elapsed();
        if shown > SHOWN {
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
        // A little more than twice: hash tables and vectors grow in steps.
        let grows = |small: usize, large: usize| large > small / 10 * 23 + (1 << 18);
        if grows(one.peak, two.peak) || grows(one.total, two.total) {
            findings.push(format!(
                "{}: {one:?} for {} bytes, {two:?} for {}",
                hostile.name,
                text.len(),
                double.len()
            ));
        }
        if time > TIME {
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
