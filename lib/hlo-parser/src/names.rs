//! Which names HLO text allows.

use crate::module::ModuleParser;
use hlo_ir::diag::Diag;
use hlo_ir::rules::code;

/// The words that are names only after a `%`.
fn is_keyword(name: &str) -> bool {
    matches!(
        name,
        "true"
            | "false"
            | "inf"
            | "nan"
            | "HloModule"
            | "ENTRY"
            | "ROOT"
            | "FileNames"
            | "FunctionNames"
            | "FileLocations"
            | "StackFrames"
            | "maximal"
            | "replicated"
            | "manual"
            | "last_tile_dim_replicate"
            | "shard_as"
            | "shard_like"
            | "unknown"
            | "unreduced"
    )
}

/// True for the names of the types that a shape may start with.
fn is_type(name: &str) -> bool {
    // All are short: most names need no look at the list.
    name.len() <= 14 && (matches!(name, "token" | "opaque") || hlo_ir::ElementType::from_name(name).is_some())
}

/// True for the words that HLO text has taken: those of the language and the names of types. Instructions can't be
/// called so.
pub fn is_reserved(name: &str) -> bool {
    is_keyword(name) || is_type(name)
}

/// A legal name in place of one that an instruction may not have and that a computation is given another for.
fn renamed(name: &str) -> Option<String> {
    match name.strip_prefix("__") {
        Some(rest) if !rest.starts_with("xla_") => Some(format!("a_{rest}")),
        _ => is_type(name).then(|| format!("{name}_")),
    }
}

impl<'t> ModuleParser<'t> {
    /// Reports an instruction's name, as written, that is not allowed.
    pub fn check_instruction_name(&mut self, written: &'t str) {
        self.check_name(written);
        let Some(name) = written.strip_prefix('%').or(Some(written).filter(|n| n.starts_with("__"))) else {
            return;
        };
        if let Some(better) = renamed(name) {
            let why = if is_type(name) { "it is a type" } else { "names with `__` are the compiler's" };
            let diag = Diag::error(format!("an instruction can't be called `{name}`: {why}"));
            let diag = diag.with_code(code::RESERVED_NAME);
            let diag = diag.at(self.span_of(written), "").note(format!("call it `{better}`"));
            self.report(diag);
        }
    }

    /// Reports a module's name, as written, that is a reserved word, or what comes next if it was left out.
    pub fn check_module_name(&mut self, written: &'t str) {
        if written == "ENTRY" {
            let diag =
                Diag::error("expected the module's name, found `ENTRY`").with_code(code::RESERVED_NAME);
            self.report(diag.at(self.span_of(written), "the name goes before this"));
        } else {
            self.check_name(written);
        }
    }

    /// Reports a name, as written, that is a reserved word.
    pub fn check_name(&mut self, written: &'t str) {
        let span = self.span_of(written);
        if is_keyword(written) {
            let diag = Diag::error(format!("`{written}` is a reserved word")).at(span, "not a name");
            let diag = diag.with_code(code::RESERVED_NAME);
            self.report(diag.note(format!("with a `%` it is a name: `%{written}`")));
        } else if is_type(written) {
            let diag = Diag::error(format!("`{written}` is a type")).at(span, "not a name");
            let diag = diag.with_code(code::RESERVED_NAME);
            self.report(diag.note(format!("call it `{written}_`")));
        }
    }

    /// The name that a computation written as `name`, without `%`, has in the module.
    pub fn computation_name(name: &str) -> String {
        renamed(name).unwrap_or_else(|| name.to_owned())
    }
}
