//! Programs for arguments of any sizes.

use crate::{Client, CompileOptions, Error, Executable};
use hlo_ir::Literal;
use hlo_stablehlo::Polymorphic;
use hlo_stablehlo::refine::{Argument, Parameter};
use std::sync::{Mutex, PoisonError};

/// Maximum number of lists of shapes whose compiled programs are kept.
const MAX_CACHED_PROGRAMS: usize = 64;

/// A StableHLO program for arguments of any sizes. It is compiled once for each list of argument shapes. The
/// programs of the 64 most recently used lists are kept.
///
/// # Example
/// ```
/// use hlo_client::{Client, CompileOptions, PolymorphicExecutable};
/// use hlo_ir::{ElementType, Literal, Shape};
/// use hlo_stablehlo::{Program, text};
///
/// let tree = text::parse("
///   func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
///     %y = stablehlo.add %x, %x : tensor<?xf32>
///     return %y : tensor<?xf32>
///   }").expect("a program");
/// let Ok(Program::Polymorphic(program)) = Program::new(tree, None) else { panic!("its sizes are known") };
/// let double = PolymorphicExecutable::new(Client::local(), *program, CompileOptions::default());
/// for values in [&[1f32, 2.0][..], &[1.0, 2.0, 3.0]] {
///     let x = Literal::from_elements(Shape::array(ElementType::F32, [values.len() as i64]), values);
///     let twice: Vec<f32> = values.iter().map(|v| 2.0 * v).collect();
///     assert_eq!(double.run(&[x])?.elements::<f32>(), twice);
/// }
/// # Ok::<(), hlo_client::Error>(())
/// ```
#[derive(Debug)]
pub struct PolymorphicExecutable {
    client: Client,
    program: Polymorphic,
    options: CompileOptions,
    /// The compiled programs. The most recently used one is last.
    compiled: Mutex<Vec<(Vec<Argument>, Executable)>>,
}

impl PolymorphicExecutable {
    /// Creates a program that `client` compiles with these options.
    pub fn new(client: Client, program: Polymorphic, options: CompileOptions) -> Self {
        Self { client, program, options, compiled: Mutex::default() }
    }

    /// Returns the parameters as the program declares them.
    pub fn parameters(&self) -> &[Parameter] {
        self.program.parameters()
    }

    /// Returns the program for arguments of these shapes. Compiles it unless it is kept.
    ///
    /// # Errors
    /// The shapes do not fit the program, an assertion of the program rejects them, or the errors of
    /// [`Client::compile`].
    pub fn executable(&self, arguments: &[Argument]) -> Result<Executable, Error> {
        if let Some(executable) = self.kept(arguments) {
            return Ok(executable);
        }
        let module = self.program.module(arguments).map_err(Error::Diags)?;
        let executable = self.client.compile(&module, &self.options)?;
        let mut compiled = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        if compiled.len() >= MAX_CACHED_PROGRAMS {
            compiled.remove(0);
        }
        compiled.push((arguments.to_vec(), executable.clone()));
        Ok(executable)
    }

    /// Returns the program for these arguments if it is kept.
    fn kept(&self, arguments: &[Argument]) -> Option<Executable> {
        let mut compiled = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        let at = compiled.iter().position(|(of, _)| of == arguments)?;
        let last = compiled.remove(at);
        let executable = last.1.clone();
        compiled.push(last);
        Some(executable)
    }

    /// Runs the program for the shapes of these values.
    ///
    /// # Errors
    /// As [`PolymorphicExecutable::executable`] and [`Executable::run`].
    pub fn run(&self, values: &[Literal]) -> Result<Literal, Error> {
        let argument = |(number, value): (usize, &Literal)| {
            let is_constant = self.parameters().get(number).is_some_and(|p| p.is_global_constant);
            let constant = value.integer_at(0).filter(|_| is_constant);
            let constant = constant.and_then(|value| i64::try_from(value).ok());
            Argument { shape: value.shape().without_layout(), value: constant }
        };
        let arguments: Vec<Argument> = values.iter().enumerate().map(argument).collect();
        self.executable(&arguments)?.run(values)
    }
}
