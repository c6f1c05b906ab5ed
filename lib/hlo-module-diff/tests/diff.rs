//! Tests the matching of modules and the reported differences.

use hlo_ir::Module;
use hlo_module_diff::{Change, Counts, Ignore, Kind, ModuleDiff, diff};
use std::fmt::Write as _;

fn parse(text: &str) -> Module {
    hlo_parser::parse(text).unwrap_or_else(|d| panic!("{d:?}\n{text}")).module
}

fn of(left: &str, right: &str, ignore: Ignore) -> (Module, Module, ModuleDiff) {
    let (left, right) = (parse(left), parse(right));
    let diff = diff(&left, &right, ignore);
    (left, right, diff)
}

fn counts(left: &str, right: &str) -> Counts {
    of(left, right, Ignore::default()).2.counts()
}

const A: &str = "HloModule m

sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

ENTRY e {
  x = f32[4,8] parameter(0)
  y = f32[4,8] parameter(1)
  zero = f32[] constant(0)
  p = f32[4,8] multiply(x, y)
  t = f32[4,8] tanh(p)
  q = f32[4,8] add(t, x)
  ROOT r = f32[4] reduce(q, zero), dimensions={1}, to_apply=sum
}
";

#[test]
fn a_module_is_the_same_as_itself() {
    let (_, _, diff) = of(A, A, Ignore::default());
    assert!(diff.is_same());
    assert_eq!(diff.counts(), Counts { same: 10, ..Counts::default() });
}

#[test]
fn names_and_order_are_no_more_than_names() {
    let mut renamed = A.replace("HloModule m", "HloModule other");
    for (from, to) in
        [("x", "in.0"), ("y", "in.1"), ("p", "product.7"), ("t", "t.9"), ("q", "x"), ("sum", "region_0")]
    {
        renamed = renamed.replace(&format!("  {from} ="), &format!("  {to} ="));
        for (before, after) in [("(", ")"), ("(", ","), (" ", ")"), ("=", "\n")] {
            renamed = renamed.replace(&format!("{before}{from}{after}"), &format!("{before}{to}{after}"));
        }
    }
    let renamed = renamed.replace("sum {", "region_0 {");
    let (_, _, diff) = of(A, &renamed, Ignore { names: true, ..Ignore::default() });
    assert!(diff.is_same(), "{renamed}\n{diff:#?}");
    let (_, _, diff) = of(A, &renamed, Ignore::default());
    let counts = diff.counts();
    assert_eq!((counts.added, counts.removed, counts.changed, counts.renamed), (0, 0, 0, 5), "{renamed}");
    assert!(diff.header.iter().any(|c| matches!(c, Change::Name { .. })));
}

#[test]
fn an_instruction_in_between_is_one_addition_and_one_operand() {
    let right = A.replace("  q = f32[4,8] add(t, x)", "  n = f32[4,8] negate(t)\n  q = f32[4,8] add(n, x)");
    let (_, right, diff) = of(A, &right, Ignore::default());
    assert_eq!(diff.counts(), Counts { same: 9, added: 1, changed: 1, ..Counts::default() });
    let entry = &diff.computations[0];
    let added = entry.instructions.iter().find(|i| i.kind() == Kind::Added).unwrap();
    assert_eq!(&*right[added.right.unwrap()].name, "n");
    let changed = entry.instructions.iter().find(|i| i.kind() == Kind::Changed).unwrap();
    let operand = Change::Operand { index: 0, left: Some("t".into()), right: Some("n".into()) };
    assert_eq!(changed.changes, [operand]);
    assert_eq!(counts(&hlo_ir::print::print_module(&right, &Default::default()), A).removed, 1);
}

#[test]
fn another_opcode_in_the_same_place_is_a_change() {
    let (_, _, diff) = of(A, &A.replace("tanh(p)", "negate(p)"), Ignore::default());
    assert_eq!(diff.counts(), Counts { same: 9, changed: 1, ..Counts::default() });
    let changed = diff.computations[0].instructions.iter().find(|i| i.kind() == Kind::Changed).unwrap();
    assert_eq!(changed.changes, [Change::Opcode { left: "tanh", right: "negate" }]);
}

#[test]
fn shapes_layouts_and_attributes_are_told_apart() {
    let wide = A.replace("[4,8]", "[4,16]");
    let (_, _, diff) = of(A, &wide, Ignore::default());
    assert_eq!(diff.counts(), Counts { same: 5, changed: 5, ..Counts::default() });
    assert!(of(A, &wide, Ignore { shape: true, ..Ignore::default() }).2.is_same());
    let column = A.replace("x = f32[4,8] par", "x = f32[4,8]{0,1} par");
    let (_, _, diff) = of(A, &column, Ignore::default());
    let entry = &diff.computations[0];
    let x = entry.instructions.iter().find(|i| i.kind() == Kind::Changed).unwrap();
    assert!(matches!(x.changes.as_slice(), [Change::Layout { .. }]), "{x:?}");
    assert!(of(A, &column, Ignore { layout: true, ..Ignore::default() }).2.is_same());
    let rows = A.replace("f32[4] reduce(q, zero), dimensions={1}", "f32[8] reduce(q, zero), dimensions={0}");
    let (_, _, diff) = of(A, &rows, Ignore::default());
    let r = diff.computations[0].instructions.iter().find(|i| i.kind() == Kind::Changed).unwrap();
    let [Change::Shape { .. }, Change::Attribute { name, left, right }] = r.changes.as_slice() else {
        panic!("{r:?}")
    };
    assert_eq!((*name, left.as_str(), right.as_str()), ("dimensions", "{1}", "{0}"));
}

#[test]
fn what_is_ignored_makes_no_difference() {
    let with = |attribute: &str| A.replace("tanh(p)", &format!("tanh(p), {attribute}"));
    let ignore = Ignore {
        metadata: true,
        backend_config: true,
        sharding: true,
        frontend_attributes: true,
        ..Ignore::default()
    };
    for attribute in [
        "metadata={op_name=\"x\"}",
        "backend_config={\"a\":1}",
        "sharding={replicated}",
        "frontend_attributes={a=\"b\"}",
    ] {
        assert_eq!(counts(A, &with(attribute)).changed, 1, "{attribute}");
        assert!(of(A, &with(attribute), ignore).2.is_same(), "{attribute}");
    }
}

#[test]
fn a_change_inside_of_what_is_called_is_there() {
    let (_, _, diff) = of(A, &A.replace("add(a, b)", "maximum(a, b)"), Ignore::default());
    assert_eq!(diff.counts(), Counts { same: 9, changed: 1, ..Counts::default() });
    assert!(diff.computations[0].is_same() && !diff.computations[1].is_same());
}

#[test]
fn computations_come_and_go() {
    let called = A
        .replace("tanh(p)", "call(p), to_apply=f")
        .replace("ENTRY", "f {\n  z = f32[4,8] parameter(0)\n  ROOT w = f32[4,8] tanh(z)\n}\n\nENTRY");
    let (left, right, diff) = of(A, &called, Ignore::default());
    assert_eq!(diff.counts(), Counts { same: 9, changed: 1, added: 2, ..Counts::default() });
    let added = diff.computations.iter().find(|c| c.left.is_none()).unwrap();
    assert_eq!(&*right[added.right.unwrap()].name, "f");
    let back = hlo_module_diff::diff(&right, &left, Ignore::default());
    assert_eq!(back.counts(), Counts { same: 9, changed: 1, removed: 2, ..Counts::default() });
}

#[test]
fn a_schedule_has_an_order() {
    let scheduled = |body: &str| {
        format!(
            "HloModule m, is_scheduled=true\n\nENTRY e {{\n  x = f32[] parameter(0)\n{body}  ROOT r = f32[] add(a, b)\n}}\n"
        )
    };
    let (a, b) = ("  a = f32[] negate(x)\n", "  b = f32[] tanh(x)\n");
    let (_, _, diff) = of(&scheduled(&format!("{a}{b}")), &scheduled(&format!("{b}{a}")), Ignore::default());
    let moved: Vec<_> = diff.computations[0].instructions.iter().filter(|i| !i.changes.is_empty()).collect();
    assert_eq!(moved.len(), 1);
    assert_eq!((moved[0].changes.as_slice(), moved[0].kind()), ([Change::Moved].as_slice(), Kind::Renamed));
    // Without a schedule, the order has no meaning.
    let free = |body: &str| scheduled(body).replace(", is_scheduled=true", "");
    assert!(of(&free(&format!("{a}{b}")), &free(&format!("{b}{a}")), Ignore::default()).2.is_same());
}

/// Returns a long module: a chain with equal side branches.
fn long(count: usize, changed: impl Fn(usize) -> bool) -> String {
    let mut out = String::from("HloModule long\n\nENTRY e {\n  v0 = f32[8] parameter(0)\n");
    for n in 1..=count {
        let op = if changed(n) { "subtract" } else { "add" };
        writeln!(out, "  k{n} = f32[] constant({})\n  b{n} = f32[8] broadcast(k{n}), dimensions={{}}", n % 3)
            .unwrap();
        writeln!(out, "  v{n} = f32[8] {op}(v{}, b{n})", n - 1).unwrap();
    }
    writeln!(out, "  ROOT out = f32[8] negate(v{count})\n}}").unwrap();
    out
}

#[test]
fn thirty_thousand_instructions_take_seconds() {
    let left = parse(&long(10_000, |_| false));
    let right = parse(&long(10_000, |n| n % 1000 == 0).replace("  v", "  w").replace("(v", "(w"));
    let start = std::time::Instant::now();
    let found = diff(&left, &right, Ignore { names: true, ..Ignore::default() });
    assert_eq!(found.counts(), Counts { same: 29_992, changed: 10, ..Counts::default() });
    // Ten times the time that it takes without optimization.
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

#[test]
fn a_tuple_of_thirty_thousand_takes_seconds() {
    let wide = |op: &str| {
        let values: String = (0..30_000).map(|n| format!("v{n} = f32[] {op}(p)\n")).collect();
        let names: Vec<String> = (0..30_000).map(|n| format!("v{n}")).collect();
        let shape = vec!["f32[]"; 30_000].join(", ");
        format!(
            "HloModule m\nENTRY e {{ p = f32[] parameter(0)\n{values}ROOT r = ({shape}) tuple({}) }}",
            names.join(", ")
        )
    };
    let (left, right) = (parse(&wide("negate")), parse(&wide("cosine")));
    let start = std::time::Instant::now();
    let found = diff(&left, &right, Ignore::default());
    assert_eq!(found.counts(), Counts { same: 2, changed: 30_000, ..Counts::default() });
    // A tenth of this time is enough on an idle machine.
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}
