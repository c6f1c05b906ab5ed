//! What compiled HLO code calls at run time.
