//! Table tests of the rules, by family.
