//! Rules for the machine that runs a program. No module violates them by itself.

rules! {
    MEMORY = "E4001" "memory" {
        rule: "A program takes no more memory than there is, or than its limit.",
        why: "Arguments, results, constants and what lives at the same time in between count; of compiled code all is known before it runs.",
        example: None,
        fix: "make its largest values smaller, raise the limit, or move steps apart by `hlo-memory-scheduler` and `hlo-rematerialization`",
        section: "architecture.md",
    }
    BUDGET = "E4002" "budget" {
        rule: "A compilation takes no more time and memory than its budget.",
        why: "A server compiles modules and runs pipelines of clients that it does not know; `hlo-serve` has `--compile-time` and accounts for memory.",
        example: None,
        fix: "make the module smaller, run fewer passes, or raise the limit",
        section: "server.md",
    }
}
