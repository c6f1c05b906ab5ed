//! Tests of every opcode on every element type that the verifier accepts. Both the interpreter and compiled
//! code must accept it, and their results must agree.

mod convert;
pub mod forms;
#[cfg(feature = "codegen")]
mod layouts;
mod order;

use forms::{FORMS, OPERANDS, computations};
use hlo_ir::{AlignedBytes, ElementType, FloatFormat, Literal, Module, Shape};
use std::fmt::Write;

/// Returns the instances of a form for a type, where `$*` and `$O` are replaced by other types.
fn written_for(form: &str, ty: ElementType) -> Vec<String> {
    let part = ty.real_type();
    let complex = ty.complex_type().unwrap_or(ty);
    let form = form.replace("$T", ty.name()).replace("$R", part.name()).replace("$C", complex.name());
    let all = ElementType::ALL.iter();
    if form.contains("$*") {
        return all.map(|t| form.replace("$*", t.name())).collect();
    }
    if form.contains("$O") {
        let same = all.filter(|t| t.bit_width() == ty.bit_width());
        return same.map(|t| form.replace("$O", t.name())).collect();
    }
    vec![form]
}

/// Returns a module with several instructions and a tuple of their results.
fn text(ty: ElementType, instructions: &[&str]) -> String {
    let mut out = "HloModule m\n".to_string();
    out += &computations(ty);
    out += "ENTRY main {\n";
    for (n, (name, shape)) in OPERANDS.iter().enumerate() {
        let _ = writeln!(out, "  {name} = {} parameter({n})", shape.replace("$T", ty.name()));
    }
    let mut shapes = Vec::new();
    for (n, instruction) in instructions.iter().enumerate() {
        let _ = writeln!(out, "  r{n} = {instruction}");
        shapes.push(shape_of(instruction));
    }
    let names: Vec<String> = (0..instructions.len()).map(|n| format!("r{n}")).collect();
    let _ = writeln!(out, "  ROOT all = ({}) tuple({})\n}}", shapes.join(", "), names.join(", "));
    out
}

/// Returns the shape at the start of an instruction's text.
fn shape_of(instruction: &str) -> &str {
    match instruction.strip_prefix('(') {
        Some(rest) => &instruction[..rest.find(')').unwrap_or(0) + 2],
        None => instruction.split(' ').next().unwrap_or_default(),
    }
}

/// Returns the module if it is well-formed and passes the verifier.
fn module(text: &str) -> Option<Module> {
    let module = hlo_parser::parse_module(text).ok()?;
    hlo_ir::verify::verify(&module).is_empty().then_some(module)
}

/// Returns values of moderate size. They are the same for each operand of a shape every time.
fn input(shape: &Shape, seed: u64) -> Literal {
    let Some(array) = shape.as_array() else { return Literal::token() };
    let ty = array.element_type;
    let mut bytes = AlignedBytes::zeroed(array.byte_size());
    let mut state = seed;
    for element in bytes.chunks_exact_mut(ty.real_type().byte_size()) {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let bits = state >> 20;
        let value = match FloatFormat::of(ty.real_type()) {
            // Between -2 and 2, in quarters. No negative numbers for types without them.
            Some(_) if ty == ElementType::F8E8M0Fnu => 125 + bits % 4,
            Some(format) => format.encode((bits % 17) as f64 / 4.0 - 2.0),
            None if ty.is_pred() => bits & 1,
            // Sub-byte integers are stored sign-extended.
            None if ty.is_signed_integer() => {
                ((bits << (64 - ty.bit_width())) as i64 >> (64 - ty.bit_width())) as u64
            }
            None => bits & (u64::MAX >> (64 - ty.bit_width())),
        };
        element.copy_from_slice(&value.to_le_bytes()[..element.len()]);
    }
    Literal::from_bytes(shape.clone(), bytes)
}

/// Returns the absolute values, if the type has a sign.
fn positive(mut literal: Literal) -> Literal {
    let ty = literal.shape().as_array().map_or(ElementType::Pred, |a| a.element_type);
    if ty.is_float() && ty != ElementType::F8E8M0Fnu {
        let (sign, size) = ((ty.bit_width() - 1) % 8, ty.byte_size());
        literal.bytes_mut().chunks_exact_mut(size).for_each(|e| e[size - 1] &= !(1 << sign));
    }
    literal
}

/// Returns the inputs of a module. The index operands of forms are small.
fn inputs(module: &Module) -> Vec<Literal> {
    let parameters = module.parameters(module.entry());
    let literal = |(n, &p): (usize, &hlo_ir::InstrId)| {
        let shape = &module[p].shape;
        let count = shape.as_array().map_or(0, |a| a.element_count());
        match OPERANDS[n] {
            ("i", _) => Literal::from_elements(shape.clone(), &[1i32]),
            ("j", _) => Literal::from_elements(shape.clone(), &[3i32, 0, 3]),
            ("h", _) => Literal::from_elements(shape.clone(), &[8i32]),
            ("s", _) => Literal::from_elements(shape.clone(), &[3i32]),
            ("variance", _) => positive(input(shape, 1)),
            ("g", _) => Literal::from_elements(shape.clone(), &[1i32, 3]),
            _ => input(shape, 17 * n as u64 + count as u64),
        }
    };
    parameters.iter().enumerate().map(literal).collect()
}

/// Checks whether an engine may reject an instruction: because it does not support the opcode for any type
/// (according to the message), or because the instruction has no meaning.
fn excepted(instruction: &str, ty: ElementType, message: &str) -> bool {
    let lacks_the_opcode = ["is not supported by the interpreter yet"];
    // There is no remainder of complex numbers: they have no order and no unique quotient.
    let no_meaning = ty.is_complex() && instruction.contains("remainder(");
    no_meaning || lacks_the_opcode.iter().any(|m| message.contains(m))
}

/// Returns the bytes of each leaf that compiled code computes. Empty without code generation.
fn compiled_results(module: &Module, inputs: &[Literal]) -> Vec<Vec<u8>> {
    #[cfg(feature = "codegen")]
    {
        let program = compiled::compile(module, true).unwrap_or_else(|e| panic!("{e:?}"));
        let result = program.run(inputs).expect("a run");
        result.leaves().iter().map(|l| l.bytes().to_vec()).collect()
    }
    #[cfg(not(feature = "codegen"))]
    {
        let _ = (module, inputs);
        Vec::new()
    }
}

/// Tests a type. Returns one line per failure.
fn walk(ty: ElementType) -> Vec<String> {
    let mut bad = Vec::new();
    let mut taken = Vec::new();
    for form in FORMS {
        for instruction in written_for(form, ty) {
            let Some(module) = module(&text(ty, &[&instruction])) else { continue };
            match hlo_eval::evaluate(&module, &inputs(&module), &hlo_eval::Options::default()) {
                Ok(result) => taken.push((instruction, result)),
                Err(e) => {
                    let message = e.to_diag(&module).message;
                    if !excepted(&instruction, ty, &message) {
                        bad.push(format!("eval: {instruction}: {message}"));
                    }
                }
            }
        }
    }
    #[cfg(feature = "codegen")]
    compiled::check(ty, &taken, &mut bad);
    bad
}

#[cfg(feature = "codegen")]
mod compiled {
    use super::*;
    use hlo_client::{Client, CompileOptions, Error, Executable, Passes};
    use hlo_tools_common::compare::{Tolerance, compare};

    /// Compiles all instructions as one module and compares the results with the interpreter's. Instructions
    /// that are rejected are removed.
    pub fn check(ty: ElementType, taken: &[(String, Literal)], bad: &mut Vec<String>) {
        let mut rest: Vec<&(String, Literal)> = taken.iter().collect();
        // Each round finds the instructions that are rejected at one stage.
        for _ in 0..4 {
            let instructions: Vec<&str> = rest.iter().map(|(i, _)| i.as_str()).collect();
            let text = text(ty, &instructions);
            let module = module(&text).expect("each instruction alone was accepted");
            match compile(&module, true) {
                Ok(program) => return run(&program, &module, &rest, bad),
                Err(error) => {
                    let Error::Diags(diags) = error else { return bad.push(format!("jit: {error}")) };
                    let before = rest.len();
                    for diag in diags {
                        let at = diag.primary().map_or("", |l| line(&text, l.span.start as usize));
                        let instruction = at.split_once(" = ").map_or(at, |(_, i)| i);
                        let found = rest.iter().position(|(i, _)| i == instruction);
                        if let Some(n) = found {
                            rest.remove(n);
                        }
                        if !excepted(instruction, ty, &diag.message) {
                            bad.push(format!("jit: {instruction}: {}", diag.message));
                        }
                    }
                    if rest.len() == before {
                        return;
                    }
                }
            }
        }
    }

    fn line(text: &str, at: usize) -> &str {
        let start = text[..at].rfind('\n').map_or(0, |n| n + 1);
        let end = text[at..].find('\n').map_or(text.len(), |n| at + n);
        text[start..end].trim()
    }

    /// Compiles a module, with all passes or only those that code generation requires.
    pub fn compile(module: &Module, all_passes: bool) -> Result<Executable, Error> {
        let passes = if all_passes { Passes::Default } else { Passes::Lowering };
        Client::local().compile(module, &CompileOptions { passes, threads: 2, ..CompileOptions::default() })
    }

    fn run(
        program: &Executable,
        module: &Module,
        instructions: &[&(String, Literal)],
        bad: &mut Vec<String>,
    ) {
        let inputs = inputs(module);
        let result = match program.run(&inputs) {
            Ok(result) => result,
            Err(e) => return bad.push(format!("jit: {e}")),
        };
        // Runs them together, because random numbers depend on earlier draws.
        let all = hlo_eval::evaluate(module, &inputs, &hlo_eval::Options::default());
        let all = all.expect("each instruction alone has a result");
        let names = instructions.iter().flat_map(|(i, r)| r.leaves().into_iter().map(move |_| i));
        for ((instruction, want), got) in names.zip(all.leaves()).zip(result.leaves()) {
            let ty = want.shape().as_array().map_or(ElementType::Pred, |a| a.element_type);
            match compare(got, want, Tolerance::default_for(ty)) {
                Ok(c) if c.mismatches == 0 => (),
                Ok(c) => bad.push(format!("jit: {instruction}: differs, {:?}", c.worst)),
                Err(e) => bad.push(format!("jit: {instruction}: {e}")),
            }
        }
    }
}

/// Each form must be valid for some type. A form that is valid for none has a typo.
#[test]
fn every_form_verifies_for_some_type() {
    let fits = |form: &&&str| {
        let all = ElementType::ALL.iter();
        !all.flat_map(|&t| written_for(form, t).into_iter().map(move |f| (t, f)))
            .any(|(t, f)| module(&text(t, &[&f])).is_some())
    };
    let unused: Vec<&&str> = FORMS.iter().filter(fits).collect();
    assert!(unused.is_empty(), "{unused:#?}");
}

fn check(types: impl Fn(ElementType) -> bool) {
    let bad: Vec<String> = ElementType::ALL.iter().filter(|t| types(**t)).flat_map(|&t| walk(t)).collect();
    assert!(bad.is_empty(), "{} cases:\n{}", bad.len(), bad.join("\n"));
}

#[test]
fn integers() {
    check(|t| t.is_pred() || t.is_integer());
}

#[test]
fn floats() {
    check(|t| t.is_float() && t.bit_width() >= 16);
}

#[test]
fn narrow_floats() {
    check(|t| t.is_float() && t.bit_width() < 16);
}

#[test]
fn complex_numbers() {
    check(ElementType::is_complex);
}
