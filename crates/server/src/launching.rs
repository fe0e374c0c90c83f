//! Where the compiler process is found and how it is started. Knows nothing of what it is for.

use compiler::{Compiler, Launch, Patience};
use project::Jdk;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::{fs, thread};

/// What the process runs on at least.
const OLDEST: u32 = 17;
pub const JAVA: &str = if cfg!(windows) { "java.exe" } else { "java" };

/// What only the program itself knows.
#[derive(Debug, Clone, Default)]
pub struct Launching {
    /// Directories that may have the jars of the compiler process, the best first.
    pub jars: Vec<PathBuf>,
    /// Where its class-data archive is kept; nowhere if nothing is said.
    pub cache: Option<PathBuf>,
}

impl Launching {
    /// The directory with the jars.
    pub fn directory(&self) -> PathBuf {
        let has_jars = |directory: &&PathBuf| directory.join("snarl-compiler.jar").is_file();
        self.jars.iter().find(has_jars).or(self.jars.first()).cloned().unwrap_or_default()
    }

    /// For a project with this JDK.
    pub fn compiler(&self, jdk: &Jdk) -> Compiler {
        let jars = self.directory();
        // The JDK of the project may be too old to run it; then the one on the path has to do.
        let own = jdk.home.join("bin").join(JAVA);
        let java = if jdk.feature >= OLDEST && own.is_file() { own } else { PathBuf::from(JAVA) };
        let launch = Launch::new(&java, &jars);
        Compiler::new(self.with_archive(launch, &java, &jars), Patience::default())
    }

    /// With the archive if there is one; otherwise one is made for the next time.
    fn with_archive(&self, launch: Launch, java: &Path, jars: &Path) -> Launch {
        let Some(cache) = &self.cache else { return launch };
        let directory = cache.join(format!("compiler-{:016x}", identity(java, jars)));
        if Launch::has_archive(&directory) {
            return launch.clone().with_archive(&directory).unwrap_or(launch);
        }
        let later = launch.clone();
        thread::spawn(move || {
            if fs::create_dir_all(&directory).is_ok() {
                let _ = later.with_archive(&directory);
            }
        });
        launch
    }
}

/// An archive is good for one java and one build of the jars.
fn identity(java: &Path, jars: &Path) -> u64 {
    let mut hasher = DefaultHasher::new();
    let stamp = |path: &Path| {
        let metadata = fs::metadata(path).ok()?;
        Some((metadata.len(), metadata.modified().ok()?))
    };
    (java, stamp(java), jars).hash(&mut hasher);
    ["snarl-compiler.jar", "ecj.jar"].map(|jar| stamp(&jars.join(jar))).hash(&mut hasher);
    hasher.finish()
}
