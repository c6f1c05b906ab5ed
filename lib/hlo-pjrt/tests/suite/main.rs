//! Tests of the plugin through the table of functions, as callers use it.

mod arrays;
mod callbacks;
mod engines;
mod multi_device;
mod plugin;
mod programs;
mod table;
