//! Parsing of literals: nested braces of elements, tuples in parentheses, and `{...}` for an elided value.

use crate::element::{ElementReader, Fault};
use hlo_ir::cursor::{Cursor, token_at};
use hlo_ir::diag::Diag;
use hlo_ir::rules::code;
use hlo_ir::{AlignedBytes, ArrayShape, ElementType, Literal, Shape, Span};
use smallvec::SmallVec;

/// Maximum number of bytes of an elided value `{...}`. Its unspecified elements are stored as zeros.
const MAX_ELIDED_BYTES: usize = 1 << 30;

/// A literal, and the parts of it that `{...}` elides.
pub struct ReadLiteral {
    /// The value. Elided elements are zero.
    pub literal: Literal,
    /// For each array, whether it is elided. Empty if none is.
    pub elided: Vec<bool>,
    /// The first array for which the text contains a number without braces, with its span.
    pub lone: Option<Box<BareNumber>>,
}

impl ReadLiteral {
    /// Returns the value, which is at `span`. Returns an error if parts of it are elided.
    pub fn whole(self, span: Span) -> Result<Literal, Diag> {
        if !self.elided.is_empty() {
            let message = "`{...}` stands for a value that is not written; one is expected here";
            return Err(Diag::error(message).with_code(code::LITERAL_ELIDED).at(span, ""));
        }
        match self.lone {
            Some(lone) => Err(lone.error()),
            None => Ok(self.literal),
        }
    }
}

/// A number without braces where an array is expected.
pub struct BareNumber {
    array: ArrayShape,
    span: Span,
    error: Diag,
}

impl BareNumber {
    /// Returns the error for a context that needs all elements.
    pub fn error(self) -> Diag {
        self.error
    }

    /// Returns the warning for a context where the first element is sufficient.
    pub fn warning(&self) -> Diag {
        let array = &self.array;
        let message = format!("`{array}` has rank {}, found a number without braces", array.rank());
        Diag::warning(message)
            .with_code(code::LONE_NUMBER)
            .at(self.span, "the first element; all others are zero")
    }
}

/// The elided parts of the arrays read so far.
#[derive(Default)]
struct Elided {
    arrays: usize,
    /// Empty until an array is elided.
    flags: Vec<bool>,
    lone: Option<Box<BareNumber>>,
}

impl Elided {
    /// Records whether the next `count` arrays are elided.
    fn note(&mut self, count: usize, elided: bool) {
        if elided {
            self.flags.resize(self.arrays, false);
        }
        self.arrays += count;
        if elided || !self.flags.is_empty() {
            self.flags.resize(self.arrays, elided);
        }
    }
}

/// Reads the value of a literal of this `shape`. A dynamic dimension has as many elements as its bound.
///
/// # Errors
/// The text is not a value of this shape.
pub fn read(c: &mut Cursor<'_>, shape: &Shape) -> Result<ReadLiteral, Diag> {
    let mut elided = Elided::default();
    match read_value(c, shape, &mut elided) {
        Ok(literal) => Ok(ReadLiteral { literal, elided: elided.flags, lone: elided.lone }),
        Err(diag) if diag.code == Some(code::SYNTAX) => Err(diag.with_code(code::LITERAL_SYNTAX)),
        Err(diag) => Err(diag),
    }
}

fn read_value(c: &mut Cursor<'_>, shape: &Shape, elided: &mut Elided) -> Result<Literal, Diag> {
    match shape {
        Shape::Array(a) => read_array(c, a, elided),
        Shape::Tuple(_) if c.rest().trim_start().starts_with("{...}") => read_elided_tuple(c, shape, elided),
        Shape::Tuple(shapes) => read_tuple(c, shape, shapes, elided),
        Shape::Token | Shape::Opaque | Shape::Buffer(_) => {
            Err(c.expected(&format!("no value: `{shape}` has none that can be written")))
        }
    }
}

/// Reads a tuple such as `( 1, {2, 3} )`. As in XLA, the commas are optional.
fn read_tuple(
    c: &mut Cursor<'_>,
    shape: &Shape,
    shapes: &[Shape],
    elided: &mut Elided,
) -> Result<Literal, Diag> {
    if c.peek() != b'(' {
        return Err(c.expected(&format!("`(`, as `{shape}` is a tuple")));
    }
    let start = c.offset();
    c.expect("(")?;
    let mut elements = Vec::new();
    for (i, s) in shapes.iter().enumerate() {
        if i > 0 {
            c.eat(",");
        }
        if c.peek() == b')' {
            c.expect(")")?;
            let message = format!("`{shape}` has {} elements, but the text has {i}", shapes.len());
            return Err(Diag::error(message)
                .with_code(code::LITERAL_SIZE)
                .at(c.since(start), format!("element {i} is a `{s}`")));
        }
        elements.push(read_value(c, s, elided)?);
    }
    if c.peek() != b')' {
        return Err(c.expected(&format!("`)` after the last element of `{shape}`")));
    }
    c.expect(")")?;
    Ok(Literal::tuple(elements))
}

/// Reads the `{...}` that XLA prints for a large tuple.
fn read_elided_tuple(c: &mut Cursor<'_>, shape: &Shape, elided: &mut Elided) -> Result<Literal, Diag> {
    c.skip_space();
    let start = c.offset();
    c.expect("{")?;
    c.eat("...");
    c.expect("}")?;
    elided_value(shape, c.since(start), elided)
}

fn elided_value(shape: &Shape, span: Span, elided: &mut Elided) -> Result<Literal, Diag> {
    elided.note(array_count(shape), true);
    let literal = if shape.byte_size() <= MAX_ELIDED_BYTES { Literal::try_zeros(shape) } else { None };
    match literal {
        Some(literal) => Ok(literal),
        None => Err(Diag::error(format!("`{shape}` is too large for a value that is not written"))
            .with_code(code::LITERAL_ELIDED)
            .at(span, "print the module with its large constants")),
    }
}

/// Returns the number of arrays in a shape.
fn array_count(shape: &Shape) -> usize {
    match shape {
        Shape::Tuple(elements) => elements.iter().map(array_count).sum(),
        _ => 1,
    }
}

fn read_array(c: &mut Cursor<'_>, written: &ArrayShape, elided: &mut Elided) -> Result<Literal, Diag> {
    if written.dims.contains(&ArrayShape::UNBOUNDED) {
        return Err(c.expected(&format!("no literal: the sizes of `{written}` are not known")));
    }
    // A value has fixed sizes.
    let array = ArrayShape { dynamic: SmallVec::new(), ..written.clone() };
    c.skip_space();
    let base = c.offset();
    let text = c.rest();
    let mut reader = DenseReader::new(text, base, &array);
    let alone = reader.run()?;
    let DenseReader { at, elided: dots, elements, .. } = reader;
    c.rewind(base + at);
    if let Some(error) = alone {
        elided.note(1, false);
        let span = Span::new(base, base + at);
        let error = error.with_code(code::LITERAL_SYNTAX);
        elided.lone.get_or_insert_with(|| Box::new(BareNumber { array: array.clone(), span, error }));
        return first_element(array, &elements, span);
    }
    let shape = Shape::Array(array);
    if let Some(dots) = dots.filter(|_| shape.byte_size() > 0) {
        return elided_value(&shape, dots, elided);
    }
    elided.note(1, false);
    match Literal::try_from_bytes(shape, elements) {
        Some(literal) => Ok(literal),
        None => Err(Diag::error(format!("`{written}` is too large"))
            .with_code(code::LITERAL_SIZE)
            .at(Span::new(base, base + at), "")),
    }
}

/// Creates the array whose first element is the first of `elements` and whose other elements are zero. XLA
/// reads a number without braces this way.
fn first_element(array: ArrayShape, elements: &[u8], span: Span) -> Result<Literal, Diag> {
    let size = array.element_type.byte_size();
    let shape = Shape::Array(array);
    let fits = shape.byte_size() <= MAX_ELIDED_BYTES;
    let bytes = fits.then(|| {
        let mut bytes = AlignedBytes::zeroed(shape.byte_size());
        bytes.iter_mut().zip(elements.iter().take(size)).for_each(|(to, from)| *to = *from);
        bytes
    });
    let message = format!("`{shape}` is too large");
    let literal = bytes.and_then(|bytes| Literal::try_from_bytes(shape, bytes));
    literal.ok_or_else(|| Diag::error(message).with_code(code::LITERAL_SIZE).at(span, ""))
}

/// A reader of the braces and elements of an array. It makes one pass and allocates only the elements.
struct DenseReader<'a> {
    text: &'a str,
    /// The position in `text`, and the offset of `text` in the whole text.
    at: usize,
    base: usize,
    array: &'a ArrayShape,
    element: ElementReader,
    /// The position of each open brace and the number of entries read in it.
    open: SmallVec<[(usize, i64); 8]>,
    /// The span of a `...` that elides the whole value.
    elided: Option<Span>,
    /// The elements, in row-major order. Their number is limited by the length of the text, whatever the
    /// shape is.
    elements: AlignedBytes,
    /// The number of bytes of `elements` that have been filled.
    filled: usize,
}

impl<'a> DenseReader<'a> {
    fn new(text: &'a str, base: usize, array: &'a ArrayShape) -> Self {
        let size = array.element_type.byte_size();
        // An element and its comma, such as `1,`, have at least two bytes.
        let count = array.element_count().min(text.len() / 2 + 1);
        Self {
            text,
            at: 0,
            base,
            array,
            element: ElementReader::new(array.element_type),
            open: SmallVec::new(),
            elided: None,
            elements: AlignedBytes::zeroed(count.saturating_mul(size)),
            filled: 0,
        }
    }

    /// Reads up to the end of the array. If the text has a number without braces and the array is not a
    /// scalar, returns the error for that too.
    fn run(&mut self) -> Result<Option<Diag>, Diag> {
        let rank = self.array.rank();
        if rank == 0 {
            return self.scalar().map(|()| None);
        }
        if self.byte() != b'{' {
            // XLA reads it as the first element.
            let real = !self.array.element_type.is_complex() && !self.array.dims.contains(&0);
            let starts_number = self.byte().is_ascii_alphanumeric() || self.byte() == b'-';
            let wrong = self.wrong_depth();
            return if real && starts_number {
                self.read_element().map(|()| Some(wrong))
            } else {
                Err(wrong)
            };
        }
        loop {
            match self.byte() {
                b' ' | b'\n' | b'\t' | b'\r' | b',' => self.at += 1,
                b'{' => {
                    if self.open.len() == rank {
                        return Err(self.wrong_depth());
                    }
                    self.count_entry()?;
                    self.open.push((self.at, 0));
                    self.at += 1;
                }
                b'}' => {
                    self.close()?;
                    if self.open.is_empty() {
                        return Ok(None);
                    }
                }
                b'.' if self.text[self.at..].starts_with("...") => self.dots()?,
                b'/' if self.comment() => {}
                _ if self.open.len() == rank => self.row()?,
                _ => return Err(self.wrong_depth()),
            }
        }
    }

    fn byte(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    fn scalar(&mut self) -> Result<(), Diag> {
        match self.byte() {
            b'{' => Err(self.wrong_depth()),
            b'.' if self.text[self.at..].starts_with("...") => self.dots(),
            _ => self.read_element(),
        }
    }

    /// Skips blanks and comments. Returns whether there were any.
    fn comment(&mut self) -> bool {
        let mut c = Cursor::new(&self.text[self.at..], 0);
        c.skip_space();
        self.at += c.offset();
        c.offset() > 0
    }

    /// Counts an element or a brace as an entry of the innermost open brace.
    #[inline]
    fn count_entry(&mut self) -> Result<(), Diag> {
        let level = self.open.len().wrapping_sub(1);
        let Some((_, count)) = self.open.last_mut() else { return Ok(()) };
        *count += 1;
        if self.array.dims.get(level).is_some_and(|&size| *count <= size) && self.elided.is_none() {
            return Ok(());
        }
        Err(self.extra_entry_error())
    }

    /// Reads elements of the innermost dimension until the next token is not an element.
    fn row(&mut self) -> Result<(), Diag> {
        let bytes = self.text.as_bytes();
        loop {
            self.count_entry()?;
            self.read_element()?;
            while matches!(bytes.get(self.at), Some(b' ' | b',' | b'\n')) {
                self.at += 1;
            }
            if !matches!(bytes.get(self.at), Some(b'0'..=b'9' | b'-')) {
                return Ok(());
            }
        }
    }

    #[inline]
    fn read_element(&mut self) -> Result<(), Diag> {
        let size = self.element.size;
        match self.element.read(self.text.as_bytes(), &mut self.at) {
            Ok(bytes) => {
                // Never fails: there is room for every element that the text can contain.
                if let Some(place) = self.elements.get_mut(self.filled..self.filled + size) {
                    place.copy_from_slice(&bytes[..size]);
                }
                self.filled += size;
                Ok(())
            }
            Err(fault) => Err(self.fault(fault)),
        }
    }

    /// Reads a `}`. The number of entries must be the size of the dimension.
    fn close(&mut self) -> Result<(), Diag> {
        self.at += 1;
        let level = self.open.len() - 1;
        let size = self.array.dims.get(level).copied().unwrap_or(0);
        match self.open.last() {
            Some(&(start, count)) if count != size && self.elided.is_none() => {
                let place = self.place(level);
                let message = format!(
                    "dimension {level} of `{}` has size {size}, but the text has {count}{place}",
                    self.array
                );
                let expected = format!("expected {size} {}", self.entries(level, size));
                Err(Diag::error(message)
                    .with_code(code::LITERAL_SIZE)
                    .at(self.span(start, self.at), expected))
            }
            _ => {
                self.open.pop();
                Ok(())
            }
        }
    }

    /// Returns the noun for the entries of dimension `level`.
    fn entries(&self, level: usize, count: i64) -> &'static str {
        match (level + 1 == self.array.rank(), count) {
            (true, 1) => "element",
            (true, _) => "elements",
            (false, 1) => "row in braces",
            (false, _) => "rows in braces",
        }
    }

    /// Reads `...`, which elides the whole value.
    fn dots(&mut self) -> Result<(), Diag> {
        let span = self.span(self.at, self.at + 3);
        if self.open.len() == 1 {
            if self.elided.is_some() {
                return Err(self.extra_entry_error());
            }
            self.at += 3;
            self.elided = Some(span);
            return Ok(());
        }
        let message = "`...` stands for the elements of a whole array: `{...}`";
        let diag = Diag::error(message).with_code(code::LITERAL_ELIDED);
        Err(diag.at(span, "it goes right inside the outermost braces"))
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.base + start, self.base + end)
    }

    /// Returns the index of the brace open at `level`, such as ` at [0,2]`. Empty for the outermost brace.
    fn place(&self, level: usize) -> String {
        if level == 0 {
            return String::new();
        }
        let index: Vec<String> = self.open[..level].iter().map(|&(_, n)| (n - 1).to_string()).collect();
        format!(" at [{}]", index.join(","))
    }

    /// Creates the error for a token at the wrong nesting depth.
    #[cold]
    fn wrong_depth(&self) -> Diag {
        let (rank, level) = (self.array.rank(), self.open.len());
        let what = match (rank, level == rank) {
            (0, _) => format!("an element without braces, as `{}` is a scalar", self.array),
            (_, true) => {
                let braces = if rank == 1 { "brace" } else { "braces" };
                format!("an element inside {rank} {braces}, as `{}` has rank {rank}", self.array)
            }
            (_, false) if self.at >= self.text.len() => "`}`".into(),
            (_, false) => format!("`{{`, as `{}` has rank {rank}", self.array),
        };
        self.expected(&what)
    }

    fn expected(&self, what: &str) -> Diag {
        let mut c = Cursor::new(&self.text[self.at..], self.base + self.at);
        c.expected(what)
    }

    /// Creates the error for an entry beyond the size of the dimension.
    #[cold]
    fn extra_entry_error(&self) -> Diag {
        let level = self.open.len().saturating_sub(1);
        let start = self.open.last().map_or(self.at, |o| o.0);
        let end = self.at + token_at(&self.text[self.at..]).1;
        let (message, label) = match self.elided {
            Some(_) => ("nothing follows `...`, which stands for the whole value".to_owned(), String::new()),
            None => {
                let size = self.array.dims.get(level).copied().unwrap_or(0);
                let place = self.place(level);
                (
                    format!(
                        "dimension {level} of `{}` has size {size}, but the text has more{place}",
                        self.array
                    ),
                    format!("more than {size} {}", self.entries(level, size)),
                )
            }
        };
        let diag = Diag::error(message).at(self.span(self.at, end), label);
        match self.elided {
            Some(_) => diag.with_code(code::LITERAL_ELIDED),
            None => diag.with_code(code::LITERAL_SIZE).and(self.span(start, start + 1), "they start here"),
        }
    }

    /// Returns the error with a suggestion for the token, if there is one.
    fn with_hint(&self, diag: Diag) -> Diag {
        let Some(span) = diag.primary().map(|l| l.span) else { return diag };
        let token = &self.text[self.at..];
        let token = &token[..token_at(token).1];
        let element_type = self.array.element_type;
        let words: &[&str] = match element_type {
            ElementType::Pred => &["true", "false"],
            t if t.is_float() => &["nan", "inf", "-inf"],
            _ => &[],
        };
        match words.iter().find(|w| w.eq_ignore_ascii_case(token)) {
            Some(word) => diag.did_you_mean(span, *word),
            None if token.starts_with('−') => diag.note("the sign of a negative number is `-`"),
            None if element_type.is_complex() => diag.note("a complex number is written `(1, 2)`"),
            None => diag,
        }
    }

    #[cold]
    fn fault(&self, fault: Fault) -> Diag {
        match fault {
            Fault::Expected(what) => self.with_hint(self.expected(&what)),
            Fault::Wrong { message, start, end, label } => {
                Diag::error(message).with_code(code::LITERAL_RANGE).at(self.span(start, end), label)
            }
        }
    }
}
