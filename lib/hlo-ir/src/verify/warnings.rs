//! Warnings about valid modules that are probably not as intended.

use super::{Verifier, label};
use crate::attr::FusionKind;
use crate::diag::{Diag, Part, Severity};
use crate::ops::bitcast_sizes;
use crate::rules::code;
use crate::{InstrId, Module, Op, Shape};

/// Returns the warnings for a valid module, at most one of each kind: operations that mix floating-point
/// types, bitcasts that change sizes, receives on other channels than their sends, fusions with side effects,
/// `after-all` of data. Linear.
pub fn warnings(module: &Module) -> Vec<Diag> {
    let mut bitcasts = Verifier::new(module);
    bitcasts.check_bitcasts();
    bitcasts.diags.iter_mut().for_each(|d| d.code = Some(code::BITCAST_SIZE));
    let [mut mixed, mut fused, mut ordered] = [(); 3].map(|()| Verifier::new(module));
    for c in module.computations() {
        for &i in module[c].instructions() {
            mixed.check_precision(i);
            fused.check_fused(i);
            ordered.check_after_all(i);
        }
    }
    let mut channels = Verifier::new(module);
    for (receive, send) in module.receives_of_other_channels() {
        channels.check_channel_of(receive, send);
    }
    [bitcasts, mixed, channels, fused, ordered].into_iter().filter_map(|v| first(v.diags)).collect()
}

/// Returns the first report as a warning that states the number of the others.
fn first(diags: Vec<Diag>) -> Option<Diag> {
    let more = diags.len().saturating_sub(1);
    let mut first = diags.into_iter().next()?;
    first.severity = Severity::Warning;
    Some(match more {
        0 => first,
        // The verifier stops after this many reports, so there may be more.
        n if n >= super::MAX_REPORTS => {
            first.note(format!("the same goes for {n} more instructions or more"))
        }
        1 => first.note("the same goes for 1 more instruction"),
        n => first.note(format!("the same goes for {n} more instructions")),
    })
}

/// Returns the bitcasts that change sizes. These are errors in a module that passes transform or that runs.
pub fn verify_bitcasts(module: &Module) -> Vec<Diag> {
    let mut verifier = Verifier::new(module);
    verifier.check_bitcasts();
    verifier.finish()
}

impl Verifier<'_> {
    pub(super) fn check_bitcasts(&mut self) {
        let module = self.module;
        for c in module.computations() {
            for &i in module[c].instructions() {
                let (Op::Bitcast, [o]) = (&module[i].op, &module[i].operands[..]) else { continue };
                let (from, to) = (&module[*o].shape, &module[i].shape);
                if let Some((x, y)) = bitcast_sizes(from, to) {
                    let message = format!(
                        "`bitcast` keeps the number of bytes; the operand, {from}, has {x}, the written shape, {to}, {y}"
                    );
                    let diag = self.report_part(code::BITCAST_BYTES, i, Part::Shape, message);
                    label(diag, module.span(*o), format!("this is {from}"));
                }
            }
        }
    }

    fn check_channel_of(&mut self, receive: InstrId, send: InstrId) {
        let module = self.module;
        let channel = |i: InstrId| module[i].op.effect().channel().unwrap_or_default();
        let message = format!(
            "nothing sends on channel {}: `{}` receives what `{}` sends on channel {}, as both name the same devices",
            channel(receive),
            module[receive].name,
            module[send].name,
            channel(send)
        );
        let diag = self.report_attribute(code::PAIRED_CHANNELS, receive, "channel_id", message);
        label(diag, module.span(send), "the send".to_string());
    }

    fn check_fused(&mut self, fusion: InstrId) {
        let module = self.module;
        let Op::Fusion(a) = &module[fusion].op else { return };
        if a.kind == FusionKind::Custom || !module.is_live_computation(a.calls) {
            return;
        }
        for &i in module[a.calls].instructions().iter().filter(|&&i| module[i].op.has_side_effect()) {
            let name = module[i].op.name();
            let message = format!("a fused computation has operations without side effects, found `{name}`");
            label(
                self.report(code::FUSED_EFFECT, i, message),
                module.span(fusion),
                "in this fusion".to_string(),
            );
        }
    }

    fn check_after_all(&mut self, i: InstrId) {
        let module = self.module;
        let operands = if matches!(module[i].op, Op::AfterAll) { &module[i].operands[..] } else { &[] };
        if let Some(&o) = operands.iter().find(|&&o| module[o].shape != Shape::Token) {
            let shape = &module[o].shape;
            let diag =
                self.report(code::AFTER_ALL_DATA, i, format!("`after-all` takes tokens, found {shape}"));
            label(diag, module.span(o), format!("this is {shape}"));
        }
    }

    fn check_precision(&mut self, i: InstrId) {
        let module = self.module;
        let Some(t) = module.mixed_precision(i) else { return };
        let instr = &module[i];
        let message = format!("`{}` mixes floating-point types: it is computed in {t}", instr.op.name());
        let operands = instr.operands.to_vec();
        let diag = self.report(code::MIXED_PRECISION, i, message);
        for o in operands.into_iter().take(3) {
            label(diag, module.span(o), format!("this is {}", module[o].shape));
        }
    }
}
