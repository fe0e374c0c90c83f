//! The façade over the analysis: a class path goes in, a report comes out. Knows nothing of files,
//! editors, JSON or terminals.

mod entries;
mod notes;
mod stats;
mod suggest;

use classfile::ClassSource;
use detect::Detect;
use findings::Report;
use happens_before::HappensBefore;
use ir::{ClassId, Loaded, Program};
pub use models::ModelError;
use models::Models;
use pointsto::PointsTo;
use std::sync::Arc;
use std::time::Instant;

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
    /// Worker threads; 0 means one per core.
    pub threads: usize,
}

/// One program under analysis, with the state of every stage.
pub struct Session {
    options: Options,
    program: Program,
    models: Models,
    pointsto: PointsTo,
    happens_before: HappensBefore,
    detect: Detect,
    shuffle: Option<u64>,
}

/// The stage whose work is the number of places where the program begins.
pub const ENTRY_POINTS: &str = "entry points";

/// Called as the run goes on: stage name, and a count of work done in it so far.
pub type Progress<'a> = &'a (dyn Fn(&'static str, u64) + Sync);

impl Session {
    pub fn new(source: Arc<dyn ClassSource>, options: Options) -> Session {
        Session {
            options,
            program: Program::new(source),
            models: Models::builtin(),
            pointsto: PointsTo::default(),
            happens_before: HappensBefore::default(),
            detect: Detect::default(),
            shuffle: None,
        }
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

    /// Analyses everything and reports all findings (every confidence; renderers filter). File names in the
    /// report are package path plus source file name (`bank/Account.java`); the caller maps them to sources.
    pub fn check(&mut self, progress: Progress<'_>) -> Report {
        match self.workers() {
            Some(pool) => pool.install(|| self.run(progress)),
            None => self.run(progress),
        }
    }

    fn run(&mut self, progress: Progress<'_>) -> Report {
        let mut clock = Clock::start();

        progress("classes", 0);
        let found = entries::find(&mut self.program, &self.options);
        clock.lap(ENTRY_POINTS);
        if !found.notes.is_empty() {
            // From the wrong place, or from none, an analysis only looks as if nothing were wrong.
            let mut report = Report { notes: found.notes, ..Report::default() };
            report.notes.extend(notes::collect(&self.program, &self.pointsto));
            report.sort();
            return report;
        }

        progress(ENTRY_POINTS, found.roots.entries.len() as u64);
        let options = pointsto::Options {
            full_jdk: self.options.full_jdk,
            exclude: self.options.exclude.clone(),
            shuffle: self.shuffle,
            ..pointsto::Options::default()
        };
        let facts = |facts| progress("points-to", facts);
        let points_to =
            self.pointsto.apply(&mut self.program, &mut self.models, &found.roots, &options, &facts);
        clock.lap("points-to");

        progress("happens-before", 0);
        let order = self.happens_before.apply(&self.program, &self.models, &self.pointsto, &points_to);
        clock.lap("happens-before");

        progress("detection", 0);
        let stages = detect::Stages {
            program: &self.program,
            models: &self.models,
            pointsto: &self.pointsto,
            happens_before: &self.happens_before,
        };
        let findings = self.detect.apply(&stages, &order);
        clock.lap("detection");

        let mut report = Report { findings: findings.added, ..Report::default() };
        report.notes = notes::collect(&self.program, &self.pointsto);
        if !self.options.entries.is_empty() {
            report.notes.extend(notes::one_thread(&self.happens_before));
        }
        report.stats = stats::collect(&self.program, &self.pointsto, &self.happens_before, &self.detect);
        report.stats.seconds = clock.laps;
        report.sort();
        report
    }

    /// A pool of the size the user asked for; `None` when any will do, or when the machine refuses one.
    fn workers(&self) -> Option<rayon::ThreadPool> {
        if self.options.threads == 0 {
            return None;
        }
        rayon::ThreadPoolBuilder::new().num_threads(self.options.threads).build().ok()
    }
}

/// Seconds per stage.
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
}
