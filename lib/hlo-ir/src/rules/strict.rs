//! Rules that `hlo-opt --verify=…` checks in addition to those for valid modules
//! ([`crate::verify::verify_strictly`]).

rules! {
    KEPT_LAYOUT = "E1301" "kept-layout" {
        rule: "`--verify=layouts`: only instructions that may change layouts change them. The entry's parameters and result have the layouts of `entry_computation_layout`, and values that share memory have one layout.",
        why: "Once layouts are assigned, an elementwise instruction, a slice or a concatenation does not change them. A copy does.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4,6]{1,0} parameter(0)
  y = f32[4,6]{0,1} parameter(1)
  ROOT z = f32[4,6]{1,0} add(x, y)
}
"),
        fix: "copy `y` to `f32[4,6]{1,0}` first",
        section: "Shapes and layout",
    }
    BROADCAST_ORDER = "E1302" "broadcast-order" {
        rule: "`--verify=order`: the dimensions of a broadcast are in ascending order.",
        why: "Otherwise the broadcast also transposes. Some passes of XLA expect a separate instruction for that.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4,6] parameter(0)
  ROOT y = f32[6,4] broadcast(x), dimensions={1,0}
}
"),
        fix: "transpose `x`, then broadcast with `dimensions={0,1}`",
        section: "Operation semantics, BroadcastInDim",
    }
    ONE_PRECISION = "E1303" "one-precision" {
        rule: "`--verify=precision`: the operands and the result of an instruction have one floating-point type.",
        why: "XLA accepts mixed types only where a target requests it. Here they are computed in the widest type, with a warning.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  y = bf16[4] parameter(1)
  ROOT z = f32[4] add(x, y)
}
"),
        fix: "convert `y` to `f32` first",
        section: "Operation semantics, Element-wise binary arithmetic functions",
    }
    BOUNDED = "E1304" "bounded" {
        rule: "`--verify=sizes`: every dimension has a size or a bound.",
        why: "A program cannot be compiled for arrays of any size.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[?,4] parameter(0)
  ROOT y = f32[?,4] negate(x)
}
"),
        fix: "write a size, `f32[8,4]`, or a bound, `f32[<=8,4]`",
        section: "Shapes and layout",
    }
    ASYNC_BODY = "E1305" "async-body" {
        rule: "The computation of `async-start` has parameters and one instruction, its root.",
        why: "The operation is that one instruction, which runs in the background. If there are more, the root calls a computation that contains them.",
        example: Some(r"HloModule m

f {
  a = f32[2] parameter(0)
  b = f32[2] negate(a)
  ROOT c = f32[2] exponential(b)
}

ENTRY main {
  x = f32[2] parameter(0)
  s = ((f32[2]), f32[2], u32[]) async-start(x), calls=f
  ROOT y = f32[2] async-done(s)
}
"),
        fix: "call `f` from a computation whose root is `call(a), to_apply=f`, and start that computation",
        section: "HLO text, asynchronous operations",
    }
    CONSISTENT_SHARDING = "E1306" "consistent-sharding" {
        rule: "A `while` has the sharding of its body's parameter and root and of its condition's parameter, if they have one; a `conditional` has that of its branches' roots.",
        why: "They are all the same value.",
        example: Some(r"HloModule m, num_partitions=2

condition {
  s = f32[4] parameter(0), sharding={maximal device=0}
  ROOT c = pred[] constant(false)
}

body {
  s = f32[4] parameter(0), sharding={replicated}
  ROOT t = f32[4] negate(s)
}

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] while(x), condition=condition, body=body
}
"),
        fix: "also write `{replicated}` in the condition",
        section: "HLO text, shardings",
    }
    PENDING_TRANSFER = "E1307" "pending-transfer" {
        rule: "In a schedule, the `send` and the `recv` with the same devices come before the next collective; each device is a source once and a target once, and the devices form no cycle.",
        why: "On accelerators a transfer waits for its other end, and a collective for all devices, so they can deadlock. Here sends do not wait.",
        example: Some(r#"HloModule m, is_scheduled=true, replica_count=2

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

ENTRY main {
  x = f32[2] parameter(0)
  t = token[] after-all()
  s = (f32[2], u32[], token[]) send(x, t), channel_id=1, frontend_attributes={_xla_send_recv_source_target_pairs={{0,1}}}
  y = f32[2] all-reduce(x), to_apply=add
  r = (f32[2], u32[], token[]) recv(t), channel_id=1, frontend_attributes={_xla_send_recv_source_target_pairs={{0,1}}}
  sd = token[] send-done(s), channel_id=1
  rd = (f32[2], token[]) recv-done(r), channel_id=1
  z = f32[2] get-tuple-element(rd), index=0
  ROOT w = f32[2] add(y, z)
}
"#),
        fix: "move the `recv` before the `all-reduce`",
        section: "Operation semantics, Send",
    }
}
