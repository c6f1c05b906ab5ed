//! Information about a text from running its program.

use std::collections::BTreeMap;

/// Information about a text other than diagnostics, in Markdown.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Descriptions of names, by the offset of their definitions.
    pub names: BTreeMap<usize, String>,
    /// The HLO for each line, by the offset of the line.
    pub hlo: BTreeMap<usize, Vec<String>>,
}
