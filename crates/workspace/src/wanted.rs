//! What of a report is wanted: no rules that are off, nothing suppressed, nothing in the baseline. Comes after what was
//! kept, so that a comment counts at once; decides nothing about what is left.

use crate::{ProjectSources, Setup};
use anyhow::{Context, Result, anyhow};
use classfile::ClassSource;
use findings::{Baseline, Beside, Confidence, Note, Report, Rule};
use project::{Memory, Project};
use report::{Sources, baseline};
use session::{Annotated, unused_assumptions};
use std::fs;
use std::path::Path;
use std::sync::Arc;

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

/// The classes that were analysed, and the project that they belong to.
#[derive(Clone, Copy)]
pub struct Program<'a> {
    pub classes: &'a (dyn ClassSource + Sync),
    pub project: &'a Project,
}

impl<'a> Program<'a> {
    /// Those of the project itself.
    pub fn of(project: &'a Project) -> Program<'a> {
        Program { classes: project, project }
    }
}

impl Wanted {
    /// Comments are read in this text instead of the file from now on.
    pub fn hold(&mut self, path: &Path, text: Arc<str>) {
        self.memory.hold(path, text);
    }

    /// Whether files need not be looked at for comments.
    pub fn trust_files(&mut self, trusts: bool) {
        self.memory.trust(trusts);
    }

    /// And in the file again.
    pub fn release(&mut self, path: &Path) {
        self.memory.release(path);
    }

    /// Reads the baseline, before anyone waits for an analysis.
    pub fn new(setup: &Setup) -> Result<Wanted> {
        let baseline = setup.baseline.as_deref().map(read).transpose()?;
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
    pub fn select(&mut self, report: &mut Report, program: &Program<'_>, changed: &[String], setup: &Setup) {
        let Program { classes, project } = *program;
        report.findings.retain(|finding| setup.config.wants(finding.rule, finding.confidence));
        let said = project.remarks(classes, &mut self.memory);
        let annotated =
            self.annotated.get_or_insert_with(|| Annotated::of(classes, std::mem::take(&mut self.silent)));
        annotated.follow(classes, changed);
        report.notes.extend(said.notes.into_iter().chain(annotated.notes().cloned()));
        report.notes.extend(unused_assumptions(classes, &setup.options.assume));
        let others = annotated.suppressions().chain(&setup.config.suppressions).cloned();
        let all: Vec<_> = said.suppressions.into_iter().chain(others).collect();
        let sources = ProjectSources::for_machine(project);
        report.suppress(&all, &checked(setup), &|file| sources.display(file));
        if let Some(baseline) = &self.baseline {
            compare(report, baseline);
        }
        report.notes.sort();
    }

    /// The same of a report that others keep.
    pub fn selected(
        &mut self,
        report: &Report,
        program: &Program<'_>,
        changed: &[String],
        setup: &Setup,
    ) -> Report {
        let mut report = report.clone();
        self.select(&mut report, program, changed, setup);
        report
    }

    /// Accepts what is left, and tells what is new from then on: the text of a baseline.
    pub fn accept(&mut self, report: &mut Report, setup: &Setup) -> String {
        let known = report.beside.iter().flat_map(|beside| beside.known.iter().chain(&beside.of_new_rules));
        let findings = report.findings.iter().chain(known).cloned().collect();
        let all = Report { findings, ..Report::default() };
        let now = Baseline::of(&all, &checked(setup), env!("CARGO_PKG_VERSION"));
        if self.baseline.is_none() {
            compare(report, &now);
        }
        baseline::render(&now)
    }
}

fn checked(setup: &Setup) -> Vec<Rule> {
    let is_on = |rule: &Rule| setup.config.wants(*rule, Confidence::High);
    let rules: &[Rule] = match setup.options.engines {
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
