//! Where class bytes come from, as the analysis sees it. Directories, jars and JDK images implement this
//! elsewhere; nothing here touches a file.

use crate::types::Method;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// Whose code a class is: decides what is reported and how precisely it is analysed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// The user's own code: findings are placed here.
    App,
    /// A dependency: analysed as far as reachable, findings only where the user's code takes part.
    Library,
    /// The JDK's own classes.
    Jdk,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ClassBytes {
    pub bytes: Arc<[u8]>,
    pub layer: Layer,
    /// Methods that are taken from earlier versions of the class, because what stands in their place now cannot be
    /// compiled. No method is in two of them.
    pub earlier: Arc<[Earlier]>,
}

/// Some methods of a class as it was once.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Earlier {
    /// The whole class.
    pub bytes: Arc<[u8]>,
    /// The methods that still count.
    pub methods: Vec<Kept>,
}

/// A method of an earlier version that still counts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kept {
    pub name: String,
    pub descriptor: String,
    /// The descriptor of the method whose code it is now: another one where a type in it is not known any more.
    pub now: String,
}

impl ClassBytes {
    pub fn new(bytes: impl Into<Arc<[u8]>>, layer: Layer) -> ClassBytes {
        ClassBytes { bytes: bytes.into(), layer, earlier: Arc::default() }
    }
}

impl Earlier {
    /// What a method of the earlier version counts for.
    pub fn kept(&self, method: &Method<'_>) -> impl Iterator<Item = &Kept> {
        let is_it = |kept: &&Kept| kept.name == method.name && kept.descriptor == method.descriptor;
        self.methods.iter().filter(is_it)
    }
}

/// A class path: lazily answered, immutable while an analysis runs.
pub trait ClassSource: Send + Sync {
    /// The class with this internal name (`java/lang/String`), first match on the class path.
    fn find(&self, name: &str) -> Option<ClassBytes>;

    /// A number that is another when the class, or whose it is, is; nothing if there is none. Whoever can tell without
    /// reading it should.
    fn stamp(&self, name: &str) -> Option<u64> {
        let found = self.find(name)?;
        let mut hasher = DefaultHasher::new();
        found.hash(&mut hasher);
        Some(hasher.finish())
    }

    /// Whose class it is. Whoever can tell without reading it should.
    fn layer(&self, name: &str) -> Option<Layer> {
        self.find(name).map(|found| found.layer)
    }

    /// Internal names of all [`Layer::App`] classes, sorted.
    fn app_classes(&self) -> Vec<String>;

    /// All resources of this name (`META-INF/services/…`), in class-path order.
    fn resources(&self, path: &str) -> Vec<Vec<u8>>;
}
