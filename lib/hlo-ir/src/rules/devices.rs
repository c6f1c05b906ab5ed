//! Rules for the devices that collectives name, and for channels.

rules! {
    EMPTY_GROUP = "E1150" "empty-group" {
        rule: "A replica group has a device.",
        why: "A group of none would exchange nothing. To take all devices as one group leave out all groups: `replica_groups={}`.",
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
        fix: "leave the empty group out",
        section: "Operation semantics, AllReduce",
    }
    DEVICE_REPEATED = "E1151" "device-repeated" {
        rule: "A device is in one replica group, once.",
        why: "Each device takes part in a collective once.",
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
        rule: "A replica group names devices that the module has.",
        why: "Without a channel the numbers are those of replicas, with one those of partitions (or of both, with `use_global_device_ids=true`); the header says how many there are.",
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
        fix: "4 replicas have the numbers 0 to 3",
        section: "Operation semantics, AllReduce",
    }
    DEVICES_COVERED = "E1153" "devices-covered" {
        rule: "Every device is in a replica group, if there are groups; those in none of a `collective-broadcast` get zeros.",
        why: "All devices run the same program, so that each has to know what to do.",
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
        rule: "The replica groups of an `all-gather`, `all-to-all` or `reduce-scatter` are of one size.",
        why: "The result has one shape on all devices, and its size follows from the group's.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[8] all-gather(x), dimensions={0}, replica_groups={{0,1},{2}}
}
"),
        fix: "make groups of two: `{{0,1},{2,3}}`",
        section: "Operation semantics, AllGather",
    }
    GLOBAL_IDS = "E1155" "global-ids" {
        rule: "`use_global_device_ids=true` goes with a `channel_id`.",
        why: "Numbers that count replicas and partitions together relate devices across both, which a channel does.",
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
        rule: "`use_global_device_ids=true` goes with replica groups that are written.",
        why: "Without groups there are no numbers that it could be about.",
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
        fix: "write the groups, or leave the attribute out",
        section: "Operation semantics, AllReduce",
    }
    PAIR_REPEATED = "E1157" "pair-repeated" {
        rule: "In the pairs of a `collective-permute` each device is a source at most once, and a target at most once; in place, once for each slice.",
        why: "A device has one value, or one slice of `slice_sizes`, to send and receives one.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] collective-permute(x), source_target_pairs={{0,1},{0,2}}
}
"),
        fix: "send from 0 to one device",
        section: "Operation semantics, CollectivePermute",
    }
    PAIR_RANGE = "E1158" "pair-range" {
        rule: "The pairs of a `collective-permute` name devices that the module has.",
        why: "Without a channel the numbers are those of replicas, with one those of partitions; the header says how many there are.",
        example: Some(r"HloModule m, replica_count=2

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] collective-permute(x), source_target_pairs={{0,1},{1,2}}
}
"),
        fix: "2 replicas have the numbers 0 and 1",
        section: "Operation semantics, CollectivePermute",
    }
    GROUP_ORDER = "E1159" "group-order" {
        rule: "The order that replica groups are taken from names each device once.",
        why: "`[2,4]<=[4,2]T(1,0)` is 2 groups of 4 of the numbers 0 to 7, laid out as 4 rows of 2 and read with the dimensions in the order 1, 0.",
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
        rule: "The instructions of a channel are sends and receives, or they are collectives.",
        why: "A channel of sends and receives relates two ends of a transfer; that of a collective says that its groups count partitions.",
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
        fix: "give the transfer its own channel",
        section: "Operation semantics, Send",
    }
    CHANNEL_HOST = "E1161" "channel-host" {
        rule: "The sends and receives of a channel are all with the host, or all between devices.",
        why: "`is_host_transfer` says which; the two ways are different machinery.",
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
        fix: "give the receive another channel, or `is_host_transfer=true`",
        section: "Operation semantics, Send",
    }
    DEVICES = "E1162" "devices" {
        rule: "A program that runs here runs on the devices that its header counts, `replica_count` times `num_partitions`, 1024 at most: its collectives name these, and their shapes fit the number of devices in a group.",
        why: "A text that leaves the counts out is of one device, replica 0 and partition 0, whose collectives are with itself.",
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
        rule: "The elements of the arrays of a program that runs here take whole bytes, or the bits of their type (`E(4)` for `s4`).",
        why: "Other sizes are those of accelerators. What else a layout says beside the order of the dimensions - tiles (`T`), padding (`L`), splits (`SC`), a memory space (`S`) - is of an accelerator's memory and changes no value: here arrays have none of it.",
        example: Some(r"HloModule m

ENTRY main {
  x = s8[16]{0:E(4)} parameter(0)
  ROOT y = s8[16]{0:E(4)} negate(x)
}
"),
        fix: "leave the size out: `s8[16]`",
        section: "Shapes and layout",
    }
    SIZES_OUTSIDE = "E1164" "sizes-outside" {
        rule: "Arrays that infeed, outfeed, send, recv and custom calls take or give have sizes that the module declares, not ones known at run time only.",
        why: "The other end finds an array of the declared shape in memory: nothing tells it how much of that is there. XLA refuses such programs as well.",
        example: Some(r#"HloModule m

ENTRY main {
  x = f32[<=8] parameter(0)
  ROOT y = f32[<=8] custom-call(x), custom_call_target="f"
}
"#),
        fix: "hand over `f32[8] dynamic-slice(x, zero), dynamic_slice_sizes={8}`, which is continued with zeros, and the `get-dimension-size` of `x` beside it",
        section: "Operation semantics, SetDimensionSize",
    }
    BOUND_ELSEWHERE = "E1165" "bound-elsewhere" {
        rule: "An asynchronous operation of a program that runs is started, given its operands by `async-update`, and finished in one computation, each value in between being used once.",
        why: "It runs where its last operand is bound. One whose start binds all operands may go on anywhere.",
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
        rule: "Sends to the host on one channel have the same shape and the same `frontend_attributes`, and so have receives.",
        why: "The other end is one program of the host, which is found by them.",
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
        why: "Several arrays in one instruction save messages between accelerators. Here an instruction for each array does the same.",
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
        fix: "permute the slices of `x` and of `y` by an instruction each",
        section: "Operation semantics, CollectivePermute",
    }
}
