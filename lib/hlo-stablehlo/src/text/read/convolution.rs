//! Reading of the dimensions and windows of convolutions, products and slices.

use super::Reader;
use super::operation::Draft;
use crate::text::lex::{self, Cursor, Result, error_at, error_since};
use crate::tree::{Attribute, Elements, Type};
use hlo_ir::{AlignedBytes, Span};
use std::sync::Arc;

/// The dimensions of one array: those with a letter, and the numbered ones.
struct Dimensions {
    letters: Vec<i64>,
    spatial: Vec<i64>,
}

impl<'a> Reader<'a> {
    /// Reads `[b, 0, f]x[0, i, o]->[b, 0, f]`.
    pub fn convolution_dimensions(&mut self, c: &mut Cursor<'a>) -> Result<Attribute> {
        let input = dimensions(c, ["b", "f"])?;
        if !lex::eat_word(c, "x") {
            return Err(c.expected("`x`"));
        }
        let kernel = dimensions(c, ["i", "o"])?;
        c.expect("->")?;
        let output = dimensions(c, ["b", "f"])?;
        let fields = [
            ("input_batch_dimension", Attribute::i64(input.letters[0])),
            ("input_feature_dimension", Attribute::i64(input.letters[1])),
            ("input_spatial_dimensions", Attribute::i64s(input.spatial)),
            ("kernel_input_feature_dimension", Attribute::i64(kernel.letters[0])),
            ("kernel_output_feature_dimension", Attribute::i64(kernel.letters[1])),
            ("kernel_spatial_dimensions", Attribute::i64s(kernel.spatial)),
            ("output_batch_dimension", Attribute::i64(output.letters[0])),
            ("output_feature_dimension", Attribute::i64(output.letters[1])),
            ("output_spatial_dimensions", Attribute::i64s(output.spatial)),
        ];
        Ok(Attribute::of_fields("stablehlo.conv", fields))
    }

    /// Reads `batching_dims = [0] x [0], contracting_dims = [2] x [1]`.
    pub fn dot_dimensions(&mut self, c: &mut Cursor<'a>) -> Result<Attribute> {
        let mut batching = None;
        if lex::eat_word(c, "batching_dims") {
            batching = Some(self.pair_of_lists(c)?);
            c.expect(",")?;
        }
        if !lex::eat_word(c, "contracting_dims") {
            return Err(c.expected("`contracting_dims = […] x […]`"));
        }
        let (left, right) = self.pair_of_lists(c)?;
        let none = || Attribute::i64s(Vec::new());
        let (left_batch, right_batch) = batching.unwrap_or_else(|| (none(), none()));
        let fields = [
            ("lhs_batching_dimensions", left_batch),
            ("rhs_batching_dimensions", right_batch),
            ("lhs_contracting_dimensions", left),
            ("rhs_contracting_dimensions", right),
        ];
        Ok(Attribute::of_fields("stablehlo.dot", fields))
    }

    /// Reads `= [0] x [1]`.
    fn pair_of_lists(&mut self, c: &mut Cursor<'a>) -> Result<(Attribute, Attribute)> {
        c.expect("=")?;
        let left = self.integers(c)?;
        if !lex::eat_word(c, "x") {
            return Err(c.expected("`x`"));
        }
        Ok((left, self.integers(c)?))
    }

    /// Reads `[0:4, 1:5:2]`.
    pub fn slice_ranges(&mut self, c: &mut Cursor<'a>, draft: &mut Draft<'_>) -> Result<()> {
        let (mut starts, mut limits, mut strides) = (Vec::new(), Vec::new(), Vec::new());
        c.list("[", "]", |c| {
            starts.push(lex::integer(c)?);
            c.expect(":")?;
            limits.push(lex::integer(c)?);
            strides.push(if c.eat(":") { lex::integer(c)? } else { 1 });
            Ok(())
        })?;
        draft.attributes.set("start_indices", Attribute::i64s(starts));
        draft.attributes.set("limit_indices", Attribute::i64s(limits));
        draft.attributes.set("strides", Attribute::i64s(strides));
        Ok(())
    }

    /// Reads `stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse =
    /// [false, false]`.
    pub fn window(&mut self, c: &mut Cursor<'a>, draft: &mut Draft<'_>) -> Result<()> {
        while c.peek() != b'}' {
            let start = c.offset_of_next();
            let word = lex::word(c);
            let name = match word {
                "stride" => "window_strides",
                "pad" => "padding",
                "lhs_dilate" => "lhs_dilation",
                "rhs_dilate" => "rhs_dilation",
                "reverse" => "window_reversal",
                _ => {
                    c.rewind(start);
                    return Err(c.expected("`stride`, `pad`, `lhs_dilate`, `rhs_dilate` or `reverse`"));
                }
            };
            if draft.attributes.get(name).is_some() {
                return Err(error_since(c, start, format!("`{word}` is given twice")));
            }
            c.expect("=")?;
            let value = match word {
                "pad" => padding(c)?,
                "reverse" => {
                    let flags = c.list("[", "]", |c| {
                        let is_number = lex::at_number(c);
                        Ok(i64::from(if is_number { lex::integer::<i64>(c)? != 0 } else { lex::boolean(c)? }))
                    })?;
                    Attribute::DenseArray(Type::integer(1), flags.into())
                }
                _ => self.integers(c)?,
            };
            draft.attributes.set(name, value);
            if !c.eat(",") {
                break;
            }
        }
        Ok(())
    }
}

/// Reads `[[0, 1], [2, 3]]`, a matrix of two columns.
fn padding(c: &mut Cursor<'_>) -> Result<Attribute> {
    let rows = c.list("[", "]", |c| {
        let start = c.offset_of_next();
        let row = c.list("[", "]", lex::integer::<i64>)?;
        <[i64; 2]>::try_from(row).map_err(|_| error_since(c, start, "expected two numbers, `[low, high]`"))
    })?;
    let ty = Type::tensor([rows.len() as i64, 2], Type::integer(64));
    let bytes: Vec<u8> = rows.iter().flatten().flat_map(|n| n.to_le_bytes()).collect();
    let first = rows.first().map(|row| row[0]);
    let is_splat = first.is_some_and(|first| rows.iter().flatten().all(|&n| n == first));
    let bytes = if is_splat { &bytes[..8] } else { &bytes[..] };
    let elements = Elements { ty, bytes: Arc::new(AlignedBytes::from_slice(bytes)), is_splat };
    Ok(Attribute::Elements(Arc::new(elements)))
}

/// Reads `[b, 0, 1, f]`: each letter once, and the numbers from 0 on.
fn dimensions(c: &mut Cursor<'_>, letters: [&str; 2]) -> Result<Dimensions> {
    let start = c.offset_of_next();
    let mut of_letter = [None; 2];
    let mut of_number: Vec<(usize, i64)> = Vec::new();
    let mut position = 0;
    c.list("[", "]", |c| {
        let at = c.offset_of_next();
        if lex::at_number(c) {
            of_number.push((lex::integer(c)?, position));
        } else {
            let word = lex::word(c);
            let Some(i) = letters.iter().position(|&l| l == word).filter(|&i| of_letter[i].is_none()) else {
                c.rewind(at);
                let [a, b] = letters;
                return Err(c.expected(&format!("`{a}`, `{b}` or a number, each once")));
            };
            of_letter[i] = Some(position);
        }
        position += 1;
        Ok(())
    })?;
    let span: Span = c.since(start);
    let [Some(first), Some(second)] = of_letter else {
        return Err(error_at(
            span,
            format!("the dimensions `{}` and `{}` are expected", letters[0], letters[1]),
        ));
    };
    of_number.sort_unstable();
    if of_number.iter().enumerate().any(|(i, &(number, _))| i != number) {
        return Err(error_at(span, "spatial dimensions are numbered from 0 on, each once"));
    }
    Ok(Dimensions {
        letters: vec![first, second],
        spatial: of_number.into_iter().map(|(_, at)| at).collect(),
    })
}
