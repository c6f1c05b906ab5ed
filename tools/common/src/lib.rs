//! Command-line pieces that the HLO tools share.
