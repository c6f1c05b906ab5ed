//! Blanks: what may stand between the tokens of HLO text. Everything that reads text asks here; the grammar's rule
//! `blank` says the same.

/// True for a blank, a tab, and the characters that end lines. Form feeds and blanks that are not ASCII are none.
#[inline]
pub const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// The number of blanks at the start.
#[inline]
pub fn blanks(text: &[u8]) -> usize {
    text.iter().take_while(|&&b| is_blank(b)).count()
}

/// The length of the blanks and comments at the start. A comment that is not closed goes on to the end.
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

/// Text without the blanks around it: as `str::trim` and its kin, for the blanks of HLO text.
pub trait TrimBlanks {
    /// The text without blanks at the start.
    fn trim_blanks_start(&self) -> &str;
    /// The text without blanks at the end.
    fn trim_blanks_end(&self) -> &str;
    /// The text without blanks at either end.
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
