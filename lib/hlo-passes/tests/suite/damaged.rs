//! The passes that use layouts and memory locations terminate without a panic on modules that the verifier
//! would reject (`--no-verify`).

use hlo_passes::Observer;
use hlo_testing::Numbers;
use hlo_testing::damage::damage;
use hlo_testing::generate::{Options, Style, program};

struct Trusting;

impl Observer for Trusting {
    fn verify_each(&self) -> bool {
        false
    }

    fn verify_first(&self) -> bool {
        false
    }
}

/// `HLO_SEEDS=N` tries N random programs of each kind.
#[test]
fn passes_end_on_damaged_modules() {
    let seeds: u64 = std::env::var("HLO_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(300);
    for seed in 0..seeds {
        for executable in [true, false] {
            let options = Options { steps: 8, decorated: seed % 2 == 0, executable, ..Options::default() };
            let style = Style { layouts: !executable, orders: executable, ..Style::default() };
            let Ok(mut module) = hlo_parser::parse_module(&program(seed, options).text(style)) else {
                continue;
            };
            let mut draw = Numbers::new(seed);
            for _ in 0..1 + draw.below(4) {
                damage(&mut module, None, &mut draw);
            }
            for pass in ["layout-assignment", "layout-normalization", "copy-insertion"] {
                // An error is a valid outcome.
                let _ = crate::pipeline(pass).run(&mut module.clone(), &mut Trusting);
            }
        }
    }
}
