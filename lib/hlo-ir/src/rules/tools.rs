//! Rules for pipelines and command lines. No module violates them.

rules! {
    PIPELINE = "E2001" "pipeline" {
        rule: "A pipeline is a list of passes, each with options in braces, `fix(…)` around those to repeat.",
        why: "As in `algsimp,constant_folding{max-elements=64},fix{limit=10}(cse,dce)`, with commas or line breaks between; the message says what may stand at the place.",
        example: None,
        fix: "`hlo-opt --list-passes` shows the passes and their options",
        section: "passes.md",
    }
    PASS_NAME = "E2002" "pass-name" {
        rule: "A pipeline, `--print-before` and `--print-after` name passes and pipelines that there are.",
        why: "Names may differ from the list's in `-`, `_` and capitals, in nothing else.",
        example: None,
        fix: "`hlo-opt --list-passes` shows the names",
        section: "passes.md",
    }
    PASS_OPTION = "E2003" "pass-option" {
        rule: "A pass has only the options that it knows.",
        why: "An option that nobody reads would change nothing, without a word.",
        example: None,
        fix: "`hlo-opt --list-passes` shows the options of each pass",
        section: "passes.md",
    }
    PASS_OPTION_TWICE = "E2004" "pass-option-twice" {
        rule: "An option of a pass is given once.",
        why: "Which of two values were to hold would be unclear.",
        example: None,
        fix: "take one away",
        section: "passes.md",
    }
    PASS_OPTION_VALUE = "E2005" "pass-option-value" {
        rule: "An option of a pass has a value that it can have.",
        why: "Counts are numbers that are not negative, switches are `true` or `false`; `fix` repeats at least once.",
        example: None,
        fix: "`hlo-opt --list-passes` shows the options with their defaults",
        section: "passes.md",
    }
    PASS_UNCHANGED = "E2006" "pass-unchanged" {
        rule: "A pass that says it changed nothing changes nothing.",
        why: "`--verify-each` compares the module before and after: `fix` would end too early. It is a defect of the pass.",
        example: None,
        fix: "report it, with the module",
        section: "adding-a-pass.md",
    }
    CALL_GRAPH_SIZE = "E2010" "call-graph-size" {
        rule: "`flatten_call_graph` makes no more instructions than its limit.",
        why: "A copy for each caller, of each of its callers, can be exponentially many.",
        example: None,
        fix: "inline or share computations, or raise the limit",
        section: "passes.md",
    }
    MEMORY_LIMIT = "E2011" "memory-limit" {
        rule: "`hlo-rematerialization` gets the memory of a program below the limit.",
        why: "What can't be computed again, or is needed at the very moment, has to stay in memory.",
        example: None,
        fix: "raise the limit, or make the program smaller: `hlo-memory-scheduler` first may help",
        section: "passes.md",
    }
    SHARDING_DEVICES = "E2012" "sharding-devices" {
        rule: "A sharding that is partitioned by is for the devices of the program: `num_partitions`.",
        why: "Each device has to know which tile it has, and each tile has to be on as many devices.",
        example: None,
        fix: "give the sharding as many devices as the header has partitions",
        section: "passes.md",
    }
    SEPARATOR = "E2020" "separator" {
        rule: "With `--split-input-file` the line between modules is exactly `// -----`.",
        why: "A line that is nearly that would join two modules into one.",
        example: None,
        fix: "write two slashes, a blank and five dashes",
        section: "diagnostics.md",
    }
}
