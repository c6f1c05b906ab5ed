//! Checks texts on a separate thread.

use crate::diagnostics::{Checked, MAX_DIAGNOSTICS};
use crate::language::Language;
use crate::text::Text;
use lsp_types::Uri;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

/// Stack size for parsers. Where brackets nest deeper, the parsers allocate more stack themselves.
pub const PARSER_STACK_BYTES: usize = 64 << 20;

/// A text to check.
pub struct Job {
    /// The document.
    pub uri: Uri,
    /// Its language.
    pub language: Language,
    /// The number of the document's state.
    pub state: u64,
    /// The text.
    pub text: Arc<Text>,
}

/// The results of checking a document.
pub struct Report {
    /// The document.
    pub uri: Uri,
    /// The number of the document's state when it was checked.
    pub state: u64,
    /// The results.
    pub checked: Checked,
}

/// Starts the thread. It passes its results to `report`, and ends when the sender of jobs is dropped or
/// `report` returns false.
pub fn start(report: impl Fn(Report) -> bool + Send + 'static) -> Sender<Job> {
    let (jobs, received) = channel::<Job>();
    let work = move || {
        for Job { uri, language, state, text } in received {
            let mut checked = language.check(&uri, text.as_str());
            checked.found.truncate(MAX_DIAGNOSTICS);
            // The main thread can change the text without a copy only if it is not shared.
            drop(text);
            if !report(Report { uri, state, checked }) {
                return;
            }
        }
    };
    if let Err(e) =
        std::thread::Builder::new().name("check".into()).stack_size(PARSER_STACK_BYTES).spawn(work)
    {
        eprintln!("hlo-lsp: no diagnostics: {e}");
    }
    jobs
}
