//! Checks that each attribute in the tables has an accepted sample, with each of its words.

use super::{Sample, samples};
use hlo_ir::attr::{Attrs as _, Field};
use hlo_ir::{CommonField, Header, Opcode};

/// Returns the accepted samples of an opcode.
fn of_opcode(samples: &[(Option<Opcode>, Sample)], opcode: Opcode) -> impl Iterator<Item = &str> {
    samples.iter().filter(move |(of, _)| *of == Some(opcode)).map(|(_, sample)| sample.text.as_str())
}

/// Returns the accepted samples with the opcode of their instruction; `None` for a module's first line.
fn good() -> Vec<(Option<Opcode>, Sample)> {
    let read = samples().into_iter().filter_map(|sample| {
        let module = sample.read()?;
        let root = module[module.entry()].root();
        Some(((!sample.is_header()).then(|| module[root].opcode()), sample))
    });
    read.collect()
}

fn has(text: &str, name: &str) -> bool {
    text.contains(&format!(", {name}="))
}

#[test]
fn every_attribute_of_every_opcode_has_a_sample() {
    let good = good();
    let mut missing = Vec::new();
    for &opcode in Opcode::ALL {
        let op = opcode.default_op();
        for field in op.attrs().map_or(&[][..], |attrs| attrs.fields()) {
            if !of_opcode(&good, opcode).any(|text| has(text, field.name)) {
                missing.push(format!("{opcode} {}", field.name));
            }
        }
    }
    assert!(missing.is_empty(), "no sample of {missing:#?}");
}

#[test]
fn every_attribute_of_modules_has_a_sample() {
    let good = good();
    let headers: Vec<&Sample> =
        good.iter().filter(|(of, _)| of.is_none()).map(|(_, sample)| sample).collect();
    let fields = Header::default().fields().iter().map(|f| f.name);
    let missing: Vec<&str> = fields.filter(|name| !headers.iter().any(|s| has(&s.text, name))).collect();
    assert!(missing.is_empty(), "no sample of {missing:?}");
}

#[test]
fn every_common_attribute_has_a_sample() {
    let good = good();
    let mut missing = Vec::new();
    for field in CommonField::ALL {
        if !good.iter().any(|(of, sample)| of.is_some() && has(&sample.text, field.name())) {
            missing.push(field.name());
        }
    }
    assert!(missing.is_empty(), "no sample of {missing:?}");
}

#[test]
fn every_word_of_an_attribute_has_a_sample() {
    let good = good();
    let mut missing = Vec::new();
    for &opcode in Opcode::ALL {
        let op = opcode.default_op();
        let fields: &[Field] = op.attrs().map_or(&[][..], |attrs| attrs.fields());
        for (field, word) in fields.iter().flat_map(|f| f.words.iter().map(move |word| (f, word))) {
            // A sample of any opcode with this attribute is sufficient. `false` is the default.
            let sampled = |text: &str| text.contains(&format!(", {}={word}", field.name));
            if *word != "false" && !word.is_empty() && !good.iter().any(|(_, s)| sampled(&s.text)) {
                missing.push(format!("{}={word}", field.name));
            }
        }
    }
    missing.sort();
    missing.dedup();
    assert!(missing.is_empty(), "no sample of {missing:#?}");
}
