//! Follows the files of a project in a thread of its own, and puts what has changed on the desk.

use crate::desk::{Desk, Event};
use live::Files;
use project::{SourceModule, Stamp, Watched};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// However quiet it is, files are looked at this often: a report of the system may be lost.
const AT_LEAST: Duration = Duration::from_secs(30);
/// So long at most until it is noticed that nobody listens.
const A_WHILE: Duration = Duration::from_secs(2);

/// Ends the thread when it is dropped.
pub struct Follower(Arc<AtomicBool>);

impl Drop for Follower {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

pub fn follow(mut watched: Watched, desk: Arc<Desk>) -> Follower {
    let end = Arc::new(AtomicBool::new(false));
    let is_over = end.clone();
    thread::spawn(move || {
        let mut due = Instant::now() + AT_LEAST;
        let mut modules = watched.modules().to_vec();
        let mut stamps = stamps(&modules);
        let mut builds = watched.builds().to_vec();
        while !is_over.load(Ordering::Relaxed) && !desk.has_ended() {
            let left = due.saturating_duration_since(Instant::now());
            if !watched.wait(left.min(A_WHILE)) && !left.is_zero() {
                continue;
            }
            let now = Instant::now();
            let refresh = watched.refresh(now);
            due = now + refresh.again.unwrap_or(AT_LEAST);
            if refresh.builds != builds {
                builds.clone_from(&refresh.builds);
                desk.put(Event::Builds(refresh.builds));
            }
            let looked = self::stamps(&refresh.modules);
            let is_other = refresh.modules != modules || looked != stamps;
            if is_other || refresh.resources || !refresh.classes.is_empty() {
                (modules, stamps) = (refresh.modules.clone(), looked);
                desk.put(Event::Files(Files {
                    project: refresh.project,
                    modules: refresh.modules,
                    classes: refresh.classes.into_iter().map(|class| class.name).collect(),
                    resources: refresh.resources,
                }));
            }
        }
    });
    Follower(end)
}

/// By which other sources are noticed.
fn stamps(modules: &[SourceModule]) -> Vec<Option<Stamp>> {
    let sources = modules.iter().flat_map(|module| &module.sources);
    sources.map(|path| Stamp::of(path).ok()).collect()
}
