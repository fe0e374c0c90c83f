//! Asks the build tools of a folder's projects for class paths, in a thread of its own and once for each state of the
//! build. The answer is kept in the project; whoever follows its files notices.

use crate::analyst::Tell;
use crate::launching::{JAVA, Launching};
use buildtool::Tool;
use project::{Build, Environment, Jdk};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

type Teller = Arc<dyn Fn(Tell) + Send + Sync>;

#[derive(Default)]
pub struct Asking {
    /// The fingerprint of each build that was asked about last.
    asked: BTreeMap<PathBuf, String>,
    /// What was found out before does not count.
    is_anew: bool,
    /// Ends those that are still at it.
    is_over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Drop for Asking {
    /// No tool is left running.
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.threads.drain(..).for_each(|thread| _ = thread.join());
    }
}

impl Asking {
    /// Asks about everything again, even about what is known.
    pub fn forget(&mut self) {
        *self = Asking::default();
        self.is_anew = true;
    }

    /// About those of these directories that have a build of which too little is known.
    pub fn ask(&mut self, roots: &[PathBuf], jdk: &Jdk, launching: &Launching, tell: &Teller) {
        let environment = Environment::current();
        for build in roots.iter().filter_map(|root| Build::at(root)) {
            let before = self.asked.insert(build.root().to_path_buf(), build.fingerprint.clone());
            let is_asked = before.as_ref() == Some(&build.fingerprint);
            if is_asked || build.is_known && !self.is_anew {
                continue;
            }
            let Some(tool) = Tool::of(build.root(), &environment) else {
                let place = build.root().display();
                tell(Tell::Log(format!("{place}: no build tool is there to ask for class paths")));
                continue;
            };
            let is_java = |directory: &PathBuf| directory.join(JAVA).is_file();
            let has_java = environment.java_home.is_some() || environment.path.iter().any(is_java);
            let java = (!has_java).then(|| jdk.home.clone());
            let (jars, is_over, tell) = (launching.directory(), self.is_over.clone(), tell.clone());
            self.threads.push(thread::spawn(move || {
                let answer = tool.ask(build.root(), &jars, java.as_deref(), &is_over);
                let kept = answer.map_err(|failure| failure.to_string()).and_then(|answer| {
                    build.keep(&answer).map_err(|error| format!("class paths cannot be kept: {error}"))
                });
                let place = build.root().display();
                let words = match kept {
                    Ok(true) => format!("{place}: {} has told the class paths", tool.name()),
                    Ok(false) => format!("{place}: {} tells the same class paths as before", tool.name()),
                    Err(_) if is_over.load(Ordering::Relaxed) => return,
                    Err(why) => format!("{place}: {why}"),
                };
                tell(Tell::Log(words));
            }));
        }
    }
}
