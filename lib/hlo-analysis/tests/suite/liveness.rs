//! Tests of the bytes that are live at each position of an order.

use crate::parse;
use hlo_analysis::{Liveness, ModuleLiveness};
use hlo_ir::{Module, Op};

fn entry(text: &str) -> (Module, Liveness) {
    let module = parse(text);
    let all = ModuleLiveness::of(&module);
    let liveness = all.get(module.entry()).expect("the entry").clone();
    (module, liveness)
}

#[test]
fn operands_and_result_are_live_together() {
    let (_, l) = entry(
        "HloModule m, is_scheduled=true
         ENTRY e {
           p = f32[4] parameter(0)
           a = f32[4] negate(p)
           b = f32[8] concatenate(a, a), dimensions={0}
           c = f32[2] constant({1, 2})
           ROOT r = f32[4] slice(b), slice={[0:4]}
         }",
    );
    // In the order p, a, b, c, r: `a` has 16 bytes, `b` 32 and `r` 16.
    assert_eq!(l.live, [0, 16, 48, 32, 48]);
    assert_eq!((l.peak(), l.peak_position()), (48, Some(2)));
    assert_eq!((l.parameter_bytes, l.constant_bytes), (16, 8));
    assert_eq!(l.inner_peak, 48);
}

#[test]
fn a_call_needs_what_is_inside_without_its_result() {
    let (_, l) = entry(
        "HloModule m
         f { p = f32[4] parameter(0)
             big = f32[4,4] broadcast(p), dimensions={0}
             t = f32[4,4] tanh(big)
             z = f32[] constant(0)
             ROOT r = f32[4] slice(p), slice={[0:4]}
             }
         ENTRY e {
           p = f32[4] parameter(0)
           ROOT c = f32[4] call(p), to_apply=f
         }",
    );
    assert_eq!(l.called, [0, 128]);
    assert_eq!(l.live, [0, 16 + 128]);
}

#[test]
fn a_loop_needs_its_next_state_beside_the_present_one() {
    let (m, l) = entry(
        "HloModule m
         c { s = (f32[4]) parameter(0)
             ROOT t = pred[] constant(false) }
         b { s = (f32[4]) parameter(0)
             x = f32[4] get-tuple-element(s), index=0
             n = f32[4] negate(x)
             ROOT r = (f32[4]) tuple(n) }
         ENTRY e {
           p = f32[4] parameter(0)
           n = f32[4] negate(p)
           i = (f32[4]) tuple(n)
           w = (f32[4]) while(i), condition=c, body=b
           ROOT r = f32[4] get-tuple-element(w), index=0
         }",
    );
    let at = l.order.iter().position(|&i| matches!(m[i].op, Op::While(_))).expect("the loop");
    assert_eq!(l.live[at], 32);
    assert_eq!(l.peak(), 32);
}

#[test]
fn huge_sizes_do_not_overflow() {
    let big = "f32[1000000000,1000000000]";
    let text = format!(
        "HloModule m
         ENTRY e {{
           p = f32[] parameter(0)
           a = {big} broadcast(p), dimensions={{}}
           b = {big} negate(a)
           c = {big} add(a, b)
           d = {big} add(b, c)
           e = {big} add(c, d)
           ROOT r = ({big}, {big}, {big}, {big}, {big}) tuple(a, b, c, d, e)
         }}"
    );
    let (_, l) = entry(&text);
    assert_eq!(l.peak(), u64::MAX);
}
