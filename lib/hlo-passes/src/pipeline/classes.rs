//! Maps the names of XLA's C++ pass classes, which its documentation and source use, to passes.

use crate::registry::{find, find_alike};

/// Classes whose pass has a different name.
static CLASSES: &[(&str, &str)] = &[
    ("AlgebraicSimplifier", "algsimp"),
    ("BFloat16ConversionFolding", "bfloat16-fold"),
    ("BFloat16Normalization", "float-normalization-bf16"),
    ("ConditionalSimplifier", "simplify-conditional"),
    ("FloatNormalization", "float-normalization-bf16"),
    ("FusionPass", "fusion"),
    ("InstructionFusion", "fusion"),
    ("MapInliner", "map-inline"),
    ("OptimizationBarrierExpander", "cse_barrier_expander"),
    ("SortSimplifier", "simplify-sorts"),
    ("Verifier", "hlo-verify"),
    ("WhileLoopSimplifier", "simplify-while-loops"),
];

/// Prefixes of class names that are ignored.
const PREFIXES: &[&str] = &["Hlo", "Cpu", "Gpu"];

/// Returns the name of the pass that corresponds to an XLA class, such as `algsimp` for
/// `AlgebraicSimplifier`.
pub fn pass_of_class(class: &str) -> Option<&'static str> {
    let mut rest = class;
    if !rest.starts_with(|c: char| c.is_ascii_uppercase()) {
        return None;
    }
    loop {
        let found = CLASSES.iter().find(|(c, _)| *c == rest).and_then(|(_, name)| find(name));
        let alike = || find_alike(rest).or_else(|| find_alike(rest.strip_suffix("Pass")?));
        if let Some(info) = found.or_else(alike) {
            return Some(info.name);
        }
        rest = PREFIXES.iter().find_map(|p| rest.strip_prefix(p))?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_have_passes() {
        for (class, name) in CLASSES {
            assert_eq!(pass_of_class(class), Some(*name), "{class}");
            assert!(find_alike(class).is_none(), "{class} is read anyway");
        }
        assert!(CLASSES.is_sorted());
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
}
