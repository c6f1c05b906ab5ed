//! What a program's run has shown of its text.

use std::collections::BTreeMap;

/// What is known of a text besides what is wrong with it, in Markdown.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// What a name is, by where it is defined.
    pub names: BTreeMap<usize, String>,
    /// The HLO that lines become, by where they begin.
    pub hlo: BTreeMap<usize, Vec<String>>,
}
