//! Tests of names of programs and of their parts.

use hlo_codegen::aot::check_program_name;
use hlo_codegen::internals::identifiers;

#[test]
fn names_become_identifiers() {
    let names = ["x", "X", "Arg_0.1", "params['w']", "0", "", "float", "arena", "__a", "x_2", "ü"];
    let found = identifiers(names.into_iter(), &["arena"]);
    let expected =
        ["x", "X_2", "Arg_0_1", "params_w", "x_0", "x_3", "float_", "arena_2", "a", "x_2_2", "x_4"];
    assert_eq!(found, expected);
}

#[test]
fn names_of_programs_are_checked() {
    assert!(check_program_name("mlp_2").is_ok());
    for wrong in ["", "2x", "a-b", "main", "while", "hlo_rt_dot", "_a", "é", &"a".repeat(200)] {
        assert!(check_program_name(wrong).is_err(), "{wrong}");
    }
}
