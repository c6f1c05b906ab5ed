//! Blanks: the characters and comments between the tokens of HLO text. All readers of text use these
//! functions. The grammar's rule `blank` is equivalent.

/// Returns whether a byte is a space, a tab, or a line break. Form feeds and non-ASCII spaces are not blanks.
#[inline]
pub const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// Returns the number of blanks at the start.
#[inline]
pub fn blanks(text: &[u8]) -> usize {
    text.iter().take_while(|&&b| is_blank(b)).count()
}

/// Returns the length of the blanks and comments at the start. An unclosed comment extends to the end.
#[inline]
pub fn blanks_and_comments(text: &[u8]) -> usize {
    let mut at = 0;
    loop {
        let rest = &text[at..];
        at += match rest {
            [b, ..] if is_blank(*b) => 1,
            // The closing `*/` does not share its star with the opening `/*`.
            [b'/', b'*', comment @ ..] => {
                comment.windows(2).position(|w| w == b"*/").map_or(rest.len(), |n| n + 4)
            }
            [b'/', b'/', ..] => rest.iter().position(|b| matches!(b, b'\n' | b'\r')).unwrap_or(rest.len()),
            _ => return at,
        }
    }
}

/// Removes surrounding blanks as `str::trim` and similar functions do, but only blanks of HLO text.
pub trait TrimBlanks {
    /// Returns the text without blanks at the start.
    fn trim_blanks_start(&self) -> &str;
    /// Returns the text without blanks at the end.
    fn trim_blanks_end(&self) -> &str;
    /// Returns the text without blanks at both ends.
    fn trim_blanks(&self) -> &str {
        self.trim_blanks_start().trim_blanks_end()
    }
}

fn is_blank_char(c: char) -> bool {
    u8::try_from(c).is_ok_and(is_blank)
}

impl TrimBlanks for str {
    fn trim_blanks_start(&self) -> &str {
        self.trim_start_matches(is_blank_char)
    }
    fn trim_blanks_end(&self) -> &str {
        self.trim_end_matches(is_blank_char)
    }
}
