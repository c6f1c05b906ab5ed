//! Rules for the machine that runs a program. No module violates them by itself.

rules! {
    MEMORY = "E4001" "memory" {
        rule: "A program uses no more memory than the machine has or than its limit allows.",
        why: "Arguments, results, constants and values that are live at the same time count. For compiled code, the total is known before it runs.",
        example: None,
        fix: "make its largest values smaller, raise the limit, or move steps apart with `hlo-memory-scheduler` and `hlo-rematerialization`",
        section: "architecture.md",
    }
    BUDGET = "E4002" "budget" {
        rule: "A compilation uses no more time and memory than its budget.",
        why: "A server compiles modules and runs pipelines of unknown clients; `hlo-serve` has `--compile-time` and counts memory.",
        example: None,
        fix: "make the module smaller, run fewer passes, or raise the limit",
        section: "server.md",
    }
}
