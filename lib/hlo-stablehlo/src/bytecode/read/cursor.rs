//! A cursor over the bytes of a file, which reads the numbers and sections of MLIR bytecode.

use crate::bytecode::fault::{Fault, Result};
use crate::bytecode::layout::ALIGNMENT_BYTE;

/// The unread rest of a part of a file.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    /// The whole file. Alignment is relative to its start.
    file: &'a [u8],
    at: usize,
    end: usize,
}

impl<'a> Cursor<'a> {
    /// Creates a cursor over a whole file.
    pub fn new(file: &'a [u8]) -> Self {
        Self { file, at: 0, end: file.len() }
    }

    /// Returns the position in the file.
    pub fn position(&self) -> usize {
        self.at
    }

    /// Returns the number of remaining bytes.
    pub(super) fn len(&self) -> usize {
        self.end - self.at
    }

    /// Checks whether no bytes remain.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Creates an error at the current position.
    pub(super) fn fault(&self, message: impl Into<String>) -> Fault {
        Fault::at(self.at, message)
    }

    /// Reads a byte.
    ///
    /// # Errors
    /// No bytes remain.
    pub fn byte(&mut self) -> Result<u8> {
        Ok(self.bytes(1)?[0])
    }

    /// Reads `count` bytes.
    pub(super) fn bytes(&mut self, count: usize) -> Result<&'a [u8]> {
        let at = self.at;
        self.part(count)?;
        Ok(&self.file[at..at + count])
    }

    /// Splits off the next `count` bytes as a cursor of their own.
    pub(super) fn part(&mut self, count: usize) -> Result<Cursor<'a>> {
        if count > self.len() {
            return Err(self.fault(format!("{count} bytes are expected, but {} are left", self.len())));
        }
        let at = self.at;
        self.at += count;
        Ok(Cursor { file: self.file, at, end: at + count })
    }

    /// Reads an unsigned number. The number of trailing zero bits of the first byte is the number of bytes
    /// that follow it.
    ///
    /// # Errors
    /// The number is incomplete.
    #[inline]
    pub fn varint(&mut self) -> Result<u64> {
        let first = self.byte()?;
        if first & 1 == 1 {
            return Ok(u64::from(first >> 1));
        }
        let more = first.trailing_zeros() as usize;
        let mut wide = [0; 8];
        if more == 8 {
            wide.copy_from_slice(self.bytes(8)?);
            return Ok(u64::from_le_bytes(wide));
        }
        wide[0] = first;
        wide[1..=more].copy_from_slice(self.bytes(more)?);
        Ok(u64::from_le_bytes(wide) >> (more + 1))
    }

    /// Reads a number whose lowest bit is a flag.
    pub(super) fn flagged(&mut self) -> Result<(u64, bool)> {
        let value = self.varint()?;
        Ok((value >> 1, value & 1 == 1))
    }

    /// Reads a signed number. The lowest bit is the sign.
    ///
    /// # Errors
    /// The number is incomplete.
    pub fn signed(&mut self) -> Result<i64> {
        let value = self.varint()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// Reads the number of items that follow. Each item takes at least a byte, so the count bounds the memory
    /// to allocate.
    ///
    /// # Errors
    /// The number is incomplete, or larger than the number of remaining bytes.
    pub fn count(&mut self) -> Result<usize> {
        let count = self.varint()?;
        self.checked_count(count)
    }

    /// Checks a count that was already read, as [`Self::count`] does.
    pub(super) fn checked_count(&self, count: u64) -> Result<usize> {
        match usize::try_from(count) {
            Ok(n) if n <= self.len() => Ok(n),
            _ => Err(self.fault(format!("{count} items are announced where {} bytes are left", self.len()))),
        }
    }

    /// Reads a list of signed numbers after their count.
    pub(super) fn signed_list(&mut self) -> Result<Vec<i64>> {
        (0..self.count()?).map(|_| self.signed()).collect()
    }

    /// Reads bytes after their count.
    pub(super) fn blob(&mut self) -> Result<&'a [u8]> {
        let count = self.count()?;
        self.bytes(count)
    }

    /// Reads text that ends with a zero byte. The result does not contain the zero byte.
    pub(super) fn zero_terminated(&mut self) -> Result<&'a [u8]> {
        let rest = &self.file[self.at..self.end];
        let Some(len) = rest.iter().position(|&b| b == 0) else {
            return Err(self.fault("a text has no end"));
        };
        self.at += len + 1;
        Ok(&rest[..len])
    }

    /// Skips padding up to a multiple of `alignment`, a power of two.
    pub(super) fn align(&mut self, alignment: u64) -> Result<()> {
        if !alignment.is_power_of_two() {
            return Err(self.fault(format!("an alignment of {alignment}")));
        }
        while !(self.at as u64).is_multiple_of(alignment) {
            if self.byte()? != ALIGNMENT_BYTE {
                return Err(Fault::at(self.at - 1, "padding of another byte than 0xCB"));
            }
        }
        Ok(())
    }

    /// Reads a section: its number and its contents.
    ///
    /// # Errors
    /// The section is incomplete, or its padding is wrong.
    pub fn section(&mut self) -> Result<(u8, Cursor<'a>)> {
        let id = self.byte()?;
        let len = self.count()?;
        if id & 0x80 != 0 {
            let alignment = self.varint()?;
            self.align(alignment)?;
        }
        Ok((id & 0x7f, self.part(len)?))
    }

    /// Reads a section and checks its number.
    pub(super) fn expect_section(&mut self, wanted: u8) -> Result<Cursor<'a>> {
        let at = self.at;
        match self.section()? {
            (id, section) if id == wanted => Ok(section),
            (id, _) => Err(Fault::at(at, format!("section {wanted} is expected, found section {id}"))),
        }
    }
}
