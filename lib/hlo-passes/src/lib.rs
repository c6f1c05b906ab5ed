//! HLO passes, pipelines and analyses.
