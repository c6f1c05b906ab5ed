//! Properties of programs in any format: unusual names and other strings do not change the program.
//!
//! The strings of other formats can contain less than HLO text can express. If a reader accepts a program, it
//! must print and parse as the same program.

use crate::Numbers;
use crate::check::{Check, check_diags, reads_back};
use hlo_forms::Program;
use hlo_ir::diag::Diag;
use hlo_ir::{Module, verify};
use hlo_proto::file::FileKind;
use hlo_stablehlo::dialect::Version;
use hlo_stablehlo::{Tree, bytecode, text};

/// Unusual texts for names and other strings of a program.
pub const TEXTS: &[&str] = &[
    "",
    " ",
    "\n",
    "\r\n",
    "\0",
    "\x1b[31m",
    "a b",
    "a/b",
    "a\"b",
    "a'b",
    "\\",
    "\\n",
    "%x",
    "é",
    "語\u{202e}",
    "true",
    "ROOT",
    "ENTRY",
    "HloModule",
    "f32",
    "tuple",
    "token",
    "__x",
    "__xla_x",
    "<lambda>",
    "x.1",
    "x.1",
    "x.007",
    "x.9223372036854775807",
    "x.18446744073709551615",
    "1",
    ".",
    "-",
    "w = f32[4]{0} add(%x, %x)\n  %d",
    "}\n\nENTRY %f",
    "{",
    "}",
    "{\"a\": [}",
    "{'}",
    "{/*}*/}",
    "//",
    "/*",
    "*/",
    "// -----",
    "a=",
    ",metadata={op_name=\"x\"}",
    "loc(\"x\")",
    "#loc1",
    "@main",
];

/// Replaces some of the strings in double quotes. `escape` converts a string to its quoted form. `may_change`
/// receives the text before the string in its line.
fn with_other_strings(
    program: &str,
    numbers: &mut Numbers,
    may_change: impl Fn(&str) -> bool,
    escape: impl Fn(&str) -> String,
) -> String {
    // In some programs nearly all strings change, in others nearly none, because one invalid string makes the
    // reader reject the program.
    let one_in = 1 << numbers.below(8);
    let long = "long".repeat(1 << numbers.below(16));
    let mut out = String::with_capacity(program.len());
    let mut rest = program;
    while let Some((before, after)) = rest.split_once('"') {
        let end = end_of_string(after);
        let line = before.rsplit('\n').next().unwrap_or_default();
        out.push_str(before);
        out.push('"');
        if !(may_change(line) && numbers.one_in(one_in)) {
            out.push_str(&after[..end])
        } else if numbers.one_in(50) {
            out.push_str(&long)
        } else {
            out.push_str(&escape(numbers.pick(TEXTS)))
        }
        out.push('"');
        rest = after.get(end + 1..).unwrap_or_default();
    }
    out + rest
}

/// Returns the end of the string that `text` begins in.
fn end_of_string(text: &str) -> usize {
    let mut escaped = false;
    let ends = |b: u8| {
        let ends = b == b'"' && !escaped;
        escaped = b == b'\\' && !escaped;
        ends
    };
    text.bytes().position(ends).unwrap_or(text.len())
}

/// Checks [`reads_back`] for a program that a reader accepted. Returns `None` if the program is not valid.
fn accepted(read: Result<Program, Vec<Diag>>) -> Check<Option<Module>> {
    match read {
        Err(diags) if diags.is_empty() => Err("refused without a diagnostic".into()),
        Err(_) => Ok(None),
        Ok(Program { module, .. }) => match verify::verify(&module) {
            diags if diags.is_empty() => reads_back(&module).map(|()| Some(module)),
            diags => check_diags(&diags, "", false).map(|()| None),
        },
    }
}

/// Checks a module as a protocol buffer, in both forms, with strings replaced. Returns whether the reader
/// accepted it.
///
/// # Errors
/// Returns an error if [`reads_back`] fails or if the two forms differ.
pub fn protos(module: &Module, numbers: &mut Numbers) -> Check<bool> {
    let kind = FileKind::Module;
    let Ok(written) = hlo_proto::file::write_text(module, kind) else { return Ok(false) };
    let octal = |text: &str| text.bytes().map(|b| format!("\\{b:03o}")).collect();
    let written = with_other_strings(&written, numbers, |line| !line.contains("opcode:"), octal);
    let read = hlo_proto::file::read_text(&written).map(Program::from);
    let found = accepted(read).map_err(|finding| format!("{finding}\nof the message\n{written}"))?;
    let Ok(parsed) = hlo_proto::text::parse(&written, kind.message_type()) else {
        return Ok(found.is_some());
    };
    let binary = accepted(hlo_proto::file::read_as(&parsed.bytes, kind).map(Program::from))?;
    let same = match (&found, &binary) {
        (Some(text), Some(binary)) => text.same_as(binary),
        (text, binary) => text.is_none() && binary.is_none(),
    };
    if same {
        Ok(found.is_some())
    } else {
        Err(format!("as text and as bytes it is another program:\n{written}"))
    }
}

/// Checks a module as StableHLO text and bytecode, with strings replaced. Returns whether the reader accepted
/// it.
///
/// # Errors
/// Returns an error if [`reads_back`] fails or if the reader rejects its own output.
pub fn stablehlo(module: &Module, numbers: &mut Numbers) -> Check<bool> {
    let Ok(tree) = hlo_stablehlo::export::export(module) else { return Ok(false) };
    let options = text::PrintOptions { is_generic: numbers.one_in(2), with_locations: numbers.one_in(2) };
    let hexadecimal = |text: &str| text.bytes().map(|b| format!("\\{b:02X}")).collect();
    // In the generic form, the names of operations are strings.
    let is_name = |line: &str| line.trim_end().ends_with('=') || line.trim().is_empty();
    let written = text::print_with(&tree, &options);
    let written =
        with_other_strings(&written, numbers, |line| !(options.is_generic && is_name(line)), hexadecimal);
    let Ok(tree) = text::parse(&written) else { return Ok(false) };
    let of_program = |finding| format!("{finding}\nof the program\n{written}");
    let read = |tree: &Tree| {
        let module = hlo_stablehlo::import::import(tree);
        accepted(module.map(|module| Program { module, warnings: Vec::new(), run: None })).map_err(of_program)
    };
    let found = read(&tree)?;
    let printed = text::print_with(&tree, &options);
    let again = text::parse(&printed)
        .map_err(|d| of_program(format!("it prints as {printed}\nwhich is refused: {d:?}")))?;
    let mut trees = vec![again];
    if let Ok(bytes) = bytecode::write(&tree, Version::CURRENT) {
        let tree =
            bytecode::read(&bytes).map_err(|d| of_program(format!("its bytecode is refused: {d:?}")))?;
        trees.push(tree);
    }
    for tree in trees {
        let again = read(&tree)?;
        let same = match (&found, &again) {
            (Some(found), Some(again)) => found.same_as(again),
            (found, again) => found.is_none() && again.is_none(),
        };
        if !same {
            return Err(of_program("read again it is another program".into()));
        }
    }
    Ok(found.is_some())
}
