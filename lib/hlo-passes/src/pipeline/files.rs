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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Pipeline;
    use std::collections::HashMap;

    /// Files by name, all in one folder.
    struct Map(HashMap<&'static str, String>);

    impl PipelineFiles for Map {
        fn read(&mut self, path: &str, _: Option<&str>) -> Result<PipelineFile, String> {
            let text = self.0.get(path).ok_or_else(|| format!("{path}: no such file"))?.clone();
            Ok(PipelineFile { name: path.to_owned(), identity: path.to_owned(), text })
        }
    }

    fn parse(text: &str, files: &[(&'static str, &str)]) -> Result<Pipeline, Box<PipelineError>> {
        let files = files.iter().map(|&(name, text)| (name, text.to_owned())).collect();
        Pipeline::parse_with_files(text, &mut Map(files))
    }

    fn error(text: &str, files: &[(&'static str, &str)]) -> PipelineError {
        *parse(text, files).err().unwrap_or_else(|| panic!("{text} should be refused"))
    }

    #[test]
    fn files_stand_beside_passes_and_inside_of_others() {
        let files =
            [("a", "# first\nalgsimp\n@b # more\ncse"), ("b", "dce"), ("none", "# nothing"), ("c d", "dce")];
        let names = |text: &str| parse(text, &files).unwrap_or_else(|e| panic!("{e:?}")).pass_names();
        assert_eq!(names("@a"), ["algsimp", "dce", "cse"]);
        assert_eq!(names("cse,@b,fix{limit=2}(@a,@b)"), ["cse", "dce", "algsimp", "dce", "cse", "dce"]);
        assert_eq!(names("@none,dce,@none"), ["dce"]);
        assert_eq!(names("@\"c d\",cse"), ["dce", "cse"]);
    }

    #[test]
    fn errors_are_in_the_file_that_has_them() {
        let files = [("a", "dce\n@b"), ("b", "cse,dse"), ("c", "dce,@gone"), ("d", "dce)")];
        let e = error("dce,@a", &files);
        let file = e.file.expect("a file");
        assert_eq!((file.name.as_str(), &file.text[e.diag.labels[0].span.range()]), ("b", "dse"));
        assert!(e.diag.notes.contains(&"`b` is read by `a`".to_owned()), "{:?}", e.diag.notes);
        let e = error("@c", &files);
        let file = e.file.expect("a file");
        assert_eq!(e.diag.message, "gone: no such file");
        assert_eq!((file.name.as_str(), &file.text[e.diag.labels[0].span.range()]), ("c", "@gone"));
        assert_eq!(error("fix(@d)", &files).file.map(|f| f.name).as_deref(), Some("d"));
        for (text, marked) in [
            ("dce,@gone", "@gone"),
            ("@", ""),
            ("dce,@\"a", ""),
            ("@a{x=1}", "x"),
            ("@a @b", "@"),
            ("@\"gone\"", "@\"gone\""),
        ] {
            let e = error(text, &[("a", "dce"), ("b", "dce")]);
            assert!(e.file.is_none());
            assert_eq!(&text[e.diag.labels[0].span.range()], marked);
        }
    }

    #[test]
    fn cycles_depth_and_numbers_are_limited() {
        let e = error("dce,@a", &[("a", "@b"), ("b", "dce,@c"), ("c", "fix(@a)")]);
        assert_eq!(e.diag.message, "a pipeline that reads itself: a → b → c → a");
        assert_eq!(e.file.map(|f| f.name).as_deref(), Some("c"));
        // Naming a file twice in sequence is not a cycle.
        assert!(parse("@a,@a", &[("a", "@b,@b"), ("b", "dce")]).is_ok());
        // Each file names the next one twice.
        const NAMES: [&str; 26] = [
            "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s",
            "t", "u", "v", "w", "x", "y", "z",
        ];
        let texts: Vec<String> = NAMES[1..].iter().map(|next| format!("@{next},@{next}")).collect();
        let mut files: Vec<(&'static str, &str)> =
            NAMES.iter().copied().zip(texts.iter().map(String::as_str)).collect();
        files.push(("z", "dce"));
        assert!(error("@a", &files).diag.message.contains("more than 1000 files"));
        let deep = format!("{}@a{}", "fix(".repeat(20), ")".repeat(20));
        let e = error(&deep, &files);
        assert!(e.diag.labels[0].message.contains("nested more than 32 deep"), "{e:?}");
        assert!(Pipeline::parse("@a").err().is_some_and(|d| d.message == "a: no files are read here"));
    }
}
