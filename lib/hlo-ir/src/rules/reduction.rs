//! Rules of reductions, windowed reductions, map and sorting.

rules! {}
