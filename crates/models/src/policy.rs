//! Which parts of the class path are analysed, and how precisely: patterns from the data files.

/// Lists of class patterns. For whether a body is analysed, the longest matching pattern decides.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    pub(crate) opaque: Vec<Pattern>,
    /// Exceptions to `opaque`.
    pub(crate) analysed: Vec<Pattern>,
    pub(crate) merged: Vec<Pattern>,
    pub(crate) containers: Vec<Pattern>,
}

impl Policy {
    /// Bodies are not analysed: a call returns a fresh object of the declared type.
    pub fn is_opaque(&self, class: &str) -> bool {
        match longest(&self.opaque, class) {
            Some(opaque) => longest(&self.analysed, class).is_none_or(|analysed| analysed < opaque),
            None => false,
        }
    }

    /// One object stands for all instances of the class (strings, builders; exceptions are merged by hierarchy).
    pub fn is_merged(&self, class: &str) -> bool {
        longest(&self.merged, class).is_some()
    }

    /// Methods are analysed once per allocated object (collections, futures, atomics, optionals…).
    pub fn is_container(&self, class: &str) -> bool {
        longest(&self.containers, class).is_some()
    }

    pub(crate) fn extend(&mut self, more: Policy) {
        self.opaque.extend(more.opaque);
        self.analysed.extend(more.analysed);
        self.merged.extend(more.merged);
        self.containers.extend(more.containers);
    }
}

fn longest(patterns: &[Pattern], class: &str) -> Option<usize> {
    patterns.iter().filter(|pattern| pattern.matches(class)).map(|pattern| pattern.prefix.len()).max()
}

/// `java.text.` is a package and everything below it, `java.util.Locale` a class with its nested classes,
/// `java.io.Object*` whatever begins so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pattern {
    /// In internal form.
    prefix: String,
    whole_class: bool,
}

impl Pattern {
    pub fn parse(text: &str) -> Option<Pattern> {
        let prefix = text.strip_suffix('*').unwrap_or(text);
        if prefix.is_empty() || prefix.contains(['*', ' ', ';', '[']) {
            return None;
        }
        let whole_class = prefix.len() == text.len() && !text.ends_with('.');
        Some(Pattern { prefix: prefix.replace('.', "/"), whole_class })
    }

    fn matches(&self, class: &str) -> bool {
        class
            .strip_prefix(self.prefix.as_str())
            .is_some_and(|rest| !self.whole_class || rest.is_empty() || rest.starts_with('$'))
    }
}
