//! Tests of parts of passes. The tests of whole passes are in `test/passes` and `lib/hlo-passes/tests`.

mod conversions;
mod folded_groups;
