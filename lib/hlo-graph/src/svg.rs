//! Writes graphs as SVG pictures that every browser shows, without scripts or external files.

use crate::draw::{BOX_MARGIN, Drawing, FONT_SIZE, LABEL_FONT_SIZE, LINE_HEIGHT, PAD_X, PAD_Y, draw, lines};
use crate::graph::Graph;
use crate::kind::{CRITICAL_PATH_COLOR, EDGE_COLOR, Kind};
use crate::page::{Node, Page};
use std::fmt::Write;

/// The margin around the picture.
const MARGIN: f64 = 24.0;
/// The height of the title and the legend.
const HEADER: f64 = 56.0;

/// Returns the picture. With `open`, the computations inside boxes are drawn there.
pub fn svg(graph: &Graph, open: bool) -> String {
    let mut body = String::new();
    let (mut width, mut height) = (0.0f64, 0.0f64);
    let mut critical = false;
    if let Some(drawing) = draw(graph, 0, open) {
        (width, height) = (drawing.layout.width, drawing.layout.height);
        critical = drawn(graph, open).any(|n| n.critical);
        write_drawing(&mut body, graph, &drawing, MARGIN, MARGIN + HEADER);
    }
    let (legend, legend_width) = legend(graph, open, critical);
    let width = width.max(legend_width) + 2.0 * MARGIN;
    let height = height + 2.0 * MARGIN + HEADER;
    let title = graph.pages.first().map_or(String::new(), |p| escaped(&p.title));
    format!(
        "{}<defs>\n{}{}</defs>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n\
         <text x=\"{MARGIN}\" y=\"{:.0}\" font-size=\"15\" font-weight=\"bold\">{title}</text>\n{legend}{body}</svg>\n",
        opening(width, height),
        arrow("arrow", EDGE_COLOR),
        arrow("critical", CRITICAL_PATH_COLOR),
        MARGIN + 10.0,
    )
}

/// Returns the beginning of a picture.
fn opening(width: f64, height: f64) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
         height=\"{height:.0}\" font-family=\"'DejaVu Sans Mono', Menlo, Consolas, monospace\" \
         font-size=\"{FONT_SIZE}\">\n"
    )
}

/// Returns the beginning of a plot: a white background and a title.
pub(crate) fn plot_opening(width: f64, height: f64, title: &str) -> String {
    format!(
        "{}<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n<text x=\"20\" y=\"26\" font-size=\"15\" \
         font-weight=\"bold\">{}</text>\n",
        opening(width, height),
        escaped(title)
    )
}

/// Returns the definition of an arrow head.
fn arrow(id: &str, color: &str) -> String {
    format!(
        "<marker id=\"{id}\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" \
         markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path d=\"M0,1 L8,4 L0,7 z\" fill=\"{color}\"/></marker>\n"
    )
}

/// Returns the boxes in the picture. With `open`, these include the boxes inside other boxes.
fn drawn(graph: &Graph, open: bool) -> impl Iterator<Item = &Node> {
    let pages = if open { graph.pages.len() } else { 1 };
    graph.pages.iter().take(pages).flat_map(|p| &p.nodes)
}

/// Returns the legend of the colors in the picture, and its width.
fn legend(graph: &Graph, open: bool, critical: bool) -> (String, f64) {
    let mut kinds: Vec<Kind> = drawn(graph, open).map(|n| n.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let mut out = String::new();
    let mut x = MARGIN;
    let y = MARGIN + 24.0;
    for kind in kinds {
        let (fill, stroke) = kind.colors();
        let _ = writeln!(
            out,
            "<rect x=\"{x:.0}\" y=\"{y:.0}\" width=\"12\" height=\"12\" rx=\"2\" fill=\"{fill}\" stroke=\"{stroke}\"/>\
             <text x=\"{:.0}\" y=\"{:.0}\">{}</text>",
            x + 17.0,
            y + 10.0,
            kind.name()
        );
        x += 17.0 + kind.name().len() as f64 * 6.7 + 16.0;
    }
    if critical {
        let _ = writeln!(
            out,
            "<line x1=\"{x:.0}\" y1=\"{0:.0}\" x2=\"{1:.0}\" y2=\"{0:.0}\" stroke=\"{CRITICAL_PATH_COLOR}\" stroke-width=\"2.4\"/>\
             <text x=\"{2:.0}\" y=\"{3:.0}\" fill=\"{CRITICAL_PATH_COLOR}\">critical path</text>",
            y + 6.0,
            x + 18.0,
            x + 23.0,
            y + 10.0
        );
        x += 23.0 + 13.0 * 6.7;
    }
    (out, x)
}

/// Writes a page with its upper left corner at a position.
fn write_drawing(out: &mut String, graph: &Graph, drawing: &Drawing, x: f64, y: f64) {
    let Some(page) = graph.pages.get(drawing.page) else { return };
    // Draw critical edges above the others.
    for critical in [false, true] {
        for (edge, path) in page.edges.iter().zip(&drawing.layout.paths) {
            if edge.critical == critical {
                let dashes = if edge.control { " stroke-dasharray=\"4 3\"" } else { "" };
                let (color, width, marker) = if critical {
                    (CRITICAL_PATH_COLOR, 2.2, "critical")
                } else {
                    (EDGE_COLOR, 1.0, "arrow")
                };
                let _ = writeln!(
                    out,
                    "<path d=\"{}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"{width}\"{dashes} \
                     marker-end=\"url(#{marker})\"/>",
                    curve(path, x, y)
                );
            }
        }
    }
    for (n, node) in page.nodes.iter().enumerate() {
        write_node(out, graph, page, drawing, n, node, x, y);
    }
    for label in &drawing.labels {
        let color = if label.critical { CRITICAL_PATH_COLOR } else { "#57606a" };
        let anchor = if label.left { " text-anchor=\"end\"" } else { "" };
        let _ = writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\" font-size=\"{LABEL_FONT_SIZE}\" fill=\"{color}\" paint-order=\"stroke\" \
             stroke=\"#ffffff\" stroke-width=\"3\" stroke-linejoin=\"round\"{anchor}>{}</text>",
            x + label.x,
            y + label.y,
            escaped(&label.text)
        );
    }
}

#[expect(clippy::too_many_arguments, reason = "a box, where it stands and what it is part of")]
fn write_node(
    out: &mut String,
    graph: &Graph,
    page: &Page,
    drawing: &Drawing,
    n: usize,
    node: &Node,
    x: f64,
    y: f64,
) {
    let (place, (width, height)) = (drawing.layout.places[n], drawing.sizes[n]);
    let (left, top) = (x + place.x - width / 2.0, y + place.y);
    let (fill, stroke) = node.kind.colors();
    let (stroke, thickness) =
        if node.critical { (CRITICAL_PATH_COLOR, 2.2) } else { (stroke, if node.root { 2.0 } else { 1.0 }) };
    let dashes = if node.cut { " stroke-dasharray=\"5 3\"" } else { "" };
    let _ = writeln!(
        out,
        "<g><title>{}</title><rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" \
         rx=\"4\" fill=\"{fill}\" stroke=\"{stroke}\" stroke-width=\"{thickness}\"{dashes}/>",
        escaped(&node.text)
    );
    for (line, text) in lines(page, n).iter().enumerate() {
        let weight = if line == 0 { " font-weight=\"bold\"" } else { "" };
        let color = if line == 0 { "#1f2328" } else { "#424a53" };
        let _ = write!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\" fill=\"{color}\"{weight}>{}</text>",
            left + PAD_X,
            top + PAD_Y + 11.0 + line as f64 * LINE_HEIGHT,
            escaped(text)
        );
    }
    out.push_str("</g>\n");
    for ((dx, dy, inner), role) in drawing.inside[n].iter().zip(&node.inner) {
        let (w, h) = (inner.layout.width, inner.layout.height);
        let _ = writeln!(
            out,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"3\" fill=\"#ffffff\" \
             fill-opacity=\"0.7\" stroke=\"{stroke}\" stroke-width=\"0.5\"/><text x=\"{:.1}\" y=\"{:.1}\" \
             font-size=\"{LABEL_FONT_SIZE}\" fill=\"#57606a\">{}</text>",
            left + dx - BOX_MARGIN / 2.0,
            top + dy - BOX_MARGIN / 2.0,
            w + BOX_MARGIN,
            h + BOX_MARGIN,
            left + dx - BOX_MARGIN / 2.0,
            top + dy - BOX_MARGIN / 2.0 - 3.0,
            escaped(&role.role)
        );
        write_drawing(out, graph, inner, left + dx, top + dy);
    }
}

/// Returns a path through points. It is straight between points with the same x, and a curve with vertical
/// ends otherwise.
pub fn curve(path: &[(f64, f64)], x: f64, y: f64) -> String {
    let mut out = String::new();
    for (n, &(px, py)) in path.iter().enumerate() {
        let (px, py) = (px + x, py + y);
        let Some(&(ax, ay)) = n.checked_sub(1).and_then(|n| path.get(n)) else {
            let _ = write!(out, "M{px:.1},{py:.1}");
            continue;
        };
        let (ax, ay) = (ax + x, ay + y);
        if (ax - px).abs() < 0.5 {
            let _ = write!(out, "L{px:.1},{py:.1}");
        } else {
            let middle = (ay + py) / 2.0;
            let _ = write!(out, "C{ax:.1},{middle:.1} {px:.1},{middle:.1} {px:.1},{py:.1}");
        }
    }
    out
}

/// Escapes text for XML or HTML. Characters that XML cannot represent become the replacement character; the
/// available crates for escaping do not replace them.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
