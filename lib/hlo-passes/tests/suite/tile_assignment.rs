//! The normal form of shardings, for all spellings in a text.

use hlo_ir::attr::{SingleSharding, TileAssignment};

fn normal(text: &str, rank: usize, devices: usize) -> Result<Option<TileAssignment>, String> {
    let sizes = vec!["8"; rank].join(",");
    let module = format!("HloModule m\nENTRY e {{ ROOT x = f32[{sizes}] parameter(0), sharding={text} }}");
    let module = hlo_parser::parse_module(&module).expect("a module");
    let sharding = module[module[module.entry()].root()].sharding().expect("a sharding");
    TileAssignment::of(&sharding.leaves()[0], rank, devices)
}

fn same(a: &str, b: &str, rank: usize, devices: usize) {
    assert_eq!(normal(a, rank, devices), normal(b, rank, devices), "{a} and {b}");
}

#[test]
fn spellings_of_the_same_are_equal() {
    same("{devices=[2,2]<=[4]}", "{devices=[2,2]0,1,2,3}", 2, 4);
    same("{devices=[2,2]<=[4]}", "{mesh['x'=2,'y'=2], [{'x'}, {'y'}]}", 2, 4);
    same("{devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}", "{mesh['x'=2,'y'=2], [{'y'}, {}]}", 2, 4);
    same("{devices=[4,1]<=[4]}", "{mesh['x'=2,'y'=2], [{'x','y'}, {}]}", 2, 4);
    same("{devices=[2,4]<=[8]}", "{mesh['a'=8], [{'a':(1)2}, {'a':(2)4}]}", 2, 8);
    same("{replicated}", "{mesh['x'=2,'y'=2], [{}, {}]}", 2, 4);
    same("{manual}", "{mesh['x'=2,'y'=2], manual}", 2, 4);
    same(
        "{devices=[2,1,2]<=[4] last_tile_dims={manual}}",
        "{mesh['x'=2,'y'=2], [{'x'}, {}], manual={'y'}}",
        2,
        4,
    );
}

#[test]
fn what_is_written_reads_as_the_same() {
    for text in [
        "{devices=[2,2]<=[4]}",
        "{devices=[2,2]<=[2,2]T(1,0)}",
        "{devices=[1,2,2]<=[2,2]T(1,0) last_tile_dim_replicate}",
        "{devices=[1,2,2]<=[4] last_tile_dims={manual}}",
        "{devices=[4,1]3,1,0,2}",
        "{replicated}",
        "{manual}",
    ] {
        let found = normal(text, 2, 4).expect("for 4 devices").expect("known");
        let again = SingleSharding { kind: found.to_kind(), group: None, metadata: Vec::new() };
        assert_eq!(TileAssignment::of(&again, 2, 4), Ok(Some(found)), "{text}");
    }
}

#[test]
fn what_does_not_fit_is_said() {
    assert_eq!(normal("{devices=[2,2]<=[4]}", 3, 4), Err("it cuts 2 dimensions, but the array has 3".into()));
    assert_eq!(
        normal("{devices=[2,2]<=[4]}", 2, 8),
        Err("it is for 4 devices, but the program runs on 8".into())
    );
    assert_eq!(
        normal("{devices=[2,2]0,1,2,9}", 2, 4),
        Err("device 9 is none of the 4 of the program".into())
    );
    assert_eq!(normal("{unknown}", 2, 4), Ok(None));
}

#[test]
fn a_tile_is_as_large_as_the_largest() {
    let cut = normal("{devices=[4,1]<=[4]}", 2, 4).expect("for 4 devices").expect("known");
    assert_eq!(cut.shard(&[10, 3])[..], [3, 3]);
    assert_eq!(cut.shard(&[0, 3])[..], [0, 3]);
    assert_eq!(cut.places()[2].tile[..], [2, 0]);
}

#[test]
fn dimensions_are_selected() {
    let cut = normal("{devices=[2,4]<=[8]}", 2, 8).expect("for 8 devices").expect("known");
    let turned = cut.select(&[Some(1), None, Some(0)]);
    assert_eq!(turned, normal("{devices=[4,1,2]<=[2,4]T(1,0)}", 3, 8).expect("fits").expect("known"));
    assert_eq!(cut.select(&[None]), TileAssignment::replicated(1, 8));
}
