//! The elements that the parts of a partitioned dimension need.

use hlo_passes::internals::{Needed, Reach};

#[test]
fn windows_of_parts() {
    let plain = Reach { first: -1, extent: 3, ..Reach::PLAIN };
    let needed = plain.needed(4, 4);
    assert_eq!(needed, Some(Needed { starts: vec![-1, 3, 7, 11], size: 6, padding: [0, 0] }));
    // Every other window position is an element: 0 . 1 . 2 . 3, starting one position before the first
    // element.
    let dilated = Reach { dilation: 2, ..plain };
    let needed = dilated.needed(2, 4);
    assert_eq!(needed, Some(Needed { starts: vec![0, 2], size: 3, padding: [1, 0] }));
    assert_eq!(dilated.needed(2, 3), None);
}
