//! Rules for the devices that collectives name, and for channels.

rules! {
    EMPTY_GROUP = "E1150" "empty-group" {
        rule: "A replica group has at least one device.",
        why: "An empty group would exchange nothing. To use all devices as one group, omit all groups: `replica_groups={}`.",
        example: Some(r"HloModule m

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] all-reduce(x), to_apply=add, replica_groups={{0,1},{}}
}
"),
        fix: "omit the empty group",
        section: "Operation semantics, AllReduce",
    }
    DEVICE_REPEATED = "E1151" "device-repeated" {
        rule: "A device occurs at most once in all replica groups.",
        why: "Each device participates in a collective once.",
        example: Some(r"HloModule m

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] all-reduce(x), to_apply=add, replica_groups={{0,1},{1,2}}
}
"),
        fix: "name each device once: `{{0,1},{2,3}}`",
        section: "Operation semantics, AllReduce",
    }
    DEVICE_RANGE = "E1152" "device-range" {
        rule: "A replica group names existing devices.",
        why: "Without a channel, the numbers are those of replicas, with one those of partitions (or of both, with `use_global_device_ids=true`). The header contains the counts.",
        example: Some(r"HloModule m, replica_count=4

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] all-reduce(x), to_apply=add, replica_groups={{0,1},{2,4}}
}
"),
        fix: "use the numbers 0 to 3 for 4 replicas",
        section: "Operation semantics, AllReduce",
    }
    DEVICES_COVERED = "E1153" "devices-covered" {
        rule: "If there are replica groups, every device is in one; only `collective-broadcast` may omit devices, which then receive zeros.",
        why: "All devices run the same program, so each device must be in a group.",
        example: Some(r"HloModule m

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] all-reduce(x), to_apply=add, replica_groups={{0,1},{3,4}}
}
"),
        fix: "name device 2 as well",
        section: "Operation semantics, AllReduce",
    }
    EQUAL_GROUPS = "E1154" "equal-groups" {
        rule: "All replica groups of an `all-gather`, `all-to-all` or `reduce-scatter` have the same size.",
        why: "The result has one shape on all devices, and its size depends on the size of the group.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[8] all-gather(x), dimensions={0}, replica_groups={{0,1},{2}}
}
"),
        fix: "use groups of two: `{{0,1},{2,3}}`",
        section: "Operation semantics, AllGather",
    }
    GLOBAL_IDS = "E1155" "global-ids" {
        rule: "`use_global_device_ids=true` requires a `channel_id`.",
        why: "Global numbers count replicas and partitions together. Collectives across both have a channel.",
        example: Some(r"HloModule m

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] all-reduce(x), to_apply=add, replica_groups={{0,1}}, use_global_device_ids=true
}
"),
        fix: "add `channel_id=1`",
        section: "Operation semantics, AllReduce",
    }
    GLOBAL_GROUPS = "E1156" "global-groups" {
        rule: "`use_global_device_ids=true` requires replica groups.",
        why: "Without groups there are no device numbers that it could describe.",
        example: Some(r"HloModule m

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] all-reduce(x), to_apply=add, replica_groups={}, channel_id=1, use_global_device_ids=true
}
"),
        fix: "write the groups, or omit the attribute",
        section: "Operation semantics, AllReduce",
    }
    PAIR_REPEATED = "E1157" "pair-repeated" {
        rule: "In the pairs of a `collective-permute`, each device is a source at most once, and a target at most once; with `slice_sizes`, once for each slice.",
        why: "A device sends and receives one value, or one value for each slice.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] collective-permute(x), source_target_pairs={{0,1},{0,2}}
}
"),
        fix: "send from 0 to only one device",
        section: "Operation semantics, CollectivePermute",
    }
    PAIR_RANGE = "E1158" "pair-range" {
        rule: "The pairs of a `collective-permute` name existing devices.",
        why: "Without a channel, the numbers are those of replicas, with one those of partitions. The header contains the counts.",
        example: Some(r"HloModule m, replica_count=2

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] collective-permute(x), source_target_pairs={{0,1},{1,2}}
}
"),
        fix: "use the numbers 0 and 1 for 2 replicas",
        section: "Operation semantics, CollectivePermute",
    }
    GROUP_ORDER = "E1159" "group-order" {
        rule: "The list that replica groups divide names each device once.",
        why: "`[2,4]<=[4,2]T(1,0)` is 2 groups of 4 of the numbers 0 to 7, arranged as 4 rows of 2 and read with the dimensions in the order 1, 0.",
        example: Some(r"HloModule m

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] all-reduce(x), to_apply=add, replica_groups=[2,4]<=[4,2]T(1,1)
}
"),
        fix: "name each dimension once: `T(1,0)`",
        section: "HLO text, replica groups",
    }
    CHANNEL_KIND = "E1160" "channel-kind" {
        rule: "The instructions of a channel are either sends and receives, or collectives.",
        why: "A channel of sends and receives connects the two ends of a transfer. On a collective, a channel means that its groups count partitions.",
        example: Some(r"HloModule m

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

ENTRY main {
  x = f32[4] parameter(0)
  r = f32[4] all-reduce(x), to_apply=add, replica_groups={{0,1}}, channel_id=1
  t = token[] after-all()
  s = (f32[4], u32[], token[]) send(r, t), channel_id=1
  ROOT y = token[] send-done(s), channel_id=1
}
"),
        fix: "use another channel for the transfer",
        section: "Operation semantics, Send",
    }
    CHANNEL_HOST = "E1161" "channel-host" {
        rule: "The sends and receives of a channel are all with the host, or all between devices.",
        why: "`is_host_transfer` selects one of the two. They are implemented differently.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  t = token[] after-all()
  s = (f32[4], u32[], token[]) send(x, t), channel_id=1, is_host_transfer=true
  sd = token[] send-done(s), channel_id=1, is_host_transfer=true
  r = (f32[4], u32[], token[]) recv(t), channel_id=1
  ROOT rd = (f32[4], token[]) recv-done(r), channel_id=1
}
"),
        fix: "use another channel for the receive, or `is_host_transfer=true`",
        section: "Operation semantics, Send",
    }
    DEVICES = "E1162" "devices" {
        rule: "A program runs here on `replica_count` times `num_partitions` devices, 1024 at most: its collectives name only these, and their shapes fit the number of devices in a group.",
        why: "If the header omits the counts, the program has one device, replica 0 and partition 0. Its collectives then exchange data only with itself.",
        example: Some(r"HloModule m

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] all-reduce(x), to_apply=add, replica_groups={{0,1},{2,3}}
}
"),
        fix: "write `replica_count=4` in the module's first line, or run it with `--num-replicas=4`",
        section: "Operation semantics, AllReduce",
    }
    STORAGE = "E1163" "storage" {
        rule: "The array elements of a program that runs here take whole bytes, or the bits of their type (`E(4)` for `s4`).",
        why: "Accelerators use other sizes. Tiles (`T`), padding (`L`), splits (`SC`) and memory spaces (`S`) in a layout also describe an accelerator's memory. They change no value and are ignored here.",
        example: Some(r"HloModule m

ENTRY main {
  x = s8[16]{0:E(4)} parameter(0)
  ROOT y = s8[16]{0:E(4)} negate(x)
}
"),
        fix: "omit the size: `s8[16]`",
        section: "Shapes and layout",
    }
    SIZES_OUTSIDE = "E1164" "sizes-outside" {
        rule: "The operands and results of infeed, outfeed, send, recv and custom calls have static sizes.",
        why: "The other side finds an array of the declared shape in memory and cannot tell how much of it is valid. XLA rejects such programs as well.",
        example: Some(r#"HloModule m

ENTRY main {
  x = f32[<=8] parameter(0)
  ROOT y = f32[<=8] custom-call(x), custom_call_target="f"
}
"#),
        fix: "pass `f32[8] dynamic-slice(x, zero), dynamic_slice_sizes={8}`, which pads with zeros, and the `get-dimension-size` of `x`",
        section: "Operation semantics, SetDimensionSize",
    }
    BOUND_ELSEWHERE = "E1165" "bound-elsewhere" {
        rule: "In a program that runs, an asynchronous operation with operands in `async-update` starts and finishes in one computation, and each value in between is used once.",
        why: "The operation runs when its last operand is bound. If the start binds all operands, other computations may continue it.",
        example: Some(r"HloModule m

f {
  a = f32[4] parameter(0)
  ROOT b = f32[4] negate(a)
}

g {
  s = ((), f32[4], s32[]) parameter(0)
  x = f32[4] parameter(1)
  u = ((f32[4]), f32[4], s32[]) async-update(s, x)
  ROOT y = f32[4] async-done(u)
}

ENTRY main {
  x = f32[4] parameter(0)
  s = ((), f32[4], s32[]) async-start(), calls=f
  ROOT y = f32[4] call(s, x), to_apply=g
}
"),
        fix: "bind the operands in `main`",
        section: "HLO text, opcodes",
    }
    HOST_CHANNEL = "E1166" "host-channel" {
        rule: "All sends to the host on one channel have the same shape and the same `frontend_attributes`, as do all receives.",
        why: "These identify the program on the host that answers.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[] constant(0)
  t = token[] after-all()
  s = (f32[], u32[], token[]) send(x, t), channel_id=1, is_host_transfer=true
  sd = token[] send-done(s), channel_id=1, is_host_transfer=true
  y = f32[2] broadcast(x), dimensions={}
  u = (f32[2], u32[], token[]) send(y, sd), channel_id=1, is_host_transfer=true
  ROOT ud = token[] send-done(u), channel_id=1, is_host_transfer=true
}
"),
        fix: "send `y` on another channel",
        section: "Operation semantics, Send",
    }
    SLICES_OF_ONE = "E1168" "slices-of-one" {
        rule: "A `collective-permute` of slices in a program that runs here reads from one array and writes to one.",
        why: "Several arrays in one instruction save messages between accelerators. Here, use one instruction for each array.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[8] parameter(0)
  y = f32[8] parameter(1)
  i = s32[] constant(0)
  at = (s32[]) tuple(i)
  arrays = (f32[8], f32[8]) tuple(x, y)
  places = ((s32[]), (s32[])) tuple(at, at)
  ROOT z = (f32[8], f32[8]) collective-permute(arrays, arrays, places, places), source_target_pairs={{0,0}}, slice_sizes={{4},{4}}
}
"),
        fix: "permute the slices of `x` and of `y` with one instruction each",
        section: "Operation semantics, CollectivePermute",
    }
}
