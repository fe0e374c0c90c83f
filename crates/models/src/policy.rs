//! Which parts of the class path are analysed, and how precisely: prefixes from the data files.

/// Class-name prefixes in internal form (`java/util/`), longest match wins between `analysed` and `opaque`.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    pub(crate) opaque: Vec<String>,
    pub(crate) merged: Vec<String>,
    pub(crate) containers: Vec<String>,
}

impl Policy {
    /// Bodies are not analysed: a call returns a fresh object of the declared type.
    pub fn is_opaque(&self, class: &str) -> bool {
        let _ = class;
        todo!()
    }

    /// One object stands for all instances of the class (strings, builders; exceptions are merged by hierarchy).
    pub fn is_merged(&self, class: &str) -> bool {
        let _ = class;
        todo!()
    }

    /// Methods are analysed once per allocated object (collections, futures, atomics, optionals…).
    pub fn is_container(&self, class: &str) -> bool {
        let _ = class;
        todo!()
    }
}
