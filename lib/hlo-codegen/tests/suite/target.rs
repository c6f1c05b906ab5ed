//! Tests of targets: LLVM knows all listed names, and compiles for them without ending the process.

use hlo_codegen::aot::{Architecture, Target, TargetError};
use hlo_codegen::internals::object_of_text;
use std::path::Path;
use std::process::Command;

/// Code that uses most of the differences between instruction sets: fused operations, conversions to half,
/// remainders, bit counts.
const CODE: &str = "
define void @f(ptr noalias %a, ptr noalias %b) {
  %x = load <8 x float>, ptr %a, align 16
  %y = call <8 x float> @llvm.fma.v8f32(<8 x float> %x, <8 x float> %x, <8 x float> %x)
  %h = fptrunc <8 x float> %y to <8 x half>
  %g = fpext <8 x half> %h to <8 x float>
  %r = frem <8 x float> %g, %y
  %i = bitcast <8 x float> %r to <8 x i32>
  %n = call <8 x i32> @llvm.ctpop.v8i32(<8 x i32> %i)
  store <8 x i32> %n, ptr %b, align 16
  ret void
}
declare <8 x float> @llvm.fma.v8f32(<8 x float>, <8 x float>, <8 x float>)
declare <8 x i32> @llvm.ctpop.v8i32(<8 x i32>)
";

fn compiles(target: &Target) {
    // SAFETY: the text is valid LLVM IR.
    let object = unsafe { object_of_text(CODE, target) };
    assert!(!object.unwrap().is_empty(), "{target}");
}

#[test]
fn code_is_generated_for_all_names() {
    for (triple, architecture) in [("x86_64", Architecture::X86_64), ("aarch64", Architecture::Aarch64)] {
        for cpu in architecture.cpus() {
            compiles(&Target::new(Some(triple), Some(cpu), &[]).unwrap());
        }
        let rich = if architecture == Architecture::X86_64 { "sapphirerapids" } else { "neoverse-v2" };
        for feature in architecture.features() {
            for cpu in [architecture.baseline(), rich] {
                for sign in ["+", "-"] {
                    compiles(&Target::new(Some(triple), Some(cpu), &[format!("{sign}{feature}")]).unwrap());
                }
            }
        }
    }
}

#[test]
fn llvm_has_all_names() {
    let llc = Path::new("/usr/lib/llvm-22/bin/llc");
    if !llc.exists() {
        return;
    }
    for architecture in [Architecture::X86_64, Architecture::Aarch64] {
        let triple = format!("-mtriple={}", architecture.name());
        let output =
            Command::new(llc).args([&triple, "-mcpu=help", "-o", "/dev/null", "/dev/null"]).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let (cpus, features) = text.split_once("Available features").unwrap();
        let has = |text: &str, name: &str| text.lines().any(|l| l.split_whitespace().next() == Some(name));
        for cpu in architecture.cpus() {
            assert!(has(cpus, cpu), "{cpu}");
        }
        for feature in architecture.features() {
            assert!(has(features, feature), "{feature}");
        }
    }
}

#[test]
fn triples_may_be_short() {
    for (short, full) in [
        ("x86_64", "x86_64-unknown-linux-gnu"),
        ("aarch64-linux-gnu", "aarch64-unknown-linux-gnu"),
        ("x86_64-pc-linux-gnu", "x86_64-unknown-linux-gnu"),
        ("aarch64-none-elf", "aarch64-unknown-none-elf"),
        ("aarch64-unknown-linux-musl", "aarch64-unknown-linux-musl"),
    ] {
        assert_eq!(Target::new(Some(short), None, &[]).unwrap().triple().to_str(), Ok(full));
    }
    assert!(matches!(Target::new(Some("x86_64-apple-darwin"), None, &[]), Err(TargetError::Triple(_))));
    assert!(matches!(Target::new(Some(""), None, &[]), Err(TargetError::Triple(_))));
}

#[test]
fn wrong_names_have_hints() {
    let wrong = Target::new(Some("x86_64"), Some("znver44"), &[]).unwrap_err().to_string();
    assert!(
        wrong.starts_with(
            "`znver44` is not a CPU of x86_64 (did you mean `znver4`?): expected native, x86-64"
        )
    );
    let wrong = Target::new(Some("aarch64"), None, &["+dot-prod".into()]).unwrap_err().to_string();
    assert!(wrong.contains("did you mean `dotprod`?"), "{wrong}");
    assert!(Target::new(None, None, &["avx2".into()]).is_err());
}
