//! The thread that analyses one folder, again and again until it ends: where there is nothing to analyse it waits, and
//! after a mistake of our own it begins anew. Knows nothing of what an analysis is.

use crate::asking::Asking;
use crate::desk::{Desk, Event, Work};
use crate::launching::Launching;
use crate::settings::Settings;
use crate::told::Told;
use crate::under::Under;
use serde_json::Value;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Where there is nothing to analyse, it is looked at again this often.
const AGAIN: Duration = Duration::from_secs(5);
/// When nothing has happened for so long, what was found out is kept for the next time.
pub const QUIET: Duration = Duration::from_secs(5);
/// After so many mistakes of our own it is better to stop.
const MOST_CRASHES: usize = 3;

/// What the thread tells.
pub enum Tell {
    /// What it is at: a stage, and how much of it is done.
    Progress(&'static str, u64),
    Told(Arc<Told>),
    /// There is nothing to tell, and why.
    Failed {
        message: String,
        reason: &'static str,
    },
    /// Something that the user should know.
    Note(String),
    /// Something that may help to find out why things are as they are.
    Log(String),
    Answer(Value, Result<Value, String>),
}

pub struct Analyst {
    pub root: PathBuf,
    pub settings: Settings,
    pub launching: Launching,
    pub desk: Arc<Desk>,
    pub tell: Arc<dyn Fn(Tell) + Send + Sync>,
    pub asking: Asking,
    /// Texts that are open, with their versions.
    pub open: BTreeMap<PathBuf, (i32, Arc<str>)>,
    /// Why there was nothing to analyse when that was last tried.
    pub failure: Option<String>,
}

/// Why an analysis was left.
pub enum Left {
    Ended,
    Anew,
}

impl Analyst {
    /// Returns when the desk has ended.
    pub fn run(mut self) {
        let mut crashes = 0;
        loop {
            match catch_unwind(AssertUnwindSafe(|| self.analyse())) {
                Ok(Left::Ended) => return,
                Ok(Left::Anew) => {}
                Err(panic) => {
                    crashes += 1;
                    let words = panic.downcast_ref::<String>().map(String::as_str);
                    let words = words.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
                    let message = format!("Snarl has made a mistake, and begins anew: {words}");
                    (self.tell)(Tell::Failed { message, reason: "crash" });
                    if crashes >= MOST_CRASHES && matches!(self.wait(Duration::MAX), Left::Ended) {
                        return;
                    }
                }
            }
        }
    }

    fn analyse(&mut self) -> Left {
        match Under::open(self) {
            Ok(mut under) => {
                self.failure = None;
                under.serve(self)
            }
            Err((message, reason)) => {
                // Whoever tries again and again says so once.
                if self.failure.replace(message.clone()).as_ref() != Some(&message) {
                    (self.tell)(Tell::Failed { message, reason });
                }
                self.wait(AGAIN)
            }
        }
    }

    /// Until something happens that may make a difference.
    fn wait(&mut self, most: Duration) -> Left {
        let until = Instant::now().checked_add(most);
        loop {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            match self.desk.take(Duration::ZERO, left.unwrap_or(QUIET)) {
                Work::End => return Left::Ended,
                Work::Settings(settings) => {
                    self.settings = settings;
                    return Left::Anew;
                }
                Work::Anew => return Left::Anew,
                Work::Follow(events, _) => {
                    self.note_texts(&events);
                    if until.is_some() {
                        return Left::Anew;
                    }
                }
                Work::Answer(question) => (self.tell)(Tell::Answer(question.id, Ok(Value::Null))),
                Work::Idle if until.is_some() => return Left::Anew,
                Work::Idle => {}
            }
        }
    }

    pub fn note_texts(&mut self, events: &[Event]) {
        for event in events {
            match event {
                Event::Text { path, version, text } => {
                    self.open.insert(path.clone(), (*version, text.clone()));
                }
                Event::Closed(path) => _ = self.open.remove(path),
                Event::Files(_) | Event::Builds(_) => {}
            }
        }
    }
}
