//! Frontend attributes: names and values that a front end adds to instructions and modules.

use crate::messages::{FrontendAttribute, FrontendAttributesProto};
use hlo_ir::attr::{FrontendAttributes, HloString};

/// Reads frontend attributes. If a name occurs more than once, the last value counts.
pub fn read_frontend(proto: Option<&FrontendAttributesProto>) -> FrontendAttributes {
    let mut attributes = FrontendAttributes::default();
    for entry in proto.iter().flat_map(|p| &p.map) {
        attributes.set(&entry.key, HloString::from_bytes(&entry.value[..]));
    }
    attributes
}

/// Writes frontend attributes.
pub fn write_frontend(attributes: &FrontendAttributes) -> FrontendAttributesProto {
    let entry = |(key, value): (&str, &HloString)| FrontendAttribute {
        key: key.to_owned(),
        value: value.as_bytes().to_vec(),
    };
    FrontendAttributesProto { map: attributes.iter().map(entry).collect() }
}
