//! Printing modules in the form of XLA's `HloModule::ToString()`.

/// The shortest decimal text that reads back to the same `f32`, as XLA prints it.
pub fn format_f32(value: f32) -> String {
    value.to_string()
}
