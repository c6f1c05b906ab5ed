//! Reading and writing of files: detects the message type, and reads the module and the data stored with it.
//!
//! A file does not state its message type. A module is recognized by computations whose instructions name
//! opcodes. The other messages are recognized by the position of their module and the fields next to it.

use crate::decode::decode;
use crate::messages::{
    Described, HloInputs, HloModuleConfigProto, HloModuleProto, HloModuleProtoWithConfig, HloProto,
    HloSnapshot, HloUnoptimizedSnapshot, LiteralProto,
};
use crate::wire::{Reader, Value, scan};
use crate::{convert, text};
use hlo_ir::diag::Diag;
use hlo_ir::{Literal, Module, Shape};
use prost::Message;

/// The messages that contain a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// HloModuleProto.
    Module,
    /// HloModuleProtoWithConfig.
    ModuleWithConfig,
    /// HloProto: a module and its buffer assignment.
    Hlo,
    /// HloSnapshot: a module with the arguments and the result of a run.
    Snapshot,
    /// HloUnoptimizedSnapshot: a module with the arguments of a run for each partition.
    UnoptimizedSnapshot,
}

impl FileKind {
    /// All kinds.
    pub const ALL: &[FileKind] = &[
        FileKind::Module,
        FileKind::ModuleWithConfig,
        FileKind::Hlo,
        FileKind::Snapshot,
        FileKind::UnoptimizedSnapshot,
    ];

    /// Returns the name of the message.
    pub fn name(self) -> &'static str {
        self.message_type().name
    }

    /// Returns the type of the message.
    pub fn message_type(self) -> &'static crate::descriptor::MessageType {
        match self {
            FileKind::Module => HloModuleProto::message_type(),
            FileKind::ModuleWithConfig => HloModuleProtoWithConfig::message_type(),
            FileKind::Hlo => HloProto::message_type(),
            FileKind::Snapshot => HloSnapshot::message_type(),
            FileKind::UnoptimizedSnapshot => HloUnoptimizedSnapshot::message_type(),
        }
    }

    /// Detects the message from its binary form. Returns `None` if it is none of these.
    pub fn of_binary(bytes: &[u8]) -> Option<Self> {
        if is_module(bytes) {
            return Some(FileKind::Module);
        }
        let inner = delimited(bytes, 1)?;
        if is_module(inner) {
            return Some(match delimited(bytes, 2) {
                Some(config) if is_config(config) => FileKind::ModuleWithConfig,
                Some(_) => FileKind::UnoptimizedSnapshot,
                None => FileKind::Hlo,
            });
        }
        delimited(inner, 1).filter(|module| is_module(module)).map(|_| FileKind::Snapshot)
    }

    /// Detects the message from its text form. Returns `None` if it is none of these.
    pub fn of_text(text: &str) -> Option<Self> {
        let names = text::outermost_fields(text)?;
        let has = |name: &str| names.contains(&name);
        Some(match () {
            () if has("computations") || has("entry_computation_name") => FileKind::Module,
            () if has("hlo") => FileKind::Snapshot,
            () if !has("hlo_module") => return None,
            () if has("config") => FileKind::ModuleWithConfig,
            () if has("partitions") => FileKind::UnoptimizedSnapshot,
            () => FileKind::Hlo,
        })
    }
}

/// Returns the first length-delimited value of a field, searching as far as the message can be read.
fn delimited(bytes: &[u8], number: u32) -> Option<&[u8]> {
    let mut reader = Reader::new(bytes, 0);
    while let Ok(Some((n, value))) = reader.field() {
        match value {
            Value::Delimited(bytes) if n == number => return Some(bytes),
            _ => {}
        }
    }
    None
}

/// Checks whether the message contains a computation with an instruction that names an opcode.
fn is_module(bytes: &[u8]) -> bool {
    let opcode =
        delimited(bytes, 3).and_then(|computation| delimited(computation, 2)).and_then(|i| delimited(i, 2));
    opcode.is_some_and(|name| {
        !name.is_empty() && name.iter().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'-')
    })
}

/// Checks whether the message consists only of fields of a configuration.
fn is_config(bytes: &[u8]) -> bool {
    scan(bytes, HloModuleConfigProto::message_type()).is_ok_and(|scan| scan.unknown.is_empty())
}

/// A module from a file, with the other contents of the file.
#[derive(Clone, Debug)]
pub struct File {
    /// The type of the message.
    pub kind: FileKind,
    /// The module.
    pub module: Module,
    /// The arguments of a run for each partition. Empty if there are none.
    pub arguments: Vec<Vec<Literal>>,
    /// The result of that run.
    pub result: Option<Literal>,
    /// The platform of that run.
    pub platform: Option<String>,
    /// The configuration.
    pub config: Option<Box<HloModuleConfigProto>>,
    /// One warning for each kind of content that is dropped.
    pub warnings: Vec<Diag>,
}

/// Reads a module from the binary form of any of these messages.
///
/// # Errors
/// The bytes are none of these messages, or are damaged. At most 20 errors are reported.
pub fn read(bytes: &[u8]) -> Result<File, Vec<Diag>> {
    match FileKind::of_binary(bytes) {
        Some(kind) => read_as(bytes, kind),
        None => Err(vec![Diag::error(
            "the file is no module in binary form: expected HloModuleProto, HloProto, HloSnapshot or the like",
        )]),
    }
}

/// Reads a module from the text form of any of these messages.
///
/// # Errors
/// The text is none of these messages, or is invalid. At most 20 errors are reported.
pub fn read_text(text: &str) -> Result<File, Vec<Diag>> {
    let Some(kind) = FileKind::of_text(text) else {
        return Err(vec![Diag::error(
            "the text is no module in the text form of protocol buffers: expected fields such as `name`, `computations` or `hlo_module`",
        )]);
    };
    let parsed = text::parse(text, kind.message_type())?;
    let mut file = read_as(&parsed.bytes, kind)?;
    file.warnings.splice(0..0, parsed.warnings);
    Ok(file)
}

/// Reads a module from the binary form of a message of a known kind.
///
/// # Errors
/// The bytes are damaged. At most 20 errors are reported.
pub fn read_as(bytes: &[u8], kind: FileKind) -> Result<File, Vec<Diag>> {
    match kind {
        FileKind::Module => parts::<HloModuleProto>(bytes),
        FileKind::ModuleWithConfig => parts::<HloModuleProtoWithConfig>(bytes),
        FileKind::Hlo => parts::<HloProto>(bytes),
        FileKind::Snapshot => parts::<HloSnapshot>(bytes),
        FileKind::UnoptimizedSnapshot => parts::<HloUnoptimizedSnapshot>(bytes),
    }
    .and_then(|(parts, warnings)| parts.into_file(kind, warnings))
}

/// The contents of a message with a module.
#[derive(Default)]
struct Parts {
    module: Option<Box<HloModuleProto>>,
    config: Option<Box<HloModuleConfigProto>>,
    arguments: Vec<Vec<LiteralProto>>,
    result: Option<Box<LiteralProto>>,
    platform: Option<String>,
    /// The number of arguments that are stored outside the message.
    outside: usize,
}

fn parts<M: Described + Into<Parts>>(bytes: &[u8]) -> Result<(Parts, Vec<Diag>), Vec<Diag>> {
    let decoded = decode::<M>(bytes).map_err(|diag| vec![diag])?;
    Ok((decoded.message.into(), decoded.warnings))
}

impl From<HloModuleProto> for Parts {
    fn from(module: HloModuleProto) -> Self {
        Self { module: Some(Box::new(module)), ..Self::default() }
    }
}

impl From<HloModuleProtoWithConfig> for Parts {
    fn from(HloModuleProtoWithConfig { hlo_module: module, config }: HloModuleProtoWithConfig) -> Self {
        Self { module, config, ..Self::default() }
    }
}

impl From<HloProto> for Parts {
    fn from(hlo: HloProto) -> Self {
        Self { module: hlo.hlo_module, ..Self::default() }
    }
}

impl From<HloSnapshot> for Parts {
    fn from(snapshot: HloSnapshot) -> Self {
        let HloSnapshot { hlo, arguments, result, execution_platform } = snapshot;
        Self {
            module: hlo.and_then(|hlo| hlo.hlo_module),
            arguments: if arguments.is_empty() { Vec::new() } else { vec![arguments] },
            result,
            platform: Some(execution_platform).filter(|name| !name.is_empty()),
            ..Self::default()
        }
    }
}

impl From<HloUnoptimizedSnapshot> for Parts {
    fn from(snapshot: HloUnoptimizedSnapshot) -> Self {
        let outside = snapshot.partitions.iter().map(|p| p.arguments_descriptors.len()).sum();
        Self {
            module: snapshot.hlo_module,
            arguments: snapshot.partitions.into_iter().map(|p| p.arguments).collect(),
            outside,
            ..Self::default()
        }
    }
}

/// Returns warnings for fields of a module's message that the IR cannot express. Buffer assignments and
/// profiles are dropped without a warning, because they describe the module that XLA compiled.
fn not_kept(proto: &HloModuleProto) -> Vec<Diag> {
    let fields = [
        ("cross_program_prefetches", !proto.cross_program_prefetches.is_empty()),
        ("spmd_output_sharding", proto.spmd_output_sharding.is_some()),
        ("spmd_parameters_shardings", !proto.spmd_parameters_shardings.is_empty()),
        ("device_assignment", proto.device_assignment.is_some()),
        ("device_type", !proto.device_type.is_empty()),
    ];
    let warning =
        |name| Diag::warning(format!("HloModuleProto: modules have nothing for `{name}`: it is left out"));
    fields.into_iter().filter(|&(_, is_set)| is_set).map(|(name, _)| warning(name)).collect()
}

impl Parts {
    fn into_file(self, kind: FileKind, mut warnings: Vec<Diag>) -> Result<File, Vec<Diag>> {
        let fail = |message: String| vec![Diag::error(format!("{}: {message}", kind.name()))];
        let Some(module) = &self.module else { return Err(fail("it has no module".into())) };
        if self.outside > 0 {
            return Err(fail(format!("{} arguments are not in the message, but behind it", self.outside)));
        }
        warnings.extend(not_kept(module));
        let module = match &self.config {
            Some(config) => convert::to_module_with_config(module, config)?,
            None => convert::to_module(module)?,
        };
        let argument = |(n, proto): (usize, &LiteralProto)| {
            convert::read_literal(proto).map_err(|e| fail(format!("argument {n}: {e}")))
        };
        let arguments = |list: &Vec<LiteralProto>| list.iter().enumerate().map(argument).collect();
        let result = self.result.as_deref().map(convert::read_literal).transpose();
        Ok(File {
            kind,
            module,
            arguments: self.arguments.iter().map(arguments).collect::<Result<_, _>>()?,
            result: result.map_err(|e| fail(format!("the result: {e}")))?,
            platform: self.platform,
            config: self.config,
            warnings,
        })
    }
}

/// Maximum nesting depth of tuples in written messages. This reader and Google's accept 100 nested messages,
/// and the shape of a literal in a module of a snapshot is nested in six others.
pub const MAX_TUPLE_DEPTH: usize = 90;

/// Checks whether readers will accept the nesting depth of the shapes.
fn check_depth<'s>(shapes: impl Iterator<Item = &'s Shape>) -> Result<(), Diag> {
    match shapes.map(Shape::depth).max().filter(|&depth| depth > MAX_TUPLE_DEPTH) {
        None => Ok(()),
        Some(depth) => Err(Diag::error(format!(
            "tuples nest {depth} deep: protocol buffers can be read up to {MAX_TUPLE_DEPTH}"
        ))),
    }
}

fn shapes(module: &Module) -> impl Iterator<Item = &Shape> {
    module.computations().flat_map(|c| module[c].instructions()).map(|&i| &module[i].shape)
}

/// Returns the binary form of a module as a message of the given kind. [`read()`] returns the same module.
///
/// XLA cannot read a module with a `contraction`, because it does not have this opcode. Run the pass
/// `contraction-raising` before you write a module for XLA.
///
/// # Errors
/// Tuples nest deeper than [`MAX_TUPLE_DEPTH`].
pub fn write(module: &Module, kind: FileKind) -> Result<Vec<u8>, Diag> {
    check_depth(shapes(module))?;
    let hlo_module = || Some(Box::new(convert::from_module(module)));
    Ok(match kind {
        FileKind::Module => convert::from_module(module).encode_to_vec(),
        FileKind::ModuleWithConfig => convert::from_module_with_config(module).encode_to_vec(),
        FileKind::Hlo => HloProto { hlo_module: hlo_module(), ..HloProto::default() }.encode_to_vec(),
        FileKind::Snapshot => write_snapshot(module, &[], None, "")?,
        FileKind::UnoptimizedSnapshot => write_unoptimized_snapshot(module, &[])?,
    })
}

/// Returns the binary form of an HloSnapshot: a module with the arguments and the result of a run on a
/// platform.
///
/// # Errors
/// The errors of [`write()`].
pub fn write_snapshot(
    module: &Module,
    arguments: &[Literal],
    result: Option<&Literal>,
    platform: &str,
) -> Result<Vec<u8>, Diag> {
    check_depth(shapes(module).chain(arguments.iter().chain(result).map(Literal::shape)))?;
    let hlo = HloProto { hlo_module: Some(Box::new(convert::from_module(module))), ..HloProto::default() };
    let snapshot = HloSnapshot {
        hlo: Some(Box::new(hlo)),
        arguments: arguments.iter().map(convert::write_literal).collect(),
        result: result.map(|r| Box::new(convert::write_literal(r))),
        execution_platform: platform.to_owned(),
    };
    Ok(snapshot.encode_to_vec())
}

/// Returns the binary form of an HloUnoptimizedSnapshot: a module with the arguments of each partition.
///
/// # Errors
/// The errors of [`write()`].
pub fn write_unoptimized_snapshot(module: &Module, arguments: &[Vec<Literal>]) -> Result<Vec<u8>, Diag> {
    check_depth(shapes(module).chain(arguments.iter().flatten().map(Literal::shape)))?;
    let inputs = |list: &Vec<Literal>| HloInputs {
        arguments: list.iter().map(convert::write_literal).collect(),
        ..HloInputs::default()
    };
    let snapshot = HloUnoptimizedSnapshot {
        hlo_module: Some(Box::new(convert::from_module(module))),
        partitions: arguments.iter().map(inputs).collect(),
        ..HloUnoptimizedSnapshot::default()
    };
    Ok(snapshot.encode_to_vec())
}

/// Returns the text form of a module as a message of the given kind.
///
/// # Errors
/// The errors of [`write()`].
pub fn write_text(module: &Module, kind: FileKind) -> Result<String, Diag> {
    text::print(&write(module, kind)?, kind.message_type())
}
