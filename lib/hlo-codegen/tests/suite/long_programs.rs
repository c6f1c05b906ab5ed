//! Long programs, and instructions with very many operands. They compute the interpreter's results. No
//! function passed to LLVM is long, because LLVM's compile time grows faster than the size of a function.

use super::programs::check;
use crate::module;
use hlo_codegen::{Stage, emit};
use std::fmt::Write;

/// Maximum number of lines of a function's LLVM IR.
const MAX_LINES: usize = 8_000;

/// Compares compiled code with the interpreter, and checks the size of the functions.
fn check_long(text: &str) {
    let ir = String::from_utf8(emit(module(text).as_ref(), Stage::Llvm, None, false).unwrap()).unwrap();
    for function in ir.split("\ndefine ").skip(1) {
        let lines = function.lines().take_while(|&l| l != "}").count();
        assert!(lines <= MAX_LINES, "{lines} lines: {}", function.lines().next().unwrap_or_default());
    }
    check(text);
}

/// Returns the items for `0..n`, joined by a separator.
fn each(n: usize, separator: &str, item: impl Fn(usize) -> String) -> String {
    (0..n).map(item).collect::<Vec<_>>().join(separator)
}

fn entry(lines: &str) -> String {
    format!("HloModule m\n\nENTRY e {{\n{lines}}}\n")
}

/// Returns `n` lines.
fn lines(n: usize, line: impl Fn(usize) -> String) -> String {
    each(n, "", |i| line(i) + "\n")
}

#[test]
fn many_parameters_and_results() {
    let n = 3_000;
    let mut text = lines(n, |i| format!("p{i} = f32[20] parameter({i})\nq{i} = f32[20] negate(p{i})"));
    let shape = each(n, ", ", |_| "f32[20]".into());
    let _ = writeln!(text, "ROOT t = ({shape}) tuple({})", each(n, ", ", |i| format!("q{i}")));
    check_long(&entry(&text));
}

#[test]
fn concatenations_of_many_operands() {
    let n = 400;
    // Along the second of three dimensions, of two types, with empty operands, in another layout, and as part
    // of a fusion.
    let text = format!(
        "{}{}j = f32[2,{sizes},3] concatenate({}), dimensions={{1}}\n\
         k = f32[2,{sizes},3]{{0,1,2}} concatenate({}), dimensions={{1}}\n\
         f = pred[{n},2] fusion({}), kind=kLoop, calls=f\n\
         ROOT t = (f32[2,{sizes},3], f32[2,{sizes},3]{{0,1,2}}, pred[{n},2]) tuple(j, k, f)\n",
        lines(n, |i| format!("p{i} = f32[2,{},3] parameter({i})", i % 4)),
        lines(n, |i| format!("b{i} = pred[1,2] parameter({})", n + i)),
        each(n, ", ", |i| format!("p{i}")),
        each(n, ", ", |i| format!("p{i}")),
        each(n, ", ", |i| format!("b{i}")),
        sizes = (0..n).map(|i| i % 4).sum::<usize>(),
    );
    let fused = format!(
        "f {{\n{}c = pred[{n},2] concatenate({}), dimensions={{0}}\nROOT n = pred[{n},2] not(c)\n}}\n",
        lines(n, |i| format!("x{i} = pred[1,2] parameter({i})")),
        each(n, ", ", |i| format!("x{i}")),
    );
    check_long(&entry(&text).replace("ENTRY", &format!("{fused}\nENTRY")));
}

#[test]
fn sorts_of_many_operands() {
    let n = 1_000;
    for (key, compared) in [(7, "x7, y7"), (n - 1, "y999, x999")] {
        let comparator = format!(
            "before {{\n{}ROOT r = pred[] compare({compared}), direction=LT\n}}\n",
            lines(n, |i| format!("x{i} = s32[] parameter({})\ny{i} = s32[] parameter({})", 2 * i, 2 * i + 1)),
        );
        // The sort calls a comparator that is not recognized as an order.
        let asked = comparator
            .replace("before", "asked")
            .replace(&format!("compare({compared})"), &format!("compare(s, y{key})"));
        let asked = asked
            .replace("ROOT", &format!("s = s32[] add(x{key}, one)\nROOT"))
            .replace("{\n", "{\none = s32[] constant(1)\n");
        let shape = each(n, ", ", |_| "s32[9]".into());
        let names = |x: &str| each(n, ", ", |i| format!("{x}{i}"));
        let text = format!(
            "{}s = ({shape}) sort({}), dimensions={{0}}, is_stable=true, to_apply=before\n{}\
             ROOT u = ({shape}) sort({}), dimensions={{0}}, is_stable=true, to_apply=asked\n",
            lines(n, |i| format!("p{i} = s32[9] parameter({i})")),
            names("p"),
            lines(n, |i| format!("g{i} = s32[9] get-tuple-element(s), index={i}")),
            names("g"),
        );
        check_long(&entry(&text).replace("ENTRY", &format!("{comparator}\n{asked}\nENTRY")));
    }
}

#[test]
fn kernels_of_many_operands() {
    for n in [40, 200, 600] {
        let sum = |p: &str| {
            lines(n - 1, |i| {
                let before = if i == 0 { format!("{p}0") } else { format!("sum{i}") };
                format!("sum{} = f32[7] add({before}, {p}{})", i + 1, i + 1)
            })
        };
        let fused = format!(
            "f {{\n{}{}ROOT r = f32[7] negate(sum{})\n}}\n",
            lines(n, |i| format!("x{i} = f32[7] parameter({i})")),
            sum("x"),
            n - 1
        );
        let text = format!(
            "{}ROOT f = f32[7] fusion({}), kind=kLoop, calls=f\n",
            lines(n, |i| format!("p{i} = f32[7] parameter({i})")),
            each(n, ", ", |i| format!("p{i}")),
        );
        check_long(&entry(&text).replace("ENTRY", &format!("{fused}\nENTRY")));
    }
}

#[test]
fn many_branches_and_loops_in_loops() {
    let branch = |n: usize, c: usize| {
        format!(
            "case{c} {{\nx0 = f32[30] parameter(0)\n{}ROOT r = f32[30] negate(x{n})\n}}\n",
            lines(n, |i| format!("x{} = f32[30] sine(x{i})", i + 1)),
        )
    };
    let state = "(s32[], f32[30])";
    let body = |n: usize, inner: &str| {
        format!(
            "b{n} {{\ns = {state} parameter(0)\ni = s32[] get-tuple-element(s), index=0\n\
             v = f32[30] get-tuple-element(s), index=1\none = s32[] constant(1)\nzero = s32[] constant(0)\n\
             j = s32[] add(i, one)\n{inner}ROOT t = {state} tuple(j, w)\n}}\n",
        )
    };
    let depth = 60;
    let nested = each(depth, "", |n| match n {
        0 => body(0, "w = f32[30] negate(v)\n"),
        n => body(
            n,
            &format!(
                "u = {state} tuple(zero, v)\nl = {state} while(u), condition=less, body=b{}\n\
                 w = f32[30] get-tuple-element(l), index=1\n",
                n - 1
            ),
        ),
    });
    let count = 90;
    let text = format!(
        "HloModule m\n\nless {{\ns = {state} parameter(0)\ni = s32[] get-tuple-element(s), index=0\n\
         n = s32[] constant(1)\nROOT c = pred[] compare(i, n), direction=LT\n}}\n{nested}{}\nENTRY e {{\n\
         x = f32[30] parameter(0)\ni = s32[] parameter(1)\nzero = s32[] constant(0)\n\
         c = f32[30] conditional(i, {}), branch_computations={{{}}}\nu = {state} tuple(zero, c)\n\
         ROOT l = {state} while(u), condition=less, body=b{}\n}}\n",
        each(count, "", |c| branch(20 + c % 3, c)),
        each(count, ", ", |_| "x".into()),
        each(count, ", ", |c| format!("case{c}")),
        depth - 1
    );
    check_long(&text);
}

/// Kernels of few elements are only inlined into the host function if calling them would take longer than
/// running them.
#[test]
fn long_kernels_of_few_elements_are_one_function() {
    let (n, sines) = (40, 32);
    let fused = |f: usize| {
        let body = lines(sines, |i| format!("x{} = f32[8] sine(x{i})", i + 1));
        format!("fused{f} {{\nx0 = f32[8] parameter(0)\n{body}ROOT r = f32[8] negate(x{sines})\n}}\n")
    };
    let text = format!(
        "v0 = f32[8] parameter(0)\n{}ROOT r = f32[8] negate(v{n})\n",
        lines(n, |i| format!("v{} = f32[8] fusion(v{i}), kind=kLoop, calls=fused{i}", i + 1)),
    );
    let text = entry(&text).replace("ENTRY", &format!("{}\nENTRY", each(n, "", fused)));
    let ir = String::from_utf8(emit(module(&text).as_ref(), Stage::Llvm, None, false).unwrap()).unwrap();
    assert!(ir.lines().count() < MAX_LINES, "{} lines", ir.lines().count());
    check(&text);
}
