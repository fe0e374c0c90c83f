//! `snarl bench edits`: the experiment of the papers this grew from, on any program. Edits it, follows, edits it
//! back, follows, and tells how long that took. The order of events and the table; what an edit is, the session knows.

use crate::args::EditsArgs;
use crate::check::Verdict;
use crate::settings::{Settings, Surroundings};
use crate::{begin, output};
use anyhow::{Result, bail};
use classfile::ClassSource;
use project::Project;
use session::{Cancel, Change, Session, Statement, Update};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::Arc;

/// The slowest edits that are named.
const NAMED: usize = 5;

pub fn run(args: EditsArgs, around: &Surroundings) -> Result<Verdict> {
    let EditsArgs { program, sample, seed, method, commit, verify, points_to, json } = args;
    let mut settings = Settings::resolve(program, around);
    settings.options.follow = true;
    let project = Arc::new(project::open(&settings.request)?);
    let mut session = begin::session(project.clone(), &settings)?;
    let report = session.check(&|_, _| ());
    if let Some(message) = begin::nowhere_to_begin(&report) {
        bail!("{message}");
    }
    if points_to {
        session.only_points_to();
    }
    let is_counted = |stage: &str| !points_to || stage == "points-to";
    let cold: f64 = report.stats.seconds.iter().filter(|(stage, _)| is_counted(stage)).map(|lap| lap.1).sum();
    let mut bench =
        Bench { session, verify, edits: 0, compared: 0, away: Series::default(), back: Series::default() };
    let difference = match commit {
        Some(path) => {
            let request = project::Request { paths: vec![path], ..settings.request.clone() };
            let other = Arc::new(project::open(&request)?);
            bench.replay(&project, &other)
        }
        None => bench.delete_all(sample, seed, method),
    };
    let rendered = if json { bench.as_json(cold) } else { bench.as_table(cold) };
    output::to_stdout(&rendered)?;
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
    edits: usize,
    compared: usize,
    /// Updates after deletions, and after what was deleted came back.
    away: Series,
    back: Series,
}

/// How long updates took.
#[derive(Default)]
struct Series {
    updates: Vec<(f64, String)>,
    stages: BTreeMap<String, Vec<f64>>,
    from_scratch: usize,
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
        for statement in statements {
            let what = self.session.tell(statement);
            let Some((update, deleted)) = self.session.delete(statement, whole, &|_, _| ()) else { continue };
            self.away.add(update, &what);
            if let Some(difference) = self.compare(&format!("without {what}")) {
                return Some(difference);
            }
            let update = self.session.put_back(deleted, &|_, _| ());
            self.back.add(update, &what);
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
        for (source, is_back) in [(other, false), (one, true)] {
            let change = Change { source: source.clone(), classes: classes.clone(), resources: false };
            let update = self.session.apply(change, &|_, _| (), &Cancel::default()).unwrap_or_default();
            let series = if is_back { &mut self.back } else { &mut self.away };
            series.add(update, &what);
            if let Some(difference) = self.compare(&what) {
                return Some(difference);
            }
        }
        None
    }

    fn compare(&mut self, what: &str) -> Option<String> {
        self.edits += 1;
        if self.verify.is_none_or(|every| every == 0 || !self.edits.is_multiple_of(every)) {
            return None;
        }
        self.compared += 1;
        match self.session.verify() {
            session::Verdict::Same => None,
            session::Verdict::Different(why) => {
                Some(format!("not what a run from nothing finds {what}: {why}"))
            }
        }
    }

    fn as_table(&self, cold: f64) -> String {
        let mut out = String::new();
        let mean = mean(self.away.updates.iter().chain(&self.back.updates).map(|update| update.0));
        let ratio = if mean > 0.0 { cold / mean } else { 0.0 };
        let _ = writeln!(
            out,
            "{} edits; from nothing {:.0} ms, {ratio:.0} times the mean edit; {} compared with a run from nothing",
            self.edits,
            cold * 1e3,
            self.compared
        );
        if let Some(megabytes) = peak_megabytes() {
            let _ = writeln!(out, "peak memory {megabytes} MB");
        }
        let _ = writeln!(
            out,
            "\n{:<28}{:>9}{:>9}{:>9}{:>9}{:>9}   milliseconds",
            "", "mean", "p50", "p95", "p99", "max"
        );
        for (name, series) in [("deletion", &self.away), ("insertion", &self.back)] {
            row(&mut out, name, series.updates.iter().map(|update| update.0).collect());
            for (stage, seconds) in &series.stages {
                row(&mut out, &format!("  {stage}"), seconds.clone());
            }
        }
        for (name, series) in [("deletions", &self.away), ("insertions", &self.back)] {
            if series.from_scratch > 0 {
                let _ = writeln!(
                    out,
                    "\n{} {name} were followed by solving everything anew",
                    series.from_scratch
                );
            }
            let _ = writeln!(out, "\nslowest {name}");
            let mut slowest: Vec<&(f64, String)> = series.updates.iter().collect();
            slowest.sort_by(|a, b| b.0.total_cmp(&a.0));
            for (seconds, what) in slowest.into_iter().take(NAMED) {
                let _ = writeln!(out, "{:>9.2}  {what}", seconds * 1e3);
            }
        }
        out
    }

    fn as_json(&self, cold: f64) -> String {
        let side = |series: &Series| {
            let stages: serde_json::Map<String, serde_json::Value> = series
                .stages
                .iter()
                .map(|(stage, seconds)| (stage.clone(), figures(seconds.clone())))
                .collect();
            let all = figures(series.updates.iter().map(|update| update.0).collect());
            serde_json::json!({ "all": all, "stages": stages, "from_scratch": series.from_scratch })
        };
        let value = serde_json::json!({
            "schema": 1,
            "edits": self.edits,
            "compared": self.compared,
            "from_nothing_ms": cold * 1e3,
            "peak_mb": peak_megabytes(),
            "deletion": side(&self.away),
            "insertion": side(&self.back),
        });
        format!("{value:#}\n")
    }
}

impl Series {
    fn add(&mut self, update: Update, what: &str) {
        self.updates.push((update.seconds.iter().map(|lap| lap.1).sum(), what.to_string()));
        self.from_scratch += usize::from(update.from_scratch);
        for (stage, seconds) in update.seconds {
            self.stages.entry(stage).or_default().push(seconds);
        }
    }
}

fn row(out: &mut String, name: &str, mut seconds: Vec<f64>) {
    seconds.sort_by(f64::total_cmp);
    let at = |percent| percentile(&seconds, percent) * 1e3;
    let mean = mean(seconds.iter().copied()) * 1e3;
    let _ =
        writeln!(out, "{name:<28}{mean:>9.3}{:>9.3}{:>9.3}{:>9.3}{:>9.3}", at(50), at(95), at(99), at(100));
}

fn figures(mut seconds: Vec<f64>) -> serde_json::Value {
    seconds.sort_by(f64::total_cmp);
    let at = |percent| percentile(&seconds, percent) * 1e3;
    serde_json::json!({
        "count": seconds.len(),
        "mean_ms": mean(seconds.iter().copied()) * 1e3,
        "p50_ms": at(50),
        "p95_ms": at(95),
        "p99_ms": at(99),
        "max_ms": at(100),
    })
}

fn mean(seconds: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = seconds.fold((0.0, 0u32), |(sum, count), next| (sum + next, count + 1));
    if count == 0 { 0.0 } else { sum / f64::from(count) }
}

/// Of sorted numbers; 0 of none.
fn percentile(sorted: &[f64], percent: usize) -> f64 {
    sorted.len().checked_sub(1).map_or(0.0, |last| sorted[last * percent / 100])
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

/// Where the system tells.
fn peak_megabytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches("kB").trim().parse::<u64>().ok().map(|kilobytes| kilobytes / 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_members() {
        let numbers: Vec<f64> = (1..=100).map(f64::from).collect();
        assert_eq!((percentile(&numbers, 50), percentile(&numbers, 99)), (50.0, 99.0));
        assert_eq!((percentile(&numbers, 100), percentile(&[], 50)), (100.0, 0.0));
    }
}
