//! The C header of a program, for C99 and C++.

use super::entry::BAD_POINTER;
use super::interface::{Interface, Leaf, element_names, element_note};
use crate::executable::ARENA_ALIGNMENT;
use crate::kernel_table::BUFFER_ALIGNMENT;
use hlo_ir::Shape;
use std::fmt::Write;

/// Returns the header's text.
pub fn header(interface: &Interface) -> String {
    let mut out = String::new();
    let name = &interface.name;
    let _ = write!(
        out,
        "/* {name}.h: the HLO module {module} as a C function, written by hlo-run {version}.\n\n\
         \x20  Compiled for {target}.\n{needs}   Link with: {link}\n\n{usage}*/\n\n\
         #ifndef HLO_AOT_{name}_H\n#define HLO_AOT_{name}_H\n\n\
         #include <stddef.h>\n#include <stdint.h>\n\n{common}\n\
         #ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n",
        module = comment(&interface.module),
        version = env!("CARGO_PKG_VERSION"),
        target = interface.target,
        needs = needs(interface),
        link = link_line(interface),
        usage = usage(interface),
        common = COMMON,
    );
    if interface.takes_context() {
        out.push_str(RUNTIME);
        out.push('\n');
    }
    let upper = name.to_ascii_uppercase();
    let _ = write!(
        out,
        "/* Every buffer starts at a multiple of this, which malloc gives on 64-bit computers. */\n\
         #define {upper}_ALIGNMENT ((size_t){BUFFER_ALIGNMENT})\n\
         /* The memory for temporary values: it may hold anything before and after a call. */\n\
         #define {upper}_ARENA_BYTES ((size_t){arena})\n\
         #define {upper}_ARENA_ALIGNMENT ((size_t){ARENA_ALIGNMENT})\n\n",
        arena = interface.arena_bytes,
    );
    for leaf in interface.parameters.iter().chain(&interface.results) {
        constants(&mut out, &upper, leaf);
    }
    structure(&mut out, &format!("{name}_arguments"), "const ", "What is read", &interface.parameters);
    structure(&mut out, &format!("{name}_results"), "", "What is written", &interface.results);
    let _ = write!(
        out,
        "{doc}int {name}(const {name}_arguments *arguments, const {name}_results *results, void *arena,\n    \
         hlo_context *context);\n\n\
         #ifdef __cplusplus\n}}\n#endif\n\n#endif\n",
        doc = entry_comment(interface),
    );
    out
}

/// Returns text that does not end a C comment.
pub(super) fn comment(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect::<String>().replace("*/", "* /")
}

/// Returns the command line of a C compiler that links the program.
pub(super) fn link_line(interface: &Interface) -> String {
    format!("cc main.c {}.o {}", interface.name, interface.libraries().join(" ")).trim_end().to_string()
}

fn needs(interface: &Interface) -> String {
    let mut out = String::new();
    match interface.runtime.is_empty() {
        true => out.push_str("   It needs no runtime library.\n"),
        false => {
            let _ = writeln!(out, "   Of libhlo_runtime.a it calls {}.", interface.runtime.join(", "));
        }
    }
    if !interface.library.is_empty() {
        let _ = writeln!(out, "   Of the C libraries it calls {}.", interface.library.join(", "));
    }
    out
}

fn usage(interface: &Interface) -> String {
    let (name, upper) = (&interface.name, interface.name.to_ascii_uppercase());
    let arena = match interface.arena_bytes {
        0 => "NULL".to_string(),
        _ => format!("aligned_alloc({upper}_ARENA_ALIGNMENT, {upper}_ARENA_BYTES)"),
    };
    let field = |leaf: &Leaf| match &leaf.array {
        Some(array) => {
            format!("({}*)malloc({upper}_{}_BYTES)", element(array), leaf.name.to_ascii_uppercase())
        }
        None => "NULL".to_string(),
    };
    let fields = |leaves: &[Leaf]| {
        let shown = leaves.iter().take(3).map(field).collect::<Vec<_>>().join(", ");
        if leaves.len() > 3 { format!("{shown}, ...") } else { shown }
    };
    format!(
        "\x20    {name}_arguments arguments = {{ {} }};\n     {name}_results results = {{ {} }};\n     \
         void *arena = {arena};\n     int status = {name}(&arguments, &results, arena, NULL);\n\n",
        fields(&interface.parameters),
        fields(&interface.results),
    )
}

fn element(array: &hlo_ir::ArrayShape) -> &'static str {
    element_names(array.element_type).0
}

/// Writes the constants of one buffer.
fn constants(out: &mut String, upper: &str, leaf: &Leaf) {
    let Some(array) = &leaf.array else { return };
    let prefix = format!("{upper}_{}", leaf.name.to_ascii_uppercase());
    let list = |numbers: Vec<String>| numbers.join(", ");
    let _ = writeln!(out, "/* {}: {} */", comment(&leaf.about), describe(leaf));
    let _ = writeln!(out, "#define {prefix}_RANK {}", array.rank());
    if array.rank() > 0 {
        let dims = list(array.dims.iter().map(i64::to_string).collect());
        let order = list(array.minor_to_major().iter().map(usize::to_string).collect());
        let _ = writeln!(out, "#define {prefix}_DIMENSIONS {{{dims}}}");
        let _ = writeln!(out, "#define {prefix}_MINOR_TO_MAJOR {{{order}}}");
    }
    let _ = writeln!(out, "#define {prefix}_ELEMENTS ((size_t){})", leaf.elements());
    let _ = writeln!(out, "#define {prefix}_BYTES ((size_t){})\n", leaf.bytes);
}

/// Returns a leaf's shape, with a note if the C type does not describe the elements.
pub(super) fn describe(leaf: &Leaf) -> String {
    let Some(array) = &leaf.array else { return "a token, which may be NULL".to_string() };
    let shape = Shape::Array(array.clone());
    let shape = comment(&shape.with_layouts().to_string());
    match element_note(array.element_type) {
        "" => shape,
        note => format!("{shape} ({}: {note})", array.element_type.name()),
    }
}

/// Writes a structure with one pointer per leaf.
fn structure(out: &mut String, name: &str, constant: &str, about: &str, leaves: &[Leaf]) {
    let _ = writeln!(out, "/* {about}: one buffer for each array. */\ntypedef struct {name} {{");
    for leaf in leaves {
        let ty = leaf.array.as_ref().map_or("void", element);
        let _ = writeln!(out, "  {constant}{ty} *{}; /* {} */", leaf.name, describe(leaf));
    }
    if leaves.is_empty() {
        let _ = writeln!(out, "  {constant}void *nothing; /* C has no empty structures. */");
    }
    let _ = writeln!(out, "}} {name};\n");
}

fn entry_comment(interface: &Interface) -> String {
    let mut out = format!(
        "/* Computes the results from the arguments: 0, or {BAD_POINTER} (HLO_BAD_POINTER) if a pointer is NULL or not aligned, and nothing was \
         done then"
    );
    match interface.takes_context() {
        true => out.push_str(
            ",\n   or 1 (HLO_FAILED) if a runtime function failed: hlo_last_error says why, and what the results hold is open.\n   \
             `context` has the threads; NULL stands for the calling one alone. The results do not depend on it, to the bit.\n",
        ),
        false => out.push_str(
            ".\n   The program runs on the calling thread and needs no context: `context` may be anything, such as NULL.\n",
        ),
    }
    out.push_str(
        "   Several threads may call it at once, each with results and an arena of its own. Results must not overlap\n   \
         each other, the arguments or the arena. It keeps nothing between calls and allocates nothing itself.",
    );
    if interface.takes_context() {
        out.push_str(
            "\n   Runtime functions keep working memory for each thread from call to call, which the first call allocates.",
        );
    }
    out.push_str(" */\n");
    out
}

/// The part that all headers share.
const COMMON: &str = include_str!("parts/common.h");
/// The runtime functions that users call.
const RUNTIME: &str = include_str!("parts/runtime.h");
