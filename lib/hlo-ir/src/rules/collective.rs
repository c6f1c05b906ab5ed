//! Rules of communication between devices.

rules! {
    GROUP_EMPTY = "E1101" "group-empty" {
        rule: "A replica group has at least one device.",
        why: "No groups at all mean one group of all devices.",
        example: Some(r"HloModule m

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] all-reduce(x), replica_groups={{0,1},{}}, to_apply=add
}
"),
        fix: "leave the empty group out",
        section: "Operation semantics, AllReduce",
    }
    GROUP_REPEATED = "E1102" "group-repeated" {
        rule: "A device is in one replica group only, and once.",
        why: "The groups work at the same time.",
        example: Some(r"HloModule m

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] all-reduce(x), replica_groups={{0,1},{1,2}}, to_apply=add
}
"),
        fix: "write `{{0,1},{2,3}}`",
        section: "Operation semantics, AllReduce",
    }
    GROUP_DEVICES = "E1103" "group-devices" {
        rule: "The devices of all replica groups are numbered from 0 without gaps.",
        why: "Each device takes part: one that has nothing to exchange is a group of its own.",
        example: Some(r"HloModule m

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] all-reduce(x), replica_groups={{0,1},{2,4}}, to_apply=add
}
"),
        fix: "name device 3: `{{0,1},{2,3}}`",
        section: "Operation semantics, AllReduce",
    }
    GROUP_COVERAGE = "E1104" "group-coverage" {
        rule: "Replica groups name as many replicas, partitions or devices as the module runs on.",
        why: "Without `channel_id` the numbers are replicas; with `use_global_device_ids` replica times partitions plus partition. The module's header says how many there are.",
        example: Some(r"HloModule m, replica_count=4

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] all-reduce(x), replica_groups={{0,1}}, to_apply=add
}
"),
        fix: "write `{{0,1},{2,3}}`",
        section: "Operation semantics, AllReduce",
    }
    GROUP_UNIFORM = "E1105" "group-uniform" {
        rule: "Replica groups have one size if the result's size follows from it.",
        why: "That is so for `all-gather`, `reduce-scatter` and `all-to-all`: all devices run the same program.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[8] all-gather(x), replica_groups={{0,1},{2}}, dimensions={0}
}
"),
        fix: "write `{{0,1},{2,3}}`",
        section: "Operation semantics, ReduceScatter",
    }
    GLOBAL_CHANNEL = "E1106" "global-channel" {
        rule: "`use_global_device_ids` goes with a `channel_id`.",
        why: "Only operations with a channel communicate between partitions.",
        example: Some(r"HloModule m

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] all-reduce(x), replica_groups={{0,1}}, use_global_device_ids=true, to_apply=add
}
"),
        fix: "add `channel_id=1`",
        section: "HLO text, opcodes",
    }
    GLOBAL_GROUPS = "E1107" "global-groups" {
        rule: "`use_global_device_ids` goes with replica groups that are written.",
        why: "There are no global numbers to be understood otherwise.",
        example: Some(r"HloModule m

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] all-reduce(x), channel_id=1, replica_groups={}, use_global_device_ids=true, to_apply=add
}
"),
        fix: "write the groups, such as `{{0,1,2,3}}`",
        section: "HLO text, opcodes",
    }
    COLLECTIVE_REDUCER_PARAMETERS = "E1108" "collective-reducer-parameters" {
        rule: "The function of a reducing collective takes two scalars of the operands' type.",
        why: "It combines the values of two devices.",
        example: Some(r"HloModule m

negative {
  a = f32[] parameter(0)
  ROOT c = f32[] negate(a)
}

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] all-reduce(x), replica_groups={{0,1}}, to_apply=negative
}
"),
        fix: "take two parameters and combine them",
        section: "Operation semantics, AllReduce",
    }
    COLLECTIVE_REDUCER_RESULT = "E1109" "collective-reducer-result" {
        rule: "The function of a reducing collective gives a scalar of its parameters' type.",
        why: "The result is combined with the next device's value.",
        example: Some(r"HloModule m

less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=LT
}

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] all-reduce(x), replica_groups={{0,1}}, to_apply=less
}
"),
        fix: "combine: `ROOT c = f32[] add(a, b)`",
        section: "Operation semantics, AllReduce",
    }
    COLLECTIVE_RESULT = "E1110" "collective-result" {
        rule: "A collective gives an array of the operand's element type and rank for each operand.",
        why: "Several results are a tuple.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = s32[8] all-gather(x), replica_groups={{0,1}}, dimensions={0}
}
"),
        fix: "write `f32[8]`",
        section: "Operation semantics, AllGather",
    }
    COLLECTIVE_OTHER_SIZES = "E1111" "collective-other-sizes" {
        rule: "A collective changes the size of the dimension that it works along, and no other.",
        why: "What devices exchange is put together or cut along one dimension.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4,3] parameter(0)
  ROOT y = f32[8,6] all-gather(x), replica_groups={{0,1}}, dimensions={0}
}
"),
        fix: "write `f32[8,3]`",
        section: "Operation semantics, AllGather",
    }
    GATHERED_SIZE = "E1112" "gathered-size" {
        rule: "`all-gather` multiplies the size of its dimension by the number of devices in a group.",
        why: "If no groups are written, and the header does not say how many devices there are, the size is some multiple.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[12] all-gather(x), replica_groups={{0,1}}, dimensions={0}
}
"),
        fix: "2 devices give `f32[8]`",
        section: "Operation semantics, AllGather",
    }
    SCATTERED_SIZE = "E1113" "scattered-size" {
        rule: "`reduce-scatter` divides the size of its dimension by the number of devices in a group.",
        why: "Each device gets a part of the same size.",
        example: Some(r"HloModule m

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[1] reduce-scatter(x), replica_groups={{0,1}}, dimensions={0}, to_apply=add
}
"),
        fix: "2 devices get `f32[2]` each",
        section: "Operation semantics, ReduceScatter",
    }
    EXCHANGED_PARTS = "E1114" "exchanged-parts" {
        rule: "`all-to-all` without a dimension has an operand for each device in a group.",
        why: "Operand i goes to device i, and result i comes from it.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = (f32[4], f32[4]) all-to-all(x, x), replica_groups={{0,1,2}}
}
"),
        fix: "pass three operands",
        section: "Operation semantics, AllToAll",
    }
    EXCHANGED_SIZE = "E1115" "exchanged-size" {
        rule: "`all-to-all` along a dimension cuts it into as many parts as there are devices in a group.",
        why: "The parts have one size, which has to divide the dimension's.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] all-to-all(x), replica_groups={{0,1,2}}, dimensions={0}
}
"),
        fix: "pad the operand to `f32[6]`",
        section: "Operation semantics, AllToAll",
    }
    PAIR_DEVICES = "E1116" "pair-devices" {
        rule: "`source_target_pairs` name devices: numbers from 0 to one less than there are.",
        why: "With a `channel_id` they are partitions, otherwise replicas. The module's header says how many there are.",
        example: Some(r"HloModule m, replica_count=4

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] collective-permute(x), source_target_pairs={{0,4}}
}
"),
        fix: "the last of 4 replicas is number 3",
        section: "Operation semantics, CollectivePermute",
    }
    PAIR_SOURCES = "E1117" "pair-sources" {
        rule: "A device is the source of one pair at most.",
        why: "To send to several devices at once is a broadcast.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] collective-permute(x), source_target_pairs={{0,1},{0,2}}
}
"),
        fix: "send from another device, or use `collective-broadcast`",
        section: "Operation semantics, CollectivePermute",
    }
    PAIR_TARGETS = "E1118" "pair-targets" {
        rule: "A device is the target of one pair at most.",
        why: "It receives one value; a device that is no target gets zeros.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] collective-permute(x), source_target_pairs={{0,1},{2,1}}
}
"),
        fix: "send to different devices",
        section: "Operation semantics, CollectivePermute",
    }
    START_RESULT = "E1119" "start-result" {
        rule: "The start of a collective gives a tuple of the operand, the result, and perhaps contexts.",
        why: "The operand is in it so that its memory is not used again before the end; the done takes the result out.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  s = (f32[4]) all-gather-start(x), replica_groups={{0,1}}, dimensions={0}
  ROOT y = f32[4] get-tuple-element(s), index=0
}
"),
        fix: "write `(f32[4], f32[8])`",
        section: "HLO text, opcodes",
    }
    START_OPERANDS = "E1120" "start-operands" {
        rule: "The first part of what the start of a collective gives is its operand, a tuple if there are several.",
        why: "The operand is in it so that its memory is not used again before the end.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  s = (f32[5], f32[8]) all-gather-start(x), replica_groups={{0,1}}, dimensions={0}
  ROOT y = f32[8] all-gather-done(s)
}
"),
        fix: "write `(f32[4], f32[8])`",
        section: "HLO text, opcodes",
    }
    RAGGED_ROWS = "E1121" "ragged-rows" {
        rule: "`ragged-all-to-all` moves rows between arrays that differ in their number only.",
        why: "Offsets and sizes count along the first dimension.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[8,3] parameter(0)
  o = f32[8,4] parameter(1)
  i = s32[2] parameter(2)
  ROOT y = f32[8,4] ragged-all-to-all(x, o, i, i, i, i), replica_groups={{0,1}}
}
"),
        fix: "give the output rows of 3 elements",
        section: "HLO text, opcodes",
    }
    RAGGED_OFFSETS = "E1122" "ragged-offsets" {
        rule: "Offsets and sizes of `ragged-all-to-all` are vectors with a number for each device, or matrices with several for each.",
        why: "A device may get several pieces.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[8,3] parameter(0)
  o = f32[8,3] parameter(1)
  i = s32[] parameter(2)
  ROOT y = f32[8,3] ragged-all-to-all(x, o, i, i, i, i), replica_groups={{0,1}}
}
"),
        fix: "give `s32[2]`",
        section: "HLO text, opcodes",
    }
}
