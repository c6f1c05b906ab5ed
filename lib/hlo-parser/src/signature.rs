//! Parsing of a computation's signature, such as `(a: f32[2], b: f32[2]) -> f32[2]`. It is optional, and
//! contains nothing that the instructions do not.

use crate::parser::ModuleParser;
use crate::shape;
use hlo_ir::cursor::Cursor;
use hlo_ir::diag::Diag;
use hlo_ir::rules::code;
use hlo_ir::{ComputationId, InstrId, Shape, Span};

/// A signature.
#[derive(Default)]
pub struct Signature<'t> {
    /// The parameters, and the span of their list.
    pub parameters: Option<(Vec<Declared<'t>>, Span)>,
    /// The shape of the result, and its span.
    pub result: Option<(Shape, Span)>,
}

/// A parameter in a signature.
pub struct Declared<'t> {
    /// The name, without `%`.
    name: &'t str,
    shape: Shape,
    /// The span of both.
    span: Span,
}

impl<'t> ModuleParser<'t> {
    /// Reads the parameters of a signature, which are in parentheses at `span`. Reports errors.
    pub fn declared_parameters(&mut self, span: Span) -> Option<(Vec<Declared<'t>>, Span)> {
        let mut c = Cursor::new(self.source_at(span), span.start as usize);
        match declared(&mut c) {
            Ok(list) => Some((list, span)),
            Err(diag) => {
                self.report(diag);
                None
            }
        }
    }

    /// Compares a signature with a body whose root is `root`.
    pub fn check_signature(&mut self, id: ComputationId, root: InstrId, signature: &Signature<'t>) {
        if let Some((shape, span)) = &signature.result {
            let actual = &self.module[root].shape;
            if !shape.compatible_but_dynamic(actual) {
                let message =
                    format!("the signature gives the result `{shape}`, but the root has `{actual}`");
                let diag =
                    Diag::error(message).at(*span, "the signature").and(self.module.span(root), "the root");
                return self.report(diag.with_code(code::SIGNATURE));
            }
        }
        let Some((declared, span)) = &signature.parameters else { return };
        if let Some(diag) = self.other_parameters(id, declared, *span) {
            self.warn(diag.with_code(code::SIGNATURE_PARAMETERS));
        }
    }

    /// Returns a warning if the parameters of a computation differ from the `declared` ones.
    fn other_parameters(&self, id: ComputationId, declared: &[Declared<'t>], list: Span) -> Option<Diag> {
        let parameters = self.module.parameters(id);
        if declared.len() != parameters.len() {
            let message = format!(
                "the signature has {} parameters, but the body of `{}` has {}",
                declared.len(),
                self.module[id].name,
                parameters.len()
            );
            return Some(Diag::warning(message).at(list, "the instructions count"));
        }
        let mut pairs = declared.iter().zip(&parameters).enumerate();
        let (n, (d, &p)) = pairs.find(|(_, (d, p))| {
            let p = &self.module[**p];
            *d.name != *p.name || !d.shape.compatible(&p.shape)
        })?;
        let (name, shape) = (&self.module[p].name, &self.module[p].shape);
        let message = format!(
            "parameter {n} is `{}: {}` in the signature, but `{name}: {shape}` in the body",
            d.name, d.shape
        );
        Some(
            Diag::warning(message)
                .at(d.span, "the signature")
                .and(self.module.span(p), "the instruction counts"),
        )
    }
}

/// Reads the parameters of a signature.
///
/// # Errors
/// The text is not a list of parameters.
pub fn declared<'t>(c: &mut Cursor<'t>) -> Result<Vec<Declared<'t>>, Diag> {
    c.list("(", ")", |c| {
        c.skip_space();
        let start = c.offset();
        let name = c.percent_word();
        if name.is_empty() {
            return Err(c.expected("a parameter such as `p: f32[2]`"));
        }
        // Older texts of XLA have no colon.
        if matches!(c.peek(), b',' | b')') {
            c.expect(":")?;
        }
        c.eat(":");
        let shape = shape::read(c)?;
        Ok(Declared { name, shape, span: c.since(start) })
    })
}
