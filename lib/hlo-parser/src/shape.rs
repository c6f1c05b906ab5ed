//! Parsing of shapes, such as `f32[2,<=3,?]{1,0:T(8,128)}`, `(f32[], token[])` or `b(f32[4])`.

use crate::layout::read_layout;
use crate::scan::matching;
use hlo_ir::blank::TrimBlanks;
use hlo_ir::cursor::Cursor;
use hlo_ir::diag::Diag;
use hlo_ir::rules::code;
use hlo_ir::suggest::nearest;
use hlo_ir::{ArrayShape, ElementType, Shape, Span};

/// Reads a shape. A brace after an array's sizes starts its layout.
pub fn read(c: &mut Cursor<'_>) -> Result<Shape, Diag> {
    read_shape(c, 0, false).map_err(in_shape)
}

/// Reads a shape that is followed by a value. A brace after the sizes starts a layout only if a value follows
/// it, so both `s32[2] {1,0}` and `s32[2]{0} {1,0}` are a shape and a value.
pub fn read_before_value(c: &mut Cursor<'_>) -> Result<Shape, Diag> {
    read_shape(c, 0, true).map_err(in_shape)
}

/// Returns the error with the code for shapes instead of the general syntax code.
fn in_shape(diag: Diag) -> Diag {
    if diag.code == Some(code::SYNTAX) { diag.with_code(code::SHAPE_SYNTAX) } else { diag }
}

fn read_shape(c: &mut Cursor<'_>, depth: usize, value_follows: bool) -> Result<Shape, Diag> {
    match c.peek() {
        _ if depth > crate::scan::MAX_DEPTH => Err(c.expected("a shape that nests less deeply")),
        b'(' => c.list("(", ")", |c| read_shape(c, depth + 1, false)).map(Shape::tuple),
        b'b' if c.rest()[1..].trim_blanks_start().starts_with('(') => read_buffer(c),
        _ => read_array(c, value_follows),
    }
}

/// Reads a buffer such as `b(f32[4])`. A buffer contains an array.
fn read_buffer(c: &mut Cursor<'_>) -> Result<Shape, Diag> {
    c.expect("b")?;
    c.expect("(")?;
    let start = c.offset_of_next();
    let tuple_or_buffer =
        c.peek() == b'(' || c.rest().trim_start_matches('b').trim_blanks_start().starts_with('(');
    let inner = if tuple_or_buffer { None } else { Some(read_array(c, false)?) };
    let Some(inner) = inner.filter(|s| s.as_array().is_some()) else {
        let end = c.offset().max(start + 1);
        let diag = Diag::error("a buffer holds an array, as in `b(f32[4])`").with_code(code::BUFFER);
        return Err(diag.at(Span::new(start, end), "not an array"));
    };
    c.expect(")")?;
    Ok(Shape::Buffer(Box::new(inner)))
}

fn read_array(c: &mut Cursor<'_>, value_follows: bool) -> Result<Shape, Diag> {
    let start = c.offset_of_next();
    let name = c.take_while(|b| b.is_ascii_alphanumeric() || b == b'_');
    let span = c.since(start);
    if name.is_empty() {
        return Err(c.expected("a shape such as `f32[2,3]`"));
    }
    let element_type = match name {
        "token" | "opaque" => {
            c.expect("[")?;
            if c.peek() != b']' {
                return Err(c.expected(&format!("`]`, as in `{name}[]`")));
            }
            c.expect("]")?;
            return Ok(if name == "token" { Shape::Token } else { Shape::Opaque });
        }
        _ => ElementType::from_name(name).ok_or_else(|| unknown_type(name, span))?,
    };
    if c.peek() != b'[' {
        return Err(c.expected(&format!("`[`, as in `{name}[2,3]` or, of a scalar, `{name}[]`")));
    }
    let mut array = ArrayShape::new(element_type, []);
    c.list("[", "]", |c| read_dimension(c, &mut array))?;
    let end = c.offset();
    if c.peek() != b'{' {
        c.rewind(end);
    } else {
        if value_follows && is_last_group(c.rest()) {
            c.rewind(end);
        } else {
            let layout = read_layout(c, &array)?;
            array = array.with_layout(layout);
        }
    }
    Ok(Shape::Array(array))
}

/// Returns whether no value follows the braces at the start of `rest`.
fn is_last_group(rest: &str) -> bool {
    let mut after = Cursor::new(rest, 0);
    after.advance(matching(rest, 0) + 1);
    matches!(after.peek(), 0 | b',' | b')' | b'}')
}

fn unknown_type(name: &str, span: Span) -> Diag {
    let diag = Diag::error(format!("unknown element type `{name}`"))
        .with_code(code::ELEMENT_TYPE_NAME)
        .at(span, "not an element type");
    let names = ElementType::ALL.iter().map(|t| t.name()).chain(["token", "opaque"]);
    match translated(name).map(ElementType::name).or_else(|| nearest(name, names)) {
        Some(n) => diag.did_you_mean(span, n),
        None => diag.note("an element type is spelt like `f32`, `bf16`, `s32`, `u8`, `pred` or `c64`"),
    }
}

/// Returns the type that `name` means in other languages: `float32`, `i64`, `bool`, `F32`.
fn translated(name: &str) -> Option<ElementType> {
    let lower = name.get(..24).unwrap_or(name).to_ascii_lowercase();
    let whole = match lower.as_str() {
        "bool" | "boolean" | "i1" => "pred",
        "half" => "f16",
        "float" => "f32",
        "double" => "f64",
        "int" => "s32",
        "uint" => "u32",
        "complex64" => "c64",
        "complex128" => "c128",
        _ => "",
    };
    let prefixes =
        [("bfloat", "bf"), ("float", "f"), ("uint", "u"), ("ui", "u"), ("si", "s"), ("int", "s"), ("i", "s")];
    let spelt =
        |(from, to): &(&str, &str)| ElementType::from_name(&format!("{to}{}", lower.strip_prefix(from)?));
    ElementType::from_name(whole)
        .or_else(|| ElementType::from_name(&lower))
        .or_else(|| prefixes.iter().find_map(spelt))
}

/// Reads the next dimension of `array`: `2`, `<=3` or `?`.
fn read_dimension(c: &mut Cursor<'_>, array: &mut ArrayShape) -> Result<(), Diag> {
    let start = c.offset_of_next();
    let (size, dynamic) = match c.peek() {
        b'?' => {
            c.advance(1);
            (ArrayShape::UNBOUNDED, true)
        }
        b'<' => {
            c.advance(1);
            if !c.eat_next("=") {
                return Err(c.expected("`=` and a bound, as in `<=4`"));
            }
            (read_size(c, array)?, true)
        }
        b'0'..=b'9' | b'-' => (read_size(c, array)?, false),
        _ => return Err(c.expected("a dimension size, such as `4`, `<=4` or `?`")),
    };
    if let Some(error) = ArrayShape::rank_error(array.rank() + 1) {
        let end = c.offset_of_next();
        return Err(Diag::error(error)
            .with_code(code::INVALID_SHAPE)
            .at(Span::new(start, end), "one too many"));
    }
    if dynamic && array.dynamic.is_empty() {
        array.dynamic.resize(array.dims.len(), false);
    }
    array.dims.push(size);
    if dynamic || !array.dynamic.is_empty() {
        array.dynamic.push(dynamic);
    }
    Ok(())
}

/// Reads the size of the next dimension of `array`.
fn read_size(c: &mut Cursor<'_>, array: &ArrayShape) -> Result<i64, Diag> {
    let start = c.offset_of_next();
    let word = c.name();
    let digits = word.strip_prefix('-').unwrap_or(word);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        c.rewind(start);
        return Err(c.expected("a dimension size, such as `4`, `<=4` or `?`"));
    }
    let dimension = array.rank();
    let wrong =
        |message: String| Err(Diag::error(message).with_code(code::DIMENSION_SIZE).at(c.since(start), ""));
    match word.parse::<i64>() {
        Ok(size) if size >= 0 => Ok(size),
        Ok(size) => wrong(format!("the size of dimension {dimension} is negative: {size}")),
        Err(_) => wrong(format!("the size of dimension {dimension} does not fit 63 bits")),
    }
}
