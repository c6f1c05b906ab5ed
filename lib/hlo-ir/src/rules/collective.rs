//! Rules for communication between devices.

rules! {
    GROUPED_DEVICES = "E1101" "grouped-devices" {
        rule: "Replica groups that are described, not listed, take as many devices as they are taken from.",
        why: "`[2,4]<=[8]` is 2 groups of 4 of the devices 0 to 7; a mesh with `device_ids` has an id for each of its places.",
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
        rule: "The function of a reducing collective takes two scalars of the operands' type, or of another floating-point type if theirs is one.",
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
    COLLECTIVE_REDUCER_RESULT = "E1103" "collective-reducer-result" {
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
    COLLECTIVE_RESULT = "E1104" "collective-result" {
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
    COLLECTIVE_OTHER_SIZES = "E1105" "collective-other-sizes" {
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
    GATHERED_SIZE = "E1106" "gathered-size" {
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
    SCATTERED_SIZE = "E1107" "scattered-size" {
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
    EXCHANGED_PARTS = "E1108" "exchanged-parts" {
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
    EXCHANGED_SIZE = "E1109" "exchanged-size" {
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
    START_RESULT = "E1110" "start-result" {
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
    START_OPERANDS = "E1111" "start-operands" {
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
    RAGGED_ROWS = "E1112" "ragged-rows" {
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
    RAGGED_OFFSETS = "E1113" "ragged-offsets" {
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
    PERMUTED_SLICES = "E1114" "permuted-slices" {
        rule: "A `collective-permute` of slices takes as many arrays to read as to write, and for each of them where slices start: an integer for each dimension, or tuples of such.",
        why: "Slice n goes from its place in the array of the source to its place in that of the target.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[8] parameter(0)
  y = f32[8] parameter(1)
  i = s32[] constant(0)
  at = (s32[]) tuple(i)
  ROOT z = f32[8] collective-permute(x, y, i, at), source_target_pairs={{0,1}}, slice_sizes={{4}}
}
"),
        fix: "pass `at` in place of `i`",
        section: "Operation semantics, CollectivePermute",
    }
}
