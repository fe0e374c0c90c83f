//! The class path while sources are edited: what a build has left, with the classes of edited files in the place of
//! theirs. Immutable, as every class path; knows nothing of how the classes were made.

use classfile::{ClassBytes, ClassSource, Layer};
use project::Project;
use rustc_hash::FxHashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

pub struct LiveSource {
    pub(crate) base: Arc<Project>,
    /// Classes of edited files; nothing for those that a build has left of them and that are no more.
    pub(crate) edited: Arc<FxHashMap<String, Option<ClassBytes>>>,
}

impl LiveSource {
    /// What lies below: files, libraries, what users call things.
    pub fn project(&self) -> &Arc<Project> {
        &self.base
    }
}

impl ClassSource for LiveSource {
    fn find(&self, name: &str) -> Option<ClassBytes> {
        match self.edited.get(name) {
            Some(edited) => edited.clone(),
            None => self.base.find(name),
        }
    }

    fn stamp(&self, name: &str) -> Option<u64> {
        match self.edited.get(name) {
            Some(edited) => edited.as_ref().map(|class| {
                let mut hasher = DefaultHasher::new();
                class.hash(&mut hasher);
                hasher.finish()
            }),
            None => self.base.stamp(name),
        }
    }

    fn layer(&self, name: &str) -> Option<Layer> {
        match self.edited.get(name) {
            Some(edited) => edited.as_ref().map(|class| class.layer),
            None => self.base.layer(name),
        }
    }

    fn app_classes(&self) -> Vec<String> {
        let mut names = self.base.app_classes();
        names.retain(|name| !self.edited.contains_key(name));
        let edited = self.edited.iter().filter(|(_, class)| class.is_some());
        names.extend(edited.map(|(name, _)| name.clone()));
        names.sort_unstable();
        names
    }

    fn resources(&self, path: &str) -> Vec<Vec<u8>> {
        self.base.resources(path)
    }
}
