//! Tests of operations that apply computations: reductions, windows, sorts, calls, loops and branches.

use crate::common::{self, assert_same, module, run};
use hlo_eval::{Options, evaluate};

const SCALARS: &str = "HloModule m
add { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT r = f32[] add(a, b) }
max { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT r = f32[] maximum(a, b) }
lt { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT r = pred[] compare(a, b), direction=LT }
ge { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT r = pred[] compare(a, b), direction=GE }
";

fn with_scalars(entry: &str) -> String {
    format!("{SCALARS}ENTRY e {{\n{entry}\n}}\n")
}

/// Semantics, "Reduce": the 4x2x3 example.
#[test]
fn reduce_over_each_set_of_dimensions() {
    let rows = "{{1, 2, 3}, {4, 5, 6}}";
    let x = format!("f32[4,2,3] {{{rows}, {rows}, {rows}, {rows}}}");
    for (dims, shape, want) in [
        ("0", "f32[2,3]", "{{4, 8, 12}, {16, 20, 24}}"),
        ("2", "f32[4,2]", "{{6, 15}, {6, 15}, {6, 15}, {6, 15}}"),
        ("0,1", "f32[3]", "{20, 28, 36}"),
        ("0,1,2", "f32[]", "84"),
    ] {
        let text = with_scalars(&format!(
            "x = f32[4,2,3] parameter(0)\n z = f32[] constant(0)\n ROOT r = {shape} reduce(x, z), dimensions={{{dims}}}, to_apply=add"
        ));
        assert_same(run(&text, &[&x]), &format!("{shape} {want}"));
    }
}

#[test]
fn reduce_of_nothing_is_the_initial_value() {
    let text = with_scalars(
        "x = f32[0,2] parameter(0)\n z = f32[] constant(5)\n ROOT r = f32[2] reduce(x, z), dimensions={0}, to_apply=add",
    );
    assert_same(run(&text, &["f32[0,2] {}"]), "f32[2] {5, 5}");
}

/// Semantics, "Variadic Reduce": argmax with `>=`, which returns the last of equal elements.
#[test]
fn variadic_reduce_is_applied_in_order() {
    let text = "HloModule m
f {
  m = f32[] parameter(0)
  i = s32[] parameter(1)
  v = f32[] parameter(2)
  j = s32[] parameter(3)
  c = pred[] compare(v, m), direction=GE
  a = f32[] select(c, v, m)
  b = s32[] select(c, j, i)
  ROOT t = (f32[], s32[]) tuple(a, b)
}
ENTRY e {
  v = f32[2,4] parameter(0)
  k = s32[2,4] iota(), iota_dimension=1
  low = f32[] constant(-inf)
  none = s32[] constant(-1)
  ROOT r = (f32[2], s32[2]) reduce(v, k, low, none), dimensions={1}, to_apply=f
}";
    assert_same(run(text, &["f32[2,4] {{3, 9, 9, 1}, {7, 2, 3, 4}}"]), "(f32[2], s32[2]) ({9, 7}, {2, 0})");
}

/// Semantics, "ReduceWindow": the minimum example (here a maximum of negated values), and dilations.
#[test]
fn reduce_window_strides_pads_and_dilates() {
    let x = "f32[5] {-10000, -1000, -100, -10, -1}";
    for (window, size, want) in [
        ("{size=3 stride=2}", 2, "{-100, -1}"),
        ("{size=3 stride=2 pad=1_1}", 3, "{-1000, -10, -1}"),
        ("{size=2 rhs_dilate=3}", 2, "{-10, -1}"),
        ("{size=2 lhs_dilate=2}", 8, "{-10000, -1000, -1000, -100, -100, -10, -10, -1}"),
    ] {
        let text = with_scalars(&format!(
            "x = f32[5] parameter(0)\n z = f32[] constant(-inf)\n ROOT r = f32[{size}] reduce-window(x, z), window={window}, to_apply=max"
        ));
        assert_same(run(&text, &[x]), &format!("f32[{size}] {want}"));
    }
}

#[test]
fn select_and_scatter_adds_to_the_chosen_elements() {
    let text = with_scalars(
        "x = f32[4,4] parameter(0)\n s = f32[2,2] parameter(1)\n z = f32[] constant(0)\n ROOT r = f32[4,4] select-and-scatter(x, s, z), window={size=2x2 stride=2x2}, select=ge, scatter=add",
    );
    let x = "f32[4,4] {{7, 2, 5, 3}, {3, 8, 9, 3}, {1, 5, 7, 5}, {0, 6, 2, 7}}";
    let want = "f32[4,4] {{0, 0, 0, 0}, {0, 2, 6, 0}, {0, 0, 3, 0}, {0, 1, 0, 0}}";
    assert_same(run(&text, &[x, "f32[2,2] {{2, 6}, {1, 3}}"]), want);
}

/// Numbers from jaxlib 0.10.2: of the windows at 4, 5 and -1, only the first is in bounds.
#[test]
fn scatter_drops_windows_that_reach_outside() {
    let text = with_scalars(
        "x = f32[6] parameter(0)\n i = s32[4] parameter(1)\n u = f32[4,2] parameter(2)\n ROOT r = f32[6] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add",
    );
    let inputs =
        ["f32[6] {0, 0, 0, 0, 0, 0}", "s32[4] {1, 4, 5, -1}", "f32[4,2] {{1, 2}, {3, 4}, {5, 6}, {7, 8}}"];
    assert_same(run(&text, &inputs), "f32[6] {0, 1, 2, 0, 3, 4}");
}

/// Numbers from jaxlib 0.10.2: the second window is out of bounds in one dimension, the third in the other.
#[test]
fn scatter_drops_windows_that_reach_outside_in_any_dimension() {
    let text = with_scalars(
        "x = f32[3,4] parameter(0)\n i = s32[4,2] parameter(1)\n u = f32[4,2,2] parameter(2)\n ROOT r = f32[3,4] scatter(x, i, u), update_window_dims={1,2}, inserted_window_dims={}, scatter_dims_to_operand_dims={0,1}, index_vector_dim=1, to_apply=add",
    );
    let inputs = [
        "f32[3,4] {{0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}}",
        "s32[4,2] {{0, 0}, {1, 3}, {2, 1}, {1, 2}}",
        "f32[4,2,2] {{{1, 2}, {3, 4}}, {{10, 20}, {30, 40}}, {{100, 200}, {300, 400}}, {{1000, 2000}, {3000, 4000}}}",
    ];
    let want = "f32[3,4] {{1, 2, 0, 0}, {3, 4, 1000, 2000}, {0, 0, 3000, 4000}}";
    assert_same(run(&text, &inputs), want);
}

/// 256 + 1 is 256 in `bf16`, so only a sum in a wider type includes the ones. Tests `reduce` along rows and
/// columns, and `reduce-window`.
#[test]
fn sums_of_narrow_floats_are_rounded_once() {
    let body = |entry: &str| {
        format!(
            "HloModule m\nadd {{\n a = bf16[] parameter(0)\n b = bf16[] parameter(1)\n ROOT r = bf16[] add(b, a)\n}}\nENTRY e {{\n x = bf16[2,5] parameter(0)\n z = bf16[] constant(0)\n ROOT r = {entry}\n}}\n"
        )
    };
    let x = ["bf16[2,5] {{256, 1, 1, 1, 1}, {1, 1, 1, 1, 1}}"];
    let rows = body("bf16[2] reduce(x, z), dimensions={1}, to_apply=add");
    assert_same(run(&rows, &x), "bf16[2] {260, 5}");
    let columns = body("bf16[5] reduce(x, z), dimensions={0}, to_apply=add");
    assert_same(run(&columns, &x), "bf16[5] {256, 2, 2, 2, 2}");
    let windows = body("bf16[2,1] reduce-window(x, z), window={size=1x5}, to_apply=add");
    assert_same(run(&windows, &x), "bf16[2,1] {{260}, {5}}");
}

/// The loop over contiguous elements keeps their order: 1 + 2^53 - 2^53 is 0 only in this order. The sums are
/// of f64, because sums of narrower types are exact here.
#[test]
fn folds_keep_the_order_of_elements() {
    let reduce = |shape: &str, dims: &str| {
        format!(
            "HloModule m\nadd {{\n a = f64[] parameter(0)\n b = f64[] parameter(1)\n ROOT s = f64[] add(a, b)\n}}\n\
             ENTRY e {{\n x = {shape} parameter(0)\n z = f64[] constant(0)\n \
             ROOT r = f64[] reduce(x, z), dimensions={{{dims}}}, to_apply=add\n}}\n"
        )
    };
    let line = ["f64[1,3] {{1, 9007199254740992, -9007199254740992}}"];
    assert_same(run(&reduce("f64[1,3]", "0,1"), &line), "f64[] 0");
    let other = ["f64[1,3] {{9007199254740992, -9007199254740992, 1}}"];
    assert_same(run(&reduce("f64[1,3]", "0,1"), &other), "f64[] 1");
}

/// Compares every operation that has a fold with the same operation in a program. A copy makes the
/// computation more than a single operation.
#[test]
fn folds_agree_with_programs() {
    let cases = [
        ("f32", "add", "{3, -1, 0.5, 2}"),
        ("f32", "multiply", "{3, -1, 0.5, 2}"),
        ("f32", "maximum", "{3, -0.0, nan, 2}"),
        ("f32", "minimum", "{3, -0.0, 0, 2}"),
        ("f64", "add", "{3, -1, 0.5, 2}"),
        ("f64", "multiply", "{3, -1, 0.5, 2}"),
        ("f64", "maximum", "{3, -1, inf, 2}"),
        ("f64", "minimum", "{3, -1, nan, 2}"),
        ("s32", "add", "{2147483647, 2, -7, 1}"),
        ("s32", "multiply", "{2147483647, 2, -7, 1}"),
        ("s32", "maximum", "{-5, 2, -7, 1}"),
        ("u32", "minimum", "{5, 2, 4294967295, 1}"),
        ("u64", "maximum", "{5, 2, 18446744073709551615, 1}"),
        ("s8", "add", "{127, 2, -7, 1}"),
        ("u32", "and", "{7, 6, 14, 15}"),
        ("pred", "and", "{true, true, false, true}"),
        ("pred", "or", "{false, true, false, true}"),
    ];
    for (ty, op, values) in cases {
        let initial = format!("{ty}[] {}", if ty == "pred" { "true" } else { "1" });
        let module = |root: &str| {
            format!(
                "HloModule m\nf {{\n a = {ty}[] parameter(0)\n b = {ty}[] parameter(1)\n {root}\n}}\nENTRY e {{\n x = {ty}[4] parameter(0)\n z = {ty}[] parameter(1)\n ROOT r = {ty}[] reduce(x, z), dimensions={{0}}, to_apply=f\n}}\n"
            )
        };
        let one = module(&format!("ROOT r = {ty}[] {op}(a, b)"));
        let two = module(&format!("c = {ty}[] copy(a)\n ROOT r = {ty}[] {op}(c, b)"));
        let inputs = [&format!("{ty}[4] {values}")[..], &initial];
        let want = run(&two, &inputs).unwrap_or_else(|e| panic!("{}", e.message));
        let got = run(&one, &inputs).unwrap_or_else(|e| panic!("{}", e.message));
        assert_eq!(got.bytes(), want.bytes(), "{op} of {ty}");
    }
}

#[test]
fn sort_is_stable_and_carries_other_operands() {
    let text = "HloModule m
lt { a = s32[] parameter(0)
 b = s32[] parameter(1)
 c = f32[] parameter(2)
 d = f32[] parameter(3)
 ROOT r = pred[] compare(a, b), direction=LT }
ENTRY e {
  k = s32[2,3] parameter(0)
  v = f32[2,3] parameter(1)
  ROOT r = (s32[2,3], f32[2,3]) sort(k, v), dimensions={1}, is_stable=true, to_apply=lt
}";
    let inputs = ["s32[2,3] {{2, 1, 1}, {3, 3, 0}}", "f32[2,3] {{1, 2, 3}, {4, 5, 6}}"];
    assert_same(run(text, &inputs), "(s32[2,3], f32[2,3]) ({{1, 1, 2}, {0, 3, 3}}, {{2, 3, 1}, {6, 4, 5}})");
}

/// A comparator that is always true is not an order. The sort must still return some permutation.
#[test]
fn sort_by_an_inconsistent_comparator_does_not_fail() {
    let text = "HloModule m
t { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT r = pred[] constant(true) }
ENTRY e { k = f32[50] iota(), iota_dimension=0
 ROOT r = f32[50] sort(k), dimensions={0}, to_apply=t }";
    let mut values = run(text, &[]).unwrap().elements::<f32>().to_vec();
    values.sort_by(f32::total_cmp);
    assert!(values.iter().enumerate().all(|(i, &v)| v == i as f32));
}

#[test]
fn map_applies_a_computation_that_calls_another() {
    let text = with_scalars("x = f32[3] parameter(0)\n y = f32[3] parameter(1)\n ROOT r = f32[3] map(x, y), dimensions={0}, to_apply=twice")
        .replace("ENTRY", "twice { a = f32[] parameter(0)\n b = f32[] parameter(1)\n c = f32[] call(a, b), to_apply=add\n ROOT r = f32[] call(c, c), to_apply=add }\nENTRY");
    assert_same(run(&text, &["f32[3] {1, 2, 3}", "f32[3] {10, 20, 30}"]), "f32[3] {22, 44, 66}");
}

/// The reducer contains an operation on arrays, so it can't become a scalar program.
#[test]
fn reduce_by_a_computation_with_arrays_inside() {
    let text = "HloModule m
f { a = f32[] parameter(0)
 b = f32[] parameter(1)
 p = f32[2] broadcast(a), dimensions={}
 q = f32[2] broadcast(b), dimensions={}
 ROOT r = f32[] dot(p, q), lhs_contracting_dims={0}, rhs_contracting_dims={0} }
ENTRY e { x = f32[3] parameter(0)
 one = f32[] constant(1)
 ROOT r = f32[] reduce(x, one), dimensions={0}, to_apply=f }";
    assert_same(run(text, &["f32[3] {1, 2, 3}"]), "f32[] 48");
}

#[test]
fn while_on_scalars_and_on_arrays() {
    for (shape, zero, want) in [("f32[]", "0", "f32[] 10"), ("f32[2]", "{0, 1}", "f32[2] {10, 11}")] {
        let text = format!(
            "HloModule m
c {{ s = (s32[], {shape}) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 n = s32[] constant(4)
 ROOT r = pred[] compare(i, n), direction=LE }}
b {{ s = (s32[], {shape}) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 x = {shape} get-tuple-element(s), index=1
 one = s32[] constant(1)
 j = s32[] add(i, one)
 f = f32[] convert(i)
 g = {shape} broadcast(f), dimensions={{}}
 y = {shape} add(x, g)
 ROOT t = (s32[], {shape}) tuple(j, y) }}
ENTRY e {{ z = s32[] constant(0)
 x = {shape} constant({zero})
 t = (s32[], {shape}) tuple(z, x)
 w = (s32[], {shape}) while(t), condition=c, body=b
 ROOT r = {shape} get-tuple-element(w), index=1 }}"
        );
        assert_same(run(&text, &[]), want);
    }
}

/// Semantics, "Conditional": an index out of range runs the last branch.
#[test]
fn conditional_by_index_and_by_predicate() {
    let branches = "HloModule m
neg { a = f32[] parameter(0)
 ROOT r = f32[] negate(a) }
dbl { a = f32[] parameter(0)
 ROOT r = f32[] add(a, a) }
";
    let by_index = format!(
        "{branches}ENTRY e {{ i = s32[] parameter(0)\n x = f32[] constant(3)\n y = f32[] constant(5)\n ROOT r = f32[] conditional(i, x, y), branch_computations={{neg, dbl}} }}"
    );
    for (index, want) in [("0", "-3"), ("1", "10"), ("2", "10"), ("-1", "10")] {
        assert_same(run(&by_index, &[&format!("s32[] {index}")]), &format!("f32[] {want}"));
    }
    let by_pred = format!(
        "{branches}ENTRY e {{ i = pred[] parameter(0)\n x = f32[] constant(3)\n y = f32[] constant(5)\n ROOT r = f32[] conditional(i, x, y), true_computation=neg, false_computation=dbl }}"
    );
    for (pred, want) in [("true", "-3"), ("false", "10")] {
        assert_same(run(&by_pred, &[&format!("pred[] {pred}")]), &format!("f32[] {want}"));
    }
}

#[test]
fn an_endless_loop_ends_when_operations_are_limited() {
    for shape in ["s32[]", "s32[2]"] {
        let text = format!(
            "HloModule m
c {{ s = {shape} parameter(0)
 ROOT r = pred[] constant(true) }}
b {{ s = {shape} parameter(0)
 ROOT r = {shape} add(s, s) }}
ENTRY e {{ x = {shape} parameter(0)
 ROOT w = {shape} while(x), condition=c, body=b }}"
        );
        let m = module(&text);
        let input = hlo_ir::Literal::try_zeros(&m[m.parameters(m.entry())[0]].shape).unwrap();
        let options = Options { max_operations: Some(10_000), ..Options::default() };
        let e = evaluate(&m, &[input], &options).unwrap_err();
        assert_eq!(e.message, "the evaluation takes more than the 10000 operations that it may use");
    }
}

#[test]
fn a_petabyte_is_refused_before_it_is_allocated() {
    let text = "HloModule m\nENTRY e {\n z = f32[] constant(0)\n ROOT b = f32[1048576,1048576,256] broadcast(z), dimensions={}\n}\n";
    let e = run(text, &[]).unwrap_err();
    assert!(e.message.contains("no memory for a value of 1.0 PiB"), "{}", e.message);
    assert!(e.instruction.is_some());
}

/// Values are freed at their last use: a chain of large values needs memory for only two of them.
#[test]
fn dead_values_do_not_count() {
    let mut text = String::from("HloModule m\nENTRY e {\n x0 = f32[1000] iota(), iota_dimension=0\n");
    for i in 1..100 {
        text += &format!(" x{i} = f32[1000] negate(x{})\n", i - 1);
    }
    text += " ROOT r = f32[1000] copy(x99)\n}\n";
    let options = Options { max_bytes: 20_000, ..Options::default() };
    assert!(evaluate(&module(&text), &[], &options).is_ok());
}

/// The update happens in place, so the loop needs memory for only one copy.
#[test]
fn updates_in_a_loop_are_in_place() {
    let text = "HloModule m
c { s = (s32[], f32[1000]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 n = s32[] constant(50)
 ROOT r = pred[] compare(i, n), direction=LT }
b { s = (s32[], f32[1000]) parameter(0)
 x = f32[1000] get-tuple-element(s), index=1
 i = s32[] get-tuple-element(s), index=0
 v = f32[1] constant({7})
 y = f32[1000] dynamic-update-slice(x, v, i)
 one = s32[] constant(1)
 j = s32[] add(i, one)
 ROOT t = (s32[], f32[1000]) tuple(j, y) }
ENTRY e { z = s32[] constant(0)
 f = f32[] constant(0)
 x = f32[1000] broadcast(f), dimensions={}
 t = (s32[], f32[1000]) tuple(z, x)
 ROOT w = (s32[], f32[1000]) while(t), condition=c, body=b }";
    let options = Options { max_bytes: 5_000, ..Options::default() };
    let r = evaluate(&module(text), &[], &options).unwrap_or_else(|e| panic!("{}", e.message));
    assert_eq!(r.leaves()[1].elements::<f32>().iter().filter(|&&v| v == 7.0).count(), 50);
}

#[test]
fn long_chains_and_deep_calls_do_not_overflow_the_stack() {
    let mut text = String::from("HloModule m\n");
    text += "call0 { a = f32[2] parameter(0)\n ROOT r = f32[2] add(a, a) }\n";
    for i in 1..300 {
        text += &format!(
            "call{i} {{ a = f32[2] parameter(0)\n ROOT r = f32[2] call(a), to_apply=call{} }}\n",
            i - 1
        );
    }
    text += "ENTRY e { x = f32[2] parameter(0)\n ROOT r = f32[2] call(x), to_apply=call299 }\n";
    let e = run(&text, &["f32[2] {1, 2}"]).unwrap_err();
    assert_eq!(e.message, "calls nest more than 200 deep");

    let mut text = String::from("HloModule m\nENTRY e {\n x0 = f32[] parameter(0)\n");
    for i in 1..20_000 {
        text += &format!(" x{i} = f32[] negate(x{})\n", i - 1);
    }
    text += " ROOT r = f32[] copy(x19999)\n}\n";
    assert_same(run(&text, &["f32[] 1"]), "f32[] -1");
}

#[test]
fn what_can_not_run_is_an_error_at_the_instruction() {
    let text = "HloModule m\nENTRY e {\n t = token[] after-all()\n ROOT i = (f32[2], token[]) infeed(t)\n}\n";
    let m = module(text);
    let e = evaluate(&m, &[], &Options::default()).unwrap_err();
    assert_eq!(e.message, "infeed `i`: f32[2] is expected, but the program was given no infeed");
    let diag = e.to_diag(&m);
    assert_eq!(diag.labels.len(), 1);
    assert!(text[diag.labels[0].span.range()].contains("infeed"));
}

#[test]
fn inputs_that_do_not_fit_are_named() {
    let text = "HloModule m\nENTRY e {\n x = f32[2] parameter(0)\n ROOT r = f32[2] negate(x)\n}\n";
    let e = run(text, &[]).unwrap_err();
    assert_eq!(e.message, "the entry computation has 1 parameters, but 0 inputs were given");
    let e = run(text, &["f32[3] {1, 2, 3}"]).unwrap_err();
    assert_eq!(e.message, "parameter `x` has shape f32[2], but the input has shape f32[3]");
}

#[test]
fn a_single_instruction_is_evaluated_for_constant_folding() {
    let m = module("HloModule m\nENTRY e {\n x = f32[2] constant({1, 2})\n ROOT r = f32[2] add(x, x)\n}\n");
    let root = m[m.entry()].root();
    let x = common::literal("f32[2] {1, 2}");
    let r = hlo_eval::evaluate_instruction(&m, root, &[x.clone(), x], &Options::default());
    assert_same(r, "f32[2] {2, 4}");
}

/// Reducers whose results are parameters or constants, over windows with padding.
#[test]
fn windows_by_a_computation_that_returns_its_parameters() {
    let text = "HloModule m
swap { a = f32[] parameter(0)
 b = f32[] parameter(1)
 c = f32[] parameter(2)
 d = f32[] parameter(3)
 ROOT t = (f32[], f32[]) tuple(b, c) }
five { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT r = f32[] constant(5) }
ENTRY e { x = f32[3] parameter(0)
 z = f32[] constant(0)
 w = f32[] constant(-1)
 p = (f32[4], f32[4]) reduce-window(x, x, z, w), window={size=2 pad=1_1}, to_apply=swap
 q = f32[4] reduce-window(x, w), window={size=2 pad=2_0 stride=1}, to_apply=five
 g = f32[4] get-tuple-element(p), index=0
 h = f32[4] get-tuple-element(p), index=1
 ROOT t = (f32[4], f32[4], f32[4]) tuple(g, h, q) }";
    // Each window applies (a, b), x -> (b, x) to (0, -1): once at the edges, twice inside.
    let want = "(f32[4], f32[4], f32[4]) ({-1, 1, 2, -1}, {1, 2, 3, 3}, {-1, 5, 5, 5})";
    assert_same(run(text, &["f32[3] {1, 2, 3}"]), want);
}
