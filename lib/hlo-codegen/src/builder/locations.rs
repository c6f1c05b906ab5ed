//! Locations of operations: the instruction's name and its position in the file that the HLO was read from.
//! LLVM generates debug information from them, with which debuggers and profilers show lines of HLO.

use melior::Context;
use melior::ir::attribute::StringAttribute;
use melior::ir::{Attribute, AttributeLike, Location};
use mlir_sys::MlirAttribute;

/// A file that HLO was read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    name: String,
    directory: String,
    /// The byte offsets of the starts of lines, including the first line.
    starts: Vec<usize>,
}

impl SourceFile {
    /// Creates the file with this name and text. A relative name is relative to the working directory.
    pub fn new(name: &str, text: &str) -> Self {
        let directory = std::env::current_dir().unwrap_or_default().display().to_string();
        let ends = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n');
        let starts = std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect();
        Self { name: name.into(), directory, starts }
    }

    /// Returns the line and column of a byte offset, both from 1.
    pub fn place(&self, offset: usize) -> (usize, usize) {
        let line = self.starts.partition_point(|&start| start <= offset).max(1);
        (line, offset - self.starts[line - 1] + 1)
    }
}

/// Returns the location of an operation of the instruction `name`, and its line and column. The instruction's
/// text begins at the byte `offset`. Without an offset, the location is `outer`.
pub(super) fn of_instruction<'c>(
    context: &'c Context,
    source: Option<&SourceFile>,
    name: &str,
    offset: Option<usize>,
    outer: (usize, usize),
) -> (Location<'c>, (usize, usize)) {
    let Some(source) = source else {
        return (Location::name(context, name, Location::unknown(context)), outer);
    };
    let place = offset.map_or(outer, |offset| source.place(offset));
    (Location::name(context, name, Location::new(context, &source.name, place.0, place.1)), place)
}

/// DWARF's number of the language C. DWARF has no number for HLO, and debuggers support this one.
const LANGUAGE_C: u32 = 2;
/// LLVM's flags of subprograms: `Definition` and `Optimized`.
const DEFINITION_OPTIMIZED: u64 = 8 | 16;

/// The debug information that all functions of a module share.
pub(super) struct DebugInfo<'c> {
    file: Attribute<'c>,
    unit: Attribute<'c>,
    signature: Attribute<'c>,
    file_name: String,
}

impl<'c> DebugInfo<'c> {
    pub(super) fn new(context: &'c Context, source: &SourceFile) -> Self {
        let [name, directory] = [&source.name, &source.directory].map(|s| text(context, s));
        let (producer, nothing) = (text(context, "hlo-run"), text(context, ""));
        // SAFETY: all attributes belong to the context, which is alive, and have the required kinds.
        unsafe {
            let raw = context.to_raw();
            let file = Attribute::from_raw(mlir_sys::mlirLLVMDIFileAttrGet(raw, name, directory));
            let unit = mlir_sys::mlirLLVMDICompileUnitAttrGet(
                raw,
                distinct(context),
                LANGUAGE_C,
                file.to_raw(),
                producer,
                true,
                mlir_sys::MlirLLVMDIEmissionKind_MlirLLVMDIEmissionKindLineTablesOnly,
                mlir_sys::MlirLLVMDINameTableKind_MlirLLVMDINameTableKindDefault,
                nothing,
            );
            let signature = mlir_sys::mlirLLVMDISubroutineTypeAttrGet(raw, 0, 0, std::ptr::null());
            Self {
                file,
                unit: Attribute::from_raw(unit),
                signature: Attribute::from_raw(signature),
                file_name: source.name.clone(),
            }
        }
    }

    /// Returns the location of a function that begins at a line and column.
    pub(super) fn function(
        &self,
        context: &'c Context,
        name: &str,
        (line, column): (usize, usize),
    ) -> Location<'c> {
        let name = text(context, name);
        // SAFETY: all attributes belong to the context, which is alive, and have the required kinds. The
        // lists are empty.
        let subprogram = unsafe {
            Attribute::from_raw(mlir_sys::mlirLLVMDISubprogramAttrGet(
                context.to_raw(),
                distinct(context),
                false,
                distinct(context),
                self.unit.to_raw(),
                self.file.to_raw(),
                name,
                name,
                self.file.to_raw(),
                line as u32,
                line as u32,
                DEFINITION_OPTIMIZED,
                self.signature.to_raw(),
                0,
                std::ptr::null(),
                0,
                std::ptr::null(),
            ))
        };
        Location::fused(context, &[Location::new(context, &self.file_name, line, column)], subprogram)
    }
}

fn text(context: &Context, text: &str) -> MlirAttribute {
    StringAttribute::new(context, text).to_raw()
}

/// Returns an attribute that differs from all others.
fn distinct(context: &Context) -> MlirAttribute {
    // SAFETY: the attribute belongs to the context, which is alive.
    unsafe { mlir_sys::mlirDisctinctAttrCreate(Attribute::unit(context).to_raw()) }
}
