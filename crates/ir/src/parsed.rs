//! Class files kept parsed for a while, so that lowering the methods of a class one by one does not read it
//! again each time. Owns bytes and their parse; knows nothing of ids.

use crate::program::ClassId;
use classfile::ClassFile;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::sync::Arc;

self_cell::self_cell!(
    /// A class file together with the bytes it borrows from.
    pub(crate) struct ParsedClass {
        owner: Arc<[u8]>,
        #[covariant]
        dependent: ClassFile,
    }
);

impl ParsedClass {
    pub(crate) fn parse(bytes: Arc<[u8]>) -> Result<ParsedClass, classfile::Error> {
        ParsedClass::try_new(bytes, |bytes| classfile::parse(bytes))
    }

    pub(crate) fn file(&self) -> &ClassFile<'_> {
        self.borrow_dependent()
    }
}

/// About 20 KB each: enough for a whole application's working set without holding the JDK in memory.
const KEPT: usize = 2048;

/// The most recently read classes.
#[derive(Default)]
pub(crate) struct ParsedClasses {
    by_class: FxHashMap<ClassId, Arc<ParsedClass>>,
    oldest_first: VecDeque<ClassId>,
}

impl ParsedClasses {
    pub(crate) fn get(&self, class: ClassId) -> Option<Arc<ParsedClass>> {
        self.by_class.get(&class).cloned()
    }

    pub(crate) fn insert(&mut self, class: ClassId, parsed: Arc<ParsedClass>) {
        if self.by_class.insert(class, parsed).is_none() {
            self.oldest_first.push_back(class);
        }
        if self.oldest_first.len() > KEPT
            && let Some(oldest) = self.oldest_first.pop_front()
        {
            self.by_class.remove(&oldest);
        }
    }

    pub(crate) fn remove(&mut self, class: ClassId) {
        if self.by_class.remove(&class).is_some() {
            self.oldest_first.retain(|&other| other != class);
        }
    }
}
