//! Programs on several devices.

use crate::plugin::*;
use hlo_pjrt::sys::{ExecuteOptions, args::*};
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
