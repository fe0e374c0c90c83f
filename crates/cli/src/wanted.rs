//! What of a report is wanted: no rules that are off, nothing suppressed, nothing in the baseline. Comes after what was
//! kept, so that a comment counts at once; decides nothing about what is left.

use crate::output;
use crate::settings::Settings;
use crate::sources::ProjectSources;
use anyhow::{Context, Result, anyhow};
use findings::{Baseline, Beside, Confidence, Note, Report, Rule};
use project::Project;
use report::{Sources, baseline};
use std::fs;
use std::path::Path;

/// The rules of which findings are looked for.
const CHECKED: [Rule; 2] = [Rule::Race, Rule::Deadlock];

/// Leaves out rules that are off, and puts aside what is suppressed.
pub fn select(report: &mut Report, project: &Project, settings: &Settings) {
    report.findings.retain(|finding| settings.config.wants(finding.rule, finding.confidence));
    let said = project.remarks();
    let (annotated, unknown) = session::annotated(project);
    report.notes.extend(said.notes.into_iter().chain(unknown));
    let configured = settings.config.suppressions.iter().cloned();
    let all: Vec<_> = said.suppressions.into_iter().chain(annotated).chain(configured).collect();
    let sources = ProjectSources::for_machine(project);
    report.suppress(&all, &checked(settings), &|file| sources.display(file));
    report.notes.sort();
}

fn checked(settings: &Settings) -> Vec<Rule> {
    let is_on = |rule: &Rule| settings.config.wants(*rule, Confidence::High);
    CHECKED.into_iter().filter(is_on).collect()
}

/// The same of a report that others keep.
pub fn selected(report: &Report, project: &Project, settings: &Settings) -> Report {
    let mut report = report.clone();
    select(&mut report, project, settings);
    report
}

/// Leaves what is not in the baseline. What is written to one is in it.
pub fn accept(report: &mut Report, settings: &Settings) -> Result<()> {
    let now = Baseline::of(report, &checked(settings), env!("CARGO_PKG_VERSION"));
    let accepted = settings.accept.baseline.as_deref().map(read).transpose()?;
    if let Some(path) = &settings.accept.write_baseline {
        output::to_file(path, &baseline::render(&now))?;
    }
    let written = settings.accept.write_baseline.as_ref().map(|_| now);
    if let Some(baseline) = accepted.or(written) {
        let beside = baseline.compare(report);
        report.notes.extend(notes(&beside));
        report.notes.sort();
        report.beside = Some(beside);
    }
    Ok(())
}

fn read(path: &Path) -> Result<Baseline> {
    let text =
        fs::read_to_string(path).with_context(|| format!("cannot read the baseline {}", path.display()))?;
    baseline::parse(&text).map_err(|why| anyhow!("{}: {why}", path.display()))
}

/// What is gone and what is of new rules, one by one.
fn notes(beside: &Beside) -> Vec<Note> {
    let note = |kind: &str, message: String| Note { kind: kind.to_owned(), message, count: 1 };
    let gone = beside.gone.iter().map(|one| {
        let message = format!("{}: {} · {}", one.rule, one.message, one.fingerprint);
        note("gone-from-baseline", message)
    });
    let new = beside.of_new_rules.iter().map(|one| {
        let message = format!(
            "{}: {} · {}; write the baseline again to take it in",
            one.rule.id(),
            one.message,
            one.id
        );
        note("new-rule", message)
    });
    let mut all: Vec<Note> = gone.chain(new).collect();
    let version = env!("CARGO_PKG_VERSION");
    if beside.version != version {
        let message =
            format!("the baseline was written by version {}, and this is {version}", beside.version);
        all.push(note("baseline-version", message));
    }
    all
}
