//! What a reader who follows a program has been told so far, and what is therefore left to say after each change. Knows
//! nothing of how changes are found, nor where the words go.

use crate::inbox::News;
use crate::{begin, settings::Settings};
use findings::{FindingsDelta, Note, Report, Suppressed};
use project::Project;
use report::text;
use session::Update;
use std::collections::BTreeSet;
use std::path::PathBuf;
use workspace::ProjectSources;

/// Which files are being written changes from look to look; that some are is told once.
const UNSETTLED: &str = "unsettled-file";
/// Comes up when a class is asked for, which happens once: its absence later on says nothing.
const ASKED: &str = "corrupt-entry";
/// Of many names, this many say enough.
const NAMES: usize = 3;

#[derive(Default)]
pub struct Told {
    /// The findings that are shown, of the last report there was.
    findings: Report,
    notes: Vec<Note>,
}

/// Seconds of an update: all of them, and by stage. Both engines are at work at once, so that stages add up to more.
pub struct Cost {
    total: f64,
    stages: Vec<(String, f64)>,
    from_scratch: bool,
}

/// Stages that take less of the whole than this are not told.
const LITTLE: f64 = 0.05;

impl Cost {
    /// `analysed` is how long the update took beside files.
    pub fn of(news: &News, update: Update, analysed: f64) -> Cost {
        let mut stages = vec![("files".to_owned(), news.seconds)];
        if news.overtaken > 0.0 {
            stages.push(("overtaken".to_owned(), news.overtaken));
        }
        stages.extend(update.seconds);
        let total = news.seconds + news.overtaken + analysed;
        Cost { total, stages, from_scratch: update.from_scratch }
    }

    pub fn add(&mut self, stage: &str, seconds: f64) {
        self.total += seconds;
        self.stages.push((stage.to_owned(), seconds));
    }

    /// `12.3 ms: files 1.0 ms, points-to 5.2 ms, …`.
    fn words(&self) -> String {
        let of_files = |name: &str| ["files", "overtaken"].contains(&name);
        let files: f64 = self.stages.iter().filter(|(name, _)| of_files(name)).map(|(_, took)| took).sum();
        let is_much = |(name, took): &&(String, f64)| of_files(name) || *took > LITTLE * (self.total - files);
        let told = self.stages.iter().filter(is_much);
        let told = told.map(|(name, took)| format!("{name} {}", duration(*took)));
        let how = if self.from_scratch { " from scratch" } else { "" };
        format!("{}{how}: {}", duration(self.total), told.collect::<Vec<_>>().join(", "))
    }
}

impl Told {
    /// Begins with all findings, in a line each.
    pub fn first(&mut self, report: &Report, project: &Project, seconds: f64, settings: &Settings) -> String {
        let sources = ProjectSources::for_reader(project);
        let mut out = String::new();
        let shown = shown(report, settings);
        for finding in &shown.findings {
            line(&mut out, &text::brief(finding, &sources, &settings.look));
        }
        self.findings = shown;
        self.tell_notes(notes(report, project, &[], settings), settings, &mut out);
        if !settings.quiet {
            line(&mut out, &format!("{} · {}", state(report, settings), duration(seconds)));
            line(&mut out, "following the files; Ctrl-C ends it");
        }
        out
    }

    /// Nothing when there is nothing new.
    pub fn next(&mut self, report: &Report, news: &News, cost: Option<&Cost>, settings: &Settings) -> String {
        let sources = ProjectSources::for_reader(&news.project);
        let mut out = String::new();
        let mut delta = FindingsDelta::default();
        // What is not analysed is not repaired either.
        if begin::is_analysed(report) {
            let shown = shown(report, settings);
            delta = FindingsDelta::between(&self.findings, &shown);
            self.findings = shown;
        }
        for finding in &delta.introduced {
            // Each stands by itself.
            if out.is_empty() {
                line(&mut out, "");
            }
            line(&mut out, &text::introduced(finding, &sources, &settings.look));
        }
        let suppressed = suppressed_now(&mut delta, report);
        for one in &suppressed {
            line(&mut out, &text::suppressed(one, &sources, &settings.look));
        }
        for finding in &delta.fixed {
            let is_hidden = report.findings.iter().any(|other| other.id == finding.id);
            let tell = if is_hidden { text::hidden } else { text::fixed };
            line(&mut out, &tell(finding, &sources, &settings.look));
        }
        self.tell_notes(notes(report, &news.project, &news.unsettled, settings), settings, &mut out);
        if let Some(cost) = cost.filter(|_| !settings.quiet) {
            let outcome = begin::is_analysed(report).then(|| outcome(&delta, suppressed.len()));
            let parts = [state(report, settings), what_changed(news), cost.words()];
            line(&mut out, &outcome.into_iter().chain(parts).collect::<Vec<_>>().join(" · "));
        }
        out
    }

    /// Whether what the report and the project say now is all there is to say.
    pub fn is_complete(&self) -> bool {
        !self.notes.iter().any(|note| note.kind == ASKED)
    }

    /// Notes that are new, then those that hold no longer.
    fn tell_notes(&mut self, mut notes: Vec<Note>, settings: &Settings, out: &mut String) {
        let is_in = |notes: &[Note], note: &Note| notes.iter().any(|other| is_same(other, note));
        let before = std::mem::take(&mut self.notes);
        let lasting = before.iter().filter(|note| note.kind == ASKED && !is_in(&notes, note));
        notes.extend(lasting.cloned().collect::<Vec<_>>());
        self.notes = notes;
        if settings.quiet {
            return;
        }
        let new: Vec<&Note> = self.notes.iter().filter(|note| !is_in(&before, note)).collect();
        for note in &new {
            line(out, &text::note(note, &settings.look));
        }
        // Where another of its kind has come, that one says what is the matter now.
        let replaced: BTreeSet<&str> = new.iter().map(|note| note.kind.as_str()).collect();
        for note in before.iter().filter(|note| !is_in(&self.notes, note)) {
            if !replaced.contains(note.kind.as_str()) {
                line(out, &text::no_longer(note, &settings.look));
            }
        }
    }
}

fn is_same(one: &Note, other: &Note) -> bool {
    one.kind == other.kind && (one.kind == UNSETTLED || one.message == other.message)
}

fn shown(report: &Report, settings: &Settings) -> Report {
    let findings = report.told(settings.least).cloned().collect();
    Report { findings, ..Report::default() }
}

/// What a reader should see without asking, or everything.
fn notes(report: &Report, project: &Project, unsettled: &[PathBuf], settings: &Settings) -> Vec<Note> {
    let mut all = report.notes.clone();
    all.extend(project.notes());
    if !unsettled.is_empty() && !all.iter().any(|note| note.kind == UNSETTLED) {
        let names = unsettled.iter().map(|path| project.shown(path));
        let message = format!("waiting for files that have vanished or are being written: {}", some(names));
        all.push(Note { kind: UNSETTLED.to_owned(), message, count: unsettled.len() as u64 });
    }
    all.sort();
    // A report that was kept has those of the project already.
    all.dedup();
    if settings.notes { all } else { text::most_important(&all).0.into_iter().cloned().collect() }
}

/// How many findings there are now.
fn state(report: &Report, settings: &Settings) -> String {
    if begin::is_analysed(report) {
        text::summary(report, settings.least, &settings.look)
    } else {
        "not analysed: nowhere to begin".to_owned()
    }
}

/// What is suppressed is not fixed.
fn suppressed_now<'r>(delta: &mut FindingsDelta, report: &'r Report) -> Vec<&'r Suppressed> {
    let mut suppressed = Vec::new();
    delta.fixed.retain(|finding| {
        let is_same = |one: &&Suppressed| one.finding.fingerprint() == finding.fingerprint();
        let found = report.suppressed.iter().find(is_same);
        suppressed.extend(found);
        found.is_none()
    });
    suppressed
}

fn outcome(delta: &FindingsDelta, suppressed: usize) -> String {
    let counts = [
        (delta.introduced.len(), "introduced"),
        (delta.fixed.len(), "fixed"),
        (suppressed, "suppressed"),
        (delta.changed.len(), "moved"),
    ];
    let present = counts.iter().filter(|(count, _)| *count > 0);
    let words: Vec<String> = present.map(|(count, what)| format!("{count} {what}")).collect();
    if words.is_empty() { "nothing introduced, nothing fixed".to_owned() } else { words.join(", ") }
}

fn what_changed(news: &News) -> String {
    let names = some(news.classes.iter().map(|name| text::clean(&name.replace('/', "."))));
    match news.classes.len() {
        0 => "services changed".to_owned(),
        1 => format!("1 class changed: {names}"),
        count => format!("{count} classes changed: {names}"),
    }
}

/// The first few, and that there are more.
fn some(names: impl Iterator<Item = String>) -> String {
    let mut names: Vec<String> = names.collect();
    if names.len() > NAMES {
        names.truncate(NAMES);
        names.push("…".to_owned());
    }
    names.join(", ")
}

fn duration(seconds: f64) -> String {
    if seconds < 1.0 { format!("{:.1} ms", seconds * 1e3) } else { format!("{seconds:.2} s") }
}

fn line(out: &mut String, text: &str) {
    out.push_str(text);
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::Cost;

    #[test]
    fn all_of_the_time_is_told_and_what_most_of_it_went_into() {
        let stages = [("files", 2.5), ("summaries", 0.006), ("points-to", 0.004), ("deadlocks", 0.0001)];
        let stages = stages.map(|(name, took)| (name.to_owned(), took)).to_vec();
        // Two of them at once.
        let mut cost = Cost { total: 2.506, stages, from_scratch: false };
        cost.add("suppressions", 0.002);
        let words = "2.51 s: files 2.50 s, summaries 6.0 ms, points-to 4.0 ms, suppressions 2.0 ms";
        assert_eq!(cost.words(), words);
    }
}
