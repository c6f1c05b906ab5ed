//! Rules for the module header: aliasing and donation, counts.

rules! {
    ALIAS_OUTPUT = "E1201" "alias-output" {
        rule: "`input_output_alias` names parts of the result that are there and are arrays.",
        why: "An index gives the element at each level of tuples; `{}` is the whole result.",
        example: Some(r"HloModule m, input_output_alias={ {0}: (0, {}, may-alias) }

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] negate(x)
}
"),
        fix: "the result is no tuple: write `{}: (0, {}, may-alias)`",
        section: "HLO text, module header",
    }
    ALIAS_PARAMETER = "E1202" "alias-parameter" {
        rule: "`input_output_alias` and `buffer_donor` name parameters, and parts of them, that are there and are arrays.",
        why: "Parameters are given by number, parts of tuples by index.",
        example: Some(r"HloModule m, buffer_donor={ (1, {}) }

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] negate(x)
}
"),
        fix: "the one parameter is `(0, {})`",
        section: "HLO text, module header",
    }
    ALIAS_SIZE = "E1203" "alias-size" {
        rule: "A result and the parameter whose memory it shares take the same number of bytes.",
        why: "The result is written where the parameter was.",
        example: Some(r"HloModule m, input_output_alias={ {}: (0, {}, may-alias) }

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[2] slice(x), slice={[0:2]}
}
"),
        fix: "take the alias away: the memory can be given as `buffer_donor={ (0, {}) }`",
        section: "HLO text, module header",
    }
    ALIASED_ONCE = "E1204" "aliased-once" {
        rule: "A parameter, or a part of one, shares its memory with one result.",
        why: "Two results can't be written to one place.",
        example: Some(r"HloModule m, input_output_alias={ {0}: (0, {}, may-alias), {1}: (0, {}, may-alias) }

ENTRY main {
  x = f32[4] parameter(0)
  a = f32[4] negate(x)
  b = f32[4] abs(x)
  ROOT y = (f32[4], f32[4]) tuple(a, b)
}
"),
        fix: "take one of the two away",
        section: "HLO text, module header",
    }
    DONOR_ALIASED = "E1205" "donor-aliased" {
        rule: "A parameter in `buffer_donor` is not in `input_output_alias`.",
        why: "Its memory would be given twice: to one result, and to whichever fits.",
        example: Some(r"HloModule m, input_output_alias={ {}: (0, {}, may-alias) }, buffer_donor={ (0, {}) }

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] negate(x)
}
"),
        fix: "take one of the two away",
        section: "HLO text, module header",
    }
    DEVICE_COUNT = "E1206" "device-count" {
        rule: "`replica_count` and `num_partitions` are 1 or more.",
        why: "A program runs on a device at least.",
        example: Some(r"HloModule m, replica_count=0

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] negate(x)
}
"),
        fix: "leave the count out: it is 1 then",
        section: "HLO text, module header",
    }
    SHARDING_LEAVES = "E1207" "sharding-leaves" {
        rule: "The sharding of a tuple has one for each array in it, or is one for all.",
        why: "Nested tuples are counted through: the arrays in order.",
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
        rule: "The sharding of an array says for each of its dimensions how it is cut.",
        why: "Tiles are counted along each dimension, 1 where it is not cut.",
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
        rule: "A sharding on one device names one that the module has.",
        why: "The partitions are numbered from 0; the header says how many there are.",
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
        rule: "A sharding has a device for each tile, another one each time, and at most 1,048,576 devices.",
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
        rule: "`parameter_replication` is of a parameter, and says for each array in it whether all replicas have the same.",
        why: "Nested tuples are counted through: the arrays in order.",
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
