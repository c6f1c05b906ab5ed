//! Parsing of a text that is one instruction, such as `f32[10] add(f32[10] x, f32[10] y)`. It becomes a
//! module whose entry contains the instruction. The operands become parameters.

use crate::grammar::{Rule, parse, syntax_error};
use crate::line_starts::starts_instruction;
use crate::parser::{Body, ModuleParser, Slot};
use crate::syntax::ScannedText;
use hlo_ir::blank::TrimBlanks;
use hlo_ir::cursor::token_at;
use hlo_ir::diag::Diag;
use hlo_ir::rules::code;
use hlo_ir::{InstrId, Op, Shape, Span};

impl<'t> ModuleParser<'t> {
    /// Returns whether the text at `at`, which has no header, is one instruction rather than a list of
    /// computations.
    pub fn is_single_instruction(&self, at: usize) -> bool {
        let rest = self.text[at..].trim_blanks_start();
        let start = self.text.len() - rest.len();
        let word = &rest[..token_at(rest).1];
        if matches!(word, "ENTRY" | "HloModule") || parse(Rule::computation_head, rest, start).is_ok() {
            return false;
        }
        starts_instruction(rest) || parse(Rule::single_instruction, rest, start).is_ok()
    }

    /// Reads the text at `at` as one instruction.
    pub fn single_instruction(&mut self, at: usize) {
        let rest = self.text[at..].trim_blanks_start();
        let start = self.text.len() - rest.len();
        let id = self.module.add_computation("_");
        self.set_entry(id, Span::new(start, start));
        self.module.name = "_".into();
        self.module.header.is_scheduled = true;
        let mut body = Body::new(id, self.text.len());
        body.single = true;
        let mut exact = ScannedText::new(self.text, start);
        let end = match exact.skip_to_attributes(false) {
            Ok(()) => exact.c.offset(),
            Err(diag) => return self.report_malformed(*diag, start, &body),
        };
        let written = self.with_attributes(&self.text[start..end], self.text.len());
        let end = start + written.text.len();
        body.end = end;
        if let Err(diag) = self.instruction(written, &mut body) {
            return self.report(*diag);
        }
        let after = self.text[end..].trim_blanks_start();
        if !after.is_empty() {
            let at = self.text.len() - after.len();
            let expected = "the end of the text after a single instruction";
            let diag = self.blank_before_equals(at).unwrap_or_else(|| {
                let diag = syntax_error(expected, self.text, at, 0);
                diag.note("a module starts with `HloModule` and its name")
            });
            self.report(diag);
        }
        self.finish_body(&mut body, None);
    }

    /// Adds the parameter for an operand of a single instruction. `name` (without `%`) is empty if the text
    /// contains only the operand's shape.
    pub fn parameter_for(&mut self, body: &mut Body<'t>, name: &'t str, span: Span, shape: Shape) -> InstrId {
        let number = body.parameters;
        body.parameters += 1;
        let op = Op::parameter(number);
        let id = self.module.add(body.computation, name, shape, op, []);
        self.module.set_span(id, span);
        if name.is_empty() {
            body.unnamed.push((id, format!("_{number}")));
        } else {
            body.names.insert(name, Slot { id: Some(id), span });
        }
        id
    }

    /// Returns the error for an operand of a single instruction that is neither defined nor has a shape.
    pub fn unshaped_operand(&self, name: &str, span: Span) -> Diag {
        Diag::error(format!("the operand `{name}` has no shape"))
            .with_code(code::SINGLE_OPERAND)
            .at(span, "its shape goes before it, as in `f32[2] x`")
            .note("the operands of a single instruction become parameters")
    }

    /// Returns the error for an attribute with blanks before its `=`, if there is one at `at`, where the rest
    /// of an instruction does not parse.
    pub fn blank_before_equals(&self, at: usize) -> Option<Diag> {
        let rest = self.text[at..].strip_prefix(',')?;
        let trimmed = rest.trim_blanks_start();
        // On the next line it is an instruction, and the comma is superfluous.
        if rest[..rest.len() - trimmed.len()].contains(['\n', '\r']) {
            return None;
        }
        let name = &trimmed[..token_at(trimmed).1];
        let after = &trimmed[name.len()..];
        let gap = after.len() - after.trim_blanks_start().len();
        if gap == 0 || name.starts_with('%') || !after.trim_blanks_start().starts_with('=') {
            return None;
        }
        let end = self.span_of(name).end as usize;
        let diag = Diag::error(format!("the `=` of the attribute `{name}` does not follow at once"));
        let diag = diag.with_code(code::ATTRIBUTE_SPACE);
        Some(diag.at(Span::new(end, end + gap), format!("no blank goes here: `{name}=…`")))
    }
}
