//! The functions that the Python module `hlo` calls (`python/hlo/_library.py`). They compile programs from
//! text or bytes and run them on arrays in the caller's memory. Callers that do not need PJRT, the other
//! interface of this library, use them.
//!
//! Functions that can fail return null, or the address of an error. An error is a [`Text`] of JSON,
//! `{"text": …, "diagnostics": [{"severity": …, "message": …, "code": …, "line": …, "column": …, "notes": […]}]}`.
//! The caller passes each address that it receives once to the matching function whose name ends in `_free`.
//! Panics do not unwind into the caller.

use hlo_client::{Buffer, Client, CompileOptions, Engine, Error, Executable};
use hlo_forms::{Argument, Form, Opened};
use hlo_ir::diag::{Code, Diag, Source, render};
use hlo_ir::print::{PrintOptions, print_module};
use hlo_ir::{ArrayShape, ElementType, Module, Shape, floor_char_boundary};
use serde_json::{Value, json};
use std::ffi::{CStr, c_char, c_void};
use std::ops::{Deref, Range};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

/// A compiled program.
pub struct Program {
    executable: Executable,
    module: Module,
    /// The numbers of the arguments whose values are compiled into the program.
    constants: Vec<usize>,
}

/// The arrays that a run returned.
pub struct Results(Vec<Buffer>);

/// A text that the library returns, in UTF-8.
pub struct Text(String);

/// Reads a program in any supported form and compiles it. Returns an error, or writes the address of the
/// program. `options` is JSON: `name` is the name of the program in diagnostics. `engine` is `compiled` or
/// `interpreted`. `threads` is the maximum number of threads, 0 for all. `function` and `arguments` apply to
/// StableHLO.
///
/// # Safety
/// `code` has `size` bytes, `options` is a null-terminated string, and `program` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_program_load(
    code: *const u8,
    size: usize,
    options: *const c_char,
    program: *mut *mut Program,
) -> *mut Text {
    // SAFETY: guaranteed by the caller.
    let (code, options) = unsafe { (slice(code, size), CStr::from_ptr(options)) };
    fallible(|| {
        let loaded = load(code, options)?;
        // SAFETY: guaranteed by the caller.
        unsafe { program.write(Box::into_raw(Box::new(loaded))) };
        Ok(())
    })
}

/// Frees a program. Null is ignored.
///
/// # Safety
/// The program comes from [`hlo_program_load`] and is freed once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_program_free(program: *mut Program) {
    // SAFETY: guaranteed by the caller.
    unsafe { free(program) };
}

/// Describes the parameters and results of a program as JSON:
/// `{"name": …, "parameters": [{"name": …, "type": "f32", "dims": […]}], "result": …, "constants": […]}`,
/// where a result is an array or `{"tuple": […]}`.
///
/// # Safety
/// The program comes from [`hlo_program_load`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_program_describe(program: *const Program) -> *mut Text {
    // SAFETY: guaranteed by the caller.
    let program = unsafe { &*program };
    text(|| describe(program).to_string())
}

/// Returns a program as HLO text.
///
/// # Safety
/// The program comes from [`hlo_program_load`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_program_text(program: *const Program) -> *mut Text {
    // SAFETY: guaranteed by the caller.
    let program = unsafe { &*program };
    text(|| print_module(&program.module, &PrintOptions::default()))
}

/// Runs a program on row-major arrays, one for each array of its parameters. Returns an error, or writes the
/// address of the results.
///
/// # Safety
/// The program comes from [`hlo_program_load`]. There are `count` arrays, each as large as its parameter, and
/// no thread writes them during the run. `results` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_program_run(
    program: *const Program,
    arrays: *const *const u8,
    count: usize,
    results: *mut *mut Results,
) -> *mut Text {
    // SAFETY: guaranteed by the caller.
    let (program, arrays) = unsafe { (&*program, slice(arrays, count)) };
    fallible(|| {
        // SAFETY: guaranteed by the caller.
        let given = unsafe { run(program, arrays)? };
        // SAFETY: guaranteed by the caller.
        unsafe { results.write(Box::into_raw(Box::new(given))) };
        Ok(())
    })
}

/// Returns the address of the row-major elements of an array of the results, or null if there is no such
/// array.
///
/// # Safety
/// The results come from [`hlo_program_run`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_results_data(results: *const Results, number: usize) -> *const c_void {
    // SAFETY: guaranteed by the caller.
    let array = unsafe { &*results }.0.get(number).and_then(|array| array.bytes().ok());
    array.map_or(std::ptr::null(), |bytes| bytes.as_ptr().cast())
}

/// Returns the size of a dimension of an array of the results, or -1 if there is no such dimension.
///
/// # Safety
/// The results come from [`hlo_program_run`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_results_size(results: *const Results, number: usize, dimension: usize) -> i64 {
    // SAFETY: guaranteed by the caller.
    let array = unsafe { &*results }.0.get(number).and_then(|array| array.shape().as_array());
    array.and_then(|array| array.dims.get(dimension)).copied().unwrap_or(-1)
}

/// Frees results. Null is ignored.
///
/// # Safety
/// The results come from [`hlo_program_run`] and are freed once. Their arrays are not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_results_free(results: *mut Results) {
    // SAFETY: guaranteed by the caller.
    unsafe { free(results) };
}

/// Returns the address of a text and writes its length in bytes to `size`.
///
/// # Safety
/// The text comes from this library. `size` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_text_data(text: *const Text, size: *mut usize) -> *const u8 {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let Text(text) = &*text;
        size.write(text.len());
        text.as_ptr()
    }
}

/// Frees a text. Null is ignored.
///
/// # Safety
/// The text comes from this library and is freed once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_text_free(text: *mut Text) {
    // SAFETY: guaranteed by the caller.
    unsafe { free(text) };
}

/// Returns the client that all programs share.
fn client() -> &'static Client {
    static CLIENT: OnceLock<Client> = OnceLock::new();
    CLIENT.get_or_init(Client::local)
}

/// Maximum number of threads of a program.
const MAX_THREADS: usize = 1024;

fn load(code: &[u8], options: &CStr) -> Result<Program, Text> {
    // Some libraries configure Python's thread to flush subnormal numbers to zero.
    let _standard = hlo_client::StandardFloats::set();
    let options: Value = serde_json::from_slice(options.to_bytes()).map_err(|e| {
        diagnostics_error(&[Diag::error(format!("the options are no JSON: {e}"))], &empty_source())
    })?;
    let source = Source {
        name: options["name"].as_str().unwrap_or("<program>").to_string(),
        text: std::str::from_utf8(code).unwrap_or_default().to_string(),
    };
    let failed = |diags: Vec<Diag>| diagnostics_error(&diags, &source);
    let (module, constants) = module_of(code, &options).map_err(failed)?;
    match hlo_ir::verify::verify(&module) {
        violations if violations.is_empty() => {}
        violations => return Err(failed(violations)),
    }
    let engine = match options["engine"].as_str() {
        None => None,
        Some("compiled") => Some(Engine::Compiled),
        Some("interpreted") => Some(Engine::Interpreted),
        Some(other) => {
            let message = format!("engine: expected `compiled` or `interpreted`, found `{other}`");
            return Err(failed(vec![Diag::error(message)]));
        }
    };
    let threads = match &options["threads"] {
        Value::Null => 0,
        found => {
            let number = found.as_u64().and_then(|n| usize::try_from(n).ok()).filter(|n| *n <= MAX_THREADS);
            let wrong = || format!("threads: expected a number from 0 to {MAX_THREADS}, found `{found}`");
            number.ok_or_else(|| failed(vec![Diag::error(wrong())]))?
        }
    };
    let options = CompileOptions { engine, threads, ..CompileOptions::default() };
    let executable = client().compile(&module, &options).map_err(|e| failed(e.to_diags()))?;
    let result = executable.result().leaves();
    if let Some(other) = executable.parameters().iter().chain(result).find(|shape| shape.as_array().is_none())
    {
        let message = format!("expected a program that takes and gives arrays, found one of shape {other}");
        return Err(failed(vec![Diag::error(message)]));
    }
    Ok(Program { executable, module, constants })
}

/// Returns the module of a program, and the numbers of the arguments whose values are compiled into it. For
/// StableHLO, `function` names the function, and `arguments` specifies the sizes of its arguments: a list of
/// `{"dims": [8, 4]}`, with a `value` for an integer scalar that has one.
fn module_of(code: &[u8], options: &Value) -> Result<(Module, Vec<usize>), Vec<Diag>> {
    let polymorphic = match Form::of(code).open(code, options["function"].as_str())? {
        Opened::Program(program) => return Ok((program.module, Vec::new())),
        Opened::Polymorphic(polymorphic) => polymorphic,
    };
    let parameters = polymorphic.parameters();
    let Some(given) = options["arguments"].as_array() else {
        let shapes: Vec<String> = parameters.iter().map(|p| p.shape.to_string()).collect();
        let message = format!("the sizes of the program's arguments are unknown: {}", shapes.join(", "));
        let note = "`hlo.Polymorphic` takes them from the arrays that it is called with";
        return Err(vec![Diag::error(message).note(note)]);
    };
    let argument = |(number, given): (usize, &Value)| {
        let parameter = parameters.get(number);
        let ty = parameter.and_then(|p| p.shape.as_array()).map_or(ElementType::Pred, |a| a.element_type);
        let dims: Vec<i64> =
            given["dims"].as_array().into_iter().flatten().filter_map(Value::as_i64).collect();
        let value = given["value"].as_i64().filter(|_| parameter.is_some_and(|p| p.is_global_constant));
        Argument { shape: Shape::array(ty, dims), value }
    };
    let arguments: Vec<Argument> = given.iter().enumerate().map(argument).collect();
    let constants = (0..parameters.len()).filter(|&number| parameters[number].is_global_constant).collect();
    Ok((polymorphic.module(&arguments)?, constants))
}

fn describe(program: &Program) -> Value {
    let module = &program.module;
    let mut parameters = Vec::new();
    for id in module.parameters(module.entry()) {
        let (name, leaves) = (&module[id].name, module[id].shape.leaves());
        for (number, leaf) in leaves.iter().enumerate() {
            let name = if leaves.len() == 1 { name.to_string() } else { format!("{name}.{number}") };
            let mut array = described(leaf);
            array["name"] = name.into();
            parameters.push(array);
        }
    }
    let result = described(program.executable.result());
    json!({ "name": &*module.name, "parameters": parameters, "result": result, "constants": program.constants })
}

fn described(shape: &Shape) -> Value {
    match shape {
        Shape::Tuple(elements) => json!({ "tuple": elements.iter().map(described).collect::<Vec<_>>() }),
        shape => {
            let array = shape.as_array();
            let (ty, dims) = array.map_or(("", &[][..]), |a| (a.element_type.name(), &a.dims[..]));
            json!({ "type": ty, "dims": dims })
        }
    }
}

/// Memory of the caller.
struct BorrowedMemory(*const u8, usize);

// SAFETY: the caller guarantees that the memory stays valid and is not written during the run. `run` keeps no
// reference to it.
unsafe impl Send for BorrowedMemory {}
// SAFETY: as above.
unsafe impl Sync for BorrowedMemory {}

impl Deref for BorrowedMemory {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: guaranteed by the caller.
        unsafe { slice(self.0, self.1) }
    }
}

// SAFETY: the memory belongs to the caller and does not move.
unsafe impl stable_deref_trait::StableDeref for BorrowedMemory {}

impl BorrowedMemory {
    /// Returns the address range of the memory.
    fn range(&self) -> Range<*const u8> {
        self.deref().as_ptr_range()
    }
}

/// Runs a program on memory of the caller.
///
/// # Safety
/// As [`hlo_program_run`].
unsafe fn run(program: &Program, arrays: &[*const u8]) -> Result<Results, Text> {
    let failed = |e: Error| diagnostics_error(&e.to_diags(), &empty_source());
    let parameters = program.executable.parameters();
    if arrays.len() != parameters.len() {
        return Err(failed(Error::argument_count(parameters.len(), arrays.len())));
    }
    let mut lent = Vec::with_capacity(arrays.len());
    let mut buffers = Vec::with_capacity(arrays.len());
    for (&address, shape) in arrays.iter().zip(parameters) {
        // The caller's arrays are row-major, and each element takes at least one byte.
        let plain =
            shape.as_array().map(|a| Shape::from(ArrayShape::new(a.element_type, a.dims.iter().copied())));
        let plain = plain.unwrap_or_else(|| shape.clone());
        let memory = BorrowedMemory(address, plain.byte_size());
        lent.push(memory.range());
        let buffer = Buffer::from_owner(memory, &plain).map_err(failed)?;
        let literal = buffer.into_literal().map_err(failed)?;
        buffers.push(Buffer::from_literal(&literal, shape).map_err(failed)?);
    }
    let given = program
        .executable
        .execute(&buffers.iter().collect::<Vec<_>>(), Default::default())
        .map_err(failed)?;
    let mut results = Vec::with_capacity(given.len());
    for buffer in given {
        let literal = buffer.into_literal().map_err(failed)?;
        let shape = literal.shape().clone();
        let at = literal.bytes().as_ptr();
        // A result that the program forwards from a parameter is still in the caller's memory, so copy it.
        let result = if lent.iter().any(|range| range.contains(&at)) {
            Buffer::from_slice(literal.bytes(), &shape)
        } else {
            Buffer::from_literal(&literal, &shape)
        };
        results.push(result.map_err(failed)?);
    }
    Ok(Results(results))
}

/// Returns a source for errors that refer to no text.
fn empty_source() -> Source {
    Source { name: String::new(), text: String::new() }
}

/// Converts diagnostics into an error for the caller.
fn diagnostics_error(diags: &[Diag], source: &Source) -> Text {
    let text: Vec<String> = diags.iter().map(|diag| render(diag, source, false)).collect();
    let each = diags.iter().map(|diag| {
        let place = diag.primary().filter(|_| !source.text.is_empty()).map(|label| {
            let before = &source.text[..floor_char_boundary(&source.text, label.span.start as usize)];
            let line = before.rfind('\n').map_or(0, |at| at + 1);
            (before.matches('\n').count() + 1, before[line..].chars().count() + 1)
        });
        json!({
            "severity": diag.severity.word(), "message": diag.message, "code": diag.code.as_ref().map(Code::as_str), "notes": diag.notes,
            "line": place.map(|(line, _)| line), "column": place.map(|(_, column)| column),
        })
    });
    let diagnostics: Vec<Value> = each.collect();
    Text(json!({ "text": text.join("\n").trim_end(), "diagnostics": diagnostics }).to_string())
}

/// Returns the error of `body`, or null if it succeeds. A panic is reported as an error of this library.
fn fallible(body: impl FnOnce() -> Result<(), Text>) -> *mut Text {
    let panicked = |_| Err(diagnostics_error(&[Diag::error("internal error: a panic")], &empty_source()));
    match catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(panicked) {
        Ok(()) => std::ptr::null_mut(),
        Err(error) => Box::into_raw(Box::new(error)),
    }
}

fn text(body: impl FnOnce() -> String) -> *mut Text {
    let text = catch_unwind(AssertUnwindSafe(body)).unwrap_or_default();
    Box::into_raw(Box::new(Text(text)))
}

/// # Safety
/// The address is null, or that of a box, and it is freed once.
unsafe fn free<T>(address: *mut T) {
    if !address.is_null() {
        // SAFETY: guaranteed by the caller.
        drop(unsafe { Box::from_raw(address) });
    }
}

/// # Safety
/// The memory contains `size` elements. If `size` is 0, the address is not used.
unsafe fn slice<'a, T>(address: *const T, size: usize) -> &'a [T] {
    match size {
        0 => &[],
        // SAFETY: guaranteed by the caller.
        _ => unsafe { std::slice::from_raw_parts(address, size) },
    }
}
