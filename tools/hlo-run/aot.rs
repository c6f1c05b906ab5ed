//! Ahead-of-time compilation (`--aot`) and target machines.

#[cfg(feature = "codegen")]
use crate::aot_args::AotArgs;
use crate::args::{Args, Emit};
use hlo_ir::Module;
use hlo_ir::diag::Source;
use hlo_tools_common::{Failure, Reporter};
#[cfg(feature = "codegen")]
use std::path::PathBuf;

/// Rejects invalid combinations of arguments before any file is read.
pub fn check(args: &Args) -> Result<(), Failure> {
    let compiles = args.aot.aot.is_some()
        || matches!(args.emit, Some(Emit::Llvm | Emit::LlvmOpt | Emit::Asm | Emit::Obj));
    if args.aot.names_target() && !compiles {
        let message = "--target, --cpu and --features say what --aot, or --emit of llvm, llvm-opt, asm and obj, \
                       compiles for; what runs is compiled for this computer";
        return Err(Failure::Usage(message.into()));
    }
    #[cfg(not(feature = "codegen"))]
    if args.aot.aot.is_some() {
        return Err(Failure::Message(
            "--aot compiles, and compiled execution was not built in: build with the feature `codegen`"
                .into(),
        ));
    }
    #[cfg(feature = "codegen")]
    {
        if let Some(name) = &args.aot.aot {
            hlo_codegen::aot::check_program_name(name)
                .map_err(|message| Failure::Usage(format!("--aot: {message}")))?;
        }
        target(args)?;
    }
    Ok(())
}

/// Returns the given target machine, or `None` for this computer.
#[cfg(feature = "codegen")]
pub fn target(args: &Args) -> Result<Option<hlo_codegen::aot::Target>, Failure> {
    use hlo_codegen::aot::{Target, TargetError};
    if !args.aot.names_target() {
        return Ok(None);
    }
    let AotArgs { target, cpu, features, .. } = &args.aot;
    Target::new(target.as_deref(), cpu.as_deref(), features).map(Some).map_err(|error| {
        let option = match error {
            TargetError::Triple(_) => "--target",
            TargetError::Native(..) | TargetError::Cpu { .. } => "--cpu",
            TargetError::Feature { .. } => "--features",
        };
        Failure::Usage(format!("{option}: {error}"))
    })
}

/// Compiles the module and writes its files.
#[cfg(not(feature = "codegen"))]
pub fn run(_: &Args, _: Reporter, _: &str, _: (&Module, &Module), _: &Source) -> Result<(), Failure> {
    Err(Failure::Message("compiled execution was not built in".into()))
}

/// Compiles `prepared`, the result of running the passes on `given`, and writes its files.
#[cfg(feature = "codegen")]
pub fn run(
    args: &Args,
    reporter: Reporter,
    name: &str,
    (given, prepared): (&Module, &Module),
    source: &Source,
) -> Result<(), Failure> {
    use crate::engine::at_opcodes;
    use hlo_codegen::SourceFile;
    use hlo_codegen::aot::{Options, Target, binding, compile, header};
    use hlo_ir::verify::Verified;
    let target = match target(args)? {
        Some(target) => target,
        None => Target::host().map_err(|e| Failure::Message(e.to_string()))?,
    };
    let debug_info =
        args.debug_info.then(|| std::sync::Arc::new(SourceFile::new(&source.name, &source.text)));
    let options =
        Options { name: name.to_string(), target, parallel: args.threads != 1, optimize: true, debug_info };
    let program = Verified::new(given)
        .and_then(|given| compile(given, Verified::new(prepared)?, &options))
        .map_err(|diags| Failure::diags(source, at_opcodes(diags, prepared, source)))?;
    let interface = &program.interface;
    let runtime = runtime::library(args, interface)?;
    let folder = PathBuf::from(args.output.as_deref().unwrap_or("."));
    let mut files = vec![
        (format!("{name}.o"), program.object),
        (format!("{name}.h"), header(interface).into_bytes()),
        (format!("{name}.rs"), binding(interface).into_bytes()),
    ];
    files.extend(runtime.map(|bytes| ("libhlo_runtime.a".to_string(), bytes)));
    write(&folder, &files)?;
    if !args.quiet {
        let written: Vec<String> = files
            .iter()
            .map(|(name, bytes)| format!("{name} ({})", hlo_ir::human_bytes(bytes.len() as u64)))
            .collect();
        let libraries = interface.libraries().join(" ");
        reporter.note(&format!("wrote {} to {}", written.join(", "), folder.display()));
        reporter.note(format!("link with: cc YOURS.c {name}.o {libraries}").trim_end());
    }
    Ok(())
}

/// Writes files to a folder, and creates the folder if needed. Each file is complete or not written.
#[cfg(feature = "codegen")]
fn write(folder: &std::path::Path, files: &[(String, Vec<u8>)]) -> Result<(), Failure> {
    use std::io::Write;
    let failed = |e: std::io::Error| {
        Failure::file(&folder.display().to_string(), format!("no folder to write to: {e}"))
    };
    std::fs::create_dir_all(folder).map_err(failed)?;
    files.iter().try_for_each(|(name, bytes)| {
        hlo_tools_common::write_file(&folder.join(name), |out| out.write_all(bytes))
    })
}

/// The runtime library of a program.
#[cfg(feature = "codegen")]
mod runtime {
    use crate::args::Args;
    use hlo_codegen::aot::{Architecture, Interface, archive};
    use hlo_tools_common::Failure;
    use std::path::PathBuf;

    /// Returns a library that contains only the functions that the program calls, or `None` if it calls none.
    pub fn library(args: &Args, interface: &Interface) -> Result<Option<Vec<u8>>, Failure> {
        let left_out = args.aot.runtime.as_ref().is_some_and(|path| path.as_os_str() == "none");
        if interface.runtime.is_empty() || left_out {
            return Ok(None);
        }
        let path = match &args.aot.runtime {
            Some(path) => path.clone(),
            None => find(interface)?,
        };
        let failed = |e: String| Failure::file(&path.display().to_string(), e);
        let whole = std::fs::read(&path).map_err(|e| failed(e.to_string()))?;
        archive::part(&whole, interface).map(Some).map_err(|e| failed(e.to_string()))
    }

    /// Finds the library in the folder of this program, or where it is installed.
    fn find(interface: &Interface) -> Result<PathBuf, Failure> {
        let name = file_name(interface);
        let program = std::env::current_exe().ok().and_then(|path| path.canonicalize().ok());
        let folder = program.as_ref().and_then(|path| path.parent());
        let places = folder.into_iter().flat_map(|f| [f.join(&name), f.join("../lib/hlo-tools").join(&name)]);
        let places: Vec<PathBuf> = places.collect();
        places.iter().find(|path| path.is_file()).cloned().ok_or_else(|| {
            let places: Vec<String> = places.iter().map(|p| p.display().to_string()).collect();
            Failure::Message(format!(
                "the program calls {} of the runtime, whose library for {} is not there: looked for {}; build it with \
                 `cargo build --release -p hlo-aot-runtime`{} and name it with --runtime, or leave it out with \
                 --runtime=none",
                interface.runtime.join(", "),
                interface.target.triple().to_string_lossy(),
                places.join(" and "),
                if is_for_this_computer(interface) { String::new() } else { format!(" and `--target {}`", interface.target.triple().to_string_lossy()) }
            ))
        })
    }

    /// Whether the library of this computer fits the target.
    fn is_for_this_computer(interface: &Interface) -> bool {
        let gnu = interface.target.triple().to_string_lossy().ends_with("-gnu");
        gnu && cfg!(target_os = "linux") && Architecture::host() == Some(interface.target.architecture())
    }

    fn file_name(interface: &Interface) -> String {
        if is_for_this_computer(interface) {
            "libhlo_aot_runtime.a".to_string()
        } else {
            format!("libhlo_aot_runtime-{}.a", interface.target.triple().to_string_lossy())
        }
    }
}
