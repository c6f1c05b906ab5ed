//! The policy by which engines are chosen.

/// How programs are run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// Programs are interpreted first and compiled where it pays off.
    #[default]
    Tiered,
    /// Programs are always compiled.
    Compiled,
    /// Programs are always interpreted.
    Interpreted,
}

impl Policy {
    /// Returns the policy that an option names.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "tiered" => Some(Self::Tiered),
            "compiled" => Some(Self::Compiled),
            "interpreted" => Some(Self::Interpreted),
            _ => None,
        }
    }
}
