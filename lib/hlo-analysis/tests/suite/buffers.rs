//! Tests of which values share memory.

use crate::parse;
use hlo_analysis::{BufferKind, Buffers};
use hlo_ir::{InstrId, Module};

fn named(module: &Module, name: &str) -> InstrId {
    let all = module.computations().flat_map(|c| module[c].instructions());
    all.copied().find(|&i| &*module[i].name == name).expect("an instruction of that name")
}

#[test]
fn tuples_and_loops_are_names_of_what_is_in_them() {
    let m = parse(
        "HloModule m
         c { s = (f32[4], (s32[], f32[2])) parameter(0)
             ROOT t = pred[] constant(false) }
         b { ROOT s = (f32[4], (s32[], f32[2])) parameter(0) }
         ENTRY e {
           p = f32[4] parameter(0)
           i = s32[] constant(3)
           q = f32[2] iota(), iota_dimension=0
           inner = (s32[], f32[2]) tuple(i, q)
           init = (f32[4], (s32[], f32[2])) tuple(p, inner)
           w = (f32[4], (s32[], f32[2])) while(init), condition=c, body=b
           pair = (s32[], f32[2]) get-tuple-element(w), index=1
           ROOT last = f32[2] get-tuple-element(pair), index=1
         }",
    );
    let buffers = Buffers::of(&m, m.entry());
    let q = buffers.leaves(named(&m, "q"));
    assert_eq!(buffers.leaves(named(&m, "last")), q);
    assert_eq!(buffers.leaves(named(&m, "w")).len(), 3);
    let kinds: Vec<_> = buffers.list().iter().map(|b| (b.kind, b.bytes)).collect();
    assert_eq!(kinds, [(BufferKind::Parameter, 16), (BufferKind::Constant, 4), (BufferKind::Temporary, 8)]);
}

#[test]
fn asynchronous_operations_name_their_operands_and_results() {
    let m = parse(
        "HloModule m
         ENTRY e {
           p = f32[4] parameter(0)
           s = ((f32[4]), f32[4], s32[]) negate-start(p)
           ROOT d = f32[4] negate-done(s)
         }",
    );
    let buffers = Buffers::of(&m, m.entry());
    let start = buffers.leaves(named(&m, "s")).to_vec();
    assert_eq!(start[0], buffers.leaves(named(&m, "p"))[0]);
    assert_eq!(buffers.leaves(named(&m, "d")), &start[1..2]);
    assert_eq!(buffers.list().len(), 3);
}

#[test]
fn aliased_results_are_in_the_memory_of_operands() {
    let m = parse(
        "HloModule m
         f { a = f32[4] parameter(0)
             b = f32[4] parameter(1)
             n = f32[4] negate(b)
             ROOT t = (f32[4], f32[4]) tuple(a, n) }
         ENTRY e {
           p = f32[4] parameter(0)
           q = f32[4] parameter(1)
           r = f32[4] reverse(q), dimensions={0}
           one = (f32[4], f32[4]) fusion(p, r), kind=kLoop, output_to_operand_aliasing={{1}: (1, {})}, calls=f
           two = (f32[4], f32[4]) fusion(p, q), kind=kLoop, output_to_operand_aliasing={{1}: (1, {})}, calls=f
           ROOT t = ((f32[4], f32[4]), (f32[4], f32[4])) tuple(one, two)
         }",
    );
    let buffers = Buffers::of(&m, m.entry());
    let one = buffers.leaves(named(&m, "one"));
    assert_eq!(one[1], buffers.leaves(named(&m, "r"))[0]);
    assert_eq!(buffers.list()[one[0]].kind, BufferKind::Temporary);
    // A parameter cannot be overwritten, so a copy is needed.
    let two = buffers.leaves(named(&m, "two"));
    assert_ne!(two[1], buffers.leaves(named(&m, "q"))[0]);
    assert_eq!(buffers.list()[two[1]].kind, BufferKind::Temporary);
}
