//! Writes graphs as an HTML page for browsers. The user can open and close boxes, move and zoom the picture,
//! and search for names. The page is a single file.

use crate::draw::{BOX_MARGIN, Drawing, LINE_HEIGHT, Label, draw, lines};
use crate::graph::Graph;
use crate::kind::Kind;
use crate::svg::escaped;
use serde_json::{Value, json};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Returns the page. With `open`, boxes are initially open.
pub fn html(graph: &Graph, open: bool) -> String {
    let pages: Vec<Value> = (0..graph.pages.len()).map(|n| page(graph, n)).collect();
    let kinds: serde_json::Map<String, Value> = Kind::ALL
        .iter()
        .map(|kind| {
            let (fill, stroke) = kind.colors();
            (kind.name().to_string(), json!([fill, stroke]))
        })
        .collect();
    let data =
        json!({ "pages": pages, "kinds": kinds, "open": open, "frame": BOX_MARGIN, "line": LINE_HEIGHT });
    // `</script>` in a name must not end the script.
    let data = data.to_string().replace('<', "\\u003c");
    let title = graph.pages.first().map_or(String::new(), |p| escaped(&p.title));
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{title}</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n\
         <header><h1>{title}</h1><input id=\"search\" type=\"search\" placeholder=\"name or opcode\">\
         <span id=\"found\"></span><button id=\"all\">open all</button><button id=\"none\">close all</button>\
         <button id=\"fit\">fit</button><span id=\"legend\"></span></header>\n\
         <main><svg id=\"picture\"></svg><aside id=\"details\"><p>Click a box for its text; \
         boxes with … open by a double click or Enter. Drag to move, turn the wheel to zoom.</p></aside></main>\n\
         <script id=\"data\" type=\"application/json\">{data}</script>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n"
    )
}

/// Returns the data of a page that is laid out with all boxes closed. The script makes room for opened boxes.
fn page(graph: &Graph, number: usize) -> Value {
    let Some(drawing) = draw(graph, number, false) else { return Value::Null };
    let page = &graph.pages[number];
    let nodes = page.nodes.iter().enumerate().map(|(n, node)| {
        let (place, size) = (drawing.layout.places[n], drawing.sizes[n]);
        let inner = node.inner.iter().map(|i| json!([i.role, i.page]));
        json!({
            "x": round(place.x), "y": round(place.y), "w": round(size.0), "h": round(size.1),
            "b": round(place.bottom), "lines": lines(page, n), "kind": node.kind.name(), "text": node.text,
            "inner": inner.collect::<Vec<_>>(), "critical": node.critical, "cut": node.cut, "root": node.root,
        })
    });
    let edges = page.edges.iter().zip(&drawing.layout.paths).map(|(edge, path)| {
        let points = path.iter().flat_map(|&(x, y)| [round(x), round(y)]);
        json!({
            "from": edge.from, "to": edge.to, "points": points.collect::<Vec<_>>(), "label": edge.label,
            "control": edge.control, "critical": edge.critical,
        })
    });
    json!({
        "title": page.title, "w": round(drawing.layout.width), "h": round(drawing.layout.height),
        "nodes": nodes.collect::<Vec<_>>(), "edges": edges.collect::<Vec<_>>(), "labels": labels(&drawing),
    })
}

fn labels(drawing: &Drawing) -> Vec<Value> {
    let label = |l: &Label| json!([round(l.x), round(l.y), l.text, l.critical, l.below, l.left, l.end_of]);
    drawing.labels.iter().map(label).collect()
}

/// Rounds to a tenth. More digits would only increase the size.
fn round(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}
