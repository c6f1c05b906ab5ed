//! Rewrites are counted by name, up to a limit.

use hlo_passes::Rewrites;

#[test]
fn counts_by_name_up_to_the_limit() {
    let mut r = Rewrites::new(Some(2));
    assert!(r.allowed());
    r.made("b", "x");
    r.made("a", "y");
    assert!(!r.allowed());
    assert_eq!(r.counts().collect::<Vec<_>>(), [("a", 1), ("b", 1)]);
    assert_eq!(r.last().map(|l| l.instruction.as_str()), Some("y"));
    assert!(Rewrites::default().allowed());
}
