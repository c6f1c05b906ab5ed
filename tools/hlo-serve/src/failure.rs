//! What a module or a run fails with, as it travels.

use hlo_client::Error;
use hlo_ir::diag::Diag;
use hlo_ir::{InstrId, Module};
use hlo_remote::proto::{Failure, failure::Kind};
use hlo_remote::wire;
use std::time::Duration;

/// What an error about a module's text says. `limit` is how long a run might take that was stopped for that.
pub fn failure(error: &Error, text: &str, module: Option<&Module>, limit: Option<Duration>) -> Failure {
    match error {
        Error::Sizes => Failure { kind: Kind::Sizes.into(), ..Failure::default() },
        Error::Stopped { instruction } => stopped(*instruction, module, limit),
        // These come of servers: what this one runs is its own.
        Error::Refused(message) | Error::Disconnected(message) => {
            Failure { diagnostics: wire::diagnostics(&[Diag::error(message)], text), ..Failure::default() }
        }
        Error::Diags(diags) => Failure { diagnostics: wire::diagnostics(diags, text), ..Failure::default() },
    }
}

/// A run that was stopped at an instruction.
pub fn stopped(at: Option<InstrId>, module: Option<&Module>, limit: Option<Duration>) -> Failure {
    let name = at.zip(module).map(|(id, module)| module[id].name.to_string());
    let millis = limit.map_or(0, |t| u64::try_from(t.as_millis()).unwrap_or(u64::MAX).max(1));
    Failure {
        kind: Kind::Stopped.into(),
        stopped_at: at.map_or(0, |id| u32::try_from(id.index() + 1).unwrap_or(0)),
        stopped_at_name: name.unwrap_or_default(),
        stopped_after_millis: millis,
        ..Failure::default()
    }
}

/// What is wrong with an option, which no place in the module's text stands for.
pub fn option(name: &str, diag: &Diag) -> Failure {
    let mut said = Diag::error(format!("{name}: {}", diag.message));
    said.code = diag.code;
    said.notes.clone_from(&diag.notes);
    Failure { diagnostics: wire::diagnostics(&[said], ""), ..Failure::default() }
}
