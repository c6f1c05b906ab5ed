//! Tests of the formulas of `einsum`.

use hlo_tile::internals::Formula;

#[test]
fn formulas_are_numpys() {
    let formula = Formula::parse("bij, jk").unwrap();
    assert_eq!(formula.operands, [vec!['b', 'i', 'j'], vec!['j', 'k']]);
    assert_eq!(formula.result, ['b', 'i', 'k']);
    assert_eq!(Formula::parse("ba").unwrap().result, ['a', 'b']);
    assert_eq!(Formula::parse("ij->").unwrap().result, []);
    for (text, message) in [
        ("i.j->i", "a letter is expected for each dimension, found `.`"),
        ("ij->ik", "`k` is in the result and in no tensor"),
        ("ij->ii", "`i` is twice in the result"),
    ] {
        assert_eq!(Formula::parse(text).unwrap_err(), message);
    }
}

#[test]
fn what_is_not_needed_is_summed_over_early() {
    let formula = Formula::parse("ij,jk,kl->il").unwrap();
    assert_eq!(formula.kept(&['i', 'j'], 1), ['i', 'k']);
    assert_eq!(formula.kept(&['i', 'k'], 2), ['i', 'l']);
}
