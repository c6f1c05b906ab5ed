//! Tests of graphs in the DOT language.

use hlo_graph::{Graph, Kind, Node, Page, dot};

#[test]
fn strings_are_quoted() {
    let node = Node {
        instructions: Vec::new(),
        head: String::new(),
        lines: Vec::new(),
        shape: None,
        kind: Kind::Group,
        text: "a&lt;b & \"c\"".to_string(),
        inner: Vec::new(),
        root: false,
        critical: false,
        cut: false,
    };
    let page = Page { title: "a\"b\\c\nd".to_string(), nodes: vec![node], edges: Vec::new() };
    let text = dot(&Graph { pages: vec![page] }, false);
    assert!(text.contains(" tooltip=\"a&amp;lt;b &amp; \\\"c\\\"\" "), "{text}");
    assert!(text.starts_with("digraph \"a\\\"b\\\\c\\nd\" {\n"), "{text}");
}
