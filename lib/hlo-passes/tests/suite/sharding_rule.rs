//! Shardy's rules are read, and become factors of dimensions.

use hlo_ir::Dims;
use hlo_passes::internals::{Kind, Rule};

#[test]
fn rules_are_read() {
    let text = "#sdy.op_sharding_rule<([i, jk], [k, z_1])->([i, z_1], []) {i=8, j=2, k=3, z_1=5} reduction={k} \
                    need_replication={j}, custom>";
    let rule = Rule::parse(text).expect("a rule");
    let numbers = |n: &[&[usize]]| -> Vec<Vec<usize>> { n.iter().map(|f| f.to_vec()).collect() };
    assert_eq!(rule.operands, [numbers(&[&[0], &[1, 2]]), numbers(&[&[2], &[3]])]);
    assert_eq!(rule.results, [numbers(&[&[0], &[3]]), numbers(&[])]);
    assert_eq!((rule.sizes.as_slice(), rule.whole.as_slice()), (&[8, 2, 3, 5][..], &[1][..]));
    let dims = |sizes: &[i64]| Dims::from_slice(sizes);
    let (factors, walks) =
        rule.factors(&[dims(&[8, 6]), dims(&[3, 5])], &[dims(&[8, 5]), dims(&[])]).expect("factors");
    // `j` must not be split, and `k` is the first factor of only one dimension.
    assert_eq!(factors.operands, [vec![Some(0), None], vec![None, Some(1)]]);
    assert_eq!(walks, [vec![Some(0), Some(1)], vec![]]);
    let kinds: Vec<Kind> = factors.factors.iter().map(|f| f.kind).collect();
    assert_eq!(kinds, [Kind::Kept, Kind::Kept]);
    assert!(rule.factors(&[dims(&[8, 7]), dims(&[3, 5])], &[dims(&[8, 5]), dims(&[])]).is_none());
}

#[test]
fn what_is_no_rule_says_nothing() {
    for text in ["", "#sdy.op_sharding_rule<>", "#sdy.op_sharding_rule<([i])->([j]) {k=3}>", "([i])->([i])"] {
        assert_eq!(Rule::parse(text), None, "{text}");
    }
}
