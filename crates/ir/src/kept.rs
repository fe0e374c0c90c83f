//! A program between two runs: written and read without its class path, and what is other on the class path it is
//! then given. Knows nothing of the bytes it becomes, nor of where they are kept.

use crate::program::{ClassId, Loaded, Program};
use crate::read::digest_of_bytes;
use classfile::{ClassBytes, ClassSource, Layer};
use rustc_hash::FxHasher;
use serde::{Deserialize, Serialize};
use std::hash::Hasher;
use std::sync::Arc;
use track::Sizes;

impl Program {
    /// A program that was read, over a class path on which its classes may have changed.
    pub fn over(self, source: Arc<dyn ClassSource>) -> Program {
        Program { source, ..self }
    }

    /// Forgets what was found out by looking for members: it can be found out again.
    pub fn forget_answers(&mut self) {
        self.dispatch_cache = Default::default();
        self.resolve_cache = Default::default();
        self.field_cache = Default::default();
    }

    /// Whether every resource that was asked for is what it was.
    pub fn has_same_resources(&self) -> bool {
        self.resources.iter().all(|(path, &known)| digest_all(&self.source.resources(path)) == known)
    }

    /// Internal names of all classes that were looked for on the class path.
    pub fn looked_for(&self) -> Vec<String> {
        let classes = self.classes.ids().filter(|&class| self.is_looked_for(class));
        classes.map(|class| self.names[self.classes[class].name].to_string()).collect()
    }

    /// Internal names of classes that were looked for and not found, or could not be read.
    pub fn not_found(&self) -> impl Iterator<Item = &str> {
        let missing = self.classes.iter().filter(|(_, class)| class.loaded == Loaded::Missing);
        missing.map(|(_, class)| &self.names[class.name])
    }

    /// Whether the class is loaded and is still what the class path has under this name.
    pub fn is_current(&self, name: &str) -> bool {
        let class = self.find_class(name).filter(|&class| self.is_looked_for(class));
        class.is_some_and(|class| self.is_as_loaded(class, self.source.find(name).as_ref()))
    }

    /// All resources of this name, remembered as asked for.
    pub fn resources(&mut self, path: &str) -> Vec<Vec<u8>> {
        let found = self.source.resources(path);
        self.resources.insert(path.to_owned(), digest_all(&found));
        found
    }

    /// How many entries the tables have, those included that no class declares any more.
    pub fn sizes(&self, sizes: &mut Sizes) {
        sizes.add("names", self.names.len());
        sizes.add("classes", self.classes.len());
        sizes.add("methods", self.methods.len());
        sizes.add("fields", self.fields.len());
        sizes.add("selectors", self.selectors.len());
        sizes.add("bodies", self.bodies.len());
        sizes.add("problems", self.problems.len());
        let caches = [self.dispatch_cache.len(), self.resolve_cache.len(), self.field_cache.len()];
        sizes.add("resolved references", caches.iter().sum());
    }

    fn is_looked_for(&self, class: ClassId) -> bool {
        let class = &self.classes[class];
        class.loaded != Loaded::No && !class.is_array
    }
}

fn digest_all(resources: &[Vec<u8>]) -> u64 {
    let mut hasher = FxHasher::default();
    resources.iter().for_each(|bytes| hasher.write_u64(digest_of_bytes(bytes)));
    hasher.write_usize(resources.len());
    hasher.finish()
}

/// The class path of a program that has none yet.
pub(crate) fn no_source() -> Arc<dyn ClassSource> {
    Arc::new(Nothing)
}

struct Nothing;

impl ClassSource for Nothing {
    fn find(&self, _: &str) -> Option<ClassBytes> {
        None
    }

    fn app_classes(&self) -> Vec<String> {
        Vec::new()
    }

    fn resources(&self, _: &str) -> Vec<Vec<u8>> {
        Vec::new()
    }
}

/// [`Layer`] as it is written: the crate that owns it writes nothing.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Layer")]
pub(crate) enum LayerAsIs {
    App,
    Library,
    Jdk,
}
