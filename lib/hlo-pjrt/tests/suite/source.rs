//! Tests of serialized programs.

use hlo_pjrt::source::Source;

/// The number of bytes before the first length.
const MAGIC_LENGTH: usize = 16;

#[test]
fn a_program_is_read_back_and_a_damaged_one_is_not() {
    let source = Source { format: "mlir".into(), code: vec![1, 2, 3], options: vec![4] };
    let bytes = source.to_bytes();
    assert_eq!(Source::from_bytes(&bytes), Ok(source));
    for end in 0..bytes.len() {
        assert!(Source::from_bytes(&bytes[..end]).is_err());
    }
    let mut long = bytes.clone();
    long.push(0);
    assert!(Source::from_bytes(&long).is_err());
    // The length exceeds the remaining bytes.
    let mut far = bytes;
    far[MAGIC_LENGTH + 7] = 0xff;
    assert!(Source::from_bytes(&far).is_err());
}
