//! The description of each opcode: a paragraph and an example. The pages of `docs/opcodes` contain them.

use super::Opcode;

/// The pages. Each opcode has a section on one of them.
const PAGES: &[&str] = &[
    include_str!("../../../../docs/opcodes/structure.md"),
    include_str!("../../../../docs/opcodes/elementwise-unary.md"),
    include_str!("../../../../docs/opcodes/elementwise-binary.md"),
    include_str!("../../../../docs/opcodes/data-movement.md"),
    include_str!("../../../../docs/opcodes/indexing.md"),
    include_str!("../../../../docs/opcodes/reductions.md"),
    include_str!("../../../../docs/opcodes/linear-algebra.md"),
    include_str!("../../../../docs/opcodes/random.md"),
    include_str!("../../../../docs/opcodes/effects.md"),
    include_str!("../../../../docs/opcodes/collectives.md"),
];

/// The description of an opcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Manual {
    /// The text, in Markdown: the opcode's summary, then its operands, attributes and special cases.
    pub text: &'static str,
    /// The text of a module that shows the opcode.
    pub example: &'static str,
    /// The output of `hlo-run` for the example. `None` if the example needs inputs or a transfer.
    pub result: Option<&'static str>,
}

impl Opcode {
    /// Returns the description of the opcode. Every opcode of the table has one, which a test checks.
    pub fn manual(self) -> Option<Manual> {
        let heading = format!("\n## `{}`\n", self.name());
        let section = PAGES.iter().find_map(|page| page.split_once(&heading))?.1;
        let section = section.split("\n## ").next().unwrap_or(section);
        let (text, rest) = section.split_once("```hlo\n")?;
        let (example, rest) = rest.split_once("```")?;
        let result = rest.split_once("```text\n").and_then(|(_, rest)| rest.split_once("```"));
        Some(Manual { text: text.trim(), example, result: result.map(|(result, _)| result) })
    }
}
