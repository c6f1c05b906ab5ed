//! Tests of the short forms of asynchronous operations.

use hlo_ir::Opcode;

#[test]
fn names_of_short_forms() {
    assert_eq!(Opcode::from_short_form("add-start"), Some((Opcode::AsyncStart, Opcode::Add)));
    assert_eq!(
        Opcode::from_short_form("dynamic-slice-update"),
        Some((Opcode::AsyncUpdate, Opcode::DynamicSlice))
    );
    assert_eq!(Opcode::from_short_form("copy-start"), None);
    assert_eq!(Opcode::from_short_form("constant-done"), None);
    assert_eq!(Opcode::from_short_form("start"), None);
    assert_eq!(Opcode::AsyncUpdate.short_form_suffix(), Some("-update"));
    assert_eq!(Opcode::Add.short_form_suffix(), None);
}

#[test]
fn a_short_form_is_not_the_name_of_an_opcode() {
    let suffixes = [Opcode::AsyncStart, Opcode::AsyncUpdate, Opcode::AsyncDone]
        .map(|opcode| opcode.short_form_suffix().expect("a suffix"));
    for &opcode in Opcode::ALL {
        let taken = |suffix: &str| Opcode::from_name(&format!("{opcode}{suffix}")).is_some();
        let any = suffixes.iter().any(|suffix| taken(suffix));
        assert!(!(any && opcode.has_short_form()), "{opcode}");
    }
}
