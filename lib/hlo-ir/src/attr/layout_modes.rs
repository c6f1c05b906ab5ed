//! Layout modes of a program's results: whether the compiler or the program chooses each layout.

use std::fmt;

/// For each result of a program, who chooses its layout: `auto`, `default` or a layout. XLA stores them in
/// the module's frontend attribute `out_layout_modes`: `{auto;default;{0,1}}`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LayoutModes(pub Vec<String>);

impl LayoutModes {
    /// The name of the frontend attribute.
    pub const OF_RESULTS: &str = "out_layout_modes";
    /// The compiler chooses the layout.
    pub const AUTO: &str = "auto";
    /// The layout is row-major.
    pub const DEFAULT: &str = "default";

    /// Parses the output of [`fmt::Display`]. Returns `None` for any other text.
    ///
    /// # Example
    /// ```
    /// use hlo_ir::attr::LayoutModes;
    ///
    /// let modes = LayoutModes::parse("{auto;{0,1}}").expect("modes");
    /// assert_eq!(modes.0, [LayoutModes::AUTO, "{0,1}"]);
    /// assert_eq!(modes.to_string(), "{auto;{0,1}}");
    /// ```
    pub fn parse(text: &str) -> Option<Self> {
        let inner = text.strip_prefix('{')?.strip_suffix('}')?;
        Some(Self(inner.split(';').map(|mode| mode.trim().to_owned()).collect()))
    }
}

impl fmt::Display for LayoutModes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{}}}", self.0.join(";"))
    }
}
