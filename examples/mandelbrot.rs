//! Computes the Mandelbrot set with a loop on an array of complex numbers, and writes it as a PNG image.
//!
//! ```text
//! $ cargo run --release --example mandelbrot -- mandelbrot.png
//! 900 x 600 points, 200 iterations, 25 % of the points stay: mandelbrot.png
//! ```

use hlo_builder::{Builder, Computation};
use hlo_client::{Client, CompileOptions};
use hlo_ir::{ElementType, Literal, Module, Shape};
use std::error::Error;
use std::fs::File;
use std::io::BufWriter;

const WIDTH: i64 = 900;
const HEIGHT: i64 = 600;
const ITERATIONS: i32 = 200;

/// Builds the module that computes, for each point from -2-1i to 1+1i, the number of iterations until it leaves the circle.
fn mandelbrot() -> Result<Module, Box<dyn Error>> {
    let numbers = Shape::array(ElementType::C64, [HEIGHT, WIDTH]);
    let counts = Shape::array(ElementType::S32, [HEIGHT, WIDTH]);
    let state = Shape::tuple(vec![Shape::scalar(ElementType::S32), numbers.clone(), numbers, counts.clone()]);

    let goes_on = Computation::of("goes_on", std::slice::from_ref(&state), |_, p| {
        p[0].get_tuple_element(0).lt(ITERATIONS)
    });
    // Each iteration computes z² + c, and counts the points with |z| <= 2. Points outside grow to infinity or NaN and are
    // not counted.
    let body = Computation::of("body", &[state], |b, p| {
        let [n, c, z, count] = [0, 1, 2, 3].map(|index| p[0].get_tuple_element(index));
        let z = z * z + c;
        let stays = (z.real().square() + z.imag().square()).le(4.0f32);
        b.tuple(&[n + 1, c, z, count + stays.convert(ElementType::S32)])
    });

    let b = Builder::new("mandelbrot");
    let place = |dimension: i64, scale: f32, offset: f32| {
        b.iota(Shape::array(ElementType::F32, [HEIGHT, WIDTH]), dimension) * scale + offset
    };
    let c = place(1, 3.0 / WIDTH as f32, -2.0).complex(place(0, 2.0 / HEIGHT as f32, -1.0));
    let zero = b.constant_r0(0i32);
    let init = b.tuple(&[zero, c, c, zero.broadcast(&[HEIGHT, WIDTH])]);
    b.set_return_value(b.while_loop(&goes_on, &body, init).get_tuple_element(3));
    Ok(b.build()?)
}

/// Returns the color of a point that left after `count` iterations. A point that stays is black.
fn color(count: i32) -> [u8; 3] {
    if count >= ITERATIONS {
        return [0; 3];
    }
    let t = (count as f32 / ITERATIONS as f32).sqrt();
    [0.1, 0.4, 0.9].map(|phase| (127.0 + 127.0 * (6.3 * (t + phase)).cos()) as u8)
}

fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args().nth(1).unwrap_or_else(|| "mandelbrot.png".into());
    println!("{}", run(&file)?);
    Ok(())
}

/// Computes the image and writes it to a file. Returns the line to print.
///
/// # Errors
/// The program does not compile or run, or the file can't be written.
pub fn run(file: &str) -> Result<String, Box<dyn Error>> {
    let program = Client::local().compile(&mandelbrot()?, &CompileOptions::default())?;
    let counts: Literal = program.run(&[])?;
    let counts = counts.elements::<i32>();

    let mut picture = png::Encoder::new(BufWriter::new(File::create(file)?), WIDTH as u32, HEIGHT as u32);
    picture.set_color(png::ColorType::Rgb);
    let mut writer = picture.write_header()?;
    writer.write_image_data(&counts.iter().flat_map(|&n| color(n)).collect::<Vec<u8>>())?;
    writer.finish()?;
    let stay = counts.iter().filter(|&&n| n >= ITERATIONS).count() * 100 / counts.len();
    Ok(format!("{WIDTH} x {HEIGHT} points, {ITERATIONS} iterations, {stay} % of the points stay: {file}"))
}
