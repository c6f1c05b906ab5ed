//! Rules of the machine that a program runs on, which no module breaks by itself.

rules! {
    MEMORY = "E4001" "memory" {
        rule: "A program takes no more memory than there is, or than its limit.",
        why: "Arguments, results, constants and what lives at the same time in between count; of compiled code all is known before it runs.",
        example: None,
        fix: "make its largest values smaller, raise the limit, or move steps apart by `hlo-memory-scheduler` and `hlo-rematerialization`",
        section: "architecture.md",
    }
}
