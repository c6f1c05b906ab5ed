//! `--cost`: the cost of the module, by instruction and in total.

use crate::args::TableFormat;
use hlo_ir::effects::effect::Effect;
use hlo_ir::print::print_shape;
use hlo_ir::{ComputationId, InstrId, Module, SourceFrames};
use hlo_passes::analysis::{Cost, ModuleCost};
use hlo_tools_common::table::{Align, Table};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Maximum length of a shape and of a name in a table.
const MAX_SHAPE: usize = 40;
const MAX_NAME: usize = 48;

/// Returns the costs in the given format.
pub fn costs(module: &Module, format: TableFormat) -> String {
    let cost = ModuleCost::of(module);
    match format {
        TableFormat::Table => table(module, &cost),
        TableFormat::Json => format!("{}\n", json(module, &cost)),
    }
}

/// Returns the instructions of a computation with a cost, in execution order.
fn rows(module: &Module, cost: &ModuleCost, computation: ComputationId) -> Vec<(InstrId, Cost)> {
    let all = module.post_order(computation).into_iter().map(|i| (i, cost.instruction(i)));
    all.filter(|(_, c)| *c != Cost::default()).collect()
}

fn table(module: &Module, cost: &ModuleCost) -> String {
    let right = Align::Right;
    let frames = SourceFrames::of(module);
    let known =
        cost.runs.iter().any(|&(c, _)| module[c].instructions().iter().any(|&i| !frames.trace(i).is_empty()));
    let sends = cost.total(module).sent > 0;
    let mut columns = vec![
        ("instruction", Align::Left),
        ("opcode", Align::Left),
        ("shape", Align::Left),
        ("flops", right),
        ("transcendentals", right),
        ("bytes", right),
        ("flops/byte", right),
    ];
    columns.extend(sends.then_some(("sent", right)));
    columns.push((if known { "from" } else { "" }, Align::Left));
    let mut table = Table::new(&columns);
    let numbers = |c: Cost| {
        let intensity = c.intensity().map_or(String::new(), |n| format!("{n:.3}"));
        let mut numbers = vec![grouped(c.flops), grouped(c.transcendentals), grouped(c.bytes), intensity];
        numbers.extend(sends.then(|| grouped(c.sent)));
        numbers
    };
    for &(computation, runs) in &cost.runs {
        let times = if runs == 1 { String::new() } else { format!(" × {}", grouped(runs)) };
        table.row([format!("{}{times}", cut(&module[computation].name, MAX_NAME))]);
        for (id, own) in rows(module, cost, computation) {
            let instruction = &module[id];
            let words = [
                format!("  {}", cut(&instruction.name, MAX_NAME)),
                instruction.opcode().name().to_string(),
                cut(&format!("{:#}", instruction.shape), MAX_SHAPE),
            ];
            let from = frames.trace(id).first().map_or(String::new(), |f| cut(&f.to_string(), MAX_NAME));
            table.row(words.into_iter().chain(numbers(own)).chain([from]));
        }
    }
    let total = ["total".to_string(), String::new(), String::new()];
    table.row(total.into_iter().chain(numbers(cost.total(module))));
    let notes: String = notes(module, cost).into_iter().map(|n| format!("note: {n}\n")).collect();
    table.text() + &collectives_table(module, cost) + &notes
}

/// Returns the communication of each opcode: the number of executions and the bytes that each device sends.
fn collectives(module: &Module, cost: &ModuleCost) -> BTreeMap<&'static str, (u64, u64)> {
    let mut all: BTreeMap<&'static str, (u64, u64)> = BTreeMap::new();
    for &(computation, runs) in &cost.runs {
        for &id in module[computation].instructions() {
            let calls = module[id].op.called_computations();
            let own = cost.instruction(id).sent;
            // The communication of a called computation is counted there.
            let is_collective = matches!(module[id].op.effect(), Effect::Groups(_)) || calls.is_empty();
            if own > 0 && is_collective {
                let (count, bytes) = all.entry(module[id].opcode().name()).or_default();
                *count = count.saturating_add(runs);
                *bytes = bytes.saturating_add(own.saturating_mul(runs));
            }
        }
    }
    all
}

/// Returns the table of [`collectives`], or an empty string if there are none.
fn collectives_table(module: &Module, cost: &ModuleCost) -> String {
    let all = collectives(module, cost);
    if all.is_empty() {
        return String::new();
    }
    let right = Align::Right;
    let mut table = Table::new(&[("between devices", Align::Left), ("runs", right), ("sent by each", right)]);
    for (opcode, (count, bytes)) in all {
        table.row([opcode.to_string(), grouped(count), grouped(bytes)]);
    }
    format!("\n{}", table.text())
}

fn json(module: &Module, cost: &ModuleCost) -> Value {
    let sends = cost.total(module).sent > 0;
    let numbers = |c: Cost| {
        let mut numbers = json!({
            "flops": c.flops, "transcendentals": c.transcendentals, "bytes": c.bytes, "intensity": c.intensity(),
        });
        if sends {
            numbers["sent"] = json!(c.sent);
        }
        numbers
    };
    let frames = SourceFrames::of(module);
    let computation = |&(c, runs): &(ComputationId, u64)| {
        let instructions = rows(module, cost, c).into_iter().map(|(id, own)| {
            let mut row = numbers(own);
            row["name"] = json!(module[id].name);
            row["opcode"] = json!(module[id].opcode().name());
            row["shape"] = json!(print_shape(&module[id].shape));
            let trace: Vec<String> = frames.trace(id).iter().map(ToString::to_string).collect();
            if !trace.is_empty() {
                row["from"] = json!(trace);
            }
            row
        });
        let mut out = numbers(cost.computation(c));
        out["name"] = json!(module[c].name);
        out["runs"] = json!(runs);
        out["instructions"] = instructions.collect();
        out
    };
    let mut out = json!({
        "module": module.name,
        "total": numbers(cost.total(module)),
        "computations": cost.runs.iter().map(computation).collect::<Vec<_>>(),
        "notes": notes(module, cost),
    });
    if sends {
        let row = |(opcode, (runs, sent))| json!({"opcode": opcode, "runs": runs, "sent": sent});
        out["collectives"] = collectives(module, cost).into_iter().map(row).collect();
    }
    out
}

/// Returns notes about costs that the numbers do not include.
fn notes(module: &Module, cost: &ModuleCost) -> Vec<String> {
    let name = |id: &InstrId| format!("`{}` in `{}`", module[*id].name, module[module[*id].parent].name);
    let loops = cost.unknown_loops.iter().map(|id| {
        format!("it is not known how often the loop {} runs: it is counted as one iteration", name(id))
    });
    let calls = cost.custom_calls.iter();
    let calls = calls.map(|id| format!("of the custom call {} only the memory is counted", name(id)));
    loops.chain(calls).collect()
}

/// Formats a number with a comma between groups of three digits.
fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (at, c) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

pub(crate) fn cut(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        Some(_) => text.chars().take(max.saturating_sub(1)).chain(['…']).collect(),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{cut, grouped};

    #[test]
    fn digits_are_grouped() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(cut("abcdef", 4), "abc…");
    }
}
