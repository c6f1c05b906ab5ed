//! The time of simplification, and of the passes that use layouts, is proportional to the size of the module.
//! Four times as many instructions take about four times as long, whatever they are. With quadratic time,
//! they would take sixteen times as long.

use hlo_ir::{Module, Op};
use hlo_passes::Observer;
use std::fmt::Write;
use std::time::{Duration, Instant};

/// Does not verify modules, because that takes time too.
struct Quick;

impl Observer for Quick {
    fn verify_each(&self) -> bool {
        false
    }
}

fn parse(text: &str) -> Module {
    hlo_parser::parse_module(text).unwrap_or_else(|d| panic!("{}", d[0].message))
}

fn run(pipeline: &str, module: &mut Module) {
    crate::pipeline(pipeline).run(module, &mut Quick).unwrap();
}

/// Returns a module whose entry contains these lines.
fn module(lines: &str) -> Module {
    parse(&format!("HloModule m\n\nENTRY e {{\n{lines}}}\n"))
}

/// Returns a module with `n` lines, of which each may name the one before. The root is a tuple of all values
/// or the last value.
fn lines(n: usize, shape: &str, first: &str, line: impl Fn(usize) -> String, tuple: bool) -> Module {
    let mut text = format!("{first}\n");
    for i in 1..=n {
        let root = if !tuple && i == n { "ROOT " } else { "" };
        let _ = writeln!(text, "{root}x{i} = {}", line(i));
    }
    if tuple {
        let (shapes, names): (Vec<&str>, Vec<String>) = (1..=n).map(|i| (shape, format!("x{i}"))).unzip();
        let _ = writeln!(text, "ROOT t = ({}) tuple({})", shapes.join(", "), names.join(", "));
    }
    module(&text)
}

/// Returns modules of about `n` instructions, by name.
fn modules(n: usize) -> Vec<(&'static str, Module)> {
    let zero = "x0 = f32[8] parameter(0)\nz = f32[] constant(-0)\nzero = f32[8] broadcast(z), dimensions={}";
    let matrices = "x0 = f32[2,2] parameter(0)\nw = f32[2,2] parameter(1)";
    let dims = "lhs_contracting_dims={1}, rhs_contracting_dims={0}";
    let sizes: Vec<String> = (0..n / 2).map(|_| "f32[]".into()).collect();
    let parts = format!("x0 = ({}) parameter(0)", sizes.join(", "));
    let ones: Vec<String> = (0..n / 2).map(|i| format!("p{i} = f32[1] parameter({i})")).collect();
    let names: Vec<String> = (0..n / 2).map(|i| format!("p{i}")).collect();
    let joined = format!(
        "{}\nx0 = f32[{}] concatenate({}), dimensions={{0}}",
        ones.join("\n"),
        n / 2,
        names.join(", ")
    );
    let before = |i: usize| format!("x{}", i - 1);
    vec![
        (
            "a chain of sums with zero",
            lines(n, "", zero, |i| format!("f32[8] add({}, zero)", before(i)), false),
        ),
        ("sums of one value with zero", lines(n, "f32[8]", zero, |_| "f32[8] add(x0, zero)".into(), true)),
        ("equal constants", lines(n, "f32[]", "", |_| "f32[] constant(7)".into(), true)),
        (
            "unused values",
            lines(
                n,
                "",
                zero,
                |i| if i < n { "f32[8] tanh(x0)".into() } else { "f32[8] abs(x0)".into() },
                false,
            ),
        ),
        (
            "a chain of reshapes",
            lines(
                n,
                "",
                "x0 = f32[6] parameter(0)",
                |i| format!("f32[{}] reshape({})", if i % 2 == 0 { "6" } else { "2,3" }, before(i)),
                false,
            ),
        ),
        (
            "a chain of concatenations",
            lines(
                n,
                "",
                "x0 = f32[1] parameter(0)",
                |i| format!("f32[{}] concatenate({}, x0), dimensions={{0}}", i + 1, before(i)),
                false,
            ),
        ),
        (
            "slices of a long concatenation",
            lines(n / 2, "f32[1]", &joined, |i| format!("f32[1] slice(x0), slice={{[{}:{i}]}}", i - 1), true),
        ),
        (
            "a chain of dots",
            lines(n, "", matrices, |i| format!("f32[2,2] dot({}, w), {dims}", before(i)), false),
        ),
        (
            "dots that share an operand",
            lines(
                n,
                "f32[2,2]",
                matrices,
                |i| format!("f32[2,2] dot(w, {}), {dims}", if i % 2 == 0 { "x0" } else { "w" }),
                true,
            ),
        ),
        (
            "elements of a long tuple",
            lines(n / 2, "f32[]", &parts, |i| format!("f32[] get-tuple-element(x0), index={}", i - 1), true),
        ),
    ]
}

/// Returns modules of about `n` instructions in which different layouts meet, by name.
fn laid_out(n: usize) -> Vec<(&'static str, Module)> {
    let before = |i: usize| format!("x{}", i - 1);
    let both = "x0 = f32[4,8]{0,1} parameter(0)\ny = f32[4,8] parameter(1)";
    let of = |shape: &str, count: usize| format!("({})", vec![shape; count].join(", "));
    let parts = format!("x0 = {} parameter(0)", of("f32[4,8]{0,1}", n / 2));
    let custom = |i: usize| {
        let order = if i.is_multiple_of(2) { "{0,1}" } else { "{1,0}" };
        format!("f32[4,8]{order} custom-call({}), custom_call_target=\"f\"", before(i))
    };
    let state = of("f32[4,8]", n / 3);
    let names = |name: &dyn Fn(usize) -> String| (0..n / 3).map(name).collect::<Vec<_>>().join(", ");
    let mut body = format!("body {{\np = {state} parameter(0)\n");
    for i in 0..n / 3 {
        let _ =
            writeln!(body, "g{i} = f32[4,8] get-tuple-element(p), index={i}\nn{i} = f32[4,8] negate(g{i})");
    }
    let shifted = names(&|i| format!("n{}", (i + 1) % (n / 3)));
    let inputs = names(&|i| if i % 2 == 0 { "x0".into() } else { "y".into() });
    let looped = format!(
        "HloModule m\n\n{body}ROOT t = {state} tuple({shifted})\n}}\n\n\
         condition {{\ns = {state} parameter(0)\nROOT c = pred[] constant(false)\n}}\n\n\
         ENTRY e {{\n{both}\ni = {state} tuple({inputs})\n\
         ROOT w = {state} while(i), condition=condition, body=body\n}}\n"
    );
    let mut parameters = String::new();
    for i in 0..n {
        let _ = writeln!(parameters, "p{i} = f32[4,8]{{0,1}} parameter({i})");
    }
    let all = (0..n).map(|i| format!("p{i}")).collect::<Vec<_>>().join(", ");
    let _ = writeln!(parameters, "ROOT t = {} tuple({all})", of("f32[4,8]", n));
    vec![
        (
            "a chain in one of two orders",
            lines(n, "", both, |i| format!("f32[4,8] add({}, y)", before(i)), false),
        ),
        ("one value in two orders", lines(n, "f32[4,8]", both, |_| "f32[4,8] add(x0, y)".into(), true)),
        ("a chain of contracts", lines(n, "", both, custom, false)),
        (
            "a chain of transposes",
            lines(
                n,
                "",
                both,
                |i| {
                    let shape = if i % 2 == 0 { "f32[4,8]" } else { "f32[8,4]" };
                    format!("{shape} transpose({}), dimensions={{1,0}}", before(i))
                },
                false,
            ),
        ),
        (
            "elements in another order",
            lines(
                n / 2,
                "f32[4,8]",
                &parts,
                |i| format!("f32[4,8] get-tuple-element(x0), index={}", i - 1),
                true,
            ),
        ),
        ("a wide loop", parse(&looped)),
        ("many parameters in one tuple", module(&parameters)),
    ]
}

fn time(pipeline: &str, module: &Module) -> Duration {
    let mut module = module.clone();
    let start = Instant::now();
    run(pipeline, &mut module);
    start.elapsed()
}

/// Asserts that passes take about four times as long for four times as many instructions.
fn assert_linear(passes: &[&str], modules: &dyn Fn(usize) -> Vec<(&'static str, Module)>) {
    /// Number of instructions of the smaller modules.
    const SIZE: usize = 3000;
    /// Maximum ratio of the times. `TIME_ALLOWANCE` is added, because a machine may be busy.
    const MAX_TIME_RATIO: u32 = 9;
    const TIME_ALLOWANCE: Duration = Duration::from_secs(3);
    for ((name, small), (_, large)) in modules(SIZE).into_iter().zip(modules(4 * SIZE)) {
        for pass in passes {
            let (short, long) = (time(pass, &small), time(pass, &large));
            assert!(
                long < short * MAX_TIME_RATIO + TIME_ALLOWANCE,
                "{pass} on {name}: {short:?}, then {long:?}"
            );
        }
    }
}

/// Returns a loop with about `n` instructions that are counters, each with its own step.
fn counters(n: usize) -> Vec<(&'static str, Module)> {
    let n = n / 5;
    let state = format!("({})", vec!["s32[]"; n].join(", "));
    let mut body = String::new();
    for i in 0..n {
        let _ = writeln!(
            body,
            "g{i} = s32[] get-tuple-element(p), index={i}\nk{i} = s32[] constant({})\nn{i} = s32[] add(g{i}, k{i})",
            i + 1
        );
    }
    let names = |name: &str| (0..n).map(|i| format!("{name}{i}")).collect::<Vec<_>>().join(", ");
    let mut entry = String::new();
    for i in 0..n {
        let _ = writeln!(entry, "z{i} = s32[] constant({})", i % 7);
    }
    let text = format!(
        "HloModule m\n\nbody {{\np = {state} parameter(0)\n{body}ROOT t = {state} tuple({})\n}}\n\n\
         condition {{\ns = {state} parameter(0)\ni = s32[] get-tuple-element(s), index=0\n\
         l = s32[] constant(1000)\nROOT c = pred[] compare(i, l), direction=LT\n}}\n\n\
         ENTRY e {{\n{entry}i = {state} tuple({})\n\
         ROOT w = {state} while(i), condition=condition, body=body\n}}\n",
        names("n"),
        names("z")
    );
    vec![("a loop of counters", parse(&text))]
}

#[test]
fn counters_are_merged_in_linear_time() {
    assert_linear(&["simplify-while-loops"], &counters);
}

#[test]
fn simplification_is_linear() {
    assert_linear(&["simplification", "dot-merger", "tuple-simplifier", "convert-mover"], &modules);
}

/// Returns `n` conditionals whose values are operands of one tuple.
fn conditionals(n: usize) -> Vec<(&'static str, Module)> {
    let mut text = String::from(
        "HloModule m\n\nsame {\nROOT s = f32[] parameter(0)\n}\n\nother {\no = f32[] parameter(0)\n\
         ROOT r = f32[] negate(o)\n}\n\nENTRY e {\np = pred[] parameter(0)\nx = f32[] parameter(1)\n",
    );
    let branches = "true_computation=same, false_computation=other";
    for i in 0..n {
        let _ = writeln!(text, "y{i} = f32[] conditional(p, x, x), {branches}");
    }
    let all = (0..n).map(|i| format!("y{i}")).collect::<Vec<_>>().join(", ");
    let _ = writeln!(text, "ROOT t = ({}) tuple({all})\n}}", vec!["f32[]"; n].join(", "));
    vec![("conditionals in one tuple", parse(&text))]
}

#[test]
fn conditionals_are_canonicalized_in_linear_time() {
    // With this many, scanning the operands repeatedly would dominate the time.
    assert_linear(&["conditional-canonicalizer"], &|n| conditionals(10 * n));
}

#[test]
fn layout_passes_are_linear() {
    assert_linear(&["layout-assignment", "layout-normalization", "copy-insertion"], &laid_out);
}

/// Dots at the end of a long module are merged without searching everything before them.
#[test]
fn dots_are_merged_wherever_they_are() {
    let mut text =
        String::from("x0 = f32[2,2] parameter(0)\na = f32[2,2] parameter(1)\nb = f32[2,2] parameter(2)\n");
    for i in 1..3000 {
        let _ = writeln!(text, "x{i} = f32[2,2] add(x{}, x{})", i - 1, i / 2);
    }
    for (name, by) in [("p", "a"), ("q", "b")] {
        let dims = "lhs_contracting_dims={1}, rhs_contracting_dims={0}";
        let _ = writeln!(text, "{name} = f32[2,2] dot(x2999, {by}), {dims}");
    }
    text.push_str("ROOT t = (f32[2,2], f32[2,2]) tuple(p, q)\n");
    let mut module = module(&text);
    run("dot-merger", &mut module);
    let entry = &module[module.entry()];
    assert_eq!(entry.instructions().iter().filter(|&&i| matches!(module[i].op, Op::Dot(_))).count(), 1);
}

/// Returns `n` functions of scalars, each of which maps the previous one `times` times, and a map of the
/// last.
fn nested_maps(n: usize, times: usize) -> Module {
    let mut text =
        String::from("HloModule m\n\nlevel0 {\nx = f32[] parameter(0)\nROOT y = f32[] add(x, x)\n}\n\n");
    for i in 1..n {
        let _ = writeln!(text, "level{i} {{\nv0 = f32[] parameter(0)");
        for t in 1..=times {
            let _ = writeln!(text, "v{t} = f32[] map(v{}), dimensions={{}}, to_apply=level{}", t - 1, i - 1);
        }
        let _ = writeln!(text, "ROOT y = f32[] sine(v{times})\n}}\n");
    }
    let last = n - 1;
    let _ = writeln!(text, "ENTRY e {{\nx = f32[8] parameter(0)\n");
    let _ = writeln!(text, "ROOT m = f32[8] map(x), dimensions={{0}}, to_apply=level{last}\n}}");
    parse(&text)
}

#[test]
fn nested_maps_are_copied_once() {
    let n = 1000;
    let mut module = nested_maps(n, 1);
    run("map-inline, dce", &mut module);
    let left = module[module.entry()].instructions();
    assert_eq!(left.iter().filter(|&&i| matches!(module[i].op, Op::Sine)).count(), n - 1);
    assert_eq!(module.computations().count(), 1);
    run("cpu", &mut module);
    // The capacity counts all instructions that were ever added.
    assert!(module.instruction_capacity() < 20 * n, "{}", module.instruction_capacity());
}

#[test]
fn maps_that_share_functions_are_not_copied_for_each_path() {
    for pipeline in ["map-inline", "cpu"] {
        let mut module = nested_maps(40, 2);
        run(pipeline, &mut module);
        assert!(module.instruction_capacity() < 1_000_000, "{}", module.instruction_capacity());
    }
}
