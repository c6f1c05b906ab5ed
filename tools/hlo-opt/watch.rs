//! Watching the passes: `--print-after`, `--verify-each`, `--time-passes`.

use hlo_ir::diag::Diag;
use hlo_ir::print::{PrintOptions, print_module};
use hlo_ir::rules::code;
use hlo_ir::suggest::nearest;
use hlo_ir::{Module, Span};
use hlo_passes::{Observer, PassInfo, PassRun, passes};
use hlo_tools_common::Failure;
use std::io::Write as _;
use std::time::Duration;

/// The passes after which the module is printed.
pub enum Selection {
    /// Every pass.
    All,
    /// These.
    Names(Vec<&'static str>),
}

impl Selection {
    /// Reads the values of `--print-after`.
    pub fn parse(names: &[String]) -> Result<Self, Failure> {
        if names.iter().any(|n| n == "all") {
            return Ok(Selection::All);
        }
        let known = |name: &String| {
            let unknown = || {
                let diag = Diag::error(format!("there is no pass `{name}`")).with_code(code::PASS_NAME);
                let place = Span::new(0, name.len());
                let diag = diag.at(place, "not the name of a pass");
                let names = passes().iter().map(|p| p.name).chain(["all"]);
                let diag = match nearest(name, names) {
                    Some(n) => diag.did_you_mean(place, n),
                    None => diag,
                };
                let diag = diag.note("`hlo-opt --list-passes` lists them");
                Failure::argument("--print-after", name, vec![diag])
            };
            hlo_passes::find(name).map(|p| p.name).ok_or_else(unknown)
        };
        names.iter().map(known).collect::<Result<_, _>>().map(Selection::Names)
    }

    /// Those of the chosen passes that are not among `passes`.
    pub fn missing(&self, passes: &[&str]) -> Vec<&'static str> {
        match self {
            Selection::All => Vec::new(),
            Selection::Names(names) => names.iter().copied().filter(|n| !passes.contains(n)).collect(),
        }
    }

    fn contains(&self, name: &str) -> bool {
        match self {
            Selection::All => true,
            Selection::Names(names) => names.contains(&name),
        }
    }
}

/// What one pass took in all.
#[derive(Default, Clone)]
struct Time {
    runs: usize,
    changed: usize,
    total: Duration,
}

/// The observer of a pipeline.
pub struct Watcher {
    print_after: Selection,
    print_options: PrintOptions,
    verify_each: bool,
    time_passes: bool,
    times: Vec<Time>,
}

impl Watcher {
    /// A watcher that does what the arguments say.
    pub fn new(
        print_after: Selection,
        print_options: PrintOptions,
        verify_each: bool,
        time_passes: bool,
    ) -> Self {
        Self {
            print_after,
            print_options,
            verify_each,
            time_passes,
            times: vec![Time::default(); passes().len()],
        }
    }

    /// Shows the times, if asked for.
    pub fn report(&self) {
        if !self.time_passes {
            return;
        }
        let total: Duration = self.times.iter().map(|t| t.total).sum();
        let mut rows: Vec<(&str, &Time)> =
            passes().iter().map(|p| p.name).zip(&self.times).filter(|(_, t)| t.runs > 0).collect();
        rows.sort_by_key(|(_, t)| std::cmp::Reverse(t.total));
        let width = rows.iter().map(|(n, _)| n.len()).max().unwrap_or(0).max("total".len());
        let mut out = format!("{:>10}  {:>6}  {:>5}  {:>8}  pass\n", "time (ms)", "share", "runs", "changed");
        let ms = |d: Duration| d.as_secs_f64() * 1e3;
        for (name, t) in rows {
            let share = 100.0 * t.total.as_secs_f64() / total.as_secs_f64().max(f64::MIN_POSITIVE);
            let line = format!(
                "{:>10.3}  {share:>5.1}%  {:>5}  {:>8}  {name:<width$}",
                ms(t.total),
                t.runs,
                t.changed
            );
            out.push_str(line.trim_end());
            out.push('\n');
        }
        out.push_str(&format!("{:>10.3}  {:>5.1}%  {:>5}  {:>8}  total\n", ms(total), 100.0, "", ""));
        eprint(&out);
    }
}

impl Observer for Watcher {
    fn verify_each(&self) -> bool {
        self.verify_each
    }

    fn after_pass(&mut self, pass: &'static PassInfo, run: &PassRun, module: &Module) {
        if let Some(t) = passes().iter().position(|p| p.name == pass.name).and_then(|n| self.times.get_mut(n))
        {
            t.runs += 1;
            t.changed += usize::from(run.changed);
            t.total += run.time;
        }
        if self.print_after.contains(pass.name) {
            let note = if run.changed { "" } else { " (unchanged)" };
            let text = print_module(module, &self.print_options);
            eprint(&format!("// after {}{note}\n{}\n\n", pass.name, text.trim_end()));
        }
    }
}

/// Standard error may be closed: that is no reason to stop.
fn eprint(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}
