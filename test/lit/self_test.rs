//! Tests of the test runner: invalid tests must fail, and FileCheck's features must behave as in LLVM.

use crate::{check, directive, run_line};
use libtest_mimic::Trial;
use std::path::Path;

/// (name, directives, output, whether the output matches)
type Case = (&'static str, &'static str, &'static str, bool);

/// Directives with an output that does or does not match.
const CASES: &[Case] = &[
    ("plain", "// CHECK: b", "a\nb\n", true),
    ("plain-missing", "// CHECK: c", "a\nb\n", false),
    ("plain-in-order", "// CHECK: b\n// CHECK: a", "a\nb\n", false),
    ("part-of-a-word", "// CHECK: add", "xaddy\n", true),
    ("spaces", "// CHECK: a b", "a  \t b\n", true),
    ("dollar", "// CHECK: $x = $1", "a $x = $1\n", true),
    ("next", "// CHECK: a\n// CHECK-NEXT: b", "a\nb\n", true),
    ("next-too-late", "// CHECK: a\n// CHECK-NEXT: b", "a\nc\nb\n", false),
    ("next-first", "// CHECK-NEXT: a", "a\n", false),
    ("same", "// CHECK: a\n// CHECK-SAME: b", "a b\n", true),
    ("same-on-next-line", "// CHECK: a\n// CHECK-SAME: b", "a\nb\n", false),
    ("not", "// CHECK: a\n// CHECK-NOT: x\n// CHECK: b", "x\na\nb\nx\n", true),
    ("not-between", "// CHECK: a\n// CHECK-NOT: x\n// CHECK: b", "a\nx\nb\n", false),
    ("not-to-the-end", "// CHECK: a\n// CHECK-NOT: x", "a\nb\nx\n", false),
    ("dag", "// CHECK-DAG: a\n// CHECK-DAG: b\n// CHECK: c", "b\na\nc\n", true),
    ("dag-missing", "// CHECK-DAG: a\n// CHECK-DAG: b\n// CHECK: c", "a\nc\nb\n", false),
    ("dag-twice", "// CHECK-DAG: a\n// CHECK-DAG: a", "a\n", false),
    ("label", "// CHECK-LABEL: one\n// CHECK: x\n// CHECK-LABEL: two\n// CHECK: y", "one\nx\ntwo\ny\n", true),
    ("label-bounds", "// CHECK-LABEL: one\n// CHECK: x\n// CHECK-LABEL: two", "one\ntwo\nx\n", false),
    ("label-next", "// CHECK-LABEL: one\n// CHECK-NEXT: x", "one {\n x\n", true),
    ("count", "// CHECK-COUNT-2: a\n// CHECK-NOT: a", "a\na\n", true),
    ("count-too-few", "// CHECK-COUNT-3: a", "a\na\n", false),
    ("empty", "// CHECK: a\n// CHECK-EMPTY:\n// CHECK-NEXT: b", "a\n\nb\n", true),
    ("empty-line-with-text", "// CHECK: a\n// CHECK-EMPTY:", "a\nb\n\n", false),
    ("regex", "// CHECK: x{{[0-9]+}}y", "x12y\n", true),
    ("regex-braces", "// CHECK: {{(a{2})}}b", "aab\n", true),
    ("regex-plain-brace", "// CHECK: x {{{[a-z]+,}} y", "x {ab, y\n", true),
    ("regex-braces-ambiguous", "// CHECK: {{a{2}}}b", "aab\n", false),
    ("regex-not-over-lines", "// CHECK: a{{[^x]*}}b", "a\nb\n", false),
    ("regex-dollar", "// CHECK: a{{$}}", "a\nb\n", true),
    ("variable", "// CHECK: [[V:[a-z]+]] = 1\n// CHECK: use [[V]]{{$}}", "foo = 1\nuse foo\n", true),
    ("variable-differs", "// CHECK: [[V:[a-z]+]] = 1\n// CHECK: use [[V]]{{$}}", "foo = 1\nuse fo\n", false),
    (
        "variable-over-label",
        "// CHECK: [[V:[a-z]+]] = 1\n// CHECK-LABEL: main\n// CHECK: use [[V]]",
        "foo = 1\nmain\nuse foo\n",
        true,
    ),
    ("literal", "// CHECK{LITERAL}: {{0,1},{2,3}} [[x]]", "g={{0,1},{2,3}} [[x]]\n", true),
    ("literal-not-regex", "// CHECK{LITERAL}: a.c", "abc\n", false),
    ("regex-invalid", "// CHECK: {{0,1},{2,3}}", "{{0,1},{2,3}}\n", false),
];

/// Whole test files that must fail, with a part of the message.
const BAD_FILES: &[(&str, &str, &str)] = &[
    ("no-run-line", "// CHECK: a", "no RUN line"),
    ("no-check-line", "// RUN: hlo-opt --help | FileCheck %s", "has no CHECK line"),
    (
        "no-check-with-the-prefix",
        "// RUN: hlo-opt --help | FileCheck %s --check-prefix=A\n// CHECK: a",
        "no directive",
    ),
    ("nothing-checked", "// RUN: hlo-opt --help", "checks anything"),
    (
        "typo-in-prefix",
        "// RUN: hlo-opt --help | FileCheck %s\n// CHECK: a\n// CHEKC: b",
        "`CHEKC` is no directive",
    ),
    (
        "typo-in-suffix",
        "// RUN: hlo-opt --help | FileCheck %s\n// CHECK-LABLE: a",
        "`CHECK-LABLE` is no directive",
    ),
    (
        "lower-case",
        "// RUN: hlo-opt --help | FileCheck %s\n// CHECK: a\n// check: b",
        "`check` is no directive",
    ),
    ("count-without-number", "// RUN: hlo-opt --help | FileCheck %s\n// CHECK-COUNT: a", "no directive"),
    (
        "unused-prefix",
        "// RUN: hlo-opt --help | FileCheck %s\n// CHECK: a\n// OTHER: b",
        "`OTHER` is no directive",
    ),
    (
        "not-at-line-start",
        "// RUN: hlo-opt --help | FileCheck %s\n// CHECK: a\n// so CHECK: b",
        "must open the line",
    ),
    ("empty-pattern", "// RUN: hlo-opt --help | FileCheck %s\n// CHECK:", "empty pattern"),
    ("unknown-command", "// RUN: rm %s | FileCheck %s\n// CHECK: a", "unknown command `rm`"),
    ("unknown-substitution", "// RUN: hlo-opt %q | FileCheck %s\n// CHECK: a", "unknown substitution `%q`"),
    ("redirection", "// RUN: hlo-opt --help > %t | FileCheck %s\n// CHECK: a", "not understood"),
    ("shell", "// RUN: hlo-opt --help && hlo-opt | FileCheck %s\n// CHECK: a", "not understood"),
    ("filecheck-option", "// RUN: hlo-opt --help | FileCheck %s --strict\n// CHECK: a", "not understood"),
    ("filecheck-not-last", "// RUN: hlo-opt --help | FileCheck %s | hlo-opt\n// CHECK: a", "come last"),
    (
        "requires-unknown",
        "// RUN: hlo-opt --help | FileCheck %s\n// CHECK: a\n// REQUIRES: gpu",
        "only `codegen`",
    ),
    ("tool-fails", "// RUN: hlo-opt --no-such-option | FileCheck %s\n// CHECK: a", "it ended with"),
    ("tool-should-fail", "// RUN: not hlo-opt --help | FileCheck %s\n// CHECK: a", "should have failed"),
    ("no-match", "// RUN: hlo-opt --help | FileCheck %s\n// CHECK: no such words", "does not match"),
];

/// Returns all trials.
pub fn trials() -> Vec<Trial> {
    let cases = CASES
        .iter()
        .map(|case| Trial::test(format!("lit/check/{}", case.0), move || run_case(case).map_err(Into::into)));
    let bad = BAD_FILES.iter().map(|(name, text, message)| {
        Trial::test(format!("lit/bad/{name}"), move || run_bad(name, text, message).map_err(Into::into))
    });
    cases.chain(bad).collect()
}

fn run_case(&(name, text, output, matches): &Case) -> Result<(), String> {
    let prefixes = ["CHECK".to_string()];
    directive::refuse_unknown(text, &prefixes)?;
    let ours = check::check(&directive::checks(text, &prefixes)?, output);
    if ours.is_ok() != matches {
        return Err(format!("{}: {ours:?}", if matches { "should match" } else { "should not match" }));
    }
    // LLVM's FileCheck must agree, or be absent where that is permitted.
    let file = crate::work_folder(&format!("check-{name}"))?.join("case.hlo");
    std::fs::write(&file, text).map_err(|e| e.to_string())?;
    match run_line::llvm_agrees(&file, &prefixes, false, output, ours) {
        Err(e) if e.starts_with("LLVM's FileCheck") || e.contains("is required") => Err(e),
        _ => Ok(()),
    }
}

fn run_bad(name: &str, text: &str, message: &str) -> Result<(), String> {
    let folder = crate::work_folder(&format!("bad-{name}"))?;
    let file = folder.join("bad.hlo");
    std::fs::write(&file, text).map_err(|e| e.to_string())?;
    match run_line::run_test(Path::new(&file), &folder) {
        Ok(()) => Err("the file should fail".to_string()),
        Err(e) if e.contains(message) => Ok(()),
        Err(e) => Err(format!("another message than `{message}`:\n{e}")),
    }
}
