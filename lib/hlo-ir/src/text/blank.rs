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
pub fn blanks_and_comments(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 0;
    loop {
        match bytes.get(at) {
            Some(&b) if is_blank(b) => at += 1,
            Some(b'/') if bytes.get(at + 1) == Some(&b'*') => {
                at += text[at..].find("*/").map_or(text.len() - at, |n| n + 2);
            }
            Some(b'/') if bytes.get(at + 1) == Some(&b'/') => {
                at += text[at..].find(['\n', '\r']).unwrap_or(text.len() - at);
            }
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
