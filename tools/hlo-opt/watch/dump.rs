//! `--dump-dir`: writes a file after each pass that changes the module, with XLA's file names:
//! `module_0000.NAME.0001.PIPELINE.after_PASS.txt`.

use hlo_ir::Module;
use hlo_ir::print::{PrintOptions, print_module};
use hlo_tools_common::{Failure, write_file};
use std::io::Write as _;
use std::path::PathBuf;

/// The name of a pipeline without a name.
const UNNAMED: &str = "pipeline";

/// Maximum length of a module name in a file name.
const MAX_NAME: usize = 100;

/// The folder and the state of the dump.
pub struct Dump {
    dir: PathBuf,
    options: PrintOptions,
    /// The numbers of the next module and of its next file.
    module: usize,
    file: usize,
    /// The first write error. No file is written after it.
    failed: Option<Failure>,
}

impl Dump {
    /// Creates the folder if it does not exist.
    pub fn new(dir: &str, options: &PrintOptions) -> Result<Self, Failure> {
        let path = PathBuf::from(dir);
        std::fs::create_dir_all(&path)
            .map_err(|e| Failure::file(dir, format!("can't make the folder: {e}")))?;
        Ok(Self { dir: path, options: options.clone(), module: 0, file: 0, failed: None })
    }

    /// Starts a module. The first file contains the module before all passes.
    pub fn begin(&mut self, module: &Module) {
        self.module += 1;
        self.file = 0;
        self.after(None, "pipeline-start", module);
    }

    /// Writes the module after a pass.
    pub fn after(&mut self, pipeline: Option<&str>, pass: &str, module: &Module) {
        if self.failed.is_some() {
            return;
        }
        let name = file_name(self.module.saturating_sub(1), &module.name, self.file, pipeline, pass);
        self.file += 1;
        let text = print_module(module, &self.options);
        let written = write_file(&self.dir.join(name), |file| file.write_all(text.as_bytes()));
        self.failed = written.err();
    }

    /// Returns the first write error.
    pub fn finish(self) -> Result<(), Failure> {
        self.failed.map_or(Ok(()), Err)
    }
}

fn file_name(module: usize, name: &str, file: usize, pipeline: Option<&str>, pass: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.') { c } else { '_' };
    let name: String = name.chars().take(MAX_NAME).map(plain).collect();
    format!("module_{module:04}.{name}.{file:04}.{}.after_{pass}.txt", pipeline.unwrap_or(UNNAMED))
}

#[cfg(test)]
mod tests {
    use super::file_name;

    #[test]
    fn names_are_those_of_xla() {
        assert_eq!(file_name(0, "jit_f", 12, Some("cpu"), "dce"), "module_0000.jit_f.0012.cpu.after_dce.txt");
        assert_eq!(file_name(1, "../a b", 0, None, "dce"), "module_0001..._a_b.0000.pipeline.after_dce.txt");
    }
}
