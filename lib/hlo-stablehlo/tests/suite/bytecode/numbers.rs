//! The numbers and sections of MLIR bytecode.

use hlo_stablehlo::internals::{Cursor, Sink};

#[test]
fn numbers_are_written() {
    let write = |value| {
        let mut sink = Sink::default();
        sink.varint(value);
        sink.into_bytes()
    };
    assert_eq!(write(0), [1]);
    assert_eq!(write(127), [0xff]);
    assert_eq!(write(128), [0x02, 0x02]);
    assert_eq!(write(1 << 55), [0x80, 0, 0, 0, 0, 0, 0, 0x80]);
    assert_eq!(write(1 << 56), [0, 0, 0, 0, 0, 0, 0, 0, 1]);
    let mut sink = Sink::default();
    [0, -1, 1, i64::MIN].into_iter().for_each(|n| sink.signed(n));
    assert_eq!(sink.into_bytes(), [1, 3, 5, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
}

#[test]
fn numbers_are_read() {
    let read = |bytes: &[u8]| Cursor::new(bytes).varint().ok();
    // According to the description of MLIR's bytecode, the low bits of the first byte encode the length.
    assert_eq!(read(&[0x01]), Some(0));
    assert_eq!(read(&[0xff]), Some(127));
    assert_eq!(read(&[0x02, 0x02]), Some(128));
    assert_eq!(read(&[0x00, 1, 2, 0, 0, 0, 0, 0, 0x80]), Some(0x8000_0000_0000_0201));
    assert_eq!(read(&[0x80, 0, 0, 0, 0, 0, 0, 0x80]), Some(1 << 55));
    assert_eq!(read(&[0x02]), None);
    assert_eq!(read(&[]), None);
    let signed = |bytes: &[u8]| Cursor::new(bytes).signed().ok();
    assert_eq!(signed(&[0x01]), Some(0));
    assert_eq!(signed(&[0x03]), Some(-1));
    assert_eq!(signed(&[0x05]), Some(1));
    assert_eq!(signed(&[0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]), Some(i64::MIN));
}

#[test]
fn sections_are_checked() {
    let mut cursor = Cursor::new(&[0x84, 0x03, 0x11, 0xcb, 0xcb, 0xcb, 0xcb, 0xcb, 7]);
    let (id, mut inner) = cursor.section().unwrap();
    assert_eq!((id, inner.position(), inner.byte().unwrap()), (4, 8, 7));
    assert!(cursor.is_empty() && inner.is_empty());
    for damaged in [&[0x04, 0x05, 1][..], &[0x84, 0x03, 0x11, 0], &[0x84, 0x03, 0x07, 0], &[0x84, 0x03]] {
        assert!(Cursor::new(damaged).section().is_err(), "{damaged:?}");
    }
    assert!(Cursor::new(&[0xff]).count().is_err());
}
