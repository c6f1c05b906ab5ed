//! Parsing of modules: the header, the stack-frame tables, and the list of computations.

use crate::attributes::{Attribute, split};
use crate::errors::in_order;
use crate::grammar::{Rule, parse};
use crate::hints;
use crate::names::bare_name;
use crate::parser::{Defined, ModuleParser};
use crate::scan::Depth;
use crate::shape;
use crate::signature::Signature;
use crate::wrapped::thread;
use hlo_ir::attr::HloString;
use hlo_ir::blank::{TrimBlanks, is_blank};
use hlo_ir::cursor::Cursor;
use hlo_ir::diag::Diag;
use hlo_ir::names::sanitized;
use hlo_ir::rules::code;
use hlo_ir::{ComputationId, Module, Span};
use pest::iterators::Pair;
use std::collections::{HashMap, HashSet};

/// Number of bytes that are parsed at once if computations are small, because each call of the grammar has a
/// fixed cost.
const MIN_CHUNK_BYTES: usize = 1 << 15;

/// The result of parsing a text without errors.
#[derive(Debug)]
pub struct Parsed {
    /// The module.
    pub module: Module,
    /// The warnings in the order of the text, at most [`MAX_ERRORS`](crate::MAX_ERRORS).
    pub warnings: Vec<Diag>,
}

/// The part of a computation before its body.
struct Head<'t> {
    /// The computation.
    id: ComputationId,
    /// Its name, without `%`.
    name: &'t str,
    /// Its signature.
    signature: Signature<'t>,
}

impl<'t> ModuleParser<'t> {
    /// Parses the whole text.
    pub fn parse(mut self) -> Result<Parsed, Vec<Diag>> {
        if !self.scanned.fatal {
            let mut at = self.prologue();
            if self.module.name.is_empty() && !self.full() && self.is_single_instruction(at) {
                self.single_instruction(at);
                at = self.text.len();
            }
            while !self.full() && self.text[at..].trim_blanks_start() != "" {
                at = self.computations(at);
            }
            self.finish();
        }
        // If there are errors, warnings may be consequences of them.
        if self.diags.is_empty() {
            self.check_frames_of_instructions();
            Ok(Parsed { module: self.module, warnings: in_order(self.warnings, "warnings") })
        } else {
            Err(in_order(self.diags, "errors"))
        }
    }

    // ---- Before the computations
    // ---------------------------------------------------------------------------

    /// Reads the header and the tables. Returns the offset of their end.
    fn prologue(&mut self) -> usize {
        let text = self.text;
        let pair = match parse(Rule::prologue, text, 0) {
            Ok(pair) => pair,
            Err(diag) => {
                self.report(diag);
                return self.after_block(0);
            }
        };
        let mut end = 0;
        let mut tables = Vec::new();
        for part in pair.into_inner() {
            end = part.as_span().end();
            match part.as_rule() {
                Rule::header => self.header(part),
                Rule::table => self.table(part, &mut tables),
                _ => {}
            }
        }
        self.check_tables(&tables);
        // Reports a truncated header here, rather than an invalid computation later.
        let rest = text[end..].trim_blanks_start();
        let next_is_attribute = rest.starts_with(|c: char| c.is_ascii_lowercase())
            && rest.split(['{', '\n', ' ']).next().is_some_and(|w| w.contains('='));
        if end > 0 && (rest.starts_with(',') || next_is_attribute) {
            let at = text.len() - rest.len();
            let expected = "`,` and an attribute `name=value`, or a computation";
            let diag = self.blank_before_equals(at);
            self.report(diag.unwrap_or_else(|| hints::after_attributes(expected, text, at)));
            return self.next_line(at);
        }
        end
    }

    fn header(&mut self, pair: Pair<'t, Rule>) {
        let mut seen: Vec<&str> = Vec::new();
        for part in pair.into_inner() {
            if self.full() {
                break;
            }
            match part.as_rule() {
                Rule::module_name => {
                    self.check_module_name(part.as_str());
                    self.module.name = sanitized(bare_name(part.as_str())).into();
                }
                Rule::attribute => {
                    let a = split(self, part.as_str());
                    if seen.contains(&a.name) {
                        let message = format!("the module has `{}` twice", a.name);
                        let diag = Diag::error(message).with_code(code::ATTRIBUTE_TWICE);
                        self.report(diag.at(a.name_span, "given again here"));
                        continue;
                    }
                    seen.push(a.name);
                    self.module.set_header_span(a.name, a.name_span);
                    self.header_attribute(&a);
                }
                _ => {}
            }
        }
        if self.module.name.is_empty() {
            self.module.name = "module".into();
        }
    }

    // ---- Computations --------------------------------------------------------------------------------------

    /// Reads the computation at `at`, and small ones after it. Returns the offset of their end.
    fn computations(&mut self, at: usize) -> usize {
        let text = self.text;
        let start = text.len() - text[at..].trim_blanks_start().len();
        let second = text[start..]
            .strip_prefix("HloModule")
            .filter(|r| r.starts_with(|c: char| u8::try_from(c).is_ok_and(is_blank)));
        if second.is_some() && !self.module.name.is_empty() {
            let diag = Diag::error("a second module starts here")
                .with_code(code::MODULE_TWICE)
                .at(Span::new(start, start + 9), "");
            let note =
                "modules of one text are separated by lines `// -----`, and read with --split-input-file";
            self.report(diag.note(note));
            return text.len();
        }
        if let Ok(pair) = parse(Rule::computations, &text[start..self.chunk_end(start)], start) {
            let end = start + pair.as_span().end();
            for computation in pair.into_inner() {
                if self.full() {
                    break;
                }
                self.build_computation(computation);
            }
            return end;
        }
        match parse(Rule::computation, &text[start..], start) {
            Ok(pair) => {
                let end = start + pair.as_span().end();
                self.build_computation(pair);
                end
            }
            Err(diag) => self.recover_computation(start, diag),
        }
    }

    /// Returns the end of a sequence of whole computations that begins at `start`.
    fn chunk_end(&self, start: usize) -> usize {
        let ends = &self.scanned.top_level_ends;
        let first = ends.partition_point(|&end| end < start + MIN_CHUNK_BYTES);
        // A comma introduces an attribute of the computation.
        let ends_there = |&end: &usize| !self.text[end..].trim_blanks_start().starts_with(',');
        ends[first..].iter().map(|end| end + 1).find(ends_there).unwrap_or(self.text.len())
    }

    fn build_computation(&mut self, pair: Pair<'t, Rule>) {
        let mut current: Option<Head<'t>> = None;
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::computation_head => current = Some(self.computation_head(part)),
                Rule::body => {
                    if let Some(head) = &current {
                        self.body(head.id, part, Some(&head.signature));
                        self.mark_complete(head.name);
                    }
                }
                Rule::execution_thread => {
                    if let Some(head) = &current {
                        let a = split(self, part.as_str());
                        self.module[head.id].execution_thread = self.execution_thread(&a);
                    }
                }
                _ => {}
            }
        }
    }

    /// Returns the value of a computation's `execution_thread`; `None` for the main thread.
    fn execution_thread(&mut self, a: &Attribute<'t>) -> Option<HloString> {
        let mut reader = self.names.reader(a.value, a.value_span.start as usize, &[]);
        match reader.string().and_then(|s| reader.expect_end().map(|()| s)) {
            Ok(given) => thread(Some(&given)),
            Err(e) => {
                let diag = self.attribute_error(e, a);
                self.report(diag);
                None
            }
        }
    }

    /// Reads the head of a computation and defines the computation.
    fn computation_head(&mut self, pair: Pair<'t, Rule>) -> Head<'t> {
        let mut entry = None;
        let mut name = "";
        let mut signature = Signature::default();
        for part in pair.into_inner() {
            let span = self.span_of(part.as_str());
            match part.as_rule() {
                Rule::entry => entry = Some(span),
                Rule::computation_name => name = part.as_str(),
                Rule::parameter_list => signature.parameters = self.declared_parameters(span),
                Rule::shape_token => {
                    let mut c = Cursor::new(self.source_at(span), span.start as usize);
                    match shape::read(&mut c) {
                        Ok(s) => signature.result = Some((s, span)),
                        Err(diag) => self.report(diag),
                    }
                }
                _ => {}
            }
        }
        let id = self.define(name);
        if let Some(span) = entry {
            match self.entry {
                Some((_, first)) => self.report(
                    Diag::error("the module has two entry computations")
                        .with_code(code::ENTRY_TWICE)
                        .at(span, "the second one")
                        .and(first, "the first one"),
                ),
                None => self.entry = Some((id, span)),
            }
        }
        Head { id, name: bare_name(name), signature }
    }

    /// Adds a computation with the name in the text, with or without `%`.
    fn define(&mut self, written: &'t str) -> ComputationId {
        let name = bare_name(written);
        let span = self.span_of(written);
        self.check_name(written);
        let id = self.module.add_computation(name);
        match self.names.0.get(name).map(|d| d.span) {
            Some(first) => self.report(
                Diag::error(format!("computation `{name}` is defined twice"))
                    .with_code(code::COMPUTATION_TWICE)
                    .at(span, "defined again here")
                    .and(first, "first defined here"),
            ),
            None => {
                self.names.0.insert(name, Defined { id, span, complete: false });
            }
        }
        id
    }

    /// Marks a computation as complete, so that it can be called.
    fn mark_complete(&mut self, name: &'t str) {
        if let Some(defined) = self.names.0.get_mut(name) {
            defined.complete = true;
        }
    }

    /// Recovers from a computation that does not parse. `diag` is the syntax error. Returns the offset of its
    /// end.
    fn recover_computation(&mut self, start: usize, diag: Diag) -> usize {
        let text = self.text;
        let head = match parse(Rule::computation_head, &text[start..], start) {
            Ok(head) => head,
            Err(diag) => {
                // For example, the rest of an invalid table. One error is enough for all of it.
                let end = self.next_computation(self.next_block(start));
                if self.is_broken(start..end) {
                    return end;
                }
                let nothing_before =
                    self.module.name.is_empty() && self.module.computations().next().is_none();
                let diag = Some(diag).filter(|_| !nothing_before);
                self.report(hints::module(diag, text, start));
                return end;
            }
        };
        let end = self.after_block(start);
        let open = start + head.as_span().end();
        let open = text[open..].find('{').map_or(end, |n| open + n);
        let Head { id, name, signature } = self.computation_head(head);
        // The scan found the end of the computation, even if brackets inside are unclosed.
        let is_closed = self.scanned.top_level_ends.binary_search(&(end - 1)).is_ok();
        let close = (end - usize::from(is_closed)).max(open);
        let before = self.diags.len();
        // In a truncated body, the last instruction is not the root.
        self.recover_body(id, open, close, Some(&signature).filter(|_| is_closed));
        self.mark_complete(name);
        if self.diags.len() == before && !self.is_broken(start..end) {
            // All instructions are valid, so the error is in the text around them.
            self.report(diag);
        }
        end
    }

    /// Returns the offset at or after `at` where a computation may start: outside of all brackets, at the
    /// start of a line or after a block. Returns the end of the text if there is none.
    fn next_computation(&self, mut at: usize) -> usize {
        while at < self.text.len() {
            let start = self.text.len() - self.text[at..].trim_blanks_start().len();
            if parse(Rule::computation_head, &self.text[start..], start).is_ok() {
                return at;
            }
            at = self.next_block(start);
        }
        at
    }

    /// Returns the end of the line that contains `at`, or of the block that starts on that line.
    fn next_block(&self, at: usize) -> usize {
        let line = self.next_line(at);
        let mut depth = Depth::default();
        depth.count(&self.text[at..line]);
        if depth.0 == 0 { line } else { self.after_block(at) }
    }

    // ---- The end -------------------------------------------------------------------------------------------

    /// Sets the entry and names the unnamed computations.
    fn finish(&mut self) {
        let unnamed: HashSet<ComputationId> = self.unnamed.iter().map(|&(id, _)| id).collect();
        let last = self.module.computations().filter(|c| !unnamed.contains(c)).last();
        match self.entry.map(|(id, _)| id).or(last) {
            Some(id) => {
                self.module.set_entry(id);
                if self.module.name.is_empty() {
                    self.module.name = format!("module_{}", self.module[id].name).into();
                }
            }
            None => {
                // If the text is blank, for example one of several parts of a file, the error is at its end.
                let ends = [self.text.trim_blanks_end().len(), self.source.trim_blanks_end().len()];
                let end = ends.into_iter().find(|&end| end > 0).unwrap_or(self.source.len());
                let start = hlo_ir::floor_char_boundary(self.source, end.saturating_sub(1));
                let place = Span::new(start, end);
                let message = if self.text.trim_blanks().is_empty() {
                    "the text is empty: expected a module, which starts with `HloModule`"
                } else {
                    "the module has no computation"
                };
                if self.diags.is_empty() {
                    self.report(Diag::error(message).with_code(code::NO_COMPUTATION).at(place, ""));
                }
            }
        }
        self.spread_threads();
        if self.diags.is_empty() && !self.chains.is_empty() {
            self.module.spread_async_attributes();
        }
        if unnamed.is_empty() {
            return;
        }
        // The number of uses of each name. Names in the text are used once.
        let mut given: HashMap<String, usize> = self.names.0.keys().map(|&n| (n.to_owned(), 1)).collect();
        // The entry of a single instruction has a name, but the text cannot refer to it.
        given.extend(self.entry.map(|(id, _)| (self.module[id].name.to_string(), 1)));
        // Like XLA, names computations in the order in which they are complete: inner ones first.
        let mut bases: HashMap<ComputationId, String> =
            std::mem::take(&mut self.unnamed).into_iter().collect();
        for (id, base) in
            self.module.completion_order().into_iter().filter_map(|id| Some((id, bases.remove(&id)?)))
        {
            let mut name = base.clone();
            while given.contains_key(&name) {
                // `base`, `base.1`, `base.2`, …: the count for `base` is the next suffix.
                let n = given.entry(base.clone()).or_insert(1);
                name = format!("{base}.{n}");
                *n += 1;
            }
            given.insert(name.clone(), 1);
            self.module[id].name = name.into();
        }
    }
}
