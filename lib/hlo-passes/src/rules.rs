//! Rules for pipelines and passes. No module violates them.

/// The rules of pipelines.
pub const FAMILY: hlo_ir::rules::Family =
    hlo_ir::rules::Family { title: "Pipelines", example: "example.hlo", rules: TABLE };

hlo_ir::rules! {
    PIPELINE = "E2001" "pipeline" {
        rule: "A pipeline is a list of passes, each with options in braces, and `fix(…)` around passes to repeat.",
        why: "For example `algsimp,constant_folding{max-elements=64},fix{limit=10}(cse,dce)`, separated by commas or line breaks. The message shows what the parser expected.",
        example: None,
        fix: "run `hlo-opt --list-passes` for the passes and their options",
        section: "passes.md",
    }
    PASS_NAME = "E2002" "pass-name" {
        rule: "A pipeline, `--print-before` and `--print-after` contain only names of passes and pipelines.",
        why: "Names may differ from the list only in `-`, `_` and capitals.",
        example: None,
        fix: "run `hlo-opt --list-passes` for the names",
        section: "passes.md",
    }
    PASS_OPTION = "E2003" "pass-option" {
        rule: "The options in braces are options of the pass.",
        why: "An option that the pass does not have would silently change nothing.",
        example: None,
        fix: "run `hlo-opt --list-passes` for the options of each pass",
        section: "passes.md",
    }
    PASS_OPTION_TWICE = "E2004" "pass-option-twice" {
        rule: "An option of a pass occurs only once.",
        why: "It would be unclear which of two values to use.",
        example: None,
        fix: "remove one of them",
        section: "passes.md",
    }
    PASS_OPTION_VALUE = "E2005" "pass-option-value" {
        rule: "An option of a pass has a valid value.",
        why: "Counts are not negative, switches are `true` or `false`, and `fix` repeats at least once.",
        example: None,
        fix: "run `hlo-opt --list-passes` for the options with their defaults",
        section: "passes.md",
    }
    PASS_UNCHANGED = "E2006" "pass-unchanged" {
        rule: "A pass that reports no change makes none.",
        why: "`--verify-each` compares the module before and after the pass. A difference is a bug in the pass: `fix` would end too early.",
        example: None,
        fix: "report the bug, with the module",
        section: "adding-a-pass.md",
    }
    CALL_GRAPH_SIZE = "E2010" "call-graph-size" {
        rule: "`flatten_call_graph` creates no more instructions than its limit.",
        why: "The number of copies, one for each caller of each caller, can grow exponentially.",
        example: None,
        fix: "inline or share computations, or raise the limit",
        section: "passes.md",
    }
    MEMORY_LIMIT = "E2011" "memory-limit" {
        rule: "`hlo-rematerialization` reduces the memory of a program to its limit.",
        why: "Values that cannot be recomputed, or that are in use at the peak, stay in memory.",
        example: None,
        fix: "raise the limit, or make the program smaller; run `hlo-memory-scheduler` first, which may help",
        section: "passes.md",
    }
    SHARDING_DEVICES = "E2012" "sharding-devices" {
        rule: "A sharding that the partitioner uses is for the devices of the program, `num_partitions`.",
        why: "The sharding must tell each device which tile it has, and put each tile on the same number of devices.",
        example: None,
        fix: "use as many devices in the sharding as the header has partitions",
        section: "passes.md",
    }
    PASS_WITHOUT_SCHEDULE = "W2001" "pass-without-schedule" {
        rule: "A pass that requires a schedule runs on a module with a schedule.",
        why: "Only an order of execution determines which values are live and which operations run at the same time. Without a schedule, the pass leaves the module unchanged.",
        example: None,
        fix: "put `hlo-memory-scheduler` or `hlo-trivial-scheduler` before it",
        section: "passes.md",
    }
}
