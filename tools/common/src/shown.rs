//! The number of diagnostics that a run shows.

/// Maximum number of diagnostics shown in a run.
pub(crate) const MAX_SHOWN: usize = 100;

/// Returns the message about diagnostics that are not shown, if there are any.
pub(crate) fn not_shown(count: usize, what: &str) -> Option<String> {
    match count.saturating_sub(MAX_SHOWN) {
        0 => None,
        1 => Some(format!("… and 1 more {what}")),
        n => Some(format!("… and {n} more {what}s")),
    }
}
