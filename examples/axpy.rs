//! Builds and compiles alpha * x + y, the first example of the XLA preview, and runs it on arrays that stay on the device.
//!
//! ```text
//! $ cargo run --release --example axpy
//! f32[4] {12, 24, 36, 48}
//! f32[4] {14, 28, 42, 56}
//! ```

use hlo_builder::Builder;
use hlo_client::{Client, CompileOptions, RunOptions};
use hlo_ir::print::print_literal;
use hlo_ir::{ElementType, Literal, Shape};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    run()?.iter().for_each(|line| println!("{line}"));
    Ok(())
}

/// Returns the lines to print.
///
/// # Errors
/// The program does not compile or run.
pub fn run() -> Result<Vec<String>, Box<dyn Error>> {
    let vector = Shape::array(ElementType::F32, [4]);
    let b = Builder::new("axpy");
    let alpha = b.parameter(0, Shape::scalar(ElementType::F32), "alpha");
    let x = b.parameter(1, vector.clone(), "x");
    let y = b.parameter(2, vector, "y");
    b.set_return_value(alpha * x + y);
    let axpy = b.build()?;

    let client = Client::local();
    let program = client.compile(&axpy, &CompileOptions::default())?;

    let alpha = client.transfer_to(&Literal::r0(2.0f32))?;
    let x = client.transfer_to(&Literal::r1(&[1.0f32, 2.0, 3.0, 4.0]))?;
    let mut y = client.transfer_to(&Literal::r1(&[10.0f32, 20.0, 30.0, 40.0]))?;
    let mut lines = Vec::new();
    for _ in 0..2 {
        // The result is the next argument. It is not copied.
        y = program.execute(&[&alpha, &x, &y], RunOptions::default())?.remove(0);
        lines.push(print_literal(&client.transfer_from(&y)?, None));
    }
    Ok(lines)
}
