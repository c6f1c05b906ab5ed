//! Tests of the order of boxes in a rank.

use hlo_graph::internals::{Item, Layers, crossings, order_layers, places};

fn two_ranks(pieces: &[(usize, usize)]) -> Layers {
    let items = vec![Item { width: 1.0, point: false }; 6];
    let (mut up, mut down) = (vec![Vec::new(); 6], vec![Vec::new(); 6]);
    for &(a, b) in pieces {
        down[a].push(b);
        up[b].push(a);
    }
    Layers { items, layers: vec![vec![0, 1, 2], vec![3, 4, 5]], up, down }
}

#[test]
fn crossings_are_counted_and_removed() {
    let mut layers = two_ranks(&[(0, 5), (1, 4), (2, 3)]);
    assert_eq!(crossings(&layers, &places(&layers)), 3);
    order_layers(&mut layers);
    assert_eq!(crossings(&layers, &places(&layers)), 0);
    let layers = two_ranks(&[(0, 3), (0, 5), (1, 3), (1, 4)]);
    assert_eq!(crossings(&layers, &places(&layers)), 2);
}
