//! `--memory`: what is live when.

use crate::args::{Cli, MemoryFormat};
use crate::cost::cut;
use crate::emit::computation;
use hlo_graph::{MemoryPlot, Value, memory_svg, memory_text};
use hlo_ir::{Module, human_bytes};
use hlo_passes::analysis::{BufferKind, Liveness, ModuleLiveness};
use hlo_tools_common::Failure;
use hlo_tools_common::table::{Align, Table};

/// How many of the largest values are listed.
const LARGEST: usize = 12;
/// The longest name and shape in the list.
const MAX_NAME: usize = 48;

/// The memory of the computation in a format.
pub fn memory(cli: &Cli, module: &Module, format: MemoryFormat) -> Result<String, Failure> {
    let wanted = computation(cli, module)?;
    let all = ModuleLiveness::in_place(module);
    let Some(liveness) = all.get(wanted) else { return Ok(String::new()) };
    let plot = plot(module, &module[wanted].name, liveness);
    Ok(match format {
        MemoryFormat::Plot => text(module, &plot, liveness),
        MemoryFormat::Svg => memory_svg(&plot),
    })
}

fn plot(module: &Module, title: &str, liveness: &Liveness) -> MemoryPlot {
    let live = liveness.order.iter().zip(&liveness.live);
    let mut largest: Vec<Value> = Vec::new();
    for n in liveness.peak_position().into_iter().flat_map(|at| liveness.live_at(at)) {
        let (Some(buffer), Some(life)) = (liveness.buffers.list().get(n), liveness.lifetimes.get(n)) else {
            continue;
        };
        if buffer.kind == BufferKind::Temporary && buffer.bytes > 0 {
            let instruction = &module[buffer.instruction];
            let shape =
                instruction.shape.leaves().get(buffer.leaf).map_or(String::new(), |s| format!("{s:#}"));
            largest.push(Value {
                name: cut(&instruction.name, MAX_NAME),
                shape: cut(&shape, MAX_NAME),
                bytes: buffer.bytes,
                from: life.start,
                to: life.end,
            });
        }
    }
    largest.sort_by_key(|v| (std::cmp::Reverse(v.bytes), v.from));
    largest.truncate(LARGEST);
    MemoryPlot {
        title: title.to_owned(),
        live: live.map(|(&i, &bytes)| (module[i].name.to_string(), bytes)).collect(),
        largest,
    }
}

fn text(module: &Module, plot: &MemoryPlot, liveness: &Liveness) -> String {
    let at = liveness.peak_position();
    let instruction = at.and_then(|at| liveness.order.get(at)).map_or("", |&i| &module[i].name);
    let schedule =
        if module.header.is_scheduled { "the schedule" } else { "an order of operands before users" };
    let mut out = format!("{}: live bytes of temporaries and results, over {schedule}\n\n", plot.title);
    let drawn = memory_text(plot);
    if !drawn.is_empty() {
        out.push_str(&drawn);
        out.push('\n');
    }
    out.push_str(&format!(
        "peak {} at instruction {} ({instruction}); parameters {}, constants {}\n",
        human_bytes(plot.peak()),
        at.unwrap_or(0),
        human_bytes(liveness.parameter_bytes),
        human_bytes(liveness.constant_bytes),
    ));
    let inside = at.and_then(|at| liveness.called.get(at)).copied().unwrap_or(0);
    if inside > 0 {
        out.push_str(&format!("{} of them inside of what it calls\n", human_bytes(inside)));
    }
    if plot.largest.is_empty() {
        return out;
    }
    let right = Align::Right;
    let columns = [
        ("largest at the peak", right),
        ("value", Align::Left),
        ("shape", Align::Left),
        ("live", Align::Left),
    ];
    let mut table = Table::new(&columns);
    for v in &plot.largest {
        table.row([human_bytes(v.bytes), v.name.clone(), v.shape.clone(), format!("{} to {}", v.from, v.to)]);
    }
    out.push('\n');
    out.push_str(&table.text());
    out
}
