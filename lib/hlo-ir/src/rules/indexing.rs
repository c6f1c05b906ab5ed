//! Rules of slices and updates at indices that are known at run time only, and of dynamic sizes.

rules! {}
