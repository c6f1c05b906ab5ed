//! Tests of places in files that HLO is read from.

use hlo_codegen::SourceFile;

#[test]
fn places_are_lines_and_columns_from_one() {
    let file = SourceFile::new("m.hlo", "ab\ncd\n\ne");
    let places = [0, 1, 2, 3, 5, 6, 7].map(|offset| file.place(offset));
    assert_eq!(places, [(1, 1), (1, 2), (1, 3), (2, 1), (2, 3), (3, 1), (4, 1)]);
    assert_eq!(SourceFile::new("m.hlo", "").place(0), (1, 1));
}
