//! What the Python module `hlo` calls (`python/hlo/_library.py`): programs from text or bytes, run on arrays in the caller's
//! memory. It is for callers who have no need of PJRT, which is the other interface of this library.
//!
//! Functions that may fail give the address of an error, or null. An error is a [`Text`] of JSON, `{"text": …, "diagnostics":
//! [{"severity": …, "message": …, "code": …, "line": …, "column": …, "notes": […]}]}`. Addresses are those that this module
//! gave; each is given back once, to the function that ends with `_free`. Nothing unwinds into the caller.

use hlo_client::{Buffer, Client, CompileOptions, Engine, Error, Executable};
use hlo_forms::{Argument, Form, Opened};
use hlo_ir::diag::{Diag, Source, render};
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
    /// The numbers of the arguments for whose values the program was made.
    constants: Vec<usize>,
}

/// The arrays that a run gave.
pub struct Results(Vec<Buffer>);

/// A text that the library gives, in UTF-8.
pub struct Text(String);

/// Reads a program of whatever form, and compiles it. `options` is JSON: `name`, what diagnostics call it; `engine`, `compiled` or
/// `interpreted`; `threads`, how many it may use, 0 for all; `function` and `arguments` of StableHLO. Gives an error, or writes the program's address.
///
/// # Safety
/// `code` has `size` bytes, `options` is a text with a terminator, `program` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_program_load(
    code: *const u8,
    size: usize,
    options: *const c_char,
    program: *mut *mut Program,
) -> *mut Text {
    // SAFETY: the caller's promise.
    let (code, options) = unsafe { (slice(code, size), CStr::from_ptr(options)) };
    fallible(|| {
        let loaded = load(code, options)?;
        // SAFETY: the caller's promise.
        unsafe { program.write(Box::into_raw(Box::new(loaded))) };
        Ok(())
    })
}

/// Frees a program. Null is none.
///
/// # Safety
/// It is one of [`hlo_program_load`], and freed once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_program_free(program: *mut Program) {
    // SAFETY: the caller's promise.
    unsafe { free(program) };
}

/// What a program takes and gives, as JSON: `{"name": …, "parameters": [{"name": …, "type": "f32", "dims": […]}], "result": …,
/// "constants": […]}`, where a result is an array, or `{"tuple": […]}`.
///
/// # Safety
/// It is one of [`hlo_program_load`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_program_describe(program: *const Program) -> *mut Text {
    // SAFETY: the caller's promise.
    let program = unsafe { &*program };
    text(|| describe(program).to_string())
}

/// A program as HLO text.
///
/// # Safety
/// It is one of [`hlo_program_load`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_program_text(program: *const Program) -> *mut Text {
    // SAFETY: the caller's promise.
    let program = unsafe { &*program };
    text(|| print_module(&program.module, &PrintOptions::default()))
}

/// Runs a program on arrays, one for each array of its parameters, row-major. Gives an error, or writes the address of the
/// results.
///
/// # Safety
/// The program is one of [`hlo_program_load`]; there are `count` arrays, each as large as its parameter, that nobody writes while it
/// runs; `results` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_program_run(
    program: *const Program,
    arrays: *const *const u8,
    count: usize,
    results: *mut *mut Results,
) -> *mut Text {
    // SAFETY: the caller's promise.
    let (program, arrays) = unsafe { (&*program, slice(arrays, count)) };
    fallible(|| {
        // SAFETY: the caller's promise.
        let given = unsafe { run(program, arrays)? };
        // SAFETY: the caller's promise.
        unsafe { results.write(Box::into_raw(Box::new(given))) };
        Ok(())
    })
}

/// Where the elements of an array of results begin, row-major; null if there is no such array.
///
/// # Safety
/// The results are of [`hlo_program_run`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_results_data(results: *const Results, number: usize) -> *const c_void {
    // SAFETY: the caller's promise.
    let array = unsafe { &*results }.0.get(number).and_then(|array| array.bytes().ok());
    array.map_or(std::ptr::null(), |bytes| bytes.as_ptr().cast())
}

/// The size of a dimension of an array of results; -1 if there is no such dimension.
///
/// # Safety
/// The results are of [`hlo_program_run`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_results_size(results: *const Results, number: usize, dimension: usize) -> i64 {
    // SAFETY: the caller's promise.
    let array = unsafe { &*results }.0.get(number).and_then(|array| array.shape().as_array());
    array.and_then(|array| array.dims.get(dimension)).copied().unwrap_or(-1)
}

/// Frees results. Null is none.
///
/// # Safety
/// They are of [`hlo_program_run`], freed once, and nobody looks at their arrays any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_results_free(results: *mut Results) {
    // SAFETY: the caller's promise.
    unsafe { free(results) };
}

/// Where a text begins; its bytes are counted in `size`.
///
/// # Safety
/// It is one of this library's; `size` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_text_data(text: *const Text, size: *mut usize) -> *const u8 {
    // SAFETY: the caller's promise.
    unsafe {
        let Text(text) = &*text;
        size.write(text.len());
        text.as_ptr()
    }
}

/// Frees a text. Null is none.
///
/// # Safety
/// It is one of this library's, and freed once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_text_free(text: *mut Text) {
    // SAFETY: the caller's promise.
    unsafe { free(text) };
}

/// The client of all programs.
fn client() -> &'static Client {
    static CLIENT: OnceLock<Client> = OnceLock::new();
    CLIENT.get_or_init(Client::local)
}

/// The largest number of threads of a program.
const MAX_THREADS: usize = 1024;

fn load(code: &[u8], options: &CStr) -> Result<Program, Text> {
    // Python's thread may take subnormal numbers as zero: some libraries set it so.
    let _standard = hlo_client::StandardFloats::set();
    let options: Value = serde_json::from_slice(options.to_bytes())
        .map_err(|e| said(&[Diag::error(format!("the options are no JSON: {e}"))], &nowhere()))?;
    let source = Source {
        name: options["name"].as_str().unwrap_or("<program>").to_string(),
        text: std::str::from_utf8(code).unwrap_or_default().to_string(),
    };
    let failed = |diags: Vec<Diag>| said(&diags, &source);
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

/// The module of a program: of StableHLO that of the function `function`, for arguments of the sizes in `arguments`, a list of
/// `{"dims": [8, 4]}`, with a `value` where an integer scalar has one. With the numbers of the arguments whose values count.
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

/// Memory of the caller's.
struct Lent(*const u8, usize);

// SAFETY: the caller promises that it is there, and nobody writes it, while the program runs; `run` keeps nothing of it.
unsafe impl Send for Lent {}
// SAFETY: as above.
unsafe impl Sync for Lent {}

impl Deref for Lent {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the caller's promise.
        unsafe { slice(self.0, self.1) }
    }
}

// SAFETY: the memory is the caller's, and stays where it is.
unsafe impl stable_deref_trait::StableDeref for Lent {}

impl Lent {
    /// Where it is.
    fn range(&self) -> Range<*const u8> {
        self.deref().as_ptr_range()
    }
}

/// Runs a program on memory of the caller's.
///
/// # Safety
/// As [`hlo_program_run`].
unsafe fn run(program: &Program, arrays: &[*const u8]) -> Result<Results, Text> {
    let failed = |e: Error| said(&e.to_diags(), &nowhere());
    let parameters = program.executable.parameters();
    if arrays.len() != parameters.len() {
        return Err(failed(Error::argument_count(parameters.len(), arrays.len())));
    }
    let mut lent = Vec::with_capacity(arrays.len());
    let mut buffers = Vec::with_capacity(arrays.len());
    for (&address, shape) in arrays.iter().zip(parameters) {
        // What the caller has lies row-major, one element in a byte at least.
        let plain =
            shape.as_array().map(|a| Shape::from(ArrayShape::new(a.element_type, a.dims.iter().copied())));
        let plain = plain.unwrap_or_else(|| shape.clone());
        let memory = Lent(address, plain.byte_size());
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
        // What a program hands through is the caller's memory still.
        let result = match lent.iter().any(|range| range.contains(&at)) {
            true => Buffer::from_slice(literal.bytes(), &shape),
            false => Buffer::from_literal(&literal, &shape),
        };
        results.push(result.map_err(failed)?);
    }
    Ok(Results(results))
}

/// The source of errors that are of no text.
fn nowhere() -> Source {
    Source { name: String::new(), text: String::new() }
}

/// An error, as the caller gets it.
fn said(diags: &[Diag], source: &Source) -> Text {
    let text: Vec<String> = diags.iter().map(|diag| render(diag, source, false)).collect();
    let each = diags.iter().map(|diag| {
        let place = diag.primary().filter(|_| !source.text.is_empty()).map(|label| {
            let before = &source.text[..floor_char_boundary(&source.text, label.span.start as usize)];
            let line = before.rfind('\n').map_or(0, |at| at + 1);
            (before.matches('\n').count() + 1, before[line..].chars().count() + 1)
        });
        json!({
            "severity": diag.severity.word(), "message": diag.message, "code": diag.code, "notes": diag.notes,
            "line": place.map(|(line, _)| line), "column": place.map(|(_, column)| column),
        })
    });
    let diagnostics: Vec<Value> = each.collect();
    Text(json!({ "text": text.join("\n").trim_end(), "diagnostics": diagnostics }).to_string())
}

/// The error of what may fail, or panic, which is an error of this library; null if it does not.
fn fallible(body: impl FnOnce() -> Result<(), Text>) -> *mut Text {
    let panicked = |_| Err(said(&[Diag::error("internal error: a panic")], &nowhere()));
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
/// It is null, or the address of a box, given back once.
unsafe fn free<T>(address: *mut T) {
    if !address.is_null() {
        // SAFETY: the caller's promise.
        drop(unsafe { Box::from_raw(address) });
    }
}

/// # Safety
/// There are so many elements, or none.
unsafe fn slice<'a, T>(address: *const T, size: usize) -> &'a [T] {
    match size {
        0 => &[],
        // SAFETY: the caller's promise.
        _ => unsafe { std::slice::from_raw_parts(address, size) },
    }
}
