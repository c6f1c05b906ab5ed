//! The plugin through the table of functions, as a caller has it.

mod arrays;
mod callbacks;
mod engines;
mod plugin;
mod programs;
mod several;
mod table;
