//! What to print and how.

/// What to print and how. The four forms that XLA has are [`PrintOptions::default`], [`PrintOptions::short`],
/// [`PrintOptions::canonical`] and [`PrintOptions::fingerprint`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrintOptions {
    /// Operands with their shapes: `add(f32[2]{0} %x, f32[2]{0} %y)`.
    pub operand_shapes: bool,
    /// Shapes with their layouts: `f32[2]{0}`.
    pub layouts: bool,
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
    /// `/*index=5*/` before every fifth operand. (Shapes of tuples always have it.)
    pub index_annotations: bool,
    /// `%t#1` where an instruction's operand is an element of a tuple, in place of a `get-tuple-element` of its
    /// own. The names of these are lost.
    pub compact_gte: bool,
    /// `tmp_0`, `tmp_1`, … in place of instructions' names.
    pub canonical_names: bool,
    /// Called computations also where they are called, `to_apply={ … }`, instead of their names. Where that would
    /// repeat too much (the text could grow exponentially) they are named after all.
    pub inline_computations: bool,
    /// The names of the module and of computations, and execution threads.
    pub names: bool,
    /// Of constants only what decides the meaning of most programs: integers, all zeros, all ones.
    pub essential_constants_only: bool,
    /// Computations in the order in which they were complete, which for a module that was read is that of the text.
    pub text_order: bool,
}

impl Default for PrintOptions {
    /// XLA's default form, large constants in full: it keeps all information.
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
    /// XLA's short form: no `%`, signatures, metadata or control predecessors; all constants in full.
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

    /// XLA's canonical form, to compare modules whatever their instructions' names, metadata and backend
    /// configs. Computations stand where they are called too. Large constants are elided.
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

    /// XLA's fingerprint form: canonical, without any names, with essential constants only, computations in the
    /// order of the text.
    pub fn fingerprint() -> Self {
        Self { names: false, essential_constants_only: true, text_order: true, ..Self::canonical() }
    }
}
