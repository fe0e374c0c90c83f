//! Where class bytes come from, as the analysis sees it. Directories, jars and JDK images implement this
//! elsewhere; nothing here touches a file.

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

#[derive(Debug, Clone)]
pub struct ClassBytes {
    pub bytes: Arc<[u8]>,
    pub layer: Layer,
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
        (&*found.bytes, found.layer).hash(&mut hasher);
        Some(hasher.finish())
    }

    /// Internal names of all [`Layer::App`] classes, sorted.
    fn app_classes(&self) -> Vec<String>;

    /// All resources of this name (`META-INF/services/…`), in class-path order.
    fn resources(&self, path: &str) -> Vec<Vec<u8>>;
}
