//! Tests of the layout of boxes and edges.

mod order;
mod rank;

use hlo_graph::internals::{Layout, Place, lay_out};

fn overlaps(layout: &Layout, sizes: &[(f64, f64)]) -> bool {
    let rectangle = |n: usize| {
        let (p, (w, h)) = (layout.places[n], sizes[n]);
        (p.x - w / 2.0, p.x + w / 2.0, p.y, p.y + h)
    };
    let all: Vec<_> = (0..sizes.len()).map(rectangle).collect();
    all.iter()
        .enumerate()
        .any(|(n, a)| all[..n].iter().any(|b| a.0 < b.1 && b.0 < a.1 && a.2 < b.3 && b.2 < a.3))
}

#[test]
fn boxes_do_not_overlap_and_lines_go_down() {
    // A synthetic graph with long edges: each box uses some of the boxes before it.
    let n = 60;
    let sizes: Vec<(f64, f64)> =
        (0..n).map(|i| (60.0 + (i * 37 % 90) as f64, 20.0 + (i * 13 % 40) as f64)).collect();
    let edges: Vec<(usize, usize)> =
        (1..n).flat_map(|i| [(i * 7 % i, i), (i / 2, i), (i - 1 - i % 3 % i, i)]).collect();
    let layout = lay_out(&sizes, &[], &edges);
    assert!(!overlaps(&layout, &sizes));
    for (&(from, to), path) in edges.iter().zip(&layout.paths) {
        assert!(path.windows(2).all(|p| p[0].1 <= p[1].1 + 1e-9), "{path:?}");
        let (from, to) = (layout.places[from], layout.places[to]);
        assert!(path[0].1 > from.y && path.last().unwrap().1 == to.y);
    }
    let inside = |p: &Place| p.x > 0.0 && p.x < layout.width && p.y < layout.height;
    assert!(layout.places.iter().all(inside));
}

#[test]
fn many_boxes_side_by_side_take_several_ranks() {
    // 100 parameters of one tuple. In one rank they would take 22,600, without the edges.
    let sizes = vec![(200.0, 20.0); 101];
    let edges: Vec<(usize, usize)> = (0..100).map(|n| (n, 100)).collect();
    let layout = lay_out(&sizes, &[], &edges);
    assert!(!overlaps(&layout, &sizes));
    assert!(layout.width < 22_600.0 / 5.0, "{}", layout.width);
    assert!(layout.paths.iter().all(|path| path.windows(2).all(|p| p[0].1 <= p[1].1 + 1e-9)));
}

#[test]
fn a_chain_is_straight() {
    let layout = lay_out(&[(50.0, 20.0), (80.0, 20.0), (30.0, 20.0)], &[], &[(0, 1), (1, 2)]);
    assert!(layout.places.iter().all(|p| (p.x - layout.places[0].x).abs() < 0.01));
    assert!(lay_out(&[], &[], &[]).places.is_empty());
}
