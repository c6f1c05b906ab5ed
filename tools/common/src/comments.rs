//! Comments of HLO text: attaches each comment to a place, so that it can be printed with the module.

use hlo_ir::print::Place;
use hlo_ir::{ComputationId, InstrId, Module, Span};
use hlo_parser::outline::{Outline, outline};
use std::collections::HashMap;

/// The comments at one place.
#[derive(Debug, Default)]
pub struct NearbyComments {
    /// The comments before it, on lines of their own.
    pub before: Vec<Span>,
    /// The comments after it, on the same line.
    pub after: Vec<Span>,
}

/// The comments of a text, by place.
#[derive(Debug, Default)]
pub struct Comments<'t> {
    /// The text before the module, if it contains comments.
    pub head: &'t str,
    /// The comments at the header, at computations and instructions.
    pub places: HashMap<Place, NearbyComments>,
    /// The text after the module, if it contains comments.
    pub tail: &'t str,
}

impl<'t> Comments<'t> {
    /// Returns the comments of `text`, which is the text of `module`. Ignores the comments that XLA writes,
    /// such as `/*index=5*/`. Returns the span of the first comment that is at no place with a line of its
    /// own, for example in the middle of an instruction.
    pub fn of(text: &'t str, module: &Module) -> Result<Self, Span> {
        let outline = outline(text);
        if outline.comments.iter().all(|&c| is_index(text, c)) {
            return Ok(Self::default());
        }
        CommentFinder::new(text, &outline, module).find()
    }
}

/// Whether a comment is one that XLA writes before every fifth operand.
fn is_index(text: &str, comment: Span) -> bool {
    let inside = text.get(comment.range()).and_then(|c| c.strip_prefix("/*index=")?.strip_suffix("*/"));
    inside.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}

/// Finds the places of comments.
struct CommentFinder<'t, 'o> {
    text: &'t str,
    outline: &'o Outline,
    /// The places by their start.
    starts: HashMap<usize, Place>,
    /// The places by their end.
    ends: HashMap<usize, Place>,
}

impl<'t, 'o> CommentFinder<'t, 'o> {
    fn new(text: &'t str, outline: &'o Outline, module: &Module) -> Self {
        let (mut starts, mut ends) = (HashMap::new(), HashMap::new());
        // Instructions that the parser adds have no span in the text.
        let written =
            (0..module.instruction_capacity()).map(InstrId::new).filter(|&i| !module.span(i).is_empty());
        let by_start: HashMap<u32, InstrId> = written.map(|i| (module.span(i).start, i)).collect();
        let mut computations: Vec<Option<ComputationId>> = vec![None; outline.computations.len()];
        for written in &outline.instructions {
            let Some(&id) = by_start.get(&written.span.start) else { continue };
            let place = Place::Instruction(id);
            starts.insert(written.span.start as usize, place);
            ends.insert(written.span.end as usize, place);
            let Some(computation) = computations.get_mut(written.computation as usize) else { continue };
            if computation.is_none() {
                *computation = Some(module[id].parent);
                // The brace before the first instruction ends the head.
                let before = text.get(..written.span.start as usize).unwrap_or_default();
                let brace = code_end(before, &outline.comments);
                if before[..brace].ends_with('{') {
                    ends.insert(brace, Place::Head(module[id].parent));
                }
            }
        }
        for (written, id) in outline.computations.iter().zip(&computations) {
            let Some(id) = *id else { continue };
            let end = written.span.end as usize;
            let closed = text.get(..end).is_some_and(|t| t.ends_with('}'));
            if closed {
                starts.insert(end - 1, Place::End(id));
            }
            // A computation that is written inside an attribute is printed elsewhere, as a separate
            // computation.
            if written.parent.is_none() {
                starts.insert(written.span.start as usize, Place::Head(id));
                if closed {
                    ends.insert(end, Place::End(id));
                }
            }
        }
        Self { text, outline, starts, ends }
    }

    fn find(&self) -> Result<Comments<'t>, Span> {
        let text = self.text;
        let all: Vec<Surroundings> = surroundings(text, &self.outline.comments);
        let (first, last) =
            (code_start(text, 0, &self.outline.comments), code_end(text, &self.outline.comments));
        let first_computation = self.outline.computations.first().map_or(first, |c| c.span.start as usize);
        let mut out = Comments::default();
        // The end of the last line with code.
        let mut end_of_last = last;
        let (mut in_head, mut in_tail) = (false, false);
        for (&comment, around) in self.outline.comments.iter().zip(&all) {
            if is_index(text, comment) {
                continue;
            }
            if comment.end as usize <= first {
                in_head = true;
                continue;
            }
            if around.same_line {
                if let Some(&place) = self.ends.get(&around.code_end) {
                    out.places.entry(place).or_default().after.push(comment);
                    if around.code_end == last {
                        end_of_last = comment.end as usize;
                    }
                    continue;
                }
                if around.code_end <= first_computation && around.code_start == first_computation {
                    out.places.entry(Place::Header).or_default().after.push(comment);
                    continue;
                }
            }
            if comment.start as usize >= last {
                in_tail = true;
                continue;
            }
            let place = self.starts.get(&around.code_start).ok_or(comment)?;
            out.places.entry(*place).or_default().before.push(comment);
        }
        if in_head {
            out.head = text.get(..first).unwrap_or_default().trim();
        }
        if in_tail {
            out.tail = text.get(end_of_last..).unwrap_or_default().trim();
        }
        Ok(out)
    }
}

/// The code around a comment.
struct Surroundings {
    /// The end of the code before it.
    code_end: usize,
    /// Whether that is on the line where the comment starts.
    same_line: bool,
    /// The start of the code after it.
    code_start: usize,
}

/// Returns the code around each comment, in linear time even if comments follow each other.
fn surroundings(text: &str, comments: &[Span]) -> Vec<Surroundings> {
    let between = |start: usize, end: usize| text.get(start..end).unwrap_or_default();
    let has_line_end = |text: &str| text.contains(['\n', '\r']);
    let mut out: Vec<Surroundings> = Vec::with_capacity(comments.len());
    // The start and end of the previous comment.
    let (mut start, mut end) = (0, 0);
    for comment in comments {
        let gap = between(end, comment.start as usize);
        let code = gap.trim_end().len();
        let (code_end, same_line) = match out.last() {
            Some(last) if code == 0 => {
                let since = between(start, comment.start as usize);
                (last.code_end, last.same_line && !has_line_end(since))
            }
            _ => (end + code, code > 0 && !has_line_end(&gap[code..])),
        };
        out.push(Surroundings { code_end, same_line, code_start: 0 });
        (start, end) = (comment.start as usize, comment.end as usize);
    }
    let mut after: Option<(usize, usize)> = None;
    for (comment, around) in comments.iter().zip(&mut out).rev() {
        let end = comment.end as usize;
        let gap = between(end, after.map_or(text.len(), |(start, _)| start));
        let blank = gap.len() - gap.trim_start().len();
        around.code_start = match after {
            Some((_, code_start)) if blank == gap.len() => code_start,
            _ => end + blank,
        };
        after = Some((comment.start as usize, around.code_start));
    }
    out
}

/// Returns the start of the code at or after `at`, which must not be inside a comment.
fn code_start(text: &str, mut at: usize, comments: &[Span]) -> usize {
    loop {
        let rest = text.get(at..).unwrap_or_default();
        at += rest.len() - rest.trim_start().len();
        let next = comments.partition_point(|c| (c.start as usize) < at);
        match comments.get(next).filter(|c| c.start as usize == at) {
            Some(c) if c.end as usize > at => at = c.end as usize,
            _ => return at,
        }
    }
}

/// Returns the end of the code of `text`, which must not end inside a comment. Comments outside of `text` are
/// ignored.
fn code_end(text: &str, comments: &[Span]) -> usize {
    let mut end = text.len();
    loop {
        end = text.get(..end).unwrap_or_default().trim_end().len();
        // A line comment may end with blanks.
        let before = comments.partition_point(|c| (c.start as usize) < end);
        match before.checked_sub(1).and_then(|i| comments.get(i)) {
            Some(c) if c.end as usize >= end => end = c.start as usize,
            _ => return end,
        }
    }
}
