//! Tests of the results that may use the memory of a parameter.

use hlo_analysis::{Donation, donations};

#[test]
fn arrays_that_lie_alike_are_counted_by_leaves() {
    let module = hlo_parser::parse_module(
        "HloModule m, input_output_alias={ {0}: (1, {1}, may-alias), {1}: (0, {}, must-alias) }
ENTRY e {
  a = f32[4] parameter(0)
  b = (s32[], f32[2]) parameter(1)
  c = f32[2] get-tuple-element(b), index=1
  ROOT r = (f32[2], f32[4]) tuple(c, a)
}",
    )
    .expect("a module");
    let found: Vec<(usize, usize)> = donations(&module).iter().map(|d| (d.parameter, d.output)).collect();
    assert_eq!(found, [(2, 0), (0, 1)]);
}

#[test]
fn a_layout_that_is_written_or_not_is_the_same_memory() {
    let module = hlo_parser::parse_module(
        "HloModule m, input_output_alias={ {}: (0, {}, may-alias) }
ENTRY e { p = f32[8]{0} parameter(0) ROOT r = f32[8] add(p, p) }",
    );
    assert_eq!(donations(&module.expect("a module")), [Donation { parameter: 0, output: 0 }]);
}

#[test]
fn another_layout_is_other_memory() {
    let module = hlo_parser::parse_module(
        "HloModule m, input_output_alias={ {}: (0, {}, may-alias) },
  entry_computation_layout={(f32[2,3]{1,0})->f32[2,3]{0,1}}
ENTRY e { ROOT a = f32[2,3] parameter(0) }",
    )
    .expect("a module");
    assert_eq!(donations(&module), []);
}
