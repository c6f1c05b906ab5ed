//! Tests of the memory of a program, step by step.

use hlo_ir::verify::Verified;
use hlo_plan::BufferRef;
use hlo_plan::memory::{Allocation, memory};

#[test]
fn what_is_needed_together_lies_apart() {
    let module = hlo_parser::parse_module(
        "HloModule m
         ENTRY e {
           x = f32[1024] parameter(0)
           a = f32[1024] reverse(x), dimensions={0}
           b = f32[2048] concatenate(a, x), dimensions={0}
           c = f32[2048] reverse(b), dimensions={0}
           ROOT d = f32[1024] slice(c), slice={[0:1024]}
         }",
    )
    .unwrap();
    let memory = memory(Verified::new(&module).unwrap()).unwrap();
    let main = &memory.main;
    assert_eq!((main.parameter_bytes, main.output_bytes, memory.constant_bytes), (4096, 4096, 0));
    assert_eq!(main.steps.len(), 4);
    // Live together: a and b, b and c, c and d. These are 12, 16 and 12 KiB.
    assert_eq!(main.live_bytes(), [4096, 3 * 4096, 4 * 4096, 3 * 4096]);
    let arena = |a: &&Allocation| matches!(a.place, BufferRef::Arena(_));
    let all: Vec<&Allocation> = main.allocations.iter().filter(arena).collect();
    for (n, a) in all.iter().enumerate() {
        for b in &all[n + 1..] {
            let together = (0..main.steps.len()).any(|s| a.is_live(s) && b.is_live(s));
            let (BufferRef::Arena(at), BufferRef::Arena(other)) = (a.place, b.place) else { continue };
            assert!(!together || at + a.bytes <= other || other + b.bytes <= at, "{a:?} {b:?}");
            assert!(at + a.bytes <= main.arena_bytes);
        }
    }
}
