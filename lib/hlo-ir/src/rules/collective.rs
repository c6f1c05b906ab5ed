//! Rules for communication between devices.

rules! {
    GROUPED_DEVICES = "E1101" "grouped-devices" {
        rule: "Replica groups such as `[2,4]<=[8]` contain as many devices as the list that they divide.",
        why: "`[2,4]<=[8]` divides the devices 0 to 7 into 2 groups of 4. A mesh with `device_ids` has one ID for each position.",
        example: Some(r"HloModule m

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] all-reduce(x), replica_groups=[2,4]<=[9], to_apply=add
}
"),
        fix: "write `[2,4]<=[8]`",
        section: "HLO text, replica groups",
    }
    COLLECTIVE_REDUCER_PARAMETERS = "E1102" "collective-reducer-parameters" {
        rule: "The function of a reducing collective takes two scalars of the operands' type, or of another floating-point type if the operands have one.",
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
        fix: "use a function that combines two parameters",
        section: "Operation semantics, AllReduce",
    }
    COLLECTIVE_REDUCER_RESULT = "E1103" "collective-reducer-result" {
        rule: "The function of a reducing collective returns a scalar of its parameters' type.",
        why: "The next call combines the result with the value of another device.",
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
        fix: "combine the parameters: `ROOT c = f32[] add(a, b)`",
        section: "Operation semantics, AllReduce",
    }
    COLLECTIVE_RESULT = "E1104" "collective-result" {
        rule: "A collective returns one array for each operand, with its element type and rank.",
        why: "Several arrays form a tuple.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = s32[8] all-gather(x), replica_groups={{0,1}}, dimensions={0}
}
"),
        fix: "write `f32[8]`",
        section: "Operation semantics, AllGather",
    }
    COLLECTIVE_OTHER_SIZES = "E1105" "collective-other-sizes" {
        rule: "A collective changes only the size of the dimension that it works along.",
        why: "The data that devices exchange is concatenated or split along one dimension.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4,3] parameter(0)
  ROOT y = f32[8,6] all-gather(x), replica_groups={{0,1}}, dimensions={0}
}
"),
        fix: "write `f32[8,3]`",
        section: "Operation semantics, AllGather",
    }
    GATHERED_SIZE = "E1106" "gathered-size" {
        rule: "`all-gather` multiplies the size of its dimension by the number of devices in a group.",
        why: "If neither the groups nor the header specify the number of devices, any multiple is valid.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[12] all-gather(x), replica_groups={{0,1}}, dimensions={0}
}
"),
        fix: "write `f32[8]` for 2 devices",
        section: "Operation semantics, AllGather",
    }
    SCATTERED_SIZE = "E1107" "scattered-size" {
        rule: "`reduce-scatter` divides the size of its dimension by the number of devices in a group.",
        why: "Each device receives a part of the same size.",
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
        fix: "write `f32[2]` for 2 devices",
        section: "Operation semantics, ReduceScatter",
    }
    EXCHANGED_PARTS = "E1108" "exchanged-parts" {
        rule: "`all-to-all` without a dimension has one operand for each device in a group.",
        why: "Operand i is sent to device i, and result i is received from it.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = (f32[4], f32[4]) all-to-all(x, x), replica_groups={{0,1,2}}
}
"),
        fix: "pass three operands",
        section: "Operation semantics, AllToAll",
    }
    EXCHANGED_SIZE = "E1109" "exchanged-size" {
        rule: "`all-to-all` along a dimension splits it into one part for each device in a group.",
        why: "All parts have the same size, so the number of devices divides the size of the dimension.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] all-to-all(x), replica_groups={{0,1,2}}, dimensions={0}
}
"),
        fix: "pad the operand to `f32[6]`",
        section: "Operation semantics, AllToAll",
    }
    START_RESULT = "E1110" "start-result" {
        rule: "The start of a collective returns a tuple of the operand, the result, and optional contexts.",
        why: "The tuple contains the operand so that its memory is not reused before the end. The done instruction extracts the result.",
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
    START_OPERANDS = "E1111" "start-operands" {
        rule: "The first element of the tuple that a collective's start returns is its operand, or a tuple of several operands.",
        why: "The tuple contains the operand so that its memory is not reused before the end.",
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
    RAGGED_ROWS = "E1112" "ragged-rows" {
        rule: "`ragged-all-to-all` moves rows between arrays that differ only in the number of rows.",
        why: "Offsets and sizes count rows, along the first dimension.",
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
    RAGGED_OFFSETS = "E1113" "ragged-offsets" {
        rule: "The offsets and sizes of `ragged-all-to-all` are vectors with one number for each device, or matrices with several.",
        why: "A device may receive several pieces.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[8,3] parameter(0)
  o = f32[8,3] parameter(1)
  i = s32[] parameter(2)
  ROOT y = f32[8,3] ragged-all-to-all(x, o, i, i, i, i), replica_groups={{0,1}}
}
"),
        fix: "use `s32[2]` for the offsets and sizes",
        section: "HLO text, opcodes",
    }
    PERMUTED_SLICES = "E1114" "permuted-slices" {
        rule: "A `collective-permute` of slices writes to as many arrays as it reads, and has the start of the slices for each array: an integer for each dimension, or a tuple of such starts.",
        why: "Slice n is copied from its position in the source's array to its position in the target's array.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[8] parameter(0)
  y = f32[8] parameter(1)
  i = s32[] constant(0)
  at = (s32[]) tuple(i)
  ROOT z = f32[8] collective-permute(x, y, i, at), source_target_pairs={{0,1}}, slice_sizes={{4}}
}
"),
        fix: "pass `at` instead of `i`",
        section: "Operation semantics, CollectivePermute",
    }
}
