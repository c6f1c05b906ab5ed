//! Observes the passes: prints modules before and after them, changes, files, times, and counts of rewrites.

mod changes;
mod dump;
mod selection;
mod stats;

use crate::args::{Cli, TableFormat};
use changes::Changes;
use dump::Dump;
use hlo_ir::Module;
use hlo_ir::diag::Diag;
use hlo_ir::print::{PrintOptions, print_module};
use hlo_passes::{Extent, Observer, PassInfo, PassRun, Pipeline, PipelineInfo};
use hlo_tools_common::{Failure, Reporter};
use selection::Selection;
use stats::Stats;
use std::io::Write as _;

/// The observer of a pipeline.
pub struct Watcher {
    print_before: Selection,
    print_after: Selection,
    print_options: PrintOptions,
    verify_each: bool,
    changes: Option<Changes>,
    dump: Option<Dump>,
    stats: Stats,
    time_passes: bool,
    show_stats: Option<TableFormat>,
    /// The active named pipelines, the innermost last.
    pipelines: Vec<&'static str>,
    /// Warnings about passes that lacked required information, each once.
    warnings: Vec<Diag>,
}

impl Watcher {
    /// Creates an observer according to the arguments. Warns about passes in `--print-before` and
    /// `--print-after` that do not run.
    pub fn new(
        cli: &Cli,
        reporter: Reporter,
        pipeline: &Pipeline,
        print_options: &PrintOptions,
    ) -> Result<Self, Failure> {
        let selection = |option: &'static str, names: &[String]| {
            let selection = Selection::parse(option, names, reporter)?;
            for name in selection.missing(pipeline) {
                reporter.warning(&format!("{option}={name}: the passes that run do not have `{name}`"));
            }
            Ok::<_, Failure>(selection)
        };
        Ok(Self {
            print_before: selection("--print-before", &cli.print_before)?,
            print_after: selection("--print-after", &cli.print_after)?,
            print_options: print_options.clone(),
            verify_each: cli.verify_each,
            changes: cli.print_changed.then(|| Changes::new(print_options, reporter.color)),
            dump: cli.dump_dir.as_deref().map(|dir| Dump::new(dir, print_options)).transpose()?,
            stats: Stats::default(),
            time_passes: cli.time_passes,
            show_stats: cli.stats,
            pipelines: Vec::new(),
            warnings: Vec::new(),
        })
    }

    /// Sets whether the module is verified after each pass.
    pub fn set_verify_each(&mut self, verify_each: bool) {
        self.verify_each = verify_each;
    }

    /// Starts a module, before its passes.
    pub fn begin(&mut self, module: &Module) {
        self.pipelines.clear();
        self.stats.begin(module);
        if let Some(changes) = &mut self.changes {
            changes.begin(module);
        }
        if let Some(dump) = &mut self.dump {
            dump.begin(module);
        }
    }

    /// Ends a module after its passes, also if one of them failed. Returns warnings.
    pub fn end(&mut self, module: &Module) -> Vec<Diag> {
        self.stats.end(module);
        std::mem::take(&mut self.warnings)
    }

    /// Prints the requested statistics.
    pub fn finish(self) -> Result<(), Failure> {
        if self.time_passes {
            eprint(&self.stats.times());
        }
        match self.show_stats {
            Some(TableFormat::Table) => eprint(&self.stats.table()),
            Some(TableFormat::Json) => eprint(&self.stats.json()),
            None => {}
        }
        self.dump.map_or(Ok(()), Dump::finish)
    }

    fn print(&self, when: &str, name: &str, note: &str, module: &Module) {
        let text = print_module(module, &self.print_options);
        eprint(&format!("// {when} {name}{note}\n{}\n\n", text.trim_end()));
    }
}

impl Observer for Watcher {
    fn verify_each(&self) -> bool {
        self.verify_each
    }

    /// Returns false, because the module was verified when it was read, unless `--no-verify` was given.
    fn verify_first(&self) -> bool {
        false
    }

    fn before_pass(&mut self, pass: &'static PassInfo, module: &Module) -> Extent {
        if self.print_before.pass(pass.name) {
            self.print("before", pass.name, "", module);
        }
        Extent::Whole
    }

    fn after_pass(&mut self, pass: &'static PassInfo, run: &PassRun, module: &Module) {
        self.stats.count(pass, run, module);
        if self.print_after.pass(pass.name) {
            self.print("after", pass.name, if run.changed { "" } else { " (unchanged)" }, module);
        }
        if !run.changed {
            return;
        }
        if let Some(changes) = &mut self.changes {
            eprint(&changes.after(pass.name, module));
        }
        if let Some(dump) = &mut self.dump {
            dump.after(self.pipelines.last().copied(), pass.name, module);
        }
    }

    fn pass_skipped(&mut self, _: &'static PassInfo, why: Diag) {
        if !self.warnings.contains(&why) {
            self.warnings.push(why);
        }
    }

    fn before_pipeline(&mut self, pipeline: &'static PipelineInfo, module: &Module) {
        self.pipelines.push(pipeline.name);
        if self.print_before.pipeline(pipeline.name) {
            self.print("before", pipeline.name, "", module);
        }
    }

    fn after_pipeline(&mut self, pipeline: &'static PipelineInfo, module: &Module) {
        self.pipelines.pop();
        if self.print_after.pipeline(pipeline.name) {
            self.print("after", pipeline.name, "", module);
        }
    }
}

/// Writes to standard error. Ignores errors, because a closed standard error is no reason to stop.
fn eprint(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}
