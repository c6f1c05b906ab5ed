//! `--emit=dot|svg|html`: draws the module as a graph.

use crate::args::{Cli, Emit};
use hlo_graph::{Graph, Request};
use hlo_ir::suggest::nearest;
use hlo_ir::{ComputationId, InstrId, Module, human_bytes};
use hlo_passes::analysis::{Cost, ModuleCost};
use hlo_tools_common::Failure;

/// Maximum number of boxes with `--open`, unless `--max-boxes` is larger.
const MAX_OPEN_BOXES: usize = 2000;
/// Maximum nesting depth of boxes.
const MAX_DEPTH: usize = 200;

/// Returns the graph in the given format.
pub fn graph(cli: &Cli, module: &Module, format: Emit) -> Result<String, Failure> {
    let around = cli.around.as_deref().map(|name| instruction(cli, module, name)).transpose()?;
    let computation = match around {
        Some(id) => module[id].parent,
        None => computation(cli, module)?,
    };
    let cost = ModuleCost::of(module);
    let weight = |id: InstrId| cost.instruction(id).seconds();
    let note = |id: InstrId| note(cost.instruction(id));
    let request = Request {
        computation,
        around: around.map(|id| (id, cli.depth)),
        limit: cli.max_boxes,
        weight: &weight,
        note: &note,
    };
    let name = &module[computation].name;
    let graph = Graph::of(module, &request);
    // With `--open`, a computation is drawn at each place that calls it. A page opens as many boxes as a
    // browser can show.
    let most = cli.max_boxes.max(MAX_OPEN_BOXES);
    if cli.open && format != Emit::Html && graph.open_boxes() > most {
        // Nested calls double the number of boxes at each level.
        let boxes = match graph.open_boxes() {
            usize::MAX => "very many".to_string(),
            n => n.to_string(),
        };
        return Err(Failure::Message(format!(
            "`{name}` has {boxes} boxes with what is inside of them, more than the {most} that are drawn with --open: without \
             it they are closed, --emit=html opens any of them, --around=NAME --depth=N shows the neighborhood of an \
             instruction, --computation=NAME one computation, --max-boxes=N draws more"
        )));
    }
    if cli.open && graph.depth() > MAX_DEPTH {
        return Err(Failure::Message(format!(
            "`{name}` calls computations inside of each other, {} levels deep, and at most {MAX_DEPTH} are drawn open: \
             leave --open out, or draw one of them with --computation=NAME",
            graph.depth()
        )));
    }
    Ok(match format {
        Emit::Dot => hlo_graph::dot(&graph, cli.open),
        Emit::Svg => hlo_graph::svg(&graph, cli.open),
        Emit::Html => hlo_graph::html(&graph, cli.open),
        _ => String::new(),
    })
}

/// Returns the text about a cost that follows the text of an instruction.
fn note(cost: Cost) -> String {
    let mut parts = Vec::new();
    for (count, what) in [(cost.flops, "flops"), (cost.transcendentals, "transcendental functions")] {
        if count > 0 {
            parts.push(format!("{count} {what}"));
        }
    }
    if cost.bytes > 0 {
        parts.push(format!("{} read and written", human_bytes(cost.bytes)));
    }
    parts.join(", ")
}

/// Returns the computation that `--computation` names, or the entry.
pub fn computation(cli: &Cli, module: &Module) -> Result<ComputationId, Failure> {
    let Some(name) = &cli.computation else { return Ok(module.entry()) };
    let wanted = name.trim_start_matches('%');
    let found = module.computations().find(|&c| *module[c].name == *wanted);
    found.ok_or_else(|| {
        let names = module.computations().map(|c| &*module[c].name);
        unknown("--computation", "computation", wanted, nearest(wanted, names))
    })
}

/// Returns the instruction that `--around` names. Searches the requested computation, then the entry, then
/// the others.
fn instruction(cli: &Cli, module: &Module, name: &str) -> Result<InstrId, Failure> {
    let wanted = name.trim_start_matches('%');
    let first = computation(cli, module)?;
    let named =
        |c: ComputationId| module[c].instructions().iter().copied().find(|&i| *module[i].name == *wanted);
    let elsewhere = || {
        let all = module.computations().filter(|_| cli.computation.is_none());
        all.into_iter().find_map(named)
    };
    named(first).or_else(elsewhere).ok_or_else(|| {
        let names = module.computations().flat_map(|c| module[c].instructions()).map(|&i| &*module[i].name);
        unknown("--around", "instruction", wanted, nearest(wanted, names))
    })
}

fn unknown(option: &str, what: &str, name: &str, near: Option<&str>) -> Failure {
    let proposal = near.map_or(String::new(), |n| format!("; did you mean `{n}`?"));
    Failure::Message(format!("{option}: there is no {what} `{name}` in the module{proposal}"))
}
