//! Parses each file named, prints it, and checks that the printed text parses to the same module and prints
//! as itself; with `--time` says how fast.

use hlo_ir::diag::{Source, render};
use hlo_ir::print::{PrintOptions, print_module};
use std::time::Instant;

fn main() {
    let mut bad = 0;
    let mut out_dir = None;
    let mut time = false;
    let mut files = Vec::new();
    let mut args = std::env::args().skip(1);
    while let Some(a) = args.next() {
        match a.as_str() {
            "--time" => time = true,
            "-o" => out_dir = args.next(),
            _ => files.push(a),
        }
    }
    for file in files {
        let text = match std::fs::read(&file)
            .map_err(|e| e.to_string())
            .and_then(|b| hlo_parser::decode(b).map_err(|d| d.message))
        {
            Ok(t) => t,
            Err(e) => {
                println!("{file}: {e}");
                bad += 1;
                continue;
            }
        };
        match check(&file, &text, time) {
            Ok(printed) => {
                if let Some(dir) = &out_dir {
                    let name = file.replace('/', "_");
                    if let Err(e) = std::fs::write(format!("{dir}/{name}"), printed) {
                        println!("{file}: {e}");
                    }
                }
            }
            Err(e) => {
                bad += 1;
                println!("{file}: {e}");
            }
        }
    }
    println!("{bad} bad");
}

fn check(file: &str, text: &str, time: bool) -> Result<String, String> {
    let show = |text: &str, diags: Vec<hlo_ir::diag::Diag>| -> String {
        let source = Source { name: file.into(), text: text.into() };
        diags.iter().map(|d| render(d, &source, false)).collect()
    };
    let start = Instant::now();
    let module = hlo_parser::parse_module(text).map_err(|d| show(text, d))?;
    let parsed = start.elapsed();
    let start = Instant::now();
    let printed = print_module(&module, &PrintOptions::default());
    let printing = start.elapsed();
    if time {
        let rate = |t: std::time::Duration, n: usize| n as f64 / t.as_secs_f64() / 1e6;
        println!(
            "{file}: {} bytes, parse {:.2?} ({:.1} MB/s), print {:.2?} ({:.1} MB/s)",
            text.len(),
            parsed,
            rate(parsed, text.len()),
            printing,
            rate(printing, printed.len())
        );
    }
    let again = hlo_parser::parse_module(&printed).map_err(|d| format!("printed: {}", show(&printed, d)))?;
    let printed_again = print_module(&again, &PrintOptions::default());
    if printed_again != printed {
        return Err("printing is no fixed point".into());
    }
    match module.difference(&again) {
        Some(d) => Err(format!("differs: {d}")),
        None => Ok(printed),
    }
}
