//! Asynchronous operations, transfers and collectives of one device, compiled. Tests the results, the sent
//! values, failures, and that nothing happens after a failure.

use crate::module;
use hlo_codegen::{CompileOptions, Executable, RunError, compile};
use hlo_ir::Literal;
use hlo_ir::host::Queues;
use hlo_ir::print::print_literal;

fn compiled(text: &str, threads: usize) -> Executable {
    let options = CompileOptions { threads, ..CompileOptions::default() };
    compile(module(text).as_ref(), &options).unwrap_or_else(|e| panic!("{e:?}\n{text}"))
}

fn literal(text: &str) -> Literal {
    hlo_parser::parse_literal(text).unwrap_or_else(|e| panic!("{e:?}\n{text}"))
}

fn show(value: &Literal) -> String {
    value.leaves().into_iter().map(|l| print_literal(l, None)).collect::<Vec<_>>().join("; ")
}

/// Runs a program without parameters. Returns its result by leaves, the values that it sent, and the number
/// of remaining infeed items.
fn run(executable: &Executable, items: &[&str]) -> (Result<String, RunError>, Vec<String>, usize) {
    let mut host = Queues::with_infeed(items.iter().map(|i| literal(i)));
    let outputs = executable.run_with_host(&[], &mut host);
    let result = outputs.map(|outputs| {
        let shapes = executable.result().leaves();
        let leaves = shapes.into_iter().zip(outputs).map(|(shape, bytes)| match shape.as_array() {
            Some(_) => Literal::from_bytes(shape.clone(), bytes),
            None => Literal::token(),
        });
        leaves.map(|l| show(&l)).collect::<Vec<_>>().join("; ")
    });
    (result, host.outfeed.iter().map(show).collect(), host.infeed.len())
}

/// Runs a program on several numbers of threads and checks that all runs behave the same.
fn on_threads(text: &str, items: &[&str]) -> (Result<String, RunError>, Vec<String>, usize) {
    let first = run(&compiled(text, 1), items);
    for threads in [2, 3, 8] {
        assert_eq!(run(&compiled(text, threads), items), first, "{threads} threads\n{text}");
    }
    first
}

fn transfer_failure(result: Result<String, RunError>) -> String {
    match result {
        Err(RunError::Transfer { message, .. }) => message,
        other => panic!("{other:?}"),
    }
}

const FUNCTIONS: &str = "HloModule m
add { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT r = f32[] add(a, b) }
twice { a = f32[2] parameter(0)
 ROOT r = f32[2] add(a, a) }
";

#[test]
fn what_is_started_is_done() {
    for (body, want) in [
        ("s = (f32[2], f32[2], u32[]) copy-start(x)\n ROOT d = f32[2] copy-done(s)", "f32[2] {1, 2}"),
        (
            "s = ((f32[2]), f32[2], s32[]) async-start(x), calls=twice
             u = ((f32[2]), f32[2], s32[]) async-update(s)
             ROOT d = f32[2] async-done(u)",
            "f32[2] {2, 4}",
        ),
        (
            "s = ((f32[2]), f32[2], s32[]) call-start(x), to_apply=twice\n ROOT d = f32[2] call-done(s)",
            "f32[2] {2, 4}",
        ),
        ("ROOT r = f32[2] all-reduce(x), replica_groups={}, to_apply=add", "f32[2] {1, 2}"),
        (
            "ROOT r = (f32[2], f32[2]) all-reduce(x, x), replica_groups={{0}}, to_apply=add",
            "f32[2] {1, 2}; f32[2] {1, 2}",
        ),
        (
            "s = f32[2] all-reduce-start(x), replica_groups={}, to_apply=add
             ROOT r = f32[2] all-reduce-done(s)",
            "f32[2] {1, 2}",
        ),
        (
            "s = (f32[2], f32[2]) all-gather-start(x), dimensions={0}\n ROOT r = f32[2] all-gather-done(s)",
            "f32[2] {1, 2}",
        ),
        ("ROOT r = f32[2] reduce-scatter(x), dimensions={0}, to_apply=add", "f32[2] {1, 2}"),
        ("ROOT r = (f32[2]) all-to-all(x), replica_groups={{0}}", "f32[2] {1, 2}"),
        ("ROOT r = f32[2] collective-broadcast(x), replica_groups={{0}}", "f32[2] {1, 2}"),
        ("ROOT r = f32[2] collective-permute(x), source_target_pairs={{0,0}}", "f32[2] {1, 2}"),
        ("ROOT r = f32[2] collective-permute(x), source_target_pairs={}", "f32[2] {0, 0}"),
        (
            "s = (f32[2], f32[2], u32[], u32[]) collective-permute-start(x), source_target_pairs={}
             ROOT r = f32[2] collective-permute-done(s)",
            "f32[2] {0, 0}",
        ),
        ("a = u32[] partition-id()\n b = u32[] replica-id()\n ROOT r = u32[] add(a, b)", "u32[] 0"),
    ] {
        let text = format!("{FUNCTIONS}ENTRY e {{\n x = f32[2] constant({{1, 2}})\n {body}\n}}\n");
        assert_eq!(run(&compiled(&text, 2), &[]).0.as_deref(), Ok(want), "{text}");
    }
}

/// An operation may start in one iteration of a loop and finish in the next.
#[test]
fn a_state_goes_round_a_loop() {
    let text = format!(
        "{FUNCTIONS}
double {{ a = f32[2] parameter(0)
 ROOT r = f32[2] add(a, a) }}
condition {{
  s = (s32[], ((f32[2]), f32[2], s32[])) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT c = pred[] compare(i, n), direction=LT
}}
body {{
  s = (s32[], ((f32[2]), f32[2], s32[])) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  before = ((f32[2]), f32[2], s32[]) get-tuple-element(s), index=1
  x = f32[2] async-done(before)
  again = ((f32[2]), f32[2], s32[]) async-start(x), calls=double
  ROOT r = (s32[], ((f32[2]), f32[2], s32[])) tuple(next, again)
}}
ENTRY e {{
  x = f32[2] constant({{1, 2}})
  zero = s32[] constant(0)
  first = ((f32[2]), f32[2], s32[]) async-start(x), calls=twice
  s = (s32[], ((f32[2]), f32[2], s32[])) tuple(zero, first)
  w = (s32[], ((f32[2]), f32[2], s32[])) while(s), condition=condition, body=body
  last = ((f32[2]), f32[2], s32[]) get-tuple-element(w), index=1
  ROOT y = f32[2] async-done(last)
}}
"
    );
    assert_eq!(on_threads(&text, &[]).0.as_deref(), Ok("f32[2] {16, 32}"));
}

/// Three iterations. Each reads an item, adds it to the sum and sends the sum, although nothing uses the
/// token of the outfeed.
const LOOP: &str = "HloModule m
condition {
  s = (s32[], s32[], token[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT c = pred[] compare(i, n), direction=LT
}
body {
  s = (s32[], s32[], token[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  sum = s32[] get-tuple-element(s), index=1
  t = token[] get-tuple-element(s), index=2
  one = s32[] constant(1)
  next = s32[] add(i, one)
  in = (s32[], token[]) infeed(t)
  x = s32[] get-tuple-element(in), index=0
  more = s32[] add(sum, x)
  u = token[] get-tuple-element(in), index=1
  out = token[] outfeed(more, u)
  ROOT r = (s32[], s32[], token[]) tuple(next, more, u)
}
ENTRY e {
  zero = s32[] constant(0)
  t = token[] after-all()
  s = (s32[], s32[], token[]) tuple(zero, zero, t)
  w = (s32[], s32[], token[]) while(s), condition=condition, body=body
  sum = s32[] get-tuple-element(w), index=1
  v = token[] get-tuple-element(w), index=2
  last = token[] outfeed(zero, v)
  ROOT y = s32[] negate(sum)
}
";

#[test]
fn infeeds_and_outfeeds_in_a_loop() {
    let (result, sent, left) = on_threads(LOOP, &["s32[] 5", "s32[] 6", "s32[] 7", "s32[] 8"]);
    assert_eq!(result.as_deref(), Ok("s32[] -18"));
    assert_eq!((sent, left), (["5", "11", "18", "0"].map(|n| format!("s32[] {n}")).to_vec(), 1));
}

/// The program ends after a failure. Neither the loop continues nor does the outfeed after it run.
#[test]
fn nothing_happens_after_a_failure() {
    let (result, sent, left) = on_threads(LOOP, &["s32[] 5", "f32[] 6", "s32[] 7"]);
    let message = "infeed `in`: s32[] is expected, but the next item is f32[] (1 item consumed before)";
    assert_eq!(transfer_failure(result), message);
    assert_eq!((sent, left), (vec!["s32[] 5".to_string()], 2));
    // The same program can run again.
    let executable = compiled(LOOP, 2);
    let failed = run(&executable, &[]).0;
    let message = "infeed `in`: s32[] is expected, but the infeed is empty (0 items consumed before)";
    assert_eq!(transfer_failure(failed), message);
    assert_eq!(run(&executable, &["s32[] 1", "s32[] 2", "s32[] 3"]).0.as_deref(), Ok("s32[] -6"));
}

/// Transferred values are row-major, whatever the layouts of the program.
#[test]
fn tuples_and_layouts_are_transferred() {
    let text = "HloModule m\nENTRY e {
  t = token[] after-all()
  none = ((), token[]) infeed(t)
  u = token[] get-tuple-element(none), index=1
  in = ((f32[2,3]{0,1}, s32[]), token[]) infeed(u)
  d = (f32[2,3]{0,1}, s32[]) get-tuple-element(in), index=0
  x = f32[2,3]{0,1} get-tuple-element(d), index=0
  n = s32[] get-tuple-element(d), index=1
  y = f32[2,3]{0,1} negate(x)
  v = (f32[2,3]{0,1}, s32[]) tuple(y, n)
  out = token[] outfeed(v, u), outfeed_shape=(f32[2,3]{0,1}, s32[])
  e = () tuple()
  nothing = token[] outfeed(e, out)
  ROOT r = f32[3,2]{1,0} transpose(y), dimensions={1,0}
}";
    let item = "(f32[2,3], s32[]) ({{1, 2, 3}, {4, 5, 6}}, 7)";
    let (result, sent, left) = on_threads(text, &[item]);
    assert_eq!(result.as_deref(), Ok("f32[3,2] { { -1, -4 }, { -2, -5 }, { -3, -6 } }"));
    assert_eq!((sent, left), (vec!["f32[2,3] { { -1, -2, -3 }, { -4, -5, -6 } }; s32[] 7".to_string()], 0));
}

#[test]
fn ragged_rows_go_where_they_are_sent() {
    let text = |sizes: &str| {
        format!(
            "HloModule m\nENTRY e {{
  x = s32[4,2]{{0,1}} constant({{{{1, 2}}, {{3, 4}}, {{5, 6}}, {{7, 8}}}})
  o = s32[4,2] constant({{{{0, 0}}, {{0, 0}}, {{0, 0}}, {{9, 9}}}})
  from = s64[2] constant({{3, 0}})
  n = s64[2] constant({sizes})
  to = s64[2] constant({{0, 1}})
  r = s32[4,2]{{0,1}} ragged-all-to-all(x, o, from, n, to, n)
  ROOT y = s32[4,2] copy(r)
}}"
        )
    };
    let want = "s32[4,2] { { 7, 8 }, { 1, 2 }, { 3, 4 }, { 9, 9 } }";
    assert_eq!(on_threads(&text("{1, 2}"), &[]).0.as_deref(), Ok(want));
    let message = "ragged-all-to-all: the input offset 3 of piece 0 is not within the 2 rows";
    assert_eq!(on_threads(&text("{2, 2}"), &[]).0, Err(RunError::Failed(message.to_string())));
}

/// A branch sends the value that is received after the conditional, in either order of the text.
const BRANCHES: &str = "HloModule m
yes {
  x = f32[2] parameter(0)
  t = token[] after-all()
  s = (f32[2], u32[], token[]) send(x, t), channel_id=3
  ROOT sd = token[] send-done(s), channel_id=3
}
no {
  x = f32[2] parameter(0)
  ROOT t = token[] after-all()
}
ENTRY e {
  t = token[] after-all()
  r = (f32[2], u32[], token[]) recv(t), channel_id=3
  rd = (f32[2], token[]) recv-done(r), channel_id=3
  y = f32[2] get-tuple-element(rd), index=0
  in = (pred[], token[]) infeed(t)
  p = pred[] get-tuple-element(in), index=0
  x = f32[2] constant({1, 2})
  c = token[] conditional(p, x, x), true_computation=yes, false_computation=no
  ROOT n = f32[2] negate(y)
}
";

#[test]
fn a_program_sends_to_itself_or_waits_for_ever() {
    assert_eq!(on_threads(BRANCHES, &["pred[] true"]).0.as_deref(), Ok("f32[2] {-1, -2}"));
    let message = "deadlock: `rd` waits for ever on channel 3: `s` in `yes` sends on it, but has not run, or not as \
                   often (0 received before)";
    assert_eq!(transfer_failure(on_threads(BRANCHES, &["pred[] false"]).0), message);
    let sends = "HloModule m\nENTRY e {
  x = f32[2] constant({1, 2})
  t = token[] after-all()
  s = (f32[2], u32[], token[]) send(x, t), channel_id=3
  ROOT sd = token[] send-done(s), channel_id=3
}";
    let message = "deadlock: `s` waits for ever on channel 3: nothing receives what it sends (1 left)";
    assert_eq!(transfer_failure(run(&compiled(sends, 2), &[]).0), message);
}

#[test]
fn devices_are_counted_by_the_header() {
    let text = "HloModule m, replica_count=4\nENTRY e {\n ROOT r = u32[] replica-id()\n}\n";
    let program = compiled(text, 2);
    assert_eq!(program.devices().devices(), 4);
    let error = program.run(&[]).expect_err("buffers of one device");
    assert_eq!(error.to_string(), "the program runs on 4 devices, but was given buffers for 1");
    let text = text.replace("=4", "=4096");
    let refused = compile(module(&text).as_ref(), &CompileOptions::default()).unwrap_err();
    assert_eq!(refused[0].message, "4096 replicas with 1 partitions each are not 1 to 1024 devices");
    assert_eq!(refused[0].code, Some(hlo_ir::diag::Code::new("E1162")));
}
