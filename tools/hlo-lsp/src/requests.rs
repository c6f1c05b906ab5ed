//! Dispatches requests about documents.

use crate::answer::{Answer, error};
use crate::client::Client;
use crate::document::Document;
use crate::{actions, format, navigate, rename, semantic, symbols};
use lsp_server::{ErrorCode, Request};
use lsp_types::request::{self, Request as _};
use lsp_types::{TextDocumentIdentifier, TextDocumentPositionParams};
use std::collections::BTreeMap;

/// The data that requests need.
pub struct Requests<'a> {
    /// The open documents by URI.
    pub documents: &'a BTreeMap<String, Document>,
    /// The capabilities of the editor.
    pub client: &'a Client,
}

impl Requests<'_> {
    /// Answers a request.
    pub fn answer(&self, r: Request) -> Answer<String> {
        match r.method.as_str() {
            request::HoverRequest::METHOD => typed::<request::HoverRequest>(r, |p| {
                let (d, at) = self.at(p.text_document_position_params)?;
                Ok(navigate::hover(d, at))
            }),
            request::GotoDefinition::METHOD => typed::<request::GotoDefinition>(r, |p| {
                let (d, at) = self.at(p.text_document_position_params)?;
                Ok(navigate::definition(d, at))
            }),
            request::References::METHOD => typed::<request::References>(r, |p| {
                let (d, at) = self.at(p.text_document_position)?;
                Ok(navigate::references(d, at, p.context.include_declaration))
            }),
            request::DocumentHighlightRequest::METHOD => typed::<request::DocumentHighlightRequest>(r, |p| {
                let (d, at) = self.at(p.text_document_position_params)?;
                Ok(navigate::highlights(d, at))
            }),
            request::DocumentSymbolRequest::METHOD => typed::<request::DocumentSymbolRequest>(r, |p| {
                let d = self.document(&p.text_document)?;
                Ok(Some(symbols::symbols(d, self.client.nested_symbols)))
            }),
            request::FoldingRangeRequest::METHOD => typed::<request::FoldingRangeRequest>(r, |p| {
                Ok(Some(symbols::folding_ranges(self.document(&p.text_document)?)))
            }),
            request::Completion::METHOD => typed::<request::Completion>(r, |p| {
                let (d, at) = self.at(p.text_document_position)?;
                let trigger = p.context.and_then(|c| c.trigger_character);
                // The trigger character of another language.
                if trigger.is_some_and(|c| !d.language.triggers().contains(&c.as_str())) {
                    return Ok(None);
                }
                Ok(Some(d.reading().complete(d.offset(at), self.client.snippets).into()))
            }),
            request::CodeActionRequest::METHOD => typed::<request::CodeActionRequest>(r, |p| {
                let d = self.document(&p.text_document)?;
                Ok(Some(actions::quick_fixes(d, &p, self.client)))
            }),
            request::SemanticTokensFullRequest::METHOD => {
                typed::<request::SemanticTokensFullRequest>(r, |p| {
                    Ok(Some(semantic::tokens(self.document(&p.text_document)?, None).into()))
                })
            }
            request::SemanticTokensRangeRequest::METHOD => {
                typed::<request::SemanticTokensRangeRequest>(r, |p| {
                    Ok(Some(semantic::tokens(self.document(&p.text_document)?, Some(p.range)).into()))
                })
            }
            request::PrepareRenameRequest::METHOD => typed::<request::PrepareRenameRequest>(r, |p| {
                let (d, at) = self.at(p)?;
                Ok(rename::prepare(d, at))
            }),
            request::Rename::METHOD => typed::<request::Rename>(r, |p| {
                let (d, at) = self.at(p.text_document_position)?;
                rename::rename(d, at, &p.new_name).map(Some)
            }),
            request::Formatting::METHOD => {
                typed::<request::Formatting>(r, |p| format::format(self.document(&p.text_document)?))
            }
            method => Err(error(ErrorCode::MethodNotFound, format!("no method `{method}`"))),
        }
    }

    fn document(&self, id: &TextDocumentIdentifier) -> Answer<&Document> {
        let uri = id.uri.as_str();
        self.documents.get(uri).ok_or_else(|| error(ErrorCode::InvalidParams, format!("{uri} is not open")))
    }

    fn at(&self, p: TextDocumentPositionParams) -> Answer<(&Document, lsp_types::Position)> {
        Ok((self.document(&p.text_document)?, p.position))
    }
}

/// Parses the parameters of a request and returns the result of `answer` as JSON text.
fn typed<R: request::Request>(
    r: Request,
    answer: impl FnOnce(R::Params) -> Answer<R::Result>,
) -> Answer<String> {
    let params = serde_json::from_value(r.params)
        .map_err(|e| error(ErrorCode::InvalidParams, format!("{}: {e}", R::METHOD)))?;
    serde_json::to_string(&answer(params)?).map_err(|e| error(ErrorCode::InternalError, e.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::Language;
    use lsp_types::{Position, Uri};

    const MODULE: &str = "HloModule m, is_scheduled=true\n\nadd (a: f32[], b: f32[]) -> f32[] {\n  \
        a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT sum = f32[] add(a, b)\n}\n\nENTRY %main {\n  \
        %p = (f32[4], u8[]) parameter(0), sharding={replicated} // é😀\n  z = f32[] constant({1, 2})\n  \
        r = f32[] reduce(p#0, z), to_apply={ x = f32[] parameter(0) ROOT y = negate(abs(x)) }\n  \
        ROOT t = f32[] call(r), to_apply=%add, control-predecessors={p}, metadata={op_name=\"a\"}\n}\n";

    const TILE: &str = "from m import g as é\n# tile: A: f32[2,3], s = 2 # 😀\ndef f(A, s: int=é(1), *):\n  'é'; N = TensorDim()\n  \
        i, (j) = TensorIndexes(2)\n  A.bind_dims(2, N)\n  O = TensorOutput(\\\n N * s)\n  O[s * j] += A[i, j] # O\n  \
        O.add_constraint(i < 1.5e3)\n  return f(select(O > 0, -O, A), s=A.shape[0])\n";

    const TEXTS: [(Language, &str); 2] = [(Language::Hlo, MODULE), (Language::Tile, TILE)];

    /// Sends all requests about a position.
    fn ask(d: &Document, at: Position) {
        navigate::hover(d, at);
        navigate::definition(d, at);
        navigate::references(d, at, true);
        navigate::highlights(d, at);
        d.reading().complete(d.offset(at), true);
        rename::prepare(d, at);
        let _ = rename::rename(d, at, "new");
    }

    fn document(language: Language, text: &str) -> Document {
        let uri: Uri = "file:///m".parse().unwrap();
        Document::new(uri, language, 1, 1, text.to_owned())
    }

    #[test]
    fn every_position_of_every_text_has_answers() {
        let end = Position::new(u32::MAX, u32::MAX);
        for (language, whole) in TEXTS {
            let texts = (0..whole.len()).filter(|&at| whole.is_char_boundary(at)).flat_map(|at| {
                let (before, after) = whole.split_at(at);
                // The text is truncated, and junk is added.
                let junk = [
                    "(",
                    "}",
                    "{",
                    "\"",
                    "'",
                    "/*",
                    "é",
                    "\n// -----\n",
                    "%",
                    "=",
                    ",",
                    "\r",
                    "\\",
                    "\ndef ",
                    ".",
                ];
                let damaged = junk.into_iter().map(move |j| (format!("{before}{j}{after}"), at));
                damaged.chain([(before.to_owned(), at), (after.to_owned(), 0)])
            });
            for (text, at) in texts {
                let d = document(language, &text);
                symbols::symbols(&d, true);
                symbols::symbols(&d, false);
                symbols::folding_ranges(&d);
                semantic::tokens(&d, None);
                for at in [d.text.position(at), d.text.position(at + 1), d.text.position(text.len()), end] {
                    ask(&d, at);
                }
            }
            let d = document(language, whole);
            for line in 0..20 {
                for character in 0..100 {
                    ask(&d, Position::new(line, character));
                }
            }
        }
    }

    #[test]
    fn damaged_texts_are_formatted_or_refused() {
        for at in (0..MODULE.len()).step_by(7).filter(|&at| MODULE.is_char_boundary(at)) {
            let _ = format::format(&document(Language::Hlo, &MODULE[at..]));
            let _ = format::format(&document(Language::Hlo, &MODULE[..at]));
        }
    }
}
