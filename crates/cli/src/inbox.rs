//! What happens to the files while the analysis is busy: one thread looks at them and puts changes in, the other takes
//! all there are at once. Knows nothing of what is made of them.

use project::{Project, Refresh, Watched};
use session::Cancel;
use std::collections::BTreeSet;
use std::panic;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// However quiet it is, files are looked at this often: a report of the system may be lost.
const AT_LEAST: Duration = Duration::from_secs(30);

pub struct Inbox {
    shared: Arc<Shared>,
    follower: Option<JoinHandle<()>>,
}

/// Everything since the inbox was emptied last.
pub struct News {
    /// The program as it is now.
    pub project: Arc<Project>,
    /// Internal names of classes that came, changed or went.
    pub classes: BTreeSet<String>,
    /// Whether other files than classes changed.
    pub resources: bool,
    /// Files that are being written, or have vanished and are waited for.
    pub unsettled: Vec<PathBuf>,
    /// Seconds it took to look at the files, and to compile them.
    pub seconds: f64,
    /// Seconds of updates that were given up for newer news.
    pub overtaken: f64,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    arrived: Condvar,
}

#[derive(Default)]
struct State {
    news: Option<News>,
    /// Of the update that runs with the news taken last.
    running: Cancel,
    /// Nobody puts anything in any more.
    ended: bool,
}

impl Inbox {
    /// Follows the files in a thread of its own from here on.
    pub fn following(watched: Watched) -> Inbox {
        let shared = Arc::<Shared>::default();
        let end = End(shared.clone());
        let follower = thread::spawn(move || follow(watched, &end.0));
        Inbox { shared, follower: Some(follower) }
    }

    /// Waits for news. Whoever works with them is told by the [`Cancel`] when they are overtaken, and then finds newer
    /// ones here.
    pub fn take(&mut self) -> (News, Cancel) {
        let mut state = self.shared.state();
        loop {
            if let Some(news) = state.news.take() {
                state.running = Cancel::default();
                return (news, state.running.clone());
            }
            if state.ended {
                break;
            }
            state = self.shared.arrived.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        drop(state);
        match self.follower.take().map(JoinHandle::join) {
            Some(Err(panic)) => panic::resume_unwind(panic),
            _ => unreachable!("files are followed without end"),
        }
    }
}

impl News {
    fn of(refresh: Refresh, seconds: f64) -> News {
        News {
            project: refresh.project,
            classes: refresh.classes.into_iter().map(|class| class.name).collect(),
            resources: refresh.resources,
            unsettled: refresh.unsettled,
            seconds,
            overtaken: 0.0,
        }
    }

    /// Whether the program is another one.
    pub fn is_change(&self) -> bool {
        self.resources || !self.classes.is_empty()
    }

    /// What these and the newer ones say together.
    pub fn and(mut self, newer: News) -> News {
        self.classes.extend(newer.classes);
        News {
            classes: self.classes,
            resources: self.resources || newer.resources,
            seconds: self.seconds + newer.seconds,
            overtaken: self.overtaken + newer.overtaken,
            ..newer
        }
    }
}

impl Shared {
    fn put(&self, news: News) {
        let mut state = self.state();
        if news.is_change() {
            state.running.cancel();
        }
        state.news = Some(match state.news.take() {
            Some(older) => older.and(news),
            None => news,
        });
        self.arrived.notify_one();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn follow(mut watched: Watched, shared: &Shared) {
    loop {
        let now = Instant::now();
        let refresh = watched.refresh(now);
        let again = refresh.again.unwrap_or(AT_LEAST);
        shared.put(News::of(refresh, now.elapsed().as_secs_f64()));
        watched.wait(again);
    }
}

/// Tells the other side when this one is gone, even by a panic.
struct End(Arc<Shared>);

impl Drop for End {
    fn drop(&mut self) {
        self.0.state().ended = true;
        self.0.arrived.notify_one();
    }
}
