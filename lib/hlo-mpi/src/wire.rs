//! The format of messages.

use hlo_communicator::Failure;
use std::ops::Range;

/// The kind of a message. Together with the number of the sending device, it determines the tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum Kind {
    /// The header of data that a collective transfers.
    Header = 0,
    /// A part that does not fit into the header's message.
    Bulk = 1,
    /// The header of a value that is sent on a channel.
    Mail = 2,
    /// An array of a value that is sent on a channel.
    MailBulk = 3,
}

impl Kind {
    /// Returns the tag of messages of a device.
    pub(crate) fn tag(self, device: usize) -> i32 {
        device as i32 * 4 + self as i32
    }

    /// Returns the sender if the tag is that of a header of a value on a channel.
    pub(crate) fn mail_of(tag: i32) -> Option<usize> {
        (tag % 4 == Kind::Mail as i32).then_some((tag / 4) as usize)
    }
}

/// Maximum total size in bytes of parts that are sent with the header.
const MAX_INLINE_BYTES: usize = 2048;

/// Maximum size of a message in bytes. MPI's counts are `int`s.
const MAX_MESSAGE_BYTES: usize = 1 << 30;

/// The header of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// For a collective, its number and the number of the exchange between the two devices. For a value on a
    /// channel, whether there is a channel, and the channel.
    pub(crate) words: [u64; 2],
    /// The sizes of the parts.
    pub(crate) sizes: Vec<u64>,
}

impl Header {
    /// Returns the channel of a value.
    pub(crate) fn channel(&self) -> Option<i64> {
        (self.words[0] != 0).then_some(self.words[1] as i64)
    }

    /// Returns whether the parts are sent with the header.
    pub(crate) fn is_whole(&self) -> bool {
        self.sizes.iter().fold(0u64, |a, &b| a.saturating_add(b)) <= MAX_INLINE_BYTES as u64
    }

    /// Returns the encoded message, including the parts if they are small.
    pub(crate) fn encoded<'a>(&self, part: impl Fn(usize) -> &'a [u8]) -> Vec<u8> {
        let words = self.words.iter().copied().chain([self.sizes.len() as u64]);
        let words = words.chain(self.sizes.iter().copied());
        let mut bytes: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
        if self.is_whole() {
            (0..self.sizes.len()).for_each(|n| bytes.extend_from_slice(part(n)));
        }
        bytes
    }

    /// Decodes a message. Returns the header, and the bytes of the parts that were sent with it.
    pub(crate) fn decoded(message: &[u8]) -> Result<(Header, &[u8]), Failure> {
        let malformed = || Failure::Local("internal error: a message that can't be read".into());
        let mut words = message.chunks_exact(8).map(|w| u64::from_le_bytes(w.try_into().unwrap_or_default()));
        let mut word = || words.next().ok_or_else(malformed);
        let (first, second, count) = (word()?, word()?, word()?);
        let count = usize::try_from(count).ok().filter(|&n| n <= message.len() / 8).ok_or_else(malformed)?;
        let sizes = (0..count).map(|_| word()).collect::<Result<Vec<u64>, Failure>>()?;
        let header = Header { words: [first, second], sizes };
        let rest = message.get((3 + count) * 8..).ok_or_else(malformed)?;
        let expected = if header.is_whole() { header.sizes.iter().sum::<u64>() } else { 0 };
        if rest.len() as u64 == expected { Ok((header, rest)) } else { Err(malformed()) }
    }
}

/// Returns the messages for parts of these sizes that are not sent with the header: the part of each message,
/// and the byte range of the part.
pub(crate) fn pieces(sizes: &[u64]) -> Vec<(usize, Range<usize>)> {
    let of_part = |(part, &size): (usize, &u64)| {
        let size = size as usize;
        (0..size.div_ceil(MAX_MESSAGE_BYTES))
            .map(move |n| (part, n * MAX_MESSAGE_BYTES..((n + 1) * MAX_MESSAGE_BYTES).min(size)))
    };
    sizes.iter().enumerate().flat_map(of_part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_come_back() {
        let small = Header { words: [3, 4], sizes: vec![2, 0, 3] };
        let parts: [&[u8]; 3] = [&[1, 2], &[], &[3, 4, 5]];
        let message = small.encoded(|n| parts[n]);
        assert_eq!(Header::decoded(&message), Ok((small, &[1, 2, 3, 4, 5][..])));
        let large = Header { words: [0, u64::MAX], sizes: vec![1 << 20] };
        let message = large.encoded(|_| &[]);
        assert_eq!(Header::decoded(&message), Ok((large, &[][..])));
        for n in 0..message.len() {
            assert!(Header::decoded(&message[..n]).is_err(), "{n}");
        }
    }

    #[test]
    fn large_parts_go_in_pieces() {
        let size = MAX_MESSAGE_BYTES + 5;
        let expected = vec![(0, 0..7), (2, 0..MAX_MESSAGE_BYTES), (2, MAX_MESSAGE_BYTES..size)];
        assert_eq!(pieces(&[7, 0, size as u64]), expected);
        assert_eq!(Kind::mail_of(Kind::Mail.tag(9)), Some(9));
        assert_eq!(Kind::mail_of(Kind::MailBulk.tag(9)), None);
    }
}
