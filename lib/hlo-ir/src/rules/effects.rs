//! Rules for tokens, host transfers, asynchronous operations and custom calls.

rules! {
    COPY_STATE = "E1001" "copy-state" {
        rule: "`copy-done` takes the copy, its source and a `u32[]` as one tuple.",
        why: "That is what `copy-start` gives; `copy-done` takes the copy out of it.",
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
        rule: "`infeed` gives a tuple of what is read and a token.",
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
        rule: "`outfeed_shape` is the shape of the value that is sent.",
        why: "It adds the layout in which the value is sent.",
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
        rule: "`send-done` and `recv-done` take a value, a `u32[]` and a token as one tuple.",
        why: "That is what `send` and `recv` give: the value's memory is in it until the transfer is done.",
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
        rule: "`recv` gives a tuple of the value, a `u32[]` and a token.",
        why: "The value is there when `recv-done` has waited for it.",
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
        rule: "`operand_layout_constraints` has a shape for each operand.",
        why: "Either all operands' layouts are constrained or none.",
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
        rule: "The shapes in `operand_layout_constraints` are those of the operands.",
        why: "They add layouts and repeat the rest.",
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
        rule: "A part of a result is in `output_to_operand_aliasing` at most once.",
        why: "It can't be in the memory of two operands.",
        example: Some(r#"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  z = f32[4] parameter(1)
  ROOT y = f32[4] custom-call(x, z), custom_call_target="f", output_to_operand_aliasing={{}: (0, {}), {}: (1, {})}
}
"#),
        fix: "leave one of the two out",
        section: "Operation semantics, CustomCall",
    }
    ALIASED_RESULT = "E1009" "aliased-result" {
        rule: "`output_to_operand_aliasing` names parts that the result has.",
        why: "An index leads into nested tuples; `{}` is the whole result.",
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
        rule: "`output_to_operand_aliasing` names operands, and parts of them, that are there.",
        why: "Operands are numbered from 0.",
        example: Some(r#"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] custom-call(x), custom_call_target="f", output_to_operand_aliasing={{}: (1, {})}
}
"#),
        fix: "the only operand is number 0",
        section: "Operation semantics, CustomCall",
    }
    ALIASED_SHAPES = "E1011" "aliased-shapes" {
        rule: "A part of a result has the shape of the operand's part whose memory it shares.",
        why: "The result takes the operand's place.",
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
        rule: "The state of an asynchronous operation is a tuple of the operands, as a tuple, the result, and perhaps contexts.",
        why: "`async-start` and `async-update` give it, `async-update` and `async-done` take it.",
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
        rule: "The state of an asynchronous operation starts with its operands.",
        why: "Their memory is in use until the operation is done. Those of an `async-update` come after those bound before.",
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
        rule: "The computation of `async-start` has a parameter of the right shape for each operand, and by `async-done` each has one.",
        why: "It is called with the operands when the operation runs: those of the start, then those of the updates.",
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
        rule: "The computation of `async-start` gives what the state has as the result, and what `async-done` gives.",
        why: "`async-done` takes the result out of the state. Before, the state may have a part of it: `()`, or a tuple of the first elements.",
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
        rule: "The infeeds of a program that runs are in a total order: each depends on the one before.",
        why: "They take the items of one queue in turn. Text may leave the order open; a program that runs can't.",
        example: Some(r"HloModule m

ENTRY main {
  t = token[] after-all()
  a = (f32[4], token[]) infeed(t)
  b = (f32[4], token[]) infeed(t)
  ROOT y = ((f32[4], token[]), (f32[4], token[])) tuple(a, b)
}
"),
        fix: "give `b` the token of `a`: `get-tuple-element(a), index=1`",
        section: "Operation semantics, Infeed",
    }
    HOST_TRANSFER = "E1017" "host-transfer" {
        rule: "A program that runs here sends to itself and receives from itself, not from the host (`is_host_transfer=true`).",
        why: "What the host answers on a channel is up to a program that runs there. `infeed` and `outfeed` need none.",
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
        rule: "The custom call `GetRngSeed` takes nothing and gives a `u64[]`.",
        why: "The seed is a number of the run, which XLA's runtime knows.",
        example: Some(r#"HloModule m

ENTRY main {
  ROOT s = u32[] custom-call(), custom_call_target="GetRngSeed"
}
"#),
        fix: "write `u64[]`, and convert it",
        section: "Operation semantics, CustomCall",
    }
    BUFFER_CONTEXT = "E1020" "buffer-context" {
        rule: "Only tuples, loops, dynamic-update-slices, custom calls, asynchronous operations and parameters of called computations have buffers, `b(f32[4])`.",
        why: "A buffer is memory that an operation changes. Other instructions work on values: `Pin` makes a buffer of a value, `Unpin` a value of a buffer.",
        example: Some(r#"HloModule m

ENTRY main {
  x = b(f32[4]) parameter(0)
  ROOT y = f32[4] custom-call(x), custom_call_target="Unpin", output_to_operand_aliasing={{}: (0, {})}
}
"#),
        fix: "take an `f32[4]`, and pin it: `custom_call_target=\"Pin\"`",
        section: "Shapes and layout",
    }
    PIN_FORM = "E1021" "pin-form" {
        rule: "The custom calls `Pin`, `Unpin` and `CreateBuffer` make a buffer of a value, a value of a buffer, and a buffer of nothing. The first two have one entry in `output_to_operand_aliasing`.",
        why: "The result is in the memory of the operand.",
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
        rule: "Each buffer that a custom call takes is one of its results, and each buffer among its results is one that it takes: `output_to_operand_aliasing` names each once.",
        why: "Memory that a custom call may change has another value afterwards, which the result stands for.",
        example: Some(r#"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  b = b(f32[4]) custom-call(x), custom_call_target="Pin", output_to_operand_aliasing={{}: (0, {})}
  ROOT y = f32[4] custom-call(b), custom_call_target="sum"
}
"#),
        fix: "give the buffer back: `(f32[4], b(f32[4]))`, `output_to_operand_aliasing={{1}: (0, {})}`",
        section: "Shapes and layout",
    }
    BUFFER_WRITTEN_ONCE = "E1023" "buffer-written-once" {
        rule: "One instruction at most writes a buffer.",
        why: "After it the buffer has another value, which its result stands for. What takes a buffer and calls computations counts as a writer, and so do loops and the end of a loop's body.",
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
