//! Rules of structural and elementwise opcodes.

rules! {}
