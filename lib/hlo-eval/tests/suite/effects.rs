//! Tests of asynchronous operations, transfers with the host and within the program, and collectives of one
//! device.

use crate::common::{assert_same, literal, module, run};
use hlo_eval::{EvalError, Options, evaluate_with_host};
use hlo_ir::Literal;
use hlo_ir::host::Queues;
use hlo_ir::print::print_literal;

const FUNCTIONS: &str = "HloModule m
add { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT r = f32[] add(a, b) }
twice { a = f32[2] parameter(0)
 ROOT r = f32[2] add(a, a) }
";

/// Runs an entry computation whose one parameter is `x = f32[2] {1, 2}`.
fn on_pair(body: &str) -> Result<Literal, EvalError> {
    run(&format!("{FUNCTIONS}ENTRY e {{\n x = f32[2] parameter(0)\n{body}\n}}\n"), &["f32[2] {1, 2}"])
}

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
        ("s = ((f32[2]), f32[2], s32[]) negate-start(x)\n ROOT d = f32[2] negate-done(s)", "f32[2] {-1, -2}"),
        (
            "s = ((f32[2]), f32[2], s32[]) call-start(x), to_apply=twice\n ROOT d = f32[2] call-done(s)",
            "f32[2] {2, 4}",
        ),
        ("ROOT b = f32[2] opt-barrier(x)", "f32[2] {1, 2}"),
        (
            "ROOT d = f32[2] domain(x), domain={kind=\"sharding\", entry={replicated}, exit={maximal device=0}}",
            "f32[2] {1, 2}",
        ),
        (
            "t = token[] after-all()\n u = token[] after-all(t, t)\n ROOT d = f32[2] add-dependency(x, u)",
            "f32[2] {1, 2}",
        ),
    ] {
        assert_same(on_pair(body), want);
    }
}

/// Each row is the result of one participant by the semantics, with groups of one replica.
#[test]
fn collectives_of_one_device() {
    for (body, want) in [
        ("ROOT r = f32[2] all-reduce(x), replica_groups={}, to_apply=add", "f32[2] {1, 2}"),
        (
            "ROOT r = (f32[2], f32[2]) all-reduce(x, x), replica_groups={{0}}, to_apply=add",
            "(f32[2], f32[2]) ({1, 2}, {1, 2})",
        ),
        (
            "s = f32[2] all-reduce-start(x), channel_id=1, replica_groups=[1,1]<=[1], to_apply=add
             ROOT r = f32[2] all-reduce-done(s)",
            "f32[2] {1, 2}",
        ),
        ("ROOT r = f32[2] all-gather(x), dimensions={0}", "f32[2] {1, 2}"),
        (
            "s = (f32[2], f32[2]) all-gather-start(x), dimensions={0}\n ROOT r = f32[2] all-gather-done(s)",
            "f32[2] {1, 2}",
        ),
        ("ROOT r = f32[2] reduce-scatter(x), dimensions={0}, to_apply=add", "f32[2] {1, 2}"),
        ("ROOT r = f32[2] all-to-all(x), dimensions={0}", "f32[2] {1, 2}"),
        ("ROOT r = (f32[2]) all-to-all(x), replica_groups={{0}}", "(f32[2]) ({1, 2})"),
        ("ROOT r = f32[2] collective-broadcast(x), replica_groups={{0}}", "f32[2] {1, 2}"),
        ("ROOT r = f32[2] collective-permute(x), source_target_pairs={{0,0}}", "f32[2] {1, 2}"),
        ("ROOT r = f32[2] collective-permute(x), source_target_pairs={}", "f32[2] {0, 0}"),
        (
            "s = (f32[2], f32[2], u32[], u32[]) collective-permute-start(x), source_target_pairs={}
             ROOT r = f32[2] collective-permute-done(s)",
            "f32[2] {0, 0}",
        ),
        (
            "a = u32[] partition-id()\n b = u32[] replica-id()\n ROOT r = (u32[], u32[]) tuple(a, b)",
            "(u32[], u32[]) (0, 0)",
        ),
    ] {
        assert_same(on_pair(body), want);
    }
}

/// Slices behave as in `dynamic-slice` and `dynamic-update-slice`: a start is clamped so that the slice is in
/// bounds.
#[test]
fn a_permute_of_slices_updates_its_output() {
    let text = "HloModule m\nENTRY e {
  x = s32[2,3] parameter(0)
  o = s32[3,3] parameter(1)
  zero = s32[] constant(0)
  one = s32[] constant(1)
  nine = s32[] constant(9)
  from = (s32[], s32[], s32[], s32[]) tuple(zero, one, one, zero)
  to = (s32[], s32[], s32[], s32[]) tuple(nine, zero, zero, nine)
  ROOT r = s32[3,3] collective-permute(x, o, from, to), source_target_pairs={{0,0}}, slice_sizes={{1,2},{1,1}}
}";
    let inputs = ["s32[2,3] {{1, 2, 3}, {4, 5, 6}}", "s32[3,3] {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}"];
    assert_same(run(text, &inputs), "s32[3,3] {{0, 0, 4}, {0, 0, 0}, {2, 3, 0}}");
}

#[test]
fn ragged_rows_go_where_they_are_sent() {
    let text = |sizes: &str| {
        format!(
            "HloModule m\nENTRY e {{
  x = s32[4,2] parameter(0)
  o = s32[4,2] parameter(1)
  from = s32[2] constant({{3, 0}})
  n = s32[2] constant({sizes})
  to = s32[2] constant({{0, 1}})
  ROOT r = s32[4,2] ragged-all-to-all(x, o, from, n, to, n)
}}"
        )
    };
    let inputs = ["s32[4,2] {{1, 2}, {3, 4}, {5, 6}, {7, 8}}", "s32[4,2] {{0, 0}, {0, 0}, {0, 0}, {9, 9}}"];
    let want = "s32[4,2] {{7, 8}, {1, 2}, {3, 4}, {9, 9}}";
    assert_same(run(&text("{1, 2}"), &inputs), want);
    let error = run(&text("{2, 2}"), &inputs).unwrap_err();
    assert_eq!(
        error.message,
        "`ragged-all-to-all` `r`: the input offset 3 of piece 0 is not within the 2 rows"
    );
}

#[test]
fn more_devices_are_refused_by_name() {
    for (body, message) in [
        (
            "ROOT r = f32[2] all-reduce(x), replica_groups={{0,1},{2,3}}, to_apply=add",
            "`all-reduce`: replica 1 is not one of the 1 that there are; the program runs on 1 device",
        ),
        (
            "ROOT r = f32[2] all-reduce(x), replica_groups={{3}}, to_apply=add",
            "`replica_groups` needs to name every device from 0 to 0, found no 0",
        ),
        (
            "ROOT r = f32[4] all-gather(x), dimensions={0}",
            "`all-gather`: its shapes need groups of 2, found a group of 1; the program runs on 1 device",
        ),
        (
            "ROOT r = f32[1] reduce-scatter(x), dimensions={0}, to_apply=add",
            "`reduce-scatter`: its shapes need groups of 2, found a group of 1; the program runs on 1 device",
        ),
        (
            "ROOT r = (f32[2], f32[2]) all-to-all(x, x)",
            "`all-to-all`: its shapes need groups of 2, found a group of 1; the program runs on 1 device",
        ),
        (
            "ROOT r = f32[2] collective-permute(x), source_target_pairs={{0,1},{1,0}}",
            "`collective-permute`: replica 1 is not one of the 1 that there are; the program runs on 1 device",
        ),
    ] {
        assert_eq!(on_pair(body).unwrap_err().message, message);
    }
    let text = "HloModule m, num_partitions=4\nENTRY e {\n ROOT p = u32[] partition-id()\n}\n";
    let error = run(text, &[]).unwrap_err();
    assert_eq!(error.message, "the module runs on 4 devices, but inputs of 1 were given");
    let text = text.replace("=4", "=4096");
    let message = "1 replicas with 4096 partitions each are not 1 to 1024 devices";
    assert_eq!(run(&text, &[]).unwrap_err().message, message);
}

/// Runs a module with items in the infeed. Returns the result and the items sent to the outfeed, as text.
fn with_infeed(text: &str, items: &[&str]) -> (Result<String, EvalError>, Vec<String>) {
    let mut host = Queues::with_infeed(items.iter().map(|i| literal(i)));
    let result = evaluate_with_host(&module(text), &[], &Options::default(), &mut host);
    let show =
        |l: &Literal| l.leaves().into_iter().map(|l| print_literal(l, None)).collect::<Vec<_>>().join("; ");
    (result.map(|r| show(&r)), host.outfeed.iter().map(show).collect())
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
  ROOT sum = s32[] get-tuple-element(w), index=1
}
";

#[test]
fn infeeds_and_outfeeds_in_a_loop() {
    let (result, sent) = with_infeed(LOOP, &["s32[] 5", "s32[] 6", "s32[] 7"]);
    assert_eq!(result.as_deref(), Ok("s32[] 18"));
    assert_eq!(sent, ["s32[] 5", "s32[] 11", "s32[] 18"]);
    let (result, sent) = with_infeed(LOOP, &["s32[] 5"]);
    let message = "infeed `in`: s32[] is expected, but the infeed is empty (1 item consumed before)";
    assert_eq!(result.unwrap_err().message, message);
    assert_eq!(sent, ["s32[] 5"]);
    let (result, _) = with_infeed(LOOP, &["s32[] 5", "f32[2] {1, 2}"]);
    let message = "infeed `in`: s32[] is expected, but the next item is f32[2] (1 item consumed before)";
    assert_eq!(result.unwrap_err().message, message);
}

/// Semantics, "Infeed": an empty tuple reads no item.
#[test]
fn tuples_are_items_and_empty_ones_are_none() {
    let text = "HloModule m\nENTRY e {
  t = token[] after-all()
  none = ((), token[]) infeed(t)
  u = token[] get-tuple-element(none), index=1
  in = ((f32[2], s32[]), token[]) infeed(u)
  d = (f32[2], s32[]) get-tuple-element(in), index=0
  out = token[] outfeed(d, u), outfeed_shape=(f32[2], s32[])
  e = () tuple()
  nothing = token[] outfeed(e, out)
  ROOT r = s32[] get-tuple-element(d), index=1
}";
    let (result, sent) = with_infeed(text, &["(f32[2], s32[]) ({1, 2}, 3)"]);
    assert_eq!(result.as_deref(), Ok("s32[] 3"));
    assert_eq!(sent, ["f32[2] {1, 2}; s32[] 3"]);
}

#[test]
fn infeeds_without_an_order_are_refused() {
    let text = "HloModule m\nENTRY e {
  t = token[] after-all()
  a = (s32[], token[]) infeed(t)
  b = (s32[], token[]) infeed(t)
  ROOT r = ((s32[], token[]), (s32[], token[])) tuple(a, b)
}";
    let (result, _) = with_infeed(text, &["s32[] 5", "s32[] 6"]);
    assert_eq!(
        result.unwrap_err().message,
        "`a` and `b` read the infeed in no order: neither depends on the other"
    );
}

/// A sender and a receiver in one computation, whatever their order in the text.
const EXCHANGE: &str = "HloModule m\nENTRY e {
  x = f32[2] constant({1, 2})
  t = token[] after-all()
  r = (f32[2], u32[], token[]) recv(t), channel_id=3
  rd = (f32[2], token[]) recv-done(r), channel_id=3
  ROOT y = f32[2] get-tuple-element(rd), index=0
  s = (f32[2], u32[], token[]) send(x, t), channel_id=3
  sd = token[] send-done(s), channel_id=3
}";

#[test]
fn a_program_sends_to_itself() {
    assert_same(run(EXCHANGE, &[]), "f32[2] {1, 2}");
    // In the body of a loop and after the loop, whatever the order in the text.
    let text = "HloModule m
condition {
  i = s32[] parameter(0)
  n = s32[] constant(2)
  ROOT c = pred[] compare(i, n), direction=LT
}
body {
  i = s32[] parameter(0)
  one = s32[] constant(1)
  t = token[] after-all()
  s = (s32[], u32[], token[]) send(i, t), channel_id=1
  sd = token[] send-done(s), channel_id=1
  ROOT next = s32[] add(i, one)
}
ENTRY e {
  t = token[] after-all()
  r = (s32[], u32[], token[]) recv(t), channel_id=1
  rd = (s32[], token[]) recv-done(r), channel_id=1
  first = s32[] get-tuple-element(rd), index=0
  u = token[] get-tuple-element(rd), index=1
  r2 = (s32[], u32[], token[]) recv(u), channel_id=1
  rd2 = (s32[], token[]) recv-done(r2), channel_id=1
  second = s32[] get-tuple-element(rd2), index=0
  zero = s32[] constant(0)
  w = s32[] while(zero), condition=condition, body=body
  ROOT y = (s32[], s32[]) tuple(first, second)
}";
    assert_same(run(text, &[]), "(s32[], s32[]) (0, 1)");
}

#[test]
fn what_waits_for_ever_is_named() {
    let after = "t2 = token[] get-tuple-element(rd), index=1\n  s = (f32[2], u32[], token[]) send(x, t2), channel_id=3";
    let circular = EXCHANGE.replace("s = (f32[2], u32[], token[]) send(x, t), channel_id=3", after);
    let message = "deadlock: `rd` waits for ever on channel 3: `s` in `e` sends on it, but has not run, or not as \
                   often (0 received before)";
    let error = run(&circular, &[]).unwrap_err();
    assert_eq!(error.message, message);
    assert_eq!(error.instruction.map(|i| module(&circular)[i].name.to_string()).as_deref(), Some("rd"));
    let alone = "HloModule m\nENTRY e {
  t = token[] after-all()
  r = (f32[2], u32[], token[]) recv(t), channel_id=3
  ROOT rd = (f32[2], token[]) recv-done(r), channel_id=3
}";
    let message = "deadlock: `rd` waits for ever on channel 3: nothing sends on it (0 received before)";
    assert_eq!(run(alone, &[]).unwrap_err().message, message);
    let sent = "HloModule m\nENTRY e {
  x = f32[2] constant({1, 2})
  t = token[] after-all()
  s = (f32[2], u32[], token[]) send(x, t), channel_id=3
  ROOT sd = token[] send-done(s), channel_id=3
}";
    let message = "deadlock: `s` waits for ever on channel 3: nothing receives what it sends (1 left)";
    assert_eq!(run(sent, &[]).unwrap_err().message, message);
}
