//! Reading of types.

use super::Reader;
use crate::text::lex::{self, Cursor, Result, error_since};
use crate::tree::{Attribute, DYNAMIC, FloatType, Quantization, Signedness, TensorType, Type, TypeKind};

impl<'a> Reader<'a> {
    /// Reads a type.
    pub fn ty(&mut self, c: &mut Cursor<'a>) -> Result<Type> {
        // Programs contain few different types, each of them often.
        if let Some(text) = tensor_text(c) {
            if let Some(ty) = self.types.get(text) {
                c.advance(text.len());
                return Ok(ty.clone());
            }
            let ty = self.nested(c, |r, c| r.uncached_type(c))?;
            self.types.insert(text, ty.clone());
            return Ok(ty);
        }
        self.nested(c, |r, c| r.uncached_type(c))
    }

    fn uncached_type(&mut self, c: &mut Cursor<'a>) -> Result<Type> {
        match c.peek() {
            b'(' => self.function_type(c),
            b'!' => self.dialect_type(c),
            _ => self.builtin_type(c),
        }
    }

    /// Reads `(…) -> …`.
    pub fn function_type(&mut self, c: &mut Cursor<'a>) -> Result<Type> {
        let inputs = c.list("(", ")", |c| self.ty(c))?;
        c.expect("->")?;
        let results = self.result_types(c)?;
        Ok(TypeKind::Function { inputs, results }.into())
    }

    /// Reads the result types after an arrow: one type, or several in parentheses.
    pub fn result_types(&mut self, c: &mut Cursor<'a>) -> Result<Vec<Type>> {
        match c.peek() {
            b'(' => c.list("(", ")", |c| self.ty(c)),
            _ => Ok(vec![self.ty(c)?]),
        }
    }

    fn builtin_type(&mut self, c: &mut Cursor<'a>) -> Result<Type> {
        let start = c.offset_of_next();
        let word = lex::peek_word(c);
        if word.is_empty() {
            return Err(c.expected("a type such as `tensor<4xf32>`"));
        }
        c.advance(word.len());
        Ok(match word {
            "tensor" => self.tensor(c)?,
            "memref" => self.memref(c)?,
            "complex" => {
                c.expect("<")?;
                let part = self.ty(c)?;
                c.expect(">")?;
                TypeKind::Complex(part).into()
            }
            "tuple" => TypeKind::Tuple(c.list("<", ">", |c| self.ty(c))?).into(),
            "index" => TypeKind::Index.into(),
            "none" => TypeKind::None.into(),
            "vector" => {
                return Err(error_since(c, start, "vectors are no types of StableHLO"));
            }
            _ => match number_type(word) {
                Some(ty) => ty,
                None => return Err(error_since(c, start, format!("`{word}` is no type"))),
            },
        })
    }

    /// Reads `<2x?xf32, #stablehlo.bounds<?, 4>>` or `<*xf32>`.
    fn tensor(&mut self, c: &mut Cursor<'a>) -> Result<Type> {
        c.expect("<")?;
        if c.eat("*") {
            c.expect("x")?;
            let element = self.ty(c)?;
            c.expect(">")?;
            return Ok(TypeKind::UnrankedTensor(element).into());
        }
        let dims = dimensions(c)?;
        let element = self.ty(c)?;
        let encoding = if c.eat(",") { Some(self.attribute(c)?) } else { None };
        c.expect(">")?;
        Ok(TypeKind::Tensor(TensorType { dims, element, encoding }).into())
    }

    fn memref(&mut self, c: &mut Cursor<'a>) -> Result<Type> {
        c.expect("<")?;
        let dims = dimensions(c)?;
        let element = self.ty(c)?;
        if c.peek() == b',' {
            return Err(c.expected("`>`: buffers have neither layout nor memory space here"));
        }
        c.expect(">")?;
        Ok(TypeKind::MemRef(TensorType { dims, element, encoding: None }).into())
    }

    /// Reads an alias or a type of a dialect, which start with `!`.
    fn dialect_type(&mut self, c: &mut Cursor<'a>) -> Result<Type> {
        let start = c.offset_of_next();
        c.expect("!")?;
        let name = lex::suffix(c, "the name of a type")?;
        if !name.contains('.') && c.byte() != b'<' {
            return self.type_alias(c, start, name);
        }
        Ok(match name {
            "stablehlo.token" | "mhlo.token" => TypeKind::Token.into(),
            "stablehlo.future" | "mhlo.future" => TypeKind::Future(c.list("<", ">", |c| self.ty(c))?).into(),
            "quant.uniform" => self.quantized(c)?,
            _ => {
                let end = body_end(c);
                let text = &c.rest()[..end];
                c.advance(end);
                TypeKind::Other(format!("{name}{text}").into()).into()
            }
        })
    }

    /// Reads `<i8<-127:127>:f32:1, {0.1, 0.2:3}>`.
    fn quantized(&mut self, c: &mut Cursor<'a>) -> Result<Type> {
        c.expect("<")?;
        let start = c.offset_of_next();
        // `u8` and `ui8` are equivalent.
        let storage = match lex::word(c) {
            word if word.starts_with('u') => {
                number_type(&format!("i{}", word.trim_start_matches(['u', 'i']))).map(|t| (t, false))
            }
            word => number_type(word).map(|t| (t, true)),
        };
        let Some((storage, signed)) = storage else {
            return Err(error_since(c, start, "expected a type of stored numbers such as `i8`"));
        };
        let TypeKind::Integer(bits @ 1..=32, _) = *storage else {
            return Err(error_since(c, start, "stored numbers are integers of at most 32 bits"));
        };
        let (mut storage_min, mut storage_max) =
            if signed { (-(1i64 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
        let storage = if signed { storage } else { Type::unsigned(bits) };
        if c.eat("<") {
            storage_min = lex::integer(c)?;
            c.expect(":")?;
            storage_max = lex::integer(c)?;
            c.expect(">")?;
        }
        c.expect(":")?;
        let expressed = self.ty(c)?;
        let mut axis = None;
        if c.eat(":") {
            if c.peek() == b'{' {
                return Err(c.expected("one dimension: quantization by blocks is not supported"));
            }
            axis = Some(lex::integer(c)?);
        }
        c.expect(",")?;
        let parts = match axis {
            Some(_) => c.list("{", "}", scale)?,
            None => vec![scale(c)?],
        };
        c.expect(">")?;
        let (scales, zero_points) = parts.into_iter().unzip();
        let kind = Quantization { storage, expressed, storage_min, storage_max, axis, scales, zero_points };
        Ok(TypeKind::Quantized(kind).into())
    }

    /// Reads the `bounds` of a tensor's dynamic dimensions.
    pub fn bounds(&mut self, c: &mut Cursor<'a>) -> Result<Attribute> {
        let bounds = c.list("<", ">", size)?;
        Ok(Attribute::of_fields("stablehlo.bounds", [("bounds", Attribute::i64s(bounds))]))
    }
}

/// Reads `0.5:3` or `0.5`.
fn scale(c: &mut Cursor<'_>) -> Result<(f64, i64)> {
    let start = c.offset_of_next();
    let digits = lex::number(c, "a scale")?;
    let Ok(value) = digits.parse::<f64>() else {
        return Err(error_since(c, start, "a scale is a number such as `0.5`"));
    };
    let zero = if c.eat(":") { lex::integer(c)? } else { 0 };
    Ok((value, zero))
}

/// Reads a size or `?`.
pub fn size(c: &mut Cursor<'_>) -> Result<i64> {
    if c.eat("?") { Ok(DYNAMIC) } else { lex::integer(c) }
}

/// Reads `2x?x`, the sizes before an element type.
fn dimensions(c: &mut Cursor<'_>) -> Result<Vec<i64>> {
    let mut dims = Vec::new();
    loop {
        let start = c.offset_of_next();
        if c.eat("?") {
            dims.push(DYNAMIC);
        } else if c.byte().is_ascii_digit() {
            let digits = c.take_while(|b| b.is_ascii_digit());
            let size = digits.parse::<i64>();
            dims.push(size.map_err(|_| error_since(c, start, format!("the size {digits} is out of range")))?);
        } else {
            return Ok(dims);
        }
        c.expect("x")?;
    }
}

/// Returns the type of a word such as `f32`, `i8` or `ui4`.
fn number_type(word: &str) -> Option<Type> {
    let integer = |digits: &str, sign| {
        let plain =
            !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) && !digits.starts_with('0');
        let bits: u32 = digits.parse().ok().filter(|&bits| plain && bits < 1 << 24)?;
        Some(TypeKind::Integer(bits, sign).into())
    };
    if let Some(digits) = word.strip_prefix("si") {
        return integer(digits, Signedness::Signed);
    }
    if let Some(digits) = word.strip_prefix("ui") {
        return integer(digits, Signedness::Unsigned);
    }
    if let Some(ty) = word.strip_prefix('i').and_then(|digits| integer(digits, Signedness::Signless)) {
        return Some(ty);
    }
    FloatType::from_name(word).map(Type::from)
}

/// Returns the text of the tensor type that comes next, unless it contains an alias, whose meaning may
/// change.
fn tensor_text<'a>(c: &mut Cursor<'a>) -> Option<&'a str> {
    if c.peek() != b't' {
        return None;
    }
    let rest = c.rest();
    let inside = rest.strip_prefix("tensor<")?;
    let mut depth = 1;
    for (at, byte) in inside.bytes().enumerate() {
        match byte {
            b'<' => depth += 1,
            b'>' => depth -= 1,
            b'"' | b'/' | b'\n' | b'-' => return None,
            _ => {}
        }
        if depth == 0 {
            return Some(&rest[.."tensor<".len() + at + 1]);
        }
    }
    None
}

/// Returns the length of the angle brackets `<…>` at the cursor with their contents, or 0 if there are none.
/// The scan has checked that they match.
pub fn body_end(c: &Cursor<'_>) -> usize {
    let text = c.rest().as_bytes();
    if text.first() != Some(&b'<') {
        return 0;
    }
    let mut depth = 0usize;
    let mut at = 0;
    while at < text.len() {
        match text[at] {
            b'"' => {
                at += 1;
                while at < text.len() && text[at] != b'"' {
                    at += if text[at] == b'\\' { 2 } else { 1 };
                }
            }
            b'<' => depth += 1,
            b'>' if text[at - 1] != b'-' => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
        at += 1;
    }
    text.len()
}
