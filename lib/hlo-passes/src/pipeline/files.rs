//! Pipelines in files: `@FILE` in a pipeline is replaced by the contents of the file.

use hlo_ir::diag::Diag;

/// Maximum number of files read for one pipeline. A file counts each time that it is named, because files can
/// name each other.
const MAX_FILES: usize = 1_000;

/// A source of the files that pipelines name.
pub trait PipelineFiles {
    /// Reads the file with a path. `from` is the file that contains the path, or `None` for the pipeline
    /// itself.
    ///
    /// # Errors
    /// The file that cannot be read, and the reason.
    fn read(&mut self, path: &str, from: Option<&str>) -> Result<PipelineFile, String>;
}

/// A file with a pipeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PipelineFile {
    /// The name in messages. Paths in the file may be relative to it.
    pub name: String,
    /// A value that is equal for two paths only if they lead to the same file.
    pub identity: String,
    /// The text of the pipeline.
    pub text: String,
}

/// An error in a pipeline, and the file that contains it.
#[derive(Clone, Debug)]
pub struct PipelineError {
    /// The error.
    pub diag: Diag,
    /// The file that the spans of `diag` refer to, or `None` for the pipeline itself.
    pub file: Option<PipelineFile>,
}

/// A source that contains no files.
pub(super) struct NoFiles;

impl PipelineFiles for NoFiles {
    fn read(&mut self, path: &str, _: Option<&str>) -> Result<PipelineFile, String> {
        Err(format!("{path}: no files are read here"))
    }
}

/// The state of reading a pipeline and the files that it names.
pub(super) struct Reading<'f> {
    files: &'f mut dyn PipelineFiles,
    /// The names and identities of the files that are being read, the outermost first.
    open: Vec<(String, String)>,
    /// Number of files opened so far.
    count: usize,
    /// The file that contains the error.
    failed: Option<PipelineFile>,
    /// Names that were accepted in a different spelling: the written and the registered name.
    pub(super) respelt: Vec<(String, &'static str)>,
}

impl<'f> Reading<'f> {
    pub(super) fn new(files: &'f mut dyn PipelineFiles) -> Self {
        Self { files, open: Vec::new(), count: 0, failed: None, respelt: Vec::new() }
    }

    /// Reads a file. Until [`Reading::close`], opening the same file again is an error.
    pub(super) fn open(&mut self, path: &str) -> Result<PipelineFile, String> {
        self.count += 1;
        if self.count > MAX_FILES {
            return Err(format!("the pipeline reads more than {MAX_FILES} files"));
        }
        let from = self.open.last().map(|(name, _)| name.as_str());
        let file = self.files.read(path, from)?;
        if let Some(first) = self.open.iter().position(|(_, identity)| *identity == file.identity) {
            let way: Vec<&str> = self.open[first..].iter().map(|(name, _)| name.as_str()).collect();
            return Err(format!("a pipeline that reads itself: {} → {}", way.join(" → "), file.name));
        }
        self.open.push((file.name.clone(), file.identity.clone()));
        Ok(file)
    }

    /// Ends the reading of the most recently opened file.
    pub(super) fn close(&mut self) {
        self.open.pop();
    }

    /// Records that an error is in `file`, which is closed. Adds a note about the file that names it.
    pub(super) fn fail(&mut self, diag: Diag, file: PipelineFile) -> Diag {
        let diag = match self.open.last() {
            Some((by, _)) => diag.note(format!("`{}` is read by `{by}`", file.name)),
            None => diag,
        };
        self.failed.get_or_insert(file);
        diag
    }

    /// Returns the error with the file that contains it.
    pub(super) fn error(self, diag: Diag) -> Box<PipelineError> {
        Box::new(PipelineError { diag, file: self.failed })
    }
}
