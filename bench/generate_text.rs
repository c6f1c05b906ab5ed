//! Writes a large module to the standard output, for benchmarks. `generate_text train 100` writes about 100 MB of
//! computations similar to those of a real training step. Each of the other kinds stresses one property of the text.

use std::io::{BufWriter, Write};

const METADATA: &str =
    "metadata={op_name=\"jit(train_step)/transpose(jvp(Block))/dense/dot_general\" stack_frame_id=";

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let kind = arguments.next().unwrap_or_default();
    let megabytes: f64 = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(1.0);
    let bytes = (megabytes * 1e6) as usize;
    let mut out = BufWriter::new(std::io::stdout().lock());
    match kind.as_str() {
        "train" => train(&mut out, bytes),
        "tiny" => tiny(&mut out, bytes),
        "line" => line(&mut out, bytes),
        "operands" => operands(&mut out, bytes),
        "attributes" => attributes(&mut out, bytes),
        "inline" => inline(&mut out, bytes),
        "nested" => nested(&mut out, bytes),
        "errors" => errors(&mut out, bytes),
        "constant" => constant(&mut out, bytes),
        _ => {
            eprintln!("kinds: train, tiny, line, operands, attributes, inline, nested, errors, constant");
            std::process::exit(2);
        }
    }
}

fn scalar_computation(out: &mut impl Write, name: &str, opcode: &str) -> std::io::Result<()> {
    writeln!(out, "%{name} (a: f32[], b: f32[]) -> f32[] {{")?;
    writeln!(out, "  %a = f32[] parameter(0)\n  %b = f32[] parameter(1)")?;
    writeln!(out, "  ROOT %c = f32[] {opcode}(%a, %b)\n}}\n")
}

/// Writes layers, each a computation with products, broadcasts, normalization and reductions.
fn train(out: &mut impl Write, bytes: usize) -> std::io::Result<()> {
    let layers = bytes / 4000 + 1;
    writeln!(out, "HloModule jit_train_step\n")?;
    scalar_computation(out, "sum", "add")?;
    for l in 0..layers {
        writeln!(out, "%layer.{l} (x: f32[16,128], w: f32[128,128]) -> f32[16,128] {{")?;
        writeln!(out, "  %x.{l} = f32[16,128]{{1,0}} parameter(0), {METADATA}{l}}}")?;
        writeln!(out, "  %w.{l} = f32[128,128]{{1,0}} parameter(1), {METADATA}{l}}}")?;
        writeln!(out, "  %zero.{l} = f32[] constant(0)")?;
        let mut last = format!("x.{l}");
        for i in 0..4 {
            let n = format!("{l}.{i}");
            writeln!(
                out,
                "  %dot.{n} = f32[16,128]{{1,0}} dot(%{last}, %w.{l}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}, {METADATA}{l}}}"
            )?;
            writeln!(
                out,
                "  %reduce.{n} = f32[16]{{0}} reduce(%dot.{n}, %zero.{l}), dimensions={{1}}, to_apply=%sum, {METADATA}{l}}}"
            )?;
            writeln!(
                out,
                "  %broadcast.{n} = f32[16,128]{{1,0}} broadcast(%reduce.{n}), dimensions={{0}}, {METADATA}{l}}}"
            )?;
            writeln!(
                out,
                "  %subtract.{n} = f32[16,128]{{1,0}} subtract(%dot.{n}, %broadcast.{n}), {METADATA}{l}}}"
            )?;
            writeln!(
                out,
                "  %exponential.{n} = f32[16,128]{{1,0}} exponential(%subtract.{n}), {METADATA}{l}}}"
            )?;
            last = format!("exponential.{n}");
        }
        writeln!(out, "  ROOT %add.{l} = f32[16,128]{{1,0}} add(%{last}, %x.{l}), {METADATA}{l}}}\n}}\n")?;
    }
    writeln!(out, "ENTRY %main (x: f32[16,128], w: f32[128,128]) -> f32[16,128] {{")?;
    writeln!(out, "  %h.0 = f32[16,128]{{1,0}} parameter(0)\n  %w = f32[128,128]{{1,0}} parameter(1)")?;
    for l in 0..layers {
        writeln!(out, "  %h.{} = f32[16,128]{{1,0}} call(%h.{l}, %w), to_apply=%layer.{l}", l + 1)?;
    }
    writeln!(out, "  ROOT %result = f32[16,128]{{1,0}} copy(%h.{layers})\n}}")
}

/// Writes many computations of three short instructions.
fn tiny(out: &mut impl Write, bytes: usize) -> std::io::Result<()> {
    let count = bytes / 180 + 1;
    writeln!(out, "HloModule tiny\n")?;
    for i in 0..count {
        writeln!(out, "r.{i} {{\n  a.{i} = f32[] parameter(0)\n  b.{i} = f32[] parameter(1)")?;
        writeln!(out, "  ROOT c.{i} = f32[] add(a.{i}, b.{i})\n}}\n")?;
    }
    writeln!(out, "ENTRY e {{\n  p = f32[4] parameter(0)\n  z = f32[] constant(0)")?;
    for i in 0..count {
        writeln!(out, "  x{i} = f32[] reduce(p, z), dimensions={{0}}, to_apply=r.{i}")?;
    }
    writeln!(out, "}}")
}

/// Writes a computation on one line.
fn line(out: &mut impl Write, bytes: usize) -> std::io::Result<()> {
    write!(out, "HloModule line ENTRY e {{ a.0 = f32[] parameter(0)")?;
    for i in 0..bytes / 40 {
        write!(out, " a.{} = f32[] negate(a.{i})", i + 1)?;
    }
    writeln!(out, " }}")
}

/// Writes an instruction with very many operands.
fn operands(out: &mut impl Write, bytes: usize) -> std::io::Result<()> {
    write!(out, "HloModule operands\nENTRY e {{\n  a = f32[] parameter(0)\n  ROOT t = tuple(a")?;
    for _ in 0..bytes / 3 {
        write!(out, ", a")?;
    }
    writeln!(out, ")\n}}")
}

/// Writes an instruction with very many frontend attributes.
fn attributes(out: &mut impl Write, bytes: usize) -> std::io::Result<()> {
    write!(out, "HloModule attributes\nENTRY e {{\n  a = f32[] parameter(0), frontend_attributes={{k=\"v\"")?;
    for i in 0..bytes / 20 {
        write!(out, ", k{i}=\"v{i}\"")?;
    }
    writeln!(out, "}}\n}}")
}

/// Writes inline computations with almost the maximum nesting of brackets. Most of the text is in the innermost one.
fn inline(out: &mut impl Write, bytes: usize) -> std::io::Result<()> {
    let depth = 120;
    writeln!(out, "HloModule inline\nENTRY e {{")?;
    for d in 0..depth {
        writeln!(out, "p = f32[] parameter(0) ROOT call{d} = f32[] call(p), to_apply={{")?;
    }
    writeln!(out, "  a.0 = f32[] parameter(0)")?;
    for i in 0..bytes / 35 {
        writeln!(out, "  a.{} = f32[] negate(a.{i})", i + 1)?;
    }
    for _ in 0..depth {
        writeln!(out, "}}")?;
    }
    writeln!(out, "}}")
}

/// Writes many instructions whose operands are nested operations, with almost the maximum nesting of brackets.
fn nested(out: &mut impl Write, bytes: usize) -> std::io::Result<()> {
    writeln!(out, "HloModule nested\nENTRY e {{\n  a = f32[] parameter(0)")?;
    for i in 0..bytes / 920 + 1 {
        writeln!(out, "  x{i} = {}a{}", "negate(".repeat(110), ")".repeat(110))?;
    }
    writeln!(out, "}}")
}

/// Writes instructions that all contain an error.
fn errors(out: &mut impl Write, bytes: usize) -> std::io::Result<()> {
    writeln!(out, "HloModule errors\nENTRY e {{\n  a = f32[] parameter(0)")?;
    for i in 0..bytes / 30 {
        writeln!(out, "  x{i} = f32[] ad(a y)")?;
    }
    writeln!(out, "}}")
}

/// Writes one large constant.
fn constant(out: &mut impl Write, bytes: usize) -> std::io::Result<()> {
    let count = bytes / 8 + 1;
    write!(out, "HloModule constant\nENTRY e {{\n  ROOT c = f32[{count}] constant({{0.5")?;
    for i in 1..count {
        write!(out, ", {}.125", 100 + i % 900)?;
    }
    writeln!(out, "}})\n}}")
}
