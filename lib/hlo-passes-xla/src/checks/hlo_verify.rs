//! `hlo-verify`: checks the module against the verifier's rules and stops the pipeline if it breaks one.
//!
//! `--verify-each` does the same after every pass. The pass checks the module itself, so it also finds
//! violations that `--no-verify` let through.

use hlo_ir::Module;
use hlo_ir::diag::Diag;
use hlo_passes::{Pass, PassInfo, Rewrites};

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "hlo-verify",
    summary: "stop if the module violates a rule of the verifier",
    example: "HloModule m\nENTRY e { x = f32[2] parameter(0) ROOT n = f32[2] negate(x) }",
    only_checks: true,
    build: |_, _| Box::new(HloVerify),
    ..PassInfo::PLAIN
};

struct HloVerify;

impl Pass for HloVerify {
    fn check(&self, module: &Module) -> Vec<Diag> {
        hlo_ir::verify::verify(module)
    }

    fn run(&self, _: &mut Module, _: &mut Rewrites) -> Result<bool, Diag> {
        Ok(false)
    }
}
