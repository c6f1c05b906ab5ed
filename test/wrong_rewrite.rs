//! Tests of `hlo-run --bisect-passes` on modules of the corpus, with a pass that is wrong on purpose (the
//! feature `wrong-rewrite`). `lib/hlo-passes/tests/suite/bisect.rs` tests the other behavior of bisection, without
//! the feature.

use std::path::Path;
use std::process::Command;

#[test]
fn the_pass_and_its_rewrite_are_named() {
    for name in ["gru_language_model", "lstm_bptt_step", "logistic_regression_newton"] {
        let case = Path::new(env!("CARGO_MANIFEST_DIR")).join("test/corpus").join(name);
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bisect").join(name);
        let _ = std::fs::remove_dir_all(&folder);
        let output = Command::new(env!("CARGO_BIN_EXE_hlo-run"))
            .args(["--bisect-passes", "--engine=eval", "--quiet"])
            .arg("--passes=call-inliner,fix{limit=4}(algsimp,wrong-rewrite,cse,dce),algsimp,dce")
            .arg("--case")
            .arg(&case)
            .arg("-o")
            .arg(&folder)
            .output()
            .unwrap();
        let (said, errors) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(1), "{name}\n{said}{errors}");
        assert!(said.starts_with("pass `wrong-rewrite` changes the results\n"), "{name}\n{said}");
        assert!(said.contains("`subtract-constant` of instruction `"), "{name}\n{said}");
        assert!(folder.join("before.hlo").is_file() && folder.join("after.hlo").is_file(), "{name}");
    }
}
