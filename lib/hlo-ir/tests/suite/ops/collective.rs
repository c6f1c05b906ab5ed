//! Table tests of communication between devices.

use super::{accepts, code, infers, refuses};

#[test]
fn results() {
    infers(&[
        ("all-reduce(f32[2]), to_apply=add", "f32[2]"),
        ("all-reduce(f32[2], f32[<=3]), to_apply=add", "(f32[2], f32[<=3])"),
        ("all-reduce(f32[2], s32[3]), to_apply=add", "(f32[2], s32[3])"),
        ("all-reduce-start(f32[2]), to_apply=add", "f32[2]"),
        ("all-gather(f32[2,3]), dimensions={0}, replica_groups={{0,1,2,3}}", "f32[8,3]"),
        ("all-gather(f32[2], s32[<=3]), dimensions={0}, replica_groups=[2,4]<=[8]", "(f32[8], s32[<=12])"),
        ("all-gather-start(f32[2]), dimensions={0}, replica_groups={{0,1}}", "(f32[2], f32[4])"),
        ("all-gather-done((f32[2], f32[4]))", "f32[4]"),
        ("reduce-scatter(f32[8,?]), dimensions={0}, replica_groups={{0,1}}, to_apply=add", "f32[4,?]"),
        ("all-to-all(f32[8]), dimensions={0}, replica_groups={{0,1}}", "f32[8]"),
        ("all-to-all(f32[8], f32[8]), replica_groups={{0,1}}", "(f32[8], f32[8])"),
        ("collective-permute(f32[8]), source_target_pairs={{0,1}}", "f32[8]"),
        ("collective-permute(f32[8], s32[]), source_target_pairs={}", "(f32[8], s32[])"),
        (
            "collective-permute(f32[8], f32[9], (s32[]), (s32[])), source_target_pairs={{0,1}}, slice_sizes={{2}}",
            "f32[9]",
        ),
        ("collective-permute-done((f32[2], f32[2], u32[], u32[]))", "f32[2]"),
        ("collective-broadcast(f32[2]), replica_groups={{1,0}}", "f32[2]"),
        ("collective-broadcast(f32[2], s32[]), replica_groups={{1,0}}, has_dynamic_root=true", "f32[2]"),
        ("collective-broadcast(f32[2], s8[], s32[]), has_dynamic_root=true", "(f32[2], s8[])"),
        ("collective-broadcast(f32[2], s8[], s32[2]), has_dynamic_root=true", "(f32[2], s8[])"),
        (
            "ragged-all-to-all(f32[8,3], f32[16,3], s32[2], s32[2], s32[2], s32[2]), replica_groups={{0,1}}",
            "f32[16,3]",
        ),
    ]);
    // Without groups, any number of devices may participate.
    for text in [
        "f32[8,3] all-gather(f32[2,3]), dimensions={0}",
        "f32[8,3] all-gather(f32[2,3]), dimensions={0}, replica_groups={{0}}",
        "(f32[2], f32[4], u32[]) all-gather-start(f32[2]), dimensions={0}",
        "((f32[2], s8[3]), (f32[4], s8[6])) all-gather-start(f32[2], s8[3]), dimensions={0}",
        "f32[2] reduce-scatter(f32[8]), dimensions={0}, to_apply=add",
        "f32[0] reduce-scatter(f32[0]), dimensions={0}, to_apply=add",
    ] {
        assert_eq!(super::Row::read(text).check(), Ok(()), "{text}");
    }
    accepts(&[
        "(f32[2], f32[2]) collective-permute-start(f32[2]), source_target_pairs={{0,1}}",
        "(f32[2], f32[2], u32[], u32[]) collective-permute-start(f32[2]), source_target_pairs={{0,1}}",
        "(f32[8]) all-to-all(f32[8])",
    ]);
    refuses(&[
        ("f32[3] all-reduce(f32[2]), to_apply=add", code::DECLARED_SHAPE, "gives f32[2]"),
        ("f32[9,3] all-gather(f32[2,3]), dimensions={0}", code::GATHERED_SIZE, "found 2 and then 9"),
        (
            "f32[6,3] all-gather(f32[2,3]), dimensions={0}, replica_groups={{0,1}}",
            code::GATHERED_SIZE,
            "by 2, the number of devices in a group, found 2 and then 6",
        ),
        (
            "f32[9,3] all-gather(f32[9223372036854775807,3]), dimensions={0}, replica_groups={{0,1}}",
            code::GATHERED_SIZE,
            "and then 9",
        ),
        ("f32[8,4] all-gather(f32[2,3]), dimensions={0}", code::COLLECTIVE_OTHER_SIZES, "4 instead of 3"),
        ("f32[8,3] all-gather(f32[2,3]), dimensions={2}", code::DIMENSION_RANGE, "names dimension 2"),
        ("s32[8,3] all-gather(f32[2,3]), dimensions={0}", code::COLLECTIVE_RESULT, "is written s32[8,3]"),
        (
            "(f32[8]) all-gather(f32[2], f32[2]), dimensions={0}",
            code::COLLECTIVE_RESULT,
            "each of its 2 operands",
        ),
        (
            "f32[3] reduce-scatter(f32[8]), dimensions={0}, to_apply=add",
            code::SCATTERED_SIZE,
            "found 8 and then 3",
        ),
        (
            "f32[4] collective-permute(f32[8]), source_target_pairs={{0,1}}",
            code::DECLARED_SHAPE,
            "gives f32[8]",
        ),
        (
            "(f32[8], f32[9]) collective-permute-start(f32[8]), source_target_pairs={{0,1}}",
            code::DECLARED_SHAPE,
            "gives f32[8], but its shape is written with f32[9]",
        ),
        (
            "(f32[8], f32[8], f32[]) collective-permute-start(f32[8]), source_target_pairs={{0,1}}",
            code::START_RESULT,
            "a tuple of operand and result",
        ),
        ("(s8[2], f32[4]) all-gather-start(f32[2]), dimensions={0}", code::START_OPERANDS, "found s8[2]"),
        ("(f32[2], f32[5]) all-gather-start(f32[2]), dimensions={0}", code::GATHERED_SIZE, "2 and then 5"),
        ("all-gather-done((f32[2]))", code::START_RESULT, "found 1 parts"),
        ("all-to-all(f32[8], f32[7])", code::OPERAND_SHAPES, "operands 0 and 1"),
        ("all-to-all(f32[8], f32[8]), dimensions={0}", code::ARITY, "takes one operand, found 2"),
        ("all-to-all(f32[8]), replica_groups={{0,1}}", code::EXCHANGED_PARTS, "each of the 2 devices"),
        (
            "all-to-all(f32[8]), dimensions={0}, replica_groups={{0,1,2}}",
            code::EXCHANGED_SIZE,
            "into 3 parts, one for each device in a group, but its size is 8",
        ),
        (
            "collective-permute(f32[8], f32[8]), source_target_pairs={{0,1}}, slice_sizes={{2}}",
            code::ARITY,
            "found 2 operands",
        ),
        ("collective-broadcast(f32[2]), has_dynamic_root=true", code::ARITY, "after a value"),
        (
            "collective-broadcast(f32[2], s8[], s32[3]), has_dynamic_root=true",
            code::OPERAND_SHAPES,
            "a root for each of its 2 values, or a scalar for all, found s32[3]",
        ),
        (
            "collective-broadcast(f32[2], s32[1,1]), has_dynamic_root=true",
            code::OPERAND_SHAPES,
            "a root for each of its 1 values",
        ),
        (
            "ragged-all-to-all(f32[8,3], f32[8,4], s32[2], s32[2], s32[2], s32[2])",
            code::RAGGED_ROWS,
            "from f32[8,3] to f32[8,4]",
        ),
        (
            "ragged-all-to-all(f32[8], f32[8], s32[2], s32[2], s32[], s32[2])",
            code::OPERAND_SHAPES,
            "operands 2 and 4",
        ),
    ]);
}

#[test]
fn reducers() {
    refuses(&[
        (
            "all-reduce(f32[2]), to_apply=negate",
            code::COLLECTIVE_REDUCER_PARAMETERS,
            "of 2 parameters in `to_apply`, but `negate` has 1",
        ),
        (
            "all-reduce(f32[2]), to_apply=add_s32",
            code::COLLECTIVE_REDUCER_PARAMETERS,
            "passes f32[] as argument 0 to `add_s32`",
        ),
        ("all-reduce(f32[2]), to_apply=less", code::COLLECTIVE_REDUCER_RESULT, "`less` gives pred[]"),
        (
            "all-reduce(f32[2], s32[2]), to_apply=negate",
            code::COLLECTIVE_REDUCER_PARAMETERS,
            "`negate` has 1",
        ),
        ("all-reduce((f32[2])), to_apply=add", code::OPERAND_KIND, "an array as operand 0"),
    ]);
}

#[test]
fn groups() {
    let row = |groups: &str| format!("all-reduce(f32[2]), to_apply=add, replica_groups={groups}");
    for groups in
        ["{}", "{{1,0}}", "[1000000000,1000000000]<=[1000000000,1000000000]T(1,0)", "mesh['x'=2,'y'=2] {'x'}"]
    {
        assert_eq!(super::Row::read(&row(groups)).check(), Ok(()), "{groups}");
    }
    for (groups, message) in [
        ("[2,4]<=[9]", "groups of 8 devices in all, taken from 9 devices"),
        ("[9223372036854775807,2]<=[8]", "groups of more than 64 bits can count devices in all"),
    ] {
        refuses(&[(&row(groups), code::GROUPED_DEVICES, message)]);
    }
}

/// Without groups, the header determines the number of devices.
#[test]
fn device_counts() {
    let check = |text: &str, replicas: i64, partitions: i64| {
        let mut row = super::Row::read(text);
        row.module.header.replica_count.0 = replicas;
        row.module.header.num_partitions.0 = partitions;
        row.check().map_err(|v| v.code)
    };
    let gather = "f32[6] all-gather(f32[2]), dimensions={0}";
    assert_eq!(check(gather, 3, 1), Ok(()));
    assert_eq!(check(gather, 4, 1), Err(code::GATHERED_SIZE));
    assert_eq!(check(gather, 1, 5), Ok(()));
    let global = "f32[6] all-gather(f32[2]), dimensions={0}, channel_id=1, use_global_device_ids=true";
    assert_eq!(check(global, 1, 3), Ok(()));
    assert_eq!(check(global, 2, 3), Err(code::GATHERED_SIZE));
    assert_eq!(check(global, i64::MAX, 2), Ok(()));
    let exchange = "all-to-all(f32[8]), dimensions={0}, channel_id=1";
    assert_eq!(check(exchange, 3, 2), Ok(()));
    assert_eq!(check(exchange, 2, 3), Err(code::EXCHANGED_SIZE));
}
