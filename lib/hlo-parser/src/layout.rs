//! Parsing of layouts, such as `{1,0:T(8,128)(2,1)E(4)S(5)}`.

use hlo_ir::cursor::Cursor;
use hlo_ir::diag::Diag;
use hlo_ir::rules::code;
use hlo_ir::{
    ArrayShape, DimensionLevel, ElementType, Layout, LayoutItems, LevelKind, SplitConfig, Tile, TileSize,
};

/// The names of the items, in the order required by the text.
const ITEMS: [&str; 10] = ["D", "T", "L", "#", "*", "E", "S", "SC", "P", "M"];

/// Reads the layout of `array`, starting at its opening brace.
pub fn read_layout(c: &mut Cursor<'_>, array: &ArrayShape) -> Result<Layout, Diag> {
    let rank = array.rank();
    let start = c.offset_of_next();
    c.expect("{")?;
    let mut layout = Layout::default();
    let mut seen = vec![false; rank];
    if !matches!(c.peek(), b':' | b'}') {
        c.separated(|c| {
            let at = c.offset_of_next();
            let d = integer(c, "a dimension number")?;
            let Some(seen) = usize::try_from(d).ok().and_then(|d| seen.get_mut(d)) else {
                let dims = match rank {
                    0 => "it is a scalar, without any".into(),
                    1 => "its only dimension is 0".into(),
                    _ => format!("its dimensions are 0 to {}", rank - 1),
                };
                let message =
                    format!("the layout names dimension {d}, which `{array}` does not have: {dims}");
                return Err(Diag::error(message).with_code(code::LAYOUT_DIMENSIONS).at(c.since(at), ""));
            };
            if std::mem::replace(seen, true) {
                let message = format!("the layout names dimension {d} of `{array}` twice");
                return Err(Diag::error(message)
                    .with_code(code::LAYOUT_DIMENSIONS)
                    .at(c.since(at), "named again here"));
            }
            layout.minor_to_major.push(d as u32);
            Ok(())
        })?;
    }
    if c.eat(":") {
        layout = layout.with_items(read_items(c, array)?);
    } else if c.peek() != b'}' {
        return Err(c.expected("`,`, `:` or `}`"));
    }
    c.expect("}")?;
    if let Some(missing) = seen.iter().position(|s| !s) {
        let message = format!("the layout of `{array}` does not name its dimension {missing}");
        let named = layout.minor_to_major.len();
        return Err(Diag::error(message)
            .with_code(code::LAYOUT_DIMENSIONS)
            .at(c.since(start), format!("{named} of {rank} dimensions")));
    }
    Ok(layout)
}

fn read_items(c: &mut Cursor<'_>, array: &ArrayShape) -> Result<LayoutItems, Diag> {
    let mut items = LayoutItems::default();
    let mut next = 0;
    while c.peek() != b'}' {
        let start = c.offset();
        let name = match c.byte() {
            b'#' | b'*' => &c.rest()[..1],
            _ => c.take_while(|b| b.is_ascii_alphabetic()),
        };
        let Some(place) = ITEMS.iter().position(|&i| i == name) else {
            c.rewind(start);
            return Err(c.expected("a layout item such as `T(8,128)`, `E(4)` or `S(1)`"));
        };
        if matches!(name, "#" | "*") {
            c.advance(1);
        }
        if place < next {
            let message = if place + 1 == next {
                format!("the layout item `{name}` stands twice")
            } else {
                format!("the layout item `{name}` must stand before `{}`", ITEMS[next - 1])
            };
            let order = format!("the order is {}", ITEMS.join(" "));
            return Err(Diag::error(message).with_code(code::LAYOUT_ITEM).at(c.since(start), "").note(order));
        }
        next = place + 1;
        read_item(c, array, name, start, &mut items)?;
    }
    Ok(items)
}

/// Reads the value of an item. Its name is at `start`.
fn read_item(
    c: &mut Cursor<'_>,
    array: &ArrayShape,
    name: &str,
    start: usize,
    items: &mut LayoutItems,
) -> Result<(), Diag> {
    match name {
        "D" => {
            items.dimension_levels = c.list("(", ")", level)?;
        }
        "T" => {
            // Without sizes, it is one tile without dimensions, as in XLA.
            if c.peek() != b'(' {
                items.tiles.push(Tile::default());
            }
            while c.peek() == b'(' {
                items.tiles.push(Tile(c.list("(", ")", tile_size)?.into()));
            }
        }
        "L" => items.tail_padding = Some(group(c, "L", 1, i64::MAX)?).filter(|&n| n != 1),
        "#" => items.index_type = Some(integer_type(c)?),
        "*" => items.pointer_type = Some(integer_type(c)?),
        "E" => items.element_size_bits = group(c, "E", 0, i64::MAX)?,
        // XLA stores 32 bits of it.
        "S" => items.memory_space = group(c, "S", i32::MIN.into(), i32::MAX.into())? as i32,
        "SC" => {
            if c.peek() != b'(' {
                return Err(c.expected("`(` and a split such as `(0:10,20)`"));
            }
            while c.eat("(") {
                items.split_configs.push(split(c, array)?);
            }
        }
        "M" => items.metadata_prefix_bytes = group(c, "M", 0, i64::MAX)?,
        _ => {
            let message = "a layout with a physical shape is for sparse arrays, which HLO no longer has";
            return Err(Diag::error(message).with_code(code::LAYOUT_ITEM).at(c.since(start), ""));
        }
    }
    Ok(())
}

/// Reads a dimension level such as `D`, `C+` or `S~`.
fn level(c: &mut Cursor<'_>) -> Result<DimensionLevel, Diag> {
    let letter = c.peek();
    let Some(&(kind, _)) = LevelKind::ALL.iter().find(|&&(_, l)| l as u32 == u32::from(letter)) else {
        return Err(c.expected("how a dimension is stored: `D`, `C`, `S` or `H`"));
    };
    c.advance(1);
    Ok(DimensionLevel { kind, unique: !c.eat("+"), ordered: !c.eat("~") })
}

fn tile_size(c: &mut Cursor<'_>) -> Result<TileSize, Diag> {
    if c.eat("*") {
        return Ok(TileSize::Combine);
    }
    let start = c.offset_of_next();
    match integer(c, "a tile size, such as `8` or `*`")? {
        n if n < 0 => {
            let diag = Diag::error(format!("a tile size is not negative, found {n}"));
            Err(diag.with_code(code::LAYOUT_ITEM).at(c.since(start), ""))
        }
        n => Ok(TileSize::Elements(n)),
    }
}

/// Reads the rest of a split after its opening parenthesis, such as `0:10,20)`.
fn split(c: &mut Cursor<'_>, array: &ArrayShape) -> Result<SplitConfig, Diag> {
    let start = c.offset_of_next();
    let dimension = integer(c, "a dimension number")?;
    if usize::try_from(dimension).map_or(true, |d| d >= array.rank()) {
        let message = format!("the layout splits dimension {dimension} of `{array}`");
        return Err(Diag::error(message)
            .with_code(code::LAYOUT_ITEM)
            .at(c.since(start), format!("it has {} dimensions", array.rank())));
    }
    if !c.eat(":") {
        return Err(c.expected("`:` and the indices to split at, as in `(0:10,20)`"));
    }
    let indices = if c.eat(")") { Vec::new() } else { c.items(")", |c| integer(c, "an index"))? };
    Ok(SplitConfig { dimension, indices })
}

fn integer_type(c: &mut Cursor<'_>) -> Result<ElementType, Diag> {
    c.expect("(")?;
    let start = c.offset_of_next();
    let name = c.take_while(|b| b.is_ascii_alphanumeric());
    match ElementType::from_name(name).filter(|t| t.is_integer()) {
        Some(t) => c.expect(")").map(|()| t),
        None => {
            c.rewind(start);
            Err(c.expected("an integer type such as `u32`"))
        }
    }
}

/// Reads `(n)` after an item's name. `n` must be within the limits.
fn group(c: &mut Cursor<'_>, name: &str, low: i64, high: i64) -> Result<i64, Diag> {
    c.expect("(")?;
    let start = c.offset_of_next();
    let n = integer(c, "a number")?;
    if n < low || n > high {
        let message = format!("{n} is out of range for the layout item `{name}`");
        return Err(Diag::error(message)
            .with_code(code::LAYOUT_ITEM)
            .at(c.since(start), format!("it must be from {low} to {high}")));
    }
    c.expect(")")?;
    Ok(n)
}

/// Reads an integer, which may be negative.
fn integer(c: &mut Cursor<'_>, what: &str) -> Result<i64, Diag> {
    let start = c.offset_of_next();
    let word = c.take_while(|b| b.is_ascii_alphanumeric() || b == b'-');
    let digits = word.strip_prefix('-').unwrap_or(word);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        c.rewind(start);
        return Err(c.expected(what));
    }
    let too_large = || Diag::error("the number does not fit 64 bits").with_code(code::LAYOUT_ITEM);
    word.parse().map_err(|_| too_large().at(c.since(start), ""))
}
