//! Rules for tokens, host transfers, asynchronous operations and custom calls.

rules! {
    COPY_STATE = "E1001" "copy-state" {
        rule: "`copy-done` takes a tuple of the copy, its source and a `u32[]`.",
        why: "`copy-start` returns this tuple, from which `copy-done` extracts the copy.",
        example: Some(r"HloModule m

ENTRY main {
  x = (f32[4], f32[5], u32[]) parameter(0)
  ROOT y = f32[4] copy-done(x)
}
"),
        fix: "take the result of a `copy-start`",
        section: "HLO text, opcodes",
    }
    INFEED_RESULT = "E1002" "infeed-result" {
        rule: "`infeed` returns a tuple of the value read and a token.",
        why: "The token orders the transfers.",
        example: Some(r"HloModule m

ENTRY main {
  t = token[] parameter(0)
  ROOT y = f32[4] infeed(t)
}
"),
        fix: "write `(f32[4], token[])`",
        section: "Operation semantics, Infeed",
    }
    OUTFEED_SHAPE = "E1003" "outfeed-shape" {
        rule: "`outfeed_shape` is the shape of the value sent.",
        why: "It specifies the layout of the sent value.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  t = token[] parameter(1)
  ROOT y = token[] outfeed(x, t), outfeed_shape=f32[5]{0}
}
"),
        fix: "write `outfeed_shape=f32[4]{0}`",
        section: "Operation semantics, Outfeed",
    }
    TRANSFER_STATE = "E1004" "transfer-state" {
        rule: "`send-done` and `recv-done` take a tuple of a value, a `u32[]` and a token.",
        why: "`send` and `recv` return this tuple, which contains the value's memory until the transfer is done.",
        example: Some(r"HloModule m

ENTRY main {
  x = (f32[4], token[]) parameter(0)
  ROOT y = token[] send-done(x), channel_id=1
}
"),
        fix: "take the result of a `send`",
        section: "Operation semantics, Send",
    }
    RECV_RESULT = "E1005" "recv-result" {
        rule: "`recv` returns a tuple of the value, a `u32[]` and a token.",
        why: "The value is available once `recv-done` has waited for it.",
        example: Some(r"HloModule m

ENTRY main {
  t = token[] parameter(0)
  ROOT r = f32[4] recv(t), channel_id=1
}
"),
        fix: "write `(f32[4], u32[], token[])`",
        section: "Operation semantics, Recv",
    }
    LAYOUT_CONSTRAINT_COUNT = "E1006" "layout-constraint-count" {
        rule: "`operand_layout_constraints` has one shape for each operand.",
        why: "Either all operands have constrained layouts, or none.",
        example: Some(r#"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] custom-call(x), custom_call_target="f", operand_layout_constraints={}
}
"#),
        fix: "write `{f32[4]{0}}`",
        section: "Operation semantics, CustomCall",
    }
    LAYOUT_CONSTRAINT_SHAPE = "E1007" "layout-constraint-shape" {
        rule: "The shapes in `operand_layout_constraints` are the shapes of the operands.",
        why: "They add layouts to those shapes.",
        example: Some(r#"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] custom-call(x), custom_call_target="f", operand_layout_constraints={f32[5]{0}}
}
"#),
        fix: "write `{f32[4]{0}}`",
        section: "Operation semantics, CustomCall",
    }
    RESULT_ALIASED_ONCE = "E1008" "result-aliased-once" {
        rule: "A part of a result occurs at most once in `output_to_operand_aliasing`.",
        why: "It cannot be in the memory of two operands.",
        example: Some(r#"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  z = f32[4] parameter(1)
  ROOT y = f32[4] custom-call(x, z), custom_call_target="f", output_to_operand_aliasing={{}: (0, {}), {}: (1, {})}
}
"#),
        fix: "omit one of the two",
        section: "Operation semantics, CustomCall",
    }
    ALIASED_RESULT = "E1009" "aliased-result" {
        rule: "`output_to_operand_aliasing` names existing parts of the result.",
        why: "An index selects an element at each level of nested tuples. `{}` is the whole result.",
        example: Some(r#"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] custom-call(x), custom_call_target="f", output_to_operand_aliasing={{0}: (0, {})}
}
"#),
        fix: "write `{}` for the whole result",
        section: "Operation semantics, CustomCall",
    }
    ALIASED_OPERAND = "E1010" "aliased-operand" {
        rule: "`output_to_operand_aliasing` names existing operands, and existing parts of them.",
        why: "Operands are numbered from 0.",
        example: Some(r#"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] custom-call(x), custom_call_target="f", output_to_operand_aliasing={{}: (1, {})}
}
"#),
        fix: "write 0, the number of the only operand",
        section: "Operation semantics, CustomCall",
    }
    ALIASED_SHAPES = "E1011" "aliased-shapes" {
        rule: "A part of a result has the shape of the part of the operand whose memory it shares.",
        why: "The result is stored in place of the operand.",
        example: Some(r#"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[5] custom-call(x), custom_call_target="f", output_to_operand_aliasing={{}: (0, {})}
}
"#),
        fix: "share memory with an operand of `f32[5]`",
        section: "Operation semantics, CustomCall",
    }
    ASYNC_FORM = "E1012" "async-form" {
        rule: "The state of an asynchronous operation is a tuple: a tuple of the operands, the result, and optional contexts.",
        why: "`async-start` and `async-update` return it. `async-update` and `async-done` take it.",
        example: Some(r"HloModule m

ENTRY main {
  x = (f32[4], f32[4]) parameter(0)
  ROOT y = f32[4] async-done(x)
}
"),
        fix: "take the result of an `async-start`, such as `((f32[4]), f32[4], s32[])`",
        section: "HLO text, opcodes",
    }
    ASYNC_OPERANDS = "E1013" "async-operands" {
        rule: "The first element of the state of an asynchronous operation contains its operands.",
        why: "Their memory is in use until the operation is done. An `async-update` appends its operands to those already bound.",
        example: Some(r"HloModule m

f {
  a = f32[4] parameter(0)
  ROOT b = f32[4] negate(a)
}

ENTRY main {
  x = f32[4] parameter(0)
  s = ((f32[5]), f32[4], s32[]) async-start(x), calls=f
  ROOT y = f32[4] async-done(s)
}
"),
        fix: "write `((f32[4]), f32[4], s32[])`",
        section: "HLO text, opcodes",
    }
    ASYNC_PARAMETERS = "E1014" "async-parameters" {
        rule: "The computation of `async-start` has a parameter of the right shape for each operand, and all its parameters are bound before `async-done`.",
        why: "The operation calls it with the operands of the start, followed by those of the updates.",
        example: Some(r"HloModule m

f {
  a = f32[5] parameter(0)
  ROOT b = f32[4] slice(a), slice={[0:4]}
}

ENTRY main {
  x = f32[4] parameter(0)
  s = ((f32[4]), f32[4], s32[]) async-start(x), calls=f
  ROOT y = f32[4] async-done(s)
}
"),
        fix: "give the parameter the shape `f32[4]`",
        section: "HLO text, opcodes",
    }
    ASYNC_RESULT = "E1015" "async-result" {
        rule: "The computation of `async-start` returns the result in the state, which is also the result of `async-done`.",
        why: "`async-done` extracts the result from the state. An earlier state may contain only a part of it: `()`, or a tuple of the first elements.",
        example: Some(r"HloModule m

f {
  a = f32[4] parameter(0)
  ROOT b = f32[4] negate(a)
}

ENTRY main {
  x = f32[4] parameter(0)
  s = ((f32[4]), f32[5], s32[]) async-start(x), calls=f
  ROOT y = f32[5] async-done(s)
}
"),
        fix: "write `((f32[4]), f32[4], s32[])`",
        section: "HLO text, opcodes",
    }
    INFEED_ORDER = "E1016" "infeed-order" {
        rule: "The infeeds of a program that runs are totally ordered: each depends on the previous one.",
        why: "They read from one queue. Text may leave the order open, but a program that runs may not.",
        example: Some(r"HloModule m

ENTRY main {
  t = token[] after-all()
  a = (f32[4], token[]) infeed(t)
  b = (f32[4], token[]) infeed(t)
  ROOT y = ((f32[4], token[]), (f32[4], token[])) tuple(a, b)
}
"),
        fix: "pass the token of `a` to `b`: `get-tuple-element(a), index=1`",
        section: "Operation semantics, Infeed",
    }
    HOST_TRANSFER = "E1017" "host-transfer" {
        rule: "The sends and receives of a program that runs here are between devices, not with the host (`is_host_transfer=true`).",
        why: "A host transfer requires a program on the host that answers. `infeed` and `outfeed` do not.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  t = token[] after-all()
  s = (f32[4], u32[], token[]) send(x, t), channel_id=1, is_host_transfer=true
  ROOT y = token[] send-done(s), channel_id=1, is_host_transfer=true
}
"),
        fix: "write `outfeed(x, t)`",
        section: "Operation semantics, Send",
    }
    RNG_SEED = "E1018" "rng-seed" {
        rule: "The custom call `GetRngSeed` takes no operands and returns a `u64[]`.",
        why: "XLA's runtime provides the seed, a number for each run.",
        example: Some(r#"HloModule m

ENTRY main {
  ROOT s = u32[] custom-call(), custom_call_target="GetRngSeed"
}
"#),
        fix: "write `u64[]`, and convert the result",
        section: "Operation semantics, CustomCall",
    }
    BUFFER_CONTEXT = "E1020" "buffer-context" {
        rule: "Buffers, `b(f32[4])`, occur only in tuples, loops, dynamic-update-slices, custom calls, asynchronous operations and parameters of called computations.",
        why: "A buffer is memory that an operation changes. Other instructions operate on values: `Pin` turns a value into a buffer, and `Unpin` a buffer into a value.",
        example: Some(r#"HloModule m

ENTRY main {
  x = b(f32[4]) parameter(0)
  ROOT y = f32[4] custom-call(x), custom_call_target="Unpin", output_to_operand_aliasing={{}: (0, {})}
}
"#),
        fix: "use an `f32[4]`, and pin it: `custom_call_target=\"Pin\"`",
        section: "Shapes and layout",
    }
    PIN_FORM = "E1021" "pin-form" {
        rule: "The custom call `Pin` turns a value into a buffer, `Unpin` a buffer into a value, and `CreateBuffer` takes no operand. The first two have one entry in `output_to_operand_aliasing`.",
        why: "The result is stored in the memory of the operand.",
        example: Some(r#"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  b = b(f32[4]) custom-call(x), custom_call_target="Pin"
  ROOT y = f32[4] custom-call(b), custom_call_target="Unpin", output_to_operand_aliasing={{}: (0, {})}
}
"#),
        fix: "add `output_to_operand_aliasing={{}: (0, {})}` to `b`",
        section: "Shapes and layout",
    }
    BUFFER_ALIASED = "E1022" "buffer-aliased" {
        rule: "Each buffer that a custom call takes is one of its results, and each buffer among its results is one of its operands: `output_to_operand_aliasing` names each of them once.",
        why: "A custom call may change the memory. The result is the new value of the buffer.",
        example: Some(r#"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  b = b(f32[4]) custom-call(x), custom_call_target="Pin", output_to_operand_aliasing={{}: (0, {})}
  ROOT y = f32[4] custom-call(b), custom_call_target="sum"
}
"#),
        fix: "return the buffer: `(f32[4], b(f32[4]))`, `output_to_operand_aliasing={{1}: (0, {})}`",
        section: "Shapes and layout",
    }
    BUFFER_WRITTEN_ONCE = "E1023" "buffer-written-once" {
        rule: "At most one instruction writes a buffer.",
        why: "The result of the writer is the new value of the buffer. Instructions that take a buffer and call computations count as writers, as do loops and the root of a loop's body.",
        example: Some(r#"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  b = b(f32[4]) custom-call(x), custom_call_target="Pin", output_to_operand_aliasing={{}: (0, {})}
  y = f32[4] custom-call(b), custom_call_target="Unpin", output_to_operand_aliasing={{}: (0, {})}
  z = f32[4] custom-call(b), custom_call_target="Unpin", output_to_operand_aliasing={{}: (0, {})}
  ROOT s = f32[4] add(y, z)
}
"#),
        fix: "unpin once: `add(y, y)`",
        section: "Shapes and layout",
    }
}
