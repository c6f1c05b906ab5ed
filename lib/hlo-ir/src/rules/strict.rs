//! What `hlo-opt --verify=…` asks for beyond a valid module ([`crate::verify::verify_strictly`]).

rules! {
    KEPT_LAYOUT = "E1301" "kept-layout" {
        rule: "`--verify=layouts`: only instructions that may change layouts do. The entry's parameters and result have the layouts of `entry_computation_layout`, and what shares memory has one layout.",
        why: "After layouts were assigned, an elementwise instruction, a slice or a concatenation works on memory as it is. A copy changes the layout.",
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
        why: "Otherwise the broadcast transposes as well, which some passes of XLA expect to be an instruction of its own.",
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
        why: "XLA takes mixed types where a target asks for it only. Here they are computed in the widest one, with a warning.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  y = bf16[4] parameter(1)
  ROOT z = f32[4] add(x, y)
}
"),
        fix: "convert `y` to f32 first",
        section: "Operation semantics, Element-wise binary arithmetic functions",
    }
    BOUNDED = "E1304" "bounded" {
        rule: "`--verify=sizes`: every dimension has a size or a bound.",
        why: "No program can be compiled for arrays of any size.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[?,4] parameter(0)
  ROOT y = f32[?,4] negate(x)
}
"),
        fix: "write a size, `f32[8,4]`, or a bound, `f32[<=8,4]`",
        section: "Shapes and layout",
    }
}
