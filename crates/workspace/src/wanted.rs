//! What of a report is wanted: no rules that are off, nothing suppressed, nothing in the baseline. Comes after what was
//! kept, so that a comment counts at once; decides nothing about what is left.

use crate::output;
use crate::settings::Settings;
use crate::sources::ProjectSources;
use anyhow::{Context, Result, anyhow};
use findings::{Baseline, Beside, Confidence, Note, Report, Rule};
use project::{Memory, Project};
use report::{Sources, baseline};
use session::Annotated;
use std::fs;
use std::path::Path;

/// The rules that the whole-program engine looks for.
const WHOLE_PROGRAM: [Rule; 2] = [Rule::Race, Rule::Deadlock];

/// What was said about findings so far.
#[derive(Default)]
pub struct Wanted {
    baseline: Option<Baseline>,
    /// None before the first look.
    annotated: Option<Annotated>,
    /// What an earlier run knew of annotations, until it is asked for.
    silent: Vec<u64>,
    memory: Memory,
}

impl Wanted {
    /// Reads the baseline, before anyone waits for an analysis.
    pub fn new(settings: &Settings) -> Result<Wanted> {
        let baseline = settings.accept.baseline.as_deref().map(read).transpose()?;
        Ok(Wanted { baseline, ..Wanted::default() })
    }

    /// Goes on from what an earlier run knew of annotations.
    pub fn recall(&mut self, silent: Vec<u64>) {
        self.silent = silent;
    }

    /// What a later run can go on from.
    pub fn silent(&self) -> Vec<u64> {
        self.annotated.as_ref().map_or_else(Vec::new, Annotated::silent)
    }

    /// Leaves out rules that are off, puts aside what is suppressed, and leaves what is not in the baseline. `changed`
    /// names the classes that are not as they were before.
    pub fn select(
        &mut self,
        report: &mut Report,
        project: &Project,
        changed: &[String],
        settings: &Settings,
    ) {
        report.findings.retain(|finding| settings.config.wants(finding.rule, finding.confidence));
        let said = project.remarks(&mut self.memory);
        let annotated =
            self.annotated.get_or_insert_with(|| Annotated::of(project, std::mem::take(&mut self.silent)));
        annotated.follow(project, changed);
        report.notes.extend(said.notes.into_iter().chain(annotated.notes().cloned()));
        let others = annotated.suppressions().chain(&settings.config.suppressions).cloned();
        let all: Vec<_> = said.suppressions.into_iter().chain(others).collect();
        let sources = ProjectSources::for_machine(project);
        report.suppress(&all, &checked(settings), &|file| sources.display(file));
        if let Some(baseline) = &self.baseline {
            compare(report, baseline);
        }
        report.notes.sort();
    }

    /// The same of a report that others keep.
    pub fn selected(
        &mut self,
        report: &Report,
        project: &Project,
        changed: &[String],
        settings: &Settings,
    ) -> Report {
        let mut report = report.clone();
        self.select(&mut report, project, changed, settings);
        report
    }

    /// Accepts what is left, and tells what is new from then on.
    pub fn write(&mut self, report: &mut Report, path: &Path, settings: &Settings) -> Result<()> {
        let known = report.beside.iter().flat_map(|beside| beside.known.iter().chain(&beside.of_new_rules));
        let findings = report.findings.iter().chain(known).cloned().collect();
        let all = Report { findings, ..Report::default() };
        let now = Baseline::of(&all, &checked(settings), env!("CARGO_PKG_VERSION"));
        output::to_file(path, &baseline::render(&now))?;
        if self.baseline.is_none() {
            compare(report, &now);
        }
        Ok(())
    }
}

fn checked(settings: &Settings) -> Vec<Rule> {
    let is_on = |rule: &Rule| settings.config.wants(*rule, Confidence::High);
    let rules: &[Rule] = match settings.options.engines {
        session::Engines::WholeProgram => &WHOLE_PROGRAM,
        session::Engines::Both | session::Engines::Compositional => &Rule::ALL,
    };
    rules.iter().copied().filter(is_on).collect()
}

fn compare(report: &mut Report, baseline: &Baseline) {
    let beside = baseline.compare(report);
    report.notes.extend(notes(&beside));
    report.beside = Some(beside);
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
