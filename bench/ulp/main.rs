//! The error of every mathematical function in units in the last place, by type and engine: the tables of
//! docs/numerics.md.
//!
//! `cargo run --release --example ulp -- [--step N] [--engine compiled|interpreted] [NAME ...]` measures the functions
//! whose names contain a NAME, or all of them, and writes their rows (`make ulp` does so for all). Functions of one `f32`
//! are measured at all bit patterns, or every Nth. The tests hold a sample of numbers to what the tables say, and the tables to XLA's own bounds.

mod big;
mod complex;
mod engine;
mod exhaustive;
mod measure;
mod real;
mod table;

use engine::Engine;
use hlo_testing::Numbers;
use std::process::ExitCode;

/// The inputs that are measured.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Extent {
    /// A part of [`Extent::All`] that is short enough for a test.
    #[cfg_attr(not(test), allow(dead_code, reason = "the extent of the tests"))]
    Sample,
    /// All, of `f32` every `step`th bit pattern.
    All { step: u32 },
}

/// A number from 0 to 1, without 1.
fn fraction(numbers: &mut Numbers) -> f64 {
    (numbers.unit() + 1.0) / 2.0
}

fn main() -> ExitCode {
    match run(std::env::args().skip(1).collect()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("ulp: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: Vec<String>) -> Result<(), String> {
    let (mut step, mut engines, mut names) = (1, Engine::ALL.to_vec(), Vec::new());
    let mut arguments = arguments.into_iter();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--step" => {
                let number = arguments.next().and_then(|n| n.parse().ok()).filter(|&n| n > 0);
                step = number.ok_or("--step takes a number")?;
            }
            "--engine" => {
                let name = arguments.next().unwrap_or_default();
                engines.retain(|e| e.to_string() == name);
            }
            _ => names.push(argument),
        }
    }
    let mut mistakes = Vec::new();
    for engine in engines {
        for name in table::names() {
            if !names.is_empty() && !names.iter().any(|part| name.contains(part.as_str())) {
                continue;
            }
            let row = table::measure(name, engine, Extent::All { step })?;
            mistakes.extend(row.mistakes());
            let document = std::fs::read_to_string(table::DOCUMENT).map_err(|e| e.to_string())?;
            let document = row.put_into(&document, engine, step);
            std::fs::write(table::DOCUMENT, document).map_err(|e| e.to_string())?;
        }
    }
    if mistakes.is_empty() {
        Ok(())
    } else {
        Err(format!("a wrong NaN, infinity or sign of zero:\n{}", mistakes.join("\n")))
    }
}
