//! Tests random modules as protocol buffers and as StableHLO, with hostile texts in place of their strings.
//! If a reader accepts a program, it must print and parse as the same program. `HLO_SEEDS=N` tests N modules
//! of each form.

use hlo_ir::Module;
use hlo_testing::generate::{Options, Style, program};
use hlo_testing::{Numbers, check, forms};

fn seeds() -> u64 {
    std::env::var("HLO_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(600)
}

/// Checks the modules of all seeds. Readers must accept at least one in `accepted` modules, because otherwise
/// the test would check too little.
fn hold(property: fn(&Module, &mut Numbers) -> check::Check<bool>, accepted: u64) {
    let mut found = 0;
    for seed in 0..seeds() {
        let text = program(seed, Options { steps: 3, ..Options::default() }).text(Style::default());
        let module = hlo_parser::parse_module(&text).expect("random modules are valid");
        match property(&module, &mut Numbers::new(seed)) {
            Ok(is_accepted) => found += u64::from(is_accepted),
            Err(finding) => panic!("seed {seed}: {finding}"),
        }
    }
    assert!(found * accepted >= seeds(), "only {found} of {} were accepted", seeds());
}

#[test]
fn protocol_buffers() {
    hold(forms::protos, 3);
}

#[test]
fn stablehlo() {
    hold(forms::stablehlo, 8);
}
