//! Custom calls of C functions: a library is compiled with `cc` and run by `hlo-run`, in all conventions.

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
"#;

/// The library; none where there is no C compiler.
fn library() -> Option<PathBuf> {
    let folder =
        PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("custom-calls-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (source, library) = (folder.join("targets.c"), folder.join("libtargets.so"));
    std::fs::write(&source, LIBRARY).unwrap();
    let mut cc = Command::new("cc");
    match cc.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).status() {
        Ok(status) => assert!(status.success(), "the library does not compile"),
        Err(e) => {
            eprintln!("skipped: there is no C compiler ({e})");
            return None;
        }
    }
    Some(library)
}

/// Runs a module on the given engine.
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

/// An entry computation of one call.
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
    let Some(library) = library() else { return };
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
    fails(&[library], &module("f32[4]", "f32[4]", "\"thrice\""), &one, "no function of that name in");
    let typed = module("f32[4]", "f32[4]", "\"bytes\", api_version=API_VERSION_TYPED_FFI");
    fails(&[library], &typed, &one, "which can't be called by API_VERSION_TYPED_FFI");
    let laid_out = module("f32[6]", "f32[2,3]", "\"bytes\", operand_layout_constraints={f32[2,3]{0,1}}");
    succeeds(
        library,
        &laid_out,
        &["--input", "f32[2,3] {{1,2,3},{4,5,6}}", "--expect", "f32[6] {1,4,2,5,3,6}"],
    );
}

#[test]
fn libraries_that_are_not_there() {
    let text = module("f32[4]", "f32[4]", "\"f\"");
    let one = ["--input", "f32[4] {1,2,3,4}"];
    fails(&["no/such/lib.so"], &text, &one, "the library no/such/lib.so can't be loaded");
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    fails(&[manifest], &text, &one, "can't be loaded");
}
