//! The pipeline language: what it accepts, how it prints, and which part of a text an error marks.

use hlo_ir::diag::Diag;
use hlo_passes::Pipeline;

fn error(text: &str) -> Diag {
    match Pipeline::parse(text) {
        Ok(_) => panic!("{text} should be refused"),
        Err(d) => d,
    }
}

/// Returns the part of the text that the error marks.
fn marked(text: &str) -> String {
    error(text).labels.iter().map(|l| text[l.span.range()].to_owned()).collect()
}

#[test]
fn reads_names_options_and_fix() {
    let p = Pipeline::parse(" algsimp, constant_folding{max-elements=64} ,fix{limit=10}(cse,dce)").unwrap();
    assert_eq!(p.pass_names(), ["algsimp", "constant_folding", "cse", "dce"]);
    assert_eq!(p.to_string().lines().nth(2), Some("fix{limit=10}("));
    assert!(Pipeline::parse("").unwrap().to_string().is_empty());
    assert!(Pipeline::parse("dce{}").is_ok());
}

#[test]
fn an_unknown_pass_is_marked_and_the_nearest_is_proposed() {
    assert_eq!(marked("dce,agsimp"), "agsimp");
    assert!(error("dce,agsimp").notes[0].contains("`algsimp`"));
    assert!(error("simplificatoin").notes[0].contains("`simplification`"));
    assert!(!error("zzzzzzzzzzzz").notes[0].contains("did you mean"));
    assert!(!error("foo").notes[0].contains("did you mean"));
    assert!(error("cse,HloDCE").notes[0].contains("did you mean `dce`"));
    assert!(error("builtin.module(cse,dce)").notes[0].contains("only `fix(…)`"));
}

#[test]
fn all_unknown_passes_are_marked() {
    let text = "agsimp,dce,fix{limit=2}(cse,dcee),foo";
    let error = error(text);
    let marked: Vec<&str> = error.labels.iter().map(|l| &text[l.span.range()]).collect();
    assert_eq!(marked, ["agsimp", "dcee", "foo"]);
    assert_eq!(error.labels.iter().filter(|l| l.primary).count(), 1);
    assert!(error.notes.iter().any(|n| n.contains("`dce`")), "{:?}", error.notes);
}

#[test]
fn names_that_are_spelt_alike_are_read_with_a_note() {
    let p = Pipeline::parse("constant-folding{max-elements=3},Expand_All,dce").unwrap();
    assert_eq!(p.pass_names().first(), Some(&"constant_folding"));
    assert_eq!(p.pass_names().last(), Some(&"dce"));
    let notes: Vec<String> = p.notes().collect();
    assert_eq!(
        notes,
        ["`constant-folding` is read as `constant_folding`", "`Expand_All` is read as `expand-all`"]
    );
    assert_eq!(Pipeline::parse("cpu").unwrap().notes().count(), 0);
}

#[test]
fn comments_and_line_breaks() {
    let text = "# first\nalgsimp // then\ndce,\n\nfix # until\n{limit=2} (\n  cse\n  dce # out\n) # end";
    let p = Pipeline::parse(text).unwrap();
    assert_eq!(p.pass_names(), ["algsimp", "dce", "cse", "dce"]);
    assert!(Pipeline::parse("# nothing").unwrap().to_string().is_empty());
    assert_eq!(marked("# dse\nalgsimp\ndse # dse\n"), "dse");
    assert_eq!(marked("algsimp dce"), "dce");
}

#[test]
fn a_pipeline_prints_in_full_and_reads_back() {
    let text = "fix{limit=3}(constant-folding,simplification),cse";
    let printed = Pipeline::parse(text).unwrap().to_string();
    assert!(printed.starts_with("fix{limit=3}(\n  constant_folding{max-elements="), "{printed}");
    assert!(printed.contains("\n  # simplification: "), "{printed}");
    assert!(printed.ends_with("\n),\ncse\n"), "{printed}");
    for text in [text, "cpu", "cpu,dce", "fix(cpu),fix(fix(dce))", "", "simplification\nexpand-all"] {
        let first = Pipeline::parse(text).unwrap();
        let printed = first.to_string();
        let again = Pipeline::parse(&printed).unwrap_or_else(|d| panic!("{printed}\n{d:?}"));
        assert_eq!(first.pass_names(), again.pass_names());
        // The comments with the names of pipelines are lost. The rest is equal.
        let strip = |text: String| {
            let lines = text.lines().map(str::trim).filter(|l| !l.starts_with('#'));
            lines.collect::<Vec<_>>().join("\n")
        };
        assert_eq!(strip(printed), strip(again.to_string()));
    }
}

#[test]
fn pipelines_of_strangers_are_bounded() {
    let refused = |text: &str| Pipeline::parse_bounded(text).err().map(|d| d.message).unwrap_or_default();
    for text in ["", "cpu", "expand-all,cpu", "fix{limit=1024}(dce)", "constant_folding{max-elements=4096}"] {
        assert_eq!(refused(text), "");
    }
    assert_eq!(
        refused("dce,fix(fix{limit=1000000000}(fusion,defuser))"),
        "expected at most 1024 for `limit` of `fix`, found 1000000000"
    );
    assert_eq!(
        refused("constant_folding{max-operations=1000001}"),
        "expected at most 1000000 for `max-operations` of `constant_folding`, found 1000001"
    );
    assert_eq!(refused(&"dce,".repeat(2049)), "expected a pipeline of at most 8192 bytes, found 8196");
    assert_eq!(refused("@file"), Pipeline::parse("@file").err().unwrap().message);
}

#[test]
fn options_are_checked() {
    assert_eq!(marked("constant_folding{max-element=3}"), "max-element");
    assert!(error("constant_folding{max-element=3}").notes[0].contains("`max-elements`"));
    assert_eq!(marked("constant_folding{max-elements=three}"), "three");
    assert_eq!(marked("constant_folding{max-elements=-1}"), "-1");
    assert_eq!(marked("dce{fast}"), "fast");
    assert_eq!(error("fix{limit=1,limit=2}(dce)").code, Some(hlo_ir::diag::Code::new("E2004")));
    assert_eq!(marked("dce,fix{ limit=0 }(cse)"), "{ limit=0 }");
    assert_eq!(marked("cpu{fast}"), "fast");
}

#[test]
fn broken_syntax_is_marked() {
    assert_eq!(marked("dce,,cse"), ",");
    assert_eq!(marked("dce)"), ")");
    assert_eq!(marked("dce,"), "");
    assert_eq!(marked("fix{limit=2}"), "");
    assert_eq!(marked("fix(dce"), "fix(");
    assert_eq!(marked("constant_folding{max-elements}"), "max-elements");
    assert_eq!(marked("constant_folding{max-elements=}"), "}");
    assert_eq!(marked("dce{"), "");
    // Deep nesting produces one diagnostic, with or without the closing parentheses.
    let open = "fix(".repeat(100_000);
    for text in [open.clone(), format!("{open}dce{}", ")".repeat(100_000))] {
        assert_eq!(error(&text).code, Some(hlo_ir::diag::Code::new("E2001")));
    }
}
