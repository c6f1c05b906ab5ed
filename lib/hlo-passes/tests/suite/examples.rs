//! Every pass changes its example exactly once, into a valid module, and a test of the pass uses each of its
//! patterns.

use crate::passes;
use hlo_ir::Module;
use hlo_passes::{Observer, PassInfo, PassRun};
use std::collections::BTreeSet;
use std::path::Path;

/// Verifies the module after each pass, and records the names of rewrites.
#[derive(Default)]
struct Strict {
    names: BTreeSet<&'static str>,
}

impl Observer for Strict {
    fn verify_each(&self) -> bool {
        true
    }

    fn after_pass(&mut self, _: &'static PassInfo, run: &PassRun, _: &Module) {
        self.names.extend(run.rewrites.counts().map(|(name, _)| name));
    }
}

fn run(pass: &PassInfo, module: &mut Module, observer: &mut Strict) -> bool {
    let pipeline = crate::pipeline(pass.name);
    pipeline.run(module, observer).unwrap_or_else(|diags| panic!("{}: {diags:?}", pass.name))
}

#[test]
fn every_example_is_changed_once() {
    for pass in passes() {
        let mut module = hlo_parser::parse_module(pass.example)
            .unwrap_or_else(|diags| panic!("the example of {}: {diags:?}", pass.name));
        let broken = hlo_ir::verify::verify(&module);
        assert!(broken.is_empty(), "the example of {}: {broken:?}", pass.name);
        let changed = run(pass, &mut module, &mut Strict::default());
        assert_eq!(changed, !pass.only_checks, "{} and its example", pass.name);
        // The program of one device looks like a program for all devices, so the pass would change it again.
        let again = pass.name != "spmd-partitioning" && run(pass, &mut module, &mut Strict::default());
        assert!(!again, "{} changes its example again", pass.name);
    }
}

/// Returns the modules of the files in `test/passes/NAME`.
fn tests_of(pass: &PassInfo) -> Vec<Module> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test/passes").join(pass.name);
    let files = std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut modules = Vec::new();
    for file in files.flatten().map(|f| f.path()).filter(|f| f.extension().is_some_and(|e| e == "hlo")) {
        let text = std::fs::read_to_string(&file).expect("a test can be read");
        // Some tests contain modules that are rejected.
        modules.extend(text.split("// -----\n").filter_map(|part| hlo_parser::parse_module(part).ok()));
    }
    modules
}

#[test]
fn every_pattern_has_a_test() {
    let mut missing = Vec::new();
    for pass in passes() {
        let mut observer = Strict::default();
        let pipeline = crate::pipeline(pass.name);
        let modules = tests_of(pass);
        assert!(!modules.is_empty(), "{} has no tests", pass.name);
        for mut module in modules {
            // Errors of the pass do not matter here.
            let _ = pipeline.run(&mut module, &mut observer);
        }
        let unused = pass.patterns().filter(|(name, _)| !observer.names.contains(name));
        missing.extend(unused.map(|(name, _)| format!("{}: {name}", pass.name)));
        assert!(pass.only_checks || !observer.names.is_empty(), "no test of {} is changed by it", pass.name);
    }
    assert!(missing.is_empty(), "patterns that no module in test/passes uses: {missing:#?}");
}
