//! The façade over the analysis: a class path goes in, a report comes out. Knows nothing of files,
//! editors, JSON or terminals.

mod about;
mod annotated;
mod assumed;
mod edits;
mod engines;
mod entries;
mod follow;
mod kept;
mod merge;
mod needed;
mod notes;
mod overview;
mod redone;
mod sizes;
mod stage;
mod stats;
mod suggest;

pub use annotated::Annotated;
pub use assumed::unused_assumptions;
use bytes::Bytes;
use classfile::ClassSource;
use detect::Detect;
pub use edits::{PutBack, Statement, Verdict};
use engines::Beside;
pub use engines::{Engines, is_meaning};
use findings::{Confidence, Finding, FindingsDelta, Note, Report, Stats};
use happens_before::HappensBefore;
use ir::{ClassId, Loaded, Program, ProgramDelta};
pub use kept::KEPT_STATE;
use merge::Coverage;
pub use models::{Assumptions, ModelError};
use models::{Knowledge, Models};
use pointsto::{PointsTo, PointsToDelta, Roots};
pub use redone::Redone;
use rustc_hash::FxHashSet;
pub use stage::progress_text;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
pub use track::Sizes;
use track::{Changes, Kind, Read};

/// What the user may choose about an analysis.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Analyse JDK infrastructure too instead of treating it as opaque.
    pub full_jdk: bool,
    /// Class-name prefixes (dots or slashes) that are treated as opaque.
    pub exclude: Vec<String>,
    /// Classes whose `main` is an entry point; empty means every `main` of the application.
    pub mains: Vec<String>,
    /// `Class.method` entry points in addition.
    pub entries: Vec<String>,
    /// Races that are less sure than this are told in brief: without ways, locks and reasons.
    pub least: Confidence,
    /// Which engines look at the program.
    pub engines: Engines,
    /// Further annotations: what they mean, and their simple names.
    pub annotations: Vec<(String, String)>,
    /// What the settings assume about threads.
    pub assume: Assumptions,
    /// Facts the whole-program engine may work out for one solution; 0 means the default.
    pub budget: u64,
    /// For tests: methods of dependencies that may be reached for dependencies to be analysed.
    #[doc(hidden)]
    pub dependency_budget: Option<usize>,
    /// Worker threads; 0 means one per core.
    pub threads: usize,
    /// Changes will come ([`Session::apply`]): keep what following them takes.
    pub follow: bool,
    /// A later run will go on from here ([`Session::state`]).
    pub keep: bool,
}

impl Options {
    fn budget(&self) -> u64 {
        if self.budget == 0 { pointsto::Options::BUDGET } else { self.budget }
    }
}

/// One program under analysis, with the state of every stage.
pub struct Session {
    options: Options,
    program: Program,
    models: Models,
    /// What annotations and settings mean.
    knowledge: Knowledge,
    pointsto: PointsTo,
    happens_before: HappensBefore,
    detect: Detect,
    /// What the whole-program engine said last.
    report: Arc<Report>,
    coverage: Coverage,
    /// What the compositional engine said last.
    beside: Beside,
    /// What was summarised in an earlier run, until it is asked for.
    summaries: Option<Bytes>,
    /// The compositional engine has looked at the program already.
    is_ahead: bool,
    /// What both said together; readers keep it while the next one is worked out.
    told: Arc<Report>,
    /// Points-to is ahead of the other stages: an update was given up between them, or there was nowhere to begin.
    is_behind: bool,
    /// The entry points that were asked for are not there: nothing is reported but that.
    is_refused: bool,
    /// What changed before detection in updates that were given up there.
    unseen: Changes,
    /// Nobody wants to know more.
    is_points_to_only: bool,
    /// How many classes had been loaded then.
    loads: usize,
    pool: Option<rayon::ThreadPool>,
    shuffle: Option<u64>,
    tidies: bool,
}

/// What changed on the class path.
pub struct Change {
    /// The class path as it is now.
    pub source: Arc<dyn ClassSource>,
    /// Internal names of the classes whose bytes may have appeared, changed or gone.
    pub classes: Vec<String>,
    /// Whether other files than classes changed (`META-INF/services`).
    pub resources: bool,
}

/// What an update did.
#[derive(Debug, Clone, Default)]
pub struct Update {
    pub delta: FindingsDelta,
    /// Seconds per stage.
    pub seconds: Vec<(String, f64)>,
    /// Everything was worked out from nothing.
    pub from_scratch: bool,
    pub redone: Redone,
}

/// Tells an update that nobody waits for it any more: a newer change has come.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The stage whose work is the number of places where the program begins.
pub const ENTRY_POINTS: &str = "entry points";

/// Called as the run goes on: stage name, and a count of work done in it so far.
pub type Progress<'a> = &'a (dyn Fn(&'static str, u64) + Sync);

impl Session {
    pub fn new(source: Arc<dyn ClassSource>, options: Options) -> Session {
        let pool = workers(options.threads);
        let (follow, least) = (options.follow, options.least);
        let knowledge = engines::knowledge(&options);
        Session {
            options,
            knowledge,
            program: Program::new(source),
            models: Models::builtin(),
            pointsto: PointsTo::default(),
            happens_before: HappensBefore::new(follow),
            detect: Detect::new(follow, least),
            report: Arc::default(),
            coverage: Coverage::default(),
            beside: Beside::default(),
            summaries: None,
            is_ahead: false,
            told: Arc::default(),
            is_behind: false,
            is_refused: false,
            unseen: Changes::default(),
            is_points_to_only: false,
            loads: 0,
            pool,
            shuffle: None,
            tidies: false,
        }
    }

    /// For tests: what nobody needs any more is forgotten in every update, not only when there is much of it.
    #[doc(hidden)]
    pub fn tidy(&mut self) {
        self.tidies = true;
    }

    /// Puts a file of models on top of those there are; `file` is what its mistakes are reported under.
    pub fn add_models(&mut self, file: &str, text: &str) -> Result<(), ModelError> {
        self.models.add(file, text)
    }

    /// For tests: hands out ids in another order than a plain run does. The named classes are loaded first, in the
    /// order given; points-to takes its work in an order that depends on the seed.
    #[doc(hidden)]
    pub fn disorder(&mut self, classes: &[String], seed: u64) {
        for name in classes {
            let class = self.program.class_id(name);
            self.program.load(class);
        }
        self.shuffle = Some(seed);
    }

    /// For tests: the classes that are loaded.
    #[doc(hidden)]
    pub fn classes(&self) -> Vec<String> {
        let classes = (0..self.program.class_count()).map(|n| self.program.class(ClassId(n as u32)));
        let loaded = classes.filter(|class| class.loaded == Loaded::Yes);
        loaded.map(|class| self.program.names[class.name].to_string()).collect()
    }

    /// Analyses everything and reports all findings (every confidence; renderers filter; see [`Options::least`]). File names in the
    /// report are package path plus source file name (`bank/Account.java`); the caller maps them to sources.
    pub fn check(&mut self, progress: Progress<'_>) -> Report {
        self.in_pool(|session| {
            let mut clock = Clock::start();
            progress("classes", 0);
            session.summarise(progress);
            clock.laps_of(&session.beside);
            if session.options.engines == Engines::Compositional {
                return session.without_entry_points(clock);
            }
            let found = entries::find(&mut session.program, &session.options);
            clock.lap(ENTRY_POINTS);
            if !found.notes.is_empty() {
                return session.without_a_beginning(found.notes, found.is_open, clock);
            }
            progress(ENTRY_POINTS, found.roots.entries.len() as u64);
            let options = session.points_to_options();
            let (pointsto, methods) = (&mut session.pointsto, |methods| progress("points-to", methods));
            let told =
                pointsto.apply(&mut session.program, &mut session.models, &found.roots, &options, &methods);
            clock.lap("points-to");
            session.order(&ProgramDelta::default(), &told, progress);
            clock.lap("happens-before");
            session.detect(progress, &mut clock);
            session.is_behind = false;
            let stats = session.stats();
            Arc::make_mut(&mut session.report).stats = stats;
            session.merge_reports();
            Report::clone(&session.told)
        })
    }

    /// What the compositional engine says by itself, for those who cannot wait: to be asked before anything else is
    /// analysed. None if it is not to be asked, or alone.
    pub fn first_look(&mut self, progress: Progress<'_>) -> Option<Arc<Report>> {
        if self.options.engines != Engines::Both {
            return None;
        }
        self.in_pool(|session| session.summarise(progress));
        self.is_ahead = true;
        Some(self.beside.alone())
    }

    /// What the compositional engine finds on the class path as it is now.
    fn summarise(&mut self, progress: Progress<'_>) {
        if self.options.engines.compositional() && !std::mem::take(&mut self.is_ahead) {
            progress("summaries", 0);
            let (source, models) = (self.program.source().clone(), self.models.clone());
            let recalled = self
                .summaries
                .take()
                .and_then(|state| Beside::recall(state, source.clone(), models.clone(), &self.options));
            self.beside = recalled.unwrap_or_else(|| Beside::of(source, models, &self.options));
        }
    }

    /// Whether the whole-program engine is asked.
    pub fn solves(&self) -> bool {
        self.options.engines.whole_program()
    }

    /// Whether the compositional engine is asked.
    pub fn summarises(&self) -> bool {
        self.options.engines.compositional()
    }

    /// What was summarised in an earlier run ([`Session::write_summaries`]): to be given before anything is analysed. If
    /// it is of no use, everything is summarised anew.
    pub fn recall(&mut self, summaries: Vec<u8>) {
        self.summaries = Some(summaries.into());
    }

    /// Nobody will ask any more, and the program ends: summaries are not given back piece by piece, which takes long.
    pub fn end(mut self) {
        self.beside.end();
    }

    /// Whether there are summaries that a later run should go on from.
    pub fn has_summaries(&self) -> bool {
        self.beside.is_worth_keeping()
    }

    /// Writes what the compositional engine has summarised, for a later run.
    pub fn write_summaries(&mut self, to: &mut (dyn Write + Send)) -> io::Result<()> {
        self.in_pool(|session| session.beside.write(to))
    }

    /// There are no entry points, or something is wrong with those that were asked for.
    fn without_a_beginning(&mut self, notes: Vec<Note>, is_open: bool, clock: Clock) -> Report {
        match is_open && self.beside.is_of_use() {
            true => self.without_entry_points(clock),
            false => self.nowhere_to_begin(notes),
        }
    }

    /// There is nothing that the whole-program engine could begin with, or it is not wanted.
    fn without_entry_points(&mut self, clock: Clock) -> Report {
        let mut report = Report::default();
        if self.options.engines.whole_program() {
            report.notes.push(engines::only_method_by_method());
        }
        report.stats.seconds = clock.laps;
        report.stats.sizes.clone_from(&self.beside.sizes);
        self.report = Arc::new(report);
        self.is_behind = true;
        self.is_refused = false;
        self.merge_reports();
        Report::clone(&self.told)
    }

    /// Merges what both engines say into one report.
    fn merge_reports(&mut self) {
        if self.is_refused {
            self.told = self.report.clone();
            return;
        }
        let stages = detect::Stages {
            program: &self.program,
            models: &self.models,
            knowledge: &self.knowledge,
            pointsto: &self.pointsto,
            happens_before: &self.happens_before,
        };
        // What is behind knows nothing of the program as it is now.
        let solved = (!self.is_behind && self.options.engines.whole_program()).then_some(merge::Solution {
            stages: &stages,
            detect: &self.detect,
            coverage: self.coverage,
        });
        let known = &self.report.findings;
        let findings = merge::merged(known, self.beside.findings(), solved);
        if findings.len() == known.len()
            && findings.iter().zip(known).all(|(one, other)| Arc::ptr_eq(one, other))
        {
            self.told = self.report.clone();
            return;
        }
        let mut report = Report { findings, ..Report::clone(&self.report) };
        report.sort();
        self.told = Arc::new(report);
    }

    /// What the last run or update said. Stays as it is whatever comes later. After an update it tells times but no
    /// sizes, which take longer to count than most updates: see [`Session::stats`].
    pub fn report(&self) -> Arc<Report> {
        self.told.clone()
    }

    /// Sizes as they are now, and how long the last run or update took.
    pub fn stats(&self) -> Stats {
        // What is behind would count a program that is no longer there.
        let sizes = match self.options.engines.whole_program() && !self.is_behind {
            true => stats::collect(
                &self.program,
                &self.options,
                &self.pointsto,
                &self.happens_before,
                &self.detect,
            ),
            false => Stats::default(),
        };
        let mut stats = Stats { seconds: self.report.stats.seconds.clone(), ..sizes };
        stats.sizes.extend(self.beside.sizes.iter().cloned());
        stats
    }

    /// Forgets everything but the options and models.
    fn start_again(&mut self, source: Arc<dyn ClassSource>, progress: Progress<'_>) -> Update {
        let older = self.told.clone();
        self.program = Program::new(source);
        // Where there is nowhere to begin, nothing takes its place.
        self.pointsto = PointsTo::default();
        self.models.forget();
        let report = self.check(progress);
        let delta = FindingsDelta::between(&older, &report);
        let redone = Redone { anew: true, pairs: self.detect.judged_last(), ..Redone::default() };
        Update { delta, seconds: report.stats.seconds, from_scratch: true, redone }
    }

    /// From the wrong place, or from none, an analysis only looks as if nothing were wrong.
    fn nowhere_to_begin(&mut self, wrong: Vec<Note>) -> Report {
        let mut report = Report { notes: wrong, ..Report::default() };
        report.notes.extend(notes::collect(
            &self.program,
            &self.options,
            &self.pointsto,
            &self.pointsto.gaps(&self.program),
        ));
        report.sort();
        self.report = Arc::new(report.clone());
        self.told = self.report.clone();
        self.is_behind = true;
        self.is_refused = true;
        report
    }

    /// Order and locks. What changed there and before is to be seen by detection.
    fn order(&mut self, delta: &ProgramDelta, told: &PointsToDelta, progress: Progress<'_>) {
        progress("happens-before", 0);
        let mut changes = self.changes(delta, told);
        let (program, models, pointsto) = (&self.program, &self.models, &self.pointsto);
        self.happens_before.apply(program, models, pointsto, told, &mut changes);
        let before = std::mem::replace(&mut self.unseen, changes);
        self.unseen.extend(before);
    }

    /// The report. Tells what changed for it.
    fn detect(&mut self, progress: Progress<'_>, clock: &mut Clock) -> Changes {
        let mut changes = std::mem::take(&mut self.unseen);
        progress("races", 0);
        let stages = detect::Stages {
            program: &self.program,
            models: &self.models,
            knowledge: &self.knowledge,
            pointsto: &self.pointsto,
            happens_before: &self.happens_before,
        };
        let mut findings = self.detect.races(&stages, &mut changes);
        clock.lap("races");
        progress("deadlocks", 0);
        findings.extend(self.detect.deadlocks(&stages, &mut changes));
        clock.lap("deadlocks");
        let findings = in_order(&self.report.findings, findings);
        let (notes, coverage) = self.limits_of(&self.pointsto, &self.happens_before);
        let mut report = Report { findings, notes, ..Report::default() };
        clock.lap("report");
        report.stats.seconds.clone_from(&clock.laps);
        self.report = Arc::new(report);
        self.coverage = coverage;
        self.is_refused = false;
        changes
    }

    /// What a solution leaves out, in words and for the merge.
    fn limits_of(&self, pointsto: &PointsTo, happens_before: &HappensBefore) -> (Vec<Note>, Coverage) {
        let gaps = pointsto.gaps(&self.program);
        let mut notes = notes::collect(&self.program, &self.options, pointsto, &gaps);
        if !self.options.entries.is_empty() {
            notes.extend(notes::one_thread(happens_before));
        }
        notes.sort();
        let is_whole = self.options.entries.is_empty() && gaps.left_out.is_empty();
        (notes, Coverage { is_whole, is_called_back: gaps.opaque_dependencies })
    }

    /// What changed before the stages after points-to.
    fn changes(&mut self, delta: &ProgramDelta, told: &PointsToDelta) -> Changes {
        let mut changes = Changes::default();
        changes.tidies = self.tidies;
        delta.tell(&self.program, &mut changes);
        told.tell(&self.pointsto, &mut changes);
        for method in self.program.take_lowered() {
            changes.add(Read::of(Kind::Body, method));
            changes.add(Read::of(Kind::Lines, method));
        }
        if std::mem::replace(&mut self.loads, self.program.loads()) != self.program.loads() {
            changes.add(Read::all(Kind::Loaded));
        }
        changes
    }

    fn points_to_options(&self) -> pointsto::Options {
        pointsto::Options {
            full_jdk: self.options.full_jdk,
            exclude: self.options.exclude.clone(),
            budget: self.options.budget(),
            dependency_budget: self
                .options
                .dependency_budget
                .unwrap_or_else(|| pointsto::Options::dependency_budget(self.options.budget())),
            follow: self.options.follow || self.options.keep,
            shuffle: self.shuffle,
            ..pointsto::Options::default()
        }
    }

    fn in_pool<T: Send>(&mut self, work: impl FnOnce(&mut Session) -> T + Send) -> T {
        match self.pool.take() {
            Some(pool) => {
                let done = pool.install(|| work(self));
                self.pool = Some(pool);
                done
            }
            // Inside the pool from the start: to enter it for every little piece of work takes longer than that.
            None => rayon::scope(|_| work(self)),
        }
    }
}

/// The findings there are now, in their order, given those that were told in this order before.
fn in_order(before: &[Arc<Finding>], now: Vec<Arc<Finding>>) -> Vec<Arc<Finding>> {
    let pointers = |findings: &[Arc<Finding>]| findings.iter().map(Arc::as_ptr).collect::<FxHashSet<_>>();
    let (known, told) = (pointers(before), pointers(&now));
    let mut new: Vec<Arc<Finding>> =
        now.into_iter().filter(|finding| !known.contains(&Arc::as_ptr(finding))).collect();
    findings::sort_findings(&mut new);
    let mut left: Vec<&Arc<Finding>> =
        before.iter().filter(|finding| told.contains(&Arc::as_ptr(finding))).collect();
    let mut findings = Vec::with_capacity(left.len() + new.len());
    for finding in new {
        let after = left.split_off(left.partition_point(|known| known.ranks(&finding).is_lt()));
        findings.extend(std::mem::replace(&mut left, after).into_iter().cloned());
        findings.push(finding);
    }
    findings.extend(left.into_iter().cloned());
    findings
}

/// Where the program begins: nowhere at all if something is wrong with that.
fn roots(program: &mut Program, options: &Options) -> (Roots, Vec<Note>, bool) {
    let found = entries::find(program, options);
    let roots = if found.notes.is_empty() { found.roots } else { Roots::default() };
    (roots, found.notes, found.is_open)
}

/// A pool of the size the user asked for; `None` when any will do, or when the machine refuses one.
fn workers(threads: usize) -> Option<rayon::ThreadPool> {
    if threads == 0 {
        return None;
    }
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().ok()
}

/// Seconds per stage.
#[derive(Clone)]
struct Clock {
    last: Instant,
    laps: Vec<(String, f64)>,
}

impl Clock {
    fn start() -> Clock {
        Clock { last: Instant::now(), laps: Vec::new() }
    }

    fn lap(&mut self, stage: &str) {
        self.laps.push((stage.to_string(), self.last.elapsed().as_secs_f64()));
        self.last = Instant::now();
    }

    /// What the engine next door has measured itself.
    fn laps_of(&mut self, beside: &Beside) {
        self.laps.extend(beside.seconds.iter().cloned());
        self.last = Instant::now();
    }
}
