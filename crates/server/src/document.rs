//! Texts that are open in the editor, as they stand there. Owns how changes are counted; knows nothing of what the texts
//! say.

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub struct Document {
    /// As the client calls it, which may be spelt otherwise than we would.
    pub uri: String,
    pub version: i32,
    pub text: Arc<str>,
    /// The text that is on disk, as far as the client has said so.
    pub saved: Arc<str>,
}

/// By path.
#[derive(Default)]
pub struct Documents(pub BTreeMap<PathBuf, Document>);

impl Documents {
    /// How the client calls a file.
    pub fn uri(&self, path: &Path) -> String {
        self.0.get(path).map_or_else(|| crate::uri::of_path(path), |document| document.uri.clone())
    }
}

impl Document {
    /// Applies the changes of a notification, in their order. A change without a range is the whole text.
    pub fn change(&mut self, version: i32, changes: &[Value]) {
        let mut text = String::from(&*self.text);
        for change in changes {
            let new = change.get("text").and_then(Value::as_str).unwrap_or_default();
            let point = |name: &str| {
                let at = change.get("range")?.get(name)?;
                let part = |part: &str| usize::try_from(at.get(part)?.as_u64()?).ok();
                Some(offset(&text, part("line")?, part("character")?))
            };
            match (point("start"), point("end")) {
                (Some(start), Some(end)) => text.replace_range(start.min(end)..start.max(end), new),
                _ => new.clone_into(&mut text),
            }
        }
        (self.version, self.text) = (version, text.into());
    }
}

/// The byte at a line and a number of UTF-16 units in it; what lies behind the end is the end.
pub fn offset(text: &str, line: usize, character: usize) -> usize {
    let mut start = 0;
    for _ in 0..line {
        match next_line(text, start) {
            Some(next) => start = next,
            None => return text.len(),
        }
    }
    let mut units = 0;
    for (at, c) in text[start..].char_indices() {
        if units >= character || c == '\n' || c == '\r' {
            return start + at;
        }
        units += c.len_utf16();
    }
    text.len()
}

/// Where the line after this one begins: lines end with `\n`, `\r\n` or `\r`.
fn next_line(text: &str, start: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let end = start + bytes[start..].iter().position(|byte| matches!(byte, b'\n' | b'\r'))?;
    let is_pair = bytes[end] == b'\r' && bytes.get(end + 1) == Some(&b'\n');
    Some(end + if is_pair { 2 } else { 1 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn changed(text: &str, changes: Value) -> String {
        let text: Arc<str> = text.into();
        let mut document = Document { uri: String::new(), version: 1, text: text.clone(), saved: text };
        document.change(2, changes.as_array().expect("a list"));
        document.text.to_string()
    }

    fn range(from: (u32, u32), to: (u32, u32), text: &str) -> Value {
        json!({"range": {"start": {"line": from.0, "character": from.1},
                         "end": {"line": to.0, "character": to.1}}, "text": text})
    }

    #[test]
    fn changes_are_applied_one_after_the_other() {
        assert_eq!(
            changed("ab\ncd", json!([range((0, 1), (1, 1), "-"), range((0, 0), (0, 0), "x")])),
            "xa-d"
        );
        assert_eq!(changed("old", json!([{"text": "new"}])), "new");
        assert_eq!(changed("a\r\nb\rc", json!([range((2, 0), (2, 1), "x")])), "a\r\nb\rx");
    }

    #[test]
    fn columns_count_utf_16_units() {
        assert_eq!(changed("𝄞ä!", json!([range((0, 3), (0, 4), "?")])), "𝄞ä?");
    }

    #[test]
    fn what_lies_outside_is_the_end() {
        assert_eq!(changed("ab", json!([range((7, 3), (9, 1), "c")])), "abc");
        assert_eq!(changed("ab\nc", json!([range((0, 99), (0, 99), "!")])), "ab!\nc");
        assert_eq!(changed("ab", json!([range((0, 2), (0, 0), "")])), "");
    }
}
