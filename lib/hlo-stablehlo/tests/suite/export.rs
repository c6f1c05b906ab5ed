//! Tests of the export: `tests/export/NAME.hlo` is printed as `NAME.mlir`, which jaxlib's parser and verifier
//! accepted. With `BLESS=1`, the tests write it.

use hlo_ir::diag::Diag;
use hlo_stablehlo::export::export;
use hlo_stablehlo::text::{self, PrintOptions};
use std::path::{Path, PathBuf};

fn tree_of(hlo: &str) -> Result<hlo_stablehlo::Tree, Vec<Diag>> {
    export(&hlo_parser::parse_module(hlo).expect("a module"))
}

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/export");
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    let mut cases: Vec<PathBuf> = entries.map(|e| e.expect("an entry").path()).collect();
    cases.retain(|path| path.extension().is_some_and(|e| e == "hlo"));
    cases.sort();
    cases
}

#[test]
fn modules_become_what_is_expected() {
    let mut wrong = Vec::new();
    for case in cases() {
        let hlo = std::fs::read_to_string(&case).expect("it can be read");
        let found = text::print(&tree_of(&hlo).unwrap_or_else(|e| panic!("{}: {e:?}", case.display())));
        let expected = case.with_extension("mlir");
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&expected, &found).expect("it can be written");
        }
        // The expected text is also read and printed, so that the test compares programs and not their
        // formatting.
        let text = std::fs::read_to_string(&expected).unwrap_or_default();
        if text::parse(&text).is_ok_and(|tree| text::print(&tree) == found) {
            continue;
        }
        wrong.push(format!("{}:\n{found}", case.display()));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The text of an export reads back as the same program.
#[test]
fn exported_programs_are_read_back() {
    for case in cases() {
        let hlo = std::fs::read_to_string(&case).expect("it can be read");
        let printed = text::print(&tree_of(&hlo).expect("a program"));
        let again = text::parse(&printed).unwrap_or_else(|e| panic!("{}: {e:?}", case.display()));
        assert_eq!(text::print(&again), printed, "{}", case.display());
    }
}

#[test]
fn places_in_sources_are_locations() {
    let tree = tree_of(
        "HloModule m
FileNames
1 \"f.py\"
FunctionNames
1 \"outer\"
2 \"inner\"
FileLocations
1 {file_name_id=1 function_name_id=1 line=7 end_line=7 column=1 end_column=9}
2 {file_name_id=1 function_name_id=2 line=3 end_line=4 column=5 end_column=6}
StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=2}

ENTRY e {
  x = f32[] parameter(0)
  y = f32[] negate(x), metadata={op_name=\"jit(f)/neg\" stack_frame_id=2}
  ROOT z = f32[] abs(y), metadata={op_type=\"Abs\" op_name=\"abs\" source_file=\"g.py\" source_line=2}
}",
    )
    .expect("a program");
    let printed = text::print_with(&tree, &PrintOptions { with_locations: true, ..PrintOptions::default() });
    for expected in ["loc(\"x\")", "\"f.py\":3:5 to 4:6", "callsite(", "\"jit(f)/neg\"", "\"Abs:\"("] {
        assert!(printed.contains(expected), "{expected} in {printed}");
    }
}

/// Bodies of the entry with the expected message. `main` is the text before the body.
#[test]
fn what_has_no_form_is_said() {
    let cases = [
        (
            "a = f32[2,3] parameter(0) ROOT b = f32[2] contraction(a), access={(d0) += (d0,d1)}",
            "`b`, a contraction, has no StableHLO form",
        ),
        (
            "a = f32[4] parameter(0) u = u32[4] parameter(1) ROOT b = bf16[4] stochastic-convert(a, u)",
            "`b`, a stochastic-convert, has no StableHLO form",
        ),
        (
            "a = f32[4] parameter(0) ROOT b = (f32[2], s32[2]) topk(a), k=2, largest=false",
            "`b`, a topk, has no StableHLO form",
        ),
        (
            "ROOT b = u64[2] rng-get-and-update-state(), delta=1",
            "`b`, a rng-get-and-update-state, has no StableHLO form",
        ),
        ("ROOT b = s1[4] parameter(0)", "`b`, a parameter, has elements of type s1, which StableHLO lacks"),
        (
            "ROOT b = f32[4] constant({...})",
            "`b`, a constant, can't be exported: the elements of this constant are elided",
        ),
    ];
    for (body, expected) in cases {
        let errors = tree_of(&format!("HloModule m\nENTRY e {{ {body} }}")).expect_err(body);
        assert!(errors[0].message.starts_with(expected), "{}", errors[0].message);
        assert_eq!(errors.len(), 1, "{body}");
        assert!(errors[0].primary().is_some_and(|label| !label.span.is_empty()), "{body}");
    }
}

/// All instructions without a form are reported once. Instructions that depend on them are not reported.
#[test]
fn all_errors_are_reported_once() {
    let errors = tree_of(
        "HloModule m
ENTRY e {
  a = f32[4] parameter(0)
  u = u32[4] parameter(1)
  b = bf16[4] stochastic-convert(a, u)
  c = bf16[4] negate(b)
  d = (f32[2], s32[2]) topk(a), k=2, largest=false
  ROOT t = (bf16[4], (f32[2], s32[2])) tuple(c, d)
}",
    )
    .expect_err("errors");
    let names: Vec<&str> = errors.iter().filter_map(|e| e.message.split('`').nth(1)).collect();
    assert_eq!(names, ["b", "d"]);
}

/// A module of `depth` computations, each of which applies the next one twice, becomes a program of as many
/// functions.
#[test]
fn computations_that_several_apply_do_not_grow() {
    let mut hlo = String::from("HloModule m\nc0 { x = f32[] parameter(0) ROOT y = f32[] negate(x) }\n");
    for n in 1..=30 {
        let called = n - 1;
        hlo += &format!(
            "c{n} {{ x = f32[] parameter(0) p = pred[] constant(true) ROOT y = f32[] conditional(p, x, x), \
             true_computation=c{called}, false_computation=c{called} }}\n"
        );
    }
    hlo += "ENTRY e { x = f32[] parameter(0) ROOT y = f32[] call(x), to_apply=c30 }";
    let tree = tree_of(&hlo).expect("a program");
    assert!(tree.value_count() < 1000, "{} values", tree.value_count());
}

/// Beyond some depth, nested loops become functions, so that readers accept the program.
#[test]
fn deep_nesting_is_cut() {
    let mut hlo = String::from(
        "HloModule m\ngo { s = f32[] parameter(0) ROOT p = pred[] constant(false) }\n\
         b0 { s = f32[] parameter(0) ROOT y = f32[] negate(s) }\n",
    );
    for n in 1..=300 {
        let inner = n - 1;
        hlo += &format!(
            "b{n} {{ s = f32[] parameter(0) ROOT w = f32[] while(s), condition=go, body=b{inner} }}\n"
        );
    }
    hlo += "ENTRY e { x = f32[] parameter(0) ROOT w = f32[] while(x), condition=go, body=b300 }";
    let printed = text::print(&tree_of(&hlo).expect("a program"));
    text::parse(&printed).expect("it is read back");
}

/// StableHLO has no attribute for the mode of a collective: the channel and `use_global_device_ids` imply it.
#[test]
fn modes_of_collectives_are_kept() {
    let module = |attributes: &str| {
        format!(
            "HloModule m, replica_count=2, num_partitions=2

add {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}}

ENTRY e {{
  x = f32[4] parameter(0)
  ROOT y = f32[4] all-reduce(x), replica_groups={{}}, {attributes}, to_apply=add
}}"
        )
    };
    for (attributes, has_channel, is_global) in [
        ("channel_id=1, mode=cross_replica", false, false),
        ("mode=cross_replica_and_partition", true, false),
        ("channel_id=1, mode=flattened_id", true, true),
    ] {
        let printed = text::print(&tree_of(&module(attributes)).expect("it is exported"));
        assert_eq!(printed.contains("channel_handle"), has_channel, "{attributes}: {printed}");
        assert_eq!(printed.contains("use_global_device_ids"), is_global, "{attributes}: {printed}");
    }
    let refused =
        tree_of(&module("channel_id=1, mode=cross_partition")).expect_err("StableHLO lacks the mode");
    assert!(refused[0].message.contains("mode cross_partition"), "{refused:?}");
}
