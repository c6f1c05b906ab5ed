//! Tests of the plugin through the table of functions, as callers use it, and of its parts.

mod arrays;
mod callbacks;
mod element;
mod engines;
mod estimate;
mod in_order;
mod multi_device;
mod plugin;
mod programs;
mod source;
mod strided;
mod table;
mod task;
