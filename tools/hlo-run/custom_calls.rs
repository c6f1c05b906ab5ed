//! The custom call targets that the arguments specify.

use crate::args::Args;
use hlo_custom_call::{CALLBACKS, Registry};
use hlo_ir::{Module, Op};
use hlo_tools_common::{Failure, Reporter};
use std::collections::BTreeMap;

/// Returns a registry with the targets that the arguments specify.
pub fn load(args: &Args, reporter: Reporter, module: &Module) -> Result<Registry, Failure> {
    let mut registry = Registry::new();
    add_libraries(args, &mut registry)?;
    if args.stub_callbacks {
        registry.stub_callbacks();
        if !args.quiet {
            note_stubs(reporter, module);
        }
    }
    Ok(registry)
}

/// Adds the targets in the libraries that the arguments name.
#[cfg(feature = "libraries")]
fn add_libraries(args: &Args, registry: &mut Registry) -> Result<(), Failure> {
    let mut libraries = hlo_ffi::Libraries::new();
    for path in &args.custom_calls {
        // SAFETY: the user who names a library guarantees that it, and the module that calls it, are safe.
        unsafe { libraries.load(path) }.map_err(|e| Failure::Message(e.to_string()))?;
    }
    for target in &args.ffi_target {
        let (name, symbol) = target.split_once('=').unwrap_or((target, target));
        // SAFETY: the user who names a function guarantees that it is a handler.
        unsafe { libraries.declare(name, symbol) }.map_err(|e| Failure::Message(e.to_string()))?;
    }
    if args.custom_calls_by_name {
        // SAFETY: the user who sets this option guarantees that the module is safe.
        unsafe { libraries.call_by_name() };
    }
    registry.add(libraries);
    Ok(())
}

/// Reports an error, because this build does not support libraries.
#[cfg(not(feature = "libraries"))]
fn add_libraries(args: &Args, _: &mut Registry) -> Result<(), Failure> {
    match args.custom_calls.first() {
        None => Ok(()),
        Some(path) => Err(Failure::Message(format!(
            "{} can't be loaded: this hlo-run is built without custom calls of libraries (the feature `libraries`)",
            path.display()
        ))),
    }
}

/// Prints a note that lists the calls that are skipped or return zeros.
fn note_stubs(reporter: Reporter, module: &Module) {
    let mut calls: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for &id in module.computations().flat_map(|c| module[c].instructions()) {
        let Op::CustomCall(attrs) = &module[id].op else { continue };
        let Some(name) = attrs.custom_call_target.as_str().filter(|n| CALLBACKS.contains(n)) else {
            continue;
        };
        let arrays = module[id].shape.leaves().iter().any(|leaf| leaf.as_array().is_some());
        let done = if arrays { "gives zeros" } else { "is skipped" };
        *calls.entry((name, done)).or_default() += 1;
    }
    for ((name, done), count) in calls {
        reporter.note(&match count {
            1 => format!("the call of Python by `{name}` {done}"),
            _ => format!("each of {count} calls of Python by `{name}` {done}"),
        });
    }
}
