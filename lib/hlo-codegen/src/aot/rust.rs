//! The Rust binding of a program: a module that programs with and without the standard library can use.

use super::header::describe;
use super::interface::{Interface, Leaf, element_names};
use crate::executable::ARENA_ALIGNMENT;
use crate::kernel_table::BUFFER_ALIGNMENT;
use std::fmt::Write;

/// Returns the text of the binding.
pub fn binding(interface: &Interface) -> String {
    let mut out = String::new();
    let name = &interface.name;
    let _ = write!(
        out,
        "// {name}.rs: the HLO module {module} as a Rust function, written by hlo-run {version}.\n//\n\
         // Compiled for {target}.\n\
         // Use it as a module (`mod {name};`), and link it with {name}.o.\n\
         // With rustc: -C link-arg={name}.o{libraries}\n\n{use_}",
        module = line(&interface.module),
        version = env!("CARGO_PKG_VERSION"),
        target = interface.target,
        libraries = rustc_libraries(interface),
        use_ = HEAD,
    );
    let _ = write!(
        out,
        "/// The size of the memory for temporary values.\npub const ARENA_BYTES: usize = {};\n\n\
         /// A buffer, placed as the program wants it.\n\
         #[repr(C, align({BUFFER_ALIGNMENT}))]\n#[derive(Clone, Copy, Debug, PartialEq)]\npub struct Aligned<T>(pub T);\n\n\
         /// The memory for temporary values, which may hold anything.\n\
         #[repr(C, align({ARENA_ALIGNMENT}))]\npub struct Arena(MaybeUninit<[u8; ARENA_BYTES]>);\n\n{ARENA}\n",
        interface.arena_bytes
    );
    if interface.parameters.iter().chain(&interface.results).any(|leaf| leaf.array.is_none()) {
        out.push_str(TOKEN);
        out.push('\n');
    }
    structure(&mut out, "Arguments", "What the program reads.", "&'a ", &interface.parameters);
    structure(&mut out, "Results", "What the program writes.", "&'a mut ", &interface.results);
    let errors = if interface.takes_context() { RUNTIME } else { NO_RUNTIME };
    let _ = write!(out, "{ERROR}\n{errors}\n");
    let (parameter, argument) = match interface.takes_context() {
        true => (
            "\n    context: Option<&Context>,\n",
            "context.map_or(core::ptr::null_mut(), |context| context.0)",
        ),
        false => ("\n", "core::ptr::null_mut()"),
    };
    let threads = match interface.takes_context() {
        true => {
            "/// `context` has the threads; `None` stands for the calling one alone. The results do not depend on it.\n"
        }
        false => "/// It runs on the calling thread.\n",
    };
    let _ = write!(
        out,
        "unsafe extern \"C\" {{\n    #[link_name = \"{name}\"]\n    fn program(\n        arguments: *const c_void,\n        \
         results: *const c_void,\n        arena: *mut c_void,\n        context: *mut c_void,\n    ) -> i32;\n}}\n\n\
         /// Computes the results from the arguments. It keeps nothing between calls and may run on several threads at once.\n\
         {threads}///\n/// # Errors\n/// What a function of the runtime ends with; what the results hold then is open.\n\
         pub fn run(\n    arguments: &Arguments<'_>,\n    results: &mut Results<'_>,\n    arena: &mut Arena,{parameter}) -> Result<(), Error> {{\n    \
         // SAFETY: the structures consist of the addresses that the program takes, in its order, each of a buffer of its\n    \
         // size and alignment; references say that nothing else writes what is read, or touches what is written.\n    \
         let status = unsafe {{\n        program(\n            core::ptr::from_ref(arguments).cast(),\n            \
         core::ptr::from_ref(&*results).cast(),\n            core::ptr::from_mut(arena).cast(),\n            {argument},\n        )\n    }};\n    \
         if status == 0 {{ Ok(()) }} else {{ Err(Error(status)) }}\n}}\n"
    );
    out
}

/// Returns text on one line.
fn line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Returns rustc's arguments for the libraries that it does not link by default.
fn rustc_libraries(interface: &Interface) -> String {
    let libraries = interface.libraries().into_iter().filter(|l| !matches!(*l, "-lpthread" | "-ldl"));
    libraries.map(|library| format!(" -C link-arg={library}")).collect()
}

/// Writes a structure with one reference per leaf.
fn structure(out: &mut String, name: &str, about: &str, reference: &str, leaves: &[Leaf]) {
    let _ = writeln!(
        out,
        "/// {about}\n#[repr(C)]\n#[allow(non_snake_case, reason = \"the names are those of the module\")]\npub struct {name}<'a> {{"
    );
    for leaf in leaves {
        let about = line(&format!("{}: {}", capital(&leaf.about), describe(leaf)));
        let about = about.replace('[', "\\[").replace(']', "\\]");
        let ty = match &leaf.array {
            Some(array) => {
                format!("{reference}Aligned<[{}; {}]>", element_names(array.element_type).1, leaf.elements())
            }
            None => "Token".to_string(),
        };
        let _ = writeln!(out, "    /// {about}.\n    pub {}: {ty},", leaf.name);
    }
    if leaves.iter().all(|leaf| leaf.array.is_none()) {
        let _ = writeln!(out, "    /// Nothing.\n    pub nothing: core::marker::PhantomData<&'a ()>,");
    }
    let _ = writeln!(out, "}}\n");
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

const HEAD: &str = "use core::ffi::c_void;\nuse core::mem::MaybeUninit;\n\n";

const ARENA: &str = include_str!("parts/arena.rs");
const TOKEN: &str = include_str!("parts/token.rs");
const ERROR: &str = include_str!("parts/error.rs");
const NO_RUNTIME: &str = include_str!("parts/no_runtime.rs");
const RUNTIME: &str = include_str!("parts/runtime.rs");
