//! `--trace`: summarizes the values of each instruction.

use super::numbers::numbers;
use hlo_ir::effects::Effects;
use hlo_ir::print::format_g;
use hlo_ir::{InstrId, Literal, Module, Shape, SourceFrames};
use hlo_tools_common::table::{Align, Table};
use std::collections::HashMap;

/// A summary of numbers.
#[derive(Clone, Copy, Debug)]
pub struct Summary {
    runs: u64,
    elements: u64,
    nans: u64,
    infinities: u64,
    /// Minimum and maximum of all numbers except NaN.
    min: f64,
    max: f64,
    /// Sum of the finite numbers.
    sum: f64,
}

impl Default for Summary {
    fn default() -> Self {
        Self {
            runs: 0,
            elements: 0,
            nans: 0,
            infinities: 0,
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
            sum: 0.0,
        }
    }
}

impl Summary {
    /// Returns the summary of the elements of arrays.
    pub fn of(arrays: &[Literal]) -> Self {
        let mut summary = Self::default();
        summary.add(arrays);
        summary
    }

    fn add(&mut self, arrays: &[Literal]) {
        self.runs += 1;
        for number in arrays.iter().flat_map(numbers) {
            self.elements += 1;
            if number.is_nan() {
                self.nans += 1;
                continue;
            }
            (self.min, self.max) = (self.min.min(number), self.max.max(number));
            if number.is_finite() { self.sum += number } else { self.infinities += 1 }
        }
    }

    /// Returns the minimum, maximum, mean, and the numbers of NaN and infinities.
    fn cells(&self) -> [String; 5] {
        let finite = self.elements - self.nans - self.infinities;
        let bound = |n: f64| if self.elements > self.nans { format_g(n, 6) } else { "-".to_string() };
        let mean = match finite {
            0 => "-".to_string(),
            n => format_g(self.sum / n as f64, 6),
        };
        [bound(self.min), bound(self.max), mean, self.nans.to_string(), self.infinities.to_string()]
    }

    /// Returns the summary on one line: `min 1, max 2, mean 1.5, NaN 0, inf 0`.
    pub fn line(&self) -> String {
        let names = ["min", "max", "mean", "NaN", "inf"];
        let parts: Vec<String> =
            names.iter().zip(self.cells()).map(|(name, cell)| format!("{name} {cell}")).collect();
        parts.join(", ")
    }
}

/// The summaries of all instructions, over all their runs.
#[derive(Default)]
pub struct Trace {
    summaries: HashMap<InstrId, Summary>,
}

impl Trace {
    /// Adds a value.
    pub fn value(&mut self, id: InstrId, arrays: &[Literal]) {
        self.summaries.entry(id).or_default().add(arrays);
    }

    /// Returns a table with a line for each computed instruction, in the order of the program, grouped by
    /// computation.
    pub fn table(&self, module: &Module) -> String {
        let columns = ["instruction", "opcode", "shape", "runs", "min", "max", "mean", "NaN", "inf", "from"];
        let align = |n: usize| if (3..9).contains(&n) { Align::Right } else { Align::Left };
        let columns: Vec<(&str, Align)> =
            columns.into_iter().enumerate().map(|(n, c)| (c, align(n))).collect();
        let mut table = Table::new(&columns);
        let effects = Effects::of(module);
        let frames = SourceFrames::of(module);
        for computation in super::taps::running(module) {
            let order = super::taps::needed(module, &effects, computation);
            let rows: Vec<(InstrId, &Summary)> =
                order.into_iter().filter_map(|i| Some((i, self.summaries.get(&i)?))).collect();
            if !rows.is_empty() {
                table.row([module[computation].name.to_string()]);
            }
            for (id, summary) in rows {
                let instr = &module[id];
                let [min, max, mean, nans, infinities] = summary.cells();
                let opcode = instr.opcode().name().to_string();
                let runs = summary.runs.to_string();
                let origin = super::origin(&frames, module, id).unwrap_or_default();
                let name = format!("  {}", instr.name);
                let shape = shape_text(&instr.shape);
                table.row([name, opcode, shape, runs, min, max, mean, nans, infinities, origin]);
            }
        }
        table.text()
    }
}

/// Maximum length of a shape's text in a line.
const MAX_SHAPE: usize = 48;

/// Returns the text of a shape, truncated if it is long.
pub fn shape_text(shape: &Shape) -> String {
    let text = shape.to_string();
    match text.char_indices().nth(MAX_SHAPE) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}
