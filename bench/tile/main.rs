//! Tile against the same as HLO text, and loop nests against loops in Rust:
//! `cargo run --release --example tile_bench -- [--threads N] [NAME ...]`; a NAME is a part of a function's name.
//!
//! Both run in turn, so that what else the machine does is the same for both. Times are medians. Loops in Rust are what a person
//! writes at once: the innermost loop over what lies together, slices cut before it. They run on one thread, as the nests
//! beside them do, and give the same numbers, which is checked.

mod loops;

use hlo_client::{Client, ClientOptions, CompileOptions, Executable};
use hlo_ir::{Literal, Module};
use hlo_testing::{Numbers, values};
use hlo_tile::Tile;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// How long each pair is measured.
const BUDGET: Duration = Duration::from_secs(3);

fn main() -> ExitCode {
    let mut threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut names = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--threads" => match arguments.next().and_then(|n| n.parse().ok()) {
                Some(n) => threads = n,
                None => {
                    eprintln!("tile_bench: --threads takes a number");
                    return ExitCode::from(2);
                }
            },
            _ => names.push(argument),
        }
    }
    match forms(threads, &names).and_then(|()| nests(&names)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("tile_bench: {e}");
            ExitCode::FAILURE
        }
    }
}

fn is_wanted(name: &str, names: &[String]) -> bool {
    names.is_empty() || names.iter().any(|n| name.contains(n.as_str()))
}

/// The functions of a file of Tile, as modules.
fn modules(name: &str, text: &str) -> Result<Vec<(String, Module)>, String> {
    let tile = Tile::new(name, text).map_err(|e| e.message)?;
    let functions = tile.functions().iter().map(|f| {
        let function = f.name.text.clone();
        let arguments = tile.directive(&function).map_or(&[][..], |d| &d.arguments);
        let made = tile.specialize(&function, arguments).map_err(|e| format!("{function}: {}", e.message))?;
        Ok((function, made.module))
    });
    functions.collect()
}

/// Inputs for a program.
fn inputs(program: &Executable) -> Result<Vec<Literal>, String> {
    let mut numbers = Numbers::new(7);
    let inputs = program.parameters().iter().map(|shape| values::random(shape, &mut numbers, false));
    inputs.collect::<Option<_>>().ok_or_else(|| "an input that is no array".to_owned())
}

/// The median times of two functions, run in turn.
fn in_turn(
    mut a: impl FnMut() -> Result<(), String>,
    mut b: impl FnMut() -> Result<(), String>,
) -> Result<(f64, f64), String> {
    let mut times = (Vec::new(), Vec::new());
    let start = Instant::now();
    a()?;
    b()?;
    while times.0.len() < 5 || start.elapsed() < BUDGET {
        let begin = Instant::now();
        a()?;
        let middle = Instant::now();
        b()?;
        times.0.push((middle - begin).as_secs_f64());
        times.1.push(middle.elapsed().as_secs_f64());
    }
    let median = |times: &mut Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2] * 1e3
    };
    Ok((median(&mut times.0), median(&mut times.1)))
}

/// A program with its arguments and room for its results: each call runs it.
fn runner(program: &Executable, values: &[Literal]) -> Result<impl FnMut() -> Result<(), String>, String> {
    let buffers = program.buffers(values).map_err(|e| e.to_string())?;
    let arguments = program.arguments(&buffers.iter().collect::<Vec<_>>()).map_err(|e| e.to_string())?;
    let mut room = program.allocate_results().map_err(|e| e.to_string())?;
    let program = program.clone();
    Ok(move || {
        program.execute_into(&arguments, &mut room, Default::default()).map(|_| ()).map_err(|e| e.to_string())
    })
}

/// Contractions that become operations, beside those as text.
fn forms(threads: usize, names: &[String]) -> Result<(), String> {
    let client = Client::new(&ClientOptions::default()).map_err(|e| e.to_string())?;
    let options = CompileOptions { threads, ..CompileOptions::default() };
    let texts: Vec<&str> = include_str!("forms.hlo").split("// -----").collect();
    println!("{:<18}{:>12}{:>12}{:>9}   ({threads} threads)", "form", "Tile ms", "HLO ms", "ratio");
    for ((name, module), text) in modules("forms.tile", include_str!("forms.tile"))?.into_iter().zip(texts) {
        if !is_wanted(&name, names) {
            continue;
        }
        let of_tile = client.compile(&module, &options).map_err(|e| format!("{name}: {e}"))?;
        let of_text = client.compile_text(text, &options).map_err(|e| format!("{name}: {e}"))?;
        let values = inputs(&of_tile)?;
        let (tile, text) = in_turn(runner(&of_tile, &values)?, runner(&of_text, &values)?)?;
        println!("{name:<18}{tile:>12.3}{text:>12.3}{:>9.3}", tile / text);
    }
    Ok(())
}

/// Loop nests beside loops.
fn nests(names: &[String]) -> Result<(), String> {
    let client = Client::new(&ClientOptions::default()).map_err(|e| e.to_string())?;
    let options = CompileOptions { threads: 1, ..CompileOptions::default() };
    println!("{:<18}{:>12}{:>12}{:>9}   (1 thread)", "nest", "Tile ms", "Rust ms", "ratio");
    for (name, module) in modules("nests.tile", include_str!("nests.tile"))? {
        if !is_wanted(&name, names) {
            continue;
        }
        let program = client.compile(&module, &options).map_err(|e| format!("{name}: {e}"))?;
        let values = inputs(&program)?;
        let function = loops::of(&name).ok_or_else(|| format!("no loop for {name}"))?;
        let arrays: Vec<&[f32]> = values.iter().map(Literal::elements::<f32>).collect();
        let expected = program.run(&values).map_err(|e| e.to_string())?;
        let mut out = vec![0.0; expected.elements::<f32>().len()];
        function(&arrays, &mut out);
        if let Some(n) = (0..out.len()).find(|&n| (out[n] - expected.elements::<f32>()[n]).abs() > 1e-2) {
            return Err(format!(
                "{name}: element {n} is {}, and {} in Rust",
                expected.elements::<f32>()[n],
                out[n]
            ));
        }
        let rust = || {
            function(std::hint::black_box(&arrays), std::hint::black_box(&mut out));
            Ok(())
        };
        let (nest, rust) = in_turn(runner(&program, &values)?, rust)?;
        println!("{name:<18}{nest:>12.3}{rust:>12.3}{:>9.3}", nest / rust);
    }
    Ok(())
}
