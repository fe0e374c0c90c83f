//! Where class bytes come from, as the analysis sees it. Directories, jars and JDK images implement this
//! elsewhere; nothing here touches a file.

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

    /// Internal names of all [`Layer::App`] classes, sorted.
    fn app_classes(&self) -> Vec<String>;

    /// All resources of this name (`META-INF/services/…`), in class-path order.
    fn resources(&self, path: &str) -> Vec<Vec<u8>>;
}
