//! Where work waits for the thread that analyses a folder: texts and files that changed, questions, and the wish to begin
//! anew. What is newer takes the place of what is older; knows nothing of what is made of it.

use crate::questions::Question;
use crate::settings::Settings;
use live::Files;
use project::Build;
use session::Cancel;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// However fast somebody types, after so many pauses' time the text is looked at.
const MOST_PAUSES: u32 = 8;

/// Something that has happened.
pub enum Event {
    Text {
        path: PathBuf,
        version: i32,
        text: Arc<str>,
    },
    Closed(PathBuf),
    Files(Files),
    /// What its build tools may be asked about is otherwise now.
    Builds(Vec<Build>),
}

/// What is to be done next.
pub enum Work {
    Follow(Vec<Event>, Cancel),
    Answer(Question),
    Settings(Settings),
    /// Everything from nothing.
    Anew,
    /// Nothing has happened for a while.
    Idle,
    End,
}

#[derive(Default)]
pub struct Desk {
    waiting: Mutex<Waiting>,
    arrived: Condvar,
}

#[derive(Default)]
struct Waiting {
    events: Vec<Event>,
    questions: VecDeque<Question>,
    settings: Option<Settings>,
    is_anew: bool,
    has_ended: bool,
    /// Of the update that runs.
    running: Cancel,
    /// When the first and the last text of those that wait have come.
    texts: Option<(Instant, Instant)>,
}

impl Desk {
    pub fn put(&self, event: Event) {
        let mut waiting = self.lock();
        if let Event::Text { path, .. } = &event {
            let now = Instant::now();
            let first = waiting.texts.map_or(now, |(first, _)| first);
            waiting.texts = Some((first, now));
            waiting.events.retain(|other| !matches!(other, Event::Text { path: old, .. } if old == path));
        }
        if !matches!(event, Event::Builds(_)) {
            waiting.running.cancel();
        }
        waiting.events.push(event);
        self.arrived.notify_one();
    }

    pub fn ask(&self, question: Question) {
        self.lock().questions.push_back(question);
        self.arrived.notify_one();
    }

    /// Takes back a question that has not been answered yet. Whether there was one.
    pub fn take_back(&self, id: &serde_json::Value) -> bool {
        let mut waiting = self.lock();
        let before = waiting.questions.len();
        waiting.questions.retain(|question| question.id != *id);
        waiting.questions.len() < before
    }

    pub fn set(&self, settings: Settings) {
        self.lock().settings = Some(settings);
        self.arrived.notify_one();
    }

    pub fn anew(&self) {
        let mut waiting = self.lock();
        waiting.is_anew = true;
        waiting.running.cancel();
        self.arrived.notify_one();
    }

    pub fn end(&self) {
        let mut waiting = self.lock();
        waiting.has_ended = true;
        waiting.running.cancel();
        self.arrived.notify_all();
    }

    /// Whether something has happened that nobody has looked at yet.
    pub fn has_news(&self) -> bool {
        !self.lock().events.is_empty()
    }

    pub fn has_ended(&self) -> bool {
        self.lock().has_ended
    }

    /// Waits for work, for texts until nobody has typed for as long as `pause`.
    pub fn take(&self, pause: Duration, idle: Duration) -> Work {
        let until = Instant::now() + idle;
        let mut waiting = self.lock();
        loop {
            if waiting.has_ended {
                return Work::End;
            }
            if let Some(settings) = waiting.settings.take() {
                return Work::Settings(settings);
            }
            if std::mem::take(&mut waiting.is_anew) {
                return Work::Anew;
            }
            let now = Instant::now();
            let ready = waiting.texts.map(|(first, last)| (last + pause).min(first + pause * MOST_PAUSES));
            let mut wait = until.saturating_duration_since(now);
            match ready {
                Some(ready) if ready > now => wait = wait.min(ready - now),
                _ if !waiting.events.is_empty() => {
                    waiting.texts = None;
                    waiting.running = Cancel::default();
                    let events = std::mem::take(&mut waiting.events);
                    return Work::Follow(events, waiting.running.clone());
                }
                _ => {
                    if let Some(question) = waiting.questions.pop_front() {
                        return Work::Answer(question);
                    }
                }
            }
            if until <= now {
                return Work::Idle;
            }
            let waited = self.arrived.wait_timeout(waiting, wait.max(Duration::from_millis(1)));
            waiting = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
