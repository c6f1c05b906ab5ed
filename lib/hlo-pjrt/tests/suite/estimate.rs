//! Tests of estimates of the time to interpret and to compile a program.

use hlo_ir::Module;
use hlo_pjrt::internals::{compilation, interpreted_run};

fn module(text: &str) -> Module {
    hlo_forms::read(text.as_bytes()).expect("a program").module
}

fn sort(count: usize) -> Module {
    module(&format!(
        "HloModule sort
less {{ a = s32[] parameter(0) b = s32[] parameter(1) ROOT l = pred[] compare(a, b), direction=LT }}
ENTRY main {{ x = s32[{count}] parameter(0) ROOT s = s32[{count}] sort(x), dimensions={{0}}, to_apply=less }}"
    ))
}

#[test]
fn the_comparisons_of_a_sort_are_counted() {
    // Measured on one 2.5 GHz processor: 1.6 ms and about 40 ms.
    let few = interpreted_run(&sort(1_000)).as_secs_f64();
    assert!((0.5e-3..5e-3).contains(&few), "{few}");
    let many = interpreted_run(&sort(20_000));
    assert!(many > compilation(&sort(20_000)), "{many:?}");
}

#[test]
fn the_array_that_an_update_changes_is_counted() {
    let text = "HloModule update
ENTRY main {
  x = f32[1024,1024] parameter(0)
  u = f32[1,1] parameter(1)
  i = s32[] constant(3)
  ROOT r = f32[1024,1024] dynamic-update-slice(x, u, i, i)
}";
    let seconds = interpreted_run(&module(text)).as_secs_f64();
    assert!(seconds > 2e-3, "{seconds}");
}

#[test]
fn loops_count_by_their_iterations_and_long_if_they_are_not_known() {
    let text = |limit: &str| {
        module(&format!(
            "HloModule loop
body {{
  p = (s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] get-tuple-element(p), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  ROOT t = (s32[], s32[]) tuple(next, n)
}}
more {{
  p = (s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] {limit}
  ROOT l = pred[] compare(i, n), direction=LT
}}
ENTRY main {{
  zero = s32[] constant(0)
  n = s32[] parameter(0)
  t = (s32[], s32[]) tuple(zero, n)
  ROOT w = (s32[], s32[]) while(t), condition=more, body=body
}}"
        ))
    };
    let ten = interpreted_run(&text("constant(10)"));
    let thousand = interpreted_run(&text("constant(1000)"));
    let unknown = interpreted_run(&text("get-tuple-element(p), index=1"));
    assert!(thousand > 50 * ten, "{thousand:?}, {ten:?}");
    assert!(unknown > 5 * ten, "{unknown:?}, {ten:?}");
}
