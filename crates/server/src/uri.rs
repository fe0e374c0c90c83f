//! From the names that the protocol has for files to paths and back.

use std::path::{Path, PathBuf};

/// The path of a `file:` URI; nothing for others, which are about no files.
pub fn to_path(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    // Nobody edits files of other hosts; some clients name this one.
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    if !path.starts_with('/') {
        return None;
    }
    let bytes = decoded(path.split(['?', '#']).next().unwrap_or(path));
    let text = String::from_utf8(bytes).ok()?;
    // `/c:/Users` on Windows.
    let is_drive = cfg!(windows) && text.as_bytes().get(2) == Some(&b':');
    Some(PathBuf::from(if is_drive { &text[1..] } else { &text }))
}

pub fn of_path(path: &Path) -> String {
    let text = path.to_string_lossy();
    let mut uri = String::from("file://");
    if !text.starts_with('/') {
        uri.push('/');
    }
    for &byte in text.as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' | b'$' | b'+' => {
                uri.push(char::from(byte));
            }
            b'\\' if cfg!(windows) => uri.push('/'),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

fn decoded(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let digits = text.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_go_there_and_back() {
        for path in ["/a/b.java", "/with space/ä%.java", "/x#y?z/A$B.java"] {
            assert_eq!(to_path(&of_path(Path::new(path))), Some(PathBuf::from(path)));
        }
        assert_eq!(of_path(Path::new("/a b")), "file:///a%20b");
        assert_eq!(to_path("file://localhost/a"), Some(PathBuf::from("/a")));
        assert_eq!(to_path("file:///a%3Ab%ZZ"), Some(PathBuf::from("/a:b%ZZ")));
        for other in ["untitled:Untitled-1", "jdt://contents/x", "file://host/a", ""] {
            assert_eq!(to_path(other), None, "{other}");
        }
    }
}
