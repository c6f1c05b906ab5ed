//! `--time-passes` and `--stats`: the totals of each pass over all its runs on all modules.

use hlo_ir::Module;
use hlo_passes::{PassInfo, PassRun};
use hlo_tools_common::table::{Align, Table};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// The totals of a pass.
#[derive(Default)]
struct Numbers {
    runs: usize,
    changed: usize,
    time: Duration,
    /// The number of rewrites by the name of the pattern or the pass.
    rewrites: BTreeMap<&'static str, u64>,
    /// The change in the number of instructions.
    instructions: i64,
}

/// The size of the modules.
#[derive(Clone, Copy, Default)]
struct Size {
    computations: usize,
    instructions: usize,
}

impl Size {
    fn of(module: &Module) -> Self {
        let instructions = module.computations().map(|c| module[c].instructions().len()).sum();
        Self { computations: module.computations().count(), instructions }
    }

    fn add(&mut self, other: Size) {
        self.computations += other.computations;
        self.instructions += other.instructions;
    }
}

/// The totals of all passes, in the order in which they first ran.
#[derive(Default)]
pub struct Stats {
    passes: Vec<(&'static str, Numbers)>,
    before: Size,
    after: Size,
    now: Size,
}

impl Stats {
    /// Starts a module.
    pub fn begin(&mut self, module: &Module) {
        self.now = Size::of(module);
        self.before.add(self.now);
    }

    /// Ends a module.
    pub fn end(&mut self, module: &Module) {
        self.after.add(Size::of(module));
    }

    /// Counts a run of a pass.
    pub fn count(&mut self, pass: &'static PassInfo, run: &PassRun, module: &Module) {
        let at = self.passes.iter().position(|(name, _)| *name == pass.name).unwrap_or_else(|| {
            self.passes.push((pass.name, Numbers::default()));
            self.passes.len() - 1
        });
        let Some((_, numbers)) = self.passes.get_mut(at) else { return };
        numbers.runs += 1;
        numbers.changed += usize::from(run.changed);
        numbers.time += run.time;
        for (name, count) in run.rewrites.counts() {
            *numbers.rewrites.entry(name).or_default() += count;
        }
        if run.changed {
            let size = Size::of(module);
            numbers.instructions += size.instructions as i64 - self.now.instructions as i64;
            self.now = size;
        }
    }

    /// Returns the table of times, the longest first.
    pub fn times(&self) -> String {
        let total: Duration = self.passes.iter().map(|(_, n)| n.time).sum();
        let mut rows: Vec<&(&str, Numbers)> = self.passes.iter().collect();
        rows.sort_by_key(|(name, n)| (std::cmp::Reverse(n.time), *name));
        let right = Align::Right;
        let mut table = Table::new(&[
            (" time (ms)", right),
            (" share", right),
            ("runs", right),
            ("changed", right),
            ("pass", Align::Left),
        ]);
        let ms = |d: Duration| format!("{:.3}", d.as_secs_f64() * 1e3);
        for (name, n) in rows {
            let share = 100.0 * n.time.as_secs_f64() / total.as_secs_f64().max(f64::MIN_POSITIVE);
            table.row([
                ms(n.time),
                format!("{share:.1}%"),
                n.runs.to_string(),
                n.changed.to_string(),
                (*name).to_string(),
            ]);
        }
        table.row([ms(total), "100.0%".to_string(), String::new(), String::new(), "total".to_string()]);
        table.text()
    }

    /// Returns the table of rewrites: each pass, followed by its patterns.
    pub fn table(&self) -> String {
        let right = Align::Right;
        let mut table = Table::new(&[
            ("pass, rewrite", Align::Left),
            ("runs", right),
            ("changed", right),
            ("rewrites", right),
            ("instructions", right),
        ]);
        let signed = |n: i64| if n == 0 { "0".to_string() } else { format!("{n:+}") };
        for (name, n) in &self.passes {
            table.row([
                (*name).to_string(),
                n.runs.to_string(),
                n.changed.to_string(),
                n.total().to_string(),
                signed(n.instructions),
            ]);
            // Omit the second line of a pass that only counts rewrites under its own name.
            let by_name = n.by_name();
            for (rewrite, count) in by_name.into_iter().filter(|(rewrite, _)| rewrite != name) {
                table.row([format!("  {rewrite}"), String::new(), String::new(), count.to_string()]);
            }
        }
        let sum: u64 = self.passes.iter().map(|(_, n)| n.total()).sum();
        let change = self.after.instructions as i64 - self.before.instructions as i64;
        table.row(["total".to_string(), String::new(), String::new(), sum.to_string(), signed(change)]);
        format!(
            "{}instructions: {} before, {} after; computations: {} before, {} after\n",
            table.text(),
            self.before.instructions,
            self.after.instructions,
            self.before.computations,
            self.after.computations,
        )
    }

    /// Returns the statistics as one line of JSON, with times in seconds.
    pub fn json(&self) -> String {
        let size = |s: Size| json!({"computations": s.computations, "instructions": s.instructions});
        let pass = |(name, n): &(&str, Numbers)| -> Value {
            json!({
                "pass": name, "runs": n.runs, "changed": n.changed, "seconds": n.time.as_secs_f64(),
                "rewrites": n.total(), "by_rewrite": n.rewrites, "instructions": n.instructions,
            })
        };
        let value = json!({
            "passes": self.passes.iter().map(pass).collect::<Vec<_>>(),
            "before": size(self.before),
            "after": size(self.after),
        });
        format!("{value}\n")
    }
}

impl Numbers {
    fn total(&self) -> u64 {
        self.rewrites.values().sum()
    }

    /// Returns the rewrites, the most frequent first.
    fn by_name(&self) -> Vec<(&'static str, u64)> {
        let mut all: Vec<_> = self.rewrites.iter().map(|(&name, &count)| (name, count)).collect();
        all.sort_by_key(|&(name, count)| (std::cmp::Reverse(count), name));
        all
    }
}
