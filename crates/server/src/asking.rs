//! Asks the build tools of a folder's projects for class paths, each in a thread of its own and once for each state of
//! its build. The answer is kept in the project; whoever follows its files notices.

use crate::analyst::Tell;
use crate::launching::{JAVA, Launching};
use buildtool::Tool;
use project::{Build, Environment, Jdk};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

type Teller = Arc<dyn Fn(Tell) + Send + Sync>;

/// Shared by the thread that asks and the one that ends it.
#[derive(Clone, Default)]
pub struct Asking(Arc<Mutex<Asked>>);

#[derive(Default)]
struct Asked {
    builds: BTreeMap<PathBuf, Running>,
    /// What was found out before does not count.
    is_anew: bool,
    has_ended: bool,
}

/// A build that was asked about last, and the thread that may still be at it.
struct Running {
    fingerprint: String,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Running {
    /// No tool is left running.
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.take().into_iter().for_each(|thread| _ = thread.join());
    }
}

impl Asking {
    /// Asks about everything again, even about what is known.
    pub fn forget(&self) {
        let mut asked = self.lock();
        asked.builds.clear();
        asked.is_anew = true;
    }

    pub fn stop(&self) {
        self.lock().builds.clear();
    }

    /// Nobody is asked any more.
    pub fn end(&self) {
        let mut asked = self.lock();
        asked.builds.clear();
        asked.has_ended = true;
    }

    /// About those builds of which too little is known.
    pub fn ask(&self, builds: &[Build], jdk: &Jdk, launching: &Launching, tell: &Teller) {
        let environment = Environment::current();
        let is_java = |directory: &PathBuf| directory.join(JAVA).is_file();
        let has_java = environment.java_home.is_some() || environment.path.iter().any(is_java);
        let java = (!has_java).then(|| jdk.home.clone());
        let mut asked = self.lock();
        for build in builds {
            let before = asked.builds.get(build.root());
            let is_asked = before.is_some_and(|before| before.fingerprint == build.fingerprint);
            if asked.has_ended || is_asked || build.is_known && !asked.is_anew {
                continue;
            }
            // One that is still asked about an earlier state is asked in vain.
            asked.builds.remove(build.root());
            let is_over = Arc::new(AtomicBool::new(false));
            let thread = Tool::of(build.root(), &environment).map(|tool| {
                let (build, jars, java) = (build.clone(), launching.directory(), java.clone());
                let (is_over, tell) = (is_over.clone(), tell.clone());
                thread::spawn(move || {
                    let words = ask(&tool, &build, &jars, java.as_deref(), &is_over);
                    if !is_over.load(Ordering::Relaxed) {
                        tell(Tell::Log(words));
                    }
                })
            });
            if thread.is_none() {
                let place = build.root().display();
                tell(Tell::Log(format!("{place}: no build tool is there to ask for class paths")));
            }
            let fingerprint = build.fingerprint.clone();
            asked.builds.insert(build.root().to_path_buf(), Running { fingerprint, is_over, thread });
        }
    }

    fn lock(&self) -> MutexGuard<'_, Asked> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What came of it.
fn ask(tool: &Tool, build: &Build, jars: &Path, java: Option<&Path>, is_over: &AtomicBool) -> String {
    let answer = tool.ask(build.root(), jars, java, is_over);
    let kept = answer.map_err(|failure| failure.to_string()).and_then(|answer| {
        build.keep(&answer).map_err(|error| format!("class paths cannot be kept: {error}"))
    });
    let (place, name, program) = (build.root().display(), tool.name(), tool.program().display());
    match kept {
        Ok(true) => format!("{place}: {name} ({program}) has told the class paths"),
        Ok(false) => format!("{place}: {name} ({program}) tells the same class paths as before"),
        Err(why) => format!("{place}: {why}"),
    }
}
