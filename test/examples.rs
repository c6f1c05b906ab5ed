//! Tests of the programs in examples/: each must print the output that the comment at its beginning shows.

use std::path::{Path, PathBuf};

#[path = "../examples/axpy.rs"]
#[expect(dead_code, reason = "what `main` calls is called here")]
mod axpy;
#[path = "../examples/lenet.rs"]
#[expect(dead_code, reason = "what `main` calls is called here")]
mod lenet;
#[path = "../examples/mandelbrot.rs"]
#[expect(dead_code, reason = "what `main` calls is called here")]
mod mandelbrot;
#[path = "../examples/mlp.rs"]
#[expect(dead_code, reason = "what `main` calls is called here")]
mod mlp;

/// Returns the lines of output in an example's text.
fn promised(text: &str) -> Vec<&str> {
    let block = text.lines().skip_while(|line| !line.contains("```text")).skip(2);
    block.take_while(|line| !line.contains("```")).map(|line| line.trim_start_matches("//! ")).collect()
}

/// Returns the path of a file for this test.
fn file(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("examples");
    std::fs::create_dir_all(&folder).unwrap();
    folder.join(name)
}

#[test]
fn axpy_prints_what_it_says() {
    assert_eq!(axpy::run().unwrap(), promised(include_str!("../examples/axpy.rs")));
}

#[test]
fn a_network_learns_to_tell_two_spirals_apart() {
    let plot = file("loss.svg");
    let lines = mlp::run(plot.to_str().unwrap()).unwrap();
    let promised = promised(include_str!("../examples/mlp.rs"));
    assert_eq!(lines.len(), promised.len());
    // Rounding differs between processors, and training amplifies the differences.
    assert_eq!(lines[0], promised[0]);
    assert!(lines[4].starts_with("200 of 200 points are on the right side"), "{lines:?}");
    let plot = std::fs::read_to_string(plot).unwrap();
    assert!(plot.contains("<polyline") && plot.ends_with("</svg>\n"));
}

#[test]
fn a_network_learns_to_read_digits() {
    let promised = promised(include_str!("../examples/lenet.rs"));
    // In the interpreter a step takes seconds.
    let steps = if cfg!(feature = "codegen") { 200 } else { 0 };
    let lines = lenet::run(steps).unwrap();
    assert_eq!(lines[0], promised[0]);
    if !cfg!(feature = "codegen") {
        return;
    }
    assert_eq!(lines.len(), promised.len());
    // Rounding differs between processors, and training amplifies the differences.
    let loss = |line: &str| line.rsplit(' ').next().unwrap().parse::<f32>().unwrap();
    assert!(loss(&lines[4]) < 0.1, "{lines:?}");
    let right: usize = lines[5].split(' ').next().unwrap().parse().unwrap();
    assert!(right >= 190, "{lines:?}");
}

#[test]
fn the_mandelbrot_set_is_a_picture() {
    let picture = file("mandelbrot.png");
    let line = mandelbrot::run(picture.to_str().unwrap()).unwrap();
    let promised = promised(include_str!("../examples/mandelbrot.rs"));
    assert_eq!(line.split(':').next(), promised[0].split(':').next());
    let reader = png::Decoder::new(std::io::BufReader::new(std::fs::File::open(picture).unwrap()));
    let mut reader = reader.read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut pixels).unwrap();
    let at = |x: usize, y: usize| pixels[3 * (y * 900 + x)..][..3].to_vec();
    // The origin stays bounded and is black. The corners escape.
    assert_eq!(at(600, 300), [0; 3]);
    assert!([(0, 0), (899, 599)].iter().all(|&(x, y)| at(x, y) != [0; 3]));
}
