//! Tests of the server with a client that communicates over standard input and output.

mod client;
mod editing;
mod fixes;
mod protocol;
mod reading;
mod tile;

/// A module that contains something of every kind.
pub const MODULE: &str = "\
HloModule m, is_scheduled=true

add (a: f32[], b: f32[]) -> f32[] {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT sum = f32[] add(a, b)
}

ENTRY %main (p: f32[4]) -> f32[] {
  %p = f32[4]{0} parameter(0), sharding={replicated}
  %zero = f32[] constant(0)
  twice = add(%p, p)
  ROOT total = f32[] reduce(%twice, %zero), dimensions={0}, to_apply=%add, control-predecessors={p}
}
";
