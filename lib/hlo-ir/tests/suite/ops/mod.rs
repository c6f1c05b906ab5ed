//! Table tests of the rules, with one file for each family of opcodes. A row of a table is the text of an
//! instruction in which shapes replace the operands.

mod collective;
mod contraction;
mod control;
mod data_movement;
mod effects;
mod elementwise;
mod indexing;
mod linear_algebra;
mod reduction;
mod robustness;

use hlo_ir::attr::{AttrContext, AttrError, AttrReader, Resolver};
use hlo_ir::diag::Code;
use hlo_ir::ops::{ShapeError, checked_shape, infer_shape};
use hlo_ir::rules::code;
use hlo_ir::{ArrayShape, ComputationId, ElementType, Layout, Literal, Module, Op, Opcode, Shape, Span};

/// The computations that rows can call: the name, the shapes of the parameters, and the shape of the root.
const COMPUTATIONS: &[(&str, &str, &str)] = &[
    ("add", "f32[], f32[]", "f32[]"),
    ("add_s32", "s32[], s32[]", "s32[]"),
    ("less", "f32[], f32[]", "pred[]"),
    ("less2", "f32[], f32[], s32[], s32[]", "pred[]"),
    ("argmax", "f32[], s32[], f32[], s32[]", "(f32[], s32[])"),
    ("add_tuple", "f32[], f32[]", "(f32[])"),
    ("add_tuple2", "f32[], f32[]", "(f32[], f32[])"),
    ("negate", "f32[]", "f32[]"),
    ("to_s32", "f32[], f32[]", "s32[]"),
    ("vector", "f32[4]", "f32[4]"),
    ("vector2", "f32[4], s32[]", "(f32[4], s32[])"),
    ("go_on", "f32[4]", "pred[]"),
    ("go_on_vector", "f32[4]", "pred[4]"),
    ("grow", "f32[4]", "f32[5]"),
    ("add_vector", "f32[4], f32[4]", "f32[4]"),
    ("add_vector3", "f32[4], f32[4], f32[4]", "f32[4]"),
    ("scan_step", "f32[4], f32[4]", "(f32[4], f32[4])"),
];

struct Names<'a>(&'a Module);

impl Resolver for Names<'_> {
    fn computation(&self, name: &str) -> Option<ComputationId> {
        self.0.computations().find(|&c| &*self.0[c].name == name)
    }
    fn shape(&self, text: &str, _: usize) -> Result<(Shape, usize), AttrError> {
        // The shape ends at a comma or a closing bracket that belongs to the enclosing list.
        let mut depth = 0;
        let end = text.find(|c| {
            depth += i32::from("([{".contains(c)) - i32::from(")]}".contains(c));
            depth < 0 || depth == 0 && c == ','
        });
        let end = end.unwrap_or(text.len());
        Ok((shape(&text[..end]), end))
    }
    fn literal(&self, _: &str, base: usize) -> Result<(Literal, usize), AttrError> {
        Err(AttrError::with_message(Span::new(base, base), "no literals in these tests".into()))
    }
    fn check_module(&self, _: &str) -> Result<(), String> {
        Err("no modules in these tests".into())
    }
}

fn module() -> Module {
    let mut m = Module::new("test");
    for (name, parameters, root) in COMPUTATIONS {
        let c = m.add_computation(name);
        for (i, p) in split(parameters).into_iter().enumerate() {
            let op = Op::parameter(i as i64);
            m.add(c, &format!("p{i}"), shape(p), op, []);
        }
        let root = m.add(c, "root", shape(root), Op::CustomCall(Box::default()), []);
        m.set_root(c, root);
    }
    m
}

/// Splits a list at commas outside of brackets.
fn split(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut out) = (0, 0, Vec::new());
    for (i, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                out.push(text[start..i].trim());
                start = i + 1;
            }
            _ => {}
        }
    }
    out.push(text[start..].trim());
    out.retain(|part| !part.is_empty());
    out
}

/// Parses a shape such as `f32[2,<=3,?]{2,1,0}` or `(f32[], token[])`.
fn shape(text: &str) -> Shape {
    if let Some(inner) = text.strip_prefix('(') {
        return Shape::Tuple(split(inner.strip_suffix(')').unwrap()).into_iter().map(shape).collect());
    }
    if text == "token[]" {
        return Shape::Token;
    }
    let (name, rest) = text.split_once('[').unwrap();
    let (sizes, layout) = rest.split_once(']').unwrap();
    let mut a = ArrayShape::new(ElementType::from_name(name).unwrap(), []);
    for size in split(sizes) {
        a.dynamic.push(size.starts_with('<') || size == "?");
        a.dims.push(match size {
            "?" => ArrayShape::UNBOUNDED,
            bound => bound.trim_start_matches("<=").parse().unwrap(),
        });
    }
    if a.is_static() {
        a.dynamic.clear();
    }
    if let Some(order) = layout.strip_prefix('{') {
        let order = split(order.strip_suffix('}').unwrap());
        a = a.with_layout(Layout::new(order.into_iter().map(|d| d.parse().unwrap())));
    }
    Shape::Array(a)
}

/// A parsed row: the declared shape, if any, the operation, and the operands' shapes.
struct Row {
    module: Module,
    written: Option<Shape>,
    op: Op,
    operands: Vec<Shape>,
}

impl Row {
    /// Parses `[SHAPE] opcode(SHAPE, …)[, name=value]…`.
    fn read(text: &str) -> Row {
        let module = module();
        // The opcode ends at the first parenthesis that follows a letter or digit.
        let open = (1..text.len())
            .find(|&i| text.as_bytes()[i] == b'(' && text.as_bytes()[i - 1].is_ascii_alphanumeric())
            .unwrap();
        let (head, tail) = text.split_at(open);
        let (written, name) = match head.rsplit_once(' ') {
            Some((s, name)) => (Some(shape(s)), name),
            None => (None, head),
        };
        let mut depth = 0;
        let close = tail
            .find(|c| {
                depth += i32::from(c == '(') - i32::from(c == ')');
                depth == 0
            })
            .unwrap();
        let operands = split(&tail[1..close]).into_iter().map(shape).collect();
        let mut op = Opcode::from_name(name).unwrap_or_else(|| panic!("no opcode {name}")).default_op();
        for attr in split(&tail[close + 1..]) {
            let (name, value) = attr.split_once('=').unwrap();
            let names = Names(&module);
            let attrs = op.attrs_mut().unwrap();
            let index =
                attrs.fields().iter().position(|f| f.name == name).unwrap_or_else(|| panic!("no {name}"));
            let context = AttrContext { resolver: &names, inline: &[] };
            attrs.read_field(index, &mut AttrReader::with_context(value, 0, context)).unwrap();
        }
        Row { module, written, op, operands }
    }

    fn operands(&self) -> Vec<&Shape> {
        self.operands.iter().collect()
    }

    /// Checks the row, and its declared shape if it has one.
    fn check(&self) -> Result<(), ShapeError> {
        check(&self.module, &self.op, &self.operands(), self.written.as_ref()).map(drop)
    }
}

/// Returns the inferred shape of an instruction or its first violation.
fn check(
    m: &Module,
    op: &Op,
    operands: &[&Shape],
    written: Option<&Shape>,
) -> Result<Option<Shape>, ShapeError> {
    checked_shape(m, op, operands, written).map_err(|violations| violations[0].clone())
}

/// Checks that each row is accepted, and that the inferred shape, formatted with `{:#}`, is the second text.
fn infers(rows: &[(&str, &str)]) {
    for (text, expected) in rows {
        let mut row = Row::read(text);
        match infer_shape(&row.module, &row.op, &row.operands()) {
            Ok(Some(s)) => {
                assert_eq!(format!("{s:#}"), *expected, "{text}");
                row.written = Some(s);
                assert_eq!(row.check(), Ok(()), "{text}");
            }
            other => panic!("{text}: expected {expected}, found {other:?}"),
        }
    }
}

/// Checks that each row is accepted. The rows declare their shapes, because inference cannot determine them.
fn accepts(rows: &[&str]) {
    for text in rows {
        let row = Row::read(text);
        assert_eq!(row.check(), Ok(()), "{text}");
        assert_eq!(infer_shape(&row.module, &row.op, &row.operands()), Ok(None), "{text}");
    }
}

/// Checks that each row is rejected with the given code, and that the message contains the given
/// text.
fn refuses(rows: &[(&str, Code, &str)]) {
    for (text, code, message) in rows {
        match Row::read(text).check() {
            Ok(()) => panic!("{text}: expected {code} {message}, found nothing wrong"),
            Err(v) => {
                assert_eq!(v.code, *code, "{text}: {}", v.message);
                assert!(v.message.contains(message), "{text}: expected `{message}`, found `{}`", v.message);
            }
        }
    }
}
