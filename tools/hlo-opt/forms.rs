//! `--emit=stablehlo|vhlo|proto|proto-text`: writes the module in the formats of other tools.

use crate::args::{Cli, Emit};
use hlo_ir::diag::{Diag, Part};
use hlo_ir::verify::MAX_REPORTS;
use hlo_ir::{InstrId, Module, Op};
use hlo_passes::Pipeline;
use hlo_proto::file::{self, FileKind};
use hlo_stablehlo::dialect::Version;
use hlo_stablehlo::{bytecode, export, text};

/// The default version of the output. Readers from the last six months support it.
const DEFAULT_VERSION: Version = Version::new(1, 13, 0);

/// The passes that convert operations of HLO and CHLO that VHLO does not have.
const VHLO_PASSES: &str = "scan_expander, ragged-dot-rewriter, topk-decomposer, elementary-function-expander";

/// Checks that XLA supports all opcodes of a module.
fn check_opcodes(module: &Module) -> Result<(), Vec<Diag>> {
    let all = module.computations().flat_map(|c| module[c].instructions());
    let own = all.filter(|&&i| matches!(module[i].op, Op::Contraction(_)));
    let refusal = |&i: &InstrId| {
        let message = format!("`{}` is a contraction, an opcode that XLA does not have", module[i].name);
        Diag::error(message).at_instruction(module.span(i), Part::Head, "").note(
            "`--passes=contraction-raising` expresses contractions by products, convolutions and reductions",
        )
    };
    let errors: Vec<Diag> = own.take(MAX_REPORTS).map(refusal).collect();
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// Returns the module in a format. Errors are diagnostics of the module: the format cannot represent it.
pub fn written(cli: &Cli, module: &Module, form: Emit) -> Result<Vec<u8>, Vec<Diag>> {
    match form {
        Emit::Stablehlo => Ok(text::print(&export::export(module)?).into_bytes()),
        Emit::Vhlo => {
            let version = cli.target.unwrap_or(DEFAULT_VERSION);
            let mut module = module.clone();
            Pipeline::parse(VHLO_PASSES).map_err(|diag| vec![diag])?.run(&mut module, &mut ())?;
            bytecode::write(&export::export(&module)?, version).map_err(|diag| vec![diag])
        }
        Emit::Proto => {
            check_opcodes(module)?;
            file::write(module, FileKind::Module).map_err(|diag| vec![diag])
        }
        Emit::ProtoText => {
            check_opcodes(module)?;
            let text = file::write_text(module, FileKind::Module).map_err(|diag| vec![diag])?;
            Ok(text.into_bytes())
        }
        Emit::Hlo | Emit::Dot | Emit::Svg | Emit::Html => Ok(Vec::new()),
    }
}
