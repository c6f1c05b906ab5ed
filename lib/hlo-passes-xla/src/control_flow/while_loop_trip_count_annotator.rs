//! `while-loop-trip-count-annotator`: records the trip count in each loop's `backend_config`, if it is known.
//!
//! ```text
//! w = (s32[], f32[4]) while(init), …    →    w = (s32[], f32[4]) while(init), …,
//!                                              backend_config={"known_trip_count":{"n":"10"},…}
//! ```
//!
//! The format is XLA's. It contains the trip count and the state element that is the counter. It also
//! contains the counter's first value and step, if the first value is not negative and the step is positive.
//! If the counter is used after the loop, its final value replaces these uses as a constant. The pass does
//! not change the `backend_config` of a loop that already has a different one.

use hlo_ir::attr::HloString;
use hlo_ir::diag::Diag;
use hlo_ir::{InstrId, Literal, Module, Op};
use hlo_passes::support::constants::integer_bytes;
use hlo_passes::support::trip_count::{TripCount, trip_count};
use hlo_passes::support::while_loop::element_of;
use hlo_passes::{PassInfo, Rewrites};

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "while-loop-trip-count-annotator",
    summary: "record the trip count of each loop in its backend_config, if it is known",
    example: "\
HloModule while_loop_trip_count_annotator

condition {
  s = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(10)
  ROOT more = pred[] compare(i, n), direction=LT
}

body {
  s = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  two = s32[] constant(2)
  next = s32[] add(i, two)
  x = f32[4] get-tuple-element(s), index=1
  y = f32[4] tanh(x)
  ROOT t = (s32[], f32[4]) tuple(next, y)
}

ENTRY e {
  x = f32[4] parameter(0)
  zero = s32[] constant(0)
  init = (s32[], f32[4]) tuple(zero, x)
  ROOT w = (s32[], f32[4]) while(init), condition=condition, body=body
}
",
    build: |_, _| Box::new(run),
    ..PassInfo::PLAIN
};

fn run(module: &mut Module, rewrites: &mut Rewrites) -> Result<bool, Diag> {
    let mut changed = false;
    for c in module.computations().collect::<Vec<_>>() {
        for id in module.post_order(c) {
            if !matches!(module[id].op, Op::While(_)) || !rewrites.allowed() {
                continue;
            }
            let Some(found) = trip_count(module, id) else { continue };
            let Some(element) = found.element else { continue };
            let note = HloString::from(note(&found, element).as_str());
            let existing = module[id].common.as_deref().map(|c| c.backend_config.clone()).unwrap_or_default();
            let foreign = !existing.is_empty() && !is_note(&existing);
            if !foreign && existing != note {
                rewrites.made("annotate", &module[id].name);
                module.common_mut(id).backend_config = note;
                changed = true;
            }
            changed |= use_last_value(module, id, &found, element, rewrites);
        }
    }
    Ok(changed)
}

/// Checks whether a configuration was written by this pass or by XLA.
fn is_note(config: &HloString) -> bool {
    let text = config.to_text();
    ["known_trip_count", "known_induction_variable", "known_init_step"].iter().any(|key| text.contains(key))
}

/// Returns the `backend_config` text for a loop.
fn note(found: &TripCount, element: usize) -> String {
    let mut out = format!("{{\"known_trip_count\":{{\"n\":\"{}\"}},", found.trips);
    if let Some((first, step)) =
        found.range.filter(|&(first, step)| first >= 0 && step > 0 && found.trips > 0)
    {
        out.push_str(&format!("\"known_init_step\":{{\"init\":\"{first}\",\"step\":\"{step}\"}},"));
    }
    out.push_str(&format!(
        "\"known_induction_variable\":{{\"tuple_index\":\"{element}\"}},\"dynamic_variables\":[]}}"
    ));
    out
}

/// Replaces uses of the counter after the loop by its final value.
fn use_last_value(
    module: &mut Module,
    id: InstrId,
    found: &TripCount,
    element: usize,
    rewrites: &mut Rewrites,
) -> bool {
    let Some((first, step)) = found.range else { return false };
    let last = i128::from(found.trips).checked_mul(step).and_then(|n| n.checked_add(first));
    let Some(last) = last.and_then(|n| i64::try_from(n).ok()) else { return false };
    let mut changed = false;
    for taker in module.users(id).to_vec() {
        let used = module.is_used(taker);
        if element_of(module, taker, id) != Some(element) || !used || !rewrites.allowed() {
            continue;
        }
        let Some(ty) = module[taker].shape.as_array().map(|a| a.element_type) else { continue };
        let value = integer_bytes(ty, last).and_then(|bytes| Literal::scalar_from_bytes(ty, &bytes));
        let Some(value) = value.filter(|v| v.shape().compatible(&module[taker].shape)) else { continue };
        rewrites.made("use-last-value", &module[taker].name);
        let shape = module[taker].shape.clone();
        let constant = module.add_like(taker, shape, Op::constant(value), []);
        module.replace_all_uses_with(taker, constant);
        changed = true;
    }
    changed
}
