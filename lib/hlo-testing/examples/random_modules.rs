//! Prints random modules, separated by lines `// -----`: `random_modules FIRST_SEED COUNT [STEPS [FORM]]`.
//! Without a form, prints the generated text; otherwise the form of the printer: `default`, `short` or
//! `canonical`.

use hlo_ir::print::{PrintOptions, print_module};
use hlo_testing::generate::{Options, Style, program};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize, default: u64| arguments.get(i).and_then(|a| a.parse().ok()).unwrap_or(default);
    let (first, count) = (number(0, 0), number(1, 1));
    let steps = number(2, 6) as usize;
    let form = match arguments.get(3).map(String::as_str) {
        Some("default") => Some(PrintOptions::default()),
        Some("short") => Some(PrintOptions::short()),
        Some("canonical") => Some(PrintOptions::canonical()),
        _ => None,
    };
    for seed in first..first.saturating_add(count) {
        if seed > first {
            println!("// -----");
        }
        let style = Style { layouts: seed % 2 == 1, ..Style::default() };
        let text = program(seed, Options { steps, ..Options::default() }).text(style);
        match &form {
            None => print!("{text}"),
            Some(options) => match hlo_parser::parse_module(&text) {
                Ok(module) => print!("{}", print_module(&module, options)),
                Err(diags) => eprintln!("seed {seed}: {}", diags[0].message),
            },
        }
    }
}
