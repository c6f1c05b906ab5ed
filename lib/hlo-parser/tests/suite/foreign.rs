//! Texts that are not HLO are recognized.

use hlo_parser::internals::recognize;

#[test]
fn what_is_no_hlo_is_recognized() {
    let found = |text: &str| recognize(text).map_or(String::new(), |d| d.message);
    assert!(found("module @m {\n  func.func public @main() { stablehlo.add }\n}").contains("StableHLO"));
    assert!(found("// a\nmodule {\n}\n").contains("MLIR"));
    assert!(found("\u{feff}; ModuleID = 'x'").contains("LLVM IR"));
    assert!(found("hlo_module {\n  name: \"m\"\n}").contains("protocol buffer"));
    assert!(found("# comment\nimport jax\n").contains("Python"));
    assert!(found("{ lambda ; a:f32[4]. let b = neg a in (b,) }").contains("jaxpr"));
    assert!(found("{\"a\": 1}").contains("JSON"));
    assert!(found("BufferAssignment:\nallocation 0: size 4").contains("buffer assignment"));
    assert!(found("\nTotal bytes used: 8333 (8.1KiB)\n").contains("buffer assignment"));
    assert!(found("HloLiveRange (max 18):\n  InstructionSequence:\n").contains("live ranges"));
    assert!(found("Memory Space: default (color=0)\nTotal bytes: 8333").contains("memory"));
    assert!(found("xla_cpu_enable_fast_min_max: false\nxla_dump_to: \"d\"\n").contains("flags"));
}

#[test]
fn what_is_meant_as_hlo_is_not() {
    for text in [
        "",
        "//",
        "HloModule m\n func.func ",
        "ENTRY e {",
        "add(f32[] x, f32[] y",
        "é",
        "xla_a = f32[] parameter(0)",
    ] {
        assert_eq!(recognize(text), None, "{text}");
    }
}
