//! Rules of communication between devices.

rules! {}
