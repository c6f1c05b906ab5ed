//! `--emit=stablehlo|vhlo|proto|proto-text`: the module in the forms of other tools.

use crate::args::{Cli, Emit};
use hlo_ir::Module;
use hlo_ir::diag::Diag;
use hlo_proto::file::{self, FileKind};
use hlo_stablehlo::dialect::Version;
use hlo_stablehlo::{bytecode, export, text};

/// The version that is written unless another is asked for: one that readers of the last half year know.
const PORTABLE: Version = Version::new(1, 13, 0);

/// The module in a form. An error is one of the module: that form has no such thing.
pub fn written(cli: &Cli, module: &Module, form: Emit) -> Result<Vec<u8>, Vec<Diag>> {
    match form {
        Emit::Stablehlo => Ok(text::print(&export::export(module)?).into_bytes()),
        Emit::Vhlo => {
            let version = cli.target.unwrap_or(PORTABLE);
            bytecode::write(&export::export(module)?, version).map_err(|diag| vec![diag])
        }
        Emit::Proto => file::write(module, FileKind::Module).map_err(|diag| vec![diag]),
        Emit::ProtoText => {
            let text = file::write_text(module, FileKind::Module).map_err(|diag| vec![diag])?;
            Ok(text.into_bytes())
        }
        Emit::Hlo | Emit::Dot | Emit::Svg | Emit::Html => Ok(Vec::new()),
    }
}
