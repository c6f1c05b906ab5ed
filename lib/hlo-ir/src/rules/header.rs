//! Rules of shardings, aliasing and donation, and the rest of the header.

rules! {}
