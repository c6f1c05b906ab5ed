//! Reading of pretty forms piece by piece.

use super::Reader;
use super::operation::Draft;
use crate::text::format::{AttributeForm, Form, Piece, Types};
use crate::text::lex::{self, Cursor, Result, error_since};
use crate::tree::{Attribute, Type};

impl<'a> Reader<'a> {
    /// Reads the text after the name of an operation.
    pub fn pretty(&mut self, c: &mut Cursor<'a>, draft: &mut Draft<'_>, form: Form) -> Result<()> {
        match form {
            Form::Pieces(pieces) => self.pieces(c, draft, pieces),
            Form::Constant => self.constant(c, draft),
            Form::TypedConstant => self.typed_constant(c, draft),
            Form::Reduce => self.reduce(c, draft),
            Form::While => self.while_loop(c, draft),
            Form::Scan => self.scan(c, draft),
            Form::Function => self.function(c, draft),
            Form::Module => self.module(c, draft),
        }
    }

    fn pieces(&mut self, c: &mut Cursor<'a>, draft: &mut Draft<'_>, pieces: &[Piece]) -> Result<()> {
        for &piece in pieces {
            self.piece(c, draft, piece)?;
        }
        Ok(())
    }

    fn named_attribute(
        &mut self,
        c: &mut Cursor<'a>,
        draft: &mut Draft<'_>,
        name: &'static str,
        how: AttributeForm,
    ) -> Result<()> {
        let value = self.attribute_as(c, how)?;
        let name = self.name(name);
        draft.attributes.set(name, value);
        Ok(())
    }

    fn piece(&mut self, c: &mut Cursor<'a>, draft: &mut Draft<'_>, piece: Piece) -> Result<()> {
        match piece {
            Piece::Text(text) => expect_text(c, text)?,
            Piece::Operand => self.operand(c, draft)?,
            Piece::Operands if c.peek() == b'%' => self.operands(c, draft)?,
            Piece::Operands => {}
            Piece::OperandsAndCommas => {
                while c.peek() == b'%' {
                    self.operand(c, draft)?;
                    c.expect(",")?;
                }
            }
            Piece::OperandsAndTypes => {
                if c.peek() == b'%' {
                    self.operands(c, draft)?;
                    self.signature(c, draft, Types::Operands)?;
                }
            }
            Piece::Attribute(name, how) => self.named_attribute(c, draft, name, how)?,
            Piece::Optional(name, text, how) => {
                if follows(c, text, how) {
                    expect_text(c, text)?;
                    self.named_attribute(c, draft, name, how)?;
                }
            }
            Piece::SliceRanges => self.slice_ranges(c, draft)?,
            Piece::DotDimensions => {
                let value = self.dot_dimensions(c)?;
                draft.attributes.set("dot_dimension_numbers", value);
            }
            Piece::Window => self.window(c, draft)?,
            Piece::ExponentMantissa(exponent, mantissa) => {
                let (e, m) = exponent_mantissa(c)?;
                draft.attributes.set(exponent, Attribute::Integer(e, Type::integer(32)));
                draft.attributes.set(mantissa, Attribute::Integer(m, Type::integer(32)));
            }
            Piece::Dictionary => self.more_attributes(c, draft)?,
            Piece::Types(types) => self.signature(c, draft, types)?,
            Piece::Regions => self.regions_in_parentheses(c, draft)?,
            Piece::RegionWithArguments => {
                let arguments = c.list("(", ")", |c| self.argument(c))?;
                let region = self.region(c, draft, &arguments)?;
                draft.regions.push(region);
            }
        }
        Ok(())
    }

    fn attribute_as(&mut self, c: &mut Cursor<'a>, how: AttributeForm) -> Result<Attribute> {
        Ok(match how {
            AttributeForm::Any => self.attribute(c)?,
            AttributeForm::Integer(32) => {
                Attribute::Integer(lex::integer::<i32>(c)?.into(), Type::integer(32))
            }
            AttributeForm::Integer(bits) => {
                Attribute::Integer(lex::integer::<i64>(c)?.into(), Type::integer(bits))
            }
            AttributeForm::Unsigned(32) => {
                Attribute::Integer(lex::integer::<u32>(c)?.into(), Type::unsigned(32))
            }
            AttributeForm::Unsigned(bits) => {
                Attribute::Integer(lex::integer::<u64>(c)?.into(), Type::unsigned(bits))
            }
            AttributeForm::Integers => self.integers(c)?,
            AttributeForm::Float => self.float(c)?,
            AttributeForm::Bool => Attribute::Bool(lex::boolean(c)?),
            AttributeForm::String => Attribute::String(lex::string(c)?.into()),
            AttributeForm::Symbol => self.symbol(c)?,
            AttributeForm::StringSymbol => Attribute::string(&lex::symbol(c)?),
            AttributeForm::Word(kind) => self.word_of(c, kind)?,
            AttributeForm::WordOf(words) => {
                let start = c.offset_of_next();
                let word = lex::some_word(c, "a word")?;
                let Some(position) = words.iter().position(|w| *w == word) else {
                    return Err(error_since(c, start, format!("`{word}` is none of {}", words.join(", "))));
                };
                Attribute::Integer(position as i128, Type::integer(32))
            }
            AttributeForm::Words(kind) => {
                Attribute::Array(c.list("[", "]", |c| self.word_of(c, kind))?.into())
            }
            AttributeForm::Body(kind) => {
                let start = c.offset_of_next();
                if c.byte() == b'#' { self.attribute(c)? } else { self.attribute_of_kind(c, start, kind)? }
            }
            AttributeForm::ConvolutionDimensions => self.convolution_dimensions(c)?,
            AttributeForm::Shardings => self.shardings(c)?,
        })
    }

    fn word_of(&mut self, c: &mut Cursor<'a>, kind: &str) -> Result<Attribute> {
        // A whole attribute is valid here as well: `#stablehlo<precision DEFAULT>`.
        if c.peek() == b'#' {
            return self.attribute(c);
        }
        Ok(Attribute::Enum(self.name(kind), self.word(c)?))
    }
}

/// Returns the words and symbols of a text.
fn tokens(text: &'static str) -> impl Iterator<Item = &'static str> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut rest = text.trim_start();
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let len =
            if is_word(first) { rest.find(|c| !is_word(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
        let (token, after) = rest.split_at(len);
        rest = after.trim_start();
        Some(token)
    })
}

fn expect_text(c: &mut Cursor<'_>, text: &'static str) -> Result<()> {
    for token in tokens(text) {
        if !eat_token(c, token) {
            return Err(c.expected(&format!("`{token}`")));
        }
    }
    Ok(())
}

fn eat_token(c: &mut Cursor<'_>, token: &str) -> bool {
    if token.starts_with(|c: char| c.is_ascii_alphabetic()) { lex::eat_word(c, token) } else { c.eat(token) }
}

/// Checks whether an optional attribute comes next: its text, or its word if the text is blank.
fn follows(c: &mut Cursor<'_>, text: &'static str, how: AttributeForm) -> bool {
    let start = c.offset_of_next();
    let found = match how {
        AttributeForm::WordOf(words) if text == " " => words.contains(&lex::word(c)),
        _ => tokens(text).all(|token| eat_token(c, token)),
    };
    c.rewind(start);
    found
}

/// Reads `e5m10`.
fn exponent_mantissa(c: &mut Cursor<'_>) -> Result<(i128, i128)> {
    let start = c.offset_of_next();
    let word = lex::word(c);
    let parts = word.strip_prefix('e').and_then(|w| w.split_once('m'));
    let number =
        |digits: &str| digits.parse::<i32>().ok().filter(|_| digits.bytes().all(|b| b.is_ascii_digit()));
    let numbers = parts.and_then(|(e, m)| Some((number(e)?.into(), number(m)?.into())));
    numbers.ok_or_else(|| {
        c.rewind(start);
        c.expected("a format such as `e5m10`")
    })
}
