//! `--passes`: a pipeline, or the file that has it.

use crate::{Failure, Reporter, read_text};
use hlo_passes::Pipeline;
use std::path::Path;

/// Reads the value of `--passes`, `@FILE` being a pipeline in a file, and notes names that are not written as they are in
/// the list of passes.
pub fn read_pipeline(text: &str, reporter: Reporter) -> Result<Pipeline, Failure> {
    let pipeline = match text.strip_prefix('@') {
        Some(path) if path.contains(',') && !Path::new(path).exists() => {
            let message =
                format!("--passes=@FILE takes one file and no passes beside it; there is no file `{path}`");
            return Err(Failure::Usage(message));
        }
        Some(path) => {
            let source = read_text(path, "a pipeline")?;
            Pipeline::parse(&source.text).map_err(|d| Failure::diags(&source, vec![d]))?
        }
        None => Pipeline::parse(text).map_err(|d| Failure::argument("--passes", text, vec![d]))?,
    };
    for note in pipeline.notes() {
        reporter.note(&note);
    }
    Ok(pipeline)
}
