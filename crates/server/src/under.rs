//! A program under analysis: what happens to it, in the order in which it happens. What clients are told, and how, is
//! decided elsewhere.

use crate::analyst::{Analyst, Left, QUIET, Tell};
use crate::desk::{Event, Work};
use crate::follower;
use crate::questions::{Answerer, Offered, Question};
use crate::telling::{Cost, Telling};
use findings::{Note, Report};
use live::{Live, LiveSource};
use project::{Build, Config, Project, Watched};
use session::{Cancel, Change, Session};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;
use workspace::{Kept, Program, Setup, Wanted};

/// A program under analysis.
pub struct Under {
    setup: Setup,
    wanted: Wanted,
    live: Live,
    source: Arc<LiveSource>,
    /// The project as it was opened, or kept last.
    opened: Arc<Project>,
    /// Whose tools may be asked.
    builds: Vec<Build>,
    session: Session,
    kept: Option<Kept>,
    /// Classes of an update that was given up, and whether resources are among them.
    overtaken: Option<(Vec<String>, bool)>,
    is_kept: bool,
    telling: Telling,
    /// Fixes that were tried, by finding.
    fixes: Offered,
    _follower: follower::Follower,
}

impl Under {
    /// What is to be analysed, or why there is nothing.
    pub fn open(analyst: &Analyst) -> Result<Under, (String, &'static str)> {
        if analyst.failure.is_none() {
            (analyst.tell)(Tell::Progress("opening the project", 0));
        }
        let config = match Config::find(&analyst.root).map(|file| Config::read(&file)).transpose() {
            Ok(config) => config.unwrap_or_default(),
            Err(error) => {
                (analyst.tell)(Tell::Note(error.to_string()));
                Config::default()
            }
        };
        let setup = analyst.settings.setup(&analyst.root, config);
        let wanted = Wanted::new(&setup).map_err(|error| (format!("{error:#}"), "config"))?;
        let watched = Watched::open_for_editing(&setup.request).map_err(|error| {
            let is_jdk = matches!(error, project::Error::NoJdk(_) | project::Error::BadJdk(..));
            let reason = if is_jdk { "no-jdk" } else { "project" };
            (error.to_string(), reason)
        })?;
        let (project, modules) = (watched.project().clone(), watched.modules().to_vec());
        let builds = watched.builds().to_vec();
        let compiler = analyst.launching.compiler(project.jdk());
        let follower = follower::follow(watched, analyst.desk.clone());
        let mut live = Live::new(compiler, project.clone(), modules);
        (analyst.tell)(Tell::Progress("compiling", 0));
        let texts =
            analyst.open.iter().map(|(path, (_, text))| live::Event::Text(path.clone(), text.clone()));
        let followed = live.follow(texts.collect());
        if let Some(failure) = followed.failure {
            (analyst.tell)(Tell::Note(failure.to_string()));
        }
        if let Some(note) = not_understood(&live, &project, analyst) {
            (analyst.tell)(Tell::Note(note));
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
            builds,
            session,
            kept,
            overtaken: None,
            is_kept: false,
            telling: Telling::default(),
            fixes: BTreeMap::new(),
            _follower: follower,
        };
        analyst.open.iter().for_each(|(path, (_, text))| under.wanted.hold(path, text.clone()));
        Ok(under)
    }

    pub fn serve(&mut self, analyst: &mut Analyst) -> Left {
        self.first(analyst);
        self.ask_build_tools(analyst);
        loop {
            match analyst.desk.take(analyst.settings.debounce, QUIET) {
                Work::End => return Left::Ended,
                Work::Anew => {
                    analyst.asking.forget();
                    return Left::Anew;
                }
                Work::Settings(settings) => {
                    let is_same = settings.analyses_as(&analyst.settings);
                    analyst.settings = settings;
                    if !is_same {
                        return Left::Anew;
                    }
                    let report = self.session.report();
                    self.tell(&report, &[], true, Cost::begin(), analyst);
                    self.ask_build_tools(analyst);
                }
                Work::Follow(mut events, cancel) => {
                    analyst.note_texts(&events);
                    let others = events.extract_if(.., |event| matches!(event, Event::Builds(_)));
                    let builds = others.filter_map(|event| match event {
                        Event::Builds(builds) => Some(builds),
                        _ => None,
                    });
                    let builds = builds.last();
                    self.follow(events, &cancel, analyst);
                    if let Some(builds) = builds {
                        self.builds = builds;
                        self.ask_build_tools(analyst);
                    }
                }
                Work::Answer(question) => self.answer(question, analyst),
                Work::Idle => {
                    self.wanted.trust_files(false);
                    self.keep();
                }
            }
        }
    }

    /// For class paths, while everything else goes on with what can be read here.
    fn ask_build_tools(&self, analyst: &Analyst) {
        if analyst.settings.asks_build_tools {
            analyst.asking.ask(&self.builds, self.opened.jdk(), &analyst.launching, &analyst.tell);
        } else {
            analyst.asking.stop();
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
                    self.telling.pictures.forget(path);
                }
                Event::Closed(path) => {
                    self.wanted.release(path);
                    self.telling.pictures.forget(path);
                }
                Event::Files(_) => self.telling.pictures.forget_all(),
                Event::Builds(_) => {}
            }
        }
        let is_files = |event: &Event| matches!(event, Event::Files(_));
        let (has_files, only_files) = (events.iter().any(is_files), events.iter().all(is_files));
        if has_files {
            self.wanted.trust_files(false);
        }
        let followed = self.live.follow(events.into_iter().filter_map(of_live).collect());
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
        selected.findings = selected.told(analyst.settings.least(&self.setup.config)).cloned().collect();
        // Until something tells of files, or nothing happens for a while.
        self.wanted.trust_files(true);
        cost.add("select", selecting.elapsed().as_secs_f64());
        let told = self.telling.tell(selected.findings, &project, is_whole, cost, analyst);
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
            shown: &self.telling.last,
            pictures: &self.telling.pictures,
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
        let is_behind = self.overtaken.is_some() || !self.session.is_sure_of_problems();
        if is_behind || std::mem::replace(&mut self.is_kept, true) {
            return;
        }
        // Under the name of the classes as they are.
        if !Arc::ptr_eq(&self.opened, self.source.project()) {
            self.opened = self.source.project().clone();
            self.kept = Kept::of(&self.opened, &self.setup);
        }
        if let Some(kept) = &self.kept {
            kept.keep_state(&mut self.session);
            kept.keep_silent(&self.wanted.silent());
            if self.live.is_as_built() {
                let report = Report { stats: self.session.stats(), ..Report::clone(&self.session.report()) };
                kept.keep(&workspace::with_notes(report, &self.opened));
            }
        }
    }
}

/// Which sources cannot be compiled that nobody is at work on: no findings in them is no good news.
fn not_understood(live: &Live, project: &Project, analyst: &Analyst) -> Option<String> {
    let broken: Vec<String> = live
        .broken()
        .filter(|path| !analyst.open.contains_key(*path))
        .map(|path| project.shown(path))
        .collect();
    let (first, others) = broken.split_first()?;
    let (files, are) = if others.is_empty() { ("source", "is") } else { ("sources", "are") };
    Some(format!(
        "{} {files} cannot be compiled and {are} analysed only in part, such as {first}: are dependencies \
         missing, or has the project to be built first?",
        broken.len()
    ))
}

/// Notes without which a reader would take an empty report for a clean program.
fn important(notes: &[Note]) -> impl Iterator<Item = &Note> {
    const KINDS: [&str; 2] = ["unknown-entry-point", "baseline-version"];
    notes.iter().filter(|note| KINDS.contains(&note.kind.as_str()))
}

fn of_live(event: Event) -> Option<live::Event> {
    match event {
        Event::Text { path, text, .. } => Some(live::Event::Text(path, text)),
        Event::Closed(path) => Some(live::Event::Closed(path)),
        Event::Files(files) => Some(live::Event::Files(files)),
        Event::Builds(_) => None,
    }
}
