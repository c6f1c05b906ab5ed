//! Encoding of locations.

use super::encoder::{Encoder, Form};
use super::tables::{AttributeId, Token};
use crate::bytecode::fault::Result;
use crate::dialect::Version;
use crate::tree::{FileRange, Location};
use std::sync::Arc;

impl Encoder {
    /// Encodes a location.
    pub(super) fn location(&mut self, location: &Location) -> Result<AttributeId> {
        self.nested(|encoder| encoder.location_entry(location))
    }

    fn location_entry(&mut self, location: &Location) -> Result<AttributeId> {
        let tokens = match location {
            Location::Unknown => vec![Token::Number(15)],
            Location::File(range) => {
                let key = Arc::as_ptr(range);
                if let Some((_, id)) = self.known_files.get(&key) {
                    return Ok(*id);
                }
                let tokens = self.file(range);
                let id = self.tables.attribute("builtin", tokens);
                self.known_files.insert(key, (Arc::clone(range), id));
                return Ok(id);
            }
            Location::Named(name, inner) => {
                let name = self.string(name.as_bytes());
                vec![Token::Number(14), Token::Attribute(name), Token::Attribute(self.location(inner)?)]
            }
            Location::CallSite { callee, caller } => {
                let (callee, caller) = (self.location(callee)?, self.location(caller)?);
                vec![Token::Number(10), Token::Attribute(callee), Token::Attribute(caller)]
            }
            Location::Fused(parts, metadata) => {
                let code = if metadata.is_some() { 13 } else { 12 };
                let mut tokens = vec![Token::Number(code), Token::Number(parts.len() as u64)];
                for part in parts.iter() {
                    tokens.push(Token::Attribute(self.location(part)?));
                }
                if let Some(metadata) = metadata {
                    tokens.push(Token::Attribute(self.attribute(metadata, Form::Builtin)?));
                }
                tokens
            }
        };
        Ok(self.tables.attribute("builtin", tokens))
    }

    /// Returns the tokens of a file range. Older versions only have single positions.
    fn file(&mut self, range: &FileRange) -> Vec<Token> {
        let FileRange { file, line, column, end_line, end_column } = range;
        let file = Token::Attribute(self.string(file.as_bytes()));
        let number = |n: u32| Token::Number(n.into());
        let is_place = (line, column) == (end_line, end_column);
        if is_place || self.version < Version::new(1, 9, 0) {
            return vec![Token::Number(11), file, number(*line), number(*column)];
        }
        let numbers = if line == end_line {
            vec![*line, *column, *end_column]
        } else {
            vec![*line, *column, *end_line, *end_column]
        };
        let mut tokens = vec![Token::Number(22), file, Token::Number(numbers.len() as u64)];
        tokens.extend(numbers.into_iter().map(number));
        tokens
    }
}
