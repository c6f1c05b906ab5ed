//! Printing modules in the form of XLA's `HloModule::ToString()`.
//!
//! What is printed parses back to the same module, and prints again as the same text.

mod float;
mod literal;
mod module;

pub use float::{format_f32, format_f64, format_g};
pub use literal::{print_literal, write_value};
pub use module::{print_computation, print_instruction, print_module};

/// What to print and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrintOptions {
    /// Operands with their shapes: `add(f32[2] %x, f32[2] %y)`.
    pub operand_shapes: bool,
    /// Names with `%`.
    pub percent: bool,
    /// `(p: f32[2]) -> f32[2]` after a computation's name.
    pub program_shape: bool,
    /// Constants of more than ten elements in full, not as `{...}`.
    pub print_large_constants: bool,
    /// `metadata=` and the stack-frame tables.
    pub metadata: bool,
    /// `backend_config=`.
    pub backend_config: bool,
    /// `control-predecessors=`.
    pub control_predecessors: bool,
    /// `/*index=5*/` before every fifth operand and tuple element.
    pub index_annotations: bool,
    /// `tmp_0`, `tmp_1`, … in place of instructions' names.
    pub canonical_names: bool,
    /// Called computations in place, `to_apply={ … }`, instead of by name.
    pub inline_computations: bool,
}

impl Default for PrintOptions {
    /// XLA's default form, large constants in full.
    fn default() -> Self {
        Self {
            operand_shapes: false,
            percent: true,
            program_shape: true,
            print_large_constants: true,
            metadata: true,
            backend_config: true,
            control_predecessors: true,
            index_annotations: true,
            canonical_names: false,
            inline_computations: false,
        }
    }
}

impl PrintOptions {
    /// XLA's short form: no `%`, no signatures, no metadata; all constants in full.
    pub fn short() -> Self {
        Self {
            percent: false,
            program_shape: false,
            metadata: false,
            index_annotations: false,
            ..Self::default()
        }
    }

    /// XLA's canonical form: what two modules of the same meaning have in common. Names, metadata and backend
    /// configs are left out, computations stand where they are called.
    pub fn canonical() -> Self {
        Self {
            operand_shapes: true,
            backend_config: false,
            canonical_names: true,
            inline_computations: true,
            ..Self::short()
        }
    }
}
