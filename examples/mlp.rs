//! Trains a multilayer perceptron to distinguish two spirals. The example builds a training step with its gradients and compiles it
//! once. It donates the parameters to each step, which updates them in place. It plots the loss to an SVG file.
//!
//! ```text
//! $ cargo run --release --example mlp -- loss.svg
//! step    0: loss 0.2620
//! step 1000: loss 0.0011
//! step 2000: loss 0.0004
//! step 3000: loss 0.0002
//! 200 of 200 points are on the right side; the loss is plotted in loss.svg
//! ```

use hlo_builder::{Builder, Computation, Value};
use hlo_client::{Argument, Buffer, Client, CompileOptions, RunOptions};
use hlo_ir::attr::InputOutputAlias;
use hlo_ir::{ElementType, Literal, Module, Op, Shape};
use std::error::Error;

/// Number of points.
const POINTS: i64 = 200;
/// Number of units in each hidden layer.
const HIDDEN: i64 = 32;
const STEPS: usize = 3001;
const RATE: f32 = 0.5;

/// The sizes of the weights and biases of three layers: 2 inputs, two hidden layers, 1 output.
const SIZES: [[i64; 2]; 6] = [[2, HIDDEN], [1, HIDDEN], [HIDDEN, HIDDEN], [1, HIDDEN], [HIDDEN, 1], [1, 1]];

/// Builds a training step. Its parameters are the weights and biases, the inputs and the targets. Its results are the new
/// weights and biases, the loss and the outputs.
fn step() -> Result<Module, Box<dyn Error>> {
    let f32 = |dims: &[i64]| Shape::array(ElementType::F32, dims.iter().copied());
    let sum = Computation::scalar(Op::Add, ElementType::F32);
    let b = Builder::new("step");
    let all: Vec<Value<'_>> =
        (0i64..).zip(SIZES).map(|(n, size)| b.parameter(n, f32(&size), &format!("p{n}"))).collect();
    let x = b.parameter(6, f32(&[POINTS, 2]), "x");
    let target = b.parameter(7, f32(&[POINTS, 1]), "target");

    let h1 = (x.dot(all[0]) + all[1]).tanh();
    let h2 = (h1.dot(all[2]) + all[3]).tanh();
    let output = (h2.dot(all[4]) + all[5]).logistic();
    let error = output - target;
    let loss = error.square().reduce_all(0.0f32, &sum) / POINTS as f32;

    // Backward pass: the gradients of the loss with respect to the sums of each layer.
    let d3 = error * output * (-output + 1.0f32) * (2.0 / POINTS as f32);
    let d2 = d3.dot(all[4].trans()) * (-h2.square() + 1.0f32);
    let d1 = d2.dot(all[2].trans()) * (-h1.square() + 1.0f32);
    let mut next = Vec::new();
    for (layer, (input, d)) in [(x, d1), (h1, d2), (h2, d3)].into_iter().enumerate() {
        let bias = all[2 * layer + 1];
        let summed = d.reduce(0.0f32, &sum, &[0]).reshape(&SIZES[2 * layer + 1]);
        next.push(all[2 * layer] - input.trans().dot(d) * RATE);
        next.push(bias - summed * RATE);
    }
    next.extend([loss, output]);
    b.set_return_value(b.tuple(&next));
    let mut module = b.build()?;
    module.header.input_output_alias = (0..6)
        .map(|n| InputOutputAlias { output: vec![n], parameter: n, parameter_index: vec![], must: false })
        .collect();
    Ok(module)
}

/// Returns the points of two spirals, and the number of the spiral for each point.
fn spirals() -> (Vec<f32>, Vec<f32>) {
    let (mut points, mut targets) = (Vec::new(), Vec::new());
    for n in 0..POINTS {
        let (turn, side) = ((n / 2) as f32 / (POINTS / 2) as f32, (n % 2) as f32);
        let angle = 2.0 + turn * 6.0 + side * std::f32::consts::PI;
        points.extend([turn.mul_add(2.0, 0.3) * angle.cos(), turn.mul_add(2.0, 0.3) * angle.sin()]);
        targets.push(side);
    }
    (points, targets)
}

/// Returns initial weights: pseudorandom numbers around 0, the same in every run. Biases are 0.
fn weights() -> Vec<Literal> {
    let mut state = 12345u64;
    let mut uniform = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 40) as f32 / (1 << 23) as f32 - 1.0
    };
    let scale = |size: &[i64; 2]| if size[0] == 1 { 0.0 } else { (3.0 / size[0] as f32).sqrt() };
    (SIZES.iter())
        .map(|size| {
            let values: Vec<f32> = (0..size[0] * size[1]).map(|_| uniform() * scale(size)).collect();
            Literal::from_values(size, &values).expect("as many values as the size says")
        })
        .collect()
}

/// Returns an SVG with a line through the losses, on a logarithmic scale.
fn plot(losses: &[f32]) -> String {
    let (low, high) = losses.iter().fold((f32::MAX, f32::MIN), |(a, b), &l| (a.min(l), b.max(l)));
    let at = |l: f32| 260.0 - 220.0 * (l / low).ln() / (high / low).ln();
    let points: Vec<String> = (losses.iter().enumerate())
        .map(|(n, &l)| format!("{:.1},{:.1}", 60.0 + 500.0 * n as f32 / losses.len() as f32, at(l)))
        .collect();
    format!(
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 600 300' font-family='sans-serif' font-size='12'>\n\
         <rect width='600' height='300' fill='white'/>\n<path d='M60 30V260H570' fill='none' stroke='black'/>\n\
         <text x='8' y='44'>{high:.3}</text><text x='8' y='264'>{low:.3}</text>\n\
         <text x='260' y='285'>steps: {}</text><text x='280' y='20'>loss</text>\n\
         <polyline fill='none' stroke='steelblue' stroke-width='1.5' points='{}'/>\n</svg>\n",
        losses.len(),
        points.join(" ")
    )
}

fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args().nth(1).unwrap_or_else(|| "loss.svg".into());
    run(&file)?.iter().for_each(|line| println!("{line}"));
    Ok(())
}

/// Trains, and plots the loss to a file. Returns the lines to print.
///
/// # Errors
/// A program does not compile or run, or the file can't be written.
pub fn run(file: &str) -> Result<Vec<String>, Box<dyn Error>> {
    let (points, targets) = spirals();
    let client = Client::local();
    let options = CompileOptions { donation: true, ..CompileOptions::default() };
    let step = client.compile(&step()?, &options)?;
    let x = Buffer::from_owner(points, &step.parameters()[6])?;
    let target = Buffer::from_owner(targets.clone(), &step.parameters()[7])?;
    let mut parameters =
        weights().iter().map(|w| client.transfer_to(w)).collect::<Result<Vec<Buffer>, _>>()?;

    let (mut losses, mut outputs, mut lines) = (Vec::new(), Vec::new(), Vec::new());
    for n in 0..STEPS {
        let given = parameters.into_iter().map(Argument::Donated);
        let arguments = given.chain([Argument::Kept(&x), Argument::Kept(&target)]).collect();
        parameters = step.execute_donating(arguments, RunOptions::default())?;
        let rest = parameters.split_off(6);
        losses.push(rest[0].elements::<f32>()?[0]);
        outputs = rest[1].elements::<f32>()?.to_vec();
        if n % 1000 == 0 {
            lines.push(format!("step {n:4}: loss {:.4}", losses[n]));
        }
    }
    let right = outputs.iter().zip(&targets).filter(|&(&o, &t)| (o > 0.5) == (t > 0.5)).count();
    std::fs::write(file, plot(&losses))?;
    lines.push(format!("{right} of {POINTS} points are on the right side; the loss is plotted in {file}"));
    Ok(lines)
}
