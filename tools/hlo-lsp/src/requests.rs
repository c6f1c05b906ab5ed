//! Requests about documents: which function answers which.

use crate::document::Document;
use crate::server::{Answer, Client, error};
use crate::{complete, format, hover, navigate, rename, symbols};
use lsp_server::{ErrorCode, Request};
use lsp_types::request::{self, Request as _};
use lsp_types::{TextDocumentIdentifier, TextDocumentPositionParams};
use serde_json::Value;
use std::collections::BTreeMap;

/// What requests are answered from.
pub struct Requests<'a> {
    /// The open documents by address.
    pub documents: &'a BTreeMap<String, Document>,
    /// What the editor can do.
    pub client: &'a Client,
}

impl Requests<'_> {
    /// Answers a request.
    pub fn answer(&self, r: Request) -> Answer<Value> {
        match r.method.as_str() {
            request::HoverRequest::METHOD => typed::<request::HoverRequest>(r, |p| {
                let (d, at) = self.at(p.text_document_position_params)?;
                Ok(hover::hover(d, at))
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
                Ok(Some(complete::complete(d, at, self.client.snippets).into()))
            }),
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

/// Reads the parameters of a request and writes the result of `answer`.
fn typed<R: request::Request>(
    r: Request,
    answer: impl FnOnce(R::Params) -> Answer<R::Result>,
) -> Answer<Value> {
    let params = serde_json::from_value(r.params)
        .map_err(|e| error(ErrorCode::InvalidParams, format!("{}: {e}", R::METHOD)))?;
    serde_json::to_value(answer(params)?).map_err(|e| error(ErrorCode::InternalError, e.to_string()))
}
