//! Bytes of MLIR's bytecode.

/// Bytes that are being written.
#[derive(Default)]
pub(super) struct Sink(Vec<u8>);

impl Sink {
    /// All that was written.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// How much was written.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn byte(&mut self, byte: u8) {
        self.0.push(byte);
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// A number: the zeros that the first byte ends with say how many bytes follow it.
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

    /// A number with a sign.
    pub(super) fn signed(&mut self, value: i64) {
        self.varint(((value << 1) ^ (value >> 63)) as u64);
    }

    /// Text with a zero at its end.
    pub(super) fn zero_terminated(&mut self, text: &[u8]) {
        self.bytes(text);
        self.byte(0);
    }

    /// A section of a number.
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
