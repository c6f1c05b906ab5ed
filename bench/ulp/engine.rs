//! A function of arrays, compiled or interpreted.

use hlo_ir::host::NoHost;
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
    module: hlo_ir::Module,
    compiled: Option<hlo_codegen::Executable>,
    operand: Shape,
    result_bytes: usize,
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
        let module = hlo_parser::parse_module(&text).map_err(|d| format!("{name}: {d:?}"))?;
        let compiled = match engine {
            Engine::Interpreted => None,
            Engine::Compiled => {
                let options = hlo_codegen::CompileOptions { threads: 1, ..Default::default() };
                Some(hlo_codegen::compile(&module, &options).map_err(|d| format!("{name}: {d:?}"))?)
            }
        };
        let operand = Shape::array(ty, [count as i64]);
        Ok(Self { module, compiled, operand, result_bytes: count * result.byte_size() })
    }

    /// The results for the bytes of the operands.
    pub fn run(&self, inputs: &[AlignedBytes]) -> Result<AlignedBytes, String> {
        let Some(compiled) = &self.compiled else {
            let literal = |bytes: &AlignedBytes| Literal::from_bytes(self.operand.clone(), bytes.clone());
            let inputs: Vec<Literal> = inputs.iter().map(literal).collect();
            let result = hlo_eval::evaluate(&self.module, &inputs, &hlo_eval::Options::default());
            return Ok(AlignedBytes::from_slice(result.map_err(|e| e.to_string())?.bytes()));
        };
        let inputs: Vec<&[u8]> = inputs.iter().map(|b| &b[..]).collect();
        let mut output = AlignedBytes::zeroed(self.result_bytes);
        compiled.run_into(&inputs, &mut [&mut output], &mut NoHost).map_err(|e| e.to_string())?;
        Ok(output)
    }
}
