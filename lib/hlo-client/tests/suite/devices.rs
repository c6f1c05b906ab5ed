//! Programs on several devices of one client: device assignment, placement of arrays, donation, and the order
//! of runs.

use hlo_client::{
    Argument, AsyncDeviceRunOptions, AsyncRunOptions, Buffer, Client, ClientOptions, CompileOptions,
    DeviceRunOptions, ENGINES, Executable, Passes,
};
use hlo_ir::Literal;
use hlo_ir::attr::ShardingKind;
use hlo_ir::host::{Host, NoHost};
use std::sync::{Arc, Mutex};

const SUM: &str = "HloModule sum, replica_count=2
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
ENTRY e { x = f32[2] parameter(0) ROOT y = f32[2] all-reduce(x), to_apply=add }
";

const DOUBLE: &str = "HloModule double ENTRY e { x = f32[2] parameter(0) ROOT y = f32[2] add(x, x) }";

fn client(devices: usize) -> Client {
    Client::new(&ClientOptions { devices, ..ClientOptions::default() }).expect("a client")
}

fn compiled(client: &Client, text: &str, options: &CompileOptions) -> Executable {
    client.compile_text(text, options).unwrap_or_else(|e| panic!("{e}"))
}

/// Returns options for each engine.
fn options() -> impl Iterator<Item = CompileOptions> {
    ENGINES.iter().map(|&engine| CompileOptions {
        engine: Some(engine),
        threads: 1,
        ..CompileOptions::default()
    })
}

fn on(client: &Client, device: usize, values: &[f32]) -> Buffer {
    client.transfer_to_device(&Literal::r1(values), device).expect("a device")
}

fn message<T: std::fmt::Debug>(outcome: Result<T, hlo_client::Error>) -> String {
    outcome.expect_err("an error").to_string()
}

#[test]
fn a_program_runs_on_the_devices_that_are_assigned_to_it() {
    let client = client(4);
    for options in options() {
        let options = CompileOptions { device_assignment: vec![3, 1], ..options };
        let sum = compiled(&client, SUM, &options);
        let ids: Vec<usize> = sum.devices().iter().map(|d| d.id()).collect();
        assert_eq!(ids, [3, 1]);
        let (x, y) = (on(&client, 3, &[1.0, 2.0]), on(&client, 1, &[10.0, 20.0]));
        let results =
            sum.execute_on_devices(&[vec![&x], vec![&y]], DeviceRunOptions::default()).expect("a run");
        for (result, device) in results.iter().zip([3, 1]) {
            assert_eq!(result[0].elements::<f32>().expect("elements"), [11.0, 22.0]);
            assert_eq!(result[0].device().map(|d| d.id()), Some(device));
        }
        // Another assignment gives another program. The same text and options give the same program.
        let other = compiled(&client, SUM, &CompileOptions { device_assignment: vec![1, 3], ..options });
        assert_eq!(other.device().id(), 1);
    }
}

#[test]
fn assignments_that_make_no_sense_are_refused() {
    let client = client(3);
    let refused = |assignment: &[usize]| {
        let options = CompileOptions { device_assignment: assignment.to_vec(), ..CompileOptions::default() };
        message(client.compile_text(SUM, &options))
    };
    assert_eq!(refused(&[1]), "the program runs on 2 devices, but 1 are assigned to it");
    assert_eq!(refused(&[1, 1]), "device 1 is assigned twice, as the program's device 0 and 1");
    assert_eq!(refused(&[0, 3]), "there is no device 3: the client's are 0 to 2");
    let too_few = self::client(1).compile_text(SUM, &CompileOptions::default());
    assert_eq!(message(too_few), "the program runs on 2 devices, but the client has 1");
    let nowhere = client.transfer_to_device(&Literal::r1(&[1f32]), 7);
    assert_eq!(message(nowhere), "there is no device 7: the client's are 0 to 2");
}

#[test]
fn arguments_lie_where_the_program_runs() {
    let client = client(2);
    for options in options() {
        let (sum, double) = (compiled(&client, SUM, &options), compiled(&client, DOUBLE, &options));
        let (x, y) = (on(&client, 0, &[1.0, 2.0]), on(&client, 1, &[10.0, 20.0]));
        let swapped = sum.execute_on_devices(&[vec![&y], vec![&x]], DeviceRunOptions::default());
        let expected = "expected arguments on device 0, where the program runs, found them on device 1";
        assert!(message(swapped).starts_with(expected));
        assert!(message(double.execute(&[&y], Default::default())).starts_with(expected));
        let there = y.copy_to_device(&client.devices()[0]).expect("a copy");
        let doubled = double.execute(&[&there], Default::default()).expect("a run");
        assert_eq!(doubled[0].elements::<f32>().expect("elements"), [20.0, 40.0]);
        assert_eq!(doubled[0].device().map(|d| d.id()), Some(0));
        // Every device accepts a buffer without a device.
        let anywhere = client.transfer_to(&Literal::r1(&[5f32, 6.0])).expect("a buffer");
        let results = sum
            .execute_on_devices(&[vec![&anywhere], vec![&anywhere]], DeviceRunOptions::default())
            .expect("a run");
        assert_eq!(results[1][0].elements::<f32>().expect("elements"), [10.0, 12.0]);
        let donated = vec![Argument::Donated(on(&client, 1, &[1.0, 2.0]))];
        assert!(message(double.execute_donating(donated, Default::default())).starts_with(expected));
    }
    let two =
        "HloModule m ENTRY e { x = f32[2] parameter(0) y = f32[2] parameter(1) ROOT z = f32[2] add(x, y) }";
    let two = compiled(&client, two, &CompileOptions::default());
    let (x, y) = (on(&client, 0, &[1.0, 2.0]), on(&client, 1, &[10.0, 20.0]));
    assert_eq!(
        message(two.execute(&[&x, &y], Default::default())),
        "expected the arguments of a run on one device, found argument 0 on device 0 and argument 1 on device 1"
    );
}

/// A step that adds the sum over all devices to the state of each device, in place.
fn step(elements: usize) -> String {
    format!(
        "HloModule step, replica_count=2, input_output_alias={{ {{}}: (0, {{}}, may-alias) }}
add {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }}
ENTRY e {{
  state = f32[{elements}] parameter(0)
  x = f32[1] parameter(1)
  s = f32[1] all-reduce(x), to_apply=add
  at = s32[] constant(1)
  ROOT next = f32[{elements}] dynamic-update-slice(state, s, at)
}}"
    )
}

#[test]
fn what_each_device_gives_away_is_updated_where_it_lies() {
    const N: usize = 1 << 16;
    let client = client(2);
    for options in options() {
        for (donation, passes) in
            [(true, Passes::Default), (true, Passes::Lowering), (false, Passes::Default)]
        {
            let in_place = donation && options.engine == Some(hlo_client::Engine::Compiled);
            let options = CompileOptions { donation, passes, ..options.clone() };
            let program = compiled(&client, &step(N), &options);
            let mut states: Vec<Buffer> =
                (0..2).map(|device| on(&client, device, &vec![device as f32; N])).collect();
            // From here on, no other buffer shares the memory of the states.
            let first: Vec<*const u8> = states.iter().map(|s| s.bytes().expect("bytes").as_ptr()).collect();
            for round in 1..4 {
                let x: Vec<Buffer> =
                    (0..2).map(|d| on(&client, d, &[(d + 1) as f32 * round as f32])).collect();
                let arguments = states
                    .drain(..)
                    .zip(&x)
                    .map(|(state, x)| vec![Argument::Donated(state), Argument::Kept(x)])
                    .collect();
                let results = program
                    .execute_on_devices_donating(arguments, DeviceRunOptions::default())
                    .unwrap_or_else(|e| panic!("{e}"));
                states = results.into_iter().flatten().collect();
                for (device, state) in states.iter().enumerate() {
                    let d = device as f32;
                    let got = state.elements::<f32>().expect("elements");
                    assert_eq!(got[..3], [d, 3.0 * round as f32, d], "device {device}, round {round}");
                    assert_eq!(state.device().map(|d| d.id()), Some(device));
                    if in_place {
                        assert_eq!(state.bytes().expect("bytes").as_ptr(), first[device]);
                    }
                }
            }
        }
    }
}

#[test]
fn what_is_given_away_lies_where_the_program_runs() {
    let client = client(2);
    let expected = "expected arguments on device 0, where the program runs, found them on device 1";
    for options in options() {
        let options = CompileOptions { donation: true, ..options };
        let program = compiled(&client, &step(4), &options);
        let swapped = [1, 0].map(|device| {
            vec![
                Argument::Donated(on(&client, device, &[1.0; 4])),
                Argument::Donated(on(&client, device, &[1.0])),
            ]
        });
        let run = program.execute_on_devices_donating(swapped.into(), DeviceRunOptions::default());
        assert!(message(run).starts_with(expected));
        let alone = "HloModule m, input_output_alias={ {}: (0, {}, may-alias) }
ENTRY e { x = f32[2] parameter(0) ROOT y = f32[2] add(x, x) }";
        let alone = compiled(&client, alone, &options);
        let run =
            alone.execute_donating(vec![Argument::Donated(on(&client, 1, &[1.0, 2.0]))], Default::default());
        assert!(message(run).starts_with(expected));
        // Errors that are known immediately are returned immediately.
        assert!(
            message(alone.execute_async(&[&on(&client, 1, &[1.0, 2.0])], AsyncRunOptions::default()))
                .starts_with(expected)
        );
    }
}

#[test]
fn runs_on_several_devices_come_in_the_order_in_which_they_were_started() {
    let client = client(3);
    for options in options() {
        let assigned = |ids: &[usize]| CompileOptions { device_assignment: ids.to_vec(), ..options.clone() };
        let (low, high) =
            (compiled(&client, SUM, &assigned(&[0, 1])), compiled(&client, SUM, &assigned(&[2, 1])));
        let double = compiled(&client, DOUBLE, &assigned(&[1]));
        let mut state = on(&client, 1, &[1.0, 1.0]);
        let (zero, two) = (on(&client, 0, &[0.0, 1.0]), on(&client, 2, &[1.0, 0.0]));
        for _ in 0..10 {
            let run = AsyncDeviceRunOptions::default;
            let first = low.execute_on_devices_async(&[vec![&zero], vec![&state]], run()).expect("started");
            let on_one = &first[1].results()[0];
            let second = double.execute_async(&[on_one], AsyncRunOptions::default()).expect("started");
            let doubled = &second.results()[0];
            let third = high.execute_on_devices_async(&[vec![&two], vec![doubled]], run()).expect("started");
            state = third[1].results()[0].clone();
            assert_eq!(state.device().map(|d| d.id()), Some(1));
        }
        // x -> 2(x + 0) + 1 and x -> 2(x + 1) + 0, ten times each.
        assert_eq!(state.elements::<f32>().expect("elements"), [2047.0, 3070.0]);
    }
}

#[test]
fn a_run_that_fails_on_one_device_fails_on_all() {
    let client = client(2);
    let text = "HloModule m, replica_count=2
ENTRY e {
  x = f32[2] parameter(0)
  t = token[] after-all()
  i = (f32[2], token[]) infeed(t)
  ROOT y = f32[2] get-tuple-element(i), index=0
}";
    for options in options() {
        let program = compiled(&client, text, &options);
        let x: Vec<Buffer> = (0..2).map(|d| on(&client, d, &[1.0, 2.0])).collect();
        let runs = program
            .execute_on_devices_async(&[vec![&x[0]], vec![&x[1]]], AsyncDeviceRunOptions::default())
            .expect("started");
        for run in &runs {
            assert!(run.wait().is_err(), "there is nothing to read");
            assert!(run.results()[0].wait().is_err());
        }
        let wrong = program.execute_on_devices_async(&[vec![&x[0]]], AsyncDeviceRunOptions::default());
        assert_eq!(message(wrong), "expected arguments for 2 devices, found them for 1");
        let host: Arc<Mutex<dyn Host>> = Arc::new(Mutex::new(NoHost));
        let twice = AsyncDeviceRunOptions { hosts: vec![host.clone(), host], ..Default::default() };
        let wrong = program.execute_on_devices_async(&[vec![&x[0]], vec![&x[1]]], twice);
        assert_eq!(message(wrong), "expected a host of its own for each device, found one twice");
    }
}

/// A product with a sharded contracting dimension and sizes that the tiles do not divide evenly.
const WHOLE: &str = "HloModule m, num_partitions=4
ENTRY e {
  x = s32[5,6] parameter(0), sharding={devices=[2,2]<=[4]}
  w = s32[6,3] parameter(1), sharding={devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}
  b = s8[] parameter(2)
  d = s32[5,3] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = (s32[5,3], s8[], s32[6,3]) tuple(d, b, w), sharding={{devices=[4,1]<=[4]}, {replicated}, {devices=[1,4]<=[4]}}
}";

#[test]
fn a_program_that_is_cut_gives_what_the_whole_one_gives() {
    let values: Vec<Literal> = vec![
        Literal::r2::<i32, 6>(&std::array::from_fn::<_, 5, _>(|i| {
            std::array::from_fn(|j| 7 * i as i32 - j as i32)
        })),
        Literal::r2::<i32, 3>(&std::array::from_fn::<_, 6, _>(|i| {
            std::array::from_fn(|j| i as i32 + 2 * j as i32)
        })),
        Literal::r0(-3i8),
    ];
    for options in options() {
        let alone = compiled(&client(1), &WHOLE.replace("num_partitions=4", "num_partitions=1"), &options);
        let want = alone.run(&values).expect("a run");
        for replicas in [1, 2] {
            let text = WHOLE.replace("HloModule m", &format!("HloModule m, replica_count={replicas}"));
            let options = CompileOptions { spmd_partitioning: true, ..options.clone() };
            let program = compiled(&client(8), &text, &options);
            assert_eq!(program.parameters()[0].to_string(), "s32[3,3]");
            let got = program.run_partitioned(&values).expect("a run");
            let bytes =
                |value: &Literal| value.leaves().iter().map(|l| l.bytes().to_vec()).collect::<Vec<_>>();
            assert_eq!(got.shape(), want.shape());
            assert_eq!(bytes(&got), bytes(&want));
        }
    }
    let whole = compiled(&client(4), WHOLE, &CompileOptions::default());
    let refused = whole.run_partitioned(&values);
    assert_eq!(message(refused), "the program was not cut into what each device does (spmd_partitioning)");
    let options = CompileOptions { spmd_partitioning: true, ..CompileOptions::default() };
    let program = compiled(&client(4), WHOLE, &options);
    let partition = program.partition().expect("it is cut");
    assert_eq!(partition.partitions(), 4);
    assert!(message(partition.shard(&values, 4)).contains("no partition 4"));
    let wrong = [values[1].clone(), values[0].clone(), values[2].clone()];
    assert_eq!(
        message(program.run_partitioned(&wrong)),
        "argument 0: expected an array of shape s32[5,6], found s32[6,3]"
    );
    // Tiles are padded with zeros beyond the end of the array.
    let last = partition.shard(&values, 3).expect("parts");
    assert_eq!(last[0].elements::<i32>()[6..], [0, 0, 0]);
}

#[test]
fn what_is_no_part_of_the_whole_is_refused() {
    let options = CompileOptions { spmd_partitioning: true, ..CompileOptions::default() };
    let program = compiled(&client(4), WHOLE, &options);
    let partition = program.partition().expect("it is cut");
    let part = |rows: i64| {
        let zeros = |dims: &[i64]| Literal::full(dims, 0i32).expect("memory");
        Literal::tuple(vec![zeros(&[rows, 3]), Literal::r0(1i8), zeros(&[6, 1])])
    };
    assert!(partition.whole(&vec![part(2); 4]).is_ok());
    assert_eq!(message(partition.whole(&vec![part(2); 3])), "expected the results of 4 partitions, found 3");
    assert_eq!(
        message(partition.whole(&vec![part(3); 4])),
        "result 0: expected a part of shape s32[2,3], found s32[3,3]"
    );
    let other = Literal::tuple(vec![Literal::r0(1i8); 2]);
    assert_eq!(message(partition.whole(&vec![other; 4])), "expected 3 results of each partition, found 2");
}

#[test]
fn one_partition_is_the_whole() {
    let options = CompileOptions { spmd_partitioning: true, ..CompileOptions::default() };
    let double = compiled(&client(1), DOUBLE, &options);
    assert_eq!(double.partition().map(|p| p.partitions()), Some(1));
    let y = double.run_partitioned(&[Literal::r1(&[1f32, 2.0])]).expect("a run");
    assert_eq!(y.elements::<f32>(), [2.0, 4.0]);
    let many = WHOLE.replace("num_partitions=4", "num_partitions=100000000000");
    assert!(client(1).compile_text(&many, &options).is_err());
}

#[test]
fn what_has_a_size_of_run_time_is_not_cut() {
    let text = "HloModule m, num_partitions=2
ENTRY e {
  x = f32[<=8] parameter(0), sharding={devices=[2]<=[2]}
  y = f32[4] parameter(1), sharding={devices=[2]<=[2]}
  z = f32[<=8] add(x, x)
  w = f32[4] add(y, y)
  ROOT r = (f32[<=8], f32[4]) tuple(z, w), sharding={{devices=[2]<=[2]}, {devices=[2]<=[2]}}
}";
    for options in options() {
        let options = CompileOptions { spmd_partitioning: true, ..options };
        let program = compiled(&client(2), text, &options);
        let values = [Literal::r1(&[1f32, 2.0, 3.0]), Literal::r1(&[1f32, 2.0, 3.0, 4.0])];
        let result = program.run_partitioned(&values).unwrap_or_else(|e| panic!("{e}"));
        let leaves = result.leaves();
        assert_eq!(leaves[0].elements::<f32>(), [2.0, 4.0, 6.0]);
        assert_eq!(leaves[1].elements::<f32>(), [2.0, 4.0, 6.0, 8.0]);
    }
}

/// A parameter and a result are sums of summands on the devices. A product has sharded operands, and a
/// nonlinear operation needs the whole sum.
const SUMMANDS: &str = "HloModule m, num_partitions=4
ENTRY e {
  x = s32[4,8] parameter(0), sharding={devices=[2,2]<=[4]}
  w = s32[8,4] parameter(1), sharding={devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}
  s = s32[4,4] parameter(2), sharding={devices=[2,1,2]<=[4] last_tile_dims={unreduced}}
  d = s32[4,4] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  t = s32[4,4] add(d, s)
  u = s32[4,4] custom-call(t), custom_call_target=\"Sharding\", sharding={mesh['x'=2,'y'=2], [{'x'}, {}], unreduced={'y'}}
  q = s32[4,4] multiply(u, u)
  v = s32[4,4] custom-call(u), custom_call_target=\"Sharding\", sharding={devices=[2,2]<=[4]}
  c = s32[4] constant({1, 2, 3, 4})
  ROOT r = (s32[4,4], s32[4,4], s32[4,4], s32[4]) tuple(u, q, v, c), sharding={{devices=[2,1,2]<=[4] last_tile_dims={unreduced}}, {replicated}, {devices=[2,2]<=[4]}, {unreduced}}
}";

#[test]
fn summands_of_devices_add_up() {
    let numbers = |n: i32| {
        Literal::r2::<i32, 4>(&std::array::from_fn::<_, 4, _>(|i| {
            std::array::from_fn(|j| n * i as i32 - j as i32)
        }))
    };
    let x = Literal::r2::<i32, 8>(&std::array::from_fn::<_, 4, _>(|i| {
        std::array::from_fn(|j| 3 * i as i32 - j as i32)
    }));
    let w = Literal::r2::<i32, 4>(&std::array::from_fn::<_, 8, _>(|i| {
        std::array::from_fn(|j| i as i32 + 2 * j as i32)
    }));
    let values = [x, w, numbers(5)];
    for options in options() {
        let alone = compiled(&client(1), &SUMMANDS.replace("num_partitions=4", "num_partitions=1"), &options);
        let want = alone.run(&values).expect("a run");
        let options = CompileOptions { spmd_partitioning: true, ..options };
        let program = compiled(&client(4), SUMMANDS, &options);
        let got = program.run_partitioned(&values).expect("a run");
        for (got, want) in got.leaves().iter().zip(want.leaves()) {
            assert_eq!(got.elements::<i32>(), want.elements::<i32>());
        }
        let partition = program.partition().expect("it is cut");
        // The first device of each group holds all of the value.
        let parts = partition.shards(&values).expect("parts");
        assert_eq!(parts[0][2].elements::<i32>(), &values[2].elements::<i32>()[..8]);
        assert_eq!(parts[1][2].elements::<i32>(), [0; 8]);
        let module = hlo_parser::parse_module(SUMMANDS).expect("a module");
        let parameter = module.parameters(module.entry())[2];
        let written = module[parameter].sharding().expect("a sharding").leaves()[0].kind.clone();
        let [parameters, results] = partition.shardings();
        assert_eq!((&parameters[2], &results[3]), (&written, &ShardingKind::Unreduced));
    }
}

#[test]
fn summands_of_which_the_largest_is_meant_are_refused() {
    let options = CompileOptions { spmd_partitioning: true, ..CompileOptions::default() };
    let text = SUMMANDS.replace("unreduced={'y'}", "unreduced=max{'y'}");
    let why = message(client(4).compile_text(&text, &options));
    assert!(why.contains("only sums (`sum`) can be"), "{why}");
}

/// A sum over one of two mesh axes in manual mode, as JAX writes it. The applied computation has a sharding
/// too.
const PARTLY_MANUAL: &str = "HloModule m, num_partitions=4
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
add.placed { a = f32[] parameter(0) b = f32[] parameter(1) c = f32[] add(a, b)
  ROOT d = f32[] custom-call(c), custom_call_target=\"Sharding\", sharding={devices=[2,2]<=[4] last_tile_dims={manual, replicated}} }
ENTRY e {
  x = f32[8,4] parameter(0), sharding={devices=[2,1,2]<=[4] last_tile_dim_replicate}
  p = f32[4,4] custom-call(x), custom_call_target=\"SPMDFullToShardShape\", sharding={devices=[1,1,2,2]<=[4] last_tile_dims={manual, replicated}}
  z = f32[] constant(0)
  r = f32[4] reduce(p, z), dimensions={1}, to_apply=add.placed
  s = f32[4] all-reduce(r), channel_id=1, replica_groups={{0,2},{1,3}}, use_global_device_ids=true, to_apply=add.placed
  ROOT y = f32[4] custom-call(s), custom_call_target=\"SPMDShardToFullShape\", sharding={replicated}
}";

#[test]
fn what_is_said_of_values_in_applied_computations_is_passed_over() {
    let x = Literal::from_fn(&[8, 4], |at| (at[0] * 4 + at[1]) as f32).expect("a literal");
    for options in options() {
        let options = CompileOptions { spmd_partitioning: true, ..options };
        let program = compiled(&client(4), PARTLY_MANUAL, &options);
        let sums = program.run_partitioned(std::slice::from_ref(&x)).expect("a run");
        assert_eq!(sums.elements::<f32>(), [76.0, 108.0, 140.0, 172.0], "{:?}", options.engine);
        let module = program.module().expect("a module");
        let every = module.computations().flat_map(|c| module[c].instructions());
        let calls = every.filter(|&&i| matches!(module[i].op, hlo_ir::Op::CustomCall(_))).count();
        assert_eq!(calls, 0, "{:?}", options.engine);
    }
}
