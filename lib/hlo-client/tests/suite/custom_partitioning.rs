//! Custom calls that functions of the Rust program partition among devices.

use hlo_client::{
    Client, ClientOptions, CompileOptions, CustomPartition, CustomPartitioner, ENGINES, Partitioned,
};
use hlo_ir::Literal;
use hlo_ir::attr::{Sharding, ShardingKind, TileAssignment};
use std::sync::{Arc, Mutex};

/// Partitions calls of `normalize`, which divides an array of rank 2 by the sum of all of its elements, and
/// of `wrong`, for which it returns a program for other arrays.
#[derive(Debug, Default)]
struct Rows {
    /// The configuration and the sharding of the operand of each call.
    asked: Mutex<Vec<(String, String)>>,
}

/// Returns a sharding by rows among four devices.
fn cut_by_rows() -> Sharding {
    let places = (0..4).map(|d| ([d, 0].into_iter().collect(), 0));
    Sharding::single(TileAssignment::of_places(&[4, 1], 1, places).expect("an assignment").to_kind())
}

impl CustomPartitioner for Rows {
    fn partitions(&self, target: &str) -> bool {
        ["normalize", "wrong"].contains(&target)
    }

    fn partition(&self, call: &CustomPartition<'_>) -> Result<Partitioned, String> {
        let config = String::from_utf8_lossy(call.config).into_owned();
        let lies = format!("{} {}", call.operands[0].shape, kind(&call.operands[0].sharding));
        self.asked.lock().map_err(|e| e.to_string())?.push((config.clone(), lies));
        if config == "never" {
            return Err("it is never partitioned".into());
        }
        let rows = if call.target == "wrong" { 3 } else { 2 };
        let text = format!(
            "HloModule part, num_partitions=4
add {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }}
ENTRY e {{
  x = f32[{rows},3] parameter(0)
  z = f32[] constant(0)
  own = f32[] reduce(x, z), dimensions={{0,1}}, to_apply=add
  sum = f32[] all-reduce(own), channel_id=1, replica_groups={{{{0,1,2,3}}}}, use_global_device_ids=true, to_apply=add
  all = f32[{rows},3] broadcast(sum), dimensions={{}}
  ROOT d = f32[{rows},3] divide(x, all)
}}"
        );
        let module = hlo_parser::parse_module(&text).map_err(|_| "the text does not parse")?;
        Ok(Partitioned { module, operands: vec![cut_by_rows()], result: cut_by_rows() })
    }
}

fn kind(sharding: &Sharding) -> String {
    match sharding.leaves().first().map(|one| &one.kind) {
        Some(ShardingKind::Replicated) => "whole".into(),
        Some(_) => "cut".into(),
        None => "not said".into(),
    }
}

fn client(partitioner: &Arc<Rows>) -> Client {
    let options = ClientOptions {
        devices: 4,
        custom_partitioner: Some(partitioner.clone()),
        ..ClientOptions::default()
    };
    Client::new(&options).expect("a client")
}

const TWICE: &str = "HloModule twice, num_partitions=4
body { s = (s32[], f32[8,3]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[8,3] get-tuple-element(s), index=1
  one = s32[] constant(1)
  n = s32[] add(i, one)
  y = f32[8,3] custom-call(x), custom_call_target=\"normalize\", backend_config=\"inner\",
    frontend_attributes={xla.sdy.sharding_rule=\"#sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=3}, custom>\"}
  t = f32[8,3] add(y, y)
  ROOT r = (s32[], f32[8,3]) tuple(n, t) }
condition { s = (s32[], f32[8,3]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  three = s32[] constant(3)
  ROOT c = pred[] compare(i, three), direction=LT }
ENTRY e { x = f32[8,3] parameter(0), sharding={devices=[4,1]<=[4]}
  zero = s32[] constant(0)
  s = (s32[], f32[8,3]) tuple(zero, x)
  w = (s32[], f32[8,3]) while(s), condition=condition, body=body
  a = f32[8,3] get-tuple-element(w), index=1
  b = f32[8,3] custom-call(a), custom_call_target=\"normalize\", backend_config=\"outer\"
  ROOT n = f32[8,3] negate(b), sharding={replicated} }
";

#[test]
fn each_device_does_what_the_partitioner_says() {
    let rows = Arc::new(Rows::default());
    let client = client(&rows);
    let x = Literal::from_fn(&[8, 3], |at| (at[0] * 3 + at[1] + 1) as f32).expect("a literal");
    for &engine in ENGINES {
        let options =
            CompileOptions { engine: Some(engine), spmd_partitioning: true, ..CompileOptions::default() };
        let program = client.compile_text(TWICE, &options).unwrap_or_else(|e| panic!("{e}"));
        let result = program.run_partitioned(std::slice::from_ref(&x)).unwrap_or_else(|e| panic!("{e}"));
        for (n, value) in result.elements::<f32>().iter().enumerate() {
            let expected = -(n as f32 + 1.0) / 300.0;
            assert!((value - expected).abs() < 1e-6, "{engine:?}: {n}: {value}, not {expected}");
        }
    }
    let asked = rows.asked.lock().expect("what was asked");
    // By the rule, the loop-carried value has the same sharding as the operand. The other call has no rule.
    for (config, lies) in asked.iter() {
        assert_eq!(lies, "f32[8,3] cut", "{config}");
    }
    assert_eq!(asked.len(), 2 * ENGINES.len());
}

#[test]
fn the_result_lies_where_the_program_wants_it() {
    let text = "HloModule m, num_partitions=4
ENTRY e { x = f32[8,3] parameter(0), sharding={devices=[4,1]<=[4]}
  ROOT y = f32[8,3] custom-call(x), custom_call_target=\"normalize\", frontend_attributes={num_batch_dims=\"2\"}, sharding={replicated} }";
    let mut module = hlo_parser::parse_module(text).unwrap_or_else(|e| panic!("{e:?}"));
    let partition = hlo_client::partition_with(&mut module, Some(&Rows::default()));
    let partition = partition.unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(partition.shardings()[1], [ShardingKind::Replicated]);
}

#[test]
fn what_can_not_be_partitioned_is_told_at_the_call() {
    let rows = Arc::new(Rows::default());
    let client = client(&rows);
    let refused = |target: &str, config: &str| {
        let text = format!(
            "HloModule m, num_partitions=4
ENTRY e {{ x = f32[8,3] parameter(0), sharding={{devices=[4,1]<=[4]}}
  ROOT y = f32[8,3] custom-call(x), custom_call_target=\"{target}\", backend_config=\"{config}\" }}"
        );
        let options = CompileOptions { spmd_partitioning: true, ..CompileOptions::default() };
        client.compile_text(&text, &options).expect_err("an error").to_string()
    };
    let never = refused("normalize", "never");
    assert!(never.contains("it is never partitioned"), "{never}");
    let tuple = "HloModule m, num_partitions=4
ENTRY e { x = (f32[8,3], f32[8,3]) parameter(0)
  ROOT y = f32[8,3] custom-call(x), custom_call_target=\"normalize\" }";
    let options = CompileOptions { spmd_partitioning: true, ..CompileOptions::default() };
    let tuple = client.compile_text(tuple, &options).expect_err("an error").to_string();
    assert!(tuple.contains("expected arrays of sizes that are known, found (f32[8,3], f32[8,3])"), "{tuple}");
    let wrong = refused("wrong", "");
    assert!(
        wrong.contains("expected parameters of shape f32[2,3] on each device, found f32[3,3]"),
        "{wrong}"
    );
}
