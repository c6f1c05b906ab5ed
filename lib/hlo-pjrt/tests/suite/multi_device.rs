//! Programs on several devices.

use crate::plugin::*;
use hlo_pjrt::partitioners::args::{RegisterBatchPartitionable, RegisterCustomPartitioner};
use hlo_pjrt::partitioners::{Bytes, Callbacks, Question};
use hlo_pjrt::sys::{ExecuteOptions, Text, args::*};
use hlo_proto::messages::{
    CompileOptionsProto, ComputationDevice, DeviceAssignmentProto, ExecutableBuildOptionsProto,
};
use prost::Message;

fn options(replicas: i64, partitions: i64, devices: &[Vec<i64>]) -> Vec<u8> {
    let assignment = DeviceAssignmentProto {
        replica_count: replicas as i32,
        computation_count: partitions as i32,
        computation_devices: devices
            .iter()
            .map(|ids| ComputationDevice { replica_device_ids: ids.clone() })
            .collect(),
    };
    let build = ExecutableBuildOptionsProto {
        num_replicas: replicas,
        num_partitions: partitions,
        use_spmd_partitioning: partitions > 1,
        device_assignment: Some(Box::new(assignment)),
        ..ExecutableBuildOptionsProto::default()
    };
    let options = CompileOptionsProto {
        executable_build_options: Some(Box::new(build)),
        ..CompileOptionsProto::default()
    };
    options.encode_to_vec()
}

#[test]
fn replicas_combine_what_they_have() {
    let client = devices(3);
    let text = "HloModule m
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
ENTRY e { x = f32[2] parameter(0) ROOT y = f32[2] all-reduce(x), to_apply=add }";
    let program = compile(client, text, &options(2, 1, &[vec![2, 0]])).expect("a program");
    let arguments = [vec![floats(client, 2, &[2], &[1., 2.])], vec![floats(client, 0, &[2], &[10., 20.])]];
    let results = execute(program, &arguments, &ExecuteOptions::default()).expect("a run");
    for ((buffers, event), id) in results.into_iter().zip([2usize, 0]) {
        wait(event).expect("the end");
        assert_eq!(numbers(buffers[0]), Ok(vec![11., 22.]));
        let device =
            call(api().BufferDevice, BufferDevice { buffer: buffers[0], ..none() }).expect("a device").device;
        assert_eq!(device.get().expect("a device").id, id);
    }
    let ids = LoadedExecutableAddressableDeviceLogicalIds { executable: program, ..none() };
    let ids = call(api().LoadedExecutableAddressableDeviceLogicalIds, ids).expect("numbers").ids;
    assert_eq!(ids.get().expect("numbers").len(), 2);
}

#[test]
fn a_program_for_all_devices_together_is_cut() {
    let client = devices(2);
    let text = "HloModule m
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
ENTRY e { x = f32[4] parameter(0), sharding={devices=[2]<=[2]}
  z = f32[] constant(0)
  ROOT y = f32[] reduce(x, z), dimensions={0}, to_apply=add }";
    let program = compile(client, text, &options(1, 2, &[vec![0], vec![1]])).expect("a program");
    let arguments = [vec![floats(client, 0, &[2], &[1., 2.])], vec![floats(client, 1, &[2], &[3., 4.])]];
    let results = execute(program, &arguments, &ExecuteOptions::default()).expect("a run");
    for (buffers, event) in results {
        wait(event).expect("the end");
        assert_eq!(numbers(buffers[0]), Ok(vec![10.]));
    }
}

#[test]
fn more_devices_than_there_are_is_an_error() {
    let client = devices(1);
    let text = "HloModule m ENTRY e { x = f32[2] parameter(0) ROOT y = f32[2] add(x, x) }";
    let failed = compile(client, text, &options(2, 1, &[vec![0, 1]])).expect_err("an error");
    assert!(failed.message.contains("device 1"), "{}", failed.message);
}

/// The work of each of two devices that replaces a call: adds the sum over both devices to the value of the
/// device.
const PARTITIONED_PROGRAM: &str = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = \"stablehlo.all_reduce\"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids} : (tensor<2xf32>) -> tensor<2xf32>
  %2 = stablehlo.add %x, %0 : tensor<2xf32>
  return %2 : tensor<2xf32>
}";

/// Partitions a call without changing the shardings. Rejects a call whose configuration is `no`.
unsafe extern "C" fn partition(_: *mut Callbacks, question: *mut Question) {
    // SAFETY: the plugin passes a question with one operand.
    unsafe {
        let question = &mut *question;
        if question.config.read().expect("a configuration") == b"no" {
            (question.answer.has_error, question.answer.error) = (true, Bytes::of(b"ValueError: no"));
            return;
        }
        question.program = Bytes::of(PARTITIONED_PROGRAM.as_bytes());
        question.operand_shardings = &raw const (*question.operands).sharding;
        question.result_sharding = question.result.sharding;
    }
}

#[test]
fn a_caller_partitions_custom_calls() {
    let [register, batch] = extension(2);
    call(batch, RegisterBatchPartitionable { name: Text::of("f"), ..none() }).expect("a target");
    let add = |callbacks: *mut Callbacks| {
        let name = Text::of("test.partitioned");
        call(register, RegisterCustomPartitioner { name, callbacks, ..none() }).map(drop)
    };
    assert!(add(std::ptr::null_mut()).is_err());
    let callbacks = |version, partition| {
        let others = std::ptr::null();
        &raw mut *Box::leak(Box::new(Callbacks {
            version,
            private_data: std::ptr::null_mut(),
            free: None,
            partition,
            infer_sharding: others,
            propagate_user_sharding: others,
            can_side_effecting_have_replicated_sharding: true,
        }))
    };
    assert!(add(callbacks(0, None)).is_err());
    assert!(add(callbacks(1, Some(partition))).expect_err("an error").message.contains("version 1"));
    add(callbacks(0, Some(partition))).expect("a partitioner");
    let client = devices(2);
    let text = |config: &str| {
        format!(
            "HloModule m ENTRY e {{ x = f32[4] parameter(0), sharding={{devices=[2]<=[2]}}
ROOT y = f32[4] custom-call(x), custom_call_target=\"test.partitioned\", backend_config=\"{config}\", sharding={{devices=[2]<=[2]}} }}"
        )
    };
    let both = options(1, 2, &[vec![0], vec![1]]);
    let refused = compile(client, &text("no"), &both).expect_err("an error");
    assert!(refused.message.contains("ValueError: no"), "{}", refused.message);
    let program = compile(client, &text("yes"), &both).expect("a program");
    let arguments = [vec![floats(client, 0, &[2], &[1., 2.])], vec![floats(client, 1, &[2], &[30., 40.])]];
    let results = execute(program, &arguments, &ExecuteOptions::default()).expect("a run");
    for ((buffers, event), expected) in results.into_iter().zip([[32., 44.], [61., 82.]]) {
        wait(event).expect("the end");
        assert_eq!(numbers(buffers[0]), Ok(expected.to_vec()));
    }
}
