//! Rules for modules and computations, and for relations between computations.

rules! {
    NO_ENTRY = "E0201" "entry" {
        rule: "A module has an entry computation.",
        why: "Execution starts there. In text the last computation is the entry if none is marked, so only a program can build a module without one.",
        example: None,
        fix: "call `Module::set_entry`",
        section: "HLO text, modules",
    }
    NO_ROOT = "E0202" "root" {
        rule: "A computation has a root, which is one of its instructions.",
        why: "The root's value is the computation's result. In text the last instruction is the root if none is marked.",
        example: None,
        fix: "call `Module::set_root` with an instruction of that computation",
        section: "HLO text, computations",
    }
    COMPUTATION_NAME = "E0203" "computation-name" {
        rule: "Computation names are unique in the module.",
        why: "Attributes such as `to_apply` refer to computations by name. The parser refuses the second one.",
        example: None,
        fix: "take names from `Module::unique_computation_name`",
        section: "HLO text, computations",
    }
    INSTRUCTION_NAME = "E0204" "instruction-name" {
        rule: "Instruction names are unique in their computation.",
        why: "Operands refer to instructions by name. The parser refuses the second one.",
        example: None,
        fix: "take names from `Module::unique_name`",
        section: "HLO text, instructions",
    }
    FOREIGN_OPERAND = "E0205" "foreign-operand" {
        rule: "Operands and control predecessors are instructions of the same computation.",
        why: "Values enter a computation through its parameters only. In text a name is looked up in its own computation.",
        example: None,
        fix: "pass the value as an operand of the call and as a parameter",
        section: "HLO text, instructions",
    }
    OPERAND_CYCLE = "E0206" "operand-cycle" {
        rule: "No instruction depends on itself through operands and control predecessors.",
        why: "There would be no order in which to execute them; loops are `while` instructions.",
        example: None,
        fix: "take one of the dependencies away",
        section: "HLO text, instructions",
    }
    CALL_CYCLE = "E0207" "call-cycle" {
        rule: "No computation calls itself, directly or through others.",
        why: "HLO has no recursion: all memory is assigned before execution. In text a computation stands before those that call it.",
        example: None,
        fix: "use a `while` loop",
        section: "Operation semantics, Call",
    }
    NO_CALLEE = "E0208" "callee" {
        rule: "A called computation is in the module.",
        why: "A pass that removes a computation has to remove its callers as well.",
        example: None,
        fix: "call a computation of the same module",
        section: "HLO text, computations",
    }
    ENTRY_CALLED = "E0209" "entry-called" {
        rule: "Nothing calls the entry computation.",
        why: "The entry's parameters and result are the module's own, with layouts, aliases and donations that a caller could not keep to.",
        example: Some(r"HloModule m

ENTRY main {
  ROOT x = f32[] parameter(0)
}

f {
  a = f32[] parameter(0)
  ROOT b = f32[] call(a), to_apply=main
}
"),
        fix: "call a copy of it",
        section: "HLO text, modules",
    }
    PARAMETER_NUMBERS = "E0210" "parameter-numbers" {
        rule: "A computation's parameters are numbered 0, 1, 2 and so on, without gaps and each once.",
        why: "Callers pass values by position.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[2] parameter(0)
  y = f32[2] parameter(2)
  ROOT z = f32[2] add(x, y)
}
"),
        fix: "`y` is `parameter(1)`",
        section: "Operation semantics, Parameter",
    }
    ENTRY_LAYOUT = "E0211" "entry-layout" {
        rule: "`entry_computation_layout` has the shapes of the entry's parameters and of its root.",
        why: "It adds layouts to them, and repeats the rest.",
        example: Some(r"HloModule m, entry_computation_layout={(f32[3]{0})->f32[2]{0}}

ENTRY main {
  x = f32[2] parameter(0)
  ROOT y = f32[2] negate(x)
}
"),
        fix: "write `{(f32[2]{0})->f32[2]{0}}`, or leave the attribute out",
        section: "HLO text, module header",
    }
    SCHEDULE = "E0212" "schedule" {
        rule: "In a scheduled module operands and control predecessors come before their users.",
        why: "`is_scheduled=true` says that the instructions stand in the order in which they are executed. In text an operand stands before its user anyway.",
        example: None,
        fix: "sort the instructions, or clear `is_scheduled`",
        section: "HLO text, module header",
    }
    FUSED_ONCE = "E0221" "fused-once" {
        rule: "A fused computation is called by one fusion and by nothing else.",
        why: "It is the body of that fusion, written apart: passes change the two together.",
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
        rule: "An instruction calls computations of the thread that its own computation runs on, an asynchronous operation those of the thread that it names.",
        why: "`async-start` hands work to another thread.",
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
        rule: "What finishes an asynchronous operation gets it from the instruction that starts it.",
        why: "The value in between stands for an operation of one kind that is under way. It may go through loops, calls and tuples, but not come from anything else.",
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
        rule: "An asynchronous operation is finished once.",
        why: "When it is finished its buffers are free for other values.",
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
        rule: "An asynchronous operation that is started is finished.",
        why: "Its buffers are in use until then.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[2] parameter(0)
  t = (f32[2], f32[2], u32[]) copy-start(x)
  ROOT y = f32[2] negate(x)
}
"),
        fix: "add `copy-done(t)`, or take the start away",
        section: "HLO text, asynchronous operations",
    }
    PAIR_CHANNEL = "E0234" "pair-channel" {
        rule: "`send-done` and `recv-done` have the channel of the transfer that they finish, and the same `is_host_transfer`.",
        why: "The two instructions are of one transfer.",
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
        rule: "`async-update` and `async-done` call what their `async-start` calls.",
        why: "They are of one operation.",
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
        fix: "write `calls=f`, or leave it out",
        section: "HLO text, asynchronous operations",
    }
}
