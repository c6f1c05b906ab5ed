//! Rules for modules and computations, and for relations between computations.

rules! {
    NO_ENTRY = "E0201" "entry" {
        rule: "A module has an entry computation.",
        why: "Execution starts there. In text, the last computation is the entry if none is marked, so only a program can build a module without an entry.",
        example: None,
        fix: "call `Module::set_entry`",
        section: "HLO text, modules",
    }
    NO_ROOT = "E0202" "root" {
        rule: "A computation has a root, which is one of its instructions.",
        why: "The value of the root is the result of the computation. In text, the last instruction is the root if none is marked.",
        example: None,
        fix: "call `Module::set_root` with an instruction of that computation",
        section: "HLO text, computations",
    }
    COMPUTATION_NAME = "E0203" "computation-name" {
        rule: "Computation names are unique in the module.",
        why: "Attributes such as `to_apply` refer to computations by name. The parser rejects the second one.",
        example: None,
        fix: "get names from `Module::unique_computation_name`",
        section: "HLO text, computations",
    }
    INSTRUCTION_NAME = "E0204" "instruction-name" {
        rule: "Instruction names are unique in their computation.",
        why: "Operands refer to instructions by name. The parser rejects the second one.",
        example: None,
        fix: "get names from `Module::unique_name`",
        section: "HLO text, instructions",
    }
    FOREIGN_OPERAND = "E0205" "foreign-operand" {
        rule: "Operands and control predecessors are instructions of the same computation.",
        why: "Values enter a computation only through its parameters. In text, a name refers to an instruction of the same computation.",
        example: None,
        fix: "pass the value as an operand of the call and as a parameter",
        section: "HLO text, instructions",
    }
    OPERAND_CYCLE = "E0206" "operand-cycle" {
        rule: "No instruction depends on itself through operands and control predecessors.",
        why: "Such instructions cannot be ordered for execution. Use a `while` instruction for a loop.",
        example: None,
        fix: "remove one of the dependencies",
        section: "HLO text, instructions",
    }
    CALL_CYCLE = "E0207" "call-cycle" {
        rule: "No computation calls itself, directly or through others.",
        why: "HLO has no recursion: all memory is assigned before execution. In text, a computation comes before its callers.",
        example: None,
        fix: "use a `while` loop",
        section: "Operation semantics, Call",
    }
    NO_CALLEE = "E0208" "callee" {
        rule: "A called computation is in the module.",
        why: "A pass that removes a computation must also remove its callers.",
        example: None,
        fix: "call a computation of the same module",
        section: "HLO text, computations",
    }
    ENTRY_CALLED = "E0209" "entry-called" {
        rule: "Nothing calls the entry computation.",
        why: "The entry's parameters and result are those of the module. A caller could not respect their layouts, aliases and donations.",
        example: Some(r"HloModule m

ENTRY main {
  ROOT x = f32[] parameter(0)
}

f {
  a = f32[] parameter(0)
  ROOT b = f32[] call(a), to_apply=main
}
"),
        fix: "call a copy of the entry",
        section: "HLO text, modules",
    }
    PARAMETER_NUMBERS = "E0210" "parameter-numbers" {
        rule: "A computation's parameters are numbered 0, 1, 2 and so on, without gaps or repetitions.",
        why: "Callers pass values by position.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[2] parameter(0)
  y = f32[2] parameter(2)
  ROOT z = f32[2] add(x, y)
}
"),
        fix: "write `parameter(1)` for `y`",
        section: "Operation semantics, Parameter",
    }
    ENTRY_LAYOUT = "E0211" "entry-layout" {
        rule: "`entry_computation_layout` has the shapes of the entry's parameters and of its root.",
        why: "It adds layouts to these shapes.",
        example: Some(r"HloModule m, entry_computation_layout={(f32[3]{0})->f32[2]{0}}

ENTRY main {
  x = f32[2] parameter(0)
  ROOT y = f32[2] negate(x)
}
"),
        fix: "write `{(f32[2]{0})->f32[2]{0}}`, or omit the attribute",
        section: "HLO text, module header",
    }
    SCHEDULE = "E0212" "schedule" {
        rule: "In a scheduled module, operands and control predecessors come before their users.",
        why: "With `is_scheduled=true`, instructions are executed in their order in the module. In text, an operand always comes before its user.",
        example: None,
        fix: "sort the instructions, or clear `is_scheduled`",
        section: "HLO text, module header",
    }
    FUSED_ONCE = "E0221" "fused-once" {
        rule: "A fused computation is called by one fusion and by nothing else.",
        why: "It is the body of that fusion: passes change both together.",
        example: Some(r"HloModule m

f {
  a = f32[2] parameter(0)
  ROOT b = f32[2] negate(a)
}

ENTRY main {
  x = f32[2] parameter(0)
  y = f32[2] fusion(x), kind=kLoop, calls=f
  ROOT z = f32[2] fusion(y), kind=kLoop, calls=f
}
"),
        fix: "give each fusion a copy of `f`",
        section: "HLO text, fusion",
    }
    CALLEE_THREAD = "E0223" "callee-thread" {
        rule: "An instruction calls computations of its own computation's thread, and an asynchronous operation those of the thread that it names.",
        why: "`async-start` runs its computation on another thread.",
        example: Some(r#"HloModule m

f {
  a = f32[2] parameter(0)
  ROOT b = f32[2] negate(a)
}, execution_thread="other"

ENTRY main {
  x = f32[2] parameter(0)
  ROOT y = f32[2] fusion(x), kind=kLoop, calls=f
}
"#),
        fix: "use `async-start` with `async_execution_thread=\"other\"`",
        section: "HLO text, computations",
    }
    STARTED = "E0231" "started" {
        rule: "The instruction that finishes an asynchronous operation takes it from the matching start.",
        why: "The value between them represents a running operation of one kind. It may pass through loops, calls and tuples, but has no other source.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[2] parameter(0)
  t = (f32[2], f32[2]) collective-permute-start(x), source_target_pairs={{0,1}}
  ROOT y = f32[2] all-gather-done(t)
}
"),
        fix: "finish it with `collective-permute-done(t)`",
        section: "HLO text, asynchronous operations",
    }
    FINISHED_ONCE = "E0232" "finished-once" {
        rule: "An asynchronous operation is finished only once.",
        why: "Its buffers may be reused once it is finished.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[2] parameter(0)
  t = (f32[2], f32[2], u32[]) copy-start(x)
  a = f32[2] copy-done(t)
  b = f32[2] copy-done(t)
  ROOT y = f32[2] add(a, b)
}
"),
        fix: "use `a` in both places",
        section: "HLO text, asynchronous operations",
    }
    NEVER_FINISHED = "E0233" "never-finished" {
        rule: "Every asynchronous operation that is started is finished.",
        why: "Its buffers are in use until then.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[2] parameter(0)
  t = (f32[2], f32[2], u32[]) copy-start(x)
  ROOT y = f32[2] negate(x)
}
"),
        fix: "add `copy-done(t)`, or remove the start",
        section: "HLO text, asynchronous operations",
    }
    PAIR_CHANNEL = "E0234" "pair-channel" {
        rule: "`send-done` and `recv-done` have the channel and the `is_host_transfer` of the transfer that they finish.",
        why: "The two instructions belong to one transfer.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[2] parameter(0)
  t = token[] after-all()
  s = (f32[2], u32[], token[]) send(x, t), channel_id=1
  ROOT y = token[] send-done(s), channel_id=2
}
"),
        fix: "write `channel_id=1`",
        section: "Operation semantics, Send",
    }
    PAIR_COMPUTATION = "E0235" "pair-computation" {
        rule: "`async-update` and `async-done` call the same computation as their `async-start`.",
        why: "They belong to one operation.",
        example: Some(r"HloModule m

f {
  a = f32[2] parameter(0)
  ROOT b = f32[2] negate(a)
}

g {
  a = f32[2] parameter(0)
  ROOT b = f32[2] negate(a)
}

ENTRY main {
  x = f32[2] parameter(0)
  t = ((f32[2]), f32[2], u32[]) async-start(x), calls=f
  ROOT y = f32[2] async-done(t), calls=g
}
"),
        fix: "write `calls=f`, or omit it",
        section: "HLO text, asynchronous operations",
    }
}
