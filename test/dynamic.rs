//! Random modules on arrays of dynamic sizes: compiled code must produce the interpreter's results, to the
//! bit. Elements beyond the sizes of inputs are NaN, so that padding in a result is detected. `HLO_SEEDS=N`
//! sets the number of modules.

use hlo_testing::dynamic::dynamic_module;
use std::path::Path;
use std::process::Command;

#[test]
fn both_engines_agree_on_dynamic_sizes() {
    let count = std::env::var("HLO_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(30);
    let engine = if cfg!(feature = "codegen") { "--engine=both" } else { "--engine=eval" };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("dynamic");
    std::fs::create_dir_all(&folder).unwrap();
    for seed in 0..count {
        let made = dynamic_module(seed);
        let file = folder.join(format!("{seed}.hlo"));
        std::fs::write(&file, &made.text).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_hlo-run"));
        command.arg(&file).args([engine, "--rtol=0", "--atol=0", "--quiet", "--threads=1"]);
        for input in &made.inputs {
            command.args(["--input", input]);
        }
        let output = command.output().unwrap();
        assert!(
            output.status.success() || made.may_fail,
            "seed {seed}: {}\n{}\n{:?}",
            String::from_utf8_lossy(&output.stderr),
            made.text,
            made.inputs
        );
    }
}
