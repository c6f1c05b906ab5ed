//! Trains LeNet-5, written in Tile (`lenet.tile`), to recognize digits. The example compiles the loss with its gradients, and an update
//! step for each parameter. It also draws the images: glyphs at random positions, with noise.
//!
//! ```text
//! $ cargo run --release --example lenet -- 200
//! step   0: loss 2.376
//! step  50: loss 0.791
//! step 100: loss 0.159
//! step 150: loss 0.062
//! step 200: loss 0.035
//! 200 of 200 new images are read right
//! ```

use hlo_client::{Buffer, Client, CompileOptions, Executable, RunOptions};
use hlo_ir::{ElementType, Shape};
use hlo_tile::{Argument, Tile};
use std::error::Error;

/// Number of images in a training step.
const BATCH: usize = 32;
/// Number of new images in the final test.
const NEW: usize = 200;
/// Number of rows and columns of an image.
const SIDE: usize = 28;
/// Size of an element of a glyph in an image, in pixels.
const SCALE: usize = 3;

/// The names and sizes of kernels and weights, each followed by its bias.
const PARAMETERS: [(&str, &[i64]); 10] = [
    ("K1", &[5, 5, 1, 6]),
    ("B1", &[6]),
    ("K2", &[5, 5, 6, 16]),
    ("B2", &[16]),
    ("W3", &[400, 120]),
    ("B3", &[120]),
    ("W4", &[120, 84]),
    ("B4", &[84]),
    ("W5", &[84, 10]),
    ("B5", &[10]),
];

/// The glyphs of the digits, each with 5 columns and 7 rows.
const GLYPHS: [[&str; 7]; 10] = [
    [" ### ", "#   #", "#  ##", "# # #", "##  #", "#   #", " ### "],
    ["  #  ", " ##  ", "  #  ", "  #  ", "  #  ", "  #  ", " ### "],
    [" ### ", "#   #", "    #", "   # ", "  #  ", " #   ", "#####"],
    ["#####", "   # ", "  #  ", "   # ", "    #", "#   #", " ### "],
    ["   # ", "  ## ", " # # ", "#  # ", "#####", "   # ", "   # "],
    ["#####", "#    ", "#### ", "    #", "    #", "#   #", " ### "],
    ["  ## ", " #   ", "#    ", "#### ", "#   #", "#   #", " ### "],
    ["#####", "    #", "   # ", "  #  ", " #   ", " #   ", " #   "],
    [" ### ", "#   #", "#   #", " ### ", "#   #", "#   #", " ### "],
    [" ### ", "#   #", "#   #", " ####", "    #", "   # ", " ##  "],
];

/// A pseudorandom generator, which produces the same numbers in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        self.0 >> 33
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// Returns a number from -1 up to 1.
    fn number(&mut self) -> f32 {
        self.next() as f32 / (1u64 << 30) as f32 - 1.0
    }
}

/// Returns images of random digits, and the digits.
fn images(count: usize, random: &mut Random) -> (Vec<f32>, Vec<i32>) {
    let mut pixels: Vec<f32> = (0..count * SIDE * SIDE).map(|_| 0.3 * random.number()).collect();
    let mut labels = Vec::with_capacity(count);
    for image in pixels.chunks_mut(SIDE * SIDE) {
        let digit = random.below(10);
        let (top, left) = (random.below(SIDE - 7 * SCALE + 1), random.below(SIDE - 5 * SCALE + 1));
        for (y, x) in (0..7 * SCALE).flat_map(|y| (0..5 * SCALE).map(move |x| (y, x))) {
            if GLYPHS[digit][y / SCALE].as_bytes()[x / SCALE] == b'#' {
                image[(top + y) * SIDE + left + x] += 0.7;
            }
        }
        labels.push(digit as i32);
    }
    (pixels, labels)
}

/// Returns initial values: zeros for biases, and random numbers around 0 for kernels and weights. The more terms a sum has, the
/// smaller the numbers are.
fn beginning(dims: &[i64], random: &mut Random) -> Vec<f32> {
    let count = dims.iter().product::<i64>();
    let (outputs, inputs) = (dims[dims.len() - 1], count / dims[dims.len() - 1]);
    let scale = if inputs == 1 { 0.0 } else { (6.0 / (inputs + outputs) as f32).sqrt() };
    (0..count).map(|_| scale * random.number()).collect()
}

/// The compiled programs of `lenet.tile`.
struct Programs {
    /// Computes the loss and its gradients with respect to all parameters.
    loss: Executable,
    /// One program for each parameter, which computes its next value and momentum.
    updates: Vec<Executable>,
    /// Computes the digits in images.
    digits: Executable,
}

impl Programs {
    fn new(client: &Client) -> Result<Self, Box<dyn Error>> {
        let tile = Tile::new("lenet.tile", include_str!("lenet.tile")).map_err(|d| d.message)?;
        let compile = |function: &str, arguments: &[Argument], by: &[&str]| -> Result<_, Box<dyn Error>> {
            let made = tile.differentiate(function, arguments, by).map_err(|d| d.message)?;
            Ok(client.compile(&made.module, &CompileOptions::default())?)
        };
        let f32 = |dims: &[i64]| Argument::tensor(ElementType::F32, dims);
        let images = |count: usize| f32(&[count as i64, SIDE as i64, SIDE as i64, 1]);
        let labels = Argument::tensor(ElementType::S32, &[BATCH as i64]);
        let parameters: Vec<Argument> = PARAMETERS.iter().map(|(_, dims)| f32(dims)).collect();
        let names = PARAMETERS.map(|(name, _)| name);
        let update = |dims: &[i64]| compile("update", &[f32(dims), f32(dims), f32(dims)], &[]);
        Ok(Self {
            loss: compile("loss", &[vec![images(BATCH), labels], parameters.clone()].concat(), &names)?,
            updates: PARAMETERS.iter().map(|(_, dims)| update(dims)).collect::<Result<_, _>>()?,
            digits: compile("digits", &[vec![images(NEW)], parameters].concat(), &[])?,
        })
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let steps = std::env::args().nth(1).map_or(Ok(200), |n| n.parse())?;
    run(steps)?.iter().for_each(|line| println!("{line}"));
    Ok(())
}

/// Trains for `steps` steps, then tests with new images. Returns the lines to print.
///
/// # Errors
/// A program does not compile or run.
pub fn run(steps: usize) -> Result<Vec<String>, Box<dyn Error>> {
    let client = Client::local();
    let programs = Programs::new(&client)?;
    let mut random = Random(2026);
    let (mut parameters, mut momenta) = (Vec::new(), Vec::new());
    for (_, dims) in PARAMETERS {
        let shape = Shape::array(ElementType::F32, dims.iter().copied());
        momenta.push(Buffer::zeros(&shape)?);
        parameters.push(Buffer::from_owner(beginning(dims, &mut random), &shape)?);
    }
    let mut lines = Vec::new();
    for step in 0..=steps {
        let (pixels, labels) = images(BATCH, &mut random);
        let shapes = programs.loss.parameters();
        let given = [Buffer::from_owner(pixels, &shapes[0])?, Buffer::from_owner(labels, &shapes[1])?];
        let arguments: Vec<&Buffer> = given.iter().chain(&parameters).collect();
        let results = programs.loss.execute(&arguments, RunOptions::default())?;
        if step % 50 == 0 || step == steps {
            lines.push(format!("step {step:3}: loss {:.3}", results[0].elements::<f32>()?[0]));
        }
        for (n, gradient) in results[1..].iter().enumerate() {
            let arguments = [&parameters[n], gradient, &momenta[n]];
            let mut next = programs.updates[n].execute(&arguments, RunOptions::default())?.into_iter();
            if let (Some(parameter), Some(momentum)) = (next.next(), next.next()) {
                (parameters[n], momenta[n]) = (parameter, momentum);
            }
        }
    }
    let (pixels, labels) = images(NEW, &mut random);
    let pixels = Buffer::from_owner(pixels, &programs.digits.parameters()[0])?;
    let arguments: Vec<&Buffer> = std::iter::once(&pixels).chain(&parameters).collect();
    let read = programs.digits.execute(&arguments, RunOptions::default())?;
    let right = read[0].elements::<i32>()?.iter().zip(&labels).filter(|(a, b)| a == b).count();
    lines.push(format!("{right} of {NEW} new images are read right"));
    Ok(lines)
}
