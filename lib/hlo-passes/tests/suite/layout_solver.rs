//! The solver of `layout-assignment` grants the most expensive wishes, then follows links.

use hlo_passes::internals::{Link, Order, Orders, Slot};

fn order(o: &[u32]) -> Order {
    o.iter().copied().collect()
}

#[test]
fn the_dearest_wish_is_granted() {
    let mut o = Orders::default();
    let slots: Vec<Slot> = (0..4).map(|_| o.add(2)).collect();
    o.keep(slots[0], order(&[0, 1]), order(&[0, 1]));
    o.keep(slots[3], order(&[1, 0]), order(&[1, 0]));
    o.prefer_same_order(10, slots[0], slots[1]);
    o.prefer_same_order(20, slots[1], slots[2]);
    o.prefer_same_order(30, slots[2], slots[3]);
    o.solve();
    let got: Vec<_> = slots.iter().map(|&s| o.order(s).to_vec()).collect();
    assert_eq!(got, [vec![0, 1], vec![1, 0], vec![1, 0], vec![1, 0]]);
}

/// The result has one copy. Granting wishes in the order of their creation would result in two.
#[test]
fn wishes_for_one_order_count_together() {
    let mut o = Orders::default();
    let slots: Vec<Slot> = (0..5).map(|_| o.add(2)).collect();
    o.keep(slots[0], order(&[0, 1]), order(&[0, 1]));
    for n in [3, 4] {
        o.keep(slots[n], order(&[1, 0]), order(&[1, 0]));
    }
    for (a, b) in [(0, 1), (1, 2), (2, 3), (2, 4)] {
        o.prefer_same_order(10, slots[a], slots[b]);
    }
    o.solve();
    assert_eq!([o.order(slots[1]).to_vec(), o.order(slots[2]).to_vec()], [vec![0, 1], vec![1, 0]]);
}

/// Among wishes of equal cost, those between undecided groups come first, which gives one copy instead of
/// two.
#[test]
fn open_groups_join_first() {
    let mut o = Orders::default();
    let slots: Vec<Slot> = (0..5).map(|_| o.add(2)).collect();
    o.keep(slots[0], order(&[0, 1]), order(&[0, 1]));
    for n in [3, 4] {
        o.keep(slots[n], order(&[1, 0]), order(&[1, 0]));
    }
    for (a, b) in [(0, 1), (1, 3), (1, 2), (2, 4)] {
        o.prefer_same_order(10, slots[a], slots[b]);
    }
    o.solve();
    assert_eq!([o.order(slots[1]).to_vec(), o.order(slots[2]).to_vec()], [vec![1, 0], vec![1, 0]]);
}

#[test]
fn links_decide_what_is_free_and_row_major_the_rest() {
    let mut o = Orders::default();
    let (a, b, c, d) = (o.add(2), o.add(2), o.add(2), o.add(3));
    let transpose = || Link::Axes { map: [Some(1), Some(0)].into_iter().collect(), rank: 2 };
    o.keep(a, order(&[1, 0]), order(&[1, 0]));
    o.link(8, transpose(), a, b);
    o.link(8, transpose(), b, c);
    o.solve();
    assert_eq!([o.order(b).to_vec(), o.order(c).to_vec()], [vec![0, 1], vec![1, 0]]);
    assert_eq!(o.order(d).to_vec(), [2, 1, 0]);
}

#[test]
fn ranks_are_not_mixed() {
    let mut o = Orders::default();
    let (a, b) = (o.add(2), o.add(3));
    o.join(a, b);
    o.keep(a, order(&[0, 1]), order(&[0, 1]));
    o.keep(b, order(&[0, 1]), order(&[0, 1]));
    o.solve();
    assert_eq!(o.order(b).to_vec(), [2, 1, 0]);
}
