//! Text with what is not code blanked out, byte by byte where it was. Holds for any language with Java's comments and
//! literals; knows no grammar.

use crate::lexed::{Kind, Lexed};

/// The text with spaces instead of comments.
pub fn without_comments(text: &str) -> String {
    blanked(text, |kind| kind != Kind::Literal)
}

/// The text with spaces instead of comments, strings and characters.
pub fn without_comments_and_literals(text: &str) -> String {
    blanked(text, |_| true)
}

/// Where something is not closed it is not known what it is, so it stays.
fn blanked(text: &str, is_such: impl Fn(Kind) -> bool) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for piece in Lexed::of(text).pieces.iter().filter(|piece| piece.is_closed && is_such(piece.kind)) {
        let inside = bytes[piece.span.clone()].iter_mut();
        inside.filter(|byte| !matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_become_spaces() {
        let text = "n = \"n\" + 'n'; // n\n/* n\né */ n(\"\"\"\n n \"\"\")";
        assert_eq!(without_comments(text), "n = \"n\" + 'n';     \n    \n      n(\"\"\"\n n \"\"\")");
        assert_eq!(without_comments_and_literals(text), "n =     +    ;     \n    \n      n(   \n      )");
        assert_eq!(without_comments_and_literals("n = 'sym; \"n"), "n = 'sym; \"n");
    }
}
