//! Tests of amounts of memory as text.

use hlo_ir::human_bytes;

#[test]
fn bytes_in_units() {
    assert_eq!(human_bytes(17), "17 bytes");
    assert_eq!(human_bytes(1536), "1.5 KiB");
    assert_eq!(human_bytes(1 << 50), "1.0 PiB");
    assert_eq!(human_bytes(u64::MAX), "16.0 EiB");
}
