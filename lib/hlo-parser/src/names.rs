//! Names: the checks of the names that HLO text allows, and the opcodes that names mean.

use crate::parser::ModuleParser;
use hlo_ir::Opcode;
use hlo_ir::diag::Diag;
use hlo_ir::names::{is_keyword, is_type, sanitized};
use hlo_ir::rules::code;
use std::borrow::Cow;

/// Returns a defined name without the `%` before it or the `:` after it.
pub fn bare_name(written: &str) -> &str {
    written.strip_prefix('%').or_else(|| written.strip_suffix(':')).unwrap_or(written)
}

/// Returns the opcode with this name. For the short form of an asynchronous opcode, also returns the wrapped
/// opcode.
pub fn opcode_or_asynchronous(name: &str) -> Option<(Opcode, Option<Opcode>)> {
    match Opcode::from_name(name) {
        Some(opcode) => Some((opcode, None)),
        None => Opcode::from_short_form(name).map(|(opcode, wrapped)| (opcode, Some(wrapped))),
    }
}

/// Returns a legal replacement for a name that is not allowed. Computations are renamed; for instructions it
/// is an error.
fn renamed(name: &str) -> Option<String> {
    match sanitized(name) {
        Cow::Owned(better) => Some(better),
        Cow::Borrowed(_) => None,
    }
}

impl<'t> ModuleParser<'t> {
    /// Reports an instruction's name that is not allowed.
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

    /// Reports a module's name that is a reserved word, or a missing name before `ENTRY`.
    pub fn check_module_name(&mut self, written: &'t str) {
        if written == "ENTRY" {
            let diag =
                Diag::error("expected the module's name, found `ENTRY`").with_code(code::RESERVED_NAME);
            self.report(diag.at(self.span_of(written), "the name goes before this"));
        } else {
            self.check_name(written);
        }
    }

    /// Reports a name that is a reserved word.
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
}
