//! Shape inference and verification, one file a family.
