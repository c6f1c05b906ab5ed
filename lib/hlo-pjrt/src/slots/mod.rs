//! The functions of the table, by object. Each function takes its struct of arguments and writes its results
//! into it. The header documents the functions.

pub mod buffer;
pub mod client;
pub mod context;
pub mod description;
pub mod device;
pub mod error;
pub mod event;
pub mod executable;
mod extensions;
pub mod loaded;
pub mod memory;
pub mod plugin;
pub mod topology;
pub mod transfer;

pub use extensions::EXTENSIONS;
