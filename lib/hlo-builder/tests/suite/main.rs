//! What programs build.

mod replay;
