//! Writes graphs as text for Graphviz.

use crate::draw::lines;
use crate::graph::Graph;
use crate::kind::{CRITICAL_PATH_COLOR, EDGE_COLOR};
use crate::page::{Node, Page};
use std::fmt::Write;

/// Returns the graph in the DOT language. With `open`, computations inside boxes are clusters.
pub fn dot(graph: &Graph, open: bool) -> String {
    let mut out = String::new();
    let title = graph.pages.first().map_or("", |p| &p.title);
    // Writing to a string does not fail.
    let _ = writeln!(out, "digraph {} {{", quoted(title));
    out.push_str(
        "  graph [fontname=\"monospace\" fontsize=10 compound=true];\n  \
         node [shape=box style=\"filled,rounded\" fontname=\"monospace\" fontsize=10];\n  \
         edge [fontname=\"monospace\" fontsize=8];\n",
    );
    if !graph.pages.is_empty() {
        write_page(&mut out, graph, 0, "", open, 1);
    }
    out.push_str("}\n");
    out
}

/// Writes the boxes and edges of a page. All names begin with `prefix`.
fn write_page(out: &mut String, graph: &Graph, number: usize, prefix: &str, open: bool, depth: usize) {
    let Some(page) = graph.pages.get(number) else { return };
    let indent = "  ".repeat(depth);
    for (n, node) in page.nodes.iter().enumerate() {
        if !open || node.inner.is_empty() {
            write_node(out, page, n, node, prefix, &indent);
            continue;
        }
        let (fill, stroke) = node.kind.colors();
        let _ = writeln!(out, "{indent}subgraph {} {{", quoted(&format!("cluster {prefix}{n}")));
        let _ =
            writeln!(out, "{indent}  style=\"filled,rounded\"; fillcolor=\"{fill}\"; color=\"{stroke}\";");
        let _ = writeln!(out, "{indent}  label={};", shown(&node.lines.first().cloned().unwrap_or_default()));
        write_node(out, page, n, node, prefix, &format!("{indent}  "));
        for inner in &node.inner {
            let inside = format!("{prefix}{n}.{}.", inner.page);
            write_page(out, graph, inner.page, &inside, open, depth + 1);
        }
        let _ = writeln!(out, "{indent}}}");
    }
    for edge in &page.edges {
        let (from, to) = (quoted(&format!("{prefix}{}", edge.from)), quoted(&format!("{prefix}{}", edge.to)));
        let color = if edge.critical { CRITICAL_PATH_COLOR } else { EDGE_COLOR };
        let width = if edge.critical { " penwidth=2" } else { "" };
        let style = if edge.control { " style=dashed" } else { "" };
        let label = shown(&edge.label);
        let _ = writeln!(out, "{indent}{from} -> {to} [label={label} color=\"{color}\"{width}{style}];");
    }
}

fn write_node(out: &mut String, page: &Page, n: usize, node: &Node, prefix: &str, indent: &str) {
    let (fill, stroke) = node.kind.colors();
    let stroke = if node.critical { CRITICAL_PATH_COLOR } else { stroke };
    let mut style = String::new();
    if node.critical {
        style.push_str(" penwidth=2");
    }
    if node.cut {
        style.push_str(" style=\"filled,rounded,dashed\"");
    }
    if node.root {
        style.push_str(" peripheries=2");
    }
    let _ = writeln!(
        out,
        "{indent}{} [label={} tooltip={} fillcolor=\"{fill}\" color=\"{stroke}\"{style}];",
        quoted(&format!("{prefix}{n}")),
        shown(&lines(page, n).join("\n")),
        shown(&node.text),
    );
}

/// Returns a quoted string of the DOT language.
fn quoted(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{text}\"")
}

/// Returns a quoted string for display. Graphviz interprets character entities of HTML, such as `&lt;`, in
/// such strings.
fn shown(text: &str) -> String {
    quoted(&text.replace('&', "&amp;"))
}
