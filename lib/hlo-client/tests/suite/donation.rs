//! Donated arguments, on both engines.

use hlo_client::{Argument, Buffer, Client, CompileOptions, ENGINES, Engine, Executable, Passes, RunOptions};
use hlo_ir::Literal;

fn each(text: &str, check: impl Fn(&Executable, bool)) {
    for (engine, donation) in [(Engine::Interpreted, true), (ENGINES[0], false), (ENGINES[0], true)] {
        for passes in [Passes::Default, Passes::Lowering] {
            let options = CompileOptions {
                engine: Some(engine),
                donation,
                passes,
                threads: 2,
                ..CompileOptions::default()
            };
            let program = Client::local().compile_text(text, &options).unwrap_or_else(|e| panic!("{e:?}"));
            check(&program, donation && engine == Engine::Compiled);
        }
    }
}

fn address(buffer: &Buffer) -> *const u8 {
    buffer.bytes().unwrap().as_ptr()
}

fn vector(values: &[f32]) -> Literal {
    Literal::r1(values)
}

/// Large enough for copies by the runtime.
const N: usize = 1 << 19;

fn update() -> String {
    format!(
        "HloModule m, input_output_alias={{ {{0}}: (0, {{}}, may-alias) }}
ENTRY e {{
  cache = f32[{N}] parameter(0)
  value = f32[2] parameter(1)
  at = s32[] parameter(2)
  next = f32[{N}] dynamic-update-slice(cache, value, at)
  i = s32[] constant(1)
  ROOT r = (f32[{N}], s32[]) tuple(next, i)
}}"
    )
}

#[test]
fn what_is_given_away_is_updated_where_it_lies() {
    each(&update(), |program, in_place| {
        let arguments = [vector(&vec![1.0; N]), vector(&[2.0, 3.0]), Literal::r0(5i32)];
        let mut buffers = program.buffers(&arguments).unwrap();
        let mut cache = Buffer::from_slice(&vec![1f32; N], buffers.remove(0).shape()).unwrap();
        let first = address(&cache);
        for round in 0..3 {
            let arguments =
                vec![Argument::Donated(cache), Argument::Kept(&buffers[0]), Argument::Kept(&buffers[1])];
            cache = program.execute_donating(arguments, RunOptions::default()).unwrap().remove(0);
            assert_eq!(cache.elements::<f32>().unwrap()[..8], [1., 1., 1., 1., 1., 2., 3., 1.]);
            assert!(!in_place || address(&cache) == first, "round {round}");
        }
    });
}

#[test]
fn what_others_have_or_the_caller_keeps_stays_as_it_is() {
    each(&update(), |program, _| {
        let value = vector(&vec![1.0; N]);
        let buffers = program.buffers(&[value.clone(), vector(&[2.0, 3.0]), Literal::r0(5i32)]).unwrap();
        let expected = [1., 1., 1., 1., 1., 2., 3., 1.];
        for cache in [Argument::Kept(&buffers[0]), Argument::Donated(buffers[0].clone())] {
            let arguments = vec![cache, Argument::Kept(&buffers[1]), Argument::Kept(&buffers[2])];
            let next = program.execute_donating(arguments, RunOptions::default()).unwrap();
            assert_eq!(next[0].elements::<f32>().unwrap()[..8], expected);
            assert_eq!(value.elements::<f32>(), vec![1.0; N]);
        }
        let all: Vec<&Buffer> = buffers.iter().collect();
        let next = program.execute(&all, RunOptions::default()).unwrap();
        assert_eq!(next[0].elements::<f32>().unwrap()[..8], expected);
    });
}

/// Each result has the memory of the other result's parameter.
#[test]
fn results_that_change_places_are_right() {
    for n in [3, N] {
        let text = format!(
            "HloModule m, input_output_alias={{ {{0}}: (0, {{}}, may-alias), {{1}}: (1, {{}}, may-alias) }}
ENTRY e {{
  a = f32[{n}] parameter(0)
  b = f32[{n}] parameter(1)
  ROOT r = (f32[{n}], f32[{n}]) tuple(b, a)
}}"
        );
        each(&text, |program, _| {
            let shape = &program.parameters()[0];
            for kept in 0..4 {
                let [a, b] = [1.0f32, 2.0].map(|x| Buffer::from_slice(&vec![x; n], shape).unwrap());
                let (kept_a, kept_b) = (a.clone(), b.clone());
                let arguments = vec![
                    if kept & 1 == 0 {
                        drop(kept_a);
                        Argument::Donated(a)
                    } else {
                        drop(a);
                        Argument::Kept(&kept_a)
                    },
                    if kept & 2 == 0 {
                        drop(kept_b);
                        Argument::Donated(b)
                    } else {
                        drop(b);
                        Argument::Kept(&kept_b)
                    },
                ];
                let results = program.execute_donating(arguments, RunOptions::default()).unwrap();
                assert_eq!(results[0].elements::<f32>().unwrap(), vec![2.0; n]);
                assert_eq!(results[1].elements::<f32>().unwrap(), vec![1.0; n]);
            }
        });
    }
}

/// The program reads the parameter after it has computed the aliased result.
#[test]
fn a_parameter_that_is_read_later_is_whole_until_then() {
    let text = "HloModule m, input_output_alias={ {0}: (0, {}, must-alias) }
add { x = f32[] parameter(0) y = f32[] parameter(1) ROOT s = f32[] add(x, y) }
ENTRY e {
  a = f32[100] parameter(0)
  b = f32[100] reverse(a), dimensions={0}
  z = f32[] constant(0)
  s = f32[] reduce(a, z), dimensions={0}, to_apply=add
  t = f32[100] broadcast(s), dimensions={}
  c = f32[100] add(b, t)
  d = f32[100] multiply(c, a)
  ROOT r = (f32[100], f32[100], f32[100]) tuple(c, d, a)
}";
    each(text, |program, _| {
        let numbers: Vec<f32> = (0..100).map(|n| n as f32).collect();
        let a = Buffer::from_slice(&numbers, &program.parameters()[0]).unwrap();
        let results = program.execute_donating(vec![Argument::Donated(a)], RunOptions::default()).unwrap();
        let c: Vec<f32> = numbers.iter().rev().map(|x| x + 4950.0).collect();
        let d: Vec<f32> = c.iter().zip(&numbers).map(|(x, y)| x * y).collect();
        assert_eq!(results[0].elements::<f32>().unwrap(), c);
        assert_eq!(results[1].elements::<f32>().unwrap(), d);
        assert_eq!(results[2].elements::<f32>().unwrap(), numbers);
    });
}

/// A loop-carried value that is initialized from a parameter and becomes its aliased result.
#[test]
fn a_loop_goes_on_in_the_memory_of_its_parameter() {
    let text = "HloModule m, input_output_alias={ {}: (0, {1}, may-alias) }
body {
  s = (s32[], f32[100000]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[100000] get-tuple-element(s), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  h = f32[] constant(0.5)
  hs = f32[100000] broadcast(h), dimensions={}
  y = f32[100000] multiply(x, hs)
  ROOT r = (s32[], f32[100000]) tuple(next, y)
}
condition {
  s = (s32[], f32[100000]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT p = pred[] compare(i, n), direction=LT
}
ENTRY e {
  a = (s32[], f32[100000]) parameter(0)
  w = (s32[], f32[100000]) while(a), condition=condition, body=body
  ROOT x = f32[100000] get-tuple-element(w), index=1
}";
    each(text, |program, in_place| {
        let [i, x] = program.parameters() else { panic!("two leaves") };
        let x = Buffer::from_slice(&vec![8f32; 100_000], x).unwrap();
        let i = Buffer::from_slice(&[0i32], i).unwrap();
        let before = address(&x);
        let arguments = vec![Argument::Kept(&i), Argument::Donated(x)];
        let results = program.execute_donating(arguments, RunOptions::default()).unwrap();
        assert_eq!(results[0].elements::<f32>().unwrap(), vec![1.0; 100_000]);
        assert!(!in_place || address(&results[0]) == before);
    });
}

/// Dynamic sizes are checked and cut as in any run.
#[test]
fn results_of_dynamic_sizes_are_cut_and_held_to_each_other() {
    let text = "HloModule m, input_output_alias={ {0}: (0, {}, may-alias) }
ENTRY e {
  a = f32[4] parameter(0)
  n = s32[] parameter(1)
  b = f32[<=4] set-dimension-size(a, n), dimensions={0}
  c = f32[4] add(a, a)
  ROOT r = (f32[4], f32[<=4]) tuple(c, b)
}";
    each(text, |program, _| {
        let run = |n: i32| {
            let a = Buffer::from_slice(&[1f32, 2., 3., 4.], &program.parameters()[0]).unwrap();
            let n = Buffer::from_slice(&[n], &program.parameters()[1]).unwrap();
            let arguments = vec![Argument::Donated(a), Argument::Kept(&n)];
            program.execute_donating(arguments, RunOptions::default())
        };
        let results = run(3).unwrap();
        assert_eq!(results.len(), 2);
        assert_eq!(results[0].elements::<f32>().unwrap(), [2., 4., 6., 8.]);
        assert_eq!(results[1].elements::<f32>().unwrap(), [1., 2., 3.]);
        assert!(run(9).is_err());
    });
}

/// Padded parameters are not updated in place, and the results are right.
#[test]
fn parameters_of_dynamic_sizes_may_be_given_away() {
    let text = "HloModule m, input_output_alias={ {}: (0, {}, may-alias) }
ENTRY e { a = f32[<=4] parameter(0) ROOT b = f32[<=4] add(a, a) }";
    each(text, |program, _| {
        let a = program.buffers(&[vector(&[1., 2., 3.])]).unwrap().remove(0);
        let results = program.execute_donating(vec![Argument::Donated(a)], RunOptions::default()).unwrap();
        assert_eq!(results[0].elements::<f32>().unwrap(), [2., 4., 6.]);
    });
}

const PAIR: &str = "HloModule m, input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {}, may-alias) }
ENTRY e {
  a = f32[4] parameter(0)
  b = f32[4] parameter(1)
  c = f32[4] add(a, b)
  d = f32[4] subtract(a, b)
  ROOT r = (f32[4], f32[4]) tuple(c, d)
}";

#[test]
fn an_array_may_be_given_twice_or_be_in_somebody_elses_memory() {
    each(PAIR, |program, _| {
        let shape = &program.parameters()[0];
        let check = |arguments: Vec<Argument<'_>>, sum: f32, difference: f32| {
            let results = program.execute_donating(arguments, RunOptions::default()).unwrap();
            assert_eq!(results[0].elements::<f32>().unwrap(), [sum; 4]);
            assert_eq!(results[1].elements::<f32>().unwrap(), [difference; 4]);
        };
        let array = |x: f32| Buffer::from_slice(&[x; 4], shape).unwrap();
        let twice = array(3.0);
        check(vec![Argument::Donated(twice.clone()), Argument::Donated(twice)], 6.0, 0.0);
        let kept = array(3.0);
        check(vec![Argument::Donated(kept.clone()), Argument::Kept(&kept)], 6.0, 0.0);
        assert_eq!(kept.elements::<f32>().unwrap(), [3.0; 4]);
        let owner: std::sync::Arc<[u128]> = std::sync::Arc::from([0x40400000_40400000_40400000_40400000u128]);
        let numbers = std::sync::Arc::clone(&owner);
        let borrowed = Buffer::from_owner(bytes(numbers), shape).unwrap();
        check(vec![Argument::Donated(borrowed), Argument::Donated(array(1.0))], 4.0, 2.0);
        assert_eq!(owner[0], 0x40400000_40400000_40400000_40400000);
    });
}

/// The bytes of numbers in shared memory.
fn bytes(numbers: std::sync::Arc<[u128]>) -> Bytes {
    Bytes(numbers)
}

struct Bytes(std::sync::Arc<[u128]>);

impl std::ops::Deref for Bytes {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        bytemuck::cast_slice(&self.0)
    }
}

// SAFETY: the elements are in a reference-counted slice, which does not move.
unsafe impl stable_deref_trait::StableDeref for Bytes {}

#[test]
fn results_of_runs_that_go_on_may_be_given_away() {
    each(PAIR, |program, _| {
        let shape = &program.parameters()[0];
        let [a, b] = [5f32, 2.].map(|x| Buffer::from_slice(&[x; 4], shape).unwrap());
        let run = program.execute_async(&[&a, &b], Default::default()).unwrap();
        let arguments = run.into_results().into_iter().map(Argument::Donated).collect();
        let results = program.execute_donating(arguments, RunOptions::default()).unwrap();
        assert_eq!(results[0].elements::<f32>().unwrap(), [10.0; 4]);
        assert_eq!(results[1].elements::<f32>().unwrap(), [4.0; 4]);
    });
}
