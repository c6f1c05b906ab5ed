//! Rules for the module header: aliasing, donation, and the numbers of replicas and partitions.

rules! {
    ALIAS_OUTPUT = "E1201" "alias-output" {
        rule: "`input_output_alias` names existing arrays of the result.",
        why: "An index selects an element at each level of tuples. `{}` is the whole result.",
        example: Some(r"HloModule m, input_output_alias={ {0}: (0, {}, may-alias) }

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] negate(x)
}
"),
        fix: "write `{}: (0, {}, may-alias)`: the result is not a tuple",
        section: "HLO text, module header",
    }
    ALIAS_PARAMETER = "E1202" "alias-parameter" {
        rule: "`input_output_alias` and `buffer_donor` name existing arrays of the parameters.",
        why: "An entry contains the number of a parameter and an index into its tuples.",
        example: Some(r"HloModule m, buffer_donor={ (1, {}) }

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] negate(x)
}
"),
        fix: "write `(0, {})` for the only parameter",
        section: "HLO text, module header",
    }
    ALIAS_SIZE = "E1203" "alias-size" {
        rule: "A result and the parameter whose memory it shares have the same number of bytes.",
        why: "The result is written to the memory of the parameter.",
        example: Some(r"HloModule m, input_output_alias={ {}: (0, {}, may-alias) }

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[2] slice(x), slice={[0:2]}
}
"),
        fix: "remove the alias; donate the memory with `buffer_donor={ (0, {}) }`",
        section: "HLO text, module header",
    }
    ALIASED_ONCE = "E1204" "aliased-once" {
        rule: "A parameter, or a part of one, shares its memory with at most one result.",
        why: "Two results cannot be written to the same memory.",
        example: Some(r"HloModule m, input_output_alias={ {0}: (0, {}, may-alias), {1}: (0, {}, may-alias) }

ENTRY main {
  x = f32[4] parameter(0)
  a = f32[4] negate(x)
  b = f32[4] abs(x)
  ROOT y = (f32[4], f32[4]) tuple(a, b)
}
"),
        fix: "remove one of the two",
        section: "HLO text, module header",
    }
    DONOR_ALIASED = "E1205" "donor-aliased" {
        rule: "A parameter in `buffer_donor` is not in `input_output_alias`.",
        why: "Its memory would be assigned twice: to one result, and to any result that fits.",
        example: Some(r"HloModule m, input_output_alias={ {}: (0, {}, may-alias) }, buffer_donor={ (0, {}) }

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] negate(x)
}
"),
        fix: "remove one of the two",
        section: "HLO text, module header",
    }
    DEVICE_COUNT = "E1206" "device-count" {
        rule: "`replica_count` and `num_partitions` are at least 1.",
        why: "A program runs on at least one device.",
        example: Some(r"HloModule m, replica_count=0

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] negate(x)
}
"),
        fix: "omit the count, which is then 1",
        section: "HLO text, module header",
    }
    SHARDING_LEAVES = "E1207" "sharding-leaves" {
        rule: "A tuple has one sharding for each of its arrays, or one for all.",
        why: "The shardings of nested tuples are a flat list, in the order of the arrays.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = (f32[4], f32[4], f32[4]) tuple(x, x, x), sharding={{replicated}, {replicated}}
}
"),
        fix: "write three shardings, or `{replicated}`",
        section: "HLO text, shardings",
    }
    SHARDING_RANK = "E1208" "sharding-rank" {
        rule: "The sharding of an array has a number of tiles for each dimension.",
        why: "The number of tiles is 1 in a dimension that is not divided.",
        example: Some(r"HloModule m, num_partitions=4

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] negate(x), sharding={devices=[2,2]<=[4]}
}
"),
        fix: "write `{devices=[4]<=[4]}`",
        section: "HLO text, shardings",
    }
    SHARDING_DEVICE = "E1209" "sharding-device" {
        rule: "A sharding on one device names an existing device.",
        why: "Partitions are numbered from 0. The header contains their number.",
        example: Some(r"HloModule m, num_partitions=2

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] negate(x), sharding={maximal device=2}
}
"),
        fix: "write `{maximal device=1}`",
        section: "HLO text, shardings",
    }
    SHARDING_ORDER = "E1210" "sharding-order" {
        rule: "A sharding has a different device for each tile, and at most 1,048,576 devices.",
        why: "The devices of the tiles are listed row by row, or described as for replica groups. All of them must fit in memory.",
        example: Some(r"HloModule m, num_partitions=4

ENTRY main {
  x = f32[4,6] parameter(0)
  ROOT y = f32[4,6] negate(x), sharding={devices=[2,2]0,1,2}
}
"),
        fix: "name the fourth device: `0,1,2,3`",
        section: "HLO text, shardings",
    }
    REPLICATION_LEAVES = "E1211" "replication-leaves" {
        rule: "`parameter_replication` belongs to a parameter, and specifies for each of its arrays whether all replicas have the same value.",
        why: "The values for nested tuples are a flat list, in the order of the arrays.",
        example: Some(r"HloModule m, replica_count=2

ENTRY main {
  x = (f32[4], f32[4]) parameter(0), parameter_replication={true}
  ROOT y = f32[4] get-tuple-element(x), index=0
}
"),
        fix: "write `{true,true}`",
        section: "HLO text, common values",
    }
}
