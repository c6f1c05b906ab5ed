//! Maps the names of XLA's C++ pass classes, which its documentation and source use, to passes.

use crate::registry::{find, find_ignoring_case};

/// XLA classes whose pass has a different name, with the name of the pass. Ordered by class.
pub static XLA_CLASSES: &[(&str, &str)] = &[
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
        let found = XLA_CLASSES.iter().find(|(c, _)| *c == rest).and_then(|(_, name)| find(name));
        let alike = || find_ignoring_case(rest).or_else(|| find_ignoring_case(rest.strip_suffix("Pass")?));
        if let Some(info) = found.or_else(alike) {
            return Some(info.name);
        }
        rest = PREFIXES.iter().find_map(|p| rest.strip_prefix(p))?;
    }
}
