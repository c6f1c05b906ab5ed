//! Tests of the orders that the scheduler tries.

use hlo_analysis::Roles;
use hlo_analysis::internals::Graph;
use hlo_ir::effects::Effects;

fn graph(text: &str) -> Graph {
    let module = hlo_parser::parse_module(text).expect("a module");
    let effects = Effects::of(&module);
    let entry = module.entry();
    Graph::new(&module, entry, effects.order(&module, entry), &effects, &Roles::of(&module), &|_| 0)
}

#[test]
fn a_large_value_that_is_reduced_at_once_is_not_kept() {
    // In text order the wide values come first, and all of them are live together.
    let mut text = "HloModule m\nENTRY e {\n p = f32[] parameter(0)\n".to_string();
    for n in 0..8 {
        text += &format!(" w{n} = f32[1000] broadcast(p), dimensions={{}}\n");
    }
    for n in 0..8 {
        text += &format!(" cut{n} = f32[1] slice(w{n}), slice={{[0:1]}}\n");
    }
    text += " ROOT t = (f32[1], f32[1], f32[1], f32[1], f32[1], f32[1], f32[1], f32[1]) \
             tuple(cut0, cut1, cut2, cut3, cut4, cut5, cut6, cut7)\n}";
    let graph = graph(&text);
    let best = graph.list_schedule();
    assert_eq!(graph.peak(&best), 4000 + 8 * 4);
    let wide_first: Vec<usize> = {
        let is_wide = |&at: &usize| graph.made[at] == 4000;
        let all = 0..graph.nodes.len();
        let (wide, rest): (Vec<usize>, Vec<usize>) = all.partition(is_wide);
        // The parameter comes first.
        let (first, rest) = rest.split_at(1);
        first.iter().chain(&wide).chain(rest).copied().collect()
    };
    assert_eq!(graph.peak(&wide_first), 8 * 4000 + 4);
}

#[test]
fn every_order_is_complete_and_keeps_effects() {
    let graph = graph(
        "HloModule m
         ENTRY e {
           p = f32[100] parameter(0)
           t = token[] after-all()
           a = f32[100] negate(p)
           o1 = token[] outfeed(a, t)
           b = f32[100] cosine(p)
           o2 = token[] outfeed(b, t)
           ROOT r = f32[100] add(a, b)
         }",
    );
    for order in [graph.depth_first(), graph.list_schedule()] {
        assert_eq!(order.len(), graph.nodes.len());
        let place = |at: usize| order.iter().position(|&o| o == at).expect("a position");
        for at in 0..graph.nodes.len() {
            assert!(graph.before[at].iter().all(|&p| place(p) < place(at)));
        }
    }
}
