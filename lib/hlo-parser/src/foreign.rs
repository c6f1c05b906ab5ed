//! Detects texts that are not HLO, and explains how to convert them to HLO text.

use hlo_ir::diag::Diag;
use hlo_ir::rules::code;
use hlo_ir::{Span, floor_char_boundary};

/// Maximum number of bytes of a text that are searched.
const MAX_SEARCHED_BYTES: usize = 1 << 16;

/// A kind of text.
struct Kind {
    /// The name for messages.
    name: &'static str,
    /// Possible beginnings of the text after its comments.
    starts: &'static [&'static str],
    /// Strings that identify the kind anywhere in the text.
    contains: &'static [&'static str],
    /// The advice for the user.
    advice: &'static str,
}

const FROM_MLIR: &str = "`hlo-opt FILE` reads StableHLO, as text and as bytecode, and prints HLO text; of other dialects of MLIR \
                         nothing is read";
const FROM_PROGRAM: &str = "HLO text of a JAX function is what `jax.jit(f).lower(x).as_text(\"hlo\")` or `.compile().as_text()` gives";
const FROM_PROTO: &str =
    "`hlo-opt FILE` reads modules in protocol buffers, in binary and in text form, and prints HLO text";

const FROM_DUMP: &str = "beside it in the folder of `--xla_dump_to` the module is the file whose name has no \
                         `-buffer-assignment`, `-live-range` or `-memory-usage-report` before `.txt`";

/// The kinds, more specific ones first.
const KINDS: &[Kind] = &[
    Kind {
        name: "the buffer assignment of a module, as XLA dumps it",
        starts: &["BufferAssignment:", "Total bytes used: "],
        contains: &[],
        advice: FROM_DUMP,
    },
    Kind {
        name: "the live ranges of a module, as XLA dumps them",
        starts: &["HloLiveRange (max "],
        contains: &[],
        advice: FROM_DUMP,
    },
    Kind {
        name: "the report of a module's memory, as XLA dumps it",
        starts: &["Memory Space: ", "Total bytes: "],
        contains: &[],
        advice: FROM_DUMP,
    },
    Kind {
        name: "the flags of XLA, as it dumps them",
        starts: &["xla_dump_to: "],
        contains: &["\nxla_dump_to: "],
        advice: "beside it in the folder of `--xla_dump_to` the module is the file of the same name that ends in \
                 `before_optimizations.txt`, and those after it",
    },
    Kind {
        name: "StableHLO, a dialect of MLIR",
        starts: &[],
        contains: &["stablehlo.", "vhlo."],
        advice: FROM_MLIR,
    },
    Kind { name: "MHLO, a dialect of MLIR", starts: &[], contains: &["mhlo.", "chlo."], advice: FROM_MLIR },
    Kind {
        name: "LLVM IR",
        starts: &[
            "; ModuleID",
            "source_filename",
            "target triple",
            "target datalayout",
            "define ",
            "declare ",
        ],
        contains: &[],
        advice: "`hlo-run --emit` prints what HLO is compiled to, but nothing leads back",
    },
    Kind {
        name: "MLIR",
        starts: &[
            "module @",
            "module {",
            "module attributes",
            "builtin.module",
            "\"builtin.",
            "#map",
            "#loc",
            "func.",
        ],
        contains: &["func.func ", " = arith.", " = tensor.", " = linalg."],
        advice: FROM_MLIR,
    },
    Kind {
        name: "a protocol buffer in its text form",
        starts: &["hlo_module {", "hlo_module:", "name: \"", "computations {", "hlo {"],
        contains: &[],
        advice: FROM_PROTO,
    },
    Kind { name: "a jaxpr", starts: &["{ lambda", "{lambda"], contains: &[], advice: FROM_PROGRAM },
    Kind {
        name: "a Python program",
        starts: &[
            "import ",
            "from ",
            "def ",
            "class ",
            "@jax.",
            "@jit",
            "@partial",
            "print(",
            "#!/usr/bin/env python",
        ],
        contains: &["\nimport jax", "\nfrom jax", "jnp."],
        advice: FROM_PROGRAM,
    },
    Kind {
        name: "a C or C++ program",
        starts: &["#include", "#pragma", "using namespace", "namespace "],
        contains: &[],
        advice: "HLO text begins with `HloModule NAME`",
    },
    Kind {
        name: "a patch",
        starts: &["diff --git", "--- a/"],
        contains: &[],
        advice: "apply it, and give the file that it changes",
    },
    Kind {
        name: "XML or HTML",
        starts: &["<?xml", "<!DOCTYPE", "<html"],
        contains: &[],
        advice: "HLO text begins with `HloModule NAME`",
    },
    Kind {
        name: "JSON",
        starts: &["{\"", "{\n  \"", "[{\""],
        contains: &[],
        advice: "HLO text begins with `HloModule NAME`",
    },
];

/// Returns an error that names the kind of `text`, which does not parse, if it is probably not HLO.
pub fn recognize(text: &str) -> Option<Diag> {
    let looked_at = &text[..floor_char_boundary(text, MAX_SEARCHED_BYTES)];
    let body = looked_at.trim_start_matches('\u{feff}').trim_start();
    let body = after_comments(body);
    if body.starts_with("```") {
        let start = looked_at.len() - body.len();
        let diag = Diag::error("expected HLO text, found a fence of Markdown").with_code(code::NOT_HLO);
        let diag = diag.at(Span::new(start, start + 3), "expected `HloModule` and a name");
        return Some(diag.note("leave out the lines with ```, of which there is one at the end too"));
    }
    // The text is intended as HLO, even if it has errors later.
    if body.is_empty() || body.starts_with("HloModule") || body.contains("\nENTRY ") {
        return None;
    }
    let found = |k: &&Kind| {
        k.starts.iter().any(|s| body.starts_with(s)) || k.contains.iter().any(|c| body.contains(c))
    };
    let kind = KINDS.iter().find(found)?;
    let start = looked_at.len() - body.len();
    let line = body.find(['\n', '\r']).unwrap_or(body.len());
    let diag = Diag::error(format!("expected HLO text, found what looks like {}", kind.name))
        .with_code(code::NOT_HLO)
        .at(Span::new(start, start + body[..line].trim_end().len()), "expected `HloModule` and a name");
    Some(diag.note(kind.advice))
}

/// Returns the text after the comments at its start, in the comment syntax of several languages.
fn after_comments(mut text: &str) -> &str {
    loop {
        let rest = match text {
            _ if text.starts_with("//") || text.starts_with("# ") => text.find('\n').map(|n| &text[n..]),
            _ if text.starts_with("/*") => text.find("*/").map(|n| &text[n + 2..]),
            _ => return text,
        };
        match rest {
            Some(rest) => text = rest.trim_start(),
            None => return "",
        }
    }
}
