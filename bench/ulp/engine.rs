//! A function of arrays, compiled or interpreted.

use hlo_client::{Client, CompileOptions, Executable, Passes};
use hlo_ir::{AlignedBytes, ElementType, Literal, Shape};

/// How a function is computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Engine {
    /// By compiled code.
    Compiled,
    /// By the interpreter.
    Interpreted,
}

impl Engine {
    /// Both.
    pub const ALL: [Engine; 2] = [Engine::Compiled, Engine::Interpreted];
}

impl std::fmt::Display for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if *self == Engine::Compiled { "compiled" } else { "interpreted" })
    }
}

/// An opcode on arrays of one type and size.
pub struct Function {
    program: Executable,
    operand: Shape,
}

impl Function {
    /// The opcode `name` of `operands` arrays of `count` elements; the result has the same type, for `abs` the real one.
    pub fn new(
        engine: Engine,
        name: &str,
        ty: ElementType,
        operands: usize,
        count: usize,
    ) -> Result<Self, String> {
        let result = if name == "abs" { ty.real_type() } else { ty };
        let names: Vec<String> = (0..operands).map(|n| format!("a{n}")).collect();
        let parameters = names.iter().enumerate();
        let parameters: String =
            parameters.map(|(n, name)| format!("{name} = {ty}[{count}] parameter({n})\n")).collect();
        let text = format!(
            "HloModule m\nENTRY e {{\n{parameters}ROOT r = {result}[{count}] {name}({})\n}}\n",
            names.join(", ")
        );
        let engine = match engine {
            Engine::Compiled => hlo_client::Engine::Compiled,
            Engine::Interpreted => hlo_client::Engine::Interpreted,
        };
        let options = CompileOptions {
            engine: Some(engine),
            passes: Passes::Lowering,
            threads: 1,
            ..CompileOptions::default()
        };
        let program = Client::local().compile_text(&text, &options).map_err(|e| format!("{name}: {e:?}"))?;
        Ok(Self { program, operand: Shape::array(ty, [count as i64]) })
    }

    /// The results for the bytes of the operands.
    pub fn run(&self, inputs: &[AlignedBytes]) -> Result<AlignedBytes, String> {
        let literal = |bytes: &AlignedBytes| Literal::from_bytes(self.operand.clone(), bytes.clone());
        let inputs: Vec<Literal> = inputs.iter().map(literal).collect();
        let result = self.program.run(&inputs).map_err(|e| e.to_string())?;
        Ok(AlignedBytes::from_slice(result.bytes()))
    }
}
