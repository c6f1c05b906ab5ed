//! Rules of calls, loops, branches and fusions.

rules! {}
