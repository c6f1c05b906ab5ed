//! Tests of the division of instructions into groups.

use hlo_graph::internals::{groups, split_scope};
use hlo_ir::{InstrId, Module};

fn chain(count: usize, scope: impl Fn(usize) -> String) -> (Module, Vec<InstrId>, Vec<(usize, usize)>) {
    let mut text = String::from("HloModule m\nENTRY e {\n x0 = f32[] parameter(0)\n");
    for n in 1..count {
        let root = if n + 1 == count { "ROOT " } else { "" };
        let metadata = format!("metadata={{op_name=\"{}\"}}", scope(n));
        text += &format!(" {root}x{n} = f32[] negate(x{}), {metadata}\n", n - 1);
    }
    let module = hlo_parser::parse_module(&(text + "}")).expect("a module");
    let list = module.post_order(module.entry());
    (module, list, (1..count).map(|n| (n - 1, n)).collect())
}

#[test]
fn scopes_are_groups_as_deep_as_fits() {
    // Four layers of three parts each.
    let (module, list, edges) =
        chain(61, |n| format!("jit(f)/layer_{}/part_{}/neg", (n - 1) / 15, (n - 1) / 5));
    let names = |limit| -> Vec<String> {
        groups(
            &module,
            &list[1..],
            &edges[1..].iter().map(|&(a, b)| (a - 1, b - 1)).collect::<Vec<_>>(),
            limit,
        )
        .into_iter()
        .map(|g| g.name)
        .collect()
    };
    assert_eq!(names(12).len(), 12);
    assert_eq!(names(12)[4], "jit(f)/layer_1/part_4");
    assert_eq!(names(6), ["jit(f)/layer_0", "jit(f)/layer_1", "jit(f)/layer_2", "jit(f)/layer_3"]);
    let few = names(2);
    assert_eq!(few, ["jit(f)", "jit(f)"]);
}

#[test]
fn without_scopes_pieces_are_even() {
    let (module, list, edges) = chain(100, |_| String::new());
    let all = groups(&module, &list, &edges, 7);
    assert_eq!(all.len(), 7);
    assert!(all.iter().all(|g| (14..=15).contains(&g.members.len())), "{all:?}");
    assert_eq!(all.iter().map(|g| g.members.len()).sum::<usize>(), 100);
}

#[test]
fn groups_do_not_wait_for_each_other() {
    // Two alternating scopes.
    let (module, list, edges) = chain(40, |n| format!("f/{}/neg", ["a", "b"][n % 2]));
    let all = groups(&module, &list, &edges, 5);
    assert!(all.len() <= 5);
    let place = |i: InstrId| all.iter().position(|g| g.members.contains(&i));
    assert!(edges.iter().all(|&(a, b)| place(list[a]) <= place(list[b])));
}

#[test]
fn slashes_in_brackets_divide_nothing() {
    assert_eq!(split_scope("jit(a/b)/c[d/e]/f").collect::<Vec<_>>(), ["jit(a/b)", "c[d/e]", "f"]);
}
