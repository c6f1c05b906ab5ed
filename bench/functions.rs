//! Measures the mathematical functions in compiled code, in nanoseconds per element, on one core with data in cache:
//! `cargo run --release --example functions -- [NAME ...]`. A NAME is a substring of an opcode's name.
//!
//! The measurement is hand-written, because it only needs the minimum time. divan would enable clap's wrapping of help
//! texts in every build that includes both divan and the tools. criterion would add thirty crates to the build of the tests.

#[cfg(feature = "codegen")]
fn main() -> std::process::ExitCode {
    let names: Vec<String> = std::env::args().skip(1).collect();
    for ty in ["f32", "f64"] {
        for function in FUNCTIONS {
            if !names.is_empty() && !names.iter().any(|n| function.contains(n.as_str())) {
                continue;
            }
            match nanoseconds(function, ty) {
                Ok(time) => println!("{ty} {function:<24}{time:>8.3} ns"),
                Err(e) => {
                    eprintln!("functions: {ty} {function}: {e}");
                    return std::process::ExitCode::FAILURE;
                }
            }
        }
    }
    std::process::ExitCode::SUCCESS
}

#[cfg(not(feature = "codegen"))]
fn main() {
    eprintln!("functions: compiled execution was not built in");
}

/// The functions that compile to straight-line vector code.
#[cfg(feature = "codegen")]
const FUNCTIONS: [&str; 11] = [
    "exponential",
    "exponential-minus-one",
    "log",
    "log-plus-one",
    "tanh",
    "logistic",
    "erf",
    "sine",
    "cosine",
    "rsqrt",
    "cbrt",
];

/// Returns the minimum time per element of a run over an array that stays in the first-level cache.
#[cfg(feature = "codegen")]
fn nanoseconds(function: &str, ty: &str) -> Result<f64, String> {
    const COUNT: usize = 2048;
    const RUNS: usize = 500;
    let text = format!(
        "HloModule m\nENTRY e {{ x = {ty}[{COUNT}] parameter(0) ROOT y = {ty}[{COUNT}] {function}(x) }}"
    );
    let module = hlo_parser::parse_module(&text).map_err(|d| format!("{d:?}"))?;
    let options = hlo_codegen::CompileOptions { threads: 1, ..Default::default() };
    let executable = hlo_ir::verify::Verified::new(&module)
        .and_then(|module| hlo_codegen::compile(module, &options))
        .map_err(|d| format!("{d:?}"))?;
    let numbers = (0..COUNT).map(|i| 0.001 + i as f64 * 0.0005);
    let bytes: Vec<u8> = match ty {
        "f64" => numbers.flat_map(f64::to_le_bytes).collect(),
        _ => numbers.flat_map(|x| (x as f32).to_le_bytes()).collect(),
    };
    let input = hlo_ir::AlignedBytes::from_slice(&bytes);
    let mut output = hlo_ir::AlignedBytes::zeroed(bytes.len());
    let mut best = f64::INFINITY;
    for _ in 0..RUNS {
        let start = std::time::Instant::now();
        let host = &mut hlo_ir::host::NoHost;
        executable.run_into(&[&input], &mut [&mut output], host).map_err(|e| e.to_string())?;
        best = best.min(start.elapsed().as_secs_f64() * 1e9 / COUNT as f64);
    }
    Ok(best)
}
