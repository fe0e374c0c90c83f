//! A source file of a JVM language as words, marks, strings and line comments, each with its line. Knows just enough of
//! Java, Kotlin, Scala and Groovy not to take a comment for code or a string for either.

/// What is left when blanks and block comments are gone.
#[derive(Debug, Default)]
pub struct Lexed<'t> {
    pub tokens: Vec<Token<'t>>,
    pub comments: Vec<Comment<'t>>,
}

/// A word, a mark, or a string with its quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token<'t> {
    pub text: &'t str,
    pub line: u32,
}

/// From `//` to the end of the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Comment<'t> {
    /// Without the slashes.
    pub text: &'t str,
    pub line: u32,
}

impl Token<'_> {
    pub fn is_word(&self) -> bool {
        self.text.starts_with(is_word)
    }
}

pub fn lex(text: &str) -> Lexed<'_> {
    let mut lexer = Lexer { text, at: 0, line: 1, out: Lexed::default() };
    while lexer.at < text.len() {
        lexer.step();
    }
    lexer.out
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
    line: u32,
    out: Lexed<'t>,
}

impl<'t> Lexer<'t> {
    fn step(&mut self) {
        let rest = &self.text[self.at..];
        let first = rest.chars().next().unwrap_or_default();
        if rest.starts_with("//") {
            let end = rest.find('\n').unwrap_or(rest.len());
            self.out.comments.push(Comment { text: rest[2..end].trim_end(), line: self.line });
            self.skip(end);
        } else if let Some(inside) = rest.strip_prefix("/*") {
            self.skip(inside.find("*/").map_or(rest.len(), |end| end + 4));
        } else if let Some(inside) = rest.strip_prefix("\"\"\"") {
            self.token(inside.find("\"\"\"").map_or(rest.len(), |end| end + 6));
        } else if first == '"' {
            self.token(quoted(rest, '"'));
        } else if let Some(end) = character(rest) {
            self.token(end);
        } else if is_word(first) {
            self.token(rest.find(|c| !is_word(c)).unwrap_or(rest.len()));
        } else if first.is_whitespace() {
            self.skip(first.len_utf8());
        } else {
            self.token(first.len_utf8());
        }
    }

    fn token(&mut self, length: usize) {
        let text = &self.text[self.at..self.at + length];
        self.out.tokens.push(Token { text, line: self.line });
        self.skip(length);
    }

    fn skip(&mut self, length: usize) {
        let text = &self.text[self.at..self.at + length];
        self.line += text.bytes().filter(|byte| *byte == b'\n').count() as u32;
        self.at += length;
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

/// The length of what stands between quotes, on one line.
fn quoted(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '\n' => return at,
            c if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

/// `'x'`, `'\n'` or, in Groovy, a whole string; not the quote of a Scala symbol or type.
fn character(text: &str) -> Option<usize> {
    let end = text.starts_with('\'').then(|| quoted(text, '\''))?;
    (end > 1 && text[..end].ends_with('\'')).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::lex;

    fn words(text: &str) -> String {
        lex(text).tokens.iter().map(|token| token.text).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn comments_and_strings_are_no_code() {
        assert_eq!(words("a /* b { */ c // d {\n e"), "a c e");
        assert_eq!(words(r#"x = "// { \" " + '"' + '\'' ;"#), r#"x = "// { \" " + '"' + '\'' ;"#);
        assert_eq!(words("x = \"\"\"\n // {\n\"\"\"; y"), "x = \"\"\"\n // {\n\"\"\" ; y");
        assert_eq!(words("\"open\nnext /* never closed"), "\"open next");
    }

    #[test]
    fn everything_knows_its_line() {
        let lexed = lex("a\n/*\n*/ b \"\"\"\n\"\"\" c // d\n// e");
        let lines: Vec<u32> = lexed.tokens.iter().map(|token| token.line).collect();
        assert_eq!(lines, [1, 3, 3, 4]);
        let comments: Vec<(u32, &str)> = lexed.comments.iter().map(|one| (one.line, one.text)).collect();
        assert_eq!(comments, [(4, " d"), (5, " e")]);
    }
}
