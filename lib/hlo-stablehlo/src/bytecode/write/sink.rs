//! A buffer for the bytes of MLIR bytecode.

/// The bytes written so far.
#[derive(Default)]
pub struct Sink(Vec<u8>);

impl Sink {
    /// Returns the written bytes.
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// Returns the number of written bytes.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn byte(&mut self, byte: u8) {
        self.0.push(byte);
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// Writes an unsigned number. The number of trailing zero bits of the first byte is the number of bytes
    /// that follow it.
    pub fn varint(&mut self, value: u64) {
        let bits = 64 - value.leading_zeros() as usize;
        let bytes = bits.div_ceil(7).max(1);
        if bytes > 8 {
            self.byte(0);
            return self.bytes(&value.to_le_bytes());
        }
        let marked = (value << bytes) | (1 << (bytes - 1));
        self.bytes(&marked.to_le_bytes()[..bytes]);
    }

    /// Writes a signed number.
    pub fn signed(&mut self, value: i64) {
        self.varint(((value << 1) ^ (value >> 63)) as u64);
    }

    /// Writes text with a zero byte at the end.
    pub(super) fn zero_terminated(&mut self, text: &[u8]) {
        self.bytes(text);
        self.byte(0);
    }

    /// Writes a section with the given number.
    pub(super) fn section(&mut self, id: usize, content: Sink) {
        self.byte(id as u8);
        self.varint(content.len() as u64);
        self.bytes(&content.0);
    }
}
