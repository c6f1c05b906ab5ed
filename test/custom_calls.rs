//! Tests of custom calls of C functions: `cc` compiles a library, and `hlo-run` calls its functions, in all
//! calling conventions.

use std::path::PathBuf;
use std::process::{Command, Output};

const LIBRARY: &str = r#"
#include <stddef.h>
#include <string.h>
typedef struct XlaCustomCallStatus_ XlaCustomCallStatus;
void XlaCustomCallStatusSetFailure(XlaCustomCallStatus*, const char*, size_t);

/* f32[2], f32[2,3] -> f32[2,3] */
void scale_rows(void* out, const void** in) {
  const float* x = in[0];
  const float* y = in[1];
  float* z = out;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j) z[3 * i + j] = x[i] * y[3 * i + j];
}

/* The example of the operation semantics, "CustomCall": f32[2], f32[2,3] -> f32[3,3]. */
void myfunc(void* out, const void** in) {
  const float* x = in[0];
  const float (*y)[3] = in[1];
  float (*z)[3] = out;
  memset(out, 0, 36);
  if (x[0] != 1 || x[1] != 2) return;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      if (y[i][j] != 10 * (3 * i + j + 1)) return;
  z[0][0] = x[1] + y[1][0];
}

/* (s32[2], (f32[2])) -> (f32[2], (s32[2], token[])): both in tables of addresses */
void swap(void* out, const void** in) {
  const void* const* pair = in[0];
  const void* const* inner = pair[1];
  void** results = out;
  void** nested = results[1];
  memcpy(results[0], inner[0], 8);
  memcpy(nested[0], pair[0], 8);
}

/* Element by element, in place: what comes in is what goes out. */
void twice(void* out, const void** in, XlaCustomCallStatus* status) {
  if (out != in[0]) {
    XlaCustomCallStatusSetFailure(status, "not in place", 12);
    return;
  }
  float* x = out;
  for (int i = 0; i < 4; ++i) x[i] *= 2;
}

/* The configuration is the power; it fails for anything but 2. */
void power(void* out, const void** in, const char* opaque, size_t len, XlaCustomCallStatus* status) {
  if (len != 1 || *opaque != '2') {
    XlaCustomCallStatusSetFailure(status, "only squares", 12);
    return;
  }
  const float* x = in[0];
  for (int i = 0; i < 4; ++i) ((float*)out)[i] = x[i] * x[i];
}

/* f32[2,3] that lies column by column: its bytes as they are */
void bytes(void* out, const void** in) { memcpy(out, in[0], 24); }

/* Not declared: reached by name only, where that is asked for. */
void undeclared(void* out, const void** in) { memcpy(out, in[0], 16); }
int counter = 1;
extern void helper(void* out, const void** in);
void (*keeps_the_dependency)(void*, const void**) = helper;

/* The declaration of the targets: a name, the convention, the function. */
const struct { const char* name; long api_version; void* function; } hlo_custom_calls[] = {
  {"scale_rows", 1, scale_rows}, {"myfunc", 1, myfunc}, {"swap", 1, swap}, {"twice", 2, twice},
  {"power", 3, power}, {"bytes", 1, bytes}, {0, 0, 0}};
"#;

/// A library that the first one depends on.
const DEPENDENCY: &str = r#"
#include <string.h>
void helper(void* out, const void** in) { memcpy(out, in[0], 16); }
"#;

/// A library of typed handlers, which follow XLA's header.
const TYPED: &str = r#"
#include <stddef.h>
#include <stdint.h>
#include <string.h>
typedef struct Extension { size_t size; int type; struct Extension* next; } Extension;
typedef struct { size_t size; Extension* extensions; int major, minor; } Version;
typedef struct { size_t size; Version version; uint32_t traits; int64_t state; } Metadata;
typedef struct { Extension base; Metadata* metadata; } MetadataExtension;
typedef struct { const char* text; size_t len; } Span;
typedef struct { size_t size; Extension* extensions; int type; void* data; int64_t rank; int64_t* dims; } Buffer;
typedef struct { size_t size; Extension* extensions; int64_t count; int* types; void** values; } Values;
typedef struct { size_t size; Extension* extensions; int64_t count; int* types; Span** names; void** values; } Attrs;
typedef struct { int type; void* value; } Scalar;
typedef struct { size_t size; Extension* extensions; const char* message; int code; } ErrorCreate;
typedef struct { void *execute[4]; } Bundle;
typedef struct { size_t size; Extension* extensions; Span name, platform; Bundle bundle; uint32_t traits; } Register;
typedef struct {
  size_t size; Extension* extensions; Version version; void* internal;
  void* (*error_create)(ErrorCreate*); void* message; void* destroy; void* (*reg)(Register*);
} Api;
typedef struct {
  size_t size; Extension* extensions; const Api* api; void* context; int stage;
  Values arguments, results; Attrs attributes; void* future;
} Frame;

static int minor = 3;

static int is_query(Frame* frame) {
  if (!frame->extensions || frame->extensions->type != 1) return 0;
  Metadata* metadata = ((MetadataExtension*)frame->extensions)->metadata;
  metadata->version.major = 0;
  metadata->version.minor = minor;
  return 1;
}

static void* fail(Frame* frame, const char* message) {
  ErrorCreate args = {sizeof args, 0, message, 3};
  return frame->api->error_create(&args);
}

/* f32[n] with the attribute `factor`, or the attributes `bias` and `factor` */
void* scale(Frame* frame) {
  if (is_query(frame)) return 0;
  Buffer *x = frame->arguments.values[0], *y = frame->results.values[0];
  Attrs* attrs = &frame->attributes;
  if (frame->arguments.count != 1 || x->type != 11 || x->rank != 1) return fail(frame, "takes f32[n]");
  float factor = 0, bias = 0;
  for (int i = 0; i < attrs->count; ++i) {
    Scalar* scalar = attrs->values[i];
    if (i && strcmp(attrs->names[i - 1]->text, attrs->names[i]->text) > 0) return fail(frame, "not sorted");
    if (attrs->types[i] != 3 || scalar->type != 11) return fail(frame, "takes floats");
    memcpy(attrs->names[i]->text[0] == 'b' ? &bias : &factor, scalar->value, 4);
  }
  if (factor == 0) return fail(frame, "the factor is 0");
  for (int i = 0; i < x->dims[0]; ++i) ((float*)y->data)[i] = factor * ((float*)x->data)[i] + bias;
  return 0;
}

/* Built for a version that is not there yet. */
void* too_new(Frame* frame) {
  minor = 99;
  int query = is_query(frame);
  minor = 3;
  return query ? 0 : fail(frame, "called all the same");
}

const Api* XLA_FFI_GetApi(void);
static void declare(const char* name, const char* platform) {
  Register args = {sizeof args, 0, {name, strlen(name)}, {platform, strlen(platform)}, {{0, 0, 0, scale}}, 0};
  XLA_FFI_GetApi()->reg(&args);
}
__attribute__((constructor)) static void when_loaded(void) {
  declare("registered_scale", "Host");
  declare("other_scale", "CUDA");
}
"#;

/// Compiles a library from its source. Returns `None` if there is no C compiler.
fn compile(name: &str, source: &str, arguments: &[&str]) -> Option<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("custom-calls-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (file, library) = (folder.join("targets.c"), folder.join(format!("lib{name}.so")));
    std::fs::write(&file, source).unwrap();
    let mut cc = Command::new("cc");
    match cc.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&file).args(arguments).status() {
        Ok(status) => assert!(status.success(), "the library does not compile"),
        Err(e) => {
            eprintln!("skipped: there is no C compiler ({e})");
            return None;
        }
    }
    Some(library)
}

/// Compiles the library of functions and its dependency.
fn library(name: &str) -> Option<PathBuf> {
    let needed = compile(&format!("{name}-needed"), DEPENDENCY, &[])?;
    let folder = needed.parent().unwrap();
    let path = format!("-Wl,-rpath,{}", folder.display());
    compile(name, LIBRARY, &[needed.to_str().unwrap(), &path])
}

/// Runs a module in the given engine.
fn run(engine: &str, libraries: &[&str], text: &str, arguments: &[&str]) -> Output {
    use std::io::Write;
    let mut command = Command::new(env!("CARGO_BIN_EXE_hlo-run"));
    command.args(["-", "--engine", engine]).args(arguments);
    for library in libraries {
        command.args(["--custom-calls", library]);
    }
    command.stdin(std::process::Stdio::piped());
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

fn engines() -> &'static [&'static str] {
    if cfg!(feature = "codegen") { &["eval", "jit", "both"] } else { &["eval"] }
}

fn succeeds(library: &str, text: &str, arguments: &[&str]) {
    for engine in engines() {
        let out = run(engine, &[library], text, arguments);
        let errors = String::from_utf8_lossy(&out.stderr);
        assert!(out.status.success(), "{engine}: {errors}\n{text}");
    }
}

fn fails(libraries: &[&str], text: &str, arguments: &[&str], message: &str) {
    for engine in engines() {
        let out = run(engine, libraries, text, arguments);
        let errors = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(1), "{engine}: {errors}");
        assert!(errors.contains(message), "{engine}: {errors}\nshould contain: {message}");
    }
}

/// Returns a module whose entry computation contains one call.
fn module(result: &str, operands: &str, call: &str) -> String {
    let parameters: Vec<&str> = operands.split(';').collect();
    let mut text = "HloModule m\nENTRY main {\n".to_string();
    for (n, shape) in parameters.iter().enumerate() {
        text += &format!("  p{n} = {shape} parameter({n})\n");
    }
    let names: Vec<String> = (0..parameters.len()).map(|n| format!("p{n}")).collect();
    text + &format!("  ROOT r = {result} custom-call({}), custom_call_target={call}\n}}\n", names.join(", "))
}

#[test]
fn functions_of_a_library() {
    let Some(library) = library("targets") else { return };
    let library = library.to_str().unwrap();
    let rows = module("f32[2,3]", "f32[2];f32[2,3]", "\"scale_rows\"");
    succeeds(
        library,
        &rows,
        &[
            "--input",
            "f32[2] {2,10}",
            "--input",
            "f32[2,3] {{1,2,3},{4,5,6}}",
            "--expect",
            "f32[2,3] {{2,4,6},{40,50,60}}",
        ],
    );
    let myfunc = module("f32[3,3]", "f32[2];f32[2,3]", "\"myfunc\"");
    succeeds(
        library,
        &myfunc,
        &[
            "--input",
            "f32[2] {1,2}",
            "--input",
            "f32[2,3] {{10,20,30},{40,50,60}}",
            "--expect",
            "f32[3,3] {{42,0,0},{0,0,0},{0,0,0}}",
        ],
    );
    let swap = module("(f32[2], (s32[2], token[]))", "(s32[2], (f32[2]))", "\"swap\"");
    succeeds(library, &swap, &["--input", "s32[2] {1,2}", "--input", "f32[2] {3,4}"]);
    let out = run("eval", &[library], &swap, &["--input", "s32[2] {1,2}", "--input", "f32[2] {3,4}"]);
    let text = String::from_utf8_lossy(&out.stdout);
    assert!(text.contains("{3, 4}") && text.contains("{1, 2}"), "{text}");
    let status = "api_version=API_VERSION_STATUS_RETURNING";
    let alias = "output_to_operand_aliasing={{}: (0, {})}";
    let twice = module("f32[4]", "f32[4]", &format!("\"twice\", {status}, {alias}"));
    succeeds(library, &twice, &["--input", "f32[4] {1,2,3,4}", "--expect", "f32[4] {2,4,6,8}"]);
    let unified = format!("{status}_UNIFIED");
    let power =
        |n: &str| module("f32[4]", "f32[4]", &format!("\"power\", {unified}, backend_config=\"{n}\""));
    succeeds(library, &power("2"), &["--input", "f32[4] {1,2,3,4}", "--expect", "f32[4] {1,4,9,16}"]);
    let one = ["--input", "f32[4] {1,2,3,4}"];
    fails(&[library], &power("3"), &one, "`power`: only squares");
    let apart = module("f32[4]", "f32[4]", &format!("\"twice\", {status}"));
    fails(&[library], &apart, &one, "`twice`: not in place");
    fails(&[library], &module("f32[4]", "f32[4]", "\"thrice\""), &one, "libtargets.so does not declare it");
    let typed = module("f32[4]", "f32[4]", "\"bytes\", api_version=API_VERSION_TYPED_FFI");
    let message = "is declared with api_version=API_VERSION_ORIGINAL, and called by API_VERSION_TYPED_FFI";
    fails(&[library], &typed, &one, message);
    let laid_out = module("f32[6]", "f32[2,3]", "\"bytes\", operand_layout_constraints={f32[2,3]{0,1}}");
    succeeds(
        library,
        &laid_out,
        &["--input", "f32[2,3] {{1,2,3},{4,5,6}}", "--expect", "f32[6] {1,4,2,5,3,6}"],
    );
}

/// A symbol that the dynamic linker finds through a library is not a target unless the library declares it.
/// This applies to functions of the C library and of other dependencies, to data, and even to the library's
/// own functions.
#[test]
fn only_declared_functions_are_targets() {
    let Some(library) = library("security") else { return };
    let library = library.to_str().unwrap();
    let one = ["--input", "f32[4] {1,2,3,4}"];
    let by_name = ["--input", "f32[4] {1,2,3,4}", "--custom-calls-by-name"];
    let refused = [
        ("system", "does not define it"),
        ("abort", "does not define it"),
        ("environ", "does not define it"),
        ("helper", "does not define it"),
        ("counter", "is no function"),
        ("hlo_custom_calls", "is no function"),
        ("keeps_the_dependency", "is no function"),
        ("nothing_at_all", "does not declare it"),
    ];
    let versions = ["", ", api_version=API_VERSION_STATUS_RETURNING", ", api_version=API_VERSION_TYPED_FFI"];
    for version in versions {
        for (name, why) in refused {
            let call = module("f32[4]", "f32[4]", &format!("\"{name}\"{version}"));
            let message = format!("unknown custom call target `{name}`");
            fails(&[library], &call, &one, &message);
            fails(&[library], &call, &one, why);
            fails(&[library], &call, &by_name, why);
        }
    }
    // A shell command in memory that operand and result share.
    let alias = "output_to_operand_aliasing={{}: (0, {})}";
    let file = PathBuf::from(library).with_file_name("made-by-a-module");
    let command = format!("touch {}", file.display());
    let bytes: Vec<String> = command.bytes().chain([0]).map(|b| b.to_string()).collect();
    let shape = format!("u8[{}]", bytes.len());
    let call = module(&shape, &shape, &format!("\"system\", {alias}"));
    let input = format!("{shape} {{{}}}", bytes.join(","));
    fails(&[library], &call, &["--input", &input, "--custom-calls-by-name"], "does not define it");
    assert!(!file.exists(), "a module ran a command");
    let own = module("f32[4]", "f32[4]", "\"undeclared\"");
    fails(&[library], &own, &one, "a function of this name that it does not declare");
    succeeds(library, &own, &[&by_name[..], &["--expect", "f32[4] {1,2,3,4}"]].concat());
}

#[test]
fn typed_handlers() {
    let Some(library) = compile("typed", TYPED, &[]) else { return };
    let library = library.to_str().unwrap();
    let one = ["--input", "f32[4] {1,2,3,4}"];
    let call = |name: &str, attributes: &str| {
        let typed = "api_version=API_VERSION_TYPED_FFI";
        module("f32[4]", "f32[4]", &format!("\"{name}\", {typed}, backend_config={{{attributes}}}"))
    };
    let with = |more: &[&'static str]| -> Vec<&'static str> { [&one[..], more].concat() };
    let right = with(&["--expect", "f32[4] {3.5,5.5,7.5,9.5}"]);
    let attributes = "factor = 2.0 : f32, bias = 0x3FC00000 : f32";
    succeeds(library, &call("registered_scale", attributes), &right);
    for target in ["scale", "scale_rows=scale"] {
        let name = target.split('=').next().unwrap();
        let declared = [&right[..], &["--ffi-target", target]].concat();
        succeeds(library, &call(name, attributes), &declared);
    }
    succeeds(library, &call("scale", attributes), &[&right[..], &["--custom-calls-by-name"]].concat());
    fails(&[library], &call("scale", attributes), &one, "--ffi-target");
    fails(&[library], &call("registered_scale", ""), &one, "`registered_scale`: the factor is 0");
    fails(&[library], &call("registered_scale", "factor = 2 : i32"), &one, "takes floats");
    fails(&[library], &call("other_scale", attributes), &one, "registers it for CUDA only");
    fails(&[library], &call("x", ""), &with(&["--ffi-target", "x=y"]), "`y` is no function of");
    fails(&[library], &call("x", ""), &with(&["--ffi-target", "x=memcpy"]), "`memcpy` is no function of");
    let new = with(&["--ffi-target", "too_new"]);
    fails(&[library], &call("too_new", ""), &new, "is built for version 0.99");
    let plain = module("f32[4]", "f32[4]", "\"registered_scale\"");
    let message = "is declared with api_version=API_VERSION_TYPED_FFI, and called by API_VERSION_ORIGINAL";
    fails(&[library], &plain, &one, message);
}

#[test]
fn python_functions_are_left_out_if_asked_for() {
    let call = |result: &str| {
        let typed = "api_version=API_VERSION_TYPED_FFI, custom_call_has_side_effect=true";
        module(
            result,
            "f32[4]",
            &format!("\"xla_ffi_python_cpu_callback\", {typed}, backend_config={{index = 0 : ui64}}"),
        )
    };
    let one = ["--input", "f32[4] {1,2,3,4}"];
    fails(&[], &call("f32[4]"), &one, "it calls a Python function");
    for engine in engines() {
        let stub = [&one[..], &["--stub-callbacks", "--expect", "f32[4] {0,0,0,0}"]].concat();
        let out = run(engine, &[], &call("f32[4]"), &stub);
        let errors = String::from_utf8_lossy(&out.stderr);
        assert!(out.status.success() && errors.contains("callback` gives zeros"), "{engine}: {errors}");
        let out = run(engine, &[], &call("()"), &[&one[..], &["--stub-callbacks"]].concat());
        let errors = String::from_utf8_lossy(&out.stderr);
        assert!(out.status.success() && errors.contains("callback` is skipped"), "{engine}: {errors}");
    }
}

#[test]
fn libraries_that_are_not_there() {
    let text = module("f32[4]", "f32[4]", "\"f\"");
    let one = ["--input", "f32[4] {1,2,3,4}"];
    fails(&["no/such/lib.so"], &text, &one, "the library no/such/lib.so can't be loaded");
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    fails(&[manifest], &text, &one, "can't be loaded");
}
