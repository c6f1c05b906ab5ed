//! The readers of values, and the meaning of their errors.

use hlo_ir::attr::{AttrContext, AttrError, AttrReader, Attrs as _, Resolver};
use hlo_ir::cursor::Cursor;
use hlo_ir::diag::Diag;
use hlo_ir::{
    CommonAttrs, CommonField, ComputationId, FileLocation, Header, Literal, Opcode, Shape, StackFrame,
};
use hlo_parser::internals::{
    Computations, Head, Operand, Operands, ScannedText, Stop, declared, fields, head, opcode_or_asynchronous,
    predecessor_names, read_literal, scan,
};

/// The place of a value in a module.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// An attribute of the module, by position.
    Header(usize),
    /// An attribute of an opcode, by position.
    Field(Opcode, usize),
    /// An attribute of all opcodes.
    Common(CommonField),
    /// An entry of `FileNames` or `FunctionNames`.
    TableString,
    /// An entry of `FileLocations`.
    FileLocation,
    /// An entry of `StackFrames`.
    StackFrame,
    /// The parameters in the head of a computation.
    Parameters,
    /// The result in the head of a computation.
    Shape,
    /// The thread of a computation.
    Thread,
    /// The shape, the opcode and the operands of an instruction.
    Operation,
}

impl Target {
    /// Returns every attribute of modules and of instructions.
    pub fn attributes() -> Vec<Self> {
        let header = (0..Header::default().fields().len()).map(Target::Header);
        let common = CommonField::ALL.iter().copied().map(Target::Common);
        let own = Opcode::ALL.iter().flat_map(|&opcode| {
            let count = opcode.default_op().attrs().map_or(0, |a| a.fields().len());
            (0..count).map(move |index| Target::Field(opcode, index))
        });
        header.chain(common).chain(own).collect()
    }

    /// Returns the name of the rule of its values.
    pub fn rule(self) -> &'static str {
        match self {
            Target::Header(index) => Header::default().fields()[index].rule,
            Target::Field(opcode, index) => {
                opcode.default_op().attrs().and_then(|a| a.fields().get(index)).map_or("", |f| f.rule)
            }
            Target::Common(field) => field.rule(),
            Target::TableString | Target::Thread => "quoted",
            Target::FileLocation => "file_location",
            Target::StackFrame => "stack_frame",
            Target::Parameters => "parameters",
            Target::Shape => "shape",
            Target::Operation => "full_operation",
        }
    }

    /// Reads a text as its value does. Returns the message of an error.
    pub fn read(self, text: &str) -> Result<(), String> {
        let resolver = AnyComputation(Computations::default());
        let context = AttrContext { resolver: &resolver, inline: &[] };
        let mut reader = AttrReader::with_context(text, 0, context);
        let r = &mut reader;
        let read = match self {
            Target::Header(index) => Header::default().read_field(index, r),
            Target::Field(opcode, index) => {
                opcode.default_op().attrs_mut().map_or(Ok(()), |a| a.read_field(index, r))
            }
            Target::Common(CommonField::ControlPredecessors) => predecessor_names(r).map(drop),
            Target::Common(field) => CommonAttrs::default().read_field(field, r),
            Target::TableString | Target::Thread => r.string().map(drop),
            Target::FileLocation => fields(r, "FileLocations", FileLocation::FIELDS).map(drop),
            Target::StackFrame => fields(r, "StackFrames", StackFrame::FIELDS).map(drop),
            Target::Shape => r.shape().map(drop),
            Target::Parameters => {
                let mut c = Cursor::new(text, 0);
                return declared(&mut c).and_then(|_| c.expect_end()).map_err(|diag| diag.message);
            }
            Target::Operation => return operation(text).map_err(|diag| diag.message),
        };
        read.and_then(|()| r.expect_end()).map_err(|e| match (e.diag, e.found.as_str()) {
            (Some(diag), _) => diag.message,
            (None, "") => e.expected,
            (None, found) => format!("expected {}, found {found}", e.expected),
        })
    }
}

/// A resolver for which every name is the name of a computation, and every text is a module.
struct AnyComputation<'t>(Computations<'t>);

impl Resolver for AnyComputation<'_> {
    fn computation(&self, _: &str) -> Option<ComputationId> {
        Some(ComputationId::new(0))
    }

    fn shape(&self, text: &str, base: usize) -> Result<(Shape, usize), AttrError> {
        self.0.shape(text, base)
    }

    fn literal(&self, text: &str, base: usize) -> Result<(Literal, usize), AttrError> {
        self.0.literal(text, base)
    }

    fn check_module(&self, _: &str) -> Result<(), String> {
        Ok(())
    }
}

/// Reads an operation whose operands may be any names.
fn operation(text: &str) -> Result<(), Stop> {
    // The parser reads operations without their comments. An operation is not at the start of a text.
    let text = format!(" {text}");
    let scanned = scan(&text);
    let mut t = ScannedText::new(&scanned.text, 0);
    let head = head(&mut t)?;
    arguments(&mut t, &head)?;
    Ok(t.c.expect_end()?)
}

/// Reads what is between the parentheses of an operation, as `ModuleParser::arguments` does.
fn arguments(t: &mut ScannedText<'_>, head: &Head<&str>) -> Result<(), Stop> {
    let wrong = |message: &str| Err(Box::new(Diag::error(message)));
    if head.is_constant {
        if head.shape.is_none() {
            return wrong("a constant without a shape");
        }
        t.c.advance(1);
        let shape = t.shape.clone();
        let read = read_literal(&mut t.c, &shape)?;
        return match read.lone {
            Some(lone) if t.c.peek() != b')' => Err(Box::new(lone.error())),
            _ => Ok(t.c.expect(")")?),
        };
    }
    let is_parameter = head.opcode == "parameter";
    let mut number = None;
    let mut operands = Operands::open(t);
    while let Some(operand) = operands.next(t)? {
        match operand {
            Operand::Number(None, digits) if is_parameter && number.is_none() => {
                match digits.parse::<i64>() {
                    Ok(n) if n >= 0 => number = Some(n),
                    Ok(_) => return wrong("a parameter's number is not negative"),
                    Err(_) if digits.bytes().all(|b| b.is_ascii_digit() || b == b'-') => {
                        return wrong("the parameter's number does not fit 64 bits");
                    }
                    Err(_) => return wrong("expected the parameter's number"),
                }
            }
            Operand::Number(..) => return wrong("expected an operand, found a number"),
            _ if is_parameter => return wrong("expected the parameter's number"),
            Operand::Operation(head) => arguments(t, &head)?,
            Operand::Name(..) | Operand::Shape(_) => {}
        }
    }
    match opcode_or_asynchronous(head.opcode) {
        None => wrong("unknown opcode"),
        Some(_) if is_parameter && number.is_none() => wrong("expected the parameter's number"),
        Some(_) => Ok(()),
    }
}
