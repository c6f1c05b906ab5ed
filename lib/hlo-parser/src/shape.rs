//! Shapes: `f32[2,<=3,?]{1,0:T(8,128)}`, `(f32[], token[])`, `b(f32[4])`.

use crate::cursor::Cursor;
use crate::suggest::nearest;
use hlo_ir::diag::Diag;
use hlo_ir::{ArrayShape, ElementType, Layout, Shape};

/// Reads a shape. A brace that follows an array's sizes is its layout.
pub fn read(c: &mut Cursor<'_>) -> Result<Shape, Diag> {
    read_shape(c, 0, false)
}

/// Reads a shape that a value follows: a brace that follows the sizes is the layout only if another value
/// follows it, so that both `s32[2] {1,0}` and `s32[2]{0} {1,0}` are a shape and a value.
pub fn read_before_value(c: &mut Cursor<'_>) -> Result<Shape, Diag> {
    read_shape(c, 0, true)
}

fn read_shape(c: &mut Cursor<'_>, depth: usize, value_follows: bool) -> Result<Shape, Diag> {
    match c.peek() {
        _ if depth > crate::scan::MAX_DEPTH => Err(c.expected("a shape that nests less deeply")),
        b'(' => read_tuple(c, depth),
        b'b' if c.rest()[1..].trim_start().starts_with('(') => {
            c.expect(b'b')?;
            c.expect(b'(')?;
            let inner = read_shape(c, depth + 1, false)?;
            c.expect(b')')?;
            Ok(Shape::Buffer(Box::new(inner)))
        }
        _ => read_array(c, value_follows),
    }
}

fn read_tuple(c: &mut Cursor<'_>, depth: usize) -> Result<Shape, Diag> {
    c.expect(b'(')?;
    let mut elements = Vec::new();
    if c.eat(b')') {
        return Ok(Shape::Tuple(elements));
    }
    loop {
        elements.push(read_shape(c, depth + 1, false)?);
        if c.eat(b')') {
            return Ok(Shape::Tuple(elements));
        }
        if !c.eat(b',') {
            return Err(c.expected("`,` or `)`"));
        }
    }
}

fn read_array(c: &mut Cursor<'_>, value_follows: bool) -> Result<Shape, Diag> {
    c.skip_space();
    let start = c.offset();
    let name = c.take_while(|b| b.is_ascii_alphanumeric() || b == b'_');
    let span = c.since(start);
    if name.is_empty() {
        return Err(c.expected("a shape such as `f32[2,3]`"));
    }
    let element_type = match name {
        "token" | "opaque" => {
            c.expect(b'[')?;
            c.expect(b']')?;
            return Ok(if name == "token" { Shape::Token } else { Shape::Opaque });
        }
        _ => {
            ElementType::from_name(name).ok_or_else(|| unknown_type(name).at(span, "not an element type"))?
        }
    };
    c.expect(b'[')?;
    let mut array = ArrayShape::new(element_type, []);
    read_sizes(c, &mut array)?;
    if c.peek() == b'{' {
        let here = c.offset();
        let layout = read_layout(c, array.rank());
        if value_follows && (layout.is_err() || c.at_end()) {
            c.rewind(here);
        } else {
            let layout = layout?;
            // `f32[]{}` says nothing.
            let says_something = array.rank() > 0 || !layout.items.is_empty();
            array.layout = says_something.then_some(layout);
        }
    }
    Ok(Shape::Array(array))
}

fn unknown_type(name: &str) -> Diag {
    let diag = Diag::error(format!("unknown element type `{name}`"));
    let names = ElementType::ALL.iter().map(|t| t.name()).chain(["token", "opaque"]);
    match nearest(name, names.clone()) {
        Some(n) => diag.note(format!("did you mean `{n}`?")),
        None => diag.note(format!("the types are {}", names.collect::<Vec<_>>().join(", "))),
    }
}

/// Reads `2,<=3,?]`.
fn read_sizes(c: &mut Cursor<'_>, array: &mut ArrayShape) -> Result<(), Diag> {
    if c.eat(b']') {
        return Ok(());
    }
    loop {
        let (size, dynamic) = match c.peek() {
            b'?' => {
                c.eat(b'?');
                (ArrayShape::UNBOUNDED, true)
            }
            b'<' => {
                c.expect(b'<')?;
                c.expect(b'=')?;
                (c.unsigned()?, true)
            }
            b'0'..=b'9' => (c.unsigned()?, false),
            _ => return Err(c.expected("a dimension size, such as `4`, `<=4` or `?`")),
        };
        if dynamic && array.dynamic.is_empty() {
            array.dynamic.resize(array.dims.len(), false);
        }
        array.dims.push(size);
        if dynamic || !array.dynamic.is_empty() {
            array.dynamic.push(dynamic);
        }
        if c.eat(b']') {
            return Ok(());
        }
        if !c.eat(b',') {
            return Err(c.expected("`,` or `]`"));
        }
    }
}

/// Reads `{1,0:T(8,128)}`; which dimensions it must name is the array's rank.
fn read_layout(c: &mut Cursor<'_>, rank: usize) -> Result<Layout, Diag> {
    let start = c.offset();
    c.expect(b'{')?;
    let mut layout = Layout::default();
    while c.peek().is_ascii_digit() {
        let at = c.offset();
        let d = c.unsigned()?;
        let small = u32::try_from(d).ok().filter(|&d| (d as usize) < rank);
        let Some(d) = small.filter(|d| !layout.minor_to_major.contains(d)) else {
            let message = format!("a layout of rank {rank} names each of the dimensions below {rank} once");
            return Err(Diag::error(message).at(c.since(at), ""));
        };
        layout.minor_to_major.push(d);
        if !c.eat(b',') {
            break;
        }
    }
    if c.eat(b':') {
        layout.items = read_items(c)?.into();
    }
    if !c.eat(b'}') {
        return Err(c.expected("`}` or a layout item"));
    }
    if layout.minor_to_major.len() != rank {
        let message =
            format!("the layout names {} of the array's {rank} dimensions", layout.minor_to_major.len());
        return Err(Diag::error(message).at(c.since(start), ""));
    }
    Ok(layout)
}

/// The names of layout items: dimension level types, tiles, tail padding, index and pointer types, element
/// size, memory space, split configs, physical shape, dynamic metadata bytes.
const ITEMS: &[&str] = &["D", "T", "L", "#", "*", "E", "SC", "S", "P", "M"];

/// Reads the layout's items as one text without blanks: `T(8,128)(2,1)E(4)S(1)`.
fn read_items(c: &mut Cursor<'_>) -> Result<String, Diag> {
    let mut out = String::new();
    while c.peek() != b'}' {
        let name = ITEMS.iter().find(|n| c.eat_str(n));
        let Some(name) = name else {
            return Err(c.expected("a layout item such as `T(8,128)`, `E(4)` or `S(1)`"));
        };
        out.push_str(name);
        if c.peek() != b'(' {
            return Err(c.expected("`(`"));
        }
        while c.peek() == b'(' {
            read_group(c, &mut out)?;
        }
    }
    Ok(out)
}

/// Appends a balanced `(…)` without its blanks.
fn read_group(c: &mut Cursor<'_>, out: &mut String) -> Result<(), Diag> {
    let mut depth = 0usize;
    loop {
        let b = c.peek();
        match b {
            0 => return Err(c.expected("`)`")),
            b'(' => depth += 1,
            b')' => depth -= 1,
            b if !b.is_ascii() || b.is_ascii_control() => return Err(c.expected("a layout item")),
            _ => {}
        }
        c.eat(b);
        out.push(b as char);
        if depth == 0 {
            return Ok(());
        }
    }
}
