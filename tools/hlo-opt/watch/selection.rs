//! The values of `--print-before` and `--print-after`.

use hlo_ir::Span;
use hlo_ir::diag::Diag;
use hlo_ir::suggest::nearest;
use hlo_passes::rules;
use hlo_passes::{PIPELINES, Pipeline, find, find_ignoring_case, find_pipeline, pass_of_class, passes};
use hlo_tools_common::{Failure, Reporter};

/// The passes and named pipelines at which the module is printed.
pub enum Selection {
    /// Every pass.
    All,
    /// The passes and pipelines with these names.
    Names(Vec<&'static str>),
}

impl Selection {
    /// Parses the values of an option.
    pub fn parse(option: &str, names: &[String], reporter: Reporter) -> Result<Self, Failure> {
        if names.iter().any(|n| n == "all") {
            return Ok(Selection::All);
        }
        let known = |name: &String| {
            let exact = find(name).map(|p| p.name).or_else(|| find_pipeline(name).map(|p| p.name));
            exact.or_else(|| {
                let name_of_pass = find_ignoring_case(name)?.name;
                reporter.note(&format!("`{name}` is read as `{name_of_pass}`"));
                Some(name_of_pass)
            })
        };
        names
            .iter()
            .map(|name| known(name).ok_or_else(|| unknown(option, name)))
            .collect::<Result<_, _>>()
            .map(Selection::Names)
    }

    /// Returns the names that the pipeline does not run.
    pub fn missing(&self, pipeline: &Pipeline) -> Vec<&'static str> {
        let (passes, pipelines) = (pipeline.pass_names(), pipeline.pipeline_names());
        match self {
            Selection::All => Vec::new(),
            Selection::Names(names) => {
                names.iter().copied().filter(|n| !passes.contains(n) && !pipelines.contains(n)).collect()
            }
        }
    }

    /// Whether the module is printed at the given pass.
    pub fn pass(&self, name: &str) -> bool {
        matches!(self, Selection::All) || self.pipeline(name)
    }

    /// Whether the module is printed at the given pipeline.
    pub fn pipeline(&self, name: &str) -> bool {
        matches!(self, Selection::Names(names) if names.contains(&name))
    }
}

fn unknown(option: &str, name: &str) -> Failure {
    let place = Span::new(0, name.len());
    let diag = Diag::error(format!("there is no pass `{name}`")).with_code(rules::PASS_NAME);
    let diag = diag.at(place, "not the name of a pass");
    let names = passes().into_iter().map(|p| p.name).chain(PIPELINES.iter().map(|p| p.name)).chain(["all"]);
    let diag = match pass_of_class(name).or_else(|| nearest(name, names)) {
        Some(n) => diag.did_you_mean(place, n),
        None => diag,
    };
    Failure::argument(option, name, vec![diag.note("`hlo-opt --list-passes` lists them")])
}
