//! Tries edits on the program under analysis and takes them back: whether a finding goes away, and nothing comes. Knows
//! nothing of what is edited.

use crate::fixes::Candidate;
use crate::questions::Answerer;
use findings::{Finding, FindingsDelta, Report};
use live::Event;
use session::{Cancel, Change};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use workspace::Program;

/// Whoever asks waits for it.
const MOST: Duration = Duration::from_millis(1500);

/// Those of the candidates that repair the finding and break nothing.
pub fn tried(asked: &mut Answerer<'_>, finding: &Finding, candidates: Vec<Candidate>) -> Vec<Candidate> {
    if candidates.is_empty() {
        return candidates;
    }
    let began = Instant::now();
    let before = Report { findings: asked.shown.to_vec(), ..Report::default() };
    let mut texts: BTreeMap<PathBuf, Arc<str>> = BTreeMap::new();
    let mut good = Vec::new();
    for candidate in candidates {
        if began.elapsed() > MOST || (asked.is_overtaken)() {
            break;
        }
        // From one candidate straight to the next.
        let mut next = texts.clone();
        for (path, edits) in &candidate.edits {
            let Some(text) = asked.text(path) else { continue };
            texts.insert(path.clone(), text.clone());
            next.insert(path.clone(), syntax::apply(&text, edits).into());
        }
        let Some(after) = apply(asked, next) else { continue };
        if repairs(&candidate, finding, &before, &after) {
            good.push(candidate);
        }
    }
    put_back(asked, texts);
    good
}

/// Whether what a candidate is about is gone, and nothing has come.
fn repairs(candidate: &Candidate, finding: &Finding, before: &Report, after: &Report) -> bool {
    let delta = FindingsDelta::between(before, after);
    if candidate.accesses.is_empty() {
        return delta.fixed.iter().any(|fixed| fixed.id == finding.id) && delta.introduced.is_empty();
    }
    // What is left of the finding may be told by another pair.
    let keys = |report: &Report| -> BTreeSet<String> {
        report.findings.iter().flat_map(|finding| finding.unguarded_keys()).collect()
    };
    let (known, left) = (keys(before), keys(after));
    let is_old = |new: &Arc<Finding>| new.field == finding.field && new.rule == finding.rule;
    left.is_subset(&known)
        && candidate.accesses.iter().all(|key| !left.contains(key))
        && delta.introduced.iter().all(is_old)
}

/// What would be shown if these were the texts; nothing if they cannot be compiled.
fn apply(asked: &mut Answerer<'_>, texts: BTreeMap<PathBuf, Arc<str>>) -> Option<Report> {
    texts.iter().for_each(|(path, text)| asked.wanted.hold(path, text.clone()));
    let paths: Vec<PathBuf> = texts.keys().cloned().collect();
    let is_sound = follow(asked, texts.into_iter().map(|(path, text)| Event::Text(path, text)).collect());
    let is_compiled = is_sound && !paths.iter().any(|path| asked.live.is_broken(path));
    is_compiled.then(|| {
        let project = asked.source.project().clone();
        let program = Program { classes: &**asked.source, project: &project };
        let mut report = asked.wanted.selected(&asked.session.report(), &program, &[], asked.setup);
        report.findings = report.told(asked.settings.least(&asked.setup.config)).cloned().collect();
        report
    })
}

/// The program as it was.
fn put_back(asked: &mut Answerer<'_>, texts: BTreeMap<PathBuf, Arc<str>>) {
    let mut events = Vec::new();
    for (path, text) in texts {
        match asked.open.contains_key(&path) {
            true => {
                asked.wanted.hold(&path, text.clone());
                events.push(Event::Text(path, text));
            }
            false => {
                asked.wanted.release(&path);
                events.push(Event::Closed(path));
            }
        }
    }
    follow(asked, events);
}

/// Whether the compiler was there.
fn follow(asked: &mut Answerer<'_>, events: Vec<Event>) -> bool {
    let followed = asked.live.follow(events);
    *asked.source = followed.source.clone();
    if !followed.classes.is_empty() {
        let change =
            Change { source: followed.source, classes: followed.classes, resources: followed.resources };
        asked.session.apply(change, &|_, _| {}, &Cancel::default());
    }
    followed.failure.is_none()
}
