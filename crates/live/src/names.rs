//! What a compiler makes up names for: lambdas and classes without a name of their own. Brings them into the form that
//! the JDK's compiler uses, and out of the way of others; knows nothing of files.

use classfile::{LAMBDA, is_number};
use std::collections::BTreeMap;

/// The name of a lambda of an earlier version, which no lambda of another version has.
pub fn earlier_lambda(name: &str, version: usize) -> Option<String> {
    let number = name.strip_prefix(LAMBDA)?.rsplit('$').next().filter(|number| is_number(number))?;
    let number_of: u64 = number.parse().ok()?;
    let stem = &name[..name.len() - number.len()];
    Some(format!("{stem}{}", number_of + FAR * (version as u64 + 1)))
}

/// Beyond the numbers that compilers reach.
const FAR: u64 = 100_000;

/// The name of a class without a name, or of a local one, of an earlier version: from `p/Outer$1` to `p/Outer$100001`,
/// from `p/Outer$1Local` to `p/Outer$100001Local`.
pub fn earlier_class(name: &str, version: usize) -> Option<String> {
    let (stem, last) = name.rsplit_once('$')?;
    let digits = last.bytes().take_while(u8::is_ascii_digit).count();
    let number: u64 = last[..digits].parse().ok()?;
    Some(format!("{stem}${}{}", number + FAR * (version as u64 + 1), &last[digits..]))
}

/// The text of a constant pool with classes called otherwise, wherever it speaks of them; nothing if it does not.
pub fn with_classes(text: &str, renamed: &BTreeMap<String, String>) -> Option<String> {
    let mut changed: Option<String> = None;
    for (old, new) in renamed {
        let current = changed.as_deref().unwrap_or(text);
        if let Some(next) = replaced(current, old, new) {
            changed = Some(next);
        }
    }
    changed
}

/// As a whole name: `p/A$1` is not in `p/A$12`, nor in `q/p/A$1`.
fn replaced(text: &str, old: &str, new: &str) -> Option<String> {
    let mut out = String::new();
    let mut rest = 0;
    for (at, _) in text.match_indices(old) {
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        let before = text[..at].chars().next_back();
        let after = text[at + old.len()..].chars().next();
        // Of a descriptor it is the `L` that comes before.
        let begins = before.is_none_or(|c| c == 'L' || !is_name(c) && c != '/' && c != '$');
        if at < rest || !begins || after.is_some_and(is_name) {
            continue;
        }
        out.push_str(&text[rest..at]);
        out.push_str(new);
        rest = at + old.len();
    }
    (rest > 0).then(|| {
        out.push_str(&text[rest..]);
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_earlier_versions_are_those_of_nobody_else() {
        assert_eq!(earlier_lambda("lambda$main$3", 0).as_deref(), Some("lambda$main$100003"));
        assert_eq!(earlier_lambda("lambda$3", 1).as_deref(), Some("lambda$200003"));
        assert_eq!(earlier_lambda("main", 0), None);
        assert_eq!(earlier_class("p/Outer$1", 0).as_deref(), Some("p/Outer$100001"));
        assert_eq!(earlier_class("p/Outer$2Local", 0).as_deref(), Some("p/Outer$100002Local"));
        assert_eq!(earlier_class("p/Outer$Inner", 0), None);
    }

    #[test]
    fn classes_are_renamed_as_whole_names() {
        let renamed = BTreeMap::from([("p/A$1".to_owned(), "p/A$9".to_owned())]);
        let with = |text: &str| with_classes(text, &renamed);
        assert_eq!(with("p/A$1").as_deref(), Some("p/A$9"));
        assert_eq!(with("(Lp/A$1;I)Lp/A$1;").as_deref(), Some("(Lp/A$9;I)Lp/A$9;"));
        assert_eq!(with("p/A$1$2").as_deref(), Some("p/A$9$2"));
        assert_eq!(with("p/A$12"), None);
        assert_eq!(with("q/p/A$1"), None);
        assert_eq!(with("nothing"), None);
    }
}
