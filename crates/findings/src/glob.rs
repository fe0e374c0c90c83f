//! Patterns in which `*` stands for anything. Knows nothing of what is compared.

/// Whether the whole text is like the pattern. `*` and `**` are the same, `/` included: `src/gen/*` has all below it.
pub fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut is_open = false;
    let mut last = None;
    for part in parts {
        if let Some(part) = last.replace(part) {
            match rest.find(part) {
                Some(at) => rest = &rest[at + part.len()..],
                None => return false,
            }
        }
        is_open = true;
    }
    match last {
        Some(last) if is_open => rest.ends_with(last),
        _ => rest.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_star_stands_for_anything_and_the_whole_text_counts() {
        for (pattern, text) in [
            ("a.B", "a.B"),
            ("*", ""),
            ("src/gen/**", "src/gen/a/B.java"),
            ("**/B.java", "src/a/B.java"),
            ("a*b*c", "a-b-b-c"),
        ] {
            assert!(matches(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [("a.B", "a.Bc"), ("a.B", "x.a.B"), ("a*b", "a"), ("ab*ba", "aba"), ("", "x")]
        {
            assert!(!matches(pattern, text), "{pattern} {text}");
        }
    }
}
