//! Whether every bracket has its partner, which is a cheap sign that a text is worth compiling. Knows nothing else of
//! the grammar.

use crate::Source;
use crate::lexed::Kind;

impl Source {
    /// Whether braces, parentheses and brackets are paired outside of literals and comments, and no comment or text
    /// block is left open.
    pub fn is_balanced(&self) -> bool {
        let mut open = Vec::new();
        let mut at = 0;
        for piece in &self.lexed.pieces {
            if !follow(&self.text.as_bytes()[at..piece.span.start], &mut open) {
                return false;
            }
            let may_hide =
                piece.kind == Kind::BlockComment || self.text[piece.span.clone()].starts_with("\"\"\"");
            if may_hide && !piece.is_closed {
                return false;
            }
            at = piece.span.end;
        }
        follow(&self.text.as_bytes()[at..], &mut open) && open.is_empty()
    }
}

fn follow(code: &[u8], open: &mut Vec<u8>) -> bool {
    code.iter().all(|byte| match byte {
        b'(' => push(open, b')'),
        b'[' => push(open, b']'),
        b'{' => push(open, b'}'),
        b')' | b']' | b'}' => open.pop() == Some(*byte),
        _ => true,
    })
}

fn push(open: &mut Vec<u8>, closing: u8) -> bool {
    open.push(closing);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_are_paired_outside_of_literals_and_comments() {
        for (text, expected) in [
            ("", true),
            ("class A { void f(int[] a) { } }", true),
            ("class A { // }", false),
            ("class A { /* { */ char c = '{'; String s = \"}\\\"(\"; }", true),
            ("class A { String s = \"\"\"\n {{{ \\\"\"\" \"\n\"\"\"; }", true),
            ("f(a]", false),
            ("}{", false),
            ("f() /* {", false),
            ("f() \"\"\"\n", false),
            ("f(\"a);\n", false),
            ("char c = '\n;", true),
        ] {
            assert_eq!(Source::parse(text).is_balanced(), expected, "{text}");
        }
    }
}
