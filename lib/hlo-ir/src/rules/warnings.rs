//! Rules for text that is accepted but probably not as intended. The parser reads it like XLA and ignores the
//! useless part.

rules! {
    STACK_FRAME = "W0001" "stack-frame" {
        rule: "The numbers in stack-frame tables, and `stack_frame_id` in metadata, are those of entries that there are.",
        why: "Entries are numbered from 1. A frame that leads nowhere is dropped, and so are those that it called: where an instruction comes from is lost.",
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
        why: "An entry's place in the table is its number; the number written before it is not looked at.",
        example: Some(r#"HloModule m

FileNames
2 "model.py"
1 "layers.py"

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] negate(x)
}
"#),
        fix: "put the entries in the order of their numbers",
        section: "HLO text, stack frames",
    }
    SIGNATURE_PARAMETERS = "W0003" "signature-parameters" {
        rule: "The parameters of a computation's signature have the names and shapes of its `parameter` instructions.",
        why: "The instructions count: the list in the signature may be left out, and is not looked at.",
        example: Some(r"HloModule m

ENTRY main (x: f32[4], y: f32[4]) -> f32[4] {
  y = f32[4] parameter(0)
  x = f32[4] parameter(1)
  ROOT z = f32[4] subtract(x, y)
}
"),
        fix: "write `(y: f32[4], x: f32[4])`, or leave the signature out",
        section: "HLO text, computations",
    }
    OPERAND_LAYOUT = "W0004" "operand-layout" {
        rule: "The layout and the dynamic dimensions written before an operand are the operand's.",
        why: "The shape before an operand is checked, but not its layout, nor which of its dimensions are dynamic: the operand keeps its own.",
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
        rule: "What an `async-start` calls, directly or through others, names the thread of the `async-start` or none.",
        why: "The thread of the `async-start` is given to all that it calls, whatever they name; of two the later one in the text has its way.",
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
        rule: "The value of an array constant is written in braces.",
        why: "A number without braces is the first element; all others are zero. (A `broadcast` of a scalar constant repeats it.)",
        example: Some(r"HloModule m

ENTRY main {
  ROOT x = f32[2] constant(1)
}
"),
        fix: "write what is meant: `{1, 1}`, or `{1, 0}`",
        section: "HLO text, literals",
    }
    UNNAMED_OPERAND = "W0007" "unnamed-operand" {
        rule: "A shape among the operands stands before an operand's name.",
        why: "A shape without a name is no operand, and is left out.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[2] parameter(0)
  ROOT y = f32[2] negate(f32[2], x)
}
"),
        fix: "leave the comma out: `negate(f32[2] x)`",
        section: "HLO text, instructions",
    }
    MIXED_PRECISION = "W0008" "mixed-precision" {
        rule: "The operands and the result of an operation have one floating-point type.",
        why: "Of several the operands are converted to the widest, in which is computed, and the result to the one that is written. A `convert` says so.",
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
        why: "It gives the same memory another shape. Where layouts have tiles, sizes may differ by padding; here arrays have none, so that such a module is read and printed, but neither changed nor run (E0501).",
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
        rule: "`send`, `send-done`, `recv`, `recv-done` and `outfeed` are written with the shapes that follow from their operands.",
        why: "A `send` gives what it sends, a context and a token, a `recv` the first part of what is written for it, a context and a token, `recv-done` the first part of its operand and a token, the others a token: what is written is not looked at.",
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
        rule: "A send and the receive that it belongs to have one channel.",
        why: "XLA pairs them by the devices in `_xla_send_recv_source_target_pairs`. Where nothing sends on a receive's channel, it gets what a send with the same devices sends on a channel that nothing receives on.",
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
        fix: "write `channel_id=1` of all four",
        section: "Operation semantics, Send",
    }
    FUSED_EFFECT = "W0012" "fused-effect" {
        rule: "A fused computation has no transfers, collectives, random state or calls with side effects, unless the fusion is of `kind=kCustom`.",
        why: "XLA runs such fusions. A loop fusion may compute its elements in any order, and some of them more than once: here a fusion with side effects runs as a call of its computation.",
        example: Some(r"HloModule m

f {
  ROOT s = u64[2] rng-get-and-update-state(), delta=1
}

ENTRY main {
  ROOT y = u64[2] fusion(), kind=kLoop, calls=f
}
"),
        fix: "take the instruction out of the fusion, or write `kind=kCustom`",
        section: "HLO text, fusion",
    }
    AFTER_ALL_DATA = "W0013" "after-all-data" {
        rule: "The operands of `after-all` are tokens.",
        why: "XLA takes arrays and tuples as well: their values are ready before the token is.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[] parameter(0)
  y = f32[] negate(x)
  t = token[] after-all(y)
  ROOT z = f32[] add-dependency(x, t)
}
"),
        fix: "nothing here; for StableHLO, give it tokens",
        section: "Operation semantics, AfterAll",
    }
    PASS_WITHOUT_SCHEDULE = "W2001" "pass-without-schedule" {
        rule: "A pass that goes by the schedule runs on a module that has one.",
        why: "When what is live, and what runs at the same time, is known of an order of execution only: without one the pass leaves the module as it is.",
        example: None,
        fix: "put `hlo-memory-scheduler` or `hlo-trivial-scheduler` before it",
        section: "passes.md",
    }
    TILE_EMPTY = "W3001" "tile-empty" {
        rule: "Some index of a contraction is valid.",
        why: "Where none is, no element is written, and all are 0, or the default's.",
        example: Some(r"# tile: A: f32[4]
def f(A):
  N = TensorDim()
  i = TensorIndex()
  A.bind_dims(N)
  O = TensorOutput(N)
  O[i] += A[i + 10]
  return O
"),
        fix: "read within the tensor, or leave the contraction out",
        section: "Tile eDSL",
    }
    TILE_OUTPUT_ONLY = "W3002" "tile-output-only-index" {
        rule: "Beside windows of operands, each index of the output is in an operand as well.",
        why: "The tutorial's complex convolution reads `s0 * x1` where `s0 * x0` is meant: the result is the same for every `x0`.",
        example: Some(r"# tile: A: f32[8], K: f32[3]
def f(A, K):
  x, y, k = TensorIndexes(3)
  O = TensorOutput(4, 6)
  O[x, y] += A[y + k] * K[k]
  return O
"),
        fix: "use `x` in an operand, or reduce the output by its dimension",
        section: "Tile eDSL",
    }
    TILE_NEGATIVE_DIVISION = "W3003" "tile-negative-division" {
        rule: "The dividend of a dimension is not negative.",
        why: "`//` of dimensions rounds towards zero, as PlaidML's does; Python would round down.",
        example: Some(r"# tile: A: f32[3]
def f(A):
  N = TensorDim()
  A.bind_dims(N)
  P = (N - 6) // 2
  return A + P
"),
        fix: "divide what is not negative",
        section: "Tile eDSL",
    }
    TILE_PYTHON = "W3004" "tile-python" {
        rule: "A file of Tile has imports and functions of Tile.",
        why: "Other Python is not read: classes, and functions with loops or branches. The functions of Tile beside it are.",
        example: Some(r"# tile: A: f32[3]
def f(A):
  return -A

def show(A):
  for a in A:
    print(a)
"),
        fix: "nothing, unless you call the function",
        section: "Tile eDSL",
    }
}
