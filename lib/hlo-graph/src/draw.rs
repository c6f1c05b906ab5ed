//! Pages with sizes and positions, which the SVG and HTML writers draw.

use crate::graph::Graph;
use crate::layout::{self, Layout};
use crate::page::Page;
use std::collections::HashSet;

/// The font size, and the width of a letter.
pub(crate) const FONT_SIZE: f64 = 11.0;
pub(crate) const LETTER_WIDTH: f64 = 6.62;
/// The distance between lines of text.
pub(crate) const LINE_HEIGHT: f64 = 14.0;
/// The padding inside a box, beside and above its text.
pub(crate) const PAD_X: f64 = 8.0;
pub(crate) const PAD_Y: f64 = 6.0;
/// The margin around the contents of an open box.
pub(crate) const BOX_MARGIN: f64 = 14.0;
/// The font size and the letter width of edge labels.
pub(crate) const LABEL_FONT_SIZE: f64 = 9.5;
pub(crate) const LABEL_LETTER_WIDTH: f64 = 5.72;

/// A page that is laid out.
pub(crate) struct Drawing {
    /// The index of the page.
    pub(crate) page: usize,
    pub(crate) layout: Layout,
    /// The width and height of each box.
    pub(crate) sizes: Vec<(f64, f64)>,
    /// The contents of each box, with their positions relative to the box's upper left corner. Empty for a
    /// closed box.
    pub(crate) inside: Vec<Vec<(f64, f64, Drawing)>>,
    /// The labels of the edges.
    pub(crate) labels: Vec<Label>,
}

/// A label of an edge.
pub(crate) struct Label {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) text: String,
    pub(crate) critical: bool,
    /// The box below which the label is placed.
    pub(crate) below: Option<usize>,
    /// The edge at whose end the label is placed.
    pub(crate) end_of: Option<usize>,
    /// Whether the text ends at its position; otherwise it begins there.
    pub(crate) left: bool,
}

/// Returns the lines of a box. The first line is the heading.
pub(crate) fn lines(page: &Page, node: usize) -> Vec<String> {
    let node = &page.nodes[node];
    let more = if node.inner.is_empty() { "" } else { " …" };
    let mut out = vec![format!("{}{more}", node.head)];
    out.extend(node.lines.iter().cloned());
    out.extend(node.shape.clone());
    out
}

/// Shortens labels of edges that end side by side, so that a label does not overlap the next edge. It removes
/// the shape, and also the number of the element if that is too wide.
fn shorten(page: &Page, labels: &mut Vec<Label>) {
    let mut ends: Vec<(usize, f64, usize)> = Vec::new();
    for (n, label) in labels.iter().enumerate() {
        ends.extend(label.end_of.map(|e| (page.edges[e].to, label.x, n)));
    }
    ends.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    for pair in ends.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
        let room = pair[1].1 - pair[0].1;
        let text = &mut labels[pair[0].2].text;
        let fits = |text: &str| text.chars().count() as f64 * LABEL_LETTER_WIDTH <= room;
        if !fits(text) {
            let element = text.split(' ').next().filter(|element| fits(element)).unwrap_or_default();
            *text = element.to_owned();
        }
    }
    labels.retain(|label| !label.text.is_empty());
}

/// Returns the size of a closed box.
fn closed_size(page: &Page, node: usize) -> (f64, f64) {
    let lines = lines(page, node);
    let longest = lines.iter().map(|l| l.chars().count()).max().unwrap_or(0);
    (longest as f64 * LETTER_WIDTH + 2.0 * PAD_X, lines.len() as f64 * LINE_HEIGHT + 2.0 * PAD_Y)
}

/// Lays out a page with all boxes open or closed. The recursion ends because the pages inside a page come
/// after it.
pub(crate) fn draw(graph: &Graph, number: usize, open: bool) -> Option<Drawing> {
    let page = graph.pages.get(number)?;
    let mut sizes = Vec::with_capacity(page.nodes.len());
    let mut inside = Vec::with_capacity(page.nodes.len());
    for (n, node) in page.nodes.iter().enumerate() {
        let (mut width, mut height) = closed_size(page, n);
        let mut contents = Vec::new();
        if open {
            let mut x = BOX_MARGIN;
            let top = height;
            for inner in &node.inner {
                let Some(drawing) = draw(graph, inner.page, open) else { continue };
                let title = inner.role.chars().count() as f64 * LETTER_WIDTH;
                height = height.max(top + drawing.layout.height + BOX_MARGIN + LINE_HEIGHT);
                let next = x + drawing.layout.width.max(title) + BOX_MARGIN;
                contents.push((x, top + LINE_HEIGHT, drawing));
                x = next;
            }
            width = width.max(if contents.is_empty() { 0.0 } else { x });
        }
        sizes.push((width, height));
        inside.push(contents);
    }
    // A value has one shape. Its label is placed once, below the source box, unless different parts of a
    // tuple have different users.
    let mut own: Vec<Option<&str>> = vec![None; page.nodes.len()];
    let mut several = vec![false; page.nodes.len()];
    for edge in page.edges.iter().filter(|e| !e.control) {
        several[edge.from] |= own[edge.from].is_some_and(|l| l != edge.label);
        own[edge.from] = Some(&edge.label);
    }
    let width = |text: &str| text.chars().count() as f64 * LABEL_LETTER_WIDTH + 4.0;
    let reserved: Vec<f64> =
        own.iter().zip(&several).map(|(l, several)| l.filter(|_| !several).map_or(0.0, width)).collect();
    let ends: Vec<(usize, usize)> = page.edges.iter().map(|e| (e.from, e.to)).collect();
    let layout = layout::lay_out(&sizes, &reserved, &ends);
    let mut right_turns = vec![true; page.nodes.len()];
    for (edge, path) in page.edges.iter().zip(&layout.paths) {
        let start = path.first().map_or(0.0, |p| p.0);
        let turn = path.iter().map(|p| p.0 - start).find(|dx| dx.abs() > 3.0);
        right_turns[edge.from] &= turn.is_some_and(|dx| dx > 0.0);
    }
    let mut labels = Vec::new();
    for (n, label) in own.iter().enumerate() {
        if let Some(text) = label.filter(|_| !several[n]) {
            let place = layout.places[n];
            // Place the label on the side to which the edges do not turn.
            let left = right_turns[n];
            labels.push(Label {
                x: place.x + if left { -4.0 } else { 4.0 },
                y: place.y + sizes[n].1 + LABEL_FONT_SIZE + 2.0,
                text: text.to_owned(),
                critical: false,
                below: Some(n),
                end_of: None,
                left,
            });
        }
    }
    let critical: HashSet<usize> = page.edges.iter().filter(|e| e.critical).map(|e| e.from).collect();
    for label in &mut labels {
        label.critical = label.below.is_some_and(|n| critical.contains(&n));
    }
    for (e, (edge, path)) in page.edges.iter().zip(&layout.paths).enumerate() {
        if several[edge.from]
            && !edge.control
            && let Some(&(x, y)) = path.last()
        {
            let (text, critical) = (edge.label.clone(), edge.critical);
            labels.push(Label {
                x: x + 3.0,
                y: y - 12.0,
                text,
                critical,
                below: None,
                end_of: Some(e),
                left: false,
            });
        }
    }
    shorten(page, &mut labels);
    Some(Drawing { page: number, layout, sizes, inside, labels })
}
