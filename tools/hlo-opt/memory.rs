//! `--memory`: shows the memory use of the compiled program over time.

use crate::args::{Cli, MemoryFormat};
use crate::cost::cut;
use hlo_graph::{MemoryPlot, Piece, memory_svg, memory_text, spans};
use hlo_ir::diag::Diag;
use hlo_ir::verify::Verified;
use hlo_ir::{Module, human_bytes};
use hlo_passes::{CPU_PIPELINE, LOWERING, Pipeline};
use hlo_plan::BufferRef;
use hlo_plan::memory::{Allocation, BodyMemory, Memory, StepName};
use hlo_tools_common::table::{Align, Table};
use serde_json::{Value, json};

/// Maximum number of values in the list of the largest values.
const MAX_LARGEST_VALUES: usize = 12;
/// Maximum length of a name or shape in the list.
const MAX_NAME: usize = 48;

/// Returns the memory use of the program that `hlo-run` makes of the module, with the same `--passes` or with
/// its default pipeline.
pub fn memory(cli: &Cli, module: &Module, format: MemoryFormat) -> Result<String, Vec<Diag>> {
    let mut module = module.clone();
    let pipeline = if cli.passes.is_empty() { CPU_PIPELINE } else { LOWERING };
    Pipeline::parse(pipeline).map_err(|d| vec![d])?.run(&mut module, &mut ())?;
    let memory = hlo_plan::memory::memory(Verified::new(&module)?)?;
    Ok(match format {
        MemoryFormat::Plot => text(&module, &memory),
        MemoryFormat::Svg => memory_svg(&plot(&module, &memory.main)),
        MemoryFormat::Json => format!("{}\n", json(&module, &memory)),
    })
}

/// Returns the plot: the arena, with the results above it.
fn plot(module: &Module, body: &BodyMemory) -> MemoryPlot {
    let live = body.live_bytes();
    let peak = peak(&live);
    let drawn = drawn(body);
    let at_peak = |n: &usize| peak.is_some_and(|step| drawn[*n].0.is_live(step));
    let mut largest: Vec<usize> = (0..drawn.len()).filter(at_peak).collect();
    largest.sort_by_key(|&n| (std::cmp::Reverse(drawn[n].0.bytes), drawn[n].1));
    largest.truncate(MAX_LARGEST_VALUES);
    MemoryPlot {
        title: module.name.to_string(),
        live: body.steps.iter().map(|&s| name(module, s)).zip(live).collect(),
        bytes: body.arena_bytes.saturating_add(body.output_bytes),
        pieces: drawn.iter().map(|&(a, offset)| piece(module, a, offset)).collect(),
        largest,
    }
}

/// Returns the allocations that the program writes, and their positions in the plot. The results follow the
/// arena in the order of their numbers.
fn drawn(body: &BodyMemory) -> Vec<(&Allocation, u64)> {
    let mut next = body.arena_bytes;
    let mut place = |a: &Allocation| match a.place {
        BufferRef::Arena(offset) => Some(offset),
        BufferRef::Output(_) => {
            let start = next;
            next = start.saturating_add(a.bytes);
            Some(start)
        }
        BufferRef::Param(_) | BufferRef::Constant(_) => None,
    };
    body.allocations.iter().filter_map(|a| Some((a, place(a)?))).collect()
}

fn piece(module: &Module, allocation: &Allocation, offset: u64) -> Piece {
    let names: Vec<&str> = allocation.values.iter().map(|&i| &*module[i].name).collect();
    // For a tuple, use the array of this size.
    let shape = allocation.values.first().and_then(|&i| {
        let leaves = module[i].shape.leaves();
        leaves.into_iter().find(|s| s.byte_size() as u64 == allocation.bytes)
    });
    Piece {
        name: cut(&names.join(", "), MAX_NAME),
        shape: cut(&shape.map_or(String::new(), |s| format!("{s:#}")), MAX_NAME),
        bytes: allocation.bytes,
        offset,
        place: place(allocation.place),
        live: allocation.live.clone(),
    }
}

fn place(place: BufferRef) -> String {
    match place {
        BufferRef::Arena(offset) => format!("arena {offset:#x}"),
        BufferRef::Output(n) => format!("result {n}"),
        BufferRef::Param(n) => format!("parameter {n}"),
        BufferRef::Constant(n) => format!("constant {n}"),
    }
}

fn name(module: &Module, step: StepName) -> String {
    let name = step.instruction.map_or("", |i| &*module[i].name);
    match step.kind {
        "copy" | "conditional" => format!("{} of {name}", step.kind),
        _ => name.to_string(),
    }
}

/// Returns the first step with the maximum number of live bytes.
fn peak(live: &[u64]) -> Option<usize> {
    let most = live.iter().max()?;
    live.iter().position(|n| n == most)
}

fn text(module: &Module, memory: &Memory) -> String {
    let mut out = of_body(module, &memory.main, &module.name);
    for body in &memory.functions {
        let computation = &module[module[body.root].parent].name;
        out.push('\n');
        out.push_str(&of_body(module, body, &format!("{computation}, which several places call")));
    }
    out.push_str(&format!("\nconstants {}\n", human_bytes(memory.constant_bytes)));
    out
}

fn of_body(module: &Module, body: &BodyMemory, title: &str) -> String {
    let plot = plot(module, body);
    let mut out =
        format!("{title}: live bytes of temporaries and results, over the steps of the program\n\n");
    let drawn = memory_text(&plot);
    if !drawn.is_empty() {
        out.push_str(&drawn);
        out.push('\n');
    }
    let live: Vec<u64> = plot.live.iter().map(|(_, n)| *n).collect();
    let at = peak(&live).map_or(String::new(), |at| format!(" at step {at} ({})", plot.live[at].0));
    out.push_str(&format!(
        "peak {}{at}; arena {}, results {}, parameters {}\n",
        human_bytes(plot.peak()),
        human_bytes(body.arena_bytes),
        human_bytes(body.output_bytes),
        human_bytes(body.parameter_bytes),
    ));
    if plot.largest.is_empty() {
        return out;
    }
    let columns = [
        ("largest at the peak", Align::Right),
        ("place", Align::Left),
        ("values", Align::Left),
        ("shape", Align::Left),
        ("live", Align::Left),
    ];
    let mut table = Table::new(&columns);
    for piece in plot.largest.iter().map(|&n| &plot.pieces[n]) {
        let Piece { name, shape, place, .. } = piece;
        table.row([human_bytes(piece.bytes), place.clone(), name.clone(), shape.clone(), spans(&piece.live)]);
    }
    out.push('\n');
    out.push_str(&table.text());
    out
}

fn json(module: &Module, memory: &Memory) -> Value {
    let functions: Vec<Value> = memory.functions.iter().map(|f| body_json(module, f)).collect();
    let mut out = body_json(module, &memory.main);
    out["module"] = json!(module.name);
    out["constant_bytes"] = json!(memory.constant_bytes);
    out["functions"] = json!(functions);
    out
}

fn body_json(module: &Module, body: &BodyMemory) -> Value {
    let live = body.live_bytes();
    let steps = body.steps.iter().zip(&live).map(|(step, live)| {
        json!({
            "kind": step.kind,
            "instruction": step.instruction.map(|i| &*module[i].name),
            "opcode": step.instruction.map(|i| module[i].opcode().name()),
            "live_bytes": live,
        })
    });
    let allocations = body.allocations.iter().map(|a| {
        let (place, number) = match a.place {
            BufferRef::Arena(offset) => ("arena", offset),
            BufferRef::Output(n) => ("result", n as u64),
            BufferRef::Param(n) => ("parameter", n as u64),
            BufferRef::Constant(n) => ("constant", n as u64),
        };
        let mut out = json!({
            "place": place,
            "bytes": a.bytes,
            "values": a.values.iter().map(|&i| &*module[i].name).collect::<Vec<_>>(),
            "live": a.live,
        });
        out[if place == "arena" { "offset" } else { "number" }] = json!(number);
        out
    });
    json!({
        "computation": &*module[module[body.root].parent].name,
        "peak_bytes": live.iter().max().unwrap_or(&0),
        "peak_step": peak(&live),
        "arena_bytes": body.arena_bytes,
        "result_bytes": body.output_bytes,
        "parameter_bytes": body.parameter_bytes,
        "steps": steps.collect::<Vec<_>>(),
        "allocations": allocations.collect::<Vec<_>>(),
    })
}
