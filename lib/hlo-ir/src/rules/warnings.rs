//! Rules for text that is accepted but probably not as intended. The parser reads it like XLA and ignores the
//! useless part.

rules! {
    STACK_FRAME = "W0001" "stack-frame" {
        rule: "The numbers in stack-frame tables, and `stack_frame_id` in metadata, refer to existing entries.",
        why: "Entries are numbered from 1. A frame without a valid location is dropped, with all frames that it called. The source location of the instruction is then lost.",
        example: Some(r#"HloModule m

FileNames
1 "model.py"

FunctionNames
1 "f"

FileLocations
1 {file_name_id=2 function_name_id=1 line=3 end_line=3 column=1 end_column=9}

StackFrames
1 {file_location_id=1 parent_frame_id=1}

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] negate(x), metadata={op_name="neg" stack_frame_id=1}
}
"#),
        fix: "write `file_name_id=1`",
        section: "HLO text, stack frames",
    }
    TABLE_NUMBER = "W0002" "table-number" {
        rule: "The entries of a stack-frame table are numbered 1, 2, 3 and so on.",
        why: "The number of an entry is its position in the table. The number written before it is ignored.",
        example: Some(r#"HloModule m

FileNames
2 "model.py"
1 "layers.py"

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] negate(x)
}
"#),
        fix: "sort the entries by their numbers",
        section: "HLO text, stack frames",
    }
    SIGNATURE_PARAMETERS = "W0003" "signature-parameters" {
        rule: "The parameters in a computation's signature have the names and shapes of its `parameter` instructions.",
        why: "The instructions define the parameters. The list in the signature is optional and ignored.",
        example: Some(r"HloModule m

ENTRY main (x: f32[4], y: f32[4]) -> f32[4] {
  y = f32[4] parameter(0)
  x = f32[4] parameter(1)
  ROOT z = f32[4] subtract(x, y)
}
"),
        fix: "write `(y: f32[4], x: f32[4])`, or omit the signature",
        section: "HLO text, computations",
    }
    OPERAND_LAYOUT = "W0004" "operand-layout" {
        rule: "The layout and the dynamic dimensions in a shape before an operand are those of the operand.",
        why: "The element type and sizes are checked, but the layout and the dynamic dimensions are ignored: the operand keeps its own.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4,4]{1,0} parameter(0)
  ROOT y = f32[4,4]{1,0} negate(f32[4,4]{0,1} x)
}
"),
        fix: "use a `copy` to change a layout: `t = f32[4,4]{0,1} copy(x)`",
        section: "HLO text, instructions",
    }
    THREAD_REPLACED = "W0005" "thread-replaced" {
        rule: "The computations that an `async-start` calls, directly or through others, name its thread or none.",
        why: "All of them run on the thread of the `async-start`, whatever they name. If two starts call the same computation, the later one in the text determines its thread.",
        example: Some(r#"HloModule m

f {
  a = f32[2] parameter(0)
  ROOT b = f32[2] negate(a)
}, execution_thread="mine"

ENTRY main {
  x = f32[2] parameter(0)
  s = ((f32[2]), f32[2], u32[]) async-start(x), async_execution_thread="other", calls=f
  ROOT y = f32[2] async-done(s)
}
"#),
        fix: "name one thread in both places",
        section: "HLO text, asynchronous operations",
    }
    LONE_NUMBER = "W0006" "lone-number" {
        rule: "The value of an array constant is in braces.",
        why: "A number without braces is the first element. All other elements are zero. (A `broadcast` of a scalar constant repeats it.)",
        example: Some(r"HloModule m

ENTRY main {
  ROOT x = f32[2] constant(1)
}
"),
        fix: "write the intended value: `{1, 1}`, or `{1, 0}`",
        section: "HLO text, literals",
    }
    UNNAMED_OPERAND = "W0007" "unnamed-operand" {
        rule: "A shape among the operands is followed by the name of an operand.",
        why: "A shape without a name is not an operand, and is ignored.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[2] parameter(0)
  ROOT y = f32[2] negate(f32[2], x)
}
"),
        fix: "remove the comma: `negate(f32[2] x)`",
        section: "HLO text, instructions",
    }
    MIXED_PRECISION = "W0008" "mixed-precision" {
        rule: "The operands and the result of an operation have one floating-point type.",
        why: "Otherwise the operands are converted to the widest type for the computation, and the result to the written type. A `convert` makes this explicit.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[2] parameter(0)
  y = bf16[2] parameter(1)
  ROOT z = f32[2] add(x, y)
}
"),
        fix: "convert first: `c = f32[2] convert(y)`",
        section: "Operation semantics, Element-wise binary arithmetic operations",
    }
    BITCAST_SIZE = "W0009" "bitcast-size" {
        rule: "`bitcast` keeps the number of bytes.",
        why: "A `bitcast` changes the shape of the same memory. With tiled layouts, sizes may differ by padding. Here arrays have no tiles, so the module can be read and printed, but not transformed or run (E0501).",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[2,3] parameter(0)
  ROOT y = f32[7] bitcast(x)
}
"),
        fix: "write a shape of 24 bytes, such as `f32[6]`",
        section: "HLO text, bitcast; operation semantics, BitcastConvertType",
    }
    TRANSFER_SHAPE = "W0010" "transfer-shape" {
        rule: "`send`, `send-done`, `recv`, `recv-done` and `outfeed` have the shapes that their operands determine.",
        why: "The written shape is ignored, except for the first element of a `recv`. `send` and `recv` return a value, a context and a token, `recv-done` a value and a token, and the others a token.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[2] parameter(0)
  t = token[] after-all()
  ROOT y = () outfeed(x, t)
}
"),
        fix: "write the shape: `y = token[] outfeed(x, t)`",
        section: "HLO text, instructions",
    }
    PAIRED_CHANNELS = "W0011" "paired-channels" {
        rule: "A send and its receive have the same channel.",
        why: "XLA pairs them by the devices in `_xla_send_recv_source_target_pairs`. A receive whose channel has no send is paired with a send to the same devices whose channel has no receive.",
        example: Some(r"HloModule m, num_partitions=2

ENTRY main {
  x = f32[2] parameter(0)
  t = token[] after-all()
  s = (f32[2], u32[], token[]) send(x, t), channel_id=1, frontend_attributes={_xla_send_recv_source_target_pairs={{0,1}}}
  r = (f32[2], u32[], token[]) recv(t), channel_id=2, frontend_attributes={_xla_send_recv_source_target_pairs={{0,1}}}
  sd = token[] send-done(s), channel_id=1
  ROOT y = (f32[2], token[]) recv-done(r), channel_id=2
}
"),
        fix: "write `channel_id=1` for all four",
        section: "Operation semantics, Send",
    }
    FUSED_EFFECT = "W0012" "fused-effect" {
        rule: "A fused computation has no transfers, collectives, random state or calls with side effects, unless the fusion has `kind=kCustom`.",
        why: "XLA runs such fusions. A loop fusion may compute its elements in any order, and some more than once. Here a fusion with side effects runs as a call of its computation.",
        example: Some(r"HloModule m

f {
  ROOT s = u64[2] rng-get-and-update-state(), delta=1
}

ENTRY main {
  ROOT y = u64[2] fusion(), kind=kLoop, calls=f
}
"),
        fix: "move the instruction out of the fusion, or write `kind=kCustom`",
        section: "HLO text, fusion",
    }
    AFTER_ALL_DATA = "W0013" "after-all-data" {
        rule: "The operands of `after-all` are tokens.",
        why: "XLA also accepts arrays and tuples. Their values are ready before the token is.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[] parameter(0)
  y = f32[] negate(x)
  t = token[] after-all(y)
  ROOT z = f32[] add-dependency(x, t)
}
"),
        fix: "change nothing, or use tokens if the module is converted to StableHLO",
        section: "Operation semantics, AfterAll",
    }
}
