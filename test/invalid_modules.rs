//! Passes modules that break a rule to every public function that accepts a module and may fail. Each must
//! return an error. None may panic, and no module may reach code generation, because its code would read and
//! write out of bounds.
//!
//! `HLO_INVALID=N` sets the number of modules, starting with seed `HLO_SEED`. The default is a few hundred.

use hlo_client::{Buffer, Client, CompileOptions, Engine, Passes};
use hlo_ir::Module;
use hlo_ir::print::{PrintOptions, print_module};
use hlo_ir::verify::{Verified, verify};
use hlo_module_diff::Ignore;
use hlo_passes::{CPU_PIPELINE, LOWERING, Pipeline};
use hlo_proto::file::{FileKind, write};
use hlo_testing::Numbers;
use hlo_testing::damage::damage;
use hlo_testing::generate::{Options, Style, program};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Number of modules that `cargo test` tests.
const DEFAULT_MODULES: u64 = 400;

/// The engines of this build.
const ENGINES: &[Engine] = hlo_client::ENGINES;

fn parsed(seed: u64) -> Option<Module> {
    let style = Style { orders: true, ..Style::default() };
    let options = Options { steps: 8, executable: true, ..Options::default() };
    hlo_parser::parse_module(&program(seed, options).text(style)).ok()
}

fn options(engine: Engine) -> CompileOptions {
    CompileOptions { engine: Some(engine), threads: 1, ..CompileOptions::default() }
}

/// A function that accepts a module, with its name. Returns true if the function returned an error.
type Consumer<'a> = (&'a str, Box<dyn Fn(&Module) -> bool + 'a>);

fn doors(client: &Client, valid: Module) -> Vec<Consumer<'_>> {
    let mut doors: Vec<Consumer<'_>> = Vec::new();
    for &engine in ENGINES {
        let valid = valid.clone();
        doors.push(("Client::compile", Box::new(move |m| client.compile(m, &options(engine)).is_err())));
        let program = valid.clone();
        let load = move |m: &Module| client.load(&program, m.clone(), &options(engine)).is_err();
        doors.push(("Client::load, prepared", Box::new(load)));
        let load = move |m: &Module| client.load(m, valid.clone(), &options(engine)).is_err();
        doors.push(("Client::load, given", Box::new(load)));
        let prepare = move |m: &Module| hlo_client::prepare(m, engine, &Passes::Default).is_err();
        doors.push(("prepare", Box::new(prepare)));
    }
    doors.push(("lower", Box::new(|m| hlo_client::lower(&mut m.clone()).is_err())));
    doors.push(("partition", Box::new(|m| hlo_client::partition(&mut m.clone()).is_err())));
    for name in [CPU_PIPELINE, LOWERING] {
        let pipeline = Pipeline::parse(name).expect("a pipeline");
        doors.push((name, Box::new(move |m| pipeline.run(&mut m.clone(), &mut ()).is_err())));
    }
    doors
        .push(("evaluate", Box::new(|m| hlo_eval::evaluate(m, &[], &hlo_eval::Options::default()).is_err())));
    doors.push(("Verified::new", Box::new(|m| Verified::new(m).is_err())));
    doors.push(("StableHLO", Box::new(|m| hlo_stablehlo::export::export(m).is_err())));
    doors
}

/// A function that displays a module, valid or not, with its name.
type View = (&'static str, fn(&Module));

const VIEWS: [View; 3] = [
    ("print_module", |m| drop(print_module(m, &PrintOptions::default()))),
    ("proto", |m| drop(write(m, FileKind::Module))),
    ("diff", |m| drop(hlo_module_diff::diff(m, m, Ignore::default()))),
];

#[test]
fn every_public_function_refuses_an_invalid_module() {
    let number = |name: &str| std::env::var(name).ok().and_then(|n| n.parse().ok());
    let (count, first) = (number("HLO_INVALID").unwrap_or(DEFAULT_MODULES), number("HLO_SEED").unwrap_or(0));
    let client = Client::local();
    let (mut tried, mut findings) = (0u64, Vec::new());
    for seed in first..first + count {
        let (Some(valid), Some(donor)) = (parsed(seed), parsed(seed + 1)) else { continue };
        let (mut module, mut numbers) = (valid.clone(), Numbers::new(seed));
        // Damage from another module may contain invalid ids. Such a module can't be displayed.
        let donor = Some(&donor).filter(|_| seed % 2 == 0);
        for _ in 0..1 + numbers.below(3) {
            damage(&mut module, donor, &mut numbers);
        }
        match catch_unwind(AssertUnwindSafe(|| verify(&module).is_empty())) {
            Ok(true) => continue,
            Ok(false) => tried += 1,
            Err(_) => findings.push(format!("seed {seed}: verify panicked")),
        }
        for (name, view) in VIEWS.iter().filter(|_| donor.is_none()) {
            if catch_unwind(AssertUnwindSafe(|| view(&module))).is_err() {
                findings.push(format!("seed {seed}: {name} panicked"));
            }
        }
        for (name, refuses) in doors(&client, valid) {
            match catch_unwind(AssertUnwindSafe(|| refuses(&module))) {
                Ok(true) => {}
                Ok(false) => findings.push(format!("seed {seed}: {name} took it")),
                Err(_) => findings.push(format!("seed {seed}: {name} panicked")),
            }
        }
    }
    assert!(findings.is_empty(), "{} findings:\n{}", findings.len(), findings.join("\n"));
    // Damage rarely leaves a module valid.
    assert!(tried > count / 2, "{tried} of {count} modules were invalid");
}

/// A slice beyond its operand would read other memory, and an update that is too large would overwrite it.
#[test]
fn compiled_code_touches_no_memory_beyond_its_arrays() {
    for body in [
        "x = f32[4] parameter(0) ROOT y = f32[2000] slice(x), slice={[0:2000]}",
        "x = f32[4] parameter(0) u = f32[20000] parameter(1) i = s32[] parameter(2) \
         ROOT y = f32[4] dynamic-update-slice(x, u, i)",
        // This is not a rule of the language, but code generation relies on it.
        "x = f32[4] parameter(0) ROOT y = f32[2000] bitcast(x)",
    ] {
        let module =
            hlo_parser::parse_module(&format!("HloModule m\nENTRY e {{ {body} }}")).expect("a module");
        let small = "HloModule m\nENTRY e { x = f32[4] parameter(0) ROOT y = f32[4] negate(x) }";
        let small = hlo_parser::parse_module(small).expect("a module");
        for &engine in ENGINES {
            let client = Client::local();
            let programs = [
                client.compile(&module, &options(engine)),
                client.load(&module, module.clone(), &options(engine)),
                client.load(&small, module.clone(), &options(engine)),
            ];
            for program in programs.into_iter().flatten() {
                // The interpreter may detect the error later, but never returns a result.
                let arguments: Vec<Buffer> =
                    program.parameters().iter().filter_map(|p| Buffer::zeros(p).ok()).collect();
                let arguments: Vec<&Buffer> = arguments.iter().collect();
                assert!(program.execute(&arguments, Default::default()).is_err(), "{body} by {engine:?}");
                assert_eq!(engine, Engine::Interpreted, "{body}");
            }
        }
    }
}
