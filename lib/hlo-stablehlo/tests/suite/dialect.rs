//! The table of operations, and versions.

use hlo_ir::Opcode;
use hlo_stablehlo::dialect::{
    ListOf, Version, elementwise_name, operation, operations, plain_opcode, vhlo_operation,
};

#[test]
fn versions_are_read_and_ordered() {
    let parse = |text: &str| text.parse::<Version>();
    assert_eq!(parse("1.13.7"), Ok(Version::new(1, 13, 7)));
    assert_eq!(parse("1.13.7").unwrap().to_string(), "1.13.7");
    for text in ["", "1", "1.2", "1.2.3.4", "1..3", "+1.2.3", "1.2.x", "99999999999.0.0"] {
        assert!(parse(text).is_err(), "{text}");
    }
    assert!(Version::new(0, 20, 0) < Version::new(1, 0, 0));
    assert!(Version::new(1, 9, 0) < Version::new(1, 10, 0));
}

#[test]
fn all_elementwise_opcodes_but_one_have_an_operation() {
    let without: Vec<Opcode> =
        Opcode::ELEMENTWISE.iter().copied().filter(|&o| elementwise_name(o).is_none()).collect();
    assert_eq!(without, [Opcode::StochasticConvert]);
    assert_eq!(elementwise_name(Opcode::Tan), Some("stablehlo.tan"));
    assert_eq!(elementwise_name(Opcode::Erf), Some("chlo.erf"));
    assert_eq!(plain_opcode("stablehlo.popcnt"), Some(Opcode::PopulationCount));
    assert_eq!(plain_opcode("stablehlo.compare"), None);
    assert_eq!(plain_opcode("stablehlo.clamp"), None);
}

#[test]
fn the_table_is_in_order() {
    assert!(operations().is_sorted_by(|a, b| a.name < b.name));
    for info in operations() {
        assert!(info.attributes.is_sorted_by(|a, b| a.name < b.name), "{}", info.name);
        for versioned in info.vhlo {
            assert!(versioned.attributes.is_sorted(), "{}", versioned.name);
        }
        // Each version of an operation ends before the next one begins.
        for pair in info.vhlo.windows(2) {
            let until = pair[0].until.expect("a version that was replaced has an end");
            assert!(until < pair[1].since, "{}", info.name);
        }
        assert!(info.vhlo.last().is_none_or(|last| last.until.is_none()), "{}", info.name);
    }
}

#[test]
fn names_are_found() {
    assert_eq!(operations().iter().filter(|o| o.name.starts_with("stablehlo.")).count(), 118);
    assert_eq!(operation("stablehlo.nothing"), None);
    let (info, versioned) = vhlo_operation("dot_general_v1").unwrap();
    assert_eq!(info.name, "stablehlo.dot_general");
    assert_eq!(versioned.until, Some(Version::new(1, 5, 0)));
    assert_eq!(vhlo_operation("return_v1").unwrap().0.name, "stablehlo.return");
    let pad = operation("stablehlo.pad").unwrap();
    assert!(pad.attributes.iter().all(|a| a.list == Some(ListOf::I64) && !a.is_optional));
}
