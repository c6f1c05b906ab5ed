//! The functions of the table, by object. Each takes its struct of arguments, does one thing, and puts what it gives into the
//! struct; what they are for says the header.

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
