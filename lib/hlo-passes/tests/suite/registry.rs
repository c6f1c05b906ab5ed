//! The names of the passes, those of `hlo-passes-xla` included.

use crate::passes;
use hlo_ir::suggest::equal_ignoring_spelling;
use hlo_passes::{PIPELINES, XLA_CLASSES, find_ignoring_case, pass_of_class};

#[test]
fn names_are_sorted_and_unique() {
    let names: Vec<_> = passes().iter().map(|p| p.name).collect();
    assert!(names.is_sorted_by(|a, b| a < b), "{names:?}");
    assert!(!names.contains(&"fix"), "`fix` belongs to the pipeline language");
    let all: Vec<_> = names.iter().copied().chain(PIPELINES.iter().map(|p| p.name)).collect();
    for (n, name) in all.iter().enumerate() {
        let other = all[..n].iter().find(|other| equal_ignoring_spelling(name, other));
        assert_eq!(other, None, "`{name}` is read as another name");
    }
}

#[test]
fn classes_have_passes() {
    passes();
    for (class, name) in XLA_CLASSES {
        assert_eq!(pass_of_class(class), Some(*name), "{class}");
        assert!(find_ignoring_case(class).is_none(), "{class} is read anyway");
    }
    assert!(XLA_CLASSES.is_sorted());
    for (class, name) in [
        ("HloDCE", "dce"),
        ("HloCSE", "cse"),
        ("HloConstantFolding", "constant_folding"),
        ("HloVerifier", "hlo-verify"),
        ("GpuAlgebraicSimplifier", "algsimp"),
        ("CpuInstructionFusion", "fusion"),
        ("HloElementTypeConverter", "element_type_converter"),
        ("HloComputationDeduplicator", "computation-deduplicator"),
        ("TupleSimplifier", "tuple-simplifier"),
        ("WhileLoopInvariantCodeMotionPass", "while-loop-invariant-code-motion"),
    ] {
        assert_eq!(pass_of_class(class), Some(name), "{class}");
    }
    for none in ["", "Hlo", "HloPass", "algsimp", "GpuScheduler", "Pass"] {
        assert_eq!(pass_of_class(none), None, "{none}");
    }
}
