//! Rules of opcodes that move elements without changing them.

rules! {}
