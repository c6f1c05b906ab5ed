//! Random modules, damaged texts and property checks, shared by tests and fuzz targets.
//!
//! - [`agree`]: the required agreement between two executions of an instruction;
//! - [`check`]: properties of all texts;
//! - [`collectives`]: every exchange between devices, with the expected results;
//! - [`mod@damage`]: damaged modules;
//! - [`dictionary`]: the words of the language, for fuzzers;
//! - [`dynamic`]: random modules with arrays of dynamic sizes, and inputs for them;
#![cfg_attr(feature = "forms", doc = "- [`forms`]: programs in other forms, with hostile texts in them;")]
//! - [`generate`]: random modules with every opcode;
//! - [`hostile`]: texts that are expensive to process;
//! - [`memory`]: an allocator that counts;
//! - [`mutate`]: damaged texts;
#![cfg_attr(feature = "builder", doc = "- [`replay`]: modules built anew through `hlo_builder`;")]
//! - [`values`]: random inputs;
//! - [`Numbers`]: the random number generator.
//!
//! Everything is deterministic: the same seed produces the same text on every machine.
//!
//! # Example
//! ```
//! use hlo_testing::check;
//!
//! // A text is refused with diagnostics that point into it, or it is a module that prints and reads back.
//! assert!(check::parse("ENTRY main { ROOT x = f32[2] parametr(0) }").is_ok_and(|module| module.is_none()));
//! let module = check::parse("ENTRY main { ROOT x = f32[2] parameter(0) }").expect("no finding");
//! assert_eq!(check::round_trip(&module.expect("a valid module")), Ok(()));
//! ```

pub mod agree;
pub mod check;
pub mod collectives;
pub mod damage;
pub mod dictionary;
pub mod dynamic;
#[cfg(feature = "forms")]
pub mod forms;
pub mod generate;
pub mod hostile;
pub mod memory;
pub mod mutate;
mod numbers;
#[cfg(feature = "builder")]
pub mod replay;
pub mod values;

pub use numbers::Numbers;
