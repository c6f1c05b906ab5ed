//! Tests of the numbers of element types.

use hlo_ir::ElementType;
use hlo_pjrt::internals::{element_type, number};

#[test]
fn every_element_type_has_a_number_of_its_own() {
    for &ty in ElementType::ALL {
        assert_eq!(element_type(number(ty)), Ok(ty));
    }
    assert!(element_type(0).is_err());
    // A token is not an array.
    assert!(element_type(23).is_err());
}
