//! The second scan, for texts whose brackets or quotes do not match. It finds missing and extra brackets and
//! quotes from indentation and from lines that start an instruction or a computation. The first scan
//! considers only brackets, so it would report the first one without a match, which may be far from the
//! mistake.

use crate::errors::MAX_ERRORS;
use crate::line_starts::{starts_entry, starts_instruction};
use crate::scan::{BYTE_ORDER_MARK, MAX_DEPTH, Scanned, closing, comment_end, kind, one, string_end};
use hlo_ir::Span;
use hlo_ir::attr::dict_end;
use hlo_ir::diag::Diag;
use hlo_ir::rules::code;
use std::borrow::Cow;
use std::collections::HashSet;

/// Scans a text in which the first scan found `errors`. Returns `None` if those errors are better.
pub fn rescan<'a>(text: &'a str, errors: &[Diag]) -> Option<Scanned<'a>> {
    let mismatch = [code::BRACKET_OPEN, code::BRACKET_CLOSE, code::STRING_END];
    if errors.is_empty() || !errors.iter().all(|d| d.code.is_some_and(|c| mismatch.contains(&c))) {
        return None;
    }
    let mut s = Scanner {
        text,
        bytes: text.as_bytes(),
        blanked: text.as_bytes().to_vec(),
        open: Vec::new(),
        line: 0,
        indent: 0,
        reported: false,
        headless: false,
        next_item: 0,
        unclosed_until: 0,
        known_line: (0, 0),
        quoted_names: HashSet::new(),
        depths: [0; 3],
        deepest: 0,
        errors: Vec::new(),
        broken: Vec::new(),
        top_level_ends: Vec::new(),
    };
    s.run()?;
    s.broken.sort_unstable();
    s.errors.truncate(MAX_ERRORS);
    Some(Scanned {
        text: Cow::Owned(String::from_utf8(s.blanked).ok()?),
        errors: s.errors,
        broken: s.broken,
        top_level_ends: s.top_level_ends,
        fatal: false,
        depth: s.deepest,
    })
}

/// An open bracket.
struct OpenBracket {
    at: usize,
    bracket: u8,
    /// Whether it is the brace of a computation's body.
    body: bool,
    /// Whether it is the brace of front-end attributes, whose values may be dictionaries.
    frontend: bool,
    /// The indentation of its line.
    indent: usize,
}

/// The item that a line starts.
#[derive(Clone, Copy, PartialEq)]
enum Item {
    Instruction,
    /// A computation, or a module.
    Computation,
}

struct Scanner<'a> {
    text: &'a str,
    bytes: &'a [u8],
    blanked: Vec<u8>,
    open: Vec<OpenBracket>,
    /// The start of the current line, and its indentation.
    line: usize,
    indent: usize,
    /// Whether the current instruction has an error. Other mismatches in it are consequences of that error.
    reported: bool,
    /// Whether an instruction outside of all braces has been read. The missing opening brace of its
    /// computation and the closing brace at its end are not reported as bracket errors.
    headless: bool,
    /// The first line after the last queried position that starts an item.
    next_item: usize,
    /// The end of the text in which a quote or a dictionary is unclosed.
    unclosed_until: usize,
    /// The part of a line whose end is already known.
    known_line: (usize, usize),
    /// The beginnings of names that contain a quote, up to the quote.
    quoted_names: HashSet<Vec<u8>>,
    /// The number of open brackets of each kind, counted separately as the grammar does, and the maximum so
    /// far.
    depths: [usize; 3],
    deepest: usize,
    errors: Vec<Diag>,
    broken: Vec<usize>,
    top_level_ends: Vec<usize>,
}

impl Scanner<'_> {
    fn run(&mut self) -> Option<()> {
        let mut at = 0;
        if self.bytes.starts_with(BYTE_ORDER_MARK) {
            at = BYTE_ORDER_MARK.len();
            self.blanked[..at].fill(b' ');
        }
        self.start_line(at);
        while let Some(&b) = self.bytes.get(at) {
            at = match b {
                b'\n' | b'\r' => {
                    self.start_line(at + 1);
                    at + 1
                }
                b'"' | b'\'' => self.string(at),
                b'/' => {
                    let end = comment_end(self.bytes, at)?;
                    for b in self.blanked[at..end].iter_mut().filter(|b| !matches!(b, b'\n' | b'\r')) {
                        *b = if end > at + 1 { b' ' } else { *b };
                    }
                    end
                }
                b'{' | b'(' | b'[' => self.open(at, b)?,
                b'}' | b')' | b']' => {
                    self.close(at, b);
                    at + 1
                }
                0 => return None,
                _ => at + 1,
            };
        }
        let end = self.bytes.trim_ascii_end().len();
        let last = self.text[..end].char_indices().next_back().map_or(0, |(at, _)| at);
        if let Some(open) = self.open.last() {
            let (at, bracket) = (open.at, open.bracket);
            let diag = Diag::error(format!("the text ends before this `{}` is closed", bracket as char))
                .with_code(code::BRACKET_OPEN)
                .at(one(at), format!("a `{}` is missing", closing(bracket) as char))
                .and(Span::new(last, end), "the text ends here");
            self.report(at, diag);
        }
        Some(())
    }

    /// Reports the error of the bracket or quote at `at`, unless its instruction already has an error.
    fn report(&mut self, at: usize, diag: Diag) {
        self.broken.push(at);
        if !self.reported && self.errors.len() < MAX_ERRORS {
            self.errors.push(diag);
        }
        self.reported = true;
    }

    // ---- Lines ---------------------------------------------------------------------------------------------

    /// Handles the line that starts at `at`. An item that starts in it ends open brackets.
    fn start_line(&mut self, at: usize) {
        self.line = at;
        let rest = self.text[at..].trim_start_matches([' ', '\t']);
        let start = self.text.len() - rest.len();
        self.indent = start - at;
        let word = Span::new(start, start + rest.find(char::is_whitespace).unwrap_or(rest.len()));
        match item(rest, self.indent) {
            None => {}
            Some(Item::Instruction) => {
                if let Some(top) = self.open.last_mut()
                    && top.bracket == b'{'
                    && self.blanked[top.at + 1..at].trim_ascii().is_empty()
                {
                    top.body = true;
                }
                match self.body() {
                    Some(body) => self.unclosed(body + 1, word, "before this instruction"),
                    None => self.headless |= self.open.is_empty(),
                }
                self.reported = false;
            }
            Some(Item::Computation) => {
                if !self.open.is_empty() {
                    self.top_level_ends.push(at.saturating_sub(1));
                }
                self.unclosed(0, word, "before this");
                self.reported = false;
                self.headless = false;
            }
        }
    }

    /// Returns the innermost open body.
    fn body(&self) -> Option<usize> {
        self.open.iter().rposition(|o| o.body)
    }

    /// Closes all brackets except the first `keep`. `span` is the text that shows that they should be closed.
    fn unclosed(&mut self, keep: usize, span: Span, why: &str) {
        let Some(first) = self.open.get(keep) else { return };
        let (at, bracket) = (first.at, first.bracket);
        let diag = Diag::error(format!("this `{}` is not closed", bracket as char))
            .with_code(code::BRACKET_OPEN)
            .at(one(at), format!("a `{}` is missing", closing(bracket) as char))
            .and(span, why);
        self.report(at, diag);
        self.broken.extend(self.open.drain(keep..).skip(1).map(|o| o.at));
    }

    /// Returns the first line after `at` that starts an item; the end of the text if there is none.
    fn item_after(&mut self, at: usize) -> usize {
        if self.next_item > at {
            return self.next_item;
        }
        let mut line = at;
        loop {
            let Some(n) = self.bytes[line..].iter().position(|&b| b == b'\n' || b == b'\r') else {
                self.next_item = self.bytes.len();
                return self.next_item;
            };
            line += n + 1;
            let rest = self.text[line..].trim_start_matches([' ', '\t']);
            if item(rest, self.text.len() - line - rest.len()).is_some() {
                self.next_item = line;
                return line;
            }
        }
    }

    /// Returns the end of the line that contains `at`. The result is cached, because a line may contain many
    /// strings.
    fn line_end(&mut self, at: usize) -> usize {
        let (from, to) = self.known_line;
        if at < from || to <= at {
            let rest = self.bytes[at..].iter();
            let end = rest.take_while(|&&b| b != b'\n' && b != b'\r').count() + at;
            self.known_line = (at, end);
        }
        self.known_line.1
    }

    // ---- Strings and brackets ------------------------------------------------------------------------------

    /// Reads a string. It may contain line breaks, but cannot extend into the next instruction.
    fn string(&mut self, start: usize) -> usize {
        if self.is_in_name(start) {
            // Read as a letter at every use of the name.
            self.blanked[start] = b'_';
            return start + 1;
        }
        let line_end = self.line_end(start);
        // After an unclosed string, it is unknown which quotes form a pair.
        let limit = if start < self.unclosed_until { line_end } else { self.item_after(start) };
        let end = string_end(&self.bytes[..limit], start);
        if end < limit {
            self.blanked[start + 1..end].fill(b'_');
            // The string may have changed the current line.
            if let Some(n) = self.bytes[start..end].iter().rposition(|&b| b == b'\n') {
                self.line = start + n + 1;
            }
            return end + 1;
        }
        self.unclosed_until = limit;
        // Includes the quote, which would otherwise start a string again.
        self.blanked[start..line_end].fill(b'_');
        let quote = self.bytes[start] as char;
        let diag = Diag::error("this string is not closed")
            .with_code(code::STRING_END)
            .at(one(start), format!("a `{quote}` is missing"));
        self.report(start, diag);
        line_end
    }

    /// Returns whether the quote at `at` is in the name of an instruction. Reports it at the definition of
    /// the name.
    fn is_in_name(&mut self, at: usize) -> bool {
        let length =
            self.blanked[self.line..at].iter().rev().take(MAX_NAME).take_while(|b| is_name(**b)).count();
        let start = at - length;
        let name = &self.blanked[start..at];
        if length == 0 || self.quoted_names.contains(name) {
            return length > 0;
        }
        // Handles only short names, at the start of the line or after `ROOT` and one blank.
        let first =
            matches!(self.bytes.get(self.line + self.indent..start), Some(b"" | b"%" | b"ROOT " | b"ROOT %"));
        let rest = self.bytes[at..].iter().take(MAX_NAME).skip_while(|b| is_name(**b) || is_quote(**b));
        let mut after = rest.skip_while(|b| **b == b' ');
        let is_defined = first && after.next() == Some(&b'=');
        if is_defined {
            self.quoted_names.insert(name.to_vec());
            let diag = Diag::error(format!("a name has no `{}` in it", self.bytes[at] as char));
            let diag = diag.with_code(code::SYNTAX).at(one(at), "");
            self.report(at, diag.note("names are made of letters, digits, `_`, `.` and `-`"));
        }
        is_defined
    }

    fn open(&mut self, at: usize, bracket: u8) -> Option<usize> {
        let before = self.bytes[..at].trim_ascii_end();
        let name = before.strip_suffix(b"=").filter(|_| bracket == b'{');
        let dictionary = name.is_some_and(|n| n.ends_with(b"backend_config"))
            || name.is_some() && self.open.last().is_some_and(|o| o.frontend);
        if dictionary && at >= self.unclosed_until {
            let limit = self.item_after(at);
            if let Some(length) = dict_end(&self.bytes[at..limit]) {
                self.blanked[at + 1..at + length - 1].fill(b'_');
                return Some(at + length);
            }
            self.unclosed_until = limit;
        }
        let depth = &mut self.depths[kind(bracket)];
        *depth += 1;
        self.deepest = self.deepest.max(*depth).max(self.open.len() + 1);
        if self.deepest > MAX_DEPTH {
            return None;
        }
        let body = bracket == b'{'
            && (self.open.is_empty() && name.is_none()
                || starts_instruction(self.text[at + 1..].trim_start_matches([' ', '\t'])));
        let frontend = name.is_some_and(|n| n.ends_with(b"frontend_attributes"));
        self.open.push(OpenBracket { at, bracket, body, frontend, indent: self.indent });
        Some(at + 1)
    }

    fn close(&mut self, at: usize, bracket: u8) {
        let this = format!("before this `{}`", bracket as char);
        let body = self.body();
        if let (Some(body), b'}') = (body, bracket) {
            if at == self.line + self.indent {
                // According to its indentation, it may close an outer body rather than an open bracket in it.
                let outer = self.open.iter().rposition(|o| o.body && o.indent <= self.indent);
                let meant = outer.unwrap_or(body);
                let inner_is_deeper =
                    self.open.get(meant + 1).is_some_and(|i| i.indent > self.open[meant].indent);
                if self.reported || inner_is_deeper && self.indent <= self.open[meant].indent {
                    self.unclosed(meant + 1, one(at), &this);
                }
            } else if !self.open[body + 1..].iter().any(|o| o.bracket == b'{') && self.goes_on(at, body) {
                return self.too_many(at, bracket);
            }
        }
        // The nearest open bracket of this kind within the body.
        let floor = self.body().unwrap_or(0);
        let found = self.open[floor..].iter().rposition(|o| closing(o.bracket) == bracket);
        let Some(found) = found.map(|n| n + floor) else {
            if self.headless && bracket == b'}' && self.open.is_empty() {
                self.headless = false;
                self.top_level_ends.push(at);
                return;
            }
            return self.too_many(at, bracket);
        };
        // An extra bracket is blanked and closes nothing.
        let depth = &mut self.depths[kind(bracket)];
        *depth = depth.saturating_sub(1);
        self.unclosed(found + 1, one(at), &this);
        self.open.truncate(found);
        if found == 0 && bracket == b'}' {
            self.top_level_ends.push(at);
            self.reported = false;
        }
    }

    /// Returns whether the brace at `at` cannot close `body`, because its instruction continues or another
    /// one follows.
    fn goes_on(&mut self, at: usize, body: usize) -> bool {
        if self.open[body].at >= self.line {
            return false;
        }
        let end = self.line_end(at);
        let rest = self.text[at + 1..end].trim_start();
        if rest.is_empty() {
            let next = self.text[at + 1..].trim_start();
            return body == 0 && (next.starts_with('}') || starts_instruction(next));
        }
        !rest.starts_with(['}', ',', ')', '/']) && item(rest, 0).is_none()
    }

    /// Reports an extra closing bracket and blanks it, so that the text is read without it.
    fn too_many(&mut self, at: usize, bracket: u8) {
        let found = format!("nothing is open that this `{}` could close", bracket as char);
        let mut diag = Diag::error(found).with_code(code::BRACKET_CLOSE).at(one(at), "");
        if let Some(o) = self.open.last().filter(|o| !o.body) {
            let needed = closing(o.bracket) as char;
            diag = diag.and(one(o.at), format!("the `{}` open here needs `{needed}`", o.bracket as char));
        }
        self.report(at, diag);
        self.blanked[at] = b' ';
    }
}

/// Maximum length of a name that contains quotes.
const MAX_NAME: usize = 100;

/// Returns whether names can contain this byte.
fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-')
}

fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'')
}

/// Returns the item at the start of a line. `rest` is the line after its indentation.
fn item(rest: &str, indent: usize) -> Option<Item> {
    let module = rest.strip_prefix("HloModule").is_some_and(|r| r.starts_with([' ', '\t']));
    if module || starts_entry(rest) {
        return Some(Item::Computation);
    }
    if starts_instruction(rest) {
        return Some(Item::Instruction);
    }
    let name = rest.strip_prefix('%').unwrap_or(rest);
    if indent > 0 || !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        return None;
    }
    let after = name.trim_start_matches(|c: char| u8::try_from(c).is_ok_and(is_name));
    let line = after.split(['\n', '\r']).next().unwrap_or_default();
    let head = line.trim_start().starts_with(['(', '{']) && line.trim_end().ends_with('{');
    head.then_some(Item::Computation)
}
