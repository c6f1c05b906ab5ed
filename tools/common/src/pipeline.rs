//! `--passes`: reads a pipeline and the files that it names.

use crate::{Failure, Reporter, read_text};
use hlo_ir::diag::Source;
use hlo_passes::{Pipeline, PipelineFile, PipelineFiles};
use std::path::Path;

/// Parses the value of `--passes`, where `@FILE` stands for the pipeline in a file. Prints a note for each
/// name with a spelling that differs from the list of passes.
///
/// # Errors
/// Returns the errors of [`Pipeline::parse_with_files`], shown in the argument or in the file.
pub fn read_pipeline(text: &str, reporter: Reporter) -> Result<Pipeline, Failure> {
    // A file name without other text around it may contain commas and spaces.
    let quoted = text.strip_prefix('@').filter(|p| !p.contains('"') && Path::new(p).is_file());
    let quoted = quoted.map(|path| format!("@\"{path}\""));
    let text = quoted.as_deref().unwrap_or(text);
    let pipeline = Pipeline::parse_with_files(text, &mut Files).map_err(|e| match e.file {
        Some(file) => Failure::diags(&Source { name: file.name, text: file.text }, vec![e.diag]),
        None => Failure::argument("--passes", text, vec![e.diag]),
    })?;
    for note in pipeline.notes() {
        reporter.note(&note);
    }
    Ok(pipeline)
}

/// Pipeline files. Paths in them are relative to their folders.
struct Files;

impl PipelineFiles for Files {
    fn read(&mut self, path: &str, from: Option<&str>) -> Result<PipelineFile, String> {
        let folder = from.and_then(|from| Path::new(from).parent()).filter(|_| path != "-");
        let place = folder.map_or_else(|| path.to_owned(), |f| f.join(path).display().to_string());
        let source = read_text(&place, "a pipeline").map_err(|failure| match failure {
            Failure::Diags { diags, .. } if !diags.is_empty() => format!("{place}: {}", diags[0].message),
            Failure::File { message, .. } => format!("{place}: {message}"),
            _ => format!("{place} can't be read"),
        })?;
        let identity = Path::new(&place).canonicalize().map_or(place, |p| p.display().to_string());
        Ok(PipelineFile { name: source.name, identity, text: source.text })
    }
}
