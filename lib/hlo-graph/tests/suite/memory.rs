//! Tests of the pictures of memory over time.

use hlo_graph::{MemoryPlot, Piece, memory_svg, memory_text, spans};

#[test]
fn pieces_are_drawn_where_they_lie() {
    let piece = |name: &str, bytes, offset, live: &[(usize, usize)]| Piece {
        name: name.to_string(),
        shape: String::new(),
        bytes,
        offset,
        place: format!("at {offset}"),
        live: live.to_vec(),
    };
    let plot = MemoryPlot {
        live: (0..4).map(|n| (n.to_string(), 50)).collect(),
        bytes: 100,
        pieces: vec![piece("a", 50, 0, &[(0, 1), (3, 3)]), piece("b", 50, 50, &[(2, 2)])],
        largest: vec![1],
        ..MemoryPlot::default()
    };
    let svg = memory_svg(&plot);
    // `b` is the upper half, in the first color. `a` is in the lower half twice.
    let half = "height=\"150.00\" fill=\"";
    assert_eq!(svg.matches(half).count(), 3);
    assert!(svg.contains(&format!("y=\"56.0\" width=\"225.0\" {half}#4a77bd")));
    assert_eq!(spans(&plot.pieces[0].live), "0 to 1, 3");
}

#[test]
fn the_plot_has_the_height_of_its_bytes() {
    let live = [("a", 100), ("b", 50), ("c", 0)].map(|(n, b)| (n.to_string(), b)).to_vec();
    let text = memory_text(&MemoryPlot { live, ..MemoryPlot::default() });
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 12 + 2);
    assert_eq!(lines[0], "   100 bytes │████████");
    assert_eq!(lines[12 / 2], "    50 bytes │████████████████");
    assert!(memory_text(&MemoryPlot::default()).is_empty());
    assert!(memory_svg(&MemoryPlot::default()).ends_with("</svg>\n"));
}
