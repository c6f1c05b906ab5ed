//! Measures the cost of hostile texts. `hostile BYTES [FILTER]` prints a table of time and memory for
//! parsing, verifying and printing each text, and the same for twice the size.

use hlo_ir::print::{PrintOptions, print_module};
use hlo_testing::hostile::ALL;
use hlo_testing::memory::{Counting, measure};
use std::time::Instant;

#[global_allocator]
static COUNTING: Counting = Counting;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let bytes = arguments.first().and_then(|a| a.parse().ok()).unwrap_or(1_000_000);
    let filter = arguments.get(1).map_or("", String::as_str);
    println!("{:44} {:>8} {:>8} {:>8} {:>6} {:>6}  result", "", "bytes", "ms", "peak/B", "t×", "mem×");
    for hostile in ALL.iter().filter(|h| h.name.contains(filter)) {
        let [(n, t, m, _), (_, t2, m2, result)] = [bytes, 2 * bytes].map(|n| {
            let text = (hostile.text)(n);
            let start = Instant::now();
            let (result, usage) = measure(|| match hlo_parser::parse_module(&text) {
                Ok(module) => {
                    let broken = hlo_ir::verify::verify(&module).len();
                    let printed = print_module(&module, &PrintOptions::default());
                    format!("{broken} rules broken, {} bytes printed", printed.len())
                }
                Err(diags) => format!("{} errors: {:.60}", diags.len(), diags[0].message),
            });
            (text.len(), start.elapsed().as_secs_f64(), usage.peak, result)
        });
        println!(
            "{:44} {n:8} {:8.1} {:8.1} {:6.1} {:6.1}  {result}",
            hostile.name,
            t * 1e3,
            m as f64 / n as f64,
            t2 / t,
            m2 as f64 / m as f64
        );
    }
}
