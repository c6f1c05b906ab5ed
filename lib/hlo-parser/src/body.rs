//! Parsing of a computation's body: its instructions in order, their names, and the root.

use crate::attributes::AttributeTokens;
use crate::grammar::{Rule, parse, syntax_error};
use crate::hints;
use crate::instruction::InstructionText;
use crate::line_starts::{defines_instruction, starts_entry, starts_instruction};
use crate::names::opcode_or_asynchronous;
use crate::parser::{Body, ModuleParser, Slot};
use crate::scan::{Depth, matching};
use crate::signature::Signature;
use crate::syntax::ScannedText;
use hlo_ir::blank::TrimBlanks;
use hlo_ir::cursor::token_at;
use hlo_ir::diag::Diag;
use hlo_ir::rules::code;
use hlo_ir::{ComputationId, InstrId, Span};
use pest::iterators::Pair;
use std::collections::HashMap;

impl<'t> ModuleParser<'t> {
    /// Builds a body that the grammar has parsed.
    pub fn body(&mut self, id: ComputationId, pair: Pair<'t, Rule>, signature: Option<&Signature<'t>>) {
        let span = self.span_of(pair.as_str());
        let end = span.end as usize;
        let mut body = Body::new(id, end);
        body.names = std::mem::take(&mut self.spare_names);
        let mut parts = pair.into_inner();
        let mut next = parts.next();
        while let Some(found) = next {
            let statement = found.as_str();
            let span = self.span_of(statement);
            let start = span.start as usize;
            let mut end_of_text = span.end as usize;
            let mut attributes = AttributeTokens::new();
            next = parts.next();
            while let Some(attribute) = next.take_if(|p| p.as_rule() != Rule::statement) {
                let token = self.attribute_token(attribute);
                end_of_text = self.span_of(token).end as usize;
                attributes.push(token);
                next = parts.next();
            }
            let text = &self.text[start..end_of_text];
            let before = self.diags.len();
            let written = InstructionText { text, statement, attributes };
            if self.instruction(written, &mut body).is_err() {
                // Reads the rest of the body instruction by instruction, because the statement may contain
                // the next instructions.
                self.diags.truncate(before);
                self.recover_from(start, &mut body, end - 1);
                break;
            }
            // An error at an instruction with an unmatched bracket is a consequence of the bracket.
            if self.diags.len() > before && self.is_broken(start..end_of_text) {
                self.diags.truncate(before);
            }
            if self.full() {
                break;
            }
        }
        // Most bodies are small, so their map is reused. A large map is not: clearing takes time for its
        // whole capacity.
        self.finish_body(&mut body, signature);
        if body.names.capacity() <= 512 {
            body.names.clear();
            self.spare_names = body.names;
        }
    }

    /// Reads the inline body with braces at `open` and `close`, which the grammar has not parsed.
    pub fn inline_body(&mut self, id: ComputationId, open: usize, close: usize) {
        let text = self.text;
        match parse(Rule::body, &text[open..=close], open) {
            Ok(pair) => self.body(id, pair, None),
            Err(_) => self.recover_body(id, open, close, None),
        }
    }

    /// Reads a body that does not parse as a whole, instruction by instruction. Reports each error.
    pub fn recover_body(
        &mut self,
        id: ComputationId,
        open: usize,
        close: usize,
        signature: Option<&Signature<'t>>,
    ) {
        let mut body = Body::new(id, close);
        self.recover_from(open + 1, &mut body, close);
        self.finish_body(&mut body, signature);
    }

    /// Reads the rest of a body from `at` on, instruction by instruction.
    fn recover_from(&mut self, at: usize, body: &mut Body<'t>, close: usize) {
        let text = &self.text[..close];
        let skip = |at: usize| text.len() - text[at.min(close)..].trim_blanks_start().len();
        let mut at = skip(at);
        while at < close && !self.full() {
            if starts_entry(&text[at..]) {
                // Either this brace is unclosed, or one is missing here and there is an extra one later.
                if !self.is_broken(0..text.len()) {
                    self.report(syntax_error("`}` before the next computation", text, at, 0));
                }
                body.failed = true;
                return;
            }
            // Always advances, whatever the instruction is.
            at = skip(self.instruction_at(at, body, close).max(at + 1));
        }
    }

    /// Reads the instruction at `at` in a body that ends at `close`. Returns the offset where reading
    /// continues.
    fn instruction_at(&mut self, at: usize, body: &mut Body<'t>, close: usize) -> usize {
        let text = &self.text[..close];
        let mut exact = ScannedText::new(text, at);
        let end = match exact.skip_to_attributes(true) {
            Ok(()) => exact.c.offset(),
            Err(diag) => match self.end_of_statement(&exact, at, close) {
                Some(end) => end,
                None => return self.no_instruction(*diag, &exact, at, body, close),
            },
        };
        let written = self.with_attributes(&self.text[at..end], close);
        let before = self.diags.len();
        let end = at + written.text.len();
        let next = text.len() - text[end..].trim_blanks_start().len();
        if let Some(diag) = self.blank_before_equals(next) {
            self.report(diag);
            self.poison(body, &text[at..]);
            return self.next_instruction(next, close);
        }
        if let Err(diag) = self.instruction(written, body) {
            self.diags.truncate(before);
            self.report_malformed(*diag, at, body);
            self.poison(body, &text[at..]);
        }
        let resume = self.after_instruction(end, next, close, before);
        // An error at an instruction with an unmatched bracket is a consequence of the bracket.
        if self.is_broken(at..resume.max(end)) {
            self.diags.truncate(before);
            body.failed = true;
        }
        resume
    }

    /// Returns the end of the statement at `at`, which has an invalid shape. The grammar finds the end.
    /// Returns `None` if that would include the next instruction.
    fn end_of_statement(&self, exact: &ScannedText<'t>, at: usize, close: usize) -> Option<usize> {
        if !exact.has_wrong_shape {
            return None;
        }
        let end = at + parse(Rule::statement, &self.text[at..close], at).ok()?.as_str().len();
        (self.next_instruction(at, end) == end).then_some(end)
    }

    /// Reports that there is no instruction at `at`. `diag` is the error of `exact`. Returns the offset where
    /// reading continues.
    fn no_instruction(
        &mut self,
        diag: Diag,
        exact: &ScannedText<'t>,
        at: usize,
        body: &mut Body<'t>,
        close: usize,
    ) -> usize {
        let next = self.next_instruction(at, close);
        let wrong = exact.opcode.filter(|o| opcode_or_asynchronous(o).is_none());
        match wrong.map(|opcode| (opcode, self.span_of(opcode))) {
            // An unknown opcode takes precedence over an error in its parentheses.
            Some((opcode, span)) => {
                if !self.is_broken(at..matching(self.text, span.end as usize) + 1) {
                    self.report(hints::unknown_opcode(opcode, span));
                }
            }
            None if self.is_broken(at..next) => {}
            None => self.report_malformed(diag, at, body),
        }
        self.poison(body, &self.text[at..close]);
        next
    }

    /// Returns the instruction that starts with `statement`, with the attributes that follow it before
    /// `close`.
    pub fn with_attributes(&mut self, statement: &'t str, close: usize) -> InstructionText<'t> {
        let Span { start, end } = self.span_of(statement);
        let rest = self.text[end as usize..close].trim_blanks_start();
        let mut written = InstructionText { text: statement, statement, attributes: AttributeTokens::new() };
        // There may be no attributes: the rule also matches an empty text.
        for attribute in parse(Rule::attributes, rest, 0).into_iter().flat_map(Pair::into_inner) {
            let token = self.attribute_token(attribute);
            written.attributes.push(token);
            written.text = &self.text[start as usize..self.span_of(token).end as usize];
        }
        written
    }

    /// Returns the text of an attribute, and keeps the inline bodies that have been parsed in it.
    fn attribute_token(&mut self, pair: Pair<'t, Rule>) -> &'t str {
        let token = pair.as_str().trim_blanks_end();
        if pair.as_rule() == Rule::calling_attribute {
            for body in pair.into_inner().filter(|p| p.as_rule() == Rule::body) {
                let start = self.span_of(body.as_str()).start;
                self.inline_bodies.insert(start, body);
            }
        }
        token
    }

    /// Reports why the instruction at `at` does not parse, unless another error already explains it.
    pub fn report_malformed(&mut self, diag: Diag, at: usize, body: &Body<'t>) {
        let text = self.text;
        let place = diag.primary().map_or(at, |l| l.span.start as usize).min(text.len());
        let cut_off = place >= text.trim_blanks_end().len() && self.is_broken(0..text.len());
        // A word that starts with a digit is not a name. This was reported where it is defined.
        let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
        let start = text[..place].rfind(|c| !is_word(c)).map_or(0, |n| n + 1);
        let end = text[place..].find(|c| !is_word(c)).map_or(text.len(), |n| place + n);
        let word = text.get(start..end).unwrap_or_default();
        let known_wrong = word.starts_with(|c: char| c.is_ascii_digit()) && body.names.contains_key(word);
        if !cut_off && !known_wrong {
            self.report(hints::instruction(diag, text, at));
        }
    }

    /// Returns the offset where reading continues after an instruction that ends at `end`. The text after it
    /// is at `next`. The errors of the instruction are those from `before` on.
    fn after_instruction(&mut self, end: usize, next: usize, close: usize, before: usize) -> usize {
        let text = &self.text[..close];
        let missing = |d: &Diag| d.code == Some(code::ATTRIBUTE_MISSING);
        let only_missing = self.diags[before..].iter().all(missing);
        if only_missing && next >= self.text.len() && self.is_broken(0..next) {
            // The text ends before the missing attributes.
            self.diags.truncate(before);
        }
        // Text at the start of a line is treated as an incomplete instruction.
        let starts_line = text[end..next].contains(['\n', '\r']);
        // On the same line, `name= value` is more likely an attribute without a comma than an instruction
        // without a blank.
        if next >= close || starts_line || defines_instruction(&text[next..]) {
            return next;
        }
        let resume = self.next_instruction(next, close);
        if !self.is_broken(next..resume) {
            // Attributes that were not recognized are not reported as missing.
            if only_missing {
                self.diags.truncate(before);
            }
            if self.diags.len() == before {
                self.report(hints::after_instruction(text, next));
            }
        }
        resume
    }

    /// Returns the start of the next line after `at` that looks like an instruction of the same body, or
    /// `close`.
    fn next_instruction(&self, at: usize, close: usize) -> usize {
        let mut line = self.next_line(at);
        let mut depth = Depth::default();
        let mut counted = at;
        // After an unmatched bracket, nesting does not tell which body an instruction belongs to.
        let broken = self.first_broken(at).unwrap_or(close);
        while line < close {
            let rest = &self.text[line..close];
            let start = close - rest.trim_start_matches([' ', '\t']).len();
            depth.count(&self.text[counted..line]);
            counted = line;
            if (depth.0 == 0 || broken < line) && starts_instruction(&self.text[start..close]) {
                return start;
            }
            line = self.next_line(line);
        }
        close
    }

    /// Records the name of an instruction that did not parse, so that its uses are not reported as errors.
    fn poison(&mut self, body: &mut Body<'t>, rest: &str) {
        body.failed = true;
        let rest = hints::root_misspelt(rest).unwrap_or(rest);
        let is_root = rest.strip_prefix("ROOT").filter(|r| r.starts_with(|c: char| c.is_ascii_whitespace()));
        let name = is_root.unwrap_or(rest).trim_blanks_start();
        let name = name.strip_prefix('%').unwrap_or(name);
        let span = self.span_of(&name[..token_at(name).1]);
        let name = &self.text[span.range()];
        if is_root.is_some() {
            body.root.get_or_insert((None, span));
        }
        body.names.entry(name).or_insert(Slot { id: None, span });
    }

    /// Names unnamed instructions, sets the root, and compares the body with the signature.
    pub fn finish_body(&mut self, body: &mut Body<'t>, signature: Option<&Signature<'t>>) {
        // All names are known, so a new suffix cannot conflict.
        let mut given: HashMap<String, usize> = HashMap::new();
        for (id, base) in std::mem::take(&mut body.unnamed) {
            let mut name = base.clone();
            while given.contains_key(&name) || body.names.contains_key(name.as_str()) {
                // `base`, `base.1`, `base.2`, …: the count for `base` is the next suffix.
                let n = given.entry(base.clone()).or_insert(1);
                name = format!("{base}.{n}");
                *n += 1;
            }
            self.module.set_name(id, &name);
            given.insert(name, 1);
        }
        let root = match body.root {
            Some((root, _)) => root,
            None => body.last,
        };
        let Some(root) = root else {
            let close = Span::new(body.end.saturating_sub(1), body.end);
            // A missing brace at the end of the text is another error.
            let closed = self.text.get(close.range()) == Some("}");
            if closed && !body.failed {
                let diag = Diag::error("a computation has at least one instruction");
                self.report(diag.with_code(code::EMPTY_COMPUTATION).at(close, ""));
            }
            return;
        };
        self.module.set_root(body.computation, root);
        if let Some(signature) = signature.filter(|_| !body.failed) {
            self.check_signature(body.computation, root, signature);
        }
    }

    /// Returns the instruction that `written` (with or without `%`) names in `body`. Reports an unknown name.
    pub fn resolve(&mut self, body: &mut Body<'t>, written: &'t str) -> Option<InstrId> {
        let name = written.strip_prefix('%').unwrap_or(written);
        match body.names.get(name) {
            Some(slot) => slot.id,
            // The search for a suggestion reads the rest of the text. Skips it for errors that are not shown.
            None if self.full() => None,
            None => {
                let span = self.span_of(written);
                let diag = self.unknown_operand(body, name, span);
                self.report(diag);
                None
            }
        }
    }

    fn unknown_operand(&self, body: &Body<'t>, name: &str, span: Span) -> Diag {
        let computation = &self.module[body.computation].name;
        let rest = &self.text[span.end as usize..body.end.max(span.end as usize)];
        // Checks whether the name is defined later.
        let later = rest.match_indices(name).find(|&(at, _)| {
            let before = rest[..at].trim_end_matches('%').trim_end_matches([' ', '\t']);
            let after = &rest[at + name.len()..];
            (before.ends_with('\n') || before.ends_with("ROOT"))
                && after.trim_blanks_start().starts_with('=')
                && (after.starts_with(' ') || rest[..at].ends_with('%'))
        });
        if let Some((at, _)) = later {
            let start = span.end as usize + at;
            return Diag::error(format!("`{name}` is used before it is defined"))
                .with_code(code::USE_BEFORE)
                .at(span, "used here")
                .and(Span::new(start, start + name.len()), "defined here");
        }
        let before = &self.text[..span.start as usize];
        let line = &before[before.rfind(['\n', '\r']).map_or(0, |n| n + 1)..];
        let own = line.trim_blanks_start();
        let own = own.strip_prefix("ROOT ").unwrap_or(own).trim_blanks_start().trim_start_matches('%');
        if own.strip_prefix(name).is_some_and(|r| r.trim_blanks_start().starts_with('=')) {
            return Diag::error(format!("`{name}` is used in its own definition"))
                .with_code(code::USE_BEFORE)
                .at(span, "");
        }
        let place =
            if computation.is_empty() { String::new() } else { format!(" in computation `{computation}`") };
        let diag = Diag::error(format!("no instruction `{name}` is defined{place}"));
        let diag = diag.with_code(code::UNKNOWN_OPERAND).at(span, "");
        if self.names.0.contains_key(name) {
            return diag.note(format!(
                "`{name}` is a computation: an attribute such as `to_apply={name}` calls one"
            ));
        }
        let has_it =
            |c: ComputationId| self.module[c].instructions().iter().any(|&i| *self.module[i].name == *name);
        if let Some(c) = self.module.computations().find(|&c| c != body.computation && has_it(c)) {
            let other = &self.module[c].name;
            return diag.note(format!(
                "computation `{other}` has a `{name}`, but operands are of the same computation"
            ));
        }
        // The suggestion replaces the name but not the `%`.
        let name_span = Span::new(span.end as usize - name.len(), span.end as usize);
        let mut names: Vec<&str> = body.names.keys().copied().collect();
        names.sort_unstable();
        match hlo_ir::suggest::nearest(name, names) {
            Some(n) => diag.did_you_mean(name_span, n),
            None => diag,
        }
    }
}
