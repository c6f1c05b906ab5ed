//! The session: the event queue, the open documents, and the dispatch of messages.
//!
//! One thread answers requests, one reads the input, one checks texts. A check starts when the editor pauses.
//! Its result is discarded if the text has changed since.

use crate::answer::{Answer, error};
use crate::check::{self, Job, Report};
use crate::client::Client;
use crate::document::Document;
use crate::language::Language;
use crate::requests::Requests;
use crate::semantic;
use crate::transport::{self, Incoming};
use lsp_server::{ErrorCode, Message, Notification, Request, RequestId};
use lsp_types::notification::{self as notice, Notification as _};
use lsp_types::request::{self, Request as _};
use lsp_types::*;
use serde_json::json;
use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// The pause in editing before a text is checked.
const CHECK_DELAY: Duration = Duration::from_millis(80);

/// An event for the main thread.
pub enum Event {
    /// A message was read.
    Incoming(Incoming),
    /// The input has ended.
    Closed,
    /// A check has finished.
    Checked(Report),
}

/// The stage of the session.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Starting,
    Running,
    ShutDown,
}

/// The server.
pub struct Server {
    events: Receiver<Event>,
    jobs: Sender<Job>,
    /// The events that were received but not processed.
    queue: VecDeque<Event>,
    documents: BTreeMap<String, Document>,
    client: Client,
    stage: Stage,
    /// The number of the last state of a document.
    state: u64,
    /// The documents to check, with the time of their last change.
    dirty: BTreeMap<String, Instant>,
    /// Whether a check is running.
    busy: bool,
    /// Whether the editor has closed the server's output.
    deaf: bool,
}

impl Server {
    /// Creates a server on standard input and output.
    pub fn new() -> Self {
        let (sender, events) = channel();
        let reports = sender.clone();
        let jobs = check::start(move |report| reports.send(Event::Checked(report)).is_ok());
        std::thread::spawn(move || read_input(&sender));
        Self {
            events,
            jobs,
            queue: VecDeque::new(),
            documents: BTreeMap::new(),
            client: Client::default(),
            stage: Stage::Starting,
            state: 0,
            dirty: BTreeMap::new(),
            busy: false,
            deaf: false,
        }
    }

    /// Runs until the editor ends the session.
    pub fn run(mut self) -> ExitCode {
        loop {
            let Some(event) = self.next_event() else { continue };
            let done = match event {
                Event::Incoming(Incoming::Message(message)) => self.message(message),
                Event::Incoming(Incoming::Malformed(answer)) => {
                    self.write(&answer);
                    false
                }
                Event::Checked(report) => {
                    self.checked(report);
                    false
                }
                Event::Closed => true,
            };
            if done || self.deaf {
                return if self.stage == Stage::ShutDown { ExitCode::SUCCESS } else { ExitCode::FAILURE };
            }
        }
    }

    // ---- Waiting -------------------------------------------------------------------------------------------

    /// Returns the next event, or `None` if a check was started instead.
    fn next_event(&mut self) -> Option<Event> {
        self.queue.extend(self.events.try_iter());
        if let Some(event) = self.queue.pop_front() {
            return Some(event);
        }
        let oldest = if self.busy { None } else { self.dirty.iter().min_by_key(|(_, since)| **since) };
        let Some((uri, since)) = oldest else {
            return Some(self.events.recv().unwrap_or(Event::Closed));
        };
        match self.events.recv_timeout(CHECK_DELAY.saturating_sub(since.elapsed())) {
            Ok(event) => Some(event),
            Err(RecvTimeoutError::Disconnected) => Some(Event::Closed),
            Err(RecvTimeoutError::Timeout) => {
                let uri = uri.clone();
                self.dirty.remove(&uri);
                if let Some(d) = self.documents.get(&uri) {
                    let job = Job {
                        uri: d.uri.clone(),
                        language: d.language,
                        state: d.state,
                        text: d.text.clone(),
                    };
                    self.busy = self.jobs.send(job).is_ok();
                }
                None
            }
        }
    }

    fn checked(&mut self, report: Report) {
        self.busy = false;
        let Some(d) = self.documents.get_mut(report.uri.as_str()) else { return };
        if d.state != report.state {
            return;
        }
        d.set_checked(report.checked);
        let d = &*d;
        let diagnostics =
            d.found().iter().map(|f| d.diagnostic(f, self.client.related_information)).collect();
        let params = PublishDiagnosticsParams::new(d.uri.clone(), diagnostics, Some(d.version));
        self.notify::<notice::PublishDiagnostics>(params);
    }

    // ---- Writing -------------------------------------------------------------------------------------------

    fn write(&mut self, message: &str) {
        self.deaf |= transport::write(&mut std::io::stdout().lock(), message).is_err();
    }

    fn notify<N: notice::Notification>(&mut self, params: N::Params) {
        match serde_json::to_string(&params) {
            Ok(params) => self.write(&transport::notification(N::METHOD, &params)),
            // The protocol's own types can always be serialized.
            Err(e) => eprintln!("hlo-lsp: {e}"),
        }
    }

    fn answer(&mut self, id: &RequestId, answer: Answer<String>) {
        self.write(&transport::response(id, answer));
    }

    // ---- Reading -------------------------------------------------------------------------------------------

    /// Handles a message. Returns true if it ends the session.
    fn message(&mut self, message: Message) -> bool {
        match message {
            Message::Request(request) => {
                let id = request.id.clone();
                let answer = self.request(request);
                self.answer(&id, answer);
            }
            Message::Notification(n) if n.method == notice::Exit::METHOD => return true,
            Message::Notification(n) => {
                // Notifications before `initialize` and after `shutdown` are ignored.
                if self.stage == Stage::Running {
                    self.notification(n);
                }
            }
            // The server sends no requests.
            Message::Response(_) => {}
        }
        false
    }

    fn notification(&mut self, n: Notification) {
        match n.method.as_str() {
            notice::DidOpenTextDocument::METHOD => {
                if let Some(p) = params::<notice::DidOpenTextDocument>(n) {
                    let p = p.text_document;
                    let key = p.uri.as_str().to_owned();
                    let language = Language::of(&p.language_id, &p.uri);
                    let document = Document::new(p.uri, language, p.version, self.mark_changed(&key), p.text);
                    self.documents.insert(key, document);
                }
            }
            notice::DidChangeTextDocument::METHOD => {
                if let Some(p) = params::<notice::DidChangeTextDocument>(n) {
                    let key = p.text_document.uri.as_str().to_owned();
                    let state = self.mark_changed(&key);
                    if let Some(d) = self.documents.get_mut(&key) {
                        d.change(p.text_document.version, state, p.content_changes);
                    }
                }
            }
            notice::DidCloseTextDocument::METHOD => {
                if let Some(p) = params::<notice::DidCloseTextDocument>(n) {
                    let uri = p.text_document.uri;
                    self.dirty.remove(uri.as_str());
                    if self.documents.remove(uri.as_str()).is_some() {
                        let none = PublishDiagnosticsParams::new(uri, Vec::new(), None);
                        self.notify::<notice::PublishDiagnostics>(none);
                    }
                }
            }
            notice::Cancel::METHOD => {
                if let Some(p) = params::<notice::Cancel>(n) {
                    self.cancel(&match p.id {
                        NumberOrString::Number(id) => id.into(),
                        NumberOrString::String(id) => id.into(),
                    });
                }
            }
            // Nothing depends on `initialized`, `$/setTrace`, saved files or configuration.
            _ => {}
        }
    }

    /// Marks a document as new or changed. Returns the number of its state.
    fn mark_changed(&mut self, key: &str) -> u64 {
        self.dirty.insert(key.to_owned(), Instant::now());
        self.state += 1;
        self.state
    }

    /// Cancels a request in the queue.
    fn cancel(&mut self, id: &RequestId) {
        self.queue.extend(self.events.try_iter());
        let is_it =
            |e: &Event| matches!(e, Event::Incoming(Incoming::Message(Message::Request(r))) if r.id == *id);
        if let Some(at) = self.queue.iter().position(is_it) {
            self.queue.remove(at);
            self.answer(id, Err(error(ErrorCode::RequestCanceled, "cancelled")));
        }
    }

    // ---- Requests ------------------------------------------------------------------------------------------

    fn request(&mut self, r: Request) -> Answer<String> {
        match (self.stage, r.method.as_str()) {
            (Stage::Starting, request::Initialize::METHOD) => self.initialize(r),
            (Stage::Starting, _) => Err(error(ErrorCode::ServerNotInitialized, "not initialized yet")),
            (Stage::ShutDown, _) => Err(error(ErrorCode::InvalidRequest, "the server has been shut down")),
            (Stage::Running, request::Initialize::METHOD) => {
                Err(error(ErrorCode::InvalidRequest, "initialized already"))
            }
            (Stage::Running, request::Shutdown::METHOD) => {
                self.stage = Stage::ShutDown;
                Ok("null".into())
            }
            (Stage::Running, _) => {
                let requests = Requests { documents: &self.documents, client: &self.client };
                let failed = |_| Err(error(ErrorCode::InternalError, "a defect in hlo-lsp"));
                // A defect must not end the editor's session. Requests do not change any state.
                catch_unwind(AssertUnwindSafe(|| requests.answer(r))).unwrap_or_else(failed)
            }
        }
    }

    fn initialize(&mut self, r: Request) -> Answer<String> {
        let p: InitializeParams = serde_json::from_value(r.params)
            .map_err(|e| error(ErrorCode::InvalidParams, format!("initialize: {e}")))?;
        let text = p.capabilities.text_document.unwrap_or_default();
        let item = text.completion.and_then(|c| c.completion_item);
        self.client = Client {
            snippets: item.and_then(|i| i.snippet_support).unwrap_or(false),
            nested_symbols: text
                .document_symbol
                .and_then(|s| s.hierarchical_document_symbol_support)
                .unwrap_or(false),
            related_information: text
                .publish_diagnostics
                .and_then(|d| d.related_information)
                .unwrap_or(false),
            code_actions: text.code_action.is_some_and(|c| c.code_action_literal_support.is_some()),
        };
        self.stage = Stage::Running;
        let info = json!({ "name": "hlo-lsp", "version": env!("CARGO_PKG_VERSION") });
        Ok(json!({ "capabilities": capabilities(), "serverInfo": info }).to_string())
    }
}

/// Parses the parameters of a notification. An invalid one is ignored, because notifications have no answer.
fn params<N: notice::Notification>(n: Notification) -> Option<N::Params> {
    serde_json::from_value(n.params).inspect_err(|e| eprintln!("hlo-lsp: {}: {e}", n.method)).ok()
}

/// Forwards messages from standard input.
fn read_input(events: &Sender<Event>) {
    let mut input = std::io::stdin().lock();
    loop {
        let event = match transport::read(&mut input) {
            Ok(Some(incoming)) => Event::Incoming(incoming),
            Ok(None) => Event::Closed,
            Err(e) => {
                eprintln!("hlo-lsp: standard input: {e}");
                Event::Closed
            }
        };
        let ended = matches!(event, Event::Closed);
        if events.send(event).is_err() || ended {
            return;
        }
    }
}

/// Returns the capabilities of the server.
fn capabilities() -> ServerCapabilities {
    ServerCapabilities {
        position_encoding: Some(PositionEncodingKind::UTF16),
        text_document_sync: Some(TextDocumentSyncCapability::Options(TextDocumentSyncOptions {
            open_close: Some(true),
            change: Some(TextDocumentSyncKind::INCREMENTAL),
            ..TextDocumentSyncOptions::default()
        })),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some(
                Language::ALL.iter().flat_map(|l| l.triggers()).map(|&c| c.to_owned()).collect(),
            ),
            ..CompletionOptions::default()
        }),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        document_highlight_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        document_formatting_provider: Some(OneOf::Left(true)),
        code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
            code_action_kinds: Some(vec![CodeActionKind::QUICKFIX]),
            ..CodeActionOptions::default()
        })),
        semantic_tokens_provider: Some(
            SemanticTokensOptions {
                legend: semantic::legend(),
                range: Some(true),
                full: Some(SemanticTokensFullOptions::Bool(true)),
                ..SemanticTokensOptions::default()
            }
            .into(),
        ),
        folding_range_provider: Some(FoldingRangeProviderCapability::Simple(true)),
        rename_provider: Some(OneOf::Right(RenameOptions {
            prepare_provider: Some(true),
            work_done_progress_options: WorkDoneProgressOptions::default(),
        })),
        ..ServerCapabilities::default()
    }
}
