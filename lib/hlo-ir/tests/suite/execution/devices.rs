//! Tests of the groups and pairs of devices.

use hlo_ir::attr::{AllReduceAttrs, CollectivePermuteAttrs, Count, ReplicaGroups, SourceTargetPairs};
use hlo_ir::devices::{DeviceCounts, groups, pairs, pairs_of_slice, transfer_pairs, unordered_reduction};
use hlo_ir::{ElementType, InstrId, Module, Op, Opcode, Shape};

const TWO_BY_THREE: DeviceCounts = DeviceCounts { replicas: 2, partitions: 3 };

/// Returns the groups of an all-reduce in a module with 2 replicas of 3 partitions each.
fn reduced(groups: Vec<Vec<i64>>, channel: Option<i64>, global: bool) -> Result<Vec<Vec<usize>>, String> {
    let mut module = Module::new("m");
    module.header.replica_count = Count(2);
    module.header.num_partitions = Count(3);
    let main = module.add_computation("main");
    let x = module.add(main, "x", Shape::scalar(ElementType::F32), Op::parameter(0), []);
    let op = Op::AllReduce(Box::new(AllReduceAttrs {
        channel_id: channel,
        replica_groups: ReplicaGroups::Lists(groups),
        constrain_layout: false,
        use_global_device_ids: global,
        mode: None,
        to_apply: main,
    }));
    let y = module.add(main, "y", Shape::scalar(ElementType::F32), op, [x]);
    let counts = DeviceCounts::of(&module).expect("few devices");
    assert_eq!(counts, TWO_BY_THREE);
    groups_of(&module, y)
}

fn groups_of(module: &Module, id: InstrId) -> Result<Vec<Vec<usize>>, String> {
    groups(module, id, TWO_BY_THREE)
}

#[test]
fn numbers_mean_what_the_attributes_say() {
    assert_eq!(reduced(vec![], None, false), Ok(vec![vec![0, 3], vec![1, 4], vec![2, 5]]));
    assert_eq!(reduced(vec![vec![1, 0]], None, false), Ok(vec![vec![3, 0], vec![4, 1], vec![5, 2]]));
    assert_eq!(reduced(vec![vec![1], vec![0]], Some(1), false), Ok(vec![vec![3, 4, 5], vec![0, 1, 2]]));
    assert_eq!(reduced(vec![vec![4, 1], vec![0]], Some(1), true), Ok(vec![vec![4, 1], vec![0]]));
    let error = reduced(vec![vec![2]], None, false);
    assert_eq!(error, Err("replica 2 is not one of the 2 that there are".into()));
    assert_eq!(reduced(vec![vec![1, 1]], Some(1), true), Err("device 1 is in two groups".into()));
}

#[test]
fn reductions_of_integers_by_one_operation_need_no_order() {
    let reduction = |ty: ElementType, op: Op, operand: ElementType| {
        let mut module = Module::new("m");
        let to_apply = module.add_computation("combine");
        let scalar = || Shape::scalar(ty);
        let a = module.add(to_apply, "a", scalar(), Op::parameter(0), []);
        let b = module.add(to_apply, "b", scalar(), Op::parameter(1), []);
        let c = module.add(to_apply, "c", scalar(), op, [b, a]);
        module.set_root(to_apply, c);
        let main = module.add_computation("main");
        let x = module.add(main, "x", Shape::scalar(operand), Op::parameter(0), []);
        let op = Op::AllReduce(Box::new(AllReduceAttrs {
            channel_id: None,
            replica_groups: ReplicaGroups::Lists(vec![]),
            constrain_layout: false,
            use_global_device_ids: false,
            mode: None,
            to_apply,
        }));
        let y = module.add(main, "y", Shape::scalar(operand), op, [x]);
        unordered_reduction(&module, y)
    };
    use ElementType::{F32, Pred, S4, S32, U8};
    assert_eq!(reduction(S32, Op::Add, S32), Some((Opcode::Add, true)));
    assert_eq!(reduction(U8, Op::Maximum, U8), Some((Opcode::Maximum, false)));
    assert_eq!(reduction(Pred, Op::And, Pred), Some((Opcode::And, false)));
    for (ty, op, operand) in [
        (F32, Op::Add, F32),
        (S32, Op::Subtract, S32),
        (S32, Op::Add, U8),
        (S4, Op::Add, S4),
        (Pred, Op::Add, Pred),
    ] {
        assert_eq!(reduction(ty, op, operand), None);
    }
}

#[test]
fn pairs_of_transfers_are_read() {
    let read = |text: &str| {
        let mut module = Module::new("m");
        let main = module.add_computation("main");
        let x = module.add(main, "x", Shape::Token, Op::AfterAll, []);
        let attributes = &mut module.common_mut(x).frontend_attributes;
        attributes.set("_xla_send_recv_source_target_pairs", text.into());
        transfer_pairs(&module, x, DeviceCounts { replicas: 3, partitions: 1 })
    };
    assert_eq!(read("{{0,1}, {1,2}}"), Ok(vec![(0, 1), (1, 2)]));
    assert_eq!(read("{}"), Ok(vec![]));
    for broken in ["", "{", "{{0}}", "{{0,1},}", "{{0,1},{1}}", "{{0,-1}}", "{{0,1,2}}"] {
        assert!(read(broken).is_err_and(|e| e.ends_with(&format!("found `{broken}`"))), "{broken}");
    }
}

#[test]
fn a_source_of_several_pairs_has_one_for_each_slice() {
    assert_eq!(pairs_of_slice(&[(0, 1), (1, 0)], 1), [(0, 1), (1, 0)]);
    assert_eq!(pairs_of_slice(&[(0, 1), (1, 0), (0, 2)], 0), [(0, 1), (1, 0)]);
    assert_eq!(pairs_of_slice(&[(0, 1), (1, 0), (0, 2)], 1), [(0, 2)]);
}

#[test]
fn pairs_connect_devices() {
    let mut module = Module::new("m");
    let main = module.add_computation("main");
    let x = module.add(main, "x", Shape::scalar(ElementType::F32), Op::parameter(0), []);
    let op = Op::CollectivePermute(Box::new(CollectivePermuteAttrs {
        channel_id: Some(1),
        source_target_pairs: SourceTargetPairs(vec![(2, 0)]),
        slice_sizes: Default::default(),
    }));
    let y = module.add(main, "y", Shape::scalar(ElementType::F32), op, [x]);
    assert_eq!(pairs(&module, y, TWO_BY_THREE), Ok(vec![(2, 0), (5, 3)]));
    assert_eq!(groups_of(&module, y), Ok(vec![vec![0, 2], vec![3, 5]]));
    assert!(groups_of(&module, x).is_err());
}
