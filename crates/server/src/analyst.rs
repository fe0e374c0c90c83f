//! The thread that analyses one folder: opens it, follows texts and files, and tells what comes of it. The order of
//! events, nothing more; what clients are told, and how, is decided elsewhere.

use crate::desk::{Desk, Event, Work};
use crate::follower;
use crate::launching::Launching;
use crate::questions::{Answerer, Question};
use crate::settings::Settings;
use crate::told::{Diagnostic, Open, Pictures, Told, words};
use findings::{Finding, FindingsDelta, Note, Report};
use live::{Live, LiveSource};
use project::{Config, Project, Watched};
use serde_json::{Value, json};
use session::{Cancel, Change, Session};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use workspace::{Kept, Program, Setup, Wanted};

/// Where there is nothing to analyse, it is looked at again this often.
const AGAIN: Duration = Duration::from_secs(5);
/// When nothing has happened for so long, what was found out is kept for the next time.
const QUIET: Duration = Duration::from_secs(5);
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
    Answer(Value, Result<Value, String>),
}

pub struct Analyst {
    pub root: PathBuf,
    pub settings: Settings,
    pub launching: Launching,
    pub desk: Arc<Desk>,
    pub tell: Box<dyn Fn(Tell) + Send + Sync>,
    /// Texts that are open, with their versions.
    pub open: BTreeMap<PathBuf, (i32, Arc<str>)>,
    /// Why there was nothing to analyse when that was last tried.
    pub failure: Option<String>,
}

/// Why an analysis was left.
enum Left {
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
        match self.open() {
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

    fn note_texts(&mut self, events: &[Event]) {
        for event in events {
            match event {
                Event::Text { path, version, text } => {
                    self.open.insert(path.clone(), (*version, text.clone()));
                }
                Event::Closed(path) => _ = self.open.remove(path),
                Event::Files(_) => {}
            }
        }
    }

    fn open(&self) -> Result<Under, (String, &'static str)> {
        if self.failure.is_none() {
            (self.tell)(Tell::Progress("opening the project", 0));
        }
        let config = match Config::find(&self.root).map(|file| Config::read(&file)).transpose() {
            Ok(config) => config.unwrap_or_default(),
            Err(error) => {
                (self.tell)(Tell::Note(error.to_string()));
                Config::default()
            }
        };
        let setup = self.settings.setup(&self.root, config);
        let wanted = Wanted::new(&setup).map_err(|error| (format!("{error:#}"), "config"))?;
        let watched = Watched::open_for_editing(&setup.request).map_err(|error| {
            let is_jdk = matches!(error, project::Error::NoJdk(_) | project::Error::BadJdk(..));
            let reason = if is_jdk { "no-jdk" } else { "project" };
            (error.to_string(), reason)
        })?;
        let (project, modules) = (watched.project().clone(), watched.modules().to_vec());
        let compiler = self.launching.compiler(project.jdk());
        let follower = follower::follow(watched, self.desk.clone());
        let mut live = Live::new(compiler, project.clone(), modules);
        (self.tell)(Tell::Progress("compiling", 0));
        let texts = self.open.iter().map(|(path, (_, text))| live::Event::Text(path.clone(), text.clone()));
        let followed = live.follow(texts.collect());
        if let Some(failure) = followed.failure {
            (self.tell)(Tell::Note(failure.to_string()));
        }
        let kept = Kept::of(&project, &setup);
        let session = workspace::session(followed.source.clone(), &setup, kept.is_some())
            .map_err(|error| (format!("{error:#}"), "config"))?;
        let mut under = Under {
            setup,
            wanted,
            live,
            source: followed.source,
            opened: project,
            session,
            kept,
            last: Vec::new(),
            delta: None,
            overtaken: None,
            is_kept: false,
            pictures: Pictures::default(),
            fixes: BTreeMap::new(),
            _follower: follower,
        };
        self.open.iter().for_each(|(path, (_, text))| under.wanted.hold(path, text.clone()));
        Ok(under)
    }
}

/// A program under analysis.
struct Under {
    setup: Setup,
    wanted: Wanted,
    live: Live,
    source: Arc<LiveSource>,
    /// The project as it was opened.
    opened: Arc<Project>,
    session: Session,
    kept: Option<Kept>,
    /// What was shown last.
    last: Vec<Arc<Finding>>,
    delta: Option<Value>,
    /// Classes of an update that was given up, and whether resources are among them.
    overtaken: Option<(Vec<String>, bool)>,
    is_kept: bool,
    pictures: Pictures,
    /// Fixes that were tried, by finding.
    fixes: BTreeMap<String, Vec<(String, Value)>>,
    _follower: follower::Follower,
}

impl Under {
    fn serve(&mut self, analyst: &mut Analyst) -> Left {
        self.first(analyst);
        loop {
            match analyst.desk.take(analyst.settings.debounce, QUIET) {
                Work::End => return Left::Ended,
                Work::Anew => return Left::Anew,
                Work::Settings(settings) => {
                    let is_same = settings.analyses_as(&analyst.settings);
                    analyst.settings = settings;
                    if !is_same {
                        return Left::Anew;
                    }
                    let report = self.session.report();
                    self.tell(&report, &[], true, Cost::begin(), analyst);
                }
                Work::Follow(events, cancel) => {
                    analyst.note_texts(&events);
                    self.follow(events, &cancel, analyst);
                }
                Work::Answer(question) => self.answer(question, analyst),
                Work::Idle => {
                    self.wanted.trust_files(false);
                    self.keep();
                }
            }
        }
    }

    /// The first analysis; what is known early is told early.
    fn first(&mut self, analyst: &mut Analyst) {
        let cost = Cost::begin();
        let kept = self.kept.take();
        let progress = |stage: &'static str, done: u64| (analyst.tell)(Tell::Progress(stage, done));
        if let Some(kept) = &kept {
            kept.recall(&mut self.session);
            self.wanted.recall(kept.silent());
        }
        let known = kept.as_ref().filter(|_| self.live.is_as_built()).and_then(Kept::report);
        if let Some(report) = &known {
            self.tell(report, &[], false, cost.clone(), analyst);
        }
        let early = self.session.first_look(&progress);
        if let Some(report) = early.filter(|_| known.is_none()) {
            self.tell(&report, &[], false, cost.clone(), analyst);
        }
        let report = workspace::rest(&mut self.session, kept.as_ref(), &progress);
        self.kept = kept;
        self.tell(&report, &[], true, cost, analyst);
    }

    fn follow(&mut self, events: Vec<Event>, cancel: &Cancel, analyst: &mut Analyst) {
        let mut cost = Cost::begin();
        self.fixes.clear();
        for event in &events {
            match event {
                Event::Text { path, text, .. } => {
                    self.wanted.hold(path, text.clone());
                    self.pictures.forget(path);
                }
                Event::Closed(path) => {
                    self.wanted.release(path);
                    self.pictures.forget(path);
                }
                Event::Files(_) => self.pictures.forget_all(),
            }
        }
        let is_files = |event: &Event| matches!(event, Event::Files(_));
        let (has_files, only_files) = (events.iter().any(is_files), events.iter().all(is_files));
        if has_files {
            self.wanted.trust_files(false);
        }
        let followed = self.live.follow(events.into_iter().map(of_live).collect());
        cost.add("compile", followed.compiling);
        if let Some(failure) = followed.failure {
            (analyst.tell)(Tell::Note(failure.to_string()));
        }
        self.source = followed.source;
        let (mut classes, mut resources) = (followed.classes, followed.resources);
        if let Some((older, other)) = self.overtaken.take() {
            classes.extend(older);
            classes.sort();
            classes.dedup();
            resources |= other;
        }
        if !classes.is_empty() || resources {
            self.is_kept = false;
            let change = Change { source: self.source.clone(), classes: classes.clone(), resources };
            match self.session.apply(change, &|_, _| {}, cancel) {
                Some(update) => update.seconds.into_iter().for_each(|(stage, took)| cost.add(&stage, took)),
                None => {
                    self.overtaken = Some((classes, resources));
                    return;
                }
            }
        } else if only_files && self.is_kept {
            // Whoever looks at files because of what we have kept ourselves has nothing to tell.
            return;
        }
        let report = self.session.report();
        self.tell(&report, &classes, true, cost, analyst);
    }

    /// Tells what is wanted of a report.
    fn tell(
        &mut self,
        report: &Report,
        changed: &[String],
        is_whole: bool,
        mut cost: Cost,
        analyst: &Analyst,
    ) {
        let selecting = Instant::now();
        let project = self.source.project().clone();
        let program = Program { classes: &*self.source, project: &project };
        let mut selected = self.wanted.selected(report, &program, changed, &self.setup);
        let settings = &analyst.settings;
        let least = settings.least(&self.setup.config);
        selected.findings = selected.told(least).cloned().collect();
        // Until something tells of files, or nothing happens for a while.
        self.wanted.trust_files(true);
        cost.add("select", selecting.elapsed().as_secs_f64());
        let telling = Instant::now();
        let open = |path: &Path| analyst.open.get(path).map(|(_, text)| text.clone());
        self.pictures.draw(&selected.findings, &Open { project: &project, open: &open });
        let (mut findings, mut diagnostics) = (Vec::new(), BTreeMap::<PathBuf, Vec<Diagnostic>>::new());
        selected.findings.retain(|finding| {
            let Some(picture) = self.pictures.of(finding) else { return false };
            let is_shown =
                !settings.off.contains(&finding.rule) && !is_excluded(&picture.marks, settings, &project);
            if is_shown {
                findings.push(picture.value.clone());
                for (path, mark) in &picture.marks {
                    diagnostics.entry(path.clone()).or_default().push(mark.clone());
                }
            }
            is_shown
        });
        diagnostics.values_mut().for_each(|all| all.sort_by_key(|one| one.range.start));
        let now = Report { findings: selected.findings.clone(), ..Report::default() };
        let before = Report { findings: std::mem::replace(&mut self.last, selected.findings), ..now.clone() };
        let delta = FindingsDelta::between(&before, &now);
        cost.add("publish", telling.elapsed().as_secs_f64());
        let milliseconds = cost.milliseconds();
        if is_whole && (!delta.introduced.is_empty() || !delta.fixed.is_empty()) {
            let mut gone = Pictures::default();
            gone.draw(&delta.fixed, &Open { project: &project, open: &open });
            let all = |findings: &[Arc<Finding>], pictures: &Pictures| {
                let pictures = findings.iter().filter_map(|finding| pictures.of(finding));
                pictures.map(|picture| Value::clone(&picture.value)).collect::<Vec<_>>()
            };
            self.delta = Some(json!({
                "schema": 1, "text": words(&delta), "milliseconds": milliseconds,
                "introduced": all(&delta.introduced, &self.pictures), "fixed": all(&delta.fixed, &gone),
            }));
        }
        let told = Told {
            findings,
            diagnostics,
            texts: analyst.open.clone(),
            delta: self.delta.clone(),
            milliseconds,
            stages: cost.stages,
            is_whole,
        };
        (analyst.tell)(Tell::Told(Arc::new(told)));
        for note in important(&selected.notes) {
            (analyst.tell)(Tell::Note(note.message.clone()));
        }
    }

    fn answer(&mut self, question: Question, analyst: &Analyst) {
        let answer = Answerer {
            session: &mut self.session,
            live: &mut self.live,
            source: &mut self.source,
            wanted: &mut self.wanted,
            setup: &self.setup,
            shown: &self.last,
            pictures: &self.pictures,
            open: &analyst.open,
            settings: &analyst.settings,
            fixes: &mut self.fixes,
            is_overtaken: &|| analyst.desk.has_news(),
        }
        .answer(&question);
        (analyst.tell)(Tell::Answer(question.id, answer));
    }

    /// Keeps what was found out for the next time, once nobody waits.
    fn keep(&mut self) {
        if std::mem::replace(&mut self.is_kept, true) || !self.session.is_sure_of_problems() {
            return;
        }
        if let Some(kept) = &self.kept {
            kept.keep_state(&mut self.session);
            kept.keep_silent(&self.wanted.silent());
            // Under the name of the classes as they were when the project was opened.
            let is_as_opened = Arc::ptr_eq(&self.opened, self.source.project());
            if is_as_opened && self.live.is_as_built() {
                let report = Report { stats: self.session.stats(), ..Report::clone(&self.session.report()) };
                kept.keep(&workspace::with_notes(report, &self.opened));
            }
        }
    }
}

/// Findings of which every place is in a file that is left out.
fn is_excluded(marks: &[(PathBuf, Diagnostic)], settings: &Settings, project: &Project) -> bool {
    let is_out = |path: &Path| {
        let shown = project.shown(path);
        settings.exclude.iter().any(|glob| findings::is_like(glob, &shown))
    };
    !marks.is_empty() && marks.iter().all(|(path, _)| is_out(path))
}

/// Notes without which a reader would take an empty report for a clean program.
fn important(notes: &[Note]) -> impl Iterator<Item = &Note> {
    const KINDS: [&str; 2] = ["unknown-entry-point", "baseline-version"];
    notes.iter().filter(|note| KINDS.contains(&note.kind.as_str()))
}

fn of_live(event: Event) -> live::Event {
    match event {
        Event::Text { path, text, .. } => live::Event::Text(path, text),
        Event::Closed(path) => live::Event::Closed(path),
        Event::Files(files) => live::Event::Files(files),
    }
}

/// Seconds of an update, by stage.
#[derive(Clone)]
struct Cost {
    began: Instant,
    stages: Vec<(String, f64)>,
}

impl Cost {
    fn begin() -> Cost {
        Cost { began: Instant::now(), stages: Vec::new() }
    }

    fn add(&mut self, stage: &str, seconds: f64) {
        self.stages.push((stage.to_owned(), seconds * 1e3));
    }

    fn milliseconds(&self) -> f64 {
        self.began.elapsed().as_secs_f64() * 1e3
    }
}
