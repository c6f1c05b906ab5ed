//! Print options: the parts of a module to print, and their format.

/// The parts of a module to print, and their format. XLA's four forms are [`PrintOptions::default`],
/// [`PrintOptions::short`], [`PrintOptions::canonical`] and [`PrintOptions::fingerprint`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrintOptions {
    /// Whether operands have shapes: `add(f32[2]{0} %x, f32[2]{0} %y)`.
    pub operand_shapes: bool,
    /// Whether shapes have layouts: `f32[2]{0}`.
    pub layouts: bool,
    /// Whether names have a `%`.
    pub percent: bool,
    /// Whether a computation's name is followed by its signature, `(p: f32[2]) -> f32[2]`.
    pub program_shape: bool,
    /// Whether constants of more than ten elements are printed in full, not as `{...}`.
    pub print_large_constants: bool,
    /// Whether to print `metadata=` and the stack-frame tables.
    pub metadata: bool,
    /// Whether to print `backend_config=`.
    pub backend_config: bool,
    /// Whether to print `control-predecessors=`.
    pub control_predecessors: bool,
    /// Whether every fifth operand has an index such as `/*index=5*/`. (Tuple shapes always have it.)
    pub index_annotations: bool,
    /// Whether an operand that is a tuple element is printed as `%t#1`, instead of as a separate
    /// `get-tuple-element`. The names of these instructions are lost.
    pub compact_gte: bool,
    /// Whether instructions are named `tmp_0`, `tmp_1`, … instead of by their own names.
    pub canonical_names: bool,
    /// Whether called computations are printed inline, `to_apply={ … }`, instead of their names. Names are
    /// used if the text would become too large, because its size can grow exponentially.
    pub inline_computations: bool,
    /// Whether to print execution threads and the names of the module and of computations.
    pub names: bool,
    /// Whether to print only the constants that usually determine what a program computes: integers, all
    /// zeros, all ones.
    pub essential_constants_only: bool,
    /// Whether computations are printed in the order in which they were completed. For a parsed module, this
    /// is the order of the text.
    pub text_order: bool,
}

impl Default for PrintOptions {
    /// XLA's default form with large constants in full. It keeps all information.
    fn default() -> Self {
        Self {
            operand_shapes: false,
            layouts: true,
            percent: true,
            program_shape: true,
            print_large_constants: true,
            metadata: true,
            backend_config: true,
            control_predecessors: true,
            index_annotations: true,
            compact_gte: false,
            canonical_names: false,
            inline_computations: false,
            names: true,
            essential_constants_only: false,
            text_order: false,
        }
    }
}

impl PrintOptions {
    /// XLA's short form: no `%`, signatures, metadata or control predecessors. All constants are in full.
    pub fn short() -> Self {
        Self {
            percent: false,
            program_shape: false,
            metadata: false,
            control_predecessors: false,
            index_annotations: false,
            ..Self::default()
        }
    }

    /// XLA's canonical form, for comparing modules independently of instruction names, metadata and backend
    /// configs. Computations are printed inline as well. Large constants are elided.
    pub fn canonical() -> Self {
        Self {
            operand_shapes: true,
            print_large_constants: false,
            backend_config: false,
            canonical_names: true,
            inline_computations: true,
            ..Self::short()
        }
    }

    /// XLA's fingerprint form: canonical, without any names, with essential constants only, and with
    /// computations in the order of the text.
    pub fn fingerprint() -> Self {
        Self { names: false, essential_constants_only: true, text_order: true, ..Self::canonical() }
    }
}
