//! Tests of programs on several devices: the results of collectives on each device, with the numbers of the
//! examples in the semantics.

use crate::common::{literal, module};
use hlo_eval::{EvalError, Options, evaluate_on_devices};
use hlo_ir::Literal;
use hlo_ir::print::print_literal;

const ADD: &str = "add { a = s32[] parameter(0) b = s32[] parameter(1) ROOT c = s32[] add(a, b) }";

/// Runs a module on its devices. `inputs` contains one literal per device, as text. Returns the result of
/// each device.
fn run(header: &str, body: &str, inputs: &[&str]) -> Result<Vec<String>, EvalError> {
    let module = module(&format!("HloModule m, {header}\n{ADD}\nENTRY e {{\n{body}\n}}\n"));
    let inputs: Vec<Vec<Literal>> = inputs.iter().map(|i| vec![literal(i)]).collect();
    let results = evaluate_on_devices(&module, &inputs, &Options::default())?;
    let show =
        |l: &Literal| l.leaves().into_iter().map(|l| print_literal(l, None)).collect::<Vec<_>>().join("; ");
    Ok(results.iter().map(show).collect())
}

fn expect(header: &str, body: &str, inputs: &[&str], results: &[&str]) {
    let found = run(header, body, inputs).unwrap_or_else(|e| panic!("{body}: {e}"));
    let shorter: Vec<&str> = found.iter().map(|r| r.split_once(' ').map_or(&r[..], |(_, v)| v)).collect();
    assert_eq!(shorter, results, "{body}");
}

const PAIRS: [&str; 4] = ["s32[2] {1, 10}", "s32[2] {2, 20}", "s32[2] {3, 30}", "s32[2] {4, 40}"];

#[test]
fn devices_know_who_they_are() {
    let body = "x = s32[2] parameter(0)\n r = u32[] replica-id()\n p = u32[] partition-id()\n ROOT t = (u32[], u32[]) tuple(r, p)";
    let found = run("replica_count=2, num_partitions=2", body, &PAIRS).expect("ids");
    assert_eq!(found, ["u32[] 0; u32[] 0", "u32[] 0; u32[] 1", "u32[] 1; u32[] 0", "u32[] 1; u32[] 1"]);
}

#[test]
fn groups_are_of_replicas_partitions_or_devices() {
    let sum = |attributes: &str| {
        format!("x = s32[2] parameter(0)\n ROOT r = s32[2] all-reduce(x), to_apply=add{attributes}")
    };
    let two_by_two = "replica_count=2, num_partitions=2";
    let all = ["{10, 100}"; 4];
    expect(two_by_two, &sum(""), &PAIRS, &["{4, 40}", "{6, 60}", "{4, 40}", "{6, 60}"]);
    expect(two_by_two, &sum(", channel_id=1, replica_groups={{0,1}}"), &PAIRS, &all);
    expect(
        two_by_two,
        &sum(", channel_id=1, replica_groups={{0},{1}}"),
        &PAIRS,
        &["{3, 30}", "{3, 30}", "{7, 70}", "{7, 70}"],
    );
    let global = ", channel_id=1, use_global_device_ids=true, replica_groups=";
    expect(two_by_two, &sum(&format!("{global}{{{{0,3}},{{2,1}}}}")), &PAIRS, &["{5, 50}"; 4]);
    expect(
        two_by_two,
        &sum(&format!("{global}[2,2]<=[2,2]T(1,0)")),
        &PAIRS,
        &["{4, 40}", "{6, 60}", "{4, 40}", "{6, 60}"],
    );
    expect(
        two_by_two,
        &sum(&format!("{global}mesh['x'=2,'y'=2] {{'y'}}")),
        &PAIRS,
        &["{3, 30}", "{3, 30}", "{7, 70}", "{7, 70}"],
    );
    expect("replica_count=4", &sum(""), &PAIRS, &all);
    expect(
        "replica_count=4",
        &sum(", replica_groups={{2,0,1},{3}}"),
        &PAIRS,
        &["{6, 60}", "{6, 60}", "{6, 60}", "{4, 40}"],
    );
}

#[test]
fn arrays_are_gathered_exchanged_and_scattered_along_any_dimension() {
    let four = "replica_count=2";
    let inputs = ["s32[2,2] {{1, 2}, {3, 4}}", "s32[2,2] {{5, 6}, {7, 8}}"];
    let x = "x = s32[2,2] parameter(0)\n ROOT r = ";
    let both = |value: &str| [value.to_string(), value.to_string()];
    for (d, shape, value) in [
        (0, "s32[4,2]", "{ {1, 2}, {3, 4}, {5, 6}, {7, 8} }"),
        (1, "s32[2,4]", "{ {1, 2, 5, 6}, {3, 4, 7, 8} }"),
    ] {
        let found =
            run(four, &format!("{x}{shape} all-gather(x), dimensions={{{d}}}"), &inputs).expect("an array");
        let squeezed: Vec<String> = found.iter().map(|f| squeeze(f)).collect();
        assert_eq!(squeezed, both(&squeeze(&format!("{shape} {value}"))));
    }
    for (d, first, second) in [(0, "{{1,2},{5,6}}", "{{3,4},{7,8}}"), (1, "{{1,5},{3,7}}", "{{2,6},{4,8}}")] {
        let found =
            run(four, &format!("{x}s32[2,2] all-to-all(x), dimensions={{{d}}}"), &inputs).expect("an array");
        let squeezed: Vec<String> = found.iter().map(|f| squeeze(f)).collect();
        assert_eq!(squeezed, [format!("s32[2,2]{first}"), format!("s32[2,2]{second}")], "{d}");
    }
    for (d, shape, first, second) in
        [(0, "s32[1,2]", "{{6,8}}", "{{10,12}}"), (1, "s32[2,1]", "{{6},{10}}", "{{8},{12}}")]
    {
        let body = format!("{x}{shape} reduce-scatter(x), dimensions={{{d}}}, to_apply=add");
        let found = run(four, &body, &inputs).expect("an array");
        let squeezed: Vec<String> = found.iter().map(|f| squeeze(f)).collect();
        assert_eq!(squeezed, [format!("{shape}{first}"), format!("{shape}{second}")], "{d}");
    }
}

fn squeeze(text: &str) -> String {
    text.split_whitespace().collect()
}

#[test]
fn values_go_from_device_to_device() {
    let x = "x = s32[2] parameter(0)\n ROOT r = ";
    let permute = format!("{x}s32[2] collective-permute(x), source_target_pairs={{{{0,1}},{{1,2}},{{2,0}}}}");
    expect("replica_count=4", &permute, &PAIRS, &["{3, 30}", "{1, 10}", "{2, 20}", "{0, 0}"]);
    let broadcast = format!("{x}s32[2] collective-broadcast(x), replica_groups={{{{1,0}},{{3}}}}");
    expect("replica_count=4", &broadcast, &PAIRS, &["{2, 20}", "{2, 20}", "{0, 0}", "{4, 40}"]);
    let swap =
        "x = s32[2] parameter(0)\n ROOT r = (s32[2], s32[2]) all-to-all(x, x), replica_groups={{0,1},{3,2}}";
    let found = run("replica_count=4", swap, &PAIRS).expect("pairs");
    assert_eq!(found[0], "s32[2] {1, 10}; s32[2] {2, 20}");
    assert_eq!(found[3], "s32[2] {4, 40}; s32[2] {3, 30}");
    let sent = "x = s32[2] parameter(0)
  t = token[] after-all()
  s = (s32[2], u32[], token[]) send(x, t), channel_id=3, frontend_attributes={_xla_send_recv_source_target_pairs={{0,1},{1,2}}}
  r = (s32[2], u32[], token[]) recv(t), channel_id=3, frontend_attributes={_xla_send_recv_source_target_pairs={{0,1},{1,2}}}
  sd = token[] send-done(s), channel_id=3
  rd = (s32[2], token[]) recv-done(r), channel_id=3
  ROOT v = s32[2] get-tuple-element(rd), index=0";
    expect("num_partitions=4", sent, &PAIRS, &["{0, 0}", "{1, 10}", "{2, 20}", "{0, 0}"]);
}

#[test]
fn slices_go_to_the_target_of_their_turn() {
    let body = "x = s32[2] parameter(0)
  o = s32[2] constant({7, 8})
  zero = s32[] constant(0)
  one = s32[] constant(1)
  from = (s32[], s32[]) tuple(zero, one)
  to = (s32[], s32[]) tuple(one, zero)
  ROOT r = s32[2] collective-permute(x, o, from, to), source_target_pairs={{0,1},{1,0},{0,1}}, slice_sizes={{1},{1}}";
    expect("replica_count=2", body, &PAIRS[..2], &["{7, 2}", "{10, 1}"]);
}

#[test]
fn narrow_sums_are_rounded_once() {
    let text = "HloModule m, replica_count=4
add { a = bf16[] parameter(0) b = bf16[] parameter(1) ROOT c = bf16[] add(a, b) }
ENTRY e { x = bf16[1] parameter(0) ROOT r = bf16[1] all-reduce(x), to_apply=add }";
    // In bf16 each addition of 1 would be lost.
    let inputs = ["bf16[1] {256}", "bf16[1] {1}", "bf16[1] {1}", "bf16[1] {1}"].map(|i| vec![literal(i)]);
    let results = evaluate_on_devices(&module(text), &inputs, &Options::default()).expect("sums");
    assert!(results.iter().all(|r| print_literal(r, None) == "bf16[1] {260}"), "{results:?}");
}

#[test]
fn devices_that_diverge_are_told() {
    let text = "HloModule m, replica_count=2
add { a = s32[] parameter(0) b = s32[] parameter(1) ROOT c = s32[] add(a, b) }
condition { s = (s32[], s32[]) parameter(0) i = s32[] get-tuple-element(s), index=0 z = s32[] constant(0) ROOT c = pred[] compare(i, z), direction=GT }
body {
  s = (s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = s32[] get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] subtract(i, one)
  y = s32[] all-reduce(x), to_apply=add
  ROOT t = (s32[], s32[]) tuple(j, y)
}
ENTRY e {
  n = s32[] parameter(0)
  s = (s32[], s32[]) tuple(n, n)
  w = (s32[], s32[]) while(s), condition=condition, body=body
  ROOT r = s32[] get-tuple-element(w), index=1
}";
    let inputs = |a: &str, b: &str| [vec![literal(a)], vec![literal(b)]];
    let module = module(text);
    let same = evaluate_on_devices(&module, &inputs("s32[] 3", "s32[] 3"), &Options::default());
    assert_eq!(same.expect("equal turns")[0].integer_at(0), Some(24));
    let error = evaluate_on_devices(&module, &inputs("s32[] 3", "s32[] 2"), &Options::default()).unwrap_err();
    assert_eq!(
        error.message,
        "device 0: the devices diverge: device 0 at `all-reduce` `y` waits for device 1, at its end already"
    );
    assert!(error.instruction.is_some());
}
