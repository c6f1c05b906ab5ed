//! Tests of the outline. It must match the parser's result for texts that parse, and be reasonable for
//! others.

mod brackets;

use crate::test_files;
use hlo_parser::outline::{Expected, Role, expected_at_end, outline};
use std::path::{Path, PathBuf};

const MODULE: &str = "HloModule m, is_scheduled=true

add (a: f32[], b: f32[]) -> f32[] {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT sum = f32[] add(a, b)
}

ENTRY %main (p: f32[4]) -> (f32[4], /*index=1*/f32[]) {
  %p = f32[4]{0} parameter(0), sharding={replicated}
  %zero = f32[] constant(0)
  total = f32[] reduce(f32[4] %p, %zero), dimensions={0}, to_apply=%add
  twice = f32[4] add(%p, negate(p)), control-predecessors={total, %zero}
  ROOT result = (f32[4], f32[]) tuple(twice, total)
}
";

fn texts(text: &str, role: Role) -> Vec<&str> {
    outline(text).tokens.iter().filter(|t| t.role == role).map(|t| &text[t.span.range()]).collect()
}

fn names(text: &str) -> Vec<&str> {
    outline(text).instructions.iter().map(|i| &text[i.name.range()]).collect()
}

#[test]
fn roles() {
    assert_eq!(texts(MODULE, Role::Module), ["m"]);
    assert_eq!(texts(MODULE, Role::HeaderAttribute), ["is_scheduled"]);
    assert_eq!(texts(MODULE, Role::Computation), ["add", "main"]);
    assert_eq!(texts(MODULE, Role::SignatureParameter), ["a", "b", "p"]);
    assert_eq!(texts(MODULE, Role::Instruction), ["a", "b", "sum", "p", "zero", "total", "twice", "result"]);
    assert_eq!(texts(MODULE, Role::Operand), ["a", "b", "p", "zero", "p", "p", "twice", "total"]);
    assert_eq!(texts(MODULE, Role::Predecessor), ["total", "zero"]);
    assert_eq!(texts(MODULE, Role::Callee), ["add"]);
    assert_eq!(
        texts(MODULE, Role::Attribute),
        ["sharding", "dimensions", "to_apply", "control-predecessors"]
    );
    assert_eq!(texts(MODULE, Role::Shape)[..3], ["f32[]", "f32[]", "f32[]"]);
    assert_eq!(texts(MODULE, Role::Shape)[6..9], ["f32[4]", "(f32[4], /*index=1*/f32[])", "f32[4]{0}"]);
    assert!(texts(MODULE, Role::Opcode).contains(&"negate"));
    let text = "e { x = f(a#0, %b#1#2, c#, d#0 #1) }";
    assert_eq!(texts(text, Role::Element), ["0", "1#2", "0 #1"]);
    assert_eq!(texts(text, Role::Operand), ["a", "b", "c", "d"]);
}

#[test]
fn structure() {
    let o = outline(MODULE);
    assert_eq!(o.computations.len(), 2);
    assert!(o.computations[1].is_entry);
    assert_eq!(&MODULE[o.computations[0].signature.range()], "(a: f32[], b: f32[]) -> f32[]");
    assert!(MODULE[o.computations[0].span.range()].ends_with("add(a, b)\n}"));
    let roots: Vec<_> =
        o.instructions.iter().filter(|i| i.is_root).map(|i| &MODULE[i.name.range()]).collect();
    assert_eq!(roots, ["sum", "result"]);
    let at = MODULE.find("negate").unwrap();
    let instruction = &o.instructions[o.instruction_at(at).unwrap() as usize];
    assert_eq!(&MODULE[instruction.name.range()], "twice");
    assert_eq!(&MODULE[instruction.opcode.range()], "add");
    assert_eq!(o.token_at(at + 3).unwrap().role, Role::Opcode);
}

#[test]
fn inline_computations() {
    let text = "ENTRY e {\n  x = f32[4] parameter(0)\n  z = f32[] constant(0)\n  ROOT r = f32[] reduce(x, z), \
                to_apply={ x = f32[] parameter(0) y = f32[] parameter(1) ROOT s = f32[] add(x, y) }, \
                dimensions={0}\n}";
    let o = outline(text);
    assert_eq!(names(text), ["x", "z", "r", "x", "y", "s"]);
    assert_eq!(o.computations[1].parent, Some(2));
    assert_eq!(o.instructions[5].computation, 1);
    let inner = o.instruction_at(text.find("y = ").unwrap() + 1).unwrap();
    assert_eq!(inner, 4);
    let outer = o.instruction_at(text.find("dimensions").unwrap()).unwrap();
    assert_eq!(outer, 2);
}

#[test]
fn half_typed_lines_stop_at_the_next() {
    for broken in [
        "x",
        "x =",
        "x = f32[",
        "x = f32[2",
        "x = f32[] ad",
        "x = f32[] add(",
        "x = f32[] add(p, ",
        "ROOT",
        "x = f32[] add(p), ",
        "x = f32[] add(p), dim",
        "x = f32[] add(p), dimensions=",
        "x = (f32[], ",
        "x = f32[] reduce(p), dimensions={0",
        "x = f32[] reduce(p), to_apply=",
        "x = f32[] reduce(p), to_apply={",
        "x = f32[] add(p), metadata={op_name=\"a",
        "x = f32[] /* add",
        "x = f32[] constant({1, 2",
        "}",
        ")",
        "\"",
        "x = f32[] add(p), control-predecessors={p",
        "x = f32[] constant(",
        "{",
        "x = f32[]{0",
        "'",
    ] {
        let text = format!(
            "HloModule m\n\nENTRY e {{\n  p = f32[] parameter(0)\n  {broken}\n  \
                            y = f32[] negate(p)\n  ROOT r = f32[] add(p, y)\n}}\n\nnext {{\n  \
                            q = f32[] parameter(0)\n}}\n"
        );
        let names = names(&text);
        let rest: Vec<_> = names.iter().filter(|&&n| n != "x").collect();
        assert_eq!(rest, [&"p", &"y", &"r", &"q"], "{broken}");
        assert_eq!(texts(&text, Role::Computation), ["e", "next"], "{broken}");
    }
}

#[test]
fn what_is_expected() {
    use Expected::*;
    let head = "HloModule m\nadd {\n a = f32[] parameter(0)\n}\nENTRY e {\n  p = f32[] parameter(0)\n";
    for (line, expected) in [
        ("  ", Instruction),
        ("  ROOT ", Nothing),
        ("  x = ", ShapeOrOpcode),
        ("  x = (", ElementType),
        ("  x = (f32[], ", ElementType),
        ("  x = f32[", Nothing),
        ("  x = f32[] ", Opcode),
        ("  x = add(", Operand(2)),
        ("  x = add(p", Nothing),
        ("  x = add(f32[] ", Operand(2)),
        ("  x = add(p, ", Operand(2)),
        ("  x = add(p, negate(", Operand(2)),
        ("  x = parameter(0), ", Attribute(2)),
        ("  x = parameter(0), sharding={replicated}, ", Attribute(2)),
        ("  x = call(p), to_apply=", Callee),
        ("  x = conditional(p), branch_computations={", Callee),
        ("  x = conditional(p), branch_computations={add, ", Callee),
        ("  x = add(p), control-predecessors={p, ", Predecessor(2)),
        ("  x = add(p), metadata={op_name=\"", Nothing),
        ("  // ", Nothing),
        ("  x = call(p), to_apply={ y = f32[] parameter(0) ROOT z = f32[] negate(", Operand(4)),
        ("}\n", TopLevel),
    ] {
        let text = format!("{head}{line}");
        assert_eq!(expected_at_end(&text).0, expected, "{line}");
    }
    assert_eq!(expected_at_end("HloModule m, ").0, HeaderAttribute);
    let (expected, o) = expected_at_end("HloModule m, is_scheduled=");
    assert_eq!(expected, HeaderValue(o.tokens.last().unwrap().span));
    let (expected, o) = expected_at_end("e { x = compare(a, b), direction=");
    assert_eq!(expected, Value(0, o.tokens.last().unwrap().span));
    for value in ["{", "{{a}, {", "{b={c=\"}\" ", "{[3, "] {
        let (expected, o) = expected_at_end(&format!("e {{ x = f(a#0, b), sharding={value}"));
        assert_eq!(expected, Inside(0, o.tokens.last().unwrap().span), "{value}");
    }
    assert_eq!(expected_at_end("e { x = f(a), sharding={b=\"").0, Nothing);
    assert_eq!(expected_at_end("e { x = f(a), sharding={replicated}").0, Nothing);
}

#[test]
fn lone_instructions() {
    assert_eq!(names("foo = f32[] add(f32[] a, f32[] b)"), ["foo"]);
    let text = "f32[10] add(f32[10] x, f32[10] y), sharding={replicated}";
    assert_eq!(names(text), [""]);
    assert_eq!(texts(text, Role::Operand), ["x", "y"]);
    assert_eq!(texts(text, Role::Attribute), ["sharding"]);
}

/// Checks that the outline contains all instructions of a valid module, with their computation, opcode and
/// operands.
fn same_as_parsed(text: &str, path: &Path) {
    let Ok(module) = hlo_parser::parse_module(text) else { return };
    let o = outline(text);
    let mut found = 0;
    for (n, i) in o.instructions.iter().enumerate() {
        let computation = &text[o.computations[i.computation as usize].name.range()];
        if computation.is_empty() {
            continue;
        }
        let name = &text[i.name.range()];
        let at = || format!("{}: {computation}/{name}", path.display());
        let c = module
            .computations()
            .find(|&c| &*module[c].name == computation)
            .unwrap_or_else(|| panic!("{}", at()));
        let id = module[c]
            .instructions()
            .iter()
            .copied()
            .find(|&id| &*module[id].name == name)
            .unwrap_or_else(|| panic!("{}", at()));
        found += 1;
        let instruction = &module[id];
        let opcode = &text[i.opcode.range()];
        if hlo_ir::Opcode::from_name(opcode).is_some() {
            assert_eq!(opcode, instruction.op.name(), "{}", at());
        }
        assert_eq!(i.span, module.span(id), "{}", at());
        let operands = o.tokens.iter().filter(|t| t.owner as usize == n && t.role == Role::Operand);
        let operands: Vec<_> = operands.map(|t| &text[t.span.range()]).collect();
        let opcodes = o.tokens.iter().filter(|t| t.owner as usize == n && t.role == Role::Opcode);
        if !text.contains('#') && opcodes.count() == 1 {
            let mut parsed: Vec<_> = instruction.operands.iter().map(|&id| &*module[id].name).collect();
            parsed.retain(|n| operands.contains(n));
            assert_eq!(operands, parsed, "{}", at());
        }
    }
    // Instructions of inline computations and nested operations are not counted.
    assert!(found > 0, "{}", path.display());
}

#[test]
fn the_same_as_the_parser_reads() {
    let is_hlo = |path: &PathBuf| path.extension().is_some_and(|e| e == "hlo");
    let paths: Vec<PathBuf> = test_files::below("test").into_iter().filter(is_hlo).collect();
    for path in &paths {
        same_as_parsed(&std::fs::read_to_string(path).unwrap(), path);
    }
    assert!(paths.len() > 100);
}

#[test]
fn any_text_has_an_outline() {
    let check = |text: &str| {
        let (_, o) = expected_at_end(text);
        for t in &o.tokens {
            assert!(text.get(t.span.range()).is_some_and(|s| !s.is_empty()));
        }
        assert!(o.tokens.windows(2).all(|w| w[0].span.end <= w[1].span.start), "{text}");
        assert!(o.instructions.windows(2).all(|w| w[0].span.start <= w[1].span.start));
        for at in 0..=text.len() {
            o.token_at(at);
            o.instruction_at(at);
        }
    };
    for at in 0..MODULE.len() {
        check(&MODULE[..at]);
        check(&MODULE[at..]);
        for junk in
            ["(", ")", "{", "}", "[", "]", "\"", "'", "/*", "//", "é", "%", "=", ",", "#", "\n", "ROOT "]
        {
            let mut text = MODULE.to_owned();
            text.insert_str(at, junk);
            check(&text);
        }
    }
}

#[test]
fn hostile_texts_take_linear_time() {
    for part in [
        "(",
        "{",
        "[",
        "a = f(",
        "a = f(b), to_apply={",
        "/* ",
        "\"",
        "'",
        "a(",
        "ROOT ",
        "x = (",
        ", ",
        "((]",
        "f32[",
        "ENTRY ",
        "ENTRY e {",
        "e {",
    ] {
        let start = std::time::Instant::now();
        for head in ["", "ENTRY e {\n", "ENTRY e {\n x = f32[] add(", "HloModule m, "] {
            outline(&(head.to_owned() + &part.repeat(100_000)));
            outline(&(head.to_owned() + &format!("{part}\n").repeat(100_000)));
        }
        assert!(start.elapsed().as_secs() < 10, "{part}");
    }
}
