//! Tests of the tokens of Tile texts.

use hlo_lsp::internals::tile::{Kind, scan};

fn tokens(text: &str) -> Vec<&str> {
    scan(text).iter().map(|t| &text[t.span.range()]).collect()
}

#[test]
fn tokens_are_pythons() {
    assert_eq!(
        tokens("O[i] >= A[2*i//1.5e-3, \\\n é] # x\nB **= .5"),
        [
            "O", "[", "i", "]", ">=", "A", "[", "2", "*", "i", "//", "1.5e-3", ",", "é", "]", "# x", "\n",
            "B", "**=", ".5"
        ]
    );
    assert_eq!(
        tokens("'a\\'b' \"\"\"c\n\"d\"\"\" 'e\nf"),
        ["'a\\'b'", "\"\"\"c\n\"d\"\"\"", "'e", "\n", "f"]
    );
    assert_eq!(scan("'e")[0].kind, Kind::OpenText);
    assert_eq!(scan("''")[0].kind, Kind::Text);
}

#[test]
fn lines_end_where_no_bracket_is_open() {
    assert_eq!(tokens("f(a,\n b)\nc"), ["f", "(", "a", ",", "b", ")", "\n", "c"]);
    // A bracket that is not closed does not affect the next function.
    assert_eq!(tokens("f(a,\n b\ndef g"), ["f", "(", "a", ",", "b", "\n", "def", "g"]);
}
