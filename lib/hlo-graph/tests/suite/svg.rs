//! Tests of drawn graphs.

use hlo_graph::internals::curve;
use hlo_graph::{Graph, Request, escaped, svg};

#[test]
fn labels_side_by_side_do_not_reach_over_each_other() {
    let module = hlo_parser::parse_module(
        "HloModule m
         ENTRY e {
           x = (f32[16,10], f32[16], s32[]) parameter(0)
           a = f32[16,10] get-tuple-element(x), index=0
           b = f32[16] get-tuple-element(x), index=1
           c = s32[] get-tuple-element(x), index=2
           ROOT r = (f32[16,10], f32[16], s32[]) tuple(a, b, c)
         }",
    )
    .expect("a module");
    let request = Request {
        computation: module.entry(),
        around: None,
        limit: 10,
        weight: &|_| 0.0,
        note: &|_| String::new(),
    };
    let graph = Graph::of(&module, &request);
    let drawn = svg(&graph, false);
    // Only labels have an outline.
    let mut labels: Vec<(f64, &str)> = drawn
        .lines()
        .filter(|line| line.contains(" paint-order=\"stroke\" "))
        .map(|line| {
            let (_, rest) = line.split_once("<text x=\"").expect("a position");
            let (x, rest) = rest.split_once('"').expect("the end of the position");
            let (_, text) = rest.split_once('>').expect("a text");
            (x.parse().expect("a number"), text.strip_suffix("</text>").expect("the end of the text"))
        })
        .collect();
    labels.sort_by(|a, b| a.0.total_cmp(&b.0));
    let texts: Vec<&str> = labels.iter().map(|(_, text)| *text).collect();
    assert_eq!(texts, ["#0", "#1", "#2 s32[]"]);
}

#[test]
fn text_is_escaped() {
    assert_eq!(escaped("a<b> & \"c\"\u{1}"), "a&lt;b&gt; &amp; &quot;c&quot;\u{fffd}");
}

#[test]
fn lines_are_straight_or_curved() {
    assert_eq!(
        curve(&[(0.0, 0.0), (0.0, 10.0), (5.0, 20.0)], 1.0, 1.0),
        "M1.0,1.0L1.0,11.0C1.0,16.0 6.0,16.0 6.0,21.0"
    );
}
