//! A buffer for the bytes of MLIR bytecode.

/// The bytes written so far.
#[derive(Default)]
pub(super) struct Sink(Vec<u8>);

impl Sink {
    /// Returns the written bytes.
    pub(super) fn into_bytes(self) -> Vec<u8> {
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
    pub(super) fn varint(&mut self, value: u64) {
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
    pub(super) fn signed(&mut self, value: i64) {
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
