//! `snarl bench edits`: the experiment of the papers this grew from, on any program. Edits it, follows, edits it
//! back, follows, and tells how long that took. The order of events and the table; what an edit is, the session knows.

use crate::args::EditsArgs;
use crate::check::Verdict;
use crate::settings::{Settings, Surroundings};
use crate::{begin, config, output};
use anyhow::{Result, bail};
use classfile::ClassSource;
use project::Project;
use report::edits::{self, Edits, Kept, Series};
use session::{Cancel, Change, Engines, Session, Statement, Update};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What is kept is looked at after one in so many of the edits, and at the end.
const EARLY: usize = 20;

pub fn run(args: EditsArgs, around: &Surroundings) -> Result<Verdict> {
    let EditsArgs { program, sample, seed, method, commit, verify, points_to, json } = args;
    let config = config::of(&program.program)?;
    let mut settings = Settings::resolve(program, config, around);
    let engines = &mut settings.setup.options.engines;
    if points_to {
        // The stages after it are not followed, and nothing is merged.
        *engines = Engines::WholeProgram;
    } else if *engines == Engines::Compositional && commit.is_none() {
        bail!("statements are deleted in the whole-program engine; with --engine compositional use --commit");
    }
    settings.setup.options.follow = true;
    let project = Arc::new(project::open(&settings.setup.request)?);
    let mut session = workspace::session(project.clone(), &settings.setup, false)?;
    let report = session.check(&|_, _| ());
    if let Some(message) = begin::nowhere_to_begin(&report) {
        bail!("{message}");
    }
    // Statements are those of the whole-program engine, which has not begun.
    if let Some(note) = report.notes.iter().find(|note| note.kind == "no-main" && commit.is_none()) {
        bail!("{}", note.message);
    }
    if points_to {
        session.only_points_to();
    }
    let is_counted = |stage: &str| !points_to || stage == "points-to";
    let cold: f64 = report.stats.seconds.iter().filter(|(stage, _)| is_counted(stage)).map(|lap| lap.1).sum();
    let mut bench = Bench {
        session,
        verify,
        expected: 0,
        edits: 0,
        compared: 0,
        last_compared: 0,
        early: None,
        late: None,
        away: Series::default(),
        back: Series::default(),
    };
    let difference = match commit {
        Some(path) => {
            let request = project::Request { paths: vec![path], ..settings.setup.request.clone() };
            let other = Arc::new(project::open(&request)?);
            bench.replay(&project, &other)
        }
        None => bench.delete_all(sample, seed, method),
    };
    let late = bench.late.take().unwrap_or_else(|| bench.kept());
    let difference = difference.or_else(|| bench.compare_last());
    let told = Edits {
        edits: bench.edits,
        compared: bench.compared,
        from_nothing: cold,
        peak_megabytes: megabytes("VmHWM:"),
        early: bench.early,
        late,
        deletion: bench.away,
        insertion: bench.back,
    };
    output::to_stdout(&if json { told.json() } else { told.table() })?;
    match difference {
        Some(what) => {
            output::complain(&what);
            Ok(Verdict::Fail)
        }
        None => Ok(Verdict::Pass),
    }
}

struct Bench {
    session: Session,
    verify: Option<usize>,
    /// How many edits there will be.
    expected: usize,
    edits: usize,
    compared: usize,
    /// After how many edits.
    last_compared: usize,
    /// What was kept when the first few were followed, and at the end.
    early: Option<Kept>,
    late: Option<Kept>,
    /// Updates after deletions, and after what was deleted came back.
    away: Series,
    back: Series,
}

fn add(series: &mut Series, update: Update, what: &str) {
    let Update { seconds, from_scratch, redone, .. } = update;
    let redone = vec![
        ("bodies", redone.bodies as u64),
        ("facts", redone.facts),
        ("units", redone.units as u64),
        ("pairs", redone.pairs as u64),
    ];
    series.add(edits::Update { what: what.to_string(), seconds, redone, from_scratch });
}

impl Bench {
    /// `Some` is what differs from a run from nothing.
    fn delete_all(&mut self, sample: Option<usize>, seed: u64, whole: bool) -> Option<String> {
        let mut statements = self.session.statements();
        if whole {
            statements = self.session.first_of_each_method(statements);
        }
        if let Some(sample) = sample {
            statements = draw(statements, sample, seed);
        }
        self.expected = 2 * statements.len();
        for statement in statements {
            let what = self.session.tell(statement);
            let Some((update, deleted)) = self.session.delete(statement, whole, &|_, _| ()) else { continue };
            add(&mut self.away, update, &what);
            if let Some(difference) = self.compare(&format!("without {what}")) {
                return Some(difference);
            }
            let update = self.session.put_back(deleted, &|_, _| ());
            add(&mut self.back, update, &what);
            if let Some(difference) = self.compare(&format!("with {what} again")) {
                return Some(difference);
            }
        }
        None
    }

    /// To another version and back.
    fn replay(&mut self, one: &Arc<Project>, other: &Arc<Project>) -> Option<String> {
        let names: BTreeSet<String> = one.app_classes().into_iter().chain(other.app_classes()).collect();
        let bytes =
            |project: &Project, name: &str| project.find(name).map(|found| (found.bytes, found.layer));
        let classes: Vec<String> =
            names.into_iter().filter(|name| bytes(one, name) != bytes(other, name)).collect();
        let what = format!("{} classes", classes.len());
        self.expected = 2;
        for (source, is_back) in [(other, false), (one, true)] {
            let change = Change { source: source.clone(), classes: classes.clone(), resources: false };
            let update = self.session.apply(change, &|_, _| (), &Cancel::default()).unwrap_or_default();
            let series = if is_back { &mut self.back } else { &mut self.away };
            add(series, update, &what);
            if let Some(difference) = self.compare(&what) {
                return Some(difference);
            }
        }
        None
    }

    /// After an edit: every so often compares with a run from nothing.
    fn compare(&mut self, what: &str) -> Option<String> {
        self.edits += 1;
        if self.edits == self.expected.div_ceil(EARLY) {
            self.early = Some(self.kept());
        }
        // Before the last comparison, which takes room for a second state.
        if self.edits == self.expected {
            self.late = Some(self.kept());
        }
        match self.verify {
            Some(every) if every > 0 && self.edits.is_multiple_of(every) => self.compare_now(what),
            _ => None,
        }
    }

    /// Whatever the number of edits, the state they end in is compared if any is.
    fn compare_last(&mut self) -> Option<String> {
        let is_left = self.verify.is_some() && self.last_compared < self.edits;
        is_left.then(|| self.compare_now("at the end")).flatten()
    }

    fn compare_now(&mut self, what: &str) -> Option<String> {
        self.compared += 1;
        self.last_compared = self.edits;
        match self.session.verify() {
            session::Verdict::Same => None,
            session::Verdict::Different(why) => {
                Some(format!("not what a run from nothing finds {what}: {why}"))
            }
        }
    }

    fn kept(&self) -> Kept {
        let sizes = self.session.sizes();
        let entries = sizes.iter().map(|(name, entries)| (name.to_owned(), entries)).collect();
        Kept { edits: self.edits, megabytes: megabytes("VmRSS:"), entries }
    }
}

/// Some of the statements, each at most once, in the order drawn: the same for the same seed.
fn draw(mut statements: Vec<Statement>, sample: usize, seed: u64) -> Vec<Statement> {
    let mut state = seed;
    let sample = sample.min(statements.len());
    for at in 0..sample {
        // splitmix64
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        let left = (statements.len() - at) as u64;
        statements.swap(at, at + (mixed % left) as usize);
    }
    statements.truncate(sample);
    statements
}

/// Of this process, where the system tells.
fn megabytes(line: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let kilobytes = status.lines().find_map(|text| text.strip_prefix(line))?;
    kilobytes.trim().trim_end_matches("kB").trim().parse::<u64>().ok().map(|kilobytes| kilobytes / 1024)
}
