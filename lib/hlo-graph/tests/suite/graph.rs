//! Tests of graphs of modules.

use hlo_graph::{Graph, Kind, Page, Request};
use hlo_ir::{InstrId, Module};

fn parse(text: &str) -> Module {
    hlo_parser::parse_module(text).expect("a module")
}

fn graph(module: &Module, around: Option<(&str, usize)>, limit: usize) -> Graph {
    let entry = module.entry();
    let named = |name: &str| module[entry].instructions().iter().copied().find(|&i| *module[i].name == *name);
    let around = around.map(|(name, depth)| (named(name).expect("an instruction"), depth));
    let weight = |i: InstrId| module[i].shape.byte_size() as f64;
    let note = |_: InstrId| String::new();
    Graph::of(module, &Request { computation: entry, around, limit, weight: &weight, note: &note })
}

const MODULE: &str = "HloModule m
    f { a = f32[8] parameter(0) one = f32[] constant(1) ones = f32[8] broadcast(one), dimensions={}
        ROOT s = f32[8] add(a, ones) }
    ENTRY e {
      x = (f32[8], f32[2]) parameter(0)
      big = f32[8] get-tuple-element(x), index=0
      small = f32[2] get-tuple-element(x), index=1
      n = f32[2] negate(small)
      c = f32[8] fusion(big), kind=kLoop, calls=f
      d = f32[8] fusion(c), kind=kLoop, calls=f
      ROOT r = (f32[2], f32[8], f32[8]) tuple(n, d, c)
    }";

#[test]
fn elements_and_scalars_are_no_boxes() {
    let module = parse(MODULE);
    let g = graph(&module, None, 100);
    let names: Vec<&str> = g.pages[0].nodes.iter().map(|n| n.lines[0].as_str()).collect();
    assert_eq!(names, ["x", "n", "c", "d", "r"]);
    assert!(g.pages[0].edges.iter().any(|e| e.from == 0 && e.to == 1 && e.label == "#1 f32[2]"));
    // The computation that two fusions call has one page.
    assert_eq!((g.pages.len(), g.open_boxes()), (2, 5 + 2 * 2));
    let inside: Vec<&str> = g.pages[1].nodes[1].lines.iter().map(String::as_str).collect();
    assert_eq!(inside, ["s", "operand 1 = 1"]);
    let critical: Vec<&str> =
        g.pages[0].nodes.iter().filter(|n| n.critical).map(|n| n.lines[0].as_str()).collect();
    assert_eq!(critical, ["x", "c", "d", "r"]);
    let shapes: Vec<bool> = g.pages[0].nodes.iter().map(|n| n.shape.is_some()).collect();
    assert_eq!(shapes, [false, false, false, false, true]);
}

#[test]
fn a_neighborhood_says_where_it_is_cut() {
    let module = parse(MODULE);
    let g = graph(&module, Some(("d", 1)), 100);
    let nodes: Vec<(&str, bool)> = g.pages[0].nodes.iter().map(|n| (n.lines[0].as_str(), n.cut)).collect();
    assert_eq!(nodes, [("c", true), ("d", false), ("r", true)]);
    let g = graph(&module, Some(("small", 0)), 100);
    assert_eq!(g.pages[0].nodes.len(), 1);
}

#[test]
fn boxes_are_counted_whatever_the_order_of_calls() {
    // Each computation calls the previous one twice, and the entry calls all of them, the innermost
    // first.
    let mut text = String::from("HloModule m\ng0 { p = f32[] parameter(0) ROOT n = f32[] negate(p) }\n");
    let mut entry = String::from("ENTRY e { c0 = f32[] parameter(0)\n");
    for n in 1..=30 {
        let m = n - 1;
        text += &format!(
            "g{n} {{ p = f32[] parameter(0) a = f32[] call(p), to_apply=g{m} ROOT b = f32[] call(a), to_apply=g{m} }}\n"
        );
        let root = if n == 30 { "ROOT " } else { "" };
        entry += &format!("{root}c{n} = f32[] call(c{m}), to_apply=g{m}\n");
    }
    let g = graph(&parse(&(text + &entry + "}")), None, 1000);
    // When opened, number n has b(n) = 3 + 2 b(n - 1) boxes, with b(0) = 2. This is 5 · 2ⁿ - 3.
    let inside: usize = (0..30).map(|n| 5 * (1 << n) - 3).sum();
    assert_eq!((g.pages[0].nodes.len(), g.open_boxes(), g.depth()), (31, 31 + inside, 31));
    let later = |(n, p): (usize, &Page)| p.nodes.iter().flat_map(|b| &b.inner).all(|i| i.page > n);
    assert!(g.pages.iter().enumerate().all(later));
}

#[test]
fn where_there_are_many_boxes_groups_are_boxes() {
    let module = parse(MODULE);
    let g = graph(&module, None, 3);
    // Five boxes in three groups, for example x; n, c; d, r.
    let first = &g.pages[0];
    assert!(first.nodes.len() <= 3);
    assert_eq!(first.nodes.iter().map(|n| n.instructions.len()).sum::<usize>(), 5);
    assert!(first.edges.iter().all(|e| e.from < e.to));
    let later = |(n, p): (usize, &Page)| p.nodes.iter().flat_map(|b| &b.inner).all(|i| i.page > n);
    assert!(g.pages.iter().enumerate().all(later));
    assert!(g.pages.iter().all(|p| p.nodes.len() <= 3));
    // The contents of a fusion in a group form an ordinary page.
    let inside = |p: &Page| p.title == "f";
    assert_eq!(g.pages.iter().filter(|p| inside(p)).count(), 1);
    let group = first.nodes.iter().find(|n| n.instructions.len() > 1).expect("a group");
    assert_eq!(group.kind, Kind::Group);
    let page = &g.pages[group.inner[0].page];
    assert_eq!(page.nodes.len(), group.instructions.len());
    assert!(page.nodes.iter().any(|n| n.cut));
    assert!(graph(&module, None, 5).pages[0].nodes.iter().all(|n| n.kind != Kind::Group));
}
