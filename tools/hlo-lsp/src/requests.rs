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
