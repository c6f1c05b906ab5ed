//! Tests of values that are written over other values, and of the copies that this requires.

use hlo_analysis::{Liveness, ModuleLiveness};
use hlo_ir::{Module, Op};

const N: u64 = 4096;

/// The computations of a loop: `c`, and `b`, which reverses element 1 and keeps element 2.
const LOOP: &str = "
    c { s = (s32[], f32[1024], f32[1024]) parameter(0)
        i = s32[] get-tuple-element(s), index=0
        n = s32[] constant(10)
        ROOT t = pred[] compare(i, n), direction=LT }
    b { s = (s32[], f32[1024], f32[1024]) parameter(0)
        i = s32[] get-tuple-element(s), index=0
        x = f32[1024] get-tuple-element(s), index=1
        y = f32[1024] get-tuple-element(s), index=2
        one = s32[] constant(1)
        j = s32[] add(i, one)
        r = f32[1024] reverse(x), dimensions={0}
        ROOT t = (s32[], f32[1024], f32[1024]) tuple(j, r, y) }";

fn entry(computations: &str, entry: &str) -> (Module, Liveness) {
    let text = format!("HloModule m\n{computations}\nENTRY e {{ {entry} }}");
    let module = hlo_parser::parse_module(&text).expect("a module");
    let liveness = ModuleLiveness::of(&module).get(module.entry()).expect("the entry").clone();
    (module, liveness)
}

/// Returns the bytes that are live while the entry's first loop runs: around the loop and inside it.
fn at_loop(computations: &str, text: &str) -> (u64, u64) {
    let (m, l) = entry(computations, text);
    let at = l.order.iter().position(|&i| matches!(m[i].op, Op::While(_))).expect("a loop");
    (l.live[at] - l.called[at], l.called[at])
}

fn peak(computations: &str, text: &str) -> u64 {
    entry(computations, text).1.peak()
}

#[test]
fn what_a_loop_changes_of_parameters_and_constants_is_copied() {
    let text = "p = f32[1024] parameter(0)
        w = f32[1024] parameter(1)
        z = s32[] constant(0)
        i = (s32[], f32[1024], f32[1024]) tuple(z, p, w)
        l = (s32[], f32[1024], f32[1024]) while(i), condition=c, body=b
        x = f32[1024] get-tuple-element(l), index=1
        y = f32[1024] get-tuple-element(l), index=2
        ROOT r = (f32[1024], f32[1024]) tuple(x, y)";
    // The counter and the first array are copied; the second array is not. The body needs the next
    // counter and array.
    assert_eq!(at_loop(LOOP, text), (4 + N, 4 + N));
    // The second array is copied after the loop, because it is a result.
    let (_, l) = entry(LOOP, text);
    assert_eq!((l.live.last(), l.peak()), (Some(&(2 * N)), 2 * (4 + N)));
}

#[test]
fn a_value_that_is_read_later_is_copied() {
    let text = |last: &str| {
        format!(
            "p = f32[1024] parameter(0)
             n = f32[1024] negate(p)
             z = s32[] constant(0)
             i = (s32[], f32[1024], f32[1024]) tuple(z, n, p)
             l = (s32[], f32[1024], f32[1024]) while(i), condition=c, body=b
             x = f32[1024] get-tuple-element(l), index=1
             {last}"
        )
    };
    let free = text("ROOT r = f32[1024] add(x, p)");
    assert_eq!(at_loop(LOOP, &free), (4 + N, 4 + N));
    let read = text("ROOT r = f32[1024] add(x, n)");
    assert_eq!(at_loop(LOOP, &read), (4 + 2 * N, 4 + N));
    let result = text("ROOT r = (f32[1024], f32[1024]) tuple(x, n)");
    assert_eq!(at_loop(LOOP, &result), (4 + 2 * N, 4 + N));
    let kept = free.replace("tuple(z, n, p)", "tuple(z, n, n)");
    assert_eq!(at_loop(LOOP, &kept), (4 + 2 * N, 4 + N));
}

#[test]
fn a_loop_continues_where_another_one_ended() {
    let text = "p = f32[1024] parameter(0)
        n = f32[1024] negate(p)
        z = s32[] constant(0)
        i = (s32[], f32[1024], f32[1024]) tuple(z, n, p)
        l = (s32[], f32[1024], f32[1024]) while(i), condition=c, body=b
        x = f32[1024] get-tuple-element(l), index=1
        i2 = (s32[], f32[1024], f32[1024]) tuple(z, x, p)
        l2 = (s32[], f32[1024], f32[1024]) while(i2), condition=c, body=b
        ROOT r = f32[1024] get-tuple-element(l2), index=1";
    assert_eq!(peak(LOOP, text), 2 * (4 + N));
}

#[test]
fn the_state_of_a_loop_is_its_bodys_to_change() {
    let outer = format!(
        "{LOOP}
        c2 {{ s = (f32[1024], f32[1024]) parameter(0)
             ROOT t = pred[] constant(false) }}
        b2 {{ s = (f32[1024], f32[1024]) parameter(0)
             x = f32[1024] get-tuple-element(s), index=0
             y = f32[1024] get-tuple-element(s), index=1
             z = s32[] constant(0)
             i = (s32[], f32[1024], f32[1024]) tuple(z, x, y)
             l = (s32[], f32[1024], f32[1024]) while(i), condition=c, body=b
             n = f32[1024] get-tuple-element(l), index=1
             ROOT t = (f32[1024], f32[1024]) tuple(n, y) }}"
    );
    let text = "p = f32[1024] parameter(0)
        i = (f32[1024], f32[1024]) tuple(p, p)
        l = (f32[1024], f32[1024]) while(i), condition=c2, body=b2
        ROOT r = f32[1024] get-tuple-element(l), index=0";
    // One copy of p. Inside are the counter and the memory of the inner loop.
    assert_eq!(at_loop(&outer, text), (N, 4 + 4 + N));
}

#[test]
fn results_of_a_body_that_are_not_in_their_places_are_copied() {
    let body = |result: &str| {
        format!(
            "c {{ s = (f32[1024], (f32[1024])) parameter(0)
                 ROOT t = pred[] constant(false) }}
             b {{ s = (f32[1024], (f32[1024])) parameter(0)
                 x = f32[1024] get-tuple-element(s), index=0
                 inner = (f32[1024]) get-tuple-element(s), index=1
                 y = f32[1024] get-tuple-element(inner), index=0
                 k = f32[1024] constant({{...}})
                 {result} }}"
        )
    };
    let text = "p = f32[1024] parameter(0)
        inner = (f32[1024]) tuple(p)
        i = (f32[1024], (f32[1024])) tuple(p, inner)
        l = (f32[1024], (f32[1024])) while(i), condition=c, body=b
        ROOT r = f32[1024] get-tuple-element(l), index=0";
    let swapped = body("n = (f32[1024]) tuple(x)\n ROOT t = (f32[1024], (f32[1024])) tuple(y, n)");
    assert_eq!(at_loop(&swapped, text), (2 * N, 2 * N));
    let constant = body("ROOT t = (f32[1024], (f32[1024])) tuple(k, inner)");
    assert_eq!(at_loop(&constant, text), (N, N));
    let kept = body("n = (f32[1024]) tuple(y)\n ROOT t = (f32[1024], (f32[1024])) tuple(x, n)");
    assert_eq!(at_loop(&kept, text), (0, 0));
    let whole = body("ROOT t = (f32[1024], (f32[1024])) opt-barrier(s)");
    assert_eq!(at_loop(&whole, text), (0, 0));
}

#[test]
fn results_of_the_entry_are_not_parameters_nor_constants_nor_the_same() {
    assert_eq!(peak("", "ROOT p = f32[1024] parameter(0)"), N);
    assert_eq!(peak("", "ROOT c = f32[1024] constant({...})"), N);
    let several = "p = f32[1024] parameter(0)
        n = f32[1024] negate(p)
        ROOT t = (f32[1024], f32[1024], f32[1024]) tuple(p, n, n)";
    assert_eq!(peak("", several), 3 * N);
    let aliased = hlo_parser::parse_module(&format!(
        "HloModule m, input_output_alias={{ {{0}}: (0, {{}}, may-alias) }}\nENTRY e {{ {several} }}"
    ));
    let aliased = aliased.expect("a module");
    let liveness = ModuleLiveness::of(&aliased);
    assert_eq!(liveness.get(aliased.entry()).map(Liveness::peak), Some(2 * N));
}

#[test]
fn a_call_and_a_branch_that_return_what_they_get_have_results() {
    let same = "f { ROOT p = f32[1024] parameter(0) }";
    let call = "p = f32[1024] parameter(0)
        ROOT r = f32[1024] call(p), to_apply=f";
    assert_eq!(peak(same, call), N);
    let branch = "p = f32[1024] parameter(0)
        q = pred[] parameter(1)
        ROOT r = f32[1024] conditional(q, p, p), true_computation=f, false_computation=f";
    assert_eq!(peak(same, branch), N);
}
